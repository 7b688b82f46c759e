//! Which files are judged, and what each of them is.
//!
//! A file is typed by its place (Codex's home, a project's `.codex`, the system's folder), else by
//! its name. Without paths it is every `.codex` in and below the folder that an install would
//! change, since Codex loads the one of the folder in which a thread starts, and those of the
//! folders above it. The walk enters no links to folders and none of [`NOT_ENTERED`], and it is
//! bounded: what lies beyond a bound, and what cannot be looked into, becomes a subject that fails,
//! never a pass. A `.codex` that is a link is followed, because Codex follows it (scenario
//! project-symlinked-codex).

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use ignore::WalkState;

use super::disk::{self, Disk};
use super::file::{Home, Kind, Subject};
use super::{Scope, script};
use crate::codex::Site;
use crate::codex::site::DOT_CODEX;
use crate::files;

/// Folders that hold what others made: Codex would load a `.codex` in them, but only for a thread
/// that starts there.
pub const NOT_ENTERED: &[&str] = &[".git", "target", "node_modules"];
/// Folders below one another: more than real trees have, less than a path may be long.
const MAX_DEPTH: usize = 64;
/// Folders in one walk. A monorepo has some 100,000; beyond that somebody fills the disk.
const MAX_FOLDERS: usize = 500_000;
/// Folders below `rules` that are looked into for rules that are not read.
const RULES_DEPTH: usize = 3;
/// Threads of a walk: more only wait for the same disk.
const MAX_THREADS: usize = 8;

/// Why there is nothing to judge.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A path was given that is not there.
    #[error("`{}` is not there", path.display())]
    Missing {
        /// The path as it was given.
        path: PathBuf,
    },
    /// A file was given that is none of Codex's.
    #[error("`{}` is none of Codex's files, by its place or its name", path.display())]
    UnknownFile {
        /// The path as it was given.
        path: PathBuf,
    },
}

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Whose files.
    pub scope: Scope,
    /// Scripts that may start a Codex, too.
    pub scripts: bool,
}

impl From<Scope> for Wanted {
    fn from(scope: Scope) -> Self {
        Self {
            scope,
            scripts: false,
        }
    }
}

/// A subject, or a place that cannot be looked into and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A file to read.
    File(Subject),
    /// A place that fails as it is.
    Closed(Subject, String),
    /// A place that is looked at and not read, and what the disk says of it.
    Place(Subject, Disk),
}

/// The files below `paths`, or of the project where there are none: every `.codex` at and below its
/// folder, and those of the folders above it up to the git root. With [`Scope::All`] those of the
/// user and the system, too. Sorted, each once.
///
/// # Errors
/// A path that is not there, or a file that is none of Codex's.
pub fn discover(site: &Site, paths: &[PathBuf], wanted: Wanted) -> Result<Vec<Found>, Error> {
    let mut walk = Walk::new(site);
    walk.scripts = wanted.scripts;
    if paths.is_empty() {
        walk.tree(&site.project);
        for folder in above(site) {
            let dot_codex = folder.join(DOT_CODEX);
            if exists(&dot_codex) {
                walk.dot_codex(&dot_codex);
            }
        }
    }
    if wanted.scope == Scope::All {
        for folder in site.codex_home.iter().chain([&site.system]) {
            walk.codex_folder(folder);
        }
    }
    for given in paths {
        let path = normal(&site.cwd.join(given));
        match fs::symlink_metadata(&path) {
            Err(error) if is_absent(&error) => {
                return Err(Error::Missing {
                    path: given.clone(),
                });
            }
            _ if path.is_dir() => walk.folder(&path),
            _ => {
                let script = wanted.scripts.then_some(Kind::Script);
                let Some(kind) = kind_of(&path).or(script) else {
                    return Err(Error::UnknownFile {
                        path: given.clone(),
                    });
                };
                walk.add(path, kind);
            }
        }
    }
    Ok(walk.finish())
}

/// The folders above the project up to the git root: their layers lie under the project's.
fn above(site: &Site) -> impl Iterator<Item = &Path> {
    let root = site.git_root.as_deref().unwrap_or(&site.project);
    site.project
        .ancestors()
        .skip(1)
        .take_while(move |folder| folder.starts_with(root))
}

