//! I: where a tool approval points.

use super::desk::*;
use serde_json::{Value, json};

/// The item that an elicitation with these members is tied to, or the reason.
fn tied(desk: &mut Desk, id: u64, members: &Value) -> String {
    let before = reasons(&desk.done).len();
    desk.elicit(&json!(id), members);
    if let Some(reason) = reasons(&desk.done).get(before) {
        return reason.clone();
    }
    let open = desk.open();
    open.last().expect("it waits").action()["itemId"]
        .as_str()
        .expect("an item")
        .to_owned()
}

#[test]
fn i1_only_the_name_of_the_tool_identifies() {
    let mut desk = Desk::new();
    desk.call("c0", "delete_repo", &json!({}));
    desk.call("c1", "get_issue", &json!({}));
    let mut members = approval("get_issue", &json!({}));
    members["_meta"]["tool_title"] = "delete_repo".into();
    members["_meta"]["tool_description"] = "delete_repo".into();
    members["_meta"]["tool_params_display"] = json!([{"name": "repo", "value": "acme/prod"}]);
    assert_eq!(tied(&mut desk, 0, &members), "c1");
    // A name that is no string is none: the message counts.
    for name in [
        Value::Null,
        json!(1),
        json!(["get_issue"]),
        json!({"get_issue": 1}),
    ] {
        let mut desk = Desk::new();
        desk.call("c0", "delete_repo", &json!({}));
        desk.call("c1", "get_issue", &json!({}));
        let mut members = approval("get_issue", &json!({}));
        members["_meta"]["tool_name"] = name;
        assert_eq!(tied(&mut desk, 0, &members), "c1");
    }
}

#[test]
fn i2_t08_the_name_in_the_message_goes_up_to_the_last_quote() {
    let recording = Recording::read("08-mcp-quoted-name");
    let mut desk = Desk::new();
    let (_, _, params) = recording.request(1);
    let mut params = params.clone();
    params["_meta"]
        .as_object_mut()
        .expect("meta")
        .shift_remove("tool_name");
    desk.replay(&recording, 0..recording.after_request(1) - 1);
    desk.ask(&json!(0), "mcpServer/elicitation/request", &params);
    assert_eq!(desk.only().action()["tool"], "say \"hi\"? now");

    let long = "x".repeat(300);
    for name in [
        "a\"? b",
        "\"?",
        "x\" to run tool \"y",
        "",
        &long,
        "two\nlines",
        "say \"hi\"? now",
        "x MCP server to run tool \"y",
    ] {
        let mut desk = Desk::new();
        desk.call("c0", "say ", &json!({}));
        desk.call("c1", name, &json!({}));
        desk.call("c2", "x", &json!({}));
        assert_eq!(
            tied(&mut desk, 0, &approval_0154(name, &json!({}))),
            "c1",
            "{name}"
        );
    }
    // What only looks like the form says nothing.
    for message in [
        "Allow the demo MCP server to run tool \"get_issue\"",
        "allow the demo MCP server to run tool \"get_issue\"?",
        "Allow the demo MCP server to run tool \"get_issue\"? ",
        "Allow the demo MCP server to run tool \"?",
        " Allow the demo MCP server to run tool \"get_issue\"?",
    ] {
        let mut desk = Desk::new();
        desk.call("c0", "delete_repo", &json!({}));
        desk.call("c1", "get_issue", &json!({}));
        let mut members = approval_0154("get_issue", &json!({}));
        members["message"] = message.into();
        assert_eq!(tied(&mut desk, 0, &members), "ambiguous", "{message}");
    }
}

#[test]
fn i3_name_message_and_server_agree() {
    let mut desk = Desk::new();
    desk.call("c0", "get_issue", &json!({}));
    let mut members = approval("get_issue", &json!({}));
    members["message"] = "Allow the demo MCP server to run tool \"list\"?".into();
    assert_eq!(tied(&mut desk, 0, &members), "inconsistent");
    members["message"] = "Allow the other MCP server to run tool \"get_issue\"?".into();
    assert_eq!(tied(&mut desk, 1, &members), "inconsistent");
    members["_meta"]
        .as_object_mut()
        .expect("meta")
        .shift_remove("tool_name");
    assert_eq!(tied(&mut desk, 2, &members), "inconsistent");
    // A message of another form, of another type or none is no fault beside a name.
    for (n, message) in [
        json!("Allow Jira to add a comment?"),
        Value::Null,
        json!(7),
        json!(""),
    ]
    .into_iter()
    .enumerate()
    {
        let mut desk = Desk::new();
        desk.call("c0", "get_issue", &json!({}));
        let mut members = approval("get_issue", &json!({}));
        members["message"] = message;
        assert_eq!(tied(&mut desk, n as u64, &members), "c0");
    }
}

#[test]
fn i4_absent_arguments_are_unknown_not_empty() {
    let mut desk = Desk::new();
    desk.call("c0", "get_issue", &json!({"n": 7}));
    let mut members = approval("get_issue", &json!({}));
    assert_eq!(
        tied(&mut desk, 0, &members),
        "unmatched",
        "empty ones are known"
    );
    members["_meta"]["tool_params"] = Value::Null;
    assert_eq!(tied(&mut desk, 1, &members), "unmatched", "null is a value");
    members["_meta"]
        .as_object_mut()
        .expect("meta")
        .shift_remove("tool_params");
    assert_eq!(tied(&mut desk, 2, &members), "c0");
}

