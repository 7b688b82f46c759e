//! `codexgate show`: what is in force, in text and JSON. What it must agree with is in
//! `tests/scenarios`; here is what a person sees.

use serde_json::Value;

use crate::support::{Sandbox, snapshot};

/// A trusted project that opens the gate over a user who closed it.
fn opened() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "project/.codex/config.toml",
        "# ours\napproval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\nnotify = [\"x\"]\n\n\
         [mcp_servers.docs]\ncommand = \"npx\"\nenv = { API_KEY = \"sk-abcdefghijklmnopqrstuvwxyz123456\" }\n",
    );
    sandbox.write(
        "home/.codex/config.toml",
        "approval_policy = \"on-request\"\nbogus = 1\n[mcp_servers.docs]\ncommand = \"docs\"\n",
    );
    sandbox.trust_project();
    sandbox
}

fn json(sandbox: &Sandbox, args: &[&str]) -> Value {
    let text = sandbox.run([&["show", "--format", "json"], args].concat());
    let line = text.lines().next().expect("a line");
    serde_json::from_str(line).expect("the output is JSON")
}

#[test]
fn the_line_that_opens_the_gate_is_named() {
    let sandbox = opened();
    snapshot("show/opened", &sandbox.run(["show"]));
    snapshot(
        "show/opened_key",
        &sandbox.run(["show", "mcp_servers.docs"]),
    );
}

#[test]
fn an_empty_project_shows_the_defaults() {
    snapshot("show/empty", &Sandbox::new().run(["show"]));
}

#[test]
fn where_codex_does_not_start_the_place_is_the_answer() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "home/.codex/config.toml",
        "model = \"x\"\napproval_policy = \"always\"\n",
    );
    snapshot("show/does_not_start", &sandbox.run(["show"]));
    let told = json(&sandbox, &[]);
    assert_eq!(told["starts"], false);
    assert_eq!(told["error"]["line"], 2);
}

#[test]
fn a_codex_home_that_is_missing_is_an_answer() {
    let sandbox = Sandbox::new();
    let output = sandbox
        .command()
        .args(["show", "--format", "json"])
        .env("CODEX_HOME", "/nonexistent/codex")
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    let told: Value = serde_json::from_slice(&output.stdout).expect("the output is JSON");
    assert_eq!(told["starts"], false);
    let message = told["error"]["message"].as_str().expect("a message");
    assert!(message.contains("$CODEX_HOME"), "{message}");
}

#[test]
fn a_folder_that_a_thread_trusts_by_itself_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "home/.codex/config.toml",
        "sandbox_mode = \"workspace-write\"\n",
    );
    sandbox.write(
        "project/.codex/config.toml",
        "approval_policy = \"never\"\n",
    );
    snapshot("show/trusts_itself", &sandbox.run(["show"]));
    let told = json(&sandbox, &[]);
    assert_eq!(told["approval_policy"], "never");
    assert_eq!(told["before_trust"]["approval_policy"], "on-request");
    let exec = json(&sandbox, &["--as", "exec"]);
    assert_eq!(exec["trust"]["automatic"], false);
}

#[test]
fn flags_and_assumptions_are_part_of_the_question() {
    let sandbox = opened();
    let told = json(&sandbox, &["--untrusted"]);
    assert_eq!(told["approval_policy"], "on-request");
    assert_eq!(told["sandbox"]["type"], "workspaceWrite");
    let told = json(
        &sandbox,
        &["-c", "approval_policy=on-request", "-s", "read-only"],
    );
    assert_eq!(told["approval_policy"], "on-request");
    assert_eq!(told["sandbox"]["type"], "readOnly");
    let told = json(
        &sandbox,
        &[
            "--codex-version",
            "0.147.0",
            "-c",
            "approval_policy=untrusted",
        ],
    );
    assert_eq!(told["approval_policy"], "untrusted");
    let told = json(&sandbox, &["-c", "approval_policy=untrusted"]);
    assert_eq!(told["starts"], false);
}

#[test]
fn no_secret_is_shown_in_any_form() {
    let sandbox = opened();
    for args in [
        &["show"][..],
        &["show", "mcp_servers.docs.env"],
        &["show", "--format", "json"],
    ] {
        assert!(!sandbox.run(args).contains("abcdefghijklm"), "{args:?}");
    }
}

#[test]
fn nothing_is_written() {
    let sandbox = opened();
    let before = sandbox.census();
    sandbox.run(["show"]);
    assert_eq!(sandbox.census(), before);
}
