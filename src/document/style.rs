//! How a text is written, so that new text looks like its neighbours: line ends, the space around
//! `=`, quotes, indentation, the inside of braces and brackets.
//!
//! Style is read at the place of an edit, with the whole text as fallback.

use super::parse::{Data, Document, Form, Node, Statement, StatementKind};
use super::path::{KeyPath, is_bare};
use super::value::Value;

/// How new text is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Style {
    /// `"\n"` or `"\r\n"`.
    pub newline: &'static str,
    /// `" = "` or `"="`.
    pub equals: &'static str,
    /// Whether plain strings stand in single quotes.
    pub literal: bool,
    /// Whether braces have a space inside.
    pub padded_braces: bool,
    /// Whether brackets have a space inside.
    pub padded_brackets: bool,
    /// Whether a blank line stands above a header.
    pub blank_above_header: bool,
}

impl Style {
    /// Reads the style of `document`, of the statement `near` first where one is given.
    pub fn of(document: &Document, near: Option<&Statement>) -> Self {
        let text = document.text();
        let mut seen = Seen::default();
        seen.walk(document, document.root());
        Self {
            newline: newline_at(text, near.map_or(text.len(), |s| s.span.end)),
            equals: near
                .and_then(|statement| equals_of(document, statement))
                .or_else(|| {
                    document
                        .statements()
                        .iter()
                        .rev()
                        .find_map(|statement| equals_of(document, statement))
                })
                .unwrap_or(" = "),
            literal: seen.literal > seen.basic,
            padded_braces: seen.tight_braces <= seen.padded_braces,
            padded_brackets: seen.padded_brackets > seen.tight_brackets,
            blank_above_header: blank_above_headers(document),
        }
    }

    /// A key, quoted where it must be.
    pub fn key(&self, key: &str) -> String {
        if is_bare(key) {
            key.to_owned()
        } else {
            self.string(key)
        }
    }

    /// A key path with dots.
    pub fn path(&self, path: &[String]) -> String {
        let keys: Vec<String> = path.iter().map(|part| self.key(part)).collect();
        keys.join(".")
    }

    /// A value on one line; tables become inline tables.
    pub fn value(&self, value: &Value) -> String {
        match value {
            Value::String(text) => self.string(text),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => toml_edit::Value::from(*number).to_string(),
            Value::Boolean(truth) => truth.to_string(),
            Value::Datetime(text) => text.clone(),
            Value::Array(items) if items.is_empty() => "[]".to_owned(),
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.value(item)).collect();
                let pad = if self.padded_brackets { " " } else { "" };
                format!("[{pad}{}{pad}]", items.join(", "))
            }
            Value::Table(members) if members.is_empty() => "{}".to_owned(),
            Value::Table(members) => {
                let pairs: Vec<String> = members
                    .iter()
                    .map(|(key, value)| self.pair(std::slice::from_ref(key), value))
                    .collect();
                let pad = if self.padded_braces { " " } else { "" };
                format!("{{{pad}{}{pad}}}", pairs.join(", "))
            }
        }
    }

    /// `a.b = value` on one line.
    pub fn pair(&self, path: &[String], value: &Value) -> String {
        format!("{}{}{}", self.path(path), self.equals, self.value(value))
    }

    fn string(&self, text: &str) -> String {
        let plain = !text.contains('\'') && !text.chars().any(char::is_control);
        if plain && (self.literal || (text.contains('\\') && !text.contains('"'))) {
            format!("'{text}'")
        } else {
            // One line only: line breaks become escapes, since a value stands on one line.
            basic_string(text)
        }
    }
}

