//! The official MCP SDK for Python as a client of the approver: what a client written by the
//! protocol's own people makes of it.
//!
//! `pip` puts the SDK into a folder below `target/`, once.

use super::scene::Scene;
use super::{room, sdk};
use crate::program;
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
    sdk::run(
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&folder),
    )?;
    let quiet = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        SDK,
    ];
    sdk::run(Command::new(&python).args(quiet))?;
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
        sdk::asks_and_is_believed(&scene, scene.command(&python).args(["-c", CLIENT]));
    });
}
