//! `codexgate lint`: finds what opens the gate, or does not do what its author thinks.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::mend::{self, Mend};
use super::{Exit, Failure, Globals, Places};
use crate::codex::Site;
use crate::codex::version::Version;
use crate::files::CONFIG_LIMIT;
use crate::lint::baseline::Baseline;
use crate::lint::choose::Choice;
use crate::lint::run::Watch;
use crate::lint::{
    Report, Scope, Severity, Silenced, Source, Wanted, config, discover, registry, run,
};
use crate::report::ui::Loudness;
use crate::report::{Ui, github, json, junit, sarif, text};

/// Find what opens the gate, or does not do what its author thinks
///
/// Judges the files of the project, every `.codex` folder in it and above it in its repository
/// included, or those that are given. A file is known by its place (Codex's home, a project's
/// `.codex`, the system's folder), else by its name: `config.toml`, `NAME.config.toml`,
/// `managed_config.toml`, `requirements.toml`, `hooks.json`, `*.rules`. A file that cannot be read
/// or parsed is a finding, never a pass.
///
/// A comment `# codexgate: ignore[RULE] the reason` silences a finding on its line or the next.
/// `[lint]` in the project's `.codex/codexgate.toml` chooses rules, severities and paths. The
/// summary says how many findings the project silences so, and `--no-ignore` shows them all.
///
/// Ends with 1 where a finding is as grave as `--fail-on` says, or graver.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate lint
  codexgate lint --scope all
  codexgate lint --fix --diff
  codexgate lint --format json ~/.codex/config.toml
  codexgate lint --format sarif > codexgate.sarif")]
pub struct Args {
    /// Files, or folders to look for them in; `-` is standard input
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Whose files are judged, beside those that are given
    #[arg(long, value_name = "SCOPE", default_value = "project")]
    scope: Whose,

    /// Look into scripts that start Codex, too: workflows, shell scripts, Makefiles, `package.json`,
    /// Dockerfiles
    #[arg(long)]
    scripts: bool,

    /// How findings are written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// The mildest finding that makes the run fail
    #[arg(long, value_name = "SEVERITY", default_value = "warning")]
    fail_on: Level,

    /// Only these rules, in place of what the project selects
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    select: Option<Vec<String>>,

    /// Without these rules
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    ignore: Vec<String>,

    /// Where the text of standard input would lie: its name and place say what it is
    #[arg(long, value_name = "NAME")]
    stdin_filename: Option<PathBuf>,

    /// Show what the project silences or makes milder, too
    #[arg(long, conflicts_with = "baseline")]
    no_ignore: bool,

    /// Leave out the findings of this file
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Write the findings to this file, and succeed
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fix", "baseline"])]
    write_baseline: Option<PathBuf>,

    #[command(flatten)]
    mend: Mend,

    /// Judge for this version of Codex, in place of the newest known one
    #[arg(long, value_name = "VERSION", default_value_t)]
    codex_version: Version,

    #[command(flatten)]
    places: Places,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Whose {
    /// The project's
    Project,
    /// The user's and the system's, too, and what is in force when all are laid on each other
    All,
}

impl From<Whose> for Scope {
    fn from(whose: Whose) -> Self {
        match whose {
            Whose::Project => Self::Project,
            Whose::All => Self::All,
        }
    }
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// For a person: each with its line and the way out
    Text,
    /// For a program
    Json,
    /// For code scanning: SARIF 2.1.0
    Sarif,
    /// Annotations in a workflow of GitHub
    Github,
    /// For CI systems: JUnit's XML
    Junit,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Level {
    /// Errors alone
    Error,
    /// Warnings and errors
    Warning,
    /// Every finding
    Info,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Self::Error,
            Level::Warning => Self::Warning,
            Level::Info => Self::Info,
        }
    }
}

