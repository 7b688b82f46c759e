//! What Codex asks: read, judged, put to the client or declined at once.

use super::super::ask::{Ask, Fixed};
use super::super::calls::Held;
use super::super::rules::Rule;
use super::super::waiting::{Asked, Pending};
use super::super::{By, Effect, EventKind, Now, Origin, Reason, Record, answer, key};
use super::judge::Declined;
use super::{How, Pairing, SEEN_LIMIT, WAITING_LIMIT, cut, withdrawn};
use crate::rpc::{Id, METHOD_NOT_FOUND, RpcError};
use serde_json::{Value, json};
use std::time::Duration;

impl Pairing {
    /// Takes in a request of the process `generation`, whatever its method. `timeout` is the
    /// session's.
    #[allow(clippy::too_many_arguments)] // each is one fact about the request
    pub fn request(
        &mut self,
        generation: u64,
        id: &Id,
        method: &str,
        params: &Value,
        origin: Origin,
        timeout: Duration,
        now: Now,
    ) -> Vec<Effect> {
        let mut out = Vec::new();
        if !self.current(generation, now, &mut out) || !self.a1_first(id, now, &mut out) {
            return out;
        }
        let session = origin.session.clone();
        let ask = match Ask::read(method, params) {
            Ok(ask) => ask,
            Err(why) => {
                let result = if method == "item/tool/call" {
                    answer::fixed(Fixed::DynamicTool, 0)
                } else {
                    Ok(answer::declined(method))
                };
                self.answer(generation, id, result, &mut out);
                let data = json!({"message": cut(&why)});
                self.declined_unseen(
                    session.as_deref().unwrap_or_default(),
                    session.as_deref(),
                    params,
                    kind_of(method),
                    None,
                    Reason::Malformed,
                    &data,
                    now,
                    &mut out,
                );
                return out;
            }
        };
        match ask {
            Ask::Fixed(fixed) => {
                self.answer(
                    generation,
                    id,
                    answer::fixed(fixed, now.utc / 1000),
                    &mut out,
                );
                if fixed != Fixed::Time {
                    let message = "answered by codexgate: it offers nothing of the kind";
                    let data = json!({"method": method, "message": message});
                    out.push(Effect::Event {
                        session,
                        kind: EventKind::Progress,
                        data,
                        request_id: None,
                    });
                }
            }
            Ask::Unknown => {
                let error = RpcError::new(METHOD_NOT_FOUND, "codexgate does not know this request");
                self.answer(generation, id, Err(error), &mut out);
                let data = json!({
                    "code": "unknown_request",
                    "method": cut(method),
                    "message": "Codex asked for something that codexgate does not know: refused",
                });
                out.push(Effect::Event {
                    session,
                    kind: EventKind::Error,
                    data,
                    request_id: None,
                });
            }
            ask => {
                let pending = Proto::of(generation, id, params, &ask, origin, timeout, now);
                self.judge_request(ask, pending, method, now, &mut out);
            }
        }
        out
    }

    /// **A1**: an id is new in its process, or nobody can say which of two requests an answer is
    /// for. A second one with the id of one that waits withdraws it; no id is answered twice.
    pub(super) fn a1_first(&mut self, id: &Id, now: Now, out: &mut Vec<Effect>) -> bool {
        if !self.seen.contains(id) {
            self.seen.push_back(id.clone());
            if self.seen.len() > SEEN_LIMIT {
                self.seen.pop_front();
            }
            return true;
        }
        let waits = self
            .waiting
            .values()
            .find(|pending| pending.id == *id)
            .map(|pending| pending.request_id.clone());
        let pending = waits.and_then(|request| self.waiting.shift_remove(&request));
        if let Some(pending) = pending {
            self.answer(
                pending.generation,
                &pending.id,
                Ok(answer::closed(&pending.asked)),
                out,
            );
            let how = withdrawn("withdrawn (its id was used twice)", "its id was used twice");
            self.settle(&pending, how, Some(false), now, out);
        }
        let data = json!({
            "code": "duplicate_id",
            "message": "Codex used the id of a request twice; the second one was not answered",
        });
        out.push(Effect::Event {
            session: None,
            kind: EventKind::Error,
            data,
            request_id: None,
        });
        false
    }

