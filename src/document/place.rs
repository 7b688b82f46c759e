//! Where new text goes: inserting, replacing and removing a key path in any shape of document.
//!
//! Each operation makes edits, applies them, parses the result and compares it by value with
//! what was asked for. A document for which that does not come out exactly is refused with
//! [`NoPlace`]; nothing is ever printed from a tree.

use super::compare;
use super::edit::{self, Edit};
use super::layout::{
    Section, above_first_header, below_blank, line_end, line_start, section_end, sections,
    text_start,
};
use super::parse::{Data, Document, Form, Node, Statement, StatementKind};
use super::path::KeyPath;
use super::span::Span;
use super::style::{self, Style, indent_at};
use super::value::Value;

/// Why a key path has no safe place in a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPlace {
    /// Something above the path is no table.
    #[error("`{path}` is {kind} here, not a table")]
    NotATable {
        /// What is in the way.
        path: KeyPath,
        /// What it is, with its article.
        kind: &'static str,
        /// Where it stands.
        span: Span,
    },
    /// The path leads into an element of an array of tables, where a header would land elsewhere.
    #[error("`{path}` lies in an array of tables")]
    InArray {
        /// The path asked for.
        path: KeyPath,
        /// Where the array stands.
        span: Span,
    },
    /// The document already has the path, or has not, against what the operation needs.
    #[error("`{path}` is {}", if *.there { "already there" } else { "not there" })]
    Presence {
        /// The path asked for.
        path: KeyPath,
        /// Whether it is there.
        there: bool,
    },
    /// The edited text would not mean exactly what was asked for.
    #[error("`{path}` cannot be edited in this shape without touching other values")]
    Unsure {
        /// The path asked for.
        path: KeyPath,
        /// The nearest thing that is there.
        span: Span,
    },
}

/// An edited document and how it came to be.
#[derive(Debug, Clone)]
pub struct Change {
    /// The document afterwards.
    pub document: Document,
    /// The edits of the text before, in its order; they do not overlap.
    pub edits: Vec<Edit>,
}

/// Adds `value` at `path`, which must not be there. Missing tables above it are made.
///
/// # Errors
/// A shape without a safe place for it.
pub fn insert(document: &Document, path: &KeyPath, value: &Value) -> Result<Change, NoPlace> {
    let (depth, node) = deepest(document, path);
    if depth == path.parts().len() {
        return Err(NoPlace::Presence {
            path: path.clone(),
            there: true,
        });
    }
    let base = KeyPath(path.parts()[..depth].to_vec());
    let missing = &path.parts()[depth..];
    if node.as_table().is_none() {
        return Err(NoPlace::NotATable {
            path: base,
            kind: kind_with_article(node),
            span: node.span,
        });
    }
    let edits = match node.form {
        Form::Inline => into_braces(document, node, missing, value),
        Form::Dotted => beside_dotted(document, &base, missing, value),
        _ => into_sections(document, node, &base, missing, value),
    }
    .ok_or_else(|| NoPlace::InArray {
        path: path.clone(),
        span: node.span,
    })?;
    let mut wanted = document.root().value();
    if !compare::set(&mut wanted, path.parts(), value.clone()) {
        return Err(unsure(path, node));
    }
    finish(document, edits, &wanted).ok_or_else(|| unsure(path, node))
}

/// Puts `value` in place of the scalar, array or inline table at `path`.
///
/// # Errors
/// A path that is not there, or a table that is not in braces.
pub fn replace(document: &Document, path: &KeyPath, value: &Value) -> Result<Change, NoPlace> {
    let Some(node) = document.get(path) else {
        return Err(NoPlace::Presence {
            path: path.clone(),
            there: false,
        });
    };
    if !matches!(node.form, Form::Value | Form::Inline) {
        return Err(unsure(path, node));
    }
    let style = Style::of(document, None);
    let edits = vec![Edit::replace(node.span, style.value(value))];
    let mut wanted = document.root().value();
    if !compare::set(&mut wanted, path.parts(), value.clone()) {
        return Err(unsure(path, node));
    }
    finish(document, edits, &wanted).ok_or_else(|| unsure(path, node))
}

