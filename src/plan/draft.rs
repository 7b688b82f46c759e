//! One file of a plan: its text as read, and as it would be after each step.

use std::path::{Path, PathBuf};

use crate::document::{Change, Document, Edit, KeyPath, NoPlace, Span, Value, place};
use crate::files::{self, Found};

use super::{Error, Part, Source};

/// What a step does to its key path.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// The path was not there.
    Added {
        /// What is there now.
        value: Value,
    },
    /// The path had another value.
    Replaced {
        /// What was there.
        old: Value,
        /// What is there now.
        value: Value,
    },
    /// The path goes.
    Removed {
        /// What was there.
        old: Value,
    },
}

/// One step of a plan: a key path, what happens to it, and the edits that do it.
#[derive(Debug, Clone)]
pub struct Step {
    /// The part that wants it.
    pub part: Part,
    /// The key path.
    pub path: KeyPath,
    /// What happens to it.
    pub action: Action,
    /// The edits of the text before this step, in its order.
    pub edits: Vec<Edit>,
    /// The text before this step.
    pub before: String,
    /// The text after this step.
    pub after: String,
}

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It has this text.
    Text(String),
    /// It goes; install had created it and nothing else is in it.
    Removed,
}

/// How what was written is held against the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// TOML: by value, so that what the text means is what was planned.
    Toml,
    /// Any other text: by its bytes.
    Plain,
}

/// A file that changes.
#[derive(Debug, Clone)]
pub struct FilePlan {
    /// The file as named; a link stays one.
    pub path: PathBuf,
    /// The file as it was read.
    pub found: Found,
    /// Its text; empty where it is missing.
    pub before: String,
    /// How it is checked.
    pub form: Form,
    /// What becomes of it.
    pub outcome: Outcome,
    /// The steps that lead there.
    pub steps: Vec<Step>,
    /// The mode of the file if it is created.
    pub new_mode: u32,
    /// Folders that go with the file if they are empty then, inner ones first.
    pub folders: Vec<PathBuf>,
}

/// The mode of a new file in Codex's home: configs hold endpoints and tokens.
pub const PRIVATE: u32 = 0o600;
/// The mode of a new file in a project or of the system, before the umask is taken off.
pub const SHARED: u32 = 0o644;

/// A file that a plan may change.
#[derive(Debug, Clone)]
pub struct Draft {
    path: PathBuf,
    found: Found,
    original: Document,
    document: Document,
    steps: Vec<Step>,
    new_mode: u32,
}

