//! A JSON text with spans, and edits of it that leave every other byte alone.
//!
//! Strict JSON as Codex reads it: no comments, no trailing comma, no byte order mark, no key twice.
//! An edit adds a member or an item behind the last one, replaces a value or takes one out, and
//! looks like its neighbours: their line ends, their indentation, their spaces. The result is
//! parsed again and compared by value before it counts.

use std::collections::HashSet;

use serde_json::Value;

use super::edit::{self, Edit};
use super::span::Span;

/// How deep a text may nest: `serde_json` refuses deeper ones.
const DEPTH_LIMIT: usize = 120;

/// A step down into a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// A member of an object.
    Key(&'a str),
    /// An item of an array.
    Item(usize),
}

/// Why a text is not taken, or an edit has no safe place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// It is no JSON.
    #[error("it is no JSON: {0}")]
    Syntax(String),
    /// A key stands twice in one object.
    #[error("`{0}` stands twice")]
    Twice(String),
    /// What is wanted there is not what stands there.
    #[error("{0}")]
    Shape(String),
}

/// A value, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    span: Span,
    data: Data,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Data {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Member {
    key: String,
    /// From the key's quote to the value's end.
    span: Span,
    value: Node,
}

/// A JSON text.
#[derive(Debug, Clone, PartialEq)]
pub struct Json {
    text: String,
    root: Node,
    value: Value,
}

impl Json {
    /// Parses a text.
    ///
    /// # Errors
    /// It is not strict JSON, or has a key twice.
    pub fn parse(text: impl Into<String>) -> Result<Self, JsonError> {
        let text = text.into();
        let value: Value =
            serde_json::from_str(&text).map_err(|error| JsonError::Syntax(error.to_string()))?;
        let mut scan = Scan {
            text: text.as_bytes(),
            at: 0,
        };
        let root = scan.value(&text, 0)?;
        Ok(Self { text, root, value })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The whole value.
    pub const fn value(&self) -> &Value {
        &self.value
    }

    /// Where the value at `path` stands.
    pub fn span(&self, path: &[Step<'_>]) -> Option<Span> {
        self.node(path).map(|node| node.span)
    }

    fn node(&self, path: &[Step<'_>]) -> Option<&Node> {
        path.iter()
            .try_fold(&self.root, |node, step| match (step, &node.data) {
                (Step::Key(key), Data::Object(members)) => members
                    .iter()
                    .find(|member| member.key == *key)
                    .map(|member| &member.value),
                (Step::Item(at), Data::Array(items)) => items.get(*at),
                _ => None,
            })
    }

    /// Adds `value` as the last item of the array at `path`.
    ///
    /// # Errors
    /// No array stands there.
    pub fn push(&self, path: &[Step<'_>], value: &Value) -> Result<(Self, Vec<Edit>), JsonError> {
        let Some(node) = self.node(path) else {
            return Err(shape(path, "is not there"));
        };
        let Data::Array(items) = &node.data else {
            return Err(shape(path, "is no array"));
        };
        let last = items.last().map(|item| item.span);
        let before = items.iter().rev().nth(1).map(|item| item.span.end);
        let edit = self.add(node.span, last, before, |layout| layout.print(value));
        let mut wanted = self.value.clone();
        if let Some(Value::Array(items)) = at_mut(&mut wanted, path) {
            items.push(value.clone());
        }
        self.checked(vec![edit], &wanted)
    }

    /// Adds the member `key` behind the last one of the object at `path`.
    ///
    /// # Errors
    /// No object stands there, or it has that member.
    pub fn insert(
        &self,
        path: &[Step<'_>],
        key: &str,
        value: &Value,
    ) -> Result<(Self, Vec<Edit>), JsonError> {
        let Some(node) = self.node(path) else {
            return Err(shape(path, "is not there"));
        };
        let Data::Object(members) = &node.data else {
            return Err(shape(path, "is no object"));
        };
        if members.iter().any(|member| member.key == key) {
            return Err(JsonError::Twice(key.to_owned()));
        }
        let last = members.last().map(|member| member.span);
        let before = members.iter().rev().nth(1).map(|member| member.span.end);
        let edit = self.add(node.span, last, before, |layout| {
            let name = Value::from(key).to_string();
            format!("{name}:{}{}", layout.gap(), layout.print(value))
        });
        let mut wanted = self.value.clone();
        if let Some(Value::Object(members)) = at_mut(&mut wanted, path) {
            members.insert(key.to_owned(), value.clone());
        }
        self.checked(vec![edit], &wanted)
    }

    /// Puts `value` in place of the one at `path`.
    ///
    /// # Errors
    /// Nothing stands there.
    pub fn replace(
        &self,
        path: &[Step<'_>],
        value: &Value,
    ) -> Result<(Self, Vec<Edit>), JsonError> {
        let Some(node) = self.node(path) else {
            return Err(shape(path, "is not there"));
        };
        let layout = self.layout(
            node.span.start,
            !self.text[node.span.range()].contains('\n'),
        );
        let edit = Edit::replace(node.span, layout.print(value));
        let mut wanted = self.value.clone();
        if let Some(place) = at_mut(&mut wanted, path) {
            *place = value.clone();
        }
        self.checked(vec![edit], &wanted)
    }

    /// Takes out the member or item at `path`, with the comma and the space that came with it.
    ///
    /// # Errors
    /// Nothing stands there.
    pub fn remove(&self, path: &[Step<'_>]) -> Result<(Self, Vec<Edit>), JsonError> {
        let missing = || shape(path, "is not there");
        let (last, above) = path.split_last().ok_or_else(missing)?;
        let parent = self.node(above).ok_or_else(missing)?;
        let (spans, at): (Vec<Span>, Option<usize>) = match (&parent.data, last) {
            (Data::Object(members), Step::Key(key)) => (
                members.iter().map(|member| member.span).collect(),
                members.iter().position(|member| member.key == *key),
            ),
            (Data::Array(items), Step::Item(at)) => (
                items.iter().map(|item| item.span).collect(),
                (*at < items.len()).then_some(*at),
            ),
            _ => return Err(missing()),
        };
        let at = at.ok_or_else(missing)?;
        let gone = if at > 0 {
            Span::new(spans[at - 1].end, spans[at].end)
        } else if let Some(next) = spans.get(1) {
            Span::new(spans[0].start, next.start)
        } else {
            Span::new(parent.span.start + 1, parent.span.end - 1)
        };
        let mut wanted = self.value.clone();
        match (at_mut(&mut wanted, above), last) {
            (Some(Value::Object(members)), Step::Key(key)) => {
                members.shift_remove(*key);
            }
            (Some(Value::Array(items)), Step::Item(_)) => {
                items.remove(at);
            }
            _ => return Err(missing()),
        }
        self.checked(vec![Edit::remove(gone)], &wanted)
    }

    /// The edit that adds a piece to what stands in `whole`, behind `last`.
    fn add(
        &self,
        whole: Span,
        last: Option<Span>,
        before: Option<usize>,
        print: impl Fn(&Layout) -> String,
    ) -> Edit {
        let Some(last) = last else {
            let inline = !self.text.trim_end().contains('\n');
            let outer = self.layout(whole.start, inline);
            let inner = outer.deeper();
            let text = if inline {
                print(&inner)
            } else {
                format!("{}{}{}", inner.line(), print(&inner), outer.line())
            };
            return Edit::replace(Span::new(whole.start + 1, whole.end - 1), text);
        };
        let open = before.unwrap_or(whole.start + 1);
        let space = &self.text[open..last.start];
        if space.contains('\n') {
            let layout = self.layout(last.start, false);
            return Edit::insert(last.end, format!(",{}{}", layout.line(), print(&layout)));
        }
        let layout = self.layout(last.start, true);
        Edit::insert(last.end, format!(",{}{}", layout.gap(), print(&layout)))
    }

    fn layout(&self, at: usize, inline: bool) -> Layout {
        let line = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let indent: String = self.text[line..]
            .chars()
            .take_while(|c| matches!(c, ' ' | '\t'))
            .collect();
        let unit = self
            .text
            .lines()
            .map(|line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()])
            .find(|space| !space.is_empty())
            .unwrap_or("  ");
        Layout {
            inline,
            tight: self.text.contains(':') && !self.text.contains(": "),
            newline: if self.text.contains("\r\n") {
                "\r\n"
            } else {
                "\n"
            },
            unit: unit.to_owned(),
            indent,
        }
    }

    fn checked(&self, edits: Vec<Edit>, wanted: &Value) -> Result<(Self, Vec<Edit>), JsonError> {
        let text =
            edit::apply(&self.text, &edits).map_err(|error| JsonError::Shape(error.to_string()))?;
        let after = Self::parse(text)?;
        if after.value != *wanted {
            return Err(JsonError::Shape("no safe place was found".to_owned()));
        }
        Ok((after, edits))
    }
}

/// How new text at one place looks.
struct Layout {
    inline: bool,
    tight: bool,
    newline: &'static str,
    unit: String,
    indent: String,
}

impl Layout {
    fn deeper(&self) -> Self {
        Self {
            indent: format!("{}{}", self.indent, self.unit),
            unit: self.unit.clone(),
            ..*self
        }
    }

    fn line(&self) -> String {
        format!("{}{}", self.newline, self.indent)
    }

    const fn gap(&self) -> &'static str {
        if self.tight { "" } else { " " }
    }

    fn print(&self, value: &Value) -> String {
        let pieces: Vec<String> = match value {
            Value::Object(members) => {
                let inner = self.deeper();
                let pieces = members.iter().map(|(key, value)| {
                    let key = Value::from(key.as_str());
                    format!("{key}:{}{}", self.gap(), inner.print(value))
                });
                pieces.collect()
            }
            Value::Array(items) => {
                let inner = self.deeper();
                items.iter().map(|item| inner.print(item)).collect()
            }
            scalar => return scalar.to_string(),
        };
        let (open, close) = if value.is_object() {
            ('{', '}')
        } else {
            ('[', ']')
        };
        if pieces.is_empty() {
            return format!("{open}{close}");
        }
        if self.inline {
            return format!("{open}{}{close}", pieces.join(&format!(",{}", self.gap())));
        }
        let inner = self.deeper().line();
        let body = pieces.join(&format!(",{inner}"));
        format!("{open}{inner}{body}{}{close}", self.line())
    }
}

/// `value` on lines of its own, as a new file has it.
pub fn print(value: &Value) -> String {
    let layout = Layout {
        inline: false,
        tight: false,
        newline: "\n",
        unit: "  ".to_owned(),
        indent: String::new(),
    };
    layout.print(value) + "\n"
}

fn at_mut<'a>(value: &'a mut Value, path: &[Step<'_>]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(*key),
        Step::Item(at) => value.get_mut(*at),
    })
}

fn shape(path: &[Step<'_>], what: &str) -> JsonError {
    let words: Vec<String> = path
        .iter()
        .map(|step| match step {
            Step::Key(key) => (*key).to_owned(),
            Step::Item(at) => at.to_string(),
        })
        .collect();
    let name = if words.is_empty() {
        "the file".to_owned()
    } else {
        format!("`{}`", words.join("."))
    };
    JsonError::Shape(format!("{name} {what}"))
}

/// Finds the spans of a text that is known to be JSON.
struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> u8 {
        self.space();
        self.text.get(self.at).copied().unwrap_or_default()
    }

    fn string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.text.get(self.at) {
            self.at += 1;
            match byte {
                b'"' => return,
                b'\\' => self.at += 1,
                _ => {}
            }
        }
    }

    fn value(&mut self, text: &str, depth: usize) -> Result<Node, JsonError> {
        if depth > DEPTH_LIMIT {
            return Err(JsonError::Syntax("it nests too deep".to_owned()));
        }
        let open = self.peek();
        let start = self.at;
        let data = match open {
            b'{' | b'[' => {
                self.at += 1;
                let close = if open == b'{' { b'}' } else { b']' };
                let mut members: Vec<Member> = Vec::new();
                let mut seen = HashSet::new();
                let mut items = Vec::new();
                while self.peek() != close && self.at < self.text.len() {
                    if open == b'{' {
                        let member = self.member(text, depth)?;
                        if !seen.insert(member.key.clone()) {
                            return Err(JsonError::Twice(member.key));
                        }
                        members.push(member);
                    } else {
                        items.push(self.value(text, depth + 1)?);
                    }
                    if self.peek() == b',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
                if open == b'{' {
                    Data::Object(members)
                } else {
                    Data::Array(items)
                }
            }
            b'"' => {
                self.string();
                Data::Scalar
            }
            _ => {
                let ends =
                    |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
                while self.text.get(self.at).is_some_and(|byte| !ends(byte)) {
                    self.at += 1;
                }
                Data::Scalar
            }
        };
        Ok(Node {
            span: Span::new(start, self.at.min(self.text.len())),
            data,
        })
    }

    fn member(&mut self, text: &str, depth: usize) -> Result<Member, JsonError> {
        let start = self.at;
        self.string();
        let key = text
            .get(start..self.at)
            .and_then(|key| serde_json::from_str(key).ok())
            .ok_or_else(|| JsonError::Syntax("a key is no string".to_owned()))?;
        if self.peek() == b':' {
            self.at += 1;
        }
        let value = self.value(text, depth + 1)?;
        Ok(Member {
            key,
            span: Span::new(start, value.span.end),
            value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn parsed(text: &str) -> Json {
        Json::parse(text).expect("JSON")
    }

    fn apply(text: &str, edits: &[Edit]) -> String {
        edit::apply(text, edits).expect("they fit")
    }

    #[test]
    fn new_items_look_like_their_neighbours() {
        for (before, after) in [
            ("{\"a\":[]}", "{\"a\":[{\"x\":1,\"y\":[2]}]}"),
            ("{\"a\": [1, 2]}", "{\"a\": [1, 2, {\"x\": 1, \"y\": [2]}]}"),
            (
                "{\n\t\"a\": [\n\t\t1\n\t]\n}\n",
                "{\n\t\"a\": [\n\t\t1,\n\t\t{\n\t\t\t\"x\": 1,\n\t\t\t\"y\": [\n\t\t\t\t2\n\t\t\t]\n\t\t}\n\t]\n}\n",
            ),
            (
                "{\r\n    \"a\": []\r\n}",
                "{\r\n    \"a\": [\r\n        {\r\n            \"x\": 1,\r\n            \"y\": [\r\n                2\r\n            ]\r\n        }\r\n    ]\r\n}",
            ),
        ] {
            let (json, edits) = parsed(before)
                .push(&[Step::Key("a")], &json!({"x": 1, "y": [2]}))
                .expect("a place");
            assert_eq!(json.text(), after);
            assert_eq!(apply(before, &edits), after);
        }
    }

    #[test]
    fn new_members_go_behind_the_last() {
        let json = parsed("{\n  \"a\": 1\n}\n");
        let (json, _) = json.insert(&[], "b", &json!([])).expect("a place");
        assert_eq!(json.text(), "{\n  \"a\": 1,\n  \"b\": []\n}\n");
        assert_eq!(
            json.insert(&[], "a", &json!(1)),
            Err(JsonError::Twice("a".to_owned()))
        );
        let (json, _) = parsed("{ }")
            .insert(&[], "b", &json!({"c": 1}))
            .expect("a place");
        assert_eq!(json.value(), &json!({"b": {"c": 1}}));
    }

    #[test]
    fn what_is_no_strict_json_is_refused() {
        for text in [
            "",
            "{,}",
            "[1,]",
            "// x\n{}",
            "\u{feff}{}",
            "{\"a\":1,\"a\":2}",
            "{\"a\":1,\"\\u0061\":2}",
            &"[".repeat(100_000),
        ] {
            assert!(
                Json::parse(text).is_err(),
                "{}",
                &text[..text.len().min(20)]
            );
        }
        assert!(
            parsed("{\"a\": 1}")
                .push(&[Step::Key("a")], &json!(1))
                .is_err()
        );
        assert!(parsed("{}").remove(&[Step::Key("a")]).is_err());
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((".{0,4}", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_was_added_can_be_taken_out_to_the_last_byte(
            old in prop::collection::vec(any_value(), 1..4),
            new in any_value(),
            pretty in any::<bool>(),
            indent in prop_oneof![Just("\t"), Just("  "), Just("    ")],
            crlf in any::<bool>(),
        ) {
            let value = json!({"first": 1, "hooks": {"Event": old}, "last": "x"});
            let mut text = if pretty {
                let layout = Layout {
                    inline: false,
                    tight: false,
                    newline: if crlf { "\r\n" } else { "\n" },
                    unit: indent.to_owned(),
                    indent: String::new(),
                };
                layout.print(&value)
            } else {
                value.to_string()
            };
            text.push('\n');
            let path = [Step::Key("hooks"), Step::Key("Event")];
            let json = parsed(&text);
            let (after, edits) = json.push(&path, &new).expect("a place");
            prop_assert_eq!(edits.len(), 1);
            // One insertion, so every other byte is kept.
            prop_assert_eq!(edits[0].span.start, edits[0].span.end);
            let (back, _) = after
                .remove(&[path[0], path[1], Step::Item(old.len())])
                .expect("it is there");
            prop_assert_eq!(back.text(), &text);
            let (member, _) = json.insert(&[Step::Key("hooks")], "New", &new).expect("a place");
            let (back, _) = member.remove(&[Step::Key("hooks"), Step::Key("New")]).expect("there");
            prop_assert_eq!(back.text(), &text);
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in ".{0,60}") {
            let _ = Json::parse(text);
        }
    }
}
