//! The fallback: `codex exec --json` for each turn, where Codex has no app-server.
//!
//! It never asks a person: what would be asked is refused, so it is used only when the operator
//! asked for it, or for the policy `never`. The prompt goes in by standard input, since words of a
//! command line can be read by every user of the machine; a schema's file is removed after its
//! turn. A turn that names no thread is an error: its context would be lost in silence.

use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Map, Value, json};

use super::app_server;
use super::client::Call;
use super::core::{Broker, iso, moment};
use super::effective::Effective;
use super::error::{Code, Error, Result};
use super::events::Kind;
use super::inbox::In;
use super::limits;
use super::ops::Prepared;
use super::options::Mode;
use super::random;
use super::session::{Phase, Session, Turn, Wish};
use super::tools::start::{Reply, Start};
use super::words::{Policy, Sandbox};
use crate::rpc::{Line, read_lines};

/// How long Codex may take to say whether it has an app-server.
const PROBE: Duration = Duration::from_secs(5);

/// One turn's process.
pub struct Run {
    child: Child,
    turn: String,
    interrupted: bool,
    failed: Option<Value>,
    /// Removed when this is dropped.
    _schema: Option<tempfile::NamedTempFile>,
}

impl Run {
    fn kill(&self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended just now.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.kill();
            // What was killed ends.
            let _ = self.child.wait();
        }
    }
}

/// What one turn is started with.
struct TurnArgs<'a> {
    prompt: &'a str,
    images: &'a [PathBuf],
    effort: Option<&'a str>,
    summary: Option<&'a str>,
    model: Option<&'a str>,
    schema: Option<&'a Value>,
}

impl Broker {
    /// The app-server did not start; where Codex has none, a session that asks nobody can do
    /// without.
    pub(super) fn start_fallback(
        &mut self,
        call: Call,
        start: Start,
        prepared: Prepared,
        error: Error,
    ) {
        let Some(program) = app_server::find(&self.options.codex) else {
            return self.client.finish(&call, Err(error));
        };
        let failed = call.clone();
        self.beside(
            move || has_app_server(&program),
            move |broker, found| match found {
                Ok(false) => {
                    broker.options.mode = Some(Mode::Exec);
                    if let Err(error) = broker.start_exec(&call, &start, &prepared) {
                        broker.client.finish(&call, Err(error));
                    }
                }
                _ => broker.client.finish(&failed, Err(error)),
            },
        );
    }

    pub(super) fn start_exec(
        &mut self,
        call: &Call,
        start: &Start,
        prepared: &Prepared,
    ) -> Result<()> {
        if start.sandbox == Sandbox::FullAccess && start.policy != Policy::Never {
            return Err(Error::new(
                Code::PolicyMismatch,
                "`codex exec` asks nobody, and without a sandbox everything would run",
            ));
        }
        let mut warnings = start.warnings.clone();
        if start.policy != Policy::Never {
            warnings.push(
                "`codex exec` asks nobody: what would be asked is refused (approvalPolicy is \
                 `never`)."
                    .to_owned(),
            );
        }
        for (name, given) in [
            (
                "advanced.baseInstructions",
                start.base_instructions.is_some(),
            ),
            ("profile", start.profile.is_some()),
        ] {
            if given {
                let message = format!("{name}: `codex exec` cannot take it here");
                return Err(Error::new(Code::ExecNotSupported, message));
            }
        }
        let wish = Wish {
            policy: Policy::Never,
            sandbox: start.sandbox,
            cwd: prepared.cwd.clone(),
            model: start.model.clone(),
            profile: None,
            config: start.config.clone(),
            base_instructions: None,
            developer_instructions: start.developer_instructions.clone(),
            ephemeral: start.ephemeral,
            approval_timeout: start.approval_timeout,
            workspace: Value::Null,
        };
        let mut session = Session::new(random::session(), wish, 0);
        session.exec = true;
        session.effective = Some(Effective {
            policy: Policy::Never.as_str().to_owned(),
            reviewer: None,
            sandbox: Some(start.sandbox),
            network: start.sandbox == Sandbox::FullAccess,
            roots: Vec::new(),
            cwd: prepared.cwd.to_string_lossy().into_owned(),
            model: start.model.clone(),
            effort: Some(start.effort.clone()),
            read_from: "exec flags",
        });
        let id = session.id.clone();
        self.sessions.insert(id.clone(), session);
        let turn = TurnArgs {
            prompt: &start.prompt,
            images: &prepared.images,
            effort: Some(&start.effort),
            summary: start.summary.as_deref(),
            model: start.model.as_deref(),
            schema: start.output_schema.as_ref(),
        };
        if let Err(error) = self.exec_turn(&id, &turn) {
            self.sessions.shift_remove(&id);
            return Err(error);
        }
        self.started(call, &id, &warnings);
        Ok(())
    }

