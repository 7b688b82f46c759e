//! Ties each approval to the exact call that it is about.
//!
//! ```text
//! Pairing::notification ─ what Codex announces: calls, their ends, turns, threads
//! Pairing::request ─► Effect::Opened (ask, with this card) or an answer at once, and why
//! Pairing::respond, due, withdraw_session, process_gone ─► answers, events, records
//! ```
//!
//! What must never happen: a person approves what a card shows, and something else runs. An MCP
//! server can forge everything in an approval but Codex's own announcement of the call, so the
//! card is made from that call, and the approval only points at it. What points nowhere, at two
//! places, or at a call that another one points at, is declined without asking.
//!
//! It reads and writes nothing and has no clock. Each rule of [`Rule`] is a function or a line that
//! names it; a test takes one away after the other and sees that another test notices.

mod answer;
mod ask;
mod calls;
mod card;
mod claim;
mod form;
mod key;
mod link;
mod pairing;
mod permissions;
mod policy;
mod rules;
mod waiting;

#[cfg(test)]
mod tests;

pub use answer::{Answer, Decision, Judged, Scope, Word};
pub use ask::{Network, NetworkAction};
pub use card::{Card, FITS_CHARS, FITS_LINES};
pub use pairing::Pairing;
pub use policy::{Gate, gate, model_decided, user_decides};
pub use rules::Rule;
pub use waiting::Pending;

use crate::approval::utc;
use crate::rpc::{Id, RpcError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::{Duration, Instant};

/// The time: the monotonic one for deadlines, the other one for what is shown.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// Monotonic.
    pub at: Instant,
    /// Milliseconds since 1970.
    pub utc: u64,
}

/// Whose a request is, by its thread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The session; none where the thread leads to none (**I7**).
    pub session: Option<String>,
    /// A subagent's path.
    pub agent_path: Option<String>,
}

/// Why a request was declined without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// **R3**.
    MalformedApproval,
    /// **R4**, **U2**.
    UnknownKind,
    /// **R6**.
    UnsupportedMode,
    /// **I3**, **U1**.
    Inconsistent,
    /// **I7**.
    UnknownThread,
    /// **P4**, **U2**, **U3**.
    Ambiguous,
    /// **P5**, **U1**, **U3**.
    Unmatched,
    /// **P6**.
    Contested,
    /// **P7**.
    AlreadyDecided,
    /// **S2**.
    UnsupportedForm,
    /// **S4**.
    UnsafeUrl,
    /// It cannot be read.
    Malformed,
    /// Too many wait already.
    TooMany,
}

impl Reason {
    /// The word in `reason`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MalformedApproval => "malformed_approval",
            Self::UnknownKind => "unknown_kind",
            Self::UnsupportedMode => "unsupported_mode",
            Self::Inconsistent => "inconsistent",
            Self::UnknownThread => "unknown_thread",
            Self::Ambiguous => "ambiguous",
            Self::Unmatched => "unmatched",
            Self::Contested => "contested",
            Self::AlreadyDecided => "already_decided",
            Self::UnsupportedForm => "unsupported_form",
            Self::UnsafeUrl => "unsafe_url",
            Self::Malformed => "malformed",
            Self::TooMany => "too_many",
        }
    }

    /// For a person.
    pub fn says(self) -> &'static str {
        match self {
            Self::MalformedApproval => {
                "declined unseen: it is marked as a tool approval and does not have the form of one"
            }
            Self::UnknownKind => "declined unseen: a kind of approval that is not known",
            Self::UnsupportedMode => "declined unseen: a kind of question that is not supported",
            Self::Inconsistent => "declined unseen: it contradicts the call that it names",
            Self::UnknownThread => "declined unseen: its thread belongs to no session",
            Self::Ambiguous => "declined unseen: it may mean one of several different calls",
            Self::Unmatched => "declined unseen: no such call is open; it may be forged",
            Self::Contested => "declined: two approvals claim the same call, one of them is forged",
            Self::AlreadyDecided => "declined unseen: the call that it claims was decided already",
            Self::UnsupportedForm => "declined unseen: a form of a shape that is not shown",
            Self::UnsafeUrl => "declined unseen: a link that is neither https nor http",
            Self::Malformed => "declined unseen: it could not be read",
            Self::TooMany => "declined unseen: too many requests wait",
        }
    }
}

