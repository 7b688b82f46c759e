//! A grant runs once: of fifty processes one, after a kill none, and what ran is recorded.

use crate::gate::Desk;
use std::fs;
use std::process::Stdio;

const RACERS: usize = 50;

#[test]
fn of_fifty_confirmations_one_runs() {
    let desk = Desk::new();
    desk.script("tool", "echo x >> ran");
    let token = desk.propose(["--", "tool"]);
    desk.approve(&token);
    let racers: Vec<_> = (0..RACERS)
        .map(|_| {
            let mut command = desk.command();
            command.args(["apply", "--confirm", &token]);
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            command.spawn().expect("it runs")
        })
        .collect();
    let codes: Vec<Option<i32>> = racers
        .into_iter()
        .map(|mut racer| racer.wait().expect("it ends").code())
        .collect();
    assert_eq!(desk.runs(), 1, "{codes:?}");
    assert_eq!(
        codes.iter().filter(|code| **code == Some(0)).count(),
        1,
        "{codes:?}"
    );
    assert!(
        codes.iter().all(|code| matches!(code, Some(0 | 1))),
        "{codes:?}"
    );
    let journal = desk.journal();
    assert_eq!(journal.matches(" started").count(), 1, "{journal}");
    assert_eq!(journal.matches(" ended: exit 0").count(), 1, "{journal}");
    desk.verified();
}

#[test]
fn a_killed_confirmation_takes_its_command_along_and_is_not_repeated() {
    let desk = Desk::new();
    // A child of the command's own, too: the whole group ends.
    desk.script(
        "tool",
        "echo x >> ran; sleep 600 & echo $$ $! > pids; mv pids begun; wait",
    );
    let token = desk.propose(["--", "tool"]);
    desk.approve(&token);
    let mut command = desk.command();
    command
        .args(["apply", "--confirm", &token])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("it runs");
    let begun = desk.project.join("begun");
    until(|| begun.exists());
    let busy = desk.confirm(&token);
    assert_eq!(busy.code, Some(1), "{busy:?}");
    assert!(busy.stderr.contains("runs at this moment"), "{busy:?}");
    child.kill().expect("it is there");
    child.wait().expect("it ends");
    let pids = fs::read_to_string(begun).expect("reads");
    for pid in pids.split_whitespace() {
        let stat = format!("/proc/{pid}/stat");
        // Gone, or a zombie that nobody waits for yet.
        until(|| fs::read_to_string(&stat).map_or(true, |text| text.contains(") Z ")));
    }
    // The one in between says how the command ended; until then it counts as running.
    let mut said = desk.confirm(&token);
    until(|| {
        said = desk.confirm(&token);
        !said.stderr.contains("runs at this moment")
    });
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("it was used: it ran"), "{said:?}");
    assert_eq!(desk.runs(), 1);
    let journal = desk.journal();
    let told = " ended: signal 9, codexgate was ended and the command with it; its output is not";
    assert!(journal.contains(told), "{journal}");
    desk.verified();
}

#[test]
fn a_run_ends_with_its_time() {
    let desk = Desk::new();
    let token = desk.propose(["--timeout", "0s", "--", "sleep", "600"]);
    desk.approve(&token);
    let said = desk.confirm(&token);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.stderr.contains("longer than 0 seconds"), "{said:?}");
    assert!(desk.journal().contains("signal 9"));
}

#[test]
fn what_a_command_leaves_behind_ends_with_it() {
    let desk = Desk::new();
    desk.script("tool", "sleep 600 & echo $! > pid");
    let token = desk.propose(["--", "tool"]);
    desk.approve(&token);
    assert_eq!(desk.confirm(&token).code, Some(0));
    let pid = fs::read_to_string(desk.project.join("pid")).expect("reads");
    let stat = format!("/proc/{}/stat", pid.trim());
    until(|| fs::read_to_string(&stat).map_or(true, |text| text.contains(") Z ")));
}

/// Waits for what another process does, at most half a minute.
fn until(mut holds: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !holds() {
        assert!(start.elapsed().as_secs() < 30, "it never came");
        std::thread::yield_now();
    }
}
