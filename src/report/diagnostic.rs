//! One message about one place: what, where, why and the way out.
//!
//! ```text
//! error: server `docs` is there with another command
//!   --> .codex/config.toml:9:11
//! 9 | command = "npx"
//!   |           ^^^^^ here `npx`, wanted `docs-mcp`; nothing was written
//! help: keep yours with `--on-collision skip`
//! ```
//!
//! An [`Excerpt`] is cut out of the text when the message is made: one line, a window of it where
//! it is long, made visible. So a message is small whatever its file is, and many of them cost one
//! pass over the text. The text is drawn with colours; [`super::Ui`] takes them away where the
//! stream does not show them.

use std::fmt::Write as _;

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use super::ui::style;
use crate::document::{Document, LineColumn, LineIndex, Span};
use crate::lint::Severity;
use crate::text::redact;
use crate::text::visible::{self, visible, visible_lines};

/// Characters of a line shown before the marked span.
const WINDOW_BEFORE: usize = 60;
/// Characters of a line shown from the marked span's start on. Both together fit a wide terminal.
const WINDOW_AFTER: usize = 100;

/// A place with the line that it stands in, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    path: String,
    at: Option<Cut>,
    label: String,
}

/// A piece of one line, made visible, and the marked range in it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cut {
    start: LineColumn,
    line: String,
    mark: std::ops::Range<usize>,
}

impl Excerpt {
    /// A whole file, for what has no line.
    pub fn file(path: impl Into<String>) -> Self {
        Self {
            path: visible(&path.into()).into_owned(),
            at: None,
            label: String::new(),
        }
    }

    /// The line of `text` in which `span` starts. `lines` is the index of that text.
    pub fn text(path: impl Into<String>, text: &str, lines: &LineIndex, span: Span) -> Self {
        Self::hiding(path, text, lines, span, &[])
    }

    /// The same without what lies in `secrets`: ranges of the text, in order, apart.
    pub fn hiding(
        path: impl Into<String>,
        text: &str,
        lines: &LineIndex,
        span: Span,
        secrets: &[Span],
    ) -> Self {
        Self {
            at: Some(cut(text, lines, span, secrets)),
            ..Self::file(path)
        }
    }

    /// The line of a parsed document in which `span` starts.
    pub fn document(path: impl Into<String>, document: &Document, span: Span) -> Self {
        Self::text(path, document.text(), document.lines(), span)
    }

    /// Writes `label` under the marked span.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = visible(&label.into()).into_owned();
        self
    }

    /// Puts `stand_in` in the place of the marked text, so that a secret is not shown.
    #[must_use]
    pub fn redacted(mut self, stand_in: &str) -> Self {
        if let Some(cut) = &mut self.at {
            cut.line.replace_range(cut.mark.clone(), stand_in);
            cut.mark.end = cut.mark.start + stand_in.len();
        }
        self
    }

    /// The path as it is shown.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Where the span starts, if the place has a line.
    pub fn start(&self) -> Option<LineColumn> {
        self.at.as_ref().map(|cut| cut.start)
    }
}

fn cut(text: &str, lines: &LineIndex, span: Span, secrets: &[Span]) -> Cut {
    let start = lines.locate(text, span.start);
    let line = lines.line(text, start.line);
    let mut from = span.start.clamp(line.start, line.end);
    let mut to = span.end.clamp(from, line.end);
    // A mark covers a secret as a whole, and the window ends beside one, never within.
    let around = |at: usize| {
        secrets
            .get(secrets.partition_point(|secret| secret.end <= at))
            .filter(|secret| secret.start < at)
    };
    from = around(from).map_or(from, |secret| secret.start.max(line.start));
    to = around(to).map_or(to, |secret| secret.end.min(line.end));
    let before = text.get(line.start..from).unwrap_or_default();
    let window = before
        .char_indices()
        .rev()
        .nth(WINDOW_BEFORE - 1)
        .map_or(line.start, |(at, _)| line.start + at);
    let window = around(window).map_or(window, |secret| secret.end.min(from));

    let mut out = String::new();
    if window > line.start {
        out.push('…');
    }
    let mut room = usize::MAX;
    push_pieces(&mut out, text, Span::new(window, from), secrets, &mut room);
    let mark_start = out.len();
    let mut room = WINDOW_AFTER;
    let whole = push_pieces(&mut out, text, Span::new(from, to), secrets, &mut room);
    let mark_end = out.len();
    if !(whole && push_pieces(&mut out, text, Span::new(to, line.end), secrets, &mut room)) {
        out.push('…');
    }
    Cut {
        start,
        line: out,
        mark: mark_start..mark_end,
    }
}

