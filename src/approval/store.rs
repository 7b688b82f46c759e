//! The state directory: what waits, what is granted, what runs.
//!
//! ```text
//! proposals/TOKEN.json   waits; its bytes are what the token was made from
//! grants/TOKEN.json      granted, not taken      grants/TOKEN.taken   taken, locked while it runs
//! runs/TOKEN/            the copy of a program, how the run ended, what a commit remembers
//! kept/SHA256            what a written file was before
//! ```
//!
//! Whoever can write here can forge everything, so [`super::Surroundings`] judges it first. A taken
//! grant whose lock is free was cut off: it is recorded as unknown and removed, never repeated.

use super::clock::{Clock, Moment};
use super::digest;
use super::error::Error;
use super::journal::{Event, Journal};
use super::proposal::Proposal;
use super::surroundings::Surroundings;
use super::token::Token;
use crate::files::{self, Disk, Folder, Found};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The most proposals that wait: an agent must not fill the disk.
const WAITING_LIMIT: usize = 64;
/// The most bytes of one proposal, contents of files included.
pub(super) const PROPOSAL_LIMIT: u64 = 16 * 1024 * 1024;

const PROPOSALS: &str = "proposals";
pub(super) const GRANTS: &str = "grants";
const RUNS: &str = "runs";
const KEPT: &str = "kept";

/// The state directory with a clock and the disk: what every step needs.
pub struct Gate<'a> {
    state: PathBuf,
    clock: &'a dyn Clock,
    disk: &'a mut dyn Disk,
}

impl<'a> Gate<'a> {
    /// Opens the state directory, which `around` judged, makes its folders and cleans up what
    /// killed runs left.
    ///
    /// # Errors
    /// [`Error::Sandboxed`]; a damaged journal where there is something to record.
    pub fn open(
        around: &Surroundings,
        clock: &'a dyn Clock,
        disk: &'a mut dyn Disk,
    ) -> Result<Self, Error> {
        let state = around.state.clone();
        for name in [PROPOSALS, GRANTS, RUNS, KEPT] {
            files::make_private_folder(&state.join(name)).map_err(|e| sandboxed(&state, e))?;
        }
        rustix::fs::access(&state, rustix::fs::Access::WRITE_OK)
            .map_err(|error| sandboxed(&state, error.into()))?;
        let mut gate = Self { state, clock, disk };
        super::grant::recover(&mut gate)?;
        Ok(gate)
    }

    /// The folder.
    pub fn state(&self) -> &Path {
        &self.state
    }

    pub(super) fn now(&self) -> Moment {
        self.clock.now()
    }

    pub(super) fn disk(&mut self) -> &mut dyn Disk {
        self.disk
    }

    pub(super) fn grants(&self) -> PathBuf {
        self.state.join(GRANTS)
    }

    /// The folder of one run.
    pub(super) fn run_folder(&self, token: &Token) -> PathBuf {
        self.state.join(RUNS).join(token.as_str())
    }

    fn proposal_path(&self, token: &Token) -> PathBuf {
        self.state.join(PROPOSALS).join(format!("{token}.json"))
    }

    /// Writes a file that must not be there, whole or not at all.
    pub(super) fn create(&mut self, folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let fail = |error| Error::io(&folder.join(name), "write", error);
        let opened = Folder::unlocked(folder)?;
        let new = format!(".new-{}-{}", std::process::id(), digest::random());
        let (new, name) = (OsStr::new(&new), OsStr::new(name));
        let disk = self.disk();
        let written = disk.create(&opened, new).and_then(|mut file| {
            disk.write(&mut file, new, bytes)?;
            disk.sync(&file, new)?;
            disk.rename_new(&opened, new, name)?;
            disk.sync_folder(&opened)
        });
        written.map_err(|error| {
            let _ = disk.unlink(&opened, new);
            fail(error)
        })
    }