/// Who settled a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// A tool call of the client: maybe an agent.
    Call,
    /// A person, through the client's elicitation.
    Elicitation,
    /// A person, in a terminal.
    Terminal,
    /// Nobody, in time.
    Timeout,
    /// A rule.
    Rule(Reason),
    /// It was taken back.
    Withdrawn,
}

impl By {
    /// The word in the record.
    pub fn word(self) -> String {
        match self {
            Self::Call => "call".into(),
            Self::Elicitation => "elicitation".into(),
            Self::Terminal => "terminal".into(),
            Self::Timeout => "timeout".into(),
            Self::Rule(reason) => format!("rule:{}", reason.as_str()),
            Self::Withdrawn => "withdrawn".into(),
        }
    }

    /// Whether a person said it.
    pub fn is_person(self) -> bool {
        matches!(self, Self::Elicitation | Self::Terminal)
    }
}

/// Why an answer was not taken. Nothing changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The request does not wait: how it was settled, or `unknown`.
    #[error("{0}")]
    NotFound(String),
    /// The answer does not fit: what, and why.
    #[error("{0}")]
    Invalid(String),
}

/// The type of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// Something waits.
    ApprovalRequest,
    /// It was settled.
    ApprovalResult,
    /// Something is wrong.
    Error,
    /// Something happened.
    Progress,
}

/// What is to be done now.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Goes to the app-server as it is.
    Answer {
        /// The process that asked.
        generation: u64,
        /// Its id.
        id: Id,
        /// The result or the error.
        result: Result<Value, RpcError>,
    },
    /// Goes into the session's stream; into all of them where there is none.
    Event {
        /// Whose.
        session: Option<String>,
        /// Its type.
        kind: EventKind,
        /// All of its data.
        data: Value,
        /// The request that it is about.
        request_id: Option<String>,
    },
    /// A request waits from now on.
    Opened {
        /// Its name.
        request_id: String,
    },
    /// A request waits no more: whatever shows it is to be taken back.
    Settled {
        /// Its name.
        request_id: String,
        /// Whose.
        session: String,
    },
    /// The turn is to be interrupted.
    Interrupt {
        /// Its thread.
        thread: String,
        /// The turn.
        turn: String,
    },
    /// The event of this notification gets `ungated: note` (**M4**).
    Ungated {
        /// The thread of the call.
        thread: String,
        /// The call.
        item: String,
        /// What let it through.
        note: String,
    },
    /// Goes to the journal.
    Record(Record),
    /// The outcome of what was decided (**P11**), for the journal.
    Outcome {
        /// Whose.
        session: Option<String>,
        /// The request that was decided.
        request_id: String,
        /// Codex's status of the call, `approval_mismatch`, or `unknown`.
        outcome: String,
    },
}

/// A decision, for the journal: no prompt, no secret, no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// The request.
    pub request_id: String,
    /// The session; empty where it belongs to none.
    pub session: String,
    /// The thread.
    pub thread: String,
    /// The turn.
    pub turn: Option<String>,
    /// The item.
    pub item: Option<String>,
    /// What kind of request.
    pub kind: String,
    /// Of what was shown; of the parameters where nothing was.
    pub digest: String,
    /// The word.
    pub decision: String,
    /// Who settled it.
    pub by: String,
    /// The client's note to a decline.
    pub note: Option<String>,
}

/// A duration in milliseconds.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// `2026-12-01T05:04:05.345Z`.
fn iso(moment: u64) -> String {
    let text = utc(moment);
    let text = text.trim_end_matches(" UTC").replace(' ', "T");
    format!("{text}.{:03}Z", moment % 1000)
}