#[test]
fn i5_arguments_are_json_values() {
    let same = |left: Value, right: Value| {
        let mut desk = Desk::new();
        desk.call("c0", "t", &left);
        tied(&mut desk, 0, &approval("t", &right)) == "c0"
    };
    assert!(same(
        json!({"a": 1, "b": {"c": [1, 2], "d": null}}),
        json!({"b": {"d": null, "c": [1, 2]}, "a": 1})
    ));
    assert!(!same(json!({"n": 1}), json!({"n": 1.0})));
    assert!(!same(json!({"n": 1}), json!({"n": "1"})));
    assert!(!same(json!({"s": "a"}), json!({"s": "a "})));
    assert!(!same(json!({"s": "A"}), json!({"s": "a"})));
    assert!(
        !same(json!({"s": "\u{e9}"}), json!({"s": "e\u{301}"})),
        "no normalisation"
    );
    assert!(!same(json!({"l": [1, 2]}), json!({"l": [2, 1]})));
    assert!(!same(json!({"a": null}), json!({})));
    assert!(!same(
        json!({"n": 9_007_199_254_740_993_u64}),
        json!({"n": 9_007_199_254_740_992_u64})
    ));
}

#[test]
fn i6_turn_server_and_environment_belong_to_the_key() {
    for (name, value) in [
        ("turnId", json!("turn-2")),
        ("serverName", json!("other")),
        ("environmentId", json!("remote")),
    ] {
        let mut desk = Desk::new();
        desk.call("c0", "t", &json!({}));
        let mut members = approval("t", &json!({}));
        members["message"] = "?".into();
        members[name] = value;
        assert_eq!(tied(&mut desk, 0, &members), "unmatched", "{name}");
    }
    // Absent is null.
    let mut desk = Desk::new();
    desk.call("c0", "t", &json!({}));
    let mut params = elicitation(&approval("t", &json!({})));
    params
        .as_object_mut()
        .expect("an object")
        .shift_remove("environmentId");
    desk.ask(&json!(0), "mcpServer/elicitation/request", &params);
    assert_eq!(desk.only().action()["itemId"], "c0");
    // The same call id in two turns: each approval holds the one of its own turn.
    let mut desk = Desk::new();
    desk.call("c0", "t", &json!({"n": 1}));
    let mut second = tool_item("c0", "t", &json!({"n": 1}));
    second["turnId"] = "turn-2".into();
    desk.tell("item/started", &second);
    let mut members = approval("t", &json!({"n": 1}));
    members["turnId"] = "turn-2".into();
    desk.elicit(&json!(0), &members);
    desk.tell(
        "turn/completed",
        &json!({"threadId": THREAD, "turn": {"id": TURN, "status": "completed"}}),
    );
    assert_eq!(desk.open().len(), 1);
    assert_ne!(desk.only().digest(), {
        let mut desk = Desk::new();
        desk.call("c0", "t", &json!({"n": 1}));
        desk.elicit(&json!(0), &approval("t", &json!({"n": 1})));
        desk.only().digest().to_owned()
    });
}

#[test]
fn i7_t18_a_subagents_thread_is_its_own() {
    let mut desk = Desk::new();
    desk.call("c0", "pay", &json!({}));
    let mut child = tool_item("c0", "pay", &json!({}));
    child["threadId"] = "thread-child".into();
    desk.tell("item/started", &child);
    let claim = |thread: &str| {
        let mut members = approval("pay", &json!({}));
        members["threadId"] = thread.into();
        // The turn does not tell them apart.
        members["turnId"] = Value::Null;
        members
    };
    desk.elicit(&json!(0), &claim("thread-child"));
    desk.elicit(&json!(1), &claim(THREAD));
    let threads: Vec<String> = desk.open().iter().map(|p| p.thread().to_owned()).collect();
    assert_eq!(threads, ["thread-child", THREAD]);
    // The child's call ends: the parent's card stays.
    let mut end = ended("c0", "pay", &json!({}), "failed");
    end["threadId"] = "thread-child".into();
    desk.tell("item/completed", &end);
    assert_eq!(desk.only().thread(), THREAD);
    // One call: the other thread's claim is for nothing.
    let mut desk = Desk::new();
    desk.call("c0", "pay", &json!({}));
    desk.elicit(&json!(0), &claim("thread-child"));
    assert_eq!(reasons(&desk.done), ["unmatched"]);

    // The recording: the child's approval waits while the parent's turn ends.
    let recording = Recording::read("18-subagent-approval");
    let mut desk = Desk::new();
    let asked = recording.after_request(1);
    let parent_ends = (asked..recording.len())
        .find(|at| matches!(&recording.lines[*at], Line::Tells { method, .. } if method == "turn/completed"))
        .expect("the parent's turn ends");
    desk.replay(&recording, 0..parent_ends + 1);
    assert_eq!(desk.open().len(), 1);
    desk.replay(&recording, parent_ends + 1..recording.len());
    assert!(desk.open().is_empty());

    // A thread that leads to no session.
    let mut desk = Desk::new();
    desk.call("c0", "pay", &json!({}));
    desk.ask_from(
        &json!(0),
        "mcpServer/elicitation/request",
        &elicitation(&approval("pay", &json!({}))),
        None,
    );
    assert_eq!(reasons(&desk.done), ["unknown_thread"]);
    assert_eq!(desk.wire(), [(json!(0), declined())]);
}