    pub(super) fn reply_exec(&mut self, call: &Call, reply: &Reply) -> Result<()> {
        let session = self.session(&reply.session)?;
        if session.thread.is_empty() {
            return Err(Error::new(
                Code::ThreadForkResumeFailed,
                "`codex exec` named no thread in the first turn: its context is lost",
            ));
        }
        for (name, given) in [
            (
                "sandbox",
                reply.sandbox.is_some_and(|it| it != session.wish.sandbox),
            ),
            ("cwd", reply.cwd.is_some()),
            ("outputSchema", reply.output_schema.is_some()),
            (
                "approvalPolicy",
                reply.policy.is_some_and(|it| it != Policy::Never),
            ),
        ] {
            if given {
                let message = format!("{name}: `codex exec resume` cannot change it");
                return Err(Error::new(Code::ExecNotSupported, message));
            }
        }
        if reply.model.is_some() {
            session.wish.model.clone_from(&reply.model);
        }
        let model = session.wish.model.clone();
        let turn = TurnArgs {
            prompt: &reply.prompt,
            images: &[],
            effort: reply.effort.as_deref(),
            summary: reply.summary.as_deref(),
            model: model.as_deref(),
            schema: None,
        };
        self.exec_turn(&reply.session, &turn)?;
        self.started(call, &reply.session, &reply.warnings);
        Ok(())
    }