/// Takes `path` and everything below it out of the document, lines and commas included.
/// Comments that stand on lines of their own above it stay.
///
/// # Errors
/// A path that is not there, or a shape in which it cannot go alone.
pub fn remove(document: &Document, path: &KeyPath) -> Result<Change, NoPlace> {
    let Some(node) = document.get(path) else {
        return Err(NoPlace::Presence {
            path: path.clone(),
            there: false,
        });
    };
    let edits = removals(document, path).ok_or_else(|| unsure(path, node))?;
    let mut wanted = document.root().value();
    let mut gone = path.clone();
    while compare::unset(&mut wanted, gone.parts()) {
        let Some(parent) = gone.parent().filter(|parent| !parent.parts().is_empty()) else {
            break;
        };
        // A table that only the removed text made goes with it.
        let made_by_it = document
            .get(&parent)
            .is_some_and(|node| matches!(node.form, Form::Implicit | Form::Dotted));
        let empty = wanted
            .get(parent.parts())
            .and_then(Value::as_table)
            .is_some_and(indexmap::IndexMap::is_empty);
        if !(made_by_it && empty) {
            break;
        }
        gone = parent;
    }
    finish(document, edits, &wanted).ok_or_else(|| unsure(path, node))
}

/// Applies the edits and holds the result against `wanted`.
fn finish(document: &Document, mut edits: Vec<Edit>, wanted: &Value) -> Option<Change> {
    edits.sort_by_key(|edit| edit.span);
    let text = edit::apply(document.text(), &edits).ok()?;
    let document = Document::parse(text).ok()?;
    (document.root().value() == *wanted).then_some(Change { document, edits })
}

fn unsure(path: &KeyPath, node: &Node) -> NoPlace {
    NoPlace::Unsure {
        path: path.clone(),
        span: node.span,
    }
}

fn kind_with_article(node: &Node) -> &'static str {
    match &node.data {
        Data::String(_) => "a string",
        Data::Integer(_) => "an integer",
        Data::Float(_) => "a float",
        Data::Boolean(_) => "a boolean",
        Data::Datetime(_) => "a datetime",
        Data::Array(_) => "an array",
        Data::Table(_) => "a table",
    }
}

/// The deepest node above or at `path`, and how many parts lead to it.
fn deepest<'d>(document: &'d Document, path: &KeyPath) -> (usize, &'d Node) {
    let mut node = document.root();
    for (depth, part) in path.parts().iter().enumerate() {
        match node.child(part) {
            Some(child) => node = child,
            None => return (depth, node),
        }
    }
    (path.parts().len(), node)
}

// Sections: `[a.b]` and the lines below it.

fn into_sections(
    document: &Document,
    node: &Node,
    base: &KeyPath,
    missing: &[String],
    value: &Value,
) -> Option<Vec<Edit>> {
    let is_table = matches!(value, Value::Table(members) if !members.is_empty());
    let (last, above) = missing.split_last()?;
    if above.is_empty() && node.form != Form::Implicit {
        if !is_table {
            return into_section(document, base, missing, value);
        }
        // Where the neighbours are inline or dotted, so is the new one.
        let neighbour = (node.form == Form::Header)
            .then(|| node.as_table())
            .flatten()
            .and_then(|members| {
                members
                    .values()
                    .rev()
                    .find(|child| child.as_table().is_some())
            });
        match neighbour.map(|child| child.form) {
            Some(Form::Inline) => return into_section(document, base, missing, value),
            Some(Form::Dotted) => {
                let all = sections(document);
                let section = all.iter().find(|section| section.path == *base)?;
                return Some(vec![dotted_lines(
                    document,
                    section.last()?,
                    missing,
                    value,
                )]);
            }
            _ => {}
        }
    }
    let mut path = base.clone();
    path.0.extend(above.iter().cloned());
    if is_table {
        path.0.push(last.clone());
        return new_section(document, &path, value);
    }
    let pair: Value = [(last.clone(), value.clone())].into_iter().collect();
    new_section(document, &path, &pair)
}

