//! Whose a message of Codex is, and what it becomes in that session's stream.
//!
//! Everything goes by `threadId`. A subagent's thread is announced by its parent's items; one that
//! nobody announced, or not with its path, is asked about (`thread/read`), and what it says
//! meanwhile waits in order: it has one path from its first event on. A child's events stand in its
//! parent's stream with its thread and path; status, result and turn follow the session's own
//! thread alone.

use serde_json::{Map, Value, json};

use super::children::Stray;
use super::core::{Broker, iso, moment};
use super::error::Code;
use super::events::Kind;
use super::limits;
use super::pair::{self, Origin};
use super::session::{Phase, Session, Turn};
use crate::rpc::Id;

/// Where a thread belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The session.
    pub session: String,
    /// A subagent's path; none for the session's own thread.
    pub child: Option<String>,
}

/// Notifications that a session shows as progress, by name or by what they begin with.
const SHOWN: [&str; 24] = [
    "item/",
    "turn/",
    "thread/started",
    "thread/status/changed",
    "thread/settings/updated",
    "thread/closed",
    "thread/archived",
    "thread/deleted",
    "thread/tokenUsage/updated",
    "thread/name/updated",
    "thread/compacted",
    "serverRequest/resolved",
    "error",
    "warning",
    "configWarning",
    "deprecationNotice",
    "guardianWarning",
    "mcpServer/startupStatus/updated",
    "mcpServer/oauthLogin/completed",
    "autoApprovalReview/",
    "model/rerouted",
    "hook/started",
    "hook/completed",
    "windows/worldWritableWarning",
];

fn is_shown(method: &str) -> bool {
    SHOWN
        .iter()
        .any(|name| method == *name || (name.ends_with('/') && method.starts_with(name)))
}

impl Broker {
    pub(super) fn codex_told(&mut self, method: String, params: Value) {
        if !is_shown(&method) {
            return;
        }
        let Some(thread) = params.get("threadId").and_then(Value::as_str) else {
            // A start is told with the whole thread.
            match params.pointer("/thread/id").and_then(Value::as_str) {
                Some(thread) => {
                    let thread = thread.to_owned();
                    if self.routes.contains_key(&thread) {
                        self.told(&thread, &method, &params);
                    }
                }
                None if WARNINGS.contains(&method.as_str()) => {
                    let data = with_method(&method, &params);
                    self.warn_all(&data);
                }
                None => {}
            }
            return;
        };
        let thread = thread.to_owned();
        if self.routes.contains_key(&thread) {
            self.told(&thread, &method, &params);
        } else {
            self.stray(&thread, Stray::Told(method, params));
        }
    }

    pub(super) fn codex_request(&mut self, id: Id, method: String, params: Value) {
        let thread = params.get("threadId").and_then(Value::as_str);
        match thread.map(str::to_owned) {
            Some(thread) if !self.routes.contains_key(&thread) => {
                self.stray(&thread, Stray::Asked(id, method, params));
            }
            thread => self.asked(thread.as_deref(), &id, &method, &params),
        }
    }

    pub(super) fn asked(&mut self, thread: Option<&str>, id: &Id, method: &str, params: &Value) {
        let route = thread.and_then(|thread| self.routes.get(thread));
        let session = route.and_then(|route| self.sessions.get(&route.session));
        let open = session.filter(|session| session.phase != Phase::Cancelled);
        let origin = Origin {
            session: open.map(|session| session.id.clone()),
            agent_path: route.and_then(|route| route.child.clone()),
        };
        let timeout = open.map_or(limits::APPROVAL, |session| session.wish.approval_timeout);
        let generation = self.codex.generation;
        let effects = self.pairing.request(
            generation,
            id,
            method,
            params,
            origin,
            timeout,
            super::approvals::now(),
        );
        self.apply(effects);
    }

