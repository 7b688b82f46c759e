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
    match gate.create(&gate.grants(), &name, &bytes) {
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
            // An older answer may have run out; a newer one counts from now.
            let _ = fs::remove_file(gate.grants().join(&name));
            gate.create(&gate.grants(), &name, &bytes)
        }
        other => other,
    }
}

/// A taken grant: it runs its proposal once, or not at all. Only [`Grant::take`] makes one, out of
/// a file that an [`Approved`] made.
#[derive(Debug)]
#[must_use]
pub struct Grant {
    pub(super) token: Token,
    pub(super) digest: String,
    /// Held while it runs: a free lock means that the run was cut off.
    _lock: File,
}

impl Grant {
    /// Takes the grant for `waiting`, for good.
    ///
    /// # Errors
    /// [`Error::NoGrant`]: there is none, it ran out, it is for another content, or somebody else
    /// took it.
    pub fn take(gate: &mut Gate<'_>, waiting: &Waiting) -> Result<Self, Error> {
        let token = &waiting.token;
        let none = |why: &str| Error::NoGrant {
            token: token.clone(),
            why: why.to_owned(),
        };
        let path = gate.grants().join(format!("{token}.json"));
        let mut file = match super::digest::open(&path) {
            Ok(file) => file,
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(none("nobody has approved it"));
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
            _lock: file,
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

/// Whether a grant for `token` waits.
pub(super) fn is_granted(gate: &Gate<'_>, token: &Token) -> bool {
    gate.grants().join(format!("{token}.json")).exists()
}

/// Whether a grant for `token` was taken.
pub(super) fn is_taken(gate: &Gate<'_>, token: &Token) -> bool {
    gate.grants().join(format!("{token}.taken")).exists()
}

/// Records each taken grant that nobody holds: its run was cut off.
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
        match Journal::last(gate, &token)? {
            Some(Event::Ended { .. } | Event::Unknown { .. }) => {}
            _ => Journal::append(
                gate,
                Event::Unknown {
                    token: token.clone(),
                },
            )?,
        }
        // A commit that was cut off is undone, or cleared away where it counts.
        let run = gate.run_folder(&token);
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
    use crate::approval::testing::{Scene, Still};
    use crate::approval::{By, Question, Verdict, load, waiting};

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
        assert_eq!(desk.refused(&waiting, 20), "nobody has approved it");
        let busy = desk.at(20, |gate| load(gate, &waiting.token));
        assert!(matches!(busy, Err(Error::NotWaiting { why, .. }) if why == "runs at this moment"));
        desk.at(20, |gate| grant.finish(gate));
        desk.refused(&waiting, 20);
    }

    #[test]
    fn a_grant_is_for_its_content_and_its_time_alone() {
        let desk = Desk::new();
        let (one, other) = (desk.waiting(), desk.waiting());
        desk.approve(&one, 10);
        assert_eq!(desk.refused(&other, 20), "nobody has approved it");
        let path = |w: &Waiting| {
            desk.scene
                .around
                .state
                .join(format!("grants/{}.json", w.token))
        };
        fs::copy(path(&one), path(&other)).expect("copies");
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
