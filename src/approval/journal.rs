//! What was proposed, decided and run: one line of JSON a record, each with the digest of the one
//! before it, and a head that counts them.
//!
//! A record is on the disk before the head names it, so a kill leaves at most one line beyond the
//! head: whole, it is taken in; torn, it is cut off and that is recorded. Everything else that does
//! not fit is [`Damage`], and nothing is appended to a damaged journal: what cannot be recorded is
//! not done. This finds accidents and edits, not a user who rewrites both files.

use super::clock::Moment;
use super::digest;
use super::error::Error;
use super::store::Gate;
use super::token::Token;
use crate::files::Folder;
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

const FILE: &str = "journal.jsonl";
const HEAD: &str = "journal.head";
const LOCK: &str = "journal.lock";
const WAITING: &str = ".journal.new";
const VERSION: u32 = 1;
/// The most bytes of one record: argv and output are capped far below.
const RECORD_LIMIT: u64 = 4 * 1024 * 1024;
/// What the first record names as the one before it.
const NOTHING: &str = "0";

/// One record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Counts from 1.
    pub n: u64,
    /// When.
    pub at: Moment,
    /// SHA-256 of the line before it.
    pub prev: String,
    /// What happened.
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs)] // named as in the proposal
pub enum Event {
    /// Something was proposed.
    Proposed {
        token: Token,
        digest: String,
        /// What runs or which files change, as words.
        what: Vec<String>,
        cwd: String,
        reason: Option<String>,
        /// Codex's thread, where it said so.
        thread: Option<String>,
        /// The policy's group and line.
        group: String,
    },
    /// A person or an `allow` line approved.
    Approved {
        token: Token,
        digest: String,
        by: String,
        expires: Moment,
    },
    /// A person rejected: the proposal is gone.
    Rejected {
        token: Token,
        by: String,
        reason: Option<String>,
    },
    /// A question ended without a decision.
    Undecided {
        token: Token,
        by: String,
        why: String,
    },
    /// A grant was taken; the run begins.
    Started { token: Token, digest: String },
    /// A run ended.
    Ended { token: Token, outcome: Ended },
    /// A run was cut off: nobody knows what it did. It is never repeated.
    Unknown { token: Token },
    /// A file was brought back.
    Restored {
        token: Token,
        path: String,
        before: Option<String>,
    },
    /// A request of a session of the broker was settled.
    Answered {
        session: String,
        thread: String,
        turn: Option<String>,
        item: Option<String>,
        request: String,
        /// The kind of request.
        what: String,
        /// Of what was shown.
        digest: String,
        decision: String,
        by: String,
        /// The MCP client.
        client: Option<String>,
        note: Option<String>,
    },
    /// What became of a call that was decided in the broker.
    Outcome {
        session: Option<String>,
        request: String,
        outcome: String,
    },
    /// A torn line of a killed run was cut off.
    Repaired { bytes: u64 },
    /// Older records were removed.
    Pruned { records: u64 },
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ended {
    /// The exit status.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why there is neither, or why it was ended.
    pub failed: Option<String>,
    /// Milliseconds.
    pub duration: u64,
    /// The beginning of standard output, and what all of it was.
    pub stdout: Output,
    /// The same of standard error.
    pub stderr: Output,
    /// Inputs that changed during the run.
    pub changed: Vec<String>,
    /// Files that were written.
    pub written: Vec<Written>,
}

/// What came out of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// All its bytes.
    pub len: u64,
    /// Their SHA-256.
    pub sha256: String,
    /// The first of them.
    pub start: String,
}

/// A file that was written; the old bytes are kept under their digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// The file.
    pub path: String,
    /// SHA-256 of what it was.
    pub before: Option<String>,
    /// SHA-256 of what it is.
    pub after: Option<String>,
}

