//! `codexgate completions`: the script that a shell completes from.

use clap_complete::Shell;

use super::{Exit, Failure, Globals};
use crate::report::Ui;

/// Print the completions of a shell
///
/// The script comes from the same definition as the help. Packagers find the five of them,
/// ready-made, in the folder `completions/` of the sources.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate completions bash > ~/.local/share/bash-completion/completions/codexgate
  codexgate completions fish > ~/.config/fish/completions/codexgate.fish")]
pub struct Args {
    /// The shell
    shell: Shell,
}

#[expect(clippy::unnecessary_wraps, reason = "each command has this form")]
pub(super) fn run(args: &Args, _: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut super::definition(),
        "codexgate",
        &mut script,
    );
    ui.out(String::from_utf8_lossy(&script));
    Ok(Exit::Done)
}
