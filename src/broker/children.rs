//! Subagents of a session: whose a thread is that Codex made by itself, and its end.
//!
//! A thread is known by what announced it, by the turn that it was started from, or by its parents
//! (`thread/read`), which also tells a path where nothing else did. Codex ends no subagent with its
//! parent, so the session's cancel does: nothing that was started in it goes on unseen.

use std::time::Instant;

use serde_json::{Value, json};

use super::core::{Broker, Failed};
use super::limits;
use super::route::Route;
use super::session::Phase;
use crate::rpc::Id;

/// A subagent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Child {
    /// Its path, or the name that Codex gave it.
    pub path: Option<String>,
    /// What runs in it.
    pub turn: Option<String>,
}

/// A message of a thread that is asked about.
pub enum Stray {
    /// It was told.
    Told(String, Value),
    /// It is asked.
    Asked(Id, String, Value),
}

/// A way up through the parents of a thread.
struct LookUp {
    /// The thread that is asked about.
    thread: String,
    /// Itself, or the parent that the way has come to.
    at: String,
    /// Its path, from its own answer.
    path: Option<String>,
    /// How many parents were passed.
    depth: usize,
    since: Instant,
}

/// What is held of a thread while it is asked about.
#[derive(Default)]
pub struct Strays {
    /// The session, where something else than its parents told it.
    owner: Option<String>,
    messages: Vec<Stray>,
}

/// Messages of one unknown thread that are held; more are dropped, or declined unseen.
const STRAYS: usize = 512;
/// Unknown threads at once.
const STRAY_THREADS: usize = 64;
/// What stands for a path that nobody told.
const UNNAMED: &str = "subagent";
/// How far a subagent's parents are followed.
const DEPTH: usize = 8;

impl Broker {
    /// Holds a message of an unknown thread and asks whose it is.
    pub(super) fn stray(&mut self, thread: &str, message: Stray) {
        // A first turn of a subagent names the turn that it was started from.
        let root = match &message {
            Stray::Told(method, params) if method == "turn/started" => {
                params.pointer("/turn/rootTurnId").and_then(Value::as_str)
            }
            _ => None,
        };
        let owner = root.and_then(|root| self.session_of_turn(root));
        self.expect(thread, owner);
        match (self.strays.get_mut(thread), message) {
            (Some(held), message) if held.messages.len() < STRAYS => {
                held.messages.push(message);
            }
            (_, Stray::Asked(id, method, params)) => self.asked(None, &id, &method, &params),
            (_, Stray::Told(..)) => {}
        }
    }

    /// A subagent's thread was announced in a session.
    pub(super) fn announce(&mut self, session: &str, thread: &str, path: Option<&str>) {
        let known = || self.routes.contains_key(thread);
        if path.is_none() && (known() || self.expect(thread, Some(session.to_owned()))) {
            return;
        }
        self.adopt(session, thread, path);
        self.release(thread);
    }

    /// Asks about a thread, if nobody did yet; whether what it says can be held meanwhile.
    fn expect(&mut self, thread: &str, owner: Option<String>) -> bool {
        if let Some(held) = self.strays.get_mut(thread) {
            held.owner = held.owner.take().or(owner);
            return true;
        }
        if self.strays.len() >= STRAY_THREADS {
            return false;
        }
        let messages = Vec::new();
        self.strays
            .insert(thread.to_owned(), Strays { owner, messages });
        let at = thread.to_owned();
        self.look_up(LookUp {
            thread: at.clone(),
            at,
            path: None,
            depth: 0,
            since: Instant::now(),
        });
        true
    }

