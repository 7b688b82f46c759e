//! `codex`: a thread, its policy read back, and its first turn.
//!
//! `thread/start` with a writable sandbox writes trust for the folder into the user's config and
//! loads the repository's in the same breath (0.147 to 0.171). So a thread starts read-only, gets
//! its sandbox by `thread/settings/update`, and its first turn begins once Codex has told the
//! policy and it is the one that was asked for.

use serde_json::{Map, Value, json};

use super::prepare::{self, Prepared};
use crate::broker::client::Call;
use crate::broker::core::{Answer, Broker, Failed};
use crate::broker::effective::Effective;
use crate::broker::error::{Code, Error, Result};
use crate::broker::events::Kind;
use crate::broker::limits;
use crate::broker::options::{Approvals, Mode};
use crate::broker::random;
use crate::broker::route::Route;
use crate::broker::session::{Phase, Session, Turn, Wish};
use crate::broker::tools::start::Start;
use crate::broker::words::Sandbox;

/// A start under way.
struct Starting {
    call: Call,
    start: Start,
    prepared: Prepared,
    id: String,
}

/// What a turn takes beside its prompt.
#[derive(Debug, Clone, Default)]
pub(super) struct TurnWish {
    pub(super) images: Vec<std::path::PathBuf>,
    pub(super) effort: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) personality: Option<String>,
    pub(super) model: Option<String>,
    pub(super) output_schema: Option<Value>,
}

impl Broker {
    pub(in crate::broker) fn start(&mut self, call: Call, start: Start) -> Result<()> {
        if self.sessions.len() >= MOST {
            let message = format!("{MOST} sessions are there, which is the most");
            return Err(Error::new(Code::SessionBusy, message));
        }
        let base = self.environment.cwd.clone();
        let (cwd, images) = (start.cwd.clone(), start.images.clone());
        let failed = call.clone();
        self.beside(
            move || prepare::look(&base, cwd.as_deref(), &images),
            move |broker, found| match found.and_then(|found| found) {
                Ok(prepared) => broker.start_prepared(call, start, prepared),
                Err(error) => broker.client.finish(&failed, Err(error)),
            },
        );
        Ok(())
    }

    fn start_prepared(&mut self, call: Call, start: Start, prepared: Prepared) {
        if self.options.mode == Some(Mode::Exec) {
            let how = self.start_exec(&call, &start, &prepared);
            if let Err(error) = how {
                self.client.finish(&call, Err(error));
            }
            return;
        }
        let mut id = random::session();
        while self.sessions.contains_key(&id) {
            id = random::session();
        }
        let starting = Starting {
            call,
            start,
            prepared,
            id,
        };
        self.with_codex(move |broker, up| match up {
            Ok(()) => broker.start_configured(starting),
            Err(error) => broker.start_without(starting, error),
        });
    }

    /// Codex has no app-server, or does not start.
    fn start_without(&mut self, starting: Starting, error: Error) {
        let Starting {
            call,
            start,
            prepared,
            ..
        } = starting;
        if start.policy == crate::broker::words::Policy::Never && self.options.mode.is_none() {
            return self.start_fallback(call, start, prepared, error);
        }
        self.client.finish(&call, Err(error));
    }

    fn start_configured(&mut self, starting: Starting) {
        let params = json!({ "cwd": starting.prepared.cwd, "includeLayers": true });
        self.ask(
            "config/read",
            &params,
            limits::REQUEST,
            move |broker, answer| {
                let step = |broker: &mut Self| {
                    let read = answer.map_err(start_error)?;
                    broker.start_wish(&starting, &read)
                };
                match step(broker) {
                    Ok(wish) => broker.start_thread(starting, wish),
                    Err(error) => broker.client.finish(&starting.call, Err(error)),
                }
            },
        );
    }

    /// What is passed to Codex, out of what was asked for and what the user's files say.
    fn start_wish(&self, starting: &Starting, read: &Value) -> Result<Wish> {
        let start = &starting.start;
        let profile = self.profile_config(start.profile.as_deref(), read)?;
        let config = prepare::merged(&profile, &start.config);
        let workspace = workspace(read, &config);
        Ok(Wish {
            policy: start.policy,
            sandbox: start.sandbox,
            cwd: starting.prepared.cwd.clone(),
            model: start.model.clone(),
            profile: start.profile.clone(),
            config,
            base_instructions: start.base_instructions.clone(),
            developer_instructions: start.developer_instructions.clone(),
            ephemeral: start.ephemeral,
            approval_timeout: start.approval_timeout,
            workspace,
        })
    }

