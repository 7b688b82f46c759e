//! The state machine: what Codex tells and asks goes in, what to do comes out.
//!
//! One for the whole broker. Whoever holds it reads the lines, writes the answers and knows the
//! sessions; here stands which request is tied to which call, which waits, and how it was settled.
//! The time is handed in.

mod answered;
mod asked;
mod judge;
mod told;

use super::calls::{Calls, Held};
use super::rules::{Rule, Rules};
use super::waiting::Pending;
use super::{By, Effect, EventKind, Now, Record};
use crate::rpc::{Id, RpcError};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, VecDeque};
use std::time::Instant;

/// How many settled requests of a session are remembered (**A3**).
const SETTLED_LIMIT: usize = 256;
/// How many ids of a process are remembered, to answer none twice.
const SEEN_LIMIT: usize = 4096;
/// The most requests that wait at once; further ones are declined.
const WAITING_LIMIT: usize = 1000;
/// How much of a text that was declined unseen an event repeats, in characters.
const TOLD_LIMIT: usize = 2000;

/// An answer that was written and that Codex has not confirmed.
#[derive(Debug)]
struct Sent {
    id: Id,
    pending: Pending,
    decision: &'static str,
}

/// A tool that was allowed for the session (**M2**, **M4**).
#[derive(Debug)]
struct Grant {
    thread: String,
    server: String,
    environment: Option<String>,
    tool: String,
    request: String,
}

/// The state of all pairing.
pub struct Pairing {
    rules: Rules,
    random: Box<dyn FnMut() -> u64 + Send>,
    generation: u64,
    calls: Calls,
    waiting: IndexMap<String, Pending>,
    sent: Vec<Sent>,
    seen: VecDeque<Id>,
    settled: HashMap<String, VecDeque<(String, String)>>,
    grants: Vec<Grant>,
}

impl std::fmt::Debug for Pairing {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Pairing")
            .field("generation", &self.generation)
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}

/// How a request was settled, beside an answer.
struct How<'a> {
    /// For a late answer: `withdrawn (turn ended)`.
    said: &'a str,
    by: By,
    /// More members of the event.
    event: Value,
    decision: &'static str,
}

impl Pairing {
    /// Without calls or requests. `random` gives 64 unguessable bits for each name of a request.
    pub fn new(random: Box<dyn FnMut() -> u64 + Send>) -> Self {
        Self {
            rules: Rules::in_force(),
            random,
            generation: 0,
            calls: Calls::default(),
            waiting: IndexMap::new(),
            sent: Vec::new(),
            seen: VecDeque::new(),
            settled: HashMap::new(),
            grants: Vec::new(),
        }
    }

    /// A request that waits.
    pub fn get(&self, request_id: &str) -> Option<&Pending> {
        self.waiting.get(request_id)
    }

    /// The requests of a session that wait, oldest first; its subagents' among them.
    pub fn waiting<'a>(&'a self, session: &'a str) -> impl Iterator<Item = &'a Pending> {
        self.waiting
            .values()
            .filter(move |pending| pending.session == session)
    }

    /// When the next request is due.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.waiting.values().map(Pending::expires).min()
    }

    /// **A5**: takes back what is asked no more, without an answer: Codex waits for none.
    pub(super) fn a5_withdraw(
        &mut self,
        why: &str,
        now: Now,
        out: &mut Vec<Effect>,
        which: impl Fn(&Pending) -> bool,
    ) {
        if !self.rules.on(Rule::A5) {
            return;
        }
        let mine: Vec<String> = self
            .waiting
            .values()
            .filter(|p| which(p))
            .map(|p| p.request_id.clone())
            .collect();
        for request in mine {
            let Some(pending) = self.waiting.shift_remove(&request) else {
                continue;
            };
            self.settle(
                &pending,
                withdrawn(&format!("withdrawn ({why})"), why),
                None,
                now,
                out,
            );
        }
    }

    /// Closes a request: the call learns the answer, the client and the record do.
    fn settle(
        &mut self,
        pending: &Pending,
        how: How<'_>,
        said: Option<bool>,
        now: Now,
        out: &mut Vec<Effect>,
    ) {
        if let Some(call) = self.calls.held_by(&pending.request_id) {
            call.claim = Held::Answered(pending.request_id.clone(), said);
        }
        self.remember(&pending.session, &pending.request_id, how.said);
        let mut data = Map::new();
        data.insert("requestId".into(), pending.request_id.as_str().into());
        data.insert("kind".into(), pending.kind().into());
        data.insert("itemId".into(), json!(pending.item));
        data.insert("threadId".into(), pending.thread.as_str().into());
        if let Some(id) = pending.params.get("approvalId").filter(|id| !id.is_null()) {
            data.insert("approvalId".into(), id.clone());
        }
        data.insert("decision".into(), how.decision.into());
        data.insert("digest".into(), pending.digest.as_str().into());
        data.insert("by".into(), how.by.word().into());
        if let Value::Object(more) = how.event {
            data.extend(more);
        }
        let note = data.get("denyMessage").and_then(Value::as_str).map(cut);
        let shown = !matches!(how.by, By::Rule(_)) || self.rules.on(Rule::P10);
        if shown {
            let session = Some(pending.session.clone());
            out.push(Effect::Event {
                session,
                kind: EventKind::ApprovalResult,
                data: Value::Object(data),
                request_id: Some(pending.request_id.clone()),
            });
            out.push(Effect::Record(Record {
                at: now.utc,
                request_id: pending.request_id.clone(),
                session: pending.session.clone(),
                thread: pending.thread.clone(),
                turn: pending.turn.clone(),
                item: pending.item.clone(),
                kind: pending.kind().to_owned(),
                digest: pending.digest.clone(),
                decision: how.decision.to_owned(),
                by: how.by.word(),
                note,
            }));
        }
        out.push(Effect::Settled {
            request_id: pending.request_id.clone(),
            session: pending.session.clone(),
        });
    }

    pub(super) fn hold(&mut self, seq: u64, held: Held) {
        if let Some(call) = self.calls.get_mut(seq) {
            call.claim = held;
        }
    }

    pub(super) fn remember(&mut self, session: &str, request: &str, how: &str) {
        let list = self.settled.entry(session.to_owned()).or_default();
        list.push_back((request.to_owned(), how.to_owned()));
        if list.len() > SETTLED_LIMIT {
            list.pop_front();
        }
    }

    /// **A1**: the id goes back as it came.
    pub(super) fn answer(
        &self,
        generation: u64,
        id: &Id,
        result: Result<Value, RpcError>,
        out: &mut Vec<Effect>,
    ) {
        let id = if self.rules.on(Rule::A1) {
            id.clone()
        } else {
            Id::new(&format!("{id:?}"))
        };
        out.push(Effect::Answer {
            generation,
            id,
            result,
        });
    }

    /// **A2**: a name of its own that nobody can guess.
    pub(super) fn name(&mut self) -> String {
        let bits = if self.rules.on(Rule::A2) {
            (self.random)()
        } else {
            self.settled.len() as u64
        };
        format!("req_{bits:016x}")
    }
}

fn withdrawn<'a>(said: &'a str, why: &str) -> How<'a> {
    How {
        said,
        by: By::Withdrawn,
        event: json!({"withdrawn": true, "reason": why}),
        decision: "withdrawn",
    }
}

/// A text for an event, cut with a mark.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(TOLD_LIMIT) {
        Some((at, _)) => format!("{}… ({} bytes in all)", &text[..at], text.len()),
        None => text.to_owned(),
    }
}
