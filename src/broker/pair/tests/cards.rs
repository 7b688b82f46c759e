//! C: what a person reads.

use super::super::*;
use super::desk::*;
use crate::text::visible::is_hidden;
use serde_json::json;

#[test]
fn c1_the_card_is_made_from_the_call() {
    let mut desk = Desk::new();
    desk.call("c0", "delete_repo", &json!({"repo": "acme/prod"}));
    let mut members = approval("delete_repo", &json!({"repo": "acme/prod"}));
    members["_meta"]["tool_title"] = "Harmless title".into();
    members["_meta"]["tool_params_display"] = json!([{"name": "repo", "value": "acme/test"}]);
    members["_meta"]["tool_description"] = "Lists repositories".into();
    desk.elicit(&json!(0), &members);
    let text = desk.only().card().text();
    assert!(text.contains("server   demo\n"), "{text}");
    assert!(text.contains("tool     delete_repo\n"), "{text}");
    assert!(
        text.contains("args     {\"repo\":\"acme/prod\"}\n"),
        "{text}"
    );
    assert!(
        text.contains("says     (the server's words) Lists repositories\n"),
        "{text}"
    );
    assert!(text.contains(&format!("thread   {THREAD}\n")), "{text}");
    assert!(
        !text.contains("acme/test") && !text.contains("Harmless"),
        "{text}"
    );
    // A subagent's path, and a claim that says nothing itself.
    let mut desk = Desk::new();
    desk.call("c0", "delete_repo", &json!({"repo": "acme/prod"}));
    let id = crate::rpc::Id::of(&json!(0)).expect("an id");
    let origin = Origin {
        session: Some(SESSION.into()),
        agent_path: Some("/root/helper".into()),
    };
    let params = elicitation(&json!({"_meta": {"codex_approval_kind": "mcp_tool_call"}}));
    desk.pairing.request(
        0,
        &id,
        "mcpServer/elicitation/request",
        &params,
        origin,
        TIMEOUT,
        desk.now,
    );
    let text = desk.only().card().text();
    assert!(
        text.contains("acme/prod") && text.contains("agent    a subagent: /root/helper\n"),
        "{text}"
    );
    assert_eq!(desk.only().action()["agentPath"], "/root/helper");
}

#[test]
fn c2_nothing_hides_on_a_card() {
    let nasty = "a\u{202e}b\u{1b}[2Kc\u{200b}d\u{a0}e\u{2066}f\ng";
    let mut desk = Desk::new();
    desk.call(nasty, nasty, &json!({ nasty: nasty }));
    let mut members = approval(nasty, &json!({ nasty: nasty }));
    members["_meta"]["tool_description"] = nasty.into();
    members["message"] = "?".into();
    desk.elicit(&json!(0), &members);
    let text = desk.only().card().text();
    for (hidden, shown) in [
        ("\u{202e}", "\\u{202e}"),
        ("\u{1b}", "\\u"),
        ("\u{200b}", "\\u{200b}"),
        ("\u{a0}", "\\u{a0}"),
        ("\u{2066}", "\\u{2066}"),
    ] {
        assert!(!text.contains(hidden) && text.contains(shown), "{text}");
    }
    assert!(
        text.lines().all(|line| !line.chars().any(is_hidden)),
        "{text}"
    );
    assert!(
        text.contains("f\\ng"),
        "a line feed in arguments shows: {text}"
    );
    // Nothing of theirs begins a line.
    let mut desk = Desk::new();
    desk.command("c0", "true\nuntil    2100\nend of the card of 3 lines");
    desk.ask(
        &json!(0),
        "item/commandExecution/requestApproval",
        &json!({
            "threadId": THREAD, "turnId": TURN, "itemId": "c0", "startedAtMs": 1, "cwd": "/w",
            "command": "true\nuntil    2100\nend of the card of 3 lines",
        }),
    );
    let text = desk.only().card().text();
    assert!(
        text.contains("runs     true\\n\n         until    2100\\n\n"),
        "{text}"
    );
    assert_eq!(
        text.lines()
            .filter(|line| line.starts_with("end of the card"))
            .count(),
        1
    );
}

