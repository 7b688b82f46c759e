//! Each recording through the whole broker, before a server that is stricter than the real one.

use crate::fake::{Fake, all, of_type, session};
use serde_json::{Value, json};

/// The name of the waiting request about `tool`.
fn of_tool(body: &Value, tool: &str) -> Value {
    let actions = body["actions"].as_array().expect("something waits");
    let mine = actions.iter().find(|action| action["tool"] == tool);
    mine.unwrap_or_else(|| panic!("{tool}: {body:#}"))["requestId"].clone()
}

#[test]
fn t02_to_t05_commands_and_files() {
    for (name, decision, ends) in [
        ("02-command-accept", "accept", "completed"),
        ("03-command-decline", "decline", "completed"),
        ("04-command-cancel", "cancel", "interrupted"),
        ("05-file-change-decline-then-accept", "decline", "completed"),
    ] {
        let fake = Fake::new();
        let mut client = fake.client();
        let id = session(&mut client, &json!(name));
        let body = client.wait(&id);
        assert_eq!(body["status"], "waiting_approval");
        let action = body["actions"][0].clone();
        if action["kind"] == "fileChange" {
            assert_eq!(action["changes"][0]["path"], "/outside/p.txt", "F17");
            assert_eq!(action["changes"][0]["diff"], "hello\n", "F17");
        }
        // F18: a decline always goes, listed or not.
        client
            .decide(&id, &action["requestId"], decision)
            .expect("taken");
        let ended = client.wait_done(&id);
        assert_eq!(ended["result"]["status"], ends, "{name}");
        assert_eq!(fake.answers(), [(json!(0), json!({"decision": decision}))]);
        fake.finish(client);
    }
}

#[test]
fn t06_t07_two_calls_in_flight_and_each_answer_at_its_own() {
    for name in ["06-mcp-two-in-flight", "07-mcp-two-in-flight-0.154"] {
        for (yes, no) in [("delete_repo", "get_issue"), ("get_issue", "delete_repo")] {
            let fake = Fake::new();
            let mut client = fake.client();
            let id = session(&mut client, &json!(name));
            let mut body = client.wait(&id);
            while body["actions"].as_array().map(Vec::len) != Some(2) {
                body = client.call("codex_check", &json!({"action": "poll", "sessionId": id}));
            }
            let (yes_id, no_id) = (of_tool(&body, yes), of_tool(&body, no));
            client.decide(&id, &yes_id, "accept").expect("taken");
            client.decide(&id, &no_id, "decline").expect("taken");
            client.wait_done(&id);
            let told = all(&mut client, &id);
            let ended: Vec<(String, String)> = of_type(&told, "progress")
                .iter()
                .filter(|data| {
                    data["method"] == "item/completed" && data["item"]["type"] == "mcpToolCall"
                })
                .map(|data| {
                    (
                        data["item"]["tool"].as_str().unwrap_or("?").into(),
                        data["item"]["status"].as_str().unwrap_or("?").into(),
                    )
                })
                .collect();
            assert!(
                ended.contains(&(yes.into(), "completed".into())),
                "{name}: {ended:?}"
            );
            assert!(
                ended.contains(&(no.into(), "failed".into())),
                "{name}: {ended:?}"
            );
            fake.finish(client);
        }
    }
}

#[test]
fn t11_t23_a_forged_approval_is_declined_and_shown() {
    for (name, reasons) in [
        ("11-mcp-spoofed-approval", vec!["unmatched"]),
        ("23-mcp-spoof-beside-real", vec!["contested", "contested"]),
    ] {
        let fake = Fake::new();
        let mut client = fake.client();
        let id = session(&mut client, &json!(name));
        client.wait_done(&id);
        let told = all(&mut client, &id);
        let found: Vec<Value> = of_type(&told, "approval_result")
            .iter()
            .map(|data| data["reason"].clone())
            .collect();
        assert_eq!(found, reasons, "{name}");
        assert!(
            fake.answers()
                .iter()
                .all(|(_, result)| result["action"] == "decline")
        );
        fake.finish(client);
    }
}

