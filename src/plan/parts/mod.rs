//! The parts of what `install` writes: each says which key paths it wants, in which file.

use std::path::PathBuf;

use crate::document::{KeyPath, Value};

use super::Part;

pub mod approver;
pub mod elicitations;
pub mod guide;
pub mod hooks;
pub mod pin;
pub mod program;
pub mod rule;
pub mod trust;

/// One key path that a part wants.
#[derive(Debug, Clone)]
pub struct Wish {
    /// The part.
    pub part: Part,
    /// The file.
    pub file: PathBuf,
    /// The key path.
    pub path: KeyPath,
    /// The value wanted there.
    pub value: Value,
}
