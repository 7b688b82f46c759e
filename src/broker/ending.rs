//! The end: everything that was started ends, in a fixed order and within a fixed time.
//!
//! Codex ends with its input, and its sandboxed commands with it. What an approved escalation left
//! behind with `setsid` does not: the broker is its child subreaper (Linux), so that what lost its
//! parent becomes the broker's child and can be found, ended and named.

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use serde_json::json;

use super::approvals::now;
use super::core::Broker;
use super::inbox::In;
use super::limits;
use super::session::Phase;

/// What was reparented to this process, without `server`: process and name.
#[cfg(target_os = "linux")]
fn orphans(server: Option<u32>) -> Vec<(rustix::process::Pid, String, bool)> {
    let me = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        // `ID (NAME) STATE PARENT …`; a name may hold anything, also `)`.
        let (Some(open), Some(close)) = (stat.find('('), stat.rfind(')')) else {
            continue;
        };
        let mut rest = stat[close + 1..].split_whitespace();
        let (state, parent) = (rest.next(), rest.next());
        if parent == Some(&me)
            && u32::try_from(id).ok() != server
            && let Some(pid) = rustix::process::Pid::from_raw(id)
        {
            found.push((pid, stat[open + 1..close].to_owned(), state == Some("Z")));
        }
    }
    found
}

#[cfg(not(target_os = "linux"))]
fn orphans(_: Option<u32>) -> Vec<(rustix::process::Pid, String, bool)> {
    Vec::new()
}

/// Takes note of orphans that have ended, so that none stays a zombie.
pub fn reap(server: Option<u32>) {
    for (pid, _, dead) in orphans(server) {
        if dead {
            // It is dead, so this does not wait.
            let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::NOHANG);
        }
    }
}

/// Makes this process the parent of whatever loses its own below it.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    {
        // A kernel without it leaves them to init, as everywhere else.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    }
}

/// Ends what was left behind; their names.
fn end_orphans(until: Instant) -> Vec<String> {
    let mut named = Vec::new();
    loop {
        let left = orphans(None);
        if left.is_empty() || Instant::now() >= until {
            return named;
        }
        for (pid, name, dead) in left {
            if dead {
                let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::NOHANG);
            } else {
                // Their children become ours in turn, and the next round finds them.
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                named.push(format!("{name} ({})", pid.as_raw_nonzero()));
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl Broker {
    /// Ends everything; what was left behind and what could not be written, in words.
    pub fn end(&mut self, inbox: &Receiver<In>) -> Vec<String> {
        self.refuse_all();
        let effects = self.pairing.withdraw_all("session closed", now());
        self.apply(effects);
        let generation = self.codex.generation;
        let mut asked = 0_u32;
        let loaded: Vec<(String, Option<String>, Phase)> = self
            .sessions
            .values()
            .filter(|session| session.generation == generation && !session.thread.is_empty())
            .map(|session| {
                let turn = session.turn.as_ref().map(|turn| turn.id.clone());
                (session.thread.clone(), turn, session.phase)
            })
            .collect();
        if self.codex.is_up() {
            for (thread, turn, phase) in loaded {
                if phase == Phase::Cancelled {
                    continue;
                }
                if let Some(turn) = turn {
                    let params = json!({ "threadId": thread, "turnId": turn });
                    self.ask_blindly("turn/interrupt", &params);
                }
                let params = json!({ "threadId": thread });
                self.ask_blindly("thread/backgroundTerminals/clean", &params);
                asked += 1;
            }
        }
        self.codex.flush();
        self.client.hang_up();
        // Nothing is waited for that was not asked, and never long.
        let until = Instant::now() + limits::END_ASK;
        while asked > 0 && !self.thens.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            match inbox.recv_timeout(left) {
                Ok(In::Codex(of, line)) => self.codex_line(of, &line),
                Ok(In::CodexGone(_)) | Err(_) => break,
                Ok(_) => {}
            }
            self.codex.flush();
        }
        self.execs.clear();
        if let Some(mut server) = self.codex.server.take() {
            // Its readers fill the inbox, which nobody empties while it ends.
            let ended = std::thread::scope(|scope| {
                let ending = scope.spawn(|| server.end());
                while !ending.is_finished() {
                    let _ = inbox.recv_timeout(Duration::from_millis(2));
                }
                ending.join()
            });
            drop(ended);
        }
        let mut notes: Vec<String> = end_orphans(Instant::now() + limits::END_ASK)
            .into_iter()
            .map(|name| format!("ended what a command had left running: {name}"))
            .collect();
        notes.extend(self.keeper.finish());
        notes.extend(self.client.take_notes());
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn children_are_found_by_their_parent() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("it starts");
        let found = orphans(None);
        let id = i32::try_from(child.id()).expect("a process id");
        assert!(
            found
                .iter()
                .any(|(pid, _, _)| pid.as_raw_nonzero().get() == id)
        );
        let without = orphans(Some(child.id()));
        assert!(
            !without
                .iter()
                .any(|(pid, _, _)| pid.as_raw_nonzero().get() == id)
        );
        child.kill().expect("it runs");
        child.wait().expect("it ended");
    }
}