impl Event {
    /// The proposal that it is about.
    pub const fn token(&self) -> Option<&Token> {
        match self {
            Self::Proposed { token, .. }
            | Self::Approved { token, .. }
            | Self::Rejected { token, .. }
            | Self::Undecided { token, .. }
            | Self::Started { token, .. }
            | Self::Ended { token, .. }
            | Self::Unknown { token }
            | Self::Restored { token, .. } => Some(token),
            Self::Answered { .. }
            | Self::Outcome { .. }
            | Self::Repaired { .. }
            | Self::Pruned { .. } => None,
        }
    }
}

/// Why a journal cannot be believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // what a field is stands in its variant's message
pub enum Damage {
    /// The head is gone or is none.
    #[error("`journal.head` is missing or unreadable")]
    Head,
    /// Records that the head counts are gone.
    #[error("the journal ends after {have} bytes; its head knows of {want}: records were removed")]
    Shorter { have: u64, want: u64 },
    /// A record is not what was written.
    #[error("record {n} is not what was written: {why}")]
    Record { n: u64, why: &'static str },
    /// More lines than one kill can leave.
    #[error("there are lines after record {n} that no head counts")]
    Beyond { n: u64 },
    /// All records are there, and the head counts others.
    #[error("the head names another last record than {n}")]
    Other { n: u64 },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    version: u32,
    /// The number of the last record.
    count: u64,
    /// SHA-256 of its line.
    last: String,
    /// Where its line starts, and the length of the file.
    last_at: u64,
    bytes: u64,
    /// What was pruned: the number and digest of the last record that is gone.
    pruned: u64,
    base: String,
    /// The head that counts when the file is already the pruned one.
    next: Option<Box<Head>>,
}

impl Head {
    fn new() -> Self {
        Self {
            version: VERSION,
            count: 0,
            last: NOTHING.to_owned(),
            last_at: 0,
            bytes: 0,
            pruned: 0,
            base: NOTHING.to_owned(),
            next: None,
        }
    }

    fn after(&self, line: &[u8]) -> Self {
        Self {
            count: self.count + 1,
            last: digest::of(&line[..line.len() - 1]),
            last_at: self.bytes,
            bytes: self.bytes + line.len() as u64,
            next: None,
            ..self.clone()
        }
    }
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Records that are there.
    pub records: u64,
    /// Records that were pruned before them.
    pub pruned: u64,
    /// Bytes of a torn last line that were cut off.
    pub repaired: Option<u64>,
}

/// The journal, locked.
#[derive(Debug)]
pub struct Journal {
    folder: Folder,
    file: File,
    head: Head,
    repaired: Option<u64>,
    _lock: File,
}

impl Journal {
    /// Opens and locks it, and mends what a kill left.
    ///
    /// # Errors
    /// [`Error::Journal`], [`Error::Io`].
    pub fn open(gate: &mut Gate<'_>) -> Result<Self, Error> {
        let state = gate.state().to_path_buf();
        let lock = private(&state.join(LOCK))?;
        rustix::fs::flock(&lock, FlockOperation::LockExclusive)
            .map_err(|error| Error::io(&state.join(LOCK), "lock", error))?;
        let folder = Folder::unlocked(&state)?;
        let head = match fs::read(state.join(HEAD)) {
            Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(|_| Damage::Head)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Error::io(&state.join(HEAD), "read", error)),
        };
        let mut journal = Self {
            file: private(&state.join(FILE))?,
            head: Head::new(),
            folder,
            repaired: None,
            _lock: lock,
        };
        journal.settle(head, gate)?;
        Ok(journal)
    }

    /// Appends a record, on the disk before this returns.
    ///
    /// # Errors
    /// [`Error::Journal`], [`Error::Io`].
    pub fn append(gate: &mut Gate<'_>, event: Event) -> Result<(), Error> {
        Self::open(gate)?.put(event, gate)
    }

