//! No grant without a person's explicit Approve of exactly this proposal.

use crate::gate::Desk;
use codexgate::approval::{
    self, By, Clock as _, FormAnswer, NoGrant, Question, SystemClock, Verdict,
};
use serde_json::{Value, json};
use std::fs;

fn desk() -> (Desk, String) {
    let desk = Desk::new();
    desk.script("tool", "echo x >> ran");
    let token = desk.propose(["--", "tool"]);
    (desk, token)
}

fn nothing_runs(desk: &Desk, token: &str) {
    let said = desk.confirm(token);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(desk.runs(), 0);
    desk.verified();
}

#[test]
fn a_proposal_alone_does_not_run() {
    let (desk, token) = desk();
    nothing_runs(&desk, &token);
}

#[test]
fn no_answer_but_approve_lets_it_run() {
    let (desk, token) = desk();
    for answer in [
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "accept", "content": {}}),
        json!({"action": "accept", "content": {"decision": "Approve", "x": 1}}),
        json!({"action": "accept", "content": {"decision": "Approve"}, "_meta": {"persist": "always"}}),
        json!({}),
    ] {
        let waiting = desk.waiting(&token);
        let by = By::Codex("test".into());
        let now = SystemClock.now();
        let question = Question::ask(&waiting, by.clone(), now, u64::MAX);
        let answer = FormAnswer {
            action: answer.get("action"),
            content: answer.get("content"),
            meta: answer.get("_meta"),
        };
        let Verdict::Nothing(why) = question.read_form(&answer, now + 5000) else {
            panic!("{answer:?}");
        };
        desk.gate(|gate, _| approval::undecided(gate, &waiting, &by, why))
            .expect("records");
        nothing_runs(&desk, &token);
    }
    let why = NoGrant::Declined.to_string();
    assert!(desk.journal().contains(&why));
}

#[test]
fn a_right_answer_to_one_proposal_lets_no_other_run() {
    let (desk, one) = desk();
    let other = desk.propose(["--", "tool"]);
    desk.approve(&other);
    nothing_runs(&desk, &one);
    // Nor does its file under the other's name.
    let grants = desk.state().join("grants");
    fs::copy(
        grants.join(format!("{other}.json")),
        grants.join(format!("{one}.json")),
    )
    .expect("copies");
    nothing_runs(&desk, &one);
    assert_eq!(desk.confirm(&other).code, Some(0));
    assert_eq!(desk.runs(), 1);
}

#[test]
fn a_rejected_one_and_a_used_one_do_not_run() {
    let (desk, token) = desk();
    desk.approve(&token);
    assert_eq!(desk.run(["reject", &token]).code, Some(0));
    nothing_runs(&desk, &token);
    let token = desk.propose(["--", "tool"]);
    desk.approve(&token);
    assert_eq!(desk.confirm(&token).code, Some(0));
    assert_eq!(desk.confirm(&token).code, Some(1));
    assert_eq!(desk.runs(), 1);
}

#[test]
fn a_damaged_journal_grants_nothing() {
    let (desk, token) = desk();
    let journal = desk.state().join("journal.jsonl");
    let waiting = desk.waiting(&token);
    fs::write(&journal, "").expect("writes");
    let now = SystemClock.now();
    let question = Question::ask(&waiting, By::Terminal("t".into()), now, u64::MAX);
    let Verdict::Approved(approved) = question.read_terminal(Some(true), now) else {
        panic!("it is a yes in time");
    };
    desk.gate(|gate, _| approved.grant(gate))
        .expect_err("it cannot be recorded");
    let said = desk.confirm(&token);
    assert_eq!((said.code, desk.runs()), (Some(1), 0), "{said:?}");
}

#[test]
fn a_form_that_says_approve_in_time_does_run() {
    // The other side of this promise: the tests above do not pass because nothing ever runs.
    let (desk, token) = desk();
    let waiting = desk.waiting(&token);
    let now = SystemClock.now();
    let question = Question::ask(&waiting, By::Codex("test".into()), now - 2000, u64::MAX);
    let (action, content): (Value, Value) = (json!("accept"), json!({"decision": "Approve"}));
    let answer = FormAnswer {
        action: Some(&action),
        content: Some(&content),
        meta: None,
    };
    let Verdict::Approved(approved) = question.read_form(&answer, now) else {
        panic!("it is the right answer");
    };
    desk.gate(|gate, _| approved.grant(gate)).expect("grants");
    assert_eq!(desk.confirm(&token).code, Some(0));
    assert_eq!(desk.runs(), 1);
}
