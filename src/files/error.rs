//! What can go wrong with a file. Each variant names the file, and none means "absent".

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a file could not be read or a plan not be committed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A folder stands where a file was expected.
    #[error("`{}` is a folder, not a file", path.display())]
    Folder {
        /// The path as named.
        path: PathBuf,
    },
    /// Neither a plain file nor a folder.
    #[error("`{}` is {kind}, not a plain file", path.display())]
    NotPlain {
        /// The path as named.
        path: PathBuf,
        /// What it is.
        kind: Kind,
    },
    /// More bytes than the limit.
    #[error("`{}` has {len} bytes, more than the {limit} that are read", path.display())]
    TooLarge {
        /// The path as named.
        path: PathBuf,
        /// Its size in bytes, as far as it was told.
        len: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// No permission, or a file system that is read-only.
    #[error("no permission to {doing} `{}`", path.display())]
    Denied {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, a verb.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A link that leads to nothing. It is not "absent": somebody meant a file to be there.
    #[error("`{}`: the link `{}` leads to nothing", path.display(), link.display())]
    Dangling {
        /// The path as named.
        path: PathBuf,
        /// The link: the path itself or a folder above it.
        link: PathBuf,
    },
    /// Links that lead to each other.
    #[error("`{}`: its links lead in a circle", path.display())]
    Loop {
        /// The path as named.
        path: PathBuf,
    },
    /// Something that is no folder stands above the file.
    #[error("`{}` cannot be there: `{}` is not a folder", path.display(), above.display())]
    NoFolder {
        /// The path as named.
        path: PathBuf,
        /// What stands above it.
        above: PathBuf,
    },
    /// Any other answer of the system.
    #[error("cannot {doing} `{}`", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, a verb.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Another process holds the lock of a folder.
    #[error("another codexgate is at work in `{}`", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// The file is not what it was when the plan was made.
    #[error("`{}` changed since it was read", path.display())]
    Changed {
        /// The path as named.
        path: PathBuf,
    },
    /// The file has a second name, and replacing it would part the two.
    #[error("`{}` has {links} names (hard links): replacing it would change only this one", path.display())]
    HardLinked {
        /// The path as named.
        path: PathBuf,
        /// How many names.
        links: u64,
    },
    /// Mode, owner or an extended attribute of the old file cannot be given to the new one.
    #[error("`{}` would not keep its {what}", path.display())]
    CannotKeep {
        /// The file.
        path: PathBuf,
        /// What would be lost.
        what: String,
        /// What the system said, if it said no.
        source: Option<io::Error>,
    },
    /// Two writes of one plan lead to the same file.
    #[error("`{}` and `{}` are the same file", path.display(), other.display())]
    SameFile {
        /// The path as named in one write.
        path: PathBuf,
        /// The path as named in the other.
        other: PathBuf,
    },
    /// A plan with more files than a commit takes.
    #[error("a plan of {count} files is more than the {limit} that one commit takes")]
    TooMany {
        /// How many files.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// A folder that should go with a file does not stand above any file of the plan.
    #[error("the folder `{}` holds no file of this plan", path.display())]
    NotAbove {
        /// The folder.
        path: PathBuf,
    },
    /// A path that the intent file, which is JSON, cannot hold.
    #[error("`{}` is not UTF-8", path.display())]
    NotUtf8 {
        /// The path.
        path: PathBuf,
    },
    /// All files were written, then one did not pass its check; all are as they were before.
    #[error("`{}` was written and did not pass its check ({why}); every file is as it was before", path.display())]
    RolledBack {
        /// The path as named.
        path: PathBuf,
        /// What the check said.
        why: String,
    },
    /// A commit failed, and not all files could be brought back.
    #[error("{because}; and not every file could be brought back: {}", list(left))]
    Stuck {
        /// What failed first.
        because: Box<Error>,
        /// The files, each with its reason.
        left: Vec<Left>,
    },
    /// An earlier commit was killed and could not be undone whole.
    #[error(
        "an earlier run was killed, and not every file could be brought back: {}",
        list(left)
    )]
    Left {
        /// The files, each with its reason.
        left: Vec<Left>,
    },
    /// The file in which a killed commit is remembered cannot be followed.
    #[error("`{}`, left by a run that was killed, cannot be followed: {why}", path.display())]
    Intent {
        /// The intent file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
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
