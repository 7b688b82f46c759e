//! `codexgate apply`: an agent proposes, and runs what a person approved.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::gated::{self, Format};
use super::{Exit, Failure, Globals};
use crate::approval::{
    self, Card, Clock as _, CommandWish, Ended, FilesWish, Gate, Outcome, Ruling, Source, Stream,
    Surroundings, SystemClock, Token, Waiting, What, Wish,
};
use crate::files::{CONFIG_LIMIT, RealDisk};
use crate::report::{Diagnostic, Ui};
use crate::text::visible;

/// Propose a command or a change of files, or run what a person approved
///
/// Prints what would run and a token, and runs nothing. A person approves the token, in Codex's
/// prompt or with `codexgate approve`; then `--confirm` runs exactly that, once. A line under
/// `allow` in the user's or the system's policy file makes it run at once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate apply --reason 'publish 1.2' -- cargo publish
  codexgate apply --write notes.md --content draft.md
  codexgate apply --confirm 7kq2-m9xt-c4hd-20fn-v8ra

Exit codes: 0 proposed, or it ran and ended well; 1 refused, or there is no grant; 2 usage, or it
could not be done; 3 it ran and failed.")]
#[command(group = clap::ArgGroup::new("what").required(true)
    .args(["command", "patch", "write", "confirm"]))]
pub struct Args {
    /// Run what was approved under this token
    #[arg(long, value_name = "TOKEN", value_parser = gated::token)]
    #[arg(conflicts_with_all = ["reason", "expires"])]
    confirm: Option<Token>,

    /// Why, in a few words for the person
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// A file or folder that the program reads; its content becomes part of what is approved
    #[arg(long, value_name = "PATH", requires = "command")]
    input: Vec<PathBuf>,

    /// Give the program this variable, too
    #[arg(long, value_name = "NAME", requires = "command")]
    env: Vec<String>,

    /// The program's standard input: a file of the project (`-`: this command's own, for people)
    #[arg(long, value_name = "FILE", requires = "command")]
    stdin: Option<PathBuf>,

    /// How long the program may run
    #[arg(long, value_name = "TIME", requires = "command", default_value = "10m")]
    #[arg(value_parser = gated::duration)]
    timeout: Duration,

    /// How long the proposal waits, at most 24h
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = gated::duration)]
    expires: Duration,

    /// Change files as this unified diff says
    #[arg(long, value_name = "FILE")]
    patch: Option<PathBuf>,

    /// Write this file
    #[arg(long, value_name = "PATH", requires = "content")]
    write: Option<PathBuf>,

    /// With the content of this file of the project
    #[arg(long, value_name = "FILE", requires = "write")]
    content: Option<PathBuf>,

    /// How the result is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// The program and its arguments, after `--`
    #[arg(value_name = "PROGRAM", last = true)]
    command: Vec<OsString>,
}

pub(super) fn run(args: &Args, globals: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
    let around = gated::for_agent(globals)?;
    let mut disk = RealDisk;
    let mut gate = Gate::open(&around, &SystemClock, &mut disk)?;
    if let Some(token) = &args.confirm {
        let waiting = approval::load(&mut gate, token)?;
        return confirm(&mut gate, &around, &waiting, args.format, ui);
    }
    let (waiting, ruling) = approval::propose(&mut gate, &around, wish(args)?)?;
    match &ruling {
        Ruling::Allow(allowed) => {
            ui.say(format!(
                "allowed by {}",
                visible(&allowed.line().to_string())
            ));
            let approved = approval::by_policy(allowed, &waiting, SystemClock.now());
            approved.grant(&mut gate)?;
            confirm(&mut gate, &around, &waiting, args.format, ui)
        }
        Ruling::Confirm(_) | Ruling::Deny(_) => {
            if let Some((line, why)) = approval::skipped_allow(waiting.proposal(), &around)? {
                let title = format!("{line} would allow this, and does not count");
                ui.diagnose(&Diagnostic::warning(title).note(why.to_string()));
            }
            preview(&waiting, &ruling, args.format, ui);
            Ok(Exit::Done)
        }
    }
}

fn wish(args: &Args) -> Result<Wish, Failure> {
    let what = if let Some(path) = &args.patch {
        What::Files(FilesWish::Patch(source(path)?))
    } else if let (Some(path), Some(content)) = (&args.write, &args.content) {
        What::Files(FilesWish::Write {
            path: path.clone(),
            content: source(content)?,
        })
    } else {
        What::Command(CommandWish {
            argv: args.command.clone(),
            inputs: args.input.clone(),
            env: args.env.clone(),
            stdin: args.stdin.as_deref().map(source).transpose()?,
            timeout: args.timeout,
        })
    };
    Ok(Wish {
        reason: args.reason.clone(),
        expires: args.expires,
        what,
    })
}

