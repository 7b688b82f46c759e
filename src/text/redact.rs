//! Stands in for a secret: enough to recognise it, not enough to use it.
//!
//! A secret is hidden where a message about it is made, never where the message is printed. The
//! stand-in has the length and the first 32 bits of the SHA-256, so that two places with the same
//! secret can be told; a secret that is short enough to be guessed is not protected by that.

use sha2::{Digest, Sha256};

/// Bytes of the digest that are shown: 32 bits tell secrets of one machine apart.
const DIGEST_BYTES: usize = 4;

/// What is shown in place of `text`.
pub fn secret(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let mut short = String::with_capacity(DIGEST_BYTES * 2);
    for byte in digest.iter().take(DIGEST_BYTES) {
        for half in [byte >> 4, byte & 0xf] {
            short.push(char::from_digit(u32::from(half), 16).expect("half a byte is a hex digit"));
        }
    }
    let length = text.chars().count();
    let unit = if length == 1 {
        "character"
    } else {
        "characters"
    };
    format!("<secret, {length} {unit}, sha256 {short}>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_stand_in_has_length_and_digest() {
        assert_eq!(secret("abc"), "<secret, 3 characters, sha256 ba7816bf>");
    }

    proptest! {
        #[test]
        fn no_piece_of_the_secret_is_left(text in "[g-z]{9,40}") {
            let shown = secret(&text);
            prop_assert!(!text.as_bytes().windows(9).any(|piece| shown.as_bytes().windows(9).any(|s| s == piece) ));
        }
    }
}
