//! A home with codexgate installed in it, a project, a model, and Codex in front of them.

use super::model::{Model, Step};
use crate::app_server::AppServer;
use crate::lab::Lab;
use crate::process::{self, Finished};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The policy and the sandbox that most tests have.
pub const ON_REQUEST: &str =
    "approval_policy = \"on-request\"\nsandbox_mode = \"workspace-write\"\n";

/// What stands around the policy in the user's `config.toml`.
const POLICY: &str = "# the policy\n";
const POLICY_END: &str = "# until here\n";

/// How long processes get to end by themselves.
const TO_END: Duration = Duration::from_secs(10);

/// Proxies that lead nowhere, for what would leave the machine.
const NOWHERE: &str = "http://127.0.0.1:9";

pub struct Scene {
    pub lab: Lab,
    pub model: Model,
    /// The real Codex.
    pub codex: PathBuf,
    /// A copy of the program under test, where an agent cannot write.
    pub gate: PathBuf,
    _root: tempfile::TempDir,
}

impl Scene {
    /// A trusted project with the gate in it, under [`ON_REQUEST`].
    pub fn new(codex: &Path) -> Self {
        let root = tempfile::Builder::new()
            .prefix("codexgate-")
            .tempdir_in("/var/tmp")
            .expect("/var/tmp is writable");
        let path = root.path().canonicalize().expect("it was just made");
        let mut lab = Lab::at(&path);
        let place = |name: &str| {
            let folder = path.join(name);
            std::fs::create_dir(&folder).expect("the lab is writable");
            folder
        };
        let temporary = place("tmp").display().to_string();
        let gate = place("bin").join("codexgate");
        std::fs::copy(env!("CARGO_BIN_EXE_codexgate"), &gate).expect("it was built");
        let state = path.join("state").display().to_string();
        for (name, value) in [
            ("TMPDIR", temporary.as_str()),
            ("TERM", "xterm-256color"),
            ("XDG_STATE_HOME", &state),
            ("http_proxy", NOWHERE),
            ("https_proxy", NOWHERE),
            ("HTTP_PROXY", NOWHERE),
            ("HTTPS_PROXY", NOWHERE),
            ("no_proxy", "127.0.0.1,localhost"),
            ("NO_PROXY", "127.0.0.1,localhost"),
        ] {
            lab.env.insert(name.to_owned(), value.to_owned());
        }
        let scene = Self {
            lab,
            model: Model::start(),
            codex: codex.to_path_buf(),
            gate,
            _root: root,
        };
        scene.lay_out();
        scene.install();
        scene
    }

    /// Writes the user's `config.toml` with the scripted model.
    fn lay_out(&self) {
        let text = format!(
            r#"model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
{POLICY}{ON_REQUEST}{POLICY_END}
[model_providers.scripted]
name = "scripted"
base_url = "{}"
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
"#,
            self.model.base_url
        );
        write(&self.lab.codex_home.join("config.toml"), &text);
        let done = process::run(self.command(Path::new("git")).args(["init", "--quiet"]));
        assert!(done.done(), "{}", done.stderr);
    }

    /// Puts the gate in, as a person does.
    fn install(&self) {
        let codex = self.codex.display().to_string();
        let done = self.gate(&["install", "--yes", "--trust", "--codex", &codex]);
        assert!(done.done(), "{}{}", done.text(), done.stderr);
        // A first turn does not wait for a slow server otherwise, and the machine may be busy.
        let file = self.lab.project.join(".codex/config.toml");
        let text = std::fs::read_to_string(&file).expect("it was written");
        let head = "[mcp_servers.codexgate]\n";
        assert!(text.contains(head), "{text}");
        let required = format!("{head}required = true\n");
        write(&file, &text.replace(head, &required));
    }

    /// Puts other top-level keys into the user's `config.toml`, in place of [`ON_REQUEST`].
    pub fn configure(&self, policy: &str) {
        let file = self.lab.codex_home.join("config.toml");
        let text = std::fs::read_to_string(&file).expect("it was written");
        let (before, rest) = text.split_once(POLICY).expect("it has a policy");
        let (_, after) = rest.split_once(POLICY_END).expect("it ends");
        write(
            &file,
            &format!("{before}{POLICY}{policy}{POLICY_END}{after}"),
        );
    }

    /// `program` in the project, with nothing of the caller's environment.
    pub fn command(&self, program: &Path) -> Command {
        self.lab.command(program)
    }

    /// What a person runs in a terminal beside Codex.
    pub fn gate(&self, args: &[&str]) -> Finished {
        process::run(self.command(&self.gate).args(args))
    }

    /// The line with which an agent calls the gate.
    pub fn line(&self, words: &str) -> String {
        format!("{} {words}", self.gate.display())
    }

    /// Proposes `touch made`.
    pub fn propose(&self) -> Step {
        Step::run(self.line("apply --format json -- touch made"))
    }

