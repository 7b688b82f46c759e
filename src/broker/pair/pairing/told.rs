//! What Codex tells: calls and their ends, turns, threads, answers that it took.

use super::super::calls::{Call, Held, What};
use super::super::rules::Rule;
use super::super::waiting::Asked;
use super::super::{Effect, EventKind, Now, Reason, answer, key};
use super::{Pairing, withdrawn};
use crate::rpc::Id;
use serde_json::{Value, json};

impl Pairing {
    /// Takes in a notification of the process `generation`; those of an older one are dropped.
    /// Methods that mean nothing here do nothing.
    pub fn notification(
        &mut self,
        generation: u64,
        method: &str,
        params: &Value,
        now: Now,
    ) -> Vec<Effect> {
        let mut out = Vec::new();
        if !self.current(generation, now, &mut out) {
            return out;
        }
        let of = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
        let (thread, turn) = (of("threadId"), of("turnId"));
        match method {
            "item/started" => self.item_started(thread, turn, &params["item"], &mut out),
            "item/completed" => self.item_completed(thread, turn, &params["item"], now, &mut out),
            "item/fileChange/patchUpdated" => {
                let changed = self
                    .calls
                    .patched(thread, turn, of("itemId"), &params["changes"]);
                for seq in changed {
                    self.c4_changed(seq, now, &mut out);
                }
            }
            "turn/completed" => {
                let turn = params["turn"]["id"].as_str().unwrap_or(turn);
                let status = params["turn"]["status"].as_str();
                let why = if status == Some("interrupted") {
                    "turn interrupted"
                } else {
                    "turn ended"
                };
                self.a5_withdraw(why, now, &mut out, |p| {
                    p.thread == thread && p.turn.as_deref() == Some(turn)
                });
                self.calls.turn_ended(thread, turn);
            }
            "thread/closed" | "thread/archived" | "thread/deleted" => {
                self.a5_withdraw("session closed", now, &mut out, |p| p.thread == thread);
                self.calls.thread_closed(thread);
                self.grants.retain(|grant| grant.thread != thread);
            }
            "serverRequest/resolved" => self.resolved(&params["requestId"], now, &mut out),
            _ => {}
        }
        out
    }

    /// Codex took the interrupt of a turn: what is asked in it is void at once, and Codex takes it
    /// back itself (**A5**). What its subagents ask goes on.
    pub fn interrupted(&mut self, thread: &str, turn: &str, now: Now) -> Vec<Effect> {
        let mut out = Vec::new();
        let mine = |pending: &super::super::Pending| {
            pending.thread == thread && pending.turn.as_deref() == Some(turn)
        };
        self.a5_withdraw("turn interrupted", now, &mut out, mine);
        out
    }

    /// Whether `generation` is the present process. A newer one ends the one before it (**A6**).
    pub(super) fn current(&mut self, generation: u64, now: Now, out: &mut Vec<Effect>) -> bool {
        if generation > self.generation {
            let gone = self.process_gone(self.generation, now);
            out.extend(gone);
            self.generation = generation;
        }
        generation == self.generation
    }

    pub(super) fn item_started(
        &mut self,
        thread: &str,
        turn: &str,
        item: &Value,
        out: &mut Vec<Effect>,
    ) {
        let Some(call) = self.calls.started(thread, turn, item) else {
            return;
        };
        let What::Tool(tool) = &call.what else { return };
        let grant = self.grants.iter().find(|grant| {
            grant.thread == thread
                && grant.server == tool.server
                && grant.tool == tool.tool
                && grant.environment == tool.environment_id
        });
        if let Some(grant) = grant.filter(|_| self.rules.on(Rule::M4)) {
            call.ungated = Some(grant.request.clone());
            out.push(m4_ungated(call, &grant.request));
        }
    }

    pub(super) fn item_completed(
        &mut self,
        thread: &str,
        turn: &str,
        item: &Value,
        now: Now,
        out: &mut Vec<Effect>,
    ) {
        let Some(mut call) = self.calls.completed(thread, turn, item) else {
            return;
        };
        let status = item["status"].as_str().unwrap_or_default();
        let ran = ran(&call.what, status, item);
        self.calls.exchange(self.rules, &mut call, ran);
        if let (Held::Free, Some(grant)) = (&call.claim, &call.ungated) {
            out.push(m4_ungated(&call, grant));
        }
        match call.claim.clone() {
            Held::Free | Held::Waiting(_) | Held::Answered(_, None) => {}
            Held::Answered(request, Some(said)) => {
                self.p11_outcome(&call, &request, said, ran, status, out);
            }
        }
        // A card may be about it without holding it: input to a command, one of several prompts.
        let request = match &call.claim {
            Held::Waiting(request) => Some(request.clone()),
            _ => None,
        };
        let (seq, tool) = (call.seq, matches!(call.what, What::Tool(_)));
        self.a5_withdraw("item completed", now, out, |pending| {
            Some(&pending.request_id) == request.as_ref() || (!tool && pending.call == Some(seq))
        });
    }

