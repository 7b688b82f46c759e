//! From a plan to the disk: the writes, their order, and the check of what was written.
//!
//! The records of an install change in the same commit as the files, so that neither is ever
//! without the other. The check reads each file back, parses it, and compares it by value with
//! the file before: exactly the planned key paths changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::document::{Document, KeyPath, Value, compare};
use crate::files::{self, After, Disk, Found, Write};

use super::draft::{Action, FilePlan, Form, Outcome, PRIVATE};
use super::record::{Entry, Record, Store};
use super::uninstall::RecordChange;
use super::{Error, Plan};

/// The records as they are after `plan`, an install, is written.
///
/// # Errors
/// A record that is there and cannot be used.
pub fn records(plan: &Plan, store: &Store) -> Result<Vec<RecordChange>, Error> {
    plan.files
        .iter()
        .map(|file| {
            let (record, found) = store.load(&file.path)?;
            let created = matches!(file.found, Found::Missing);
            let mut record = match record {
                // What an older record says of a file that is no more is over.
                Some(record) if !created => record,
                _ => Record::new(&file.path, created, missing_folders(&file.path)),
            };
            record.steps.extend(file.steps.iter().map(Entry::of));
            Ok(RecordChange {
                file: store.file_of(&file.path),
                found,
                record: Some(record),
            })
        })
        .collect()
}

/// The folders above `file` that are not there, outer ones first.
fn missing_folders(file: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = file
        .ancestors()
        .skip(1)
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .map(Path::to_path_buf)
        .collect();
    folders.reverse();
    folders
}

/// Commits `plan` with its records. `intents` is where the commit is remembered until it is done.
///
/// # Errors
/// As [`files::commit`]; nothing is changed then, unless the error says so.
pub fn commit(
    plan: &Plan,
    records: &[RecordChange],
    intents: &Path,
    disk: &mut dyn Disk,
) -> Result<files::Committed, files::Error> {
    let mut writes: Vec<Write> = plan.files.iter().map(write_of).collect();
    writes.extend(records.iter().map(|change| {
        Write {
            path: change.file.clone(),
            before: change.found.clone(),
            after: change
                .record
                .as_ref()
                .map_or(After::Removed, |record| After::Bytes(record.to_bytes())),
            new_mode: PRIVATE,
            remove_folders: Vec::new(),
        }
    }));
    let planned: HashMap<&Path, &FilePlan> = plan
        .files
        .iter()
        .map(|file| (file.path.as_path(), file))
        .collect();
    let check = |path: &Path, bytes: Option<&[u8]>| match planned.get(path) {
        Some(file) => verify(file, bytes),
        None => Ok(()),
    };
    files::commit(&writes, intents, &check, disk)
}

fn write_of(file: &FilePlan) -> Write {
    Write {
        path: file.path.clone(),
        before: file.found.clone(),
        after: match &file.outcome {
            Outcome::Text(text) => After::Bytes(text.clone().into_bytes()),
            Outcome::Removed => After::Removed,
        },
        new_mode: if file.new_mode == PRIVATE {
            PRIVATE
        } else {
            file.new_mode & !files::umask()
        },
        remove_folders: file.folders.clone(),
    }
}