/// The file that `name` would be, whether or not it is there.
///
/// # Errors
/// A name that is none of Codex's.
pub fn named(site: &Site, name: &Path) -> Result<Subject, Error> {
    let path = normal(&site.cwd.join(name));
    match kind_of(&path) {
        Some(kind) => Ok(Walk::new(site).subject(path, kind)),
        None => Err(Error::UnknownFile {
            path: name.to_path_buf(),
        }),
    }
}

/// Which of Codex's files a name is.
fn kind_of(path: &Path) -> Option<Kind> {
    let name = path.file_name()?.to_str()?;
    Some(match name {
        "config.toml" => Kind::Config,
        "managed_config.toml" => Kind::Managed,
        "requirements.toml" => Kind::Requirements,
        "hooks.json" => Kind::Hooks,
        _ if name.ends_with(".config.toml") => Kind::Profile,
        _ if path.extension() == Some(OsStr::new("rules")) => Kind::Rules,
        _ => return None,
    })
}

/// Whether a file is a script, by its name or its first bytes.
fn starts_programs(path: &Path) -> bool {
    use std::io::Read as _;
    if script::is_script(path) {
        return true;
    }
    let mut first = [0; script::SHEBANG.len()];
    script::may_be_script(path)
        && fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut first).is_ok())
        && first == *script::SHEBANG
}

/// The place of an error of the walk, and why; no reason where the place is gone.
fn closed(error: ignore::Error, top: &Path) -> (PathBuf, Option<String>) {
    match error {
        ignore::Error::WithPath { path, err } => (path, closed(*err, top).1),
        ignore::Error::WithDepth { err, .. } => closed(*err, top),
        ignore::Error::Io(error) if is_absent(&error) => (top.to_path_buf(), None),
        ignore::Error::Io(error) => (top.to_path_buf(), Some(error.to_string())),
        other => (top.to_path_buf(), Some(other.to_string())),
    }
}

struct Walk<'a> {
    site: &'a Site,
    homes: Vec<Place>,
    scripts: bool,
    // Threads of a walk add to it.
    found: Mutex<Vec<Found>>,
}

/// A folder of Codex's.
struct Place {
    folder: PathBuf,
    /// What it is on the disk, if it is there.
    id: Option<Id>,
    home: Home,
}

/// Device and inode: the same for each name of a folder.
type Id = (u64, u64);

fn id(folder: &Path) -> Option<Id> {
    let meta = fs::metadata(folder).ok()?;
    Some((meta.dev(), meta.ino()))
}

impl<'a> Walk<'a> {
    fn new(site: &'a Site) -> Self {
        let mut homes = vec![(site.system.clone(), Home::System)];
        // Codex's home first: a project's folder that is the same counts as the home.
        homes.extend(site.codex_home.clone().map(|home| (home, Home::User)));
        homes.push((site.dot_codex(), Home::Project));
        let top = site.git_root.as_ref().map(|root| root.join(DOT_CODEX));
        homes.extend(top.map(|top| (top, Home::Project)));
        let place = |(folder, home): (PathBuf, Home)| Place {
            id: id(&folder),
            folder,
            home,
        };
        Self {
            site,
            homes: homes.into_iter().map(place).collect(),
            found: Mutex::new(Vec::new()),
            scripts: false,
        }
    }

    /// A folder that was given: one of Codex's, else a tree to look for them in.
    fn folder(&self, folder: &Path) {
        if self.home_of(folder) == Home::Loose {
            self.tree(folder);
        } else {
            self.codex_folder(folder);
        }
    }