    pub(super) fn profile_config(
        &self,
        name: Option<&str>,
        read: &Value,
    ) -> Result<Map<String, Value>> {
        let Some(name) = name else {
            return Ok(Map::new());
        };
        let home = self.codex.home.clone().ok_or_else(|| {
            Error::new(
                Code::Unsupported,
                "this Codex does not tell where its home is",
            )
        })?;
        prepare::profile(&home, name, &self.options, &project_layer(read))
    }

    fn start_thread(&mut self, starting: Starting, wish: Wish) {
        let mut params = thread_params(&wish);
        params["sandbox"] = Sandbox::ReadOnly.as_str().into();
        if let Some(personality) = &starting.start.personality {
            params["personality"] = personality.as_str().into();
        }
        if wish.ephemeral {
            params["ephemeral"] = true.into();
        }
        self.ask(
            "thread/start",
            &params,
            limits::START,
            move |broker, answer| match answer.map_err(start_error) {
                Ok(answer) => broker.start_threaded(starting, wish, &answer),
                Err(error) => broker.client.finish(&starting.call, Err(error)),
            },
        );
    }

    fn start_threaded(&mut self, starting: Starting, wish: Wish, answer: &Value) {
        let Some(thread) = answer.pointer("/thread/id").and_then(Value::as_str) else {
            let error = Error::internal("`thread/start` was answered without a thread");
            return self.client.finish(&starting.call, Err(error));
        };
        let thread = thread.to_owned();
        let found = Effective::of_answer(answer, "thread/start");
        let id = starting.id.clone();
        let sandbox = wish.sandbox.policy(&wish.workspace);
        let read_only = wish.sandbox == Sandbox::ReadOnly;
        let mut session = Session::new(id.clone(), wish, 0);
        session.thread.clone_from(&thread);
        self.enlist(session);
        if read_only {
            return self.start_settled(starting, Ok(found), Vec::new());
        }
        let params = json!({ "threadId": thread, "sandboxPolicy": sandbox });
        let (after, waiting) = (thread.clone(), starting.call.id.clone());
        self.ask(
            "thread/settings/update",
            &params,
            limits::REQUEST,
            move |broker, answer| match answer {
                // What follows is in `when_settled`.
                Ok(_) => {}
                Err(failed) => broker.settle_failed(&after, &waiting, failed),
            },
        );
        self.when_settled(&thread, move |broker, answer| match answer {
            Ok(settings) => {
                let settled = Effective::of_settings(&settings);
                broker.start_settled(starting, Ok(settled), Vec::new());
            }
            // An administrator allows no other: read-only it stays, and that is said.
            Err(Failed::Refused(message)) => {
                let warning = format!("Codex refused the sandbox: {message}");
                broker.start_settled(starting, Ok(found), vec![warning]);
            }
            Err(failed) => broker.start_settled(starting, Err(failed), Vec::new()),
        });
    }

    /// `thread/settings/update` was refused: whoever waits for what it would have told hears it.
    pub(super) fn settle_failed(&mut self, thread: &str, _: &crate::rpc::Id, failed: Failed) {
        let place = self
            .settled
            .iter()
            .position(|waiter| waiter.thread == thread);
        if let Some(place) = place {
            let waiter = self.settled.swap_remove(place);
            (waiter.then)(self, Err(failed));
        }
    }

    fn start_settled(
        &mut self,
        starting: Starting,
        settled: std::result::Result<Effective, Failed>,
        mut told: Vec<String>,
    ) {
        let id = starting.id.clone();
        let judged = settled
            .map_err(Failed::error)
            .and_then(|found| self.judge(&id, found));
        match judged {
            Ok(stricter) => told.extend(stricter),
            Err(error) => {
                self.strike(&id);
                return self.client.finish(&starting.call, Err(error));
            }
        }
        let wish = TurnWish {
            images: starting.prepared.images,
            effort: Some(starting.start.effort),
            summary: starting.start.summary,
            personality: None,
            model: None,
            output_schema: starting.start.output_schema,
        };
        let mut warnings = starting.start.warnings;
        warnings.extend(told);
        warnings.extend(self.start_warnings());
        let call = starting.call;
        self.turn(
            &id.clone(),
            &starting.start.prompt,
            &wish,
            move |broker, how| {
                if let Err(error) = how {
                    broker.strike(&id);
                    return broker.client.finish(&call, Err(error));
                }
                broker.started(&call, &id, &warnings);
            },
        );
    }