fn basic_string(text: &str) -> String {
    use std::fmt::Write as _;
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() => {
                // Writing into a String cannot fail.
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The line end that is in use before byte `at`, else the first one of the text, else a line feed.
fn newline_at(text: &str, at: usize) -> &'static str {
    let before = text.get(..at.min(text.len())).unwrap_or(text);
    let line_feed = before.rfind('\n').or_else(|| text.find('\n'));
    match line_feed {
        Some(found) if found > 0 && text.as_bytes()[found - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

fn equals_of(document: &Document, statement: &Statement) -> Option<&'static str> {
    let StatementKind::Pair { keys, value, .. } = &statement.kind else {
        return None;
    };
    let gap = document
        .text()
        .get(keys.last()?.end..value.start)
        .unwrap_or_default();
    Some(if gap == "=" { "=" } else { " = " })
}

/// Whether headers stand below a blank line: the majority, a header on the first line aside.
fn blank_above_headers(document: &Document) -> bool {
    let (mut blank, mut tight) = (0_usize, 0_usize);
    for statement in document.statements() {
        if !matches!(statement.kind, StatementKind::Header) {
            continue;
        }
        let line = document.locate(statement.span.start).line;
        // A comment above a header belongs to it: look above the comment.
        let above = (1..line)
            .rev()
            .map(|line| {
                document
                    .slice(document.lines().line(document.text(), line))
                    .trim()
            })
            .find(|text| !text.starts_with('#'));
        match above {
            Some("") => blank += 1,
            Some(_) => tight += 1,
            None => {}
        }
    }
    tight <= blank
}

#[derive(Default)]
struct Seen {
    literal: usize,
    basic: usize,
    padded_braces: usize,
    tight_braces: usize,
    padded_brackets: usize,
    tight_brackets: usize,
}

impl Seen {
    fn walk(&mut self, document: &Document, node: &Node) {
        let text = document.slice(node.span);
        match &node.data {
            Data::String(_) if text.starts_with('\'') => self.literal += 1,
            Data::String(_) => self.basic += 1,
            Data::Array(items) => {
                if node.form == Form::Value && !items.is_empty() && !text.contains('\n') {
                    count(text, &mut self.padded_brackets, &mut self.tight_brackets);
                }
                for item in items {
                    self.walk(document, item);
                }
            }
            Data::Table(members) => {
                if node.form == Form::Inline && !members.is_empty() && !text.contains('\n') {
                    count(text, &mut self.padded_braces, &mut self.tight_braces);
                }
                for member in members.values() {
                    self.walk(document, member);
                }
            }
            _ => {}
        }
    }
}

fn count(text: &str, padded: &mut usize, tight: &mut usize) {
    if text.as_bytes().get(1).is_some_and(u8::is_ascii_whitespace) {
        *padded += 1;
    } else {
        *tight += 1;
    }
}

/// The spaces and tabs at the start of the line in which byte `at` stands.
pub fn indent_at(document: &Document, at: usize) -> &str {
    let line = document.locate(at).line;
    let text = document.slice(document.lines().line(document.text(), line));
    let text = text.trim_start_matches('\u{feff}');
    &text[..text.len() - text.trim_start_matches([' ', '\t']).len()]
}

/// A table as lines that a person can paste, with line feeds.
pub fn lines(style: &Style, path: &KeyPath, value: &Value) -> String {
    section(style, path, value, "").replace("\r\n", "\n")
}

/// A table as lines in the style of `style`: its own header, its pairs, then its sub-tables.
pub(super) fn section(style: &Style, path: &KeyPath, value: &Value, indent: &str) -> String {
    let mut lines = Vec::new();
    push_section(style, path, value, indent, &mut lines);
    lines.join(style.newline)
}

fn push_section(
    style: &Style,
    path: &KeyPath,
    value: &Value,
    indent: &str,
    lines: &mut Vec<String>,
) {
    lines.push(format!("{indent}[{}]", style.path(path.parts())));
    let Value::Table(members) = value else {
        return;
    };
    let is_section = |value: &Value| matches!(value, Value::Table(members) if !members.is_empty());
    for (key, value) in members.iter().filter(|(_, value)| !is_section(value)) {
        lines.push(format!(
            "{indent}{}",
            style.pair(std::slice::from_ref(key), value)
        ));
    }
    for (key, value) in members.iter().filter(|(_, value)| is_section(value)) {
        if style.blank_above_header {
            lines.push(String::new());
        }
        push_section(style, &path.join(key), value, indent, lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(text: &str) -> Style {
        Style::of(&Document::parse(text).expect("TOML"), None)
    }

    #[test]
    fn the_style_of_the_text_is_taken_over() {
        let found = style("a='x'\r\nb={c='y'}\r\nd=[ 1 ]\r\n[e]\r\n[f]\r\n");
        assert_eq!(
            found,
            Style {
                newline: "\r\n",
                equals: "=",
                literal: true,
                padded_braces: false,
                padded_brackets: true,
                blank_above_header: false,
            }
        );
    }

    #[test]
    fn backslashes_keep_their_meaning() {
        let style = style("");
        assert_eq!(
            style.value(&Value::from("C:\\new\\tables")),
            "'C:\\new\\tables'"
        );
        assert_eq!(
            style.value(&Value::from("it's \"C:\\n\"")),
            "\"it's \\\"C:\\\\n\\\"\""
        );
        assert_eq!(style.value(&Value::from("a\nb\u{7}")), "\"a\\nb\\u0007\"");
    }
}
