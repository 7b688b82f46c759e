//! Comments that silence a finding: `# codexgate: ignore[rule-id] the reason`.
//!
//! Such a comment counts for its own line; where it stands alone on a line, for the next one, too,
//! over further comments of its kind. Several rules stand in one bracket, with commas. Without a
//! reason it silences nothing, and the rule `ignore-unused` says so, as it does of a comment that
//! nothing is silenced by. What a comment silences stays in the report, marked, so that its number
//! can be told: a hostile repository brings its own comments.
//!
//! Comments are known in TOML that parses, in rules files and in scripts. JSON has none, and a text that does
//! not parse has none that can be told from its values.

use super::file::Content;
use super::finding::{Finding, Findings, Mark, Silenced};
use super::registry::RULES;
use super::{Check, Kind, Source};
use crate::document::Span;
use crate::document::comment::comments;

/// One comment.
#[derive(Debug, Clone)]
pub struct Ignore {
    /// The comment.
    pub span: Span,
    /// The rules that it names.
    pub names: Vec<Name>,
    /// Whether it says why.
    pub has_reason: bool,
    /// The lines that it counts for, from 1: its own, or the one below it.
    lines: [usize; 2],
}

/// A rule's name in a comment.
#[derive(Debug, Clone)]
pub struct Name {
    /// Where it stands.
    pub span: Span,
    /// The name.
    pub text: String,
    /// Whether it silenced something.
    pub is_used: bool,
}

/// What every such comment has in it: a text without is not looked at any further.
const WORD: &str = "codexgate:";

/// Marks the findings that comments silence, and adds those about the comments.
pub fn apply(source: &Source, mut findings: Vec<Finding>) -> Vec<Finding> {
    let mut ignores = find(source);
    if ignores.is_empty() {
        return findings;
    }
    for finding in &mut findings {
        let Mark::Span(span) = finding.mark else {
            continue;
        };
        let line = source.lines().locate(source.text(), span.start).line;
        let first = ignores.partition_point(|ignore| ignore.lines[1] < line);
        for ignore in ignores[first..]
            .iter_mut()
            .take_while(|ignore| ignore.lines[0] <= line)
            .filter(|ignore| ignore.has_reason && ignore.lines.contains(&line))
        {
            let named = ignore
                .names
                .iter_mut()
                .find(|name| name.text == finding.rule.id);
            if let Some(name) = named {
                name.is_used = true;
                finding.silenced = Some(Silenced::Comment);
            }
        }
    }
    let mut found = Findings::new(source);
    for rule in RULES {
        if let Check::Ignores(check) = rule.check {
            check(&ignores, &mut found);
        }
    }
    let about = found.into_sorted();
    if !about.is_empty() {
        findings.extend(about);
        findings.sort_by(Finding::in_order);
    }
    findings
}

/// All such comments, in the order of the text.
pub fn find(source: &Source) -> Vec<Ignore> {
    let text = source.text();
    if !text.contains(WORD) {
        return Vec::new();
    }
    let comments = match &source.content {
        Content::Toml(_) => comments(text),
        Content::Text if matches!(source.subject.kind, Kind::Rules | Kind::Script) => {
            comments_of_rules(text)
        }
        _ => return Vec::new(),
    };
    let mut found: Vec<Ignore> = Vec::new();
    for span in comments {
        found.extend(parse(source, span));
    }
    // A comment above a comment counts for what is below both.
    for index in (1..found.len()).rev() {
        let (above, below) = (found[index - 1].lines, found[index].lines);
        if above[1] > above[0] && above[1] == below[0] && below[1] > below[0] {
            found[index - 1].lines[1] = below[1];
        }
    }
    found
}

fn parse(source: &Source, span: Span) -> Option<Ignore> {
    let text = source.text();
    let comment = text.get(span.range())?;
    let rest = comment.trim_start_matches('#').trim_start();
    let rest = rest.strip_prefix(WORD)?.trim_start();
    let rest = rest.strip_prefix("ignore")?;
    let (names, reason) = match rest.trim_start().strip_prefix('[') {
        Some(inner) => inner.split_once(']').unwrap_or((inner, "")),
        None if rest.starts_with(|c: char| c.is_alphanumeric()) => return None,
        None => ("", rest),
    };
    let mut at = match rest.find('[') {
        Some(bracket) => span.end - rest.len() + bracket + 1,
        None => span.end,
    };
    let names = names
        .split(',')
        .filter_map(|piece| {
            let name = piece.trim();
            let from = at + (piece.len() - piece.trim_start().len());
            at += piece.len() + 1;
            (!name.is_empty()).then(|| Name {
                span: Span::new(from, from + name.len()),
                text: name.to_owned(),
                is_used: false,
            })
        })
        .collect();
    let line = source.lines().locate(text, span.start).line;
    let before = source.lines().line(text, line).start;
    let alone = text
        .get(before..span.start)
        .is_some_and(|before| before.trim_start_matches('\u{feff}').trim().is_empty());
    Some(Ignore {
        span,
        names,
        has_reason: reason.chars().any(char::is_alphanumeric),
        lines: [line, line + usize::from(alone)],
    })
}