    /// What a new session's caller has to know of this broker.
    fn start_warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(version) = self.codex.version.filter(|version| version.is_unknown()) {
            warnings.push(format!(
                "Codex {version} is newer than the versions this broker was proven on"
            ));
        }
        if self.options.approvals.is_none() && self.approvals() == Approvals::Client {
            warnings.push(
                "Approvals are taken from tool calls (`--approvals client`), since this client \
                 shows no forms; an agent may answer them without a person."
                    .to_owned(),
            );
        }
        if self.environment.around.is_none() {
            warnings.push(
                "There is no safe state directory: decisions are not recorded, and sessions are \
                 not remembered after a restart."
                    .to_owned(),
            );
        }
        warnings
    }

    /// The answer of a call that started a turn.
    pub(in crate::broker) fn started(&mut self, call: &Call, id: &str, warnings: &[String]) {
        let version = self.codex.version_text();
        let Some(session) = self.sessions.get_mut(id) else {
            let error = Error::new(Code::SessionNotFound, "the session is gone");
            return self.client.finish(call, Err(error));
        };
        session.listed = true;
        if !session.exec {
            session.version.clone_from(&version);
        }
        let mut body = json!({
            "sessionId": session.id,
            "threadId": session.thread,
            "status": if session.phase == Phase::Running { "running" } else { "idle" },
        });
        if let Some(interval) = session.poll_interval() {
            body["pollInterval"] = interval.into();
        }
        if let Some(effective) = &session.effective {
            body["effective"] = effective.json(session.version.as_deref());
        }
        if !warnings.is_empty() {
            body["compatWarnings"] = json!(warnings);
        }
        self.client.finish(call, Ok(body));
        self.store_session(id);
    }

    /// Takes a session in that is not shown yet, with the warnings of Codex's start.
    pub(super) fn enlist(&mut self, mut session: Session) {
        session.generation = self.codex.generation;
        session.version = self.codex.version_text();
        session.busy = true;
        for warning in &self.codex.warnings {
            session.tell(Kind::Progress, warning.clone());
        }
        let route = Route {
            session: session.id.clone(),
            child: None,
        };
        self.routes.insert(session.thread.clone(), route);
        self.sessions.insert(session.id.clone(), session);
    }

    /// Takes a session away whose start failed, and its thread.
    pub(super) fn strike(&mut self, id: &str) {
        let Some(session) = self.sessions.shift_remove(id) else {
            return;
        };
        let effects = self.pairing.withdraw_session(
            id,
            "session closed",
            true,
            crate::broker::approvals::now(),
        );
        self.apply(effects);
        self.pairing.forget(id);
        let generation = self.codex.generation;
        if session.generation == generation && !session.thread.is_empty() {
            let params = json!({ "threadId": session.thread });
            self.ask(
                "thread/unsubscribe",
                &params,
                limits::REQUEST,
                move |broker, _| {
                    broker.routes.remove(&session.thread);
                },
            );
        }
    }

    /// Compares what Codex said with what was asked; what is stricter comes back in words.
    ///
    /// # Errors
    /// [`Code::PolicyMismatch`].
    pub(super) fn judge(&mut self, id: &str, found: Effective) -> Result<Vec<String>> {
        let Some(session) = self.sessions.get_mut(id) else {
            return Err(Error::new(Code::SessionNotFound, "the session is gone"));
        };
        let differences = found.compare(&session.wish.asked());
        session.effective = Some(found);
        if differences.weaker.is_empty() {
            let told = differences.stricter.into_iter();
            return Ok(told
                .map(|what| format!("Stricter than asked: {what}."))
                .collect());
        }
        Err(Error::new(
            Code::PolicyMismatch,
            format!(
                "Codex would run with less protection than asked: {}; no turn was started",
                differences.weaker.join("; ")
            ),
        ))
    }

    /// Starts a turn of a session; its status is `running` from here on.
    pub(super) fn turn(
        &mut self,
        id: &str,
        prompt: &str,
        wish: &TurnWish,
        then: impl FnOnce(&mut Self, Result<()>) + 'static,
    ) {
        let Some(session) = self.sessions.get_mut(id) else {
            return then(
                self,
                Err(Error::new(Code::SessionNotFound, "the session is gone")),
            );
        };
        session.phase = Phase::Running;
        session.busy = true;
        session.turn = None;
        session.touch();
        let mut input = vec![json!({ "type": "text", "text": prompt, "text_elements": [] })];
        let images = wish.images.iter();
        input.extend(images.map(|path| json!({ "type": "localImage", "path": path })));
        let mut params = json!({ "threadId": session.thread, "input": input });
        for (name, value) in [
            ("effort", &wish.effort),
            ("summary", &wish.summary),
            ("personality", &wish.personality),
            ("model", &wish.model),
        ] {
            if let Some(value) = value {
                params[name] = value.as_str().into();
            }
        }
        if let Some(schema) = &wish.output_schema {
            params["outputSchema"] = schema.clone();
        }
        let (id, schema) = (id.to_owned(), wish.output_schema.is_some());
        self.ask(
            "turn/start",
            &params,
            limits::START,
            move |broker, answer: Answer| {
                let Some(session) = broker.sessions.get_mut(&id) else {
                    let error = Error::new(Code::SessionNotFound, "the session is gone");
                    return then(broker, Err(error));
                };
                session.busy = false;
                let turn = answer.map_err(turn_error).and_then(|answer| {
                    let id = answer.pointer("/turn/id").and_then(Value::as_str);
                    let none = || Error::internal("`turn/start` was answered without a turn");
                    id.map(str::to_owned).ok_or_else(none)
                });
                // From here on Codex can resume the thread, also if its process ends in this turn.
                session.turned |= turn.is_ok();
                match turn {
                    Ok(turn) if session.phase == Phase::Cancelled => {
                        // It was cancelled meanwhile.
                        let params = json!({ "threadId": session.thread, "turnId": turn });
                        broker.ask_blindly("turn/interrupt", &params);
                        let error = Error::new(Code::Cancelled, "the session was cancelled");
                        then(broker, Err(error));
                    }
                    Ok(turn) => {
                        session.result = None;
                        session.turn = Some(Turn {
                            id: turn,
                            schema,
                            said: None,
                        });
                        then(broker, Ok(()));
                    }
                    Err(error) => {
                        let data = json!({"message": error.message, "code": error.code.as_str()});
                        session.tell(Kind::Error, data);
                        then(broker, Err(error));
                    }
                }
            },
        );
    }
}

