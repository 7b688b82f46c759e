//! The flow with a client of the app server, as editors and the desktop app are: which of its
//! answers become a grant. Each row is one answer to the one question, or one policy under which
//! Codex asks or answers by itself.

use super::model::Step;
use super::room;
use super::scene::{ON_REQUEST, Scene, write};
use crate::app_server::AppServer;
use crate::app_server::Refusal;
use serde_json::{Value, json};
use std::cell::Cell;
use std::rc::Rc;
use std::thread::sleep;
use std::time::Duration;

/// Longer than what counts as a slip of the keys.
const TO_READ: Duration = Duration::from_millis(1600);

/// What a client answers with, as a result.
fn accept(content: &Value) -> Value {
    json!({"result": {"action": "accept", "content": content, "_meta": null}})
}

fn approve() -> Value {
    accept(&json!({"decision": "Approve"}))
}

/// Answers as `reply` says, after the time that reading takes.
fn calmly(reply: Vec<Value>) -> impl FnMut(&str, &Value) -> Vec<Value> {
    move |_, _| {
        sleep(TO_READ);
        reply.clone()
    }
}

/// That nothing was granted and nothing ran, and that the agent was told so.
fn assert_nothing_ran(scene: &Scene, heard: &[String], row: &str) {
    let [_, asked, confirmed, again] = heard else {
        panic!("{row}: {heard:#?}");
    };
    assert!(asked.contains("Not approved: "), "{row}: {asked}");
    for text in [confirmed, again] {
        assert!(text.contains("exited with code 1"), "{row}: {text}");
    }
    assert!(!scene.took_made(), "{row}: it ran");
    let journal = scene.journal();
    let granted = |kind: &String| kind == "approved" || kind == "started";
    assert!(!journal.iter().any(granted), "{row}: {journal:?}");
}

#[test]
fn what_is_approved_runs_once() {
    room::inside(
        "flow::over_the_app_server::what_is_approved_runs_once",
        |codex| {
            let scene = Scene::new(codex);
            let mut app = scene.app_server(&[], calmly(vec![approve()]));
            let heard = scene.turn(&mut app, &json!({}), scene.flow());
            let [proposed, asked, confirmed, again] = &heard[..] else {
                panic!("{heard:#?}");
            };
            assert!(proposed.contains("exited with code 0"), "{proposed}");
            assert!(asked.contains("Approved by the person"), "{asked}");
            assert!(asked.contains(&scene.line("apply --confirm")), "{asked}");
            assert!(confirmed.contains("exited with code 0"), "{confirmed}");
            assert!(again.contains("exited with code 1"), "{again}");
            assert!(again.contains("it was used"), "{again}");
            assert!(scene.took_made());
            assert_eq!(
                scene.journal(),
                ["proposed", "approved", "started", "ended"]
            );
            assert!(scene.gate(&["journal", "verify"]).done());

            let [(method, params)] = &app.questions[..] else {
                panic!("{:#?}", app.questions);
            };
            assert_eq!(method, "mcpServer/elicitation/request");
            let card = params["message"].as_str().expect("a text");
            assert!(card.contains("runs     touch made"), "{card}");

            // The journal tells every change of a byte and every line that is missing.
            let file = scene.lab.root.join("state/codexgate/journal.jsonl");
            let text = std::fs::read_to_string(&file).expect("it was written");
            let (kept, _) = text.trim_end().rsplit_once('\n').expect("four lines");
            for damaged in [text.replacen("touch", "tOuch", 1), format!("{kept}\n")] {
                write(&file, &damaged);
                let verified = scene.gate(&["journal", "verify"]);
                assert_eq!(verified.code, Some(1), "{}", verified.text());
            }

            drop(app);
            assert!(scene.is_left_alone(), "{:?}", scene.processes());
        },
    );
}

