//! How long sessions live.

use std::time::Instant;

use crate::broker::app_server::AppServer;
use crate::broker::core::Broker;
use crate::broker::ending;
use crate::broker::limits;
use crate::broker::words::Status;

impl Broker {
    /// Cancels what nobody used for long, forgets what ended, and bounds all events together.
    pub(in crate::broker) fn sweep(&mut self, now: Instant) {
        let mut cancel = Vec::new();
        let mut forget = Vec::new();
        for session in self.sessions.values().filter(|session| session.listed) {
            let quiet = now.saturating_duration_since(session.touched);
            let (limit, why) = match session.status() {
                Status::Idle => (limits::IDLE, Some("Idle timeout")),
                Status::Running => (limits::RUNNING, Some("Running timeout")),
                Status::WaitingApproval => (limits::RUNNING, Some("Approval timeout")),
                Status::Cancelled => (limits::ENDED, None),
                Status::Error if session.thread.is_empty() => (limits::ENDED, None),
                Status::Error => (limits::FAILED, None),
            };
            match why {
                _ if quiet < limit => {}
                Some(why) => cancel.push((session.id.clone(), why)),
                None => forget.push(session.id.clone()),
            }
        }
        for (id, why) in cancel {
            self.cancel(&id, why, |_| {});
        }
        for id in forget {
            self.forget(&id);
        }
        self.bound_events();
        self.sweep_codex(now);
        ending::reap(self.codex.server.as_ref().map(AppServer::pid));
    }

    fn forget(&mut self, id: &str) {
        // A failed one that is forgotten lets its thread go first.
        if self
            .sessions
            .get(id)
            .is_some_and(|session| session.status() == Status::Error)
        {
            let thread = self.sessions.get(id).map(|session| session.thread.clone());
            if let Some(thread) = thread.filter(|_| self.codex.is_up()) {
                let params = serde_json::json!({ "threadId": thread });
                self.ask_blindly("thread/unsubscribe", &params);
            }
        }
        self.sessions.shift_remove(id);
        self.routes.retain(|_, route| route.session != id);
        self.pairing.forget(id);
    }

    fn bound_events(&mut self) {
        let total = |broker: &Self| -> usize {
            let sessions = broker.sessions.values();
            sessions.map(|session| session.events.bytes()).sum()
        };
        let mut over = total(self).saturating_sub(limits::EVENT_BYTES_ALL);
        while over > 0 {
            let largest = self
                .sessions
                .values_mut()
                .max_by_key(|session| session.events.bytes());
            let Some(session) = largest else { return };
            let before = session.events.bytes();
            if !session.events.evict_one(true) {
                return;
            }
            over = over.saturating_sub(before - session.events.bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::core::Environment;
    use crate::broker::options::Options;
    use crate::broker::session::{Phase, example};
    use std::time::Duration;

    fn broker(phase: Phase) -> Broker {
        let (send, _inbox) = std::sync::mpsc::sync_channel(1);
        let mut broker = Broker::new(Options::default(), Environment::default(), send);
        let mut session = example();
        session.phase = phase;
        "thread".clone_into(&mut session.thread);
        broker.sessions.insert(session.id.clone(), session);
        broker
    }

    /// What is left of a session that was quiet for `time`: `there`, why it was cancelled, or
    /// `forgotten`.
    fn after(phase: Phase, waiting: usize, time: Duration) -> String {
        let mut broker = broker(phase);
        if let Some(session) = broker.sessions.get_mut("sess_1") {
            session.waiting = waiting;
        }
        broker.sweep(Instant::now() + time);
        match broker
            .sessions
            .get("sess_1")
            .map(|session| &session.cancelled)
        {
            None => "forgotten".to_owned(),
            Some(None) => "there".to_owned(),
            Some(Some((_, why))) => why.clone(),
        }
    }

    #[test]
    fn quiet_sessions_are_cancelled_and_ended_ones_forgotten() {
        for (phase, waiting, limit, then) in [
            (Phase::Idle, 0, limits::IDLE, "Idle timeout"),
            (Phase::Running, 0, limits::RUNNING, "Running timeout"),
            (Phase::Running, 1, limits::RUNNING, "Approval timeout"),
            (Phase::Cancelled, 0, limits::ENDED, "forgotten"),
            (Phase::Error, 0, limits::FAILED, "forgotten"),
        ] {
            assert_eq!(after(phase, waiting, limit / 2), "there", "{phase:?}");
            assert_eq!(after(phase, waiting, limit * 2), then, "{phase:?}");
        }
    }
}
