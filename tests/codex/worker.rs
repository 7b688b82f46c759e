//! Workers in private namespaces, and the wire to them.
//!
//! A worker is this test binary once more, started by `unshare` in mount and network namespaces
//! of its own, with a `/tmp` and an `/etc/codex` of its own. It answers one question after the
//! other, so that many configurations share one set of namespaces. Only what is started here is
//! ended here, by its id.

use crate::ask::{self, Question};
use crate::lab::Lab;
use crate::scenario::Scenario;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// How many workers one test starts: as many as there are cores on the smallest machine that
/// runs them.
const WORKERS: usize = 2;

/// How long one question may take: several commands, each with its own limit.
const LIMIT: Duration = Duration::from_mins(2);

/// What begins a line that is meant for the test, among those that the test harness prints.
const MARK: char = '@';

/// The script that makes the namespaces private. `$1` is an empty folder in `/tmp`, `$2` becomes
/// `/etc/codex`, the third is the program to run, the fourth the test in it; what follows are
/// folders that have to stay where they are if they lie in `/tmp`.
///
/// Codex's sandboxes leave `.git` and `.codex` in `/tmp`, which would make it the root of every
/// project there: so `/tmp` is a new one. The labs stay below it, because there Codex puts no
/// copies of itself into its home.
const ENTER: &str = r#"
set -e
room=$1 etc=$2 program=$3 test=$4
shift 4
mount --make-rprivate /
ip link set lo up 2>/dev/null || true
mount -t tmpfs -o mode=1777 tmpfs "$room"
for folder in "$@"; do
  case $folder in /tmp/*)
    inner=$room/${folder#/tmp/}
    mkdir -p "$inner"
    mount --rbind "$folder" "$inner";;
  esac
done
# As a user `mount` moves it and then fails over something of its own: so look.
touch "$room/.private"
mount --move "$room" /tmp 2>/dev/null || test -e /tmp/.private
mkdir -p "$etc" /tmp/layer
if [ ! -d /etc/codex ]; then
  mount -t tmpfs tmpfs /tmp/layer
  mkdir -p /tmp/layer/upper/codex /tmp/layer/work /tmp/layer/copy
  if ! mount -t overlay overlay -o lowerdir=/etc,upperdir=/tmp/layer/upper,workdir=/tmp/layer/work /etc 2>/dev/null; then
    cp -a /etc/. /tmp/layer/copy 2>/dev/null || true
    mkdir -p /tmp/layer/copy/codex
    mount --bind /tmp/layer/copy /etc
  fi
fi
mount --bind "$etc" /etc/codex
echo "nameserver 127.0.0.1" > /tmp/resolv.conf
mount --bind /tmp/resolv.conf /etc/resolv.conf 2>/dev/null || true
exec "$program" --exact "$test" --include-ignored --nocapture --test-threads=1
"#;

/// Where the system's files of a scenario lie; `/etc/codex` inside the namespaces.
const ETC: &str = "/tmp/etc-codex";

/// Whether this machine lets us make private namespaces.
pub fn possible() -> Result<(), String> {
    static KNOWN: OnceLock<Result<(), String>> = OnceLock::new();
    KNOWN
        .get_or_init(|| {
            let tried = unshare().arg("true").output();
            match tried {
                Ok(output) if output.status.success() => Ok(()),
                Ok(output) => Err(format!(
                    "no private namespaces here: {}",
                    String::from_utf8_lossy(&output.stderr).trim()
                )),
                Err(error) => Err(format!("no `unshare` here (util-linux on Linux): {error}")),
            }
        })
        .clone()
}

pub fn unshare() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--net", "--fork", "--kill-child"]);
    if !rustix::process::geteuid().is_root() {
        command.arg("--map-root-user");
    }
    command
}

/// Adds to `command`, which makes namespaces, what makes them private and runs one test of this
/// binary there. `room` is an empty folder in `/tmp`.
pub fn enter<'a>(
    command: &'a mut Command,
    room: &Path,
    test: &str,
    codex: &Path,
) -> &'a mut Command {
    let itself = std::env::current_exe().expect("a process has a program");
    command
        .args(["sh", "-c", ENTER, "sh"])
        .arg(room)
        .arg(ETC)
        .arg(&itself)
        .arg(test)
        .arg(env!("CARGO_MANIFEST_DIR"))
        .args(itself.parent())
        .args(codex.ancestors().nth(2))
}

/// A worker, seen from the test.
pub struct Worker {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    codex: PathBuf,
    _room: tempfile::TempDir,
}

impl Worker {
    /// Starts one that runs `codex`.
    pub fn start(codex: &Path) -> Self {
        let room = tempfile::Builder::new()
            .prefix("codexgate-")
            .tempdir_in("/tmp")
            .expect("/tmp is writable");
        let mut child = enter(&mut unshare(), room.path(), "worker::serve", codex)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("unshare was there a moment ago");
        let stdin = child.stdin.take().expect("it was piped");
        let stdout = BufReader::new(child.stdout.take().expect("it was piped"));
        let (send, lines) = channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if let Some(answer) = line.strip_prefix(MARK)
                    && send.send(answer.to_owned()).is_err()
                {
                    break;
                }
            }
        });
        Self {
            child,
            stdin,
            lines,
            codex: codex.to_path_buf(),
            _room: room,
        }
    }

    /// What Codex and the model answer to `scenario`: see [`ask::scenario`].
    pub fn ask(&mut self, scenario: &Scenario, question: Question) -> Result<Value, String> {
        self.call(json!({
            "scenario": scenario.to_json(),
            "question": question.word(),
        }))
    }

    /// What Codex says in the lab below `root`, a folder outside `/tmp`.
    pub fn ask_in(&mut self, root: &Path) -> Result<Value, String> {
        self.call(json!({ "lab": root }))
    }

    fn call(&mut self, mut job: Value) -> Result<Value, String> {
        job["codex"] = json!(self.codex);
        writeln!(self.stdin, "{job}")
            .and_then(|()| self.stdin.flush())
            .map_err(|error| format!("the worker has ended: {error}"))?;
        let line = self
            .lines
            .recv_timeout(LIMIT)
            .map_err(|error| format!("no answer of the worker: {error}"))?;
        let answer: Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        match answer.get("failed").and_then(Value::as_str) {
            Some(why) => Err(why.to_owned()),
            None => Ok(answer),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Its input ends and so does it; the signal is for one that hangs. `--kill-child` takes
        // the test binary along.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks about many things, on all cores; the results are in the order of the jobs.
pub fn each<Job: Sync, Answer: Send>(
    codex: &Path,
    jobs: &[Job],
    ask: impl Fn(&mut Worker, &Job) -> Answer + Sync,
) -> Vec<Answer> {
    let next = AtomicUsize::new(0);
    let answers: Mutex<Vec<(usize, Answer)>> = Mutex::new(Vec::with_capacity(jobs.len()));
    thread::scope(|scope| {
        for _ in 0..WORKERS.min(jobs.len()) {
            scope.spawn(|| {
                let mut worker = Worker::start(codex);
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { break };
                    let answer = ask(&mut worker, job);
                    answers
                        .lock()
                        .expect("no thread panics holding it")
                        .push((index, answer));
                }
            });
        }
    });
    let mut answers = answers.into_inner().expect("no thread panics holding it");
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// The inside of a worker: reads jobs from standard input, writes answers to standard output.
#[test]
#[ignore = "started by the other tests, in namespaces of its own"]
fn serve() {
    if std::fs::symlink_metadata(ETC).is_err() {
        return;
    }
    answer_no_names();
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let job: Value = serde_json::from_str(&line).expect("the test sends JSON");
        let answer = answer(&job).unwrap_or_else(|why| json!({ "failed": why }));
        let mut stdout = std::io::stdout().lock();
        // The harness may have left an unfinished line.
        writeln!(stdout, "\n{MARK}{answer}")
            .and_then(|()| stdout.flush())
            .expect("the test listens");
    }
}

/// A name server that knows no name: without one, Codex waits 5 seconds for each server with a
/// host name.
pub fn answer_no_names() {
    let Ok(socket) = UdpSocket::bind("127.0.0.1:53") else {
        return;
    };
    thread::spawn(move || {
        let mut query = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut query) {
            if length >= 12 {
                // A response, recursion available, "no such name".
                query[2] |= 0x80;
                query[3] = 0x83;
                // Whoever asked may be gone.
                let _ = socket.send_to(&query[..length], from);
            }
        }
    });
}

fn answer(job: &Value) -> Result<Value, String> {
    let codex = job["codex"].as_str().map(PathBuf::from).ok_or("no codex")?;
    if let Some(root) = job["lab"].as_str() {
        return Ok(ask::servers(&codex, &Lab::at(Path::new(root))));
    }
    let scenario = Scenario::from_json(&job["scenario"]).ok_or("no scenario")?;
    empty(Path::new(ETC)).map_err(|error| error.to_string())?;
    // Codex's sandbox leaves these in a writable `/tmp`, empty, and a later Codex sees a project in
    // them. This `/tmp` is the worker's own.
    for leftover in ["/tmp/.git", "/tmp/.codex"] {
        let _ = std::fs::remove_dir(leftover);
    }
    let root = tempfile::Builder::new()
        .prefix("lab-")
        .tempdir_in("/tmp")
        .map_err(|error| error.to_string())?;
    let root = root
        .path()
        .canonicalize()
        .map_err(|error| error.to_string())?;
    let question = job["question"]
        .as_str()
        .and_then(Question::parse)
        .ok_or("no question")?;
    Ok(ask::scenario(
        &codex,
        &scenario,
        &root,
        Path::new(ETC),
        question,
    ))
}

fn empty(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            std::fs::remove_dir_all(path)?;
        } else {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}
