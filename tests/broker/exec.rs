//! The fallback to `codex exec`, with the real one.

use crate::client::Client;
use crate::scene::{Scene, start};
use serde_json::{Value, json};

fn client(scene: &Scene) -> Client {
    let mut command = scene.broker(&[]);
    command.env("CODEX_MCP_MODE", "exec");
    Client::start(&mut command, &json!({}))
}

#[test]
fn turns_run_by_exec_and_go_on_with_their_context() {
    let Some(scene) = Scene::real("turns_run_by_exec") else {
        return;
    };
    let mut client = client(&scene);
    let mut wish = start(&json!([{"say": "{\"n\": 1}"}]));
    wish["sandbox"] = json!("read-only");
    wish["advanced"] = json!({"outputSchema": {"type": "object", "properties":
        {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}});
    let started = client.call("codex", &wish);
    assert_eq!(started["effective"]["gate"], "refuses", "{started:#}");
    assert_eq!(started["effective"]["approvalPolicy"], "never");
    let warned = started["compatWarnings"].to_string();
    assert!(warned.contains("asks nobody"), "{warned}");
    let id = started["sessionId"].as_str().expect("a name").to_owned();
    let ended = client.wait(&id);
    assert_eq!(ended["status"], "idle", "{ended:#}");
    assert_eq!(
        ended["result"]["structuredOutput"],
        json!({"n": 1}),
        "{ended:#}"
    );
    let prompts = scene.processes();
    assert!(
        prompts.iter().all(|(_, words)| !words.contains("say")),
        "F29: {prompts:?}"
    );
    client.call("codex_reply", &json!({"sessionId": id, "prompt": "second"}));
    let ended = client.wait(&id);
    assert_eq!(ended["result"]["output"], "second", "{ended:#}");
    for (tool, arguments) in [
        ("codex_session", json!({"action": "fork", "sessionId": id})),
        (
            "codex_session",
            json!({"action": "clean_background_terminals", "sessionId": id}),
        ),
        (
            "codex_reply",
            json!({"sessionId": id, "prompt": "x", "sandbox": "workspace-write"}),
        ),
        (
            "codex_reply",
            json!({"sessionId": id, "prompt": "x", "cwd": "."}),
        ),
        (
            "codex_reply",
            json!({"sessionId": id, "prompt": "x", "outputSchema": {}}),
        ),
    ] {
        let error = client.try_call(tool, &arguments).expect_err("exec cannot");
        assert!(error.contains("EXEC_NOT_SUPPORTED"), "{error}");
    }
    let left: Vec<_> = std::fs::read_dir(scene.path("tmp"))
        .expect("a folder")
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(".tmp"))
        .collect();
    assert!(left.is_empty(), "F29: the schema's file is gone: {left:?}");
}

#[test]
fn a_turn_of_exec_is_interrupted_and_nothing_is_left() {
    let Some(scene) = Scene::real("a_turn_of_exec") else {
        return;
    };
    let mut client = client(&scene);
    let started = client.call("codex", &start(&json!([{"run": "sleep 400"}])));
    let id = started["sessionId"].as_str().expect("a name").to_owned();
    client.call(
        "codex_session",
        &json!({"action": "interrupt", "sessionId": id}),
    );
    assert_eq!(client.wait(&id)["result"]["status"], "interrupted");
    client.call("codex", &start(&json!([{"run": "sleep 401"}])));
    client.finish();
    let left = scene.left_after(std::time::Duration::from_secs(6));
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn without_an_app_server_only_never_falls_back() {
    let scene = Scene::with("/bin/false".into());
    let mut client = scene.client(&[]);
    let error = client
        .try_call("codex", &start(&json!("x")))
        .expect_err("it asks");
    assert!(error.contains("APP_SERVER_START_FAILED"), "{error}");
    let mut wish = start(&json!("x"));
    wish["approvalPolicy"] = json!("never");
    let started = client.call("codex", &wish);
    let id = started["sessionId"].as_str().expect("a name").to_owned();
    let ended = client.wait(&id);
    assert_eq!(
        ended["status"], "error",
        "a turn without a thread is one: {ended:#}"
    );
    let error: Result<Value, String> =
        client.try_call("codex_reply", &json!({"sessionId": id, "prompt": "x"}));
    assert!(
        error
            .expect_err("its context is lost")
            .contains("THREAD_FORK_RESUME_FAILED")
    );
}