    fn exec_turn(&mut self, id: &str, turn: &TurnArgs<'_>) -> Result<()> {
        let program = app_server::find(&self.options.codex).ok_or_else(|| {
            let message = format!("there is no program `{}`", self.options.codex);
            Error::new(Code::AppServerStartFailed, message)
        })?;
        let fail = |error: std::io::Error| {
            Error::new(
                Code::AppServerStartFailed,
                format!("cannot run `codex exec`: {error}"),
            )
        };
        let session = self.session_of_exec(id)?;
        let schema = match turn.schema {
            None => None,
            Some(schema) => {
                let mut file = tempfile::NamedTempFile::new().map_err(fail)?;
                file.write_all(schema.to_string().as_bytes())
                    .map_err(fail)?;
                Some(file)
            }
        };
        let mut command = Command::new(&program);
        command.args(words(&session.thread, &session.wish, turn));
        if let Some(file) = &schema {
            command.arg("--output-schema").arg(file.path());
        }
        let mut child = command
            .arg("-")
            .current_dir(&session.wish.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(fail)?;
        let name = format!("exec_{}", random::letters(11));
        session.phase = Phase::Running;
        session.result = None;
        session.turn = Some(Turn {
            id: name.clone(),
            schema: turn.schema.is_some(),
            said: None,
        });
        let mut stdin = child.stdin.take().expect("it was piped");
        let prompt = turn.prompt.to_owned();
        std::thread::spawn(move || {
            // One that ended early shows at its end.
            let _ = stdin.write_all(prompt.as_bytes());
        });
        let mut stderr = child.stderr.take().expect("it was piped");
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.by_ref().take(1024 * 1024).read_to_end(&mut text);
            // Nobody reads on, but the pipe must not fill.
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
            String::from_utf8_lossy(&text[text.len().saturating_sub(limits::STDERR)..]).into_owned()
        });
        let stdout = child.stdout.take().expect("it was piped");
        let gone = Gone {
            inbox: self.inbox.clone(),
            session: id.to_owned(),
            turn: name.clone(),
            errors: Some(errors),
        };
        read_lines(stdout, limits::LINE, move |line| {
            let (session, turn) = (gone.session.clone(), gone.turn.clone());
            let told = In::Done(Box::new(move |broker| {
                broker.exec_line(&session, &turn, &line);
            }));
            gone.inbox.send(told).is_ok()
        })
        .map_err(fail)?;
        self.execs.insert(
            id.to_owned(),
            Run {
                child,
                turn: name,
                interrupted: false,
                failed: None,
                _schema: schema,
            },
        );
        Ok(())
    }

    fn session_of_exec(&mut self, id: &str) -> Result<&mut Session> {
        self.sessions
            .get_mut(id)
            .ok_or_else(|| Error::new(Code::SessionNotFound, "the session is gone"))
    }

    fn exec_line(&mut self, id: &str, turn: &str, line: &Line) {
        let Line::Text(text) = line else { return };
        let Ok(event) = serde_json::from_str::<Value>(text) else {
            return;
        };
        let run = self.execs.get_mut(id).filter(|run| run.turn == turn);
        let (Some(run), Some(session)) = (run, self.sessions.get_mut(id)) else {
            return;
        };
        let kind = event["type"].as_str().unwrap_or_default();
        match kind {
            "thread.started" => {
                if let Some(thread) = event["thread_id"].as_str() {
                    thread.clone_into(&mut session.thread);
                }
            }
            "turn.failed" => run.failed = Some(event["error"].clone()),
            "item.completed" if event["item"]["type"] == "agent_message" => {
                let text = event["item"]["text"].as_str().unwrap_or_default();
                if let Some(turn) = &mut session.turn {
                    turn.said = Some(text.to_owned());
                }
                let item = json!({ "type": "agentMessage", "id": event["item"]["id"],
                    "text": text });
                session.tell(
                    Kind::Output,
                    json!({ "method": "item/completed", "turnId": turn, "item": item }),
                );
                return;
            }
            _ => {}
        }
        let mut data = Map::new();
        data.insert("method".to_owned(), format!("exec/{kind}").into());
        data.insert("turnId".to_owned(), turn.into());
        for (name, value) in event.as_object().into_iter().flatten() {
            if name != "type" {
                data.insert(name.clone(), value.clone());
            }
        }
        let kind = if kind == "error" {
            Kind::Error
        } else {
            Kind::Progress
        };
        session.tell(kind, Value::Object(data));
    }

    fn exec_gone(&mut self, id: &str, turn: &str, errors: &str) {
        let Some(mut run) = self.execs.remove(id) else {
            return;
        };
        if run.turn != turn {
            self.execs.insert(id.to_owned(), run);
            return;
        }
        // Its output ended, so it ends; what it left in its group ends with it.
        let status = run.child.wait();
        run.kill();
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        if session.phase == Phase::Cancelled {
            return;
        }
        let own = session.turn.take().unwrap_or_default();
        let works = status.as_ref().is_ok_and(std::process::ExitStatus::success);
        let failed = run
            .failed
            .take()
            .and_then(|error| error["message"].as_str().map(str::to_owned));
        let mut result = json!({ "turnId": turn, "completedAt": iso(moment()) });
        let (phase, word, error) = if run.interrupted {
            (Phase::Idle, "interrupted", None)
        } else if let Some(failed) = failed {
            (Phase::Error, "failed", Some(failed))
        } else if !works {
            let how = status.map_or_else(|error| error.to_string(), |status| status.to_string());
            let text = format!("`codex exec` ended with {how}: {}", errors.trim());
            (Phase::Error, "failed", Some(text))
        } else if session.thread.is_empty() {
            let text = "`codex exec` named no thread: the session cannot go on".to_owned();
            (Phase::Error, "failed", Some(text))
        } else {
            (Phase::Idle, "completed", None)
        };
        result["status"] = word.into();
        if let Some(said) = own.said {
            if own.schema
                && let Ok(parsed) = serde_json::from_str::<Value>(&said)
            {
                result["structuredOutput"] = parsed;
            }
            result["output"] = said.into();
        }
        if let Some(error) = error {
            result["error"] = error.as_str().into();
            session.last_error = Some(error);
        }
        let data = json!({ "method": "turn/completed", "turnId": turn, "status": word,
            "error": result.get("error") });
        session.tell(Kind::Result, data);
        session.turned = true;
        session.end_turn(phase, result);
    }

    pub(super) fn end_exec(&mut self, id: &str) {
        self.execs.remove(id);
    }

    pub(super) fn interrupt_exec(&mut self, id: &str) {
        if let Some(run) = self.execs.get_mut(id) {
            run.interrupted = true;
            run.kill();
        }
    }
}

