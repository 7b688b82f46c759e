//! `codexgate rules`: the list of what `lint` finds.

use super::write::Format;
use super::{Exit, Failure, Globals};
use crate::lint::registry::RULES;
use crate::report::{Ui, rule};

/// List the rules of `lint`
///
/// One line for each: its name, how bad a finding is, whether `lint --fix` mends it, and what it
/// says. As JSON with the reason and the examples, too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate rules
  codexgate rules --format json")]
pub struct Args {
    /// How the list is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[expect(clippy::unnecessary_wraps, reason = "each command has this form")]
pub(super) fn run(args: &Args, _: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
    match args.format {
        Format::Text => ui.out(rule::list(RULES)),
        Format::Json => ui.line(rule::json(RULES)),
    }
    Ok(Exit::Done)
}