    fn put(&mut self, event: Event, gate: &mut Gate<'_>) -> Result<(), Error> {
        let record = Record {
            n: self.head.count + 1,
            at: gate.now(),
            prev: self.head.last.clone(),
            event,
        };
        let mut line = serde_json::to_vec(&record).expect("texts and numbers always serialise");
        line.push(b'\n');
        let name = OsStr::new(FILE);
        self.file
            .seek(SeekFrom::Start(self.head.bytes))
            .and_then(|_| gate.disk().write(&mut self.file, name, &line))
            .and_then(|()| gate.disk().sync(&self.file, name))
            .map_err(|error| self.error("write", error))?;
        let head = self.head.after(&line);
        self.write_head(head, gate)
    }

    fn write_head(&mut self, head: Head, gate: &mut Gate<'_>) -> Result<(), Error> {
        let bytes = serde_json::to_vec(&head).expect("texts and numbers always serialise");
        self.replace(HEAD, &bytes, gate)?;
        self.head = head;
        Ok(())
    }

    /// Puts a new file in the place of `name`.
    fn replace(&self, name: &str, bytes: &[u8], gate: &mut Gate<'_>) -> Result<(), Error> {
        let (folder, new, disk) = (&self.folder, OsStr::new(WAITING), gate.disk());
        // One that a kill left; only the holder of the lock makes it.
        let _ = fs::remove_file(folder.path().join(new));
        disk.create(folder, new)
            .and_then(|mut file| {
                disk.write(&mut file, new, bytes)?;
                disk.sync(&file, new)
            })
            .and_then(|()| disk.rename(folder, new, OsStr::new(name)))
            .and_then(|()| disk.sync_folder(folder))
            .map_err(|error| self.error("write", error))
    }

    /// Brings head and file together, as far as a kill can have parted them.
    fn settle(&mut self, head: Option<Head>, gate: &mut Gate<'_>) -> Result<(), Error> {
        let len = self.len()?;
        let known = head.is_some();
        self.head = head.unwrap_or_else(Head::new);
        if let Some(next) = self.head.next.take()
            && len == next.bytes
            && self.last_is(&next)?
        {
            self.write_head(*next, gate)?;
        }
        if len < self.head.bytes {
            let want = self.head.bytes;
            return Err(Damage::Shorter { have: len, want }.into());
        }
        let n = self.head.count;
        if !self.last_is(&self.head.clone())? {
            let why = "its digest is another one";
            return Err(Damage::Record { n, why }.into());
        }
        if len == self.head.bytes {
            return Ok(());
        }
        let beyond = if known {
            Damage::Beyond { n }
        } else {
            Damage::Head
        };
        if len - self.head.bytes > RECORD_LIMIT {
            return Err(beyond.into());
        }
        let extra = self.slice(self.head.bytes, len)?;
        match extra.iter().position(|byte| *byte == b'\n') {
            None => {
                let bytes = extra.len() as u64;
                self.file
                    .set_len(self.head.bytes)
                    .map_err(|error| self.error("repair", error))?;
                self.repaired = Some(bytes);
                self.put(Event::Repaired { bytes }, gate)
            }
            Some(end) if end + 1 == extra.len() && follows(&self.head, &extra[..end]) => {
                let head = self.head.after(&extra);
                self.write_head(head, gate)
            }
            Some(_) => Err(beyond.into()),
        }
    }

    /// Whether the line of `head`'s last record is in the file.
    fn last_is(&self, head: &Head) -> Result<bool, Error> {
        if head.count == 0 {
            return Ok(head.bytes == 0);
        }
        let size = head.bytes.checked_sub(head.last_at);
        if size.is_none_or(|size| size == 0 || size > RECORD_LIMIT) {
            return Ok(false);
        }
        let line = self.slice(head.last_at, head.bytes)?;
        let text = line.strip_suffix(b"\n");
        Ok(text.is_some_and(|text| digest::of(text) == head.last))
    }

