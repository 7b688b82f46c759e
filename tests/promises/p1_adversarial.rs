//! Promise 1: a client that says anything at any time gets no grant but by the one right answer.
//!
//! The approver as it ships, with a state directory on the disk; only its clock is the test's. What
//! counts is what lies in `grants/` and what the journal says, after every single message. The
//! same conversations run against the state machine alone, in thousands, in `src/mcp/tests.rs`.

use std::cell::Cell;
use std::fs;
use std::rc::Rc;
use std::time::{Duration, Instant};

use codexgate::approval::{Clock as _, Journal, SystemClock};
use codexgate::mcp::{self, GateDesk, Now, Refusal, Server, TOOL};
use codexgate::rpc::Line;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::gate::Desk;

fn propose(desk: &Desk) -> String {
    desk.propose(["--", "true"])
}

/// Names and bytes of what lies in `grants`.
fn grants(desk: &Desk) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<_> = fs::read_dir(desk.state().join("grants"))
        .expect("it is there")
        .map(|entry| entry.expect("it can be listed").path())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            (name.into_owned(), fs::read(&path).expect("it can be read"))
        })
        .collect();
    found.sort();
    found
}

/// How many records of the journal are of this kind.
fn count(desk: &Desk, kind: &str) -> usize {
    let journal = fs::read_to_string(desk.state().join("journal.jsonl")).expect("a journal");
    let kind = format!("\"kind\":\"{kind}\"");
    journal.lines().filter(|line| line.contains(&kind)).count()
}

/// The approver, initialized, on a clock that is `ahead` milliseconds ahead.
fn server(desk: &Desk, ahead: &Rc<Cell<u64>>) -> Server<impl mcp::Desk + use<>> {
    let (around, ahead) = (desk.around(), Rc::clone(ahead));
    let program = desk.executable.clone();
    let shown = program.to_string_lossy().into_owned();
    let desk = GateDesk::new(move || Ok::<_, Refusal>(around.clone()), program, None);
    let (start, moment) = (Instant::now(), SystemClock.now());
    let clock = Box::new(move || Now {
        moment: moment + ahead.get(),
        instant: start + Duration::from_millis(ahead.get()),
    });
    let mut server = Server::new(desk, &shown, clock);
    server.receive(&line(&json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}},
    })));
    server.take_output();
    server
}

fn line(message: &Value) -> Line {
    Line::Text(message.to_string())
}

fn call(id: u64, token: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
           "params": {"name": TOOL, "arguments": {"token": token}}})
}

fn answer(number: u64, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": format!("codexgate-{number}"), "result": result})
}

fn approve(number: u64) -> Value {
    answer(
        number,
        &json!({"action": "accept", "content": {"decision": "Approve"}}),
    )
}