    /// Follows the parents until a session owns one.
    fn look_up(&mut self, mut way: LookUp) {
        let params = json!({ "threadId": way.at });
        self.ask(
            "thread/read",
            &params,
            limits::REQUEST,
            move |broker, answer| {
                // Codex tells of a thread before it has written its first line (0.171).
                let early = matches!(&answer, Err(Failed::Refused(message))
                    if message.ends_with("is empty"));
                if early && way.since.elapsed() < limits::READ_RETRY {
                    let at = Instant::now() + limits::READ_PAUSE;
                    return broker.later(at, move |broker| broker.look_up(way));
                }
                let answer = answer.unwrap_or_default();
                let told = &answer["thread"];
                if way.depth == 0 {
                    // Newer tools have paths and names, older ones names alone.
                    let path = told.pointer("/source/subAgent/thread_spawn/agent_path");
                    let path = path.and_then(Value::as_str);
                    let path = path.or_else(|| told["agentNickname"].as_str());
                    way.path = path.map(str::to_owned);
                }
                let parent = told["parentThreadId"].as_str();
                let route = parent.and_then(|parent| broker.routes.get(parent));
                let held = broker.strays.get(&way.thread);
                let owner = route.map(|route| route.session.clone());
                let owner = owner.or_else(|| held?.owner.clone());
                match (owner, parent) {
                    (Some(session), _) => {
                        broker.adopt(&session, &way.thread, way.path.as_deref());
                        broker.release(&way.thread);
                    }
                    (None, Some(parent)) if way.depth < DEPTH => {
                        parent.clone_into(&mut way.at);
                        way.depth += 1;
                        broker.look_up(way);
                    }
                    (None, _) => broker.release(&way.thread),
                }
            },
        );
    }

    /// Hands out what was held, now that it is known whose it is, or that it is nobody's.
    fn release(&mut self, thread: &str) {
        let held = self.strays.remove(thread).unwrap_or_default();
        for message in held.messages {
            match message {
                Stray::Told(method, params) if self.routes.contains_key(thread) => {
                    self.told(thread, &method, &params);
                }
                Stray::Told(..) => {}
                Stray::Asked(id, method, params) => {
                    self.asked(Some(thread), &id, &method, &params);
                }
            }
        }
    }

    fn session_of_turn(&self, turn: &str) -> Option<String> {
        self.sessions
            .values()
            .find(|session| session.turn.as_ref().is_some_and(|own| own.id == turn))
            .map(|session| session.id.clone())
    }

    /// A subagent's thread belongs to a session from now on.
    fn adopt(&mut self, session: &str, thread: &str, path: Option<&str>) {
        let Some(owner) = self
            .sessions
            .get_mut(session)
            .filter(|own| own.thread != thread)
        else {
            return;
        };
        let known = owner.children.entry(thread.to_owned()).or_default();
        if let Some(path) = path {
            known.path = Some(path.to_owned());
        }
        let path = known.path.as_deref().unwrap_or(UNNAMED).to_owned();
        let route = Route {
            session: session.to_owned(),
            child: Some(path),
        };
        self.routes.insert(thread.to_owned(), route);
    }

    /// Follows what runs in a subagent.
    pub(super) fn child_told(&mut self, thread: &str, session: &str, method: &str, params: &Value) {
        let Some(session) = self.sessions.get_mut(session) else {
            return;
        };
        let Some(child) = session.children.get_mut(thread) else {
            return;
        };
        let turn = params.pointer("/turn/id").and_then(Value::as_str);
        match method {
            "turn/started" => child.turn = turn.map(str::to_owned),
            "turn/completed" if child.turn.as_deref() == turn => child.turn = None,
            _ => return,
        }
        let turn = child.turn.take_if(|_| session.phase == Phase::Cancelled);
        if turn.is_some() {
            // It began, or became known, while its session was being cancelled.
            self.let_go(thread.to_owned(), turn, |_| {});
        }
    }

    /// Ends what the subagents of a session do.
    pub(super) fn let_children_go(&mut self, session: &str) {
        let Some(session) = self.sessions.get_mut(session) else {
            return;
        };
        let children: Vec<_> = session
            .children
            .iter_mut()
            .map(|(thread, child)| (thread.clone(), child.turn.take()))
            .collect();
        for (thread, turn) in children {
            self.let_go(thread, turn, |_| {});
        }
    }
}