    /// Decides about a request that could be read: asked, or declined at once.
    fn judge_request(
        &mut self,
        ask: Ask,
        proto: Proto,
        method: &str,
        now: Now,
        out: &mut Vec<Effect>,
    ) {
        let Some(session) = proto.origin.session.clone() else {
            return self.refuse(
                &proto,
                method,
                Reason::UnknownThread,
                &Value::Null,
                now,
                out,
            );
        };
        if self.waiting.len() >= WAITING_LIMIT {
            return self.refuse(&proto, method, Reason::TooMany, &Value::Null, now, out);
        }
        let judged = match ask {
            Ask::Command(ask) => self.command(ask),
            Ask::Change(ask) => self.u3_change(ask),
            Ask::Permissions(ask) => Ok((Asked::Permissions(ask), None)),
            Ask::Questions(ask) => Ok((Asked::Questions(ask), None)),
            Ask::Elicitation(ask) => self.elicitation(ask),
            Ask::Fixed(_) | Ask::Unknown => unreachable!("answered before"),
        };
        match judged {
            Ok((asked, call)) => {
                let digest = key::digest(&asked.key(&proto.thread, proto.turn.as_deref()));
                let item = proto
                    .item
                    .clone()
                    .or_else(|| Some(self.calls.get(call?)?.item.clone()));
                let pending = Pending {
                    rules: self.rules,
                    request_id: self.name(),
                    session,
                    agent_path: proto.origin.agent_path,
                    generation: proto.generation,
                    id: proto.id,
                    thread: proto.thread,
                    turn: proto.turn,
                    item,
                    asked,
                    params: proto.params,
                    digest,
                    created: proto.created,
                    timeout: proto.timeout,
                    call,
                };
                self.open(pending, out);
            }
            Err(Declined {
                reason,
                contested,
                told,
            }) => {
                for request in contested {
                    self.decline_waiting(&request, reason, now, out);
                }
                self.refuse(&proto, method, reason, &told, now, out);
            }
        }
    }

    /// Puts a request to the client.
    pub(super) fn open(&mut self, pending: Pending, out: &mut Vec<Effect>) {
        let exclusive = match &pending.asked {
            Asked::Tool { .. } | Asked::Change { .. } => true,
            // Of several prompts of one command none holds it alone; input does not hold it at all.
            Asked::Command(asked) => !asked.stdin && asked.ask.approval_id.is_none(),
            _ => false,
        };
        if let (true, Some(call)) = (
            exclusive,
            pending.call.and_then(|seq| self.calls.get_mut(seq)),
        ) {
            call.claim = Held::Waiting(pending.request_id.clone());
            call.ungated = None;
        }
        let request_id = pending.request_id.clone();
        let session = Some(pending.session.clone());
        out.push(Effect::Event {
            session,
            kind: EventKind::ApprovalRequest,
            data: pending.event(),
            request_id: Some(request_id.clone()),
        });
        out.push(Effect::Opened {
            request_id: request_id.clone(),
        });
        self.waiting.insert(request_id, pending);
    }

    /// Declines a request that waits, by a rule.
    pub(super) fn decline_waiting(
        &mut self,
        request: &str,
        reason: Reason,
        now: Now,
        out: &mut Vec<Effect>,
    ) {
        let Some(pending) = self.waiting.shift_remove(request) else {
            return;
        };
        self.answer(
            pending.generation,
            &pending.id,
            Ok(answer::closed(&pending.asked)),
            out,
        );
        let said = format!("declined by rule ({})", reason.as_str());
        let event = json!({"auto": true, "reason": reason.as_str()});
        let how = How {
            said: &said,
            by: By::Rule(reason),
            event,
            decision: "decline",
        };
        self.settle(&pending, how, Some(false), now, out);
    }

