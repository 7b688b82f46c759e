//! The right to run one proposal once.
//!
//! A grant is made from an [`Approved`] alone. On the disk it is a file that names the whole digest
//! of the proposal; taking it is one rename, by the holder of its lock, so that of any number of
//! processes one takes it. The [`Grant`] in hand is spent by [`super::execute::run`].

use super::clock::Moment;
use super::decision::Approved;
use super::error::Error;
use super::journal::{Event, Journal};
use super::store::{Gate, Waiting, names};
use super::supervise::{self, Left};
use super::token::Token;
use crate::files::{self, Folder, RealDisk};
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;

/// The most bytes of a grant's file.
const GRANT_LIMIT: u64 = 64 * 1024;
const VERSION: u32 = 1;

/// What a grant says on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Paper {
    version: u32,
    token: Token,
    digest: String,
    by: String,
    at: Moment,
    expires: Moment,
}

/// Writes down what was approved. Whoever approves twice has granted once.
pub(super) fn write(approved: Approved, gate: &mut Gate<'_>) -> Result<(), Error> {
    let paper = Paper {
        version: VERSION,
        token: approved.token,
        digest: approved.digest,
        by: approved.by,
        at: approved.at,
        expires: approved.expires,
    };
    // Recorded first: a grant that no record tells of must not come about.
    Journal::append(
        gate,
        Event::Approved {
            token: paper.token.clone(),
            digest: paper.digest.clone(),
            by: paper.by.clone(),
            expires: paper.expires,
        },
    )?;
    let name = format!("{}.json", paper.token);
    let bytes = serde_json::to_vec(&paper).expect("texts and numbers always serialise");
    let path = gate.grants().join(&name);
    // An older answer may have run out; a newer one counts from now.
    let _ = fs::remove_file(&path);
    let written = gate.create(&gate.grants(), &name, &bytes);
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

/// A taken grant: it runs its proposal once, or not at all. Only [`Grant::take`] makes one, out of
/// a file that an [`Approved`] made.
#[derive(Debug)]
#[must_use]
pub struct Grant {
    pub(super) token: Token,
    pub(super) digest: String,
    /// Held while it runs: a free lock means that the run was cut off.
    #[expect(dead_code, reason = "it is held, not read")]
    pub(super) lock: File,
}

impl Grant {
    /// Takes the grant for `waiting`, for good.
    ///
    /// # Errors
    /// [`Error::NoGrant`]: there is none, it ran out, it is for another content, or somebody else
    /// took it.
    pub fn take(gate: &mut Gate<'_>, waiting: &Waiting) -> Result<Self, Error> {
        let token = &waiting.token;
        let none = |why| none(token, why);
        let path = gate.grants().join(format!("{token}.json"));
        let mut file = match super::digest::open(&path) {
            Ok(file) => file,
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(missing(gate, token));
            }
            Err(error) => return Err(error),
        };
        // The lock belongs to the file, not to its name, and comes before the rename: from the
        // moment on at which the grant is taken, its lock is held.
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(none("another run took it this moment"));
        }
        let mut text = Vec::new();
        let read = file.by_ref().take(GRANT_LIMIT).read_to_end(&mut text);
        read.map_err(|error| Error::io(&path, "read", error))?;
        let paper: Paper =
            serde_json::from_slice(&text).map_err(|_| none("its file is not a grant"))?;
        if paper.token != *token || paper.digest != waiting.digest || paper.version != VERSION {
            return Err(none("the grant is for another content"));
        }
        let now = gate.now();
        if now >= paper.expires || now >= waiting.proposal.expires {
            return Err(none("it ran out; it must be approved again"));
        }
        if now < paper.at {
            return Err(none("it was given in the future: the clock was set back"));
        }
        let folder = Folder::unlocked(&gate.grants())?;
        let (from, to) = (format!("{token}.json"), format!("{token}.taken"));
        let disk = gate.disk();
        let renamed = disk.rename_new(&folder, OsStr::new(&from), OsStr::new(&to));
        renamed.map_err(|_| none("another run took it"))?;
        disk.sync_folder(&folder)
            .map_err(|error| Error::io(&path, "write", error))?;
        // stops: the name led to another grant when it was renamed
        let own = file.metadata().map(|meta| (meta.dev(), meta.ino()));
        let there = fs::symlink_metadata(gate.grants().join(&to)).map(|m| (m.dev(), m.ino()));
        if own.ok() != there.ok() {
            return Err(none("another grant came in its place"));
        }
        Ok(Self {
            token: paper.token,
            digest: paper.digest,
            lock: file,
        })
    }

    /// Forgets the grant and its proposal: the outcome is recorded.
    pub(super) fn finish(self, gate: &mut Gate<'_>) {
        clear(gate, &self.token);
    }
}

