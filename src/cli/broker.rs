//! `codexgate broker`: Codex behind an MCP client.

use std::io::{self, IsTerminal as _};

use super::failure::{Exit, Failure};
use super::{Globals, Places};
use crate::approval::Surroundings;
use crate::broker::options::{Approvals, Mode, Options};
use crate::broker::words::Sandbox;
use crate::broker::{Environment, serve};
use crate::report::{Diagnostic, Ui};

/// Drive Codex from another MCP client, with a gate on each approval
///
/// Speaks MCP on standard input and output with the tools of codex-mcp: start sessions, wait for
/// what they need, answer, reply, fork, cancel. One `codex app-server` serves all sessions; it is
/// started with the first. The flags are the operator's: nothing that comes over MCP widens them.
/// It ends with its input, and everything that it started ends with it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate broker                                     as an MCP server's command
  codexgate broker --approvals human --codex /opt/codex/bin/codex

Variables: CODEX_MCP_BINARY (as --codex), CODEX_MCP_MODE (app-server, exec), CODEX_MCP_STDIO_MODE
(auto, strict, off). Everything else is passed to Codex.")]
pub struct Args {
    /// Codex's name or path
    #[arg(long, value_name = "PATH")]
    codex: Option<String>,

    /// The most open sandbox that a caller may have
    #[arg(long, value_name = "MODE", default_value = "workspace-write")]
    #[arg(value_parser = ["read-only", "workspace-write", "danger-full-access"])]
    max_sandbox: String,

    /// Who may accept: `client` takes it from a tool call, `human` only from a person
    ///
    /// `human` means the client's own form or `codexgate approve`. Without the flag: `human` where
    /// the client can show a form, else `client`.
    #[arg(long, value_name = "WHO", value_parser = ["client", "human"])]
    approvals: Option<String>,

    /// Take a rule for good (an amendment, an allowed host) from a tool call
    #[arg(long)]
    allow_amendments: bool,

    /// Let callers set this key of config.toml, and what stands below it
    #[arg(long, value_name = "KEY")]
    allow_config: Vec<String>,

    /// Let callers choose this profile, whatever it sets
    #[arg(long, value_name = "NAME")]
    allow_profile: Vec<String>,

    /// Never ask through the client's own forms
    #[arg(long)]
    no_elicit: bool,
}

/// Serves the client on standard input and output until it goes.
///
/// # Errors
/// A flag that would choose what judges the caller; a terminal under `strict`.
pub(super) fn run(args: &Args, globals: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
    if globals.directory().is_some() {
        let title = "`broker` takes no `-C`: the folder that it is started in counts";
        return Err(Failure::new(Exit::Unable, Diagnostic::error(title)));
    }
    let options = options(args, ui);
    guard(options.stdio, ui)?;
    let cwd = std::env::current_dir().map_err(|source| Failure::no_working_folder(&source))?;
    let site = globals.site(&Places::default());
    // Without a safe place nothing is kept; each new session says so.
    let around = site
        .ok()
        .and_then(|site| Surroundings::for_person(&site).ok());
    let environment = Environment { around, cwd };
    let notes = serve(io::stdin(), io::stdout(), options, environment).map_err(|source| {
        let error = Diagnostic::error("cannot start to serve");
        Failure::new(Exit::Unable, error.note(source.to_string()))
    })?;
    for note in notes {
        ui.say(note);
    }
    Ok(Exit::Done)
}

fn options(args: &Args, ui: &mut Ui) -> Options {
    let variable = |name: &str| {
        let value = std::env::var(name).ok()?;
        let value = value.trim().to_owned();
        (!value.is_empty()).then_some(value)
    };
    let stdio = match variable("CODEX_MCP_STDIO_MODE").map(|mode| mode.to_lowercase()) {
        None => "auto",
        Some(mode) => match mode.as_str() {
            "auto" => "auto",
            "strict" => "strict",
            "off" => "off",
            _ => {
                ui.say("CODEX_MCP_STDIO_MODE is none of auto, strict and off: auto is used");
                "auto"
            }
        },
    };
    let mode = match variable("CODEX_MCP_MODE").as_deref() {
        Some("exec") => Some(Mode::Exec),
        Some("app-server") => Some(Mode::AppServer),
        Some(_) => {
            ui.say("CODEX_MCP_MODE is neither app-server nor exec: Codex itself is asked");
            None
        }
        None => None,
    };
    Options {
        codex: args
            .codex
            .clone()
            .or_else(|| variable("CODEX_MCP_BINARY"))
            .unwrap_or_else(|| "codex".to_owned()),
        mode,
        // The words are clap's.
        max_sandbox: Sandbox::parse(&args.max_sandbox).unwrap_or(Sandbox::ReadOnly),
        approvals: args.approvals.as_deref().map(|who| match who {
            "client" => Approvals::Client,
            _ => Approvals::Human,
        }),
        allow_amendments: args.allow_amendments,
        allow_config: args.allow_config.clone(),
        allow_profile: args.allow_profile.clone(),
        elicit: !args.no_elicit,
        stdio,
    }
}

/// A person who started it by hand is told what it is for.
fn guard(mode: &str, ui: &mut Ui) -> Result<(), Failure> {
    if mode == "off" || !(io::stdin().is_terminal() || io::stdout().is_terminal()) {
        return Ok(());
    }
    let text = "this is an MCP server: a client starts it and speaks on its standard streams";
    if mode == "strict" {
        return Err(Failure::new(Exit::Refused, Diagnostic::error(text))
            .hint("CODEX_MCP_STDIO_MODE is `strict`"));
    }
    ui.say(text);
    Ok(())
}
