//! Whether a folder is one that only this user and root decide about.
//!
//! What lies in the state directory is believed, so nobody else, and no sandboxed agent, may be
//! able to write it, replace it, or put another in its way. This module knows owners, modes, links
//! and places. Which roots a sandbox may write is told by the caller.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

/// Why a folder is not safe to believe.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // what a field is stands in its variant's message
pub enum Unsafe {
    /// Only an absolute path means the same to everyone.
    #[error("`{}` is relative", path.display())]
    Relative { path: PathBuf },
    /// It, or something above it, is no folder.
    #[error("`{}` is not a folder", path.display())]
    NotAFolder { path: PathBuf },
    /// It, or something on the way to it, belongs to somebody else.
    #[error("`{}` belongs to user {uid}, neither to you nor to root", path.display())]
    Owner { path: PathBuf, uid: u32 },
    /// Others may write in a folder above it.
    #[error("others than you can write in `{}` (mode {mode:04o})", path.display())]
    Writable { path: PathBuf, mode: u32 },
    /// It is not private.
    #[error("`{}` has mode {mode:04o}, not 0700", path.display())]
    Mode { path: PathBuf, mode: u32 },
    /// It lies in a git work tree, which a sandboxed agent may write.
    #[error("`{}` lies in the git work tree `{}`", path.display(), root.display())]
    GitWorkTree { path: PathBuf, root: PathBuf },
    /// It lies in a folder that a sandboxed agent may write.
    #[error("`{}` lies in `{}`, which an agent may write", path.display(), root.display())]
    Within { path: PathBuf, root: PathBuf },
    /// It cannot be told, so it is not believed.
    #[error("cannot look at `{}`", path.display())]
    Unknown { path: PathBuf, source: io::Error },
}

/// Whether the state directory at `path` can be believed: it and every folder and link on the way
/// belong to this user or root, nobody else can write a folder above it (a sticky one aside), it is
/// 0700, and it lies outside every git work tree and outside each of `writable` (`/tmp`,
/// `/dev/shm`, `$TMPDIR`, the sandbox's roots). One that is not there yet is judged by the rest.
///
/// # Errors
/// The first reason against it, from the root downwards.
pub fn state_dir_safety(path: &Path, writable: &[PathBuf]) -> Result<(), Unsafe> {
    let real = walk(path)?;
    outside(path, &real, writable)?;
    match fs::symlink_metadata(&real) {
        Ok(meta) if meta.mode() & 0o7777 != 0o700 => Err(Unsafe::Mode {
            path: real,
            mode: meta.mode() & 0o7777,
        }),
        Ok(_) => Ok(()),
        Err(error) if is_absence(&error) => Ok(()),
        Err(source) => Err(Unsafe::Unknown { path: real, source }),
    }
}

/// Whether only this user and root can change the file or folder at `path`, which is there, and
/// where it leads: each folder and link on the way is judged as for a state directory, the file
/// itself must not be writable by others, and it lies outside every git work tree and `writable`.
///
/// # Errors
/// The first reason against it.
pub fn own_safety(path: &Path, writable: &[PathBuf]) -> Result<PathBuf, Unsafe> {
    let unknown = |source| Unsafe::Unknown {
        path: path.to_path_buf(),
        source,
    };
    let real = fs::canonicalize(path).map_err(unknown)?;
    let above = |path: &Path| path.parent().map_or_else(|| path.into(), Path::to_path_buf);
    // The way by name and the way by content: a link in the first leads to the second.
    for folder in [above(path), above(&real)] {
        walk(&folder)?;
        let meta = fs::metadata(&folder).map_err(unknown)?;
        open_to_others(&folder, &meta)?;
    }
    let meta = fs::metadata(&real).map_err(unknown)?;
    owner(&real, &meta)?;
    open_to_others(&real, &meta)?;
    outside(path, &real, writable)?;
    Ok(real)
}

/// Whether an agent can change what is at `path` (absolute, after its links): it lies in a git work
/// tree or below one of `writable`. What cannot be told counts as writable.
pub fn is_writable_by_agent(path: &Path, writable: &[PathBuf]) -> bool {
    outside(path, path, writable).is_err()
}

/// Refuses what lies below one of `writable` or in a git work tree.
fn outside(path: &Path, real: &Path, writable: &[PathBuf]) -> Result<(), Unsafe> {
    for root in writable {
        // A root that is not there yet counts by its name.
        let resolved = fs::canonicalize(root).unwrap_or_else(|_| root.clone());
        if [&resolved, root]
            .iter()
            .any(|root| real.starts_with(root) || path.starts_with(root))
        {
            return Err(Unsafe::Within {
                path: path.to_path_buf(),
                root: root.clone(),
            });
        }
    }
    for above in real.ancestors() {
        match is_git_root(above) {
            Ok(false) => {}
            Ok(true) => {
                return Err(Unsafe::GitWorkTree {
                    path: path.to_path_buf(),
                    root: above.to_path_buf(),
                });
            }
            Err(source) => {
                return Err(Unsafe::Unknown {
                    path: above.join(".git"),
                    source,
                });
            }
        }
    }
    Ok(())
}