/// Tells the broker that a turn's output ended.
struct Gone {
    inbox: std::sync::mpsc::SyncSender<In>,
    session: String,
    turn: String,
    errors: Option<std::thread::JoinHandle<String>>,
}

impl Drop for Gone {
    fn drop(&mut self) {
        let errors = self.errors.take().and_then(|errors| errors.join().ok());
        let errors = errors.unwrap_or_default();
        let (session, turn) = (self.session.clone(), self.turn.clone());
        // The broker may have gone first.
        let _ = self.inbox.send(In::Done(Box::new(move |broker| {
            broker.exec_gone(&session, &turn, &errors);
        })));
    }
}

/// The words after the program, without the prompt.
fn words(thread: &str, wish: &Wish, turn: &TurnArgs<'_>) -> Vec<std::ffi::OsString> {
    let mut words: Vec<std::ffi::OsString> = vec!["exec".into()];
    if !thread.is_empty() {
        words.extend(["resume".into(), thread.into()]);
    }
    words.extend(["--json".into(), "--skip-git-repo-check".into()]);
    if thread.is_empty() {
        words.extend(["-s".into(), wish.sandbox.as_str().into()]);
        words.extend(["-C".into(), wish.cwd.clone().into_os_string()]);
        if wish.ephemeral {
            words.push("--ephemeral".into());
        }
    }
    if let Some(model) = turn.model {
        words.extend(["-m".into(), model.into()]);
    }
    for image in turn.images {
        words.extend(["-i".into(), image.clone().into_os_string()]);
    }
    let mut set = |key: &str, value: &Value| {
        words.push("-c".into());
        words.push(format!("{key}={}", toml(value)).into());
    };
    for (key, value) in &wish.config {
        set(key, value);
    }
    if let Some(text) = &wish.developer_instructions {
        set("developer_instructions", &json!(text));
    }
    if let Some(effort) = turn.effort {
        set("model_reasoning_effort", &json!(effort));
    }
    if let Some(summary) = turn.summary {
        set("model_reasoning_summary", &json!(summary));
    }
    // Last, so that nothing before them wins.
    set("approval_policy", &json!("never"));
    set("sandbox_mode", &json!(wish.sandbox.as_str()));
    words
}

/// A JSON value as TOML, which is what `-c` reads.
fn toml(value: &Value) -> String {
    match value {
        Value::Null => "\"\"".to_owned(),
        Value::String(text) => toml_edit::Value::from(text.as_str()).to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(toml).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{} = {}", toml(&json!(name)), toml(value)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        other => other.to_string(),
    }
}

/// Whether `program` has an app-server, as its help says.
fn has_app_server(program: &Path) -> bool {
    let child = Command::new(program)
        .args(["app-server", "--help"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return true };
    let end = Instant::now() + PROBE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(10)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f29_the_prompt_is_no_word_and_the_policy_is_last() {
        let mut wish = crate::broker::session::example().wish;
        wish.config = json!({"model_verbosity": "lo\"w"})
            .as_object()
            .expect("one")
            .clone();
        let turn = TurnArgs {
            prompt: "-rf secret",
            images: &[],
            effort: Some("low"),
            summary: None,
            model: None,
            schema: None,
        };
        for thread in ["", "0123"] {
            let words: Vec<String> = words(thread, &wish, &turn)
                .into_iter()
                .map(|word| word.into_string().expect("text"))
                .collect();
            assert!(
                !words.iter().any(|word| word.contains("secret")),
                "{words:?}"
            );
            let end = &words[words.len() - 4..];
            assert_eq!(end[1], "approval_policy=\"never\"");
            assert_eq!(end[3], "sandbox_mode=\"workspace-write\"");
            assert_eq!(words.contains(&"resume".to_owned()), !thread.is_empty());
        }
    }

    #[test]
    fn values_are_written_as_toml() {
        let value = json!({"a": ["x\"y", 1, true], "b": {"c": 1.5}});
        let text = format!("k = {}", toml(&value));
        let read: toml_edit::DocumentMut = text.parse().expect("TOML");
        assert_eq!(read["k"]["a"][0].as_str(), Some("x\"y"));
        assert_eq!(read["k"]["b"]["c"].as_float(), Some(1.5));
    }
}
