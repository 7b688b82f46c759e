//! The parts of the gate, as Codex sees them.

use super::{Place, write};
use crate::ask::Question;
use crate::program;
use crate::scenario::Scenario;
use crate::worker::Worker;
use serde_json::{Value, json};

/// A configuration that is open in every way that the pin forbids.
const OPEN: &str = "sandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"\n";

/// A granular policy that keeps servers' questions from every person.
const SILENT: &str =
    "[approval_policy.granular]\nsandbox_approval = true\nrules = true\nmcp_elicitations = false\n";

/// What other clients' READMEs offer.
const README_JSON: &str = r#"{"mcpServers": {
    "files": {"command": "npx", "args": ["-y", "files"], "env": {"MODE": "ro", "TOKEN": "${TOKEN}"}},
    "web": {"type": "http", "url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer ${KEY}"}},
    "off": {"command": "off", "disabled": true}
}}"#;

#[test]
fn codex_enforces_the_pin() {
    let Some(codex) = program::find_for("codex_enforces_the_pin") else {
        return;
    };
    let place = Place::new();
    let root = place.lab.root.join("image");
    std::fs::create_dir(&root).expect("the lab is writable");
    let root_text = root.to_str().expect("a lab's path is text");
    let done = place.codexgate(&[
        "install",
        "--scope",
        "system",
        "--system-root",
        root_text,
        "--yes",
    ]);
    assert!(done.done(), "{}{}", done.text(), done.stderr);
    let pin = std::fs::read(root.join("etc/codex/requirements.toml")).expect("the pin was written");

    let mut worker = Worker::start(&codex);
    let open = ask(&mut worker, &[("home/config.toml", OPEN.as_bytes())]);
    assert_eq!(
        open["sandbox"]["type"], "dangerFullAccess",
        "the control: {open:#}"
    );
    let pinned = ask(
        &mut worker,
        &[
            ("home/config.toml", OPEN.as_bytes()),
            ("etc/requirements.toml", &pin),
        ],
    );
    assert_eq!(pinned["starts"], true, "{pinned:#}");
    assert_eq!(pinned["sandbox"]["type"], "readOnly");
    assert_eq!(pinned["approval_policy"], "on-request");
}

#[test]
fn a_servers_question_reaches_a_person_after_install() {
    let name = "a_servers_question_reaches_a_person_after_install";
    let Some(codex) = program::find_for(name) else {
        return;
    };
    let place = Place::with_repository();
    let file = place.lab.project.join(".codex/config.toml");
    write(&file, SILENT);
    let refused = place.codexgate(&["install", "--yes"]);
    assert_eq!(
        refused.code,
        Some(1),
        "{}{}",
        refused.text(),
        refused.stderr
    );
    let done = place.codexgate(&["install", "--yes", "--on-collision", "replace"]);
    assert!(done.done(), "{}{}", done.text(), done.stderr);

    let elicitations =
        |answer: &Value| answer["approval_policy"]["granular"]["mcp_elicitations"].clone();
    let mut worker = Worker::start(&codex);
    let mut ask_project = |text: &[u8]| {
        let mut scenario = Scenario::default();
        scenario.spec.insert("trust".to_owned(), json!("trusted"));
        scenario
            .files
            .insert("project/.codex/config.toml".to_owned(), text.to_vec());
        worker
            .ask(&scenario, Question::AppServer)
            .expect("Codex answers")["codex"]
            .take()
    };
    assert_eq!(
        elicitations(&ask_project(SILENT.as_bytes())),
        false,
        "the control"
    );
    let text = std::fs::read(&file).expect("it was written");
    assert_eq!(elicitations(&ask_project(&text)), true);
}

#[test]
fn a_project_that_install_trusts_is_read() {
    let Some(codex) = program::find_for("a_project_that_install_trusts_is_read") else {
        return;
    };
    let place = Place::new();
    let mut worker = Worker::start(&codex);
    let install = |more: &[&str]| {
        let flags = [
            &["install", "--server", "demo", "--yes"],
            more,
            &["--", "demo-server"],
        ]
        .concat();
        let done = place.codexgate(&flags);
        assert!(done.done(), "{}{}", done.text(), done.stderr);
        done.text() + &done.stderr
    };
    let said = install(&[]);
    assert!(
        said.contains("trust"),
        "it does not say that the file is not in force: {said}"
    );
    let unknown = worker.ask_in(&place.lab.root).expect("Codex answers");
    assert_eq!(unknown["listed"], json!([]), "{unknown:#}");
    install(&["--trust"]);
    let trusted = worker.ask_in(&place.lab.root).expect("Codex answers");
    assert_eq!(trusted["listed"][0]["name"], "demo", "{trusted:#}");
}

#[test]
fn servers_out_of_a_readme_are_what_codex_lists() {
    let test = "servers_out_of_a_readme_are_what_codex_lists";
    let Some(codex) = program::find_for(test) else {
        return;
    };
    let place = Place::new();
    let file = place.lab.root.join("servers.json");
    write(&file, README_JSON);
    let file = file.to_str().expect("a lab's path is text");
    let done = place.codexgate(&["install", "--scope", "user", "--from", file, "--yes"]);
    assert!(done.done(), "{}{}", done.text(), done.stderr);
    let answer = Worker::start(&codex)
        .ask_in(&place.lab.root)
        .expect("Codex answers");
    let server = |name: &str| {
        let mut listed = answer["listed"].as_array().into_iter().flatten();
        listed
            .find(|server| server["name"] == name)
            .cloned()
            .unwrap_or_default()
    };
    let files = server("files");
    assert_eq!(
        files["transport"]["args"],
        json!(["-y", "files"]),
        "{answer:#}"
    );
    assert_eq!(files["transport"]["env"], json!({"MODE": "ro"}));
    assert_eq!(files["transport"]["env_vars"], json!(["TOKEN"]));
    let web = server("web");
    assert_eq!(web["transport"]["url"], "http://127.0.0.1:9/mcp");
    assert_eq!(web["transport"]["bearer_token_env_var"], "KEY");
    assert_eq!(
        (&server("off")["enabled"], &files["enabled"]),
        (&json!(false), &json!(true))
    );
}

fn ask(worker: &mut Worker, files: &[(&str, &[u8])]) -> Value {
    let mut scenario = Scenario::default();
    for (name, bytes) in files {
        scenario.files.insert((*name).to_owned(), bytes.to_vec());
    }
    worker
        .ask(&scenario, Question::AppServer)
        .expect("Codex answers")["codex"]
        .take()
}
