//! `codexgate mcp`: the approver, started by Codex.

use std::io;
use std::time::Instant;

use super::failure::{Exit, Failure};
use super::gated::called_as;
use super::{Globals, Places, variable};
use crate::approval::{Clock as _, Surroundings, SystemClock};
use crate::mcp::{GateDesk, Now, Refusal, Server, TELL, serve};
use crate::report::Diagnostic;

/// Ask the person inside Codex, as the MCP server that Codex starts
///
/// Speaks MCP on standard input and output and offers one tool, `codexgate_approve`, which asks the
/// person about one proposal. `install` registers it; there is nothing to type. It writes nothing
/// but the person's decision, into the state directory, and ends with its input.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate install                    register it, so that Codex starts it
  codexgate mcp </dev/null             see that it starts, and ends with its input")]
pub struct Args {}

/// Serves the client on standard input and output until it goes.
///
/// # Errors
/// A flag that would choose what judges the caller; an output that cannot be written.
pub fn run(_: &Args, globals: &Globals) -> Result<Exit, Failure> {
    if globals.directory().is_some() {
        let title = "`mcp` takes no `-C`: the folder that it is started in counts";
        return Err(Failure::new(Exit::Unable, Diagnostic::error(title)));
    }
    let program = called_as();
    // What is wrong here is said in the tool's result: a server that does not start says nothing.
    let told = program.clone();
    let look = || {
        let site = globals
            .site(&Places::default())
            .map_err(|failure| Refusal {
                what: failure.diagnostic().title().to_owned(),
                todo: TELL.to_owned(),
            })?;
        Surroundings::for_agent(&site).map_err(|error| Refusal::of(&error, &told))
    };
    let shown = program.to_string_lossy().into_owned();
    let desk = GateDesk::new(look, program, variable("TMPDIR"));
    let clock = Box::new(|| Now {
        moment: SystemClock.now(),
        instant: Instant::now(),
    });
    let server = Server::new(desk, &shown, clock);
    serve(io::stdin(), io::stdout().lock(), server).map_err(|source| {
        let error = Diagnostic::error("cannot answer on standard output");
        Failure::new(Exit::Unable, error.note(source.to_string()))
    })?;
    Ok(Exit::Done)
}
