//! Why something about a gated action could not be done. Each variant is a refusal: none grants.

use super::token::Token;
use crate::files;
use std::io;
use std::path::{Path, PathBuf};

/// Why a proposal, a decision or a run did not come about.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // what a field is stands in its variant's message
pub enum Error {
    /// The state directory cannot be believed.
    #[error("the state directory is not safe: {why}")]
    UnsafeState {
        why: files::Unsafe,
        variable: &'static str,
    },
    /// There is no state directory.
    #[error("there is no state directory: neither `HOME` nor `XDG_STATE_HOME` is an absolute path")]
    NoState,
    /// The executable could be replaced by an agent.
    #[error("this executable is not safe to trust: {0}")]
    UnsafeExecutable(files::Unsafe),
    /// The state directory cannot be written, as in Codex's sandbox.
    #[error("cannot write in the state directory `{}`: this runs in Codex's sandbox", state.display())]
    Sandboxed { state: PathBuf, source: io::Error },
    /// The effective policy lets the agent do everything, or cannot be told.
    #[error("the gate is open here: {why}")]
    Open { why: String },
    /// The project decides about the environment in which this runs.
    #[error("the project decides how this runs: {why}")]
    Injected { why: String },
    /// The proposal was made with other folders.
    #[error("the proposal was made with {what} `{}`, and here it is `{}`", theirs.display(), ours.display())]
    OtherFolder {
        what: &'static str,
        theirs: PathBuf,
        ours: PathBuf,
    },
    /// A policy file cannot be followed.
    #[error("the policy file `{}` cannot be followed: {why}", path.display())]
    Policy { path: PathBuf, why: String },
    /// A policy denies it.
    #[error("denied by {line}")]
    Denied { line: String },
    /// codexgate is not run through codexgate.
    #[error("codexgate itself is never proposed")]
    Itself,
    /// No program by that name.
    #[error("no program `{name}` in the folders of PATH that an agent cannot write")]
    NoProgram { name: String },
    /// Only texts can be shown and compared.
    #[error("{what} is not UTF-8")]
    NotUtf8 { what: String },
    /// A variable that decides which code runs.
    #[error("the variable `{name}` cannot be given: it decides which code runs")]
    Variable { name: String },
    /// A variable that is not there.
    #[error("the variable `{name}` is not set")]
    Unset { name: String },
    /// Nothing to do.
    #[error("nothing is proposed: {why}")]
    Nothing { why: &'static str },
    /// A value beyond its limit.
    #[error("{what} is more than {limit}")]
    Limit { what: &'static str, limit: String },
    /// More than is hashed for one proposal.
    #[error("`{}` is more than is read for one proposal (1 GiB, 20,000 entries)", path.display())]
    TooMuch { path: PathBuf },
    /// Neither a file nor a folder.
    #[error("`{}` is neither a plain file nor a folder", path.display())]
    NotPlain { path: PathBuf },
    /// A path that a file proposal may not touch, or read for an agent.
    #[error("`{}` {why}", path.display())]
    Outside { path: PathBuf, why: &'static str },
    /// A patch that does not apply.
    #[error("the patch cannot be used: {why}")]
    Patch { why: String },
    /// Too many wait already.
    #[error("{count} proposals wait already")]
    Full { count: usize },
    /// No such proposal waits.
    #[error("no proposal `{token}` waits in `{}`: it {why}", state.display())]
    NotWaiting {
        token: Token,
        state: PathBuf,
        why: String,
    },
    /// A file of the store is not what it was written as.
    #[error("`{}` is not what codexgate wrote: {why}", path.display())]
    Altered { path: PathBuf, why: String },
    /// Something is not as it was proposed.
    #[error("something changed since it was proposed: {what}")]
    Changed { what: String },
    /// There is no grant to run it.
    #[error("no grant for `{token}`: {why}")]
    NoGrant { token: Token, why: String },
    /// The journal is damaged, so nothing is done that it would have to record.
    #[error("the journal cannot be continued: {0}")]
    Journal(super::journal::Damage),
    /// It ran, and how it ended could not be recorded.
    #[error("it ran, and its outcome could not be recorded")]
    Unrecorded(#[source] Box<Error>),
    /// The run did not start.
    #[error("the command did not start: {why}")]
    NotStarted { why: String },
    /// A file.
    #[error(transparent)]
    Files(#[from] files::Error),
    /// The system said no.
    #[error("cannot {doing} `{}`", path.display())]
    Io {
        path: PathBuf,
        doing: &'static str,
        source: io::Error,
    },
}

impl Error {
    pub(super) fn io(path: &Path, doing: &'static str, source: impl Into<io::Error>) -> Self {
        Self::Io {
            path: path.to_path_buf(),
            doing,
            source: source.into(),
        }
    }
}
