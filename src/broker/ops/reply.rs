//! `codex_reply`: the next turn, or a word into the running one.

use serde_json::json;

use super::manage::resume_error;
use super::prepare::{self, Prepared};
use super::start::{TurnWish, thread_params, workspace};
use crate::broker::client::Call;
use crate::broker::core::{Broker, Failed};
use crate::broker::effective::Effective;
use crate::broker::error::{Code, Error, Result};
use crate::broker::limits;
use crate::broker::route::Route;
use crate::broker::session::{Phase, Session, Wish};
use crate::broker::tools::start::Reply;
use crate::broker::words::Status;

/// A reply under way.
struct Replying {
    call: Call,
    reply: Reply,
    prepared: Prepared,
    /// What the session was, for when the turn does not start.
    before: Before,
}

struct Before {
    phase: Phase,
    wish: Wish,
}

impl Broker {
    pub(in crate::broker) fn reply(&mut self, call: Call, reply: Reply) -> Result<()> {
        self.recall(&reply.session);
        let session = self.session(&reply.session)?;
        if reply.steer {
            return self.steer(call, &reply);
        }
        may_reply(session)?;
        // Looked at even where it stays: an agent may have written since the last turn.
        let (base, cwd) = (session.wish.cwd.clone(), reply.cwd.clone());
        session.busy = true;
        let failed = call.clone();
        self.beside(
            move || prepare::look(&base, cwd.as_deref(), &[]),
            move |broker, found| match found.and_then(|found| found) {
                Ok(prepared) => broker.reply_prepared(call, reply, prepared),
                Err(error) => {
                    broker.idle(&reply.session);
                    broker.client.finish(&failed, Err(error));
                }
            },
        );
        Ok(())
    }

