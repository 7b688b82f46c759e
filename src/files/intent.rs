//! What a commit is about to do, written down before it does anything.
//!
//! While the file `.codexgate-commit.json` is there, a commit is under way or was killed, and all
//! of it can be undone. Its renaming to `.codexgate-done.json` is the moment at which the commit
//! counts; what is left then is to clear away.
//!
//! Read back, it is input like any other: bounded, of this user or root, with names that this
//! program gives, for paths that the caller allows.

use super::disk::Disk;
use super::error::Error;
use super::lock::Folder;
use super::replace::is_own_name;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

const COMMIT: &str = ".codexgate-commit.json";
const DONE: &str = ".codexgate-done.json";
/// The intent itself, before it has its name. Only the holder of the folder's lock makes it.
const WAITING: &str = ".codexgate-commit.new";

/// The most files of one commit. An install writes about ten.
pub(super) const FILES_LIMIT: usize = 64;
/// The most bytes of an intent: that many files, each with a path as long as systems allow (4096),
/// twice over for folders and for escapes in JSON.
const INTENT_LIMIT: u64 = 1024 * 1024;
const VERSION: u32 = 1;

/// What one commit is about to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Intent {
    version: u32,
    pub(super) files: Vec<Planned>,
    /// Outermost first.
    pub(super) created_folders: Vec<PathBuf>,
    /// Innermost first.
    pub(super) removed_folders: Vec<PathBuf>,
}

/// One file of it. The digests tell its states apart: `None` is "not there".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Planned {
    /// The file, without links.
    pub(super) path: PathBuf,
    /// The new file's name until it gets its own.
    pub(super) new: Option<String>,
    /// The name under which the old file is kept.
    pub(super) old: Option<String>,
    /// SHA-256 of the old bytes, in hex.
    pub(super) before: Option<String>,
    /// SHA-256 of the new bytes, in hex.
    pub(super) after: Option<String>,
}

impl Planned {
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    pub(super) fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }
}

/// How far a commit came that left an intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// It may have changed any of its files.
    UnderWay,
    /// It counts.
    Done,
}

impl Stage {
    pub(super) fn file(self) -> &'static OsStr {
        OsStr::new(match self {
            Self::UnderWay => COMMIT,
            Self::Done => DONE,
        })
    }
}

impl Intent {
    pub(super) fn new(
        files: Vec<Planned>,
        created_folders: Vec<PathBuf>,
        removed_folders: Vec<PathBuf>,
    ) -> Self {
        Self {
            version: VERSION,
            files,
            created_folders,
            removed_folders,
        }
    }

    /// Writes it down in `folder`, all or nothing.
    pub(super) fn write(&self, folder: &Folder, disk: &mut dyn Disk) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| Error::Intent {
            path: folder.path().join(COMMIT),
            why: error.to_string(),
        })?;
        let waiting = OsStr::new(WAITING);
        let written = (|| {
            let mut file = disk.create(folder, waiting)?;
            disk.write(&mut file, waiting, &text)?;
            disk.sync(&file, waiting)?;
            disk.rename_new(folder, waiting, Stage::UnderWay.file())?;
            disk.sync_folder(folder)
        })();
        written.map_err(|error| {
            // Nothing has changed yet, so neither name is needed; one of them is not there.
            let _ = disk.unlink(folder, waiting);
            let _ = disk.unlink(folder, Stage::UnderWay.file());
            Error::io(folder.path(), "write in", error)
        })
    }

    /// Makes the commit count.
    pub(super) fn done(folder: &Folder, disk: &mut dyn Disk) -> Result<(), Error> {
        disk.rename_new(folder, Stage::UnderWay.file(), Stage::Done.file())
            .map_err(|error| Error::io(folder.path(), "write in", error))
    }

    /// Forgets it.
    pub(super) fn remove(stage: Stage, folder: &Folder, disk: &mut dyn Disk) -> Result<(), Error> {
        disk.unlink(folder, stage.file())
            .and_then(|()| disk.sync_folder(folder))
            .map_err(|error| Error::io(&folder.path().join(stage.file()), "remove", error))
    }

    /// Whether anything of a commit is in `folder`, from a look without a lock.
    pub(super) fn is_in(folder: &Path) -> bool {
        [COMMIT, DONE, WAITING]
            .iter()
            .any(|name| folder.join(name).symlink_metadata().is_ok())
    }

    /// Removes what a run left that was killed while it wrote its intent.
    pub(super) fn sweep(folder: &Folder, disk: &mut dyn Disk) -> Result<(), Error> {
        let waiting = OsStr::new(WAITING);
        if folder.stat(waiting)?.is_none() {
            return Ok(());
        }
        disk.unlink(folder, waiting)
            .map_err(|error| Error::io(&folder.path().join(waiting), "remove", error))
    }

    /// Reads what a run left in `folder`, if anything.
    pub(super) fn read(
        stage: Stage,
        folder: &Folder,
        allowed: &dyn Fn(&Path) -> bool,
    ) -> Result<Option<Self>, Error> {
        let Some((bytes, meta, _)) = folder.read(stage.file(), INTENT_LIMIT)? else {
            return Ok(None);
        };
        let bad = |why: String| Error::Intent {
            path: folder.path().join(stage.file()),
            why,
        };
        // stops: an intent planted by another user in a folder that several can write
        if meta.uid != 0 && meta.uid != rustix::process::geteuid().as_raw() {
            return Err(bad("it belongs to another user".to_owned()));
        }
        let intent: Self =
            serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
        intent.judge(allowed).map_err(bad)?;
        Ok(Some(intent))
    }

    fn judge(&self, allowed: &dyn Fn(&Path) -> bool) -> Result<(), String> {
        if self.version != VERSION {
            return Err(format!("its version is {}, not {VERSION}", self.version));
        }
        if self.files.len() > FILES_LIMIT {
            return Err(format!("it names more than {FILES_LIMIT} files"));
        }
        for file in &self.files {
            if !is_clean(&file.path) || file.path.file_name().is_none() || !allowed(&file.path) {
                return Err(format!("`{}` is not for this run", file.path.display()));
            }
            let names = [&file.new, &file.old].into_iter().flatten();
            let digests = [&file.before, &file.after].into_iter().flatten();
            if names.into_iter().any(|name| !is_own_name(name))
                || digests.into_iter().any(|digest| !is_digest(digest))
                || file.before == file.after
                || file.before.is_some() != file.old.is_some()
                || file.after.is_some() != file.new.is_some()
            {
                return Err(format!(
                    "what it says of `{}` makes no sense",
                    file.path.display()
                ));
            }
        }
        for folder in self.created_folders.iter().chain(&self.removed_folders) {
            let above = |file: &Planned| file.folder().starts_with(folder);
            if !is_clean(folder) || !self.files.iter().any(above) {
                return Err(format!(
                    "the folder `{}` is not for this run",
                    folder.display()
                ));
            }
        }
        Ok(())
    }
}

/// SHA-256 in hex.
pub(super) fn digest(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether a path is absolute and spelled in the one way without `.` and `..`.
fn is_clean(path: &Path) -> bool {
    let plain = |part: &Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    path.is_absolute()
        && path.components().all(|part| plain(&part))
        && path.components().collect::<PathBuf>().as_os_str() == path.as_os_str()
}