#[test]
fn every_other_answer_grants_nothing() {
    room::inside(
        "flow::over_the_app_server::every_other_answer_grants_nothing",
        |codex| {
            let scene = Scene::new(codex);
            let row = Rc::new(Cell::new(0));
            let content = json!({"decision": "Approve"});
            let rows = [
                ("Reject", accept(&json!({"decision": "Reject"}))),
                (
                    "accept without content",
                    json!({"result": {"action": "accept"}}),
                ),
                ("accept with null", accept(&Value::Null)),
                ("accept with nothing", accept(&json!({}))),
                ("an unknown choice", accept(&json!({"decision": "Maybe"}))),
                ("another spelling", accept(&json!({"decision": "approve"}))),
                ("another type", accept(&json!({"decision": ["Approve"]}))),
                (
                    "another member",
                    accept(&json!({"decision": "Approve", "x": 1})),
                ),
                (
                    "_meta",
                    json!({"result": {"action": "accept", "content": content, "_meta": {"persist": "always"}}}),
                ),
                ("decline", json!({"result": {"action": "decline"}})),
                (
                    "decline with content",
                    json!({"result": {"action": "decline", "content": content}}),
                ),
                ("cancel", json!({"result": {"action": "cancel"}})),
                (
                    "an unknown action",
                    json!({"result": {"action": "approve", "content": content}}),
                ),
                ("an empty result", json!({"result": {}})),
                (
                    "an error",
                    json!({"error": {"code": -32601, "message": "no"}}),
                ),
            ];
            let answers: Vec<Value> = rows.iter().map(|(_, reply)| reply.clone()).collect();
            let current = Rc::clone(&row);
            let mut app = scene.app_server(&[], move |_, _| {
                let reply = answers[current.get()].clone();
                // Codex hands on what accepts as it is: so that it is not refused as a slip.
                if reply["result"]["action"] == "accept" {
                    sleep(TO_READ);
                }
                vec![reply]
            });
            for (index, (name, _)) in rows.iter().enumerate() {
                row.set(index);
                let heard = scene.turn(&mut app, &json!({}), scene.flow());
                assert_eq!(app.questions.len(), index + 1, "{name}");
                assert_nothing_ran(&scene, &heard, name);
            }
            // A Reject is final; after all else a person can still decide.
            let journal = scene.journal();
            let count = |kind: &str| journal.iter().filter(|found| *found == kind).count();
            assert_eq!(count("rejected"), 1, "{journal:?}");
            assert_eq!(count("undecided"), rows.len() - 1, "{journal:?}");
        },
    );
}

#[test]
fn an_approve_at_once_is_a_slip_and_is_asked_again() {
    room::inside(
        "flow::over_the_app_server::an_approve_at_once_is_a_slip_and_is_asked_again",
        |codex| {
            let scene = Scene::new(codex);
            let mut app = scene.app_server(&[], |_, _| vec![approve()]);
            let heard = scene.turn(&mut app, &json!({}), scene.flow());
            assert_eq!(app.questions.len(), 2);
            assert_nothing_ran(&scene, &heard, "twice at once");
            let again = app.questions[1].1["message"].as_str().expect("a text");
            assert!(again.starts_with("Approve came too fast"), "{again}");

            let mut first = true;
            app.answering(move |_, _| {
                if !std::mem::take(&mut first) {
                    sleep(TO_READ);
                }
                // A second answer to the same question says nothing.
                vec![approve(), approve()]
            });
            let heard = scene.turn(&mut app, &json!({}), scene.flow());
            assert_eq!(app.questions.len(), 4);
            assert!(heard[1].contains("Approved by the person"), "{heard:#?}");
            assert!(heard[3].contains("exited with code 1"), "{heard:#?}");
            assert!(scene.took_made());
        },
    );
}

#[test]
fn an_interrupted_turn_takes_the_question_away() {
    room::inside(
        "flow::over_the_app_server::an_interrupted_turn_takes_the_question_away",
        |codex| {
            let scene = Scene::new(codex);
            let mut app = scene.app_server(&[], |_, _| Vec::new());
            scene.model.script(scene.flow());
            let thread = scene.thread(&mut app, &json!({}));
            let turn = app.start_turn(&thread, "go").expect("a turn starts");
            app.next_question().expect("the question comes");
            let ids = json!({"threadId": thread, "turnId": turn});
            app.call("turn/interrupt", &ids).expect("it is interrupted");
            let ended = app.end_of_turn(&turn).expect("the turn ends");
            assert_eq!(ended["status"], "interrupted", "{ended:#}");

            // The same thread, the same token: it still waits, and can be asked about.
            app.answering(calmly(vec![approve()]));
            scene.model.script([Step::ask(), scene.confirm()]);
            let turn = app.start_turn(&thread, "again").expect("a turn starts");
            app.end_of_turn(&turn).expect("the turn ends");
            assert!(scene.took_made(), "{:#?}", scene.model.heard());
            let journal = scene.journal();
            let expected = ["proposed", "undecided", "approved", "started", "ended"];
            assert_eq!(journal, expected);
        },
    );
}