/// The comments of a rules file, which is Starlark: strings of two quotes, plain or tripled, raw
/// or not.
fn comments_of_rules(text: &str) -> Vec<Span> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'#' => {
                let end = bytes[at..]
                    .iter()
                    .position(|b| *b == b'\n')
                    .map_or(bytes.len(), |length| at + length);
                found.push(Span::new(at, end));
                at = end;
            }
            b'"' | b'\'' => at = behind_string(bytes, at),
            _ => at += 1,
        }
    }
    found
}

/// Behind the string that starts at `at`, or the end of its line where it does not end.
fn behind_string(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    let triple = [quote; 3];
    let is_triple = bytes[at..].starts_with(&triple);
    let mut at = at + if is_triple { 3 } else { 1 };
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' if !is_triple => return at,
            byte if *byte == quote && !is_triple => return at + 1,
            _ if is_triple && bytes[at..].starts_with(&triple) => return at + 3,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codex::version::Version;
    use crate::lint::run::judge;
    use crate::lint::{Home, Subject};

    fn source(kind: Kind, text: &str) -> Source {
        let subject = Subject {
            path: kind.name().into(),
            shown: kind.name().to_owned(),
            kind,
            home: Home::User,
        };
        Source::parse(subject, text.as_bytes().to_vec())
    }

    /// The rules that still speak, and how many findings are silenced.
    fn spoken(text: &str) -> (Vec<&'static str>, usize) {
        let findings = judge(&source(Kind::Config, text), Version::default());
        let silenced = findings.iter().filter(|f| f.silenced.is_some()).count();
        let spoken = findings
            .iter()
            .filter(|finding| finding.silenced.is_none())
            .map(|finding| finding.rule.id)
            .collect();
        (spoken, silenced)
    }

    const OPEN: &str = "sandbox_mode = \"danger-full-access\"";

    #[test]
    fn a_comment_counts_for_its_line_and_alone_for_the_next() {
        let ignore = "# codexgate: ignore[danger-full-access] a test machine";
        for text in [
            format!("{OPEN} {ignore}\n"),
            format!("{ignore}\n{OPEN}\n"),
            format!("\u{feff}  {ignore}\r\n{OPEN}\r\n"),
            format!(
                "#codexgate:ignore[ syntax,danger-full-access ] x\n# codexgate: ignore[x] y\n{OPEN}\n"
            ),
        ] {
            let (spoken, silenced) = spoken(&text);
            assert_eq!(silenced, 1, "{text}");
            assert!(!spoken.contains(&"danger-full-access"), "{text}");
        }
    }

    #[test]
    fn what_is_farther_away_or_says_no_reason_or_is_a_value_silences_nothing() {
        for text in [
            format!("# codexgate: ignore[danger-full-access] why\n\n{OPEN}\n"),
            format!("a = 1 # codexgate: ignore[danger-full-access] why\n{OPEN}\n"),
            format!("{OPEN}\n# codexgate: ignore[danger-full-access] why\n"),
            format!("{OPEN} # codexgate: ignore[danger-full-access]\n"),
            format!("{OPEN} # codexgate: ignore[danger-full-access] -- \n"),
            format!("{OPEN} # codexgate: ignore\n"),
            format!("{OPEN} # codexgate: ignore[syntax] why\n"),
            format!("a = '# codexgate: ignore[danger-full-access] why'\n{OPEN}\n"),
            format!("a = '''\n# codexgate: ignore[danger-full-access] why'''\n{OPEN}\n"),
        ] {
            let (spoken, silenced) = spoken(&text);
            assert_eq!(silenced, 0, "{text}");
            assert!(spoken.contains(&"danger-full-access"), "{text}");
            let told = spoken.contains(&"ignore-unused");
            assert_eq!(told, !text.contains('\''), "{text}");
        }
    }

    #[test]
    fn comments_of_a_rules_file_are_told_from_its_strings() {
        let text = "a(\"# codexgate: x\", '''\n# y\n''', r'\\\\') # one\n'open # no\n# two";
        let found: Vec<&str> = comments_of_rules(text)
            .into_iter()
            .map(|span| &text[span.range()])
            .collect();
        assert_eq!(found, ["# one", "# two"]);
    }

    #[test]
    fn many_comments_and_many_findings_take_no_square_of_time() {
        let mut text = String::new();
        for n in 0..2_000 {
            let lines = format!("[profiles.p{n}]\n# codexgate: ignore[danger-full-access] why\n");
            text.push_str(&lines);
            text.push_str(OPEN);
            text.push('\n');
        }
        let (_, silenced) = spoken(&text);
        assert_eq!(silenced, 2_000);
    }
}
