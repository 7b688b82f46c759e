//! The harness itself: Codex starts in a lab and answers.

use crate::program;
use crate::scenario::Scenario;
use crate::worker::{Question, Worker};
use serde_json::json;

#[test]
fn codex_answers_in_a_lab() {
    let Some(codex) = program::find_for("codex_answers_in_a_lab") else {
        return;
    };
    let mut scenario = Scenario::default();
    scenario.spec.insert("trust".to_owned(), json!("trusted"));
    scenario.files.insert(
        "home/config.toml".to_owned(),
        b"approval_policy = \"never\"\n[mcp_servers.a]\ncommand = \"true\"\n".to_vec(),
    );
    scenario.files.insert(
        "etc/config.toml".to_owned(),
        b"sandbox_mode = \"read-only\"\n".to_vec(),
    );
    scenario.files.insert(
        "project/.codex/config.toml".to_owned(),
        b"[mcp_servers.a]\nargs = [\"x\"]\n".to_vec(),
    );
    let mut worker = Worker::start(&codex);
    let answer = worker
        .ask(&scenario, Question::Everything)
        .expect("Codex answers");
    assert_eq!(answer["starts"], true, "{answer:#}");
    assert_eq!(answer["approval_policy"], "never");
    assert_eq!(answer["sandbox"]["type"], "readOnly");
    assert_eq!(answer["origins"]["sandbox_mode"], "system");
    assert_eq!(answer["mcp_servers"]["a"]["origin"]["args.0"], "project");
    assert_eq!(answer["cli"]["exec"]["approval"], "never");

    // The same worker again: nothing of the first question is left.
    let empty = worker
        .ask(&Scenario::default(), Question::AppServer)
        .expect("Codex answers");
    assert_eq!(empty["starts"], true, "{empty:#}");
    assert_eq!(empty["approval_policy"], "on-request");
    assert_eq!(empty.get("mcp_servers"), None);
}
