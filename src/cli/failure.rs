//! What an error of the library means for the person: the exit code, the words and the hints.
//!
//! The library's errors say what happened. All `From` of them stand here, and only here is an
//! exit code chosen, after this table:
//!
//! | what the library said | exit |
//! |---|---|
//! | done, nothing to report | `Done` |
//! | a collision, does not parse, changed since it was read, a finding, no grant, needs a terminal | `Refused` |
//! | usage; cannot read, lock or write | `Unable` |
//! | something ran or was written, then failed | `Partial` |

use std::error::Error;
use std::io;
use std::process::ExitCode;

use crate::codex::site;
use crate::lint::discover;
use crate::report::{Diagnostic, ui};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Exit {
    /// Done, nothing to report.
    Done = 0,
    /// Refused, or something was found at the threshold. Nothing was written.
    Refused = 1,
    /// A usage error, or the job could not be done at all.
    Unable = 2,
    /// Something was done, and then something failed.
    Partial = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// A run that ended early: the exit code, and what to tell the person.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    // Boxed, since every result of every command carries one.
    diagnostic: Box<Diagnostic>,
}

impl Failure {
    /// A failure with a message of its own.
    pub fn new(exit: Exit, diagnostic: Diagnostic) -> Self {
        Self {
            exit,
            diagnostic: Box::new(diagnostic),
        }
    }

    /// A library's error: its message is the title, each of its sources a note.
    pub fn of(exit: Exit, error: &dyn Error) -> Self {
        let mut diagnostic = Diagnostic::error(error.to_string());
        let mut cause = error.source();
        while let Some(error) = cause {
            diagnostic = diagnostic.note(error.to_string());
            cause = error.source();
        }
        Self::new(exit, diagnostic)
    }

    /// Adds a way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        *self.diagnostic = self.diagnostic.help(hint);
        self
    }

    /// The working folder was removed, or cannot be read.
    pub fn no_working_folder(source: &io::Error) -> Self {
        Self::new(
            Exit::Unable,
            Diagnostic::error("cannot tell the working folder").note(source.to_string()),
        )
        .hint("name one with `-C DIR`")
    }

    /// The exit code.
    pub const fn exit(&self) -> Exit {
        self.exit
    }

    /// What to tell the person.
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.diagnostic
    }
}

impl From<site::Error> for Failure {
    fn from(error: site::Error) -> Self {
        Self::of(Exit::Unable, &error)
    }
}

impl From<discover::Error> for Failure {
    fn from(error: discover::Error) -> Self {
        let failure = Self::of(Exit::Unable, &error);
        match error {
            discover::Error::Missing { .. } => failure,
            discover::Error::UnknownFile { .. } => failure.hint(
                "give it one of the names that Codex reads: config.toml, NAME.config.toml, \
                 managed_config.toml, requirements.toml, hooks.json, NAME.rules",
            ),
        }
    }
}

impl From<ui::Error> for Failure {
    fn from(error: ui::Error) -> Self {
        let exit = match &error {
            ui::Error::NoTerminal { .. } | ui::Error::NotShown => Exit::Refused,
            ui::Error::Ask { .. } | ui::Error::Write { .. } => Exit::Unable,
        };
        Self::of(exit, &error)
    }
}
