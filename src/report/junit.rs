//! Findings as JUnit's XML, for CI systems: a file is a suite, a finding a case in it.
//!
//! A finding at the threshold is a failure, a milder one a case that passes and says so. Where
//! nothing was found there is one case that passes, since some readers take an empty report for a
//! broken one.

use std::fmt::Write as _;

use super::region::Region;
use super::{Severity, text};
use crate::lint::{Finding, Report, Source};
use crate::text::visible::{is_hidden, visible_lines};

/// The whole document. Findings of `fail_on` and graver are failures.
pub fn findings(report: &Report, fail_on: Severity) -> String {
    let all = report.findings().count();
    let failures = report
        .findings()
        .filter(|(_, finding)| finding.severity >= fail_on)
        .count();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuites name=\"codexgate\" tests=\"{}\" failures=\"{failures}\" errors=\"0\">",
        all.max(1),
    );
    if all == 0 {
        let _ = write!(
            out,
            "  <testsuite name=\"codexgate\" tests=\"1\" failures=\"0\" errors=\"0\">\n    \
             <testcase classname=\"codexgate\" name=\"lint\">\n      \
             <system-out>{}</system-out>\n    </testcase>\n  </testsuite>\n",
            escape(&text::summary(report))
        );
    }
    let mut summary = Some(text::summary(report));
    for file in &report.files {
        let shown: Vec<&Finding> = file
            .findings
            .iter()
            .filter(|finding| finding.silenced.is_none())
            .collect();
        if shown.is_empty() {
            continue;
        }
        let failures = shown.iter().filter(|f| f.severity >= fail_on).count();
        let path = escape(&file.source.subject.shown);
        let _ = writeln!(
            out,
            "  <testsuite name=\"{path}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\">",
            shown.len()
        );
        if let Some(summary) = summary.take() {
            let _ = writeln!(
                out,
                "    <properties><property name=\"summary\" value=\"{}\"/></properties>",
                escape(&summary).replace('\n', "; ")
            );
        }
        for finding in shown {
            case(&mut out, &file.source, finding, fail_on);
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn case(out: &mut String, source: &Source, finding: &Finding, fail_on: Severity) {
    let region = Region::of(source, finding.span());
    let path = escape(&source.subject.shown);
    let _ = writeln!(
        out,
        "    <testcase classname=\"{path}\" name=\"{}\" file=\"{path}\" line=\"{}\">",
        escape(finding.rule.id),
        region.line
    );
    let mut body = format!("{}:{}:{}", source.subject.shown, region.line, region.column);
    for more in finding.notes.iter().chain(&finding.helps) {
        body.push('\n');
        body.push_str(more);
    }
    let (severity, message) = (finding.severity.name(), escape(&finding.message));
    let body = escape(&body);
    let _ = if finding.severity >= fail_on {
        writeln!(
            out,
            "      <failure type=\"{severity}\" message=\"{message}\">{body}</failure>"
        )
    } else {
        writeln!(
            out,
            "      <system-out>{severity}: {message}\n{body}</system-out>"
        )
    };
    out.push_str("    </testcase>\n");
}

/// Text for an element or an attribute in double quotes. XML 1.0 has no place for most controls
/// and for the last two characters of the first plane, so they are shown by their numbers.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible_lines(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\t' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if is_hidden(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