    /// Every `.codex` at and below `top`.
    ///
    /// Nothing that git or anyone else ignores is left out: Codex loads it all the same.
    fn tree(&self, top: &Path) {
        let folders = AtomicUsize::new(0);
        let walk = ignore::WalkBuilder::new(top)
            .standard_filters(false)
            .max_depth(Some(MAX_DEPTH + 1))
            .threads(std::thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS)))
            .build_parallel();
        walk.run(|| {
            Box::new(|entry| match entry {
                Ok(entry) => self.visit(&entry, top, &folders),
                Err(error) => {
                    let (path, why) = closed(error, top);
                    // What went away meanwhile is nothing to judge.
                    if let Some(why) = why {
                        self.close(path, why);
                    }
                    WalkState::Continue
                }
            })
        });
    }

    /// Looks at one entry of a tree: takes a `.codex`, enters other folders, passes over the rest.
    fn visit(&self, entry: &ignore::DirEntry, top: &Path, folders: &AtomicUsize) -> WalkState {
        const TOO_MUCH: &str = "what lies below is too much to look into";
        let name = entry.file_name();
        if entry.depth() > 0 && name == DOT_CODEX {
            self.dot_codex(entry.path());
            if !self.scripts {
                return WalkState::Skip;
            }
        }
        if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
            let is_file = || entry.file_type().is_some_and(|kind| kind.is_file());
            if self.scripts && is_file() && starts_programs(entry.path()) {
                self.add(entry.path().to_path_buf(), Kind::Script);
            }
            return WalkState::Continue;
        }
        if entry.depth() > 0 && NOT_ENTERED.iter().any(|skipped| name == *skipped) {
            return WalkState::Skip;
        }
        match folders.fetch_add(1, Ordering::Relaxed) {
            // Once, and as the top: which of the folders comes first differs from run to run.
            MAX_FOLDERS => {
                self.close(top.to_path_buf(), TOO_MUCH);
                WalkState::Quit
            }
            count if count > MAX_FOLDERS => WalkState::Quit,
            _ if entry.depth() > MAX_DEPTH => {
                self.close(entry.path().to_path_buf(), TOO_MUCH);
                WalkState::Skip
            }
            _ => WalkState::Continue,
        }
    }

    fn dot_codex(&self, path: &Path) {
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => {
                self.folder_that_leads_out(path);
                self.codex_folder(path);
            }
            // A plain file of that name is nothing to Codex.
            Ok(_) => {}
            Err(error) => self.close(path.to_path_buf(), error.to_string()),
        }
    }

    /// A `.codex` that is a link to a folder outside of the project.
    fn folder_that_leads_out(&self, path: &Path) {
        if !path.is_symlink() {
            return;
        }
        let subject = self.subject(path.to_path_buf(), Kind::Folder);
        let leads_out = disk::leads_out(&subject);
        if leads_out.is_some() {
            let disk = Disk {
                leads_out,
                ..Disk::default()
            };
            self.push(Found::Place(subject, disk));
        }
    }

    /// The files of one of Codex's folders, by name.
    fn codex_folder(&self, folder: &Path) {
        let home = self.home_of(folder);
        for name in [
            "config.toml",
            "managed_config.toml",
            "requirements.toml",
            "hooks.json",
        ] {
            let path = folder.join(name);
            let kind = kind_of(&path).expect("each of these names is one of Codex's");
            if kind == Kind::Managed && home != Home::System {
                // Codex reads it from the system's folder alone (scenario req-managed-home-file).
                continue;
            }
            if exists(&path) {
                self.add_of(path, kind, home);
            }
        }
        if home == Home::User {
            self.named(folder, Kind::Profile);
        }
        let rules = folder.join("rules");
        if exists(&rules) {
            self.named(&rules, Kind::Rules);
            self.not_read(&rules, RULES_DEPTH);
        }
    }

    /// Files with rules in and below `folder` that Codex does not read.
    fn not_read(&self, folder: &Path, depth: usize) {
        let Ok(entries) = fs::read_dir(folder) else {
            // What cannot be looked into was told of the folder above.
            return;
        };
        for entry in entries.flatten() {
            let (path, kind) = (entry.path(), entry.file_type());
            if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
                if depth > 0 {
                    self.not_read(&path, depth - 1);
                }
            } else if disk::is_rules(&path) {
                if depth < RULES_DEPTH {
                    self.add(path, Kind::Rules);
                }
            } else if kind.is_ok_and(|kind| kind.is_file()) && holds_rules(&path) {
                self.place_of_rules(path, false);
            }
        }
    }

    fn place_of_rules(&self, path: PathBuf, is_link: bool) {
        let disk = Disk {
            not_read: disk::not_read(&path, is_link),
            ..Disk::default()
        };
        let subject = self.subject(path, Kind::Folder);
        self.push(Found::Place(subject, disk));
    }

    /// The files in `folder` whose names are of `kind`.
    fn named(&self, folder: &Path, kind: Kind) {
        match fs::read_dir(folder) {
            Ok(entries) => {
                for entry in entries {
                    match entry.map(|entry| entry.path()) {
                        Ok(path) if kind_of(&path) == Some(kind) => self.add(path, kind),
                        Ok(_) => {}
                        Err(error) => self.close(folder.to_path_buf(), error.to_string()),
                    }
                }
            }
            Err(error) if is_absent(&error) => {}
            Err(error) => self.close(folder.to_path_buf(), error.to_string()),
        }
    }

    fn add(&self, path: PathBuf, kind: Kind) {
        let home = self.home_of(&path);
        self.add_of(path, kind, home);
    }

    fn add_of(&self, path: PathBuf, kind: Kind, home: Home) {
        if kind == Kind::Rules && home != Home::Loose {
            let is_link = path.is_symlink();
            if disk::not_read(&path, is_link).is_some() {
                return self.place_of_rules(path, is_link);
            }
        }
        self.push(Found::File(Subject {
            shown: shown(&path, &self.site.cwd),
            home,
            kind,
            path,
        }));
    }

    fn push(&self, found: Found) {
        // A thread that panicked left the list whole.
        let mut list = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(found);
    }

    fn close(&self, path: PathBuf, why: impl Into<String>) {
        let subject = self.subject(path, Kind::Folder);
        self.push(Found::Closed(subject, why.into()));
    }

    fn subject(&self, path: PathBuf, kind: Kind) -> Subject {
        Subject {
            shown: shown(&path, &self.site.cwd),
            home: self.home_of(&path),
            kind,
            path,
        }
    }

    /// Whose `folder` is, if it is one of Codex's, by name or on the disk.
    fn known(&self, folder: &Path) -> Option<Home> {
        let mut here = None;
        let mut is_same = |place: &&Place| {
            place.folder == folder
                || (place.id.is_some()
                    && place.folder.file_name() == folder.file_name()
                    && place.id == *here.get_or_insert_with(|| id(folder)))
        };
        let place = self.homes.iter().find(&mut is_same)?;
        Some(place.home)
    }

    /// Whose `path` is, by the nearest folder of Codex's above it.
    fn home_of(&self, path: &Path) -> Home {
        for folder in path.ancestors() {
            if let Some(home) = self.known(folder) {
                return home;
            }
            if folder.file_name() == Some(OsStr::new(DOT_CODEX)) {
                let inside =
                    folder.starts_with(self.site.git_root.as_ref().unwrap_or(&self.site.project));
                return if inside { Home::Nested } else { Home::Project };
            }
        }
        Home::Loose
    }

    fn finish(self) -> Vec<Found> {
        let mut found = self
            .found
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        found.sort_by(|a, b| a.subject().cmp_key(b.subject()));
        found.dedup_by(|a, b| a.subject().path == b.subject().path);
        found
    }
}

