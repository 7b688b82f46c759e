//! `codexgate approve`: a person at a terminal decides.

use std::io::{self, IsTerminal as _};

use super::gated;
use super::request::{self, Name};
use super::{Exit, Failure, Globals};
use crate::approval::{self, By, Card, Clock as _, Question, SystemClock, Verdict, utc};
use crate::files::RealDisk;
use crate::report::{Diagnostic, Ui};

/// Show a proposal and, if you say so, let it run once
///
/// Also accepts a request that waits in a broker (`req_…`). Needs a terminal. Shows the whole card, then asks; without a clear yes nothing is granted. The
/// grant lasts ten minutes and is used by `codexgate apply --confirm TOKEN`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate approve 7kq2-m9xt-c4hd-20fn-v8ra
  codexgate approve --card 7kq2-m9xt-c4hd-20fn-v8ra      show it and ask nothing

Exit codes: 0 approved; 1 not approved, or refused; 2 usage, or it could not be done.")]
pub struct Args {
    /// The proposal's token, or the name of a broker's request
    #[arg(value_name = "TOKEN", value_parser = request::name)]
    name: Name,

    /// Only print the card
    #[arg(long)]
    card: bool,
}

pub(super) fn run(args: &Args, globals: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
    if !args.card {
        gated::no_agent("approves")?;
        needs_terminal()?;
    }
    let around = gated::for_person(globals)?;
    let token = match &args.name {
        Name::Token(token) => token,
        Name::Request(name) => return request::approve(&around.state, name, args.card, ui),
    };
    let mut disk = RealDisk;
    let mut gate = gated::open(&around, &mut disk)?;
    let waiting = approval::load(&mut gate, token)?;
    approval::inspect(&waiting, &around)?;
    ui.line(Card::of(&waiting).text());
    if args.card {
        return Ok(Exit::Done);
    }
    flush_typed()?;
    let by = By::Terminal(format!("uid {}", rustix::process::getuid().as_raw()));
    let now = SystemClock.now();
    let question = Question::ask(&waiting, by.clone(), now, waiting.proposal().expires);
    let answer = ui.confirm("Approve exactly this, once?", false)?;
    match question.read_terminal(Some(answer), SystemClock.now()) {
        Verdict::Approved(approved) => {
            let until = utc(approved.expires());
            approved.grant(&mut gate)?;
            ui.say(format!("approved: it may run once, until {until}"));
            Ok(Exit::Done)
        }
        Verdict::Nothing(why) => {
            approval::undecided(&mut gate, &waiting, &by, why)?;
            ui.say(format!(
                "not approved: {why}; it waits on, `{}` removes it",
                gated::own_command(&["reject", token.as_str()])
            ));
            Ok(Exit::Refused)
        }
        Verdict::Rejected | Verdict::Slip(_) => Ok(Exit::Refused),
    }
}

/// What was typed before the card was there is no answer to it.
pub(super) fn flush_typed() -> Result<(), Failure> {
    let flush = rustix::termios::QueueSelector::IFlush;
    rustix::termios::tcflush(io::stdin(), flush)
        .map_err(|error| Failure::of(Exit::Unable, &io::Error::from(error)))
}

fn needs_terminal() -> Result<(), Failure> {
    let term = std::env::var("TERM").unwrap_or_default();
    let why = if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        "approving needs a terminal on standard input and output"
    } else if term.is_empty() || term == "dumb" {
        "approving needs a terminal, and `TERM` says that this is none"
    } else {
        return Ok(());
    };
    Err(Failure::new(Exit::Refused, Diagnostic::error(why))
        .hint("`--card` shows the proposal anywhere"))
}
