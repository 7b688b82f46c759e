//! A client of `codex app-server`: JSON lines over its standard streams.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long one answer may take.
const LIMIT: Duration = Duration::from_secs(30);

/// How long a turn may take, with what a person takes to answer.
const TURN_LIMIT: Duration = Duration::from_mins(1);

/// What is said to a request of the server, by its method and parameters: each a message without
/// its `id`, or none to leave it open.
pub type Answer = Box<dyn FnMut(&str, &Value) -> Vec<Value>>;

/// How long a server may take to end, and what it wrote to come.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A running app server. It ends when this is dropped.
pub struct AppServer {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    stderr: Option<Receiver<String>>,
    next_id: u64,
    answer: Answer,
    /// What the server said without being asked.
    pub notes: Vec<Value>,
    /// What the server asked: methods and parameters.
    pub questions: Vec<(String, Value)>,
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
        let (send, stderr) = channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // A stream that breaks has said what it had to say.
            let _ = errors.read_to_end(&mut bytes);
            let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
        });
        Self {
            child,
            stdin: Some(stdin),
            lines,
            stderr: Some(stderr),
            next_id: 0,
            answer: Box::new(|_, _| Vec::new()),
            notes: Vec::new(),
            questions: Vec::new(),
        }
    }

    /// Answers the server's requests with `answer` from now on.
    pub fn answering(&mut self, answer: impl FnMut(&str, &Value) -> Vec<Value> + 'static) {
        self.answer = Box::new(answer);
    }

    /// Starts a turn of `thread` without waiting for its end; its id.
    pub fn start_turn(&mut self, thread: &str, text: &str) -> Result<String, Refusal> {
        let input = json!([{"type": "text", "text": text}]);
        let started = self.call("turn/start", &json!({"threadId": thread, "input": input}))?;
        Ok(started["turn"]["id"]
            .as_str()
            .unwrap_or_default()
            .to_owned())
    }

    /// Waits for the end of a turn; the turn as it was then.
    pub fn end_of_turn(&mut self, turn: &str) -> Result<Value, Refusal> {
        let end = Instant::now() + TURN_LIMIT;
        self.until(end, |server| {
            let mut notes = server.notes.iter();
            let ended = notes.find(|note| {
                note["method"] == "turn/completed" && note["params"]["turn"]["id"] == turn
            });
            ended.map(|note| note["params"]["turn"].clone())
        })
    }

    /// Waits for the next request of the server; its parameters.
    pub fn next_question(&mut self) -> Result<Value, Refusal> {
        let before = self.questions.len();
        let end = Instant::now() + LIMIT;
        self.until(end, |server| {
            server
                .questions
                .get(before)
                .map(|(_, params)| params.clone())
        })
    }

    fn until<T>(&mut self, end: Instant, found: impl Fn(&Self) -> Option<T>) -> Result<T, Refusal> {
        loop {
            if let Some(found) = found(self) {
                return Ok(found);
            }
            let Ok(message) = self.receive(end) else {
                return Err(Refusal::Silent);
            };
            self.note(message);
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

    /// Ends the server; what it wrote to its standard error. First by the end of its input: a
    /// sandbox that it is just starting would otherwise be left behind.
    pub fn stop(&mut self) -> String {
        self.stdin = None;
        let end = Instant::now() + LAST_WORDS;
        while self.receive(end).is_ok() {}
        // It has mostly ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let errors = self
            .stderr
            .take()
            .map(|stream| stream.recv_timeout(LAST_WORDS));
        errors.and_then(Result::ok).unwrap_or_default()
    }

    fn receive(&self, end: Instant) -> Result<Value, RecvTimeoutError> {
        let left = end.saturating_duration_since(Instant::now());
        self.lines.recv_timeout(left)
    }

    /// Keeps what the server says by itself, and answers what it asks.
    fn note(&mut self, message: Value) {
        match (message.get("id"), message["method"].as_str()) {
            (None, _) => self.notes.push(message),
            (Some(id), Some(method)) => {
                let params = &message["params"];
                for mut reply in (self.answer)(method, params) {
                    reply["id"] = id.clone();
                    self.send(&reply);
                }
                self.questions.push((method.to_owned(), params.clone()));
            }
            // An answer to a call that is over.
            (Some(_), None) => {}
        }
    }

    fn send(&mut self, message: &Value) {
        // A server that has ended shows in the missing answer.
        let _ = (self.stdin.as_mut())
            .map(|stdin| writeln!(stdin, "{message}").and_then(|()| stdin.flush()));
    }
}

impl Drop for AppServer {
    fn drop(&mut self) {
        if self.stderr.is_some() {
            self.stop();
        }
    }
}
