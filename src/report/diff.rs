//! A file's change as a unified diff, for a person or a log.
//!
//! Lines are made visible. Values that look like secrets are hidden in the lines that were there
//! before: a diff lands in logs, and what stays or goes needs no showing to be recognised. New
//! lines are shown as they are, since they are what the reader agrees to.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use super::ui::style;
use crate::document::{Data, Document, Node, Span};
use crate::plan::secret;
use crate::text::redact;
use crate::text::visible::visible;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// The diff of `path` from `before` to `after`; a missing file is `None`.
pub fn unified(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let new = after.unwrap_or_default();
    let old = without_secrets(before.unwrap_or_default());
    draw(path, (before, &old), (after, new))
}

/// The diff between two texts, each without its secrets: ranges in order, none within another.
pub fn between(path: &str, before: (&str, &[Span]), after: (&str, &[Span])) -> String {
    let hide = |(text, secrets): (&str, &[Span])| {
        let stand_in = |span: &Span| {
            let secret = text.get(span.range()).unwrap_or_default();
            (*span, redact::secret(secret))
        };
        replaced(text, &secrets.iter().map(stand_in).collect::<Vec<_>>())
    };
    let (old, new) = (hide(before), hide(after));
    draw(path, (Some(before.0), &old), (Some(after.0), &new))
}

/// Compares the real texts, and draws the lines of those that may be shown: as many as the real
/// ones have.
fn draw(path: &str, before: (Option<&str>, &str), after: (Option<&str>, &str)) -> String {
    let (before, shown_old) = before;
    let (after, shown_new) = after;
    let old = before.unwrap_or_default();
    let new = after.unwrap_or_default();
    let shown_old: Vec<&str> = shown_old.split_inclusive('\n').collect();
    let shown_new: Vec<&str> = shown_new.split_inclusive('\n').collect();
    let mut out = String::new();
    let name = visible(path);
    let side = |there: bool| if there { name.as_ref() } else { "/dev/null" };
    paint(
        &mut out,
        style::HEADING,
        &format!("--- {}", side(before.is_some())),
    );
    paint(
        &mut out,
        style::HEADING,
        &format!("+++ {}", side(after.is_some())),
    );
    let diff = TextDiff::from_lines(old, new);
    for group in diff.grouped_ops(CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let header = format!(
            "@@ -{} +{} @@",
            range(first.old_range().start, last.old_range().end),
            range(first.new_range().start, last.new_range().end)
        );
        paint(&mut out, style::QUIET, &header);
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (mark, look) = match change.tag() {
                ChangeTag::Delete => ('-', style::REMOVED),
                ChangeTag::Insert => ('+', style::ADDED),
                ChangeTag::Equal => (' ', anstyle::Style::new()),
            };
            let old = change.old_index().and_then(|index| shown_old.get(index));
            let new = change.new_index().and_then(|index| shown_new.get(index));
            // Where the shown texts had fewer lines, nothing of the real one is shown.
            let line = old.or(new).copied().unwrap_or_default();
            let open = !change.value().ends_with('\n');
            let line = line.trim_end_matches('\n').trim_end_matches('\r');
            let line = line.trim_start_matches('\u{feff}');
            paint(&mut out, look, &format!("{mark}{}", visible(line)));
            if open {
                paint(&mut out, style::QUIET, "\\ No newline at end of file");
            }
        }
    }
    out
}

fn range(start: usize, end: usize) -> String {
    let count = end - start;
    let first = if count == 0 { start } else { start + 1 };
    if count == 1 {
        first.to_string()
    } else {
        format!("{first},{count}")
    }
}

fn paint(out: &mut String, look: anstyle::Style, line: &str) {
    // Writing into a String cannot fail.
    let _ = writeln!(out, "{look}{line}{look:#}");
}

/// `text` with each value that looks like a secret hidden, line for line.
fn without_secrets(text: &str) -> String {
    let Ok(document) = Document::parse(text) else {
        return text.to_owned();
    };
    let mut found = Vec::new();
    collect(None, document.root(), &mut found);
    found.sort_by_key(|(span, _): &(Span, String)| span.start);
    replaced(text, &found)
}

/// `text` with stand-ins for ranges in order. The number of lines stays, so that indices of lines
/// do.
fn replaced(text: &str, stand_ins: &[(Span, String)]) -> String {
    let mut out = text.to_owned();
    for (span, stand_in) in stand_ins.iter().rev() {
        let breaks = text[span.range()].matches('\n').count();
        out.replace_range(span.range(), &format!("{stand_in}{}", "\n".repeat(breaks)));
    }
    out
}

fn collect(name: Option<&str>, node: &Node, found: &mut Vec<(Span, String)>) {
    match &node.data {
        Data::String(text) if secret::looks_secret(name, text) => {
            found.push((node.span, redact::secret(text)));
        }
        Data::Array(items) => items.iter().for_each(|item| collect(name, item, found)),
        Data::Table(members) => members
            .iter()
            .for_each(|(key, member)| collect(Some(key), member, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(before: Option<&str>, after: Option<&str>) -> String {
        anstream::adapter::strip_str(&unified("f", before, after)).to_string()
    }

    #[test]
    fn line_ends_and_a_missing_last_one_are_told() {
        assert_eq!(
            plain(Some("a = 1\r\nb = 2"), Some("a = 1\r\nb = 2\r\nc = 3")),
            "--- f\n+++ f\n@@ -1,2 +1,3 @@\n a = 1\n-b = 2\n\\ No newline at end of file\n+b = 2\n+c = 3\n\\ No newline at end of file\n"
        );
    }

    #[test]
    fn a_new_and_a_removed_file_have_one_side() {
        assert!(
            plain(None, Some("a = 1\n"))
                .starts_with("--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+a = 1\n")
        );
        assert!(
            plain(Some("a = 1\n"), None)
                .starts_with("--- f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a = 1\n")
        );
    }

    #[test]
    fn secrets_that_were_there_are_not_shown() {
        let before = "[s.env]\nAPI_TOKEN = \"sk-9fK2mQ7xT4vB8nL1cZ6wPq\"\nMODE = \"fast\"\n";
        let shown = plain(Some(before), Some(&format!("{before}X = 1\n")));
        assert!(!shown.contains("9fK2mQ7xT4vB8nL1cZ6w"), "{shown}");
        assert!(shown.contains("MODE = \"fast\""), "{shown}");
    }
}
