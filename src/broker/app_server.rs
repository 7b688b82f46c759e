//! One running `codex app-server`: its process, its pipes, and how it is ended.
//!
//! It leads a process group of its own. One thread reads its lines into the broker's inbox, one
//! writes what the broker has to say, so that a Codex that does not read never stops the broker;
//! what may wait is bounded. Its standard error is log text; the end of it is kept, since a Codex
//! that refuses its configuration says so only there (0.171).

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, SyncSender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::inbox::In;
use super::limits;
use crate::rpc::{Dialect, Line, Peer, read_lines};

/// The process and what this side knows of it.
pub struct AppServer {
    /// Counts the starts from 1: its requests' ids begin anew with each.
    pub generation: u64,
    /// Our side of the conversation.
    pub peer: Peer,
    child: Child,
    input: Option<Sender<Vec<u8>>>,
    queued: Arc<AtomicUsize>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
}

/// Where a name leads: itself, if it is a path, else the first program of that name in `PATH`.
pub fn find(name: &str) -> Option<PathBuf> {
    let is_program = |path: &Path| {
        use std::os::unix::fs::PermissionsExt as _;
        let meta = path.metadata();
        meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        let path = std::path::absolute(name).ok()?;
        return is_program(&path).then_some(path);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|path| is_program(path))
}

impl AppServer {
    /// Starts `program app-server`.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(program: &Path, generation: u64, inbox: &SyncSender<In>) -> io::Result<Self> {
        let mut child = Command::new(program)
            // A thread that nobody follows is closed at once, and its MCP servers end (0.154 on).
            .args(["app-server", "-c", "thread_unload_delay_secs=0"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let mut stdin = child.stdin.take().expect("it was piped");
        let stdout = child.stdout.take().expect("it was piped");
        let mut errors = child.stderr.take().expect("it was piped");
        let gone = Hangup(inbox.clone(), generation);
        read_lines(stdout, limits::LINE, move |line: Line| {
            gone.0.send(In::Codex(gone.1, line)).is_ok()
        })?;
        let (input, lines) = channel::<Vec<u8>>();
        let queued = Arc::new(AtomicUsize::new(0));
        let written = Arc::clone(&queued);
        thread::Builder::new()
            .name("codex-input".to_owned())
            .spawn(move || {
                for line in lines {
                    // A closed pipe shows as the end of its output.
                    let done = stdin.write_all(&line).and_then(|()| stdin.flush());
                    written.fetch_sub(line.len(), Ordering::AcqRel);
                    if done.is_err() {
                        break;
                    }
                }
            })?;
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&stderr);
        thread::Builder::new()
            .name("codex-stderr".to_owned())
            .spawn(move || {
                let mut piece = [0; 1024];
                while let Ok(count @ 1..) = errors.read(&mut piece) {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.extend(&piece[..count]);
                    let over = kept.len().saturating_sub(limits::STDERR);
                    kept.drain(..over);
                }
            })?;
        Ok(Self {
            generation,
            peer: Peer::new(Dialect::Headless, "codexgate"),
            child,
            input: Some(input),
            queued,
            stderr,
        })
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether so much waits that nothing more is asked.
    pub fn is_clogged(&self) -> bool {
        self.queued.load(Ordering::Acquire) > limits::WRITE_QUEUE
    }

    /// Hands what the peer has to say to the writer.
    pub fn flush(&mut self) {
        let bytes = self.peer.take_output();
        if bytes.is_empty() {
            return;
        }
        if let Some(input) = &self.input {
            self.queued.fetch_add(bytes.len(), Ordering::AcqRel);
            // It has ended: the reader tells.
            let _ = input.send(bytes);
        }
    }

    /// Ends its input: it ends by itself.
    pub fn close(&mut self) {
        self.flush();
        self.input = None;
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<String> {
        use std::os::unix::process::ExitStatusExt as _;
        let status = self.child.try_wait().ok()??;
        Some(match (status.code(), status.signal()) {
            (Some(code), _) => format!("code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "an unknown status".to_owned(),
        })
    }

    /// Waits at most `time` for its end.
    pub fn wait(&mut self, time: Duration) -> Option<String> {
        let end = Instant::now() + time;
        loop {
            if let Some(how) = self.ended() {
                return Some(how);
            }
            if Instant::now() >= end {
                return None;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Signals its whole group.
    pub fn signal(&self, signal: Signal) {
        if let Some(group) = i32::try_from(self.pid()).ok().and_then(Pid::from_raw) {
            // It may have ended just now.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Ends it, by force if need be; how it ended.
    pub fn end(&mut self) -> String {
        self.close();
        if let Some(how) = self.wait(limits::END_QUIET) {
            return how;
        }
        self.signal(Signal::TERM);
        if let Some(how) = self.wait(limits::END_TERM) {
            return how;
        }
        self.signal(Signal::KILL);
        self.wait(limits::END_ASK)
            .unwrap_or_else(|| "no end".to_owned())
    }

    /// What it wrote to its standard error last, without colours.
    pub fn last_words(&self) -> String {
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        without_colours(&String::from_utf8_lossy(&bytes))
            .trim()
            .to_owned()
    }
}

impl Drop for AppServer {
    fn drop(&mut self) {
        self.input = None;
        if self.ended().is_none() {
            self.signal(Signal::KILL);
            // What was killed ends; without this it stays a zombie.
            let _ = self.child.wait();
        }
    }
}

/// Tells the broker that there are no more lines.
struct Hangup(SyncSender<In>, u64);

impl Drop for Hangup {
    fn drop(&mut self) {
        // The broker may have gone first.
        let _ = self.0.send(In::CodexGone(self.1));
    }
}

/// `text` without terminal sequences.
fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            // ESC [ … letter
            let _ = chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_taken_out() {
        assert_eq!(without_colours("\u{1b}[31mred\u{1b}[0m plain"), "red plain");
    }

    #[test]
    fn a_name_is_looked_for_in_path_and_a_path_is_itself() {
        assert!(find("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!(find("/no/such/codex"), None);
        assert_eq!(find("no-such-codex-here"), None);
    }
}
