//! The MCP side: greeting, lists, calls, and the shape of every result.
//!
//! Standard output carries JSON-RPC alone, written by a thread of its own: a client that does not
//! read stops nothing, and one that lets too much pile up counts as gone. A call is answered once,
//! now or later; an error of a session is a result, never an error of the protocol.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, SyncSender, channel};
use std::time::Instant;

use serde_json::{Value, json};

use super::core::Broker;
use super::error::{Error, Result};
use super::inbox::In;
use super::limits;
use super::poll::Wait;
use super::tools::args::Args;
use super::tools::check::Check;
use super::tools::session::Manage;
use super::tools::start::{Reply, Start};
use super::{resources, tools};
use crate::rpc::{
    Dialect, Event, INVALID_PARAMS, INVALID_REQUEST, Id, Line, METHOD_NOT_FOUND, PARSE_ERROR, Peer,
    RpcError, Ticket,
};

/// Revisions of MCP that are spoken, the newest last.
pub const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The most characters of a client's name.
const NAME: usize = 200;

/// A call that waits for its result.
#[derive(Debug, Clone)]
pub struct Call {
    /// To answer with.
    pub id: Id,
    /// Where progress goes.
    pub progress: Option<Value>,
}

/// What the client is and what it waits for.
pub struct Client {
    pub(super) peer: Peer,
    /// Its name, once it greeted.
    pub(super) name: Option<String>,
    /// Whether it can show a form.
    pub(super) shows_forms: bool,
    /// Whether it can show a link.
    pub(super) shows_links: bool,
    pub(super) waits: Vec<Wait>,
    /// Questions that are before the person: of ours to the request that it is about.
    pub(super) asked: BTreeMap<Ticket, String>,
    /// Requests that were put to the person, answered or not: each is put once.
    pub(super) put: BTreeSet<String>,
    output: Option<Sender<Vec<u8>>>,
    queued: Arc<AtomicUsize>,
    notes: Vec<String>,
}

impl Client {
    pub(super) fn new() -> Self {
        Self {
            peer: Peer::new(Dialect::Standard, "codexgate"),
            name: None,
            shows_forms: false,
            shows_links: false,
            waits: Vec::new(),
            asked: BTreeMap::new(),
            put: BTreeSet::new(),
            output: None,
            queued: Arc::new(AtomicUsize::new(0)),
            notes: Vec::new(),
        }
    }

    /// Writes to `output` from now on.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn write_to(
        &mut self,
        mut output: impl Write + Send + 'static,
        inbox: SyncSender<In>,
    ) -> std::io::Result<std::thread::JoinHandle<()>> {
        let (send, lines) = channel::<Vec<u8>>();
        self.output = Some(send);
        let written = Arc::clone(&self.queued);
        std::thread::Builder::new()
            .name("client-output".to_owned())
            .spawn(move || {
                for bytes in lines {
                    let done = output.write_all(&bytes).and_then(|()| output.flush());
                    written.fetch_sub(bytes.len(), Ordering::AcqRel);
                    if done.is_err() {
                        // The broker may be ending already.
                        let _ = inbox.send(In::ClientGone);
                        return;
                    }
                }
            })
    }

    /// Hands what is to be said to the writer; whether the client still counts as there.
    pub(super) fn flush(&mut self) -> bool {
        let bytes = self.peer.take_output();
        let Some(output) = self.output.as_ref().filter(|_| !bytes.is_empty()) else {
            return true;
        };
        let before = self.queued.fetch_add(bytes.len(), Ordering::AcqRel);
        before <= limits::CLIENT_QUEUE && output.send(bytes).is_ok()
    }

    /// Says no more; the writer ends when all is written.
    pub(super) fn hang_up(&mut self) {
        self.flush();
        self.output = None;
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.waits.iter().map(Wait::deadline).min()
    }

    /// For standard error, at the end.
    pub(super) fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    /// What was noted.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Answers a call.
    pub(super) fn finish(&mut self, call: &Call, result: Result<Value>) {
        let result = match result {
            Ok(value) => success(&value, None),
            Err(error) => error.result(),
        };
        self.peer.answer(&call.id, Ok(result));
    }
}

/// The result of a call that worked. Its text is the object again, unless `text` stands for it.
pub fn success(value: &Value, text: Option<String>) -> Value {
    let text = text.unwrap_or_else(|| format!("{value:#}"));
    json!({
        "content": [{ "type": "text", "text": text }],
        "structuredContent": value,
        "isError": false,
    })
}

