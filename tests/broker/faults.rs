//! What the peer gets wrong and what an app-server may do, before the fake one.

use crate::fake::{Fake, all, of_type, play, session};
use serde_json::{Value, json};

fn tool_item(id: &str, n: u64) -> Value {
    json!({"type": "mcpToolCall", "id": id, "server": "demo", "environmentId": null, "tool": "pay", "status": "inProgress",
        "arguments": {"n": n}, "readOnlyHint": null})
}

fn approval(n: u64) -> Value {
    json!({"serverName": "demo", "environmentId": null, "mode": "form", "message": "Allow the demo MCP server to run tool \"pay\"?",
        "_meta": {"codex_approval_kind": "mcp_tool_call", "persist": ["session", "always"], "tool_name": "pay", "tool_params": {"n": n}},
        "requestedSchema": {"type": "object", "properties": {}}})
}

/// A step that asks about such a call.
fn ask(n: u64, more: &Value) -> Value {
    let mut step = json!({"ask": "mcpServer/elicitation/request", "params": approval(n)});
    for (name, value) in more.as_object().expect("members") {
        step[name] = value.clone();
    }
    step
}

#[test]
fn f4_f5_policies_go_as_parameters() {
    let fake = Fake::new();
    let mut client = fake.client();
    for (asked, sent) in [
        ("untrusted", "untrusted"),
        ("on-failure", "on-request"),
        ("never", "never"),
    ] {
        let mut start = play(&json!([{"say": "hi"}]));
        start["approvalPolicy"] = asked.into();
        let started = client.call("codex", &start);
        assert_eq!(started["effective"]["approvalPolicy"], sent);
        assert_eq!(
            started["compatWarnings"].is_array(),
            asked == "on-failure" || started["compatWarnings"].is_array()
        );
        let id = started["sessionId"].as_str().expect("a name").to_owned();
        client.wait_done(&id);
        assert_eq!(
            fake.heard("thread/start").last().expect("one")["approvalPolicy"],
            sent,
            "F4, F5"
        );
    }
    assert!(
        fake.heard("thread/start")
            .iter()
            .all(|params| params["sandbox"] == "read-only"),
        "no trust is written"
    );
    let started: Vec<Value> = fake
        .log()
        .into_iter()
        .filter(|entry| entry.get("started").is_some())
        .collect();
    assert_eq!(started.len(), 1, "one app-server for all sessions");
    assert!(
        !started[0].to_string().contains("approval"),
        "not as a flag"
    );
    fake.finish(client);
}

#[test]
fn f9_f10_a_reply_is_checked_before_anything_changes() {
    let fake = Fake::new();
    let mut client = fake.client();
    let id = session(&mut client, &json!([{"say": "hi"}]));
    client.wait_done(&id);
    let wrong = client.try_call(
        "codex_reply",
        &json!({"sessionId": id, "prompt": "x", "cwd": "no/such/folder"}),
    );
    assert!(
        wrong
            .expect_err("no folder")
            .starts_with("Error [INVALID_ARGUMENT]")
    );
    let got = client.call("codex_session", &json!({"action": "get", "sessionId": id}));
    assert_eq!(got["status"], "idle", "F9");
    client.call(
        "codex_session",
        &json!({"action": "cancel", "sessionId": id}),
    );
    let late = client.try_call("codex_reply", &json!({"sessionId": id, "prompt": "x"}));
    assert!(
        late.expect_err("cancelled")
            .starts_with("Error [CANCELLED]"),
        "F10"
    );
    fake.finish(client);
}

#[test]
fn f13_a_fork_names_its_policy_and_leaves_the_source_alone() {
    let fake = Fake::new();
    let mut client = fake.client();
    let id = session(&mut client, &json!([{"say": "hi"}]));
    client.wait_done(&id);
    let forked = client.call("codex_session", &json!({"action": "fork", "sessionId": id}));
    assert_eq!(forked["status"], "idle");
    let sent = fake.heard("thread/fork").remove(0);
    assert_eq!(
        (
            sent["sandbox"].as_str(),
            sent["approvalPolicy"].as_str(),
            sent["approvalsReviewer"].as_str()
        ),
        (Some("workspace-write"), Some("on-request"), Some("user"))
    );
    for session in [&id, forked["sessionId"].as_str().expect("a name")] {
        client.call(
            "codex_reply",
            &json!({"sessionId": session, "prompt": "and on"}),
        );
        assert_eq!(client.wait_done(session)["result"]["output"], "and on");
    }
    client.call(
        "codex_session",
        &json!({"action": "clean_background_terminals", "sessionId": id}),
    );
    fake.finish(client);
}

