//! The lines of a document: where a section begins and ends, and which comments belong to it.

use super::parse::{Document, Statement, StatementKind};
use super::path::KeyPath;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A header with the pairs below it, or the pairs above the first header.
#[derive(Debug)]
pub(super) struct Section<'d> {
    /// The path of the header; the root for what stands above the first one.
    pub(super) path: KeyPath,
    /// The header; none for the root.
    pub(super) header: Option<&'d Statement>,
    /// The pairs, those inside braces left out.
    pub(super) pairs: Vec<&'d Statement>,
    /// Where the next header's line starts, or the end of the text.
    pub(super) next: usize,
}

impl<'d> Section<'d> {
    /// The last statement of the section.
    pub(super) fn last(&self) -> Option<&'d Statement> {
        self.pairs.last().copied().or(self.header)
    }
}

/// The root and all headers, in the order of the text.
pub(super) fn sections(document: &Document) -> Vec<Section<'_>> {
    let mut found = vec![Section {
        path: KeyPath::root(),
        header: None,
        pairs: Vec::new(),
        next: document.text().len(),
    }];
    for statement in document.statements() {
        match &statement.kind {
            StatementKind::Header => {
                if let Some(previous) = found.last_mut() {
                    previous.next = line_start(document.text(), statement.span.start);
                }
                found.push(Section {
                    path: statement.path.clone(),
                    header: Some(statement),
                    pairs: Vec::new(),
                    next: document.text().len(),
                });
            }
            StatementKind::Pair { braces: None, .. } => {
                if let Some(section) = found.last_mut() {
                    section.pairs.push(statement);
                }
            }
            StatementKind::Pair { .. } => {}
        }
    }
    found
}

/// Where the text begins, after a byte order mark.
pub(super) fn text_start(text: &str) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len()
    } else {
        0
    }
}

/// The first byte of the line in which byte `at` stands, after a byte order mark.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at)
        .and_then(|before| before.rfind('\n'))
        .map_or_else(|| text_start(text), |found| found + 1)
}

/// The byte after the line end of the line in which byte `at` stands.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text.get(at..)
        .and_then(|rest| rest.find('\n'))
        .map_or(text.len(), |found| at + found + 1)
}

/// Where new lines can go below `section`: after its last statement and the comments that belong
/// to it. A comment right above the next header belongs to that.
pub(super) fn section_end(document: &Document, section: &Section<'_>) -> usize {
    let text = document.text();
    let Some(last) = section.last() else {
        return section.next;
    };
    let end = line_end(text, last.span.end);
    let mut at = end;
    while at < section.next {
        let next = line_end(text, at);
        if !text[at..next].trim_start().starts_with('#') {
            break;
        }
        at = next;
    }
    let is_blank = |from: usize| text[from..line_end(text, from)].trim().is_empty();
    if at > end && (at >= text.len() || (at < section.next && is_blank(at))) {
        at
    } else {
        end
    }
}

/// Where new root pairs can go in a text that has none: above the first header and the comment
/// that belongs to it.
pub(super) fn above_first_header(text: &str, header_line: usize) -> usize {
    let mut at = header_line;
    while at > text_start(text) {
        let above = line_start(text, at - 1);
        if !text[above..at].trim_start().starts_with('#') {
            break;
        }
        at = above;
    }
    at
}

/// Whether the line that ends right before byte `at` is blank; true at the start of the text.
pub(super) fn below_blank(text: &str, at: usize) -> bool {
    let start = text_start(text);
    at <= start || text[line_start(text, at - 1)..at].trim().is_empty()
}
