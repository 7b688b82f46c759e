//! The digest of what is asked: SHA-256 of canonical JSON.
//!
//! Members are sorted by their bytes and there is no white space, so the same values give the same
//! digest whatever their order. A number keeps the form that it came in, as far as `serde_json`
//! keeps it: `1` and `1.0` are two.

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// SHA-256 of `value` in canonical form, in hex.
pub(super) fn digest(value: &Value) -> String {
    let mut text = String::new();
    canonical(value, &mut text);
    let mut out = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        write!(out, "{byte:02x}").expect("writing to a string cannot fail");
    }
    out
}

/// Writes `value` with sorted members. Nesting is bounded where the line was read.
pub(super) fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            out.push('{');
            for (n, (name, member)) in sorted.into_iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                canonical(member, out);
            }
            out.push('}');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_members_does_not_count_and_numbers_keep_their_form() {
        let text = |value: &Value| {
            let mut out = String::new();
            canonical(value, &mut out);
            out
        };
        assert_eq!(
            text(&json!({"b": [1, 1.0], "a": {"d": null, "c": "é\n"}})),
            "{\"a\":{\"c\":\"é\\n\",\"d\":null},\"b\":[1,1.0]}"
        );
        assert_eq!(
            digest(&json!({"a": 1, "b": 2})),
            digest(&json!({"b": 2, "a": 1}))
        );
        assert_ne!(digest(&json!({"a": 1})), digest(&json!({"a": 1.0})));
    }
}