    pub(super) fn told(&mut self, thread: &str, method: &str, params: &Value) {
        let Some(route) = self.routes.get(thread).cloned() else {
            return;
        };
        let announced = announced(params);
        for (child, path) in announced {
            self.announce(&route.session, &child, path.as_deref());
        }
        if method == "thread/settings/updated" {
            self.settings_told(thread, &route, &params["threadSettings"]);
        }
        let generation = self.codex.generation;
        let effects =
            self.pairing
                .notification(generation, method, params, super::approvals::now());
        let notes = Self::ungated(&effects);
        if let Some(session) = self.sessions.get_mut(&route.session) {
            record(session, &route, method, params, &notes);
        }
        self.apply(effects);
        if route.child.is_some() {
            return self.child_told(thread, &route.session, method, params);
        }
        match method {
            "thread/closed" | "thread/deleted" => self.thread_closed(thread, &route.session),
            "turn/completed" => self.store_session(&route.session),
            _ => {}
        }
    }

    /// The thread of a session was closed by somebody.
    fn thread_closed(&mut self, thread: &str, session: &str) {
        self.routes.remove(thread);
        let Some(session) = self.sessions.get_mut(session) else {
            return;
        };
        session.generation = 0;
        if session.phase == Phase::Running && !session.busy {
            let turn = session.turn.as_ref().map(|turn| turn.id.clone());
            let text = "the thread was closed while its turn ran";
            session.last_error = Some(text.to_owned());
            session.end_turn(
                Phase::Error,
                json!({"turnId": turn.unwrap_or_default(), "status": "error", "error": text,
                    "completedAt": iso(moment())}),
            );
        }
    }

    fn settings_told(&mut self, thread: &str, route: &Route, settings: &Value) {
        if route.child.is_some() {
            return;
        }
        let waiter = self
            .settled
            .iter()
            .position(|waiter| waiter.thread == thread);
        if let Some(place) = waiter {
            let waiter = self.settled.swap_remove(place);
            return (waiter.then)(self, Ok(settings.clone()));
        }
        let Some(session) = self.sessions.get_mut(&route.session) else {
            return;
        };
        let found = super::effective::Effective::of_settings(settings);
        let differences = found.compare(&session.wish.asked());
        session.effective = Some(found);
        if differences.weaker.is_empty() || session.phase == Phase::Cancelled {
            return;
        }
        let message = format!(
            "the policy became weaker: {}",
            differences.weaker.join("; ")
        );
        session.tell(
            Kind::Error,
            json!({"method": "policy_changed", "code": Code::PolicyMismatch.as_str(),
                "message": message}),
        );
        session.last_error = Some(message);
        let turn = session.turn.as_ref().map(|turn| turn.id.clone());
        if let Some(turn) = turn {
            let params = json!({ "threadId": thread, "turnId": turn });
            self.ask_blindly("turn/interrupt", &params);
        }
        // The next reply resumes it with its own policy.
        if let Some(session) = self.sessions.get_mut(&route.session) {
            session.generation = 0;
        }
        self.ask_blindly("thread/unsubscribe", &json!({ "threadId": thread }));
    }
}

/// Warnings that belong to no thread.
const WARNINGS: [&str; 4] = [
    "configWarning",
    "warning",
    "deprecationNotice",
    "guardianWarning",
];

/// `params` as the data of an event.
fn with_method(method: &str, params: &Value) -> Value {
    let mut data = Map::new();
    data.insert("method".to_owned(), method.into());
    for (name, value) in params.as_object().into_iter().flatten() {
        data.insert(name.clone(), value.clone());
    }
    Value::Object(data)
}

