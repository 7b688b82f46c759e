//! The approver as a process: what is on its streams, how it ends, what it costs.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use codexgate::approval::{self, CommandWish, Gate, Surroundings, SystemClock, Token, What, Wish};
use codexgate::files::RealDisk;
use serde_json::{Value, json};

use super::support::{Sandbox, shown};

/// A sandbox with the executable and the state directory where both are safe.
pub struct Stage {
    pub sandbox: Sandbox,
}

impl Stage {
    pub fn new() -> Self {
        let sandbox = Sandbox::with_state();
        fs::create_dir(sandbox.path("bin")).expect("a folder");
        fs::copy(
            env!("CARGO_BIN_EXE_codexgate"),
            sandbox.path("bin/codexgate"),
        )
        .expect("a copy");
        let state = sandbox.path("home/.local/state/codexgate");
        fs::create_dir_all(&state).expect("folders");
        fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).expect("its owner's");
        Self { sandbox }
    }

    pub fn program(&self) -> PathBuf {
        self.sandbox.path("bin/codexgate")
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(self.program());
        command
            .arg("mcp")
            .env_clear()
            .env("HOME", self.sandbox.path("home"))
            .env("PATH", "/usr/bin:/bin")
            .current_dir(self.sandbox.path("project"));
        command
    }

    pub fn propose(&self, argv: &[&str]) -> Token {
        let around = Surroundings {
            state: self.sandbox.path("home/.local/state/codexgate"),
            codex_home: Some(self.sandbox.path("home/.codex")),
            executable: self.program(),
            cwd: self.sandbox.path("project"),
            project: self.sandbox.path("project"),
            writable: vec![PathBuf::from("/tmp")],
            user_policy: None,
            system_policy: self.sandbox.path("none.toml"),
        };
        let mut disk = RealDisk;
        let mut gate = Gate::open(&around, &SystemClock, &mut disk).expect("it opens");
        let command = CommandWish {
            argv: argv.iter().map(Into::into).collect(),
            inputs: Vec::new(),
            env: Vec::new(),
            stdin: None,
            timeout: Duration::from_secs(5),
        };
        let wish = Wish {
            reason: None,
            expires: Duration::from_mins(15),
            what: What::Command(command),
        };
        let proposed = approval::propose(&mut gate, &around, wish);
        proposed.expect("it can be proposed").0.token().clone()
    }

    pub fn grants(&self) -> usize {
        let grants = self.sandbox.path("home/.local/state/codexgate/grants");
        fs::read_dir(grants).map_or(0, Iterator::count)
    }
}

/// A running approver.
struct Running {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<std::process::ChildStdout>,
}

impl Running {
    fn start(stage: &Stage) -> Self {
        let mut command = stage.command();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self {
            child,
            input,
            output,
        }
    }

    fn say(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    fn write(&mut self, bytes: &[u8]) {
        self.input
            .as_mut()
            .expect("open")
            .write_all(bytes)
            .expect("it reads");
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"))
    }

    fn initialize(&mut self) {
        self.say(
            &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {"elicitation": {"form": {}}},
            "clientInfo": {"name": "test", "version": "0"}}}),
        );
        assert_eq!(self.hear()["result"]["serverInfo"]["name"], "codexgate");
        self.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    fn call(&mut self, token: &str) -> Value {
        self.say(
            &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "codexgate_approve", "arguments": {"token": token}}}),
        );
        self.hear()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_handshake_and_its_end() {
    let sandbox = Sandbox::new();
    let lines = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"0"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":3,"method":"no/such"}"#,
    );
    let output = sandbox
        .command()
        .arg("mcp")
        .write_stdin(lines)
        .output()
        .expect("it runs");
    assert!(output.status.success() && output.stderr.is_empty());
    let heard: Vec<Value> = String::from_utf8(output.stdout)
        .expect("text")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(heard.len(), 3);
    assert_eq!(heard[0]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(heard[1]["result"]["tools"][0]["name"], "codexgate_approve");
    assert_eq!(heard[2]["error"]["code"], -32601);
    assert_eq!(heard[2]["id"], 3);
}

#[test]
fn a_caller_does_not_choose_what_judges_it() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(["mcp", "-C", "/"]), @r"
    --- stderr
    error: `mcp` takes no `-C`: the folder that it is started in counts
    --- exit 2
    ");
    for flag in ["--codex-home", "--system-root"] {
        let output = shown(
            &sandbox
                .command()
                .args(["mcp", flag, "/"])
                .output()
                .expect("it runs"),
            &sandbox.path(""),
        );
        assert!(output.ends_with("--- exit 2\n"), "{output}");
    }
}