pub(super) fn run(args: &Args, globals: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
    let site = globals.site(&args.places)?;
    let choice = choice(args, &site)?;
    let mut sources = read(args, &site, ui)?;
    let is_stdin = is_stdin(&args.paths);
    let mending = mend::mend(&args.mend, &site, &choice, args.codex_version, &sources);
    if let Some(mending) = &mending {
        let written = mend::finish(&args.mend, mending, &site, is_stdin, ui)?;
        if args.mend.shows_only() {
            let report = judged(sources, &site, &choice, args, ui);
            return Ok(exit(&report, args.fail_on.into()));
        }
        if written {
            sources = read(args, &site, ui)?;
        }
    }
    let report = judged(sources, &site, &choice, args, ui);
    if let Some(path) = &args.write_baseline {
        let count = mend::write_baseline(&site.cwd.join(path), &report, &site)?;
        ui.say(format!(
            "wrote {} to `{}`",
            text::count(count, "finding"),
            path.display()
        ));
        return Ok(Exit::Done);
    }
    let fail_on = Severity::from(args.fail_on);
    match args.format {
        Format::Text => show(&report, ui),
        Format::Json => ui.line(json::findings(&report)),
        Format::Sarif => ui.line(sarif::findings(&report, &site)),
        Format::Github => ui.out(github::findings(&report)),
        Format::Junit => ui.out(junit::findings(&report, fail_on)),
    }
    let exit = exit(&report, fail_on);
    // The process ends now: to free some thousand trees first took a tenth of a run.
    std::mem::forget(report);
    Ok(exit)
}

fn judged(sources: Vec<Source>, site: &Site, choice: &Choice, args: &Args, ui: &Ui) -> Report {
    let watch = Watch::default();
    let (version, scope) = (args.codex_version, args.scope.into());
    let mut report = ui.while_waiting(
        || text::phase(watch.phase()),
        || run::judge_in(site, sources, version, scope, &watch),
    );
    choice.apply(&mut report);
    report
}

fn exit(report: &Report, fail_on: Severity) -> Exit {
    if report.worst().is_some_and(|worst| worst >= fail_on) {
        Exit::Refused
    } else {
        Exit::Done
    }
}

fn show(report: &Report, ui: &mut Ui) {
    // In one piece: a write for each line costs more than judging the file.
    let mut out = String::new();
    for (source, finding) in report.findings() {
        out.push_str(&text::finding(source, finding).render());
        out.push('\n');
    }
    ui.out(out);
    let silenced = [Silenced::Comment, Silenced::Config, Silenced::Baseline]
        .iter()
        .any(|by| report.silenced(*by) > 0);
    // What the project hides is told even to who wants to hear little.
    if ui.loudness() > Loudness::Quiet || silenced || report.milder > 0 {
        ui.line(text::summary(report));
    }
}

fn choice(args: &Args, site: &Site) -> Result<Choice, Failure> {
    let known = |names: &[String]| -> Result<Vec<&'static str>, Failure> {
        names
            .iter()
            .map(|name| match registry::find(name) {
                Some(rule) => Ok(rule.id),
                None => Err(Failure::no_such_rule(name)),
            })
            .collect()
    };
    let baseline = args.baseline.as_ref();
    Ok(Choice {
        select: args.select.as_deref().map(known).transpose()?,
        ignore: known(&args.ignore)?,
        config: config::load(&config::path(site))?,
        baseline: baseline
            .map(|path| Baseline::load(&site.cwd.join(path)))
            .transpose()?,
        all: args.no_ignore,
    })
}

fn is_stdin(paths: &[PathBuf]) -> bool {
    paths.iter().any(|path| path == Path::new("-"))
}

fn read(args: &Args, site: &Site, ui: &Ui) -> Result<Vec<Source>, Failure> {
    if !is_stdin(&args.paths) {
        let wanted = Wanted {
            scope: args.scope.into(),
            scripts: args.scripts,
        };
        let watch = Watch::default();
        return Ok(ui.while_waiting(
            || text::phase(watch.phase()),
            || run::read_all(site, &args.paths, wanted, &watch),
        )?);
    }
    let Some(name) = args
        .stdin_filename
        .as_ref()
        .filter(|_| args.paths.len() == 1)
    else {
        return Err(Failure::stdin_alone());
    };
    let subject = discover::named(site, name)?;
    let mut bytes = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(CONFIG_LIMIT + 1)
        .read_to_end(&mut bytes);
    let source = match read {
        Err(error) => Source::unreadable(subject, error.to_string()),
        Ok(len) if len as u64 > CONFIG_LIMIT => {
            Source::unreadable(subject, format!("it has more than {CONFIG_LIMIT} bytes"))
        }
        Ok(_) => Source::parse(subject, bytes),
    };
    Ok(vec![source])
}
