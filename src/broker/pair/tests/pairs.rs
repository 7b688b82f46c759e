//! P: which call an approval is tied to, and what becomes of those that are tied to none.

use super::super::*;
use super::desk::*;
use serde_json::{Value, json};

/// The id with which a recording asks about a tool.
fn id_of(name: &str, tool: &str) -> Value {
    let recording = Recording::read(name);
    let mut asks = (1..=2).map(|n| recording.request(n));
    let named = |params: &Value| {
        params["message"]
            .as_str()
            .is_some_and(|text| text.contains(tool))
    };
    asks.find(|(_, _, params)| named(params))
        .expect("it asks")
        .0
        .clone()
}

/// T06 up to its two approvals.
fn two_in_flight(name: &str) -> Desk {
    let recording = Recording::read(name);
    let mut desk = Desk::new();
    desk.replay(&recording, 0..recording.after_request(2));
    desk
}

fn of_tool(desk: &Desk, tool: &str) -> String {
    let open = desk.open();
    let found = open.iter().find(|p| p.action()["tool"] == tool);
    found
        .unwrap_or_else(|| panic!("{tool} waits"))
        .request_id()
        .to_owned()
}

#[test]
fn p1_only_the_call_with_the_same_tool_and_arguments_is_a_candidate() {
    let mut desk = Desk::new();
    desk.call("c0", "read", &json!({"n": 1}));
    desk.call("c1", "read", &json!({"n": 2}));
    desk.elicit(&json!(0), &approval("read", &json!({"n": 2})));
    assert_eq!(desk.only().action()["itemId"], "c1");
    desk.elicit(&json!(1), &approval("read", &json!({"n": 3})));
    desk.elicit(&json!(2), &approval("write", &json!({"n": 1})));
    assert_eq!(reasons(&desk.done), ["unmatched", "unmatched"]);
    // Without a turn the rest must do.
    let mut open = approval("read", &json!({"n": 1}));
    open["turnId"] = Value::Null;
    desk.elicit(&json!(3), &open);
    assert_eq!(desk.open()[1].action()["itemId"], "c0");
    // A completed call is none any more, nor is one of a turn that is over.
    let mut desk = Desk::new();
    desk.call("c0", "read", &json!({}));
    desk.tell(
        "item/completed",
        &ended("c0", "read", &json!({}), "completed"),
    );
    desk.call("c1", "read", &json!({}));
    desk.tell(
        "turn/completed",
        &json!({"threadId": THREAD, "turn": {"id": TURN, "status": "completed"}}),
    );
    desk.elicit(&json!(0), &approval("read", &json!({})));
    assert_eq!(reasons(&desk.done), ["unmatched"]);
}

#[test]
fn p2_t06_each_approval_is_for_its_own_call() {
    for name in ["06-mcp-two-in-flight", "07-mcp-two-in-flight-0.154"] {
        let mut desk = two_in_flight(name);
        let (issue, repo) = (of_tool(&desk, "get_issue"), of_tool(&desk, "delete_repo"));
        let card = desk.pairing.get(&issue).expect("waits").action();
        assert_eq!(card["arguments"], json!({"n": 7}), "{name}");
        desk.say(&issue, Word::Accept).expect("waits");
        assert_eq!(
            desk.wire(),
            [(id_of(name, "get_issue"), accepted())],
            "{name}"
        );
        desk.say(&repo, Word::Decline).expect("waits");
        assert_eq!(
            desk.wire()[1],
            (id_of(name, "delete_repo"), declined()),
            "{name}"
        );
    }
}

