//! `codexgate show`: what is in force here, and which line decided it.

use std::path::PathBuf;

use super::{Exit, Failure, Globals, Places, state};
use crate::codex::effective::{ApprovalPolicy, Effective, Question, SandboxMode, Surface};
use crate::codex::layer::Flags;
use crate::codex::{Site, Sources, Version};
use crate::document::KeyPath;
use crate::report::Ui;
use crate::report::policy::View;

/// Show what is in force in a folder, and which line decided it
///
/// Reads the files that Codex reads, lays them on each other as Codex does, and applies the
/// administrator's limits. Runs nothing, writes nothing, and asks no ignore file.
///
/// KEY is a key path of config.toml, such as `approval_policy` or `mcp_servers.docs.command`.
///
/// Ends with 0 also where Codex would not start: that is an answer.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate show
  codexgate show approval_policy --as exec -c sandbox_mode=danger-full-access")]
pub struct Args {
    /// Show this value alone
    #[arg(value_name = "KEY")]
    key: Option<String>,

    /// How the answer is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Answer for this way into Codex
    #[arg(long = "as", value_name = "WAY", default_value = "app-server")]
    way: Way,

    /// Answer as if the user had trusted the folder
    #[arg(long, conflicts_with = "untrusted")]
    trusted: bool,

    /// Answer as if the user had marked the folder untrusted
    #[arg(long)]
    untrusted: bool,

    /// Answer for this version of Codex, in place of the newest known one
    #[arg(long, value_name = "VERSION", default_value_t)]
    codex_version: Version,

    #[command(flatten)]
    flags: CodexFlags,

    #[command(flatten)]
    places: Places,
}

/// Flags that Codex would be started with.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "As if Codex were started with")]
struct CodexFlags {
    /// A value over all files
    #[arg(short = 'c', value_name = "KEY=VALUE")]
    config: Vec<String>,

    /// A feature switched on
    #[arg(long, value_name = "FEATURE")]
    enable: Vec<String>,

    /// A feature switched off
    #[arg(long, value_name = "FEATURE")]
    disable: Vec<String>,

    /// A profile
    #[arg(short, value_name = "NAME")]
    profile: Option<String>,

    /// A sandbox mode
    #[arg(short, value_name = "MODE", value_parser = mode)]
    sandbox: Option<SandboxMode>,

    /// An approval policy
    #[arg(short, value_name = "POLICY", value_parser = approval)]
    approval: Option<ApprovalPolicy>,

    /// Unknown keys as errors
    #[arg(long)]
    strict_config: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// For a person: each value with its file, line and column
    Text,
    /// For a program
    Json,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Way {
    /// Editors and other clients
    AppServer,
    /// The terminal interface
    Tui,
    /// `codex exec`
    Exec,
}

fn mode(word: &str) -> Result<SandboxMode, String> {
    SandboxMode::parse(word).ok_or_else(|| {
        let words: Vec<&str> = SandboxMode::ALL.iter().map(|mode| mode.word()).collect();
        format!("one of {}", words.join(", "))
    })
}

fn approval(word: &str) -> Result<ApprovalPolicy, String> {
    match word {
        "on-request" => Ok(ApprovalPolicy::OnRequest),
        "never" => Ok(ApprovalPolicy::Never),
        "untrusted" => Ok(ApprovalPolicy::Untrusted),
        _ => Err("one of on-request, never, untrusted".to_owned()),
    }
}

pub(super) fn run(args: &Args, globals: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
    // Without its home Codex does not start, which is an answer.
    let (site, no_home) = Site::discover_anyway(&globals.environment(&args.places)?)?;
    let sources = Sources::read(&site);
    let surface = match args.way {
        Way::AppServer => Surface::AppServer,
        Way::Tui => Surface::Tui,
        Way::Exec => Surface::Exec,
    };
    let answer = |surface| {
        let mut question = args.question(surface);
        question.cwd = written(globals, surface);
        let mut answer = Effective::resolve(&sources, &question);
        if let Some(error) = &no_home {
            answer.refuse(error.to_string());
        }
        answer
    };
    let effective = answer(surface);
    let others: Vec<(Surface, Effective)> = [Surface::Tui, Surface::AppServer, Surface::Exec]
        .into_iter()
        .map(|surface| (surface, answer(surface)))
        .collect();
    let precious = precious(&site);
    let view = View {
        effective: &effective,
        others: &others,
        sources: &sources,
        surface,
        precious: &precious,
    };
    let key = args.key.as_deref().map(key_path);
    match args.format {
        Format::Json => ui.line(view.json().to_string()),
        Format::Text => ui.out(view.text(key.as_ref())),
    }
    Ok(Exit::Done)
}

impl Args {
    fn question(&self, surface: Surface) -> Question {
        let trusted = match (self.trusted, self.untrusted) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        Question {
            surface,
            flags: Flags {
                config: self.flags.config.clone(),
                enable: self.flags.enable.clone(),
                disable: self.flags.disable.clone(),
            },
            profile: self.flags.profile.clone(),
            sandbox: self.flags.sandbox,
            approval: self.flags.approval,
            strict: self.flags.strict_config,
            trusted,
            path: std::env::var_os("PATH"),
            version: self.codex_version,
            ..Question::default()
        }
    }
}

/// The folder as an editor would write it: with the links that `-C` was given. The TUI and `exec`
/// ask the system instead, which knows none (scenario `trust-symlink-cwd-link-key`).
fn written(globals: &Globals, surface: Surface) -> Option<PathBuf> {
    let directory = globals.directory()?;
    (surface == Surface::AppServer)
        .then(|| std::path::absolute(directory).ok())
        .flatten()
}

/// What the gate believes later, and so must not be the agent's to write.
fn precious(site: &Site) -> Vec<(PathBuf, &'static str)> {
    let mut folders = vec![(site.system.clone(), "the administrator's files")];
    if let Some(home) = &site.codex_home {
        folders.push((home.clone(), "Codex's own files"));
    }
    if let Some(folder) = state::State::find().folder() {
        folders.push((folder.clone(), "the gate's state"));
    }
    folders
}

/// A key path as TOML writes it; a text that is none is taken as one part.
fn key_path(text: &str) -> KeyPath {
    let parsed = toml_edit::Key::parse(text).ok();
    let parts = parsed.map(|keys| keys.iter().map(|key| key.get().to_owned()).collect());
    KeyPath(parts.unwrap_or_else(|| vec![text.to_owned()]))
}
