//! U: commands, files, permissions, questions of the agent.

use super::super::*;
use super::desk::*;
use serde_json::{Value, json};

const COMMAND: &str = "item/commandExecution/requestApproval";
const CHANGE: &str = "item/fileChange/requestApproval";
const PERMISSIONS: &str = "item/permissions/requestApproval";
const QUESTIONS: &str = "item/tool/requestUserInput";

/// The parameters of a prompt for `touch x`, with `members` over them.
fn prompt(members: &Value) -> Value {
    let mut params = json!({
        "kind": "command", "threadId": THREAD, "turnId": TURN, "itemId": "c0", "startedAtMs": 1, "environmentId": "local",
        "command": "touch x", "cwd": "/w", "commandActions": [{"type": "unknown", "command": "touch x"}],
        "proposedExecpolicyAmendment": ["touch"],
        "availableDecisions": ["accept", {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch"]}}, "cancel"],
    });
    for (name, value) in members.as_object().expect("members") {
        params[name] = value.clone();
    }
    params
}

fn prompted(members: &Value) -> Desk {
    let mut desk = Desk::new();
    desk.command("c0", "touch x");
    desk.ask(&json!(0), COMMAND, &prompt(members));
    desk
}

fn rule(words: &[&str]) -> Decision {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    Decision {
        execpolicy_amendment: Some(words),
        ..Word::AcceptWithExecpolicyAmendment.into()
    }
}

fn host(host: &str, action: NetworkAction) -> Decision {
    let network = Network {
        host: host.to_owned(),
        action,
    };
    Decision {
        network_policy_amendment: Some(network),
        ..Word::ApplyNetworkPolicyAmendment.into()
    }
}

#[test]
fn u1_t02_a_command_is_the_one_that_was_announced() {
    for (name, word) in [
        ("02-command-accept", Word::Accept),
        ("03-command-decline", Word::Decline),
        ("04-command-cancel", Word::Cancel),
    ] {
        let recording = Recording::read(name);
        let mut desk = Desk::new();
        let asked = recording.after_request(1);
        desk.replay(&recording, 0..asked);
        let pending = desk.only();
        assert_eq!(pending.kind(), "command");
        assert!(
            pending.card().text().contains("runs     /bin/bash -lc '"),
            "{}",
            pending.card().text()
        );
        let request = pending.request_id().to_owned();
        desk.say(&request, word).expect("fits");
        assert_eq!(
            desk.wire(),
            [(json!(0), json!({"decision": word.as_str()}))],
            "{name}"
        );
        desk.replay(&recording, asked..recording.len());
        assert!(codes(&desk.done).is_empty(), "{name}");
    }
    for (members, reason) in [
        (json!({"command": "touch y"}), "inconsistent"),
        (json!({"cwd": "/"}), "inconsistent"),
        (json!({"command": null}), "inconsistent"),
        (json!({"cwd": null}), "inconsistent"),
        (json!({"itemId": "c1"}), "unmatched"),
        (json!({"turnId": "turn-2"}), "unmatched"),
        (json!({"threadId": "thread-b"}), "unmatched"),
        (json!({"command": 1}), "malformed"),
        (json!({"itemId": null}), "malformed"),
        (json!({"availableDecisions": "accept"}), "malformed"),
    ] {
        let desk = prompted(&members);
        assert_eq!(reasons(&desk.done), [reason], "{members}");
        assert_eq!(desk.wire(), [(json!(0), json!({"decision": "decline"}))]);
    }
    // A question about a host has no command of its own.
    let desk = prompted(
        &json!({"command": null, "cwd": null, "networkApprovalContext": {"host": "example.test", "protocol": "https"}}),
    );
    assert!(desk.only().card().text().contains("example.test"));
    // Without an announcement there is nothing to show.
    let mut desk = Desk::new();
    desk.ask(&json!(0), COMMAND, &prompt(&json!({})));
    assert_eq!(reasons(&desk.done), ["unmatched"]);
    // Several prompts of one command are a card each.
    let mut desk = prompted(&json!({"approvalId": "a"}));
    desk.ask(&json!(1), COMMAND, &prompt(&json!({"approvalId": "b"})));
    assert_eq!(desk.open().len(), 2);
    assert_ne!(desk.open()[0].digest(), desk.open()[1].digest());
    // An absent kind is `command` (0.147).
    let mut old = prompt(&json!({}));
    old.as_object_mut().expect("an object").shift_remove("kind");
    let mut desk = Desk::new();
    desk.command("c0", "touch x");
    desk.ask(&json!(0), COMMAND, &old);
    assert_eq!(desk.open().len(), 1);
}

#[test]
fn u2_t20_input_shows_the_command_that_it_goes_to() {
    let recording = Recording::read("20-write-stdin-approval");
    let mut desk = Desk::new();
    let first = recording.after_request(1);
    desk.replay(&recording, 0..first);
    let request = desk.only().request_id().to_owned();
    desk.say(&request, Word::Accept).expect("waits");
    let second = recording.after_request(2);
    desk.replay(&recording, first..second);
    let pending = desk.only();
    let text = pending.card().text();
    assert!(
        text.contains("input    write_stdin --session-id 33959 'hello\\n"),
        "{text}"
    );
    assert!(text.contains("to       /bin/bash -lc cat\n"), "{text}");
    assert_eq!(pending.action()["terminal"]["command"], "/bin/bash -lc cat");
    assert_eq!(pending.words(), [Word::Accept, Word::Decline, Word::Cancel]);
    let request = pending.request_id().to_owned();
    desk.say(&request, Word::Decline).expect("always");
    assert_eq!(desk.wire()[1], (json!(1), json!({"decision": "decline"})));
    desk.replay(&recording, second..recording.len());
    assert!(
        codes(&desk.done).is_empty(),
        "a declined input says nothing about the command"
    );
    for kind in [
        json!("humanCommand"),
        json!("other"),
        Value::Null,
        json!(1),
        json!(["command"]),
        json!(""),
    ] {
        let desk = prompted(&json!({"kind": kind}));
        assert_eq!(reasons(&desk.done), ["unknown_kind"], "{kind}");
    }
    // Two running commands with one id: nobody can tell which.
    let mut desk = Desk::new();
    desk.command("c0", "cat");
    let other = json!({"type": "commandExecution", "id": "c0", "command": "sh", "cwd": "/w", "status": "inProgress"});
    desk.tell(
        "item/started",
        &json!({"threadId": THREAD, "turnId": "turn-0", "item": other}),
    );
    desk.ask(
        &json!(0),
        COMMAND,
        &prompt(&json!({"kind": "writeStdin", "command": "write_stdin 'x'"})),
    );
    assert_eq!(reasons(&desk.done), ["ambiguous"]);
    // None runs: the one that was declined does not.
    let mut desk = prompted(&json!({}));
    let request = desk.only().request_id().to_owned();
    desk.say(&request, Word::Decline).expect("waits");
    desk.tell(
        "turn/completed",
        &json!({"threadId": THREAD, "turn": {"id": TURN, "status": "interrupted"}}),
    );
    desk.ask(
        &json!(1),
        COMMAND,
        &prompt(&json!({"kind": "writeStdin", "turnId": "turn-2", "command": "write_stdin 'x'"})),
    );
    assert_eq!(reasons(&desk.done), ["unmatched"]);
}

#[test]
fn u3_t05_a_file_change_shows_the_diff_of_its_item() {
    let recording = Recording::read("05-file-change-decline-then-accept");
    let mut desk = Desk::new();
    let (first, second) = (recording.after_request(1), recording.after_request(2));
    desk.replay(&recording, 0..first);
    let action = desk.only().action();
    assert_eq!(
        action["changes"],
        json!([{"path": "{{OUTSIDE}}/p.txt", "kind": {"type": "add"}, "diff": "hello\n"}])
    );
    assert!(
        desk.only()
            .card()
            .text()
            .contains("add      {{OUTSIDE}}/p.txt\n         hello\n"),
        "{}",
        desk.only().card().text()
    );
    let request = desk.only().request_id().to_owned();
    desk.say(&request, Word::Decline).expect("waits");
    desk.replay(&recording, first..second);
    let request = desk.only().request_id().to_owned();
    desk.say(&request, Word::Accept).expect("waits");
    desk.replay(&recording, second..recording.len());
    assert_eq!(
        desk.wire(),
        [
            (json!(0), json!({"decision": "decline"})),
            (json!(1), json!({"decision": "accept"}))
        ]
    );
    assert!(codes(&desk.done).is_empty());

    let change = |members: &Value| {
        let mut params = json!({"threadId": THREAD, "turnId": TURN, "itemId": "p0", "startedAtMs": 1, "reason": null, "grantRoot": null});
        for (name, value) in members.as_object().expect("members") {
            params[name] = value.clone();
        }
        params
    };
    let mut desk = Desk::new();
    desk.ask(&json!(0), CHANGE, &change(&json!({})));
    let empty = json!({"type": "fileChange", "id": "p0", "changes": [], "status": "inProgress"});
    desk.tell(
        "item/started",
        &json!({"threadId": THREAD, "turnId": TURN, "item": empty}),
    );
    desk.ask(&json!(1), CHANGE, &change(&json!({})));
    assert_eq!(reasons(&desk.done), ["unmatched", "unmatched"]);
    let moved = json!([{"path": "/w/a", "kind": {"type": "update", "move_path": "/etc/b"}, "diff": "@@\n-x\n+y\n"}]);
    let mut desk = Desk::new();
    desk.tell("item/started", &json!({"threadId": THREAD, "turnId": TURN, "item": {"type": "fileChange", "id": "p0", "changes": moved, "status": "inProgress"}}));
    desk.ask(&json!(0), CHANGE, &change(&json!({"grantRoot": "/etc"})));
    let text = desk.only().card().text();
    assert!(
        text.contains("moves to /etc/b\n")
            && text.contains("grants   writing anywhere below /etc, for the session"),
        "{text}"
    );
    assert_eq!(
        desk.only().action()["changes"][0]["kind"]["move_path"],
        "/etc/b"
    );
}

#[test]
fn u4_t13_what_is_granted_is_a_part_of_what_was_asked() {
    let recording = Recording::read("13-permissions-request");
    let asked = || {
        let mut desk = Desk::new();
        desk.replay(&recording, 0..recording.after_request(1));
        let request = desk.only().request_id().to_owned();
        (desk, request)
    };
    let grant = |permissions: Value| Decision {
        permissions: Some(permissions),
        ..Word::Accept.into()
    };
    let whole = json!({"network": {"enabled": true}, "fileSystem": {"read": null, "write": ["{{OUTSIDE}}"], "entries": [{"path": {"type": "path", "path": "{{OUTSIDE}}"}, "access": "write"}]}});
    let (mut desk, request) = asked();
    assert_eq!(desk.only().action()["requested"], whole);
    for more in [
        json!({"network": {"enabled": true, "x": true}}),
        json!({"fileSystem": {"write": ["/"]}}),
        json!({"fileSystem": {"read": ["/etc"]}}),
        json!({"fileSystem": {"entries": [{"path": {"type": "path", "path": "/"}, "access": "write"}]}}),
        json!({"other": true}),
        json!([]),
        json!("all"),
        json!({"fileSystem": {"entries": [{"path": {"type": "path", "path": "{{OUTSIDE}}"}, "access": "read"}]}}),
        json!({"network": true}),
        json!({"fileSystem": ["/"]}),
        json!({"fileSystem": {"write": ["{{OUTSIDE}}", "/"]}}),
        json!({"fileSystem": {"globScanMaxDepth": 3}}),
    ] {
        let refused = desk.say(&request, grant(more.clone())).expect_err("more");
        assert!(matches!(refused, Refused::Invalid(_)), "{more}");
    }
    assert_eq!(desk.open().len(), 1);
    desk.say(&request, grant(json!({"network": {"enabled": true}})))
        .expect("a part");
    assert_eq!(
        desk.wire(),
        [(
            json!(0),
            json!({"permissions": {"network": {"enabled": true}}, "scope": "turn"})
        )]
    );
    let (mut desk, request) = asked();
    desk.say(&request, Word::Accept).expect("all of it");
    assert_eq!(
        desk.wire(),
        [(json!(0), json!({"permissions": whole, "scope": "turn"}))]
    );
    let (mut desk, request) = asked();
    desk.say(&request, Word::AcceptForSession)
        .expect("for the session");
    assert_eq!(desk.wire()[0].1["scope"], "session");
    let nothing = json!({"permissions": {}, "scope": "turn"});
    let (mut desk, request) = asked();
    desk.say(&request, Word::Decline).expect("always");
    assert_eq!(desk.wire(), [(json!(0), nothing.clone())]);
    let (mut desk, request) = asked();
    let out = desk.say(&request, Word::Cancel).expect("always");
    assert_eq!(wire(&out), [(json!(0), nothing)]);
    assert!(out.iter().any(|e| matches!(e, Effect::Interrupt { .. })));
    // An entry that denies narrows what is asked: to leave it out would be more.
    let entries = json!([{"path": {"type": "path", "path": "/a"}, "access": "write"}, {"path": {"type": "path", "path": "/a/secret"}, "access": "deny"}]);
    let mut desk = Desk::new();
    desk.ask(&json!(0), PERMISSIONS, &json!({"threadId": THREAD, "turnId": TURN, "itemId": "c0", "startedAtMs": 1, "cwd": "/w", "permissions": {"fileSystem": {"entries": entries, "globScanMaxDepth": 2}}}));
    let request = desk.only().request_id().to_owned();
    assert!(matches!(
        desk.say(
            &request,
            grant(json!({"fileSystem": {"entries": [entries[0]]}}))
        ),
        Err(Refused::Invalid(_))
    ));
    desk.say(&request, grant(json!({"fileSystem": {"entries": entries}})))
        .expect("both");
    assert_eq!(
        desk.wire()[0].1["permissions"]["fileSystem"]["globScanMaxDepth"],
        2
    );
}

#[test]
fn u5_an_amendment_is_one_that_was_offered() {
    let mut desk = prompted(&json!({}));
    let request = desk.only().request_id().to_owned();
    let text = desk.only().card().text();
    assert!(
        text.contains("prefix_rule(pattern=[\"touch\"], decision=\"allow\")"),
        "{text}"
    );
    assert!(
        text.replace("\n         ", "")
            .contains("for good, in all sessions of this user, outside the sandbox"),
        "{text}"
    );
    for foreign in [
        vec!["bash"],
        vec![],
        vec!["touch", "x"],
        vec!["touch "],
        vec!["Touch"],
    ] {
        assert!(
            matches!(desk.say(&request, rule(&foreign)), Err(Refused::Invalid(_))),
            "{foreign:?}"
        );
    }
    assert!(
        matches!(
            desk.say(&request, Word::AcceptWithExecpolicyAmendment),
            Err(Refused::Invalid(_))
        ),
        "without its rule"
    );
    let both = Decision {
        execpolicy_amendment: Some(vec!["touch".into()]),
        ..Word::Accept.into()
    };
    assert!(
        matches!(desk.say(&request, both), Err(Refused::Invalid(_))),
        "with another word"
    );
    // A host on a plain prompt.
    for action in [NetworkAction::Allow, NetworkAction::Deny] {
        assert!(matches!(
            desk.say(&request, host("evil.test", action)),
            Err(Refused::Invalid(_))
        ));
    }
    assert!(desk.wire().is_empty());
    let judged = desk
        .pairing
        .check(SESSION, &request, &rule(&["touch"]).into())
        .expect("fits");
    assert!(judged.grants && judged.needs_person);
    desk.say(&request, rule(&["touch"])).expect("offered");
    assert_eq!(
        desk.wire()[0].1,
        json!({"decision": {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch"]}}})
    );
    // Proposed and listed must agree.
    let mut desk = prompted(&json!({"proposedExecpolicyAmendment": ["bash"]}));
    let request = desk.only().request_id().to_owned();
    for words in [["bash"], ["touch"]] {
        assert!(matches!(
            desk.say(&request, rule(&words)),
            Err(Refused::Invalid(_))
        ));
    }
    // Hosts, one of those that were proposed, with its action.
    let network = json!({
        "networkApprovalContext": {"host": "a.test", "protocol": "https"},
        "proposedNetworkPolicyAmendments": [{"host": "a.test", "action": "allow"}, {"host": "a.test", "action": "deny"}],
        "availableDecisions": null,
    });
    let mut desk = prompted(&network);
    let request = desk.only().request_id().to_owned();
    assert!(matches!(
        desk.say(&request, host("b.test", NetworkAction::Allow)),
        Err(Refused::Invalid(_))
    ));
    let allow = desk
        .pairing
        .check(
            SESSION,
            &request,
            &host("a.test", NetworkAction::Allow).into(),
        )
        .expect("offered");
    let deny = desk
        .pairing
        .check(
            SESSION,
            &request,
            &host("a.test", NetworkAction::Deny).into(),
        )
        .expect("offered");
    assert!(allow.needs_person && allow.grants && !deny.needs_person && !deny.grants);
    desk.say(&request, host("a.test", NetworkAction::Allow))
        .expect("offered");
    assert_eq!(
        desk.wire()[0].1,
        json!({"decision": {"applyNetworkPolicyAmendment": {"network_policy_amendment": {"host": "a.test", "action": "allow"}}}})
    );
}

#[test]
fn u6_an_accept_is_one_that_was_offered() {
    let mut desk = prompted(&json!({}));
    let request = desk.only().request_id().to_owned();
    assert_eq!(
        desk.only().words(),
        [
            Word::Accept,
            Word::AcceptWithExecpolicyAmendment,
            Word::Decline,
            Word::Cancel
        ]
    );
    assert!(matches!(
        desk.say(&request, Word::AcceptForSession),
        Err(Refused::Invalid(_))
    ));
    desk.say(&request, Word::Decline)
        .expect("always, though it is not listed");
    let mut desk = prompted(&json!({"availableDecisions": ["cancel"]}));
    let request = desk.only().request_id().to_owned();
    assert!(matches!(
        desk.say(&request, Word::Accept),
        Err(Refused::Invalid(_))
    ));
    let mut desk = prompted(&json!({"availableDecisions": ["accept", "acceptForSession"]}));
    let request = desk.only().request_id().to_owned();
    desk.say(&request, Word::AcceptForSession).expect("listed");
    assert_eq!(desk.wire()[0].1, json!({"decision": "acceptForSession"}));
    // Without a list all plain words fit (0.147 has none).
    let mut desk = prompted(&json!({"availableDecisions": null}));
    let request = desk.only().request_id().to_owned();
    desk.say(&request, Word::AcceptForSession).expect("no list");
    // What looks like a word is none.
    for list in [
        json!([{"accept": true, "x": 1}]),
        json!([["accept"]]),
        json!(["Accept"]),
        json!([null]),
    ] {
        let mut desk = prompted(&json!({"availableDecisions": list}));
        let request = desk.only().request_id().to_owned();
        assert!(
            matches!(desk.say(&request, Word::Accept), Err(Refused::Invalid(_))),
            "{list}"
        );
    }
}

#[test]
fn u7_t12_answers_are_for_the_questions_that_were_asked() {
    let answers = |list: &[(&str, &[&str])]| {
        let one = |(id, given): &(&str, &[&str])| {
            (
                (*id).to_owned(),
                given.iter().map(|g| (*g).to_owned()).collect(),
            )
        };
        Answer::Answers(list.iter().map(one).collect())
    };
    let recording = Recording::read("12-request-user-input");
    let mut desk = Desk::new();
    desk.replay(&recording, 0..recording.after_request(1));
    let request = desk.only().request_id().to_owned();
    assert_eq!(desk.only().action()["type"], "user_input");
    assert!(matches!(
        desk.say(&request, answers(&[("other", &["SQLite"])])),
        Err(Refused::Invalid(_))
    ));
    assert!(matches!(
        desk.say(&request, Word::Accept),
        Err(Refused::Invalid(_))
    ));
    desk.say(&request, answers(&[("db", &["SQLite"])]))
        .expect("fits");
    assert_eq!(
        desk.wire(),
        [(
            json!(0),
            json!({"answers": {"db": {"answers": ["SQLite"]}}})
        )]
    );

    let ask = |blocking: Value| {
        json!({
            "threadId": THREAD, "turnId": TURN, "itemId": "c0", "autoResolutionMs": null, "isBlocking": blocking,
            "questions": [
                {"id": "pick", "header": "h", "question": "q", "isOther": false, "isSecret": false, "options": [{"label": "a", "description": ""}]},
                {"id": "key", "header": "h", "question": "q", "isSecret": true, "options": null},
            ],
        })
    };
    for blocking in [json!(true), Value::Null] {
        let mut desk = Desk::new();
        desk.ask(&json!(0), QUESTIONS, &ask(blocking));
        let request = desk.only().request_id().to_owned();
        for wrong in [
            answers(&[]),
            answers(&[("pick", &["a"])]),
            answers(&[("pick", &["b"]), ("key", &["k"])]),
            answers(&[("pick", &["a"]), ("key", &[])]),
        ] {
            assert!(
                matches!(desk.say(&request, wrong.clone()), Err(Refused::Invalid(_))),
                "{wrong:?}"
            );
        }
        desk.say(
            &request,
            answers(&[("pick", &["a"]), ("key", &["hunter2-very-secret"])]),
        )
        .expect("fits");
        assert_eq!(
            desk.wire()[0].1["answers"]["key"]["answers"],
            json!(["hunter2-very-secret"])
        );
        let told: Vec<String> = desk
            .done
            .iter()
            .filter(|e| !matches!(e, Effect::Answer { .. }))
            .map(|e| format!("{e:?}"))
            .collect();
        assert!(!told.concat().contains("hunter2"), "a secret stays unseen");
        let event = &events(&desk.done, EventKind::ApprovalResult)[0];
        assert_eq!(event["answers"]["pick"]["answers"], json!(["a"]));
    }
    let mut desk = Desk::new();
    desk.ask(&json!(0), QUESTIONS, &ask(json!(false)));
    let request = desk.only().request_id().to_owned();
    desk.say(&request, answers(&[("pick", &["a"])]))
        .expect("one may stay open");
    let mut desk = Desk::new();
    desk.ask(&json!(0), QUESTIONS, &ask(json!(true)));
    let request = desk.only().request_id().to_owned();
    desk.say(&request, Word::Decline).expect("no answers");
    assert_eq!(desk.wire(), [(json!(0), json!({"answers": {}}))]);
}

#[test]
fn requests_that_grant_nothing_get_their_fixed_answer() {
    let legacy = json!({"decision": {"denied": {"rejection": "codexgate does not answer legacy approvals"}}});
    for (method, params, answer) in [
        (
            "applyPatchApproval",
            json!({"conversationId": "x", "callId": "c", "fileChanges": {}}),
            legacy.clone(),
        ),
        (
            "execCommandApproval",
            json!({"conversationId": "x", "callId": "c", "command": ["ls"], "cwd": "/"}),
            legacy,
        ),
        (
            "item/tool/call",
            json!({"threadId": THREAD, "tool": "t"}),
            json!({"contentItems": [{"type": "inputText", "text": "codexgate offers no dynamic tools"}], "success": false}),
        ),
        (
            "account/chatgptAuthTokens/refresh",
            json!({"reason": "unauthorized"}),
            json!({"error": -32000}),
        ),
        ("attestation/generate", json!({}), json!({"error": -32601})),
        (
            "currentTime/read",
            json!({"threadId": THREAD}),
            json!({"currentTimeAt": 1_796_101_445}),
        ),
        (
            "item/newThing/requestApproval",
            json!({"threadId": THREAD}),
            json!({"error": -32601}),
        ),
        ("x", Value::Null, json!({"error": -32601})),
    ] {
        let mut desk = Desk::new();
        desk.ask(&json!("id"), method, &params);
        assert_eq!(desk.wire(), [(json!("id"), answer)], "{method}");
        assert!(desk.open().is_empty());
        let unknown = method.contains("newThing") || method == "x";
        assert_eq!(
            codes(&desk.done) == ["unknown_request"],
            unknown,
            "{method}"
        );
    }
    // What cannot be read is declined in the form of its kind.
    for (method, answer) in [
        (COMMAND, json!({"decision": "decline"})),
        (CHANGE, json!({"decision": "decline"})),
        (PERMISSIONS, json!({"permissions": {}, "scope": "turn"})),
        (QUESTIONS, json!({"answers": {}})),
        ("mcpServer/elicitation/request", declined()),
    ] {
        for params in [
            Value::Null,
            json!([]),
            json!("x"),
            json!({}),
            json!({"threadId": 1, "turnId": [], "itemId": {}}),
            json!({"threadId": "x".repeat(5000), "turnId": "t", "itemId": "i", "serverName": "s", "cwd": "/", "permissions": {}, "questions": []}),
        ] {
            let mut desk = Desk::new();
            desk.ask(&json!(0), method, &params);
            assert_eq!(
                desk.wire(),
                [(json!(0), answer.clone())],
                "{method} {params}"
            );
            assert_eq!(reasons(&desk.done), ["malformed"]);
        }
    }
}
