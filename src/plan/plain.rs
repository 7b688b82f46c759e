//! One file of a plan that is not TOML: hooks.json, a rules file, AGENTS.md.
//!
//! The steps are those of a TOML draft, with the piece of text as their value, so that what is
//! shown, committed, remembered and taken back is the same. The parts decide what the text means;
//! this module knows bytes alone.

use std::path::{Path, PathBuf};

use crate::document::{Edit, KeyPath, Value, edit};
use crate::files::Found;

use super::draft::{self, Action, FilePlan, Form, Outcome, Step};
use super::{Error, Part};

/// A file that a plan may change.
#[derive(Debug, Clone)]
pub struct PlainDraft {
    path: PathBuf,
    found: Found,
    before: String,
    text: String,
    steps: Vec<Step>,
    new_mode: u32,
}

impl PlainDraft {
    /// Reads `path`, as [`draft::Draft::open`] does.
    ///
    /// # Errors
    /// A file that cannot be read, is not UTF-8, or leads out of `inside`.
    pub fn open(path: &Path, inside: Option<&Path>, new_mode: u32) -> Result<Self, Error> {
        let (found, text) = draft::read_text(path, inside)?;
        Ok(Self {
            path: path.to_path_buf(),
            found,
            before: text.clone(),
            text,
            steps: Vec::new(),
            new_mode,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file is there.
    pub const fn exists(&self) -> bool {
        matches!(self.found, Found::File(_))
    }

    /// The text as it was read.
    pub fn original(&self) -> &str {
        &self.before
    }

    /// The text as it would be now.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it would change.
    pub fn changes(&self) -> bool {
        self.text != self.before
    }

    /// Makes one step: `old` goes, `new` comes. Returns whether the edits fit the text.
    pub(super) fn step(
        &mut self,
        part: &Part,
        path: KeyPath,
        old: Option<String>,
        new: Option<String>,
        edits: Vec<Edit>,
    ) -> bool {
        let action = match (old, new) {
            (None, None) => return true,
            (None, Some(new)) => Action::Added {
                value: Value::String(new),
            },
            (Some(old), Some(new)) => Action::Replaced {
                old: Value::String(old),
                value: Value::String(new),
            },
            (Some(old), None) => Action::Removed {
                old: Value::String(old),
            },
        };
        let Ok(after) = edit::apply(&self.text, &edits) else {
            return false;
        };
        self.steps.push(Step {
            part: part.clone(),
            path,
            action,
            edits,
            before: std::mem::replace(&mut self.text, after.clone()),
            after,
        });
        true
    }

    /// The file's plan, if its text changed.
    pub fn finish(self) -> Option<FilePlan> {
        self.changes().then(|| FilePlan {
            path: self.path,
            found: self.found,
            before: self.before,
            form: Form::Plain,
            outcome: Outcome::Text(self.text),
            steps: self.steps,
            new_mode: self.new_mode,
            folders: Vec::new(),
        })
    }

    /// The file's plan as its removal.
    pub(super) fn finish_removed(self, folders: Vec<PathBuf>) -> FilePlan {
        FilePlan {
            path: self.path,
            found: self.found,
            before: self.before,
            form: Form::Plain,
            outcome: Outcome::Removed,
            steps: self.steps,
            new_mode: self.new_mode,
            folders,
        }
    }
}
