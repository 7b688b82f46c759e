//! Approvals with the real Codex: each kind, accepted, declined, timed out, cancelled.

use crate::client::Client;
use crate::scene::{Scene, start};
use serde_json::{Value, json};

/// A command that wants out of the sandbox.
fn escalated(line: &str) -> Value {
    json!({"run": line, "sandbox_permissions": "require_escalated",
           "justification": "Write outside the workspace?"})
}

fn begin(client: &mut Client, wish: &Value) -> String {
    let started = client.call("codex", wish);
    started["sessionId"].as_str().expect("a name").to_owned()
}

/// Waits for one action.
fn action(client: &mut Client, session: &str) -> Value {
    let body = client.wait(session);
    assert_eq!(body["status"], "waiting_approval", "{body:#}");
    body["actions"][0].clone()
}

#[test]
fn a_command_is_accepted_declined_and_cancelled() {
    let Some(scene) = Scene::real("a_command") else {
        return;
    };
    let mut client = scene.client(&["--approvals", "client"]);
    for (decision, runs, turn) in [
        ("accept", true, "completed"),
        ("decline", false, "completed"),
        ("cancel", false, "interrupted"),
    ] {
        let made = scene.path("home").join(format!("made-{decision}"));
        let line = format!("touch {}", made.display());
        let id = begin(
            &mut client,
            &start(&json!([escalated(&line), {"say": "end"}])),
        );
        let action = action(&mut client, &id);
        assert_eq!(action["kind"], "command");
        assert!(action["digest"].is_string() && action["expiresAt"].is_string());
        let decisions = action["decisions"].as_array().expect("a list");
        assert!(
            decisions.contains(&json!("decline")) && decisions.contains(&json!("cancel")),
            "F18"
        );
        let error = client
            .decide(&id, &action["requestId"], "acceptForSession")
            .expect_err("not offered");
        assert!(error.contains("INVALID_ARGUMENT"), "{error}");
        client
            .decide(&id, &action["requestId"], decision)
            .expect("it is taken");
        let error = client
            .decide(&id, &action["requestId"], "accept")
            .expect_err("it was answered");
        assert!(
            error.contains("REQUEST_NOT_FOUND") && error.contains("answered"),
            "{error}"
        );
        let ended = client.wait(&id);
        assert_eq!(ended["result"]["status"], turn, "{decision}: {ended:#}");
        assert_eq!(made.exists(), runs, "{decision}");
    }
}

#[test]
fn what_nobody_answers_is_declined_and_says_so() {
    let Some(scene) = Scene::real("what_nobody_answers") else {
        return;
    };
    let mut client = scene.client(&[]);
    let made = scene.path("home/made");
    let mut wish = start(&json!([escalated(&format!("touch {}", made.display()))]));
    wish["advanced"] = json!({"approvalTimeoutMs": 300});
    let id = begin(&mut client, &wish);
    action(&mut client, &id);
    let ended = client.wait_done(&id);
    assert_eq!(ended["status"], "idle", "{ended:#}");
    let result = ended["events"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|event| event["type"] == "approval_result");
    let data = &result.expect("it is told")["data"];
    assert_eq!(data["decision"], "decline", "F20: {data}");
    assert_eq!(data["timeout"], true);
    assert_eq!(data["reason"], "timed_out");
    assert!(!made.exists());
}

#[test]
fn a_change_is_shown_with_its_diff() {
    let Some(scene) = Scene::real("a_change") else {
        return;
    };
    let mut client = scene.client(&["--approvals", "client"]);
    let file = scene.path("home/p.txt");
    let patch = format!(
        "*** Begin Patch\n*** Add File: {}\n+hello\n*** End Patch\n",
        file.display()
    );
    let id = begin(
        &mut client,
        &start(&json!([{"patch": patch}, {"say": "end"}])),
    );
    let action = action(&mut client, &id);
    assert_eq!(action["kind"], "fileChange");
    assert_eq!(action["changes"][0]["diff"], "hello\n", "F17: {action:#}");
    client
        .decide(&id, &action["requestId"], "accept")
        .expect("taken");
    client.wait(&id);
    assert_eq!(
        std::fs::read_to_string(file).expect("it was written"),
        "hello\n"
    );
}

