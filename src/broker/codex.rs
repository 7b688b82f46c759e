//! The app-server's life: started when the first session needs it, greeted, guarded by version,
//! noticed when it dies, started again, ended when nobody uses it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::app_server::{self, AppServer};
use super::core::{Broker, Failed, moment};
use super::error::{Code, Error, Result};
use super::events::Kind;
use super::limits;
use super::session::Phase;
use crate::approval::Moment;
use crate::codex::Version;
use crate::codex::version::NEWEST;
use crate::rpc::{Event, Line};

/// The oldest version that the broker was proven on.
pub const OLDEST: Version = Version::new(0, 147, 0);

/// Notifications that nobody here reads.
const UNREAD: [&str; 9] = [
    "account/rateLimits/updated",
    "remoteControl/status/changed",
    "skills/changed",
    "fuzzyFileSearch/sessionUpdated",
    "fuzzyFileSearch/sessionCompleted",
    "thread/realtime/started",
    "thread/realtime/itemAdded",
    "thread/realtime/error",
    "thread/realtime/closed",
];

/// The most warnings of its start that are kept for new sessions.
const WARNINGS: usize = 16;

/// What is to be done once it runs.
type Ready = Box<dyn FnOnce(&mut Broker, Result<()>)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Down,
    Starting,
    Up,
}

/// The app-server and what is known of it.
pub struct Codex {
    pub(super) server: Option<AppServer>,
    state: State,
    /// Where it lies; looked up once.
    program: Option<PathBuf>,
    pub(super) generation: u64,
    /// As its greeting told.
    pub(super) version: Option<Version>,
    /// Codex's home, as its greeting told.
    pub(super) home: Option<PathBuf>,
    /// When it was started.
    pub(super) started: Option<Moment>,
    /// Warnings that belong to no thread.
    pub(super) warnings: Vec<Value>,
    ready: Vec<Ready>,
    crashes: Vec<Instant>,
    start_at: Option<Instant>,
    bad_lines: u32,
    unused_since: Instant,
}

impl Codex {
    pub(super) fn new() -> Self {
        Self {
            server: None,
            state: State::Down,
            program: None,
            generation: 0,
            version: None,
            home: None,
            started: None,
            warnings: Vec::new(),
            ready: Vec::new(),
            crashes: Vec::new(),
            start_at: None,
            bad_lines: 0,
            unused_since: Instant::now(),
        }
    }

    /// The version in words.
    pub(super) fn version_text(&self) -> Option<String> {
        self.version.map(|version| version.to_string())
    }

    /// Whether it answers.
    pub(super) fn is_up(&self) -> bool {
        self.state == State::Up
    }

    pub(super) fn flush(&mut self) {
        if let Some(server) = &mut self.server {
            server.flush();
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let asked = self
            .server
            .as_ref()
            .and_then(|server| server.peer.next_deadline());
        [asked, self.start_at].into_iter().flatten().min()
    }
}

impl Broker {
    /// Does `then` once the app-server runs, or with why it does not.
    pub(super) fn with_codex(&mut self, then: impl FnOnce(&mut Self, Result<()>) + 'static) {
        match self.codex.state {
            State::Up => then(self, Ok(())),
            State::Starting => self.codex.ready.push(Box::new(then)),
            State::Down => {
                self.codex.ready.push(Box::new(then));
                if self.codex.start_at.is_none() {
                    self.schedule_start();
                }
            }
        }
    }

    fn schedule_start(&mut self) {
        let now = Instant::now();
        let codex = &mut self.codex;
        codex
            .crashes
            .retain(|crash| now.saturating_duration_since(*crash) < limits::CRASH_WINDOW);
        let count = codex.crashes.len();
        if count >= limits::CRASHES {
            let error = Error::new(
                Code::AppServerStartFailed,
                format!(
                    "the app-server ended {count} times within {} minutes and is not started again \
                     for now",
                    limits::CRASH_WINDOW.as_secs() / 60
                ),
            );
            return self.tell_ready(&Err(error));
        }
        let Some(last) = codex.crashes.last() else {
            return self.start_codex();
        };
        let pause = limits::BACKOFF[(count - 1).min(limits::BACKOFF.len() - 1)];
        let at = *last + pause;
        if at <= now {
            self.start_codex();
        } else {
            codex.start_at = Some(at);
        }
    }

