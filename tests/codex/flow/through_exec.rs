//! `codex exec` has nobody to ask: nothing is ever granted there.

use super::room;
use super::scene::Scene;
use crate::process::{self, Finished};

/// Runs the whole flow as `codex exec FLAGS go`.
fn exec(scene: &Scene, flags: &[&str]) -> Finished {
    scene.model.script(scene.flow());
    let mut command = scene.command(&scene.codex);
    process::run(command.arg("exec").args(flags).arg("go"))
}

#[test]
fn nothing_is_granted_where_nobody_is_asked() {
    room::inside(
        "flow::through_exec::nothing_is_granted_where_nobody_is_asked",
        |codex| {
            let scene = Scene::new(codex);
            for approval in ["on-request", "never"] {
                for sandbox in ["read-only", "workspace-write", "danger-full-access"] {
                    let row = format!("{approval}, {sandbox}");
                    scene.configure(&format!(
                        "approval_policy = \"{approval}\"\nsandbox_mode = \"{sandbox}\"\n"
                    ));
                    let done = exec(&scene, &[]);
                    assert!(done.done(), "{row}: {}", done.stderr);
                    let heard = scene.model.heard();
                    assert_eq!(heard.len(), 4, "{row}: {heard:#?}");
                    let asked = &heard[1];
                    assert!(asked.contains("Not approved: "), "{row}: {asked}");
                    // Without a sandbox nothing is even proposed.
                    let open = sandbox == "danger-full-access";
                    let was_asked = asked.contains("asks nobody under `codex exec`");
                    assert_eq!(was_asked, !open, "{row}: {heard:#?}");
                    for text in &heard[2..] {
                        assert!(!text.contains("exited with code 0"), "{row}: {text}");
                    }
                    assert!(!scene.took_made(), "{row}: it ran");
                }
            }
            let journal = scene.journal();
            let granted = |kind: &String| kind == "approved" || kind == "started";
            assert!(!journal.iter().any(granted), "{journal:?}");
        },
    );
}