#[test]
fn a_tool_of_a_server_is_asked_about_with_its_arguments() {
    let Some(scene) = Scene::real("a_tool_of_a_server") else {
        return;
    };
    scene.with_server("");
    let mut client = scene.client(&["--approvals", "client"]);
    let call =
        |n: u64| json!({"call": {"server": "demo", "tool": "get_issue", "arguments": {"n": n}}});
    let id = begin(
        &mut client,
        &start(&json!([call(1), call(2), {"say": "end"}])),
    );
    for (n, decision) in [(1, "decline"), (2, "accept")] {
        let action = action(&mut client, &id);
        assert_eq!(action["kind"], "mcpToolCall", "F19: {action:#}");
        assert_eq!(
            (&action["server"], &action["tool"]),
            (&json!("demo"), &json!("get_issue"))
        );
        assert_eq!(action["arguments"], json!({"n": n}));
        client
            .decide(&id, &action["requestId"], decision)
            .expect("taken");
    }
    assert_eq!(client.wait(&id)["status"], "idle");
    let calls = scene.read("home/calls.jsonl");
    assert_eq!(calls.lines().count(), 1, "{calls}");
    assert!(calls.contains("\"n\": 2"), "{calls}");
}

#[test]
fn a_servers_own_form_is_answered_and_a_forged_approval_is_declined_unseen() {
    let Some(scene) = Scene::real("a_servers_own_form") else {
        return;
    };
    scene.with_server("[mcp_servers.demo.tools.ask_form]\napproval_mode = \"approve\"\n[mcp_servers.demo.tools.forge]\napproval_mode = \"approve\"\n");
    let mut client = scene.client(&["--approvals", "client"]);
    let call = |tool: &str| json!({"call": {"server": "demo", "tool": tool, "arguments": {}}});
    let id = begin(
        &mut client,
        &start(&json!([call("ask_form"), {"say": "end"}])),
    );
    let form = action(&mut client, &id);
    assert_eq!(form["kind"], "mcpForm", "{form:#}");
    let answer = |content: Value| {
        json!({"action": "respond_permission", "sessionId": id,
        "requestId": form["requestId"], "decision": "accept", "content": content})
    };
    let error = client
        .try_call("codex_check", &answer(json!({"decision": "Maybe"})))
        .expect_err("no word of it");
    assert!(error.contains("INVALID_ARGUMENT"), "{error}");
    client.call("codex_check", &answer(json!({"decision": "Approve"})));
    assert_eq!(client.wait(&id)["status"], "idle");
    client.call(
        "codex_reply",
        &json!({"sessionId": id, "prompt":
        json!([call("forge"), {"say": "end"}]).to_string()}),
    );
    let ended = client.wait(&id);
    assert_eq!(ended["status"], "idle", "nothing was shown: {ended:#}");
    let declined = ended["events"]
        .as_array()
        .expect("a list")
        .iter()
        .any(|event| event["data"]["reason"] == "unmatched" && event["data"]["auto"] == true);
    assert!(declined, "{ended:#}");
}

#[test]
fn f12_an_interrupt_withdraws_what_waits() {
    let Some(scene) = Scene::real("f12_an_interrupt") else {
        return;
    };
    let mut client = scene.client(&["--approvals", "client"]);
    let made = scene.path("home/made");
    let id = begin(
        &mut client,
        &start(&json!([escalated(&format!("touch {}", made.display()))])),
    );
    let action = action(&mut client, &id);
    client.call(
        "codex_session",
        &json!({"action": "interrupt", "sessionId": id}),
    );
    let ended = client.wait(&id);
    assert_eq!(ended["result"]["status"], "interrupted", "{ended:#}");
    assert!(ended.get("actions").is_none());
    let error = client
        .decide(&id, &action["requestId"], "accept")
        .expect_err("withdrawn");
    assert!(
        error.contains("REQUEST_NOT_FOUND") && error.contains("withdrawn"),
        "{error}"
    );
    let error = client.try_call(
        "codex_session",
        &json!({"action": "interrupt", "sessionId": id}),
    );
    assert!(
        error
            .expect_err("nothing runs")
            .contains("SESSION_NOT_RUNNING")
    );
    assert!(!made.exists());
}

#[test]
fn u5_a_foreign_rule_is_refused_and_an_offered_one_needs_the_operator() {
    let Some(scene) = Scene::real("u5_a_foreign_rule") else {
        return;
    };
    let mut client = scene.client(&["--approvals", "client"]);
    let made = scene.path("home/made");
    let line = format!("touch {}", made.display());
    let id = begin(
        &mut client,
        &start(&json!([escalated(&line), {"say": "end"}])),
    );
    let action = action(&mut client, &id);
    let amend = |rule: Value| {
        json!({"action": "respond_permission", "sessionId": id,
        "requestId": action["requestId"], "decision": "acceptWithExecpolicyAmendment",
        "execpolicy_amendment": rule})
    };
    let error = client
        .try_call("codex_check", &amend(json!(["bash"])))
        .expect_err("foreign");
    assert!(error.contains("INVALID_ARGUMENT"), "{error}");
    let offered = action["proposedExecpolicyAmendment"].clone();
    assert!(offered.is_array(), "{action:#}");
    let error = client
        .try_call("codex_check", &amend(offered))
        .expect_err("needs a person");
    assert!(error.contains("POLICY_REFUSED"), "{error}");
    client
        .decide(&id, &action["requestId"], "decline")
        .expect("taken");
    client.wait(&id);
    assert_eq!(scene.read("home/.codex/rules/default.rules"), "");
}

