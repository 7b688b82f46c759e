//! A home, a project and a state directory, with a broker that can be started in them.

use crate::client::Client;
use crate::model::Model;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Proxies that lead nowhere, for what would leave the machine.
const NOWHERE: &str = "http://127.0.0.1:9";

pub struct Scene {
    top: tempfile::TempDir,
    pub codex: PathBuf,
    model: Model,
}

/// A session's start with a prompt, under on-request and workspace-write.
pub fn start(prompt: &Value) -> Value {
    let prompt = match prompt {
        Value::String(text) => text.clone(),
        steps => steps.to_string(),
    };
    json!({"prompt": prompt, "approvalPolicy": "on-request", "sandbox": "workspace-write"})
}

impl Scene {
    /// With the real Codex; none, with a word about it, where there is none.
    pub fn real(test: &str) -> Option<Self> {
        match find() {
            Ok(codex) => Some(Self::with(codex)),
            Err(why) => {
                assert!(
                    std::env::var_os("CI").is_none_or(|value| value != "true"),
                    "{test}: {why}"
                );
                // Past the capture of test output.
                let _ = writeln!(std::io::stderr(), "skipped {test}: {why}");
                None
            }
        }
    }

    /// With another program in Codex's place.
    pub fn with(codex: PathBuf) -> Self {
        let top = tempfile::Builder::new()
            .prefix("codexgate-broker-")
            .tempdir_in("/var/tmp")
            .expect("/var/tmp is writable");
        let model = Model::start();
        let scene = Self { top, codex, model };
        for name in ["home/.codex", "project", "bin", "tmp", "state"] {
            std::fs::create_dir_all(scene.path(name)).expect("a folder");
        }
        std::fs::copy(env!("CARGO_BIN_EXE_codexgate"), scene.path("bin/codexgate"))
            .expect("it was built");
        scene.configure("");
        let done = Command::new("git")
            .args(["init", "--quiet"])
            .current_dir(scene.path("project"))
            .status()
            .expect("git is there");
        assert!(done.success());
        scene
    }

    /// Writes the user's configuration, with `more` at its end.
    pub fn configure(&self, more: &str) {
        let text = format!(
            r#"model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "{}"
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
{more}"#,
            self.model.base_url
        );
        std::fs::write(self.path("home/.codex/config.toml"), text).expect("it is ours");
    }

    /// Adds an MCP server `demo` out of the fixture, with the given tools.
    pub fn with_server(&self, more: &str) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broker/demo_server.py");
        let copy = self.path("home/demo_server.py");
        std::fs::copy(script, &copy).expect("the fixture is there");
        self.configure(&format!(
            "[mcp_servers.demo]\ncommand = \"python3\"\nargs = [{:?}]\nrequired = true\n{more}",
            copy.display().to_string()
        ));
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    /// A command with nothing of the caller's environment.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.run(&self.path("bin/codexgate"));
        command.args(args);
        command
    }

    /// Another program with the same environment.
    pub fn run(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path("project")).env_clear();
        let path = |name: &str| self.path(name).display().to_string();
        for (name, value) in [
            ("HOME", path("home")),
            ("CODEX_HOME", path("home/.codex")),
            ("XDG_STATE_HOME", path("state")),
            ("TMPDIR", path("tmp")),
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("TERM", "xterm-256color".to_owned()),
            ("http_proxy", NOWHERE.to_owned()),
            ("https_proxy", NOWHERE.to_owned()),
            ("HTTP_PROXY", NOWHERE.to_owned()),
            ("HTTPS_PROXY", NOWHERE.to_owned()),
            ("no_proxy", "127.0.0.1,localhost".to_owned()),
            ("NO_PROXY", "127.0.0.1,localhost".to_owned()),
        ] {
            command.env(name, value);
        }
        command
    }

    /// The command of a broker with more flags.
    pub fn broker(&self, flags: &[&str]) -> Command {
        let codex = self.codex.display().to_string();
        let mut args = vec!["broker", "--codex", &codex];
        args.extend(flags);
        self.command(&args)
    }

    /// A client without any capability.
    pub fn client(&self, flags: &[&str]) -> Client {
        Client::start(&mut self.broker(flags), &json!({}))
    }

    /// The processes of this scene: everything that is started hands TMPDIR on.
    pub fn processes(&self) -> Vec<(i32, String)> {
        let mark = format!("TMPDIR={}", self.path("tmp").display());
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter_map(|entry| {
                let id: i32 = entry.file_name().to_str()?.parse().ok()?;
                let variables = std::fs::read(entry.path().join("environ")).ok()?;
                let ours = variables
                    .split(|byte| *byte == 0)
                    .any(|variable| variable == mark.as_bytes());
                let words = std::fs::read(entry.path().join("cmdline")).ok()?;
                let words = String::from_utf8_lossy(&words).replace('\0', " ");
                ours.then_some((id, words))
            })
            .collect()
    }

    /// Waits until none is left; those that are after `time`.
    pub fn left_after(&self, time: Duration) -> Vec<(i32, String)> {
        let end = Instant::now() + time;
        loop {
            let left = self.processes();
            if left.is_empty() || Instant::now() >= end {
                return left;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for (process, _) in self.processes() {
            if let Some(process) = rustix::process::Pid::from_raw(process) {
                // It may have ended just now.
                let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
            }
        }
    }
}

/// `$CODEX`, else the pinned one below `tests/codex`; npm's start script is looked through.
fn find() -> Result<PathBuf, String> {
    let given = std::env::var_os("CODEX").filter(|value| !value.is_empty());
    let path = given.map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/codex/node_modules/.bin/codex"),
        PathBuf::from,
    );
    native(&path).ok_or_else(|| format!("there is no Codex at {}", path.display()))
}

fn native(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    if path.extension().is_none_or(|ending| ending != "js") {
        return path.is_file().then_some(path);
    }
    let package = path.parent()?.parent()?;
    let beside = package.parent()?;
    let inside = package.join("node_modules/@openai");
    [beside, &inside]
        .iter()
        .flat_map(|folder| children(folder))
        .filter(|folder| {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("codex-")
        })
        .chain([package.to_path_buf()])
        .flat_map(|folder| children(&folder.join("vendor")))
        .flat_map(|target| [target.join("bin/codex"), target.join("codex/codex")])
        .find(|program| program.is_file())
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}
