//! `codexgate reject`: a person takes a proposal away.

use super::gated;
use super::request::{self, Name};
use super::{Exit, Failure, Globals};
use crate::approval::{self, By};
use crate::files::RealDisk;
use crate::report::Ui;

/// Remove a proposal, so that nobody can approve or run it
///
/// A grant that was given and not yet used goes with it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate reject 7kq2-m9xt-c4hd-20fn-v8ra
  codexgate reject 7kq2-m9xt-c4hd-20fn-v8ra --reason 'not on a Friday'

Exit codes: 0 removed; 1 no such proposal waits, or refused; 2 usage, or it could not be done.")]
pub struct Args {
    /// The proposal's token, or the name of a broker's request
    #[arg(value_name = "TOKEN", value_parser = request::name)]
    name: Name,

    /// Why, for the journal
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) fn run(args: &Args, globals: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
    gated::no_agent("rejects")?;
    let around = gated::for_person(globals)?;
    let token = match &args.name {
        Name::Token(token) => token,
        Name::Request(name) => return request::reject(&around.state, name, ui),
    };
    let mut disk = RealDisk;
    let mut gate = gated::open(&around, &mut disk)?;
    let waiting = approval::load(&mut gate, token)?;
    let by = By::Terminal(format!("uid {}", rustix::process::getuid().as_raw()));
    approval::reject(&mut gate, &waiting, &by, args.reason.clone())?;
    ui.say(format!("rejected {token}"));
    Ok(Exit::Done)
}
