//! Changes the permission bits of one file, and of no other.

use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::error::Error;
use super::read::Identity;

/// Gives the plain file at `path` the mode `to`, if it has the mode `from`. No link is followed,
/// and what was looked at is what is changed.
///
/// # Errors
/// [`Error::Changed`] where its mode is another one; what it is, where it is no plain file; else
/// what the system says, with the path.
pub fn set_mode(path: &Path, from: u32, to: u32) -> Result<(), Error> {
    let io = |errno: rustix::io::Errno| {
        Error::io(path, "change the mode of", std::io::Error::from(errno))
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(io)?;
    let stat = rustix::fs::fstat(&file).map_err(io)?;
    if Identity::of_plain(path, &stat)?.mode != from {
        return Err(Error::Changed {
            path: path.to_path_buf(),
        });
    }
    rustix::fs::fchmod(&file, Mode::from_raw_mode(to as rustix::fs::RawMode)).map_err(io)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    #[test]
    fn a_plain_file_of_the_expected_mode_is_changed_and_nothing_else() {
        let top = tempfile::tempdir().expect("a folder");
        let file = top.path().join("a");
        std::fs::write(&file, "x").expect("a file");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("ours");
        let link = top.path().join("link");
        symlink(&file, &link).expect("a link");
        assert!(set_mode(&link, 0o644, 0o600).is_err());
        assert!(set_mode(top.path(), 0o700, 0o700).is_err());
        assert!(matches!(
            set_mode(&file, 0o640, 0o600),
            Err(Error::Changed { .. })
        ));
        set_mode(&file, 0o644, 0o600).expect("its owner may");
        let mode = std::fs::metadata(&file).expect("there").mode();
        assert_eq!(mode & 0o7777, 0o600);
    }
}