/// What a policy makes of a client that would say yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comes {
    /// The person is asked, and it runs.
    Asked,
    /// Codex answers by itself.
    Unasked,
    /// Codex does not start.
    Nothing,
}

#[test]
fn a_policy_decides_whether_a_person_is_asked() {
    room::inside(
        "flow::over_the_app_server::a_policy_decides_whether_a_person_is_asked",
        |codex| {
            let granular = |on: bool| {
                format!(
                    "approval_policy = {{ granular = {{ sandbox_approval = true, rules = true, mcp_elicitations = {on} }} }}\n"
                )
            };
            let write = "sandbox_mode = \"workspace-write\"\n";
            let read = "sandbox_mode = \"read-only\"\n";
            let on_request = "approval_policy = \"on-request\"\n";
            let never = "approval_policy = \"never\"\n";
            let rows = [
                (format!("{on_request}{read}"), Comes::Asked),
                (
                    format!("{ON_REQUEST}approvals_reviewer = \"auto_review\"\n"),
                    Comes::Asked,
                ),
                (granular(true) + write, Comes::Asked),
                (granular(true) + read, Comes::Asked),
                (granular(false) + write, Comes::Unasked),
                (granular(false) + read, Comes::Unasked),
                (format!("{never}{write}"), Comes::Unasked),
                (format!("{never}{read}"), Comes::Unasked),
                (
                    format!("approval_policy = \"untrusted\"\n{write}"),
                    Comes::Nothing,
                ),
            ];
            let scene = Scene::new(codex);
            for (policy, comes) in rows {
                scene.configure(&policy);
                if comes == Comes::Nothing {
                    assert_does_not_start(&scene);
                    continue;
                }
                let mut app = scene.app_server(&[], calmly(vec![approve()]));
                let before = scene.journal().len();
                let heard = scene.turn(&mut app, &json!({}), scene.flow());
                let journal = &scene.journal()[before..];
                if comes == Comes::Asked {
                    assert_eq!(app.questions.len(), 1, "{policy}");
                    assert!(scene.took_made(), "{policy}: {heard:#?}");
                    let expected = ["proposed", "approved", "started", "ended"];
                    assert_eq!(journal, expected, "{policy}");
                } else {
                    assert_eq!(app.questions.len(), 0, "{policy}");
                    assert!(!scene.took_made(), "{policy}: {heard:#?}");
                    assert!(heard[1].contains("asks nobody"), "{policy}: {heard:#?}");
                    assert_eq!(journal, ["proposed", "undecided"], "{policy}");
                }
            }
        },
    );
}

fn assert_does_not_start(scene: &Scene) {
    let mut command = scene.command(&scene.codex);
    let mut app = AppServer::start(command.arg("app-server"));
    let started = app
        .initialize()
        .and_then(|_| app.call("thread/start", &json!({"cwd": scene.lab.project})));
    assert!(
        matches!(started, Err(Refusal::Error(_) | Refusal::Silent)),
        "{started:?}"
    );
}

#[test]
fn a_question_that_nobody_answers_ends_with_its_proposal() {
    room::inside(
        "flow::over_the_app_server::a_question_that_nobody_answers_ends_with_its_proposal",
        |codex| {
            let scene = Scene::new(codex);
            let mut app = scene.app_server(&[], |_, _| Vec::new());
            let propose = scene.line("apply --format json --expires 3s -- touch made");
            let steps = [Step::run(propose), Step::ask(), scene.confirm()];
            let heard = scene.turn(&mut app, &json!({}), steps);
            assert_eq!(app.questions.len(), 1);
            assert!(heard[1].contains("nobody answered in time"), "{heard:#?}");
            assert!(heard[2].contains("exited with code 1"), "{heard:#?}");
            assert!(!scene.took_made());
        },
    );
}

