//! Requests of a running broker, before a person at a terminal.
//!
//! `approve`, `reject` and `pending` know two kinds of names: the token of a proposal, and `req_…`
//! of a request that waits in a broker. The broker takes a decision that names the digest of the
//! card which was shown here.

use super::gated;
use super::{Exit, Failure};
use crate::approval::{Clock as _, Moment, SystemClock, Token, utc};
use crate::broker::pending::{self, Shown};
use crate::report::{Diagnostic, Ui};
use std::path::Path;

/// What a person decides about.
#[derive(Debug, Clone)]
pub enum Name {
    /// A proposal.
    Token(Token),
    /// A request of a broker.
    Request(String),
}

/// A name of either kind, for clap.
pub fn name(text: &str) -> Result<Name, String> {
    if pending::is_request(text) {
        return Ok(Name::Request(text.to_owned()));
    }
    gated::token(text).map(Name::Token).map_err(|why| {
        format!("{why}, or the name of a broker's request, as `req_0123456789abcdef`")
    })
}

fn load(state: &Path, request: &str) -> Result<Shown, Failure> {
    pending::load(state, request, SystemClock.now()).ok_or_else(|| {
        let message = format!("no request `{request}` waits in a broker");
        Failure::new(Exit::Refused, Diagnostic::error(message))
            .hint("`codexgate pending` lists what waits")
    })
}

fn answer(state: &Path, shown: &Shown, accept: bool) -> Result<(), Failure> {
    pending::decide(state, shown, accept).map_err(|source| {
        let error = Diagnostic::error("cannot write the decision");
        Failure::new(Exit::Unable, error.note(source.to_string()))
    })
}

/// Shows the request and, if the person says so, accepts it once.
pub fn approve(state: &Path, request: &str, only_card: bool, ui: &mut Ui) -> Result<Exit, Failure> {
    let shown = load(state, request)?;
    ui.line(&shown.card);
    if only_card {
        return Ok(Exit::Done);
    }
    if matches!(shown.kind.as_str(), "mcpForm" | "user_input") {
        let message = "this asks for more than yes or no";
        return Err(Failure::new(Exit::Refused, Diagnostic::error(message))
            .hint("answer it in the client; `codexgate reject` declines it"));
    }
    super::approve::flush_typed()?;
    if !ui.confirm("Accept exactly this, once?", false)? {
        ui.say(format!(
            "not accepted; it waits on until {}, `codexgate reject {request}` declines it",
            utc(shown.expires)
        ));
        return Ok(Exit::Refused);
    }
    // It may have ended while the card was read.
    load(state, request)?;
    answer(state, &shown, true)?;
    ui.say("accepted: the broker takes it if the same still waits");
    Ok(Exit::Done)
}

/// Declines the request.
pub fn reject(state: &Path, request: &str, ui: &mut Ui) -> Result<Exit, Failure> {
    let shown = load(state, request)?;
    answer(state, &shown, false)?;
    ui.say(format!("declined {request}"));
    Ok(Exit::Done)
}

/// The requests that wait.
pub fn waiting(state: &Path, now: Moment) -> Vec<Shown> {
    pending::waiting(state, now)
}
