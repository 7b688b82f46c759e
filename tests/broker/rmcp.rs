//! The whole workflow by the official Rust SDK, before the real Codex: a client that was written by
//! others in another language than the one of `sdk`.

use crate::scene::{Scene, start};
use rmcp::model::{CallToolRequestParams, CallToolResult, ReadResourceRequestParams};
use rmcp::service::{RoleClient, RunningService, ServiceExt as _};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tokio::process::Child;
use tokio::runtime::Runtime;

/// How long a session may take until it needs its client; a busy machine is slow.
const LIMIT: Duration = Duration::from_mins(1);

/// The SDK's client, driven one call at a time.
struct Sdk {
    runtime: Runtime,
    service: RunningService<RoleClient, ()>,
    child: Child,
    schemas: BTreeMap<String, jsonschema::Validator>,
}

impl Sdk {
    fn start(command: Command) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let (service, child, tools) = runtime.block_on(async {
            let mut command = tokio::process::Command::from(command);
            command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .kill_on_drop(true);
            let mut child = command.spawn().expect("it starts");
            let streams = (
                child.stdout.take().expect("a pipe"),
                child.stdin.take().expect("a pipe"),
            );
            let service = ().serve(streams).await.expect("a handshake");
            let tools = service.list_all_tools().await.expect("tools");
            (service, child, tools)
        });
        let schemas = tools.into_iter().map(|tool| {
            let schema = tool.output_schema.expect("each tool has one");
            assert!(tool.description.is_some() && tool.annotations.is_some());
            let schema = Value::Object((*schema).clone());
            let validator = jsonschema::validator_for(&schema).expect("a schema");
            (tool.name.into_owned(), validator)
        });
        Self {
            schemas: schemas.collect(),
            runtime,
            service,
            child,
        }
    }

    fn result(&self, tool: &'static str, arguments: &Value) -> CallToolResult {
        let arguments = arguments.as_object().expect("an object").clone();
        let call = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = self.runtime.block_on(self.service.call_tool(call));
        let result = result.unwrap_or_else(|error| panic!("{tool}: {error}"));
        let content = result.structured_content.as_ref().expect("it is there");
        if let Some(error) = self.schemas[tool].iter_errors(content).next() {
            panic!("{tool} gave what its schema refuses: {error}\n{content:#}");
        }
        result
    }

    fn call(&self, tool: &'static str, arguments: &Value) -> Value {
        let result = self.result(tool, arguments);
        let content = result.structured_content.clone().expect("it is there");
        assert_eq!(result.is_error, Some(false), "{content:#}");
        let text: Value = serde_json::from_str(&text(&result)).expect("the object as JSON");
        assert_eq!(text, content);
        content
    }

    fn refused(&self, tool: &'static str, arguments: &Value) -> String {
        let result = self.result(tool, arguments);
        assert_eq!(result.is_error, Some(true), "{result:?}");
        text(&result)
    }

    fn reply(&self, session: &Value, prompt: &str) {
        self.call(
            "codex_reply",
            &json!({"sessionId": session, "prompt": prompt}),
        );
    }

    fn accept(session: &Value, request: &Value) -> Value {
        json!({"action": "respond_permission", "sessionId": session, "requestId": request,
               "decision": "accept"})
    }

    fn manage(&self, action: &str, session: &Value) -> Value {
        self.call(
            "codex_session",
            &json!({"action": action, "sessionId": session}),
        )
    }

    /// Polls until the session has another status than `running`.
    fn poll(&self, session: &Value) -> Value {
        let end = Instant::now() + LIMIT;
        loop {
            let body = self.call(
                "codex_check",
                &json!({"action": "poll", "sessionId": session, "maxEvents": 50,
                        "responseMode": "full"}),
            );
            if body["status"] != "running" && body["events"] == json!([]) {
                return body;
            }
            assert!(Instant::now() < end, "nothing more happens: {body:#}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Reads all resources; how many there are.
    fn read_resources(&self) -> usize {
        self.runtime.block_on(async {
            let resources = self.service.list_all_resources().await.expect("a list");
            for resource in &resources {
                let wanted = ReadResourceRequestParams::new(&resource.uri);
                let read = self.service.read_resource(wanted).await.expect("it reads");
                let read = serde_json::to_value(read).expect("JSON");
                let text = read["contents"][0]["text"].as_str().unwrap_or_default();
                assert!(!text.is_empty(), "{}: {read:#}", resource.uri);
            }
            resources.len()
        })
    }

    /// Closes the broker's input and waits for its end.
    fn end(mut self) {
        let status = self.runtime.block_on(async {
            self.service.cancel().await.expect("it stops");
            self.child.wait().await.expect("it ends")
        });
        assert!(status.success(), "{status}");
    }
}

fn text(result: &CallToolResult) -> String {
    let [content] = result.content.as_slice() else {
        panic!("one text: {result:?}");
    };
    content.as_text().expect("a text").text.clone()
}

fn escalated(run: &str) -> Value {
    json!({"run": run, "sandbox_permissions": "require_escalated", "justification": "for the test"})
}

#[test]
fn the_official_rust_sdk_runs_the_workflow() {
    let Some(scene) = Scene::real("the_official_rust_sdk") else {
        return;
    };
    let outside = scene.path("home/outside");
    std::fs::create_dir(&outside).expect("a folder");
    let file = outside.join("made");
    let sdk = Sdk::start(scene.broker(&["--approvals", "client"]));
    let names: Vec<&str> = sdk.schemas.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["codex", "codex_check", "codex_reply", "codex_session"]
    );

    // Start, poll, approve, poll.
    let touch = format!("touch {}", file.display());
    let prompt = json!([escalated(&touch), {"say": "made it"}]);
    let session = &sdk.call("codex", &start(&prompt))["sessionId"];
    let body = sdk.poll(session);
    assert_eq!(body["status"], "waiting_approval");
    let action = &body["actions"][0];
    assert_eq!(action["kind"], "command");
    // Long lines of a card are wrapped, the rest of one is indented.
    let card = action["card"].as_str().expect("a card");
    assert!(card.replace("\n         ", "").contains(&touch), "{card}");
    assert!(!file.exists(), "nothing ran before the approval");
    let accept = Sdk::accept(session, &action["requestId"]);
    sdk.call("codex_check", &accept);
    let body = sdk.poll(session);
    assert_eq!(body["status"], "idle");
    assert_eq!(body["result"]["output"], "made it");
    assert!(file.exists(), "what was approved ran");
    let late = sdk.refused("codex_check", &accept);
    assert_eq!(late, "Error [REQUEST_NOT_FOUND]: answered (accept)");

    // Reply, poll.
    sdk.reply(session, "and another word");
    assert_eq!(sdk.poll(session)["result"]["output"], "and another word");

    // Fork: both go on.
    let fork = &sdk.manage("fork", session)["sessionId"];
    assert_ne!(fork, session);
    for (id, prompt) in [(fork, "in the fork"), (session, "in the source")] {
        sdk.reply(id, prompt);
        assert_eq!(sdk.poll(id)["result"]["output"], prompt);
    }

    // Interrupt: what waits is taken back.
    let prompt = json!([escalated("touch never"), {"say": "no"}]);
    sdk.reply(session, &prompt.to_string());
    let body = sdk.poll(session);
    assert_eq!(body["status"], "waiting_approval");
    sdk.manage("interrupt", session);
    let ended = sdk.poll(session);
    assert_eq!(ended["status"], "idle");
    assert_eq!(ended["result"]["status"], "interrupted");
    let accept = Sdk::accept(session, &body["actions"][0]["requestId"]);
    let late = sdk.refused("codex_check", &accept);
    assert!(late.starts_with("Error [REQUEST_NOT_FOUND]"), "{late}");
    assert!(!scene.path("project/never").exists());

    // Cancel.
    for id in [session, fork] {
        sdk.manage("cancel", id);
    }
    let listed = sdk.call("codex_session", &json!({"action": "list"}));
    let sessions = listed["sessions"].as_array().expect("a list");
    assert_eq!(sessions.len(), 2);
    assert!(sessions.iter().all(|one| one["status"] == "cancelled"));
    let late = json!({"sessionId": session, "prompt": "x"});
    let late = sdk.refused("codex_reply", &late);
    assert!(late.starts_with("Error [CANCELLED]"), "{late}");

    assert_eq!(sdk.read_resources(), 6);
    sdk.end();
    assert_eq!(scene.left_after(Duration::from_secs(6)), []);
}
