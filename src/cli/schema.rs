//! `codexgate schema`: the JSON Schema of a file or an output.

use super::{Exit, Failure, Globals};
use crate::report::{Ui, schema};

/// Print the JSON Schema of a file or an output
///
/// For editors and for programs that read what codexgate writes. All of them lie ready-made in
/// the folder `docs/schema` of the sources.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate schema config > codexgate.schema.json
  codexgate schema lint")]
pub struct Args {
    /// What it is the schema of
    #[arg(value_name = "NAME")]
    name: schema::Name,
}

#[expect(clippy::unnecessary_wraps, reason = "each command has this form")]
pub(super) fn run(args: &Args, _: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
    ui.out(schema::schema(args.name));
    Ok(Exit::Done)
}
