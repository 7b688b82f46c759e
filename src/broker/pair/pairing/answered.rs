//! What is answered, and what ends a request without an answer.

use super::super::answer::{self, Answer, Judged, Word};
use super::super::rules::{Rule, Rules};
use super::super::waiting::{Asked, Pending};
use super::super::{By, Effect, EventKind, Now, Reason, Refused};
use super::{Grant, How, Pairing, Sent, withdrawn};
use crate::rpc::Id;
use serde_json::{Map, Value, json};

impl Pairing {
    /// Judges an answer without giving it: whether it fits, and whether it needs a person.
    ///
    /// # Errors
    /// The request does not wait, or the answer does not fit it.
    pub fn check(
        &self,
        session: &str,
        request_id: &str,
        answer: &Answer,
    ) -> Result<Judged, Refused> {
        let pending = self.a2_select(session, request_id)?;
        answer::judge(self.rules, pending, answer).map_err(Refused::Invalid)
    }

    /// Gives an answer. The first valid one counts; one that does not fit changes nothing (**A4**).
    ///
    /// # Errors
    /// As [`Pairing::check`].
    pub fn respond(
        &mut self,
        session: &str,
        request_id: &str,
        answer: &Answer,
        by: By,
        now: Now,
    ) -> Result<Vec<Effect>, Refused> {
        let judged = match self.check(session, request_id, answer) {
            Err(Refused::Invalid(_)) if !self.rules.on(Rule::A4) => {
                let mut out = Vec::new();
                self.decline_waiting(request_id, Reason::Malformed, now, &mut out);
                return Ok(out);
            }
            judged => judged?,
        };
        let mut out = Vec::new();
        let Some(mut pending) = self.waiting.shift_remove(request_id) else {
            return Err(Refused::NotFound(self.a3_settled(session, request_id)));
        };
        if !self.rules.on(Rule::A3) {
            self.waiting.insert(request_id.to_owned(), pending.clone());
        }
        self.p9_own_id(&mut pending);
        let decision = judged.word.map_or("answered", Word::as_str);
        self.answer(pending.generation, &pending.id, Ok(judged.result), &mut out);
        self.sent.push(Sent {
            id: pending.id.clone(),
            pending: pending.clone(),
            decision,
        });
        if judged.session_grant
            && let Asked::Tool { tool, .. } = &pending.asked
        {
            self.grants.push(Grant {
                thread: pending.thread.clone(),
                server: tool.server.clone(),
                environment: tool.environment_id.clone(),
                tool: tool.tool.clone(),
                request: request_id.to_owned(),
            });
        }
        let said = format!("answered ({decision})");
        let event = u7_event(self.rules, &pending, answer);
        let how = How {
            said: &said,
            by,
            event,
            decision,
        };
        self.settle(&pending, how, Some(judged.grants), now, &mut out);
        if judged.interrupts
            && let Some(turn) = &pending.turn
        {
            out.push(Effect::Interrupt {
                thread: pending.thread.clone(),
                turn: turn.clone(),
            });
        }
        Ok(out)
    }

    /// **P9**: an answer goes to the id of its own request, in whatever order people answer.
    pub(super) fn p9_own_id(&self, pending: &mut Pending) {
        if !self.rules.on(Rule::P9)
            && let Some(first) = self
                .waiting
                .values()
                .find(|other| other.thread == pending.thread)
        {
            pending.id = first.id.clone();
        }
    }

    /// **A2**: a request is selected by its name alone, in its own session.
    pub(super) fn a2_select(&self, session: &str, request_id: &str) -> Result<&Pending, Refused> {
        let found = self.waiting.get(request_id);
        let own = found.filter(|pending| pending.session == session || !self.rules.on(Rule::A2));
        own.ok_or_else(|| Refused::NotFound(self.a3_settled(session, request_id)))
    }

    /// **A3**: how a request was settled, for an answer that comes late.
    pub(super) fn a3_settled(&self, session: &str, request_id: &str) -> String {
        let list = self.settled.get(session).into_iter().flatten();
        let mut of = list.filter(|(id, _)| id == request_id);
        let how = of.next().map(|(_, how)| how.as_str());
        how.filter(|_| self.rules.on(Rule::A3))
            .unwrap_or("unknown")
            .to_owned()
    }

    /// **A7**: declines what nobody answered in time, and says so. It is no person's decision, and
    /// never a `cancel`, which would end the turn.
    pub fn due(&mut self, now: Now) -> Vec<Effect> {
        let mut out = Vec::new();
        let over: Vec<String> = self
            .waiting
            .values()
            .filter(|p| p.expires() <= now.at)
            .map(|p| p.request_id.clone())
            .collect();
        for request in over {
            let Some(pending) = self.waiting.shift_remove(&request) else {
                continue;
            };
            let a7 = self.rules.on(Rule::A7);
            let result = match &pending.asked {
                asked if !a7 => answer::cancelled(asked),
                Asked::Form { .. } if !self.rules.on(Rule::S5) => {
                    json!({"action": "accept", "content": {}, "_meta": null})
                }
                asked => answer::closed(asked),
            };
            self.answer(pending.generation, &pending.id, Ok(result), &mut out);
            self.sent.push(Sent {
                id: pending.id.clone(),
                pending: pending.clone(),
                decision: "decline",
            });
            let ms = super::super::millis(pending.timeout);
            let message = format!("nobody answered within {ms} ms");
            let event = json!({"timeout": a7, "reason": "timed_out", "message": message});
            let how = How {
                said: "timed out",
                by: By::Timeout,
                event,
                decision: "decline",
            };
            self.settle(&pending, how, Some(false), now, &mut out);
        }
        out
    }

