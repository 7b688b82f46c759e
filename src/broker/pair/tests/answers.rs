//! A: ids, and one answer for each.

use super::super::*;
use super::desk::*;
use crate::rpc::{Id, Message};
use serde_json::{Value, json};

/// A desk with one tool approval that waits under this id.
fn waits(id: &Value) -> (Desk, String) {
    let mut desk = Desk::new();
    desk.call("c0", "t", &json!({}));
    desk.elicit(id, &approval("t", &json!({})));
    let request = desk.only().request_id().to_owned();
    (desk, request)
}

#[test]
fn a1_an_id_goes_back_as_it_came() {
    for written in [
        "0",
        "\"0\"",
        "\"\"",
        "-1",
        "9007199254740993",
        "\"a \\\"quoted\\\" id\"",
        "\"\\u0061\"",
        "1.0",
    ] {
        let line = format!("{{\"id\":{written},\"method\":\"x\"}}");
        let Ok(Message::Request { id, .. }) = Message::read(&line, false) else {
            panic!("{line}")
        };
        let mut desk = Desk::new();
        desk.call("c0", "t", &json!({}));
        let origin = Origin {
            session: Some(SESSION.into()),
            agent_path: None,
        };
        let params = elicitation(&approval("t", &json!({})));
        let out = desk.pairing.request(
            0,
            &id,
            "mcpServer/elicitation/request",
            &params,
            origin,
            TIMEOUT,
            desk.now,
        );
        desk.done.extend(out);
        let request = desk.only().request_id().to_owned();
        let out = desk.say(&request, Word::Accept).expect("waits");
        let ids: Vec<String> = out
            .iter()
            .filter_map(|e| match e {
                Effect::Answer { id, .. } => Some(text(id)),
                _ => None,
            })
            .collect();
        assert_eq!(ids, [written]);
    }
    // 0 and "0" are two requests.
    let mut desk = Desk::new();
    desk.call("c0", "t", &json!({"n": 1}));
    desk.call("c1", "t", &json!({"n": 2}));
    desk.elicit(&json!(0), &approval("t", &json!({"n": 1})));
    desk.elicit(&json!("0"), &approval("t", &json!({"n": 2})));
    let second = desk.open()[1].request_id().to_owned();
    desk.tell(
        "serverRequest/resolved",
        &json!({"threadId": THREAD, "requestId": 0}),
    );
    assert_eq!(desk.only().request_id(), second);
    // An id that comes twice is answered once, and nobody is asked about it any more.
    let (mut desk, request) = waits(&json!(0));
    desk.call("c1", "u", &json!({}));
    desk.elicit(&json!(0), &approval("u", &json!({})));
    assert!(desk.open().is_empty());
    assert_eq!(desk.wire(), [(json!(0), declined())]);
    assert_eq!(codes(&desk.done), ["duplicate_id"]);
    assert!(matches!(
        desk.say(&request, Word::Accept),
        Err(Refused::NotFound(_))
    ));
}

#[test]
fn a2_only_its_own_name_in_its_session_selects_a_request() {
    let (mut desk, request) = waits(&json!(0));
    assert!(
        request.starts_with("req_") && request.len() == 20,
        "{request}"
    );
    let other = desk
        .pairing
        .respond("sess_b", &request, &Word::Accept.into(), By::Call, desk.now);
    assert_eq!(
        other.expect_err("not its session"),
        Refused::NotFound("unknown".into())
    );
    for name in [
        "0",
        "c0",
        "",
        "req_",
        &request[..19],
        &request.to_uppercase(),
    ] {
        assert_eq!(
            desk.say(name, Word::Accept).expect_err("no name"),
            Refused::NotFound("unknown".into()),
            "{name}"
        );
    }
    assert!(desk.wire().is_empty());
    // Names do not follow from one another: two desks with other bits have other names.
    let (desk, again) = waits(&json!(0));
    assert_eq!(request, again, "the same bits in a test");
    drop(desk);
    let mut pairing = Pairing::new(Box::new(|| 0xdead_beef));
    let item = tool_item("c0", "t", &json!({}));
    let now = Desk::new().now;
    pairing.notification(0, "item/started", &item, now);
    let origin = Origin {
        session: Some(SESSION.into()),
        agent_path: None,
    };
    pairing.request(
        0,
        &Id::of(&json!(0)).expect("an id"),
        "mcpServer/elicitation/request",
        &elicitation(&approval("t", &json!({}))),
        origin,
        TIMEOUT,
        now,
    );
    assert!(pairing.get("req_00000000deadbeef").is_some());
}

