//! What `install` writes is what Codex reads, and nothing that was there reads otherwise.

mod corpus;
mod gate;
mod random;

use crate::lab::Lab;
use crate::process::{self, Finished};
use crate::program;
use crate::worker::Worker;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The server that the tests install.
const SERVER: [&str; 2] = ["--server", "demo"];

/// Its command line.
const COMMAND: [&str; 3] = ["--", "demo-server", "--flag"];

/// The program in a lab.
pub const PROGRAM: &str = "program/codexgate";

/// Puts the program into the lab at `root`, a place that no agent can write: `install` refuses one
/// in a git work tree.
pub fn place_program(root: &Path) {
    let (built, program) = (env!("CARGO_BIN_EXE_codexgate"), root.join(PROGRAM));
    let folder = program.parent().expect("it lies in the lab");
    std::fs::create_dir_all(folder).expect("the lab is writable");
    if std::fs::hard_link(built, &program).is_err() {
        std::fs::copy(built, &program).expect("there is room for a copy");
    }
}

/// A project with servers of each kind, written by several hands.
const PROJECT: &str = r#"# our servers
model_reasoning_effort = "high"   # slow but sure

[mcp_servers]
inline = { command = 'npx', args = ["-y", "pkg"], enabled = false }

[mcp_servers."quoted name".env]   # before its parent
KEY = "value"

[mcp_servers."quoted name"]
command = "uvx"

[mcp_servers.remote]
url = "http://127.0.0.1:9/mcp"
bearer_token_env_var = "TOKEN"
"#;

/// A user's file with a server of its own and keys after it.
const USER: &str = "[mcp_servers.mine]\ncommand = \"true\"\nargs = [\n  \"a\", # first\n  \"b\",\n]\n\n[tui]\ntheme = \"x\"\n";

/// A lab in a folder that codexgate lets hold its state: it refuses one below `/tmp`.
struct Place {
    lab: Lab,
    _root: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("codexgate-")
            .tempdir_in("/var/tmp")
            .expect("/var/tmp is writable");
        let mut lab = Lab::at(&root.path().canonicalize().expect("it was just made"));
        let state = lab.root.join("state").display().to_string();
        lab.env.insert("XDG_STATE_HOME".to_owned(), state);
        place_program(&lab.root);
        Self { lab, _root: root }
    }

    /// A trusted project in a git repository with everything committed.
    fn with_repository() -> Self {
        let place = Self::new();
        let lab = &place.lab;
        write(&lab.codex_home.join("config.toml"), USER);
        write(&lab.project.join(".codex/config.toml"), PROJECT);
        write(&lab.project.join("README.md"), "a sample\n");
        lab.trust("trusted");
        place.git(&["init", "--quiet"]);
        place.git(&["add", "--all"]);
        place.git(&[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x",
            "commit",
            "--quiet",
            "--message",
            "x",
        ]);
        place
    }

    fn git(&self, args: &[&str]) -> Finished {
        let done = process::run(self.lab.command(Path::new("git")).args(args));
        assert!(done.done(), "git {args:?}: {}", done.stderr);
        done
    }

    fn codexgate(&self, args: &[&str]) -> Finished {
        process::run(self.codexgate_command().args(args))
    }

    fn codexgate_command(&self) -> Command {
        self.lab.command(&self.lab.root.join(PROGRAM))
    }

    fn install(&self, scope: &str) -> Finished {
        self.codexgate(
            &[
                &["install", "--scope", scope],
                &SERVER[..],
                &["--yes"],
                &COMMAND[..],
            ]
            .concat(),
        )
    }

    fn uninstall(&self, scope: &str) -> Finished {
        self.codexgate(&[&["uninstall", "--scope", scope], &SERVER[..], &["--yes"]].concat())
    }
}

fn write(path: &Path, text: &str) {
    let parent = path.parent().expect("it lies in a lab");
    std::fs::create_dir_all(parent).expect("the lab is writable");
    std::fs::write(path, text).expect("the lab is writable");
}

/// All files below the project and Codex's home with content and time, the state directory and
/// what Codex keeps for itself aside.
fn files(lab: &Lab) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    [
        lab.project.join(".codex/config.toml"),
        lab.codex_home.join("config.toml"),
    ]
    .into_iter()
    .filter_map(|path| {
        let time = std::fs::metadata(&path).ok()?.modified().ok()?;
        Some((path.clone(), std::fs::read(&path).ok()?, time))
    })
    .collect()
}