fn open_to_others(path: &Path, meta: &fs::Metadata) -> Result<(), Unsafe> {
    let mode = meta.mode() & 0o7777;
    if mode & 0o022 != 0 && mode & 0o1000 == 0 {
        let path = path.to_path_buf();
        return Err(Unsafe::Writable { path, mode });
    }
    Ok(())
}

/// Whether `folder` holds a git repository or is a linked work tree. A `.git` folder without a
/// `HEAD` is none: Codex's own sandbox leaves empty ones behind.
///
/// # Errors
/// What the system said, where that cannot be told.
pub fn is_git_root(folder: &Path) -> io::Result<bool> {
    let dot_git = folder.join(".git");
    match fs::metadata(&dot_git) {
        Ok(meta) if meta.is_dir() => match fs::symlink_metadata(dot_git.join("HEAD")) {
            Ok(_) => Ok(true),
            Err(error) if is_absence(&error) => Ok(false),
            Err(error) => Err(error),
        },
        Ok(_) => Ok(true),
        Err(error) if is_absence(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The bits that this process takes off the mode of what it creates. Asking means setting it for a
/// moment, so call it from one thread alone.
pub fn umask() -> u32 {
    let old = rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    rustix::process::umask(old);
    old.bits()
}

/// Creates a folder, and those missing above it, for this user alone.
///
/// # Errors
/// What the system says.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Goes down to `path` step by step, judging each folder and link, and tells where it leads.
fn walk(path: &Path) -> Result<PathBuf, Unsafe> {
    if path.is_relative() {
        return Err(Unsafe::Relative {
            path: path.to_path_buf(),
        });
    }
    let mut at = PathBuf::from("/");
    let mut links = 0;
    let mut todo: Vec<std::ffi::OsString> = parts(path);
    judge(&at, false)?;
    while let Some(part) = todo.pop() {
        if part == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&part);
        let meta = match fs::symlink_metadata(&next) {
            Ok(meta) => meta,
            Err(error) if is_absence(&error) => {
                // What is not there will be created by this user, below folders judged already.
                todo.reverse();
                return Ok(todo.iter().fold(next, |path, part| path.join(part)));
            }
            Err(source) => return Err(Unsafe::Unknown { path: next, source }),
        };
        if meta.is_symlink() {
            owner(&next, &meta)?;
            links += 1;
            let to = fs::read_link(&next).map_err(|source| Unsafe::Unknown {
                path: next.clone(),
                source,
            })?;
            if links > LINKS_LIMIT {
                return Err(Unsafe::Unknown {
                    path: next,
                    source: rustix::io::Errno::LOOP.into(),
                });
            }
            if to.is_absolute() {
                at = PathBuf::from("/");
            }
            todo.extend(parts(&to));
            continue;
        }
        judge(&next, todo.is_empty())?;
        at = next;
    }
    Ok(at)
}

/// As many links as Linux follows in one path.
const LINKS_LIMIT: usize = 40;

/// The parts of a path, last first.
fn parts(path: &Path) -> Vec<std::ffi::OsString> {
    let kept = path.components().filter_map(|part| match part {
        Component::Normal(_) | Component::ParentDir => Some(part.as_os_str().to_owned()),
        _ => None,
    });
    let mut parts: Vec<_> = kept.collect();
    parts.reverse();
    parts
}

fn judge(folder: &Path, last: bool) -> Result<(), Unsafe> {
    let meta = fs::symlink_metadata(folder).map_err(|source| Unsafe::Unknown {
        path: folder.to_path_buf(),
        source,
    })?;
    let path = folder.to_path_buf();
    if !meta.is_dir() {
        return Err(Unsafe::NotAFolder { path });
    }
    owner(folder, &meta)?;
    let mode = meta.mode() & 0o7777;
    // An access list shows here, too: its mask stands in the group's bits.
    if !last && mode & 0o022 != 0 && mode & 0o1000 == 0 {
        return Err(Unsafe::Writable { path, mode });
    }
    Ok(())
}

fn owner(path: &Path, meta: &fs::Metadata) -> Result<(), Unsafe> {
    let uid = meta.uid();
    if uid == 0 || uid == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    Err(Unsafe::Owner {
        path: path.to_path_buf(),
        uid,
    })
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("its owner may");
    }

    /// A safe place: `tmp` above it is sticky.
    fn place() -> (tempfile::TempDir, PathBuf) {
        let keep = tempfile::tempdir().expect("a folder");
        set_mode(keep.path(), 0o755);
        let dir = keep.path().canonicalize().expect("it is there");
        let state = dir.join("share/state");
        make_private_folder(&state).expect("created");
        (keep, state)
    }

    fn refused(path: &Path) -> Unsafe {
        state_dir_safety(path, &[]).expect_err("refused")
    }

    #[test]
    fn a_private_folder_below_safe_ones_is_safe() {
        let (_keep, state) = place();
        state_dir_safety(&state, &[PathBuf::from("/nonexistent")]).expect("safe");
        state_dir_safety(&state.join("a/b"), &[]).expect("safe to create");
        assert_eq!(fs::metadata(&state).expect("there").mode() & 0o7777, 0o700);
        assert_eq!(
            fs::metadata(state.parent().expect("one"))
                .expect("there")
                .mode()
                & 0o7777,
            0o700
        );
    }

    #[test]
    fn a_mode_other_than_0700_is_refused() {
        let (_keep, state) = place();
        for mode in [0o755, 0o750, 0o701, 0o1700, 0o500] {
            set_mode(&state, mode);
            assert!(matches!(refused(&state), Unsafe::Mode { mode: m, .. } if m == mode));
        }
    }

    #[test]
    fn a_folder_above_that_others_write_is_refused_unless_sticky() {
        let (_keep, state) = place();
        let above = state.parent().expect("one");
        for mode in [0o777, 0o775, 0o702] {
            set_mode(above, mode);
            assert!(matches!(refused(&state), Unsafe::Writable { path, .. } if path == above));
        }
        set_mode(above, 0o1777);
        state_dir_safety(&state, &[]).expect("sticky");
    }

    #[test]
    fn a_link_is_judged_on_both_ways() {
        let (keep, state) = place();
        let dir = keep.path().canonicalize().expect("it is there");
        let open = dir.join("open");
        fs::create_dir(&open).expect("folder");
        symlink(&state, open.join("link")).expect("link");
        state_dir_safety(&open.join("link"), &[]).expect("safe");
        // Whoever writes where the link is decides where it leads.
        set_mode(&open, 0o777);
        assert!(
            matches!(refused(&open.join("link")), Unsafe::Writable { path, .. } if path == open)
        );
        // And where it leads through, relative and by `..`.
        symlink("open/../share", dir.join("around")).expect("link");
        assert!(matches!(
            refused(&dir.join("around/state")),
            Unsafe::Writable { .. }
        ));
        set_mode(&open, 0o755);
        state_dir_safety(&dir.join("around/state"), &[]).expect("safe");
        symlink("circle", dir.join("circle")).expect("link");
        assert!(matches!(
            refused(&dir.join("circle")),
            Unsafe::Unknown { .. }
        ));
    }

    #[test]
    fn a_git_work_tree_is_refused_and_named() {
        let (keep, state) = place();
        let dir = keep.path().canonicalize().expect("it is there");
        fs::write(dir.join(".git"), "gitdir: elsewhere\n").expect("written");
        assert!(matches!(refused(&state), Unsafe::GitWorkTree { root, .. } if root == dir));
        assert!(matches!(
            refused(&state.join("new")),
            Unsafe::GitWorkTree { .. }
        ));
    }

    #[test]
    fn a_writable_root_is_refused_also_through_links() {
        let (keep, state) = place();
        let dir = keep.path().canonicalize().expect("it is there");
        symlink(dir.join("share"), dir.join("way")).expect("link");
        for root in ["share", "way", "share/state", "share/state/../../share"] {
            let root = dir.join(root);
            for path in [&state, &dir.join("way/state")] {
                let result = state_dir_safety(path, std::slice::from_ref(&root));
                assert!(matches!(result, Err(Unsafe::Within { .. })), "{result:?}");
            }
        }
        state_dir_safety(&state, &[dir.join("shar")]).expect("a name is no folder");
    }

    #[test]
    fn what_is_no_folder_or_relative_is_refused() {
        let (_keep, state) = place();
        fs::write(state.join("a"), "").expect("written");
        for path in [state.join("a"), state.join("a/b")] {
            assert!(matches!(refused(&path), Unsafe::NotAFolder { .. }));
        }
        assert!(matches!(
            refused(Path::new("state")),
            Unsafe::Relative { .. }
        ));
    }

    #[test]
    fn what_belongs_to_somebody_else_is_refused() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root can give a folder away");
            return;
        }
        let (_keep, state) = place();
        let above = state.parent().expect("one").to_path_buf();
        for path in [&state, &above] {
            std::os::unix::fs::chown(path, Some(1234), None).expect("root may");
            let error = refused(&state);
            assert!(
                matches!(&error, Unsafe::Owner { path: p, uid: 1234 } if *p == *path || *p == above)
            );
        }
    }
}
