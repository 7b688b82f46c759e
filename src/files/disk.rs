//! The one seam through which a commit changes anything.
//!
//! [`RealDisk`] does what it is told. Tests put themselves in between: to write down the order, to
//! fail at a step, to die at a step. Each method is one step, and at each a kill must be harmless.

use super::lock::Folder;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{self, Write as _};

/// What a commit does to a disk, one method a system call.
///
/// Names are names inside the folder that is passed with them.
pub trait Disk {
    /// Creates a file that must not be there, readable by its owner alone.
    fn create(&mut self, folder: &Folder, name: &OsStr) -> io::Result<File>;
    /// Gives an opened file its owner and group.
    fn set_owner(&mut self, file: &File, name: &OsStr, uid: u32, gid: u32) -> io::Result<()>;
    /// Gives an opened file an extended attribute, or takes it away.
    fn set_attribute(
        &mut self,
        file: &File,
        name: &OsStr,
        key: &CStr,
        value: Option<&[u8]>,
    ) -> io::Result<()>;
    /// Gives an opened file its permission bits, whatever the umask.
    fn set_mode(&mut self, file: &File, name: &OsStr, mode: u32) -> io::Result<()>;
    /// Writes all bytes to an opened file.
    fn write(&mut self, file: &mut File, name: &OsStr, bytes: &[u8]) -> io::Result<()>;
    /// Brings an opened file's content and attributes to the disk.
    fn sync(&mut self, file: &File, name: &OsStr) -> io::Result<()>;
    /// Gives a file a second name, which must not be there.
    fn link(&mut self, folder: &Folder, from: &OsStr, to: &OsStr) -> io::Result<()>;
    /// Renames a file over another.
    fn rename(&mut self, folder: &Folder, from: &OsStr, to: &OsStr) -> io::Result<()>;
    /// Renames a file to a name that must not be there.
    fn rename_new(&mut self, folder: &Folder, from: &OsStr, to: &OsStr) -> io::Result<()>;
    /// Removes a file.
    fn unlink(&mut self, folder: &Folder, name: &OsStr) -> io::Result<()>;
    /// Creates a folder.
    fn make_folder(&mut self, folder: &Folder, name: &OsStr, mode: u32) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_folder(&mut self, folder: &Folder, name: &OsStr) -> io::Result<()>;
    /// Brings a folder's names to the disk.
    fn sync_folder(&mut self, folder: &Folder) -> io::Result<()>;
}

/// The disk itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create(&mut self, folder: &Folder, name: &OsStr) -> io::Result<File> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(folder.fd(), name, flags, Mode::from_raw_mode(0o600))?;
        Ok(File::from(fd))
    }

    fn set_owner(&mut self, file: &File, _name: &OsStr, uid: u32, gid: u32) -> io::Result<()> {
        std::os::unix::fs::fchown(file, Some(uid), Some(gid))
    }

    fn set_attribute(
        &mut self,
        file: &File,
        _name: &OsStr,
        key: &CStr,
        value: Option<&[u8]>,
    ) -> io::Result<()> {
        match value {
            Some(value) => {
                let flags = rustix::fs::XattrFlags::empty();
                Ok(rustix::fs::fsetxattr(file, key, value, flags)?)
            }
            None => Ok(rustix::fs::fremovexattr(file, key)?),
        }
    }

    fn set_mode(&mut self, file: &File, _name: &OsStr, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::fchmod(
            file,
            Mode::from_raw_mode(mode as rustix::fs::RawMode),
        )?)
    }

    fn write(&mut self, file: &mut File, _name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync(&mut self, file: &File, _name: &OsStr) -> io::Result<()> {
        file.sync_all()
    }

    fn link(&mut self, folder: &Folder, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let fd = folder.fd();
        Ok(rustix::fs::linkat(fd, from, fd, to, AtFlags::empty())?)
    }

    fn rename(&mut self, folder: &Folder, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(folder.fd(), from, folder.fd(), to)?)
    }

    fn rename_new(&mut self, folder: &Folder, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let fd = folder.fd();
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        match rustix::fs::renameat_with(fd, from, fd, to, rustix::fs::RenameFlags::NOREPLACE) {
            // Not every file system knows the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            other => return Ok(other?),
        }
        match rustix::fs::statat(fd, to, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => self.rename(folder, from, to),
            Err(error) => Err(error.into()),
            Ok(_) => Err(Errno::EXIST.into()),
        }
    }

    fn unlink(&mut self, folder: &Folder, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(folder.fd(), name, AtFlags::empty())?)
    }

    fn make_folder(&mut self, folder: &Folder, name: &OsStr, mode: u32) -> io::Result<()> {
        let mode = Mode::from_raw_mode(mode as rustix::fs::RawMode);
        Ok(rustix::fs::mkdirat(folder.fd(), name, mode)?)
    }

    fn remove_folder(&mut self, folder: &Folder, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(folder.fd(), name, AtFlags::REMOVEDIR)?)
    }

    fn sync_folder(&mut self, folder: &Folder) -> io::Result<()> {
        match rustix::fs::fsync(folder.fd()) {
            // Some network and user-space file systems have nothing to sync in a folder.
            Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
            other => Ok(other?),
        }
    }
}
