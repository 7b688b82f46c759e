//! Reads JSON into the same tree as TOML, so that rules about hooks see both alike.
//!
//! `serde_json` decides whether a text is JSON, with the words that Codex uses; then the text is
//! walked once more for the places. Its limit of 128 levels bounds that walk, too. A key that is
//! written twice keeps its first value, and both are told: Codex refuses such a file.

use indexmap::IndexMap;
use indexmap::map::Entry;

use crate::document::{Data, Form, LineIndex, Node, Span, SyntaxError};

/// A JSON text with its tree.
#[derive(Debug, Clone)]
pub struct Json {
    /// The top value.
    pub root: Node,
    /// Keys that repeat an earlier one of the same object.
    pub repeated: Vec<Span>,
}

/// Parses `text`, which may begin with a byte order mark. Codex chokes on one (scenario
/// hooks-json-bom); that is said elsewhere.
///
/// # Errors
/// The first place that shows it is no JSON.
pub fn parse(text: &str) -> Result<Json, SyntaxError> {
    let body = text.trim_start_matches('\u{feff}');
    let skipped = text.len() - body.len();
    if let Err(error) = serde_json::from_str::<serde_json::Value>(body) {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let at = place(body, error.line(), error.column()) + skipped;
        let width = text[at..].chars().next().map_or(0, char::len_utf8);
        return Err(SyntaxError {
            message: message.to_owned(),
            span: Span::new(at, at + width),
        });
    }
    let mut reader = Reader {
        text,
        at: skipped,
        repeated: Vec::new(),
    };
    let root = reader.value(Span::default());
    Ok(Json {
        root,
        repeated: reader.repeated,
    })
}

/// The byte that an error means. Its column counts bytes and ends behind the last one read.
fn place(text: &str, line: usize, column: usize) -> usize {
    let start = LineIndex::new(text).line(text, line.max(1)).start;
    let mut at = (start + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Walks a text that is known to be JSON; at anything else it stops where it is.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    repeated: Vec<Span>,
}

impl Reader<'_> {
    fn value(&mut self, key: Span) -> Node {
        self.blank();
        let start = self.at;
        let data = match self.peek() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'"') => Data::String(self.string()),
            _ => self.scalar(),
        };
        Node {
            span: Span::new(start, self.at),
            key,
            form: match data {
                Data::Table(_) => Form::Inline,
                _ => Form::Value,
            },
            data,
        }
    }

    fn object(&mut self) -> Data {
        let mut members = IndexMap::new();
        self.at += 1;
        loop {
            self.blank();
            match self.peek() {
                Some(b'"') => {}
                Some(b',') => {
                    self.at += 1;
                    continue;
                }
                Some(b'}') => {
                    self.at += 1;
                    break;
                }
                _ => break,
            }
            let start = self.at;
            let name = self.string();
            let key = Span::new(start, self.at);
            self.blank();
            self.at += 1; // the colon
            let value = self.value(key);
            match members.entry(name) {
                Entry::Occupied(_) => self.repeated.push(key),
                Entry::Vacant(place) => {
                    place.insert(value);
                }
            }
        }
        Data::Table(members)
    }

    fn array(&mut self) -> Data {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.blank();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    break;
                }
                None => break,
                Some(_) => items.push(self.value(Span::default())),
            }
        }
        Data::Array(items)
    }

    fn string(&mut self) -> String {
        let start = self.at;
        let mut bytes = self.text.as_bytes()[start + 1..].iter();
        let mut length = 1;
        while let Some(byte) = bytes.next() {
            length += 1;
            match byte {
                b'"' => break,
                b'\\' => {
                    bytes.next();
                    length += 1;
                }
                _ => {}
            }
        }
        self.at = (start + length).min(self.text.len());
        let raw = self.text.get(start..self.at).unwrap_or_default();
        serde_json::from_str(raw).unwrap_or_default()
    }

    fn scalar(&mut self) -> Data {
        let rest = &self.text[self.at..];
        let end = rest
            .find(|c: char| matches!(c, ',' | ']' | '}') || c.is_ascii_whitespace())
            .unwrap_or(rest.len());
        let word = &rest[..end];
        // Always forward, so that no text can hold the walk.
        self.at += end.max(1).min(rest.len());
        match word {
            "true" => Data::Boolean(true),
            "false" => Data::Boolean(false),
            _ => match word.parse::<i64>() {
                Ok(number) => Data::Integer(number),
                Err(_) => Data::Float(word.parse().unwrap_or(f64::NAN)),
            },
        }
    }

    fn blank(&mut self) {
        let rest = &self.text[self.at..];
        let body = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        self.at += rest.len() - body.len();
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

/// Whether a value is `null`, which has no kind of its own in the tree.
pub fn is_null(node: &Node, text: &str) -> bool {
    text.get(node.span.range()) == Some("null")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_stand_where_the_text_has_them() {
        let text = "\u{feff}{ \"a\" : [1, {\"b\\n\": \"c\\u0041\"}], \"a\": null }";
        let json = parse(text).expect("it is JSON");
        let list = json.root.child("a").expect("a");
        assert_eq!(&text[list.span.range()], "[1, {\"b\\n\": \"c\\u0041\"}]");
        let inner = list
            .child("1")
            .and_then(|item| item.child("b\n"))
            .expect("b");
        assert_eq!(inner.as_str(), Some("cA"));
        assert_eq!(&text[inner.key.range()], "\"b\\n\"");
        assert_eq!(json.repeated.len(), 1);
    }

    #[test]
    fn errors_point_at_the_first_wrong_place() {
        for (text, at) in [("", 0), ("{\"a\": 1,}", 8), ("{\n // x\n}", 3)] {
            let error = parse(text).expect_err("it is none");
            assert_eq!(error.span.start, at, "{text:?}");
        }
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            ".*".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::hash_map(".*", inner, 0..4)
                    .prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    fn same(node: &Node, value: &serde_json::Value, text: &str) -> bool {
        match (value, &node.data) {
            (serde_json::Value::Null, _) => is_null(node, text),
            (serde_json::Value::Bool(a), Data::Boolean(b)) => a == b,
            (serde_json::Value::Number(a), Data::Integer(b)) => a.as_i64() == Some(*b),
            (serde_json::Value::String(a), Data::String(b)) => a == b,
            (serde_json::Value::Array(a), Data::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(b, a, text))
            }
            (serde_json::Value::Object(a), Data::Table(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .all(|(key, a)| b.get(key).is_some_and(|b| same(b, a, text)))
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn the_tree_has_the_values_of_the_text(value in json(), pretty in any::<bool>()) {
            let text = if pretty {
                serde_json::to_string_pretty(&value)
            } else {
                serde_json::to_string(&value)
            }
            .expect("it serialises");
            let parsed = parse(&text).expect("it is JSON");
            prop_assert!(same(&parsed.root, &value, &text));
            prop_assert_eq!(parsed.root.span, Span::new(0, text.len()));
        }

        #[test]
        fn no_text_panics(text in ".*|[\\[\\]{}\",:0-9a-z\\\\ ]*") {
            let _ = parse(&text);
        }
    }
}
