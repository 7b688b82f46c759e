//! M and N: what lasts, and whether anybody is asked.

use super::super::policy::{gate_by, model_decided_by, user_decides_by};
use super::super::rules::Rules;
use super::super::*;
use super::desk::*;
use serde_json::{Value, json};

fn offering(persist: Option<Value>) -> Desk {
    let mut desk = Desk::new();
    desk.call("c0", "t", &json!({"n": 1}));
    let mut members = approval("t", &json!({"n": 1}));
    let meta = members["_meta"].as_object_mut().expect("meta");
    match persist {
        Some(value) => meta.insert("persist".into(), value),
        None => meta.shift_remove("persist"),
    };
    desk.elicit(&json!(0), &members);
    desk
}

#[test]
fn m1_a_session_grant_only_where_it_was_offered() {
    for persist in [
        json!(["session", "always"]),
        json!("session"),
        json!(["session"]),
        json!([1, "session"]),
    ] {
        let mut desk = offering(Some(persist.clone()));
        let request = desk.only().request_id().to_owned();
        desk.say(&request, Word::AcceptForSession)
            .unwrap_or_else(|e| panic!("{persist}: {e}"));
    }
    for persist in [
        None,
        Some(json!("always")),
        Some(json!(["always"])),
        Some(json!([])),
        Some(Value::Null),
        Some(json!(1)),
        Some(json!({"session": true})),
        Some(json!("Session")),
        Some(json!("session,always")),
        Some(json!([["session"]])),
    ] {
        let mut desk = offering(persist.clone());
        let request = desk.only().request_id().to_owned();
        let refused = desk
            .say(&request, Word::AcceptForSession)
            .expect_err("not offered");
        assert!(matches!(refused, Refused::Invalid(_)), "{persist:?}");
        assert!(!desk.only().words().contains(&Word::AcceptForSession));
        desk.say(&request, Word::Accept).expect("still waits");
    }
}

#[test]
fn m2_a_session_grant_is_said_to_be_for_any_arguments() {
    let mut desk = offering(Some(json!(["session", "always"])));
    let text = desk.only().card().text();
    assert!(
        text.replace("\n         ", "")
            .contains("this tool with any arguments"),
        "{text}"
    );
    assert!(
        !offering(None)
            .only()
            .card()
            .text()
            .contains("any arguments")
    );
    let request = desk.only().request_id().to_owned();
    desk.say(&request, Word::AcceptForSession).expect("offered");
    assert_eq!(
        desk.wire(),
        [(
            json!(0),
            json!({"action": "accept", "content": {}, "_meta": {"persist": "session"}})
        )]
    );
    // Plain accept is this call alone.
    let mut desk = offering(Some(json!(["session", "always"])));
    let request = desk.only().request_id().to_owned();
    desk.say(&request, Word::Accept).expect("offered");
    assert_eq!(desk.wire(), [(json!(0), accepted())]);
}

#[test]
fn m3_always_is_never_sent() {
    for persist in [json!(["session", "always"]), json!(["always", "session"])] {
        let mut desk = offering(Some(persist));
        let request = desk.only().request_id().to_owned();
        desk.say(&request, Word::AcceptForSession).expect("offered");
        assert!(
            desk.wire()
                .iter()
                .all(|(_, result)| !result.to_string().contains("always")),
            "{:?}",
            desk.wire()
        );
    }
    assert!(
        Word::ALL
            .iter()
            .all(|word| !word.as_str().to_lowercase().contains("always"))
    );
}

#[test]
fn m4_t22_calls_of_a_session_grant_are_marked() {
    let recording = Recording::read("22-mcp-persist-session-and-close");
    let mut desk = Desk::new();
    let asked = recording.after_request(1);
    desk.replay(&recording, 0..asked);
    let request = desk.only().request_id().to_owned();
    desk.say(&request, Word::AcceptForSession).expect("offered");
    desk.replay(&recording, asked..recording.len());
    let marks: Vec<(&str, &str)> = desk
        .done
        .iter()
        .filter_map(|e| match e {
            Effect::Ungated { item, note, .. } => Some((item.as_str(), note.as_str())),
            _ => None,
        })
        .collect();
    let note = format!("session grant {request}");
    assert_eq!(
        marks,
        [("call_0_1", note.as_str()), ("call_0_1", note.as_str())]
    );
    assert!(codes(&desk.done).is_empty());
    // Not another tool, not another server, not another thread, not after a decline.
    let mut desk = offering(Some(json!("session")));
    let request = desk.only().request_id().to_owned();
    desk.say(&request, Word::AcceptForSession).expect("offered");
    for (name, value) in [("tool", "u"), ("server", "other")] {
        let mut item = tool_item("c9", "t", &json!({}));
        item["item"][name] = value.into();
        assert!(desk.tell("item/started", &item).is_empty());
    }
    let mut item = tool_item("c9", "t", &json!({}));
    item["threadId"] = "thread-child".into();
    assert!(desk.tell("item/started", &item).is_empty());
    assert_eq!(
        desk.tell("item/started", &tool_item("c8", "t", &json!({"n": 2})))
            .len(),
        1
    );
}

#[test]
fn n1_the_gate_follows_from_the_effective_policy() {
    let gate = |policy: Value, sandbox: &str| gate_by(Rules::in_force(), &policy, sandbox);
    for policy in [
        json!("on-request"),
        json!("untrusted"),
        json!({"granular": {"mcp_elicitations": false}}),
    ] {
        for sandbox in ["read-only", "workspace-write", "danger-full-access"] {
            assert_eq!(
                gate(policy.clone(), sandbox),
                Gate::Asks,
                "{policy} {sandbox}"
            );
        }
    }
    assert_eq!(gate(json!("never"), "read-only"), Gate::Refuses);
    assert_eq!(gate(json!("never"), "workspace-write"), Gate::Refuses);
    assert_eq!(gate(json!("never"), "danger-full-access"), Gate::Open);
    assert_eq!(gate(json!("never"), "external-sandbox"), Gate::Open);
    assert_eq!(
        [Gate::Asks.word(), Gate::Refuses.word(), Gate::Open.word()],
        ["asks", "refuses", "open"]
    );
    assert_eq!(
        super::super::gate(&json!("on-request"), "read-only"),
        Gate::Asks
    );
}

#[test]
fn n2_the_reviewer_is_the_user() {
    let user = |value: Value| user_decides_by(Rules::in_force(), &value);
    assert!(user(json!("user")));
    for other in [
        json!("auto_review"),
        json!("guardian_subagent"),
        Value::Null,
        json!(["user"]),
        json!("User"),
    ] {
        assert!(!user(other.clone()), "{other}");
    }
    assert!(user_decides(&json!("user")));
}

#[test]
fn n3_a_models_decision_is_called_that() {
    let said = |method: &str| model_decided_by(Rules::in_force(), method);
    for method in [
        "item/autoApprovalReview/started",
        "item/autoApprovalReview/completed",
        "autoApprovalReview/strictReviewRequired",
    ] {
        assert_eq!(said(method), Some("decided by a model"), "{method}");
    }
    assert_eq!(said("item/started"), None);
    assert_eq!(model_decided("item/completed"), None);
}