    /// Declines a request at once.
    fn refuse(
        &mut self,
        proto: &Proto,
        method: &str,
        reason: Reason,
        told: &Value,
        now: Now,
        out: &mut Vec<Effect>,
    ) {
        self.answer(
            proto.generation,
            &proto.id,
            Ok(answer::declined(method)),
            out,
        );
        let session = proto.origin.session.clone();
        self.declined_unseen(
            session.as_deref().unwrap_or_default(),
            session.as_deref(),
            &proto.params,
            kind_of(method),
            proto.item.as_deref(),
            reason,
            told,
            now,
            out,
        );
    }

    /// **P10**: a decline by rule is shown and recorded, under a name that a late answer finds.
    #[allow(clippy::too_many_arguments)] // each is one fact about the request
    pub(super) fn declined_unseen(
        &mut self,
        session: &str,
        event_for: Option<&str>,
        params: &Value,
        kind: &'static str,
        item: Option<&str>,
        reason: Reason,
        told: &Value,
        now: Now,
        out: &mut Vec<Effect>,
    ) {
        if !self.rules.on(Rule::P10) {
            return;
        }
        let request_id = self.name();
        self.remember(
            session,
            &request_id,
            &format!("declined by rule ({})", reason.as_str()),
        );
        let of = |name: &str| params.get(name).and_then(Value::as_str).map(cut);
        let mut data = json!({
            "requestId": request_id,
            "kind": kind,
            "itemId": item,
            "threadId": of("threadId"),
            "turnId": of("turnId"),
            "decision": "decline",
            "auto": true,
            "reason": reason.as_str(),
            "message": reason.says(),
            "asked": told,
        });
        if kind == "command" {
            data["asked"] = json!({"command": of("command"), "cwd": of("cwd")});
        }
        let session_name = event_for
            .or((!session.is_empty()).then_some(session))
            .map(str::to_owned);
        out.push(Effect::Event {
            session: session_name,
            kind: EventKind::ApprovalResult,
            data,
            request_id: Some(request_id.clone()),
        });
        out.push(Effect::Record(Record {
            at: now.utc,
            request_id,
            session: session.to_owned(),
            thread: of("threadId").unwrap_or_default(),
            turn: of("turnId"),
            item: item.map(str::to_owned),
            kind: kind.to_owned(),
            digest: key::digest(params),
            decision: "decline".to_owned(),
            by: By::Rule(reason).word(),
            note: None,
        }));
    }
}

/// What is known of a request before it is judged.
struct Proto {
    generation: u64,
    id: Id,
    thread: String,
    turn: Option<String>,
    item: Option<String>,
    params: Value,
    origin: Origin,
    timeout: Duration,
    created: Now,
}

impl Proto {
    #[allow(clippy::too_many_arguments)] // each is one fact about the request
    fn of(
        generation: u64,
        id: &Id,
        params: &Value,
        ask: &Ask,
        origin: Origin,
        timeout: Duration,
        now: Now,
    ) -> Self {
        let (thread, turn, item) = match ask {
            Ask::Command(ask) => (&ask.thread_id, Some(&ask.turn_id), Some(&ask.item_id)),
            Ask::Change(ask) => (&ask.thread_id, Some(&ask.turn_id), Some(&ask.item_id)),
            Ask::Permissions(ask) => (&ask.thread_id, Some(&ask.turn_id), Some(&ask.item_id)),
            Ask::Questions(ask) => (&ask.thread_id, Some(&ask.turn_id), Some(&ask.item_id)),
            Ask::Elicitation(ask) => (&ask.thread_id, ask.turn_id.as_ref(), None),
            Ask::Fixed(_) | Ask::Unknown => unreachable!("answered before"),
        };
        Self {
            generation,
            id: id.clone(),
            thread: thread.clone(),
            turn: turn.cloned(),
            item: item.cloned(),
            params: params.clone(),
            origin,
            timeout,
            created: now,
        }
    }
}

/// The word in `kind` for a request that was not read.
fn kind_of(method: &str) -> &'static str {
    match method {
        "item/commandExecution/requestApproval" => "command",
        "item/fileChange/requestApproval" => "fileChange",
        "item/permissions/requestApproval" => "permissions",
        "item/tool/requestUserInput" => "user_input",
        "mcpServer/elicitation/request" => "mcpElicitation",
        _ => "unknown",
    }
}