    /// Ends what a session waits for: it is cancelled (`cancel`), or its client is gone (**A8**).
    /// Each request is answered.
    pub fn withdraw_session(
        &mut self,
        session: &str,
        why: &str,
        cancel: bool,
        now: Now,
    ) -> Vec<Effect> {
        let mut out = Vec::new();
        let mine: Vec<String> = self
            .waiting(session)
            .map(|p| p.request_id.clone())
            .collect();
        for request in mine {
            let Some(pending) = self
                .waiting
                .shift_remove(&request)
                .filter(|_| self.rules.on(Rule::A8))
            else {
                continue;
            };
            let result = if cancel {
                answer::cancelled(&pending.asked)
            } else {
                answer::closed(&pending.asked)
            };
            self.answer(pending.generation, &pending.id, Ok(result), &mut out);
            self.settle(
                &pending,
                withdrawn(&format!("withdrawn ({why})"), why),
                Some(false),
                now,
                &mut out,
            );
        }
        out
    }

    /// The same for all sessions: the client is gone (**A8**).
    pub fn withdraw_all(&mut self, why: &str, now: Now) -> Vec<Effect> {
        let mut sessions: Vec<String> = self.waiting.values().map(|p| p.session.clone()).collect();
        sessions.dedup();
        sessions
            .iter()
            .flat_map(|session| self.withdraw_session(session, why, true, now))
            .collect()
    }

    /// Forgets a session, how its requests were settled with it.
    pub fn forget(&mut self, session: &str) {
        self.settled.remove(session);
    }

    /// The process is gone: what waited is void, and what was answered but not confirmed is of
    /// unknown outcome (**A6**). It is never sent to the next process.
    pub fn process_gone(&mut self, generation: u64, now: Now) -> Vec<Effect> {
        let mut out = Vec::new();
        if generation != self.generation {
            return out;
        }
        self.a5_withdraw("app-server exited", now, &mut out, |_| true);
        for sent in std::mem::take(&mut self.sent) {
            self.a6_unknown(&sent, &mut out);
        }
        self.calls.clear();
        self.grants.clear();
        self.seen.clear();
        self.generation += 1;
        out
    }

    /// An answer could not be written (**A6**).
    pub fn not_written(&mut self, generation: u64, id: &Id) -> Vec<Effect> {
        let mut out = Vec::new();
        if generation == self.generation
            && let Some(at) = self.sent.iter().position(|sent| sent.id == *id)
        {
            let sent = self.sent.remove(at);
            self.a6_unknown(&sent, &mut out);
        }
        out
    }

    pub(super) fn a6_unknown(&self, sent: &Sent, out: &mut Vec<Effect>) {
        if !self.rules.on(Rule::A6) {
            return;
        }
        let (pending, decision) = (&sent.pending, sent.decision);
        let data = json!({
            "code": "outcome_unknown",
            "requestId": pending.request_id,
            "kind": pending.kind(),
            "itemId": pending.item,
            "threadId": pending.thread, "decision": decision,
            "message": "the app-server ended before it confirmed the answer: nobody knows whether \
                it took effect; it is not repeated",
        });
        out.push(Effect::Event {
            session: Some(pending.session.clone()),
            kind: EventKind::Error,
            data,
            request_id: Some(pending.request_id.clone()),
        });
        out.push(Effect::Outcome {
            session: Some(pending.session.clone()),
            request_id: pending.request_id.clone(),
            outcome: "unknown".into(),
        });
    }
}

/// **U7**: what an answer adds to its event. Answers to secret questions are not in it.
fn u7_event(rules: Rules, pending: &Pending, answer: &Answer) -> Value {
    match (answer, &pending.asked) {
        (Answer::Answers(answers), Asked::Questions(ask)) => {
            let secret = |id: &str| {
                rules.on(Rule::U7) && ask.questions.iter().any(|q| q.id == id && q.is_secret)
            };
            let one = |(id, given): (&String, &Vec<String>)| {
                let shown = if secret(id) {
                    json!(["(secret)"])
                } else {
                    json!(given)
                };
                (id.clone(), json!({"answers": shown}))
            };
            json!({"answers": answers.iter().map(one).collect::<Map<_, _>>()})
        }
        (Answer::Decision(decision), _) => match &decision.deny_message {
            Some(note) => json!({"denyMessage": note}),
            None => json!({}),
        },
        _ => json!({}),
    }
}
