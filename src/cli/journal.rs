//! `codexgate journal`: what was proposed, decided and run.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::gated;
use super::{Exit, Failure, Globals};
use crate::approval::{
    Clock as _, Ended, Event, Gate, Journal, Output, Record, SystemClock, Token, Written, utc,
};
use crate::files::{self, After, Found, RealDisk, Write};
use crate::report::{Diagnostic, Ui, diff};
use crate::text::{quote, visible, visible_lines};

/// Read, check and tidy the record of what was proposed, decided and run
///
/// Secrets are hidden in what it prints. The chain finds accidents and edits, not a user who
/// rewrites both of its files.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate journal list
  codexgate journal show 7kq2-m9xt-c4hd-20fn-v8ra
  codexgate journal verify

Exit codes: 0 done; 1 damaged, or refused; 2 usage, or it could not be done.")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// One line for each record
    List,
    /// Everything about one proposal, with the changes of files
    Show {
        /// The proposal's token
        #[arg(value_name = "TOKEN", value_parser = gated::token)]
        token: Token,
    },
    /// All records as JSON
    Export,
    /// Bring back files that a run wrote, where nobody changed them since
    Restore {
        /// The proposal's token
        #[arg(value_name = "TOKEN", value_parser = gated::token)]
        token: Token,
    },
    /// Remove old records; the chain stays whole
    Prune {
        /// Records older than this go
        #[arg(long, value_name = "TIME", default_value = "90d", value_parser = gated::duration)]
        older_than: Duration,
    },
    /// Check that every record is what was written
    Verify,
}

pub(super) fn run(args: &Args, globals: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
    let around = gated::for_person(globals)?;
    let mut disk = RealDisk;
    let mut gate = gated::open(&around, &mut disk)?;
    match &args.verb {
        Verb::List => {
            for record in records(&mut gate, None)? {
                ui.line(format!(
                    "{}  {}",
                    utc(record.at),
                    visible(&summary(&record.event))
                ));
            }
        }
        Verb::Show { token } => {
            for record in records(&mut gate, Some(token))? {
                ui.line(format!(
                    "{}  {}",
                    utc(record.at),
                    visible(&summary(&record.event))
                ));
                if let Event::Ended { outcome, .. } = &record.event {
                    show(&gate, outcome, ui);
                }
            }
        }
        Verb::Export => {
            let records: Vec<_> = records(&mut gate, None)?.iter().map(exported).collect();
            ui.line(json!({"version": 1, "records": records}).to_string());
        }
        Verb::Restore { token } => return restore(&mut gate, token, ui),
        Verb::Prune { older_than } => {
            gated::no_agent("prunes the journal")?;
            let age = u64::try_from(older_than.as_millis()).unwrap_or(u64::MAX);
            let moment = SystemClock.now().saturating_sub(age);
            let gone = Journal::prune(&mut gate, moment)?;
            ui.say(format!("{gone} records removed"));
        }
        Verb::Verify => {
            let found = Journal::verify(&mut gate)?;
            if let Some(bytes) = found.repaired {
                ui.say(format!(
                    "a torn last line of {bytes} bytes was cut off, and that is recorded"
                ));
            }
            let before = match found.pruned {
                0 => String::new(),
                n => format!(" ({n} before them were pruned)"),
            };
            ui.line(format!(
                "{} records, each as it was written{before}",
                found.records
            ));
        }
    }
    Ok(Exit::Done)
}

fn records(gate: &mut Gate<'_>, token: Option<&Token>) -> Result<Vec<Record>, Failure> {
    let mut found = Vec::new();
    Journal::open(gate)?.each(&mut |record, _| {
        if token.is_none() || record.event.token() == token {
            found.push(record);
        }
    })?;
    if let (Some(token), true) = (token, found.is_empty()) {
        let message = format!("the journal knows nothing of `{token}`");
        return Err(Failure::new(Exit::Refused, Diagnostic::error(message)));
    }
    Ok(found)
}

fn summary(event: &Event) -> String {
    let because = |reason: &Option<String>| {
        reason
            .as_ref()
            .map(|reason| format!(": {reason}"))
            .unwrap_or_default()
    };
    let text = match event {
        Event::Proposed {
            token,
            what,
            cwd,
            group,
            reason,
            ..
        } => {
            let words = quote::words(what);
            format!(
                "{token} proposed ({group}) in {cwd}: {words}{}",
                because(reason)
            )
        }
        Event::Approved { token, by, .. } => format!("{token} approved by {by}"),
        Event::Rejected { token, by, reason } => {
            format!("{token} rejected by {by}{}", because(reason))
        }
        Event::Undecided { token, by, why } => format!("{token} not decided by {by}: {why}"),
        Event::Started { token, .. } => format!("{token} started"),
        Event::Ended { token, outcome } => format!("{token} ended: {}", ending(outcome)),
        Event::Unknown { token } => format!("{token} was cut off: its outcome is unknown"),
        Event::Restored { token, path, .. } => format!("{token} restored {path}"),
        Event::Answered {
            session,
            request,
            what,
            decision,
            by,
            ..
        } => format!("{request} of {session}: {what}, {decision} by {by}"),
        Event::Outcome {
            request, outcome, ..
        } => format!("{request}: {outcome}"),
        Event::Repaired { bytes } => format!("a torn line of {bytes} bytes was cut off"),
        Event::Pruned { records } => format!("{records} older records were removed"),
    };
    gated::without_secrets(&text)
}

