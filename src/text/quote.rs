//! Quotes words for a POSIX shell, so that it reads each back unchanged.
//!
//! For commands that a person is told to paste. A word that holds characters of
//! [`super::visible`]'s table still holds them: make the line visible before it is shown.

use std::borrow::Cow;

/// One word, in single quotes where it needs them.
pub fn word(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        if c == '\'' {
            out.push_str("'\\''");
        } else {
            out.push(c);
        }
    }
    out.push('\'');
    Cow::Owned(out)
}

/// Words with a space between them: a whole command line.
pub fn words<I, S>(words: I) -> String
where
    I: IntoIterator<Item = S>,
    S: AsRef<str>,
{
    let mut out = String::new();
    for (index, text) in words.into_iter().enumerate() {
        if index > 0 {
            out.push(' ');
        }
        out.push_str(&word(text.as_ref()));
    }
    out
}

/// Whether every shell takes `text` as itself. A leading `=` or `~` is expanded by some.
fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('=')
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_what_needs_quotes_gets_them() {
        assert_eq!(word("--config=a/b.toml"), "--config=a/b.toml");
        assert_eq!(word(""), "''");
        assert_eq!(word("it's"), "'it'\\''s'");
        assert_eq!(word("~/x"), "'~/x'");
        assert_eq!(words(["echo", "$HOME", "a b"]), "echo '$HOME' 'a b'");
    }

    /// Reads one quoted word as a POSIX shell does: quotes end only at a quote, a backslash
    /// outside of them takes the next character, anything special outside of them is a fault.
    fn unquote(text: &str) -> Option<String> {
        let mut out = String::new();
        let mut quoted = false;
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\'' => quoted = !quoted,
                '\\' if !quoted => out.push(chars.next()?),
                c if quoted || !" \t\n|&;<>()$`\"*?[#~!{}".contains(c) => out.push(c),
                _ => return None,
            }
        }
        (!quoted).then_some(out)
    }

    proptest! {
        #[test]
        fn a_shell_reads_every_word_back(text in "[^\u{0}]*") {
            prop_assert_eq!(unquote(&word(&text)), Some(text));
        }
    }
}
