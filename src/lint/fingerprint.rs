//! A finding's name that stays when lines move, tables change places and values are spelled anew.
//!
//! It is a digest of the rule, the file as seen from the repository, the path of keys and the
//! value. Lines, columns, white space, comments and quotes are not in it; elements of arrays count
//! by value, not by index. Where a secret stands the value is left out: a digest of a secret that
//! can be guessed tells it. Findings that agree in all of that are numbered in their order.

use std::cmp::Reverse;
use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use super::file::Content;
use super::finding::{Finding, Mark};
use super::{Home, Source, Subject};
use crate::codex::Site;
use crate::document::{Data, KeyPath, Node, Span, StatementKind};

/// Counts up when the same finding gets another name.
const VERSION: &str = "codexgate/1";
/// Bytes of the digest that are kept: 128 bits do not meet by chance.
const BYTES: usize = 16;

/// The path of a file that is the same on every machine: from the repository's top, or by the name
/// of the folder that holds it.
pub fn anchor(site: &Site, subject: &Subject) -> String {
    let below = |folder: &std::path::Path, name: &str| {
        let rest = subject.path.strip_prefix(folder).ok()?;
        Some(format!("{name}{}", rest.to_string_lossy()))
    };
    let top = site.git_root.as_deref().unwrap_or(&site.project);
    let named = match subject.home {
        Home::System => below(&site.system, "/etc/codex/"),
        Home::User => site
            .codex_home
            .as_deref()
            .and_then(|home| below(home, "$CODEX_HOME/")),
        _ => None,
    };
    named
        .or_else(|| below(top, ""))
        .unwrap_or_else(|| subject.path.to_string_lossy().into_owned())
}

/// Names each of the findings of `source`, which are in the order of its text.
pub fn stamp(anchor: &str, source: &Source, findings: &mut [Finding]) {
    if findings.is_empty() {
        return;
    }
    let places = Places::of(source);
    let mut seen: HashMap<[u8; 32], usize> = HashMap::new();
    for finding in findings {
        let (key, value) = places.name(source, finding.mark);
        let path = spell(&key);
        let mut digest = Sha256::new();
        for part in [VERSION, finding.rule.id, anchor, &path, &value] {
            // With its length, so that no two lists of parts run together.
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        let plain: [u8; 32] = digest.clone().finalize().into();
        let number = seen.entry(plain).or_default();
        digest.update((*number as u64).to_le_bytes());
        *number += 1;
        let full: [u8; 32] = digest.finalize().into();
        finding.fingerprint = hex(&full[..BYTES]);
        finding.key = key;
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for half in [byte >> 4, byte & 0xf] {
            out.push(char::from_digit(u32::from(half), 16).expect("half a byte is a hex digit"));
        }
    }
    out
}

/// Which keys stand where: ranges in the order of the text, each with the one around it.
struct Places<'s> {
    entries: Vec<Entry<'s>>,
}

struct Entry<'s> {
    span: Span,
    /// With indices of arrays.
    path: KeyPath,
    /// The value, where the entry is a pair or an element.
    value: Option<&'s Node>,
    around: Option<usize>,
}

impl<'s> Places<'s> {
    fn of(source: &'s Source) -> Self {
        let Content::Toml(document) = &source.content else {
            return Self {
                entries: Vec::new(),
            };
        };
        let mut entries = Vec::new();
        for statement in document.statements() {
            let value = match statement.kind {
                StatementKind::Pair { .. } => document.get(&statement.path),
                StatementKind::Header => None,
            };
            entries.push(Entry {
                span: statement.span,
                path: statement.path.clone(),
                value,
                around: None,
            });
            if let Some(node) = value {
                elements(node, &statement.path, &mut entries);
            }
        }
        entries.sort_by_key(|entry| (entry.span.start, Reverse(entry.span.end)));
        let mut open: Vec<usize> = Vec::new();
        for index in 0..entries.len() {
            let span = entries[index].span;
            while let Some(last) = open.last()
                && !entries[*last].span.contains(span)
            {
                open.pop();
            }
            entries[index].around = open.last().copied();
            open.push(index);
        }
        Self { entries }
    }

    /// The path of keys at `mark`, and the value there in a spelling that does not change.
    fn name(&self, source: &Source, mark: Mark) -> (KeyPath, String) {
        let Mark::Span(span) = mark else {
            return (KeyPath::root(), String::new());
        };
        let after = self
            .entries
            .partition_point(|entry| entry.span.start <= span.start);
        let mut at = after.checked_sub(1);
        while let Some(index) = at {
            let entry = &self.entries[index];
            if entry.span.contains(span) {
                let value = entry
                    .value
                    .filter(|value| value.span.contains(span))
                    .filter(|value| !touches_secret(source, value.span))
                    .and_then(canonical)
                    .unwrap_or_default();
                return (entry.path.clone(), value);
            }
            at = entry.around;
        }
        // A comment, or a text without keys.
        (KeyPath::root(), plain(source, span))
    }
}