/// Writes at most `room` characters of `range`, secrets by their stand-ins; says whether all fitted.
fn push_pieces(
    out: &mut String,
    text: &str,
    range: Span,
    secrets: &[Span],
    room: &mut usize,
) -> bool {
    let mut at = range.start;
    let first = secrets.partition_point(|secret| secret.end <= range.start);
    let inside = secrets[first..]
        .iter()
        .take_while(|secret| secret.start < range.end);
    for secret in inside {
        let before = text.get(at..secret.start.max(at)).unwrap_or_default();
        if !push_window(out, before, room) {
            return false;
        }
        out.push_str(&redact::secret(
            text.get(secret.range()).unwrap_or_default(),
        ));
        at = secret.end.min(range.end);
    }
    push_window(out, text.get(at..range.end).unwrap_or_default(), room)
}

/// Writes at most `room` characters of `text`; says whether all of it fitted.
fn push_window(out: &mut String, text: &str, room: &mut usize) -> bool {
    let end = text
        .char_indices()
        .nth(*room)
        .map_or(text.len(), |(at, _)| at);
    push_source(out, &text[..end]);
    *room -= text[..end].chars().count();
    end == text.len()
}

/// Source text: a tab as four spaces, everything else made visible.
fn push_source(out: &mut String, text: &str) {
    for c in text.chars() {
        if c == '\t' {
            out.push_str("    ");
        } else {
            visible::push(out, c);
        }
    }
}

/// A message for a person: an error of a command, or a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    severity: Severity,
    id: Option<&'static str>,
    title: String,
    places: Vec<Excerpt>,
    notes: Vec<String>,
    helps: Vec<String>,
}

impl Diagnostic {
    /// A message of a kind: what happened, in lower case, without a full stop.
    pub fn new(severity: Severity, title: impl Into<String>) -> Self {
        Self {
            severity,
            id: None,
            title: visible(&title.into()).into_owned(),
            places: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
        }
    }

    /// An error.
    pub fn error(title: impl Into<String>) -> Self {
        Self::new(Severity::Error, title)
    }

    /// A warning.
    pub fn warning(title: impl Into<String>) -> Self {
        Self::new(Severity::Warning, title)
    }

    /// The name that it is known by, `error[name]`.
    #[must_use]
    pub fn id(mut self, id: &'static str) -> Self {
        self.id = Some(id);
        self
    }

    /// Where: the first place is the primary one, the others explain it.
    #[must_use]
    pub fn at(mut self, place: Excerpt) -> Self {
        self.places.push(place);
        self
    }

    /// Why.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(visible_lines(&note.into()).into_owned());
        self
    }

    /// The way out.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.helps.push(visible_lines(&help.into()).into_owned());
        self
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// What happened, without place and help.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The message as text with colours, ending with a line feed.
    pub fn render(&self) -> String {
        let mut out = String::new();
        self.write(&mut out)
            .expect("writing to a string cannot fail");
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let color = color(self.severity);
        let (mark, name) = (style::MARK, self.severity.name());
        write!(out, "{color}{name}")?;
        if let Some(id) = self.id {
            write!(out, "[{id}]")?;
        }
        writeln!(out, "{color:#}{mark}: {}{mark:#}", self.title)?;
        let gutter = self
            .places
            .iter()
            .filter_map(|place| Some(place.at.as_ref()?.start.line.to_string().len()))
            .max()
            .unwrap_or(1);
        for (index, place) in self.places.iter().enumerate() {
            place.write(out, gutter, (index == 0).then_some(color))?;
        }
        for (name, texts) in [("note", &self.notes), ("help", &self.helps)] {
            for text in texts {
                let text = text.trim_end().replace('\n', "\n    ");
                writeln!(out, "{mark}{name}{mark:#}: {text}")?;
            }
        }
        Ok(())
    }
}

/// The colour of a severity.
pub(super) const fn color(severity: Severity) -> Style {
    match severity {
        Severity::Error => style::ERROR,
        Severity::Warning => style::WARNING,
        Severity::Info => style::MARK,
    }
}

