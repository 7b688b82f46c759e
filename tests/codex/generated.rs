//! The model and the real Codex on random configurations.
//!
//! Each seed is one configuration, the same on every machine. Where the two disagree, the
//! configuration is made small and written as a scenario's folder below
//! `target/disagreements`, with Codex's answer as `expected.json` and the model's as
//! `model.json`. `CODEXGATE_CONFIGURATIONS=N` says how many, `CODEXGATE_SEED=N` where to begin;
//! `CODEXGATE_REASONS=1` lists why configurations were refused.

pub mod agree;
mod anything;
mod configuration;
mod keys;
mod random;
mod requirements;
mod servers;
mod sheet;
mod shrink;
mod values;

use crate::ask::Question;
use crate::program::{self, say};
use crate::scenario::Scenario;
use crate::worker::{self, Worker};
use agree::Verdict;
pub use random::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
pub use values::{Target, config};

/// How many configurations each run asks about: about a minute on two cores.
const USUAL: u64 = 300;

/// How many disagreements are made small, one of a kind. Each takes a hundred questions; the
/// first few tell what is wrong.
const SHRUNK: usize = 12;

#[test]
fn the_model_agrees_with_codex_on_random_configurations() {
    let test = "the_model_agrees_with_codex_on_random_configurations";
    let Some(codex) = program::find_for(test) else {
        return;
    };
    let first = number("CODEXGATE_SEED").unwrap_or(0);
    let count = number("CODEXGATE_CONFIGURATIONS").unwrap_or(USUAL);
    let seeds: Vec<u64> = (first..first + count).collect();
    say(&format!(
        "{count} random configurations, seeds {first} to {}",
        first + count - 1
    ));

    let known: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let outcomes = worker::each(&codex, &seeds, |worker, seed| {
        let scenario = configuration::random(*seed);
        // `exec` takes as long as all the rest.
        let question = if seed % 4 == 0 {
            Question::WithExec
        } else {
            Question::AppServer
        };
        match agree::judge(worker, &scenario, question) {
            Verdict::Differ(differences) => {
                let small = {
                    let mut known = known.lock().expect("no thread panics holding it");
                    known.len() < SHRUNK && known.insert(agree::kind(&differences))
                };
                Err(report(
                    worker,
                    *seed,
                    &scenario,
                    &differences,
                    question,
                    small,
                ))
            }
            verdict => Ok(verdict),
        }
    });

    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let mut apart = 0;
    for verdict in outcomes.iter().flatten() {
        match verdict {
            Verdict::NeitherStarts(reason) => *reasons.entry(reason).or_default() += 1,
            Verdict::Apart(_) => apart += 1,
            Verdict::Agree | Verdict::Differ(_) => {}
        }
    }
    let refused: usize = reasons.values().sum();
    let different: Vec<&String> = outcomes
        .iter()
        .filter_map(|outcome| outcome.as_ref().err())
        .collect();
    say(&format!(
        "{} configurations tried, {refused} of them refused by Codex and model for {} kinds of reasons, {apart} not \
         compared, {} disagreements",
        outcomes.len(),
        reasons.len(),
        different.len()
    ));
    if std::env::var_os("CODEXGATE_REASONS").is_some() {
        for (reason, count) in &reasons {
            say(&format!("  {count:4} {reason}"));
        }
    }
    for verdict in outcomes.iter().flatten() {
        if let Verdict::Apart(why) = verdict {
            say(&format!("  not compared: {why}"));
        }
    }
    let shown: Vec<&str> = different.iter().map(|text| text.as_str()).collect();
    assert!(different.is_empty(), "\n{}", shown.join("\n"));
    assert!(refused * 10 > outcomes.len(), "hardly a mistake among them");
    assert!(
        refused * 10 < outcomes.len() * 6,
        "hardly one that starts among them"
    );
}

/// The number that a variable holds.
pub fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable}={text} is no number")),
    )
}

/// Makes a disagreement small, writes it down and says what it is.
fn report(
    worker: &mut Worker,
    seed: u64,
    scenario: &Scenario,
    differences: &[String],
    question: Question,
    small: bool,
) -> String {
    if !small {
        return format!("seed {seed}: {}", differences.join("; "));
    }
    let smallest = shrink::shrink(scenario, |candidate| {
        let Verdict::Differ(now) = agree::judge(worker, candidate, question) else {
            return false;
        };
        // The same disagreement, not another one met on the way.
        now.iter().any(|now| {
            differences
                .iter()
                .any(|old| agree::field(old) == agree::field(now))
        })
    });
    let folder = write_down(worker, seed, &smallest);
    let Verdict::Differ(now) = agree::judge(worker, &smallest, question) else {
        return format!(
            "seed {seed}: differs now and then: {}",
            differences.join("; ")
        );
    };
    format!(
        "seed {seed}, small in {}:\n    {}",
        folder.display(),
        now.join("\n    ")
    )
}

fn write_down(worker: &mut Worker, seed: u64, scenario: &Scenario) -> PathBuf {
    let top = std::env::var_os("CODEXGATE_DISAGREEMENTS").map_or_else(
        || Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("disagreements"),
        PathBuf::from,
    );
    let folder = top.join(format!("seed-{seed}"));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("what was written before can go");
    }
    scenario.write(&folder);
    let write = |name: &str, answer: &serde_json::Value| {
        let text = serde_json::to_string_pretty(answer).expect("it is JSON");
        std::fs::write(folder.join(name), text + "\n").expect("the folder was just made");
    };
    if let Ok(answer) = worker.ask(scenario, Question::Everything) {
        write("expected.json", &answer["codex"]);
        write("model.json", &answer["model"]);
        write("model-exec.json", &answer["model_exec"]);
    }
    folder
}
