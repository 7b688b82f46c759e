//! What `lint` writes: fixes, and the baseline. Both go through the commit of an install.

use std::path::{Path, PathBuf};

use super::commit::{self, Intents};
use super::state::State;
use super::{Exit, Failure};
use crate::codex::Site;
use crate::codex::version::Version;
use crate::document::Span;
use crate::files::{self, After, Found, RealDisk, Write};
use crate::lint::choose::Choice;
use crate::lint::fix::{Fixed, Fixer, Mending};
use crate::lint::{Grade, Home, Report, Source, baseline};
use crate::plan::Scope;
use crate::report::{Diagnostic, Ui, diff, text};

/// Files of one commit, which takes 64 at most. Beyond that there are several commits.
const FILES: usize = 60;
/// The mode of a baseline that was not there: it goes into the repository.
const NEW_MODE: u32 = 0o644;

/// What to mend.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Fixes")]
pub struct Mend {
    /// Mend what has a safe fix: one that keeps the meaning of today, or the one plainly intended
    #[arg(long)]
    fix: bool,

    /// Take fixes that may change what is meant, too
    #[arg(long, requires = "fix")]
    unsafe_fixes: bool,

    /// Show what the fixes would change, and write nothing
    #[arg(long, requires = "fix")]
    diff: bool,
}

impl Mend {
    /// Whether nothing is to be written.
    pub const fn shows_only(&self) -> bool {
        self.diff
    }
}

/// The fixes of `sources`, where they are asked for.
pub fn mend(
    args: &Mend,
    site: &Site,
    choice: &Choice,
    version: Version,
    sources: &[Source],
) -> Option<Mending> {
    let grade = if args.unsafe_fixes {
        Grade::Unsafe
    } else {
        Grade::Safe
    };
    let fixer = Fixer {
        site,
        choice,
        version,
        grade,
    };
    args.fix.then(|| fixer.mend(sources))
}

/// Shows or writes the fixes; says whether something was written.
///
/// # Errors
/// Standard input is to be written; a file changed meanwhile; the commit's own.
pub fn finish(
    args: &Mend,
    mending: &Mending,
    site: &Site,
    is_stdin: bool,
    ui: &mut Ui,
) -> Result<bool, Failure> {
    if args.diff {
        for fixed in &mending.files {
            ui.out(diff_of(fixed));
        }
        for chmod in &mending.modes {
            ui.out(format!(
                "mode {:04o} -> {:04o} {}\n",
                chmod.from, chmod.to, chmod.subject.shown
            ));
        }
    } else if is_stdin {
        return Err(Failure::cannot_fix_stdin());
    } else {
        write(&mending.files, site, ui)?;
        for chmod in &mending.modes {
            files::set_mode(&chmod.subject.path, chmod.from, chmod.to)?;
        }
    }
    let texts: usize = mending.files.iter().map(|fixed| fixed.mended).sum();
    let mended = texts + mending.modes.len();
    let modes = mending.modes.iter().filter(|chmod| {
        let path = &chmod.subject.path;
        !mending
            .files
            .iter()
            .any(|fixed| fixed.subject.path == *path)
    });
    let files = text::count(mending.files.len() + modes.count(), "file");
    let verb = if args.diff { "would mend" } else { "mended" };
    if mended > 0 {
        ui.say(format!(
            "{verb} {} in {files}",
            text::count(mended, "finding")
        ));
    }
    if mending.refused > 0 {
        let plural = if mending.refused == 1 { "fix" } else { "fixes" };
        ui.say(format!(
            "left out {} {plural} that would make another finding",
            mending.refused
        ));
    }
    Ok(!args.diff && mended > 0)
}

fn diff_of(fixed: &Fixed) -> String {
    let source = |text: &str| Source::parse(fixed.subject.clone(), text.as_bytes().to_vec());
    let (before, after) = (source(&fixed.before), source(&fixed.after));
    let hidden = |source: &Source| -> Vec<Span> {
        source.secrets.iter().map(|secret| secret.span).collect()
    };
    diff::between(
        &fixed.subject.shown,
        (&fixed.before, &hidden(&before)),
        (&fixed.after, &hidden(&after)),
    )
}