#[test]
fn a_proposal_is_asked_about_and_two_slips_grant_nothing() {
    let stage = Stage::new();
    let token = stage.propose(&["true", "--now"]);
    let mut running = Running::start(&stage);
    running.initialize();
    let asked = running.call(token.as_str());
    let card = asked["params"]["message"]
        .as_str()
        .unwrap_or_else(|| panic!("{asked}"));
    assert!(
        card.contains("true --now") && card.contains(token.as_str()),
        "{card}"
    );
    let approve = |id: &Value| {
        json!({"jsonrpc": "2.0", "id": id,
               "result": {"action": "accept", "content": {"decision": "Approve"}}})
    };
    running.say(&approve(&asked["id"]));
    let again = running.hear();
    assert_eq!(again["method"], "elicitation/create", "{again}");
    running.say(&approve(&again["id"]));
    let result = running.hear();
    let text = result["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    let command = format!("{} approve {token}", stage.program().display());
    assert!(text.contains("slip") && text.contains(&command), "{text}");
    assert_eq!(stage.grants(), 0);
}

#[test]
fn where_the_gate_cannot_hold_the_result_says_why() {
    let token = "0000-0000-0000-0000-0000";
    let text = |stage: &Stage| {
        let mut running = Running::start(stage);
        running.initialize();
        let result = running.call(token);
        assert_eq!(result["result"]["isError"], true, "{result}");
        let text = result["result"]["content"][0]["text"]
            .as_str()
            .expect("a text");
        text.replace(&stage.sandbox.path("").display().to_string(), "[TMP]/")
    };
    let tell = "Tell the person: this has to be mended before anything can be approved.";
    let stage = Stage::new();
    assert_eq!(
        text(&stage),
        format!(
            "Not approved: no proposal `{token}` waits in `[TMP]/home/.local/state/codexgate`: it \
             is unknown there. If it is still wanted, propose it again with [TMP]/bin/codexgate \
             apply -- PROGRAM ARG and call this tool with the new token."
        )
    );
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(stage.sandbox.path("home/.local/state/codexgate"), mode).expect("a mode");
    assert_eq!(
        text(&stage),
        format!(
            "Not approved: the state directory is not safe: `[TMP]/home/.local/state/codexgate` \
             has mode 0755, not 0700. {tell} It comes from `$HOME`."
        )
    );
    let config = "project/.codex/config.toml";
    let stage = Stage::new();
    stage
        .sandbox
        .write(config, "sandbox_mode = \"danger-full-access\"\n");
    stage.sandbox.trust_project();
    assert_eq!(
        text(&stage),
        format!(
            "Not approved: the gate is open here: the sandbox is off, decided by \
             [TMP]/{config}:1:16. {tell}"
        )
    );
    let stage = Stage::new();
    stage
        .sandbox
        .write(config, "[mcp_servers.codexgate.env]\nHOME = \"/x\"\n");
    assert_eq!(
        text(&stage),
        format!(
            "Not approved: the project decides how this runs: [TMP]/{config}:1:1 has \
             `mcp_servers.codexgate.env`. {tell}"
        )
    );
}

#[test]
fn a_line_of_a_hundred_megabytes_costs_no_memory() {
    let stage = Stage::new();
    let mut running = Running::start(&stage);
    running.initialize();
    let chunk = vec![b'x'; 1_000_000];
    for _ in 0..100 {
        running.write(&chunk);
    }
    running.write(b"\n");
    assert_eq!(running.hear()["error"]["code"], -32600);
    running.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    assert_eq!(running.hear()["result"], json!({}));
    if let Ok(status) = fs::read_to_string(format!("/proc/{}/status", running.child.id())) {
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|text| text.trim().strip_suffix(" kB"));
        let peak: u64 = peak
            .and_then(|text| text.trim().parse().ok())
            .expect("a number");
        assert!(peak < 30_000, "{peak} kB");
    }
}

#[test]
fn it_ends_with_its_input_and_on_a_signal_while_a_question_is_open() {
    let stage = Stage::new();
    let token = stage.propose(&["true"]);
    let mut running = Running::start(&stage);
    running.initialize();
    assert_eq!(running.call(token.as_str())["method"], "elicitation/create");
    running.input = None;
    assert_eq!(running.hear()["method"], "notifications/cancelled");
    assert_eq!(running.hear()["result"]["isError"], true);
    assert_eq!(running.child.wait().expect("it ends").code(), Some(0));

    let mut running = Running::start(&stage);
    running.initialize();
    running.call(token.as_str());
    let kill = Command::new("kill")
        .arg(running.child.id().to_string())
        .status();
    assert!(kill.expect("there is a kill").success());
    let status = running.child.wait().expect("it ends");
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(15)
    );
    assert_eq!(stage.grants(), 0);
}
