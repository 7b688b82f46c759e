//! Which program runs, with which variables.
//!
//! A bare name is looked up in those absolute folders of `PATH` that an agent cannot write, and
//! that filtered `PATH` is the run's. A program that an agent can write is run from a copy that is
//! made and hashed where it cannot.

use super::digest::{self, Budget};
use super::error::Error;
use super::surroundings::{Surroundings, is_protected};
use crate::files;
use rustix::fs::Access;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// The variables that every run has, where they are set. `PATH` comes from the filter.
const BASE: [&str; 7] = [
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "TZ", "USER",
];

/// A program as it was proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Absolute, before links: it becomes `argv[0]`.
    pub named: String,
    /// After links.
    pub path: String,
    /// SHA-256 of its content.
    pub sha256: String,
    /// Whether an agent can write it, so that a copy runs.
    pub copied: bool,
}

/// A variable of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether `--env` asked for it.
    pub asked: bool,
}

/// A text that can be shown and stored.
pub(super) fn text(what: &str, value: &OsStr) -> Result<String, Error> {
    let text = value.to_str().map(str::to_owned);
    text.ok_or_else(|| Error::NotUtf8 {
        what: what.to_owned(),
    })
}

/// The variables: the base, and those in `asked`.
pub(super) fn variables(
    asked: &[String],
    path: String,
    get: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Vec<Variable>, Error> {
    let mut found: Vec<Variable> = Vec::new();
    for name in BASE {
        if let Some(value) = get(name) {
            found.push(Variable {
                value: text(name, &value)?,
                name: name.to_owned(),
                asked: false,
            });
        }
    }
    found.push(Variable {
        name: "PATH".to_owned(),
        value: path,
        asked: false,
    });
    for name in asked {
        let well_formed = !name.is_empty() && !name.contains(['=', '\0']);
        // The base may be asked for: it is there already. XDG folders are data, not code.
        if !well_formed || is_protected(name) && name != "HOME" && !name.starts_with("XDG_") {
            return Err(Error::Variable { name: name.clone() });
        }
        if found.iter().any(|variable| variable.name == *name) {
            continue;
        }
        let value = get(name).ok_or_else(|| Error::Unset { name: name.clone() })?;
        found.push(Variable {
            value: text(name, &value)?,
            name: name.clone(),
            asked: true,
        });
    }
    Ok(found)
}

/// The entries of `path` that are absolute, there, and closed to agents and other users.
pub(super) fn safe_path(path: Option<OsString>, around: &Surroundings) -> String {
    let path = path.unwrap_or_default();
    let safe = std::env::split_paths(&path).filter(|entry| {
        entry.is_absolute()
            && entry.to_str().is_some_and(|text| !text.contains(':'))
            && files::own_safety(entry, &around.writable).is_ok()
    });
    let texts: Vec<String> = safe.filter_map(|p| p.to_str().map(str::to_owned)).collect();
    texts.join(":")
}

/// Finds and hashes the program that `name` stands for.
pub(super) fn find(
    name: &str,
    path: &str,
    around: &Surroundings,
    budget: &mut Budget,
) -> Result<Program, Error> {
    let missing = || Error::NoProgram {
        name: name.to_owned(),
    };
    let named = if name.contains('/') {
        around.cwd.join(name)
    } else {
        let entries = path.split(':').filter(|entry| !entry.is_empty());
        let mut found = entries.map(|entry| Path::new(entry).join(name));
        found.find(|path| is_program(path)).ok_or_else(missing)?
    };
    let real = named.canonicalize().map_err(|_| missing())?;
    if !is_program(&real) {
        return Err(missing());
    }
    let (sha256, len) = digest::file(&real, budget)?;
    let own = || Some(digest::file(&around.executable, &mut Budget::new()).ok()?.0);
    let size = fs::metadata(&around.executable).map(|meta| meta.len()).ok();
    let same = size == Some(len) && own().is_none_or(|own| own == sha256);
    if same || is_own_name(name) || is_own_name(&real.to_string_lossy()) {
        return Err(Error::Itself);
    }
    Ok(Program {
        named: text("the program's path", lexical(&named).as_os_str())?,
        path: text("the program's path", real.as_os_str())?,
        sha256,
        copied: around.is_writable(&real),
    })
}

/// Whether a word names codexgate.
pub(super) fn is_own_name(word: &str) -> bool {
    Path::new(word).file_name() == Some(OsStr::new("codexgate"))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

/// The path without `.` in it; `..` stays, since links may stand before it.
fn lexical(path: &Path) -> PathBuf {
    path.components().collect()
}
