//! The command line: flags, and one file a command.
//!
//! A command file reads its flags, asks the library to decide, shows the decision, asks the
//! person where something is written, and acts, in this order. The library knows no flags and
//! prints nothing. Help comes from the doc comments here: the first line is imperative and has no
//! full stop, and each command's help ends with two examples.
//!
//! To add a command: a file with `Args` and `run`, a `mod` line, a variant of [`Command`], its
//! arm in [`Command::run`], then regenerate the completions (`UPDATE=1 cargo test --test generated`).

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{CommandFactory as _, Parser};

use crate::approval;
use crate::codex::Site;
use crate::codex::site::Environment;
use crate::report::Ui;
use crate::report::ui::{Color, Loudness};

mod apply;
mod approve;
mod broker;
mod commit;
mod completions;
mod explain;
pub mod failure;
mod gate;
mod gated;
mod hook;
mod install;
mod journal;
mod lint;
mod mcp;
mod mend;
mod pending;
mod reject;
mod request;
mod rules;
mod schema;
mod show;
mod state;
mod uninstall;
mod write;

pub use failure::{Exit, Failure};

/// Put a human gate into OpenAI Codex, prove that it is there, and keep it there
#[derive(Debug, Parser)]
#[command(name = "codexgate", version, max_term_width = 100)]
#[command(propagate_version = false, disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  codexgate install                    put the gate into this project
  codexgate lint                       find what opens the gate in this project
  codexgate show                       what is in force here, and which line decided it
  codexgate completions zsh            print completions for a shell

Exit codes: 0 done; 1 refused, or something was found; 2 usage, or it could not be done;
3 something was done and then something failed.")]
pub struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

/// Flags of every command.
#[derive(Debug, clap::Args)]
pub struct Globals {
    /// Work as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true)]
    directory: Option<PathBuf>,

    /// When to use colours
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    color: Color,

    /// Say only what went wrong
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,

    /// Say what was looked at, and why
    #[arg(short, long, global = true)]
    verbose: bool,
}

/// Where Codex's files lie. For `install`, `uninstall`, `lint`, `show` and `doctor` alone: with
/// these flags a caller chooses which files count, so no command that grants or runs takes them.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Places")]
pub struct Places {
    /// Codex's home, in place of `$CODEX_HOME` or `~/.codex`
    #[arg(long, value_name = "DIR")]
    codex_home: Option<PathBuf>,

    /// Put DIR before the paths of the system's files, as when building an image
    #[arg(long, value_name = "DIR")]
    system_root: Option<PathBuf>,
}

/// The commands, in the order of the help.
#[derive(Debug, clap::Subcommand)]
enum Command {
    Install(Box<install::Args>),
    Uninstall(uninstall::Args),
    Lint(lint::Args),
    Show(Box<show::Args>),
    Explain(explain::Args),
    Rules(rules::Args),
    Mcp(mcp::Args),
    Broker(broker::Args),
    Apply(Box<apply::Args>),
    Approve(approve::Args),
    Reject(reject::Args),
    Pending(pending::Args),
    Journal(journal::Args),
    Hook(hook::Args),
    Schema(schema::Args),
    Completions(completions::Args),
}

impl Command {
    fn run(self, globals: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
        match self {
            Self::Install(args) => install::run(&args, globals, ui),
            Self::Uninstall(args) => uninstall::run(&args, globals, ui),
            Self::Lint(args) => lint::run(&args, globals, ui),
            Self::Show(args) => show::run(&args, globals, ui),
            Self::Explain(args) => explain::run(&args, globals, ui),
            Self::Rules(args) => rules::run(&args, globals, ui),
            Self::Mcp(args) => mcp::run(&args, globals),
            Self::Broker(args) => broker::run(&args, globals, ui),
            Self::Apply(args) => apply::run(&args, globals, ui),
            Self::Approve(args) => approve::run(&args, globals, ui),
            Self::Reject(args) => reject::run(&args, globals, ui),
            Self::Pending(args) => pending::run(&args, globals, ui),
            Self::Journal(args) => journal::run(&args, globals, ui),
            Self::Hook(args) => hook::run(&args, globals, ui),
            Self::Schema(args) => schema::run(&args, globals, ui),
            Self::Completions(args) => completions::run(&args, globals, ui),
        }
    }
}

impl Globals {
    /// The folders that count, out of flags and environment.
    ///
    /// # Errors
    /// A working folder or a Codex home that is not there.
    pub fn site(&self, places: &Places) -> Result<Site, Failure> {
        Ok(Site::discover(&self.environment(places)?)?)
    }

