//! Where a file holds secrets: for the rules that find them, and so that no output shows them.
//!
//! [`crate::plan::secret`] says what looks like one; here is where values stand whose name says
//! what they are: variables, headers, flags, `NAME=VALUE` and addresses. A known token counts
//! anywhere in the file, a value that is only named like a secret where such values belong. In a
//! text that does not parse, each quoted piece of a line is looked at.

use crate::document::comment::comments;
use crate::document::{Data, Node, Span};
use crate::plan::secret::{
    has_token, is_placeholder, is_secret_name, looks_secret, url_has_secret, without_scheme,
};

use super::file::{Content, Kind, Source};
use super::server::Word;

/// A secret, and the value that it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// The secret itself, as exactly as the text shows it.
    pub span: Span,
    /// The whole value.
    pub value: Span,
    /// What it is for.
    pub role: Role,
    /// The variable, header or flag that it is the value of.
    pub name: Option<String>,
}

/// What a secret is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A variable of a server or of the agent's commands.
    Variable,
    /// A header that is sent.
    Header,
    /// An argument of a program.
    Argument,
    /// Part of an address.
    Address,
    /// A key of Codex that takes the secret itself.
    Key,
    /// It stands where the name of a variable belongs.
    InPlaceOfName,
    /// It stands in a comment.
    Remark,
}

/// All secrets of a file, in the order of the text, none within another.
pub fn find(source: &Source) -> Vec<Secret> {
    let mut found = match &source.content {
        Content::Toml(document) => {
            let mut search = Search {
                text: document.text(),
                path: Vec::new(),
                found: Vec::new(),
            };
            search.node(document.root());
            in_comments(document.text(), &mut search.found);
            search.found
        }
        Content::Unreadable { .. } | Content::NotText { .. } => Vec::new(),
        Content::Text if source.subject.kind == Kind::Script => in_script(source.text()),
        Content::Json(_) | Content::Text | Content::Broken(_) => in_plain_text(source.text()),
    };
    found.sort_by_key(|secret| (secret.span.start, secret.span.end));
    found.dedup_by(|later, earlier| later.span.start < earlier.span.end);
    found
}

/// Keys whose values are names of variables.
const NAMES: &[&str] = &[
    "env_vars",
    "env_http_headers",
    "env_key",
    "bearer_token_env_var",
];
/// Tables of variables and of headers, whoever they are for.
const VARIABLES: &[&str] = &["env", "set"];
const HEADERS: &[&str] = &["http_headers", "headers", "query_params"];
/// Arrays of words of a command line.
const LINES: &[&str] = &["args", "notify"];
/// Keys that take a secret.
const KEYS: &[&str] = &["bearer_token", "experimental_bearer_token", "client_secret"];
/// A name that ends so is of something public, though it may look random or speak of a secret.
const PUBLIC: &[&str] = &[
    "backend", "checksum", "commit", "digest", "hash", "helper", "id", "kind", "manager", "ref",
    "revision", "sha", "sha256", "source", "version",
];

struct Search<'a> {
    text: &'a str,
    path: Vec<&'a str>,
    found: Vec<Secret>,
}

impl<'a> Search<'a> {
    fn node(&mut self, node: &'a Node) {
        match &node.data {
            Data::Table(members) => {
                for (name, member) in members {
                    self.path.push(name);
                    self.node(member);
                    self.path.pop();
                }
            }
            Data::Array(items) if self.last_is(LINES) => {
                let words: Vec<Word> = items.iter().filter_map(Word::of).collect();
                self.line(&words);
            }
            Data::Array(items) => items.iter().for_each(|item| self.node(item)),
            Data::String(value) => self.string(value, node.span),
            _ => {}
        }
    }

    fn last_is(&self, names: &[&str]) -> bool {
        self.path.last().is_some_and(|last| names.contains(last))
    }

    fn below(&self, names: &[&str]) -> bool {
        let above = self
            .path
            .len()
            .checked_sub(2)
            .and_then(|at| self.path.get(at));
        above.is_some_and(|name| names.contains(name))
    }