    /// Keeps the old bytes of a file under their digest.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> Result<String, Error> {
        let name = digest::of(bytes);
        let folder = self.state.join(KEPT);
        match self.create(&folder, &name, bytes) {
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {}
            other => other?,
        }
        Ok(name)
    }

    /// The kept bytes with this digest.
    ///
    /// # Errors
    /// They are not there or not what was kept.
    pub fn kept(&self, sha256: &str) -> Result<Vec<u8>, Error> {
        let path = self.state.join(KEPT).join(sha256);
        match files::read(&path, files::CONFIG_LIMIT)? {
            Found::File(file) if digest::of(&file.bytes) == sha256 => Ok(file.bytes),
            _ => Err(Error::Altered {
                path,
                why: "it is gone or has another content".to_owned(),
            }),
        }
    }

    pub(super) fn forget_kept(&mut self, but: &BTreeSet<String>) -> Result<(), Error> {
        for name in names(&self.state.join(KEPT), "")? {
            if !but.contains(&name) {
                let _ = fs::remove_file(self.state.join(KEPT).join(name));
            }
        }
        Ok(())
    }

    /// Removes a proposal with everything that was made for it.
    pub(super) fn forget(&mut self, token: &Token) {
        let _ = fs::remove_dir_all(self.run_folder(token));
        let _ = fs::remove_file(self.grants().join(format!("{token}.json")));
        let _ = fs::remove_file(self.proposal_path(token));
    }

    /// Writes down a new proposal, if there is room.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<Waiting, Error> {
        let token = Token::of(bytes);
        let count = waiting(self)?.len();
        if count >= WAITING_LIMIT {
            return Err(Error::Full { count });
        }
        self.create(&self.state.join(PROPOSALS), &format!("{token}.json"), bytes)?;
        self.read(&token)?.ok_or_else(|| Error::Altered {
            path: self.proposal_path(&token),
            why: "it is gone".to_owned(),
        })
    }

    /// Reads a proposal, whether it expired or not. Its bytes must be those that gave it its name.
    pub(super) fn read(&self, token: &Token) -> Result<Option<Waiting>, Error> {
        let path = self.proposal_path(token);
        let Found::File(file) = files::read(&path, PROPOSAL_LIMIT)? else {
            return Ok(None);
        };
        let altered = |why: &str| Error::Altered {
            path: path.clone(),
            why: why.to_owned(),
        };
        if Token::of(&file.bytes) != *token {
            return Err(altered("its content has another token"));
        }
        let proposal: Proposal =
            serde_json::from_slice(&file.bytes).map_err(|_| altered("it is no proposal"))?;
        // stops: two spellings of one proposal
        if proposal.bytes() != file.bytes {
            return Err(altered("it is spelled in another way"));
        }
        Ok(Some(Waiting {
            token: token.clone(),
            digest: digest::of(&file.bytes),
            proposal,
        }))
    }

    fn no_such(&mut self, token: &Token) -> Result<Error, Error> {
        let why = match Journal::last(self, token)? {
            None => "is unknown there".to_owned(),
            Some(Event::Rejected { .. }) => "was rejected".to_owned(),
            Some(Event::Ended { .. }) => "was used: it ran".to_owned(),
            Some(Event::Started { .. } | Event::Unknown { .. }) => {
                "was used, and its outcome is unknown".to_owned()
            }
            Some(_) => "expired".to_owned(),
        };
        Ok(Error::NotWaiting {
            token: token.clone(),
            state: self.state.clone(),
            why,
        })
    }
}

/// A stored proposal, whose bytes were compared with its token.
#[derive(Debug, Clone)]
pub struct Waiting {
    pub(super) token: Token,
    pub(super) digest: String,
    pub(super) proposal: Proposal,
}

impl Waiting {
    /// Its name.
    pub const fn token(&self) -> &Token {
        &self.token
    }

    /// SHA-256 of everything in it.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What is proposed.
    pub const fn proposal(&self) -> &Proposal {
        &self.proposal
    }
}

/// One line of a list.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Its name.
    pub token: Token,
    /// When it ends.
    pub expires: Moment,
    /// Whether a grant for it waits to be used.
    pub granted: bool,
    /// The proposal.
    pub waiting: Waiting,
}

/// The proposal `token`, which has not expired and was not used.
///
/// # Errors
/// [`Error::NotWaiting`] says why it does not wait, [`Error::Altered`].
pub fn load(gate: &mut Gate<'_>, token: &Token) -> Result<Waiting, Error> {
    match gate.read(token)? {
        Some(waiting) if gate.now() < waiting.proposal.expires => {
            if super::grant::is_taken(gate, token) {
                return Err(Error::NotWaiting {
                    token: token.clone(),
                    state: gate.state.clone(),
                    why: "runs at this moment".to_owned(),
                });
            }
            Ok(waiting)
        }
        _ => Err(gate.no_such(token)?),
    }
}

/// All proposals that wait, by their end; removes those that expired.
///
/// # Errors
/// A store that cannot be read. A file that is no proposal is left out and stays.
pub fn waiting(gate: &mut Gate<'_>) -> Result<Vec<Summary>, Error> {
    let mut found = Vec::new();
    for name in names(&gate.state.join(PROPOSALS), ".json")? {
        let token = name.strip_suffix(".json").and_then(Token::parse);
        let Some(token) = token else { continue };
        if super::grant::is_taken(gate, &token) {
            continue;
        }
        match gate.read(&token) {
            Ok(Some(waiting)) if gate.now() < waiting.proposal.expires => found.push(Summary {
                token: waiting.token.clone(),
                expires: waiting.proposal.expires,
                granted: super::grant::is_granted(gate, &token),
                waiting,
            }),
            Ok(Some(_)) => gate.forget(&token),
            Ok(None) | Err(_) => {}
        }
    }
    found.sort_by_key(|summary| summary.expires);
    Ok(found)
}

/// The names in a folder that end in `suffix`, sorted.
pub(super) fn names(folder: &Path, suffix: &str) -> Result<Vec<String>, Error> {
    let fail = |error| Error::io(folder, "read", error);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let name = entry.map_err(fail)?.file_name();
        names.extend(name.into_string().ok().filter(|n| n.ends_with(suffix)));
    }
    names.sort();
    Ok(names)
}

fn sandboxed(state: &Path, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Error::Sandboxed {
            state: state.to_path_buf(),
            source,
        },
        _ => Error::io(state, "write in", source),
    }
}
