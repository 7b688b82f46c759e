//! `codexgate hook`: what Codex asks at a session's start and before a tool.

use std::io::{self, Read as _};

use super::gated::called_as;
use super::{Exit, Failure, Globals, variable};
use crate::approval::Surroundings;
use crate::codex::site::Environment;
use crate::codex::{Effective, Question, Site, Sources};
use crate::hook::{Answer, INPUT_LIMIT, Input, pre_tool_use, session_start};
use crate::report::{Diagnostic, Ui};

/// Answer Codex's hooks, so that the agent finds the gate
///
/// Codex runs these; `install` registers them. Each reads Codex's JSON on standard input and answers
/// in JSON. They guide: nothing rests on them, and what goes wrong in them never stops Codex.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate hook session-start <told.json   what an agent is told at the start
  codexgate hook pre-tool-use <told.json    what it is told before a command

Exit codes: 0 answered, or there is nothing to say; 2 usage.")]
pub struct Args {
    #[command(subcommand)]
    event: Event,
}

/// The events of ours.
#[derive(Debug, Clone, Copy, clap::Subcommand)]
enum Event {
    /// Tell the agent how the gate works here, and whether it holds
    SessionStart,
    /// Deny a shell command that a `confirm` or `deny` line of the policy files matches
    PreToolUse,
}

pub(super) fn run(args: &Args, globals: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
    if globals.directory().is_some() {
        let title = "`hook` takes no `-C`: the session's folder counts";
        return Err(Failure::new(Exit::Unable, Diagnostic::error(title)));
    }
    let answer = answer(args.event).unwrap_or_else(Answer::Warning);
    if let Some(json) = answer.to_json() {
        ui.line(json.to_string());
    }
    Ok(Exit::Done)
}

/// What is answered, or what went wrong, in words.
fn answer(event: Event) -> Result<Answer, String> {
    let name = match event {
        Event::SessionStart => session_start::EVENT,
        Event::PreToolUse => pre_tool_use::EVENT,
    };
    let mut bytes = Vec::new();
    io::stdin()
        .take(INPUT_LIMIT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > INPUT_LIMIT {
        return Err("what Codex tells is longer than 8 MiB, and is not looked at".to_owned());
    }
    let input = Input::read(&bytes, name).map_err(|error| error.to_string())?;
    if matches!(event, Event::PreToolUse) && input.command.is_none() {
        return Ok(Answer::Nothing);
    }
    let directory = match input.cwd {
        Some(cwd) => cwd,
        None => std::env::current_dir().map_err(|error| error.to_string())?,
    };
    let site = Site::discover(&Environment {
        directory,
        home: variable("HOME"),
        codex_home: variable("CODEX_HOME"),
        ..Environment::default()
    })
    .map_err(|error| error.to_string())?;
    let program = called_as();
    match input.command {
        Some(command) if matches!(event, Event::PreToolUse) => {
            let around = Surroundings::for_person(&site).map_err(|error| in_full(&error))?;
            Ok(pre_tool_use::answer(&command, &program, &around))
        }
        _ => {
            let effective = Effective::resolve(&Sources::read(&site), &Question::default());
            let holds = Surroundings::for_agent(&site)
                .map(drop)
                .map_err(|error| in_full(&error));
            Ok(session_start::answer(&program, &effective, holds))
        }
    }
}

/// An error with its causes.
fn in_full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
