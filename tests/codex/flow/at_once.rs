//! Two calls of the approver in one answer of the model: one question at a time, and each decision
//! is about its own proposal. Codex 0.171 makes the second call when the first has its result; the
//! unit tests of the approver have a client that does not wait.

use super::model::Step;
use super::room;
use super::scene::Scene;
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::Duration;

/// Longer than what counts as a slip of the keys.
const TO_READ: Duration = Duration::from_millis(1600);

/// Approves what has `word` on its card, and rejects all else.
fn approves(word: &'static str) -> impl FnMut(&str, &Value) -> Vec<Value> {
    move |_, params| {
        sleep(TO_READ);
        let card = params["message"].as_str().expect("a card");
        let decision = if card.contains(word) {
            "Approve"
        } else {
            "Reject"
        };
        let result = json!({"action": "accept", "content": {"decision": decision}});
        vec![json!({ "result": result })]
    }
}

/// A proposal of a person's own command to touch `name`.
fn propose(scene: &Scene, name: &str) -> String {
    let done = scene.gate(&["apply", "--format", "json", "--", "touch", name]);
    assert!(done.done(), "{}", done.stderr);
    let made: Value = serde_json::from_slice(&done.stdout).expect("it prints JSON");
    made["token"].as_str().expect("it has a token").to_owned()
}

#[test]
fn two_proposals_in_one_answer_are_decided_one_by_one() {
    room::inside(
        "flow::at_once::two_proposals_in_one_answer_are_decided_one_by_one",
        |codex| {
            let scene = Scene::new(codex);
            let (one, other) = (propose(&scene, "one"), propose(&scene, "other"));
            let mut app = scene.app_server(&[], approves("touch one"));
            let both = Step::AtOnce(vec![Step::ask_about(&one), Step::ask_about(&other)]);
            let heard = scene.turn(&mut app, &json!({}), [both]);
            assert_eq!(app.questions.len(), 2, "{heard:#?}");
            let [about_one, about_other] = &heard[..] else {
                panic!("{heard:#?}");
            };
            assert!(about_one.contains("Approved by the person"), "{heard:#?}");
            assert!(about_one.contains(&one), "{heard:#?}");
            assert!(about_other.contains("Not approved: "), "{heard:#?}");
            for (token, name, runs) in [(&one, "one", true), (&other, "other", false)] {
                let confirmed = scene.gate(&["apply", "--confirm", token]);
                assert_eq!(confirmed.done(), runs, "{name}: {}", confirmed.stderr);
                assert_eq!(scene.lab.project.join(name).exists(), runs, "{name}");
            }
        },
    );
}

#[test]
fn one_proposal_twice_in_one_answer_runs_once() {
    room::inside(
        "flow::at_once::one_proposal_twice_in_one_answer_runs_once",
        |codex| {
            let scene = Scene::new(codex);
            let token = propose(&scene, "made");
            let mut app = scene.app_server(&[], approves("touch made"));
            let confirm = || Step::run(scene.line(&format!("apply --confirm {token}")));
            let steps = [
                Step::AtOnce(vec![Step::ask_about(&token), Step::ask_about(&token)]),
                Step::AtOnce(vec![confirm(), confirm()]),
            ];
            let heard = scene.turn(&mut app, &json!({}), steps);
            assert_eq!(app.questions.len(), 2, "{heard:#?}");
            assert_eq!(heard.len(), 4, "{heard:#?}");
            assert!(
                heard[..2]
                    .iter()
                    .any(|text| text.contains("Approved by the person"))
            );
            let ran = |text: &&String| text.contains("exited with code 0");
            assert_eq!(heard[2..].iter().filter(ran).count(), 1, "{heard:#?}");
            let journal = scene.journal();
            let started = journal.iter().filter(|kind| *kind == "started");
            assert_eq!(started.count(), 1, "{journal:?}");
        },
    );
}
