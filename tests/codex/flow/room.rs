//! Namespaces for one test: nothing leaves the machine, and nothing outlives the test.

use crate::{program, worker};
use std::path::Path;
use std::process::Command;

/// Set inside.
const INSIDE: &str = "CODEXGATE_ROOM";

/// What the inside prints at its end: a test that was not found passes as well.
const END: &str = "@the room was left";

/// Runs `body` for `test`, whose full path in this binary is given, in mount, network and process
/// namespaces of its own, with the path of Codex.
///
/// Only root can make them and stay who they are: in the namespace of a user, the system's own
/// folders belong to nobody, and codexgate rightly refuses to trust what lies below them. As
/// another user the test runs in place, with proxies that lead nowhere.
pub fn inside(test: &str, body: impl FnOnce(&Path)) {
    let Some(codex) = program::find_for(test) else {
        return;
    };
    if std::env::var_os(INSIDE).is_some() {
        worker::answer_no_names();
        body(&codex);
        program::say(END);
        return;
    }
    if !rustix::process::geteuid().is_root() {
        if Path::new("/etc/codex").exists() {
            return program::skip(
                test,
                "this machine's /etc/codex is in the way of all but root",
            );
        }
        return body(&codex);
    }
    let room = tempfile::Builder::new()
        .prefix("codexgate-")
        .tempdir_in("/tmp")
        .expect("/tmp is writable");
    let mut command = Command::new("unshare");
    command.args([
        "--mount",
        "--net",
        "--pid",
        "--mount-proc",
        "--fork",
        "--kill-child",
    ]);
    let done = worker::enter(&mut command, room.path(), test, &codex)
        .env(INSIDE, "1")
        .env("CODEX", &codex)
        .output()
        .expect("unshare was there a moment ago");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let errors = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        done.status.success() && errors.contains(END),
        "{test}:\n{said}\n{errors}"
    );
}
