//! `codexgate pending`: what waits for a person.

use serde_json::json;

use super::gated::{self, Format};
use super::request;
use super::{Exit, Failure, Globals};
use crate::approval::{self, Clock as _, SystemClock, utc};
use crate::files::RealDisk;
use crate::report::Ui;
use crate::text::{quote, visible};

/// List the proposals that wait
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate pending
  codexgate pending --format json")]
pub struct Args {
    /// How the list is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(super) fn run(args: &Args, globals: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
    let around = gated::for_person(globals)?;
    let mut disk = RealDisk;
    let mut gate = gated::open(&around, &mut disk)?;
    let found = approval::waiting(&mut gate)?;
    let asked = request::waiting(&around.state, SystemClock.now());
    if args.format == Format::Json {
        let items: Vec<_> = found
            .iter()
            .map(|item| {
                json!({
                    "token": item.token.as_str(),
                    "expires_at": gated::rfc3339(item.expires),
                    "granted": item.granted,
                    "what": item.waiting.proposal().words(),
                    "cwd": item.waiting.proposal().cwd.path,
                })
            })
            .collect();
        let requests: Vec<_> = asked
            .iter()
            .map(|shown| {
                json!({
                    "request": shown.request,
                    "session": shown.session,
                    "kind": shown.kind,
                    "digest": shown.digest,
                    "expires_at": gated::rfc3339(shown.expires),
                })
            })
            .collect();
        let mut list = json!({"version": 1, "pending": items});
        if !requests.is_empty() {
            list["requests"] = requests.into();
        }
        ui.line(list.to_string());
        return Ok(Exit::Done);
    }
    for item in &found {
        let granted = if item.granted { ", approved" } else { "" };
        ui.line(format!(
            "{}  until {}{granted}",
            item.token,
            utc(item.expires)
        ));
        let words = quote::words(item.waiting.proposal().words());
        ui.line(format!("  {}", visible(&words)));
    }
    for shown in &asked {
        ui.line(format!(
            "{}  until {}, {} in a broker",
            shown.request,
            utc(shown.expires),
            visible(&shown.kind)
        ));
    }
    if found.is_empty() && asked.is_empty() {
        ui.say("nothing waits");
    }
    Ok(Exit::Done)
}