#[test]
fn f15_f16_polls_and_their_interval() {
    let fake = Fake::new();
    let mut client = fake.client();
    let id = session(&mut client, &json!([{"sleep": 1}]));
    let body = client.call(
        "codex_check",
        &json!({"action": "poll", "sessionId": id, "maxEvents": 0}),
    );
    assert_eq!(body["events"].as_array().map(Vec::len), Some(1), "F15");
    assert_eq!(body["pollInterval"], 15_000, "F16");
    client.wait_done(&id);
    fake.finish(client);
}

#[test]
fn f20_a_timeout_declines_and_says_so() {
    let fake = Fake::new();
    let mut client = fake.client();
    let mut start = play(&json!([{"start": tool_item("c0", 1)}, ask(1, &json!({"item": "c0"}))]));
    start["advanced"] = json!({"approvalTimeoutMs": 300});
    let started = client.call("codex", &start);
    let id = started["sessionId"].as_str().expect("a name").to_owned();
    let waiting = client.wait(&id);
    let request = waiting["actions"][0]["requestId"].clone();
    client.wait_done(&id);
    let told = all(&mut client, &id);
    let result = of_type(&told, "approval_result").remove(0);
    assert_eq!(
        (
            result["decision"].as_str(),
            result["timeout"].as_bool(),
            result["reason"].as_str()
        ),
        (Some("decline"), Some(true), Some("timed_out"))
    );
    let late = client
        .decide(&id, &request, "accept")
        .expect_err("too late");
    assert_eq!(late, "Error [REQUEST_NOT_FOUND]: timed out");
    fake.finish(client);
}

#[test]
fn f30_requests_that_grant_nothing_are_answered_by_type() {
    let fake = Fake::new();
    let mut client = fake.client();
    let id = session(
        &mut client,
        &json!([
            {"ask": "execCommandApproval", "params": {"conversationId": "$T", "callId": "x", "command": ["ls"], "cwd": "/", "parsedCmd": []}},
            {"ask": "applyPatchApproval", "params": {"conversationId": "$T", "callId": "x", "fileChanges": {}}},
            {"ask": "item/tool/call", "params": {"callId": "x", "tool": "t", "arguments": {}}},
            {"ask": "account/chatgptAuthTokens/refresh", "params": {"reason": "unauthorized"}},
            {"ask": "currentTime/read", "params": {}},
            {"ask": "item/brandNew/request", "params": {}, "unknown": true},
        ]),
    );
    client.wait_done(&id);
    let answers: Vec<Value> = fake
        .answers()
        .into_iter()
        .map(|(_, answer)| answer)
        .collect();
    for legacy in &answers[..2] {
        assert_eq!(
            legacy["decision"]["denied"]["rejection"], "codexgate does not answer legacy approvals",
            "F30"
        );
    }
    assert_eq!(answers[2]["success"], false);
    assert_eq!(answers[3]["code"], -32000);
    assert!(answers[4]["currentTimeAt"].is_u64());
    assert_eq!(answers[5]["code"], -32601);
    let told = all(&mut client, &id);
    assert!(
        of_type(&told, "error")
            .iter()
            .any(|data| data["code"] == "unknown_request"),
        "{told:#}"
    );
    fake.finish(client);
}

#[test]
fn p11_a_declined_call_that_runs_ends_the_turn() {
    let fake = Fake::new();
    let mut client = fake.client();
    let done = json!({"type": "mcpToolCall", "id": "c0", "server": "demo", "environmentId": null, "tool": "pay", "status": "completed",
        "arguments": {"n": 1}, "result": {"content": []}});
    let id = session(
        &mut client,
        &json!([
            {"start": tool_item("c0", 1)}, ask(1, &json!({"item": "nothing", "later": true, "id": 5})), {"answered": [5]},
            {"tell": "item/completed", "params": {"threadId": "$T", "turnId": "$U", "item": done}}, {"sleep": 20},
        ]),
    );
    let waiting = client.wait(&id);
    client
        .decide(&id, &waiting["actions"][0]["requestId"], "decline")
        .expect("taken");
    let ended = client.wait_done(&id);
    assert_eq!(ended["result"]["status"], "interrupted", "{ended:#}");
    let told = all(&mut client, &id);
    assert!(
        of_type(&told, "error")
            .iter()
            .any(|data| data["code"] == "approval_mismatch"),
        "{told:#}"
    );
    fake.finish(client);
}

