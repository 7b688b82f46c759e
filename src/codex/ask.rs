//! Asking a program that speaks JSON lines: the real Codex, or an MCP server that it would start.
//!
//! Every question has an end: a deadline, lines of limited length, and a process group that is
//! ended whole, since npm's start script would leave the real program behind. Codex is asked in a
//! throw-away home with proxies that lead nowhere, so that nothing of the user's is read or
//! written. What it answers is data to compare, never a path to use.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::rpc::{Line, read_lines};

/// How long Codex may take for all of its answers. It takes 0.3 s; a busy machine takes longer.
const CODEX_LIMIT: Duration = Duration::from_secs(30);
/// How long a server may take until it has listed its tools: Codex waits 10 s (0.171).
const SERVER_LIMIT: Duration = Duration::from_secs(10);
/// How long a program may take to end once its input has ended.
const GRACE: Duration = Duration::from_millis(500);
/// The most bytes in a line: an answer about two hooks has 2 KB, a list of tools some more.
const LINE_LIMIT: usize = 4 * 1024 * 1024;
/// Lines that wait to be read.
const LINES_AHEAD: usize = 64;
/// An address at which nobody listens.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The program cannot be started.
    #[error("`{program}` does not start: {why}")]
    Start {
        /// Its name.
        program: String,
        /// What the system said.
        why: String,
    },
    /// It ended, or stayed silent.
    #[error("`{program}` gives no answer to `{method}`")]
    Silent {
        /// Its name.
        program: String,
        /// What was asked.
        method: String,
    },
    /// It answered with an error, or with something else than what was asked for.
    #[error("`{program}` answers `{method}` with {why}")]
    Wrong {
        /// Its name.
        program: String,
        /// What was asked.
        method: String,
        /// What is wrong.
        why: String,
    },
    /// The throw-away home cannot be made.
    #[error("cannot make a folder to ask in")]
    Folder(#[source] io::Error),
}

/// A running program. It is ended when this is dropped.
struct Talk {
    child: Child,
    lines: Receiver<Line>,
    program: String,
    until: Instant,
    next: u64,
}

