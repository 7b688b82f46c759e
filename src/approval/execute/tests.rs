//! Runs, with a script in the place of the process in between: what it is told, what it brings.

use super::*;
use crate::approval::testing::{Scene, Still};
use crate::approval::{By, FilesWish, Moment, Question, Source, Verdict, What, load};
use crate::files::RealDisk;
use std::os::unix::fs::{PermissionsExt as _, symlink};

/// Ends as a command that went well.
const WELL: &str = "ends 0 null null false";

struct Room {
    scene: Scene,
    clock: Still,
}

impl Room {
    /// `script` runs in the place of [`super::super::supervise`].
    fn new(script: &str) -> Self {
        let scene = Scene::new();
        scene.program("tool");
        let text = format!(
            "#!/bin/sh\ntop='{}'\nstate='{}'\necho \"$*\" >\"$top/words\"\npwd >\"$top/pwd\"\n\
             env >\"$top/variables\"\nIFS= read -r order\nprintf '%s\\n' \"$order\" >\"$top/order\"\n\
             folder=${{order##*\\\"folder\\\":\\\"}}\nfolder=${{folder%%\\\"*}}\n\
             ends() {{ printf '{{\"code\":%s,\"signal\":%s,\"refused\":%s,\"cut\":%s,\
             \"duration\":1}}' \"$@\" >\"$folder/status\"; }}\n{script}\n",
            scene.top.display(),
            scene.around.state.display(),
        );
        fs::write(&scene.around.executable, text).expect("a file");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&scene.around.executable, mode).expect("mode");
        let clock = Still::default();
        Self { scene, clock }
    }

    fn at<T>(&self, now: Moment, job: impl FnOnce(&mut Gate<'_>) -> T) -> T {
        self.clock.0.set(now);
        let mut disk = RealDisk;
        let mut gate = Gate::open(&self.scene.around, &self.clock, &mut disk).expect("opens");
        job(&mut gate)
    }

    fn wish(argv: &[&str]) -> What {
        What::Command(Scene::wish(argv))
    }

    fn proposed(&self, what: What) -> Waiting {
        let bytes = self.scene.proposal(what).expect("it can be").bytes();
        self.at(0, |gate| gate.add(&bytes)).expect("there is room")
    }

    /// Proposed at 0, and approved at 1.
    fn approved(&self, what: What) -> Waiting {
        let waiting = self.proposed(what);
        let question = Question::ask(&waiting, By::Terminal("t".into()), 1, Moment::MAX);
        let Verdict::Approved(approved) = question.read_terminal(Some(true), 1) else {
            panic!("it is in time");
        };
        self.at(1, |gate| approved.grant(gate)).expect("grants");
        waiting
    }

    fn confirm(&self, waiting: &Waiting) -> Result<Outcome, Error> {
        self.hear(waiting, &mut |_, _| {})
    }

    fn hear(&self, waiting: &Waiting, sink: &mut Sink<'_>) -> Result<Outcome, Error> {
        let around = &self.scene.around;
        self.at(2, |gate| confirm(gate, around, waiting, sink))
    }

    fn ran(&self, what: What) -> Ended {
        match self.confirm(&self.approved(what)) {
            Ok(Outcome::Ran(ended)) => ended,
            other => panic!("{other:?}"),
        }
    }

    fn not_run(&self, what: What) -> String {
        match self.confirm(&self.approved(what)) {
            Ok(Outcome::NotRun(ended)) => ended.failed.expect("a reason"),
            other => panic!("{other:?}"),
        }
    }

    /// What a script left in the top folder.
    fn left(&self, name: &str) -> String {
        fs::read_to_string(self.scene.top.join(name)).expect(name)
    }

    fn order(&self) -> Order {
        serde_json::from_str(&self.left("order")).expect("an order")
    }

    fn events(&self) -> Vec<Event> {
        self.at(3, |gate| {
            let mut events = Vec::new();
            let journal = Journal::open(gate).expect("opens");
            let mut visit = |record: journal::Record, _| events.push(record.event);
            journal.each(&mut visit).expect("whole");
            events
        })
    }
}

