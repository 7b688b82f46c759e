//! One file of a commit: what is wanted, and the new file that is made beside the old one.
//!
//! The new file has its owner and mode before its first byte, so a private text is never readable
//! meanwhile, and it is on the disk before its name counts. A file whose owner, mode or extended
//! attributes (access lists among them) cannot be kept is refused. Extended attributes are kept on
//! Linux alone.

use super::disk::Disk;
use super::error::Error;
use super::lock::Folder;
use super::read::{Found, Identity};
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

/// One file that a plan changes.
#[derive(Debug, Clone)]
pub struct Write {
    /// The path as named. Where it is a link, the file that it leads to is changed.
    pub path: PathBuf,
    /// What the plan was made from.
    pub before: Found,
    /// What the file shall be.
    pub after: After,
    /// The permission bits of a file that is created, whatever the umask. Folders that are created
    /// for it get the same with the right to enter for whoever may read, less the umask.
    pub new_mode: u32,
    /// Folders to remove with the file, if they are then empty; the innermost first. Each must
    /// stand above a file of the plan.
    pub remove_folders: Vec<PathBuf>,
}

/// What a file shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// A file with these bytes.
    Bytes(Vec<u8>),
    /// No file.
    Removed,
}

impl After {
    /// The bytes, where there shall be a file.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Removed => None,
        }
    }
}

/// A new file that waits for its name.
const NEW: &str = ".codexgate-new-";
/// The old file, until the commit is done.
const OLD: &str = ".codexgate-old-";

/// A name for a waiting file that nobody can guess; that it is new is made sure on creation.
pub(super) fn new_name() -> String {
    format!("{NEW}{:016x}", random())
}

/// A name under which an old file is kept.
pub(super) fn old_name() -> String {
    format!("{OLD}{:016x}", random())
}

/// Whether `name` is one that this module gives.
pub(super) fn is_own_name(name: &str) -> bool {
    let number = name.strip_prefix(NEW).or_else(|| name.strip_prefix(OLD));
    number.is_some_and(|n| n.len() == 16 && n.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn random() -> u64 {
    // The standard library keys each hasher from the system's randomness.
    RandomState::new().hash_one(0)
}

/// What a new file looks like beside its bytes.
#[derive(Debug)]
pub(super) struct Look {
    mode: u32,
    kept: Option<(u32, u32, Attributes)>,
}

type Attributes = BTreeMap<CString, Vec<u8>>;

impl Look {
    pub(super) fn of_new(mode: u32) -> Self {
        Self { mode, kept: None }
    }

    pub(super) fn of_old(path: &Path, file: &File, meta: &Identity) -> Result<Self, Error> {
        Ok(Self {
            mode: meta.mode,
            kept: Some((meta.uid, meta.gid, attributes(path, file)?)),
        })
    }
}

/// Makes the file `name` with `bytes` and brings it to the disk. `path` is the file that it will
/// replace, for errors.
pub(super) fn stage(
    folder: &Folder,
    name: &OsStr,
    path: &Path,
    bytes: &[u8],
    look: &Look,
    disk: &mut dyn Disk,
) -> Result<(), Error> {
    let lost = |what: &str, source| Error::CannotKeep {
        path: path.to_path_buf(),
        what: what.to_owned(),
        source,
    };
    let mut file = disk
        .create(folder, name)
        .map_err(|error| Error::io(folder.path(), "create a file in", error))?;
    if let Some((uid, gid, wanted)) = &look.kept {
        let meta = file_stat(path, &file)?;
        if (meta.uid, meta.gid) != (*uid, *gid) {
            disk.set_owner(&file, name, *uid, *gid)
                .map_err(|error| lost("owner and group", Some(error)))?;
        }
        let has = attributes(path, &file)?;
        // A folder's default access list may have given the new file what the old one had not.
        for key in has.keys().filter(|key| !wanted.contains_key(*key)) {
            disk.set_attribute(&file, name, key, None)
                .map_err(|error| lost(&attribute(key), Some(error)))?;
        }
        for (key, value) in wanted
            .iter()
            .filter(|(key, value)| has.get(*key) != Some(*value))
        {
            disk.set_attribute(&file, name, key, Some(value))
                .map_err(|error| lost(&attribute(key), Some(error)))?;
        }
    }
    disk.set_mode(&file, name, look.mode)
        .map_err(|error| lost("mode", Some(error)))?;
    disk.write(&mut file, name, bytes)
        .map_err(|error| Error::io(path, "write", error))?;
    let meta = file_stat(path, &file)?;
    if meta.mode != look.mode {
        return Err(lost("mode", None));
    }
    if look
        .kept
        .as_ref()
        .is_some_and(|kept| (kept.0, kept.1) != (meta.uid, meta.gid))
    {
        return Err(lost("owner and group", None));
    }
    disk.sync(&file, name)
        .map_err(|error| Error::io(path, "write", error))
}

fn attribute(key: &CString) -> String {
    format!("extended attribute `{}`", key.to_string_lossy())
}

fn file_stat(path: &Path, file: &File) -> Result<Identity, Error> {
    let stat = rustix::fs::fstat(file).map_err(|error| Error::io(path, "write", error))?;
    Identity::of_plain(path, &stat)
}

/// The extended attributes that belong to the file and not to its bytes.
#[cfg(target_os = "linux")]
fn attributes(path: &Path, file: &File) -> Result<Attributes, Error> {
    use rustix::io::Errno;
    /// Linux allows no longer list and no longer value (`XATTR_LIST_MAX`, `XATTR_SIZE_MAX`).
    const MOST: usize = 64 * 1024;
    /// Digests of the content, made by the kernel.
    const OF_THE_BYTES: [&[u8]; 2] = [b"security.ima", b"security.evm"];
    let mut found = Attributes::new();
    let fail = |error: Errno| Error::io(path, "read the attributes of", error);
    let mut buffer = vec![0_u8; MOST];
    let len = match rustix::fs::flistxattr(file, &mut buffer[..]) {
        Ok(len) => len,
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(found),
        Err(error) => return Err(fail(error)),
    };
    let names: Vec<CString> = buffer[..len]
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty() && !OF_THE_BYTES.contains(name))
        .filter_map(|name| CString::new(name).ok())
        .collect();
    for name in names {
        match rustix::fs::fgetxattr(file, name.as_c_str(), &mut buffer[..]) {
            Ok(len) => {
                found.insert(name, buffer[..len].to_vec());
            }
            Err(Errno::NODATA) => {}
            Err(error) => return Err(fail(error)),
        }
    }
    Ok(found)
}

#[cfg(not(target_os = "linux"))]
#[allow(clippy::unnecessary_wraps)]
fn attributes(_path: &Path, _file: &File) -> Result<Attributes, Error> {
    Ok(Attributes::new())
}
