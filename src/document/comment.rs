//! Where the comments of a TOML text stand.

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use super::span::Span;

/// The comments of `text`, which is TOML, in order: each from its `#` to the end of its line.
pub fn comments(text: &str) -> Vec<Span> {
    Source::new(text)
        .lex()
        .filter(|token| token.kind() == TokenKind::Comment)
        .map(|token| Span::new(token.span().start(), token.span().end()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_in_a_string_or_key_is_no_comment() {
        let text = "\u{feff}# a\n\"#k\" = '#v' # b\r\nx = \"\"\"\n# no\n\"\"\"\ny = [ # c\n1] #";
        let found: Vec<&str> = comments(text)
            .into_iter()
            .map(|span| &text[span.range()])
            .collect();
        assert_eq!(found, ["# a", "# b", "# c", "#"]);
    }
}