/// One more pair in the section of `base`.
fn into_section(
    document: &Document,
    base: &KeyPath,
    missing: &[String],
    value: &Value,
) -> Option<Vec<Edit>> {
    let all = sections(document);
    let section = all.iter().find(|section| section.path == *base)?;
    let text = document.text();
    let style = Style::of(document, section.last());
    if let Some(last) = section.last() {
        let indent = indent_at(document, last.span.start);
        let line = format!("{indent}{}", style.pair(missing, value));
        return Some(vec![line_after(
            text,
            line_end(text, last.span.end),
            &line,
            &style,
        )]);
    }
    // A root without pairs.
    let line = style.pair(missing, value);
    if section.next >= text.len() {
        return Some(vec![line_after(text, text.len(), &line, &style)]);
    }
    let at = above_first_header(text, section.next);
    let blank = if style.blank_above_header {
        style.newline
    } else {
        ""
    };
    Some(vec![Edit::insert(
        at,
        format!("{line}{}{blank}", style.newline),
    )])
}

/// `line` as a line of its own at `at`, which is the start of a line or the end of the text. A
/// text without a final line end stays without one.
fn line_after(text: &str, at: usize, line: &str, style: &Style) -> Edit {
    let open = at == text.len() && at > text_start(text) && !text.ends_with('\n');
    if open {
        Edit::insert(at, format!("{}{line}", style.newline))
    } else {
        Edit::insert(at, format!("{line}{}", style.newline))
    }
}

/// A header of its own for `path`, below the last header that shares its parent.
fn new_section(document: &Document, path: &KeyPath, value: &Value) -> Option<Vec<Edit>> {
    if path.parts().iter().enumerate().any(|(depth, _)| {
        document
            .get(&KeyPath(path.parts()[..depth].to_vec()))
            .is_some_and(|node| node.form == Form::Tables)
    }) {
        return None;
    }
    let all = sections(document);
    let parent = path.parent().filter(|parent| !parent.parts().is_empty());
    let family = |root: &KeyPath| {
        all.iter()
            .rev()
            .find(|section| section.header.is_some() && section.path.starts_with(root))
    };
    let anchor = parent
        .as_ref()
        .and_then(family)
        .or_else(|| family(&KeyPath(path.parts()[..1].to_vec())));
    let text = document.text();
    let style = Style::of(document, anchor.and_then(Section::last));
    let (at, indent) = match anchor {
        Some(section) => (
            section_end(document, section),
            section
                .header
                .map_or("", |header| indent_at(document, header.span.start)),
        ),
        // Blank lines at the end stay at the end.
        None => match text.trim_end().len() {
            end if end <= text_start(text) => (text_start(text), ""),
            end => (line_end(text, end), ""),
        },
    };
    let body = style::section(&style, path, value, indent);
    let open = at == text.len() && at > text_start(text) && !text.ends_with('\n');
    let mut new = String::new();
    if open {
        new.push_str(style.newline);
    }
    if style.blank_above_header && at > text_start(text) && (open || !below_blank(text, at)) {
        new.push_str(style.newline);
    }
    new.push_str(&body);
    if !open {
        new.push_str(style.newline);
        let follows = text[at..line_end(text, at)].trim();
        let only_blank_lines = at == text_start(text) && at < text.len();
        if (style.blank_above_header && !follows.is_empty()) || only_blank_lines {
            new.push_str(style.newline);
        }
    }
    Some(vec![Edit::insert(at, new)])
}

// Dotted keys: `a.b.c = 1`.

/// Adds to a table that dotted keys made, in the place where they stand.
fn beside_dotted(
    document: &Document,
    base: &KeyPath,
    missing: &[String],
    value: &Value,
) -> Option<Vec<Edit>> {
    let (statement, above, braces) = document.statements().iter().rev().find_map(|statement| {
        let StatementKind::Pair { keys, braces, .. } = &statement.kind else {
            return None;
        };
        let above = statement.path.parts().len().checked_sub(keys.len())?;
        (statement.path.starts_with(base) && above < base.parts().len())
            .then_some((statement, above, braces))
    })?;
    let mut relative = base.parts()[above..].to_vec();
    relative.extend(missing.iter().cloned());
    if braces.is_some() {
        let path = KeyPath(base.parts()[..above].to_vec());
        let node = document.get(&path)?;
        return into_braces(document, node, &relative, value);
    }
    Some(vec![dotted_lines(document, statement, &relative, value)])
}

