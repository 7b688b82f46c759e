//! Handles on folders, and the lock that keeps two runs apart.
//!
//! A folder is opened once, step by step without following a link, and everything in it is then
//! done through that handle: who swaps a folder for a link afterwards changes nothing. The lock is
//! an advisory `flock` on the folder itself, so no lock file is left behind, and it ends with the
//! process. It binds only programs that ask for it, which is this one.

use super::error::Error;
use super::read::{self, Identity};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

/// An opened folder, in a commit a locked one.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    fd: OwnedFd,
}

impl Folder {
    /// Its path, without links when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the folder at `path`, without a lock. No part of the path may be a link.
    ///
    /// # Errors
    /// [`Error::Denied`], [`Error::Io`].
    pub fn unlocked(path: &Path) -> Result<Self, Error> {
        let fd = Self::open(path).map_err(|error| Error::io(path, "open", error))?;
        let path = path.to_path_buf();
        Ok(Self { path, fd })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(super) fn read(
        &self,
        name: &OsStr,
        limit: u64,
    ) -> Result<Option<(Vec<u8>, Identity, File)>, Error> {
        read::read_opened(self.fd(), name, &self.path.join(name), limit)
    }

    pub(super) fn stat(&self, name: &OsStr) -> Result<Option<Identity>, Error> {
        read::stat_opened(self.fd(), name, &self.path.join(name))
    }

    fn open(path: &Path) -> Result<OwnedFd, Errno> {
        // A handle that only passes through needs no right to list the folder, where there is one.
        #[cfg(target_os = "linux")]
        const PASS: OFlags = OFlags::PATH;
        #[cfg(not(target_os = "linux"))]
        const PASS: OFlags = OFlags::RDONLY;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut at = rustix::fs::open("/", PASS | flags, Mode::empty())?;
        for part in path.components() {
            match part {
                Component::RootDir => {}
                Component::Normal(name) => {
                    at = rustix::fs::openat(&at, name, PASS | flags, Mode::empty())?;
                }
                _ => return Err(Errno::INVAL),
            }
        }
        rustix::fs::openat(&at, ".", OFlags::RDONLY | flags, Mode::empty())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A child that was forked meanwhile has the same open handle until it starts its program;
        // unlocking ends the lock for it, too. Closing alone would not.
        let _ = rustix::fs::flock(&self.fd, FlockOperation::Unlock);
    }
}

/// The folders of one commit.
#[derive(Debug, Default)]
pub(super) struct Folders(Vec<Folder>);

impl Folders {
    /// Opens and locks the folder at `path`, which has no links, unless it is here already.
    /// Whether it was there to be opened.
    pub(super) fn lock(&mut self, path: &Path) -> Result<bool, Error> {
        if self.find(path).is_some() {
            return Ok(true);
        }
        let fd = match Folder::open(path) {
            Ok(fd) => fd,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(false),
            Err(error) => return Err(Error::io(path, "open", error)),
        };
        match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                return Err(Error::Busy {
                    folder: path.to_path_buf(),
                });
            }
            Err(error) => return Err(Error::io(path, "lock", error)),
        }
        self.0.push(Folder {
            path: path.to_path_buf(),
            fd,
        });
        Ok(true)
    }

    /// The folder at `path`, if it was locked.
    pub(super) fn find(&self, path: &Path) -> Option<&Folder> {
        self.0.iter().find(|folder| folder.path == path)
    }

    /// The folder at `path`, which was locked.
    pub(super) fn at(&self, path: &Path) -> Result<&Folder, Error> {
        self.find(path).ok_or_else(|| Error::Changed {
            path: path.to_path_buf(),
        })
    }

    /// Forgets a folder that was removed.
    pub(super) fn forget(&mut self, path: &Path) {
        self.0.retain(|folder| folder.path != path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_folder_is_never_reached_through_a_link() {
        let keep = tempfile::tempdir().expect("a folder");
        let dir = keep.path().canonicalize().expect("it is there");
        fs::create_dir_all(dir.join("a/b")).expect("folders");
        std::os::unix::fs::symlink("a", dir.join("link")).expect("link");
        let mut folders = Folders::default();
        assert!(folders.lock(&dir.join("a/b")).expect("free"));
        for path in ["link", "link/b", "a/none", "a/../a"] {
            let got = folders.lock(&dir.join(path));
            assert!(!matches!(got, Ok(true)), "{path}");
        }
    }

    #[test]
    fn a_lock_ends_with_its_folder() {
        let keep = tempfile::tempdir().expect("a folder");
        let dir = keep.path().canonicalize().expect("it is there");
        let mut one = Folders::default();
        assert!(one.lock(&dir).expect("free"));
        assert!(one.lock(&dir).expect("mine already"));
        let mut other = Folders::default();
        assert!(matches!(other.lock(&dir), Err(Error::Busy { .. })));
        drop(one);
        assert!(other.lock(&dir).expect("free again"));
    }
}
