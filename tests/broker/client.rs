//! An MCP client: lines to the broker and lines back, each result held against its schema.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long one answer may take; a busy machine takes seconds for what takes milliseconds.
const LIMIT: Duration = Duration::from_mins(1);

/// A client with a running broker.
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    stderr: Option<thread::JoinHandle<String>>,
    next: u64,
    schemas: BTreeMap<String, jsonschema::Validator>,
    /// What came that nobody waited for.
    pub notes: Vec<Value>,
}

impl Client {
    /// Starts `command` and speaks to it without a greeting.
    pub fn silent(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut errors = child.stderr.take().expect("a pipe");
        let (send, lines) = channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let message: Value = serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("stdout carries JSON alone: {error}: {line}"));
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        let stderr = thread::spawn(move || {
            let mut text = String::new();
            // A broken pipe is the end of it.
            let _ = errors.read_to_string(&mut text);
            text
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            stderr: Some(stderr),
            next: 0,
            schemas: BTreeMap::new(),
            notes: Vec::new(),
        }
    }

    /// The same with a greeting; `capabilities` are the client's.
    pub fn start(command: &mut Command, capabilities: &Value) -> Self {
        let mut client = Self::silent(command);
        let hello = client.request(
            "initialize",
            &json!({"protocolVersion": "2025-06-18", "capabilities": capabilities,
                    "clientInfo": {"name": "test client", "version": "0"}}),
        );
        assert_eq!(
            hello["result"]["serverInfo"]["name"], "codexgate",
            "{hello}"
        );
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let listed = client.request("tools/list", &json!({}));
        for tool in listed["result"]["tools"].as_array().expect("a list") {
            let schema = jsonschema::validator_for(&tool["outputSchema"]).expect("a schema");
            let name = tool["name"].as_str().expect("a name");
            client.schemas.insert(name.to_owned(), schema);
        }
        client
    }

    /// The broker's process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    pub fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("its input is open");
        // One that has ended shows in the missing answer.
        let _ = input.write_all(bytes).and_then(|()| input.flush());
    }

    /// The next line, whatever it is.
    pub fn hear(&mut self) -> Value {
        self.lines.recv_timeout(LIMIT).expect("it says something")
    }

    /// Sends a request without waiting; its id.
    pub fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The answer to `id`; everything else goes to the notes.
    pub fn answer(&mut self, id: u64) -> Value {
        let is_it = |message: &Value| message["id"] == id && message.get("method").is_none();
        if let Some(place) = self.notes.iter().position(is_it) {
            return self.notes.remove(place);
        }
        let end = Instant::now() + LIMIT;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.lines.recv_timeout(left).unwrap_or_else(|error| {
                panic!(
                    "no answer to {id}: {error}; {} others came",
                    self.notes.len()
                )
            });
            if is_it(&message) {
                return message;
            }
            self.notes.push(message);
        }
    }

    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Sends a call without waiting; its id.
    pub fn begin(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// The result of a call, held against the tool's schema.
    pub fn result(&mut self, tool: &str, id: u64) -> Result<Value, String> {
        let answer = self.answer(id);
        let result = &answer["result"];
        let content = &result["structuredContent"];
        if let Some(schema) = self.schemas.get(tool)
            && let Some(error) = schema.iter_errors(content).next()
        {
            panic!("F1: {tool} gave what its schema refuses: {error}\n{content:#}");
        }
        let text = result["content"][0]["text"].as_str().expect("a text");
        if result["isError"] == true {
            assert_eq!(content["error"], text, "F2: one shape");
            assert!(text.starts_with("Error ["), "{text}");
            return Err(text.to_owned());
        }
        assert_eq!(result["isError"], false, "{answer}");
        Ok(content.clone())
    }

    pub fn try_call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let id = self.begin(tool, arguments);
        self.result(tool, id)
    }

    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.try_call(tool, arguments)
            .unwrap_or_else(|error| panic!("{tool} {arguments}: {error}"))
    }

    /// Waits until the session needs the client or its turn has ended.
    pub fn wait(&mut self, session: &str) -> Value {
        self.wait_until(session, "action")
    }

    /// Waits until the turn has ended or something new is asked.
    pub fn wait_done(&mut self, session: &str) -> Value {
        self.wait_until(session, "done")
    }

    fn wait_until(&mut self, session: &str, until: &str) -> Value {
        let end = Instant::now() + LIMIT;
        loop {
            let body = self.call(
                "codex_check",
                &json!({"action": "wait", "sessionId": session, "timeoutMs": 20_000, "until": until,
                        "maxEvents": 500, "responseMode": "full"}),
            );
            if body["timedOut"] != true {
                return body;
            }
            assert!(Instant::now() < end, "nothing happened: {body:#}");
        }
    }

    /// Answers a request.
    pub fn decide(
        &mut self,
        session: &str,
        request: &Value,
        decision: &str,
    ) -> Result<Value, String> {
        self.try_call(
            "codex_check",
            &json!({"action": "respond_permission", "sessionId": session,
                    "requestId": request, "decision": decision}),
        )
    }

    /// Ends the input and waits for the end; what was on standard error, and how long it took.
    pub fn finish(&mut self) -> (String, Duration) {
        let begun = Instant::now();
        self.input = None;
        let status = self.child.wait().expect("it ends");
        let took = begun.elapsed();
        let stderr = self
            .stderr
            .take()
            .expect("once")
            .join()
            .expect("it was read");
        assert!(status.success(), "{status}: {stderr}");
        (stderr, took)
    }

    /// Kills it, as when a machine runs out of memory.
    pub fn kill(&mut self) {
        // It may have ended just now.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        let end = Instant::now() + Duration::from_secs(8);
        while Instant::now() < end && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
