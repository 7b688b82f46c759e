//! Sessions in which a grant would be worth nothing, since the agent could write its own: started
//! with flags that no file tells. The approver sees them in what Codex sends with the call.

use super::model::Step;
use super::room;
use super::scene::Scene;
use crate::process;
use serde_json::json;

#[test]
fn a_session_that_could_forge_a_grant_is_refused() {
    room::inside(
        "flow::open_sessions::a_session_that_could_forge_a_grant_is_refused",
        |codex| {
            let scene = Scene::new(codex);
            let home = scene.lab.home.display().to_string();
            let state = scene.lab.root.join("state").display().to_string();
            let rows: [(&[&str], &str); 5] = [
                (&["-s", "danger-full-access"], "without a sandbox"),
                (
                    &["--dangerously-bypass-approvals-and-sandbox"],
                    "without a sandbox",
                ),
                (&["--add-dir", &home], "Codex's home"),
                (&["--add-dir", &state], "the state directory"),
                (
                    &["-c", "sandbox_workspace_write.writable_roots=['/var']"],
                    "the gate",
                ),
            ];
            for (flags, why) in rows {
                scene
                    .model
                    .script([scene.propose(), Step::ask(), scene.confirm()]);
                let mut command = scene.command(&scene.codex);
                let done = process::run(command.arg("exec").args(flags).arg("go"));
                assert!(done.done(), "{flags:?}: {}", done.stderr);
                let heard = scene.model.heard();
                let asked = heard
                    .get(1)
                    .unwrap_or_else(|| panic!("{flags:?}: {heard:#?}"));
                assert!(
                    asked.contains("Not approved: the gate is open here: ") && asked.contains(why),
                    "{flags:?}: {asked}"
                );
                assert!(!scene.took_made(), "{flags:?}: it ran");
            }

            // With a client that would say yes, too: it is not even asked.
            let mut app = scene.app_server(&[], |_, _| {
                vec![json!({"result": {"action": "accept", "content": {"decision": "Approve"}}})]
            });
            let open = json!({"sandbox": "danger-full-access"});
            let steps = [scene.propose(), Step::ask(), scene.confirm()];
            let heard = scene.turn(&mut app, &open, steps);
            assert!(heard[1].contains("without a sandbox"), "{heard:#?}");
            assert!(app.questions.is_empty(), "{:#?}", app.questions);
            assert!(!scene.took_made());
        },
    );
}

#[test]
fn a_folder_beside_the_gate_may_be_added() {
    room::inside(
        "flow::open_sessions::a_folder_beside_the_gate_may_be_added",
        |codex| {
            let scene = Scene::new(codex);
            let beside = scene.lab.root.join("beside");
            std::fs::create_dir(&beside).expect("the lab is writable");
            let beside = beside.display().to_string();
            scene.model.script([scene.propose(), Step::ask()]);
            let mut command = scene.command(&scene.codex);
            let flags = ["exec", "--add-dir", &beside, "go"];
            let done = process::run(command.args(flags));
            assert!(done.done(), "{}", done.stderr);
            // It was asked, and Codex answered by itself, as it always does here.
            let heard = scene.model.heard();
            assert!(
                heard[1].contains("asks nobody under `codex exec`"),
                "{heard:#?}"
            );
        },
    );
}
