//! The harness itself: Codex starts in a lab and answers.

use crate::ask::Question;
use crate::lab::Lab;
use crate::program;
use crate::scenario::Scenario;
use crate::worker::Worker;
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
        .expect("Codex answers")["codex"]
        .take();
    assert_eq!(answer["starts"], true, "{answer:#}");
    assert_eq!(answer["approval_policy"], "never");
    assert_eq!(answer["sandbox"]["type"], "readOnly");
    assert_eq!(answer["origins"]["sandbox_mode"], "system");
    assert_eq!(answer["mcp_servers"]["a"]["origin"]["args.0"], "project");
    assert_eq!(answer["cli"]["exec"]["approval"], "never");

    // The same worker again: nothing of the first question is left.
    let empty = worker
        .ask(&Scenario::default(), Question::Everything)
        .expect("Codex answers")["codex"]
        .take();
    assert_eq!(empty["starts"], true, "{empty:#}");
    assert_eq!(empty["approval_policy"], "on-request");
    assert_eq!(empty.get("mcp_servers"), None);
}

#[test]
fn the_servers_of_a_lab_are_listed() {
    let Some(codex) = program::find_for("the_servers_of_a_lab_are_listed") else {
        return;
    };
    let root = tempfile::tempdir_in("/var/tmp").expect("/var/tmp is writable");
    let lab = Lab::at(&root.path().canonicalize().expect("it was just made"));
    lab.trust("trusted");
    let file = lab.project.join(".codex/config.toml");
    std::fs::create_dir(lab.project.join(".codex")).expect("the lab is writable");
    std::fs::write(&file, "[mcp_servers.a]\ncommand = \"true\"\n").expect("the lab is writable");
    let mut worker = Worker::start(&codex);
    let answer = worker.ask_in(&lab.root).expect("Codex answers");
    assert_eq!(answer["listed"][0]["name"], "a", "{answer:#}");
    assert_eq!(answer["config"]["mcp_servers"]["a"]["command"], "true");
    assert_eq!(answer["origins"]["mcp_servers.a.command"], "project");

    std::fs::write(&file, "[mcp_servers.a]\n").expect("the lab is writable");
    let answer = worker.ask_in(&lab.root).expect("Codex answers");
    assert_eq!(answer["listed"], serde_json::Value::Null, "{answer:#}");
    assert!(answer["config_error"]["message"].is_string(), "{answer:#}");
}
