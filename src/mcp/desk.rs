//! The gate as the approver uses it: a proposal is taken up where it would run, and decided there.

use std::error::Error as _;
use std::path::{Path, PathBuf};

use super::server::{Desk, Refusal, Shown};
use super::session::{Guarded, Session};
use crate::approval::{
    self, Approved, By, Card, Error, Gate, NoGrant, Ruling, Surroundings, SystemClock, Token,
    Waiting,
};
use crate::files::RealDisk;
use crate::text::quote;

/// Opens the state directory anew for each step, so that it is never held while a person thinks.
pub struct GateDesk<L> {
    look: L,
    program: PathBuf,
    temporary: Option<PathBuf>,
    around: Option<Surroundings>,
}

impl<L: FnMut() -> Result<Surroundings, Refusal>> GateDesk<L> {
    /// `look` judges where this runs; `program` is the path under which an agent runs this
    /// executable, `temporary` is `$TMPDIR`.
    pub fn new(look: L, program: PathBuf, temporary: Option<PathBuf>) -> Self {
        Self {
            look,
            program,
            temporary,
            around: None,
        }
    }

    fn with_gate<T>(
        &self,
        around: &Surroundings,
        act: impl FnOnce(&mut Gate<'_>) -> Result<T, Error>,
    ) -> Result<T, Refusal> {
        let mut disk = RealDisk;
        Gate::open(around, &SystemClock, &mut disk)
            .and_then(|mut gate| act(&mut gate))
            .map_err(|error| Refusal::of(&error, &self.program))
    }

    /// A step on the surroundings that the proposal was taken up in.
    fn decide<T>(&self, act: impl FnOnce(&mut Gate<'_>) -> Result<T, Error>) -> Result<T, Refusal> {
        let around = self.around.as_ref().ok_or_else(|| Refusal {
            what: "no proposal was taken up".to_owned(),
            todo: TELL.to_owned(),
        })?;
        self.with_gate(around, act)
    }
}

impl Refusal {
    /// What an agent is told of an error. `program` is the path under which it runs this one.
    pub fn of(error: &Error, program: &Path) -> Self {
        let mut what = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            what = format!("{what}: {error}");
            cause = error.source();
        }
        let todo = match error {
            Error::NotWaiting { .. } | Error::Changed { .. } => {
                let program = program.to_string_lossy();
                format!(
                    "If it is still wanted, propose it again with {} and call this tool with the \
                     new token.",
                    quote::words([&program, "apply", "--", "PROGRAM", "ARG"])
                )
            }
            Error::Denied { .. } => {
                "A policy forbids it; do not look for another way to do it.".to_owned()
            }
            Error::UnsafeState { variable, .. } => format!("{TELL} It comes from `${variable}`."),
            _ => TELL.to_owned(),
        };
        Self { what, todo }
    }
}

/// For what an agent cannot mend.
pub const TELL: &str = "Tell the person: this has to be mended before anything can be approved.";

impl<L: FnMut() -> Result<Surroundings, Refusal>> Desk for GateDesk<L> {
    fn take_up(&mut self, token: &Token, session: &Session) -> Result<Shown, Refusal> {
        let around = (self.look)()?;
        let guarded = Guarded {
            state: around.state.clone(),
            codex_home: around.codex_home.clone(),
            // Where it is reached by a link, the link counts as well.
            executables: vec![self.program.clone(), around.executable.clone()],
            temporary: self.temporary.clone(),
        };
        if let Some(why) = session.open(&guarded) {
            return Err(Refusal {
                what: format!("the gate is open here: {why}"),
                todo: "Tell the person: nothing is approved in a session that could forge it. \
                       Start Codex in the sandbox workspace-write or read-only, without further \
                       writable folders there."
                    .to_owned(),
            });
        }
        let waiting = self.with_gate(&around, |gate| {
            let waiting = approval::load(gate, token)?;
            approval::inspect(&waiting, &around)?;
            match approval::judge(waiting.proposal(), &around)? {
                Ruling::Deny(line) => Err(Error::Denied {
                    line: line.to_string(),
                }),
                _ => Ok(waiting),
            }
        })?;
        self.around = Some(around);
        let card = Card::of(&waiting).text();
        Ok(Shown { waiting, card })
    }

    fn grant(&mut self, approved: Approved) -> Result<(), Refusal> {
        self.decide(|gate| approved.grant(gate))
    }

    fn reject(&mut self, waiting: &Waiting, by: &By) -> Result<(), Refusal> {
        self.decide(|gate| approval::reject(gate, waiting, by, None))
    }

    fn undecided(&mut self, waiting: &Waiting, by: &By, why: NoGrant) {
        // Nothing was granted, so there is nothing to undo where it cannot be recorded.
        let _ = self.decide(|gate| approval::undecided(gate, waiting, by, why));
    }
}
