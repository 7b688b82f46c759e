//! `codexgate explain`: what a rule finds, why that is bad, and what to do.

use super::{Exit, Failure, Globals};
use crate::lint::registry;
use crate::report::{Ui, rule};

/// Explain a rule of `lint`
///
/// Shows what it finds and why that is bad, how sure it is, the versions of Codex that it was
/// proven on, whether `lint --fix` mends it, and examples of both kinds. `codexgate rules` lists
/// the names.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate explain danger-full-access
  codexgate explain syntax")]
pub struct Args {
    /// The name of the rule
    #[arg(value_name = "ID")]
    id: String,
}

pub(super) fn run(args: &Args, _: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
    let Some(found) = registry::find(&args.id) else {
        return Err(Failure::no_such_rule(&args.id));
    };
    let width = ui.width();
    ui.out(rule::text(found, width));
    Ok(Exit::Done)
}