fn heard<D: mcp::Desk>(server: &mut Server<D>) -> Vec<Value> {
    let output = String::from_utf8(server.take_output()).expect("text");
    let lines = output.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn the_right_answer_leaves_one_grant_and_the_wrong_ones_none() {
    let desk = Desk::new();
    let token = propose(&desk);
    let ahead = Rc::new(Cell::new(0));
    let mut server = server(&desk, &ahead);
    server.receive(&line(&call(1, &token)));
    let asked = heard(&mut server);
    let card = asked[0]["params"]["message"].as_str().expect("a card");
    assert!(
        card.contains(&token) && card.contains("end of the card"),
        "{card}"
    );

    server.receive(&line(&answer(1, &json!({"action": "decline"}))));
    assert_eq!(grants(&desk), []);
    server.receive(&line(&call(2, &token)));
    ahead.set(2000);
    server.receive(&line(&approve(1)));
    assert_eq!(grants(&desk), [], "an answer to the question before");
    server.receive(&line(&approve(2)));
    let granted = grants(&desk);
    assert_eq!(granted.len(), 1);
    assert_eq!(granted[0].0, format!("{token}.json"));
    let last = heard(&mut server).pop().expect("a result");
    assert_eq!(
        (&last["id"], &last["result"]["isError"]),
        (&json!(2), &json!(false))
    );
    server.receive(&line(&approve(2)));
    assert_eq!(grants(&desk), granted, "a second answer");
    assert!(desk.gate(|gate, _| Journal::verify(gate)).is_ok());
}

#[test]
fn a_rejected_proposal_is_gone() {
    let desk = Desk::new();
    let token = propose(&desk);
    let ahead = Rc::new(Cell::new(0));
    let mut server = server(&desk, &ahead);
    let reject = json!({"action": "accept", "content": {"decision": "Reject"}});
    server.receive(&line(&call(1, &token)));
    server.receive(&line(&answer(1, &reject)));
    server.receive(&line(&call(2, &token)));
    ahead.set(5000);
    server.receive(&line(&approve(2)));
    let last = heard(&mut server).pop().expect("a result");
    let text = last["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    assert!(
        text.contains("it was rejected") && text.contains("propose it again"),
        "{text}"
    );
    assert_eq!(grants(&desk), []);
    assert_eq!(count(&desk, "rejected"), 1);
}

#[test]
fn what_changed_before_the_question_is_not_asked_about() {
    let desk = Desk::new();
    let token = propose(&desk);
    let ahead = Rc::new(Cell::new(0));
    let mut server = server(&desk, &ahead);
    fs::rename(&desk.project, desk.top.join("elsewhere")).expect("it moves");
    fs::create_dir(&desk.project).expect("another in its place");
    server.receive(&line(&call(1, &token)));
    let heard = heard(&mut server);
    assert_eq!(heard.len(), 1, "{heard:?}");
    let text = heard[0]["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    assert!(text.contains("something changed"), "{text}");
}

#[test]
fn what_a_policy_denies_by_now_is_not_asked_about() {
    let desk = Desk::new();
    let token = propose(&desk);
    let ahead = Rc::new(Cell::new(0));
    let mut server = server(&desk, &ahead);
    let policy = desk.home.join(".config/codexgate");
    fs::create_dir_all(&policy).expect("a folder");
    fs::write(policy.join("config.toml"), "deny = [[\"true\"]]\n").expect("a file");
    server.receive(&line(&call(1, &token)));
    let heard = heard(&mut server);
    assert_eq!(heard.len(), 1, "{heard:?}");
    let text = heard[0]["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    assert!(
        text.contains("denied by") && text.contains("config.toml:1"),
        "{text}"
    );
}

#[test]
fn a_session_that_could_forge_a_grant_is_refused() {
    let desk = Desk::new();
    let token = propose(&desk);
    let ahead = Rc::new(Cell::new(0));
    let mut server = server(&desk, &ahead);
    let profile = |entries: Value| {
        json!({"codex/sandbox-state-meta": {"permissionProfile": {"type": "managed",
            "file_system": {"type": "restricted", "entries": entries}}}})
    };
    let writable =
        |path: &str| json!([{"path": {"type": "path", "path": path}, "access": "write"}]);
    let top = desk.top.to_str().expect("UTF-8");
    for meta in [
        json!({"x-codex-turn-metadata": {"sandbox_mode": "danger-full-access"}}),
        json!({"codex/sandbox-state-meta": {"permissionProfile": {"type": "disabled"}}}),
        profile(writable(top)),
        profile(writable(&format!(
            "{top}/home/.local/state/codexgate/grants"
        ))),
        profile(writable(&format!("{top}/home/.codex"))),
        profile(writable(&format!("{top}/bin/codexgate"))),
        json!({"codex/sandbox-state-meta": {}}),
    ] {
        let mut message = call(1, &token);
        message["params"]["_meta"] = meta.clone();
        server.receive(&line(&message));
        let heard = heard(&mut server);
        assert_eq!(heard.len(), 1, "{heard:?}");
        assert_eq!(heard[0]["result"]["isError"], true, "{meta}");
    }
    let mut message = call(1, &token);
    message["params"]["_meta"] = profile(writable(&format!("{top}/project")));
    server.receive(&line(&message));
    assert_eq!(heard(&mut server)[0]["method"], "elicitation/create");
}

/// One thing that a hostile client does; tokens are filled in when it is said.
#[derive(Debug, Clone)]
enum Act {
    Call(u64, usize),
    Say(Value),
    Send(Line),
    Wait(u64),
}

fn acts() -> impl Strategy<Value = Act> {
    let ok = json!({"decision": "Approve"});
    let wrong = prop_oneof![
        Just(json!({"action": "decline", "content": ok})),
        Just(json!({"action": "cancel"})),
        Just(json!({"action": "accept", "content": {"decision": "Approve", "x": 1}})),
        Just(json!({"action": "accept", "content": ok, "_meta": {"persist": "always"}})),
        Just(json!({"action": "accept", "content": null})),
    ];
    let line = prop_oneof![
        Just(Line::TooLong),
        Just(Line::Text(format!("[{}]", approve(1)))),
        (1_u64..4).prop_map(|n| Line::Partial(approve(n).to_string())),
    ];
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                        "params": {"requestId": 1}});
    prop_oneof![
        4 => (1_u64..3, 0_usize..3).prop_map(|(id, which)| Act::Call(id, which)),
        5 => (1_u64..5).prop_map(|n| Act::Say(approve(n))),
        2 => (1_u64..5, wrong).prop_map(|(n, result)| Act::Say(answer(n, &result))),
        1 => Just(Act::Say(json!({"jsonrpc": "2.0", "id": 1, "result":
                 {"action": "accept", "content": {"decision": "Approve"}}}))),
        1 => Just(Act::Say(cancel)),
        1 => line.prop_map(Act::Send),
        3 => prop_oneof![Just(700), Just(1500), Just(900_000)].prop_map(Act::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn no_conversation_leaves_a_grant_but_by_the_right_answer(
        acts in prop::collection::vec(acts(), 1..16)
    ) {
        let desk = Desk::new();
        let tokens = [propose(&desk), propose(&desk)];
        let unknown = "0000-0000-0000-0000-0000";
        let ahead = Rc::new(Cell::new(0));
        let mut server = server(&desk, &ahead);
        // The open question as the wire shows it: id, since when, about which token.
        let mut open: Option<(String, u64, String)> = None;
        let mut asked_about = String::new();
        for act in &acts {
            let before = (grants(&desk), count(&desk, "approved"));
            let mut right = None;
            match act {
                Act::Call(id, which) => {
                    let token = tokens.get(*which).map_or(unknown, String::as_str);
                    if open.is_none() {
                        token.clone_into(&mut asked_about);
                    }
                    server.receive(&line(&call(*id, token)));
                }
                Act::Say(message) => {
                    if let Some((id, since, token)) = &open {
                        let time = ahead.get();
                        let is_right = *message == json!({"jsonrpc": "2.0", "id": id, "result":
                            {"action": "accept", "content": {"decision": "Approve"}}});
                        if is_right && time - since >= 1500 && time < 890_000 {
                            right = Some(token.clone());
                        }
                    }
                    if open.as_ref().is_some_and(|(id, ..)| message["id"] == json!(id)) {
                        open = None;
                    }
                    server.receive(&line(message));
                }
                Act::Send(line) => server.receive(line),
                Act::Wait(milliseconds) => {
                    ahead.set(ahead.get() + milliseconds);
                    server.tick();
                }
            }
            for message in heard(&mut server) {
                if message["method"] == "elicitation/create" {
                    let id = message["id"].as_str().expect("a text").to_owned();
                    open = Some((id, ahead.get(), asked_about.clone()));
                } else if message["method"] == "notifications/cancelled" {
                    open = None;
                }
            }
            let after = (grants(&desk), count(&desk, "approved"));
            match right {
                None => prop_assert_eq!(&after, &before, "{:?}", act),
                Some(token) => {
                    prop_assert_eq!(after.1, before.1 + 1);
                    let name = format!("{token}.json");
                    prop_assert!(after.0.iter().any(|(granted, _)| *granted == name));
                    let others = |grants: &[(String, Vec<u8>)]| grants.iter()
                        .filter(|(granted, _)| *granted != name).cloned().collect::<Vec<_>>();
                    prop_assert_eq!(others(&after.0), others(&before.0));
                }
            }
        }
    }
}
