//! The one path from a grant to a run. Each line of [`confirm`] is a step, in this order.
//!
//! What runs is what is stored: the same words, variables, input, folder and program, compared by
//! content right before. The outcome is in the journal before the grant is forgotten; a crash
//! between is found later and recorded as unknown.

use super::change;
use super::digest::{self, Budget};
use super::error::Error;
use super::grant::{self, Grant};
use super::journal::{self, Event, Journal};
use super::policy::{self, Ruling};
use super::proposal::{Action, Command, Content, Proposal, input};
use super::store::{Gate, Waiting};
use super::supervise::{Order, Status};
use super::surroundings::Surroundings;
use crate::files;
use sha2::{Digest as _, Sha256};
use std::fs::{self, OpenOptions};
use std::io::{Read, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Bytes of each stream that the journal keeps.
const OUTPUT_KEPT: usize = 64 * 1024;
/// How long output is waited for after the command has ended, when something that left its group
/// keeps the stream open.
const DRAIN: Duration = Duration::from_millis(200);

/// A stream of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Takes a command's output as it comes.
pub type Sink<'a> = dyn FnMut(Stream, &[u8]) + 'a;

/// How a run ended, as it is recorded.
pub type Ended = journal::Ended;

/// What became of a grant.
#[derive(Debug)]
#[must_use]
pub enum Outcome {
    /// It ran, well or not.
    Ran(Ended),
    /// It did not run, and nothing changed. The grant is spent all the same.
    NotRun(Ended),
}

/// Takes the grant of `waiting` and runs it: exactly that, once.
///
/// # Errors
/// Before the grant is taken: everything that changed, [`Error::Denied`], [`Error::NoGrant`].
/// After: a journal that takes nothing.
pub fn confirm(
    gate: &mut Gate<'_>,
    around: &Surroundings,
    waiting: &Waiting,
    sink: &mut Sink<'_>,
) -> Result<Outcome, Error> {
    // First, so that nobody learns of changes without a person's approval.
    if !grant::is_granted(gate, &waiting.token) {
        return Err(grant::missing(gate, &waiting.token));
    }
    inspect(waiting, around)?;
    if let Ruling::Deny(line) = policy::judge(&waiting.proposal, around)? {
        let line = line.to_string();
        return Err(Error::Denied { line });
    }
    let grant = Grant::take(gate, waiting)?;
    run(grant, gate, around, waiting, sink)
}

/// Whether everything is as it was proposed.
///
/// # Errors
/// [`Error::Changed`] names the difference, [`Error::OtherFolder`].
pub fn inspect(waiting: &Waiting, around: &Surroundings) -> Result<(), Error> {
    let proposal = &waiting.proposal;
    around.same_folders(&proposal.state, proposal.codex_home.as_deref())?;
    let cwd = Path::new(&proposal.cwd.path);
    let place = fs::symlink_metadata(cwd).map(|meta| (meta.dev(), meta.ino()));
    if place.ok() != Some((proposal.cwd.dev, proposal.cwd.ino)) {
        let what = format!("the working folder `{}` is another one", cwd.display());
        return Err(Error::Changed { what });
    }
    let command = match &proposal.action {
        Action::Command(command) => command,
        Action::Files(changes) => return change::compare(proposal, changes).map(drop),
    };
    let program = &command.program;
    let real = Path::new(&program.named).canonicalize().ok();
    if real.as_deref() != Some(Path::new(&program.path)) {
        let what = format!("the program `{}` leads elsewhere", program.named);
        return Err(Error::Changed { what });
    }
    if digest::file(Path::new(&program.path), &mut Budget::new())?.0 != program.sha256 {
        let what = format!("the program `{}` has another content", program.path);
        return Err(Error::Changed { what });
    }
    match changed_inputs(command).first() {
        Some(path) => Err(Error::Changed {
            what: format!("the input `{path}` has another content or place"),
        }),
        None => Ok(()),
    }
}

fn changed_inputs(command: &Command) -> Vec<String> {
    let mut budget = Budget::new();
    let inputs = command.inputs.iter();
    let changed =
        inputs.filter(|was| input(Path::new(&was.path), &mut budget).ok().as_ref() != Some(was));
    changed.map(|input| input.path.clone()).collect()
}

/// Spends a grant.
///
/// # Errors
/// A journal that takes nothing. A run that could not be recorded is found as unknown later.
pub fn run(
    grant: Grant,
    gate: &mut Gate<'_>,
    around: &Surroundings,
    waiting: &Waiting,
    sink: &mut Sink<'_>,
) -> Result<Outcome, Error> {
    let token = waiting.token.clone();
    if grant.token != token || grant.digest != waiting.digest {
        let why = "the grant is for another content".to_owned();
        return Err(Error::NoGrant { token, why });
    }
    let digest = grant.digest.clone();
    Journal::append(gate, Event::Started { token, digest })?;
    let folder = gate.run_folder(&waiting.token);
    let started = Instant::now();
    let done = files::make_private_folder(&folder)
        .map_err(|error| Error::io(&folder, "create", error))
        .and_then(|()| match &waiting.proposal.action {
            Action::Command(command) => {
                run_command(command, &waiting.proposal, &folder, around, sink)
            }
            Action::Files(changes) => {
                let written = change::write(gate, &waiting.token, &waiting.proposal, changes)?;
                let ended = Ended {
                    written,
                    ..Ended::default()
                };
                Ok(Outcome::Ran(ended))
            }
        });
    let mut outcome = done.unwrap_or_else(|error| not_run(&error));
    let (Outcome::Ran(ended) | Outcome::NotRun(ended)) = &mut outcome;
    ended.duration = super::clock::millis(started.elapsed());
    let event = Event::Ended {
        token: waiting.token.clone(),
        outcome: ended.clone(),
    };
    Journal::append(gate, event).map_err(|error| Error::Unrecorded(Box::new(error)))?;
    grant.finish(gate);
    Ok(outcome)
}

fn not_run(error: &Error) -> Outcome {
    let failed = Some(error.to_string());
    let ended = Ended {
        failed,
        ..Ended::default()
    };
    match error {
        // Some of the files are new: that did happen.
        Error::Files(files::Error::Stuck { .. }) => Outcome::Ran(ended),
        _ => Outcome::NotRun(ended),
    }
}

fn run_command(
    command: &Command,
    proposal: &Proposal,
    folder: &Path,
    around: &Surroundings,
    sink: &mut Sink<'_>,
) -> Result<Outcome, Error> {
    let order = order(command, proposal, folder)?;
    let mut child = std::process::Command::new(&around.executable)
        .arg(SUPERVISE)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Error::io(&around.executable, "start", error))?;
    let mut line = serde_json::to_vec(&order).expect("texts and numbers always serialise");
    line.push(b'\n');
    let mut lifeline = child.stdin.take();
    if let Some(pipe) = &mut lifeline {
        // One that died at once says so in its status, or by having none.
        let _ = pipe.write_all(&line);
    }
    let deadline = Instant::now() + Duration::from_millis(command.timeout);
    let (stdout, stderr, late) = listen(child, deadline, lifeline, sink);
    let Some(status) = Status::read(folder) else {
        let why = "the process that watches it died".to_owned();
        return Err(Error::NotStarted { why });
    };
    if let Some(why) = status.refused {
        return Err(Error::NotStarted { why });
    }
    let seconds = command.timeout / 1000;
    let failed = match (late, status.cut) {
        (true, _) => Some(format!(
            "it was ended: it ran longer than {seconds} seconds"
        )),
        (false, true) => Some("it was ended: codexgate was".to_owned()),
        (false, false) => None,
    };
    Ok(Outcome::Ran(Ended {
        code: status.code,
        signal: status.signal,
        failed,
        stdout,
        stderr,
        changed: changed_inputs(command),
        ..Ended::default()
    }))
}

