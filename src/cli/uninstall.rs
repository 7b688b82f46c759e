//! `codexgate uninstall`: the inverse of `install`, with the same diff and checks.

use super::state::State;
use super::write::{Act, Ended, Ending, Format, ScopeWord, scopes};
use super::{Exit, Failure, Globals, Places};
use crate::plan::uninstall::{self, Request};
use crate::report::Ui;

/// Take out what `install` put in
///
/// With the record that `install` kept, every file gets its bytes back, and files and folders
/// that it created go if nothing else is in them. What others changed meanwhile stays. A key of
/// ours that has another value now is a collision. Without a record it works by value and says
/// what it cannot know.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate uninstall                  take the gate out of this project
  codexgate uninstall --server docs    take one server out of this project

Exit codes: 0 done or nothing to do; 1 refused, or --check found something to take out; 2 usage,
or a file cannot be read or written.")]
pub struct Args {
    /// Whose files to change; may be given several times [default: project]
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<ScopeWord>,

    /// Take out this server alone; may be given several times
    #[arg(long, value_name = "NAME")]
    server: Vec<String>,

    #[command(flatten)]
    ending: Ending,

    #[command(flatten)]
    places: Places,
}

pub(super) fn run(args: &Args, globals: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
    let site = globals.site(&args.places)?;
    let state = State::find();
    let request = Request {
        scopes: scopes(&args.scope),
        servers: args.server.clone(),
        on_collision: args.ending.on_collision.into(),
    };
    let act = Act {
        command: "uninstall",
        site: &site,
        scopes: &request.scopes,
        state: &state,
        ending: &args.ending,
    };
    act.recover(ui)?;
    let store = act.store();
    let (mut plan, records) = uninstall::plan(&site, &request, store.as_ref())?;
    if let (State::Unusable { why }, true) = (&state, request.servers.is_empty()) {
        plan.notes.push(format!(
            "there are no records to go by ({why}): servers that were installed by name are not \
             known here; name them with `--server`"
        ));
    }
    let (exit, ended) = act.finish(&plan, &records, ui)?;
    if args.ending.format == Format::Json {
        return Ok(exit);
    }
    match ended {
        Ended::Nothing => ui.say("nothing to take out"),
        Ended::Shown => ui.say("nothing was written"),
        Ended::Written => ui.say("taken out; start Codex anew for it to count"),
    }
    Ok(exit)
}
