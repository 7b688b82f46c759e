//! The right to run one proposal once.
//!
//! A grant is made from an [`Approved`] alone. On the disk it is a file that names the whole digest
//! of the proposal; taking it is one rename, by the holder of its lock, so that of any number of
//! processes one takes it. The [`Grant`] in hand is spent by [`super::execute::run`].

use super::clock::Moment;
use super::decision::Approved;
use super::error::Error;
use super::journal::{Event, Journal};
use super::store::{Gate, Waiting, names};
use super::token::Token;
use crate::files::{self, Folder, RealDisk};
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;

/// The most bytes of a grant's file.
const GRANT_LIMIT: u64 = 64 * 1024;
const VERSION: u32 = 1;

/// What a grant says on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Paper {
    version: u32,
    token: Token,
    digest: String,
    by: String,
    at: Moment,
    expires: Moment,
}

/// Writes down what was approved. Whoever approves twice has granted once.
pub(super) fn write(approved: Approved, gate: &mut Gate<'_>) -> Result<(), Error> {
    let paper = Paper {
        version: VERSION,
        token: approved.token,
        digest: approved.digest,
        by: approved.by,
        at: approved.at,
        expires: approved.expires,
    };
    // Recorded first: a grant that no record tells of must not come about.
    Journal::append(
        gate,
        Event::Approved {
            token: paper.token.clone(),
            digest: paper.digest.clone(),
            by: paper.by.clone(),
            expires: paper.expires,
        },
    )?;
    let name = format!("{}.json", paper.token);
    let bytes = serde_json::to_vec(&paper).expect("texts and numbers always serialise");
    match gate.create(&gate.grants(), &name, &bytes) {
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
            // An older answer may have run out; a newer one counts from now.
            let _ = fs::remove_file(gate.grants().join(&name));
            gate.create(&gate.grants(), &name, &bytes)
        }
        other => other,
    }
}

/// A taken grant: it runs its proposal once, or not at all. Only [`Grant::take`] makes one, out of
/// a file that an [`Approved`] made.
#[derive(Debug)]
#[must_use]
pub struct Grant {
    pub(super) token: Token,
    pub(super) digest: String,
    /// Held while it runs: a free lock means that the run was cut off.
    _lock: File,
}

impl Grant {
    /// Takes the grant for `waiting`, for good.
    ///
    /// # Errors
    /// [`Error::NoGrant`]: there is none, it ran out, it is for another content, or somebody else
    /// took it.
    pub fn take(gate: &mut Gate<'_>, waiting: &Waiting) -> Result<Self, Error> {
        let token = &waiting.token;
        let none = |why: &str| Error::NoGrant {
            token: token.clone(),
            why: why.to_owned(),
        };
        let path = gate.grants().join(format!("{token}.json"));
        let mut file = match super::digest::open(&path) {
            Ok(file) => file,
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(none("nobody has approved it"));
            }
            Err(error) => return Err(error),
        };
        // The lock belongs to the file, not to its name, and comes before the rename: from the
        // moment on at which the grant is taken, its lock is held.
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(none("another run took it this moment"));
        }
        let mut text = Vec::new();
        let read = file.by_ref().take(GRANT_LIMIT).read_to_end(&mut text);
        read.map_err(|error| Error::io(&path, "read", error))?;
        let paper: Paper =
            serde_json::from_slice(&text).map_err(|_| none("its file is not a grant"))?;
        if paper.token != *token || paper.digest != waiting.digest || paper.version != VERSION {
            return Err(none("the grant is for another content"));
        }
        let now = gate.now();
        if now >= paper.expires || now >= waiting.proposal.expires {
            return Err(none("it ran out; it must be approved again"));
        }
        if now < paper.at {
            return Err(none("it was given in the future: the clock was set back"));
        }
        let folder = Folder::unlocked(&gate.grants())?;
        let (from, to) = (format!("{token}.json"), format!("{token}.taken"));
        let disk = gate.disk();
        let taken = disk.rename_new(&folder, OsStr::new(&from), OsStr::new(&to));
        taken.map_err(|_| none("another run took it"))?;
        disk.sync_folder(&folder)
            .map_err(|error| Error::io(&path, "write", error))?;
        // stops: the name led to another grant when it was renamed
        let own = file.metadata().map(|meta| (meta.dev(), meta.ino()));
        let there = fs::symlink_metadata(gate.grants().join(&to)).map(|m| (m.dev(), m.ino()));
        if own.ok() != there.ok() {
            return Err(none("another grant came in its place"));
        }
        Ok(Self {
            token: paper.token,
            digest: paper.digest,
            _lock: file,
        })
    }

    /// Forgets the grant and its proposal: the outcome is recorded.
    pub(super) fn finish(self, gate: &mut Gate<'_>) {
        clear(gate, &self.token);
    }
}

fn clear(gate: &mut Gate<'_>, token: &Token) {
    // The proposal first: without its grant it would look as if it waited again.
    gate.forget(token);
    let _ = fs::remove_file(gate.grants().join(format!("{token}.taken")));
}

/// Whether a grant for `token` waits.
pub(super) fn is_granted(gate: &Gate<'_>, token: &Token) -> bool {
    gate.grants().join(format!("{token}.json")).exists()
}

/// Whether a grant for `token` was taken.
pub(super) fn is_taken(gate: &Gate<'_>, token: &Token) -> bool {
    gate.grants().join(format!("{token}.taken")).exists()
}

/// Records each taken grant that nobody holds: its run was cut off.
pub(super) fn recover(gate: &mut Gate<'_>) -> Result<(), Error> {
    for name in names(&gate.grants(), ".taken")? {
        let Some(token) = name.strip_suffix(".taken").and_then(Token::parse) else {
            continue;
        };
        let path = gate.grants().join(&name);
        let Ok(file) = super::digest::open(&path) else {
            continue;
        };
        let locked = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
        if locked.is_err() || !path.exists() {
            continue;
        }
        match Journal::last(gate, &token)? {
            Some(Event::Ended { .. } | Event::Unknown { .. }) => {}
            _ => Journal::append(
                gate,
                Event::Unknown {
                    token: token.clone(),
                },
            )?,
        }
        // A commit that was cut off is undone, or cleared away where it counts.
        let run = gate.run_folder(&token);
        if let Ok(Some(waiting)) = gate.read(&token) {
            let paths = waiting.proposal.paths();
            let _ = files::recover(&run, &|path| paths.iter().any(|p| p == path), &mut RealDisk);
        }
        clear(gate, &token);
    }
    Ok(())
}
