//! The official MCP SDK for TypeScript as a client of the approver.
//!
//! `npm ci` puts the SDK into a folder below `target/`, once for each package-lock.json.

use super::scene::Scene;
use super::{room, sdk};
use crate::program;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PACKAGE: &str = include_str!("../typescript/package.json");
/// All that the SDK needs, pinned.
const LOCK: &str = include_str!("../typescript/package-lock.json");

/// The client. It lies beside the SDK, where node looks for it.
const CLIENT: &str = include_str!("typescript_sdk.mjs");

/// The client, with the SDK beside it.
fn client() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("typescript-mcp");
    let (client, ready) = (folder.join("client.mjs"), folder.join("ready"));
    let put = |path: &Path, text: &str| fs::write(path, text).map_err(|error| error.to_string());
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    put(&client, CLIENT)?;
    if fs::read_to_string(&ready).is_ok_and(|lock| lock == LOCK) {
        return Ok(client);
    }
    put(&folder.join("package.json"), PACKAGE)?;
    put(&folder.join("package-lock.json"), LOCK)?;
    let quiet = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
    sdk::run(Command::new("npm").args(quiet).current_dir(&folder))?;
    put(&ready, LOCK)?;
    Ok(client)
}

/// The node on the caller's PATH, by its own path: the scene has another PATH.
fn node() -> Result<PathBuf, String> {
    let script = "process.stdout.write(process.execPath)";
    let done = Command::new("node").args(["-e", script]).output();
    let done = done.map_err(|error| format!("node: {error}"))?;
    let path = String::from_utf8_lossy(&done.stdout).into_owned();
    Ok(PathBuf::from(path))
}

#[test]
fn the_typescript_sdk_asks_and_is_believed() {
    let test = "flow::typescript_sdk::the_typescript_sdk_asks_and_is_believed";
    // Outside of the room, where there is a network.
    let (node, client) = match node().and_then(|node| Ok((node, client()?))) {
        Ok(both) => both,
        Err(why) => return program::skip(test, &why),
    };
    room::inside(test, |codex| {
        let scene = Scene::new(codex);
        sdk::asks_and_is_believed(&scene, scene.command(&node).arg(&client));
    });
}