fn source(path: &Path) -> Result<Source, Failure> {
    if path != Path::new("-") {
        return Ok(Source::File(path.to_path_buf()));
    }
    let mut bytes = Vec::new();
    // One more than the limit, which is then refused as too large.
    match io::stdin().take(CONFIG_LIMIT + 1).read_to_end(&mut bytes) {
        Ok(_) => Ok(Source::Bytes(bytes)),
        Err(error) => Err(Failure::of(Exit::Unable, &error)),
    }
}

fn preview(waiting: &Waiting, ruling: &Ruling, format: Format, ui: &mut Ui) {
    let card = Card::told(waiting);
    let token = waiting.token();
    // The spelling that the installed rule matches, not the file behind its links.
    let confirm = gated::own_command(&["apply", "--confirm", token.as_str()]);
    let approve = approval::for_terminal(&gated::called_as(), token);
    match format {
        Format::Json => ui.line(
            json!({
                "version": 1,
                "token": token.as_str(),
                "expires_at": gated::rfc3339(waiting.proposal().expires),
                "group": ruling.group(),
                "line": ruling.line().map(ToString::to_string),
                "preview": card.text(),
                "digest": waiting.digest(),
                "approve": approve,
                "confirm": confirm,
            })
            .to_string(),
        ),
        Format::Text => {
            ui.line(card.text());
            ui.line(format!("token: {token}"));
            ui.say(format!(
                "nothing ran. A person must approve it: call the tool `codexgate_approve` with the \
                 token, or ask for `{approve}` in a terminal. Then run `{confirm}`"
            ));
        }
    }
}

fn confirm(
    gate: &mut Gate<'_>,
    around: &Surroundings,
    waiting: &Waiting,
    format: Format,
    ui: &mut Ui,
) -> Result<Exit, Failure> {
    let stream = format == Format::Text;
    let mut sink = |to: Stream, bytes: &[u8]| {
        // Bytes of the command, not ours: they pass unchanged. A closed pipe does not end the run.
        let _ = match (stream, to) {
            (false, _) => Ok(()),
            (true, Stream::Stdout) => through(&mut io::stdout(), bytes),
            (true, Stream::Stderr) => through(&mut io::stderr(), bytes),
        };
    };
    let outcome = approval::confirm(gate, around, waiting, &mut sink)?;
    let (ended, exit) = match &outcome {
        Outcome::Ran(ended) if is_well(ended) => (ended, Exit::Done),
        Outcome::Ran(ended) => (ended, Exit::Partial),
        Outcome::NotRun(ended) => (ended, Exit::Refused),
    };
    match format {
        Format::Json => {
            let ended = serde_json::to_value(ended).expect("texts and numbers always serialise");
            let ran = matches!(outcome, Outcome::Ran(_));
            ui.line(
                json!({"version": 1, "token": waiting.token().as_str(), "ran": ran, "outcome": ended})
                    .to_string(),
            );
        }
        Format::Text => tell(ended, exit, ui),
    }
    Ok(exit)
}

fn through(to: &mut dyn io::Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)?;
    to.flush()
}

fn is_well(ended: &Ended) -> bool {
    // Files have no exit status: written is well.
    let well = ended.code == Some(0) || !ended.written.is_empty();
    well && ended.failed.is_none() && ended.changed.is_empty()
}

fn tell(ended: &Ended, exit: Exit, ui: &mut Ui) {
    for written in &ended.written {
        ui.say(format!("wrote {}", visible(&written.path)));
    }
    for path in &ended.changed {
        ui.diagnose(&Diagnostic::error(format!(
            "the input `{path}` changed while it ran"
        )));
    }
    if let Some(why) = &ended.failed {
        ui.diagnose(&Diagnostic::error(why.clone()));
    }
    let seconds = Duration::from_millis(ended.duration).as_secs_f64();
    match (ended.code, ended.signal) {
        (Some(code), _) => ui.say(format!("ran once: exit {code} after {seconds:.1} s")),
        (_, Some(signal)) => ui.say(format!("ran once: signal {signal} after {seconds:.1} s")),
        _ if exit == Exit::Refused => ui.say("it did not run; the grant is spent"),
        _ => {}
    }
}
