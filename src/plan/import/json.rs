//! JSON as people paste it: comments, trailing commas and a byte order mark are fine.
//!
//! It gives the same tree as the TOML reader, so that one translation serves both, and it keeps
//! where each value stands. Strings and numbers are read by `serde_json`; only the structure is
//! read here. A key that comes twice is refused: programs disagree which one counts. `null` has no
//! place in the tree; where it stood is listed.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::Reason;
use crate::document::{Data, Form, Node, Span};

/// As deep as `serde_json` goes, and deeper than any configuration: the stack is finite.
const MAX_DEPTH: usize = 128;

/// What was read.
#[derive(Debug)]
pub(super) struct Json {
    /// The whole text's value.
    pub(super) root: Node,
    /// Where `null` stood.
    pub(super) nulls: Vec<Span>,
}

/// Reads `text`.
pub(super) fn parse(text: &str) -> Result<Json, (Span, Reason)> {
    let mut reader = Reader {
        text,
        at: if text.starts_with('\u{feff}') { 3 } else { 0 },
        nulls: vec![],
    };
    reader.skip()?;
    let start = reader.at;
    let root = reader.value(Span::at(start), 0)?;
    reader.skip()?;
    if reader.at < text.len() {
        return Err(reader.wrong("the end of the file"));
    }
    Ok(Json {
        root: root.unwrap_or(Node {
            span: Span::at(start),
            key: Span::at(start),
            form: Form::Root,
            data: Data::Table(IndexMap::new()),
        }),
        nulls: reader.nulls,
    })
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    nulls: Vec<Span>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn wrong(&self, wanted: &'static str) -> (Span, Reason) {
        let end = self.text[self.at..]
            .chars()
            .next()
            .map_or(self.at, |letter| self.at + letter.len_utf8());
        (
            Span::new(self.at, end),
            Reason::Syntax(format!("expected {wanted}")),
        )
    }

    /// Goes past blanks and comments.
    fn skip(&mut self) -> Result<(), (Span, Reason)> {
        loop {
            let rest = &self.text[self.at..];
            if rest.starts_with([' ', '\t', '\n', '\r']) {
                self.at += 1;
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let Some(end) = comment.find("*/") else {
                    let span = Span::new(self.at, self.at + 2);
                    return Err((span, Reason::Syntax("a comment that does not end".into())));
                };
                self.at += end + 4;
            } else {
                return Ok(());
            }
        }
    }

    /// Reads one value; `None` for `null`.
    fn value(&mut self, key: Span, depth: usize) -> Result<Option<Node>, (Span, Reason)> {
        if depth >= MAX_DEPTH {
            return Err((Span::at(self.at), Reason::TooDeep));
        }
        let start = self.at;
        let (form, data) = match self.peek() {
            Some(b'{') => (Form::Inline, Data::Table(self.object(depth)?)),
            Some(b'[') => (Form::Value, Data::Array(self.array(depth)?)),
            Some(b'"') => (Form::Value, Data::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => (Form::Value, self.number()?),
            _ if self.word("true") => (Form::Value, Data::Boolean(true)),
            _ if self.word("false") => (Form::Value, Data::Boolean(false)),
            _ if self.word("null") => {
                self.nulls.push(Span::new(start, self.at));
                return Ok(None);
            }
            _ => return Err(self.wrong("a JSON value")),
        };
        Ok(Some(Node {
            span: Span::new(start, self.at),
            key,
            form,
            data,
        }))
    }

    fn word(&mut self, word: &str) -> bool {
        let is = self.text[self.at..].starts_with(word);
        if is {
            self.at += word.len();
        }
        is
    }

    fn string(&mut self) -> Result<String, (Span, Reason)> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(b'\n') | None => {
                    let span = Span::new(start, start + 1);
                    return Err((span, Reason::Syntax("a string that does not end".into())));
                }
                Some(_) => end += 1,
            }
        }
        let span = Span::new(start, end + 1);
        self.at = end + 1;
        self.text
            .get(span.range())
            .and_then(|text| serde_json::from_str(text).ok())
            .ok_or_else(|| {
                let why = "a string with an escape or a character that JSON does not allow";
                (span, Reason::Syntax(why.into()))
            })
    }

    fn number(&mut self) -> Result<Data, (Span, Reason)> {
        let start = self.at;
        while matches!(
            self.peek(),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'e' | b'E')
        ) {
            self.at += 1;
        }
        let span = Span::new(start, self.at);
        let number: Option<serde_json::Number> =
            serde_json::from_str(&self.text[span.range()]).ok();
        number
            .and_then(|number| match number.as_i64() {
                Some(integer) => Some(Data::Integer(integer)),
                None => number.as_f64().map(Data::Float),
            })
            .ok_or_else(|| {
                (
                    span,
                    Reason::Syntax("a number that JSON does not allow".into()),
                )
            })
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Node>, (Span, Reason)> {
        self.at += 1;
        let mut items = vec![];
        loop {
            self.skip()?;
            if self.word("]") {
                return Ok(items);
            }
            items.extend(self.value(Span::at(self.at), depth + 1)?);
            self.skip()?;
            if !self.word(",") && self.peek() != Some(b']') {
                return Err(self.wrong("`,` or `]`"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<IndexMap<String, Node>, (Span, Reason)> {
        self.at += 1;
        let mut members = IndexMap::new();
        // A `null` member is no member, yet its name counts as taken.
        let mut null_names = HashSet::new();
        loop {
            self.skip()?;
            if self.word("}") {
                return Ok(members);
            }
            if self.peek() != Some(b'"') {
                return Err(self.wrong("a key in double quotes or `}`"));
            }
            let start = self.at;
            let name = self.string()?;
            let key = Span::new(start, self.at);
            self.skip()?;
            if !self.word(":") {
                return Err(self.wrong("`:`"));
            }
            self.skip()?;
            let value = self.value(key, depth + 1)?;
            if members.contains_key(&name) || null_names.contains(&name) {
                return Err((key, Reason::DuplicateKey));
            }
            if let Some(value) = value {
                members.insert(name, value);
            } else {
                null_names.insert(name);
            }
            self.skip()?;
            if !self.word(",") && self.peek() != Some(b'}') {
                return Err(self.wrong("`,` or `}`"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Value;

    fn value(text: &str) -> Value {
        parse(text).expect("it parses").root.value()
    }

    #[test]
    fn comments_trailing_commas_and_a_mark_are_fine() {
        let plain = value(r#"{"a": ["x", 1, -2.5, true], "b": {"c": "d // no /* comment"}}"#);
        let pasted = value(
            "\u{feff}// head\n{\n  \"a\": [\"x\", 1, /* two */ -2.5, true,],\r\n  \"b\": {\"c\": \"d // no /* comment\",}, // end\n}\n/* last */",
        );
        assert_eq!(plain, pasted);
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = "{ /* é */ \"a\": [ \"x\" ] }";
        let root = parse(text).expect("it parses").root;
        let a = root.child("a").expect("a member");
        assert_eq!(&text[a.span.range()], "[ \"x\" ]");
        assert_eq!(&text[a.key.range()], "\"a\"");
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        for (text, at) in [
            ("", 0),
            ("{", 1),
            ("{,}", 1),
            ("{\"a\"}", 4),
            ("{\"a\": 1 \"b\": 2}", 8),
            ("[1,,2]", 3),
            ("[1] x", 4),
            ("{\"a\": 01}", 6),
            ("{\"a\": \"\\x\"}", 6),
            ("{\"a\": \"\\", 6),
            ("{\"a\": \"é\\", 6),
            ("{'a': 1}", 1),
            ("{\"a\": 1, \"a\": 2}", 9),
            ("{\"a\": null, \"a\": 2}", 12),
            ("/* {", 0),
            ("{\"a\": nul}", 6),
        ] {
            let (span, _) = parse(text).expect_err(text);
            assert_eq!(span.start, at, "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "[".repeat(10_000);
        assert!(matches!(parse(&deep), Err((_, Reason::TooDeep))));
        let fine = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(parse(&fine).is_ok());
    }

    #[test]
    fn null_is_listed() {
        let json = parse("{\"a\": null, \"b\": [null]}").expect("it parses");
        assert_eq!(json.nulls.len(), 2);
        assert!(json.root.child("a").is_none());
    }
}
