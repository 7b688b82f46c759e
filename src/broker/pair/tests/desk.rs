//! A desk for tests: a [`Pairing`] with a clock of its own, fed by short lines or by a recorded
//! conversation.

use super::super::*;
use crate::rpc::Id;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

pub(super) const THREAD: &str = "thread-a";
pub(super) const TURN: &str = "turn-1";
pub(super) const SESSION: &str = "sess_a";
pub(super) const TIMEOUT: Duration = Duration::from_mins(1);

pub(super) struct Desk {
    pub(super) pairing: Pairing,
    pub(super) now: Now,
    pub(super) generation: u64,
    /// What was done, oldest first.
    pub(super) done: Vec<Effect>,
}

impl Desk {
    pub(super) fn new() -> Self {
        let mut next = 0x9e37_79b9_7f4a_7c15_u64;
        let random = move || {
            next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            next
        };
        Self {
            pairing: Pairing::new(Box::new(random)),
            now: Now {
                at: Instant::now(),
                utc: 1_796_101_445_345,
            },
            generation: 0,
            done: Vec::new(),
        }
    }

    pub(super) fn later(&mut self, time: Duration) {
        self.now.at += time;
        self.now.utc += u64::try_from(time.as_millis()).expect("a short time");
    }

    /// A notification; what it led to.
    pub(super) fn tell(&mut self, method: &str, params: &Value) -> Vec<Effect> {
        let out = self
            .pairing
            .notification(self.generation, method, params, self.now);
        self.done.extend(out.clone());
        out
    }

    /// A request of the session; what it led to.
    pub(super) fn ask(&mut self, id: &Value, method: &str, params: &Value) -> Vec<Effect> {
        self.ask_from(id, method, params, Some(SESSION))
    }

    pub(super) fn ask_from(
        &mut self,
        id: &Value,
        method: &str,
        params: &Value,
        session: Option<&str>,
    ) -> Vec<Effect> {
        let origin = Origin {
            session: session.map(str::to_owned),
            agent_path: None,
        };
        let id = Id::of(id).expect("an id");
        let out = self.pairing.request(
            self.generation,
            &id,
            method,
            params,
            origin,
            TIMEOUT,
            self.now,
        );
        self.done.extend(out.clone());
        out
    }

    /// An elicitation of `demo` in the turn, with the given members.
    pub(super) fn elicit(&mut self, id: &Value, members: &Value) -> Vec<Effect> {
        self.ask(id, "mcpServer/elicitation/request", &elicitation(members))
    }

    /// Announces a call of a tool of `demo`.
    pub(super) fn call(&mut self, item: &str, tool: &str, arguments: &Value) {
        self.tell("item/started", &tool_item(item, tool, arguments));
    }

    /// Announces a command.
    pub(super) fn command(&mut self, item: &str, command: &str) {
        let item = json!({"type": "commandExecution", "id": item, "command": command, "cwd": "/w", "status": "inProgress"});
        self.tell(
            "item/started",
            &json!({"threadId": THREAD, "turnId": TURN, "item": item}),
        );
    }

    /// The requests that wait in the session.
    pub(super) fn open(&self) -> Vec<&Pending> {
        self.pairing.waiting(SESSION).collect()
    }

    /// The one request that waits.
    pub(super) fn only(&self) -> &Pending {
        match self.open()[..] {
            [only] => only,
            ref other => panic!("{} wait: {:?}", other.len(), self.done),
        }
    }

    pub(super) fn say(
        &mut self,
        request: &str,
        answer: impl Into<Answer>,
    ) -> Result<Vec<Effect>, Refused> {
        let out = self
            .pairing
            .respond(SESSION, request, &answer.into(), By::Call, self.now)?;
        self.done.extend(out.clone());
        Ok(out)
    }

    /// All answers on the wire, in their order: id and result, or the code of the error.
    pub(super) fn wire(&self) -> Vec<(Value, Value)> {
        wire(&self.done)
    }

    /// Replays the server's lines of a recording until one is a request for which `stop` is true.
    /// Client's lines are skipped; sessions are those of the recording's own first thread.
    pub(super) fn replay(&mut self, recording: &Recording, lines: std::ops::Range<usize>) {
        for line in &recording.lines[lines] {
            match line {
                Line::Tells { method, params } => {
                    self.tell(method, params);
                }
                Line::Asks { id, method, params } => {
                    self.ask(id, method, params);
                }
                Line::Other => {}
            }
        }
    }
}

/// An id as it goes out, to the last character.
pub(super) fn text(id: &Id) -> String {
    let shown = format!("{id:?}");
    let inner = shown.split_once("RawValue(").expect("it keeps its text").1;
    inner
        .rsplit_once("), value: ")
        .expect("then its value")
        .0
        .to_owned()
}

fn value(id: &Id) -> Value {
    serde_json::from_str(&text(id)).expect("an id is JSON")
}