#[test]
fn a3_the_first_answer_counts_and_later_ones_learn_how() {
    let (mut desk, request) = waits(&json!(0));
    desk.say(&request, Word::Accept).expect("the first");
    for word in [Word::Accept, Word::Decline, Word::Cancel] {
        assert_eq!(
            desk.say(&request, word).expect_err("late"),
            Refused::NotFound("answered (accept)".into())
        );
    }
    assert_eq!(desk.wire().len(), 1);
    let (mut desk, request) = waits(&json!(0));
    desk.later(TIMEOUT);
    let now = desk.now;
    desk.pairing.due(now);
    assert_eq!(
        desk.say(&request, Word::Accept).expect_err("late"),
        Refused::NotFound("timed out".into())
    );
    // T14: withdrawn by an interrupt; nothing goes out for an id that was resolved.
    let recording = Recording::read("14-interrupt-pending-approval");
    let mut desk = Desk::new();
    desk.replay(&recording, 0..recording.after_request(1));
    let request = desk.only().request_id().to_owned();
    desk.replay(&recording, recording.after_request(1)..recording.len());
    assert_eq!(
        desk.say(&request, Word::Accept).expect_err("late"),
        Refused::NotFound("withdrawn (turn interrupted)".into())
    );
    assert!(desk.wire().is_empty());
    // The last 256 of a session are remembered.
    let mut desk = Desk::new();
    let mut names = Vec::new();
    for n in 0..300 {
        desk.call("c", "t", &json!({"n": n}));
        desk.elicit(&json!(n), &approval("t", &json!({"n": n})));
        let request = desk.only().request_id().to_owned();
        desk.say(&request, Word::Decline).expect("waits");
        desk.tell(
            "item/completed",
            &ended("c", "t", &json!({"n": n}), "failed"),
        );
        names.push(request);
    }
    let how =
        |desk: &mut Desk, name: &str| desk.say(name, Word::Accept).expect_err("late").to_string();
    assert_eq!(how(&mut desk, &names[0]), "unknown");
    assert_eq!(how(&mut desk, &names[44]), "answered (decline)");
}

#[test]
fn a4_an_invalid_answer_changes_nothing() {
    let mut desk = Desk::new();
    desk.call("c0", "t", &json!({}));
    let mut members = approval("t", &json!({}));
    members["_meta"]["persist"] = json!([]);
    desk.elicit(&json!(0), &members);
    let request = desk.only().request_id().to_owned();
    let before = desk.only().action();
    let content = Decision {
        content: Some(json!({})),
        ..Word::Accept.into()
    };
    let scope = Decision {
        scope: Some(Scope::Session),
        ..Word::Accept.into()
    };
    for wrong in [
        Word::AcceptForSession.into(),
        Word::AcceptWithExecpolicyAmendment.into(),
        Word::ApplyNetworkPolicyAmendment.into(),
        Answer::from(content),
        Answer::from(scope),
        Answer::Answers(std::collections::BTreeMap::new()),
    ] {
        let refused = desk.say(&request, wrong.clone()).expect_err("does not fit");
        assert!(matches!(refused, Refused::Invalid(_)), "{wrong:?}");
    }
    assert_eq!(desk.only().action(), before);
    assert!(desk.wire().is_empty());
    desk.say(&request, Word::Accept).expect("still waits");
}