    fn start_codex(&mut self) {
        self.codex.start_at = None;
        if self.codex.program.is_none() {
            self.codex.program = app_server::find(&self.options.codex);
        }
        let Some(program) = self.codex.program.clone() else {
            let message = format!("there is no program `{}`", self.options.codex);
            return self.tell_ready(&Err(Error::new(Code::AppServerStartFailed, message)));
        };
        self.codex.generation += 1;
        match AppServer::start(&program, self.codex.generation, &self.inbox) {
            Ok(server) => self.codex.server = Some(server),
            Err(error) => {
                self.codex.crashes.push(Instant::now());
                let message = format!("cannot start `{}`: {error}", program.display());
                return self.tell_ready(&Err(Error::new(Code::AppServerStartFailed, message)));
            }
        }
        self.codex.state = State::Starting;
        self.codex.started = Some(moment());
        self.codex.bad_lines = 0;
        self.codex.warnings.clear();
        self.codex.unused_since = Instant::now();
        let params = json!({
            "clientInfo": {
                "name": "codexgate",
                "title": "codexgate",
                "version": env!("CARGO_PKG_VERSION"),
            },
            "capabilities": {
                "experimentalApi": true,
                "requestAttestation": false,
                "optOutNotificationMethods": UNREAD,
            },
        });
        self.ask("initialize", &params, limits::HANDSHAKE, Self::greeted);
    }

    fn greeted(&mut self, answer: std::result::Result<Value, Failed>) {
        let greeting = match answer {
            Ok(greeting) => greeting,
            Err(failed) => {
                let words = self.codex.server.as_ref().map(AppServer::last_words);
                let why = match failed {
                    Failed::Gone(how) => how,
                    Failed::Refused(message) => message,
                    Failed::Silent(_) => "it did not greet in time".to_owned(),
                    Failed::Clogged => "it does not read".to_owned(),
                };
                let words = words.filter(|words| !words.is_empty());
                let words = words.map(|words| format!("; {words}")).unwrap_or_default();
                let error = Error::new(
                    Code::AppServerStartFailed,
                    format!("the app-server did not start: {why}{words}"),
                );
                self.drop_codex();
                self.codex.crashes.push(Instant::now());
                return self.tell_ready(&Err(error));
            }
        };
        self.codex.home = greeting["codexHome"].as_str().map(PathBuf::from);
        let version = version_of(greeting["userAgent"].as_str().unwrap_or_default());
        if version.is_none_or(|version| version < OLDEST) {
            let named = version.map_or("of an unknown version".to_owned(), |version| {
                version.to_string()
            });
            self.drop_codex();
            return self.tell_ready(&Err(Error::new(
                Code::Unsupported,
                format!("Codex {named} is not supported: {OLDEST} to {NEWEST} are proven"),
            )));
        }
        let before = self.codex.version;
        self.codex.version = version;
        if let (Some(old), Some(new)) = (before, version)
            && old != new
        {
            let text = format!("Codex changed from {old} to {new} while the broker ran");
            self.warn_all(&json!({"method": "warning", "message": text}));
        }
        if let Some(server) = &mut self.codex.server {
            server.peer.tell("initialized", &json!({}));
        }
        self.codex.state = State::Up;
        self.tell_ready(&Ok(()));
    }

    fn tell_ready(&mut self, how: &Result<()>) {
        for then in std::mem::take(&mut self.codex.ready) {
            then(self, how.clone());
        }
    }

    /// Takes the process away; who ends it is the caller's concern no more.
    fn drop_codex(&mut self) {
        self.codex.state = State::Down;
        if let Some(mut server) = self.codex.server.take() {
            server.close();
            // Up to some seconds, so not here.
            std::thread::spawn(move || server.end());
        }
    }

    pub(super) fn codex_line(&mut self, generation: u64, line: &Line) {
        let Some(server) = self.codex.server.as_mut() else {
            return;
        };
        if server.generation != generation {
            return;
        }
        let event = server.peer.receive(line, Instant::now());
        if event == Event::Unreadable {
            self.codex.bad_lines += 1;
            let too_long = matches!(line, Line::TooLong);
            let text = if too_long {
                "the app-server sent a line of more than 16 MiB"
            } else {
                "the app-server sent a line that is no message; it was skipped"
            };
            self.warn_all(&json!({"method": "warning", "message": text,
                "code": Code::ProtocolParseError.as_str()}));
            if too_long || self.codex.bad_lines >= limits::BAD_LINES {
                self.crashed(&format!("{}: {text}", Code::ProtocolParseError.as_str()));
            }
            return;
        }
        self.codex.bad_lines = 0;
        match event {
            Event::Answer(ticket, outcome) => self.answered(ticket, outcome),
            Event::Request { id, method, params } => self.codex_request(id, method, params),
            Event::Notification { method, params } => self.codex_told(method, params),
            Event::Late | Event::Foreign | Event::Unreadable => {}
        }
    }

