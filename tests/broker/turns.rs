//! Sessions and turns with the real Codex.

use crate::scene::{Scene, start};
use serde_json::{Value, json};

#[test]
fn a_turn_runs_and_its_result_has_what_the_agent_said() {
    let Some(scene) = Scene::real("a_turn_runs") else {
        return;
    };
    let mut client = scene.client(&[]);
    let started = client.call("codex", &start(&json!("hi there friend")));
    let id = started["sessionId"].as_str().expect("a name").to_owned();
    assert_eq!(started["status"], "running");
    assert_eq!(started["pollInterval"], 15_000, "F16");
    assert_eq!(started["effective"]["sandbox"], "workspace-write");
    assert_eq!(started["effective"]["approvalPolicy"], "on-request");
    assert_eq!(started["effective"]["gate"], "asks");
    let ended = client.wait(&id);
    assert_eq!(ended["status"], "idle", "{ended:#}");
    assert_eq!(ended["result"]["output"], "hi there friend", "F27");
    let text: String = ended["events"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|event| event["data"]["method"] == "item/agentMessage/delta")
        .filter_map(|event| event["data"]["delta"].as_str())
        .collect();
    assert_eq!(text, "hi there friend");
    // And again, from the start, in the short form.
    let again = client.call(
        "codex_check",
        &json!({"action": "poll", "sessionId": id,
        "cursor": 0, "maxEvents": 100}),
    );
    let said = again["events"]
        .as_array()
        .expect("a list")
        .iter()
        .any(|event| event["data"]["text"] == "hi there friend");
    assert!(said, "F25: {again:#}");
    let replied = client.call(
        "codex_reply",
        &json!({"sessionId": id, "prompt": "once more"}),
    );
    assert_eq!(replied["status"], "running");
    assert_eq!(client.wait(&id)["result"]["output"], "once more");
    let before = client.call(
        "codex_check",
        &json!({"action": "poll", "sessionId": id,
        "cursor": 0, "maxEvents": 500}),
    );
    let results = before["events"].as_array().expect("a list").iter();
    let results = results.filter(|event| event["type"] == "result").count();
    assert_eq!(results, 2, "F11: the first turn's result stays");
}

#[test]
fn no_trust_is_written_and_the_policy_is_read_back() {
    let Some(scene) = Scene::real("no_trust_is_written") else {
        return;
    };
    std::fs::create_dir(scene.path("project/.codex")).expect("a folder");
    std::fs::write(
        scene.path("project/.codex/config.toml"),
        "model = \"other\"\n",
    )
    .expect("ours");
    let before = scene.read("home/.codex/config.toml");
    let mut client = scene.client(&["--max-sandbox", "danger-full-access"]);
    for (policy, sandbox, gate) in [
        ("untrusted", "workspace-write", "asks"),
        ("on-request", "danger-full-access", "asks"),
        ("never", "workspace-write", "refuses"),
        ("never", "danger-full-access", "open"),
        ("on-failure", "read-only", "asks"),
    ] {
        let started = client.call(
            "codex",
            &json!({"prompt": "hi", "approvalPolicy": policy,
            "sandbox": sandbox}),
        );
        let effective = &started["effective"];
        assert_eq!(effective["sandbox"], sandbox, "{started:#}");
        let policy = if policy == "on-failure" {
            "on-request"
        } else {
            policy
        };
        assert_eq!(effective["approvalPolicy"], policy, "F4, F5");
        assert_eq!(effective["gate"], gate);
        assert_eq!(effective["model"], "gpt-5.5");
        let id = started["sessionId"].as_str().expect("a name").to_owned();
        assert_eq!(client.wait(&id)["result"]["status"], "completed");
    }
    assert_eq!(scene.read("home/.codex/config.toml"), before);
}

