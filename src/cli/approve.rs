//! `codexgate approve`: a person at a terminal decides.

use std::io::{self, IsTerminal as _};

use super::gated;
use super::{Exit, Failure, Globals};
use crate::approval::{self, By, Card, Clock as _, Question, SystemClock, Token, Verdict, utc};
use crate::files::RealDisk;
use crate::report::{Diagnostic, Ui};

/// Show a proposal and, if you say so, let it run once
///
/// Needs a terminal. Shows the whole card, then asks; without a clear yes nothing is granted. The
/// grant lasts ten minutes and is used by `codexgate apply --confirm TOKEN`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate approve 7kq2-m9xt-c4hd-20fn-v8ra
  codexgate approve --card 7kq2-m9xt-c4hd-20fn-v8ra      show it and ask nothing

Exit codes: 0 approved; 1 not approved, or refused; 2 usage, or it could not be done.")]
pub struct Args {
    /// The proposal's token
    #[arg(value_name = "TOKEN", value_parser = gated::token)]
    token: Token,

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
    let mut disk = RealDisk;
    let mut gate = gated::open(&around, &mut disk)?;
    let waiting = approval::load(&mut gate, &args.token)?;
    approval::inspect(&waiting, &around)?;
    ui.line(Card::of(&waiting).text());
    if args.card {
        return Ok(Exit::Done);
    }
    // What was typed before the card was there is no answer to it.
    let flush = rustix::termios::QueueSelector::IFlush;
    rustix::termios::tcflush(io::stdin(), flush)
        .map_err(|error| Failure::of(Exit::Unable, &io::Error::from(error)))?;
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
                gated::own_command(&["reject", args.token.as_str()])
            ));
            Ok(Exit::Refused)
        }
        Verdict::Rejected | Verdict::Slip(_) => Ok(Exit::Refused),
    }
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