#[test]
fn p3_identical_calls_have_a_card_each_and_exactly_one_runs() {
    // Codex may have meant either call with either approval: both orders must be right.
    for (first_ends, second_ends) in [("c0", "c1"), ("c1", "c0")] {
        let mut desk = Desk::new();
        desk.call("c0", "pay", &json!({"to": "bob"}));
        desk.call("c1", "pay", &json!({"to": "bob"}));
        desk.elicit(&json!(0), &approval("pay", &json!({"to": "bob"})));
        desk.elicit(&json!(1), &approval("pay", &json!({"to": "bob"})));
        let names: Vec<String> = desk
            .open()
            .iter()
            .map(|p| p.request_id().to_owned())
            .collect();
        assert_eq!(names.len(), 2);
        assert_eq!(desk.open()[0].action()["itemId"], "c0");
        desk.say(&names[1], Word::Accept).expect("waits");
        // The accepted one runs before the other one is answered: its card stays.
        desk.tell(
            "item/completed",
            &ended(first_ends, "pay", &json!({"to": "bob"}), "completed"),
        );
        assert_eq!(desk.open().len(), 1, "{first_ends}");
        desk.say(&names[0], Word::Decline).expect("still waits");
        desk.tell(
            "item/completed",
            &ended(second_ends, "pay", &json!({"to": "bob"}), "failed"),
        );
        assert_eq!(
            desk.wire(),
            [(json!(1), accepted()), (json!(0), declined())]
        );
        assert!(codes(&desk.done).is_empty(), "{:?}", desk.done);
    }
    // Both ran, one was declined: whichever it was.
    let mut desk = Desk::new();
    desk.call("c0", "pay", &json!({}));
    desk.call("c1", "pay", &json!({}));
    desk.elicit(&json!(0), &approval("pay", &json!({})));
    desk.elicit(&json!(1), &approval("pay", &json!({})));
    let names: Vec<String> = desk
        .open()
        .iter()
        .map(|p| p.request_id().to_owned())
        .collect();
    desk.say(&names[0], Word::Accept).expect("waits");
    desk.say(&names[1], Word::Decline).expect("waits");
    desk.tell(
        "item/completed",
        &ended("c1", "pay", &json!({}), "completed"),
    );
    assert!(codes(&desk.done).is_empty());
    desk.tell(
        "item/completed",
        &ended("c0", "pay", &json!({}), "completed"),
    );
    assert_eq!(codes(&desk.done), ["approval_mismatch"]);
}

#[test]
fn p4_a_claim_that_may_mean_different_calls_is_ambiguous() {
    let mut desk = Desk::new();
    desk.call("c0", "delete_repo", &json!({"repo": "acme/prod"}));
    desk.call("c1", "get_issue", &json!({"n": 7}));
    // 0.154, without a name in the message and without arguments.
    for id in 0..2 {
        desk.elicit(&json!(id), &json!({"_meta": {"codex_approval_kind": "mcp_tool_call"}, "message": "Allow Demo to add a comment?"}));
    }
    assert_eq!(reasons(&desk.done), ["ambiguous", "ambiguous"]);
    assert_eq!(
        desk.wire(),
        [(json!(0), declined()), (json!(1), declined())]
    );
    let event = &events(&desk.done, EventKind::ApprovalResult)[0];
    assert_eq!(
        event["asked"]["candidates"],
        json!(["c0 delete_repo", "c1 get_issue"])
    );
    // With one open call it is clear.
    desk.tell(
        "item/completed",
        &ended("c0", "delete_repo", &json!({"repo": "acme/prod"}), "failed"),
    );
    desk.elicit(
        &json!(2),
        &json!({"_meta": {"codex_approval_kind": "mcp_tool_call"}}),
    );
    assert_eq!(desk.only().action()["tool"], "get_issue");
}

#[test]
fn p5_t11_a_forged_approval_without_a_call_is_declined_unseen() {
    let recording = Recording::read("11-mcp-spoofed-approval");
    let mut desk = Desk::new();
    let forged = recording.after_request(1);
    desk.replay(&recording, 0..forged);
    assert_eq!(reasons(&desk.done), ["unmatched"]);
    assert!(desk.open().is_empty());
    assert!(
        events(&desk.done, EventKind::ApprovalRequest).is_empty(),
        "nobody is asked"
    );
    assert_eq!(desk.wire(), [(json!(0), declined())]);
}