#[test]
fn a5_what_codex_took_back_is_withdrawn() {
    let turn = |status: &str| json!({"threadId": THREAD, "turn": {"id": TURN, "status": status}});
    for (method, params, how) in [
        (
            "serverRequest/resolved",
            json!({"threadId": THREAD, "requestId": 5}),
            "withdrawn (resolved by Codex)",
        ),
        (
            "item/completed",
            ended("c0", "t", &json!({}), "failed"),
            "withdrawn (item completed)",
        ),
        (
            "turn/completed",
            turn("completed"),
            "withdrawn (turn ended)",
        ),
        ("turn/completed", turn("failed"), "withdrawn (turn ended)"),
        (
            "turn/completed",
            turn("interrupted"),
            "withdrawn (turn interrupted)",
        ),
        (
            "thread/closed",
            json!({"threadId": THREAD}),
            "withdrawn (session closed)",
        ),
    ] {
        let (mut desk, request) = waits(&json!(5));
        let out = desk.tell(method, &params);
        assert!(desk.open().is_empty(), "{method}");
        assert!(
            out.iter()
                .any(|e| matches!(e, Effect::Settled { request_id, .. } if *request_id == request)),
            "{method}"
        );
        let event = &events(&out, EventKind::ApprovalResult)[0];
        assert_eq!(event["withdrawn"], true);
        assert_eq!(
            desk.say(&request, Word::Accept).expect_err("late"),
            Refused::NotFound(how.into())
        );
        assert!(
            desk.wire().is_empty(),
            "{method}: Codex waits for no answer"
        );
    }
    // What is about another request, call, turn or thread takes nothing back.
    let (mut desk, _) = waits(&json!(5));
    desk.tell(
        "serverRequest/resolved",
        &json!({"threadId": THREAD, "requestId": "5"}),
    );
    desk.tell("item/completed", &ended("c9", "t", &json!({}), "failed"));
    desk.tell(
        "turn/completed",
        &json!({"threadId": THREAD, "turn": {"id": "turn-0", "status": "completed"}}),
    );
    desk.tell(
        "turn/completed",
        &json!({"threadId": "thread-b", "turn": {"id": TURN, "status": "completed"}}),
    );
    desk.tell("thread/closed", &json!({"threadId": "thread-b"}));
    assert_eq!(desk.open().len(), 1);
    // An interrupt that Codex took: void at once, and it answers itself.
    let (mut desk, request) = waits(&json!(5));
    let now = desk.now;
    assert!(desk.pairing.interrupted("thread-b", TURN, now).is_empty());
    let out = desk.pairing.interrupted(THREAD, TURN, now);
    assert!(wire(&out).is_empty());
    assert_eq!(
        desk.say(&request, Word::Accept).expect_err("late"),
        Refused::NotFound("withdrawn (turn interrupted)".into())
    );
    // A confirmation of our own answer takes nothing back.
    let (mut desk, request) = waits(&json!(5));
    desk.say(&request, Word::Accept).expect("waits");
    assert!(
        desk.tell(
            "serverRequest/resolved",
            &json!({"threadId": THREAD, "requestId": 5})
        )
        .is_empty()
    );
}

