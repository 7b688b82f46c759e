//! Install and uninstall as data: what would change, why, and what stands in the way.
//!
//! A plan is made without writing anything: files are read, wishes become edits of drafts, and
//! every edit is checked by value. It is then shown, asked about, and committed by
//! [`crate::files`]. A plan with a collision is never committed.

use std::path::PathBuf;

use crate::document::{Document, KeyPath, Span, Value};
use crate::files;

pub mod draft;
pub mod import;
pub mod install;
mod judge;
pub mod merge;
pub mod parts;
mod plain;
pub mod record;
pub mod secret;
pub mod uninstall;
pub mod write;

pub use draft::{Action, FilePlan, Outcome, Step};
pub use import::WantedServer;
pub use plain::PlainDraft;

/// A part of what `install` writes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// An MCP server that was asked for by name.
    Server(String),
    /// The declared or enforced policy in a requirements file.
    Pin,
    /// What lets servers' questions reach a person.
    Elicitations,
    /// The entry that makes Codex read the project's files.
    Trust,
    /// Our own MCP server, which asks the person.
    Approver,
    /// The prefix rules that let `apply` leave the sandbox.
    Rule,
    /// The hooks that guide an agent to the gate, and their trust.
    Hooks,
    /// The section of AGENTS.md.
    Guide,
}

impl Part {
    /// The part in words, for people and for the record.
    pub fn name(&self) -> String {
        match self {
            Self::Server(name) => format!("server `{name}`"),
            Self::Pin => "pin".to_owned(),
            Self::Elicitations => "elicitations".to_owned(),
            Self::Trust => "trust".to_owned(),
            Self::Approver => "approver".to_owned(),
            Self::Rule => "rule".to_owned(),
            Self::Hooks => "hooks".to_owned(),
            Self::Guide => "guide".to_owned(),
        }
    }
}

/// Which of Codex's files are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// The project's `.codex`.
    Project,
    /// Codex's home.
    User,
    /// The system's folder.
    System,
}

impl Scope {
    /// The word for the flag and for messages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::System => "system",
        }
    }
}

/// What to do where a key is there with another value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnCollision {
    /// Write nothing at all.
    #[default]
    Refuse,
    /// Leave those keys as they are, and say so.
    Skip,
    /// Put the wanted value in their place.
    Replace,
}

/// A text as it was read, to point into.
#[derive(Debug, Clone)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// Its whole text.
    pub text: String,
    /// The place meant.
    pub span: Span,
}

/// Why a wish cannot be fulfilled beside what is there.
#[derive(Debug, Clone)]
pub enum CollisionKind {
    /// The key is there with another value.
    Differs {
        /// What is there.
        present: Value,
        /// What was wanted.
        wanted: Value,
    },
    /// The server is there with another transport, or has a key that the wanted one forbids.
    Transport {
        /// The key that stands against it.
        key: String,
    },
    /// The shape of the file leaves no safe place.
    NoPlace {
        /// Why, in words.
        why: String,
    },
    /// Something else is in its place, or what is there is not ours to change.
    Taken {
        /// What, in words.
        why: String,
    },
    /// After the plan Codex would refuse what it took before.
    Refused {
        /// What Codex would say.
        why: String,
    },
    /// Servers' questions would not reach a person.
    ElicitationsOff {
        /// What turns them off.
        why: String,
    },
}

/// One thing that stands in the way of a plan.
#[derive(Debug, Clone)]
pub struct Collision {
    /// The part that wanted it.
    pub part: Part,
    /// The file that was to change.
    pub file: PathBuf,
    /// The key path meant.
    pub path: KeyPath,
    /// Where the present value stands, where there is one.
    pub source: Option<Source>,
    /// What is wrong.
    pub kind: CollisionKind,
    /// The text that a person can add or change by hand.
    pub by_hand: String,
    /// Whether `--on-collision replace` would get past it.
    pub replaceable: bool,
}

/// A wish that was left aside because `--on-collision skip` says so.
#[derive(Debug, Clone)]
pub struct Skipped {
    /// The part that wanted it.
    pub part: Part,
    /// The file.
    pub file: PathBuf,
    /// The key path that stays.
    pub path: KeyPath,
}

/// What would change, and what stands in the way.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The files that change, in the order in which they are shown.
    pub files: Vec<FilePlan>,
    /// What stands in the way. Nothing is written while there is one.
    pub collisions: Vec<Collision>,
    /// What `skip` left as it is.
    pub skipped: Vec<Skipped>,
    /// What a person should know: translations, parts left out and why.
    pub notes: Vec<String>,
}

impl Plan {
    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// Why no plan can be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] files::Error),
    /// A file is not UTF-8.
    #[error("`{}` is not UTF-8", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The first byte that is not.
        at: usize,
    },
    /// A file does not parse, so nothing can be added to it.
    #[error("{message}")]
    Syntax {
        /// The place, as the parser found it.
        source_text: Box<Source>,
        /// The parser's words.
        message: String,
    },
    /// A project's file is a link that leads out of the project.
    #[error("`{}` leads out of the project, to `{}`", path.display(), target.display())]
    LinkLeavesProject {
        /// The file.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// The project's `.codex` is Codex's home.
    #[error("`{}` is Codex's home, not a project's folder", path.display())]
    ProjectIsHome {
        /// The folder.
        path: PathBuf,
    },
    /// The user's files were asked for, and there is no home.
    #[error("there is no Codex home: neither `CODEX_HOME` nor `HOME` is set")]
    NoHome,
    /// A wanted server is not one that Codex takes.
    #[error("server `{name}`: {why}")]
    BadServer {
        /// The server.
        name: String,
        /// What Codex would say.
        why: String,
    },
    /// Two sources want the same server.
    #[error("server `{name}` is wanted twice")]
    Twice {
        /// The server.
        name: String,
    },
    /// The program cannot be named in Codex's files, since others than its user can change it.
    #[error("this program is not safe to point Codex at: {why}")]
    UnsafeProgram {
        /// What is wrong with its place.
        why: String,
    },
    /// The record of an earlier install cannot be used.
    #[error("the install record `{}` {why}", path.display())]
    Record {
        /// The record.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// A document and the file that it came from, for pointing at places.
pub(crate) fn source_of(path: &std::path::Path, document: &Document, span: Span) -> Source {
    Source {
        path: path.to_path_buf(),
        text: document.text().to_owned(),
        span,
    }
}
