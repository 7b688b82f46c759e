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
use std::path::Path;
use std::process::ExitCode;

use super::gated;
use crate::approval;
use crate::codex::site;
use crate::document::LineIndex;
use crate::files;
use crate::lint::registry::RULES;
use crate::lint::{baseline, config, discover, words};
use crate::plan::{self, import};
use crate::report::{Diagnostic, Excerpt, ui};
use crate::text::quote;

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

    /// A folder that is needed and cannot be made.
    pub fn cannot_make(folder: &Path, source: &io::Error) -> Self {
        Self::new(
            Exit::Unable,
            Diagnostic::error(format!("cannot make the folder `{}`", folder.display()))
                .note(source.to_string()),
        )
    }

    /// The same with another exit code, where something was done before.
    #[must_use]
    pub fn with_exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Standard input among files, or without a name.
    pub fn stdin_alone() -> Self {
        Self::new(
            Exit::Unable,
            Diagnostic::error("standard input stands alone and needs a name"),
        )
        .hint("`codexgate lint - --stdin-filename .codex/config.toml`")
    }

    /// Standard input that is to be written.
    pub fn cannot_fix_stdin() -> Self {
        Self::new(
            Exit::Unable,
            Diagnostic::error("standard input cannot be written"),
        )
        .hint("`--fix --diff` shows the fixes")
    }

    /// A name that no rule has.
    pub fn no_such_rule(id: &str) -> Self {
        let failure = Self::new(
            Exit::Unable,
            Diagnostic::error(format!("no rule is named `{id}`")),
        );
        match words::closest(id, RULES.iter().map(|rule| rule.id)) {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint("`codexgate rules` lists them"),
        }
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

impl From<files::Error> for Failure {
    fn from(error: files::Error) -> Self {
        use files::Error as E;
        let (exit, hint) = match &error {
            E::Changed { .. } => (Exit::Refused, Some("run it again: the plan is made anew")),
            E::HardLinked { .. } => (
                Exit::Refused,
                Some("make the other name a symbolic link, or edit the file by hand"),
            ),
            E::CannotKeep { .. } | E::SameFile { .. } => (Exit::Refused, None),
            E::RolledBack { .. } | E::Stuck { .. } => (Exit::Partial, None),
            E::Busy { .. } => (
                Exit::Unable,
                Some("wait until it has ended, then run it again"),
            ),
            _ => (Exit::Unable, None),
        };
        let failure = Self::of(exit, &error);
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<approval::Error> for Failure {
    fn from(error: approval::Error) -> Self {
        use approval::Error as E;
        let (exit, hint): (Exit, Option<String>) = match &error {
            E::UnsafeState { variable, .. } => (
                Exit::Refused,
                Some(format!(
                    "`{variable}` decides where it is; it must be yours alone (0700), outside git \
                     work trees and outside what an agent may write"
                )),
            ),
            E::UnsafeExecutable(_) => (
                Exit::Refused,
                Some("install it where only you and root can write, such as ~/.local/bin".into()),
            ),
            E::Sandboxed { .. } => (
                Exit::Refused,
                Some(format!(
                    "run it as one plain command that begins with `{}`: the rule of \
                         `codexgate install` lets that alone leave the sandbox",
                    gated::own_command(&["apply"])
                )),
            ),
            E::OtherFolder { .. } => (
                Exit::Refused,
                Some("a shell environment policy may have dropped a variable".into()),
            ),
            E::Denied { .. } => (Exit::Refused, Some("a person can change that line".into())),
            E::NoGrant { token, .. } => (
                Exit::Refused,
                Some(format!(
                    "a person approves it with `{}`",
                    gated::own_command(&["approve", token.as_str()])
                )),
            ),
            E::Full { .. } => (
                Exit::Refused,
                Some(format!(
                    "a person sees them with `{}` and rejects some, or they expire",
                    gated::own_command(&["pending"])
                )),
            ),
            E::Journal(_) => (
                Exit::Refused,
                Some(format!(
                    "`{}` says more; move both files away to begin anew",
                    gated::own_command(&["journal", "verify"])
                )),
            ),
            E::Changed { .. } | E::NotWaiting { .. } => {
                (Exit::Refused, Some("propose it again".into()))
            }
            E::Open { .. }
            | E::Injected { .. }
            | E::Policy { .. }
            | E::Itself
            | E::Outside { .. }
            | E::Patch { .. }
            | E::Altered { .. }
            | E::NotStarted { .. } => (Exit::Refused, None),
            E::Unrecorded(_) => (Exit::Partial, None),
            E::NoState
            | E::NoProgram { .. }
            | E::NotUtf8 { .. }
            | E::Variable { .. }
            | E::Unset { .. }
            | E::Nothing { .. }
            | E::Limit { .. }
            | E::TooMuch { .. }
            | E::NotPlain { .. }
            | E::Io { .. } => (Exit::Unable, None),
            E::Files(_) => {
                let E::Files(error) = error else {
                    unreachable!("matched above")
                };
                return error.into();
            }
        };
        let failure = Self::of(exit, &error);
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<import::Error> for Failure {
    fn from(error: import::Error) -> Self {
        // The line may hold a secret: its place is named, never shown.
        let place = match error.place {
            Some((_, at)) => format!("{}:{}:{}", error.file, at.line, at.column),
            None => error.file.clone(),
        };
        let exit = match *error.reason {
            import::Reason::BadName => Exit::Unable,
            _ => Exit::Refused,
        };
        let failure = Self::new(
            exit,
            Diagnostic::error(error.to_string()).at(Excerpt::file(place)),
        );
        match error.reason.way_out() {
            Some(way_out) => failure.hint(way_out),
            None => failure,
        }
    }
}

impl From<plan::Error> for Failure {
    fn from(error: plan::Error) -> Self {
        use plan::Error as E;
        match error {
            E::Read(error) => error.into(),
            E::Syntax {
                source_text,
                message,
            } => {
                let source = *source_text;
                let lines = LineIndex::new(&source.text);
                let path = source.path.display().to_string();
                let place = Excerpt::text(path, &source.text, &lines, source.span);
                let nuls = source.text.bytes().filter(|byte| *byte == 0).count();
                let failure = Self::new(
                    Exit::Refused,
                    Diagnostic::error("the file does not parse, so nothing can be added to it")
                        .at(place.label(message))
                        .note("the file is as it was found"),
                );
                if nuls > 0 {
                    failure.hint(format!(
                        "{nuls} of its {} bytes are NUL, as after a power cut: restore a copy",
                        source.text.len()
                    ))
                } else {
                    failure.hint("mend it first; `codexgate lint` says more about it")
                }
            }
            E::NotUtf8 { .. } => Self::of(Exit::Refused, &error)
                .hint("save it as UTF-8; Codex does not start with it either"),
            E::LinkLeavesProject { .. } => Self::of(Exit::Refused, &error)
                .hint("put a plain file there, or change the link's target by hand"),
            E::ProjectIsHome { .. } => {
                Self::of(Exit::Refused, &error).hint("use `--scope user` for it")
            }
            E::NoHome => Self::of(Exit::Unable, &error).hint("set one, or give `--codex-home DIR`"),
            E::BadServer { .. } | E::Twice { .. } => Self::of(Exit::Unable, &error),
            E::UnsafeProgram { .. } => Self::of(Exit::Refused, &error).hint(
                "install codexgate where no agent can write, as `cargo install` does, and run that \
                 one; or leave out what points at it: `--no-approver --no-rule --no-hooks`",
            ),
            E::Record { .. } => Self::of(Exit::Refused, &error)
                .hint("move the record away: `uninstall` then works by value"),
        }
    }
}

impl From<config::Error> for Failure {
    fn from(error: config::Error) -> Self {
        let config::Error::Wrong { path, text, wrong } = error else {
            return Self::of(Exit::Unable, &error);
        };
        let lines = LineIndex::new(&text);
        let place = Excerpt::text(path.display().to_string(), &text, &lines, wrong.span);
        let failure = Self::new(
            Exit::Unable,
            Diagnostic::error(wrong.message)
                .at(place)
                .note("this file decides what is silenced, so nothing is judged while it is wrong"),
        );
        match wrong.help {
            Some(help) => failure.hint(help),
            None => failure,
        }
    }
}

impl From<baseline::Error> for Failure {
    fn from(error: baseline::Error) -> Self {
        let failure = Self::of(Exit::Unable, &error);
        match error {
            baseline::Error::Missing { path } => failure.hint(format!(
                "`codexgate lint --write-baseline {}` makes it",
                quote::word(&path.display().to_string())
            )),
            _ => failure,
        }
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