/// The elements of arrays at and below `node`, which is at `path`; pairs in braces are statements
/// of their own.
fn elements<'s>(node: &'s Node, path: &KeyPath, entries: &mut Vec<Entry<'s>>) {
    let Data::Array(items) = &node.data else {
        return;
    };
    for (index, item) in items.iter().enumerate() {
        let path = path.join(index.to_string());
        elements(item, &path, entries);
        entries.push(Entry {
            span: item.span,
            path,
            value: Some(item),
            around: None,
        });
    }
}

/// The path without indices: an element is known by its value.
fn spell(path: &KeyPath) -> String {
    let mut out = String::new();
    for part in path.parts() {
        let is_index = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let part = if is_index { "" } else { part };
        out.push_str(&part.len().to_string());
        out.push(':');
        out.push_str(part);
    }
    out
}

/// The value in one spelling. Tables have none: what is in them has places of its own.
fn canonical(node: &Node) -> Option<String> {
    Some(match &node.data {
        Data::String(text) => format!("s{}:{text}", text.len()),
        Data::Integer(value) => format!("i{value}"),
        Data::Float(value) => format!("f{value}"),
        Data::Boolean(value) => format!("b{value}"),
        Data::Datetime(text) => format!("d{text}"),
        Data::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(canonical).collect();
            format!("[{}]", items?.join(","))
        }
        Data::Table(_) => return None,
    })
}

/// The marked text with single spaces, unless a secret is in it.
fn plain(source: &Source, span: Span) -> String {
    if touches_secret(source, span) {
        return String::new();
    }
    let text = source.text().get(span.range()).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn touches_secret(source: &Source, span: Span) -> bool {
    let secrets = &source.secrets;
    let first = secrets.partition_point(|secret| secret.span.end <= span.start);
    secrets
        .get(first)
        .is_some_and(|secret| secret.span.start < span.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codex::version::Version;
    use crate::lint::Kind;
    use crate::lint::run::judge;

    fn prints(text: &str) -> Vec<(&'static str, String)> {
        let subject = Subject {
            path: "config.toml".into(),
            shown: "config.toml".into(),
            kind: Kind::Config,
            home: Home::User,
        };
        let source = Source::parse(subject, text.as_bytes().to_vec());
        let mut findings = judge(&source, Version::default());
        stamp("$CODEX_HOME/config.toml", &source, &mut findings);
        let mut prints: Vec<_> = findings
            .into_iter()
            .map(|finding| (finding.rule.id, finding.fingerprint))
            .collect();
        prints.sort();
        prints
    }

    const TEXT: &str = "sandbox_mode = \"danger-full-access\"\n\
        [mcp_servers.a]\ncommand = \"npx\"\nargs = [\"-y\", \"a-mcp\"]\n\
        [mcp_servers.b]\nurl = \"http://example.com/\"\n";

    #[test]
    fn moving_reordering_and_respelling_keep_the_name() {
        let names = prints(TEXT);
        assert_eq!(names.len(), 4, "{names:?}");
        for other in [
            "# new\n\nsandbox_mode = 'danger-full-access' # why\n\
             [mcp_servers.b]\nurl = 'http://example.com/'\n\
             [mcp_servers.a]\nargs = [ '-y',\n  'a-mcp', ]\ncommand = \"npx\"\n",
            "mcp_servers = { a = { command = \"npx\", args = [\"-y\", \"a-mcp\"] }, \
             b.url = \"http://example.com/\" }\r\n\"sandbox_mode\" = \"danger\\u002dfull-access\"\r\n",
            "sandbox_mode = \"danger-full-access\"\nmcp_servers.a.command = \"npx\"\n\
             mcp_servers.a.args = [\"--yes\", \"a-mcp\"]\nmcp_servers.b.url = \"http://example.com/\"\n",
        ] {
            assert_eq!(prints(other), names, "{other}");
        }
    }

    #[test]
    fn another_value_key_or_rule_is_another_finding() {
        let names = prints(TEXT);
        for other in [
            TEXT.replace("a-mcp", "b-mcp"),
            TEXT.replace("mcp_servers.a", "mcp_servers.c"),
            TEXT.replace("example.com", "example.org"),
        ] {
            let others = prints(&other);
            assert_eq!(others.len(), names.len(), "{other}");
            let same = others.iter().filter(|name| names.contains(name)).count();
            assert_eq!(same, names.len() - 1, "{other}");
        }
    }

    #[test]
    fn equal_findings_get_names_of_their_own() {
        let names = prints(
            "mcp_servers.a.command = \"docker\"\n\
            mcp_servers.a.args = [\"run\", \"-v\", \"/:/x\", \"-v\", \"/:/x\", \"i@sha256:0123456789012345678901234567890123456789012345678901234567890123\"]\n",
        );
        let mut distinct = names.clone();
        distinct.dedup();
        assert_eq!(distinct, names);
    }

    #[test]
    fn a_secret_is_not_in_it() {
        let with = |secret: &str| {
            prints(&format!(
                "[mcp_servers.a]\ncommand = \"a\"\nenv = {{ API_TOKEN = \"{secret}\" }}\n"
            ))
        };
        let names = with("k3x9Qz7LmP2vT8");
        assert_eq!(names.len(), 1, "{names:?}");
        assert_eq!(with("Zz7LmP2vT8k3x9"), names);
    }
}