#[test]
fn a_weaker_policy_starts_nothing() {
    let fake = Fake::new().with("FAKE_CODEX_SANDBOX", "dangerFullAccess");
    let mut client = fake.client();
    let refused = client
        .try_call("codex", &play(&json!([{"say": "hi"}])))
        .expect_err("weaker");
    assert!(refused.starts_with("Error [POLICY_MISMATCH]"), "{refused}");
    assert!(fake.heard("turn/start").is_empty());
    assert_eq!(
        client.call("codex_session", &json!({"action": "list"}))["sessions"],
        json!([]),
        "F8"
    );
    fake.finish(client);
}

#[test]
fn an_old_codex_is_not_supported_and_a_newer_one_is_told() {
    let fake = Fake::new().with("FAKE_CODEX_VERSION", "0.146.0");
    let mut client = fake.client();
    let refused = client
        .try_call("codex", &play(&json!([{"say": "hi"}])))
        .expect_err("too old");
    assert!(refused.starts_with("Error [UNSUPPORTED]"), "{refused}");
    drop(client);
    let fake = Fake::new().with("FAKE_CODEX_VERSION", "0.199.0");
    let mut client = fake.client();
    let started = client.call("codex", &play(&json!([{"say": "hi"}])));
    assert!(
        started["compatWarnings"]
            .to_string()
            .contains("newer than the versions"),
        "{started}"
    );
    client.wait_done(started["sessionId"].as_str().expect("a name"));
    fake.finish(client);
}

#[test]
fn garbage_is_skipped_and_ids_of_every_kind_come_back() {
    let fake = Fake::new();
    let mut client = fake.client();
    let ids = json!([0, "0", "", -1, 9_007_199_254_740_993_u64, "a \"b\""]);
    let mut steps = vec![
        json!({"raw": "{\"broken\": "}),
        json!({"raw": "plain noise"}),
    ];
    for (n, id) in ids.as_array().expect("a list").iter().enumerate() {
        steps.push(json!({"start": tool_item(&format!("c{n}"), n as u64)}));
        steps.push(ask(n as u64, &json!({"item": format!("c{n}"), "id": id})));
    }
    let id = session(&mut client, &json!(steps));
    for _ in 0..6 {
        let body = client.wait(&id);
        client
            .decide(&id, &body["actions"][0]["requestId"], "accept")
            .expect("taken");
    }
    assert_eq!(client.wait_done(&id)["status"], "idle");
    let sent: Vec<Value> = fake.answers().into_iter().map(|(id, _)| id).collect();
    assert_eq!(json!(sent), ids, "A1");
    fake.finish(client);
}

#[test]
fn a_crash_voids_what_waits_and_the_next_reply_resumes() {
    let fake = Fake::new();
    let mut client = fake.client();
    let id = session(
        &mut client,
        &json!([{"start": tool_item("c0", 1)}, ask(1, &json!({"later": true, "item": "c0"})), {"sleep": 0.3}, {"exit": 9}]),
    );
    let waiting = client.wait(&id);
    let request = waiting["actions"][0]["requestId"].clone();
    let ended = client.wait_done(&id);
    assert_eq!(
        (ended["status"].as_str(), ended["result"]["status"].as_str()),
        (Some("error"), Some("error")),
        "{ended:#}"
    );
    let late = client.decide(&id, &request, "accept").expect_err("void");
    assert_eq!(
        late,
        "Error [REQUEST_NOT_FOUND]: withdrawn (app-server exited)"
    );
    client.call(
        "codex_reply",
        &json!({"sessionId": id, "prompt": "back again"}),
    );
    assert_eq!(client.wait_done(&id)["result"]["output"], "back again");
    let resumed = fake.heard("thread/resume").remove(0);
    assert_eq!(
        (
            resumed["sandbox"].as_str(),
            resumed["approvalPolicy"].as_str()
        ),
        (Some("workspace-write"), Some("on-request"))
    );
    let told = all(&mut client, &id);
    assert!(
        of_type(&told, "approval_request").len() == 1,
        "nothing that was buffered is lost"
    );
    fake.finish(client);
}

