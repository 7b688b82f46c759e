//! Makes characters visible that a reader cannot see, or takes for something else.
//!
//! A character of the table below is written as its code point in angle brackets, `<U+202E>`.
//! Everything else stays, so a text without such characters comes back unchanged and uncopied.
//! What is not promised: letters of another script that look alike (`а` for `a`) stay as they
//! are, and so does a text that spells `<U+202E>` in plain letters.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// Characters that are shown as code points, in ascending order.
///
/// The first rows are what `fd` and `less` escape on a terminal; the rest are invisible, turn the
/// direction of the text around, or look like a plain space.
const HIDDEN: &[RangeInclusive<char>] = &[
    '\u{0}'..='\u{1f}',        // C0 controls: escape sequences, carriage return, NUL
    '\u{7f}'..='\u{a0}',       // DEL, C1 controls, no-break space
    '\u{ad}'..='\u{ad}',       // soft hyphen
    '\u{34f}'..='\u{34f}',     // combining grapheme joiner
    '\u{61c}'..='\u{61c}',     // Arabic letter mark
    '\u{115f}'..='\u{1160}',   // Hangul fillers
    '\u{1680}'..='\u{1680}',   // Ogham space
    '\u{17b4}'..='\u{17b5}',   // Khmer inherent vowels, never drawn
    '\u{180b}'..='\u{180f}',   // Mongolian variation selectors and vowel separator
    '\u{2000}'..='\u{200f}',   // spaces of many widths, zero width, direction marks
    '\u{2028}'..='\u{202f}',   // line and paragraph separator, direction, narrow no-break space
    '\u{205f}'..='\u{206f}',   // mathematical space, invisible operators, direction isolates
    '\u{2800}'..='\u{2800}',   // Braille blank
    '\u{3000}'..='\u{3000}',   // ideographic space
    '\u{3164}'..='\u{3164}',   // Hangul filler
    '\u{fe00}'..='\u{fe0f}',   // variation selectors
    '\u{feff}'..='\u{feff}',   // zero width no-break space, the byte order mark
    '\u{ffa0}'..='\u{ffa0}',   // half-width Hangul filler
    '\u{fff0}'..='\u{fffb}',   // interlinear annotation and unassigned specials
    '\u{1bca0}'..='\u{1bca3}', // shorthand format controls
    '\u{1d173}'..='\u{1d17a}', // musical format controls
    '\u{e0000}'..='\u{e0fff}', // tags and further variation selectors: they smuggle whole texts
];

/// Whether `c` is shown as a code point.
pub fn is_hidden(c: char) -> bool {
    let after = HIDDEN.partition_point(|range| *range.end() < c);
    HIDDEN.get(after).is_some_and(|range| range.contains(&c))
}

/// `text` for one line of output: line feeds and tabs are made visible, too.
pub fn visible(text: &str) -> Cow<'_, str> {
    replace(text, is_hidden)
}

/// `text` for several lines of output: line feeds and tabs stay.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    replace(text, |c| is_hidden(c) && c != '\n' && c != '\t')
}

/// Writes one character to `out`, as [`visible`] would.
pub(crate) fn push(out: &mut String, c: char) {
    if is_hidden(c) {
        write!(out, "<U+{:04X}>", u32::from(c)).expect("writing to a string cannot fail");
    } else {
        out.push(c);
    }
}

fn replace(text: &str, hide: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(&hide) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        if hide(c) {
            push(&mut out, c);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_table_is_in_order() {
        assert!(
            HIDDEN
                .windows(2)
                .all(|pair| pair[0].end() < pair[1].start())
        );
    }

    #[test]
    fn controls_directions_and_false_spaces_show_as_code_points() {
        assert_eq!(visible("a\u{1b}[2Kb"), "a<U+001B>[2Kb");
        assert_eq!(visible("ls\u{202e}fdp"), "ls<U+202E>fdp");
        assert_eq!(visible("rm\u{a0}-rf\u{200b}"), "rm<U+00A0>-rf<U+200B>");
        assert_eq!(visible("a\nb\tc"), "a<U+000A>b<U+0009>c");
        assert_eq!(visible_lines("a\nb\tc\r\n"), "a\nb\tc<U+000D>\n");
        assert_eq!(visible("tag\u{e0041}"), "tag<U+E0041>");
    }

    #[test]
    fn plain_text_of_any_language_is_not_copied() {
        assert!(matches!(visible("café 漢字 🦀 –"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(text in any::<String>()) {
            let shown = visible(&text);
            prop_assert!(!shown.chars().any(is_hidden));
            prop_assert!(!shown.chars().any(char::is_control));
        }

        #[test]
        fn showing_twice_changes_nothing(text in any::<String>()) {
            let once = visible(&text).into_owned();
            prop_assert_eq!(visible(&once).into_owned(), once);
        }
    }

    #[test]
    fn every_white_space_but_the_plain_one_shows() {
        let white = ('\0'..=char::MAX).filter(|c| c.is_whitespace() && *c != ' ');
        assert!(white.clone().count() > 20 && white.clone().all(is_hidden));
    }
}