/// The most sessions: each has a thread, and MCP servers of its own.
const MOST: usize = 256;

/// The members of `thread/start`, `thread/resume` and `thread/fork` that carry the policy.
pub(super) fn thread_params(wish: &Wish) -> Value {
    let mut params = json!({
        "cwd": wish.cwd,
        "approvalPolicy": wish.policy.as_str(),
        "approvalsReviewer": "user",
        "sandbox": wish.sandbox.as_str(),
    });
    for (name, value) in [
        ("model", &wish.model),
        ("baseInstructions", &wish.base_instructions),
        ("developerInstructions", &wish.developer_instructions),
    ] {
        if let Some(value) = value {
            params[name] = value.as_str().into();
        }
    }
    if !wish.config.is_empty() {
        params["config"] = Value::Object(wish.config.clone());
    }
    params
}

/// `sandbox_workspace_write` as it counts here: what the operator let a caller set is above the
/// user's.
pub(super) fn workspace(read: &Value, config: &Map<String, Value>) -> Value {
    let mut workspace = read["config"]["sandbox_workspace_write"].clone();
    if let Some(Value::Object(own)) = config.get("sandbox_workspace_write") {
        if !workspace.is_object() {
            workspace = json!({});
        }
        for (name, value) in own {
            workspace[name] = value.clone();
        }
    }
    workspace
}

/// What the project's files set, out of the layers of `config/read`.
fn project_layer(read: &Value) -> Value {
    let mut found = Map::new();
    for layer in read["layers"].as_array().into_iter().flatten() {
        if layer["name"]["type"] == "project" {
            for (name, value) in layer["config"].as_object().into_iter().flatten() {
                found.insert(name.clone(), value.clone());
            }
        }
    }
    Value::Object(found)
}

/// Why no thread was started: a configuration that Codex refuses is told in its own words.
fn start_error(failed: Failed) -> Error {
    match failed {
        Failed::Refused(message) => Error::new(Code::AppServerStartFailed, message),
        other => other.error(),
    }
}

fn turn_error(failed: Failed) -> Error {
    match failed {
        Failed::Refused(message) => Error::internal(&format!("Codex refused the turn: {message}")),
        other => other.error(),
    }
}