    /// Reads every record, oldest first, and checks the chain.
    ///
    /// # Errors
    /// [`Error::Journal`] at the first record that is not what was written; [`Error::Io`].
    pub fn each(&self, visit: &mut dyn FnMut(Record, u64)) -> Result<(), Error> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0))
            .map_err(|e| self.error("read", e))?;
        let mut reader = BufReader::new(file.take(self.head.bytes));
        let (mut n, mut prev) = (self.head.pruned, self.head.base.clone());
        let (mut line, mut at) = (Vec::new(), 0_u64);
        loop {
            line.clear();
            let read = reader
                .by_ref()
                .take(RECORD_LIMIT)
                .read_until(b'\n', &mut line);
            if read.map_err(|error| self.error("read", error))? == 0 {
                break;
            }
            n += 1;
            let damaged = |why| Error::from(Damage::Record { n, why });
            let text = line.strip_suffix(b"\n");
            let text = text.ok_or_else(|| damaged("it does not end"))?;
            let record: Record =
                serde_json::from_slice(text).map_err(|_| damaged("it cannot be read"))?;
            if record.n != n {
                return Err(damaged("it has another number"));
            }
            if record.prev != prev {
                return Err(damaged("the one before it is another"));
            }
            prev = digest::of(text);
            visit(record, at);
            at += line.len() as u64;
        }
        if n == self.head.count && prev == self.head.last {
            Ok(())
        } else {
            Err(Damage::Other { n }.into())
        }
    }

    /// Checks everything.
    ///
    /// # Errors
    /// As [`Journal::open`] and [`Journal::each`].
    pub fn verify(gate: &mut Gate<'_>) -> Result<Verified, Error> {
        let journal = Self::open(gate)?;
        let mut records = 0;
        journal.each(&mut |_, _| records += 1)?;
        Ok(Verified {
            records,
            pruned: journal.head.pruned,
            repaired: journal.repaired,
        })
    }

    /// Removes the records from before `moment`, but the last one, and the old contents that no
    /// record that stays tells of. Returns how many went.
    ///
    /// # Errors
    /// As [`Journal::verify`].
    pub fn prune(gate: &mut Gate<'_>, moment: Moment) -> Result<u64, Error> {
        let mut journal = Self::open(gate)?;
        let (mut cut, mut from, mut base) = (journal.head.pruned, 0, journal.head.base.clone());
        let (last, mut open, mut kept) = (journal.head.count, true, BTreeSet::new());
        journal.each(&mut |record, at| {
            open = open && record.at < moment && record.n < last;
            if open {
                cut = record.n;
            } else if cut + 1 == record.n {
                (from, base) = (at, record.prev.clone());
            }
            if let (false, Event::Ended { outcome, .. }) = (open, &record.event) {
                kept.extend(outcome.written.iter().filter_map(|w| w.before.clone()));
            }
        })?;
        let records = cut - journal.head.pruned;
        if records > 0 {
            let bytes = journal.slice(from, journal.head.bytes)?;
            let next = Head {
                last_at: journal.head.last_at - from,
                bytes: journal.head.bytes - from,
                pruned: cut,
                base,
                ..journal.head.clone()
            };
            let both = Head {
                next: Some(Box::new(next.clone())),
                ..journal.head.clone()
            };
            journal.write_head(both, gate)?;
            journal.replace(FILE, &bytes, gate)?;
            journal.file = private(&gate.state().join(FILE))?;
            journal.write_head(next, gate)?;
            journal.put(Event::Pruned { records }, gate)?;
        }
        gate.forget_kept(&kept)?;
        Ok(records)
    }

    /// The last thing that happened to `token`.
    ///
    /// # Errors
    /// As [`Journal::verify`].
    pub(super) fn last(gate: &mut Gate<'_>, token: &Token) -> Result<Option<Event>, Error> {
        let mut last = None;
        Self::open(gate)?.each(&mut |record, _| {
            if record.event.token() == Some(token) {
                last = Some(record.event);
            }
        })?;
        Ok(last)
    }

    fn len(&self) -> Result<u64, Error> {
        let meta = self.file.metadata();
        Ok(meta.map_err(|error| self.error("read", error))?.len())
    }

    fn slice(&self, from: u64, to: u64) -> Result<Vec<u8>, Error> {
        let mut file = &self.file;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from))
            .and_then(|_| file.take(to - from).read_to_end(&mut bytes))
            .map_err(|error| self.error("read", error))?;
        Ok(bytes)
    }

    fn error(&self, doing: &'static str, source: io::Error) -> Error {
        Error::io(&self.folder.path().join(FILE), doing, source)
    }
}

