//! Between the pairing and everybody else: what it wants done is done here, and answers reach it
//! from a call, from the client's form or from a terminal.
//!
//! Who may accept is the operator's choice. Content is judged before authority: an answer that does
//! not fit is a wrong argument, whoever gives it. Where a person is needed, a call is refused and
//! the request waits on.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::client::Call;
use super::core::{Broker, moment};
use super::error::{Code, Error, Result};
use super::events::Kind;
use super::options::Approvals;
use super::pair::{
    Answer, By, Decision, Effect, EventKind, Network, NetworkAction, Now, Refused, Scope, Word,
};
use super::tools::check::{Permission, Query};
use crate::rpc::RpcError;

/// Now, on both clocks.
pub(super) fn now() -> Now {
    Now {
        at: Instant::now(),
        utc: moment(),
    }
}

impl Broker {
    /// Does what the pairing wants done.
    pub(super) fn apply(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Answer {
                    generation,
                    id,
                    result,
                } => self.answer_codex(generation, &id, result),
                Effect::Event {
                    session,
                    kind,
                    data,
                    ..
                } => self.tell_event(session.as_deref(), kind, &data),
                Effect::Opened { request_id } => self.opened(&request_id),
                Effect::Settled {
                    request_id,
                    session,
                } => self.settled(&request_id, &session),
                Effect::Interrupt { thread, turn } => {
                    let params = json!({ "threadId": thread, "turnId": turn });
                    self.ask_blindly("turn/interrupt", &params);
                }
                // Taken where the notification is recorded.
                Effect::Ungated { .. } => {}
                Effect::Record(record) => self.journal(record),
                Effect::Outcome {
                    session,
                    request_id,
                    outcome,
                } => self.journal_outcome(session, request_id, outcome),
            }
        }
    }

    fn answer_codex(
        &mut self,
        generation: u64,
        id: &crate::rpc::Id,
        result: std::result::Result<Value, RpcError>,
    ) {
        match &mut self.codex.server {
            Some(server) if server.generation == generation => server.peer.answer(id, result),
            _ => {
                let effects = self.pairing.not_written(generation, id);
                self.apply(effects);
            }
        }
    }

    fn tell_event(&mut self, session: Option<&str>, kind: EventKind, data: &Value) {
        let kind = match kind {
            EventKind::ApprovalRequest => Kind::ApprovalRequest,
            EventKind::ApprovalResult => Kind::ApprovalResult,
            EventKind::Error => Kind::Error,
            EventKind::Progress => Kind::Progress,
        };
        match session {
            Some(session) => {
                let mut data = data.clone();
                let thread = data["threadId"].as_str();
                let route = thread.and_then(|thread| self.routes.get(thread));
                if let Some(path) = route.and_then(|route| route.child.as_deref()) {
                    data["agentPath"] = path.into();
                }
                if let Some(session) = self.sessions.get_mut(session) {
                    session.tell(kind, data);
                }
            }
            None => {
                for session in self.sessions.values_mut() {
                    session.tell(kind, data.clone());
                }
            }
        }
    }

    fn opened(&mut self, request: &str) {
        let Some(pending) = self.pairing.get(request) else {
            return;
        };
        let session = pending.session().to_owned();
        self.count_waiting(&session);
        self.show_pending(request);
        self.ask_persons(&session);
    }

    fn settled(&mut self, request: &str, session: &str) {
        if let Some(owner) = self.sessions.get_mut(session) {
            owner.events.settled(request);
        }
        self.count_waiting(session);
        self.hide_pending(request);
        self.take_back_form(request);
    }

    fn count_waiting(&mut self, session: &str) {
        let waiting = self.pairing.waiting(session).count();
        if let Some(session) = self.sessions.get_mut(session) {
            session.waiting = waiting;
            session.touch();
        }
    }

    pub(super) fn approvals_tick(&mut self, at: Instant) {
        let effects = self.pairing.due(Now { at, ..now() });
        self.apply(effects);
        self.read_decisions(at);
    }

    pub(super) fn approvals_gone(&mut self, generation: u64) {
        let effects = self.pairing.process_gone(generation, now());
        self.apply(effects);
    }

    /// Items that a session's grant let through, with what is said about them.
    pub(super) fn ungated(effects: &[Effect]) -> Vec<(String, String)> {
        effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Ungated { item, note, .. } => Some((item.clone(), note.clone())),
                _ => None,
            })
            .collect()
    }

    /// The names of what waits in a session.
    pub(super) fn waiting_ids(&self, session: &str) -> BTreeSet<String> {
        let waiting = self.pairing.waiting(session);
        waiting
            .map(|pending| pending.request_id().to_owned())
            .collect()
    }

    /// The same without what stands before the person in a form.
    pub(super) fn open_ids(&self, session: &str) -> BTreeSet<String> {
        let mut open = self.waiting_ids(session);
        for request in self.client.asked.values() {
            open.remove(request);
        }
        open
    }

    /// What waits in a session, for a client.
    pub(super) fn actions(&self, session: &str) -> Vec<Value> {
        self.pairing
            .waiting(session)
            .map(|pending| {
                let mut action = pending.action();
                let words = pending.words();
                let words = words
                    .into_iter()
                    .filter(|word| self.takes_from_call(*word, &action));
                action["decisions"] = words.map(Word::as_str).collect();
                if self
                    .client
                    .asked
                    .values()
                    .any(|asked| asked == pending.request_id())
                {
                    action["elicited"] = true.into();
                }
                action
            })
            .collect()
    }

    /// Whether a call may say this word to a request.
    fn takes_from_call(&self, word: Word, action: &Value) -> bool {
        if !word.grants() {
            return true;
        }
        let amends = match word {
            Word::AcceptWithExecpolicyAmendment => true,
            // A rule that holds a host back needs nobody.
            Word::ApplyNetworkPolicyAmendment => {
                let offered = action["proposedNetworkPolicyAmendments"].as_array();
                offered.is_none_or(|offered| offered.iter().all(|rule| rule["action"] == "allow"))
            }
            _ => false,
        };
        self.approvals() == Approvals::Client && (!amends || self.options.allow_amendments)
    }

    /// Who may accept.
    pub(super) fn approvals(&self) -> Approvals {
        self.options
            .approvals
            .unwrap_or(if self.client.shows_forms {
                Approvals::Human
            } else {
                Approvals::Client
            })
    }

    /// `respond_permission`.
    pub(super) fn permit(
        &mut self,
        call: &Call,
        query: Query,
        permission: &Permission,
    ) -> Result<()> {
        let word = Word::read(&permission.decision)
            .ok_or_else(|| Error::argument("decision", "is none"))?;
        let network = permission.network.as_ref().map(|(action, host)| Network {
            host: host.clone(),
            action: match action.as_str() {
                "deny" => NetworkAction::Deny,
                _ => NetworkAction::Allow,
            },
        });
        let answer = Answer::from(Decision {
            word,
            execpolicy_amendment: permission.execpolicy.clone(),
            network_policy_amendment: network,
            content: permission.content.clone().map(Value::Object),
            permissions: permission.permissions.clone().map(Value::Object),
            scope: permission.scope.as_deref().map(|scope| match scope {
                "session" => Scope::Session,
                _ => Scope::Turn,
            }),
            deny_message: permission.deny_message.clone(),
        });
        self.respond(call, query, &permission.request, &answer)
    }

    /// `respond_user_input`.
    pub(super) fn input(
        &mut self,
        call: &Call,
        query: Query,
        request: &str,
        answers: &Map<String, Value>,
    ) -> Result<()> {
        let texts = |value: &Value| {
            let texts = value["answers"].as_array().into_iter().flatten();
            texts
                .filter_map(|text| text.as_str().map(str::to_owned))
                .collect()
        };
        let answers = answers
            .iter()
            .map(|(question, value)| (question.clone(), texts(value)))
            .collect();
        self.respond(call, query, request, &Answer::Answers(answers))
    }

    fn respond(
        &mut self,
        call: &Call,
        mut query: Query,
        request: &str,
        answer: &Answer,
    ) -> Result<()> {
        self.session(&query.session)?;
        let judged = self
            .pairing
            .check(&query.session, request, answer)
            .map_err(refused)?;
        let human = self.approvals() == Approvals::Human;
        // An answer to a question of the agent lets nothing happen by itself.
        let accepts = judged.grants && matches!(answer, Answer::Decision(_));
        if accepts && human {
            return Err(Error::new(
                Code::PolicyRefused,
                format!(
                    "only a person may accept `{request}` (`--approvals human`): in this client's \
                     own form, or with `codexgate approve {request}` in a terminal. It waits on"
                ),
            ));
        }
        if judged.needs_person && !self.options.allow_amendments {
            return Err(Error::new(
                Code::PolicyRefused,
                format!(
                    "`{request}`: a rule for good needs a person, or a broker started with \
                     `--allow-amendments`. It waits on; `accept` allows this one"
                ),
            ));
        }
        let effects = self
            .pairing
            .respond(&query.session, request, answer, By::Call, now())
            .map_err(refused)?;
        self.apply(effects);
        // What was read once is not given again after an answer.
        let reader = self.session(&query.session)?.events.reader();
        if let Some(cursor) = query.cursor.filter(|cursor| *cursor < reader) {
            query.warnings.push(format!(
                "Provided cursor {cursor} is stale; used session cursor {reader}."
            ));
            query.cursor = Some(reader);
        }
        let body = self.body(&query, &call.id)?;
        self.client.peer.answer(&call.id, Ok(body));
        Ok(())
    }

    /// An answer of a person, from a form or a terminal. What does not fit changes nothing.
    pub(super) fn person_says(&mut self, request: &str, answer: &Answer, by: By) -> bool {
        let Some(session) = self
            .pairing
            .get(request)
            .map(|pending| pending.session().to_owned())
        else {
            return false;
        };
        match self.pairing.respond(&session, request, answer, by, now()) {
            Ok(effects) => {
                self.apply(effects);
                true
            }
            Err(_) => false,
        }
    }
}

fn refused(why: Refused) -> Error {
    match why {
        Refused::NotFound(how) => Error::new(Code::RequestNotFound, how),
        Refused::Invalid(what) => Error::new(Code::InvalidArgument, what),
    }
}
