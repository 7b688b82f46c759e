//! Which folder a project begins in, and whether the user trusts it.
//!
//! Codex looks at three folders: each folder that has a `.codex`, the project root (the nearest
//! folder above with a root marker) and the git root. An entry `[projects."PATH"]` counts when PATH
//! is, as text, one of them. A project's own file is never asked.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use super::layer::{Place, Sources};
use super::site::DOT_CODEX;
use super::version::{Change, Version};

/// What was said about a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// `trust_level = "trusted"`.
    Trusted,
    /// `trust_level = "untrusted"`.
    Untrusted,
    /// Nothing.
    Unknown,
}

impl Level {
    /// The level in a word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Untrusted => "untrusted",
            Self::Unknown => "unknown",
        }
    }
}

/// The trust of the working folder.
#[derive(Debug, Clone)]
pub struct Trust {
    /// What decides the default sandbox and approvals.
    pub level: Level,
    /// Where it is said.
    pub place: Option<Place>,
    /// The folder to write trust for.
    pub key: PathBuf,
    /// The outermost folder whose `.codex` counts.
    pub root: PathBuf,
    /// Whether the folder lies in a git repository.
    pub is_repository: bool,
    /// Whether an app-server thread writes trust by itself, which [`super::effective`] has then
    /// taken into account.
    pub automatic: bool,
}

/// The folders that trust is looked up for.
#[derive(Debug, Clone)]
pub struct Folders {
    /// The working folder, as the client writes it.
    pub cwd: PathBuf,
    /// The nearest folder above with a root marker, else the working folder.
    pub root: PathBuf,
    /// The main work tree of the git repository around the working folder.
    pub repository: Option<PathBuf>,
    /// The top of the linked work tree around the working folder, where it lies in one.
    pub linked: Option<PathBuf>,
}

impl Folders {
    /// Finds them. With no marker the working folder is its own root.
    pub fn find(sources: &Sources, cwd: &Path, markers: &[String], version: Version) -> Self {
        let root = cwd
            .ancestors()
            .find(|folder| {
                markers
                    .iter()
                    .any(|marker| is_marked(sources, folder, marker, version))
            })
            .unwrap_or(cwd);
        let found = repository(sources, cwd, version);
        Self {
            cwd: cwd.to_path_buf(),
            root: root.to_path_buf(),
            linked: found
                .as_ref()
                .and_then(|(folder, main)| (folder != main).then(|| folder.clone())),
            repository: found.map(|(_, main)| main),
        }
    }

    /// The folder of the main work tree that stands for `folder` of a linked one: Codex takes hooks
    /// from there (scenarios `hooks-linked-work-tree`, `hooks-linked-sub-folder`).
    pub fn main_folder(&self, folder: &Path) -> Option<PathBuf> {
        let below = folder.strip_prefix(self.linked.as_ref()?).ok()?;
        Some(self.repository.as_ref()?.join(below))
    }

    /// The folders between the root and the working folder that have a `.codex`, outer to inner.
    pub fn projects(&self, sources: &Sources) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        for folder in self.cwd.ancestors() {
            if sources.is_folder(&folder.join(DOT_CODEX)) {
                found.push(folder.to_path_buf());
            }
            if folder == self.root {
                break;
            }
        }
        found.reverse();
        found
    }

    /// The entry that speaks for `folder`: its own, the root's or the repository's.
    pub fn entry<'e>(&self, entries: &'e Entries, folder: &Path) -> Option<&'e str> {
        keys(folder)
            .into_iter()
            .chain(keys(&self.root))
            .chain(self.repository.iter().flat_map(|path| keys(path)))
            .find_map(|key| entries.0.get_key_value(&key))
            .map(|(key, _)| key.as_str())
    }

    /// The entry that speaks for the working folder when defaults are chosen: a root marker of
    /// one's own does not count here (scenario `project-root-markers`).
    pub fn active<'e>(&self, entries: &'e Entries) -> Option<&'e str> {
        keys(&self.cwd)
            .into_iter()
            .chain(self.repository.iter().flat_map(|path| keys(path)))
            .find_map(|key| entries.0.get_key_value(&key))
            .map(|(key, _)| key.as_str())
    }

    /// The folder that Codex's warning names: the repository, else the root.
    pub fn named(&self) -> String {
        let folder = self.repository.as_ref().unwrap_or(&self.root);
        keys(folder).into_iter().next().unwrap_or_default()
    }

    /// The folder that Codex would write trust for.
    pub fn target(&self) -> PathBuf {
        let folder = self.repository.as_ref().unwrap_or(&self.cwd);
        folder.canonicalize().unwrap_or_else(|_| folder.clone())
    }
}

/// The entries of `[projects]`, by their path as text.
#[derive(Debug, Clone, Default)]
pub struct Entries(pub IndexMap<String, Level>);

impl Entries {
    /// What the entry `key` says; nothing is unknown.
    pub fn level(&self, key: Option<&str>) -> Level {
        key.and_then(|key| self.0.get(key))
            .copied()
            .unwrap_or(Level::Unknown)
    }
}

/// A folder's names for the look-up: canonical, then as it was written.
fn keys(folder: &Path) -> Vec<String> {
    let written = folder.to_string_lossy().into_owned();
    match folder.canonicalize() {
        Ok(found) if found != folder => vec![found.to_string_lossy().into_owned(), written],
        _ => vec![written],
    }
}

fn is_marked(sources: &Sources, folder: &Path, marker: &str, version: Version) -> bool {
    if marker == ".git" {
        is_repository(sources, folder, version)
    } else {
        sources.exists(&folder.join(marker))
    }
}

/// Scenario `trust-git-not-a-repository`.
fn is_repository(sources: &Sources, folder: &Path, version: Version) -> bool {
    let dot_git = folder.join(".git");
    if sources.is_folder(&dot_git) {
        !version.has(Change::GitNeedsHead) || sources.exists(&dot_git.join("HEAD"))
    } else {
        sources.exists(&dot_git)
    }
}

/// The top of the work tree around `cwd`, and the main work tree: for a linked one (`.git` is a
/// file) the one that it belongs to. Both must name each other (scenarios
/// `trust-linked-work-tree`, `trust-linked-no-way-back`).
fn repository(sources: &Sources, cwd: &Path, version: Version) -> Option<(PathBuf, PathBuf)> {
    let folder = cwd
        .ancestors()
        .find(|folder| is_repository(sources, folder, version))?;
    let dot_git = folder.join(".git");
    if dot_git.is_dir() {
        return Some((folder.to_path_buf(), folder.to_path_buf()));
    }
    let line = |path: &Path| match sources.text(path) {
        super::layer::Text::Text(text) => Some(text.trim().to_owned()),
        _ => None,
    };
    let target = folder.join(line(&dot_git)?.strip_prefix("gitdir:")?.trim());
    if target.parent()?.file_name()? != "worktrees" {
        return None;
    }
    let common = target
        .join(line(&target.join("commondir"))?)
        .canonicalize()
        .ok()?;
    let back = target.join(line(&target.join("gitdir"))?);
    let names_back = back.canonicalize().ok()? == dot_git.canonicalize().ok()?;
    let main = common.parent().filter(|_| names_back)?;
    (common.file_name()? == ".git").then(|| (folder.to_path_buf(), main.to_path_buf()))
}
