//! What is recorded about Codex stays true: the scenarios asked again.

pub mod compare;

use crate::ask::{self, Question};
use crate::generated::agree::{self, Verdict};
use crate::program::{self, say};
use crate::scenario::Scenario;
use crate::worker::{self, Worker};
use compare::{Difference, Table};
use serde_json::Value;
use std::collections::BTreeSet;
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

/// Records what is not recorded yet: folders without an `expected.json` below
/// `CODEXGATE_SCENARIOS`. The newest Codex is what is recorded; others go into `versions.tsv`.
#[test]
#[ignore = "writes; `just record FOLDER` runs it"]
fn record_the_scenarios_that_have_no_answer() {
    let Some(codex) = program::find_for("record_the_scenarios_that_have_no_answer") else {
        return;
    };
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("the scenarios are there")
        .flatten()
        .map(|entry| entry.path())
        .filter(|folder| folder.join("scenario.json").is_file())
        .filter(|folder| !folder.join("expected.json").exists())
        .collect();
    folders.sort();
    let failed: Vec<String> = worker::each(&codex, &folders, |worker, folder| {
        let scenario = Scenario::read(folder);
        let answer = match worker.ask(&scenario, Question::Everything) {
            Ok(answer) => ask::recorded(&scenario, &answer["codex"]),
            Err(why) => return Some(format!("{}: {why}", name(folder))),
        };
        let text = serde_json::to_string_pretty(&answer).expect("it is JSON");
        std::fs::write(folder.join("expected.json"), text + "\n").expect("a folder of ours");
        None
    })
    .into_iter()
    .flatten()
    .collect();
    say(&format!(
        "{} scenarios recorded",
        folders.len() - failed.len()
    ));
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

/// Checks that each scenario is answered by Codex as recorded and by the model as by Codex.
fn verify(codex: &Path, folders: &[PathBuf]) {
    let version = ask::version(codex);
    let table = Table::read(&folder().with_file_name("versions.tsv"));
    let gaps = Gaps::read(&version);
    let different: Vec<String> = worker::each(codex, folders, |worker, folder| {
        let name = name(folder);
        let seen = ask_twice(worker, folder, &table, &version);
        let mut lines: Vec<String> = seen.differences.iter().map(Difference::to_string).collect();
        if !gaps.has(&name, "starts")
            && let Verdict::Differ(found) = agree::app_server(&seen.answer)
        {
            let open = |line: &String| !gaps.has(&name, agree::field(line));
            lines.extend(
                found
                    .iter()
                    .filter(|line| open(line))
                    .map(|line| format!("model: {line}")),
            );
        }
        if !gaps.has(&name, "exec.starts")
            && let Some(line) = agree::exec(&seen.answer)
        {
            lines.push(format!("model: {line}"));
        }
        (!lines.is_empty()).then(|| format!("{name}\n    {}", lines.join("\n    ")))
    })
    .into_iter()
    .flatten()
    .collect();
    let count = folders.len();
    say(&format!(
        "codex {version}: {count} scenarios asked, {} where Codex answers otherwise than recorded or than the model",
        different.len()
    ));
    assert!(count > 0, "no scenarios in {}", folder().display());
    assert!(different.is_empty(), "\n{}", different.join("\n"));
}

/// What the model is known not to know of one version: scenario and field. The table has the
/// reasons.
struct Gaps(BTreeSet<(String, String)>);

impl Gaps {
    fn read(version: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/gaps.tsv");
        let text = std::fs::read_to_string(path).expect("the table is there");
        let pair = |line: &str| {
            let mut fields = line.split('\t').map(str::to_owned);
            (fields.next()? == version).then_some((fields.next()?, fields.next()?))
        };
        Self(text.lines().filter_map(pair).collect())
    }

    fn has(&self, scenario: &str, field: &str) -> bool {
        self.0.contains(&(scenario.to_owned(), field.to_owned()))
    }
}

/// The name of a scenario.
pub fn name(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// What was seen of one scenario.
pub struct Seen {
    /// What Codex answers otherwise than recorded.
    pub differences: Vec<Difference>,
    /// The whole answer.
    pub answer: Value,
}

/// Asks Codex and compares with what is recorded. Asked again before a difference counts: a busy
/// machine may end a thread before its warnings have come.
pub fn ask_twice(worker: &mut Worker, folder: &Path, table: &Table, version: &str) -> Seen {
    let text = std::fs::read(folder.join("expected.json")).expect("it was there");
    let mut expected: Value = serde_json::from_slice(&text).expect("it is JSON");
    table.apply(&name(folder), version, &mut expected);
    let scenario = Scenario::read(folder);
    let mut ask = || match worker.ask(&scenario, Question::Everything) {
        Ok(answer) => Seen {
            differences: compare::differences(
                &expected,
                &ask::recorded(&scenario, &answer["codex"]),
            ),
            answer,
        },
        Err(why) => Seen {
            differences: vec![Difference::failure(&why)],
            answer: Value::Null,
        },
    };
    let first = ask();
    if first.differences.is_empty() {
        first
    } else {
        ask()
    }
}