/// The hidden command that runs [`super::supervise`].
pub(crate) const SUPERVISE: &str = "supervise";

/// Writes down what the run needs, and says what to start.
fn order(command: &Command, proposal: &Proposal, folder: &Path) -> Result<Order, Error> {
    let program = Path::new(&command.program.path);
    let program = if command.program.copied {
        copy(program, folder)?
    } else {
        program.to_path_buf()
    };
    let stdin = match &command.stdin {
        Some(content) => Some(feed(content, folder)?),
        None => None,
    };
    let variables = command.environment.iter();
    Ok(Order {
        program,
        sha256: command.program.sha256.clone(),
        arg0: command.program.named.clone(),
        args: command.argv[1..].to_vec(),
        env: variables
            .map(|v| (v.name.clone(), v.value.clone()))
            .collect(),
        cwd: proposal.cwd.clone(),
        stdin,
        folder: folder.to_path_buf(),
    })
}

/// Copies a program to where no agent can change it. Whether it is the one that was approved is
/// told there, by the one who starts it.
fn copy(program: &Path, folder: &Path) -> Result<PathBuf, Error> {
    let folder = folder.join("copy");
    files::make_private_folder(&folder).map_err(|e| Error::io(&folder, "create", e))?;
    let to = folder.join(program.file_name().unwrap_or_default());
    let fail = |error| Error::io(&to, "write", error);
    let mut from = digest::open(program)?;
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o500)
        .open(&to)
        .map_err(fail)?;
    std::io::copy(&mut from, &mut file).map_err(fail)?;
    Ok(to)
}

