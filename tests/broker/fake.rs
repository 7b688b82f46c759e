//! A scene with the fake app-server in Codex's place: each test ends with a look at what it heard.

use crate::client::Client;
use crate::scene::Scene;
use serde_json::{Value, json};
use std::path::Path;

pub struct Fake {
    pub scene: Scene,
    variables: Vec<(String, String)>,
}

impl Fake {
    pub fn new() -> Self {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broker/fake_codex.py");
        let scene = Scene::with(program);
        let log = scene.path("heard.jsonl").display().to_string();
        let variables = vec![("FAKE_CODEX_LOG".to_owned(), log)];
        Self { scene, variables }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A client whose broker takes decisions from calls.
    pub fn client(&self) -> Client {
        self.client_with(&["--approvals", "client"], &json!({}))
    }

    pub fn client_with(&self, flags: &[&str], capabilities: &Value) -> Client {
        let mut command = self.scene.broker(flags);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        Client::start(&mut command, capabilities)
    }

    /// All that the app-server wrote down.
    pub fn log(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.scene.path("heard.jsonl")).unwrap_or_default();
        let lines = text.lines();
        lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// What it heard of a method: the parameters, oldest first.
    pub fn heard(&self, method: &str) -> Vec<Value> {
        let log = self.log();
        let mine = log.iter().filter(|entry| entry["got"]["method"] == method);
        mine.map(|entry| entry["got"]["params"].clone()).collect()
    }

    /// The answers to its own requests, by their ids.
    pub fn answers(&self) -> Vec<(Value, Value)> {
        let log = self.log();
        let mine = log.iter().map(|entry| &entry["got"]);
        let mine = mine.filter(|got| got.is_object() && got.get("method").is_none());
        mine.map(|got| {
            (
                got["id"].clone(),
                got.get("result")
                    .or(got.get("error"))
                    .cloned()
                    .unwrap_or_default(),
            )
        })
        .collect()
    }

    /// Ends the client and fails on whatever a client of the real one must not do.
    pub fn finish(&self, mut client: Client) {
        client.finish();
        let faults: Vec<Value> = self
            .log()
            .into_iter()
            .filter(|entry| entry.get("fault").is_some())
            .collect();
        assert!(faults.is_empty(), "{faults:#?}");
    }
}

/// A start under on-request and workspace-write whose turn plays `what`: a recording's name, or
/// steps.
pub fn play(what: &Value) -> Value {
    let prompt = match what {
        Value::String(name) => format!("play {name}"),
        steps => steps.to_string(),
    };
    json!({"prompt": prompt, "approvalPolicy": "on-request", "sandbox": "workspace-write"})
}

/// Starts it; the session's name.
pub fn session(client: &mut Client, what: &Value) -> String {
    let started = client.call("codex", &play(what));
    started["sessionId"].as_str().expect("a name").to_owned()
}

/// The events of a poll that have this type.
pub fn of_type(body: &Value, kind: &str) -> Vec<Value> {
    let events = body["events"].as_array().expect("a list");
    let mine = events.iter().filter(|event| event["type"] == kind);
    mine.map(|event| event["data"].clone()).collect()
}

/// All events that are held, in full.
pub fn all(client: &mut Client, session: &str) -> Value {
    client.call(
        "codex_check",
        &json!({"action": "poll", "sessionId": session, "cursor": 0, "maxEvents": 5000, "responseMode": "full"}),
    )
}
