//! What is recorded about Codex stays true: the scenarios asked again.

pub mod compare;

use crate::ask::Question;
use crate::program::{self, say};
use crate::scenario::Scenario;
use crate::worker::{self, Worker};
use compare::{Difference, Table};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Each one of so many scenarios is asked in every run; all of them by the ignored test.
const SAMPLE: usize = 10;

/// Where the recorded scenarios lie.
pub fn folder() -> PathBuf {
    std::env::var_os("CODEXGATE_SCENARIOS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scenarios"),
        PathBuf::from,
    )
}

/// The folders of all scenarios that have an answer, sorted.
pub fn all(top: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(top)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|folder| folder.join("expected.json").is_file())
        .collect();
    found.sort();
    found
}

#[test]
fn a_sample_of_the_scenarios_is_what_codex_answers() {
    let Some(codex) = program::find_for("a_sample_of_the_scenarios_is_what_codex_answers") else {
        return;
    };
    let sample: Vec<PathBuf> = all(&folder()).into_iter().step_by(SAMPLE).collect();
    verify(&codex, &sample);
}

#[test]
#[ignore = "minutes; `just oracle` runs it"]
fn every_scenario_is_what_codex_answers() {
    let Some(codex) = program::find_for("every_scenario_is_what_codex_answers") else {
        return;
    };
    let only = std::env::var("CODEXGATE_ONLY").unwrap_or_default();
    let mut folders = all(&folder());
    folders.retain(|folder| name(folder).contains(&only));
    verify(&codex, &folders);
}

fn verify(codex: &Path, folders: &[PathBuf]) {
    let version = crate::ask::version(codex);
    let table = Table::read(&folder().with_file_name("versions.tsv"));
    let different: Vec<String> = worker::each(codex, folders, |worker, folder| {
        let differences = ask_twice(worker, folder, &table, &version);
        let mut lines = vec![name(folder)];
        lines.extend(differences.iter().map(Difference::to_string));
        (lines.len() > 1).then(|| lines.join("\n    "))
    })
    .into_iter()
    .flatten()
    .collect();
    let count = folders.len();
    say(&format!(
        "codex {version}: {count} scenarios, {} mismatches",
        different.len()
    ));
    assert!(different.is_empty(), "\n{}", different.join("\n"));
}

/// The name of a scenario.
pub fn name(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// What Codex answers otherwise than recorded. Asked again before it counts: a busy machine may
/// end a thread before its warnings have come.
pub fn ask_twice(
    worker: &mut Worker,
    folder: &Path,
    table: &Table,
    version: &str,
) -> Vec<Difference> {
    let text = std::fs::read(folder.join("expected.json")).expect("it was there");
    let mut expected: Value = serde_json::from_slice(&text).expect("it is JSON");
    table.apply(&name(folder), version, &mut expected);
    let scenario = Scenario::read(folder);
    let ask = |worker: &mut Worker| match worker.ask(&scenario, Question::Everything) {
        Ok(answer) => compare::differences(&expected, &answer["codex"]),
        Err(why) => vec![Difference::failure(&why)],
    };
    let first = ask(worker);
    if first.is_empty() { first } else { ask(worker) }
}
