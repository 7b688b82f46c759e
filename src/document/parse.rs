//! Reads a TOML text into a tree in which every value knows where it stands.
//!
//! Two readers see each text. `toml_edit` decides whether it is TOML at all, with the words that
//! Codex uses, since both are built on the same parser (TOML 1.1, 80 levels of nesting:
//! scenarios `shape-multiline-inline`, `shape-max-nesting`). Then the events of that parser are
//! placed into [`Node`]s and [`Statement`]s. Where the two do not agree, the document is refused.

use indexmap::IndexMap;
use toml_parser::decoder::ScalarKind;
use toml_parser::parser::{Event, EventKind};

use super::path::KeyPath;
use super::span::{LineColumn, LineIndex, Span};
use super::value::Value;

/// A text that is not TOML, and the first place that shows it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// What the parser says, in its own words (they are Codex's, too).
    pub message: String,
    /// Where it says so.
    pub span: Span,
}

/// How a value or table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The whole document.
    Root,
    /// A scalar, or an array in brackets.
    Value,
    /// A table in braces: closed, it can be extended only in place.
    Inline,
    /// A table with a header of its own.
    Header,
    /// A table that only headers below it imply; a header for it may still come.
    Implicit,
    /// A table that dotted keys made.
    Dotted,
    /// An array of tables made by `[[headers]]`, or one element of it.
    Tables,
}

/// What a value is.
#[derive(Debug, Clone)]
pub enum Data {
    /// A string of any of the four kinds, decoded.
    String(String),
    /// A 64-bit integer.
    Integer(i64),
    /// A float.
    Float(f64),
    /// A boolean.
    Boolean(bool),
    /// A date, a time or both, in canonical form.
    Datetime(String),
    /// An array, in brackets or by `[[headers]]`.
    Array(Vec<Node>),
    /// A table in any form, its members in the order of the text.
    Table(IndexMap<String, Node>),
}

/// One value or table of a document.
#[derive(Debug, Clone)]
pub struct Node {
    /// The text of the value. For a table made by a header that header, by dotted keys the first of them.
    pub span: Span,
    /// The key that names it where it is first written; empty for elements of arrays.
    pub key: Span,
    /// How it is written.
    pub form: Form,
    /// What it is.
    pub data: Data,
}

/// Where a piece of the document writes into the tree.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The full path that it writes, indices of arrays included.
    pub path: KeyPath,
    /// From the first to the last byte of it, without comments and line end.
    pub span: Span,
    /// Header or pair.
    pub kind: StatementKind,
}

/// The two kinds of statement.
#[derive(Debug, Clone)]
pub enum StatementKind {
    /// `[path]` or `[[path]]`.
    Header,
    /// `key = value`, on a line of its own or inside braces.
    Pair {
        /// Each part of the key.
        keys: Vec<Span>,
        /// The value.
        value: Span,
        /// The braces around it, if it stands in an inline table.
        braces: Option<Span>,
    },
}

/// A TOML text with its tree. The text is never changed: see [`super::edit`].
#[derive(Debug, Clone)]
pub struct Document {
    text: String,
    root: Node,
    statements: Vec<Statement>,
    lines: LineIndex,
}

