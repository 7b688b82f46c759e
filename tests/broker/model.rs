//! A model on loopback that does what the prompt says, step by step.
//!
//! A prompt is a JSON list of steps: `{"say": TEXT}`, `{"run": LINE, …}` (more members go into the
//! call), `{"call": {server, tool, arguments}}`, `{"tool": NAME, "arguments": {}}` (with
//! `"namespace"` for one of Codex's own that has one), `{"fail": true}` and lists of such, which are
//! called at once. Which step is due is told by how many outputs stand behind the newest prompt, so
//! the model keeps no state. Any other prompt is said back.

use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

pub struct Model {
    pub base_url: String,
}

impl Model {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
        let address = listener.local_addr().expect("it is bound");
        let count = Arc::new(AtomicUsize::new(0));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let count = Arc::clone(&count);
                // Codex may hang up: a turn that was interrupted.
                thread::spawn(move || serve(stream, &count));
            }
        });
        Self {
            base_url: format!("http://{address}/v1"),
        }
    }
}

fn serve(stream: TcpStream, count: &AtomicUsize) -> Option<()> {
    stream.set_read_timeout(Some(Duration::from_mins(1))).ok()?;
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
        match answer(&request, count.fetch_add(1, Ordering::Relaxed)) {
            Some(text) => ("200 OK", "text/event-stream", text),
            None => (
                "400 Bad Request",
                "application/json",
                r#"{"error":{"message":"the script says so"}}"#.to_owned(),
            ),
        }
    } else if method == "GET" && path.ends_with("/models") {
        (
            "200 OK",
            "application/json",
            json!({"models": []}).to_string(),
        )
    } else {
        ("404 Not Found", "application/json", "{}".to_owned())
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    )
    .ok()?;
    stream.flush().ok()
}

/// The text of a user's message, or of a task that an agent was given by another; Codex calls the
/// latter encrypted, and hands on what the other model wrote.
fn text_of(item: &Value) -> Option<&str> {
    let member = match (item["type"].as_str()?, item["role"].as_str()) {
        ("message", Some("user")) => "text",
        ("agent_message", _) => "encrypted_content",
        _ => return None,
    };
    item["content"]
        .as_array()?
        .iter()
        .find_map(|part| part[member].as_str())
}

fn answer(request: &Value, number: usize) -> Option<String> {
    let input = request["input"].as_array().cloned().unwrap_or_default();
    let prompt = input
        .iter()
        .rposition(|item| text_of(item).is_some_and(|text| !text.trim_start().starts_with('<')));
    let text = prompt
        .and_then(|at| text_of(&input[at]))
        .unwrap_or("nothing");
    let done = prompt.map_or(0, |at| {
        let after = &input[at..];
        let is_output = |item: &&Value| {
            item["type"]
                .as_str()
                .is_some_and(|kind| kind.ends_with("_call_output"))
        };
        after.iter().filter(is_output).count()
    });
    let steps: Vec<Value> = match serde_json::from_str(text) {
        Ok(Value::Array(steps)) => steps,
        _ => vec![json!({ "say": text })],
    };
    // A list of calls at once counts as many outputs as it has calls.
    let mut left = done;
    let mut due = None;
    for step in &steps {
        let calls = step.as_array().map_or(1, Vec::len);
        if left == 0 {
            due = Some(step.clone());
            break;
        }
        left = left.saturating_sub(calls);
    }
    let step = due.unwrap_or_else(|| json!({"say": "done"}));
    let steps = match step {
        Value::Array(steps) => steps,
        step => vec![step],
    };
    let mut out = String::new();
    let mut event = |event: &Value| {
        let kind = event["type"].as_str().unwrap_or_default();
        write!(out, "event: {kind}\ndata: {event}\n\n").expect("memory");
    };
    let id = format!("resp_{number}");
    event(&json!({"type": "response.created", "response": {"id": id}}));
    for (index, step) in steps.iter().enumerate() {
        if step["fail"] == true {
            return None;
        }
        let call = format!("call_{number}_{index}");
        let item = if let Some(text) = step["say"].as_str() {
            let item = json!({"type": "message", "role": "assistant", "id": format!("msg_{number}"),
                "content": [{"type": "output_text", "text": text}]});
            event(
                &json!({"type": "response.output_item.added", "output_index": 0,
                "item": {"type": "message", "role": "assistant", "id": format!("msg_{number}"),
                         "content": []}}),
            );
            for piece in text.split_inclusive(' ') {
                event(
                    &json!({"type": "response.output_text.delta", "output_index": 0,
                    "content_index": 0, "item_id": format!("msg_{number}"), "delta": piece}),
                );
            }
            item
        } else if let Some(line) = step["run"].as_str() {
            let mut arguments = json!({"cmd": line, "yield_time_ms": 30_000});
            for (name, value) in step.as_object().into_iter().flatten() {
                if name != "run" {
                    arguments[name] = value.clone();
                }
            }
            json!({"type": "function_call", "call_id": call, "name": "exec_command",
                "arguments": arguments.to_string()})
        } else if let Some(patch) = step["patch"].as_str() {
            json!({"type": "custom_tool_call", "call_id": call, "name": "apply_patch",
                "input": patch})
        } else if step["call"].is_object() {
            let server = step["call"]["server"].as_str().unwrap_or_default();
            json!({"type": "function_call", "call_id": call,
                "namespace": format!("mcp__{server}"), "name": step["call"]["tool"],
                "arguments": step["call"]["arguments"].to_string()})
        } else {
            json!({"type": "function_call", "call_id": call, "name": step["tool"],
                "namespace": step["namespace"], "arguments": step["arguments"].to_string()})
        };
        event(&json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    event(&json!({"type": "response.completed", "response": {"id": id,
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}}}));
    Some(out)
}
