//! R: what an elicitation is.

use super::super::*;
use super::desk::*;
use serde_json::{Value, json};

/// A value of each JSON type, and some that look like what is wanted.
fn values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(false),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(""),
        json!("form"),
        json!("mcp_tool_call "),
        json!("MCP_TOOL_CALL"),
        json!([]),
        json!(["mcp_tool_call"]),
        json!({}),
        json!({"mcp_tool_call": true}),
    ]
}

/// A desk on which `get_issue {"n": 1}` is open, so that a tool approval would be shown.
fn with_call() -> Desk {
    let mut desk = Desk::new();
    desk.call("c0", "get_issue", &json!({"n": 1}));
    desk
}

/// What becomes of the approval with these members: `kind` of what is asked, or the reason.
fn becomes(change: impl FnOnce(&mut Value)) -> String {
    let mut desk = with_call();
    let mut params = elicitation(&approval("get_issue", &json!({"n": 1})));
    change(&mut params);
    desk.ask(&json!(0), "mcpServer/elicitation/request", &params);
    match (desk.open().first(), reasons(&desk.done).first()) {
        (Some(pending), None) => pending.kind().to_owned(),
        (None, Some(reason)) => {
            assert_eq!(desk.wire(), [(json!(0), declined())]);
            reason.clone()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn r1_an_absent_mode_is_form() {
    let without = |params: &mut Value| {
        params
            .as_object_mut()
            .expect("an object")
            .shift_remove("mode");
    };
    assert_eq!(becomes(without), "mcpToolCall");
    assert_eq!(becomes(|_| {}), "mcpToolCall");
    // Of other requests none is looked at: a command is no elicitation.
    let mut desk = with_call();
    desk.ask(&json!(0), "item/permissions/requestApproval", &json!({
        "threadId": THREAD, "turnId": TURN, "itemId": "c0", "startedAtMs": 1, "cwd": "/w", "permissions": {},
        "mode": "form", "_meta": {"codex_approval_kind": "mcp_tool_call", "tool_name": "get_issue"},
    }));
    assert_eq!(desk.only().kind(), "permissions");
}

#[test]
fn r2_a_tool_approval_asks_for_nothing() {
    assert_eq!(
        becomes(|p| p["requestedSchema"]["required"] = json!([])),
        "mcpToolCall"
    );
    assert_eq!(
        becomes(|p| p["requestedSchema"]["required"] = json!(["x"])),
        "malformed_approval"
    );
    assert_eq!(
        becomes(|p| p["requestedSchema"]["properties"]["x"] = json!({"type": "string"})),
        "malformed_approval"
    );
    for value in values() {
        if value != json!([]) {
            assert_eq!(
                becomes(|p| p["requestedSchema"]["required"] = value.clone()),
                "malformed_approval",
                "{value}"
            );
        }
        if value != json!({}) {
            assert_eq!(
                becomes(|p| p["requestedSchema"]["properties"] = value.clone()),
                "malformed_approval",
                "{value}"
            );
        }
    }
}

#[test]
fn r3_the_marker_with_another_shape_is_malformed() {
    for schema in values() {
        assert_eq!(
            becomes(|p| p["requestedSchema"] = schema.clone()),
            "malformed_approval",
            "{schema}"
        );
    }
    let without = |p: &mut Value| {
        p.as_object_mut()
            .expect("an object")
            .shift_remove("requestedSchema");
    };
    assert_eq!(becomes(without), "malformed_approval");
    for mode in [
        "url",
        "openai/form",
        "openaiForm",
        "openai/userVerification",
        "other",
        "",
    ] {
        assert_eq!(
            becomes(|p| p["mode"] = mode.into()),
            "malformed_approval",
            "{mode}"
        );
    }
    for mode in values() {
        if mode != "form" {
            assert_eq!(
                becomes(|p| p["mode"] = mode.clone()),
                "malformed_approval",
                "{mode}"
            );
        }
    }
}

#[test]
fn r4_another_kind_of_approval_is_unknown() {
    for kind in values() {
        assert_eq!(
            becomes(|p| p["_meta"]["codex_approval_kind"] = kind.clone()),
            "unknown_kind",
            "{kind}"
        );
    }
    assert_eq!(
        becomes(|p| p["_meta"]["codex_approval_kind"] = "tool_suggestion".into()),
        "unknown_kind"
    );
    // A form with questions does not hide it.
    let form = |p: &mut Value| {
        p["_meta"]["codex_approval_kind"] = "tool_suggestion".into();
        p["requestedSchema"]["properties"]["x"] = json!({"type": "string"});
    };
    assert_eq!(becomes(form), "unknown_kind");
}

#[test]
fn r5_without_the_marker_it_is_the_servers_own_question() {
    for meta in [
        Value::Null,
        json!({}),
        json!([]),
        json!("codex_approval_kind"),
        json!(1),
        json!(true),
        json!({"tool_name": "get_issue", "tool_params": {"n": 1}}),
    ] {
        assert_eq!(becomes(|p| p["_meta"] = meta.clone()), "mcpForm", "{meta}");
    }
    let without = |p: &mut Value| {
        p.as_object_mut().expect("an object").shift_remove("_meta");
    };
    assert_eq!(becomes(without), "mcpForm");
    let mut desk = with_call();
    desk.elicit(&json!(0), &json!({}));
    // It holds no call: the real approval is still paired.
    desk.elicit(&json!(1), &approval("get_issue", &json!({"n": 1})));
    let kinds: Vec<&str> = desk.open().iter().map(|p| p.kind()).collect();
    assert_eq!(kinds, ["mcpForm", "mcpToolCall"]);
}

#[test]
fn r6_a_link_is_a_link_and_other_modes_are_declined() {
    let plain = |mode: Value| {
        move |p: &mut Value| {
            p["_meta"] = Value::Null;
            p["mode"] = mode;
            p["url"] = "https://example.test/".into();
            p["elicitationId"] = "e".into();
        }
    };
    assert_eq!(becomes(plain("url".into())), "mcpUrl");
    for mode in [
        "openai/userVerification",
        "openai/form",
        "openaiForm",
        "FORM",
        "Url",
        "x",
    ] {
        assert_eq!(becomes(plain(mode.into())), "unsupported_mode", "{mode}");
    }
    for mode in values() {
        if mode != "form" {
            assert_eq!(becomes(plain(mode.clone())), "unsupported_mode", "{mode}");
        }
    }
    let mut desk = Desk::new();
    desk.ask(&json!(0), "mcpServer/elicitation/request", &json!({
        "threadId": THREAD, "turnId": TURN, "serverName": "demo", "mode": "openai/userVerification",
        "_meta": null, "title": "Confirm your identity", "description": "d", "challenge": "c",
    }));
    let event = &events(&desk.done, EventKind::ApprovalResult)[0];
    assert_eq!(event["asked"]["message"], "Confirm your identity");
}
