//! What an install changed, so that `uninstall` can give the last byte back.
//!
//! One record a file, in `$STATE/installs/`, named by the digest of the file's path. It is a
//! stack: each install pushes its steps, an uninstall takes its own out. A step knows the bytes
//! before and after each of its edits and the digests of the whole text. Records are kept only
//! in a safe state directory, since a forged one could put other bytes back; they are bounded
//! and checked like any input, and never applied where the result is not what their values say.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::document::style::Style;
use crate::document::{Document, KeyPath, Value};
use crate::files::{self, Found};

use super::draft::{Action, Step};
use super::{Error, Part};

/// The version of the record's form.
const VERSION: u32 = 1;

/// The most records that are looked through for another project with the gate.
const RECORDS_LIMIT: usize = 10_000;

/// What one install, or several, changed in one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    version: u32,
    /// The file.
    pub path: PathBuf,
    /// Whether install created it.
    pub created: bool,
    /// The folders that install created for it, outer ones first.
    pub folders: Vec<PathBuf>,
    /// What was done, oldest first.
    pub steps: Vec<Entry>,
}

/// One step as it is remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The part that wanted it: `server NAME`, or the part's name.
    part: String,
    /// The key path.
    pub key: Vec<String>,
    /// What is there since, as a TOML value; nothing where it was removed.
    value: Option<String>,
    /// What was there before, as a TOML value.
    old: Option<String>,
    /// The edits, in the order of the text.
    pub edits: Vec<EntryEdit>,
    /// The SHA-256 of the whole text before.
    pub before: String,
    /// The SHA-256 of the whole text after.
    pub after: String,
}

/// One edit of a step, by its place in the text afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryEdit {
    /// Where the new bytes begin in the text after the step.
    pub at: usize,
    /// The bytes before.
    pub old: String,
    /// The bytes since.
    pub new: String,
}

impl Entry {
    /// Remembers `step`.
    pub fn of(step: &Step) -> Self {
        let (value, old) = match &step.action {
            Action::Added { value } => (Some(value), None),
            Action::Replaced { old, value } => (Some(value), Some(old)),
            Action::Removed { old } => (None, Some(old)),
        };
        let mut shift = 0_usize;
        let mut gone = 0_usize;
        let edits = step
            .edits
            .iter()
            .map(|edit| {
                let at = edit.span.start + shift - gone;
                shift += edit.text.len();
                gone += edit.span.end - edit.span.start;
                EntryEdit {
                    at,
                    old: step
                        .before
                        .get(edit.span.range())
                        .unwrap_or_default()
                        .to_owned(),
                    new: edit.text.clone(),
                }
            })
            .collect();
        Self {
            part: part_word(&step.part),
            key: step.path.parts().to_vec(),
            value: value.map(print),
            old: old.map(print),
            edits,
            before: digest(step.before.as_bytes()),
            after: digest(step.after.as_bytes()),
        }
    }

    /// The part that wanted it.
    pub fn part(&self) -> Option<Part> {
        match self.part.as_str() {
            "pin" => Some(Part::Pin),
            "elicitations" => Some(Part::Elicitations),
            "trust" => Some(Part::Trust),
            "approver" => Some(Part::Approver),
            "rule" => Some(Part::Rule),
            "hooks" => Some(Part::Hooks),
            "guide" => Some(Part::Guide),
            word => word
                .strip_prefix("server ")
                .map(|name| Part::Server(name.to_owned())),
        }
    }

    /// The key path.
    pub fn path(&self) -> KeyPath {
        KeyPath(self.key.clone())
    }

    /// What the step put there.
    pub fn value(&self) -> Option<Value> {
        self.value.as_deref().and_then(read_value)
    }

    /// What was there before.
    pub fn old(&self) -> Option<Value> {
        self.old.as_deref().and_then(read_value)
    }
}

fn part_word(part: &Part) -> String {
    match part {
        Part::Server(name) => format!("server {name}"),
        part => part.name(),
    }
}

/// A value as one line of TOML.
fn print(value: &Value) -> String {
    let plain = Document::parse("").map(|document| Style::of(&document, None));
    plain.map(|style| style.value(value)).unwrap_or_default()
}

fn read_value(text: &str) -> Option<Value> {
    let document = Document::parse(format!("value = {text}")).ok()?;
    document
        .get(&KeyPath::dotted("value"))
        .map(crate::document::Node::value)
}

/// SHA-256 in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes)
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            // Writing into a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// The folder of the records.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The records in `state`, which the caller has found safe.
    pub fn new(state: &Path) -> Self {
        Self {
            folder: state.join("installs"),
        }
    }

    /// The file of the record for `path`.
    pub fn file_of(&self, path: &Path) -> PathBuf {
        use std::os::unix::ffi::OsStrExt as _;
        self.folder
            .join(format!("{}.json", digest(path.as_os_str().as_bytes())))
    }

    /// A file other than `own` of which a record says that `part` is in it. Records that cannot be
    /// read count as none: it only decides whether a shared file stays.
    pub fn other_with(&self, part: &Part, own: &Path) -> Option<PathBuf> {
        let entries = std::fs::read_dir(&self.folder).ok()?;
        entries.flatten().take(RECORDS_LIMIT).find_map(|entry| {
            let found = files::read(&entry.path(), files::CONFIG_LIMIT).ok()?;
            let record: Record = serde_json::from_slice(found.bytes()?).ok()?;
            let has = record
                .steps
                .iter()
                .any(|step| step.part().as_ref() == Some(part));
            (has && record.path != own && record.path.exists()).then_some(record.path)
        })
    }

    /// The record for `path`, and the file as it was read.
    ///
    /// # Errors
    /// A record that cannot be read, or is not one.
    pub fn load(&self, path: &Path) -> Result<(Option<Record>, Found), Error> {
        let file = self.file_of(path);
        let found = files::read(&file, files::CONFIG_LIMIT)?;
        let Found::File(snapshot) = &found else {
            return Ok((None, found));
        };
        let broken = |why: String| Error::Record {
            path: file.clone(),
            why,
        };
        let record: Record = serde_json::from_slice(&snapshot.bytes)
            .map_err(|error| broken(format!("does not parse: {error}")))?;
        if record.version != VERSION {
            return Err(broken(format!(
                "has version {}, and this codexgate reads version {VERSION}",
                record.version
            )));
        }
        if record.path != path {
            return Err(broken("is of another file".to_owned()));
        }
        Ok((Some(record), found))
    }
}

impl Record {
    /// An empty record for `path`.
    pub fn new(path: &Path, created: bool, folders: Vec<PathBuf>) -> Self {
        Self {
            version: VERSION,
            path: path.to_path_buf(),
            created,
            folders,
            steps: Vec::new(),
        }
    }

    /// The bytes to write.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::place;

    #[test]
    fn an_entry_knows_where_its_bytes_are_afterwards() {
        let before = Document::parse("a = {\n  b = 1 # x\n}\n").expect("TOML");
        let path = KeyPath::dotted("a.c");
        let change = place::insert(&before, &path, &Value::from("v")).expect("a place");
        let entry = Entry::of(&Step {
            part: Part::Pin,
            path,
            action: Action::Added {
                value: Value::from("v"),
            },
            edits: change.edits,
            before: before.text().to_owned(),
            after: change.document.text().to_owned(),
        });
        assert_eq!(entry.edits.len(), 2);
        for edit in &entry.edits {
            assert_eq!(
                &change.document.text()[edit.at..edit.at + edit.new.len()],
                edit.new
            );
        }
        assert_eq!(entry.value(), Some(Value::from("v")));
        assert_eq!(entry.part(), Some(Part::Pin));
    }
}
