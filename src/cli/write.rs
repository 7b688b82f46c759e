//! The common end of `install` and `uninstall`: recover, show, ask, commit.

use std::path::{Path, PathBuf};

use crate::cli::state::State;
use crate::cli::{Exit, Failure};
use crate::codex::Site;
use crate::files::{self, RealDisk, Recovered};
use crate::plan::parts::guide;
use crate::plan::record::Store;
use crate::plan::uninstall::RecordChange;
use crate::plan::{OnCollision, Plan, Scope, write};
use crate::report::plan as report;
use crate::report::ui::style;
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
        let mut folders: Vec<(PathBuf, bool)> = Vec::new();
        folders.extend(self.state.folder().map(|folder| (folder.clone(), true)));
        for scope in [Scope::System, Scope::User, Scope::Project] {
            // The gate of a project has files in Codex's home, too.
            if (self.scopes.contains(&scope) || scope == Scope::User)
                && let Some(folder) = scope_folder(self.site, scope)
                && folder.is_dir()
            {
                // No agent can write in Codex's home, or nothing of the gate holds.
                folders.push((folder, scope == Scope::User));
            }
        }
        let guide = self.site.project.join(guide::FILE);
        for (folder, any) in folders {
            // What lies in the state directory is ours whatever it names; what lies beside a
            // project's files may name those files alone.
            // stops: a repository that brings an intent for a file of the user
            let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            let allowed =
                |path: &Path| any || path.parent() == Some(real.as_path()) || path == guide;
            let recovered = files::recover(&folder, &allowed, &mut RealDisk)?;
            tell_recovered(&recovered, ui);
        }
        Ok(())
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
        let (intents, made) = self.intents(plan)?;
        let committed = write::commit(plan, records, &intents, &mut RealDisk);
        // Where the commit was remembered beside the files, that folder could not go with them.
        let gone = plan.files.iter().flat_map(|file| &file.folders);
        let folders: Vec<&PathBuf> = match &committed {
            Ok(_) => gone.filter(|folder| **folder == intents).collect(),
            Err(_) => made.iter().rev().collect(),
        };
        for folder in folders {
            // Goes only if nothing is in it.
            let _ = std::fs::remove_dir(folder);
        }
        committed.map(drop).map_err(Failure::from)
    }

    /// Where the commit is remembered: a folder at least as trusted as every file of the plan.
    /// The folders that had to be made for it come back, too.
    fn intents(&self, plan: &Plan) -> Result<(PathBuf, Vec<PathBuf>), Failure> {
        if let Some(state) = self.state.folder() {
            files::make_private_folder(state)
                .map_err(|source| Failure::cannot_make(state, &source))?;
            return Ok((state.clone(), Vec::new()));
        }
        let folder = [Scope::System, Scope::User, Scope::Project]
            .into_iter()
            .filter_map(|scope| scope_folder(self.site, scope))
            .find(|folder| plan.files.iter().any(|file| file.path.starts_with(folder)))
            .unwrap_or_else(|| self.site.dot_codex());
        let mut made: Vec<PathBuf> = folder
            .ancestors()
            .take_while(|above| !above.exists())
            .map(Path::to_path_buf)
            .collect();
        made.reverse();
        let result = if self.site.codex_home.as_ref() == Some(&folder) {
            files::make_private_folder(&folder)
        } else {
            std::fs::create_dir_all(&folder)
        };
        result.map_err(|source| Failure::cannot_make(&folder, &source))?;
        Ok((folder, made))
    }
}

fn scope_folder(site: &Site, scope: Scope) -> Option<PathBuf> {
    match scope {
        Scope::Project => Some(site.dot_codex()),
        Scope::User => site.codex_home.clone(),
        Scope::System => Some(site.system.clone()),
    }
}

fn tell_recovered(recovered: &Recovered, ui: &mut Ui) {
    let (mark, end) = (style::MARK, format!("{:#}", style::MARK));
    for path in &recovered.undone {
        ui.say(format!(
            "{mark}recovered{end}: an earlier run was killed; `{}` is what it was before that run",
            path.display()
        ));
    }
    for left in &recovered.left {
        ui.say(format!(
            "{mark}not recovered{end}: `{}`: {}",
            left.path.display(),
            left.why
        ));
    }
}