    /// Runs what was approved under the newest token.
    pub fn confirm(&self) -> Step {
        Step::run(self.line("apply --confirm ${token}"))
    }

    /// A whole gated action: proposed, asked about, confirmed twice.
    pub fn flow(&self) -> [Step; 4] {
        [self.propose(), Step::ask(), self.confirm(), self.confirm()]
    }

    /// The token of a new proposal to `touch made`, made by a person's own command.
    pub fn new_token(&self) -> String {
        let done = self.gate(&["apply", "--format", "json", "--", "touch", "made"]);
        assert!(done.done(), "{}", done.stderr);
        let made: Value = serde_json::from_slice(&done.stdout).expect("it prints JSON");
        made["token"].as_str().expect("it has a token").to_owned()
    }

    /// Whether what [`Self::propose`] proposes ran; takes its trace away.
    pub fn took_made(&self) -> bool {
        std::fs::remove_file(self.lab.project.join("made")).is_ok()
    }

    /// An app server whose client answers what Codex asks with `answer`.
    pub fn app_server(
        &self,
        flags: &[&str],
        answer: impl FnMut(&str, &Value) -> Vec<Value> + 'static,
    ) -> AppServer {
        let mut command = self.command(&self.codex);
        let mut app = AppServer::start(command.arg("app-server").args(flags));
        app.answering(answer);
        app.initialize().expect("Codex starts");
        app
    }

    /// Starts a thread in the project, with more parameters; its id.
    pub fn thread(&self, app: &mut AppServer, more: &Value) -> String {
        let mut params = json!({ "cwd": self.lab.project });
        for (name, value) in more.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        let started = app.call("thread/start", &params).expect("a thread starts");
        let id = started["thread"]["id"].as_str();
        id.expect("it has an id").to_owned()
    }

    /// Runs `steps` as one turn of a new thread; what the agent was told, in order.
    pub fn turn(
        &self,
        app: &mut AppServer,
        more: &Value,
        steps: impl IntoIterator<Item = Step>,
    ) -> Vec<String> {
        self.model.script(steps);
        let thread = self.thread(app, more);
        let turn = app.start_turn(&thread, "go").expect("a turn starts");
        let ended = app.end_of_turn(&turn).expect("the turn ends");
        assert_eq!(ended["status"], "completed", "{ended:#}");
        self.model.heard()
    }

    /// The kinds of the journal's records, in order.
    pub fn journal(&self) -> Vec<String> {
        let done = self.gate(&["journal", "export"]);
        assert!(done.done(), "{}", done.stderr);
        let export: Value = serde_json::from_slice(&done.stdout).expect("it exports JSON");
        let records = export["records"].as_array().into_iter().flatten();
        records
            .map(|record| record["event"]["kind"].as_str().unwrap_or("?").to_owned())
            .collect()
    }

    /// Everything that makes a grant unforgeable, byte for byte: the state directory, the program,
    /// and what Codex's home says about policy.
    pub fn guarded(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let home = &self.lab.codex_home;
        let mut found = BTreeMap::new();
        for path in [
            self.lab.root.join("state"),
            self.lab.root.join("bin"),
            home.join("config.toml"),
            home.join("rules"),
            self.lab.project.join(".codex"),
        ] {
            collect(&path, &mut found);
        }
        found
    }

    /// The processes of this scene: Codex hands TMPDIR on to everything that it starts.
    pub fn processes(&self) -> Vec<rustix::process::Pid> {
        let mark = format!("TMPDIR={}", self.lab.env["TMPDIR"]);
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter_map(|entry| {
                let id: i32 = entry.file_name().to_str()?.parse().ok()?;
                let variables = std::fs::read(entry.path().join("environ")).ok()?;
                let ours = variables
                    .split(|byte| *byte == 0)
                    .any(|variable| variable == mark.as_bytes());
                rustix::process::Pid::from_raw(id).filter(|_| ours)
            })
            .collect()
    }

    /// Waits until all of them have ended by themselves; whether they did.
    pub fn is_left_alone(&self) -> bool {
        let end = Instant::now() + TO_END;
        while !self.processes().is_empty() {
            if Instant::now() > end {
                return false;
            }
            sleep(Duration::from_millis(20));
        }
        true
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for process in self.processes() {
            // It may have ended just now.
            let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
        }
    }
}

fn collect(path: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("it can be read").flatten() {
            collect(&entry.path(), found);
        }
    } else if let Ok(bytes) = std::fs::read(path) {
        found.insert(path.to_path_buf(), bytes);
    }
}

/// Writes a file of the lab, and makes the folders above it.
pub fn write(path: &Path, text: &str) {
    let parent = path.parent().expect("it lies in the lab");
    std::fs::create_dir_all(parent).expect("the lab is writable");
    std::fs::write(path, text).expect("the lab is writable");
}