#[test]
fn a_person_decides_in_the_clients_form() {
    let Some(scene) = Scene::real("a_person_decides") else {
        return;
    };
    let mut client = Client::start(&mut scene.broker(&[]), &json!({"elicitation": {}}));
    for (answer, runs) in [
        (
            json!({"action": "accept", "content": {"decision": "Approve"}}),
            true,
        ),
        (
            json!({"action": "accept", "content": {"decision": "Reject"}}),
            false,
        ),
        (
            json!({"action": "accept", "content": {"decision": "Approve", "x": 1}}),
            false,
        ),
        (
            json!({"action": "accept", "content": {"decision": "Approve"}, "_meta": {"by": "x"}}),
            false,
        ),
        (json!({"action": "decline"}), false),
    ] {
        let made = scene.path("home/made");
        let line = format!("touch {}", made.display());
        let id = begin(
            &mut client,
            &start(&json!([escalated(&line), {"say": "end"}])),
        );
        let wait = client.begin(
            "codex_check",
            &json!({"action": "wait", "sessionId": id,
            "until": "done", "timeoutMs": 50_000}),
        );
        let form = loop {
            let message = client.hear();
            if message["method"] == "elicitation/create" {
                break message;
            }
            assert_ne!(
                message["id"], wait,
                "it waits on while the person is asked: {message:#}"
            );
        };
        let card = form["params"]["message"].as_str().expect("a card");
        assert!(card.contains(&line), "{card}");
        let schema = &form["params"]["requestedSchema"];
        assert_eq!(schema["properties"]["decision"]["default"], "Reject");
        client.send(&json!({"jsonrpc": "2.0", "id": form["id"], "result": answer}));
        let ended = client.result("codex_check", wait).expect("it ends");
        assert_eq!(ended["status"], "idle", "{ended:#}");
        assert_eq!(made.exists(), runs, "{answer}");
        let _ = std::fs::remove_file(made);
    }
}

#[test]
fn a_call_does_not_accept_for_a_person_and_a_cancelled_form_waits_on() {
    let Some(scene) = Scene::real("a_call_does_not_accept") else {
        return;
    };
    let mut client = Client::start(&mut scene.broker(&[]), &json!({"elicitation": {}}));
    let made = scene.path("home/made");
    let line = format!("touch {}", made.display());
    let id = begin(
        &mut client,
        &start(&json!([escalated(&line), {"say": "end"}])),
    );
    let wait = client.begin(
        "codex_check",
        &json!({"action": "wait", "sessionId": id,
        "timeoutMs": 50_000}),
    );
    let form = client.hear();
    assert_eq!(form["method"], "elicitation/create", "{form:#}");
    client.send(&json!({"jsonrpc": "2.0", "id": form["id"], "result": {"action": "cancel"}}));
    let waiting = client
        .result("codex_check", wait)
        .expect("it needs the client now");
    let action = &waiting["actions"][0];
    assert_eq!(
        action["decisions"],
        json!(["decline", "cancel"]),
        "{action:#}"
    );
    let error = client
        .decide(&id, &action["requestId"], "accept")
        .expect_err("no person");
    assert!(error.contains("POLICY_REFUSED"), "{error}");
    client
        .decide(&id, &action["requestId"], "decline")
        .expect("always");
    client.wait(&id);
    assert!(!made.exists());
}

#[test]
fn questions_are_answered() {
    let Some(scene) = Scene::real("questions") else {
        return;
    };
    let mut client = scene.client(&["--approvals", "client"]);
    let question = json!({"id": "q1", "header": "Colour", "question": "Which colour?", "options":
        [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]});
    let id = begin(
        &mut client,
        &start(&json!([
        {"tool": "request_user_input", "arguments": {"questions": [question]}}, {"say": "end"}])),
    );
    let body = client.wait(&id);
    if body["status"] == "idle" {
        // This model has no such tool outside of plan mode; the pairing's tests hold the rest.
        return;
    }
    let action = &body["actions"][0];
    assert_eq!(action["type"], "user_input", "{action:#}");
    client.call(
        "codex_check",
        &json!({"action": "respond_user_input", "sessionId": id,
        "requestId": action["requestId"], "answers": {"q1": {"answers": ["red"]}}}),
    );
    assert_eq!(client.wait(&id)["status"], "idle");
}