#[test]
fn p6_t23_two_claims_of_one_call_are_both_declined() {
    let recording = Recording::read("23-mcp-spoof-beside-real");
    let (real, forged) = (
        recording.after_request(1) - 1,
        recording.after_request(2) - 1,
    );
    for order in [[real, forged], [forged, real]] {
        let mut desk = Desk::new();
        desk.replay(&recording, 0..real);
        for at in order {
            desk.replay(&recording, at..at + 1);
        }
        assert_eq!(reasons(&desk.done), ["contested", "contested"]);
        assert!(desk.open().is_empty());
        let mut wire = desk.wire();
        wire.sort_by_key(|(id, _)| id.as_u64());
        assert_eq!(wire, [(json!(0), declined()), (json!(1), declined())]);
        // What follows in the recording fits: the call fails, nothing ran.
        desk.replay(&recording, recording.after_request(2)..recording.len());
        assert!(codes(&desk.done).is_empty());
    }
    // Two identical calls: two claims are fine, the third contests both.
    let mut desk = Desk::new();
    desk.call("c0", "pay", &json!({}));
    desk.call("c1", "pay", &json!({}));
    desk.elicit(&json!(0), &approval("pay", &json!({})));
    desk.elicit(&json!(1), &approval("pay", &json!({})));
    assert_eq!(desk.open().len(), 2);
    desk.elicit(&json!(2), &approval("pay", &json!({})));
    assert_eq!(reasons(&desk.done), ["contested", "contested", "contested"]);
    assert_eq!(desk.wire().len(), 3);
    // A claim without name and arguments contests what it may mean.
    let mut desk = Desk::new();
    desk.call("c0", "pay", &json!({}));
    desk.elicit(&json!(0), &approval("pay", &json!({})));
    desk.elicit(
        &json!(1),
        &json!({"_meta": {"codex_approval_kind": "mcp_tool_call"}}),
    );
    assert_eq!(reasons(&desk.done), ["contested", "contested"]);
}

#[test]
fn p7_a_claim_after_the_answer_comes_too_late() {
    let recording = Recording::read("23-mcp-spoof-beside-real");
    let forged = recording.after_request(2) - 1;
    for word in [Word::Accept, Word::Decline] {
        let mut desk = Desk::new();
        desk.replay(&recording, 0..recording.after_request(1));
        let real = desk.only().request_id().to_owned();
        desk.say(&real, word).expect("waits");
        desk.replay(&recording, forged..forged + 1);
        assert_eq!(reasons(&desk.done), ["already_decided"]);
        assert_eq!(desk.wire()[1], (json!(1), declined()));
    }
}

#[test]
fn p8_a_call_that_is_not_usually_asked_about_says_so() {
    let mut desk = Desk::new();
    let mut item = tool_item("c0", "list", &json!({}));
    item["item"]["readOnlyHint"] = json!(true);
    desk.tell("item/started", &item);
    desk.elicit(&json!(0), &approval("list", &json!({})));
    assert!(
        desk.only()
            .card()
            .text()
            .contains("Codex does not usually ask for this tool")
    );
    let mut desk = Desk::new();
    desk.call("c0", "list", &json!({}));
    desk.elicit(&json!(0), &approval("list", &json!({})));
    assert!(!desk.only().card().text().contains("usually"));
}

#[test]
fn p9_t06_answers_in_any_order_reach_their_own_ids() {
    // The second card accepted: `delete_repo` runs, `get_issue` never does – and the mirror image.
    for (accept, reject) in [("delete_repo", "get_issue"), ("get_issue", "delete_repo")] {
        for name in ["06-mcp-two-in-flight", "07-mcp-two-in-flight-0.154"] {
            let mut desk = two_in_flight(name);
            let chosen = of_tool(&desk, accept);
            let other = of_tool(&desk, reject);
            desk.say(&chosen, Word::Accept).expect("waits");
            desk.say(&other, Word::Decline).expect("waits");
            assert_eq!(
                desk.wire(),
                [
                    (id_of(name, accept), accepted()),
                    (id_of(name, reject), declined())
                ],
                "{name}"
            );
        }
    }
}

