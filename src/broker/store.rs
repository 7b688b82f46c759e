//! What outlives the broker: `sessions.jsonl`, and the journal's records.
//!
//! `$STATE/broker/sessions.jsonl` (0600) has a line for each session with its thread, folder and
//! policy, no prompt and no output: after a crash a session's name still leads to its thread. Disk
//! writes happen on a thread of their own, in order, and the broker waits for none of them; at the
//! end it waits for all.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::core::{Broker, moment};
use super::limits;
use super::pair;
use super::session::{Phase, Session, Wish};
use super::words::{Policy, Sandbox};
use crate::approval::{Event, Gate, Journal, Moment, Surroundings, SystemClock};
use crate::files::{RealDisk, make_private_folder};

/// The folder of the broker below the state directory.
pub const FOLDER: &str = "broker";
const FILE: &str = "sessions.jsonl";
const LOCK: &str = "sessions.lock";
/// Above this many bytes it is written anew at the start.
const TIDY: u64 = 1024 * 1024;
/// The most bytes of the file that are read: 100,000 sessions.
const MOST: u64 = 32 * 1024 * 1024;
/// Events of a session that is taken up again begin at a multiple of this: no number of the
/// earlier run comes again.
const STEP: u64 = 1_000_000;
/// Writes that may wait.
const QUEUE: usize = 1024;

/// One line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    session_id: String,
    /// None: it was cancelled.
    #[serde(default)]
    thread_id: Option<String>,
    #[serde(default)]
    cwd: PathBuf,
    #[serde(default)]
    approval_policy: String,
    #[serde(default)]
    sandbox: String,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    profile: Option<String>,
    #[serde(default)]
    config: Map<String, Value>,
    #[serde(default)]
    approval_timeout_ms: u64,
    #[serde(default)]
    next_event: u64,
    #[serde(default)]
    created: Moment,
    at: Moment,
}

/// Something to write.
enum Job {
    Line(Box<Stored>),
    Record(Box<Event>),
    Show(PathBuf, String),
    Hide(PathBuf),
}

/// The thread that writes.
#[derive(Debug, Default)]
pub struct Keeper {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<Vec<String>>>,
}

impl Keeper {
    /// Writes below the state directory of `around`, if there is one.
    pub fn new(around: Option<&Surroundings>) -> Self {
        let Some(around) = around.cloned() else {
            return Self::default();
        };
        let (jobs, work) = sync_channel::<Job>(QUEUE);
        let thread = std::thread::Builder::new()
            .name("keeper".to_owned())
            .spawn(move || {
                let mut wrong = Vec::new();
                tidy(&around.state.join(FOLDER));
                for job in work {
                    if let Err(why) = keep(&around, job)
                        && wrong.len() < QUEUE
                    {
                        wrong.push(why);
                    }
                }
                wrong
            })
            .ok();
        Self {
            jobs: thread.is_some().then_some(jobs),
            thread,
        }
    }

    fn put(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // It ends after us.
            let _ = jobs.send(job);
        }
    }

    /// Shows a request to people at terminals: a file in the folder of what waits.
    pub(super) fn show(&self, path: PathBuf, text: String) {
        self.put(Job::Show(path, text));
    }

    /// Takes it away.
    pub(super) fn hide(&self, path: PathBuf) {
        self.put(Job::Hide(path));
    }

    /// Waits until all is written; what could not be.
    pub fn finish(&mut self) -> Vec<String> {
        self.jobs = None;
        let thread = self.thread.take();
        thread
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default()
    }
}

fn keep(around: &Surroundings, job: Job) -> Result<(), String> {
    let folder = around.state.join(FOLDER);
    let done = match job {
        Job::Line(stored) => append(&folder, &stored),
        Job::Record(event) => {
            let mut disk = RealDisk;
            return Gate::open(around, &SystemClock, &mut disk)
                .and_then(|mut gate| Journal::append(&mut gate, *event))
                .map_err(|error| format!("a decision could not be recorded: {error}"));
        }
        Job::Show(path, text) => place(&path, &text),
        Job::Hide(path) => match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        },
    };
    done.map_err(|error| format!("cannot write below `{}`: {error}", folder.display()))
}