#[test]
fn a6_t17_an_answer_that_may_not_have_arrived_is_of_unknown_outcome() {
    // The process ends before it confirms.
    let (mut desk, request) = waits(&json!(0));
    desk.say(&request, Word::Accept).expect("waits");
    let now = desk.now;
    let out = desk.pairing.process_gone(0, now);
    assert_eq!(codes(&out), ["outcome_unknown"]);
    assert!(wire(&out).is_empty());
    // It had confirmed: nothing to say.
    let (mut desk, request) = waits(&json!(0));
    desk.say(&request, Word::Accept).expect("waits");
    desk.tell(
        "serverRequest/resolved",
        &json!({"threadId": THREAD, "requestId": 0}),
    );
    assert!(desk.pairing.process_gone(0, now).is_empty());
    // The pipe was closed.
    let (mut desk, request) = waits(&json!(0));
    desk.say(&request, Word::Accept).expect("waits");
    let out = desk
        .pairing
        .not_written(0, &Id::of(&json!(0)).expect("an id"));
    assert_eq!(codes(&out), ["outcome_unknown"]);
    // T17: the ids begin again. The old card answers no request of the new process.
    let recording = Recording::read("17-crash-mid-turn");
    let mut desk = Desk::new();
    desk.replay(&recording, 0..recording.after_request(1));
    let old = desk.only().request_id().to_owned();
    let out = desk.pairing.process_gone(0, now);
    assert_eq!(
        events(&out, EventKind::ApprovalResult)[0]["reason"],
        "app-server exited"
    );
    desk.generation = 1;
    desk.call("c0", "t", &json!({}));
    desk.elicit(&json!(0), &approval("t", &json!({})));
    assert_eq!(
        desk.say(&old, Word::Accept).expect_err("void"),
        Refused::NotFound("withdrawn (app-server exited)".into())
    );
    assert!(desk.wire().is_empty());
    // A late line of the old process changes nothing.
    let params = json!({"threadId": THREAD, "requestId": 0});
    assert!(
        desk.pairing
            .notification(0, "serverRequest/resolved", &params, now)
            .is_empty()
    );
    let origin = Origin {
        session: Some(SESSION.into()),
        agent_path: None,
    };
    let id = Id::of(&json!(7)).expect("an id");
    assert!(
        desk.pairing
            .request(0, &id, "currentTime/read", &json!({}), origin, TIMEOUT, now)
            .is_empty()
    );
    assert_eq!(desk.open().len(), 1);
    let request = desk.only().request_id().to_owned();
    let out = desk.say(&request, Word::Accept).expect("waits");
    assert!(
        out.iter()
            .any(|e| matches!(e, Effect::Answer { generation: 1, .. }))
    );
    // A new number alone ends the old one, too.
    let (mut desk, request) = waits(&json!(0));
    desk.generation = 4;
    desk.tell("thread/started", &json!({}));
    assert_eq!(
        desk.say(&request, Word::Accept).expect_err("void"),
        Refused::NotFound("withdrawn (app-server exited)".into())
    );
}

#[test]
fn a8_when_the_client_is_gone_each_request_is_answered() {
    let mut desk = Desk::new();
    desk.call("c0", "t", &json!({}));
    desk.command("c1", "ls");
    desk.elicit(&json!(0), &approval("t", &json!({})));
    desk.ask(
        &json!(1),
        "item/commandExecution/requestApproval",
        &json!({"threadId": THREAD, "turnId": TURN, "itemId": "c1", "command": "ls", "cwd": "/w"}),
    );
    desk.ask(&json!(2), "item/permissions/requestApproval", &json!({"threadId": THREAD, "turnId": TURN, "itemId": "c2", "cwd": "/w", "permissions": {}}));
    let (request, now) = (desk.open()[0].request_id().to_owned(), desk.now);
    let out = desk.pairing.withdraw_all("session closed", now);
    assert_eq!(
        wire(&out),
        [
            (json!(0), declined()),
            (json!(1), json!({"decision": "cancel"})),
            (json!(2), json!({"permissions": {}, "scope": "turn"}))
        ]
    );
    assert!(desk.open().is_empty());
    assert_eq!(
        desk.say(&request, Word::Accept).expect_err("late"),
        Refused::NotFound("withdrawn (session closed)".into())
    );
    // One session alone, with or without the end of its turn.
    for (cancel, decision) in [(true, "cancel"), (false, "decline")] {
        let mut desk = Desk::new();
        desk.command("c1", "ls");
        desk.ask(&json!(1), "item/commandExecution/requestApproval", &json!({"threadId": THREAD, "turnId": TURN, "itemId": "c1", "command": "ls", "cwd": "/w"}));
        assert!(
            desk.pairing
                .withdraw_session("sess_b", "x", cancel, now)
                .is_empty()
        );
        let out = desk
            .pairing
            .withdraw_session(SESSION, "session cancelled", cancel, now);
        assert_eq!(wire(&out), [(json!(1), json!({"decision": decision}))]);
    }
}

#[test]
fn a9_accept_and_decline_have_one_form() {
    for (word, result) in [
        (Word::Accept, accepted()),
        (Word::Decline, declined()),
        (
            Word::Cancel,
            json!({"action": "cancel", "content": null, "_meta": null}),
        ),
    ] {
        let (mut desk, request) = waits(&json!(0));
        desk.say(&request, word).expect("waits");
        assert_eq!(desk.wire(), [(json!(0), result)]);
    }
}