    fn string(&mut self, value: &str, span: Span) {
        let name = self.path.last().copied().unwrap_or_default();
        if self.last_is(NAMES) || self.below(&["env_http_headers"]) {
            if is_no_name(value) {
                self.add(Role::InPlaceOfName, None, value, span);
            }
        } else if self.last_is(KEYS) {
            if !is_placeholder(value) && !is_reference(value) {
                self.add(Role::Key, Some(name), value, span);
            }
        } else if self.below(HEADERS) {
            self.named(Role::Header, name, value, span);
        } else if self.below(VARIABLES) {
            self.named(Role::Variable, name, value, span);
        } else if name == "command" {
            self.script(value, span);
        } else if value.contains("://") {
            self.address(value, span);
        } else if has_token(value) && !is_reference(value) {
            self.add(Role::Key, Some(name), value, span);
        }
    }

    fn named(&mut self, role: Role, name: &str, value: &str, span: Span) {
        if url_has_secret(value) {
            self.address(value, span);
        } else if is_secret(Some(name), value) {
            self.add(role, Some(name), value, span);
        }
    }

    fn address(&mut self, value: &str, span: Span) {
        if is_reference(value) {
            return;
        }
        if url_has_secret(value) || has_token(value) || path_has_secret(value) {
            self.found.push(Secret {
                span,
                value: span,
                role: Role::Address,
                name: None,
            });
        }
    }

    /// The words of a command line: `--token X`, `--token=X`, `-e NAME=X`, `--header "Name: X"`.
    fn line(&mut self, words: &[Word<'a>]) {
        let mut before = "";
        for word in words {
            self.word(before, word.text, word.span);
            before = word.text;
        }
    }

    fn word(&mut self, before: &str, text: &str, span: Span) {
        let header = matches!(before, "--header" | "-H" | "--headers");
        let split = if header {
            text.split_once(':')
        } else {
            text.split_once('=').filter(|(name, _)| is_assigned(name))
        };
        if let Some((name, value)) = split {
            let role = if header { Role::Header } else { Role::Argument };
            let value = value.trim_start();
            if !url_has_secret(value) {
                if is_secret(Some(name.trim_start_matches('-')), value) {
                    self.add(role, Some(name), value, span);
                }
                return;
            }
        }
        if text.contains("://") {
            self.address(text, span);
        } else if text.contains(char::is_whitespace) {
            self.script(text, span);
        } else if let Some(flag) = before.strip_prefix('-').filter(|_| !before.contains('=')) {
            let name = flag.trim_start_matches('-');
            if is_secret(Some(name).filter(|name| name.len() > 1), text) && !text.starts_with('-') {
                self.add(Role::Argument, Some(before), text, span);
            }
        } else if is_secret(None, text) {
            self.add(Role::Argument, None, text, span);
        }
    }

    /// A line that a shell reads, taken apart at blanks and quotes.
    fn script(&mut self, text: &str, span: Span) {
        let mut before = "";
        for piece in text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'')) {
            if piece.is_empty() {
                continue;
            }
            let role_before = if is_secret_name(before.trim_start_matches('-')) {
                before
            } else {
                ""
            };
            let known = self.found.len();
            if piece.contains("://")
                || piece.contains('=')
                || has_token(piece)
                || !role_before.is_empty()
            {
                self.word(role_before, piece, span);
            }
            if self.found.len() > known {
                return;
            }
            before = if piece.starts_with('-') { piece } else { "" };
        }
    }

    /// Adds `value`, where it stands in the value at `span`, or all of that.
    fn add(&mut self, role: Role, name: Option<&str>, value: &str, span: Span) {
        let secret = without_scheme(value).unwrap_or(value);
        let raw = self.text.get(span.range()).unwrap_or_default();
        let exact = raw.rfind(secret).filter(|_| !secret.is_empty());
        self.found.push(Secret {
            span: exact.map_or(span, |at| {
                Span::new(span.start + at, span.start + at + secret.len())
            }),
            value: span,
            role,
            name: name.map(str::to_owned),
        });
    }
}

fn is_assigned(name: &str) -> bool {
    let name = name.trim_start_matches('-');
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
}