impl Excerpt {
    /// Arrow, line and marks. `primary` is the colour of the primary place.
    fn write(&self, out: &mut String, gutter: usize, primary: Option<Style>) -> std::fmt::Result {
        let (quiet, path) = (style::QUIET, style::PATH);
        let (arrow, sign, color) = match primary {
            Some(color) => ("-->", '^', color),
            None => (":::", '-', quiet),
        };
        write!(out, "{:gutter$} {quiet}{arrow}{quiet:#} ", "")?;
        let Some(cut) = &self.at else {
            return writeln!(out, "{path}{}{path:#}", self.path);
        };
        let LineColumn { line, column } = cut.start;
        writeln!(out, "{path}{}{path:#}:{line}:{column}", self.path)?;
        writeln!(out, "{quiet}{line:gutter$} |{quiet:#} {}", cut.line)?;
        let indent = cut.line[..cut.mark.start].width();
        let marks = String::from(sign).repeat(cut.line[cut.mark.clone()].width().max(1));
        write!(
            out,
            "{:gutter$} {quiet}|{quiet:#} {:indent$}{color}{marks}",
            "", ""
        )?;
        if !self.label.is_empty() {
            write!(out, " {}", self.label)?;
        }
        writeln!(out, "{color:#}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(diagnostic: &Diagnostic) -> String {
        anstream::adapter::strip_str(&diagnostic.render()).to_string()
    }

    fn excerpt(text: &str, start: usize, end: usize) -> Excerpt {
        Excerpt::text("a.toml", text, &LineIndex::new(text), Span::new(start, end))
    }

    #[test]
    fn an_error_says_what_where_why_and_the_way_out() {
        let text = "a = 1\n\tcommand = \"npx\"\n";
        let place = excerpt(text, 17, 22).label("here `npx`, wanted `docs-mcp`");
        let shown = plain(
            &Diagnostic::error("server `docs` is there with another command")
                .at(place)
                .note("nothing was written")
                .help("keep yours with `--on-collision skip`"),
        );
        insta::assert_snapshot!(shown, @r#"
        error: server `docs` is there with another command
          --> a.toml:2:12
        2 |     command = "npx"
          |               ^^^^^ here `npx`, wanted `docs-mcp`
        note: nothing was written
        help: keep yours with `--on-collision skip`
        "#);
    }

    #[test]
    fn a_finding_has_its_id_and_a_second_place() {
        let text = "a = 1\nb = 2\n";
        let shown = plain(
            &Diagnostic::warning("two that clash")
                .id("clash")
                .at(excerpt(text, 6, 7).label("this"))
                .at(excerpt(text, 0, 1).label("and that")),
        );
        insta::assert_snapshot!(shown, @r#"
        warning[clash]: two that clash
          --> a.toml:2:1
        2 | b = 2
          | ^ this
          ::: a.toml:1:1
        1 | a = 1
          | - and that
        "#);
    }

    #[test]
    fn a_whole_file_and_the_end_of_a_text_are_places() {
        let whole = Diagnostic::error("cannot be read").at(Excerpt::file("a\u{1b}b"));
        insta::assert_snapshot!(plain(&whole), @r#"
        error: cannot be read
          --> a<U+001B>b
        "#);
        let end = Diagnostic::error("ends too early").at(excerpt("a = [\n", 6, 6));
        insta::assert_snapshot!(plain(&end), @r#"
        error: ends too early
          --> a.toml:2:1
        2 | 
          | ^
        "#);
    }

    #[test]
    fn a_long_line_is_cut_to_a_window_around_the_span() {
        let text = format!("{} = {}", "k".repeat(500), "v".repeat(500));
        let shown = plain(&Diagnostic::error("long").at(excerpt(&text, 503, 1003)));
        insta::assert_snapshot!(shown, @r#"
        error: long
          --> a.toml:1:504
        1 | …kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk = vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv…
          |                                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        "#);
    }

    #[test]
    fn hidden_ranges_show_as_stand_ins_wherever_the_mark_is() {
        let text = "env = { A = \"hunter2\", B = \"b\" }\n";
        let shown = |start, end| {
            let lines = LineIndex::new(text);
            let (mark, hidden) = (Span::new(start, end), [Span::new(13, 20)]);
            plain(
                &Diagnostic::error("x").at(Excerpt::hiding("a.toml", text, &lines, mark, &hidden)),
            )
        };
        let stand_in = redact::secret("hunter2");
        for (start, end, marked) in [
            (12, 21, format!("\"{stand_in}\"")),
            (15, 17, stand_in),
            (27, 30, "\"b\"".to_owned()),
        ] {
            let text = shown(start, end);
            assert!(
                !text.contains("hunter2") && text.contains(&marked),
                "{text}"
            );
            assert_eq!(text.matches('^').count(), marked.len(), "{text}");
        }
    }

    #[test]
    fn a_secret_is_replaced_in_its_line() {
        let place = excerpt("token = \"abc\" # x\n", 8, 13).redacted("<secret>");
        insta::assert_snapshot!(plain(&Diagnostic::error("secret").at(place)), @r#"
        error: secret
          --> a.toml:1:9
        1 | token = <secret> # x
          |         ^^^^^^^^
        "#);
    }

    proptest! {
        #[test]
        fn no_text_and_no_span_panics_or_leaks_a_control(text in any::<String>(), a in 0usize..80, b in 0usize..80) {
            let floor = |mut at: usize| {
                at = at.min(text.len());
                while !text.is_char_boundary(at) { at -= 1; }
                at
            };
            let (start, end) = (floor(a.min(b)), floor(a.max(b)));
            let shown = plain(&Diagnostic::error(text.clone()).at(excerpt(&text, start, end).label("here")));
            prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
            let lines = LineIndex::new(&text);
            let hidden = [Span::new(start, end)];
            let _ = Excerpt::hiding("a", &text, &lines, Span::at(floor(a)), &hidden);
        }
    }
}
