//! The same over random files of the generator: every shape in which servers can stand.

use super::{Place, assert_demo_beside_the_old};
use crate::generated::{Random, Target, config};
use crate::program::{self, say};
use crate::worker::{self, Worker};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How many files each run asks about. `CODEXGATE_CONFIGURATIONS` says another number.
const USUAL: u64 = 60;

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// Codex reads the file before and after.
    Kept,
    /// Codex does not read it, and it came back byte for byte or was refused.
    Unread,
    /// Codex reads it and codexgate refused, with a reason.
    Refused(String),
}

#[test]
fn a_random_project_file_still_loads_with_its_servers_and_ours() {
    let test = "a_random_project_file_still_loads_with_its_servers_and_ours";
    let Some(codex) = program::find_for(test) else {
        return;
    };
    let count = crate::generated::number("CODEXGATE_CONFIGURATIONS").unwrap_or(USUAL);
    let seeds: Vec<u64> = (0..count).collect();
    let outcomes = worker::each(&codex, &seeds, |worker, seed| {
        catch_unwind(AssertUnwindSafe(|| check(worker, *seed))).map_err(|_| *seed)
    });
    let failed: Vec<&u64> = outcomes
        .iter()
        .filter_map(|outcome| outcome.as_ref().err())
        .collect();
    let kept = outcomes
        .iter()
        .flatten()
        .filter(|outcome| **outcome == Outcome::Kept)
        .count();
    let mut refused = 0;
    for outcome in outcomes.iter().flatten() {
        if let Outcome::Refused(why) = outcome {
            refused += 1;
            say(&format!("  refused, Codex reads it: {why}"));
        }
    }
    say(&format!(
        "{count} random project files; {kept} load with old servers and ours, {refused} refused that Codex reads, {} failed",
        failed.len()
    ));
    assert!(failed.is_empty(), "seeds {failed:?}");
    assert!(kept * 2 > seeds.len(), "few of them load");
    assert!(refused * 10 < seeds.len(), "too many are refused");
}

fn check(worker: &mut Worker, seed: u64) -> Outcome {
    let place = Place::with_repository();
    let file = place.lab.project.join(".codex/config.toml");
    let text = config(&mut Random::new(seed), Target::Project);
    let text = text.replace("@PROJECT@", &place.lab.project.display().to_string());
    let text = text.replace("@HOME@", &place.lab.home.display().to_string());
    std::fs::write(&file, &text).expect("the lab is writable");
    let before = worker.ask_in(&place.lab.root).expect("Codex answers");
    let loads = before["listed"].is_array() && before["config"].is_object();

    let done = place.install("project");
    if done.code == Some(1) {
        let now = std::fs::read(&file).expect("it was there");
        assert!(
            now == text.as_bytes(),
            "seed {seed}: refused and changed\n{text}"
        );
        let why = done
            .stderr
            .lines()
            .find(|line| line.contains("error"))
            .unwrap_or_default();
        assert!(
            !why.is_empty(),
            "seed {seed}: refused without a reason\n{text}"
        );
        return if loads {
            Outcome::Refused(format!("seed {seed}: {why}"))
        } else {
            Outcome::Unread
        };
    }
    assert!(
        done.done(),
        "seed {seed}: {}{}\n{text}",
        done.text(),
        done.stderr
    );
    if loads {
        let after = worker.ask_in(&place.lab.root).expect("Codex answers");
        assert_demo_beside_the_old(&before, &after, "project");
    }
    let done = place.uninstall("project");
    assert!(
        done.done(),
        "seed {seed}: {}{}\n{text}",
        done.text(),
        done.stderr
    );
    let now = std::fs::read(&file).expect("it was there");
    assert!(
        now == text.as_bytes(),
        "seed {seed}: not the same bytes after uninstall\n{text}"
    );
    if loads {
        Outcome::Kept
    } else {
        Outcome::Unread
    }
}
