//! The official MCP SDK for Python as a client of the approver: what a client written by the
//! protocol's own people makes of it.
//!
//! `pip` puts the SDK into a folder below `target/`, once.

use super::room;
use super::scene::Scene;
use crate::process;
use crate::program;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version that is installed. Its own dependencies are its own affair.
const SDK: &str = "mcp==2.3.0";

/// The client: it lists the tools, calls ours for each token, and prints what it got.
const CLIENT: &str = include_str!("python_sdk.py");

/// The Python of a virtual environment that has the SDK.
fn python() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python-mcp");
    let python = folder.join("bin/python");
    let ready = folder.join(SDK);
    if ready.exists() {
        return Ok(python);
    }
    let run = |command: &mut Command| {
        let done = command
            .output()
            .map_err(|error| format!("{command:?}: {error}"))?;
        let errors = String::from_utf8_lossy(&done.stderr);
        done.status
            .success()
            .then_some(())
            .ok_or_else(|| format!("{command:?}: {}", errors.trim()))
    };
    run(Command::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(&folder))?;
    let quiet = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        SDK,
    ];
    run(Command::new(&python).args(quiet))?;
    std::fs::write(&ready, "").map_err(|error| error.to_string())?;
    Ok(python)
}

#[test]
fn the_python_sdk_asks_and_is_believed() {
    let test = "flow::python_sdk::the_python_sdk_asks_and_is_believed";
    // Outside of the room, where there is a network.
    let python = match python() {
        Ok(python) => python,
        Err(why) => return program::skip(test, &why),
    };
    room::inside(test, |codex| {
        let scene = Scene::new(codex);
        let rows = [
            ("nobody", "this client cannot ask a person"),
            ("approve", "Approved by the person"),
            ("reject", "the person rejected it"),
            ("decline", "Not approved: "),
            ("cancel", "Not approved: "),
            ("error", "the client answered with error"),
        ];
        let tokens: Vec<String> = rows.iter().map(|_| scene.new_token()).collect();
        let pairs = tokens
            .iter()
            .zip(rows)
            .map(|(token, (answer, _))| format!("{token}={answer}"));
        let mut command = scene.command(&python);
        let command = command.args(["-c", CLIENT]).arg(&scene.gate).args(pairs);
        let done = process::run(command);
        assert!(done.done(), "{}\n{}", done.text(), done.stderr);
        let said: Value = serde_json::from_slice(&done.stdout).expect("the client prints JSON");
        assert_eq!(said["server"], "codexgate", "{said:#}");
        assert_eq!(said["tools"], json!(["codexgate_approve"]), "{said:#}");
        assert_eq!(said["asked"], rows.len() - 1, "{said:#}");
        let unknown = said["unknown_tool"].as_str().expect("a text");
        assert!(unknown.contains("no such tool"), "{unknown}");
        for (index, (answer, comes)) in rows.iter().enumerate() {
            let result = &said["results"][index];
            let told = result["text"].as_str().expect("a text");
            assert!(told.contains(comes), "{answer}: {told}");
            let granted = *answer == "approve";
            assert_eq!(result["is_error"], !granted, "{answer}: {told}");
            let confirmed = scene.gate(&["apply", "--confirm", &tokens[index]]);
            assert_eq!(confirmed.done(), granted, "{answer}: {}", confirmed.stderr);
            assert_eq!(scene.took_made(), granted, "{answer}");
        }
        assert!(scene.is_left_alone(), "{:?}", scene.processes());
    });
}
