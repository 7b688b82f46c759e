//! The one owner of all state: takes what reaches the inbox, one by one, and never waits for
//! anything but the inbox.
//!
//! What takes several steps with Codex is written as steps: each request is asked with what is to
//! be done with its answer ([`Broker::ask`]). What would block (git, the journal) runs on a thread
//! beside it and comes back through the inbox. So a slow session never stops another.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use serde_json::Value;

use super::children::Strays;
use super::client::Client;
use super::codex::Codex;
use super::error::{Code, Error, Result};
use super::inbox::In;
use super::limits;
use super::options::Options;
use super::pair::Pairing;
use super::route::Route;
use super::session::Session;
use crate::approval::{Clock as _, Moment, Surroundings, SystemClock, utc};
use crate::rpc::{Outcome, Ticket};

/// What the broker is told of where it runs.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// A safe state directory and what is around it; none: nothing is kept.
    pub around: Option<Surroundings>,
    /// Where relative paths begin.
    pub cwd: PathBuf,
}

/// Why Codex gave no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failed {
    /// It said no, in its own words.
    Refused(String),
    /// It said nothing in time.
    Silent(&'static str),
    /// It ended.
    Gone(String),
    /// It does not read.
    Clogged,
}

impl Failed {
    /// As most callers tell it.
    pub fn error(self) -> Error {
        match self {
            Self::Refused(message) => Error::internal(&message),
            Self::Silent(method) => Error::new(
                Code::Timeout,
                format!("Codex did not answer `{method}` in time"),
            ),
            Self::Gone(how) => Error::internal(&format!("the app-server exited ({how})")),
            Self::Clogged => Error::new(
                Code::WriteQueueDropped,
                "more than 5 MB wait for the app-server, which does not read",
            ),
        }
    }
}

/// An answer of Codex.
pub type Answer = std::result::Result<Value, Failed>;
/// What is to be done with it.
pub type Then = Box<dyn FnOnce(&mut Broker, Answer)>;

/// Something to be done.
type Act = Box<dyn FnOnce(&mut Broker)>;

/// Somebody waits for a thread's settings to be told.
pub struct Settled {
    pub(super) thread: String,
    pub(super) until: Instant,
    pub(super) then: Then,
}

/// All state.
pub struct Broker {
    pub(super) options: Options,
    pub(super) environment: Environment,
    pub(super) inbox: SyncSender<In>,
    pub(super) client: Client,
    pub(super) codex: Codex,
    pub(super) sessions: IndexMap<String, Session>,
    pub(super) routes: HashMap<String, Route>,
    pub(super) strays: HashMap<String, Strays>,
    pub(super) thens: BTreeMap<Ticket, (&'static str, Then)>,
    pub(super) settled: Vec<Settled>,
    /// What is to be done at a time.
    later: Vec<(Instant, Act)>,
    pub(super) pairing: Pairing,
    pub(super) keeper: super::store::Keeper,
    pub(super) execs: HashMap<String, super::exec::Run>,
    /// Requests that people at terminals see.
    pub(super) on_disk: BTreeSet<String>,
    pub(super) looked: Instant,
    pub(super) swept: Instant,
    pub(super) ending: bool,
}

impl Broker {
    /// A broker that nobody has spoken to. What other threads find out comes by `inbox`.
    pub fn new(options: Options, environment: Environment, inbox: SyncSender<In>) -> Self {
        Self {
            codex: Codex::new(),
            client: Client::new(),
            sessions: IndexMap::new(),
            routes: HashMap::new(),
            strays: HashMap::new(),
            thens: BTreeMap::new(),
            settled: Vec::new(),
            later: Vec::new(),
            pairing: Pairing::new(Box::new(super::random::number)),
            keeper: super::store::Keeper::new(environment.around.as_ref()),
            execs: HashMap::new(),
            on_disk: BTreeSet::new(),
            looked: Instant::now(),
            swept: Instant::now(),
            ending: false,
            options,
            environment,
            inbox,
        }
    }

