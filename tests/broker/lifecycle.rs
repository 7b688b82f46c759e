//! Forks, resumes, crashes, cancels.

use crate::scene::{Scene, start};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::time::Duration;

fn name(body: &Value) -> String {
    body["sessionId"].as_str().expect("a name").to_owned()
}

fn kill_codex(scene: &Scene) {
    for (pid, words) in scene.processes() {
        if words.contains("app-server -c") {
            kill_process(Pid::from_raw(pid).expect("not 0"), Signal::KILL).expect("it runs");
        }
    }
}

#[test]
fn f13_a_fork_has_the_sources_policy_and_both_go_on() {
    let Some(scene) = Scene::real("f13_a_fork") else {
        return;
    };
    let mut client = scene.client(&[]);
    let source = name(&client.call("codex", &start(&json!("one"))));
    client.wait(&source);
    let fork = client.call(
        "codex_session",
        &json!({"action": "fork", "sessionId": source}),
    );
    assert_eq!(fork["status"], "idle");
    assert_eq!(fork["effective"]["sandbox"], "workspace-write", "{fork:#}");
    let info = client.call(
        "codex_session",
        &json!({"action": "get", "sessionId": fork["sessionId"],
        "includeSensitive": true}),
    );
    assert_eq!(info["parentSessionId"], source.as_str());
    let own = client.call(
        "codex_session",
        &json!({"action": "get", "sessionId": source,
        "includeSensitive": true}),
    );
    assert_ne!(own["threadId"], info["threadId"]);
    for (id, text) in [(name(&fork), "two"), (source, "three")] {
        client.call("codex_reply", &json!({"sessionId": id, "prompt": text}));
        assert_eq!(client.wait(&id)["result"]["output"], text);
    }
}

#[test]
fn f10_a_cancelled_session_says_so() {
    let Some(scene) = Scene::real("f10_a_cancelled_session") else {
        return;
    };
    let mut client = scene.client(&[]);
    let id = name(&client.call("codex", &start(&json!([{"run": "sleep 100"}]))));
    let done = client.call(
        "codex_session",
        &json!({"action": "cancel", "sessionId": id}),
    );
    assert_eq!(done["message"], format!("Session {id} cancelled"));
    client.call(
        "codex_session",
        &json!({"action": "cancel", "sessionId": id}),
    );
    let error = client.try_call("codex_reply", &json!({"sessionId": id, "prompt": "x"}));
    assert!(error.expect_err("it is over").contains("[CANCELLED]"));
    let body = client.call(
        "codex_check",
        &json!({"action": "poll", "sessionId": id,
        "maxEvents": 500}),
    );
    assert_eq!(body["status"], "cancelled");
    assert_eq!(body["result"]["status"], "cancelled");
    let info = client.call("codex_session", &json!({"action": "get", "sessionId": id}));
    assert_eq!(info["cancelledReason"], "Cancelled by user");
}

#[test]
fn f14_background_terminals_are_cleaned_and_a_busy_session_is_busy() {
    let Some(scene) = Scene::real("f14_background_terminals") else {
        return;
    };
    let mut client = scene.client(&[]);
    let left = json!({"run": "sleep 300", "yield_time_ms": 300});
    let id = name(&client.call("codex", &start(&json!([left, {"say": "it runs on"}]))));
    assert_eq!(client.wait(&id)["status"], "idle");
    let runs = || {
        scene
            .processes()
            .iter()
            .any(|(_, words)| words.contains("sleep 300"))
    };
    assert!(runs());
    let done = client.call(
        "codex_session",
        &json!({"action": "clean_background_terminals", "sessionId": id}),
    );
    assert_eq!(done["success"], true);
    let end = std::time::Instant::now() + Duration::from_secs(10);
    while runs() {
        assert!(std::time::Instant::now() < end, "it was ended");
        std::thread::sleep(Duration::from_millis(20));
    }
    let prompt = json!([{"run": "sleep 301"}]).to_string();
    client.call("codex_reply", &json!({"sessionId": id, "prompt": prompt}));
    let error = client.try_call("codex_reply", &json!({"sessionId": id, "prompt": "x"}));
    assert!(error.expect_err("it runs").contains("SESSION_BUSY"));
    client.call(
        "codex_session",
        &json!({"action": "interrupt", "sessionId": id}),
    );
    assert_eq!(client.wait(&id)["result"]["status"], "interrupted");
}

#[test]
fn steering_goes_into_the_running_turn() {
    let Some(scene) = Scene::real("steering") else {
        return;
    };
    let mut client = scene.client(&[]);
    let id = name(&client.call(
        "codex",
        &start(&json!([{"run": "sleep 3"}, {"say": "end"}])),
    ));
    let steered = client.call(
        "codex_reply",
        &json!({"sessionId": id, "prompt": "steered",
        "mode": "steer"}),
    );
    assert_eq!(steered["status"], "running");
    let ended = client.wait(&id);
    assert_eq!(ended["result"]["output"], "steered", "{ended:#}");
    let error = client.try_call(
        "codex_reply",
        &json!({"sessionId": id, "prompt": "x",
        "mode": "steer"}),
    );
    assert!(
        error
            .expect_err("nothing runs")
            .contains("SESSION_NOT_RUNNING")
    );
}

