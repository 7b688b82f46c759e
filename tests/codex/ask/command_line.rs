//! What Codex's commands say: `exec`, `mcp list`, `mcp add`, `debug prompt-input`, `execpolicy`.

use crate::errors::{clean, error_from};
use crate::lab::Lab;
use crate::process::{self, Finished};
use crate::scenario::{Places, Scenario, strings};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

/// The line that begins and ends the header of `codex exec`.
const RULE: &str = "--------";

/// A scenario's arguments, by the commands that take them.
#[derive(Debug, Default)]
pub struct Flags {
    /// Those that every command takes: `-c`, `--enable`, `--disable`.
    pub everywhere: Vec<String>,
    /// `-p`.
    pub profile: Vec<String>,
    /// Those that `codex exec` takes alone.
    pub exec: Vec<String>,
    strict: bool,
}

impl Flags {
    /// Which arguments each command gets.
    pub fn split(args: &[String]) -> Self {
        let mut flags = Self::default();
        let mut args = args.iter().cloned();
        while let Some(arg) = args.next() {
            let takes_value = match arg.as_str() {
                "-c" | "--config" | "--enable" | "--disable" | "-p" | "--profile" | "-s"
                | "--sandbox" | "-a" | "--ask-for-approval" | "--add-dir" | "-C" | "--cd"
                | "-m" | "--model" => true,
                "--strict-config" => {
                    flags.strict = true;
                    continue;
                }
                _ => false,
            };
            let list = match arg.as_str() {
                "-c" | "--config" | "--enable" | "--disable" => &mut flags.everywhere,
                "-p" | "--profile" => &mut flags.profile,
                _ => &mut flags.exec,
            };
            list.push(arg);
            list.extend(args.next_if(takes_value));
        }
        flags
    }

    /// `--strict-config`, if it is asked for.
    pub fn strict(&self) -> Option<&'static str> {
        self.strict.then_some("--strict-config")
    }
}

/// The next argument, if it is wanted.
trait NextIf: Iterator {
    fn next_if(&mut self, wanted: bool) -> Option<Self::Item>;
}

impl<I: Iterator> NextIf for I {
    fn next_if(&mut self, wanted: bool) -> Option<Self::Item> {
        if wanted { self.next() } else { None }
    }
}

/// `cli` of `expected.json`, and what `codex mcp list` listed.
pub fn all(codex: &Path, lab: &Lab, flags: &Flags) -> (Value, Option<Vec<Value>>) {
    let mut cli = json!({ "exec": exec(codex, lab, flags) });
    let listed = mcp_list(
        codex,
        lab,
        &[flags.everywhere.as_slice(), &flags.profile].concat(),
    );
    cli["mcp_list"] = match &listed {
        Ok(_) => json!({"starts": true}),
        Err(said) => {
            json!({"starts": false, "exit": said.code, "error": error_from(&said.stderr)})
        }
    };
    if !flags.profile.is_empty() {
        cli["prompt"] = prompt(codex, lab, flags);
    }
    (cli, listed.ok())
}

/// What `codex mcp list --json` lists, or what it did instead.
pub fn mcp_list(codex: &Path, lab: &Lab, flags: &[String]) -> Result<Vec<Value>, Finished> {
    let mut command = lab.command(codex);
    let said = process::run(command.args(flags).args(["mcp", "list", "--json"]));
    match serde_json::from_slice(&said.stdout) {
        Ok(servers) if said.done() => Ok(servers),
        _ => Err(said),
    }
}

/// Runs `codex exec` until it has printed its header or ended, then ends it.
pub fn exec(codex: &Path, lab: &Lab, flags: &Flags) -> Value {
    let dot_codex = lab.cwd.join(".codex");
    let was_there = dot_codex.is_dir();
    let mut command = lab.command(codex);
    command
        .args(&flags.everywhere)
        .args(["exec", "--skip-git-repo-check"])
        .args(flags.strict())
        .args(&flags.profile)
        .args(&flags.exec)
        .arg("hi");
    let (lines, header, code) = read_header(&mut command);
    if !was_there {
        // `exec` may make an empty one, or is ended before it does. Of one that is not empty
        // nothing is removed.
        let _ = std::fs::remove_dir(&dot_codex);
    }
    let text = lines.join("\n");
    if !header {
        return json!({"starts": false, "exit": code, "error": error_from(&text)});
    }
    let field = |key: &str| lines.iter().find_map(|line| line.strip_prefix(key));
    json!({"starts": true, "approval": field("approval: "), "sandbox": field("sandbox: ")})
}

