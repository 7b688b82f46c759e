//! The trust entry: `[projects."ROOT"] trust_level = "trusted"` in Codex's home.
//!
//! Codex compares the path as text with the canonical folder (scenarios `trust-trailing-slash`,
//! `trust-symlink-path`), and a trusted git root covers its folders (scenario `trust-subdir-git`).

use std::path::Path;

use crate::document::{KeyPath, Value};

/// Where trust for `root`, a canonical folder, is said. Nothing where its path is not UTF-8:
/// TOML cannot name it.
pub fn path_for(root: &Path) -> Option<KeyPath> {
    Some(KeyPath::new(["projects", root.to_str()?, "trust_level"]))
}

/// The word that trusts.
pub fn trusted() -> Value {
    Value::from("trusted")
}
