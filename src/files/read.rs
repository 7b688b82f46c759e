//! Reads one file: bounded, without ever waiting, and with what it was at that moment.
//!
//! "Cannot be read" is never "absent". Only a file whose name, or a folder above it, is not there
//! counts as missing; a link that leads to nothing, a folder, a pipe or a file without permission
//! is an error of its own. The file is looked at before and after reading, so that bytes of two
//! versions are never taken for one.

use super::error::{Error, Kind};
use super::lock::Folder;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::path::{Component, Path, PathBuf};

/// The most bytes of a configuration file that are read, and that are written: 16 MiB.
///
/// The largest real files of Codex have some 100 kB. A parsed tree takes about ten times the text,
/// so this keeps a run below 200 MB, and a file that somebody fills on purpose is refused before it
/// costs more than a moment.
pub const CONFIG_LIMIT: u64 = 16 * 1024 * 1024;

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Nothing: the name, or a folder above it, is not there.
    Missing,
    /// A plain file.
    File(Snapshot),
}

impl Found {
    /// The bytes, where there is a file.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Missing => None,
            Self::File(snapshot) => Some(&snapshot.bytes),
        }
    }
}

/// A file as it was at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The path as named.
    pub path: PathBuf,
    /// The file itself, after all links: absolute.
    pub target: PathBuf,
    /// Its content.
    pub bytes: Vec<u8>,
    /// What else was told about it.
    pub meta: Identity,
}

impl Snapshot {
    /// Whether the path, or a folder above it, is a link to somewhere else.
    pub fn is_linked(&self) -> bool {
        std::path::absolute(&self.path).map_or(true, |path| path != self.target)
    }
}

/// What tells one file, and one state of it, from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The device.
    pub dev: u64,
    /// The inode.
    pub ino: u64,
    /// The size in bytes.
    pub len: u64,
    /// The time of the last change, in nanoseconds since 1970.
    pub mtime: i128,
    /// The permission bits, with set-id and sticky bits, without the type.
    pub mode: u32,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// How many names it has.
    pub nlink: u64,
}

impl Identity {
    // The fields of `stat` have other widths on other systems; on each all of their values fit.
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_lossless,
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation
    )]
    fn of(stat: &Stat) -> Self {
        Self {
            dev: stat.st_dev as u64,
            ino: stat.st_ino as u64,
            len: stat.st_size as u64,
            mtime: stat.st_mtime as i128 * 1_000_000_000 + stat.st_mtime_nsec as i128,
            mode: stat.st_mode as u32 & 0o7777,
            uid: stat.st_uid as u32,
            gid: stat.st_gid as u32,
            nlink: stat.st_nlink as u64,
        }
    }

    /// Takes over what the system says of a plain file; anything else is an error.
    pub(super) fn of_plain(path: &Path, stat: &Stat) -> Result<Self, Error> {
        let path = path.to_path_buf();
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => return Ok(Self::of(stat)),
            FileType::Directory => return Err(Error::Folder { path }),
            FileType::Fifo => Kind::Fifo,
            FileType::Socket => Kind::Socket,
            FileType::CharacterDevice | FileType::BlockDevice => Kind::Device,
            FileType::Symlink => Kind::Link,
            FileType::Unknown => Kind::Unknown,
        };
        Err(Error::NotPlain { path, kind })
    }

    /// Whether both are one file in one state. The number of names does not count: it changes when
    /// a killed commit is cleaned up, and a commit judges it by itself.
    pub fn is_same(&self, other: &Self) -> bool {
        let nlink = other.nlink;
        Self { nlink, ..*self } == *other
    }
}

/// Reads the file at `path`, at most `limit` bytes of it.
///
/// # Errors
/// [`Error::Folder`], [`Error::NotPlain`], [`Error::TooLarge`], [`Error::Denied`],
/// [`Error::Dangling`], [`Error::Loop`], [`Error::NoFolder`], [`Error::Changed`] when somebody
/// writes to it meanwhile, else [`Error::Io`].
pub fn read(path: &Path, limit: u64) -> Result<Found, Error> {
    let target = match place(path)? {
        Place::There(target) => target,
        Place::Missing { .. } => return Ok(Found::Missing),
    };
    let read = read_opened(rustix::fs::CWD, target.as_os_str(), path, limit)?;
    Ok(read.map_or(Found::Missing, |(bytes, meta, _)| {
        Found::File(Snapshot {
            path: path.to_path_buf(),
            target,
            bytes,
            meta,
        })
    }))
}