/// Locks the file of sessions: several brokers may write it.
fn lock(folder: &Path) -> io::Result<fs::File> {
    let lock = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(folder.join(LOCK))?;
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)?;
    Ok(lock)
}

/// Removes what nobody will ask for again. What cannot be removed does no harm.
fn tidy(folder: &Path) {
    super::pending::tidy(folder, moment());
    let path = folder.join(FILE);
    if path.metadata().is_ok_and(|meta| meta.len() > TIDY) {
        let _ = compact(folder, &path);
    }
}

/// Writes the file anew with the lines that count.
fn compact(folder: &Path, path: &Path) -> io::Result<()> {
    let _lock = lock(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".new-")
        .tempfile_in(folder)?;
    for stored in read_from(path).values() {
        serde_json::to_writer(&mut file, stored)?;
        file.write_all(b"\n")?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn append(folder: &Path, stored: &Stored) -> io::Result<()> {
    make_private_folder(folder)?;
    let _lock = lock(folder)?;
    let mut line = serde_json::to_vec(stored).expect("texts and numbers always serialise");
    line.push(b'\n');
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(folder.join(FILE))?
        .write_all(&line)
}

/// Writes a file whole, under its name at once.
fn place(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    if let Some(above) = folder.parent() {
        make_private_folder(above)?;
    }
    make_private_folder(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".new-")
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The last line of each session that is not too old.
fn read(state: &Path) -> HashMap<String, Stored> {
    read_from(&state.join(FOLDER).join(FILE))
}

fn read_from(path: &Path) -> HashMap<String, Stored> {
    let mut found = HashMap::new();
    let Ok(crate::files::Found::File(file)) = crate::files::read(path, MOST) else {
        return found;
    };
    let age = u64::try_from(limits::STORED.as_millis()).unwrap_or(u64::MAX);
    let oldest = moment().saturating_sub(age);
    for line in file.bytes.split(|byte| *byte == b'\n') {
        // A torn last line of a killed broker is none.
        let Ok(stored) = serde_json::from_slice::<Stored>(line) else {
            continue;
        };
        if stored.thread_id.is_none() || stored.at < oldest {
            found.remove(&stored.session_id);
        } else {
            found.insert(stored.session_id.clone(), stored);
        }
    }
    found
}

impl Broker {
    /// Writes down where a session leads.
    pub(super) fn store_session(&mut self, id: &str) {
        let Some(session) = self.sessions.get(id) else {
            return;
        };
        if !session.listed || session.wish.ephemeral || session.exec || session.cancelled.is_some()
        {
            return;
        }
        let wish = &session.wish;
        self.keeper.put(Job::Line(Box::new(Stored {
            session_id: session.id.clone(),
            thread_id: Some(session.thread.clone()),
            cwd: wish.cwd.clone(),
            approval_policy: wish.policy.as_str().to_owned(),
            sandbox: wish.sandbox.as_str().to_owned(),
            model: wish.model.clone(),
            profile: wish.profile.clone(),
            config: wish.config.clone(),
            approval_timeout_ms: u64::try_from(wish.approval_timeout.as_millis())
                .unwrap_or(u64::MAX),
            next_event: session.events.next(),
            created: session.created,
            at: moment(),
        })));
    }

    /// A cancelled session leads nowhere.
    pub(super) fn forget_stored(&mut self, id: &str) {
        self.keeper.put(Job::Line(Box::new(Stored {
            session_id: id.to_owned(),
            thread_id: None,
            cwd: PathBuf::new(),
            approval_policy: String::new(),
            sandbox: String::new(),
            model: None,
            profile: None,
            config: Map::new(),
            approval_timeout_ms: 0,
            next_event: 0,
            created: 0,
            at: moment(),
        })));
    }

    /// Takes a session of an earlier run in, if `id` names one: idle, with its thread still to be
    /// resumed. What the operator allows now counts, not what was allowed then.
    pub(super) fn recall(&mut self, id: &str) {
        if self.sessions.contains_key(id) {
            return;
        }
        let Some(around) = &self.environment.around else {
            return;
        };
        let Some(stored) = read(&around.state).remove(id) else {
            return;
        };
        let (Some(policy), Some(sandbox), Some(thread)) = (
            Policy::parse(&stored.approval_policy),
            Sandbox::parse(&stored.sandbox),
            stored.thread_id,
        ) else {
            return;
        };
        let allowed = sandbox <= self.options.max_sandbox
            && (self.options.check_config(&stored.config).is_ok()
                || stored
                    .profile
                    .as_deref()
                    .is_some_and(|profile| self.options.allows_profile(profile)));
        if !allowed {
            return;
        }
        let wish = Wish {
            policy,
            sandbox,
            cwd: stored.cwd,
            model: stored.model,
            profile: stored.profile,
            config: stored.config,
            base_instructions: None,
            developer_instructions: None,
            ephemeral: false,
            approval_timeout: Duration::from_millis(stored.approval_timeout_ms.max(1)),
            workspace: Value::Null,
        };
        let first = (stored.next_event / STEP + 1) * STEP;
        let mut session = Session::new(stored.session_id, wish, first);
        session.thread = thread;
        session.listed = true;
        session.phase = Phase::Idle;
        session.turned = true;
        session.created = stored.created;
        self.sessions.insert(session.id.clone(), session);
    }

    /// Hands a decision to the journal.
    pub(super) fn journal(&mut self, record: pair::Record) {
        self.keeper.put(Job::Record(Box::new(Event::Answered {
            session: record.session,
            thread: record.thread,
            turn: record.turn,
            item: record.item,
            request: record.request_id,
            what: record.kind,
            digest: record.digest,
            decision: record.decision,
            by: record.by,
            client: self.client.name.clone(),
            note: record.note,
        })));
    }

    /// Hands what became of it to the journal.
    pub(super) fn journal_outcome(
        &mut self,
        session: Option<String>,
        request: String,
        outcome: String,
    ) {
        self.keeper.put(Job::Record(Box::new(Event::Outcome {
            session,
            request,
            outcome,
        })));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, thread: Option<&str>, at: Moment) -> Stored {
        Stored {
            session_id: id.to_owned(),
            thread_id: thread.map(str::to_owned),
            cwd: PathBuf::from("/w"),
            approval_policy: "on-request".to_owned(),
            sandbox: "read-only".to_owned(),
            model: None,
            profile: None,
            config: Map::new(),
            approval_timeout_ms: 1,
            next_event: 7,
            created: 1,
            at,
        }
    }

    #[test]
    fn the_last_line_counts_and_cancelled_old_and_torn_ones_do_not() {
        use std::os::unix::fs::PermissionsExt as _;
        let state = tempfile::tempdir().expect("a folder");
        let folder = state.path().join(FOLDER);
        let now = moment();
        for stored in [
            line("a", Some("one"), now),
            line("a", Some("two"), now),
            line("b", Some("x"), now),
            line("b", None, now),
            line("c", Some("x"), 5),
        ] {
            append(&folder, &stored).expect("written");
        }
        let path = folder.join(FILE);
        let mut text = fs::read_to_string(&path).expect("read");
        text.push_str("{\"sessionId\":\"d\",\"threa");
        fs::write(&path, text).expect("written");
        let found = read(state.path());
        assert_eq!(found.len(), 1);
        assert_eq!(found["a"].thread_id.as_deref(), Some("two"));
        let mode = path.metadata().expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        compact(&folder, &path).expect("written anew");
        assert_eq!(fs::read_to_string(&path).expect("read").lines().count(), 1);
        assert_eq!(read(state.path()).len(), 1);
    }
}