    /// No step crosses any longer.
    pub(super) fn idle(&mut self, id: &str) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.busy = false;
        }
    }

    fn reply_prepared(&mut self, call: Call, reply: Reply, prepared: Prepared) {
        let Some(session) = self.sessions.get_mut(&reply.session) else {
            let error = Error::new(Code::SessionNotFound, "the session is gone");
            return self.client.finish(&call, Err(error));
        };
        if session.phase == Phase::Cancelled {
            let error = Error::new(Code::Cancelled, "the session was cancelled");
            return self.client.finish(&call, Err(error));
        }
        let before = Before {
            phase: session.phase,
            wish: session.wish.clone(),
        };
        session.phase = Phase::Running;
        session.touch();
        if session.exec {
            session.busy = false;
            let how = self.reply_exec(&call, &reply);
            if let Err(error) = how {
                self.put_back(&reply.session, before);
                self.client.finish(&call, Err(error));
            }
            return;
        }
        let replying = Replying {
            call,
            reply,
            prepared,
            before,
        };
        self.with_codex(move |broker, up| match up {
            Ok(()) => broker.reply_configured(replying),
            Err(error) => broker.reply_failed(replying, error),
        });
    }

    fn reply_failed(&mut self, replying: Replying, error: Error) {
        self.put_back(&replying.reply.session, replying.before);
        self.client.finish(&replying.call, Err(error));
    }

    fn put_back(&mut self, id: &str, before: Before) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.busy = false;
            session.turn = None;
            if session.phase != Phase::Cancelled {
                session.phase = before.phase;
                session.wish = before.wish;
            }
        }
    }

    fn reply_configured(&mut self, replying: Replying) {
        let params = json!({ "cwd": replying.prepared.cwd });
        self.ask(
            "config/read",
            &params,
            limits::REQUEST,
            move |broker, answer| {
                let read = match answer {
                    Ok(read) => read,
                    Err(failed) => return broker.reply_failed(replying, failed.error()),
                };
                let generation = broker.codex.generation;
                let Some(session) = broker.sessions.get_mut(&replying.reply.session) else {
                    let error = Error::new(Code::SessionNotFound, "the session is gone");
                    return broker.client.finish(&replying.call, Err(error));
                };
                let reply = &replying.reply;
                session.wish.cwd.clone_from(&replying.prepared.cwd);
                session.wish.workspace = workspace(&read, &session.wish.config);
                session.wish.policy = reply.policy.unwrap_or(session.wish.policy);
                session.wish.sandbox = reply.sandbox.unwrap_or(session.wish.sandbox);
                if reply.model.is_some() {
                    session.wish.model.clone_from(&reply.model);
                }
                if session.generation == generation {
                    broker.reply_settings(replying);
                } else {
                    broker.reply_resumed(replying, std::time::Instant::now());
                }
            },
        );
    }

    /// The thread is not loaded in this process: it is resumed with the session's own policy.
    fn reply_resumed(&mut self, replying: Replying, since: std::time::Instant) {
        let Some(session) = self.sessions.get_mut(&replying.reply.session) else {
            return;
        };
        if !session.turned {
            let error = Error::new(
                Code::ThreadForkResumeFailed,
                "no turn yet: the thread went with the app-server, start a new session",
            );
            return self.reply_failed(replying, error);
        }
        if session.wish.ephemeral {
            let error = Error::new(
                Code::ThreadForkResumeFailed,
                "the session was ephemeral and went with the app-server",
            );
            return self.reply_failed(replying, error);
        }
        let mut params = thread_params(&session.wish);
        params["threadId"] = session.thread.as_str().into();
        params["excludeTurns"] = true.into();
        let route = Route {
            session: session.id.clone(),
            child: None,
        };
        self.routes.insert(session.thread.clone(), route);
        self.ask(
            "thread/resume",
            &params,
            limits::START,
            move |broker, answer| {
                let answer = match answer {
                    Ok(answer) => answer,
                    // Our own old process may still be ending.
                    Err(Failed::Refused(message))
                        if message.contains("active writer")
                            && since.elapsed() < limits::LOCKED_RETRY =>
                    {
                        let at = std::time::Instant::now() + limits::LOCKED_PAUSE;
                        return broker
                            .later(at, move |broker| broker.reply_resumed(replying, since));
                    }
                    Err(failed) => return broker.reply_failed(replying, resume_error(failed)),
                };
                let id = replying.reply.session.clone();
                let found = Effective::of_answer(&answer, "thread/resume");
                match broker.judge(&id, found) {
                    Ok(stricter) => broker.reply_turn(replying, stricter),
                    Err(error) => broker.reply_mismatch(replying, error),
                }
            },
        );
    }

    /// The policy of a loaded thread: changed where it is to be another one, and read back.
    fn reply_settings(&mut self, replying: Replying) {
        let Some(session) = self.sessions.get(&replying.reply.session) else {
            return;
        };
        let wish = &session.wish;
        let same = session.effective.as_ref().is_some_and(|effective| {
            let differences = effective.compare(&wish.asked());
            differences.weaker.is_empty() && differences.stricter.is_empty()
        });
        let reply = &replying.reply;
        let asked = reply.policy.is_some() || reply.sandbox.is_some() || reply.cwd.is_some();
        if same || !asked {
            return self.reply_turn(replying, Vec::new());
        }
        let thread = session.thread.clone();
        let params = json!({
            "threadId": thread,
            "cwd": wish.cwd,
            "approvalPolicy": wish.policy.as_str(),
            "approvalsReviewer": "user",
            "sandboxPolicy": wish.sandbox.policy(&wish.workspace),
        });
        let (after, id) = (thread.clone(), replying.call.id.clone());
        self.ask(
            "thread/settings/update",
            &params,
            limits::REQUEST,
            move |broker, answer| {
                if let Err(failed) = answer {
                    broker.settle_failed(&after, &id, failed);
                }
            },
        );
        self.when_settled(&thread, move |broker, answer| {
            let settings = match answer {
                Ok(settings) => settings,
                Err(failed) => return broker.reply_failed(replying, failed.error()),
            };
            let id = replying.reply.session.clone();
            match broker.judge(&id, Effective::of_settings(&settings)) {
                Ok(stricter) => broker.reply_turn(replying, stricter),
                Err(error) => broker.reply_mismatch(replying, error),
            }
        });
    }

    /// Codex would run with less protection: the thread is let go, and the next reply resumes it
    /// with the policy that it had.
    fn reply_mismatch(&mut self, replying: Replying, error: Error) {
        if let Some(session) = self.sessions.get_mut(&replying.reply.session) {
            session.generation = 0;
            let params = json!({ "threadId": session.thread });
            self.ask_blindly("thread/unsubscribe", &params);
        }
        self.reply_failed(replying, error);
    }

    fn reply_turn(&mut self, replying: Replying, stricter: Vec<String>) {
        let generation = self.codex.generation;
        let Replying {
            call,
            reply,
            before,
            ..
        } = replying;
        if let Some(session) = self.sessions.get_mut(&reply.session) {
            session.generation = generation;
        }
        let wish = TurnWish {
            images: Vec::new(),
            effort: reply.effort,
            summary: reply.summary,
            personality: reply.personality,
            model: reply.model,
            output_schema: reply.output_schema,
        };
        let id = reply.session;
        let mut warnings = reply.warnings;
        warnings.extend(stricter);
        self.turn(
            &id.clone(),
            &reply.prompt,
            &wish,
            move |broker, how| match how {
                Ok(()) => broker.started(&call, &id, &warnings),
                Err(error) => {
                    broker.put_back(&id, before);
                    broker.client.finish(&call, Err(error));
                }
            },
        );
    }

    fn steer(&mut self, call: Call, reply: &Reply) -> Result<()> {
        let session = self.session(&reply.session)?;
        let turn = match (session.status(), &session.turn) {
            (Status::Cancelled, _) => {
                return Err(Error::new(Code::Cancelled, "the session was cancelled"));
            }
            (_, Some(turn)) if session.phase == Phase::Running && !session.exec => turn.id.clone(),
            _ => {
                let message = format!("nothing runs in `{}` that could be steered", session.id);
                return Err(Error::new(Code::SessionNotRunning, message));
            }
        };
        let params = json!({
            "threadId": session.thread,
            "expectedTurnId": turn,
            "input": [{ "type": "text", "text": reply.prompt, "text_elements": [] }],
        });
        let (id, warnings) = (reply.session.clone(), reply.warnings.clone());
        self.ask(
            "turn/steer",
            &params,
            limits::REQUEST,
            move |broker, answer| match answer {
                Ok(_) => broker.started(&call, &id, &warnings),
                Err(Failed::Refused(message)) => {
                    let error = Error::new(Code::SessionNotRunning, message);
                    broker.client.finish(&call, Err(error));
                }
                Err(failed) => broker.client.finish(&call, Err(failed.error())),
            },
        );
        Ok(())
    }
}

/// Whether a reply may start a turn.
fn may_reply(session: &Session) -> Result<()> {
    match session.status() {
        Status::Cancelled => Err(Error::new(Code::Cancelled, "the session was cancelled")),
        Status::Running | Status::WaitingApproval => Err(Error::new(
            Code::SessionBusy,
            format!("`{}` is {}", session.id, session.status().as_str()),
        )),
        _ if session.busy => Err(Error::new(
            Code::SessionBusy,
            format!("another call is under way on `{}`", session.id),
        )),
        _ => Ok(()),
    }
}
