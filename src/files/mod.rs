//! The part of the trust root that touches users' files.
//!
//! It reads files with limits and never blocks on what is no plain file, and it commits a plan:
//! all files of one plan change, or none. A kill at any instant leaves each file old or new,
//! whole; the next run undoes what was left ([`recover`]). Mode, owner, extended attributes and
//! links stay, and where one of them cannot stay the file is refused.
//!
//! It changes a mode where that is asked for, of the very file that was looked at.
//!
//! It knows bytes, never what they mean: whether a file's new text says what was planned is asked
//! of the caller, who compares by value. It does not know of programs that take no lock: one that
//! saves the same file in the microseconds between the last look and the rename loses its save.
//!
//! Unix only: owners, modes, links and directory handles are what the promises are made of.

#[cfg(not(unix))]
compile_error!(
    "codexgate keeps owners, modes and links as Unix has them; no other system is supported"
);

mod commit;
mod disk;
mod error;
mod intent;
mod lock;
mod mode;
mod read;
mod recover;
mod replace;
mod safety;

pub use commit::{Check, Committed, commit};
pub use disk::{Disk, RealDisk};
pub use error::{Error, Kind, Left};
pub use lock::Folder;
pub use mode::set_mode;
pub use read::{
    CONFIG_LIMIT, Found, Identity, Snapshot, content, nearest_folder, read, read_below, target_of,
};
pub use recover::{Recovered, recover};
pub use replace::{After, Write};
pub use safety::{
    Unsafe, is_git_root, is_writable_by_agent, make_private_folder, own_safety, state_dir_safety,
    umask,
};
