//! The common end of `install` and `uninstall`: show, ask, commit.

use std::path::Path;

use crate::cli::commit::{self, Intents};
use crate::cli::state::State;
use crate::cli::{Exit, Failure};
use crate::codex::Site;
use crate::files::RealDisk;
use crate::plan::record::Store;
use crate::plan::uninstall::RecordChange;
use crate::plan::{OnCollision, Plan, Scope, write};
use crate::report::plan as report;
use crate::report::{Diagnostic, Ui};

/// How a plan's result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// What to do where a key is there with another value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Collisions {
    /// Write nothing at all
    #[default]
    Refuse,
    /// Leave those keys as they are, and say so
    Skip,
    /// Put the wanted value in their place
    Replace,
}

impl From<Collisions> for OnCollision {
    fn from(word: Collisions) -> Self {
        match word {
            Collisions::Refuse => Self::Refuse,
            Collisions::Skip => Self::Skip,
            Collisions::Replace => Self::Replace,
        }
    }
}

/// Whose files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ScopeWord {
    /// The project's `.codex`
    Project,
    /// Codex's home
    User,
    /// The system's folder, `/etc/codex`
    System,
}

impl From<ScopeWord> for Scope {
    fn from(word: ScopeWord) -> Self {
        match word {
            ScopeWord::Project => Self::Project,
            ScopeWord::User => Self::User,
            ScopeWord::System => Self::System,
        }
    }
}

/// The scopes asked for, each once; the project without any.
pub fn scopes(words: &[ScopeWord]) -> Vec<Scope> {
    let mut scopes: Vec<Scope> = Vec::new();
    for word in words {
        let scope = Scope::from(*word);
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    if scopes.is_empty() {
        scopes.push(Scope::Project);
    }
    scopes
}

/// How to end: only show, only check, or write.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Ending {
    /// Show what would change, write nothing, exit 0
    #[arg(long, conflicts_with = "check")]
    dry_run: bool,

    /// Exit 1 if something would change, write nothing (to find drift in CI)
    #[arg(long)]
    check: bool,

    /// Write without asking; needed where there is no terminal
    #[arg(long)]
    yes: bool,

    /// How the result is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,

    /// What to do where a key is there with another value
    #[arg(long, value_name = "WHAT", default_value = "refuse")]
    pub on_collision: Collisions,
}

impl Ending {
    /// Whether only a difference is looked for.
    pub const fn is_check(&self) -> bool {
        self.check
    }
}

/// What became of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// There was nothing to do.
    Nothing,
    /// It was shown and not written.
    Shown,
    /// It was written.
    Written,
}

/// A plan on its way to the disk.
pub struct Act<'a> {
    /// The command's name, for JSON.
    pub command: &'static str,
    /// The folders that count.
    pub site: &'a Site,
    /// The scopes of the plan.
    pub scopes: &'a [Scope],
    /// The state directory.
    pub state: &'a State,
    /// How to end.
    pub ending: &'a Ending,
}

impl Act<'_> {
    /// Brings back what a killed run left half done, before anything is read.
    ///
    /// # Errors
    /// Another run at work, or what was left cannot be followed.
    pub fn recover(&self, ui: &mut Ui) -> Result<(), Failure> {
        commit::recover(self.site, self.scopes, self.state, ui)
    }

    /// The store of records, where the state directory is safe.
    pub fn store(&self) -> Option<Store> {
        self.state.folder().map(|folder| Store::new(folder))
    }

    /// Shows the plan, asks, and writes it.
    ///
    /// # Errors
    /// A collision; no terminal and no `--yes`; the commit's own.
    pub fn finish(
        &self,
        plan: &Plan,
        records: &[RecordChange],
        ui: &mut Ui,
    ) -> Result<(Exit, Ended), Failure> {
        let cwd = &self.site.cwd;
        let json = self.ending.format == Format::Json;
        if !plan.collisions.is_empty() {
            if json {
                ui.line(report::json(plan, cwd, self.command, false).to_string());
            }
            for collision in &plan.collisions {
                ui.diagnose(&report::collision(collision, cwd));
            }
            return Ok((Exit::Refused, Ended::Shown));
        }
        if !json {
            ui.out(report::diffs(plan, cwd));
            for skipped in &plan.skipped {
                ui.say(format!(
                    "skipped: {}, `{}` in {} stays as it is",
                    skipped.part.name(),
                    skipped.path,
                    report::shown(cwd, &skipped.file)
                ));
            }
            for note in &plan.notes {
                ui.say(format!("note: {note}"));
            }
        }
        if plan.is_empty() {
            if json {
                ui.line(report::json(plan, cwd, self.command, false).to_string());
            }
            return Ok((Exit::Done, Ended::Nothing));
        }
        if self.ending.dry_run || self.ending.check {
            if json {
                ui.line(report::json(plan, cwd, self.command, false).to_string());
            }
            let exit = if self.ending.check {
                Exit::Refused
            } else {
                Exit::Done
            };
            return Ok((exit, Ended::Shown));
        }
        if !ui.confirm("Write these changes?", self.ending.yes)? {
            return Err(Failure::new(
                Exit::Refused,
                Diagnostic::error("not written: you said no"),
            ));
        }
        self.commit(plan, records)?;
        if json {
            ui.line(report::json(plan, cwd, self.command, true).to_string());
        }
        Ok((Exit::Done, Ended::Written))
    }

    fn commit(&self, plan: &Plan, records: &[RecordChange]) -> Result<(), Failure> {
        let paths: Vec<&Path> = plan.files.iter().map(|file| file.path.as_path()).collect();
        let intents = Intents::find(self.site, self.state, &paths)?;
        let committed = write::commit(plan, records, &intents.folder, &mut RealDisk);
        let gone = plan.files.iter().flat_map(|file| &file.folders);
        intents.end(committed.is_ok(), gone);
        committed.map(drop).map_err(Failure::from)
    }
}
