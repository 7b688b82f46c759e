//! The state directory: where records of installs lie, and where a commit is remembered.
//!
//! It is used only where it is safe: what lies there is believed later. Elsewhere commands that
//! can do without go on and say so.

use std::path::PathBuf;

use crate::approval;
use crate::files;

/// The state directory, or why there is none.
#[derive(Debug)]
pub enum State {
    /// It is safe. It may not be there yet.
    Safe(PathBuf),
    /// There is none to use.
    Unusable {
        /// Why, in words.
        why: String,
    },
}

impl State {
    /// Finds it, where every command of the gate does.
    pub fn find() -> Self {
        let folder = match approval::own_folders() {
            Ok((state, _)) => state,
            Err(error) => {
                return Self::Unusable {
                    why: error.to_string(),
                };
            }
        };
        match files::state_dir_safety(&folder, &approval::open_folders()) {
            Ok(()) => Self::Safe(folder),
            Err(reason) => Self::Unusable {
                why: reason.to_string(),
            },
        }
    }

    /// The folder, where it is safe.
    pub const fn folder(&self) -> Option<&PathBuf> {
        match self {
            Self::Safe(folder) => Some(folder),
            Self::Unusable { .. } => None,
        }
    }
}