#[test]
fn a_crash_of_codex_is_told_and_the_next_reply_resumes() {
    let Some(scene) = Scene::real("a_crash_of_codex") else {
        return;
    };
    let mut client = scene.client(&[]);
    let idle = name(&client.call("codex", &start(&json!("before"))));
    client.wait(&idle);
    let running = name(&client.call("codex", &start(&json!("first"))));
    client.wait(&running);
    let prompt = json!([{"run": "touch /made", "sandbox_permissions": "require_escalated",
        "justification": "?"}])
    .to_string();
    client.call(
        "codex_reply",
        &json!({"sessionId": running, "prompt": prompt}),
    );
    let request = client.wait(&running)["actions"][0]["requestId"].clone();
    kill_codex(&scene);
    let ended = client.call(
        "codex_check",
        &json!({"action": "wait", "sessionId": running,
        "until": "done", "maxEvents": 500, "timeoutMs": 20_000}),
    );
    assert_eq!(ended["status"], "error", "{ended:#}");
    assert!(
        ended["result"]["error"]
            .as_str()
            .expect("why")
            .contains("app-server exited")
    );
    let error = client
        .decide(&running, &request, "accept")
        .expect_err("withdrawn");
    assert!(error.contains("app-server exited"), "{error}");
    for id in [running, idle] {
        let replied = client.call("codex_reply", &json!({"sessionId": id, "prompt": "after"}));
        assert_eq!(
            replied["effective"]["sandbox"], "workspace-write",
            "{replied:#}"
        );
        assert_eq!(client.wait(&id)["result"]["output"], "after");
        let all = client.call(
            "codex_check",
            &json!({"action": "poll", "sessionId": id,
            "cursor": 0, "maxEvents": 1000}),
        );
        assert!(
            all.get("cursorResetTo").is_none(),
            "nothing that was there is lost"
        );
    }
}

#[test]
fn a_session_of_an_earlier_run_goes_on() {
    let Some(scene) = Scene::real("a_session_of_an_earlier_run") else {
        return;
    };
    let mut client = scene.client(&[]);
    let id = name(&client.call("codex", &start(&json!("first"))));
    client.wait(&id);
    let gone = name(&client.call("codex", &start(&json!("gone"))));
    client.call(
        "codex_session",
        &json!({"action": "cancel", "sessionId": gone}),
    );
    std::thread::sleep(Duration::from_millis(200));
    client.kill();
    let left = scene.left_after(Duration::from_secs(6));
    assert!(left.is_empty(), "{left:?}");
    let mut client = scene.client(&[]);
    let info = client.call("codex_session", &json!({"action": "get", "sessionId": id}));
    assert_eq!(info["status"], "idle");
    let replied = client.call("codex_reply", &json!({"sessionId": id, "prompt": "second"}));
    assert_eq!(replied["effective"]["sandbox"], "workspace-write");
    let ended = client.wait(&id);
    assert_eq!(ended["result"]["output"], "second");
    let old = client.call(
        "codex_check",
        &json!({"action": "poll", "sessionId": id, "cursor": 3}),
    );
    assert!(old["cursorResetTo"].is_number(), "{old:#}");
    let error = client.try_call(
        "codex_session",
        &json!({"action": "get", "sessionId": gone}),
    );
    assert!(
        error
            .expect_err("it was cancelled")
            .contains("SESSION_NOT_FOUND")
    );
    let stored = scene.read("state/codexgate/broker/sessions.jsonl");
    assert!(!stored.contains("first"), "no prompt is kept");
}

#[test]
fn a_thread_is_resumed_by_its_name() {
    let Some(scene) = Scene::real("a_thread_is_resumed") else {
        return;
    };
    let mut client = scene.client(&[]);
    let started = client.call("codex", &start(&json!("first")));
    let (id, thread) = (name(&started), started["threadId"].clone());
    client.wait(&id);
    let resume = json!({"action": "resume", "threadId": thread, "approvalPolicy": "on-request",
        "sandbox": "read-only"});
    let live = client.call("codex_session", &resume);
    assert_eq!(live["sessionId"], id.as_str(), "a live session has it");
    client.call(
        "codex_session",
        &json!({"action": "cancel", "sessionId": id}),
    );
    let resumed = client.call("codex_session", &resume);
    assert_ne!(resumed["sessionId"], id.as_str());
    assert_eq!(resumed["effective"]["sandbox"], "read-only", "{resumed:#}");
    let id = name(&resumed);
    client.call("codex_reply", &json!({"sessionId": id, "prompt": "more"}));
    assert_eq!(client.wait(&id)["result"]["output"], "more");
    let unknown = json!({"action": "resume", "threadId": "01a22ffc-5d75-7e83-a39f-b9f9c02fe28e",
        "approvalPolicy": "on-request", "sandbox": "read-only"});
    let error = client
        .try_call("codex_session", &unknown)
        .expect_err("there is none");
    assert!(error.contains("THREAD_FORK_RESUME_FAILED"), "{error}");
}