/// Whether `value` is a secret, under `name` where it has one.
fn is_secret(name: Option<&str>, value: &str) -> bool {
    if is_reference(value) || is_placeholder(value) {
        return false;
    }
    let last = name.and_then(|name| name.rsplit(|c: char| !c.is_ascii_alphanumeric()).next());
    let last = last.map(str::to_ascii_lowercase);
    if last.is_some_and(|last| PUBLIC.contains(&last.trim_end_matches('s'))) {
        return has_token(value);
    }
    looks_secret(name, value)
}

/// Whether `value` only points at a secret: a variable, a template, a vault's address, a file.
fn is_reference(value: &str) -> bool {
    let value = without_scheme(value).unwrap_or(value).trim();
    let vault = [
        "op://",
        "vault:",
        "keychain:",
        "env:",
        "file:",
        "secret:",
        "awssm://",
        "bws:",
    ];
    value.contains("${")
        || value.contains("$(")
        || value.contains("{{")
        || vault.iter().any(|start| value.starts_with(start))
        || (value.starts_with('$') && is_variable(&value[1..]))
        || (value.len() > 2 && value.starts_with('%') && value.ends_with('%'))
        || (value.contains('_') && is_variable(value) && !has_token(value))
}

/// A name of a variable as people write them: capitals, digits and `_`.
fn is_variable(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// Whether a secret stands where a variable's name belongs.
fn is_no_name(value: &str) -> bool {
    let is_name = value
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !value.starts_with(|c: char| c.is_ascii_digit());
    !is_placeholder(value) && (has_token(value) || (!is_name && looks_secret(None, value)))
}

/// Letters of one part of a path that nobody types: a capability URL.
const CAPABILITY: usize = 32;

/// Whether a part of an address's path looks drawn at random.
fn path_has_secret(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else {
        return false;
    };
    let path = rest.split(['?', '#']).next().unwrap_or(rest);
    path.split('/').skip(1).any(|part| {
        part.len() >= CAPABILITY && !part.contains(['.', '@']) && looks_secret(None, part)
    })
}

/// Each word of each line, by itself, behind `NAME=` and behind a flag.
fn in_script(text: &str) -> Vec<Secret> {
    let mut found = in_plain_text(text);
    let is_break = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '=' | ',' | ';' | '`');
    let (mut start, mut before) = (0, "");
    for piece in text.split(is_break) {
        let name = before.trim_start_matches('-');
        let name = (is_secret_name(name) && !name.is_empty()).then_some(name);
        if is_secret(name, piece) || url_has_secret(piece) {
            let span = Span::new(start, start + piece.len());
            found.push(Secret {
                span,
                value: span,
                role: Role::Argument,
                name: None,
            });
        }
        if !piece.is_empty() {
            before = piece;
        }
        start += piece.len()
            + text[start + piece.len()..]
                .chars()
                .next()
                .map_or(0, char::len_utf8);
    }
    found
}

/// Quoted pieces of each line of a text that was not parsed.
fn in_plain_text(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let mut at = 0;
        let mut name = String::new();
        while let Some(open) = line[at..].find(['"', '\'']).map(|open| at + open) {
            let quote = line[open..].chars().next().unwrap_or('"');
            let body = open + 1;
            let close = line[body..]
                .find(quote)
                .map_or(line.len(), |close| body + close);
            let between = line[at..open].trim();
            let value = &line[body..close];
            // `name = "value"`, `"name": "value"`.
            let key = between.strip_suffix(['=', ':']).map(|before| {
                before
                    .trim()
                    .rsplit([' ', '.', '{', ','])
                    .next()
                    .unwrap_or_default()
            });
            let named = match key {
                Some("") => Some(name.as_str()),
                Some(key) => Some(key),
                None => None,
            };
            let pieces = || value.split_whitespace();
            if is_secret(named, value) || url_has_secret(value) || pieces().any(has_token) {
                let span = Span::new(start + body, start + close);
                found.push(Secret {
                    span,
                    value: span,
                    role: Role::Key,
                    name: None,
                });
            }
            value.clone_into(&mut name);
            at = (close + 1).min(line.len());
        }
        tokens(line, start, Role::Key, &mut found);
        start += line.len();
    }
    found
}

/// Known tokens in the comments of a TOML text. A value that is only named like a secret is left
/// alone there: comments are full of examples.
fn in_comments(text: &str, found: &mut Vec<Secret>) {
    if !text.contains('#') {
        return;
    }
    for span in comments(text) {
        tokens(&text[span.range()], span.start, Role::Remark, found);
    }
}

