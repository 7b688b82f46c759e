//! A7, and what is kept within bounds.

use super::super::*;
use super::desk::*;
use serde_json::json;
use std::time::Duration;

#[test]
fn a7_nobody_in_time_is_a_decline_that_says_so() {
    let mut desk = Desk::new();
    desk.command("c0", "ls");
    desk.ask(
        &json!(0),
        "item/commandExecution/requestApproval",
        &json!({"threadId": THREAD, "turnId": TURN, "itemId": "c0", "command": "ls", "cwd": "/w"}),
    );
    let due = desk.pairing.next_deadline().expect("one waits");
    assert_eq!(due, desk.now.at + TIMEOUT);
    desk.later(Duration::from_millis(59_999));
    let now = desk.now;
    assert!(desk.pairing.due(now).is_empty());
    desk.later(Duration::from_millis(1));
    let now = desk.now;
    let out = desk.pairing.due(now);
    assert_eq!(
        wire(&out),
        [(json!(0), json!({"decision": "decline"}))],
        "never `cancel`"
    );
    let event = &events(&out, EventKind::ApprovalResult)[0];
    assert_eq!(
        (
            event["decision"].as_str(),
            event["timeout"].as_bool(),
            event["reason"].as_str()
        ),
        (Some("decline"), Some(true), Some("timed_out"))
    );
    assert_eq!(event["message"], "nobody answered within 60000 ms");
    assert_eq!(event["by"], "timeout");
    let record = out
        .iter()
        .find_map(|e| match e {
            Effect::Record(r) => Some(r),
            _ => None,
        })
        .expect("recorded");
    assert_eq!(record.by, "timeout");
    assert!(desk.pairing.next_deadline().is_none());
    // Each has a clock of its own, from its arrival.
    let mut desk = Desk::new();
    desk.call("c0", "t", &json!({"n": 1}));
    desk.call("c1", "t", &json!({"n": 2}));
    desk.elicit(&json!(0), &approval("t", &json!({"n": 1})));
    desk.later(TIMEOUT / 2);
    desk.elicit(&json!(1), &approval("t", &json!({"n": 2})));
    desk.later(TIMEOUT / 2);
    let now = desk.now;
    assert_eq!(wire(&desk.pairing.due(now)), [(json!(0), declined())]);
    assert_eq!(desk.open().len(), 1);
}

#[test]
fn what_floods_is_bounded() {
    let mut desk = Desk::new();
    for n in 0..2000 {
        desk.call(&format!("c{n}"), "t", &json!({"n": n}));
    }
    // Beyond what is kept of one thread an approval is for nothing: declined, not guessed.
    desk.elicit(&json!(0), &approval("t", &json!({"n": 1999})));
    assert_eq!(reasons(&desk.done), ["unmatched"]);
    desk.elicit(&json!(1), &approval("t", &json!({"n": 3})));
    assert_eq!(desk.open().len(), 1);
    let mut desk = Desk::new();
    for n in 0..1100 {
        desk.elicit(&json!(n), &json!({}));
    }
    assert_eq!(desk.open().len(), 1000);
    assert_eq!(desk.wire().len(), 100);
}

#[test]
fn times_are_shown_in_milliseconds() {
    assert_eq!(
        super::super::iso(1_796_101_445_345),
        "2026-12-01T05:04:05.345Z"
    );
}