    pub(super) fn codex_gone(&mut self, generation: u64) {
        let Some(server) = self.codex.server.as_mut() else {
            return;
        };
        if server.generation != generation {
            return;
        }
        let how = server
            .wait(Duration::from_millis(500))
            .unwrap_or_else(|| "it closed its output".to_owned());
        let how = match server.last_words() {
            words if self.codex.state == State::Starting && !words.is_empty() => {
                format!("{how}; {words}")
            }
            _ => how,
        };
        self.crashed(&how);
    }

    /// Everything that the process held is lost; what the sessions know stays.
    fn crashed(&mut self, how: &str) {
        let generation = self.codex.generation;
        let starting = self.codex.state == State::Starting;
        self.drop_codex();
        if !starting {
            self.codex.crashes.push(Instant::now());
        }
        self.routes.clear();
        self.strays.clear();
        self.approvals_gone(generation);
        for (_, (_, then)) in std::mem::take(&mut self.thens) {
            then(self, Err(Failed::Gone(how.to_owned())));
        }
        for waiter in std::mem::take(&mut self.settled) {
            (waiter.then)(self, Err(Failed::Gone(how.to_owned())));
        }
        let text = format!("app-server exited ({how})");
        for session in self.sessions.values_mut().filter(|session| !session.exec) {
            session.generation = 0;
            session.children.clear();
            if session.phase == Phase::Cancelled {
                continue;
            }
            let data = json!({"message": text, "status": "error", "error": text,
                "turnId": session.turn.as_ref().map(|turn| turn.id.clone())});
            session.tell_pinned(Kind::Error, data.clone());
            if session.phase == Phase::Running {
                let turn = session.turn.as_ref().map(|turn| turn.id.clone());
                session.tell(Kind::Result, data);
                session.last_error = Some(text.clone());
                session.end_turn(
                    Phase::Error,
                    json!({"turnId": turn.unwrap_or_default(), "status": "error",
                        "error": text, "completedAt": super::core::iso(moment())}),
                );
            }
        }
    }

    pub(super) fn codex_tick(&mut self, now: Instant) {
        loop {
            let server = self.codex.server.as_mut();
            let Some(server) = server else { break };
            let Some(ticket) = server.peer.overdue(now) else {
                break;
            };
            server.peer.forget(ticket);
            if let Some((method, then)) = self.thens.remove(&ticket) {
                then(self, Err(Failed::Silent(method)));
            }
        }
        if self.codex.start_at.is_some_and(|at| now >= at) {
            self.start_codex();
        }
    }

    /// Ends an app-server that no session uses.
    pub(super) fn sweep_codex(&mut self, now: Instant) {
        let used = self
            .sessions
            .values()
            .any(|session| session.phase != Phase::Cancelled && !session.exec);
        if used || self.codex.state != State::Up {
            self.codex.unused_since = now;
        } else if now.saturating_duration_since(self.codex.unused_since) >= limits::UNUSED {
            self.routes.clear();
            self.drop_codex();
        }
    }

    /// Tells every session, and those that are made later on this app-server.
    pub(super) fn warn_all(&mut self, data: &Value) {
        if self.codex.warnings.len() < WARNINGS {
            self.codex.warnings.push(data.clone());
        }
        for session in self.sessions.values_mut() {
            if session.phase != Phase::Cancelled {
                session.tell(Kind::Progress, data.clone());
            }
        }
    }
}

/// The version in `codexgate/0.171.0 (Linux) …`.
fn version_of(user_agent: &str) -> Option<Version> {
    let (_, rest) = user_agent.split_once('/')?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_stands_behind_the_first_slash() {
        let version = version_of("codexgate/0.171.0 (Debian 12) xterm (codexgate; 0.0.0)");
        assert_eq!(version, Some(NEWEST));
        assert_eq!(version_of("codexgate"), None);
    }
}
