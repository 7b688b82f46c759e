//! A proposal's name: no secret, and hard to mistake for another.
//!
//! 100 bits of the proposal's SHA-256 in 20 letters and digits that people can read to each other
//! (`7kq2-m9xt-c4hd-20fn-v8ra`; no `i`, `l`, `o`, `u`). A proposal holds a random number that the
//! agent does not choose, so it cannot look for two that share a name; a grant holds the whole
//! digest besides. A part of a token names nothing.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;

const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const GROUPS: usize = 5;
const IN_A_GROUP: usize = 4;

/// A token in its one canonical spelling.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Token(String);

impl Token {
    /// The name of the proposal with these bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let digest = Sha256::digest(bytes);
        let bit = |at: usize| digest[at / 8] >> (7 - at % 8) & 1;
        let mut out = String::with_capacity(GROUPS * (IN_A_GROUP + 1));
        for letter in 0..GROUPS * IN_A_GROUP {
            if letter > 0 && letter % IN_A_GROUP == 0 {
                out.push('-');
            }
            let index = (0..5).fold(0, |value, at| value * 2 + bit(letter * 5 + at));
            out.push(char::from(LETTERS[usize::from(index)]));
        }
        Self(out)
    }

    /// Reads a whole token. Capitals, missing hyphens and the letters that are taken for digits
    /// (`o`, `i`, `l`) are understood.
    pub fn parse(text: &str) -> Option<Self> {
        let mut out = String::new();
        let mut letters = 0;
        for c in text.chars().filter(|c| *c != '-') {
            let c = match c.to_ascii_lowercase() {
                'o' => '0',
                'i' | 'l' => '1',
                c => c,
            };
            if letters > 0 && letters % IN_A_GROUP == 0 {
                out.push('-');
            }
            letters += 1;
            // stops: a character of another alphabet that ends in the same byte
            if !u8::try_from(c).is_ok_and(|byte| LETTERS.contains(&byte)) {
                return None;
            }
            out.push(c);
        }
        (letters == GROUPS * IN_A_GROUP).then_some(Self(out))
    }

    /// The canonical spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Token {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        match Self::parse(&text) {
            Some(token) if token.0 == text => Ok(token),
            _ => Err("no token"),
        }
    }
}

impl From<Token> for String {
    fn from(token: Token) -> Self {
        token.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_spelling_is_fixed() {
        // The first 100 bits of SHA-256 of "abc": ba7816bf 8f01cfea 414140de 5…
        assert_eq!(Token::of(b"abc").as_str(), "q9w1-dfwf-077y-mga1-83f5");
    }

    #[test]
    fn every_other_letter_is_none() {
        let token = "q9w1-dfwf-077y-mga1-83f5";
        assert!(Token::parse(token).is_some());
        for (at, _) in token.char_indices().filter(|(_, c)| *c != '-') {
            for other in ["u", "!", " ", "\u{161}", "\u{e1}", "\u{ff11}"] {
                let text = format!("{}{other}{}", &token[..at], &token[at + 1..]);
                assert_eq!(Token::parse(&text), None, "{text}");
            }
        }
    }

    #[test]
    fn on_the_disk_it_has_one_spelling() {
        let token = Token::of(b"abc");
        let json = serde_json::to_string(&token).expect("text");
        assert_eq!(json, "\"q9w1-dfwf-077y-mga1-83f5\"");
        assert_eq!(
            serde_json::from_str::<Token>(&json).expect("a token"),
            token
        );
        for other in [
            json.to_uppercase(),
            json.replace('-', ""),
            "\"q9w1\"".to_owned(),
        ] {
            assert!(serde_json::from_str::<Token>(&other).is_err(), "{other}");
        }
    }

    proptest! {
        #[test]
        fn a_token_is_read_back_however_it_is_read_aloud(bytes in any::<Vec<u8>>()) {
            let token = Token::of(&bytes);
            for spelled in [
                token.to_string(),
                token.to_string().to_uppercase(),
                token.to_string().replace('-', ""),
                token.to_string().replace('0', "o").replace('1', "L"),
            ] {
                prop_assert_eq!(Token::parse(&spelled), Some(token.clone()));
            }
        }

        #[test]
        fn no_part_of_a_token_and_nothing_longer_is_one(bytes in any::<Vec<u8>>(), cut in 0_usize..24) {
            let token = Token::of(&bytes).to_string();
            let part: String = token.chars().take(cut).collect();
            prop_assert_eq!(Token::parse(&part), None);
            prop_assert_eq!(Token::parse(&format!("{token}0")), None);
        }

        #[test]
        fn whatever_is_read_is_a_token_or_nothing(text in ".{0,40}") {
            if let Some(token) = Token::parse(&text) {
                prop_assert_eq!(Token::parse(token.as_str()), Some(token.clone()));
            }
        }
    }
}