    /// **P11**: links what a call did to what was answered. A call that ran after a no is not what
    /// anybody wanted: it is said, and the turn ends.
    pub(super) fn p11_outcome(
        &mut self,
        call: &Call,
        request: &str,
        said: bool,
        ran: bool,
        status: &str,
        out: &mut Vec<Effect>,
    ) {
        if !self.rules.on(Rule::P11) {
            return;
        }
        let session = self.session_of(request);
        let linked = if ran && !said {
            "approval_mismatch"
        } else {
            status
        };
        out.push(Effect::Outcome {
            session: session.clone(),
            request_id: request.to_owned(),
            outcome: linked.to_owned(),
        });
        if ran && !said {
            let data = json!({
                "code": "approval_mismatch",
                "message": "a call that was declined ran all the same; its turn is interrupted",
                "requestId": request,
                "itemId": call.item,
                "threadId": call.thread,
                "turnId": call.turn,
                "status": status,
            });
            out.push(Effect::Event {
                session: session.clone(),
                kind: EventKind::Error,
                data,
                request_id: Some(request.to_owned()),
            });
            out.push(Effect::Interrupt {
                thread: call.thread.clone(),
                turn: call.turn.clone(),
            });
        }
    }

    pub(super) fn session_of(&self, request: &str) -> Option<String> {
        let mut known = self.settled.iter();
        let found = known.find(|(_, list)| list.iter().any(|(id, _)| id == request));
        found.map(|(session, _)| session.clone())
    }

    pub(super) fn resolved(&mut self, id: &Value, now: Now, out: &mut Vec<Effect>) {
        let Some(id) = Id::of(id) else { return };
        let before = self.sent.len();
        self.sent.retain(|sent| sent.id != id);
        if self.sent.len() == before {
            self.a5_withdraw("resolved by Codex", now, out, |pending| pending.id == id);
        }
    }

    /// **C4**, **U3**: what is asked changed. The card that was shown is void; a new one, with a
    /// name of its own, is for the same request.
    pub(super) fn c4_changed(&mut self, seq: u64, now: Now, out: &mut Vec<Effect>) {
        let held: Vec<String> = self
            .waiting
            .values()
            .filter(|p| p.call == Some(seq))
            .map(|p| p.request_id.clone())
            .collect();
        for request in held {
            let Some(call) = self.calls.get(seq).cloned() else {
                return;
            };
            let What::Change(changes) = call.what else {
                return;
            };
            let Some(mut pending) = self.waiting.shift_remove(&request) else {
                return;
            };
            if !self.rules.on(Rule::C4) {
                self.waiting.insert(request, pending);
                continue;
            }
            let how = withdrawn("withdrawn (content changed)", "content changed");
            self.settle(&pending, how, None, now, out);
            if changes.is_empty() {
                let data = json!({"itemId": call.item});
                self.answer(
                    pending.generation,
                    &pending.id,
                    Ok(answer::closed(&pending.asked)),
                    out,
                );
                self.declined_unseen(
                    &pending.session.clone(),
                    None,
                    &pending.params,
                    pending.asked.kind(),
                    pending.item.as_deref(),
                    Reason::Unmatched,
                    &data,
                    now,
                    out,
                );
                self.hold(seq, Held::Answered(request, Some(false)));
                continue;
            }
            if let Asked::Change { changes: old, .. } = &mut pending.asked {
                *old = changes;
            }
            pending.request_id = self.name();
            pending.digest =
                key::digest(&pending.asked.key(&pending.thread, pending.turn.as_deref()));
            self.open(pending, out);
        }
    }
}

/// **M4**: nobody was asked, because somebody said so before.
pub(super) fn m4_ungated(call: &Call, grant: &str) -> Effect {
    Effect::Ungated {
        thread: call.thread.clone(),
        item: call.item.clone(),
        note: format!("session grant {grant}"),
    }
}

/// Whether a call did what it was for.
fn ran(what: &What, status: &str, item: &Value) -> bool {
    match what {
        What::Tool(_) => status == "completed" || !item["result"].is_null(),
        What::Command(_) => status == "completed" || !item["exitCode"].is_null(),
        What::Change(_) => status == "completed",
    }
}
