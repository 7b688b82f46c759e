//! Changes of files: what is proposed, whether it still can be done, and doing it.
//!
//! Only files inside the project, reached through no link, never below a `.git` or `.codex`. A
//! proposal holds the old and the new content whole, so the card shows the difference from the
//! proposal alone and the run writes what was shown or nothing.

use super::error::Error;
use super::journal::Written;
use super::program;
use super::proposal::{Content, Proposal, Source, read};
use super::store::Gate;
use super::surroundings::Surroundings;
use super::token::Token;
use crate::files::{self, After, CONFIG_LIMIT, Found, Write};
use diffy::patch_set::{FileOperation, ParseOptions, PatchSet};
use serde::{Deserialize, Serialize};
use std::path::{Component, Path, PathBuf};

/// The most files of one proposal: as many as one commit takes.
const FILES_LIMIT: usize = 64;
/// The permission bits of a new file.
const NEW_MODE: u32 = 0o644;

/// One file that changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Absolute, without links.
    pub path: String,
    /// What it is; `None`: not there.
    pub before: Option<Content>,
    /// What it shall be; `None`: gone.
    pub after: Option<Content>,
    /// Its permission bits, which stay.
    pub mode: Option<u32>,
}

/// File changes that shall be proposed.
#[derive(Debug, Clone)]
pub enum FilesWish {
    /// One file with a content.
    Write {
        /// The file.
        path: PathBuf,
        /// What it shall hold.
        content: Source,
    },
    /// A unified diff.
    Patch(Source),
}

/// Reads the files and works out what they shall be.
pub(super) fn build(around: &Surroundings, wish: FilesWish) -> Result<Vec<Change>, Error> {
    let changes = match wish {
        FilesWish::Write { path, content } => {
            let after = Content::new(read(around, content)?);
            let mut change = change(around, &around.cwd.join(path))?;
            change.after = Some(after);
            vec![change]
        }
        FilesWish::Patch(source) => patch(around, &read(around, source)?)?,
    };
    let changes: Vec<Change> = changes
        .into_iter()
        .filter(|c| c.before != c.after)
        .collect();
    if changes.is_empty() {
        return Err(Error::Nothing {
            why: "no file would change",
        });
    }
    Ok(changes)
}

fn patch(around: &Surroundings, bytes: &[u8]) -> Result<Vec<Change>, Error> {
    let bad = |why: String| Error::Patch { why };
    let text = std::str::from_utf8(bytes).map_err(|_| bad("it is not UTF-8".into()))?;
    let mut changes: Vec<Change> = Vec::new();
    for file in PatchSet::parse(text, ParseOptions::unidiff()) {
        // The parser's own words may quote the file.
        let file = file.map_err(|_| bad("it is no unified diff".into()))?;
        let path = match file.operation() {
            FileOperation::Create(path) | FileOperation::Delete(path) => path.as_ref(),
            FileOperation::Modify { original, modified } => {
                let same = |a: &str, b: &str| a == b || a.get(2..) == b.get(2..);
                if !same(original, modified) {
                    return Err(bad("it renames a file".into()));
                }
                modified.as_ref()
            }
            FileOperation::Rename { .. } | FileOperation::Copy { .. } => {
                return Err(bad("it renames or copies a file".into()));
            }
        };
        // `a/` and `b/` are git's, which counts from the root of the project.
        let path = match path.strip_prefix("a/").or(path.strip_prefix("b/")) {
            Some(path) => around.project.join(path),
            None => around.cwd.join(path),
        };
        let mut change = change(around, &path)?;
        let shown = change.path.clone();
        let room = changes.len() < FILES_LIMIT;
        let Some(hunks) = file.patch().as_text().filter(|_| room) else {
            return Err(bad("it is binary, or of more than 64 files".into()));
        };
        if changes.iter().any(|other| other.path == shown) {
            return Err(bad(format!("it has `{shown}` twice")));
        }
        let base = match (&change.before, file.operation()) {
            (None, FileOperation::Create(_)) => "",
            (
                Some(Content::Text(text)),
                FileOperation::Modify { .. } | FileOperation::Delete(_),
            ) => text.as_str(),
            _ => return Err(bad(format!("`{shown}` is not what it is made for"))),
        };
        let after = diffy::apply(base, hunks);
        let after = after.map_err(|_| bad(format!("it does not fit `{shown}`")))?;
        change.after = match file.operation() {
            FileOperation::Delete(_) if after.is_empty() => None,
            FileOperation::Delete(_) => return Err(bad(format!("it leaves some of `{shown}`"))),
            _ => Some(Content::Text(after)),
        };
        changes.push(change);
    }
    Ok(changes)
}

/// The file as it is, with nothing changed yet.
fn change(around: &Surroundings, path: &Path) -> Result<Change, Error> {
    let path = normal(path);
    let found = current(&around.project, &path)?;
    let mode = match &found {
        Found::File(file) => Some(file.meta.mode),
        Found::Missing => None,
    };
    let before = found.bytes().map(|bytes| Content::new(bytes.to_vec()));
    Ok(Change {
        path: program::text("a file's path", path.as_os_str())?,
        after: before.clone(),
        before,
        mode,
    })
}

/// `path` without `.` and `..`. That is what it means, since no link may be on its way.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

