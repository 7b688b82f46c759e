//! The whole workflow by the official TypeScript SDK, before the real Codex.

use crate::scene::Scene;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

#[test]
fn the_official_sdk_runs_the_workflow() {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broker/sdk");
    let there = sdk.join("node_modules/@modelcontextprotocol/sdk").is_dir();
    let node = Command::new("node").arg("--version").output();
    if !there || node.is_err() {
        let why = "run `just broker-sdk`: node, or the SDK below tests/broker/sdk, is not there";
        assert!(
            std::env::var_os("CI").is_none_or(|value| value != "true"),
            "{why}"
        );
        // Past the capture of test output.
        let _ = writeln!(std::io::stderr(), "skipped the_official_sdk: {why}");
        return;
    }
    let Some(scene) = Scene::real("the_official_sdk") else {
        return;
    };
    let outside = scene.path("home/outside");
    std::fs::create_dir(&outside).expect("a folder");
    let broker = scene.broker(&["--approvals", "client"]);
    let mut command = Command::new("node");
    command
        .arg(sdk.join("workflow.mjs"))
        .arg(&outside)
        .arg(broker.get_program())
        .args(broker.get_args())
        .current_dir(scene.path("project"))
        .env_clear();
    for (name, value) in broker.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let out = command.output().expect("node runs");
    let (said, errors) = (
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr),
    );
    assert!(out.status.success(), "{said}\n{errors}");
    assert!(said.contains("the workflow went through"), "{said}");
}