fn changed(result: Result<(), Error>) -> String {
    match result {
        Err(Error::Changed { what }) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_one_in_between_is_told_what_was_approved_and_nothing_else() {
    let room = Room::new(WELL);
    let mut wish = Scene::wish(&["tool", "a b", "$x"]);
    wish.env = vec!["HOME".into()];
    let waiting = room.approved(What::Command(wish));
    let outcome = room.confirm(&waiting).expect("runs");
    assert!(matches!(outcome, Outcome::Ran(_)), "{outcome:?}");
    let Action::Command(command) = &waiting.proposal.action else {
        panic!("a command");
    };
    let order = room.order();
    assert_eq!(order.program, Path::new(&command.program.path));
    assert_eq!(order.sha256, command.program.sha256);
    assert_eq!(order.arg0, command.program.named);
    assert_eq!(order.args, ["a b", "$x"]);
    let variables: Vec<(String, String)> = command
        .environment
        .iter()
        .map(|variable| (variable.name.clone(), variable.value.clone()))
        .collect();
    assert_eq!(order.env, variables);
    assert_eq!(order.cwd, waiting.proposal.cwd);
    assert_eq!(order.stdin, None);
    let runs = room.scene.around.state.join("runs");
    assert_eq!(order.folder, runs.join(waiting.token.as_str()));
    assert_eq!(room.left("words").trim(), SUPERVISE);
    assert_eq!(room.left("pwd").trim(), "/");
    let variables = room.left("variables");
    assert!(!variables.contains("HOME="), "{variables}");
}

#[test]
fn what_an_agent_can_write_is_copied_and_its_input_comes_from_the_proposal() {
    // The folder of the run is gone afterwards, so the script looks at it.
    let look = "cp -p \"$folder/copy/own\" \"$folder/stdin\" \"$top/\"; ends 0 null null false";
    let room = Room::new(look);
    room.scene.write("own", "#!/bin/sh\necho own\n");
    room.scene.executable("own");
    let mut wish = Scene::wish(&["./own"]);
    wish.stdin = Some(Source::Bytes(b"fed\xff".to_vec()));
    let waiting = room.approved(What::Command(wish));
    assert!(matches!(room.confirm(&waiting), Ok(Outcome::Ran(_))));
    let order = room.order();
    assert_eq!(order.program, order.folder.join("copy/own"));
    assert_eq!(order.stdin, Some(order.folder.join("stdin")));
    assert_eq!(room.left("own"), "#!/bin/sh\necho own\n");
    let fed = fs::read(room.scene.top.join("stdin")).expect("it");
    assert_eq!(fed, b"fed\xff");
    let mode = |name: &str| {
        let meta = fs::metadata(room.scene.top.join(name)).expect("it");
        meta.mode() & 0o777
    };
    assert_eq!((mode("own"), mode("stdin")), (0o500, 0o600));
    assert!(!order.folder.exists());
}

#[test]
fn output_is_passed_on_and_recorded_up_to_its_limit() {
    let script = "head -c 100000 /dev/zero | tr '\\0' x; printf err >&2; ends 7 null null false";
    let room = Room::new(script);
    let waiting = room.approved(Room::wish(&["tool"]));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let outcome = room.hear(&waiting, &mut |stream, bytes| match stream {
        Stream::Stdout => out.extend_from_slice(bytes),
        Stream::Stderr => err.extend_from_slice(bytes),
    });
    let Ok(Outcome::Ran(ended)) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!((out.len(), err.as_slice()), (100_000, &b"err"[..]));
    assert_eq!(
        (ended.code, ended.signal, &ended.failed),
        (Some(7), None, &None)
    );
    assert_eq!(ended.stdout.len, 100_000);
    assert_eq!(ended.stdout.sha256, digest::of(&out));
    assert_eq!(ended.stdout.start.len(), 65_536);
    assert_eq!((ended.stderr.len, ended.stderr.start.as_str()), (3, "err"));
    assert_eq!(ended.stderr.sha256, digest::of(b"err"));
    let events = room.events();
    let [
        Event::Approved { .. },
        Event::Started { token, digest },
        Event::Ended { outcome, .. },
    ] = events.as_slice()
    else {
        panic!("{events:?}");
    };
    assert_eq!((token, digest), (&waiting.token, &waiting.digest));
    assert_eq!(outcome, &ended);
}

#[test]
fn how_it_ended_is_told() {
    let ended = Room::new("ends null 15 null false").ran(Room::wish(&["tool"]));
    assert_eq!(
        (ended.code, ended.signal, ended.failed),
        (None, Some(15), None)
    );
    let ended = Room::new("ends null 9 null true").ran(Room::wish(&["tool"]));
    let why = Some("it was ended: codexgate was".to_owned());
    assert_eq!((ended.signal, ended.failed), (Some(9), why));
    let room = Room::new("ends null null '\"has another content\"' false");
    let why = room.not_run(Room::wish(&["tool"]));
    assert_eq!(why, "the command did not start: has another content");
    let why = Room::new("").not_run(Room::wish(&["tool"]));
    assert!(why.contains("watches it died"), "{why}");
    let room = Room::new("");
    fs::remove_file(&room.scene.around.executable).expect("removes");
    let why = room.not_run(Room::wish(&["tool"]));
    assert!(why.contains("cannot start"), "{why}");
    // Spent all the same, and recorded.
    assert!(matches!(room.events().last(), Some(Event::Ended { .. })));
}

#[test]
fn a_run_is_measured_and_ended_at_its_time() {
    let ended = Room::new(&format!("sleep 0.1; {WELL}")).ran(Room::wish(&["tool"]));
    assert!((100..30_000).contains(&ended.duration), "{ended:?}");
    // The lifeline ends with the time, and the one in between kills and tells.
    let room = Room::new("cat >/dev/null; ends null 9 null true");
    let mut wish = Scene::wish(&["tool"]);
    wish.timeout = Duration::from_secs(1);
    let began = Instant::now();
    let ended = room.ran(What::Command(wish));
    assert!(began.elapsed() >= Duration::from_secs(1));
    let why = "it was ended: it ran longer than 1 seconds".to_owned();
    assert_eq!((ended.signal, ended.failed), (Some(9), Some(why)));
}

#[test]
fn who_keeps_the_output_open_is_not_waited_for() {
    let room = Room::new(&format!("printf early; sleep 20 & {WELL}"));
    let began = Instant::now();
    let ended = room.ran(Room::wish(&["tool"]));
    assert!(began.elapsed() < Duration::from_secs(10));
    assert!(began.elapsed() >= DRAIN);
    assert_eq!((ended.stdout.start.as_str(), ended.failed), ("early", None));
}

#[test]
fn an_input_that_changed_meanwhile_is_named() {
    let room = Room::new(&format!("printf more >>\"$top/project/in\"; {WELL}"));
    room.scene.write("in", "1");
    room.scene.write("other", "1");
    let ended = room.ran(Room::wish(&["tool", "in", "other"]));
    let path = room.scene.project.join("in").display().to_string();
    assert_eq!(ended.changed, [path]);
}

#[test]
fn without_a_grant_nothing_is_compared_and_nothing_runs() {
    let room = Room::new(WELL);
    room.scene.write("in", "1");
    let waiting = room.proposed(Room::wish(&["tool", "in"]));
    room.scene.write("in", "2");
    let refused = room.confirm(&waiting);
    assert!(matches!(refused, Err(Error::NoGrant { why, .. }) if why == "nobody has approved it"));
    assert!(!room.scene.top.join("order").exists());
}

#[test]
fn what_changed_or_is_denied_by_now_keeps_its_grant_and_does_not_run() {
    let room = Room::new(WELL);
    room.scene.write("in", "1");
    let waiting = room.approved(Room::wish(&["tool", "in"]));
    room.scene.write("in", "2");
    let refused = room.confirm(&waiting);
    assert!(matches!(refused, Err(Error::Changed { .. })), "{refused:?}");
    room.scene.write("in", "1");
    room.scene.user_policy("deny = [[\"tool\"]]");
    let refused = room.confirm(&waiting);
    assert!(matches!(refused, Err(Error::Denied { .. })), "{refused:?}");
    assert!(!room.scene.top.join("order").exists());
    room.scene.user_policy("");
    assert!(matches!(room.confirm(&waiting), Ok(Outcome::Ran(_))));
    let again = room.confirm(&waiting);
    assert!(matches!(again, Err(Error::NoGrant { .. })), "{again:?}");
}

#[test]
fn each_difference_is_named() {
    let room = Room::new(WELL);
    let scene = &room.scene;
    scene.write("in", "1");
    let waiting = room.proposed(Room::wish(&["tool", "in"]));
    let look = || inspect(&waiting, &scene.around);
    look().expect("it is as it was");
    let tool = scene.top.join("bin/tool");

    scene.write("in", "2");
    assert!(changed(look()).ends_with("in` has another content or place"));
    scene.write("in", "1");
    look().expect("it is as it was");

    let text = fs::read(&tool).expect("reads");
    fs::write(&tool, "#!/bin/sh\n").expect("writes");
    assert!(changed(look()).ends_with("tool` has another content"));
    fs::write(&tool, &text).expect("writes");
    look().expect("it is as it was");

    let other = scene.program("other");
    fs::write(&other, &text).expect("writes");
    fs::remove_file(&tool).expect("removes");
    symlink(&other, &tool).expect("a link");
    assert!(changed(look()).ends_with("tool` leads elsewhere"));
    fs::rename(&other, &tool).expect("renames");
    look().expect("it is as it was");

    let away = scene.top.join("away");
    fs::rename(&scene.project, &away).expect("moves");
    fs::create_dir(&scene.project).expect("a folder");
    scene.write("in", "1");
    assert!(changed(look()).contains("the working folder"));
    fs::remove_dir_all(&scene.project).expect("removes");
    symlink(&away, &scene.project).expect("a link");
    assert!(changed(look()).contains("the working folder"));
    fs::remove_file(&scene.project).expect("removes");
    fs::rename(&away, &scene.project).expect("moves");
    look().expect("it is as it was");

    let mut around = scene.around.clone();
    around.codex_home = None;
    let elsewhere = inspect(&waiting, &around);
    assert!(matches!(elsewhere, Err(Error::OtherFolder { .. })));
}

#[test]
fn a_grant_runs_its_own_proposal_alone() {
    let room = Room::new(WELL);
    let one = room.approved(Room::wish(&["tool"]));
    let other = room.proposed(Room::wish(&["tool"]));
    let mut forged = one.clone();
    forged.digest.clone_from(&other.digest);
    let mut renamed = one.clone();
    renamed.token.clone_from(&other.token);
    for wrong in [other, forged, renamed] {
        let around = &room.scene.around;
        let refused = room.at(2, |gate| {
            let grant = Grant {
                token: one.token.clone(),
                digest: one.digest.clone(),
                lock: fs::File::open("/dev/null").expect("opens"),
            };
            run(grant, gate, around, &wrong, &mut |_, _| {})
        });
        assert!(matches!(refused, Err(Error::NoGrant { .. })), "{refused:?}");
        assert!(!room.scene.top.join("order").exists());
    }
}

#[test]
fn files_are_written_whole_or_told_not_to_be() {
    let room = Room::new(WELL);
    room.scene.write("a", "old\n");
    let write = || {
        What::Files(FilesWish::Write {
            path: PathBuf::from("a"),
            content: Source::Bytes(b"new\n".to_vec()),
        })
    };
    let waiting = room.approved(write());
    let path = room.scene.project.join("a");
    let read = || fs::read_to_string(&path).expect("reads");
    fs::write(&path, "mine\n").expect("writes");
    assert!(matches!(room.confirm(&waiting), Err(Error::Changed { .. })));
    assert_eq!(read(), "mine\n");
    fs::write(&path, "old\n").expect("writes");
    let Ok(Outcome::Ran(ended)) = room.confirm(&waiting) else {
        panic!("it is as it was");
    };
    assert_eq!(read(), "new\n");
    assert_eq!(ended.written.len(), 1);
    assert_eq!((ended.code, ended.failed), (None, None));
    assert_eq!(ended.written[0].after, Some(digest::of(b"new\n")));
    assert!(!room.scene.top.join("order").exists());
}

#[test]
fn a_commit_that_is_stuck_halfway_did_happen() {
    let stuck = Error::Files(files::Error::Stuck {
        left: Vec::new(),
        because: Box::new(files::Error::RolledBack {
            path: PathBuf::from("/x"),
            why: "x".to_owned(),
        }),
    });
    assert!(matches!(not_run(&stuck), Outcome::Ran(ended) if ended.failed.is_some()));
    let other = Error::Itself;
    assert!(matches!(not_run(&other), Outcome::NotRun(ended) if ended.failed.is_some()));
}

#[test]
fn a_run_that_cannot_be_recorded_says_that_it_ran() {
    let room = Room::new(&format!("echo forged >>\"$state/journal.jsonl\"; {WELL}"));
    let waiting = room.approved(Room::wish(&["tool"]));
    let outcome = room.confirm(&waiting);
    assert!(matches!(outcome, Err(Error::Unrecorded(_))), "{outcome:?}");
    assert!(room.scene.top.join("order").exists());
}

#[test]
fn while_it_runs_it_counts_as_running() {
    let room = Room::new(&format!("touch \"$top/begun\"; cat >/dev/null; {WELL}"));
    let mut wish = Scene::wish(&["tool"]);
    wish.timeout = Duration::from_secs(2);
    let waiting = room.approved(What::Command(wish));
    let (around, token) = (room.scene.around.clone(), waiting.token.clone());
    let begun = room.scene.top.join("begun");
    let busy = std::thread::spawn(move || {
        let start = Instant::now();
        while !begun.exists() {
            assert!(start.elapsed().as_secs() < 30, "it never came");
            std::thread::sleep(Duration::from_millis(5));
        }
        let (mut disk, clock) = (RealDisk, Still::default());
        let mut gate = Gate::open(&around, &clock, &mut disk).expect("opens");
        load(&mut gate, &token).map(drop)
    });
    let outcome = room.confirm(&waiting);
    assert!(matches!(outcome, Ok(Outcome::Ran(_))), "{outcome:?}");
    let busy = busy.join().expect("it ends");
    assert!(
        matches!(&busy, Err(Error::NotWaiting { why, .. }) if why == "runs at this moment"),
        "{busy:?}"
    );
}
