//! What every command that writes has around its commit: what a killed run left, and the folder in
//! which a commit is remembered until it is done.

use std::path::{Path, PathBuf};

use super::Failure;
use super::state::State;
use crate::codex::Site;
use crate::files::{self, RealDisk, Recovered};
use crate::plan::Scope;
use crate::plan::parts::guide;
use crate::report::Ui;
use crate::report::ui::style;

/// Brings back what a killed run left half done, before anything is read.
///
/// # Errors
/// Another run at work, or what was left cannot be followed.
pub fn recover(site: &Site, scopes: &[Scope], state: &State, ui: &mut Ui) -> Result<(), Failure> {
    let mut folders: Vec<(PathBuf, bool)> = Vec::new();
    folders.extend(state.folder().map(|folder| (folder.clone(), true)));
    for scope in [Scope::System, Scope::User, Scope::Project] {
        // The gate of a project has files in Codex's home, too.
        if (scopes.contains(&scope) || scope == Scope::User)
            && let Some(folder) = scope_folder(site, scope)
        {
            // No agent can write in Codex's home, or nothing of the gate holds.
            folders.push((folder, scope == Scope::User));
        }
    }
    let guide = site.project.join(guide::FILE);
    for (folder, any) in folders {
        // What lies in the state directory is ours whatever it names; what lies beside a
        // project's files may name those files alone.
        // stops: a repository that brings an intent for a file of the user
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let allowed = |path: &Path| any || path.parent() == Some(real.as_path()) || path == guide;
        let recovered = files::recover(&folder, &allowed, &mut RealDisk)?;
        tell_recovered(&recovered, ui);
    }
    Ok(())
}

/// Where a commit is remembered: a folder at least as trusted as every file of it.
pub struct Intents {
    /// The folder. It is there.
    pub folder: PathBuf,
    /// What had to be made for it, outer ones first.
    made: Vec<PathBuf>,
}

impl Intents {
    /// Finds or makes it for a commit of `paths`.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn find(site: &Site, state: &State, paths: &[&Path]) -> Result<Self, Failure> {
        if let Some(state) = state.folder() {
            files::make_private_folder(state)
                .map_err(|source| Failure::cannot_make(state, &source))?;
            return Ok(Self {
                folder: state.clone(),
                made: Vec::new(),
            });
        }
        let scopes = [Scope::System, Scope::User, Scope::Project];
        let mut known = scopes.iter().filter_map(|scope| scope_folder(site, *scope));
        let folder = known
            .find(|folder| paths.iter().any(|path| path.starts_with(folder)))
            .unwrap_or_else(|| site.dot_codex());
        Self::make(site, folder)
    }

    /// The folder of `path` itself, for a commit of files in it alone.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn beside(site: &Site, path: &Path) -> Result<Self, Failure> {
        let folder = path.parent().unwrap_or(&site.cwd).to_path_buf();
        Self::make(site, folder)
    }

    fn make(site: &Site, folder: PathBuf) -> Result<Self, Failure> {
        let mut made: Vec<PathBuf> = folder
            .ancestors()
            .take_while(|above| !above.exists())
            .map(Path::to_path_buf)
            .collect();
        made.reverse();
        let result = if site.codex_home.as_ref() == Some(&folder) {
            files::make_private_folder(&folder)
        } else {
            std::fs::create_dir_all(&folder)
        };
        result.map_err(|source| Failure::cannot_make(&folder, &source))?;
        Ok(Self { folder, made })
    }

    /// Takes away the folders that were made for nothing. `gone` are those that the commit was to
    /// remove: where it was remembered in one of them, that one could not go with the files.
    pub fn end<'a>(&self, is_committed: bool, gone: impl Iterator<Item = &'a PathBuf>) {
        let folders: Vec<&PathBuf> = if is_committed {
            gone.filter(|folder| **folder == self.folder).collect()
        } else {
            self.made.iter().rev().collect()
        };
        for folder in folders {
            // Goes only if nothing is in it.
            let _ = std::fs::remove_dir(folder);
        }
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