#[test]
fn human_mode_takes_no_accept_from_a_call() {
    let fake = Fake::new();
    let mut client = fake.client_with(&["--approvals", "human"], &json!({}));
    let id = session(
        &mut client,
        &json!([{"start": tool_item("c0", 1)}, ask(1, &json!({"item": "c0"}))]),
    );
    let waiting = client.wait(&id);
    let request = waiting["actions"][0]["requestId"].clone();
    let refused = client
        .decide(&id, &request, "accept")
        .expect_err("an agent may not");
    assert!(refused.starts_with("Error [POLICY_REFUSED]"), "{refused}");
    client.decide(&id, &request, "decline").expect("always");
    client.wait_done(&id);
    fake.finish(client);
}

#[test]
fn i7_an_unannounced_child_is_looked_up_and_a_stranger_is_declined() {
    let fake = Fake::new();
    let mut client = fake.client();
    let of = |thread: &str, item: &str| {
        let item = tool_item(item, 1);
        json!({"tell": "item/started",
            "params": {"threadId": thread, "turnId": "turn-of-child", "item": item}})
    };
    let claim = |thread: &str| {
        let mut step = ask(1, &json!({"item": "none"}));
        step["params"]["threadId"] = thread.into();
        step["params"]["turnId"] = "turn-of-child".into();
        step
    };
    let id = session(
        &mut client,
        &json!([
            {"child": "01a2-child", "of": "$T", "unwritten": 2}, of("01a2-child", "c0"), claim("01a2-child"),
            of("01a2-stranger", "c0"), claim("01a2-stranger"),
        ]),
    );
    let waiting = client.wait(&id);
    let action = &waiting["actions"][0];
    assert_eq!(action["threadId"], "01a2-child");
    client
        .decide(&id, &action["requestId"], "accept")
        .expect("taken");
    client.wait_done(&id);
    let answers = fake.answers();
    assert_eq!(answers[0].1["action"], "accept");
    assert_eq!(
        answers[1].1["action"], "decline",
        "nobody knows that thread"
    );
    fake.finish(client);
}

#[test]
fn f9_a_turn_that_codex_refuses_puts_the_status_back() {
    let fake = Fake::new().with("FAKE_CODEX_REFUSES", "turn/start");
    let mut client = fake.client();
    let refused = client.try_call("codex", &play(&json!([{"say": "hi"}])));
    let refused = refused.expect_err("refused");
    assert!(refused.contains("the test refuses turn/start"), "{refused}");
    let listed = client.call("codex_session", &json!({"action": "list"}));
    assert_eq!(listed["sessions"], json!([]), "F8: no half session");
    fake.finish(client);
}

#[test]
fn f6_f7_nothing_that_comes_over_mcp_widens_the_ceiling() {
    let fake = Fake::new();
    let mut client = fake.client();
    let start = |name: &str, value: Value| {
        let mut start = play(&json!([{"say": "hi"}]));
        start[name] = value;
        start
    };
    for config in [
        json!({"mcp_servers.x.default_tools_approval_mode": "approve"}),
        json!({"mcp_servers": {"x": {"default_tools_approval_mode": "approve"}}}),
        json!({"mcp_servers.x": {"command": "sh"}}),
        json!({"sandbox_workspace_write": [["/w"], true]}),
        json!({"sandbox_workspace_write.network_access": true}),
        json!({"approval_policy": "never"}),
        json!({"sandbox_mode": "danger-full-access"}),
        json!({"approvals_reviewer": "auto_review"}),
        json!({"hooks": {}}),
        json!({"notify": ["sh"]}),
        json!({"model": {"a": 1}}),
        json!({"model": ["a"]}),
        json!({"web_search": "live"}),
        json!({"model_providers": {}}),
        json!({"Model": "x"}),
        json!({"model ": "x"}),
        json!({"\"model\"": "x"}),
    ] {
        let given = start("advanced", json!({ "config": config }));
        let refused = client.try_call("codex", &given).expect_err("F7");
        assert!(
            refused.starts_with("Error [INVALID_ARGUMENT]"),
            "{config}: {refused}"
        );
    }
    let refused = client.try_call("codex", &start("sandbox", json!("danger-full-access")));
    assert!(
        refused
            .expect_err("a ceiling")
            .starts_with("Error [POLICY_REFUSED]")
    );
    for profile in ["../x", "a/b", "", "x y", "none-of-that-name"] {
        let refused = client.try_call("codex", &start("profile", json!(profile)));
        let refused = refused.expect_err("F6");
        assert!(
            refused.starts_with("Error [INVALID_ARGUMENT]"),
            "{profile}: {refused}"
        );
    }
    assert!(fake.heard("thread/start").is_empty(), "no thread began");
    fake.finish(client);
}
