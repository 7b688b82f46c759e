//! One session: what was asked for, what it does, what it did.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::children::Child;
use super::core::{iso, moment};
use super::effective::{Asked, Effective};
use super::events::{Buffer, Kind};
use super::limits;
use super::words::{Policy, Sandbox, Status};
use crate::approval::Moment;
use crate::plan::secret;
use crate::text::redact;

/// What a session does, without what waits in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// A turn is being started, or runs.
    Running,
    /// It waits for a reply.
    Idle,
    /// The last turn failed.
    Error,
    /// It is over.
    Cancelled,
}

/// What the caller asked for, and what is passed to Codex again at a resume or fork.
#[derive(Debug, Clone)]
pub struct Wish {
    /// When to ask.
    pub policy: Policy,
    /// What can be reached.
    pub sandbox: Sandbox,
    /// Where.
    pub cwd: PathBuf,
    /// None: the user's.
    pub model: Option<String>,
    /// Its name.
    pub profile: Option<String>,
    /// Profile and `advanced.config`, merged.
    pub config: Map<String, Value>,
    /// In place of Codex's own instructions.
    pub base_instructions: Option<String>,
    /// Beside them.
    pub developer_instructions: Option<String>,
    /// Cannot be resumed or forked.
    pub ephemeral: bool,
    /// How long an approval waits.
    pub approval_timeout: Duration,
    /// `sandbox_workspace_write` of the user's configuration.
    pub workspace: Value,
}

impl Wish {
    /// For the comparison with what Codex says.
    pub fn asked(&self) -> Asked {
        Asked {
            policy: self.policy,
            sandbox: self.sandbox,
            cwd: self.cwd.clone(),
            workspace: self.workspace.clone(),
        }
    }
}

/// The turn that runs.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    /// Codex's name of it.
    pub id: String,
    /// Whether its answer has a schema.
    pub schema: bool,
    /// What the agent said last.
    pub said: Option<String>,
}

/// A session.
#[derive(Debug)]
pub struct Session {
    /// Its name.
    pub id: String,
    /// Codex's thread.
    pub thread: String,
    /// Whether its start succeeded: a half session is not shown.
    pub listed: bool,
    /// What it does.
    pub phase: Phase,
    /// When it was made.
    pub created: Moment,
    /// When something happened last.
    pub active: Moment,
    /// The same on a clock that nobody sets.
    pub touched: Instant,
    /// When and why it was cancelled.
    pub cancelled: Option<(Moment, String)>,
    /// What was asked for.
    pub wish: Wish,
    /// What Codex said.
    pub effective: Option<Effective>,
    /// Which Codex.
    pub version: Option<String>,
    /// What happened.
    pub events: Buffer,
    /// What runs.
    pub turn: Option<Turn>,
    /// How the last turn ended.
    pub result: Option<Value>,
    /// Of the last failure.
    pub last_error: Option<String>,
    /// The session that it was forked from.
    pub parent: Option<String>,
    /// Subagents by their threads.
    pub children: BTreeMap<String, Child>,
    /// The app-server that has the thread loaded.
    pub generation: u64,
    /// Whether there was a turn: before it there is nothing to fork or resume.
    pub turned: bool,
    /// How many requests wait for an answer.
    pub waiting: usize,
    /// Whether a step with Codex is under way that no other may cross.
    pub busy: bool,
    /// Driven by `codex exec`.
    pub exec: bool,
}

impl Session {
    /// A session that is being started.
    pub fn new(id: String, wish: Wish, first_event: u64) -> Self {
        let now = moment();
        Self {
            id,
            thread: String::new(),
            listed: false,
            phase: Phase::Running,
            created: now,
            active: now,
            touched: Instant::now(),
            cancelled: None,
            wish,
            effective: None,
            version: None,
            events: Buffer::starting_at(first_event),
            turn: None,
            result: None,
            last_error: None,
            parent: None,
            children: BTreeMap::new(),
            generation: 0,
            turned: false,
            waiting: 0,
            busy: false,
            exec: false,
        }
    }

    /// Its status, what waits included.
    pub const fn status(&self) -> Status {
        match self.phase {
            Phase::Cancelled => Status::Cancelled,
            _ if self.waiting > 0 => Status::WaitingApproval,
            Phase::Running => Status::Running,
            Phase::Idle => Status::Idle,
            Phase::Error => Status::Error,
        }
    }

    /// Something happened.
    pub fn touch(&mut self) {
        self.active = moment();
        self.touched = Instant::now();
    }

    /// Appends an event.
    pub fn tell(&mut self, kind: Kind, data: Value) {
        self.touch();
        self.events.push(kind, data, iso(self.active), false);
    }

    /// Appends an event that is kept long.
    pub fn tell_pinned(&mut self, kind: Kind, data: Value) {
        self.touch();
        self.events.push(kind, data, iso(self.active), true);
    }

