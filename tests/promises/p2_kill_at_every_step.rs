//! A kill at every step of taking, running and recording: the command ran once or not at all, the
//! journal says what is known, and nothing runs a second time.

use crate::faults::{Fault, Faults};
use crate::gate::Desk;
use crate::scene::child;
use codexgate::approval::{self, Gate, Surroundings, SystemClock, Token};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Stdio;

const AROUND: &str = "CODEXGATE_TEST_AROUND";
const TOKEN: &str = "CODEXGATE_TEST_TOKEN";
const STEP: &str = "CODEXGATE_TEST_STEP";

#[test]
fn a_command() {
    let told = kill_at_every_step(&["--", "tool"]);
    assert!(told > 0, "no kill came between the run and its record");
}

#[test]
fn files() {
    kill_at_every_step(&["--write", "ran", "--content", "draft"]);
}

/// Returns how many kills left a command that ran, and whose end was told later.
fn kill_at_every_step(args: &[&str]) -> usize {
    let mut told = 0;
    for step in 0.. {
        let desk = Desk::new();
        desk.script("tool", "echo x >> ran");
        desk.write("draft", "x\n");
        let token = desk.propose(args);
        desk.approve(&token);
        let around = desk.around();
        let parts = [&around.state, &around.executable, &around.cwd];
        let parts: Vec<String> = parts
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let status = child("p2_kill_at_every_step::confirms_until_it_is_killed")
            .env(AROUND, parts.join(":"))
            .env(TOKEN, &token)
            .env(STEP, step.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("it starts");
        if status.success() {
            assert!(step > 10, "only {step} steps");
            assert_eq!(desk.runs(), 1);
            desk.verified();
            return told;
        }
        assert_eq!(status.signal(), Some(9), "step {step}");
        // The next command finds what was left.
        desk.verified();
        let runs = desk.runs();
        assert!(runs <= 1, "step {step}");
        let journal = desk.journal();
        let known = journal.contains(" ended: ");
        let lost = journal.contains("its outcome is unknown");
        let later = journal.contains(" ended: exit 0, codexgate was ended before it could record");
        told += usize::from(later && runs == 1);
        // A command's end is told by the one in between.
        assert!(!(lost && runs == 1 && args[0] == "--"), "step {step}");
        assert!(!(known && lost), "step {step}: {journal}");
        assert!(
            runs == 0 || known || lost,
            "step {step}: it ran and no record tells: {journal}"
        );
        let again = desk.confirm(&token);
        if known || lost {
            assert_eq!(
                (again.code, desk.runs()),
                (Some(1), runs),
                "step {step}: {again:?}"
            );
        } else {
            // The grant was not taken yet, so it is still good for its one run.
            assert_eq!(
                (again.code, desk.runs()),
                (Some(0), 1),
                "step {step}: {again:?}"
            );
        }
        let left = std::fs::read_dir(desk.state().join("grants")).expect("reads");
        assert_eq!(left.count(), 0, "step {step}");
        desk.verified();
    }
    unreachable!("a run ends");
}

#[test]
#[ignore = "run by the tests above, as the process that is killed"]
fn confirms_until_it_is_killed() {
    let Ok(around) = std::env::var(AROUND) else {
        return;
    };
    let parts: Vec<PathBuf> = around.split(':').map(PathBuf::from).collect();
    let [state, executable, cwd] = <[PathBuf; 3]>::try_from(parts).expect("three");
    let home = state
        .ancestors()
        .nth(3)
        .expect("below a home")
        .to_path_buf();
    let around = Surroundings {
        codex_home: Some(home.join(".codex")),
        project: cwd.clone(),
        writable: vec![cwd.clone()],
        user_policy: None,
        system_policy: PathBuf::from("/nonexistent/policy"),
        state,
        executable,
        cwd,
    };
    let number = std::env::var(STEP).expect("it is set");
    let mut disk = Faults::at(number.parse().expect("a number"), Fault::Kill);
    let mut gate = Gate::open(&around, &SystemClock, &mut disk).expect("opens");
    let token = Token::parse(&std::env::var(TOKEN).expect("it is set")).expect("a token");
    let waiting = approval::load(&mut gate, &token).expect("it waits");
    let _ = approval::confirm(&mut gate, &around, &waiting, &mut |_, _| {}).expect("runs");
}