fn read_header(command: &mut Command) -> (Vec<String>, bool, Option<i32>) {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    let stderr = BufReader::new(child.stderr.take().expect("it was piped"));
    let (send, receive) = channel();
    thread::spawn(move || {
        for line in stderr.split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line)
                .trim_end_matches('\r')
                .to_owned();
            if send.send(line).is_err() {
                break;
            }
        }
    });
    let end = Instant::now() + process::LIMIT;
    let (mut lines, mut rules) = (Vec::new(), 0);
    while rules < 2
        && let Ok(line) = receive.recv_timeout(end.saturating_duration_since(Instant::now()))
    {
        rules += usize::from(line.trim() == RULE);
        lines.push(line);
    }
    if rules == 2 || Instant::now() >= end {
        // It may have ended just now.
        let _ = child.kill();
    }
    let code = child.wait().ok().and_then(|status| status.code());
    (lines, rules == 2, code)
}

/// The policy that the model is told, which is the only place where `-p` shows.
fn prompt(codex: &Path, lab: &Lab, flags: &Flags) -> Value {
    let said = process::run(
        lab.command(codex)
            .args(&flags.everywhere)
            .args(&flags.profile)
            .args(["debug", "prompt-input", "hi"]),
    );
    if !said.done() {
        return json!({"starts": false, "error": error_from(&said.stderr)});
    }
    let text = said.text();
    let escalation = text.contains("Escalation Requests");
    let granular =
        text.to_lowercase().contains("granular") && escalation || text.contains("# Granular");
    let approval = if text.contains("Approval policy is currently never") {
        Some("never")
    } else if granular {
        Some("granular")
    } else {
        escalation.then_some("on-request")
    };
    let sandbox = text
        .split_once("`sandbox_mode` is `")
        .and_then(|(_, rest)| rest.split_once('`'))
        .map(|(mode, _)| mode);
    json!({"starts": true, "approval": approval, "sandbox": sandbox})
}

/// `codex execpolicy check`, where the scenario asks for it.
pub fn rules(codex: &Path, lab: &Lab, places: &Places, real: &Scenario) -> Option<Value> {
    let lines = real.spec.get("execpolicy")?.as_array()?;
    let files: Vec<_> = real
        .words("rules")
        .iter()
        .map(|name| places.real(name))
        .collect();
    let check = |line: &Value| {
        // A line is an argv, or options and then an argv as a list.
        let inner = line
            .as_array()
            .and_then(|line| line.last())
            .filter(|last| last.is_array());
        let (options, argv) = match inner {
            Some(argv) => (strings(Some(line)), strings(Some(argv))),
            None => (Vec::new(), strings(Some(line))),
        };
        let mut command = lab.command(codex);
        command.args(["execpolicy", "check"]);
        for file in &files {
            command.arg("--rules").arg(file);
        }
        let said = process::run(command.args(options).arg("--").args(argv));
        let mut entry = json!({ "argv": line });
        if said.done() {
            let answer: Value = serde_json::from_slice(&said.stdout).unwrap_or_default();
            for (key, value) in answer.as_object().into_iter().flatten() {
                entry[key] = value.clone();
            }
        } else {
            entry["exit"] = json!(said.code);
            entry["error"] = json!(clean(&said.stderr));
        }
        entry
    };
    Some(lines.iter().map(check).collect())
}

/// `codex mcp add` and the like, where the scenario asks for it, and the file after it.
pub fn mcp_add(codex: &Path, lab: &Lab, real: &Scenario) -> Option<Value> {
    use std::os::unix::fs::PermissionsExt;
    let lines = real.spec.get("mcp_add")?.as_array()?;
    let file = lab.codex_home.join("config.toml");
    let runs: Vec<Value> = lines
        .iter()
        .map(|line| {
            let said = process::run(lab.command(codex).arg("mcp").args(strings(Some(line))));
            let stderr = Some(clean(&said.stderr)).filter(|text| !text.is_empty());
            json!({"argv": line, "exit": said.code, "stderr": stderr})
        })
        .collect();
    let again = process::run(lab.command(codex).args(["mcp", "list", "--json"]));
    let error = Some(clean(&again.stderr)).filter(|text| !text.is_empty());
    let mode = std::fs::metadata(&file).map_or(0, |found| found.permissions().mode() & 0o777);
    let text = std::fs::read(&file).unwrap_or_default();
    Some(json!({
        "runs": runs,
        "file": String::from_utf8_lossy(&text),
        "mode": format!("0o{mode:o}"),
        "loads_after": again.done(),
        "error_after": error,
    }))
}