/// Subagents' threads that an item names, with their paths.
fn announced(params: &Value) -> Vec<(String, Option<String>)> {
    let item = &params["item"];
    match item["type"].as_str() {
        Some("collabAgentToolCall") => item["receiverThreadIds"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|thread| thread.as_str().map(|thread| (thread.to_owned(), None)))
            .collect(),
        Some("subAgentActivity") => {
            let path = item["agentPath"].as_str().map(str::to_owned);
            let thread = item["agentThreadId"].as_str();
            thread
                .map(|thread| (thread.to_owned(), path))
                .into_iter()
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Puts a notification into the session's stream, and follows the session's own turn.
fn record(
    session: &mut Session,
    route: &Route,
    method: &str,
    params: &Value,
    notes: &[(String, String)],
) {
    let own = route.child.is_none();
    let mut data = with_method(method, params);
    if let Some(path) = &route.child {
        data["agentPath"] = path.as_str().into();
    }
    let item = params.pointer("/item/id").and_then(Value::as_str);
    if let Some((_, note)) = notes.iter().find(|(id, _)| item == Some(id)) {
        data["ungated"] = note.as_str().into();
    }
    if let Some(note) = pair::model_decided(method) {
        data["decidedBy"] = note.into();
    }
    let kind = kind_of(method, params, own);
    match method {
        "error" => {
            if let Some(message) = params.pointer("/error/message").cloned() {
                data["message"] = message;
            }
            if kind == Kind::Progress {
                data["method"] = "codex-mcp/reconnect".into();
                data["sourceMethod"] = "error".into();
                data["phase"] = "retrying".into();
                return session.tell_pinned(kind, data);
            }
            if own {
                session.last_error = data["message"].as_str().map(str::to_owned);
            }
        }
        "mcpServer/startupStatus/updated"
            if !matches!(params["status"].as_str(), Some("failed" | "cancelled")) =>
        {
            return;
        }
        // The pairing tells those that mean something.
        "serverRequest/resolved" => return,
        "turn/started" if own => {
            let id = params.pointer("/turn/id").and_then(Value::as_str);
            if let (Some(id), None) = (id, &session.turn)
                && session.phase != Phase::Cancelled
            {
                session.turn = Some(Turn {
                    id: id.to_owned(),
                    ..Turn::default()
                });
                // Codex may begin a turn by itself, as when a subagent reports.
                session.phase = Phase::Running;
            }
        }
        "item/completed" if own => {
            if params.pointer("/item/type").and_then(Value::as_str) == Some("agentMessage")
                && let Some(text) = params.pointer("/item/text").and_then(Value::as_str)
                && let Some(turn) = &mut session.turn
                && params["turnId"] == turn.id.as_str()
            {
                turn.said = Some(text.to_owned());
            }
        }
        "turn/completed" => {
            let turn = &params["turn"];
            data["turnId"] = turn["id"].clone();
            data["status"] = turn["status"].clone();
            if own {
                complete(session, turn);
            }
        }
        _ => {}
    }
    session.tell(kind, data);
}

fn kind_of(method: &str, params: &Value, own: bool) -> Kind {
    let said = || {
        matches!(
            params.pointer("/item/type").and_then(Value::as_str),
            Some("agentMessage" | "userMessage")
        )
    };
    match method {
        "item/agentMessage/delta" => Kind::Output,
        "item/started" | "item/completed" if said() => Kind::Output,
        "turn/completed" if own => Kind::Result,
        "error" if params["willRetry"] != true => Kind::Error,
        _ => Kind::Progress,
    }
}

/// The session's own turn is over.
fn complete(session: &mut Session, turn: &Value) {
    // A turn that ended before ours: an interrupted one that a reply overtook.
    let id = turn["id"].as_str().unwrap_or_default();
    let ours = match &session.turn {
        Some(own) => own.id == id,
        // The next one is being started: its id comes before its end.
        None => !session.busy,
    };
    if session.phase == Phase::Cancelled || !ours {
        return;
    }
    let own = session.turn.take().unwrap_or_default();
    let status = turn["status"].as_str().unwrap_or("completed");
    let mut result = json!({
        "turnId": id,
        "turn": turn,
        "status": status,
        "turnError": turn["error"],
        "completedAt": iso(moment()),
    });
    let items = turn["items"].as_array();
    let last = items.and_then(|items| {
        let messages = items.iter().rev();
        messages
            .filter(|item| item["type"] == "agentMessage")
            .find_map(|item| item["text"].as_str())
    });
    if let Some(output) = own.said.as_deref().or(last) {
        if own.schema
            && let Ok(parsed) = serde_json::from_str::<Value>(output)
        {
            result["structuredOutput"] = parsed;
        }
        result["output"] = output.into();
    }
    let phase = if status == "failed" {
        let message = turn.pointer("/error/message").and_then(Value::as_str);
        let message = message.unwrap_or("the turn failed").to_owned();
        result["error"] = message.as_str().into();
        session.last_error = Some(message);
        Phase::Error
    } else {
        Phase::Idle
    };
    session.turned = true;
    session.end_turn(phase, result);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::session::example;
    use crate::broker::words::{Detail, Status};

    fn own() -> Route {
        Route {
            session: "sess_1".to_owned(),
            child: None,
        }
    }

    fn tell(session: &mut Session, route: &Route, method: &str, params: &Value) {
        record(session, route, method, params, &[]);
    }

    fn run(session: &mut Session) {
        session.turn = Some(Turn {
            id: "t".to_owned(),
            ..Turn::default()
        });
    }

    #[test]
    fn f27_the_result_has_what_the_agent_said_last() {
        let mut session = example();
        run(&mut session);
        session.turn.as_mut().expect("a turn").schema = true;
        for text in ["first", "{\"a\": 1}"] {
            let item = json!({"type": "agentMessage", "id": "i", "text": text});
            tell(
                &mut session,
                &own(),
                "item/completed",
                &json!({"turnId": "t", "item": item}),
            );
        }
        let turn = json!({"id": "t", "status": "completed", "items": [], "error": null});
        tell(
            &mut session,
            &own(),
            "turn/completed",
            &json!({ "turn": turn }),
        );
        let result = session.result.expect("it ended");
        assert_eq!(result["output"], "{\"a\": 1}");
        assert_eq!(result["structuredOutput"], json!({"a": 1}));
        assert_eq!(session.phase, Phase::Idle);
    }

    #[test]
    fn f28_a_failed_turn_is_an_error_that_says_why() {
        let mut session = example();
        run(&mut session);
        let turn = json!({"id": "t", "status": "failed", "items": [],
            "error": {"message": "stream disconnected"}});
        tell(
            &mut session,
            &own(),
            "turn/completed",
            &json!({ "turn": turn }),
        );
        assert_eq!(session.status(), Status::Error);
        let result = session.result.expect("it ended");
        assert_eq!(result["error"], "stream disconnected");
        assert_eq!(result["turnError"]["message"], "stream disconnected");
    }

    #[test]
    fn f24_a_childs_end_is_not_the_sessions() {
        let mut session = example();
        run(&mut session);
        let child = Route {
            child: Some("/root/helper".to_owned()),
            ..own()
        };
        let turn = json!({"id": "c", "status": "completed",
            "items": [{"type": "agentMessage", "text": "the child's"}]});
        let params = json!({"threadId": "child", "turn": turn});
        tell(&mut session, &child, "turn/completed", &params);
        assert_eq!(session.status(), Status::Running);
        assert_eq!(session.result, None);
        let page = session.events.read(None, 9, Detail::Minimal, None);
        assert_eq!(page.events[0]["type"], "progress");
        assert_eq!(page.events[0]["data"]["threadId"], "child");
        assert_eq!(page.events[0]["data"]["agentPath"], "/root/helper");
    }

    #[test]
    fn a_retry_is_progress_and_the_end_of_retries_an_error() {
        let mut session = example();
        let error = json!({"error": {"message": "down"}, "willRetry": true});
        tell(&mut session, &own(), "error", &error);
        let error = json!({"error": {"message": "down"}, "willRetry": false});
        tell(&mut session, &own(), "error", &error);
        let page = session.events.read(None, 9, Detail::Minimal, None);
        assert_eq!(page.events[0]["type"], "progress");
        assert_eq!(page.events[0]["data"]["method"], "codex-mcp/reconnect");
        assert_eq!(page.events[0]["data"]["phase"], "retrying");
        assert_eq!(page.events[1]["type"], "error");
        assert_eq!(page.events[1]["data"]["message"], "down");
    }

    #[test]
    fn the_end_of_another_turn_does_not_end_this_one() {
        let mut session = example();
        run(&mut session);
        let turn = json!({"id": "older", "status": "interrupted", "items": []});
        tell(
            &mut session,
            &own(),
            "turn/completed",
            &json!({ "turn": turn }),
        );
        assert_eq!(session.status(), Status::Running);
    }

    #[test]
    fn what_nobody_reads_is_not_kept() {
        assert!(is_shown("item/started") && is_shown("turn/plan/updated"));
        assert!(!is_shown("account/rateLimits/updated") && !is_shown("thread/readState/changed"));
    }
}
