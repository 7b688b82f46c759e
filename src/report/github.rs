//! Findings as annotations in a workflow of GitHub, by its workflow commands.
//!
//! Their text runs to the end of the line, and their properties to the next comma, so a name out
//! of a file could end one and begin another command. What GitHub documents for that is done here:
//! `%`, line feed and carriage return as `%25`, `%0A` and `%0D`, in properties `:` and `,` as
//! `%3A` and `%2C`, too.

use std::fmt::Write as _;

use super::region::Region;
use super::{Severity, text};
use crate::lint::finding::Mark;
use crate::lint::{Report, Silenced};
use crate::text::visible::visible_lines;

/// One command a line.
pub fn findings(report: &Report) -> String {
    let mut out = String::new();
    for file in &report.files {
        for finding in file.findings.iter().filter(|f| f.silenced.is_none()) {
            let level = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info => "notice",
            };
            let _ = write!(out, "::{level} file={}", property(&file.anchor));
            if let Mark::Span(span) = finding.mark {
                let region = Region::of(&file.source, span);
                let _ = write!(out, ",line={},endLine={}", region.line, region.end_line);
                // A column counts within one line alone.
                if region.line == region.end_line {
                    let _ = write!(
                        out,
                        ",col={},endColumn={}",
                        region.column, region.end_column
                    );
                }
            }
            let mut message = finding.message.to_string();
            for more in finding.notes.iter().chain(&finding.helps) {
                message.push('\n');
                message.push_str(more);
            }
            let _ = writeln!(
                out,
                ",title={}::{}",
                property(finding.rule.id),
                data(&message)
            );
        }
    }
    let silenced = [Silenced::Comment, Silenced::Config, Silenced::Baseline];
    if silenced.iter().any(|by| report.silenced(*by) > 0) || report.milder > 0 {
        let _ = writeln!(
            out,
            "::notice title=codexgate::{}",
            data(&text::summary(report))
        );
    }
    out
}

fn data(text: &str) -> String {
    visible_lines(text)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_ends_a_command() {
        assert_eq!(
            data("100%\n::stop-commands::x"),
            "100%25%0A::stop-commands::x"
        );
        assert_eq!(property("a,b:c\r\nd"), "a%2Cb%3Ac<U+000D>%0Ad");
    }
}
