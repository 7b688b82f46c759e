//! Byte splices: the only way in which a user's text changes.
//!
//! An edit is a range of the old text and the new text for it. Edits are refused when they
//! overlap and applied from the end to the start, so that no range moves before it is used.

use super::span::Span;

/// New text for a range of the old one. An empty range inserts, an empty text removes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The range of the old text.
    pub span: Span,
    /// What stands there afterwards.
    pub text: String,
}

impl Edit {
    /// Inserts `text` before byte `at`.
    pub fn insert(at: usize, text: impl Into<String>) -> Self {
        Self {
            span: Span::at(at),
            text: text.into(),
        }
    }

    /// Removes `span`.
    pub const fn remove(span: Span) -> Self {
        Self {
            span,
            text: String::new(),
        }
    }

    /// Puts `text` in place of `span`.
    pub fn replace(span: Span, text: impl Into<String>) -> Self {
        Self {
            span,
            text: text.into(),
        }
    }
}

/// Why edits cannot be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// Two edits share bytes or a place.
    #[error("two edits overlap")]
    Overlap,
    /// A range ends beyond the text or within a character.
    #[error("an edit lies outside of the text")]
    Outside,
}

/// Applies `edits`, given in any order, to `text`.
///
/// # Errors
/// Edits that overlap, that share an insertion place, or that lie outside of the text.
pub fn apply(text: &str, edits: &[Edit]) -> Result<String, EditError> {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let overlap = sorted.windows(2).any(|pair| {
        pair[1].span.start < pair[0].span.end
            || (pair[1].span.start == pair[0].span.start && pair[1].span == pair[0].span)
    });
    if overlap {
        return Err(EditError::Overlap);
    }
    let mut result = text.to_owned();
    for edit in sorted.iter().rev() {
        let range = edit.span.range();
        if text.get(range.clone()).is_none() {
            return Err(EditError::Outside);
        }
        result.replace_range(range, &edit.text);
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_apply_in_any_order() {
        let edits = [
            Edit::insert(3, "X"),
            Edit::replace(Span::new(0, 1), "zz"),
            Edit::remove(Span::new(1, 2)),
        ];
        assert_eq!(apply("abc", &edits).as_deref(), Ok("zzcX"));
    }

    #[test]
    fn edits_that_overlap_or_lie_outside_are_refused() {
        let two = [Edit::remove(Span::new(0, 2)), Edit::remove(Span::new(1, 3))];
        assert_eq!(apply("abc", &two), Err(EditError::Overlap));
        let same = [Edit::insert(1, "x"), Edit::insert(1, "y")];
        assert_eq!(apply("abc", &same), Err(EditError::Overlap));
        assert_eq!(
            apply("abc", &[Edit::insert(9, "x")]),
            Err(EditError::Outside)
        );
        assert_eq!(apply("ü", &[Edit::insert(1, "x")]), Err(EditError::Outside));
    }
}