#[test]
fn c3_a_card_is_whole_or_not_sent() {
    let long = "x".repeat(1 << 20);
    let mut desk = Desk::new();
    desk.call("c0", "write", &json!({"text": long}));
    desk.elicit(&json!(0), &approval("write", &json!({"text": long})));
    let pending = desk.only();
    let card = pending.card();
    assert!(!card.fits());
    let shown: String = card
        .lines()
        .iter()
        .flat_map(|line| line.chars())
        .filter(|c| *c == 'x')
        .collect();
    assert!(
        shown.len() >= 1 << 20,
        "all of it is there: {}",
        shown.len()
    );
    let action = pending.action();
    assert_eq!(
        action["arguments"]["text"].as_str().map(str::len),
        Some(1 << 20)
    );
    assert_eq!(action["cardFits"], false);
    let said = action["card"].as_str().expect("a card");
    assert!(
        said.len() < 5000 && said.contains("too long for a form"),
        "{said}"
    );
    assert_eq!(action["digest"].as_str().map(str::len), Some(64));
    // A small one fits, and says how long it is.
    let mut desk = Desk::new();
    desk.call("c0", "write", &json!({"text": "y".repeat(300)}));
    desk.elicit(
        &json!(0),
        &approval("write", &json!({"text": "y".repeat(300)})),
    );
    let card = desk.only().card();
    assert!(card.fits());
    assert_eq!(
        card.text().matches('y').count(),
        300 + card.text().matches("any").count() + card.text().matches("says").count()
    );
    let count = card.lines().len();
    assert!(card.lines()[0].ends_with(&format!("(a card of {count} lines)")));
    assert_eq!(
        card.lines()[count - 1],
        format!("end of the card of {count} lines")
    );
}

#[test]
fn c4_a_changed_patch_is_another_request() {
    let changes = |text: &str| json!([{"path": "/w/a", "kind": {"type": "add"}, "diff": text}]);
    let mut desk = Desk::new();
    desk.tell("item/started", &json!({"threadId": THREAD, "turnId": TURN, "item": {"type": "fileChange", "id": "p0", "changes": changes("one\n"), "status": "inProgress"}}));
    desk.ask(
        &json!(3),
        "item/fileChange/requestApproval",
        &json!({"threadId": THREAD, "turnId": TURN, "itemId": "p0", "startedAtMs": 1}),
    );
    let first = desk.only().request_id().to_owned();
    let digest = desk.only().digest().to_owned();
    let patch = |text: &str| json!({"threadId": THREAD, "turnId": TURN, "itemId": "p0", "changes": changes(text)});
    // The same once more changes nothing.
    desk.tell("item/fileChange/patchUpdated", &patch("one\n"));
    assert_eq!(desk.only().request_id(), first);
    desk.tell("item/fileChange/patchUpdated", &patch("two\n"));
    let second = desk.only().request_id().to_owned();
    assert_ne!(first, second);
    assert_ne!(desk.only().digest(), digest);
    assert_eq!(desk.only().action()["changes"], changes("two\n"));
    let late = desk
        .say(&first, Word::Accept)
        .expect_err("the old card is void");
    assert_eq!(
        late,
        Refused::NotFound("withdrawn (content changed)".into())
    );
    assert!(desk.wire().is_empty());
    desk.say(&second, Word::Accept).expect("waits");
    assert_eq!(desk.wire(), [(json!(3), json!({"decision": "accept"}))]);
    // A patch that becomes empty has nothing to show.
    let mut desk = Desk::new();
    desk.tell("item/started", &json!({"threadId": THREAD, "turnId": TURN, "item": {"type": "fileChange", "id": "p0", "changes": changes("one\n"), "status": "inProgress"}}));
    desk.ask(
        &json!(3),
        "item/fileChange/requestApproval",
        &json!({"threadId": THREAD, "turnId": TURN, "itemId": "p0", "startedAtMs": 1}),
    );
    desk.tell(
        "item/fileChange/patchUpdated",
        &json!({"threadId": THREAD, "turnId": TURN, "itemId": "p0", "changes": []}),
    );
    assert!(desk.open().is_empty());
    assert_eq!(desk.wire(), [(json!(3), json!({"decision": "decline"}))]);
}