/// The bytes of the file at `path`, at most `limit` of them; `None` where nothing is there. It is
/// [`read`] for who writes nothing: where folders lead is asked only when the way is not plain.
///
/// # Errors
/// As [`read`].
pub fn content(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Error> {
    if let Ok(Some((bytes, ..))) = read_opened(rustix::fs::CWD, path.as_os_str(), path, limit) {
        return Ok(Some(bytes));
    }
    // Missing, a link, or an error that is to be told apart.
    Ok(match read(path, limit)? {
        Found::Missing => None,
        Found::File(snapshot) => Some(snapshot.bytes),
    })
}

/// Reads the plain file at `path`, which must lie below `root` (canonical) after all links. It is
/// opened through folders that are no links, so nobody who swaps one for a link meanwhile can make
/// this read a file elsewhere. `None`: it lies outside.
///
/// # Errors
/// As [`read`].
pub fn read_below(root: &Path, path: &Path, limit: u64) -> Result<Option<Found>, Error> {
    let (target, there) = match place(path)? {
        Place::There(target) => (target, true),
        Place::Missing { target, .. } => (target, false),
    };
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else {
        return Ok(None);
    };
    if !target.starts_with(root) {
        return Ok(None);
    }
    if !there {
        return Ok(Some(Found::Missing));
    }
    let read = Folder::unlocked(folder)?.read(name, limit)?;
    Ok(Some(read.map_or(Found::Missing, |(bytes, meta, _)| {
        Found::File(Snapshot {
            path: path.to_path_buf(),
            target: target.clone(),
            bytes,
            meta,
        })
    })))
}

/// Where `path` leads after all links: for a file that is missing, where it would be created.
///
/// # Errors
/// As [`read`], as far as the path alone tells.
pub fn target_of(path: &Path) -> Result<PathBuf, Error> {
    Ok(match place(path)? {
        Place::There(target) | Place::Missing { target, .. } => target,
    })
}

/// The nearest folder above `path` that is there, after all links.
///
/// # Errors
/// As [`target_of`].
pub fn nearest_folder(path: &Path) -> Result<PathBuf, Error> {
    Ok(match place(path)? {
        Place::There(target) => match target.parent() {
            Some(parent) => parent.to_path_buf(),
            None => target,
        },
        Place::Missing { base, .. } => base,
    })
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Something is there: its path without links.
    There(PathBuf),
    /// Nothing is there.
    Missing {
        /// The path without links at which it would be created.
        target: PathBuf,
        /// The nearest folder above it that is there.
        base: PathBuf,
    },
}

pub(super) fn place(path: &Path) -> Result<Place, Error> {
    let absolute = std::path::absolute(path).map_err(|error| Error::io(path, "find", error))?;
    match fs::canonicalize(&absolute) {
        Ok(target) => Ok(Place::There(target)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => missing(path, &absolute),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            // The lowest ancestor that can be looked at is the one that is no folder.
            let above = absolute.ancestors().skip(1).find(|above| above.exists());
            Err(Error::NoFolder {
                path: path.to_path_buf(),
                above: above.unwrap_or(&absolute).to_path_buf(),
            })
        }
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            Err(Error::Loop {
                path: path.to_path_buf(),
            })
        }
        Err(error) => Err(Error::io(path, "read", error)),
    }
}