#[test]
fn p10_a_decline_by_rule_is_shown_and_recorded() {
    let mut desk = Desk::new();
    let mut forged = approval("get_issue", &json!({"n": 1}));
    forged["message"] = "Allow the demo MCP server to run tool \"get_issue\"?".into();
    desk.elicit(&json!(7), &forged);
    let shown = events(&desk.done, EventKind::ApprovalResult);
    assert_eq!(shown.len(), 1);
    assert_eq!(shown[0]["decision"], "decline");
    assert_eq!(shown[0]["auto"], true);
    assert_eq!(shown[0]["reason"], "unmatched");
    assert_eq!(shown[0]["threadId"], THREAD);
    assert_eq!(shown[0]["asked"]["server"], "demo");
    assert_eq!(shown[0]["asked"]["tool"], "get_issue");
    let records: Vec<&Record> = desk
        .done
        .iter()
        .filter_map(|e| match e {
            Effect::Record(r) => Some(r),
            _ => None,
        })
        .collect();
    assert_eq!(records.len(), 1);
    assert_eq!(
        (records[0].by.as_str(), records[0].decision.as_str()),
        ("rule:unmatched", "decline")
    );
    let request = shown[0]["requestId"].as_str().expect("a name").to_owned();
    let late = desk
        .say(&request, Word::Accept)
        .expect_err("it was declined");
    assert_eq!(
        late,
        Refused::NotFound("declined by rule (unmatched)".into())
    );
    assert_eq!(desk.wire().len(), 1);
}

#[test]
fn p11_a_declined_call_that_runs_is_said_and_its_turn_ends() {
    let mut desk = Desk::new();
    desk.call("c0", "pay", &json!({}));
    desk.elicit(&json!(0), &approval("pay", &json!({})));
    let request = desk.only().request_id().to_owned();
    desk.say(&request, Word::Decline).expect("waits");
    let out = desk.tell(
        "item/completed",
        &ended("c0", "pay", &json!({}), "completed"),
    );
    assert_eq!(codes(&out), ["approval_mismatch"]);
    assert!(out.iter().any(
        |e| matches!(e, Effect::Interrupt { thread, turn } if thread == THREAD && turn == TURN)
    ));
    // A result though the status says failed.
    let mut desk = Desk::new();
    desk.call("c0", "pay", &json!({}));
    desk.elicit(&json!(0), &approval("pay", &json!({})));
    let request = desk.only().request_id().to_owned();
    desk.say(&request, Word::Decline).expect("waits");
    let mut end = ended("c0", "pay", &json!({}), "failed");
    end["item"]["result"] = json!({"content": [{"type": "text", "text": "paid"}]});
    assert_eq!(
        codes(&desk.tell("item/completed", &end)),
        ["approval_mismatch"]
    );
    // A command, and one that was accepted.
    for (word, status, wrong) in [
        (Word::Decline, "completed", true),
        (Word::Decline, "declined", false),
        (Word::Accept, "completed", false),
    ] {
        let mut desk = Desk::new();
        desk.command("c0", "touch x");
        desk.ask(&json!(0), "item/commandExecution/requestApproval", &json!({
            "threadId": THREAD, "turnId": TURN, "itemId": "c0", "startedAtMs": 1, "command": "touch x", "cwd": "/w",
        }));
        let request = desk.only().request_id().to_owned();
        desk.say(&request, word).expect("waits");
        let out = desk.tell("item/completed", &json!({"threadId": THREAD, "turnId": TURN, "item": {
            "type": "commandExecution", "id": "c0", "command": "touch x", "cwd": "/w", "status": status,
        }}));
        assert_eq!(!codes(&out).is_empty(), wrong, "{word:?} {status}");
        let outcome = out.iter().find_map(|e| match e {
            Effect::Outcome { outcome, .. } => Some(outcome.as_str()),
            _ => None,
        });
        assert_eq!(
            outcome,
            Some(if wrong { "approval_mismatch" } else { status })
        );
    }
}