/// `path` with all that is below it as dotted lines after `statement`.
fn dotted_lines(
    document: &Document,
    statement: &Statement,
    path: &[String],
    value: &Value,
) -> Edit {
    let text = document.text();
    let style = Style::of(document, Some(statement));
    let indent = indent_at(document, statement.span.start);
    let mut lines = Vec::new();
    flatten(&style, path, value, indent, &mut lines);
    line_after(
        text,
        line_end(text, statement.span.end),
        &lines.join(style.newline),
        &style,
    )
}

fn flatten(style: &Style, path: &[String], value: &Value, indent: &str, lines: &mut Vec<String>) {
    match value {
        Value::Table(members) if !members.is_empty() => {
            for (key, value) in members {
                let mut path = path.to_vec();
                path.push(key.clone());
                flatten(style, &path, value, indent, lines);
            }
        }
        _ => lines.push(format!("{indent}{}", style.pair(path, value))),
    }
}

// Braces: `a = { b = 1 }`.

/// The pairs directly inside the braces of `node`, in the order of the text.
fn pairs_inside<'d>(document: &'d Document, node: &Node) -> Vec<&'d Statement> {
    document
        .statements()
        .iter()
        .filter(|statement| {
            matches!(statement.kind, StatementKind::Pair { braces: Some(braces), .. } if braces == node.span)
        })
        .collect()
}

/// Extends an inline table in place.
fn into_braces(
    document: &Document,
    node: &Node,
    missing: &[String],
    value: &Value,
) -> Option<Vec<Edit>> {
    let text = document.text();
    let inside = pairs_inside(document, node);
    let style = Style::of(document, inside.last().copied());
    let pair = style.pair(missing, value);
    let close = node.span.end.checked_sub(1)?;
    let open = node.span.start + 1;
    let Some(last) = inside.last() else {
        let interior = text.get(open..close)?;
        return Some(vec![if interior.contains('\n') {
            let indent = indent_at(document, close);
            Edit::insert(close, format!("{pair}{}{indent}", style.newline))
        } else {
            let pad = if style.padded_braces { " " } else { "" };
            Edit::replace(Span::new(open, close), format!("{pad}{pair}{pad}"))
        }]);
    };
    let end = last.span.end;
    let comma = comma_after(text, end, close);
    if !spans_lines(text, node, &inside) {
        let tight = inside.len() > 1
            && inside
                .windows(2)
                .all(|two| text[two[0].span.end..two[1].span.start].ends_with(','));
        let gap = if tight { "" } else { " " };
        return Some(vec![match comma {
            Some(comma) => Edit::insert(comma + 1, format!("{gap}{pair}")),
            None => Edit::insert(end, format!(",{gap}{pair}")),
        }]);
    }
    // Over several lines: below the last pair and the comment on its line.
    let indent = indent_at(document, last.span.start);
    let (after, mut edits, tail) = match comma {
        Some(comma) => (comma + 1, Vec::new(), ","),
        None => (end, vec![Edit::insert(end, ",")], ""),
    };
    let line_rest = text
        .get(after..close)?
        .split('\n')
        .next()
        .unwrap_or_default();
    let line_rest = line_rest.trim_end_matches('\r');
    let at = if line_rest.trim_start().starts_with('#') {
        after + line_rest.len()
    } else {
        after
    };
    let line = format!("{}{indent}{pair}{tail}", style.newline);
    if at == end {
        // The comma and the line share a place: one edit.
        edits = vec![Edit::insert(end, format!(",{line}"))];
    } else {
        edits.push(Edit::insert(at, line));
    }
    Some(edits)
}

/// The comma between `from` and `to`, comments left out.
fn comma_after(text: &str, from: usize, to: usize) -> Option<usize> {
    let mut at = from;
    while at < to {
        match text.as_bytes().get(at)? {
            b',' => return Some(at),
            b'#' => at = line_end(text, at),
            _ => at += 1,
        }
    }
    None
}

