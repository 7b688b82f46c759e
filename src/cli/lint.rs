//! `codexgate lint`: finds what opens the gate, or does not do what its author thinks.

use std::path::PathBuf;

use super::{Exit, Failure, Globals, Places};
use crate::codex::version::Version;
use crate::lint::{self, Severity};
use crate::report::ui::Loudness;
use crate::report::{Ui, json, text};

/// Find what opens the gate, or does not do what its author thinks
///
/// Judges the files of the project, every `.codex` folder in it included, or those that are
/// given. A file is known by its place (Codex's home, a project's `.codex`, the system's folder),
/// else by its name: `config.toml`, `NAME.config.toml`, `managed_config.toml`,
/// `requirements.toml`, `hooks.json`, `*.rules`. A file that cannot be read or parsed is a finding, never a pass.
///
/// Ends with 1 where there is a warning or an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate lint
  codexgate lint --format json ~/.codex/config.toml")]
pub struct Args {
    /// Files, or folders to look for them in
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// How findings are written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Judge for this version of Codex, in place of the newest known one
    #[arg(long, value_name = "VERSION", default_value_t)]
    codex_version: Version,

    #[command(flatten)]
    places: Places,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// For a person: each with its line and the way out
    Text,
    /// For a program
    Json,
}

pub(super) fn run(args: &Args, globals: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
    let site = globals.site(&args.places)?;
    let report = lint::run(&site, &args.paths, args.codex_version)?;
    match args.format {
        Format::Json => ui.line(json::findings(&report)),
        Format::Text => {
            for (source, finding) in report.findings() {
                ui.line(text::finding(source, finding).render());
            }
            if ui.loudness() > Loudness::Quiet {
                ui.line(text::summary(&report));
            }
        }
    }
    Ok(match report.worst() {
        Some(Severity::Warning | Severity::Error) => Exit::Refused,
        Some(Severity::Info) | None => Exit::Done,
    })
}
