//! Running a program with a time limit.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long a single command of Codex may take. It takes 20 ms; a busy machine takes seconds.
pub const LIMIT: Duration = Duration::from_secs(30);

/// What a program did.
#[derive(Debug)]
pub struct Finished {
    /// The exit code; `None` after a signal or when the time was up.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error, bytes that are not UTF-8 replaced.
    pub stderr: String,
}

impl Finished {
    /// Whether it ended by itself with exit code 0.
    pub fn done(&self) -> bool {
        self.code == Some(0)
    }

    /// Standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// Runs `command` to its end, without input, and ends it when the time is up.
pub fn run(command: &mut Command) -> Finished {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    let end = Instant::now() + LIMIT;
    let stdout = drain(child.stdout.take().expect("it was piped"));
    let stderr = drain(child.stderr.take().expect("it was piped"));
    let stdout = wait_for(&stdout, end, &mut child);
    let stderr = wait_for(&stderr, end, &mut child);
    let code = child.wait().ok().and_then(|status| status.code());
    Finished {
        code,
        stdout,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    }
}

fn drain(mut stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A stream that breaks has said what it had to say.
        let _ = stream.read_to_end(&mut bytes);
        let _ = send.send(bytes);
    });
    receive
}

fn wait_for(stream: &Receiver<Vec<u8>>, end: Instant, child: &mut Child) -> Vec<u8> {
    let left = end.saturating_duration_since(Instant::now());
    stream.recv_timeout(left).unwrap_or_else(|_| {
        // It may have ended just now.
        let _ = child.kill();
        stream
            .recv_timeout(Duration::from_secs(1))
            .unwrap_or_default()
    })
}