/// Checks that Codex sees in `after` what it saw in `before`, and `demo` in `layer`.
fn assert_demo_beside_the_old(before: &Value, after: &Value, layer: &str) {
    assert!(
        after["listed"].is_array(),
        "Codex refuses the result: {after:#}"
    );
    let (demo, others): (Vec<Value>, Vec<Value>) = list(after)
        .into_iter()
        .partition(|server| server["name"] == "demo");
    assert_eq!(
        others,
        list(before),
        "`codex mcp list` shows another old server"
    );
    assert_eq!(demo.len(), 1, "{after:#}");
    assert_eq!(demo[0]["enabled"], true, "{after:#}");
    assert_eq!(demo[0]["transport"]["command"], "demo-server");
    assert_eq!(demo[0]["transport"]["args"], json!(["--flag"]));

    let mut config = after["config"].clone();
    let servers = config["mcp_servers"].as_object_mut().expect("there is one");
    let read = servers.remove("demo").expect("`config/read` has it");
    assert_eq!(read["command"], "demo-server");
    assert_eq!(read["args"], json!(["--flag"]));
    let mut old = before["config"].clone();
    if old["mcp_servers"].is_null() {
        old["mcp_servers"] = json!({});
    }
    assert_eq!(config, old, "`config/read` shows another old value");
    assert_eq!(after["origins"]["mcp_servers.demo.command"], layer);
}

fn list(answer: &Value) -> Vec<Value> {
    answer["listed"].as_array().cloned().unwrap_or_default()
}

#[test]
fn an_installed_server_is_seen_by_codex_and_leaves_without_a_trace() {
    let test = "an_installed_server_is_seen_by_codex_and_leaves_without_a_trace";
    let Some(codex) = program::find_for(test) else {
        return;
    };
    let mut worker = Worker::start(&codex);
    for scope in ["project", "user"] {
        let place = Place::with_repository();
        let original = files(&place.lab);
        let before = worker.ask_in(&place.lab.root).expect("Codex answers");
        assert_eq!(list(&before).len(), 4, "{before:#}");

        let done = place.install(scope);
        assert!(done.done(), "{scope}: {}{}", done.text(), done.stderr);
        let after = worker.ask_in(&place.lab.root).expect("Codex answers");
        assert_demo_beside_the_old(&before, &after, scope);

        let installed = files(&place.lab);
        let again = place.install(scope);
        assert!(again.done(), "{scope}: {}{}", again.text(), again.stderr);
        assert_eq!(
            files(&place.lab),
            installed,
            "{scope}: the second time wrote something"
        );
        let said = (again.text() + &again.stderr).to_lowercase();
        assert!(
            said.contains("nothing"),
            "{scope}: it does not say that nothing changed: {said}"
        );

        let done = place.uninstall(scope);
        assert!(done.done(), "{scope}: {}{}", done.text(), done.stderr);
        assert_eq!(place.git(&["status", "--porcelain"]).text(), "", "{scope}");
        let bytes = |files: &[(PathBuf, Vec<u8>, _)]| {
            files
                .iter()
                .map(|(path, bytes, _)| (path.clone(), bytes.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(bytes(&files(&place.lab)), bytes(&original), "{scope}");
        let last = worker.ask_in(&place.lab.root).expect("Codex answers");
        assert_eq!(last, before, "{scope}");
    }
}

#[test]
fn the_first_server_of_a_project_makes_a_file_that_codex_reads() {
    let test = "the_first_server_of_a_project_makes_a_file_that_codex_reads";
    let Some(codex) = program::find_for(test) else {
        return;
    };
    let place = Place::new();
    place.lab.trust("trusted");
    let mut worker = Worker::start(&codex);
    let before = worker.ask_in(&place.lab.root).expect("Codex answers");
    let done = place.install("project");
    assert!(done.done(), "{}{}", done.text(), done.stderr);
    let after = worker.ask_in(&place.lab.root).expect("Codex answers");
    assert_demo_beside_the_old(&before, &after, "project");
    let done = place.uninstall("project");
    assert!(done.done(), "{}{}", done.text(), done.stderr);
    assert!(
        !place.lab.project.join(".codex").exists(),
        "a folder is left"
    );
}

#[test]
fn a_server_that_differs_is_refused_and_codex_reads_what_it_read() {
    let test = "a_server_that_differs_is_refused_and_codex_reads_what_it_read";
    let Some(codex) = program::find_for(test) else {
        return;
    };
    let place = Place::with_repository();
    let mut worker = Worker::start(&codex);
    let before = worker.ask_in(&place.lab.root).expect("Codex answers");
    let original = files(&place.lab);
    let refused = place.codexgate(&["install", "--server", "remote", "--yes", "--", "other"]);
    assert_eq!(
        refused.code,
        Some(1),
        "{}{}",
        refused.text(),
        refused.stderr
    );
    assert!(refused.stderr.contains("remote"), "{}", refused.stderr);
    assert_eq!(files(&place.lab), original);
    assert_eq!(
        worker.ask_in(&place.lab.root).expect("Codex answers"),
        before
    );
}
