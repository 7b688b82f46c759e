//! Byte ranges of one file's text, and the lines and columns that people read.

use std::ops::Range;

/// A byte range in one file's text. Both ends lie on character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

impl Span {
    /// The range from `start` up to but not including `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// An empty range at `at`: a place between two bytes.
    pub const fn at(at: usize) -> Self {
        Self { start: at, end: at }
    }

    /// Whether the range holds no byte.
    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// The smallest range that holds both.
    #[must_use]
    pub fn cover(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// Whether `other` lies within this range.
    pub const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The range for indexing.
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// A line and a column, both counted from 1; the column counts Unicode scalar values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineColumn {
    /// The line, from 1.
    pub line: usize,
    /// The column in Unicode scalar values, from 1. A byte order mark at the start counts nothing.
    pub column: usize,
}

/// What may stand before a text, and counts as no column.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Bytes between two places whose characters were counted.
const BLOCK: usize = 256;

/// Where each line of a text starts, and how many characters stand before each block, so that a
/// place costs the same wherever it is: many findings on one long line are no reason to wait.
#[derive(Debug, Clone)]
pub struct LineIndex {
    starts: Vec<usize>,
    /// Characters before byte `n * BLOCK`, and in all at the end.
    characters: Vec<usize>,
}

impl LineIndex {
    /// Reads `text` once. Lines end with a line feed, as they do for Codex's parser.
    pub fn new(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(
            text.bytes()
                .enumerate()
                .filter(|(_, byte)| *byte == b'\n')
                .map(|(at, _)| at + 1),
        );
        let mut characters = vec![0];
        let mut counted = 0;
        for block in text.as_bytes().chunks(BLOCK) {
            counted += characters_of(block);
            characters.push(counted);
        }
        Self { starts, characters }
    }

    /// The line and column of byte `at` of `text` (the text that this index was made of).
    pub fn locate(&self, text: &str, at: usize) -> LineColumn {
        let line = self.starts.partition_point(|start| *start <= at).max(1);
        let start = self.starts[line - 1];
        let marks = usize::from(start == 0 && at > 0 && text.starts_with(BYTE_ORDER_MARK));
        let before = self.before(text, at) - self.before(text, start) - marks;
        LineColumn {
            line,
            column: before + 1,
        }
    }

    /// How many characters of `text` begin before byte `at`.
    fn before(&self, text: &str, at: usize) -> usize {
        let at = at.min(text.len());
        let block = (at / BLOCK).min(self.characters.len() - 1);
        self.characters[block] + characters_of(&text.as_bytes()[block * BLOCK..at])
    }

    /// The range of line `line` (from 1) of `text`, without its line end.
    pub fn line(&self, text: &str, line: usize) -> Span {
        let start = self
            .starts
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or(text.len());
        let end = self.starts.get(line).copied().unwrap_or(text.len());
        let body = text.get(start..end).unwrap_or_default();
        Span::new(
            start,
            start + body.trim_end_matches('\n').trim_end_matches('\r').len(),
        )
    }
}

/// How many characters begin in `bytes` of a UTF-8 text: all but the bytes that continue one.
fn characters_of(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xc0) != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn columns_count_characters_and_not_the_byte_order_mark() {
        let text = "\u{feff}a\nü = 1\r\n";
        let index = LineIndex::new(text);
        assert_eq!(index.locate(text, 3), LineColumn { line: 1, column: 1 });
        assert_eq!(index.locate(text, 5), LineColumn { line: 2, column: 1 });
        assert_eq!(index.locate(text, 7), LineColumn { line: 2, column: 2 });
        assert_eq!(&text[index.line(text, 2).range()], "ü = 1");
    }

    proptest! {
        #[test]
        fn a_column_is_what_counting_from_the_start_of_the_line_gives(
            text in "\u{feff}?([a-ü€𝄞]{0,90}\n?){0,12}",
        ) {
            let index = LineIndex::new(&text);
            for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
                let before = text[..at].trim_start_matches('\u{feff}');
                let last = before.rsplit('\n').next().unwrap_or_default();
                let line = before.matches('\n').count() + 1;
                prop_assert_eq!(
                    index.locate(&text, at),
                    LineColumn { line, column: last.chars().count() + 1 }
                );
            }
        }
    }

    #[test]
    fn a_place_beyond_the_text_is_its_end() {
        let index = LineIndex::new("ab");
        assert_eq!(index.locate("ab", 99), LineColumn { line: 1, column: 3 });
    }
}