impl Draft {
    /// Reads `path`. A missing file is an empty one; anything else that cannot be read is an
    /// error, never an empty file. With `inside`, a link may not lead out of that folder.
    ///
    /// # Errors
    /// A file that cannot be read, is not UTF-8, does not parse, or leads out of `inside`.
    pub fn open(path: &Path, inside: Option<&Path>, new_mode: u32) -> Result<Self, Error> {
        let (found, text) = read_text(path, inside)?;
        let original = Document::parse(text.clone()).map_err(|error| Error::Syntax {
            message: error.message,
            source_text: Box::new(Source {
                path: path.to_path_buf(),
                text,
                span: error.span,
            }),
        })?;
        Ok(Self {
            path: path.to_path_buf(),
            found,
            document: original.clone(),
            original,
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

    /// The document as it was read.
    pub const fn original(&self) -> &Document {
        &self.original
    }

    /// The document as it would be now.
    pub const fn document(&self) -> &Document {
        &self.document
    }

    /// The steps so far.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Adds `value` at `path`.
    ///
    /// # Errors
    /// A shape without a safe place.
    pub fn add(&mut self, part: &Part, path: &KeyPath, value: &Value) -> Result<(), NoPlace> {
        let change = place::insert(&self.document, path, value)?;
        let action = Action::Added {
            value: value.clone(),
        };
        self.push(part, path, action, change);
        Ok(())
    }

    /// Puts `value` in place of what is at `path`.
    ///
    /// # Errors
    /// A shape in which that cannot be done safely.
    pub fn replace(&mut self, part: &Part, path: &KeyPath, value: &Value) -> Result<(), NoPlace> {
        let old = self.document.get(path).map(crate::document::Node::value);
        match place::replace(&self.document, path, value) {
            Ok(change) => {
                let action = old.map_or_else(
                    || Action::Added {
                        value: value.clone(),
                    },
                    |old| Action::Replaced {
                        old,
                        value: value.clone(),
                    },
                );
                self.push(part, path, action, change);
                Ok(())
            }
            // A table with a header of its own goes as a whole, and the value comes anew.
            Err(NoPlace::Unsure { .. }) => {
                self.remove(part, path)?;
                self.add(part, path, value)
            }
            Err(error) => Err(error),
        }
    }

    /// Takes `path` out.
    ///
    /// # Errors
    /// A shape in which it cannot go alone.
    pub fn remove(&mut self, part: &Part, path: &KeyPath) -> Result<(), NoPlace> {
        let old = self
            .document
            .get(path)
            .map(crate::document::Node::value)
            .ok_or_else(|| NoPlace::Presence {
                path: path.clone(),
                there: false,
            })?;
        let change = place::remove(&self.document, path)?;
        self.push(part, path, Action::Removed { old }, change);
        Ok(())
    }

    /// Takes over a text that was made otherwise (an exact undo), as one step.
    pub(super) fn adopt(&mut self, part: &Part, path: &KeyPath, action: Action, change: Change) {
        self.push(part, path, action, change);
    }

    fn push(&mut self, part: &Part, path: &KeyPath, action: Action, change: Change) {
        self.steps.push(Step {
            part: part.clone(),
            path: path.clone(),
            action,
            edits: change.edits,
            before: self.document.text().to_owned(),
            after: change.document.text().to_owned(),
        });
        self.document = change.document;
    }

    /// The file's plan, if its text changed.
    pub fn finish(self) -> Option<FilePlan> {
        let before = self.original.text().to_owned();
        let after = self.document.text().to_owned();
        if before == after {
            return None;
        }
        Some(FilePlan {
            path: self.path,
            found: self.found,
            before,
            form: Form::Toml,
            outcome: Outcome::Text(after),
            steps: self.steps,
            new_mode: self.new_mode,
            folders: Vec::new(),
        })
    }

    /// The file's plan as its removal.
    pub(super) fn finish_removed(self, folders: Vec<PathBuf>) -> FilePlan {
        FilePlan {
            before: self.original.text().to_owned(),
            path: self.path,
            found: self.found,
            form: Form::Toml,
            outcome: Outcome::Removed,
            steps: self.steps,
            new_mode: self.new_mode,
            folders,
        }
    }

    /// A place in the original text for messages: of `path`, else of the nearest table above it.
    pub fn place_of(&self, path: &KeyPath) -> Option<Span> {
        let mut path = path.clone();
        loop {
            if let Some(node) = self.original.get(&path) {
                return (!path.parts().is_empty()).then_some(node.span);
            }
            path = path.parent()?;
        }
    }
}

/// A file and its text; a missing file is an empty one.
///
/// # Errors
/// It cannot be read, is not UTF-8, or leads out of `inside`.
pub(super) fn read_text(path: &Path, inside: Option<&Path>) -> Result<(Found, String), Error> {
    let found = files::read(path, files::CONFIG_LIMIT)?;
    if let Some(inside) = inside {
        stays_inside(path, &found, inside)?;
    }
    let text = match &found {
        Found::Missing => String::new(),
        Found::File(snapshot) => {
            String::from_utf8(snapshot.bytes.clone()).map_err(|error| Error::NotUtf8 {
                path: path.to_path_buf(),
                at: error.utf8_error().valid_up_to(),
            })?
        }
    };
    Ok((found, text))
}

/// Refuses a link out of `inside`, followed before anything is written.
/// stops: a repository whose `.codex/config.toml` is a link to a file of the user.
fn stays_inside(path: &Path, found: &Found, inside: &Path) -> Result<(), Error> {
    let target = match found {
        Found::File(snapshot) => snapshot.target.clone(),
        Found::Missing => match path.parent().map(Path::canonicalize) {
            Some(Ok(folder)) => folder.join(path.file_name().unwrap_or_default()),
            _ => return Ok(()),
        },
    };
    if target.starts_with(inside) {
        Ok(())
    } else {
        Err(Error::LinkLeavesProject {
            path: path.to_path_buf(),
            target,
        })
    }
}