/// The system says that `absolute` is not there: tells a missing file from a link to nothing.
fn missing(path: &Path, absolute: &Path) -> Result<Place, Error> {
    for base in absolute.ancestors() {
        let meta = match fs::symlink_metadata(base) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::io(path, "read", error)),
            Ok(meta) => meta,
        };
        let real = match fs::canonicalize(base) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && meta.is_symlink() => {
                return Err(Error::Dangling {
                    path: path.to_path_buf(),
                    link: base.to_path_buf(),
                });
            }
            Err(error) => return Err(Error::io(path, "read", error)),
            Ok(real) => real,
        };
        let rest = absolute.strip_prefix(base).unwrap_or(Path::new(""));
        if rest.as_os_str().is_empty() {
            return Ok(Place::There(real)); // it came this moment
        }
        // `missing/..` has no meaning that survives the creation of `missing`.
        if rest.components().any(|part| part == Component::ParentDir) {
            return Err(Error::io(
                path,
                "find",
                io::Error::from(io::ErrorKind::NotFound),
            ));
        }
        return Ok(Place::Missing {
            target: real.join(rest),
            base: real,
        });
    }
    Err(Error::io(
        path,
        "find",
        io::Error::from(io::ErrorKind::NotFound),
    ))
}

/// Reads `name` below the opened `folder` without following a link at the end. `path` is for
/// errors. Nothing there: `None`.
pub(super) fn read_opened(
    folder: BorrowedFd<'_>,
    name: &OsStr,
    path: &Path,
    limit: u64,
) -> Result<Option<(Vec<u8>, Identity, File)>, Error> {
    // Looking first keeps a device from being opened at all; opening may still meet something
    // else, so the opened file is looked at again, and NONBLOCK keeps a pipe from waiting.
    if stat_opened(folder, name, path)?.is_none() {
        return Ok(None);
    }
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let mut file = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Ok(fd) => File::from(fd),
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(Error::io(path, "read", error)),
    };
    let look = |file: &File| {
        let stat = rustix::fs::fstat(file).map_err(|error| Error::io(path, "read", error))?;
        Identity::of_plain(path, &stat)
    };
    let before = look(&file)?;
    let too_large = |len| Error::TooLarge {
        path: path.to_path_buf(),
        len,
        limit,
    };
    if before.len > limit {
        return Err(too_large(before.len));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.len).unwrap_or(0));
    Read::by_ref(&mut file)
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::io(path, "read", error))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(bytes.len() as u64));
    }
    let after = look(&file)?;
    if !before.is_same(&after) {
        return Err(Error::Changed {
            path: path.to_path_buf(),
        });
    }
    Ok(Some((bytes, after, file)))
}

