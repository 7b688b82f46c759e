//! Names that are close to one another, and how a name is written as a key.

use crate::codex::keys::ROOT;
use crate::document::path::is_bare;

/// Shorter names are too close to everything.
const MIN_LENGTH: usize = 3;

/// The one candidate that is one slip away from `name`: a letter too many, too few, another one or
/// two swapped, or nothing but case and dashes. Nothing, where two are.
pub fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.chars().count() < MIN_LENGTH {
        return None;
    }
    let plain = plain(name);
    let mut near = candidates.filter(|other| *other != name && is_near(&plain, other));
    let first = near.next()?;
    near.next().is_none().then_some(first)
}

fn is_near(plain_name: &str, other: &str) -> bool {
    let other = plain(other);
    plain_name == other || one_slip(plain_name, &other)
}

/// Lower case, `-` as `_`, `camelCase` as `camel_case`.
fn plain(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut small = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && small {
            out.push('_');
        }
        small = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(if c == '-' {
            '_'
        } else {
            c.to_ascii_lowercase()
        });
    }
    out
}

/// Whether one insertion, removal, replacement or swap of neighbours turns `a` into `b`.
fn one_slip(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[start..], &b[start..]);
    match (a, b) {
        ([], []) => true,
        ([_, rest @ ..], _) if rest == b => true,
        (_, [_, rest @ ..]) if rest == a => true,
        ([_, x @ ..], [_, y @ ..]) if x == y => true,
        ([x1, x2, x @ ..], [y1, y2, y @ ..]) => x1 == y2 && x2 == y1 && x == y,
        _ => false,
    }
}

/// Whether `name` is a key of the root of config.toml.
pub fn is_root_key(name: &str) -> bool {
    ROOT.key(name).is_some()
}

/// `name` as a key of TOML.
pub fn quoted_if_needed(name: &str) -> String {
    if is_bare(name) {
        name.to_owned()
    } else {
        toml_edit::Key::new(name).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_found_and_two_are_not() {
        let keys = ["sandbox_mode", "approval_policy", "args", "env"];
        let near = |name| closest(name, keys.into_iter());
        assert_eq!(near("sanbox_mode"), Some("sandbox_mode"));
        assert_eq!(near("sandbox_mdoe"), Some("sandbox_mode"));
        assert_eq!(near("sandboxMode"), Some("sandbox_mode"));
        assert_eq!(near("Sandbox-Mode"), Some("sandbox_mode"));
        assert_eq!(near("sandbox_mode2"), Some("sandbox_mode"));
        assert_eq!(near("sandbx_mod"), None);
        assert_eq!(near("arg"), Some("args"));
        assert_eq!(near("sandbox_mode"), None);
        assert_eq!(
            closest("abd", ["abc", "abe"].into_iter()),
            None,
            "two are near"
        );
    }
}