/// Reads a file that may be written: inside the project, no link on the way, not git's or Codex's.
fn current(project: &Path, path: &Path) -> Result<Found, Error> {
    let outside = |why| Error::Outside {
        path: path.to_path_buf(),
        why,
    };
    let Ok(inner) = path.strip_prefix(project) else {
        return Err(outside(
            "lies outside the project: only its files are written",
        ));
    };
    let kept = |part: Component<'_>| {
        let name = part.as_os_str();
        name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case(".codex")
    };
    if inner.components().any(kept) {
        return Err(outside("is git's or Codex's own: write it by hand"));
    }
    if files::target_of(path)? != path {
        return Err(outside("is a link, or lies behind one"));
    }
    let read = files::read_below(project, path, CONFIG_LIMIT)?;
    read.ok_or_else(|| outside("lies outside the project: only its files are written"))
}

/// Reads each file again; refuses where one is not what it was.
pub(super) fn compare(proposal: &Proposal, changes: &[Change]) -> Result<Vec<Found>, Error> {
    let same = |change: &Change| {
        let found = current(&proposal.project, Path::new(&change.path))?;
        let bytes = change.before.as_ref().map(Content::bytes);
        let mode = match &found {
            Found::File(file) => Some(file.meta.mode),
            Found::Missing => None,
        };
        if found.bytes() != bytes.as_deref() || mode != change.mode {
            return Err(Error::Changed {
                what: format!("`{}` has another content or mode", change.path),
            });
        }
        Ok(found)
    };
    changes.iter().map(same).collect()
}

/// Keeps the old contents and writes all files, or none.
pub(super) fn write(
    gate: &mut Gate<'_>,
    token: &Token,
    proposal: &Proposal,
    changes: &[Change],
) -> Result<Vec<Written>, Error> {
    let (mut writes, mut written) = (Vec::new(), Vec::new());
    for (change, before) in changes.iter().zip(compare(proposal, changes)?) {
        let after = change.after.as_ref().map(Content::bytes);
        written.push(Written {
            path: change.path.clone(),
            before: before.bytes().map(|bytes| gate.keep(bytes)).transpose()?,
            after: after.as_deref().map(|bytes| gate.keep(bytes)).transpose()?,
        });
        writes.push(Write {
            path: PathBuf::from(&change.path),
            before,
            after: after.map_or(After::Removed, After::Bytes),
            new_mode: NEW_MODE,
            remove_folders: Vec::new(),
        });
    }
    let intents = gate.run_folder(token);
    files::commit(&writes, &intents, &|_, _| Ok(()), gate.disk())?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::testing::Scene;
    use std::os::unix::fs::symlink;

    fn patched(scene: &Scene, text: &str) -> Result<Vec<Change>, Error> {
        build(&scene.around, FilesWish::Patch(Source::Bytes(text.into())))
    }

    fn write(scene: &Scene, path: &str) -> Result<Vec<Change>, Error> {
        let content = Source::Bytes(b"new\n".to_vec());
        let path = PathBuf::from(path);
        build(&scene.around, FilesWish::Write { path, content })
    }

    #[test]
    fn a_patch_creates_changes_and_removes() {
        let scene = Scene::new();
        scene.write("a", "1\n2\n3\n");
        scene.write("gone", "x\n");
        let text = "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n\
                    --- /dev/null\n+++ b/sub/new\n@@ -0,0 +1 @@\n+hello\n\
                    --- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        let changes = patched(&scene, text).expect("it fits");
        let after: Vec<Option<Vec<u8>>> = changes
            .iter()
            .map(|c| c.after.as_ref().map(Content::bytes))
            .collect();
        let want = [
            Some(b"1\ntwo\n3\n".to_vec()),
            Some(b"hello\n".to_vec()),
            None,
        ];
        assert_eq!(after, want);
    }

    #[test]
    fn a_patch_that_does_not_fit_is_refused_without_quoting() {
        let scene = Scene::new();
        scene.write("a", "hidden words\n");
        for text in [
            "",
            "nothing",
            "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-other\n+new\n",
            "--- a/a\n+++ b/b\n@@ -1 +1 @@\n-hidden words\n+new\n",
            "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+new\n",
            "--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+new\n",
            "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-hidden words\n+b\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-hidden words\n+c\n",
        ] {
            let error = patched(&scene, text).expect_err(text);
            assert!(!error.to_string().contains("hidden"), "{error}");
        }
    }

    #[test]
    fn only_plain_files_of_the_project_are_written() {
        let scene = Scene::new();
        scene.write("a", "1\n");
        scene.write(".codex/x", "1\n");
        symlink("a", scene.project.join("link")).expect("link");
        symlink(&scene.top, scene.project.join("up")).expect("link");
        symlink(".", scene.project.join("here")).expect("link");
        for path in [
            "../x",
            "/etc/x",
            "sub/../../x",
            "link",
            "up/x",
            "here/a",
            "here/new",
            ".git/config",
            ".GIT/config",
            "sub/.git/hooks/x",
            ".codex/config.toml",
            "sub/.Codex/config.toml",
            "sub/../.codex/x",
        ] {
            assert!(write(&scene, path).is_err(), "{path}");
        }
        for path in ["a", "sub/../a", "./new", "sub/.github/x", "AGENTS.md"] {
            assert_eq!(write(&scene, path).expect(path).len(), 1);
        }
    }

    #[test]
    fn what_would_not_change_is_not_proposed() {
        let scene = Scene::new();
        scene.write("a", "new\n");
        assert!(matches!(write(&scene, "a"), Err(Error::Nothing { .. })));
    }
}