fn ending(ended: &Ended) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(ended.code.map(|code| format!("exit {code}")));
    parts.extend(ended.signal.map(|signal| format!("signal {signal}")));
    parts.extend(ended.failed.clone());
    parts.extend(
        ended
            .changed
            .iter()
            .map(|path| format!("{path} changed meanwhile")),
    );
    parts.extend(
        ended
            .written
            .iter()
            .map(|written| format!("wrote {}", written.path)),
    );
    parts.join(", ")
}

fn show(gate: &Gate<'_>, ended: &Ended, ui: &mut Ui) {
    for (name, output) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
        if output.len > 0 {
            ui.line(format!(
                "  {name}: {} bytes, sha256 {}",
                output.len, output.sha256
            ));
            ui.line(visible_lines(&gated::without_secrets(&output.start)));
        }
    }
    for written in &ended.written {
        let text = |sha256: &Option<String>| {
            let bytes = gate.kept(sha256.as_ref()?).ok()?;
            String::from_utf8(bytes).ok()
        };
        let (before, after) = (text(&written.before), text(&written.after));
        ui.out(diff::unified(
            &written.path,
            before.as_deref(),
            after.as_deref(),
        ));
    }
}

fn exported(record: &Record) -> serde_json::Value {
    let mut record = record.clone();
    let hide = |text: &mut String| *text = gated::without_secrets(text);
    let hide_output = |output: &mut Output| hide(&mut output.start);
    match &mut record.event {
        Event::Proposed { what, reason, .. } => {
            what.iter_mut().for_each(hide);
            reason.iter_mut().for_each(hide);
        }
        Event::Rejected { reason, .. } => reason.iter_mut().for_each(hide),
        Event::Ended { outcome, .. } => {
            hide_output(&mut outcome.stdout);
            hide_output(&mut outcome.stderr);
        }
        _ => {}
    }
    serde_json::to_value(record).expect("texts and numbers always serialise")
}

fn restore(gate: &mut Gate<'_>, token: &Token, ui: &mut Ui) -> Result<Exit, Failure> {
    gated::no_agent("restores files")?;
    let written: Vec<Written> = records(gate, Some(token))?
        .into_iter()
        .filter_map(|record| match record.event {
            Event::Ended { outcome, .. } => Some(outcome.written),
            _ => None,
        })
        .flatten()
        .collect();
    let refused = |message: String| Failure::new(Exit::Refused, Diagnostic::error(message));
    if written.is_empty() {
        return Err(refused(format!("`{token}` wrote no file")));
    }
    let mut writes = Vec::new();
    for file in &written {
        let path = PathBuf::from(&file.path);
        let kept = |sha256: &Option<String>| sha256.as_ref().map(|s| gate.kept(s)).transpose();
        let (old, new) = (kept(&file.before)?, kept(&file.after)?);
        let before = files::read(&path, files::CONFIG_LIMIT)?;
        let linked = matches!(&before, Found::File(file) if file.target != path);
        if before.bytes() != new.as_deref() || linked {
            return Err(refused(format!(
                "`{}` is not what the run left; nothing was restored",
                path.display()
            )));
        }
        let text = |bytes: Option<&[u8]>| bytes.map(|b| String::from_utf8_lossy(b).into_owned());
        let (from, to) = (text(new.as_deref()), text(old.as_deref()));
        ui.out(diff::unified(&file.path, from.as_deref(), to.as_deref()));
        writes.push(Write {
            path,
            before,
            after: old.map_or(After::Removed, After::Bytes),
            new_mode: 0o644,
            remove_folders: Vec::new(),
        });
    }
    if !ui.confirm("Bring these files back?", false)? {
        return Ok(Exit::Refused);
    }
    files::commit(&writes, gate.state(), &|_, _| Ok(()), &mut RealDisk)?;
    for file in written {
        let event = Event::Restored {
            token: token.clone(),
            path: file.path,
            before: file.before,
        };
        Journal::append(gate, event)?;
    }
    ui.say("restored");
    Ok(Exit::Done)
}