fn follows(head: &Head, line: &[u8]) -> bool {
    serde_json::from_slice::<Record>(line)
        .is_ok_and(|record| record.n == head.count + 1 && record.prev == head.last)
}

/// Opens a file of this user's alone, and makes it if it is not there.
fn private(path: &Path) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600);
    let flags = rustix::fs::OFlags::NOFOLLOW.bits();
    options
        .custom_flags(flags.cast_signed())
        .open(path)
        .map_err(|error| Error::io(path, "open", error))
}

impl From<Damage> for Error {
    fn from(damage: Damage) -> Self {
        Self::Journal(damage)
    }
}

/// The file, for views that read it themselves.
impl Gate<'_> {
    /// Where the journal lies.
    pub fn journal_path(&self) -> PathBuf {
        self.state().join(FILE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::testing::{Scene, Still};
    use crate::files::RealDisk;
    use proptest::prelude::*;

    struct Book {
        scene: Scene,
        clock: Still,
    }

    impl Book {
        fn with(records: u64) -> Self {
            let book = Self {
                scene: Scene::new(),
                clock: Still::default(),
            };
            for n in 0..records {
                book.clock.0.set(n * 1000);
                book.run(|gate| Journal::append(gate, event(n)))
                    .expect("appends");
            }
            book
        }

        fn run<T>(&self, job: impl FnOnce(&mut Gate<'_>) -> T) -> T {
            let mut disk = RealDisk;
            let mut gate = Gate::open(&self.scene.around, &self.clock, &mut disk).expect("opens");
            job(&mut gate)
        }

        fn verify(&self) -> Result<Verified, Error> {
            self.run(Journal::verify)
        }

        fn file(&self, name: &str) -> PathBuf {
            self.scene.around.state.join(name)
        }

        fn bytes(&self) -> Vec<u8> {
            fs::read(self.file(FILE)).expect("reads")
        }

        fn put(&self, bytes: &[u8]) {
            fs::write(self.file(FILE), bytes).expect("writes");
        }

        fn damage(&self) -> Damage {
            match self.verify() {
                Err(Error::Journal(damage)) => damage,
                other => panic!("{other:?}"),
            }
        }
    }

    fn event(n: u64) -> Event {
        Event::Unknown {
            token: Token::of(&n.to_be_bytes()),
        }
    }

    #[test]
    fn a_whole_journal_is_verified() {
        let book = Book::with(0);
        assert_eq!(book.verify().expect("empty").records, 0);
        let book = Book::with(5);
        let found = book.verify().expect("whole");
        assert_eq!((found.records, found.pruned, found.repaired), (5, 0, None));
        let mode = std::os::unix::fs::MetadataExt::mode(&book.file(FILE).metadata().expect("it"));
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn each_damage_is_found_and_named() {
        let lines = |book: &Book| -> Vec<Vec<u8>> {
            book.bytes()
                .split_inclusive(|b| *b == b'\n')
                .map(<[u8]>::to_vec)
                .collect()
        };
        // The last line removed.
        let book = Book::with(4);
        let all = lines(&book);
        book.put(&all[..3].concat());
        assert!(matches!(book.damage(), Damage::Shorter { .. }));
        assert!(book.run(|gate| Journal::append(gate, event(9))).is_err());
        // The first one removed; two changed places; one twice.
        for order in [
            vec![1, 2, 3],
            vec![1, 0, 2, 3],
            vec![0, 0, 1, 2, 3],
            vec![0, 2, 1, 3],
        ] {
            let picked: Vec<Vec<u8>> = order.iter().map(|n| all[*n].clone()).collect();
            book.put(&picked.concat());
            book.damage();
        }
        book.put(&all.concat());
        book.verify().expect("as it was");
        // The head removed, or both of its numbers from another journal.
        let head = fs::read(book.file(HEAD)).expect("it");
        fs::remove_file(book.file(HEAD)).expect("removes");
        assert_eq!(book.damage(), Damage::Head);
        fs::write(book.file(HEAD), "{}").expect("writes");
        assert_eq!(book.damage(), Damage::Head);
        fs::write(book.file(HEAD), head).expect("writes");
        book.verify().expect("as it was");
        fs::remove_file(book.file(FILE)).expect("removes");
        assert!(matches!(book.damage(), Damage::Shorter { have: 0, .. }));
    }

    #[test]
    fn a_torn_line_beyond_the_head_is_cut_off_and_recorded() {
        let book = Book::with(2);
        let whole = book.bytes();
        book.put(&[&whole[..], b"{\"n\":3,\"at\""].concat());
        let found = book.verify().expect("repaired");
        assert_eq!((found.records, found.repaired), (3, Some(11)));
        assert_eq!(book.verify().expect("whole").repaired, None);
        assert!(book.bytes().starts_with(&whole));
    }

    #[test]
    fn a_whole_line_that_the_head_does_not_count_yet_is_taken_in() {
        let book = Book::with(2);
        let head = fs::read(book.file(HEAD)).expect("it");
        book.run(|gate| Journal::append(gate, event(3)))
            .expect("appends");
        fs::write(book.file(HEAD), &head).expect("writes");
        assert_eq!(book.verify().expect("whole").records, 3);
        // Two such lines are no kill.
        book.run(|gate| Journal::append(gate, event(4)))
            .expect("appends");
        fs::write(book.file(HEAD), head).expect("writes");
        assert_eq!(book.damage(), Damage::Beyond { n: 2 });
    }

    #[test]
    fn a_line_that_does_not_follow_is_damage() {
        let book = Book::with(2);
        let whole = book.bytes();
        book.put(&[&whole[..], b"{}\n"].concat());
        assert_eq!(book.damage(), Damage::Beyond { n: 2 });
    }

    #[test]
    fn pruning_keeps_the_chain() {
        let book = Book::with(6);
        assert_eq!(
            book.run(|gate| Journal::prune(gate, 3000)).expect("prunes"),
            3
        );
        let found = book.verify().expect("whole");
        assert_eq!((found.records, found.pruned), (4, 3));
        assert_eq!(
            book.run(|gate| Journal::prune(gate, 3000)).expect("prunes"),
            0
        );
        // The last one stays, and the next one follows it.
        assert_eq!(
            book.run(|gate| Journal::prune(gate, Moment::MAX))
                .expect("prunes"),
            3
        );
        book.run(|gate| Journal::append(gate, event(9)))
            .expect("appends");
        assert_eq!(book.verify().expect("whole").records, 3);
        // The first of what stays cannot be removed unseen.
        let bytes = book.bytes();
        let first = bytes.iter().position(|b| *b == b'\n').expect("a line") + 1;
        book.put(&bytes[first..]);
        book.damage();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn every_changed_byte_is_found(at in any::<prop::sample::Index>(), to in any::<u8>()) {
            let book = Book::with(3);
            let mut bytes = book.bytes();
            let at = at.index(bytes.len());
            prop_assume!(bytes[at] != to);
            bytes[at] = to;
            book.put(&bytes);
            book.damage();
        }
    }
}