/// Known tokens in `line`, which starts at byte `start`.
fn tokens(line: &str, start: usize, role: Role, found: &mut Vec<Secret>) {
    let mut from = 0;
    for piece in line.split_whitespace() {
        let here = from + line[from..].find(piece).unwrap_or_default();
        from = here + piece.len();
        if has_token(piece) && !is_reference(piece) {
            let span = Span::new(start + here, start + from);
            found.push(Secret {
                span,
                value: span,
                role,
                name: None,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::{Home, Kind, Subject};
    use super::*;

    fn secrets(kind: Kind, text: &str) -> Vec<String> {
        let subject = Subject {
            path: PathBuf::from("x"),
            shown: "x".to_owned(),
            kind,
            home: Home::User,
        };
        let source = Source::parse(subject, text.as_bytes().to_vec());
        let shown = |secret: &Secret| source.text()[secret.span.range()].to_owned();
        source.secrets.iter().map(shown).collect()
    }

    #[test]
    fn the_secret_alone_is_hidden_where_it_stands_plainly() {
        for (text, secret) in [
            (
                "[mcp_servers.a.env]\nA_KEY = 'kX83hdQz71LmPw02'\n",
                "kX83hdQz71LmPw02",
            ),
            (
                "[mcp_servers.a]\nargs = ['-e', 'T_TOKEN=Zp4nV8sQ1yKt6MwR3xHb']\n",
                "Zp4nV8sQ1yKt6MwR3xHb",
            ),
            (
                "[mcp_servers.a]\nargs = ['-c', 'x --token \"Zp4nV8sQ1yKt6MwR3xHb\"']\n",
                "Zp4nV8sQ1yKt6MwR3xHb",
            ),
            (
                "[mcp_servers.a]\nargs = ['--header', 'Authorization: Bearer Zp4nV8sQ1yKt']\n",
                "Zp4nV8sQ1yKt",
            ),
            (
                "notify = ['curl', '-H', 'X-Api-Key: Zp4nV8sQ1yKt6MwR3xHb']\n",
                "Zp4nV8sQ1yKt6MwR3xHb",
            ),
            (
                "instructions = 'use ghp_0123456789abcdefghijABCDEFGHIJ0123 for git'\n",
                "use ghp_0123456789abcdefghijABCDEFGHIJ0123 for git",
            ),
        ] {
            assert_eq!(secrets(Kind::Config, text), [secret], "{text}");
        }
    }

    #[test]
    fn names_ids_and_references_are_no_secrets() {
        for text in [
            "[mcp_servers.a.env]\nA_TOKEN = '${A_TOKEN}'\nB_KEY = 'op://vault/item/key'\nC_SECRET = 'C_SECRET'\n",
            "[mcp_servers.a.env]\nORG_ID = '4ffe76d60fa1ae381ff1e30be43368ed'\nX_SHA256S = '8eeb577c64b89bf64813ec3eaba504bc'\n",
            "[hooks.state.'a']\ntrusted_hash = 'sha256:8eeb577c64b89bf64813ec3eaba504bc530cccb16cede98ce6991c3e19ce609a'\n",
            "[marketplaces.a]\nlast_revision = '0123456789abcdef0123456789abcdef01234567'\n",
        ] {
            assert_eq!(secrets(Kind::Config, text), [] as [&str; 0], "{text}");
        }
    }

    #[test]
    fn a_text_that_does_not_parse_hides_its_secrets_too() {
        let broken = "[mcp_servers.a.env\nA_TOKEN = \"Zp4nV8sQ1yKt6MwR3xHb\" oops\nx = ghp_0123456789abcdefghijABCDEFGHIJ0123\n";
        assert_eq!(
            secrets(Kind::Config, broken),
            [
                "Zp4nV8sQ1yKt6MwR3xHb",
                "ghp_0123456789abcdefghijABCDEFGHIJ0123"
            ]
        );
        let json = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"x --token sk-proj-a1b2c3d4e5f6g7h8i9j0\"}]}]}}";
        assert_eq!(
            secrets(Kind::Hooks, json),
            ["x --token sk-proj-a1b2c3d4e5f6g7h8i9j0"]
        );
    }
}
