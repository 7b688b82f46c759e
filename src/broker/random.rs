//! Names that nobody can guess, out of the system's random bytes.

use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Read as _;

/// Letters of a name: with 62 of them, 11 letters hold 65 bits.
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// `count` random letters and digits.
pub fn letters(count: usize) -> String {
    let mut out = String::with_capacity(count);
    while out.len() < count {
        for byte in bytes() {
            // Six bits of each; the last two values would make some letters more likely.
            let index = usize::from(byte & 0x3f);
            if let Some(letter) = LETTERS.get(index)
                && out.len() < count
            {
                out.push(char::from(*letter));
            }
        }
    }
    out
}

/// 32 bytes of the system's, or of the standard library's seed where there is no such file.
fn bytes() -> [u8; 32] {
    let mut found = [0; 32];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut found));
    if read.is_err() {
        for (place, chunk) in found.chunks_mut(8).enumerate() {
            let number = RandomState::new().hash_one(place);
            chunk.copy_from_slice(&number.to_le_bytes());
        }
    }
    found
}

/// 64 random bits.
pub fn number() -> u64 {
    let bytes = bytes();
    let mut first = [0; 8];
    first.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(first)
}

/// A session's name, of the length that clients of codex-mcp know.
pub fn session() -> String {
    let letters = letters(11);
    format!("sess_{}-{}", &letters[..8], &letters[8..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_length_and_differ() {
        let names: std::collections::BTreeSet<String> = (0..1000).map(|_| session()).collect();
        assert_eq!(names.len(), 1000);
        assert!(
            names
                .iter()
                .all(|name| name.len() == "sess_6bccc806-f3d".len())
        );
    }
}
