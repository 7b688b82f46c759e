//! The process between codexgate and the command: its own session, no terminal, one group.
//!
//! It is this executable again. Its standard input brings one line, the order, and is then a
//! lifeline: when it ends, because codexgate was killed or the time is up, the command's whole
//! group is killed. When the command ends, so does everything left in its group. It leaves how the
//! command ended in a file, so that a killed codexgate's run can still be told; until then it holds
//! a lock on that file, so that nobody takes a run for lost that is about to be told.
//!
//! A program is opened, hashed through that handle and started through it (`/proc/self/fd`), so
//! what was hashed is what runs. A script is started by its path, right after the same comparison:
//! its interpreter would see `/proc/self/fd/3` in place of its name. No order is believed that the
//! run's own parent did not give; it starts nothing that the caller could not start itself.

use super::clock::millis;
use super::digest::{self, Budget};
use super::error::Error;
use super::journal::Ended;
use super::proposal::Place;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::process::{Signal, WaitId, WaitIdOptions};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Instant;

/// The most bytes of an order: words, variables and paths.
const ORDER_LIMIT: u64 = 8 * 1024 * 1024;

/// What to start.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Order {
    pub(super) program: PathBuf,
    pub(super) sha256: String,
    pub(super) arg0: String,
    pub(super) args: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    pub(super) cwd: Place,
    pub(super) stdin: Option<PathBuf>,
    /// The folder of the run, where the status goes.
    pub(super) folder: PathBuf,
}

/// How it ended.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Status {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    /// Why it was not started.
    pub(super) refused: Option<String>,
    /// Whether the lifeline ended first.
    pub(super) cut: bool,
    /// Milliseconds.
    pub(super) duration: u64,
}

/// The name of the file with the status, in the folder of the run.
const STATUS: &str = "status";
/// Its name while the command runs. It is locked then.
const COMING: &str = "status.new";

/// What the one in between left of a run whose codexgate is gone.
pub(super) enum Left {
    /// It did not get to watch a command, or it was killed as well.
    Nothing,
    /// It still watches.
    Watched,
    /// How the command ended.
    Status(Status),
}

/// Looks into the folder of a run.
pub(super) fn left(folder: &Path) -> Left {
    // Its first name first: what is renamed meanwhile is found under the second.
    if let Ok(file) = digest::open(&folder.join(COMING))
        && rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).is_err()
    {
        return Left::Watched;
    }
    match Status::read(folder) {
        Some(status) => Left::Status(status),
        None => Left::Nothing,
    }
}

impl Status {
    /// The status of a run that has ended.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join(STATUS)).ok()?).ok()
    }

    /// What is recorded where codexgate itself was ended before it could.
    pub(super) fn told_later(self) -> Ended {
        let failed = match (self.refused, self.cut) {
            (Some(why), _) => format!("the command did not start: {why}"),
            (None, true) => {
                "codexgate was ended and the command with it; its output is not known".to_owned()
            }
            (None, false) => {
                "codexgate was ended before it could record this; the output is not known"
                    .to_owned()
            }
        };
        Ended {
            code: self.code,
            signal: self.signal,
            failed: Some(failed),
            duration: self.duration,
            ..Ended::default()
        }
    }
}

/// Runs as the process in between; returns when the command has ended.
///
/// # Errors
/// No order, or no place to write how it ended.
pub fn supervise() -> io::Result<()> {
    // No terminal: none can be opened by what is no leader of a session, and this one opens none.
    rustix::process::setsid()?;
    let mut input = BufReader::new(io::stdin());
    let mut line = Vec::new();
    input
        .by_ref()
        .take(ORDER_LIMIT)
        .read_until(b'\n', &mut line)?;
    let order: Order = serde_json::from_slice(&line)?;
    let (coming, done) = (order.folder.join(COMING), order.folder.join(STATUS));
    let mut file = File::create_new(&coming)?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    let began = Instant::now();
    let mut status = match start(&order) {
        Ok(child) => watch(child, input)?,
        Err(error) => Status {
            refused: Some(words(&error)),
            ..Status::default()
        },
    };
    status.duration = millis(began.elapsed());
    file.write_all(&serde_json::to_vec(&status)?)?;
    fs::rename(coming, done)
}

fn words(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn start(order: &Order) -> Result<Child, Error> {
    enter(&order.cwd)?;
    let mut file = digest::open(&order.program)?;
    let changed = |what: &str| Error::Changed {
        what: format!("the program `{}` {what}", order.program.display()),
    };
    let fail = |error| Error::io(&order.program, "start", error);
    let (sha256, _) = digest::stream(&order.program, &mut file, &mut Budget::new())?;
    if sha256 != order.sha256 {
        return Err(changed("has another content"));
    }
    let mut start = [0_u8; 2];
    file.rewind().map_err(fail)?;
    let is_script = file.read(&mut start).map_err(fail)? == 2 && start == *b"#!";
    let handle = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let by_handle = !is_script && handle.exists();
    if !by_handle && !leads_to(&order.program, &file) {
        return Err(changed("was replaced"));
    }
    let stdin = match &order.stdin {
        Some(path) => Stdio::from(digest::open(path)?),
        None => Stdio::null(),
    };
    Command::new(if by_handle { &handle } else { &order.program })
        .arg0(&order.arg0)
        .args(&order.args)
        .env_clear()
        .envs(order.env.iter().map(|(name, value)| (name, value)))
        .stdin(stdin)
        .process_group(0)
        .spawn()
        .map_err(fail)
}

/// Goes into the working folder, if it is still the one that was judged.
fn enter(place: &Place) -> Result<(), Error> {
    let path = Path::new(&place.path);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let fail = |error| Error::io(path, "enter", error);
    let folder = rustix::fs::open(path, flags, Mode::empty()).map_err(|e| fail(e.into()))?;
    let meta = File::from(folder.try_clone().map_err(fail)?)
        .metadata()
        .map_err(fail)?;
    if (meta.dev(), meta.ino()) != (place.dev, place.ino) {
        return Err(Error::Changed {
            what: format!("the working folder `{}` is another one", place.path),
        });
    }
    rustix::process::fchdir(&folder).map_err(|error| fail(error.into()))
}

fn leads_to(path: &Path, file: &File) -> bool {
    match (fs::symlink_metadata(path), file.metadata()) {
        (Ok(there), Ok(own)) => (there.dev(), there.ino()) == (own.dev(), own.ino()),
        _ => false,
    }
}

/// Waits for the command or for the end of the lifeline, whichever comes first.
fn watch(mut child: Child, mut lifeline: impl io::Read + Send + 'static) -> io::Result<Status> {
    let pid = rustix::process::Pid::from_child(&child);
    let (ended, first) = mpsc::channel();
    let cut = ended.clone();
    std::thread::spawn(move || {
        let _ = io::copy(&mut lifeline, &mut io::sink());
        let _ = cut.send(true);
    });
    std::thread::spawn(move || {
        // Not reaped yet, so that its number is nobody else's when its group is killed.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(
            rustix::process::waitid(WaitId::Pid(pid), options),
            Err(rustix::io::Errno::INTR)
        ) {}
        let _ = ended.send(false);
    });
    let cut = first.recv().unwrap_or(true);
    // The group may be empty already.
    let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    let status = child.wait()?;
    Ok(Status {
        code: status.code(),
        signal: status.signal(),
        refused: None,
        cut,
        duration: 0,
    })
}