/// Whether a line break stands between the members of braces.
fn spans_lines(text: &str, node: &Node, inside: &[&Statement]) -> bool {
    let mut at = node.span.start;
    for statement in inside {
        if text[at..statement.span.start].contains('\n') {
            return true;
        }
        at = statement.span.end;
    }
    text[at..node.span.end].contains('\n')
}

// Removing.

fn removals(document: &Document, path: &KeyPath) -> Option<Vec<Edit>> {
    let text = document.text();
    let all = sections(document);
    let mut spans: Vec<Span> = Vec::new();
    for section in &all {
        if section.header.is_some() && section.path.starts_with(path) {
            let header = section.header?;
            let last = section.last()?;
            spans.push(Span::new(
                line_start(text, header.span.start),
                line_end(text, last.span.end),
            ));
            continue;
        }
        for pair in section
            .pairs
            .iter()
            .filter(|pair| pair.path.starts_with(path))
        {
            spans.push(Span::new(
                line_start(text, pair.span.start),
                line_end(text, pair.span.end),
            ));
        }
    }
    if spans.is_empty() {
        return removals_in_braces(document, path);
    }
    // Neighbours become one range, with the blank lines between them.
    let mut runs: Vec<Span> = Vec::new();
    for span in spans {
        match runs.last_mut() {
            Some(run) if text[run.end..span.start].trim().is_empty() => run.end = span.end,
            _ => runs.push(span),
        }
    }
    Some(
        runs.into_iter()
            .map(|run| Edit::remove(with_blank_line(text, run)))
            .collect(),
    )
}

/// `run` and the blank line that set it apart: above it, or below it at the start of the text.
fn with_blank_line(text: &str, mut run: Span) -> Span {
    let start = text_start(text);
    let at_end = run.end == text.len();
    let blank_below = at_end || text[run.end..line_end(text, run.end)].trim().is_empty();
    let header = text[run.range()].trim_start().starts_with('[');
    if run.start > start && below_blank(text, run.start) && (header || blank_below) {
        run.start = line_start(text, run.start - 1);
    } else if run.start == start && !at_end && blank_below {
        run.end = line_end(text, run.end);
    }
    if at_end && !text.ends_with('\n') && run.start > start {
        // The line before becomes the last one, and the last one had no line end.
        let before = text[..run.start].trim_end_matches('\n');
        run.start = before.trim_end_matches('\r').len().max(start);
    }
    run
}

fn removals_in_braces(document: &Document, path: &KeyPath) -> Option<Vec<Edit>> {
    let text = document.text();
    let (target, braces) =
        document
            .statements()
            .iter()
            .find_map(|statement| match statement.kind {
                StatementKind::Pair {
                    braces: Some(braces),
                    ..
                } if statement.path.starts_with(path) => Some((statement, braces)),
                _ => None,
            })?;
    let inside: Vec<&Statement> = document
        .statements()
        .iter()
        .filter(|statement| {
            matches!(statement.kind, StatementKind::Pair { braces: Some(b), .. } if b == braces)
        })
        .collect();
    let first = inside.iter().position(|s| s.span == target.span)?;
    let count = inside[first..]
        .iter()
        .take_while(|s| s.path.starts_with(path))
        .count();
    if inside.iter().filter(|s| s.path.starts_with(path)).count() != count {
        return None; // Scattered among others: no one range holds it.
    }
    let last = first + count - 1;
    let close = braces.end - 1;
    let span = match (
        first.checked_sub(1).map(|i| inside[i]),
        inside.get(last + 1),
    ) {
        (None, None) => {
            let interior = Span::new(braces.start + 1, close);
            if text[interior.range()].contains('#') {
                let comma = comma_after(text, inside[last].span.end, close);
                Span::new(
                    target.span.start,
                    comma.map_or(inside[last].span.end, |c| c + 1),
                )
            } else {
                interior
            }
        }
        (Some(previous), _) => {
            let gap = &text[previous.span.end..target.span.start];
            if gap.contains('#') {
                // A comment stands between: take the pair and its own comma, or the comma before.
                let end = inside[last].span.end;
                let comma = comma_after(text, end, close);
                let own = alone_on_lines(
                    text,
                    Span::new(target.span.start, comma.map_or(end, |comma| comma + 1)),
                );
                let mut edits = vec![Edit::remove(own)];
                if comma.is_none() {
                    let before = comma_after(text, previous.span.end, target.span.start)?;
                    edits.push(Edit::remove(Span::new(before, before + 1)));
                }
                return Some(edits);
            }
            Span::new(previous.span.end, inside[last].span.end)
        }
        (None, Some(next)) => Span::new(target.span.start, next.span.start),
    };
    Some(vec![Edit::remove(span)])
}

