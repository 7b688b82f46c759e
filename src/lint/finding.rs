//! Findings as data: one rule at one place, and what can be done about it.
//!
//! A finding without a place cannot be made. Messages are finished where they are made: short,
//! visible, without secrets. Nothing here knows lines, columns or how a finding is printed.

use std::borrow::Cow;

use super::{Rule, Severity, Source};
use crate::document::{Edit, KeyPath, Node, Span};
use crate::text::{visible, visible_lines};

/// Where in the file: a range of its text, or all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// The file as a whole, where there is no text to point at.
    File,
    /// A range of the text.
    Span(Span),
}

impl From<Span> for Mark {
    fn from(span: Span) -> Self {
        Self::Span(span)
    }
}

impl From<&Node> for Mark {
    fn from(node: &Node) -> Self {
        Self::Span(node.span)
    }
}

/// One rule at one place.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// How bad it is here.
    pub severity: Severity,
    /// Where.
    pub mark: Mark,
    /// What is wrong: one line in lower case, without a full stop.
    pub message: Cow<'static, str>,
    /// Words under the marked text.
    pub label: Cow<'static, str>,
    /// Other places in the same file that explain it, with words for each.
    pub related: Vec<(Span, Cow<'static, str>)>,
    /// What Codex does with it.
    pub notes: Vec<Cow<'static, str>>,
    /// The way out.
    pub helps: Vec<Cow<'static, str>>,
    /// Edits that mend it, if there are any.
    pub fix: Option<Fix>,
    /// What silences it, if something does: it is counted then, and not shown.
    pub silenced: Option<Silenced>,
    /// The path of keys that it is at, as [`super::fingerprint::stamp`] found it.
    pub key: KeyPath,
    /// Its name that stays when lines move; empty until stamped.
    pub fingerprint: String,
}

/// What keeps a finding from being shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Silenced {
    /// A comment in its file.
    Comment,
    /// The project's `codexgate.toml`.
    Config,
    /// The baseline.
    Baseline,
}

/// How much a fix can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Keeps the meaning that Codex gives today, or the meaning plainly intended.
    Safe,
    /// May change what is meant: needs `--unsafe-fixes`.
    Unsafe,
}

/// Edits that mend a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// How much it can be trusted.
    pub grade: Grade,
    /// None overlaps another.
    pub edits: Vec<Edit>,
    /// The permission bits that mend it, where not the text is wrong.
    pub mode: Option<u32>,
}

impl Finding {
    /// Says something more exact than the rule does.
    pub fn says(&mut self, message: impl Into<Cow<'static, str>>) -> &mut Self {
        self.message = one_line(message.into());
        self
    }

    /// Puts words under the marked text.
    pub fn label(&mut self, label: impl Into<Cow<'static, str>>) -> &mut Self {
        self.label = one_line(label.into());
        self
    }

    /// Makes it worse or milder than the rule says.
    pub fn severity(&mut self, severity: Severity) -> &mut Self {
        self.severity = severity;
        self
    }

    /// Points at another place in the same file.
    pub fn related(&mut self, span: Span, label: impl Into<Cow<'static, str>>) -> &mut Self {
        self.related.push((span, one_line(label.into())));
        self
    }

    /// Says what Codex does with it.
    pub fn note(&mut self, note: impl Into<Cow<'static, str>>) -> &mut Self {
        self.notes.push(some_lines(note.into()));
        self
    }

    /// Says what to do.
    pub fn help(&mut self, help: impl Into<Cow<'static, str>>) -> &mut Self {
        self.helps.push(some_lines(help.into()));
        self
    }

    /// Offers edits.
    pub fn fix(&mut self, grade: Grade, edits: impl IntoIterator<Item = Edit>) -> &mut Self {
        let edits = edits.into_iter().collect();
        self.fix = Some(Fix {
            grade,
            edits,
            mode: None,
        });
        self
    }

    /// Offers another mode of the file.
    pub fn chmod(&mut self, grade: Grade, mode: u32) -> &mut Self {
        self.fix = Some(Fix {
            grade,
            edits: Vec::new(),
            mode: Some(mode),
        });
        self
    }

    /// The order of the text, then of the rules' names.
    pub fn in_order(&self, other: &Self) -> std::cmp::Ordering {
        (self.span(), self.rule.id, &self.message).cmp(&(
            other.span(),
            other.rule.id,
            &other.message,
        ))
    }

    /// Where it starts and ends; the whole file counts as its first byte.
    pub fn span(&self) -> Span {
        match self.mark {
            Mark::File => Span::at(0),
            Mark::Span(span) => span,
        }
    }
}

/// Characters of a message. Names out of files may be as long as the file.
const LONGEST: usize = 300;
/// Characters of a note or help, which may show a few lines to paste.
const LONGEST_HELP: usize = 1200;

fn one_line(text: Cow<'static, str>) -> Cow<'static, str> {
    finish(text, LONGEST, visible)
}

fn some_lines(text: Cow<'static, str>) -> Cow<'static, str> {
    finish(text, LONGEST_HELP, visible_lines)
}

fn finish(
    text: Cow<'static, str>,
    longest: usize,
    show: fn(&str) -> Cow<'_, str>,
) -> Cow<'static, str> {
    let end = text.char_indices().nth(longest).map(|(at, _)| at);
    if end.is_none() && matches!(show(&text), Cow::Borrowed(_)) {
        return text;
    }
    let rest = if end.is_some() { "…" } else { "" };
    format!("{}{rest}", show(&text[..end.unwrap_or(text.len())])).into()
}

/// The findings of one file.
#[derive(Debug)]
pub struct Findings<'a> {
    source: &'a Source,
    list: Vec<Finding>,
}

impl<'a> Findings<'a> {
    /// None yet.
    pub const fn new(source: &'a Source) -> Self {
        Self {
            source,
            list: Vec::new(),
        }
    }

    /// Those that are known already.
    pub const fn holding(source: &'a Source, list: Vec<Finding>) -> Self {
        Self { source, list }
    }

    /// Adds one, with the rule's own words and severity.
    pub fn add(&mut self, rule: &'static Rule, mark: impl Into<Mark>) -> &mut Finding {
        self.list.push(Finding {
            rule,
            severity: rule.severity,
            mark: mark.into(),
            message: rule.says.into(),
            label: "".into(),
            related: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
            fix: None,
            silenced: None,
            key: KeyPath::root(),
            fingerprint: String::new(),
        });
        self.list.last_mut().expect("one was just added")
    }

    /// The file that they are about.
    pub const fn source(&self) -> &'a Source {
        self.source
    }

    /// All of them, in the order of the text, then of the rules' names.
    pub fn into_sorted(mut self) -> Vec<Finding> {
        self.list.sort_by(Finding::in_order);
        self.list
    }
}