    /// Serves until the client has gone or a signal came.
    pub fn run(&mut self, inbox: &Receiver<In>) {
        let parent = rustix::process::getppid();
        let mut looked = Instant::now();
        while !self.ending {
            let now = Instant::now();
            let until = self.deadline().min(looked + limits::PARENT);
            match inbox.recv_timeout(until.saturating_duration_since(now)) {
                Ok(what) => {
                    self.take(what);
                    // What came meanwhile is taken before anything is written.
                    for what in inbox.try_iter().take(BATCH) {
                        self.take(what);
                        if self.ending {
                            break;
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.ending = true,
            }
            let now = Instant::now();
            if now >= looked + limits::PARENT {
                looked = now;
                self.ending |= rustix::process::getppid() != parent;
            }
            self.tick(now);
            self.serve_waits(now);
            self.codex.flush();
            self.ending |= !self.client.flush();
        }
    }

    pub(super) fn take(&mut self, what: In) {
        match what {
            In::Client(line) => self.client_line(&line),
            In::ClientGone | In::Signal => self.ending = true,
            In::Codex(generation, line) => self.codex_line(generation, &line),
            In::CodexGone(generation) => self.codex_gone(generation),
            In::Done(then) => then(self),
        }
    }

    /// When something is to be done though nothing comes.
    fn deadline(&self) -> Instant {
        let mut until = self.swept + limits::SWEEP;
        let mut at = |when: Option<Instant>| {
            if let Some(when) = when {
                until = until.min(when);
            }
        };
        at(self.client.deadline());
        at(self.codex.deadline());
        at(self.pairing.next_deadline());
        at(self.decisions_deadline());
        for waiter in &self.settled {
            at(Some(waiter.until));
        }
        for (when, _) in &self.later {
            at(Some(*when));
        }
        until
    }

    /// Does what is due.
    pub(super) fn tick(&mut self, now: Instant) {
        self.codex_tick(now);
        while let Some(place) = self.settled.iter().position(|waiter| now >= waiter.until) {
            let waiter = self.settled.swap_remove(place);
            (waiter.then)(self, Err(Failed::Silent("thread/settings/update")));
        }
        while let Some(place) = self.later.iter().position(|(at, _)| now >= *at) {
            let (_, act) = self.later.swap_remove(place);
            act(self);
        }
        self.approvals_tick(now);
        if now >= self.swept + limits::SWEEP {
            self.swept = now;
            self.sweep(now);
        }
    }

    /// Asks Codex; `then` gets its answer, or why there is none.
    pub(super) fn ask(
        &mut self,
        method: &'static str,
        params: &Value,
        time: Duration,
        then: impl FnOnce(&mut Self, Answer) + 'static,
    ) {
        let Some(server) = self.codex.server.as_mut() else {
            return then(self, Err(Failed::Gone("it does not run".to_owned())));
        };
        if server.is_clogged() {
            return then(self, Err(Failed::Clogged));
        }
        let until = Instant::now() + time;
        let ticket = server.peer.ask(method, params, Some(until));
        self.thens.insert(ticket, (method, Box::new(then)));
    }

    /// The same where nobody cares about the answer.
    pub(super) fn ask_blindly(&mut self, method: &'static str, params: &Value) {
        self.ask(method, params, limits::REQUEST, |_, _| {});
    }

    pub(super) fn answered(&mut self, ticket: Ticket, outcome: Outcome) {
        let Some((_, then)) = self.thens.remove(&ticket) else {
            return;
        };
        let answer = match outcome {
            Outcome::Result(value) => Ok(value),
            Outcome::Error(error) => Err(Failed::Refused(error.message)),
            Outcome::Malformed(why) => Err(Failed::Refused(format!("its answer is none: {why}"))),
        };
        then(self, answer);
    }

    /// Waits until Codex tells the settings of `thread`.
    pub(super) fn when_settled(
        &mut self,
        thread: &str,
        then: impl FnOnce(&mut Self, Answer) + 'static,
    ) {
        self.settled.push(Settled {
            thread: thread.to_owned(),
            until: Instant::now() + limits::REQUEST,
            then: Box::new(then),
        });
    }

    /// Runs `work` on a thread beside this one, then `then` here.
    pub(super) fn beside<T: Send + 'static>(
        &mut self,
        work: impl FnOnce() -> T + Send + 'static,
        then: impl FnOnce(&mut Self, Result<T>) + Send + 'static,
    ) {
        let inbox = self.inbox.clone();
        let started = std::thread::Builder::new()
            .name("beside".to_owned())
            .spawn(move || {
                let found = work();
                // The broker may be ending.
                let _ = inbox.send(In::Done(Box::new(move |broker| then(broker, Ok(found)))));
            });
        if let Err(error) = started {
            // `then` is gone with the thread: nothing can be said, and this is as good as memory
            // running out.
            self.client.note(&format!("cannot start a thread: {error}"));
        }
    }

    /// Does `act` at a time.
    pub(super) fn later(&mut self, at: Instant, act: impl FnOnce(&mut Self) + 'static) {
        self.later.push((at, Box::new(act)));
    }

    /// The session of a call.
    pub(super) fn session(&mut self, id: &str) -> Result<&mut Session> {
        self.sessions
            .get_mut(id)
            .filter(|session| session.listed)
            .ok_or_else(|| Error::new(Code::SessionNotFound, format!("there is no session `{id}`")))
    }
}

/// Things that are taken from the inbox before answers are written.
const BATCH: usize = 256;

/// Now, for what is told.
pub fn moment() -> Moment {
    SystemClock.now()
}

/// `2026-12-01T05:03:18.199Z`.
pub fn iso(moment: Moment) -> String {
    let millis = moment % 1000;
    utc(moment)
        .replacen(' ', "T", 1)
        .replace(" UTC", &format!(".{millis:03}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_milliseconds() {
        assert_eq!(iso(951_782_399_007), "2000-02-28T23:59:59.007Z");
    }
}