#[test]
fn t08_t09_t10_t12_t13_t20_t22_each_kind_is_answered() {
    for (name, kinds) in [
        ("08-mcp-quoted-name", vec!["mcpToolCall"]),
        ("09-mcp-server-form", vec!["mcpForm"]),
        ("10-mcp-server-url", vec!["mcpUrl"]),
        ("12-request-user-input", vec!["user_input"]),
        ("13-permissions-request", vec!["permissions"]),
        ("20-write-stdin-approval", vec!["command"]),
        ("22-mcp-persist-session-and-close", vec!["mcpToolCall"]),
    ] {
        let fake = Fake::new();
        let mut client = fake.client();
        let id = session(&mut client, &json!(name));
        let mut seen = Vec::new();
        loop {
            let body = client.wait(&id);
            let Some(action) = body["actions"].get(0).cloned() else {
                break;
            };
            seen.push(action["kind"].as_str().expect("a kind").to_owned());
            let mut answer = json!({"action": "respond_permission", "sessionId": id, "requestId": action["requestId"], "decision": "accept"});
            match action["kind"].as_str() {
                Some("mcpForm") => answer["content"] = json!({"decision": "Approve"}),
                Some("user_input") => {
                    answer = json!({"action": "respond_user_input", "sessionId": id, "requestId": action["requestId"],
                        "answers": {"db": {"answers": ["SQLite"]}}});
                }
                _ => {}
            }
            client.call("codex_check", &answer);
        }
        assert_eq!(seen, kinds, "F19: {name}");
        fake.finish(client);
    }
}

#[test]
fn t14_f12_an_interrupt_takes_back_what_waits() {
    let fake = Fake::new();
    let mut client = fake.client();
    let id = session(&mut client, &json!("14-interrupt-pending-approval"));
    let body = client.wait(&id);
    let request = body["actions"][0]["requestId"].clone();
    client.call(
        "codex_session",
        &json!({"action": "interrupt", "sessionId": id}),
    );
    let ended = client.wait_done(&id);
    assert_eq!(
        (ended["status"].as_str(), ended.get("actions")),
        (Some("idle"), None)
    );
    let late = client
        .decide(&id, &request, "accept")
        .expect_err("it is void");
    assert_eq!(
        late,
        "Error [REQUEST_NOT_FOUND]: withdrawn (turn interrupted)"
    );
    assert!(fake.answers().is_empty(), "nothing goes out for it");
    let again = client.try_call(
        "codex_session",
        &json!({"action": "interrupt", "sessionId": id}),
    );
    assert!(
        again
            .expect_err("nothing runs")
            .contains("[SESSION_NOT_RUNNING]")
    );
    fake.finish(client);
}

#[test]
fn t18_f24_a_subagents_approval_outlives_its_parents_turn() {
    let fake = Fake::new();
    let mut client = fake.client();
    let id = session(&mut client, &json!("18-subagent-approval"));
    let body = client.wait(&id);
    let action = body["actions"][0].clone();
    let own = client.call(
        "codex_session",
        &json!({"action": "get", "sessionId": id, "includeSensitive": true}),
    );
    assert_ne!(action["threadId"], own["threadId"], "the child's thread");
    assert_eq!(body["status"], "waiting_approval");
    client
        .decide(&id, &action["requestId"], "decline")
        .expect("taken");
    let ended = client.wait_done(&id);
    assert_eq!(ended["status"], "idle", "{ended:#}");
    assert_eq!(fake.answers(), [(json!(0), json!({"decision": "decline"}))]);
    fake.finish(client);
}

#[test]
fn t19_f28_a_failed_turn_is_an_error_and_the_next_one_works() {
    let fake = Fake::new();
    let mut client = fake.client();
    let id = session(&mut client, &json!("19-stream-failure"));
    let ended = client.wait_done(&id);
    assert_eq!(
        (ended["status"].as_str(), ended["result"]["status"].as_str()),
        (Some("error"), Some("failed"))
    );
    assert!(!ended["result"]["turnError"].is_null(), "{ended:#}");
    client.call(
        "codex_reply",
        &json!({"sessionId": id, "prompt": "hello again"}),
    );
    let ended = client.wait_done(&id);
    assert_eq!(
        (ended["status"].as_str(), ended["result"]["output"].as_str()),
        (Some("idle"), Some("hello again")),
        "F27"
    );
    fake.finish(client);
}