impl Broker {
    pub(super) fn client_line(&mut self, line: &Line) {
        if *line == Line::TooLong {
            let error = RpcError::new(PARSE_ERROR, "the line is longer than 16 MiB");
            self.client.peer.answer(&Id::null(), Err(error));
            return;
        }
        match self.client.peer.receive(line, Instant::now()) {
            Event::Request { id, method, params } => self.client_request(id, &method, &params),
            Event::Notification { method, params } if method == "notifications/cancelled" => {
                if let Some(id) = params.get("requestId").and_then(Id::of) {
                    self.client.waits.retain(|wait| wait.call.id != id);
                }
            }
            Event::Answer(ticket, outcome) => self.form_answered(ticket, &outcome),
            Event::Notification { .. } | Event::Late | Event::Foreign | Event::Unreadable => {}
        }
    }

    fn client_request(&mut self, id: Id, method: &str, params: &Value) {
        let answer = match method {
            "initialize" => self.initialize(params),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(tools::list()),
            "tools/call" => return self.call(id, params),
            "resources/list" => Ok(json!({ "resources": resources::list() })),
            "resources/templates/list" => Ok(json!({ "resourceTemplates": [] })),
            "resources/read" => match params.get("uri").and_then(Value::as_str) {
                Some(uri) => self.resource(uri),
                None => Err(RpcError::new(INVALID_PARAMS, "`uri` is missing")),
            },
            _ => Err(RpcError::new(METHOD_NOT_FOUND, "there is no such method")),
        };
        self.client.peer.answer(&id, answer);
    }

    fn initialize(&mut self, params: &Value) -> std::result::Result<Value, RpcError> {
        if self.client.name.is_some() {
            return Err(RpcError::new(INVALID_REQUEST, "it was initialized before"));
        }
        let Some(wanted) = params.get("protocolVersion").and_then(Value::as_str) else {
            return Err(RpcError::new(
                INVALID_PARAMS,
                "`protocolVersion` is missing",
            ));
        };
        // The newest that both know; dates compare as texts.
        let spoken = REVISIONS.iter().rfind(|known| **known <= wanted);
        let name = params.pointer("/clientInfo/name").and_then(Value::as_str);
        let name = name.unwrap_or("a client without a name");
        self.client.name = Some(name.chars().take(NAME).collect());
        let elicitation = params.pointer("/capabilities/elicitation");
        let can = elicitation
            .and_then(Value::as_object)
            .filter(|_| self.options.elicit);
        self.client.shows_forms =
            can.is_some_and(|can| can.is_empty() || can.get("form").is_some_and(Value::is_object));
        self.client.shows_links =
            can.is_some_and(|can| can.get("url").is_some_and(Value::is_object));
        Ok(json!({
            "protocolVersion": spoken.unwrap_or(&REVISIONS[0]),
            "capabilities": { "tools": {}, "resources": {} },
            "serverInfo": {
                "name": "codexgate",
                "title": "codexgate",
                "version": env!("CARGO_PKG_VERSION"),
            },
            "instructions": "Drives OpenAI Codex. Start a task with `codex`, then call \
                `codex_check` with action `wait` until the turn has ended; what stands in \
                `actions` waits for an answer. `codex-mcp:///quickstart` shows it step by step.",
        }))
    }

    fn call(&mut self, id: Id, params: &Value) {
        let name = params
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !tools::NAMES.contains(&name) {
            let error = RpcError::new(INVALID_PARAMS, format!("Tool {name:?} not found"));
            return self.client.peer.answer(&id, Err(error));
        }
        let call = Call {
            id,
            progress: params.pointer("/_meta/progressToken").cloned(),
        };
        if let Err(error) = self.dispatch(&call, name, params.get("arguments")) {
            self.client.finish(&call, Err(error));
        }
    }

    /// Begins a call; an error answers it, anything else is answered by whoever took it.
    fn dispatch(&mut self, call: &Call, name: &str, arguments: Option<&Value>) -> Result<()> {
        let args = Args::of(arguments)?;
        match name {
            "codex" => {
                let start = Start::read(&args, &self.options)?;
                self.start(call.clone(), start)
            }
            "codex_reply" => {
                let reply = Reply::read(&args, &self.options)?;
                self.reply(call.clone(), reply)
            }
            "codex_session" => {
                let (manage, warnings) = Manage::read(&args, &self.options)?;
                self.manage(call.clone(), manage, warnings)
            }
            _ => match Check::read(&args)? {
                Check::Poll(query) => {
                    let body = self.body(&query, &call.id)?;
                    self.client.peer.answer(&call.id, Ok(body));
                    Ok(())
                }
                Check::Wait {
                    query,
                    until,
                    timeout,
                } => self.wait(call.clone(), query, until, timeout),
                Check::Permission(query, permission) => self.permit(call, query, &permission),
                Check::Input {
                    query,
                    request,
                    answers,
                } => self.input(call, query, &request, &answers),
            },
        }
    }

    /// Refuses what came after the end began.
    pub(super) fn refuse_all(&mut self) {
        for wait in std::mem::take(&mut self.client.waits) {
            let error = Error::internal("the broker is ending");
            self.client.finish(&wait.call, Err(error));
        }
    }
}
