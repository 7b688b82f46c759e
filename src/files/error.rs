//! What can go wrong with a file. Each variant names the file, and none means "absent".
//!
//! `path` is the path as the caller named it, `source` what the system said, `doing` a verb.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a file could not be read or a plan not be committed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // what a field is stands in its variant's message
pub enum Error {
    /// A folder stands where a file was expected.
    #[error("`{}` is a folder, not a file", path.display())]
    Folder { path: PathBuf },
    /// Neither a plain file nor a folder.
    #[error("`{}` is {kind}, not a plain file", path.display())]
    NotPlain { path: PathBuf, kind: Kind },
    /// More bytes than the limit.
    #[error("`{}` has {len} bytes, more than the {limit} that are read", path.display())]
    TooLarge { path: PathBuf, len: u64, limit: u64 },
    /// No permission, or a file system that is read-only.
    #[error("no permission to {doing} `{}`", path.display())]
    Denied {
        path: PathBuf,
        doing: &'static str,
        source: io::Error,
    },
    /// A link that leads to nothing. It is not "absent": somebody meant a file to be there.
    #[error("`{}`: the link `{}` leads to nothing", path.display(), link.display())]
    Dangling { path: PathBuf, link: PathBuf },
    /// Links that lead to each other.
    #[error("`{}`: its links lead in a circle", path.display())]
    Loop { path: PathBuf },
    /// Something that is no folder stands above the file.
    #[error("`{}` cannot be there: `{}` is not a folder", path.display(), above.display())]
    NoFolder { path: PathBuf, above: PathBuf },
    /// Any other answer of the system.
    #[error("cannot {doing} `{}`", path.display())]
    Io {
        path: PathBuf,
        doing: &'static str,
        source: io::Error,
    },
    /// Another process holds the lock of a folder.
    #[error("another codexgate is at work in `{}`", folder.display())]
    Busy { folder: PathBuf },
    /// The file is not what it was when the plan was made.
    #[error("`{}` changed since it was read", path.display())]
    Changed { path: PathBuf },
    /// The file has a second name, and replacing it would part the two.
    #[error("`{}` has {links} names (hard links): replacing it would change only this one", path.display())]
    HardLinked { path: PathBuf, links: u64 },
    /// Mode, owner or an extended attribute of the old file cannot be given to the new one.
    #[error("`{}` would not keep its {what}", path.display())]
    CannotKeep {
        path: PathBuf,
        what: String,
        source: Option<io::Error>,
    },
    /// Two writes of one plan lead to the same file.
    #[error("`{}` and `{}` are the same file", path.display(), other.display())]
    SameFile { path: PathBuf, other: PathBuf },
    /// A plan with more files than a commit takes.
    #[error("a plan of {count} files is more than the {limit} that one commit takes")]
    TooMany { count: usize, limit: usize },
    /// A folder that should go with a file does not stand above any file of the plan.
    #[error("the folder `{}` holds no file of this plan", path.display())]
    NotAbove { path: PathBuf },
    /// A path that the intent file, which is JSON, cannot hold.
    #[error("`{}` is not UTF-8", path.display())]
    NotUtf8 { path: PathBuf },
    /// All files were written, then one did not pass its check; all are as they were before.
    #[error("`{}` was written and did not pass its check ({why}); every file is as it was before", path.display())]
    RolledBack { path: PathBuf, why: String },
    /// A commit failed, and not all files could be brought back.
    #[error("{because}; and not every file could be brought back: {}", list(left))]
    Stuck {
        because: Box<Error>,
        left: Vec<Left>,
    },
    /// An earlier commit was killed and could not be undone whole.
    #[error(
        "an earlier run was killed, and not every file could be brought back: {}",
        list(left)
    )]
    Left { left: Vec<Left> },
    /// The file in which a killed commit is remembered cannot be followed.
    #[error("`{}`, left by a run that was killed, cannot be followed: {why}", path.display())]
    Intent { path: PathBuf, why: String },
}

/// What stands where a plain file was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character or block device.
    Device,
    /// A link that came there while we looked.
    Link,
    /// Something this program has no word for.
    Unknown,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fifo => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Link => "a link",
            Self::Unknown => "something unknown",
        })
    }
}

/// A file that could not be brought back to what it was before a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub why: String,
    /// Where its old bytes are, if they are kept.
    pub old: Option<PathBuf>,
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.path.display(), self.why)?;
        match &self.old {
            Some(old) => write!(f, " (its old text is in `{}`)", old.display()),
            None => Ok(()),
        }
    }
}

fn list(left: &[Left]) -> String {
    let parts: Vec<String> = left.iter().map(Left::to_string).collect();
    parts.join(", ")
}

impl Error {
    /// Tells what the system's answer means for `path` while `doing` (a verb).
    pub(super) fn io(path: &Path, doing: &'static str, source: impl Into<io::Error>) -> Self {
        let (path, source) = (path.to_path_buf(), source.into());
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::Denied {
                path,
                doing,
                source,
            },
            _ => Self::Io {
                path,
                doing,
                source,
            },
        }
    }
}