fn feed(content: &Content, folder: &Path) -> Result<PathBuf, Error> {
    let path = folder.join("stdin");
    let fail = |error| Error::io(&path, "write", error);
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .map_err(fail)?;
    file.write_all(&content.bytes()).map_err(fail)?;
    Ok(path)
}

enum Heard {
    Bytes(Stream, Vec<u8>),
    Ended,
}

/// Passes output on until the command ended or its time is up. Whether it was the time.
fn listen(
    mut child: Child,
    deadline: Instant,
    mut lifeline: Option<std::process::ChildStdin>,
    sink: &mut Sink<'_>,
) -> (journal::Output, journal::Output, bool) {
    let (tell, heard) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        pass(Stream::Stdout, stdout, tell.clone());
    }
    if let Some(stderr) = child.stderr.take() {
        pass(Stream::Stderr, stderr, tell.clone());
    }
    std::thread::spawn(move || {
        let _ = child.wait();
        let _ = tell.send(Heard::Ended);
    });
    let (mut stdout, mut stderr) = (Capture::default(), Capture::default());
    let (mut late, mut ended) = (false, false);
    loop {
        let wait = match (ended, late) {
            (true, _) => DRAIN,
            // The one in between kills the command and ends.
            (false, true) => Duration::MAX,
            (false, false) => deadline.saturating_duration_since(Instant::now()),
        };
        match heard.recv_timeout(wait) {
            Ok(Heard::Bytes(stream, bytes)) => {
                match stream {
                    Stream::Stdout => stdout.take(&bytes),
                    Stream::Stderr => stderr.take(&bytes),
                }
                sink(stream, &bytes);
            }
            Ok(Heard::Ended) => ended = true,
            Err(RecvTimeoutError::Timeout) if !ended => {
                late = true;
                drop(lifeline.take());
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    (stdout.output(), stderr.output(), late)
}

fn pass(stream: Stream, mut from: impl Read + Send + 'static, tell: Sender<Heard>) {
    std::thread::spawn(move || {
        let mut buffer = vec![0_u8; 16 * 1024];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            if tell
                .send(Heard::Bytes(stream, buffer[..read].to_vec()))
                .is_err()
            {
                break;
            }
        }
    });
}

#[derive(Default)]
struct Capture {
    hasher: Sha256,
    len: u64,
    start: Vec<u8>,
}

impl Capture {
    fn take(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.len += bytes.len() as u64;
        let room = OUTPUT_KEPT - self.start.len();
        self.start
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn output(self) -> journal::Output {
        journal::Output {
            len: self.len,
            sha256: digest::hex(&self.hasher.finalize()),
            start: String::from_utf8_lossy(&self.start).into_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
