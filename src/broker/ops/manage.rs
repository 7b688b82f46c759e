//! `codex_session`: looking at sessions, ending them, forking and resuming threads.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::prepare;
use super::start::{thread_params, workspace};
use crate::broker::approvals::now;
use crate::broker::client::Call;
use crate::broker::core::{Answer, Broker, Failed, iso, moment};
use crate::broker::effective::Effective;
use crate::broker::error::{Code, Error, Result};
use crate::broker::events::Kind;
use crate::broker::limits;
use crate::broker::random;
use crate::broker::session::{Phase, Session, Wish};
use crate::broker::tools::session::{Manage, Resume};

impl Broker {
    pub(in crate::broker) fn manage(
        &mut self,
        call: Call,
        manage: Manage,
        warnings: Vec<String>,
    ) -> Result<()> {
        let done = |broker: &mut Self, mut body: Value| {
            if !warnings.is_empty() {
                body["compatWarnings"] = json!(warnings);
            }
            broker.client.finish(&call, Ok(body));
            Ok(())
        };
        match manage {
            Manage::List => {
                let listed = self.sessions.values().filter(|session| session.listed);
                let sessions: Vec<Value> = listed.map(Session::info).collect();
                done(self, json!({ "sessions": sessions }))
            }
            Manage::Get { session, sensitive } => {
                self.recall(&session);
                let session = self.session(&session)?;
                let info = if sensitive {
                    session.sensitive()
                } else {
                    session.info()
                };
                done(self, info)
            }
            Manage::Cancel(id) => {
                self.recall(&id);
                self.session(&id)?;
                let message = format!("Session {id} cancelled");
                self.cancel(&id, "Cancelled by user", move |broker| {
                    let body = json!({ "success": true, "message": message });
                    broker.client.finish(&call, Ok(body));
                });
                Ok(())
            }
            Manage::Interrupt(id) => self.interrupt(call, &id),
            Manage::Fork(id) => {
                self.recall(&id);
                self.fork(call, &id)
            }
            Manage::Clean(id) => self.clean(call, &id),
            Manage::Resume(resume) => self.resume(call, *resume, warnings),
        }
    }

    /// Ends a session for good. `then` comes once Codex let the thread go, or could not.
    pub(in crate::broker) fn cancel(
        &mut self,
        id: &str,
        why: &str,
        then: impl FnOnce(&mut Self) + 'static,
    ) {
        let generation = self.codex.generation;
        let Some(session) = self.sessions.get_mut(id) else {
            return then(self);
        };
        if session.phase == Phase::Cancelled {
            return then(self);
        }
        let turn = session.turn.take().map(|turn| turn.id);
        session.cancelled = Some((moment(), why.to_owned()));
        let result = json!({
            "turnId": turn.clone().unwrap_or_default(),
            "status": "cancelled",
            "error": why,
            "completedAt": iso(moment()),
        });
        session.end_turn(Phase::Cancelled, result);
        let loaded = session.generation == generation && !session.thread.is_empty();
        let thread = session.thread.clone();
        let exec = session.exec;
        let effects = self
            .pairing
            .withdraw_session(id, "session closed", true, now());
        self.apply(effects);
        if let Some(session) = self.sessions.get_mut(id) {
            session.tell_pinned(
                Kind::Progress,
                json!({ "method": "codex-mcp/cancelled", "message": "Session cancelled",
                    "status": "cancelled", "reason": why }),
            );
            session.tell(
                Kind::Result,
                json!({ "status": "cancelled", "reason": why, "turnId": turn }),
            );
        }
        self.forget_stored(id);
        if exec {
            self.end_exec(id);
            return then(self);
        }
        if !self.codex.is_up() {
            return then(self);
        }
        self.let_children_go(id);
        if !loaded {
            return then(self);
        }
        self.let_go(thread, turn, then);
    }