fn write(files: &[Fixed], site: &Site, ui: &mut Ui) -> Result<(), Failure> {
    if files.is_empty() {
        return Ok(());
    }
    let state = State::find();
    commit::recover(
        site,
        &[Scope::Project, Scope::User, Scope::System],
        &state,
        ui,
    )?;
    let mut writes = Vec::with_capacity(files.len());
    for fixed in files {
        let path = fixed.subject.path.clone();
        let found = files::read(&path, files::CONFIG_LIMIT)?;
        if found.bytes() != Some(fixed.before.as_bytes()) {
            return Err(files::Error::Changed { path }.into());
        }
        stays_inside(fixed, &found, site)?;
        writes.push(Write {
            path,
            before: found,
            after: After::Bytes(fixed.after.clone().into_bytes()),
            new_mode: NEW_MODE,
            remove_folders: Vec::new(),
        });
    }
    commit_all(&writes, site, &state)
}

/// stops: a repository whose `.codex/config.toml` is a link to a file of the user
fn stays_inside(fixed: &Fixed, found: &Found, site: &Site) -> Result<(), Failure> {
    let Found::File(snapshot) = found else {
        return Ok(());
    };
    let top = site.git_root.as_deref().unwrap_or(&site.project);
    let home = fixed.subject.home;
    if matches!(home, Home::Project | Home::Nested)
        && fixed.subject.path.starts_with(top)
        && !snapshot.target.starts_with(top)
    {
        return Err(crate::plan::Error::LinkLeavesProject {
            path: fixed.subject.path.clone(),
            target: snapshot.target.clone(),
        }
        .into());
    }
    Ok(())
}

/// Commits `writes`: together where the state directory is safe, else folder by folder, since no
/// other folder is as trusted as each of them.
fn commit_all(writes: &[Write], site: &Site, state: &State) -> Result<(), Failure> {
    let mut written = false;
    let groups: Vec<&[Write]> = if state.folder().is_some() {
        writes.chunks(FILES).collect()
    } else {
        let folder = |write: &Write| write.path.parent().map(Path::to_path_buf);
        let by_folder = writes.chunk_by(|a, b| folder(a) == folder(b));
        by_folder.flat_map(|group| group.chunks(FILES)).collect()
    };
    for group in groups {
        let Some(first) = group.first() else { continue };
        let paths: Vec<&Path> = group.iter().map(|write| write.path.as_path()).collect();
        let intents = if state.folder().is_some() {
            Intents::find(site, state, &paths)?
        } else {
            Intents::beside(site, &first.path)?
        };
        let check = |path: &Path, bytes: Option<&[u8]>| {
            let planned = group.iter().find(|write| write.path == path);
            if planned.and_then(|write| write.after.bytes()) == bytes {
                Ok(())
            } else {
                Err("it is not what was to be written".to_owned())
            }
        };
        let committed = files::commit(group, &intents.folder, &check, &mut RealDisk);
        intents.end(committed.is_ok(), std::iter::empty());
        if let Err(error) = committed {
            let failure = Failure::from(error);
            // Earlier groups are written by now.
            return Err(if written {
                failure.with_exit(Exit::Partial)
            } else {
                failure
            });
        }
        written = true;
    }
    Ok(())
}

/// Writes the findings of `report` as a baseline; says how many they are.
///
/// # Errors
/// The file cannot be written, or there is another kind of file.
pub fn write_baseline(path: &Path, report: &Report, site: &Site) -> Result<usize, Failure> {
    let before = files::read(path, files::CONFIG_LIMIT)?;
    // stops: a slip of the keyboard that replaces some other file
    if matches!(before, Found::File(_)) && baseline::Baseline::load(path).is_err() {
        return Err(Failure::new(
            Exit::Refused,
            Diagnostic::error(format!("`{}` is there and is no baseline", path.display())),
        )
        .hint("name another file, or remove this one"));
    }
    let (text, count) = baseline::of(report);
    let state = State::find();
    let write = Write {
        path: PathBuf::from(path),
        before,
        after: After::Bytes(text.into_bytes()),
        new_mode: NEW_MODE,
        remove_folders: Vec::new(),
    };
    commit_all(&[write], site, &state)?;
    Ok(count)
}
