//! A client of `codex app-server`: JSON lines over its standard streams.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long one answer may take.
const LIMIT: Duration = Duration::from_secs(30);

/// A running app server. It ends when this is dropped.
pub struct AppServer {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<Value>,
    stderr: Option<JoinHandle<String>>,
    next_id: u64,
    /// What the server said without being asked.
    pub notes: Vec<Value>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The server's error message.
    Error(String),
    /// The server ended or stayed silent.
    Silent,
}

impl AppServer {
    /// Starts `command`, which is `codex app-server` with its flags.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let stdin = child.stdin.take().expect("it was piped");
        let stdout = BufReader::new(child.stdout.take().expect("it was piped"));
        let mut errors = child.stderr.take().expect("it was piped");
        let (send, lines) = channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if let Ok(message) = serde_json::from_str(&line)
                    && send.send(message).is_err()
                {
                    break;
                }
            }
        });
        let stderr = thread::spawn(move || {
            let mut bytes = Vec::new();
            // A stream that breaks has said what it had to say.
            let _ = errors.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        Self {
            child,
            stdin,
            lines,
            stderr: Some(stderr),
            next_id: 0,
            notes: Vec::new(),
        }
    }

    /// Greets the server.
    pub fn initialize(&mut self) -> Result<Value, Refusal> {
        let hello = self.call(
            "initialize",
            &json!({"clientInfo": {"name": "oracle", "version": "1"},
                    "capabilities": {"experimentalApi": true}}),
        )?;
        self.send(&json!({"method": "initialized"}));
        Ok(hello)
    }

    /// Calls `method` and waits for its answer; what comes in between goes to the notes.
    pub fn call(&mut self, method: &str, params: &Value) -> Result<Value, Refusal> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"id": id, "method": method, "params": params}));
        let end = Instant::now() + LIMIT;
        while let Ok(mut message) = self.receive(end) {
            if message.get("id").and_then(Value::as_u64) == Some(id) {
                if let Some(error) = message.get("error") {
                    let text = error.get("message").and_then(Value::as_str);
                    return Err(Refusal::Error(text.unwrap_or("?").to_owned()));
                }
                if let Some(result) = message.get_mut("result") {
                    return Ok(result.take());
                }
            }
            self.note(message);
        }
        Err(Refusal::Silent)
    }

    /// Collects notes for as long as `time`.
    pub fn settle(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while let Ok(message) = self.receive(end) {
            self.note(message);
        }
    }

    /// Ends the server; what it wrote to its standard error.
    pub fn stop(&mut self) -> String {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let errors = self.stderr.take().map(JoinHandle::join);
        errors.and_then(Result::ok).unwrap_or_default()
    }

    fn receive(&self, end: Instant) -> Result<Value, RecvTimeoutError> {
        let left = end.saturating_duration_since(Instant::now());
        self.lines.recv_timeout(left)
    }

    fn note(&mut self, message: Value) {
        if message.get("id").is_none() {
            self.notes.push(message);
        }
    }

    fn send(&mut self, message: &Value) {
        // A server that has ended shows in the missing answer.
        let _ = writeln!(self.stdin, "{message}").and_then(|()| self.stdin.flush());
    }
}

impl Drop for AppServer {
    fn drop(&mut self) {
        if self.stderr.is_some() {
            self.stop();
        }
    }
}