    /// Ends what a thread does and lets go of it. `then` comes once Codex did, or could not.
    pub(in crate::broker) fn let_go(
        &mut self,
        thread: String,
        turn: Option<String>,
        then: impl FnOnce(&mut Self) + 'static,
    ) {
        // Each step whether the one before worked or not.
        let params = json!({ "threadId": thread });
        let release = move |broker: &mut Self| {
            let clean = params.clone();
            broker.ask(
                "thread/backgroundTerminals/clean",
                &clean,
                limits::REQUEST,
                move |b, _| {
                    b.ask(
                        "thread/unsubscribe",
                        &params,
                        limits::REQUEST,
                        move |b, _| then(b),
                    );
                },
            );
        };
        match turn {
            Some(turn) => {
                self.interrupt_turn(thread, turn, Instant::now(), move |broker, _| {
                    release(broker);
                });
            }
            None => release(self),
        }
    }

    /// Interrupts a turn. Between the answer to `turn/start` and `turn/started` Codex knows of no
    /// active turn (0.171), and a cancelled session's turn must not go on unseen: so it is tried
    /// again for a while.
    fn interrupt_turn(
        &mut self,
        thread: String,
        turn: String,
        since: Instant,
        then: impl FnOnce(&mut Self, Answer) + 'static,
    ) {
        let params = json!({ "threadId": thread, "turnId": turn });
        self.ask(
            "turn/interrupt",
            &params,
            limits::REQUEST,
            move |broker, answer| {
                let early = matches!(&answer, Err(Failed::Refused(message))
                if message.contains("no active turn"));
                let ended = broker.sessions.values().any(|session| {
                    session.thread == thread
                        && session.phase != Phase::Cancelled
                        && session.turn.as_ref().is_none_or(|own| own.id != turn)
                });
                if !early || ended || since.elapsed() >= limits::INTERRUPT_RETRY {
                    return then(broker, answer);
                }
                let at = Instant::now() + limits::INTERRUPT_PAUSE;
                broker.later(at, move |broker| {
                    broker.interrupt_turn(thread, turn, since, then);
                });
            },
        );
    }

    fn interrupt(&mut self, call: Call, id: &str) -> Result<()> {
        let session = self.session(id)?;
        let turn = session.turn.as_ref().map(|turn| turn.id.clone());
        let (Some(turn), Phase::Running) = (turn, session.phase) else {
            let status = session.status().as_str();
            let message = format!("`{id}` is {status}: there is no turn to interrupt");
            return Err(Error::new(Code::SessionNotRunning, message));
        };
        let message = format!("Session {id} interrupted");
        if session.exec {
            self.interrupt_exec(id);
            let body = json!({ "success": true, "message": message });
            self.client.finish(&call, Ok(body));
            return Ok(());
        }
        let thread = session.thread.clone();
        let asked = (thread.clone(), turn.clone());
        self.interrupt_turn(thread, turn, Instant::now(), move |broker, answer| {
            let result = match answer {
                Ok(_) => Ok(json!({ "success": true, "message": message })),
                Err(Failed::Refused(message)) => Err(Error::new(Code::SessionNotRunning, message)),
                Err(failed) => Err(failed.error()),
            };
            if result.is_ok() {
                // Codex takes them back after the turn's end; here at once, so that no answer that
                // comes in between is called a success. It waits for no answer.
                let effects = broker.pairing.interrupted(&asked.0, &asked.1, now());
                broker.apply(effects);
            }
            broker.client.finish(&call, result);
        });
        Ok(())
    }