#[test]
fn a_structured_answer_is_parsed() {
    let Some(scene) = Scene::real("a_structured_answer") else {
        return;
    };
    let mut client = scene.client(&[]);
    let mut wish = start(&json!([{"say": "{\"n\": 7}"}]));
    wish["advanced"] = json!({"outputSchema": {"type": "object", "properties":
        {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}});
    let started = client.call("codex", &wish);
    let ended = client.wait(started["sessionId"].as_str().expect("a name"));
    assert_eq!(
        ended["result"]["structuredOutput"],
        json!({"n": 7}),
        "{ended:#}"
    );
}

#[test]
fn a_failed_turn_is_an_error_and_a_reply_works() {
    let Some(scene) = Scene::real("a_failed_turn") else {
        return;
    };
    let mut client = scene.client(&[]);
    let started = client.call("codex", &start(&json!([{"fail": true}])));
    let id = started["sessionId"].as_str().expect("a name").to_owned();
    let ended = client.wait(&id);
    assert_eq!(ended["status"], "error", "F28: {ended:#}");
    assert!(ended["result"]["turnError"]["message"].is_string());
    client.call("codex_reply", &json!({"sessionId": id, "prompt": "better"}));
    assert_eq!(client.wait(&id)["result"]["output"], "better");
}

#[test]
fn f9_a_bad_reply_changes_nothing() {
    let Some(scene) = Scene::real("f9_a_bad_reply") else {
        return;
    };
    let mut client = scene.client(&[]);
    let started = client.call("codex", &start(&json!("x")));
    let id = started["sessionId"].as_str().expect("a name").to_owned();
    client.wait(&id);
    let error = client
        .try_call(
            "codex_reply",
            &json!({"sessionId": id, "prompt": "x", "cwd": "no/such"}),
        )
        .expect_err("no such folder");
    assert!(error.contains("INVALID_ARGUMENT"), "{error}");
    let info = client.call("codex_session", &json!({"action": "get", "sessionId": id}));
    assert_eq!(info["status"], "idle");
    // Overrides stay and are read back.
    let replied = client.call(
        "codex_reply",
        &json!({"sessionId": id, "prompt": "y",
        "sandbox": "read-only", "approvalPolicy": "untrusted"}),
    );
    assert_eq!(replied["effective"]["sandbox"], "read-only", "{replied:#}");
    assert_eq!(replied["effective"]["approvalPolicy"], "untrusted");
    client.wait(&id);
    let info = client.call("codex_session", &json!({"action": "get", "sessionId": id}));
    assert_eq!(
        (&info["sandbox"], &info["approvalPolicy"]),
        (&json!("read-only"), &json!("untrusted"))
    );
}

#[test]
fn a_profile_is_a_file_of_codexs_home() {
    let Some(scene) = Scene::real("a_profile") else {
        return;
    };
    std::fs::write(
        scene.path("home/.codex/fast.config.toml"),
        "model = \"gpt-fast\"\n",
    )
    .expect("ours");
    std::fs::write(
        scene.path("home/.codex/wild.config.toml"),
        "approval_policy = \"never\"\n",
    )
    .expect("ours");
    let mut client = scene.client(&[]);
    let mut wish = start(&json!("x"));
    wish["profile"] = json!("fast");
    let started = client.call("codex", &wish);
    assert_eq!(started["effective"]["model"], "gpt-fast", "F6: {started:#}");
    wish["profile"] = json!("wild");
    let error = client.try_call("codex", &wish).expect_err("not allowed");
    assert!(
        error.contains("POLICY_REFUSED") && error.contains("approval_policy"),
        "{error}"
    );
    wish["profile"] = json!("none");
    let error = client.try_call("codex", &wish).expect_err("no file");
    assert!(error.contains("INVALID_ARGUMENT"), "{error}");
}

#[test]
fn sessions_side_by_side_keep_their_own() {
    let Some(scene) = Scene::real("side_by_side") else {
        return;
    };
    let mut client = scene.client(&[]);
    let calls: Vec<u64> = (0..20)
        .map(|n| client.begin("codex", &start(&json!(format!("number {n}")))))
        .collect();
    let ids: Vec<Value> = calls
        .into_iter()
        .map(|call| client.result("codex", call).expect("it starts")["sessionId"].clone())
        .collect();
    for (n, id) in ids.iter().enumerate() {
        let ended = client.wait(id.as_str().expect("a name"));
        assert_eq!(ended["result"]["output"], format!("number {n}"));
    }
    let servers = scene.processes();
    let servers = servers
        .iter()
        .filter(|(_, words)| words.contains("app-server"));
    assert_eq!(servers.count(), 1, "one app-server serves them all");
}

#[test]
fn a_broken_configuration_is_told_in_codexs_words() {
    let Some(scene) = Scene::real("a_broken_configuration") else {
        return;
    };
    scene.configure("[mcp_servers.x]\ncommand = 7\n");
    let mut client = scene.client(&[]);
    let error = client
        .try_call("codex", &start(&json!("x")))
        .expect_err("Codex refuses it");
    assert!(
        error.contains("APP_SERVER_START_FAILED") && error.contains("mcp_servers.x.command"),
        "{error}"
    );
    let sessions = client.call("codex_session", &json!({"action": "list"}));
    assert_eq!(sessions["sessions"], json!([]), "F8");
}

#[test]
fn a_wait_tells_progress_and_can_be_cancelled() {
    let Some(scene) = Scene::real("a_wait_tells_progress") else {
        return;
    };
    let mut client = scene.client(&[]);
    let started = client.call(
        "codex",
        &start(&json!([{"run": "sleep 2"}, {"say": "one two three"}])),
    );
    let id = started["sessionId"].clone();
    let wait = json!({"name": "codex_check", "_meta": {"progressToken": "p1"},
        "arguments": {"action": "wait", "sessionId": id, "timeoutMs": 30_000}});
    let call = client.ask("tools/call", &wait);
    let answer = client.answer(call);
    assert_eq!(
        answer["result"]["structuredContent"]["status"], "idle",
        "{answer:#}"
    );
    let told: Vec<&Value> = client
        .notes
        .iter()
        .filter(|note| note["method"] == "notifications/progress")
        .collect();
    assert!(!told.is_empty());
    let steps: Vec<u64> = told
        .iter()
        .map(|note| {
            assert_eq!(note["params"]["progressToken"], "p1");
            note["params"]["progress"].as_u64().expect("a number")
        })
        .collect();
    assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
    // One that is cancelled is not answered; others are served meanwhile.
    let prompt = json!([{"run": "sleep 100"}]).to_string();
    client.call("codex_reply", &json!({"sessionId": id, "prompt": prompt}));
    let open = client.begin("codex_check", &json!({"action": "wait", "sessionId": id}));
    client.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": open}}),
    );
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    client.call(
        "codex_session",
        &json!({"action": "cancel", "sessionId": id}),
    );
    assert!(
        client.notes.iter().all(|note| note["id"] != open),
        "it was cancelled"
    );
    let timed = client.call(
        "codex_check",
        &json!({"action": "wait", "sessionId": id,
        "timeoutMs": 0}),
    );
    assert_eq!(timed["status"], "cancelled");
}