#[test]
fn files_are_written_as_the_card_showed_them() {
    room::inside(
        "flow::over_the_app_server::files_are_written_as_the_card_showed_them",
        |codex| {
            let scene = Scene::new(codex);
            let project = &scene.lab.project;
            let (notes, more) = (project.join("notes.md"), project.join("more.md"));
            let before = "one\ntwo\nthree\n";
            write(&notes, before);
            write(&project.join("draft.md"), "one\n2\nthree\n");
            let patch = "--- a/notes.md\n+++ b/notes.md\n@@ -1,3 +1,4 @@\n one\n-2\n+2.\n three\n+four\n\
                         --- /dev/null\n+++ b/more.md\n@@ -0,0 +1 @@\n+more\n";
            write(&project.join("change.patch"), patch);
            let mut app = scene.app_server(&[], calmly(vec![approve()]));
            let steps = [
                "apply --format json --write notes.md --content draft.md",
                "apply --format json --patch change.patch",
            ]
            .into_iter()
            .flat_map(|words| [Step::run(scene.line(words)), Step::ask(), scene.confirm()]);
            let heard = scene.turn(&mut app, &json!({}), steps);
            let written = |path| std::fs::read_to_string(path).unwrap_or_default();
            assert_eq!(written(&notes), "one\n2.\nthree\nfour\n", "{heard:#?}");
            assert_eq!(written(&more), "more\n", "{heard:#?}");
            for (index, lines) in [&["-two", "+2"][..], &["-2", "+2.", "+four", "+more"]]
                .iter()
                .enumerate()
            {
                let card = app.questions[index].1["message"].as_str().expect("a text");
                for line in *lines {
                    let shown = card.lines().any(|shown| shown.trim_start() == *line);
                    assert!(shown, "{line} is missing:\n{card}");
                }
            }
            let done = scene.gate(&["journal", "verify"]);
            assert!(done.done(), "{}", done.stderr);
        },
    );
}

#[test]
fn what_changed_since_the_approval_does_not_run() {
    room::inside(
        "flow::over_the_app_server::what_changed_since_the_approval_does_not_run",
        |codex| {
            let scene = Scene::new(codex);
            let project = &scene.lab.project;
            write(&project.join("tool.sh"), "touch made\n");
            let mut app = scene.app_server(&[], calmly(vec![approve()]));
            let steps = [
                Step::run(scene.line("apply --format json -- sh tool.sh")),
                Step::ask(),
                Step::run("echo 'touch other' >> tool.sh"),
                scene.confirm(),
            ];
            let heard = scene.turn(&mut app, &json!({}), steps);
            assert!(heard[1].contains("Approved by the person"), "{heard:#?}");
            assert!(heard[3].contains("exited with code 1"), "{heard:#?}");
            assert!(heard[3].contains("tool.sh"), "{heard:#?}");
            assert!(!scene.took_made() && !project.join("other").exists());
        },
    );
}

#[test]
fn an_approver_that_looks_elsewhere_says_where() {
    room::inside(
        "flow::over_the_app_server::an_approver_that_looks_elsewhere_says_where",
        |codex| {
            let scene = Scene::new(codex);
            // Codex hands a server no variable that its entry does not name.
            let file = scene.lab.project.join(".codex/config.toml");
            let text = std::fs::read_to_string(&file).expect("it was written");
            write(&file, &text.replace("\"XDG_STATE_HOME\", ", ""));
            let mut app = scene.app_server(&[], calmly(vec![approve()]));
            let heard = scene.turn(&mut app, &json!({}), scene.flow());
            assert_nothing_ran(&scene, &heard, "another state directory");
            let other = scene.lab.home.join(".local/state/codexgate");
            assert!(
                heard[1].contains(&other.display().to_string()),
                "{heard:#?}"
            );
            assert!(app.questions.is_empty());
        },
    );
}