/// What is at `name` below `folder`, without opening or following it. Nothing there: `None`.
pub(super) fn stat_opened(
    folder: BorrowedFd<'_>,
    name: &OsStr,
    path: &Path,
) -> Result<Option<Identity>, Error> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(Error::io(path, "read", error)),
        Ok(stat) => Identity::of_plain(path, &stat).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().canonicalize().expect("it is there");
        (folder, path)
    }

    fn error(path: &Path) -> Error {
        read(path, CONFIG_LIMIT).expect_err("no plain file")
    }

    #[test]
    fn a_file_is_read_whole_with_its_identity() {
        let (_keep, dir) = folder();
        let path = dir.join("a");
        fs::write(&path, "text").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("mode");
        let Found::File(file) = read(&path, 4).expect("readable") else {
            panic!("it is there")
        };
        assert_eq!(file.bytes, b"text");
        assert_eq!(
            (file.meta.mode, file.meta.len, file.meta.nlink),
            (0o640, 4, 1)
        );
        assert_eq!(file.target, path);
        assert!(!file.is_linked());
    }

    #[test]
    fn content_is_what_read_reads() {
        let (_keep, dir) = folder();
        fs::write(dir.join("a"), "text").expect("written");
        symlink("a", dir.join("link")).expect("link");
        symlink("nowhere", dir.join("dangling")).expect("link");
        for name in ["a", "link", "dangling", "missing", "a/b", "."] {
            let path = dir.join(name);
            let read = read(&path, 4).map(|found| found.bytes().map(<[u8]>::to_vec));
            let content = content(&path, 4);
            assert_eq!(format!("{content:?}"), format!("{read:?}"), "{name}");
        }
        assert!(matches!(
            content(&dir.join("a"), 3),
            Err(Error::TooLarge { .. })
        ));
    }

    #[test]
    fn only_what_is_not_there_is_missing() {
        let (_keep, dir) = folder();
        assert_eq!(read(&dir.join("a"), 1).expect("no error"), Found::Missing);
        let deep = dir.join("x/y/z");
        assert_eq!(read(&deep, 1).expect("no error"), Found::Missing);
        assert_eq!(target_of(&deep).expect("a place"), deep);
        assert_eq!(nearest_folder(&deep).expect("a place"), dir);
        assert!(matches!(error(&dir.join("x/../y")), Error::Io { .. }));
    }

    #[test]
    fn a_link_is_followed_and_both_ends_are_told() {
        let (_keep, dir) = folder();
        fs::create_dir(dir.join("real")).expect("folder");
        fs::write(dir.join("real/a"), "x").expect("written");
        symlink("real", dir.join("way")).expect("link");
        symlink("way/a", dir.join("b")).expect("link");
        let Found::File(file) = read(&dir.join("b"), 1).expect("readable") else {
            panic!("it is there")
        };
        assert_eq!(file.path, dir.join("b"));
        assert_eq!(file.target, dir.join("real/a"));
        assert!(file.is_linked());
        let new = target_of(&dir.join("way/new")).expect("a place");
        assert_eq!(new, dir.join("real/new"));
    }

    #[test]
    fn links_to_nothing_and_in_circles_are_errors() {
        let (_keep, dir) = folder();
        symlink("nowhere", dir.join("a")).expect("link");
        assert!(
            matches!(error(&dir.join("a")), Error::Dangling { link, .. } if link == dir.join("a"))
        );
        assert!(
            matches!(error(&dir.join("a/b")), Error::Dangling { link, .. } if link == dir.join("a"))
        );
        symlink("two", dir.join("one")).expect("link");
        symlink("one", dir.join("two")).expect("link");
        assert!(matches!(error(&dir.join("one")), Error::Loop { .. }));
        assert!(matches!(error(&dir.join("one/x")), Error::Loop { .. }));
    }

    #[test]
    fn what_is_no_plain_file_is_named_and_never_waited_for() {
        let (_keep, dir) = folder();
        assert!(matches!(error(&dir), Error::Folder { .. }));
        assert!(matches!(error(Path::new("/")), Error::Folder { .. }));
        let kind = |path: &Path| match error(path) {
            Error::NotPlain { kind, .. } => kind,
            other => panic!("{other}"),
        };
        assert_eq!(kind(Path::new("/dev/null")), Kind::Device);
        #[cfg(not(target_vendor = "apple"))]
        {
            let pipe = dir.join("pipe");
            let mode = Mode::from_raw_mode(0o600);
            let result = rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, mode, 0);
            result.expect("a pipe");
            assert_eq!(kind(&pipe), Kind::Fifo);
        }
        let socket = dir.join("socket");
        let _open = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        assert_eq!(kind(&socket), Kind::Socket);
        fs::write(dir.join("a"), "").expect("written");
        assert!(
            matches!(error(&dir.join("a/b")), Error::NoFolder { above, .. } if above == dir.join("a"))
        );
    }

    #[test]
    fn more_than_the_limit_is_refused() {
        let (_keep, dir) = folder();
        fs::write(dir.join("a"), "12345").expect("written");
        let result = read(&dir.join("a"), 4);
        assert!(matches!(
            result,
            Err(Error::TooLarge {
                len: 5,
                limit: 4,
                ..
            })
        ));
        // A file whose size is not told: it has bytes all the same.
        if Path::new("/proc/self/status").exists() {
            let result = read(Path::new("/proc/self/status"), 10);
            assert!(matches!(result, Err(Error::TooLarge { .. })));
        }
    }

    #[test]
    fn no_permission_is_not_absence() {
        if rustix::process::geteuid().is_root() {
            println!("skipped: root may read everything");
            return;
        }
        let (_keep, dir) = folder();
        let path = dir.join("a");
        fs::write(&path, "x").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("mode");
        assert!(matches!(error(&path), Error::Denied { .. }));
    }
}