pub(super) fn wire(done: &[Effect]) -> Vec<(Value, Value)> {
    let one = |effect: &Effect| match effect {
        Effect::Answer { id, result, .. } => {
            let result = result
                .clone()
                .unwrap_or_else(|error| json!({"error": error.code}));
            Some((value(id), result))
        }
        _ => None,
    };
    done.iter().filter_map(one).collect()
}

/// The reasons of what was declined by rule, in order.
pub(super) fn reasons(done: &[Effect]) -> Vec<String> {
    events(done, EventKind::ApprovalResult)
        .into_iter()
        .filter(|data| data["auto"] == true && data["decision"] == "decline")
        .map(|data| data["reason"].as_str().expect("a reason").to_owned())
        .collect()
}

pub(super) fn events(done: &[Effect], wanted: EventKind) -> Vec<Value> {
    let one = |effect: &Effect| match effect {
        Effect::Event { kind, data, .. } if *kind == wanted => Some(data.clone()),
        _ => None,
    };
    done.iter().filter_map(one).collect()
}

pub(super) fn codes(done: &[Effect]) -> Vec<String> {
    let errors = events(done, EventKind::Error);
    errors
        .iter()
        .map(|data| data["code"].as_str().expect("a code").to_owned())
        .collect()
}

pub(super) fn declined() -> Value {
    json!({"action": "decline", "content": null, "_meta": null})
}

pub(super) fn accepted() -> Value {
    json!({"action": "accept", "content": {}, "_meta": null})
}

pub(super) fn tool_item(item: &str, tool: &str, arguments: &Value) -> Value {
    json!({"threadId": THREAD, "turnId": TURN, "item": {
        "type": "mcpToolCall", "id": item, "server": "demo", "environmentId": null, "tool": tool,
        "status": "inProgress", "arguments": arguments, "readOnlyHint": null,
    }})
}

/// `item/completed` of such an item.
pub(super) fn ended(item: &str, tool: &str, arguments: &Value, status: &str) -> Value {
    let mut params = tool_item(item, tool, arguments);
    params["item"]["status"] = status.into();
    if status == "completed" {
        params["item"]["result"] = json!({"content": []});
    }
    params
}

/// An elicitation with `members` over the members of a plain form.
pub(super) fn elicitation(members: &Value) -> Value {
    let mut params = json!({
        "threadId": THREAD, "turnId": TURN, "serverName": "demo", "environmentId": null, "mode": "form",
        "_meta": null, "message": "?", "requestedSchema": {"type": "object", "properties": {}},
    });
    for (name, value) in members.as_object().expect("members") {
        params[name] = value.clone();
    }
    params
}

/// A tool approval as Codex 0.171 makes it.
pub(super) fn approval(tool: &str, arguments: &Value) -> Value {
    json!({
        "_meta": {"codex_approval_kind": "mcp_tool_call", "persist": ["session", "always"], "tool_name": tool, "tool_params": arguments},
        "message": format!("Allow the demo MCP server to run tool \"{tool}\"?"),
    })
}

/// The same as Codex 0.154 makes it.
pub(super) fn approval_0154(tool: &str, arguments: &Value) -> Value {
    let mut params = approval(tool, arguments);
    params["_meta"]
        .as_object_mut()
        .expect("meta")
        .shift_remove("tool_name");
    params
}

/// One line of a recording.
pub(super) enum Line {
    Tells {
        method: String,
        params: Value,
    },
    Asks {
        id: Value,
        method: String,
        params: Value,
    },
    /// What the client wrote, and what answered it.
    Other,
}

pub(super) struct Recording {
    pub(super) lines: Vec<Line>,
}

impl Recording {
    /// Reads `tests/fixtures/broker/NAME.jsonl`.
    pub(super) fn read(name: &str) -> Self {
        let path = format!(
            "{}/tests/fixtures/broker/{name}.jsonl",
            env!("CARGO_MANIFEST_DIR")
        );
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        let lines = text.lines().skip(1).map(|line| {
            let line: Value = serde_json::from_str(line).expect("a line of JSON");
            let msg = &line["msg"];
            let method = msg["method"].as_str().map(str::to_owned);
            match (line["dir"].as_str(), method, msg.get("id")) {
                (Some("c>s"), ..) => Line::Other,
                (_, Some(method), Some(id)) => Line::Asks {
                    id: id.clone(),
                    method,
                    params: msg["params"].clone(),
                },
                (_, Some(method), None) => Line::Tells {
                    method,
                    params: msg["params"].clone(),
                },
                _ => Line::Other,
            }
        });
        Self {
            lines: lines.collect(),
        }
    }

    /// The index behind the `n`th request of the server.
    pub(super) fn after_request(&self, n: usize) -> usize {
        let mut asks = self
            .lines
            .iter()
            .enumerate()
            .filter(|(_, line)| matches!(line, Line::Asks { .. }));
        asks.nth(n - 1).expect("so many requests").0 + 1
    }

    /// The parameters of the `n`th request of the server.
    pub(super) fn request(&self, n: usize) -> (&Value, &str, &Value) {
        match &self.lines[self.after_request(n) - 1] {
            Line::Asks { id, method, params } => (id, method, params),
            _ => unreachable!("it is one"),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }
}