    fn clean(&mut self, call: Call, id: &str) -> Result<()> {
        let generation = self.codex.generation;
        let session = self.session(id)?;
        if session.exec {
            return Err(Error::new(
                Code::ExecNotSupported,
                "`codex exec` leaves no background terminals that could be told",
            ));
        }
        let message = format!("Background terminals cleaned for session {id}");
        if session.generation != generation {
            // They went with the process that had the thread.
            let body = json!({ "success": true, "message": message });
            self.client.finish(&call, Ok(body));
            return Ok(());
        }
        let params = json!({ "threadId": session.thread });
        let id = id.to_owned();
        let method = "thread/backgroundTerminals/clean";
        self.ask(method, &params, limits::REQUEST, move |broker, answer| {
            let result = match answer {
                Ok(_) => {
                    if let Some(session) = broker.sessions.get_mut(&id) {
                        session.tell_pinned(
                            Kind::Progress,
                            json!({ "method": method, "message": "Background terminals cleaned" }),
                        );
                    }
                    Ok(json!({ "success": true, "message": message }))
                }
                Err(failed) => Err(failed.error()),
            };
            broker.client.finish(&call, result);
        });
        Ok(())
    }

    fn fork(&mut self, call: Call, id: &str) -> Result<()> {
        let session = self.session(id)?;
        if session.exec {
            return Err(Error::new(
                Code::ExecNotSupported,
                "`codex exec` cannot fork a session",
            ));
        }
        let failed = |why: &str| Err(Error::new(Code::ThreadForkResumeFailed, why));
        if session.wish.ephemeral {
            return failed("the session is ephemeral and cannot be forked");
        }
        if !session.turned && session.turn.is_none() {
            return failed("no turn yet: there is nothing to fork");
        }
        let mut params = thread_params(&session.wish);
        params["threadId"] = session.thread.as_str().into();
        params["excludeTurns"] = true.into();
        let (wish, parent) = (session.wish.clone(), session.id.clone());
        let (cwd, failed) = (wish.cwd.clone(), call.clone());
        self.beside(
            move || prepare::nested(&cwd),
            move |broker, found| match found.and_then(|found| found) {
                Ok(()) => broker.fork_looked(call, params, wish, parent),
                Err(error) => broker.client.finish(&failed, Err(error)),
            },
        );
        Ok(())
    }

    fn fork_looked(&mut self, call: Call, params: Value, wish: Wish, parent: String) {
        self.with_codex(move |broker, up| {
            if let Err(error) = up {
                return broker.client.finish(&call, Err(error));
            }
            broker.ask(
                "thread/fork",
                &params,
                limits::START,
                move |broker, answer| {
                    let answer = match answer {
                        Ok(answer) => answer,
                        Err(failed) => {
                            return broker.client.finish(&call, Err(resume_error(failed)));
                        }
                    };
                    broker.take_up(
                        &call,
                        &answer,
                        "thread/fork",
                        wish,
                        Some(parent),
                        Vec::new(),
                    );
                },
            );
        });
    }

    fn resume(&mut self, call: Call, resume: Resume, warnings: Vec<String>) -> Result<()> {
        let generation = self.codex.generation;
        let live = self.sessions.values().find(|session| {
            session.thread == resume.thread
                && session.listed
                && session.phase != Phase::Cancelled
                && (session.generation == generation || session.phase == Phase::Running)
        });
        if let Some(live) = live {
            let mut body = json!({
                "sessionId": live.id,
                "threadId": live.thread,
                "status": live.status().as_str(),
            });
            if let Some(effective) = &live.effective {
                body["effective"] = effective.json(live.version.as_deref());
            }
            self.client.finish(&call, Ok(body));
            return Ok(());
        }
        if self.options.mode == Some(crate::broker::options::Mode::Exec) {
            return Err(Error::new(
                Code::ExecNotSupported,
                "`codex exec` has no resume by thread here",
            ));
        }
        self.with_codex(move |broker, up| match up {
            Ok(()) => broker.resume_read(call, resume, warnings),
            Err(error) => broker.client.finish(&call, Err(error)),
        });
        Ok(())
    }

