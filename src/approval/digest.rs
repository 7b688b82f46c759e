//! SHA-256 of texts, files and folders, with limits.
//!
//! A file is opened without waiting and read once; a folder's digest covers the names, kinds,
//! execute bits and contents of everything in it, links by their text. An agent chooses what is
//! hashed, so the bytes of one proposal are counted down from one budget.

use super::error::Error;
use rustix::fs::{Mode, OFlags};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::hash::{BuildHasher as _, RandomState};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The most bytes that one proposal makes us hash: 1 GiB, a few seconds.
const BYTES_LIMIT: u64 = 1 << 30;
/// The most entries of one proposal's folders: a large source tree, not a home.
const ENTRIES_LIMIT: u32 = 20_000;

/// What may still be read for one proposal.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: u64,
    entries: u32,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self {
            bytes: BYTES_LIMIT,
            entries: ENTRIES_LIMIT,
        }
    }

    fn take(&mut self, path: &Path, bytes: u64, entries: u32) -> Result<(), Error> {
        let left = self.bytes.checked_sub(bytes);
        let entries = self.entries.checked_sub(entries);
        let (Some(left), Some(entries)) = (left, entries) else {
            return Err(Error::TooMuch {
                path: path.to_path_buf(),
            });
        };
        (self.bytes, self.entries) = (left, entries);
        Ok(())
    }
}

/// SHA-256 in hex.
pub(super) fn of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(out, "{byte:02x}").expect("writing to a string cannot fail");
    }
    out
}

/// 128 bits that nobody can guess, in hex: the standard library keys each hasher from the system's
/// randomness.
pub(super) fn random() -> String {
    let word = || RandomState::new().hash_one(0_u64);
    format!("{:016x}{:016x}", word(), word())
}

/// Opens a plain file for reading without ever waiting; links are followed.
pub(super) fn open(path: &Path) -> Result<File, Error> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = rustix::fs::open(path, flags, Mode::empty()).map(File::from);
    let file = file.map_err(|error| Error::io(path, "read", error))?;
    let meta = file.metadata().map_err(|e| Error::io(path, "read", e))?;
    if meta.is_file() {
        Ok(file)
    } else {
        Err(Error::NotPlain {
            path: path.to_path_buf(),
        })
    }
}

/// The digest and length of an opened file, from where it stands.
pub(super) fn stream(
    path: &Path,
    file: &mut File,
    budget: &mut Budget,
) -> Result<(String, u64), Error> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0_u8; 64 * 1024];
    let mut len = 0_u64;
    loop {
        let read = file.read(&mut buffer);
        let read = read.map_err(|error| Error::io(path, "read", error))?;
        if read == 0 {
            return Ok((hex(&hasher.finalize()), len));
        }
        budget.take(path, read as u64, 0)?;
        hasher.update(&buffer[..read]);
        len += read as u64;
    }
}

/// The digest and length of the file at `path`.
pub(super) fn file(path: &Path, budget: &mut Budget) -> Result<(String, u64), Error> {
    stream(path, &mut open(path)?, budget)
}

/// The digest of everything below the folder `path`, and the number of its entries.
pub(super) fn tree(path: &Path, budget: &mut Budget) -> Result<(String, u64), Error> {
    let mut hasher = Sha256::new();
    let mut entries = 0;
    folder(path, &mut hasher, &mut entries, budget)?;
    Ok((hex(&hasher.finalize()), entries))
}

fn folder(
    path: &Path,
    hasher: &mut Sha256,
    entries: &mut u64,
    budget: &mut Budget,
) -> Result<(), Error> {
    let fail = |error| Error::io(path, "read", error);
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(fail)? {
        budget.take(path, 0, 1)?;
        names.push(entry.map_err(fail)?.file_name());
    }
    names.sort();
    // Each piece has a fixed length or its length in front, so that no two trees read the same.
    let piece = |hasher: &mut Sha256, bytes: &[u8]| {
        hasher.update((bytes.len() as u64).to_be_bytes());
        hasher.update(bytes);
    };
    hasher.update((names.len() as u64).to_be_bytes());
    for name in names {
        *entries += 1;
        let path = path.join(&name);
        piece(hasher, name.as_encoded_bytes());
        let meta = fs::symlink_metadata(&path).map_err(|e| Error::io(&path, "read", e))?;
        if meta.is_dir() {
            hasher.update(b"d");
            folder(&path, hasher, entries, budget)?;
        } else if meta.is_symlink() {
            let to = fs::read_link(&path).map_err(|e| Error::io(&path, "read", e))?;
            hasher.update(b"l");
            piece(hasher, to.as_os_str().as_encoded_bytes());
        } else if meta.is_file() {
            hasher.update(if meta.mode() & 0o111 == 0 { b"f" } else { b"x" });
            piece(hasher, file(&path, budget)?.0.as_bytes());
        } else {
            return Err(Error::NotPlain { path });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_digest_sees_names_contents_links_and_execute_bits() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let keep = tempfile::tempdir().expect("a folder");
        let dir = keep.path();
        fs::create_dir(dir.join("sub")).expect("folder");
        fs::write(dir.join("sub/a"), "1").expect("file");
        let mut seen = Vec::new();
        let mut look = || {
            let (digest, _) = tree(dir, &mut Budget::new()).expect("reads");
            assert!(!seen.contains(&digest));
            seen.push(digest);
        };
        look();
        fs::write(dir.join("sub/a"), "2").expect("file");
        look();
        fs::rename(dir.join("sub/a"), dir.join("sub/b")).expect("renames");
        look();
        fs::rename(dir.join("sub/b"), dir.join("b")).expect("renames");
        look();
        symlink("b", dir.join("c")).expect("link");
        look();
        fs::set_permissions(dir.join("b"), fs::Permissions::from_mode(0o755)).expect("mode");
        look();
    }

    #[test]
    fn what_is_no_plain_file_and_what_is_too_much_is_refused() {
        let keep = tempfile::tempdir().expect("a folder");
        let mut small = Budget {
            bytes: 3,
            entries: 1,
        };
        fs::write(keep.path().join("a"), "1234").expect("file");
        let too_much = file(&keep.path().join("a"), &mut small);
        assert!(matches!(too_much, Err(Error::TooMuch { .. })));
        fs::write(keep.path().join("b"), "").expect("file");
        assert!(matches!(
            tree(keep.path(), &mut small),
            Err(Error::TooMuch { .. })
        ));
        let device = file(Path::new("/dev/null"), &mut Budget::new());
        assert!(matches!(device, Err(Error::NotPlain { .. })));
    }
}