impl Found {
    /// The file or place.
    pub const fn subject(&self) -> &Subject {
        match self {
            Self::File(subject) | Self::Closed(subject, _) | Self::Place(subject, _) => subject,
        }
    }
}

impl Subject {
    fn cmp_key(&self, other: &Self) -> std::cmp::Ordering {
        (&self.shown, &self.path).cmp(&(&other.shown, &other.path))
    }
}

/// The path as people see it: relative to `cwd` where it lies below, with `/`.
fn shown(path: &Path, cwd: &Path) -> String {
    let path = path.strip_prefix(cwd).unwrap_or(path);
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' {
        text.into_owned()
    } else {
        text.replace(std::path::MAIN_SEPARATOR, "/")
    }
}

/// Without `.` and, where no link can lie, `..`.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if !out.is_symlink() && out.pop() => {}
            other => out.push(other),
        }
    }
    out
}

/// Suffixes of files that somebody keeps, and does not mean to be read.
const KEPT: &[&str] = &[
    "md", "txt", "rst", "bak", "old", "orig", "off", "disabled", "example", "sample", "swp", "lock",
];

/// Whether a file that does not end in `.rules` holds rules all the same.
fn holds_rules(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let suffix = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    if KEPT.contains(&suffix) || name.ends_with('~') {
        return false;
    }
    let bytes = files::content(path, files::CONFIG_LIMIT).ok().flatten();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.is_some_and(|text| text.lines().any(|line| line.starts_with("prefix_rule(")))
}

/// Whether there is anything, a link that leads to nothing and what may not be looked at included.
fn exists(path: &Path) -> bool {
    !fs::symlink_metadata(path).is_err_and(|error| is_absent(&error))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
