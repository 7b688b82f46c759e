//! Findings that were there before and count no more: a list of their fingerprints in a file.
//!
//! The file is JSON, one finding a line in a fixed order, so that a change of it can be reviewed.
//! Beside the fingerprint stand the rule and the file, for the reader alone. It never holds a
//! line, a value or a message.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Report;
use crate::files::{self, Found};

/// The version of the file's shape.
pub const VERSION: u32 = 1;

/// The fingerprints of a baseline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline(BTreeSet<String>);

/// Why a baseline cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read.
    #[error("cannot use the baseline `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<files::Error>,
    },
    /// It was given and is not there.
    #[error("the baseline `{}` is not there", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// It is no baseline.
    #[error("`{}` is no baseline: {why}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    findings: Vec<Entry>,
}

#[derive(Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(deny_unknown_fields)]
struct Entry {
    path: String,
    rule: String,
    fingerprint: String,
}

impl Baseline {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// It is not there, cannot be read, or is no baseline.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let bytes = match files::read(path, files::CONFIG_LIMIT) {
            Ok(Found::File(snapshot)) => snapshot.bytes,
            Ok(Found::Missing) => {
                return Err(Error::Missing {
                    path: path.to_path_buf(),
                });
            }
            Err(source) => {
                return Err(Error::Read {
                    path: path.to_path_buf(),
                    source: Box::new(source),
                });
            }
        };
        let wrong = |why: String| Error::Wrong {
            path: path.to_path_buf(),
            why,
        };
        let file: File =
            serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        if file.version != VERSION {
            return Err(wrong(format!(
                "its version is {}, not {VERSION}",
                file.version
            )));
        }
        let prints = file.findings.into_iter().map(|entry| entry.fingerprint);
        Ok(Self(prints.collect()))
    }

    /// Whether it has `fingerprint`.
    pub fn contains(&self, fingerprint: &str) -> bool {
        self.0.contains(fingerprint)
    }

    /// How many findings it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The file that silences the findings of `report`, and how many they are.
pub fn of(report: &Report) -> (String, usize) {
    let mut entries: Vec<Entry> = Vec::new();
    for file in &report.files {
        for finding in file.findings.iter().filter(|f| f.silenced.is_none()) {
            entries.push(Entry {
                path: file.anchor.clone(),
                rule: finding.rule.id.to_owned(),
                fingerprint: finding.fingerprint.clone(),
            });
        }
    }
    entries.sort();
    let mut out = format!("{{\n  \"version\": {VERSION},\n  \"findings\": [");
    for (index, entry) in entries.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let entry = serde_json::to_string(entry).expect("texts always serialise");
        // Writing to a string cannot fail.
        let _ = write!(out, "{comma}\n    {entry}");
    }
    out.push_str(if entries.is_empty() {
        "]\n}\n"
    } else {
        "\n  ]\n}\n"
    });
    (out, entries.len())
}
