//! The state directory: where records of installs lie, and where a commit is remembered.
//!
//! It is used only where it is safe: what lies there is believed later. Elsewhere commands that
//! can do without go on and say so.

use std::path::PathBuf;

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
    /// Finds it: `state_dir()` of the platform, `data_local_dir()` where a platform has none; on
    /// Linux `$XDG_STATE_HOME/codexgate`, by default `~/.local/state/codexgate`.
    pub fn find() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if !set("HOME") && !set("XDG_STATE_HOME") {
            return Self::Unusable {
                why: "neither `HOME` nor `XDG_STATE_HOME` is set".to_owned(),
            };
        }
        let Some(folders) = directories::ProjectDirs::from("", "", "codexgate") else {
            return Self::Unusable {
                why: "this system names no folder for state".to_owned(),
            };
        };
        let folder = folders
            .state_dir()
            .unwrap_or_else(|| folders.data_local_dir())
            .to_path_buf();
        match files::state_dir_safety(&folder, &open_folders()) {
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

/// Folders that a sandboxed agent may write whatever its policy says.
pub fn open_folders() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from("/tmp"), PathBuf::from("/dev/shm")];
    folders.extend(
        std::env::var_os("TMPDIR")
            .filter(|value| !value.is_empty())
            .map(PathBuf::from),
    );
    folders
}