    /// What flags and environment say about folders. An empty variable counts as unset.
    ///
    /// # Errors
    /// A working folder that is not there.
    pub fn environment(&self, places: &Places) -> Result<Environment, Failure> {
        let directory = match &self.directory {
            Some(directory) => directory.clone(),
            None => {
                std::env::current_dir().map_err(|source| Failure::no_working_folder(&source))?
            }
        };
        Ok(Environment {
            directory,
            home: variable("HOME"),
            codex_home: variable("CODEX_HOME"),
            codex_home_flag: places.codex_home.clone(),
            system_root: places.system_root.clone(),
        })
    }

    /// `-C DIR`, as it was given: paths in arguments are relative to it.
    pub fn directory(&self) -> Option<&std::path::Path> {
        self.directory.as_deref()
    }

    fn loudness(&self) -> Loudness {
        match (self.quiet, self.verbose) {
            (true, _) => Loudness::Quiet,
            (_, true) => Loudness::Verbose,
            _ => Loudness::Normal,
        }
    }
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// The definition of all commands, for completions and manual pages.
pub fn definition() -> clap::Command {
    Cli::command()
}

/// Parses the command line, runs it, and says how it ended.
pub fn main(args: impl IntoIterator<Item = OsString>) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    // The process between `apply --confirm` and its command; no command of a person.
    if let [_, word] = args.as_slice()
        && word == approval::SUPERVISE
    {
        let done = approval::supervise();
        return done.map_or(Exit::Unable, |()| Exit::Done);
    }
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return explain(&error, color_of(&args)),
    };
    let mut ui = Ui::new(cli.globals.color, cli.globals.loudness());
    let exit = match cli.command.run(&cli.globals, &mut ui) {
        Ok(exit) => exit,
        Err(failure) => {
            ui.diagnose(failure.diagnostic());
            failure.exit()
        }
    };
    finish(ui, exit)
}

/// Help, version and usage errors: clap has the words.
fn explain(error: &clap::Error, color: Color) -> Exit {
    let mut ui = Ui::new(color, Loudness::Normal);
    let text = error.render().ansi().to_string();
    let exit = if error.use_stderr() {
        ui.err(text);
        Exit::Unable
    } else {
        ui.out(text);
        Exit::Done
    };
    finish(ui, exit)
}

fn finish(ui: Ui, exit: Exit) -> Exit {
    match ui.finish() {
        // The stream itself failed, so there is nobody to tell.
        Err(_) if exit == Exit::Done => Exit::Unable,
        Ok(()) | Err(_) => exit,
    }
}

/// `--color` of a command line that did not parse.
fn color_of(args: &[OsString]) -> Color {
    let words: Vec<&str> = args.iter().filter_map(|word| word.to_str()).collect();
    let value = words.iter().enumerate().find_map(|(at, word)| {
        word.strip_prefix("--color=")
            .or_else(|| (*word == "--color").then(|| words.get(at + 1).copied())?)
    });
    match value {
        Some("always") => Color::Always,
        Some("never") => Color::Never,
        _ => Color::Auto,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        definition().debug_assert();
    }

    #[test]
    fn every_command_has_help_that_teaches() {
        for command in definition().get_subcommands() {
            let name = command.get_name();
            let about = command
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(!about.is_empty(), "{name} says nothing about itself");
            assert!(
                !about.ends_with('.'),
                "{name}: first line without a full stop"
            );
            let after = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            let examples = after.split("Examples:\n").nth(1).unwrap_or_default();
            let count = examples
                .lines()
                .filter(|line| line.trim_start().starts_with("codexgate "))
                .count();
            assert!(count >= 2, "{name}: the help ends with two examples");
            for argument in command.get_arguments() {
                assert!(
                    argument.get_help().is_some(),
                    "{name}: {}",
                    argument.get_id()
                );
            }
        }
    }

    #[test]
    fn the_directory_may_stand_before_or_after_the_command() {
        for args in [
            ["codexgate", "-C", "/x", "completions", "bash"],
            ["codexgate", "completions", "bash", "-C", "/x"],
        ] {
            let cli = Cli::try_parse_from(args).expect("both are fine");
            assert_eq!(cli.globals.directory(), Some(std::path::Path::new("/x")));
        }
    }

    #[test]
    fn colour_is_followed_in_errors_too() {
        let args = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(color_of(&args(&["c", "--color", "never"])), Color::Never);
        assert_eq!(color_of(&args(&["c", "--color=always"])), Color::Always);
        assert_eq!(color_of(&args(&["c", "--color"])), Color::Auto);
    }
}