    /// Which folder the thread has, where none was given.
    fn resume_read(&mut self, call: Call, resume: Resume, warnings: Vec<String>) {
        let params = json!({ "threadId": resume.thread });
        self.ask(
            "thread/read",
            &params,
            limits::REQUEST,
            move |broker, answer| {
                let read = match answer {
                    Ok(read) => read,
                    Err(failed) => return broker.client.finish(&call, Err(resume_error(failed))),
                };
                let base = broker.environment.cwd.clone();
                let own = read.pointer("/thread/cwd").and_then(Value::as_str);
                let cwd = resume.cwd.clone().or_else(|| own.map(PathBuf::from));
                let failed = call.clone();
                broker.beside(
                    move || prepare::look(&base, cwd.as_deref(), &[]),
                    move |broker, found| match found.and_then(|found| found) {
                        Ok(prepared) => {
                            broker.resume_configured(call, resume, warnings, prepared.cwd);
                        }
                        Err(error) => broker.client.finish(&failed, Err(error)),
                    },
                );
            },
        );
    }

    fn resume_configured(
        &mut self,
        call: Call,
        resume: Resume,
        warnings: Vec<String>,
        cwd: PathBuf,
    ) {
        let params = json!({ "cwd": cwd, "includeLayers": true });
        self.ask(
            "config/read",
            &params,
            limits::REQUEST,
            move |broker, answer| {
                let wish = answer.map_err(Failed::error).and_then(|read| {
                    let profile = broker.profile_config(resume.profile.as_deref(), &read)?;
                    let config = prepare::merged(&profile, &Map::new());
                    let workspace = workspace(&read, &config);
                    Ok(Wish {
                        policy: resume.policy,
                        sandbox: resume.sandbox,
                        cwd,
                        model: resume.model,
                        profile: resume.profile,
                        config,
                        base_instructions: None,
                        developer_instructions: None,
                        ephemeral: false,
                        approval_timeout: resume.approval_timeout,
                        workspace,
                    })
                });
                let wish = match wish {
                    Ok(wish) => wish,
                    Err(error) => return broker.client.finish(&call, Err(error)),
                };
                let mut params = thread_params(&wish);
                params["threadId"] = resume.thread.as_str().into();
                params["excludeTurns"] = true.into();
                broker.ask(
                    "thread/resume",
                    &params,
                    limits::START,
                    move |broker, answer| match answer {
                        Ok(answer) => {
                            broker.take_up(&call, &answer, "thread/resume", wish, None, warnings);
                        }
                        Err(failed) => broker.client.finish(&call, Err(resume_error(failed))),
                    },
                );
            },
        );
    }

    /// A session over a thread that a fork or resume gave.
    fn take_up(
        &mut self,
        call: &Call,
        answer: &Value,
        method: &'static str,
        wish: Wish,
        parent: Option<String>,
        mut warnings: Vec<String>,
    ) {
        let Some(thread) = answer.pointer("/thread/id").and_then(Value::as_str) else {
            let error = Error::internal(&format!("`{method}` was answered without a thread"));
            return self.client.finish(call, Err(error));
        };
        let id = random::session();
        let mut session = Session::new(id.clone(), wish, 0);
        thread.clone_into(&mut session.thread);
        session.phase = Phase::Idle;
        session.turned = true;
        session.parent = parent;
        self.enlist(session);
        match self.judge(&id, Effective::of_answer(answer, method)) {
            Ok(stricter) => {
                warnings.extend(stricter);
                self.idle(&id);
                self.started(call, &id, &warnings);
            }
            Err(error) => {
                self.strike(&id);
                self.client.finish(call, Err(error));
            }
        }
    }
}

/// Why a fork or resume was refused.
pub(super) fn resume_error(failed: Failed) -> Error {
    match failed {
        Failed::Refused(message) if message.contains("active writer") => {
            Error::new(Code::ThreadLocked, message)
        }
        Failed::Refused(message) if message.contains("no rollout found") => Error::new(
            Code::ThreadForkResumeFailed,
            format!("no turn yet, or no such thread: {message}"),
        ),
        Failed::Refused(message) => Error::new(Code::ThreadForkResumeFailed, message),
        other => other.error(),
    }
}