    /// When to poll again, in milliseconds: before an approval that comes right after this poll
    /// has timed out.
    pub fn poll_interval(&self) -> Option<u64> {
        match self.status() {
            Status::WaitingApproval => Some(limits::POLL_WAITING),
            Status::Running if self.wish.policy == Policy::Never => Some(limits::POLL_RUNNING),
            Status::Running => {
                let timeout = self.wish.approval_timeout.as_millis();
                let timeout = u64::try_from(timeout).unwrap_or(u64::MAX);
                Some((timeout / limits::POLLS_PER_APPROVAL).clamp(1, limits::POLL_RUNNING))
            }
            _ => None,
        }
    }

    /// A turn is over.
    pub fn end_turn(&mut self, phase: Phase, result: Value) {
        self.turn = None;
        self.phase = phase;
        self.result = Some(result);
        self.touch();
    }

    /// What a list shows.
    pub fn info(&self) -> Value {
        let mut info = json!({
            "sessionId": self.id,
            "status": self.status().as_str(),
            "createdAt": iso(self.created),
            "lastActiveAt": iso(self.active),
        });
        if let Some((when, why)) = &self.cancelled {
            info["cancelledAt"] = iso(*when).into();
            info["cancelledReason"] = why.as_str().into();
        }
        let effective = self.effective.as_ref();
        let model = effective.and_then(|effective| effective.model.clone());
        if let Some(model) = model.or_else(|| self.wish.model.clone()) {
            info["model"] = model.into();
        }
        info["approvalPolicy"] = effective
            .map_or(self.wish.policy.as_str(), |effective| &effective.policy)
            .into();
        info["sandbox"] = effective
            .map_or(self.wish.sandbox.as_str(), Effective::sandbox_word)
            .into();
        info["pendingRequestCount"] = self.waiting.into();
        if let Some(effective) = effective {
            info["effective"] = effective.json(self.version.as_deref());
        }
        if let Some(version) = &self.version {
            info["codexVersion"] = version.as_str().into();
        }
        if let Some(parent) = &self.parent {
            info["parentSessionId"] = parent.as_str().into();
        }
        if let Some(error) = &self.last_error {
            info["lastError"] = error.as_str().into();
        }
        info
    }

    /// What is shown when more is asked for.
    pub fn sensitive(&self) -> Value {
        let mut info = self.info();
        info["threadId"] = self.thread.as_str().into();
        info["cwd"] = self.wish.cwd.to_string_lossy().into();
        if let Some(profile) = &self.wish.profile {
            info["profile"] = profile.as_str().into();
        }
        if !self.wish.config.is_empty() {
            info["config"] = without_secrets(None, &Value::Object(self.wish.config.clone()));
        }
        info
    }
}

/// `value` with what looks like a secret hidden; names of keys stay.
fn without_secrets(name: Option<&str>, value: &Value) -> Value {
    match value {
        Value::String(text) if secret::looks_secret(name, text) => redact::secret(text).into(),
        Value::Array(items) => items
            .iter()
            .map(|item| without_secrets(name, item))
            .collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), without_secrets(Some(name), value)))
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

#[cfg(test)]
pub(super) fn example() -> Session {
    let wish = Wish {
        policy: Policy::OnRequest,
        sandbox: Sandbox::WorkspaceWrite,
        cwd: PathBuf::from("/w"),
        model: None,
        profile: None,
        config: Map::new(),
        base_instructions: None,
        developer_instructions: None,
        ephemeral: false,
        approval_timeout: limits::APPROVAL,
        workspace: Value::Null,
    };
    let mut session = Session::new("sess_1".to_owned(), wish, 0);
    session.listed = true;
    session
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f16_a_poll_comes_before_an_approval_has_timed_out() {
        let mut session = example();
        assert_eq!(session.poll_interval(), Some(15_000));
        session.wish.approval_timeout = Duration::from_hours(1);
        assert_eq!(session.poll_interval(), Some(120_000));
        session.wish.approval_timeout = Duration::from_millis(2);
        assert_eq!(session.poll_interval(), Some(1));
        session.wish.policy = Policy::Never;
        assert_eq!(session.poll_interval(), Some(120_000));
        session.waiting = 1;
        assert_eq!(session.poll_interval(), Some(1000));
        session.waiting = 0;
        session.phase = Phase::Idle;
        assert_eq!(session.poll_interval(), None);
    }

    #[test]
    fn a_child_that_waits_shows_after_the_parents_turn() {
        let mut session = example();
        session.end_turn(Phase::Idle, json!({}));
        session.waiting = 1;
        assert_eq!(session.status(), Status::WaitingApproval);
        session.waiting = 0;
        assert_eq!(session.status(), Status::Idle);
    }

    #[test]
    fn a_config_is_shown_without_its_secrets() {
        let mut session = example();
        session.wish.config =
            json!({"mcp_servers": {"x": {"env": {"API_TOKEN": "hunter2hunter2"}}}})
                .as_object()
                .expect("an object")
                .clone();
        let shown = session.sensitive()["config"].to_string();
        assert!(
            shown.contains("API_TOKEN") && !shown.contains("hunter2"),
            "{shown}"
        );
    }
}
