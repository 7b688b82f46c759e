//! The approver as a process: what is on its streams, how it ends, what it costs.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::gate::Desk;
use super::support::{Sandbox, shown};

/// How many grants there are.
pub fn grants(desk: &Desk) -> usize {
    fs::read_dir(desk.state().join("grants")).map_or(0, Iterator::count)
}

/// A running approver.
struct Running {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Running {
    fn start(desk: &Desk) -> Self {
        let mut command = desk.command();
        command.arg("mcp");
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
    let desk = Desk::new();
    let token = desk.propose(["--", "true", "--now"]);
    let mut running = Running::start(&desk);
    running.initialize();
    let asked = running.call(&token);
    let card = asked["params"]["message"]
        .as_str()
        .unwrap_or_else(|| panic!("{asked}"));
    assert!(
        card.contains("true --now") && card.contains(&token),
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
    let command = format!("{} approve {token}", desk.executable.display());
    assert!(text.contains("slip") && text.contains(&command), "{text}");
    assert_eq!(grants(&desk), 0);
}

#[test]
fn where_the_gate_cannot_hold_the_result_says_why() {
    let token = "0000-0000-0000-0000-0000";
    let text = |desk: &Desk| {
        let mut running = Running::start(desk);
        running.initialize();
        let result = running.call(token);
        assert_eq!(result["result"]["isError"], true, "{result}");
        let text = result["result"]["content"][0]["text"]
            .as_str()
            .expect("a text");
        text.replace(&format!("{}/", desk.top.display()), "[TMP]/")
    };
    let tell = "Tell the person: this has to be mended before anything can be approved.";
    let desk = Desk::new();
    assert_eq!(
        text(&desk),
        format!(
            "Not approved: no proposal `{token}` waits in `[TMP]/home/.local/state/codexgate`: it \
             is unknown there. If it is still wanted, propose it again with [TMP]/bin/codexgate \
             apply -- PROGRAM ARG and call this tool with the new token."
        )
    );
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(desk.state(), mode).expect("a mode");
    assert_eq!(
        text(&desk),
        format!(
            "Not approved: the state directory is not safe: `[TMP]/home/.local/state/codexgate` \
             has mode 0755, not 0700. {tell} It comes from `$HOME`."
        )
    );
    let config = ".codex/config.toml";
    let desk = Desk::new();
    desk.write(config, "sandbox_mode = \"danger-full-access\"\n");
    let trust = format!(
        "[projects.\"{}\"]\ntrust_level = \"trusted\"\n",
        desk.project.display()
    );
    fs::write(desk.home.join(".codex/config.toml"), trust).expect("a file");
    assert_eq!(
        text(&desk),
        format!(
            "Not approved: the gate is open here: the sandbox is off, decided by \
             [TMP]/project/{config}:1:16. {tell}"
        )
    );
    let desk = Desk::new();
    desk.write(config, "[mcp_servers.codexgate.env]\nHOME = \"/x\"\n");
    assert_eq!(
        text(&desk),
        format!(
            "Not approved: the project decides how this runs: [TMP]/project/{config}:1:1 has \
             `mcp_servers.codexgate.env`. {tell}"
        )
    );
}

#[test]
fn an_agent_is_told_the_path_that_it_was_started_by() {
    use std::os::unix::process::CommandExt as _;
    let desk = Desk::new();
    let link = desk.top.join("link");
    std::os::unix::fs::symlink(&desk.executable, &link).expect("a link");
    let list = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
    let told = |command: &mut Command| {
        let command = command
            .arg("mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(list.as_bytes()).expect("it reads");
        drop(input);
        let output = child.wait_with_output().expect("it ends");
        String::from_utf8(output.stdout).expect("text")
    };
    // The rule that lets it out of the sandbox matches one spelling, so a link stays a link.
    let by_link = told(Command::new(&link).current_dir(&desk.project));
    assert!(
        by_link.contains(&format!("`{} apply", link.display())),
        "{by_link}"
    );
    let by_name = told(desk.command().arg0("codexgate"));
    let path = desk.executable.display();
    assert!(by_name.contains(&format!("`{path} apply")), "{by_name}");
    // What is no name of this one is not believed.
    let by_lie = told(desk.command().arg0("/bin/sh"));
    assert!(by_lie.contains(&format!("`{path} apply")), "{by_lie}");
}

#[test]
fn a_line_of_a_hundred_megabytes_costs_no_memory() {
    let desk = Desk::new();
    let mut running = Running::start(&desk);
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
    let desk = Desk::new();
    let token = desk.propose(["--", "true"]);
    let mut running = Running::start(&desk);
    running.initialize();
    assert_eq!(running.call(&token)["method"], "elicitation/create");
    running.input = None;
    assert_eq!(running.hear()["method"], "notifications/cancelled");
    assert_eq!(running.hear()["result"]["isError"], true);
    assert_eq!(running.child.wait().expect("it ends").code(), Some(0));

    let mut running = Running::start(&desk);
    running.initialize();
    running.call(&token);
    let kill = Command::new("kill")
        .arg(running.child.id().to_string())
        .status();
    assert!(kill.expect("there is a kill").success());
    let status = running.child.wait().expect("it ends");
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(15)
    );
    assert_eq!(grants(&desk), 0);
}