impl Document {
    /// Parses `text`, which may begin with a byte order mark. Spans count it.
    ///
    /// # Errors
    /// A text that is not TOML, or nested deeper than 80 levels.
    pub fn parse(text: impl Into<String>) -> Result<Self, SyntaxError> {
        let text = text.into();
        if let Err(error) = toml_edit::Document::parse(text.as_str()) {
            let span = error.span().unwrap_or(0..0);
            return Err(SyntaxError {
                message: error.message().trim().replace('\n', ", "),
                span: Span::new(span.start, span.end),
            });
        }
        let (root, statements) = Builder::build(&text)?;
        let lines = LineIndex::new(&text);
        Ok(Self {
            text,
            root,
            statements,
            lines,
        })
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The whole document as a table.
    pub const fn root(&self) -> &Node {
        &self.root
    }

    /// All headers and pairs in the order of the text; a pair stands before the pairs inside it.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// The node at `path`, if there is one.
    pub fn get(&self, path: &KeyPath) -> Option<&Node> {
        path.parts()
            .iter()
            .try_fold(&self.root, |node, part| node.child(part))
    }

    /// The line and column of byte `at`.
    pub fn locate(&self, at: usize) -> LineColumn {
        self.lines.locate(&self.text, at)
    }

    /// Where each line starts.
    pub const fn lines(&self) -> &LineIndex {
        &self.lines
    }

    /// The text at `span`.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }
}

impl Node {
    /// The member or element named `part`.
    pub fn child(&self, part: &str) -> Option<&Node> {
        match &self.data {
            Data::Table(members) => members.get(part),
            Data::Array(items) => items.get(part.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// The members, if this is a table.
    pub const fn as_table(&self) -> Option<&IndexMap<String, Node>> {
        match &self.data {
            Data::Table(members) => Some(members),
            _ => None,
        }
    }

    /// The elements, if this is an array.
    pub fn as_array(&self) -> Option<&[Node]> {
        match &self.data {
            Data::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    /// The truth, if this is a boolean.
    pub const fn as_bool(&self) -> Option<bool> {
        match &self.data {
            Data::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// The value without its text.
    pub fn value(&self) -> Value {
        match &self.data {
            Data::String(text) => Value::String(text.clone()),
            Data::Integer(value) => Value::Integer(*value),
            Data::Float(value) => Value::Float(*value),
            Data::Boolean(value) => Value::Boolean(*value),
            Data::Datetime(text) => Value::Datetime(text.clone()),
            Data::Array(items) => Value::Array(items.iter().map(Node::value).collect()),
            Data::Table(members) => Value::Table(
                members
                    .iter()
                    .map(|(key, node)| (key.clone(), node.value()))
                    .collect(),
            ),
        }
    }

    fn table(key: Span, span: Span, form: Form) -> Self {
        Self {
            span,
            key,
            form,
            data: Data::Table(IndexMap::new()),
        }
    }
}

/// Places events into the tree. It reads only texts that `toml_edit` took.
struct Builder<'t> {
    text: &'t str,
    events: std::iter::Peekable<std::vec::IntoIter<Event>>,
    root: Node,
    statements: Vec<Statement>,
    section: KeyPath,
    /// Where what is read just now belongs.
    path: KeyPath,
}

impl<'t> Builder<'t> {
    fn build(text: &'t str) -> Result<(Node, Vec<Statement>), SyntaxError> {
        let tokens = toml_parser::Source::new(text).lex().into_vec();
        let mut events: Vec<Event> = Vec::with_capacity(tokens.len());
        toml_parser::parser::parse_document(&tokens, &mut events, &mut ());
        events.retain(|event| {
            !matches!(
                event.kind(),
                EventKind::Whitespace | EventKind::Comment | EventKind::Newline
            )
        });
        let mut builder = Self {
            text,
            events: events.into_iter().peekable(),
            root: Node::table(Span::default(), Span::new(0, text.len()), Form::Root),
            statements: Vec::new(),
            section: KeyPath::root(),
            path: KeyPath::root(),
        };
        while let Some(event) = builder.events.next() {
            match event.kind() {
                EventKind::StdTableOpen => builder.header(event, false)?,
                EventKind::ArrayTableOpen => builder.header(event, true)?,
                EventKind::SimpleKey => builder.line(event)?,
                _ => return Err(unplaced(&event)),
            }
        }
        Ok((builder.root, builder.statements))
    }

    /// `[a.b]` or `[[a.b]]`: opens a section.
    fn header(&mut self, open: Event, array: bool) -> Result<(), SyntaxError> {
        let mut keys = Vec::new();
        let close = loop {
            let event = self.events.next().ok_or_else(|| unplaced(&open))?;
            match event.kind() {
                EventKind::SimpleKey => keys.push(self.key(&event)?),
                EventKind::KeySep => {}
                EventKind::StdTableClose | EventKind::ArrayTableClose => break event,
                _ => return Err(unplaced(&event)),
            }
        };
        let span = Span::new(open.span().start(), close.span().end());
        let (last_name, last_key) = keys.pop().ok_or_else(|| unplaced(&open))?;

        let mut path = KeyPath::root();
        let mut node = &mut self.root;
        for (name, key) in keys {
            path.0.push(name.clone());
            node = members(node, &open)?
                .entry(name)
                .or_insert_with(|| Node::table(key, span, Form::Implicit));
            if matches!(node.data, Data::Array(_)) {
                let (index, element) = last_element(node).ok_or_else(|| unplaced(&open))?;
                path.0.push(index.to_string());
                node = element;
            }
        }
        path.0.push(last_name.clone());
        let table = members(node, &open)?;
        if array {
            let list = table.entry(last_name).or_insert_with(|| Node {
                span,
                key: last_key,
                form: Form::Tables,
                data: Data::Array(Vec::new()),
            });
            let Data::Array(items) = &mut list.data else {
                return Err(unplaced(&open));
            };
            path.0.push(items.len().to_string());
            items.push(Node::table(last_key, span, Form::Tables));
        } else {
            let node = table
                .entry(last_name)
                .or_insert_with(|| Node::table(last_key, span, Form::Header));
            if node.form == Form::Implicit {
                node.form = Form::Header;
                node.span = span;
                node.key = last_key;
            }
        }
        self.section = path.clone();
        self.statements.push(Statement {
            path,
            span,
            kind: StatementKind::Header,
        });
        Ok(())
    }

    /// `a.b = value` on a line of its own.
    fn line(&mut self, first: Event) -> Result<(), SyntaxError> {
        self.path.clone_from(&self.section);
        let pair = self.pair(first, None)?;
        let target = self
            .section
            .parts()
            .iter()
            .try_fold(&mut self.root, |node, part| match &mut node.data {
                Data::Table(table) => table.get_mut(part),
                Data::Array(items) => items.get_mut(part.parse::<usize>().ok()?),
                _ => None,
            })
            .ok_or_else(|| unplaced(&first))?;
        insert(target, pair, &first)
    }

    /// `a.b = value`, of which `first` is the first key, into the table at `self.path`.
    fn pair(&mut self, first: Event, braces: Option<Span>) -> Result<Pair, SyntaxError> {
        let mut keys = vec![self.key(&first)?];
        loop {
            let event = self.events.next().ok_or_else(|| unplaced(&first))?;
            match event.kind() {
                EventKind::SimpleKey => keys.push(self.key(&event)?),
                EventKind::KeySep => {}
                EventKind::KeyValSep => break,
                _ => return Err(unplaced(&event)),
            }
        }
        let base = self.path.0.len();
        self.path
            .0
            .extend(keys.iter().map(|(name, _)| name.clone()));
        // The statement stands before those inside its value, which complete it.
        let at = self.statements.len();
        self.statements.push(Statement {
            path: self.path.clone(),
            span: Span::default(),
            kind: StatementKind::Header,
        });
        let mut value = self.value()?;
        self.path.0.truncate(base);
        value.key = keys.last().map(|(_, span)| *span).unwrap_or_default();
        let statement = &mut self.statements[at];
        statement.span = Span::new(first.span().start(), value.span.end);
        statement.kind = StatementKind::Pair {
            keys: keys.iter().map(|(_, span)| *span).collect(),
            value: value.span,
            braces,
        };
        Ok(Pair { keys, value })
    }

    /// The value at `self.path`.
    fn value(&mut self) -> Result<Node, SyntaxError> {
        let Some(event) = self.events.next() else {
            return Err(SyntaxError {
                message: "a value is missing".to_owned(),
                span: Span::at(self.text.len()),
            });
        };
        match event.kind() {
            EventKind::Scalar => self.scalar(&event),
            EventKind::ArrayOpen => {
                let mut items = Vec::new();
                loop {
                    let next = self.events.peek().ok_or_else(|| unplaced(&event))?;
                    match next.kind() {
                        EventKind::ArrayClose => break,
                        EventKind::ValueSep => {
                            self.events.next();
                        }
                        // A scalar has nothing below it that would ask for its path.
                        EventKind::Scalar => items.push(self.value()?),
                        _ => {
                            self.path.0.push(items.len().to_string());
                            items.push(self.value()?);
                            self.path.0.pop();
                        }
                    }
                }
                let close = self.events.next().ok_or_else(|| unplaced(&event))?;
                Ok(Node {
                    span: Span::new(event.span().start(), close.span().end()),
                    key: Span::default(),
                    form: Form::Value,
                    data: Data::Array(items),
                })
            }
            EventKind::InlineTableOpen => self.inline(&event),
            _ => Err(unplaced(&event)),
        }
    }

    fn inline(&mut self, open: &Event) -> Result<Node, SyntaxError> {
        let from = self.statements.len();
        let mut node = Node::table(Span::default(), Span::default(), Form::Inline);
        let close = loop {
            let event = self.events.next().ok_or_else(|| unplaced(open))?;
            match event.kind() {
                EventKind::InlineTableClose => break event,
                EventKind::ValueSep => {}
                EventKind::SimpleKey => {
                    let pair = self.pair(event, Some(Span::default()))?;
                    insert(&mut node, pair, &event)?;
                }
                _ => return Err(unplaced(&event)),
            }
        };
        node.span = Span::new(open.span().start(), close.span().end());
        for statement in &mut self.statements[from..] {
            if let StatementKind::Pair {
                braces: Some(braces),
                ..
            } = &mut statement.kind
                && braces.is_empty()
            {
                *braces = node.span;
            }
        }
        Ok(node)
    }

    fn scalar(&self, event: &Event) -> Result<Node, SyntaxError> {
        let source = toml_parser::Source::new(self.text);
        let raw = source.get(event).ok_or_else(|| unplaced(event))?;
        let mut decoded = std::borrow::Cow::Borrowed("");
        let data = match raw.decode_scalar(&mut decoded, &mut ()) {
            ScalarKind::String => Data::String(decoded.into_owned()),
            ScalarKind::Boolean(value) => Data::Boolean(value),
            ScalarKind::DateTime => Data::Datetime(
                decoded
                    .parse::<toml_edit::Datetime>()
                    .map_err(|_| unplaced(event))?
                    .to_string(),
            ),
            ScalarKind::Float => Data::Float(decoded.parse().map_err(|_| unplaced(event))?),
            ScalarKind::Integer(radix) => Data::Integer(
                i64::from_str_radix(&decoded, radix.value()).map_err(|_| unplaced(event))?,
            ),
        };
        Ok(Node {
            span: Span::new(event.span().start(), event.span().end()),
            key: Span::default(),
            form: Form::Value,
            data,
        })
    }

    fn key(&self, event: &Event) -> Result<(String, Span), SyntaxError> {
        let source = toml_parser::Source::new(self.text);
        let raw = source.get(event).ok_or_else(|| unplaced(event))?;
        let mut decoded = std::borrow::Cow::Borrowed("");
        raw.decode_key(&mut decoded, &mut ());
        Ok((
            decoded.into_owned(),
            Span::new(event.span().start(), event.span().end()),
        ))
    }
}

struct Pair {
    keys: Vec<(String, Span)>,
    value: Node,
}

/// Puts `pair` into `target`, making the tables that its dots name.
fn insert(target: &mut Node, pair: Pair, at: &Event) -> Result<(), SyntaxError> {
    let Pair { mut keys, value } = pair;
    let (name, _) = keys.pop().ok_or_else(|| unplaced(at))?;
    let mut node = target;
    for (name, key) in keys {
        node = members(node, at)?
            .entry(name)
            .or_insert_with(|| Node::table(key, key, Form::Dotted));
    }
    if members(node, at)?.insert(name, value).is_some() {
        return Err(unplaced(at));
    }
    Ok(())
}

fn members<'n>(
    node: &'n mut Node,
    at: &Event,
) -> Result<&'n mut IndexMap<String, Node>, SyntaxError> {
    match &mut node.data {
        Data::Table(members) => Ok(members),
        _ => Err(unplaced(at)),
    }
}

fn last_element(node: &mut Node) -> Option<(usize, &mut Node)> {
    match &mut node.data {
        Data::Array(items) => {
            let index = items.len().checked_sub(1)?;
            Some((index, items.get_mut(index)?))
        }
        _ => None,
    }
}

/// The two readers disagree: fail closed.
fn unplaced(event: &Event) -> SyntaxError {
    SyntaxError {
        message: "codexgate cannot place this statement".to_owned(),
        span: Span::new(event.span().start(), event.span().end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Document {
        Document::parse(text).expect("the test's text is TOML")
    }

    fn at<'d>(document: &'d Document, path: &str) -> &'d Node {
        document
            .get(&KeyPath::dotted(path))
            .expect("the path is there")
    }

    #[test]
    fn every_spelling_of_a_server_is_the_same_value() {
        let wanted = parse("[mcp_servers.a]\ncommand = \"x\"\nenv.K = \"v\"\n");
        for text in [
            "mcp_servers = { a = { command = \"x\", env = { K = \"v\" } } }",
            "mcp_servers.a.command = 'x'\nmcp_servers.a.env.K = '''v'''",
            "[mcp_servers]\n[mcp_servers.\"a\"]\n\"comm\\u0061nd\" = \"x\"\n[mcp_servers.a.env]\nK = \"v\"",
            "[mcp_servers.a.env]\nK = \"v\"\n[mcp_servers.a]\ncommand = \"x\"",
            "mcp_servers = {\n  a = { command = \"x\", env.K = \"v\", },\n}",
        ] {
            assert_eq!(parse(text).root().value(), wanted.root().value(), "{text}");
        }
    }

    #[test]
    fn spans_are_the_text_of_keys_and_values() {
        let text = "\u{feff}a.b = [1, { c = 'x' }] # end\n[[t]]\nu = 2020-01-01\n[[t]]\n[t.v]\n";
        let document = parse(text);
        assert_eq!(
            document.slice(at(&document, "a.b").span),
            "[1, { c = 'x' }]"
        );
        assert_eq!(document.slice(at(&document, "a.b.1.c").span), "'x'");
        assert_eq!(document.slice(at(&document, "a.b.1.c").key), "c");
        assert_eq!(document.slice(at(&document, "t.1.v").span), "[t.v]");
        assert_eq!(
            at(&document, "t.0.u").value(),
            Value::Datetime("2020-01-01".into())
        );
        let paths: Vec<String> = document
            .statements()
            .iter()
            .map(|s| format!("{} {}", s.path, document.slice(s.span)))
            .collect();
        assert_eq!(
            paths,
            [
                "a.b a.b = [1, { c = 'x' }]",
                "a.b.1.c c = 'x'",
                "t.0 [[t]]",
                "t.0.u u = 2020-01-01",
                "t.1 [[t]]",
                "t.1.v [t.v]",
            ]
        );
    }

    #[test]
    fn a_pair_in_braces_knows_them() {
        let document = parse("m = { a = { b = 1 }, c = 2 }");
        let braces: Vec<&str> = document
            .statements()
            .iter()
            .filter_map(|s| match s.kind {
                StatementKind::Pair { braces, .. } => braces,
                StatementKind::Header => None,
            })
            .map(|span| document.slice(span))
            .collect();
        assert_eq!(
            braces,
            [
                "{ a = { b = 1 }, c = 2 }",
                "{ b = 1 }",
                "{ a = { b = 1 }, c = 2 }"
            ]
        );
    }

    #[test]
    fn numbers_in_every_base_are_read() {
        let document = parse(
            "a = 0xFF\nb = 1_000\nc = -0b0\nd = +1.5e3\ne = -inf"
                .replace("-0b0", "0b10")
                .as_str(),
        );
        assert_eq!(at(&document, "a").value(), Value::Integer(255));
        assert_eq!(at(&document, "b").value(), Value::Integer(1000));
        assert_eq!(at(&document, "c").value(), Value::Integer(2));
        assert_eq!(at(&document, "d").value(), Value::Float(1500.0));
        assert_eq!(at(&document, "e").value(), Value::Float(f64::NEG_INFINITY));
    }

    #[test]
    fn what_is_no_toml_is_an_error_with_a_place() {
        for (text, start) in [
            ("a = 1\na = 2\n", 6),
            ("[a\n", 2),
            ("a = \"\\U\"", 5),
            ("x = 99999999999999999999", 4),
            ("a.b = 1\n[a]\n", 9),
        ] {
            let error = Document::parse(text).expect_err(text);
            assert!(
                error.span.start <= text.len() && error.span.start + 4 >= start,
                "{text}: {error:?}"
            );
        }
    }

    #[test]
    fn deep_nesting_is_refused_without_a_crash() {
        for text in [
            format!("a = {}1{}", "[".repeat(10_000), "]".repeat(10_000)),
            format!("a = {}", "{a=".repeat(10_000)),
            format!("{}a = 1", "a.".repeat(10_000)),
            format!("[{}a]", "a.".repeat(10_000)),
        ] {
            assert!(Document::parse(text).is_err());
        }
    }
}