fn clear(gate: &mut Gate<'_>, token: &Token) {
    // The proposal first: without its grant it would look as if it waited again.
    gate.forget(token);
    let _ = fs::remove_file(gate.grants().join(format!("{token}.taken")));
}

/// There is no grant for `token` that waits.
pub(super) fn missing(gate: &Gate<'_>, token: &Token) -> Error {
    let why = if is_taken(gate, token) {
        "another run took it"
    } else {
        "nobody has approved it"
    };
    none(token, why)
}

fn none(token: &Token, why: &str) -> Error {
    Error::NoGrant {
        token: token.clone(),
        why: why.to_owned(),
    }
}

/// Whether a grant for `token` waits.
pub(super) fn is_granted(gate: &Gate<'_>, token: &Token) -> bool {
    gate.grants().join(format!("{token}.json")).exists()
}

/// Whether a grant for `token` was taken.
pub(super) fn is_taken(gate: &Gate<'_>, token: &Token) -> bool {
    gate.grants().join(format!("{token}.taken")).exists()
}

/// Records each taken grant that nobody holds: its run was cut off. Where the one in between left
/// how the command ended, that is recorded; else nobody knows.
pub(super) fn recover(gate: &mut Gate<'_>) -> Result<(), Error> {
    for name in names(&gate.grants(), ".taken")? {
        let Some(token) = name.strip_suffix(".taken").and_then(Token::parse) else {
            continue;
        };
        let path = gate.grants().join(&name);
        let Ok(file) = super::digest::open(&path) else {
            continue;
        };
        let locked = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
        if locked.is_err() || !path.exists() {
            continue;
        }
        let run = gate.run_folder(&token);
        let event = match supervise::left(&run) {
            // It is about to end the command and to say how that went.
            Left::Watched => continue,
            Left::Status(status) => Event::Ended {
                token: token.clone(),
                outcome: status.told_later(),
            },
            Left::Nothing => Event::Unknown {
                token: token.clone(),
            },
        };
        match Journal::last(gate, &token)? {
            Some(Event::Ended { .. } | Event::Unknown { .. }) => {}
            _ => Journal::append(gate, event)?,
        }
        // A commit that was cut off is undone, or cleared away where it counts.
        if let Ok(Some(waiting)) = gate.read(&token) {
            let paths = waiting.proposal.paths();
            let _ = files::recover(&run, &|path| paths.iter().any(|p| p == path), &mut RealDisk);
        }
        clear(gate, &token);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::testing::{Dies, Scene, Still};
    use crate::approval::{
        By, FilesWish, NoGrant, Question, Source, Verdict, What, execute, load, undecided, waiting,
    };
    use std::os::unix::fs::symlink;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::path::PathBuf;

    struct Desk {
        scene: Scene,
        clock: Still,
    }

    impl Desk {
        fn new() -> Self {
            let scene = Scene::new();
            scene.program("tool");
            let clock = Still::default();
            Self { scene, clock }
        }

        fn at<T>(&self, now: Moment, job: impl FnOnce(&mut Gate<'_>) -> T) -> T {
            self.clock.0.set(now);
            let mut disk = RealDisk;
            let mut gate = Gate::open(&self.scene.around, &self.clock, &mut disk).expect("opens");
            job(&mut gate)
        }

        /// A proposal of an hour, made at 0.
        fn waiting(&self) -> Waiting {
            let bytes = self.scene.command(&["tool".to_owned()]).bytes();
            self.at(0, |gate| gate.add(&bytes)).expect("there is room")
        }

        fn approve(&self, waiting: &Waiting, now: Moment) {
            let question = Question::ask(waiting, By::Terminal("t".into()), now, Moment::MAX);
            let Verdict::Approved(approved) = question.read_terminal(Some(true), now) else {
                panic!("it is in time");
            };
            self.at(now, |gate| approved.grant(gate)).expect("grants");
        }

        fn take(&self, waiting: &Waiting, now: Moment) -> Result<Grant, Error> {
            self.at(now, |gate| Grant::take(gate, waiting))
        }

        fn paper(&self, waiting: &Waiting) -> PathBuf {
            let name = format!("grants/{}.json", waiting.token);
            self.scene.around.state.join(name)
        }

        /// What happened last to a proposal, as far as it is recorded.
        fn last(&self, waiting: &Waiting) -> Event {
            let last = self.at(50, |gate| Journal::last(gate, &waiting.token));
            last.expect("reads").expect("a record")
        }

        /// The folder of the run of a grant that was taken, and whose codexgate is gone.
        fn cut_off(&self) -> (Waiting, PathBuf) {
            let waiting = self.waiting();
            self.approve(&waiting, 10);
            drop(self.take(&waiting, 20).expect("granted"));
            let folder = self.scene.around.state.join("runs");
            let folder = folder.join(waiting.token.as_str());
            fs::create_dir(&folder).expect("a folder");
            (waiting, folder)
        }

        fn refused(&self, waiting: &Waiting, now: Moment) -> String {
            match self.take(waiting, now) {
                Err(Error::NoGrant { why, .. }) => why,
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn without_an_approve_there_is_no_grant() {
        let desk = Desk::new();
        assert_eq!(desk.refused(&desk.waiting(), 1), "nobody has approved it");
    }

    #[test]
    fn a_grant_is_taken_once() {
        let desk = Desk::new();
        let waiting = desk.waiting();
        desk.approve(&waiting, 10);
        let grant = desk.take(&waiting, 20).expect("it is granted");
        assert_eq!(
            (&grant.token, &grant.digest),
            (&waiting.token, &waiting.digest)
        );
        assert_eq!(desk.refused(&waiting, 20), "another run took it");
        let busy = desk.at(20, |gate| load(gate, &waiting.token));
        assert!(matches!(busy, Err(Error::NotWaiting { why, .. }) if why == "runs at this moment"));
        desk.at(20, |gate| grant.finish(gate));
        desk.refused(&waiting, 20);
        // Done with: neither is anything left, nor is it taken for a run that was cut off.
        let left = fs::read_dir(desk.scene.around.state.join("grants")).expect("reads");
        assert_eq!(left.count(), 0);
        assert!(matches!(desk.last(&waiting), Event::Approved { .. }));
    }

    #[test]
    fn a_grant_counts_from_its_very_moment() {
        let desk = Desk::new();
        let waiting = desk.waiting();
        desk.approve(&waiting, 10);
        assert!(desk.take(&waiting, 10).is_ok());
    }

    #[test]
    fn a_grant_holds_who_gave_it_however_long_that_is() {
        let desk = Desk::new();
        let waiting = desk.waiting();
        let by = By::Codex("é".repeat(1000));
        let question = Question::ask(&waiting, by, 10, Moment::MAX);
        let Verdict::Approved(approved) = question.read_terminal(Some(true), 10) else {
            panic!("it is in time");
        };
        desk.at(10, |gate| approved.grant(gate)).expect("grants");
        drop(desk.take(&waiting, 10).expect("it is granted"));
    }

    #[test]
    fn a_list_says_what_is_granted() {
        let desk = Desk::new();
        let granted = || {
            let list = desk.at(5, super::super::waiting).expect("reads");
            list.iter().map(|one| one.granted).collect::<Vec<_>>()
        };
        let waiting = desk.waiting();
        assert_eq!(granted(), [false]);
        desk.approve(&waiting, 5);
        assert_eq!(granted(), [true]);
    }

    #[test]
    fn a_paper_that_says_anything_else_is_no_grant() {
        let desk = Desk::new();
        let waiting = desk.waiting();
        desk.approve(&waiting, 10);
        let path = desk.paper(&waiting);
        let text = fs::read_to_string(&path).expect("reads");
        let other = Token::of(b"other");
        for (changed, why) in [
            (
                text.replace("\"version\":1", "\"version\":2"),
                "the grant is for another content",
            ),
            (
                text.replace(waiting.token.as_str(), other.as_str()),
                "the grant is for another content",
            ),
            (text.replace('{', "{\"more\":1,"), "its file is not a grant"),
            (String::new(), "its file is not a grant"),
        ] {
            assert_ne!(changed, text);
            fs::write(&path, changed).expect("writes");
            assert_eq!(desk.refused(&waiting, 20), why);
        }
        // What cannot be read is told as that.
        fs::remove_file(&path).expect("removes");
        symlink(&path, &path).expect("a link to itself");
        let unreadable = desk.take(&waiting, 20);
        assert!(
            matches!(unreadable, Err(Error::Io { .. })),
            "{unreadable:?}"
        );
    }

    #[test]
    fn what_cannot_be_recorded_or_written_is_no_grant() {
        let desk = Desk::new();
        for step in 0..100 {
            let waiting = desk.waiting();
            let question = Question::ask(&waiting, By::Client("x".into()), 1, Moment::MAX);
            let Verdict::Approved(approved) = question.read_terminal(Some(true), 1) else {
                panic!("it is in time");
            };
            desk.clock.0.set(1);
            let mut dying = Dies {
                left: step,
                fails: true,
            };
            let mut gate = Gate::open(&desk.scene.around, &desk.clock, &mut dying).expect("opens");
            let granted = approved.grant(&mut gate);
            assert_eq!(
                desk.paper(&waiting).exists(),
                granted.is_ok(),
                "step {step}"
            );
            if granted.is_ok() {
                assert!(step > 5, "only {step} steps");
                return;
            }
            assert_eq!(desk.refused(&waiting, 2), "nobody has approved it");
            desk.at(3, |gate| gate.forget(&waiting.token));
        }
        panic!("it is never granted");
    }

    #[test]
    fn who_did_not_decide_is_recorded_and_the_proposal_waits_on() {
        let desk = Desk::new();
        let waiting = desk.waiting();
        let by = By::Terminal("t".into());
        desk.at(5, |gate| undecided(gate, &waiting, &by, NoGrant::Silent))
            .expect("records");
        let Event::Undecided { by, why, .. } = desk.last(&waiting) else {
            panic!("it is recorded");
        };
        assert_eq!(by, "a person at the terminal (t)");
        assert_eq!(why, "nobody answered in time");
        assert!(desk.at(5, |gate| load(gate, &waiting.token)).is_ok());
    }

    #[test]
    fn a_run_that_was_cut_off_and_left_its_end_is_told() {
        let desk = Desk::new();
        for (status, code, signal, why) in [
            (
                "0,\"signal\":null,\"refused\":null,\"cut\":false",
                Some(0),
                None,
                "before it could record",
            ),
            (
                "null,\"signal\":9,\"refused\":null,\"cut\":true",
                None,
                Some(9),
                "the command with it",
            ),
            (
                "null,\"signal\":null,\"refused\":\"gone\",\"cut\":false",
                None,
                None,
                "did not start: gone",
            ),
        ] {
            let (waiting, folder) = desk.cut_off();
            let status = format!("{{\"code\":{status},\"duration\":5}}");
            fs::write(folder.join("status"), status).expect("writes");
            let Event::Ended { outcome, .. } = desk.last(&waiting) else {
                panic!("it is known");
            };
            assert_eq!(
                (outcome.code, outcome.signal, outcome.duration),
                (code, signal, 5)
            );
            let failed = outcome.failed.expect("a reason");
            assert!(failed.contains(why), "{failed}");
            assert!(!folder.exists());
        }
    }

    #[test]
    fn a_run_that_is_still_watched_is_waited_for() {
        let desk = Desk::new();
        let (waiting, folder) = desk.cut_off();
        let coming = File::create(folder.join("status.new")).expect("a file");
        let lock = FlockOperation::NonBlockingLockExclusive;
        rustix::fs::flock(&coming, lock).expect("locks");
        let busy = desk.at(30, |gate| load(gate, &waiting.token));
        assert!(matches!(busy, Err(Error::NotWaiting { why, .. }) if why == "runs at this moment"));
        // It was ended as well, and told nothing.
        drop(coming);
        assert!(matches!(desk.last(&waiting), Event::Unknown { .. }));
        desk.refused(&waiting, 60);
    }

    #[test]
    fn an_end_that_is_recorded_is_not_recorded_again() {
        let desk = Desk::new();
        let waiting = desk.waiting();
        desk.approve(&waiting, 10);
        let grant = desk.take(&waiting, 20).expect("granted");
        let event = Event::Ended {
            token: waiting.token.clone(),
            outcome: super::super::journal::Ended::default(),
        };
        desk.at(20, |gate| Journal::append(gate, event))
            .expect("appends");
        // Killed before it cleared away.
        drop(grant);
        assert!(matches!(desk.last(&waiting), Event::Ended { .. }));
        assert_eq!(desk.at(50, Journal::verify).expect("whole").records, 2);
        let left = fs::read_dir(desk.scene.around.state.join("grants")).expect("reads");
        assert_eq!(left.count(), 0);
    }

    #[test]
    fn a_commit_that_died_is_undone_or_stands() {
        let desk = Desk::new();
        let path = desk.scene.project.join("a");
        let read = || fs::read_to_string(&path).expect("reads");
        let (mut undone, mut step) = (0, 0);
        loop {
            fs::write(&path, "old").expect("writes");
            let what = What::Files(FilesWish::Write {
                path: PathBuf::from("a"),
                content: Source::Bytes(b"new".to_vec()),
            });
            let bytes = desk.scene.proposal(what).expect("it can be").bytes();
            let waiting = desk.at(0, |gate| gate.add(&bytes)).expect("there is room");
            desk.approve(&waiting, 10);
            let grant = desk.take(&waiting, 20).expect("granted");
            desk.clock.0.set(20);
            let mut dying = Dies {
                left: step,
                fails: false,
            };
            let mut gate = Gate::open(&desk.scene.around, &desk.clock, &mut dying).expect("opens");
            let around = &desk.scene.around;
            let ran = catch_unwind(AssertUnwindSafe(|| {
                execute::run(grant, &mut gate, around, &waiting, &mut |_, _| {})
            }));
            if let Ok(outcome) = ran {
                assert!(matches!(outcome, Ok(execute::Outcome::Ran(_))));
                assert_eq!(read(), "new");
                assert!(undone > 0, "no death came between the write and its end");
                return;
            }
            let before = read();
            let told = desk.last(&waiting);
            let is_told = matches!(told, Event::Unknown { .. } | Event::Ended { .. });
            assert!(is_told, "step {step}: {told:?}");
            let left = fs::read_dir(desk.scene.around.state.join("grants")).expect("reads");
            assert_eq!(left.count(), 0, "step {step}");
            undone += usize::from(before == "new" && read() == "old");
            step += 1;
        }
    }

    #[test]
    fn a_grant_is_for_its_content_and_its_time_alone() {
        let desk = Desk::new();
        let (one, other) = (desk.waiting(), desk.waiting());
        desk.approve(&one, 10);
        assert_eq!(desk.refused(&other, 20), "nobody has approved it");
        fs::copy(desk.paper(&one), desk.paper(&other)).expect("copies");
        assert_eq!(desk.refused(&other, 20), "the grant is for another content");
        let mut changed = one.clone();
        changed.digest = other.digest.clone();
        assert_eq!(
            desk.refused(&changed, 20),
            "the grant is for another content"
        );
        assert!(desk.refused(&one, 10 + 600_000).starts_with("it ran out"));
        assert!(desk.refused(&one, 9).contains("set back"));
        drop(desk.take(&one, 9 + 600_000).expect("in time"));
    }

    #[test]
    fn a_grant_ends_with_its_proposal() {
        let desk = Desk::new();
        let waiting = desk.waiting();
        desk.approve(&waiting, 3_599_000);
        assert!(desk.refused(&waiting, 3_600_000).starts_with("it ran out"));
        let gone = desk.at(3_600_000, |gate| load(gate, &waiting.token));
        assert!(matches!(gone, Err(Error::NotWaiting { why, .. }) if why == "expired"));
    }

    #[test]
    fn approving_again_gives_a_new_time_and_no_second_run() {
        let desk = Desk::new();
        let waiting = desk.waiting();
        desk.approve(&waiting, 10);
        desk.approve(&waiting, 900_000);
        let grant = desk
            .take(&waiting, 1_000_000)
            .expect("the newer one counts");
        desk.refused(&waiting, 1_000_000);
        drop(grant);
    }

    #[test]
    fn a_run_that_was_cut_off_is_unknown_and_never_repeated() {
        let desk = Desk::new();
        let waiting = desk.waiting();
        desk.approve(&waiting, 10);
        drop(desk.take(&waiting, 20).expect("granted"));
        let last = desk
            .at(30, |gate| Journal::last(gate, &waiting.token))
            .expect("reads");
        assert!(matches!(last, Some(Event::Unknown { .. })));
        desk.refused(&waiting, 30);
        let gone = desk.at(30, |gate| load(gate, &waiting.token));
        assert!(
            matches!(gone, Err(Error::NotWaiting { why, .. }) if why.contains("outcome is unknown"))
        );
    }

    #[test]
    fn a_rejected_proposal_is_gone_with_its_grant() {
        let desk = Desk::new();
        let waiting = desk.waiting();
        desk.approve(&waiting, 10);
        let by = By::Terminal("t".into());
        desk.at(20, |gate| {
            crate::approval::reject(gate, &waiting, &by, None)
        })
        .expect("rejects");
        desk.refused(&waiting, 30);
        let gone = desk.at(30, |gate| load(gate, &waiting.token));
        assert!(matches!(gone, Err(Error::NotWaiting { why, .. }) if why == "was rejected"));
    }

    #[test]
    fn only_so_many_wait_and_expired_ones_make_room() {
        let desk = Desk::new();
        let bytes = || desk.scene.command(&["tool".to_owned()]).bytes();
        for _ in 0..64 {
            desk.at(0, |gate| gate.add(&bytes()))
                .expect("there is room");
        }
        let full = desk.at(0, |gate| gate.add(&bytes()));
        assert!(matches!(full, Err(Error::Full { count: 64 })));
        let later = desk.at(3_600_000, waiting).expect("reads");
        assert!(later.is_empty());
        desk.at(3_600_000, |gate| gate.add(&bytes()))
            .expect("there is room");
    }

    #[test]
    fn an_altered_proposal_is_refused() {
        let desk = Desk::new();
        let waiting = desk.waiting();
        let path = desk
            .scene
            .around
            .state
            .join(format!("proposals/{}.json", waiting.token));
        let text = fs::read_to_string(&path).expect("reads");
        for other in [
            text.replace("\"tool\"", "\"toil\""),
            format!("{text} "),
            String::new(),
        ] {
            assert_ne!(other, text);
            fs::write(&path, other).expect("writes");
            let read = desk.at(1, |gate| load(gate, &waiting.token));
            assert!(matches!(read, Err(Error::Altered { .. })), "{read:?}");
        }
    }
}
