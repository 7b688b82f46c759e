//! What a client of an official SDK sees, whatever language it is written in.

use super::scene::Scene;
use crate::process;
use serde_json::{Value, json};
use std::process::Command;

/// What the person does, and a part of what the tool says then.
const ROWS: [(&str, &str); 6] = [
    ("nobody", "this client cannot ask a person"),
    ("approve", "Approved by the person"),
    ("reject", "the person rejected it"),
    ("decline", "Not approved: "),
    ("cancel", "Not approved: "),
    ("error", "the client answered with error"),
];

/// Runs `client` with a proposal for each row: only what was approved may run.
pub fn asks_and_is_believed(scene: &Scene, client: &mut Command) {
    let tokens: Vec<String> = ROWS.iter().map(|_| scene.new_token()).collect();
    let pairs = tokens.iter().zip(ROWS);
    let pairs = pairs.map(|(token, (answer, _))| format!("{token}={answer}"));
    let done = process::run(client.arg(&scene.gate).args(pairs));
    assert!(done.done(), "{}\n{}", done.text(), done.stderr);
    let said: Value = serde_json::from_slice(&done.stdout).expect("the client prints JSON");
    assert_eq!(said["server"], "codexgate", "{said:#}");
    assert_eq!(said["tools"], json!(["codexgate_approve"]), "{said:#}");
    assert_eq!(said["asked"], ROWS.len() - 1, "{said:#}");
    let unknown = said["unknown_tool"].as_str().expect("a text");
    assert!(unknown.contains("no such tool"), "{unknown}");
    for (index, (answer, comes)) in ROWS.iter().enumerate() {
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
}

/// Runs what puts an SDK in place.
///
/// # Errors
/// What it said, where it did not.
pub fn run(command: &mut Command) -> Result<(), String> {
    let done = command.output();
    let done = done.map_err(|error| format!("{command:?}: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&done.stderr);
    Err(format!("{command:?}: {}", errors.trim()))
}