/// `span`, with the line break and indentation before it where nothing else stands on its lines.
fn alone_on_lines(text: &str, span: Span) -> Span {
    let start = line_start(text, span.start);
    let rest = text[span.end..line_end(text, span.end)].trim();
    if !rest.is_empty() || !text[start..span.start].trim().is_empty() {
        return span;
    }
    let before = text[..start].strip_suffix('\n').unwrap_or(&text[..start]);
    let before = before.strip_suffix('\r').unwrap_or(before);
    Span::new(before.len(), span.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Document::parse(text).expect("the test's text is TOML")
    }

    fn demo() -> Value {
        [
            ("command", Value::from("demo-server")),
            ("args", Value::from(vec!["--stdio"])),
        ]
        .into_iter()
        .collect()
    }

    fn path(text: &str) -> KeyPath {
        KeyPath::dotted(text)
    }

    /// The text after inserting `mcp_servers.demo`, and a check that removing it gives the text back.
    fn with_demo(text: &str) -> String {
        let before = document(text);
        let change = insert(&before, &path("mcp_servers.demo"), &demo()).expect(text);
        let after = change.document.text().to_owned();
        let back = remove(&change.document, &path("mcp_servers.demo")).expect(&after);
        assert_eq!(back.document.text(), text, "removing from {after:?}");
        after
    }

    #[test]
    fn a_section_goes_below_the_last_server() {
        assert_eq!(
            with_demo(
                "[mcp_servers]\n# below\n\n[mcp_servers.files]\ncommand = \"f\"\n\n[history]\nx = 1\n"
            ),
            "[mcp_servers]\n# below\n\n[mcp_servers.files]\ncommand = \"f\"\n\n[mcp_servers.demo]\ncommand = \"demo-server\"\nargs = [\"--stdio\"]\n\n[history]\nx = 1\n"
        );
    }

    #[test]
    fn comments_stay_with_what_they_describe() {
        assert_eq!(
            with_demo("[mcp_servers.a]\ncommand = 'a' # mine\n# args = []\n\n# next\n[tui]\n"),
            "[mcp_servers.a]\ncommand = 'a' # mine\n# args = []\n\n[mcp_servers.demo]\ncommand = 'demo-server'\nargs = ['--stdio']\n\n# next\n[tui]\n"
        );
        assert_eq!(
            with_demo("[mcp_servers.a]\ncommand = \"a\"\n# about tui\n[tui]\nx=1\n"),
            "[mcp_servers.a]\ncommand = \"a\"\n[mcp_servers.demo]\ncommand = \"demo-server\"\nargs = [\"--stdio\"]\n# about tui\n[tui]\nx=1\n"
        );
    }

    #[test]
    fn the_ends_of_files_stay_as_they_are() {
        assert_eq!(
            with_demo(""),
            "[mcp_servers.demo]\ncommand = \"demo-server\"\nargs = [\"--stdio\"]\n"
        );
        assert_eq!(
            with_demo("\u{feff}a = 1\r\n[t]\r\nb = 2"),
            "\u{feff}a = 1\r\n[t]\r\nb = 2\r\n[mcp_servers.demo]\r\ncommand = \"demo-server\"\r\nargs = [\"--stdio\"]"
        );
        assert_eq!(
            with_demo("[projects.\"/srv\"]\ntrust_level = \"trusted\""),
            "[projects.\"/srv\"]\ntrust_level = \"trusted\"\n\n[mcp_servers.demo]\ncommand = \"demo-server\"\nargs = [\"--stdio\"]"
        );
        for text in ["\n\n", "\u{feff}\r\n", "a = 1\n\n\n", "[a]\n\n"] {
            let after = with_demo(text);
            assert!(after.contains("[mcp_servers.demo]"), "{after:?}");
        }
        assert_eq!(
            with_demo("# only a comment\n"),
            "# only a comment\n\n[mcp_servers.demo]\ncommand = \"demo-server\"\nargs = [\"--stdio\"]\n"
        );
    }

    #[test]
    fn an_inline_table_is_extended_in_place() {
        assert_eq!(
            with_demo(
                "mcp_servers = { docs = { command = \"d\", args = [ \"-x\" ] } }   # on purpose\n[tui]\n"
            ),
            "mcp_servers = { docs = { command = \"d\", args = [ \"-x\" ] }, demo = { command = \"demo-server\", args = [ \"--stdio\" ] } }   # on purpose\n[tui]\n"
        );
        assert_eq!(
            with_demo("mcp_servers = { docs.command = \"d\", docs.args = [\"x\"] }"),
            "mcp_servers = { docs.command = \"d\", docs.args = [\"x\"], demo = { command = \"demo-server\", args = [\"--stdio\"] } }"
        );
        assert_eq!(
            with_demo(
                "mcp_servers = {\n  a = { command = \"a\" }, # one\n  b = {command=\"b\"} # two\n}\n"
            ),
            "mcp_servers = {\n  a = { command = \"a\" }, # one\n  b = {command=\"b\"}, # two\n  demo = { command = \"demo-server\", args = [\"--stdio\"] }\n}\n"
        );
        assert_eq!(
            with_demo("mcp_servers = {\n  a = {command=\"a\"},\n}\n"),
            "mcp_servers = {\n  a = {command=\"a\"},\n  demo = {command = \"demo-server\", args = [\"--stdio\"]},\n}\n"
        );
        assert_eq!(
            with_demo("mcp_servers = {}\n"),
            "mcp_servers = { demo = { command = \"demo-server\", args = [\"--stdio\"] } }\n"
        );
    }

    #[test]
    fn dotted_neighbours_get_a_dotted_neighbour() {
        assert_eq!(
            with_demo("mcp_servers.docs.command = \"d\"\nsandbox_mode = \"read-only\"\n"),
            "mcp_servers.docs.command = \"d\"\nmcp_servers.demo.command = \"demo-server\"\nmcp_servers.demo.args = [\"--stdio\"]\nsandbox_mode = \"read-only\"\n"
        );
        assert_eq!(
            with_demo("[mcp_servers]\n  docs.command=\"d\""),
            "[mcp_servers]\n  docs.command=\"d\"\n  demo.command=\"demo-server\"\n  demo.args=[\"--stdio\"]"
        );
        assert_eq!(
            with_demo("[mcp_servers]\ndocs = {command = \"d\"}\n[tui]\n"),
            "[mcp_servers]\ndocs = {command = \"d\"}\ndemo = {command = \"demo-server\", args = [\"--stdio\"]}\n[tui]\n"
        );
    }

    #[test]
    fn sub_tables_before_their_parents_are_no_obstacle() {
        let text = "[mcp_servers.a.env]\nK = \"v\"\n\n[tui]\n\n[mcp_servers.a]\ncommand = \"a\"\n";
        let after = with_demo(text);
        assert!(after.ends_with("command = \"a\"\n\n[mcp_servers.demo]\ncommand = \"demo-server\"\nargs = [\"--stdio\"]\n"));
        let gone = remove(&document(text), &path("mcp_servers.a")).expect("it can go");
        assert_eq!(gone.document.text(), "[tui]\n");
    }

    #[test]
    fn a_root_key_never_lands_in_a_table() {
        for (text, wanted) in [
            (
                "# head\n\n# about tui\n[tui]\nx = 1\n",
                "# head\n\nk = true\n\n# about tui\n[tui]\nx = 1\n",
            ),
            ("[tui]\n", "k = true\n\n[tui]\n"),
            ("a = 1 # one\n\n[tui]\n", "a = 1 # one\nk = true\n\n[tui]\n"),
            ("\u{feff}# c\r\n", "\u{feff}# c\r\nk = true\r\n"),
            ("a = [\n  1,\n]", "a = [\n  1,\n]\nk = true"),
        ] {
            let change = insert(&document(text), &path("k"), &Value::from(true)).expect(text);
            assert_eq!(change.document.text(), wanted);
            let back = remove(&change.document, &path("k")).expect(wanted);
            assert_eq!(back.document.text(), text);
        }
    }

    #[test]
    fn a_key_is_added_to_a_server_in_each_of_its_shapes() {
        for (text, wanted) in [
            (
                "[s.a]\nc = 1\n\n[s.a.env]\nK = \"v\"\n",
                "[s.a]\nc = 1\nk = true\n\n[s.a.env]\nK = \"v\"\n",
            ),
            ("s = { a = { c = 1 } }", "s = { a = { c = 1, k = true } }"),
            ("s.a.c = 1\n[t]", "s.a.c = 1\ns.a.k = true\n[t]"),
            ("[s]\na.c = 1\n", "[s]\na.c = 1\na.k = true\n"),
            (
                "s = { a.c = 1, b = 2 }",
                "s = { a.c = 1, b = 2, a.k = true }",
            ),
            (
                "[s.a.env]\nK = 1\n",
                "[s.a.env]\nK = 1\n\n[s.a]\nk = true\n",
            ),
        ] {
            let change = insert(&document(text), &path("s.a.k"), &Value::from(true)).expect(text);
            assert_eq!(change.document.text(), wanted, "from {text:?}");
        }
    }

    #[test]
    fn what_is_no_table_is_no_place() {
        for text in [
            "mcp_servers = 1",
            "mcp_servers = [1]",
            "[[mcp_servers]]\na = 1",
        ] {
            let result = insert(&document(text), &path("mcp_servers.demo"), &demo());
            assert!(matches!(result, Err(NoPlace::NotATable { .. })), "{text}");
        }
        let result = insert(&document("[[a]]\nb = 1"), &path("a.0.c.d"), &Value::from(1));
        assert!(matches!(result, Err(NoPlace::InArray { .. })), "{result:?}");
        let result = insert(&document("a = 1"), &path("a"), &Value::from(1));
        assert!(matches!(result, Err(NoPlace::Presence { there: true, .. })));
    }

    #[test]
    fn what_would_mean_something_else_is_refused() {
        // Taking an element out would give its number to the next one: the comparison by value
        // is what sees that.
        let text = "[[t]]\na = 1\n[[t]]\na = 2\n";
        let result = remove(&document(text), &path("t.0"));
        assert!(matches!(result, Err(NoPlace::Unsure { .. })), "{result:?}");
        let result = remove(&document("a = { b.x = 1, c = 2, b.y = 3 }"), &path("a.b"));
        assert!(matches!(result, Err(NoPlace::Unsure { .. })), "{result:?}");
        let result = replace(&document("[a]\nb = 1\n"), &path("a"), &Value::from(1));
        assert!(matches!(result, Err(NoPlace::Unsure { .. })), "{result:?}");
    }

    #[test]
    fn replacing_touches_the_value_alone() {
        let change = replace(
            &document("a = { b = [1, # x\n 2] , c=3 } # y\n"),
            &path("a.b"),
            &Value::from("z"),
        )
        .expect("it can");
        assert_eq!(change.document.text(), "a = { b = \"z\" , c=3 } # y\n");
    }

    #[test]
    fn one_member_of_braces_goes_with_its_comma() {
        for (text, gone, wanted) in [
            ("a = { b = 1, c = 2, d = 3 }", "a.c", "a = { b = 1, d = 3 }"),
            ("a = { b = 1, c = 2 }", "a.b", "a = { c = 2 }"),
            ("a = { b = 1, c = 2 }", "a.c", "a = { b = 1 }"),
            ("a = { b.x = 1, b.y = 2, c = 2 }", "a.b", "a = { c = 2 }"),
            (
                "a = {\n  b = 1, # one\n  c = 2, # two\n}",
                "a.c",
                "a = {\n  b = 1, # one\n   # two\n}",
            ),
        ] {
            let change = remove(&document(text), &path(gone)).expect(text);
            assert_eq!(change.document.text(), wanted);
        }
    }
}