impl Talk {
    fn start(command: &mut Command, limit: Duration) -> Result<Self, AskError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let fails = |error: io::Error| AskError::Start {
            program: program.clone(),
            why: error.to_string(),
        };
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // A group of its own, so that all of it can be ended.
            .process_group(0)
            .spawn()
            .map_err(fails)?;
        let (send, lines) = sync_channel(LINES_AHEAD);
        let output = child.stdout.take();
        // Made first, so that the program is ended whatever fails from here.
        let talk = Self {
            child,
            lines,
            program: program.clone(),
            until: Instant::now() + limit,
            next: 0,
        };
        if let Some(output) = output {
            read_lines(output, LINE_LIMIT, move |line| send.send(line).is_ok()).map_err(fails)?;
        }
        Ok(talk)
    }

    fn tell(&mut self, message: &Value) {
        // A program that has ended shows in the missing answer.
        if let Some(input) = &mut self.child.stdin {
            let _ = writeln!(input, "{message}").and_then(|()| input.flush());
        }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, AskError> {
        let id = self.next;
        self.next += 1;
        self.tell(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        while let Ok(line) = {
            let left = self.until.saturating_duration_since(Instant::now());
            self.lines.recv_timeout(left)
        } {
            let Line::Text(line) = line else { continue };
            let Ok(mut message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            if message.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            if let Some(result) = message.get_mut("result") {
                return Ok(result.take());
            }
            if let Some(error) = message.get("error") {
                let why = error.get("message").and_then(Value::as_str);
                return Err(self.wrong(method, &format!("the error `{}`", why.unwrap_or("?"))));
            }
        }
        Err(AskError::Silent {
            program: self.program.clone(),
            method: method.to_owned(),
        })
    }

    fn wrong(&self, method: &str, why: &str) -> AskError {
        AskError::Wrong {
            program: self.program.clone(),
            method: method.to_owned(),
            why: why.to_owned(),
        }
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let end = Instant::now() + GRACE;
        while Instant::now() < end {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        // What its group has left goes, too: the leader's number is not given anew before that.
        if let Ok(id) = i32::try_from(self.child.id())
            && let Some(group) = rustix::process::Pid::from_raw(id)
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// A hook as Codex sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenHook {
    /// What follows the file in the key of `[hooks.state]`: `:session_start:0:0`.
    pub position: String,
    /// Its command line.
    pub command: String,
    /// The digest that trusts it.
    pub hash: String,
}

/// What `codex` says about the hooks of a trusted project whose `.codex` has these files. The
/// throw-away home is made below `folder`: a place that no agent can write.
///
/// # Errors
/// Codex does not start, does not answer, or knows no `hooks/list`.
pub fn hooks(
    codex: &Path,
    folder: &Path,
    files: &[(&str, &str)],
) -> Result<Vec<SeenHook>, AskError> {
    let staged = tempfile::Builder::new()
        .prefix("ask-")
        .tempdir_in(folder)
        .map_err(AskError::Folder)?;
    let top = staged.path().canonicalize().map_err(AskError::Folder)?;
    let (home, project) = (top.join("home"), top.join("project"));
    let dot = project.join(super::site::DOT_CODEX);
    stage(&home, &project, files).map_err(AskError::Folder)?;
    let mut command = Command::new(codex);
    command
        .arg("app-server")
        .current_dir(&project)
        .env_clear()
        .env("HOME", &home)
        .env("CODEX_HOME", &home)
        .env("TMPDIR", &home)
        .env("LANG", "C.UTF-8");
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env(name, NOWHERE).env(name.to_lowercase(), NOWHERE);
    }
    if let Some(path) = std::env::var_os("PATH") {
        // npm's start script needs node.
        command.env("PATH", path);
    }
    let mut talk = Talk::start(&mut command, CODEX_LIMIT)?;
    talk.ask(
        "initialize",
        &json!({
            "clientInfo": {"name": "codexgate", "version": env!("CARGO_PKG_VERSION")},
            "capabilities": {"experimentalApi": true},
        }),
    )?;
    talk.tell(&json!({"method": "initialized"}));
    let listed = talk.ask("hooks/list", &json!({"cwds": [project]}))?;
    let entries = listed
        .pointer("/data/0/hooks")
        .and_then(Value::as_array)
        .ok_or_else(|| talk.wrong("hooks/list", "no list of hooks"))?;
    let text = |hook: &Value, key: &str| hook.get(key).and_then(Value::as_str).map(str::to_owned);
    let seen = entries.iter().filter_map(|hook| {
        let key = text(hook, "key")?;
        // Only what lies in the staged folder: a system's own hooks are in the list, too.
        let position = files.iter().find_map(|(name, _)| {
            let file = dot.join(name);
            key.strip_prefix(file.to_str()?).map(str::to_owned)
        })?;
        Some(SeenHook {
            position,
            command: text(hook, "command")?,
            hash: text(hook, "currentHash")?,
        })
    });
    Ok(seen.collect())
}

fn stage(home: &Path, project: &Path, files: &[(&str, &str)]) -> io::Result<()> {
    let dot = project.join(super::site::DOT_CODEX);
    fs::create_dir_all(home)?;
    fs::create_dir_all(&dot)?;
    let name = project.to_string_lossy();
    fs::write(
        home.join(super::layer::CONFIG_TOML),
        format!(
            "check_for_update_on_startup = false\n[projects.{}]\ntrust_level = \"trusted\"\n",
            Value::from(name.as_ref())
        ),
    )?;
    for (name, text) in files {
        fs::write(dot.join(name), text)?;
    }
    Ok(())
}

/// The names of the tools of an MCP server, as Codex would start it in `folder`: with these
/// arguments and variables and no others.
///
/// # Errors
/// It does not start, or does not answer.
pub fn tools(
    program: &str,
    arguments: &[&str],
    variables: &[(String, std::ffi::OsString)],
    folder: &Path,
) -> Result<Vec<String>, AskError> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .envs(variables.iter().map(|(name, value)| (name, value)));
    let mut talk = Talk::start(&mut command, SERVER_LIMIT)?;
    talk.ask(
        "initialize",
        &json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "codexgate", "version": env!("CARGO_PKG_VERSION")},
        }),
    )?;
    talk.tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let listed = talk.ask("tools/list", &json!({}))?;
    let tools = listed
        .get("tools")
        .and_then(Value::as_array)
        .ok_or_else(|| talk.wrong("tools/list", "no list of tools"))?;
    Ok(tools
        .iter()
        .filter_map(|tool| tool.get("name")?.as_str().map(str::to_owned))
        .collect())
}

/// The program that `name` stands for in the absolute folders of `path`.
pub fn look_up(name: &str, path: Option<&std::ffi::OsStr>) -> Option<PathBuf> {
    std::env::split_paths(path?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| {
            file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(folder: &Path, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let file = folder.join("program");
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).expect("writable");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("its owner may");
        file
    }

    #[test]
    fn a_program_that_ends_or_talks_nonsense_gives_no_answer() {
        let folder = tempfile::tempdir().expect("a folder");
        for text in [
            "exit 0",
            "echo no json; echo '{\"id\": 7}'",
            "echo '{\"id\":0,\"error\":{}}'",
        ] {
            let program = script(folder.path(), text);
            let name = program.to_str().expect("UTF-8");
            assert!(tools(name, &[], &[], folder.path()).is_err(), "{text}");
            assert!(hooks(&program, folder.path(), &[]).is_err(), "{text}");
        }
        assert!(matches!(
            tools("/nonexistent/program", &[], &[], folder.path()),
            Err(AskError::Start { .. })
        ));
        let left = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 1, "the throw-away home is gone");
    }

    #[test]
    fn hooks_of_the_staged_files_alone_are_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = r#"
dot=$(pwd)/.codex
echo '{"id":0,"result":{}}'
printf '{"id":1,"result":{"data":[{"hooks":[%s,%s]}]}}\n' \
  "{\"key\":\"$dot/hooks.json:session_start:0:0\",\"command\":\"x\",\"currentHash\":\"sha256:1\"}" \
  "{\"key\":\"/etc/codex/hooks.json:session_start:0:0\",\"command\":\"y\",\"currentHash\":\"sha256:2\"}"
cat > /dev/null"#;
        let program = script(folder.path(), text);
        let seen = hooks(&program, folder.path(), &[("hooks.json", "{}")]).expect("it answers");
        assert_eq!(
            seen,
            [SeenHook {
                position: ":session_start:0:0".to_owned(),
                command: "x".to_owned(),
                hash: "sha256:1".to_owned(),
            }]
        );
    }
}