/// Holds what was read back against the plan: exactly the planned key paths changed, to exactly
/// the planned values.
///
/// # Errors
/// What differs, in words.
pub fn verify(file: &FilePlan, bytes: Option<&[u8]>) -> Result<(), String> {
    let Some(bytes) = bytes else {
        return match file.outcome {
            Outcome::Removed => Ok(()),
            Outcome::Text(_) => Err("it is gone".to_owned()),
        };
    };
    if file.form == Form::Plain {
        return match &file.outcome {
            Outcome::Text(text) if text.as_bytes() == bytes => Ok(()),
            Outcome::Text(_) => Err("its text is not the planned one".to_owned()),
            Outcome::Removed => Err("it is still there".to_owned()),
        };
    }
    let parse = |text: &str| {
        Document::parse(text)
            .map(|document| document.root().value())
            .map_err(|error| error.to_string())
    };
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let (before, now) = (parse(&file.before)?, parse(text)?);
    for difference in compare::differences(&before, &now) {
        let covered = file.steps.iter().any(|step| {
            difference.path.starts_with(&step.path) || step.path.starts_with(&difference.path)
        });
        if !covered {
            return Err(format!(
                "`{}` changed, and was not planned to",
                difference.path
            ));
        }
    }
    let mut last: HashMap<&KeyPath, &Action> = HashMap::new();
    for step in &file.steps {
        last.retain(|path, _| !path.starts_with(&step.path));
        last.insert(&step.path, &step.action);
    }
    for (path, action) in last {
        let there = now.get(path.parts());
        let right = match action {
            Action::Added { value } | Action::Replaced { value, .. } => {
                there.is_some_and(|there| holds(there, value, path, file))
            }
            Action::Removed { .. } => there.is_none() || added_again(path, file),
        };
        if !right {
            return Err(format!("`{path}` is not as it was planned"));
        }
    }
    Ok(())
}

/// Whether `there` is `value`, apart from what later steps did below `path`.
fn holds(there: &Value, value: &Value, path: &KeyPath, file: &FilePlan) -> bool {
    let touched_below = file
        .steps
        .iter()
        .any(|step| step.path != *path && step.path.starts_with(path));
    there == value || touched_below
}

fn added_again(path: &KeyPath, file: &FilePlan) -> bool {
    file.steps
        .iter()
        .any(|step| !matches!(step.action, Action::Removed { .. }) && path.starts_with(&step.path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Part;
    use crate::plan::draft::Draft;

    /// A plan that adds `a.b = 1` and replaces `c`.
    fn plan(folder: &Path) -> FilePlan {
        let path = folder.join("config.toml");
        std::fs::write(&path, "c = 0 # x\n[t]\nkeep = true\n").expect("a file");
        let mut draft = Draft::open(&path, None, PRIVATE).expect("TOML");
        let part = Part::Pin;
        draft
            .add(&part, &KeyPath::dotted("a.b"), &Value::from(1))
            .expect("a place");
        draft
            .replace(&part, &KeyPath::dotted("c"), &Value::from(2))
            .expect("a place");
        draft.finish().expect("it changes")
    }

    #[test]
    fn only_the_planned_values_pass_the_check() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = plan(folder.path());
        let Outcome::Text(text) = &file.outcome else {
            panic!("it stays")
        };
        assert_eq!(verify(&file, Some(text.as_bytes())), Ok(()));
        for (from, to) in [
            ("b = 1", "b = 3"),
            ("c = 2", "c = 0"),
            ("keep = true", "keep = false"),
            ("keep = true", "keep = true\nmore = 1"),
            ("[a]\nb = 1\n", ""),
            ("keep", "kee p"),
        ] {
            let other = text.replace(from, to);
            assert_ne!(other, *text, "`{from}` is there");
            assert!(
                verify(&file, Some(other.as_bytes())).is_err(),
                "{from} -> {to}"
            );
        }
        assert!(verify(&file, Some(b"\xff")).is_err());
        assert!(verify(&file, None).is_err());
    }

    #[test]
    fn a_commit_that_writes_another_text_is_rolled_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut file = plan(folder.path());
        let path = file.path.clone();
        let before = std::fs::read(&path).expect("readable");
        // As if the text to write had been damaged after it was checked.
        file.outcome = Outcome::Text("c = 2\na.b = 1\nt.keep = false\n".to_owned());
        let plan = Plan {
            files: vec![file],
            ..Plan::default()
        };
        let result = commit(&plan, &[], folder.path(), &mut files::RealDisk);
        assert!(
            matches!(result, Err(files::Error::RolledBack { .. })),
            "{result:?}"
        );
        assert_eq!(std::fs::read(&path).expect("readable"), before);
    }
}
