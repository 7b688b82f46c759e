//! What the formats for programs share: lines and columns of a finding, and fixes that may be shown.

use serde::Serialize;

use crate::document::Span;
use crate::lint::{Finding, Fix, Source};

/// A range of a text: all from 1, columns in Unicode scalar values, the end behind the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Region {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
    /// The line of the end.
    pub end_line: usize,
    /// The column behind the last character.
    pub end_column: usize,
}

impl Region {
    /// Where `span` of `source` is.
    pub fn of(source: &Source, span: Span) -> Self {
        let locate = |at| source.lines().locate(source.text(), at);
        let (start, end) = (locate(span.start), locate(span.end.max(span.start)));
        Self {
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
        }
    }
}

/// The fix of `finding`, unless its new text could tell a secret: it touches one, or holds one.
pub fn open_fix<'a>(source: &Source, finding: &'a Finding) -> Option<&'a Fix> {
    // A mode is no edit of a text.
    let fix = finding.fix.as_ref().filter(|fix| !fix.edits.is_empty())?;
    let text = source.text();
    let tells = fix.edits.iter().any(|edit| {
        source.secrets.iter().any(|secret| {
            let touches = secret.value.start < edit.span.end && edit.span.start < secret.value.end;
            let shown = text.get(secret.span.range()).unwrap_or_default();
            touches || (!shown.is_empty() && edit.text.contains(shown))
        })
    });
    (!tells).then_some(fix)
}
