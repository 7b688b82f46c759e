//! A scripted model on loopback that speaks the part of the Responses API that Codex uses.
//!
//! Codex sends one request for each step of a turn, and each takes the next step of the script;
//! behind its end the answer is "done", which ends the turn. The title that the terminal asks for
//! takes none.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// What the text `${token}` in a step stands for: what the newest output of a tool has between
/// these two.
const TOKEN: (&str, &str) = ("\"token\":\"", "\"");

/// What the id of a call begins with; its number follows, and its place among several behind a dot.
const CALL: &str = "call_";

/// How long a command may take before Codex answers that it still runs.
const COMMAND_LIMIT: Duration = Duration::from_secs(30);

/// What the model does in one step of a turn.
#[derive(Debug, Clone)]
pub enum Step {
    /// Says something, which ends the turn.
    Say(String),
    /// Runs a command line.
    Run(String),
    /// Calls a tool of an MCP server.
    Call {
        server: String,
        tool: String,
        arguments: Value,
    },
    /// Does several things in one answer.
    AtOnce(Vec<Step>),
}

impl Step {
    pub fn say(text: &str) -> Self {
        Self::Say(text.to_owned())
    }

    pub fn run(line: impl Into<String>) -> Self {
        Self::Run(line.into())
    }

    /// Asks the person about the newest token.
    pub fn ask() -> Self {
        Self::ask_about("${token}")
    }

    pub fn ask_about(token: &str) -> Self {
        Self::Call {
            server: "codexgate".to_owned(),
            tool: "codexgate_approve".to_owned(),
            arguments: json!({ "token": token }),
        }
    }

    /// The output items, with the token filled in.
    fn items(&self, call_id: &str, token: &str) -> Vec<Value> {
        let fill = |text: &str| text.replace("${token}", token);
        let item = match self {
            Self::AtOnce(steps) => {
                let each = steps.iter().enumerate();
                let items = each.map(|(at, step)| step.items(&format!("{call_id}.{at}"), token));
                return items.flatten().collect();
            }
            Self::Say(text) => json!({
                "type": "message", "role": "assistant",
                "content": [{"type": "output_text", "text": text}],
            }),
            Self::Run(line) => {
                let limit = COMMAND_LIMIT.as_millis();
                let arguments = json!({"cmd": fill(line), "yield_time_ms": limit});
                json!({
                    "type": "function_call", "call_id": call_id, "name": "exec_command",
                    "arguments": arguments.to_string(),
                })
            }
            Self::Call {
                server,
                tool,
                arguments,
            } => json!({
                "type": "function_call", "call_id": call_id,
                "namespace": format!("mcp__{server}"), "name": tool,
                "arguments": fill(&arguments.to_string()),
            }),
        };
        vec![item]
    }
}

/// The server. Its threads end with the process.
#[derive(Debug)]
pub struct Model {
    /// What Codex takes for the provider's address.
    pub base_url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    script: VecDeque<Step>,
    answers: usize,
    /// How many answers there were when the script was set.
    before: usize,
    /// The outputs in the newest request that the script brought about, oldest first.
    heard: Vec<String>,
    /// The newest request, as text.
    request: String,
}

impl Model {
    /// Serves on a free port.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
        let address = listener.local_addr().expect("it is bound");
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                // Codex may hang up: a turn that was interrupted.
                thread::spawn(move || serve(stream, &state));
            }
        });
        Self {
            base_url: format!("http://{address}/v1"),
            state,
        }
    }

    /// Sets the steps to come.
    pub fn script(&self, steps: impl IntoIterator<Item = Step>) {
        let mut state = lock(&self.state);
        state.script = steps.into_iter().collect();
        state.before = state.answers;
        state.heard.clear();
    }

    /// Whether the newest request tells the model `text`.
    pub fn was_told(&self, text: &str) -> bool {
        lock(&self.state).request.contains(text)
    }

    /// What the tools that the script called gave back, oldest first.
    pub fn heard(&self) -> Vec<String> {
        lock(&self.state).heard.clone()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().expect("no thread panics holding it")
}

fn serve(stream: TcpStream, state: &Mutex<State>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let path = path.split('?').next()?;
    let (status, kind, text) = if method == "POST" && path.ends_with("/responses") {
        let request = serde_json::from_slice(&body).unwrap_or_default();
        ("200 OK", "text/event-stream", answer(&request, state))
    } else if method == "GET" && path.ends_with("/models") {
        let models = json!({"models": []});
        ("200 OK", "application/json", models.to_string())
    } else {
        let error = json!({"error": {"message": "the model has no such path"}});
        ("404 Not Found", "application/json", error.to_string())
    };
    let length = text.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
    )
    .ok()?;
    stream.flush().ok()
}

/// The events that answer one request.
fn answer(request: &Value, state: &Mutex<State>) -> String {
    let mut state = lock(state);
    state.answers += 1;
    let number = state.answers;
    let mut newest = None;
    let step = if is_turn(request) {
        let outputs: Vec<(usize, String)> = request["input"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|item| {
                let is_output = item["type"].as_str()?.ends_with("_call_output");
                let id = item["call_id"].as_str()?.strip_prefix(CALL)?;
                let number = id.split('.').next()?.parse().ok()?;
                is_output.then(|| (number, text_of(&item["output"])))
            })
            .collect();
        state.request = request.to_string();
        newest = outputs.iter().rev().find_map(|(_, text)| token(text));
        let before = state.before;
        let since = outputs.into_iter().filter(|(number, _)| *number > before);
        state.heard = since.map(|(_, text)| text).collect();
        state
            .script
            .pop_front()
            .unwrap_or_else(|| Step::say("done"))
    } else {
        Step::say("A title")
    };
    let items = step.items(&format!("{CALL}{number}"), &newest.unwrap_or_default());
    let done = items
        .into_iter()
        .map(|item| json!({"type": "response.output_item.done", "item": item}));
    let id = format!("resp_{number}");
    let completed = json!({"type": "response.completed", "response": {"id": id}});
    let event = |event: &Value| {
        let kind = event["type"].as_str().unwrap_or_default();
        format!("event: {kind}\ndata: {event}\n\n")
    };
    let done: String = done.map(|done| event(&done)).collect();
    done + &event(&completed)
}

/// Whether this is a step of a conversation, and no errand beside it.
fn is_turn(request: &Value) -> bool {
    let text = request["client_metadata"]["x-codex-turn-metadata"].as_str();
    let meta: Value = text
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let kind = meta["request_kind"].as_str();
    meta["thread_source"] != "thread_title" && kind.is_none_or(|kind| kind == "turn")
}

/// An output is a text or a list of parts.
fn text_of(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

fn token(output: &str) -> Option<String> {
    let (_, rest) = output.split_once(TOKEN.0)?;
    let (token, _) = rest.split_once(TOKEN.1)?;
    Some(token.to_owned())
}
