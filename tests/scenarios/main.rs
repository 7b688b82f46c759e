//! Each recorded answer of the real Codex, compared with the model.
//!
//! `gaps.tsv` lists what the model does not know, field by field, each with the reason. A gap that
//! has closed fails the test as well, so that the list stays true.
//!
//! `SCENARIO=name` runs those with `name` in theirs, `SCENARIOS=folder` those of another folder,
//! such as one that was just recorded.

mod compare;
mod scenario;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use codexgate::codex::version::{self, Version};
use scenario::Scenario;
use serde_json::Value;

/// `version TAB scenario TAB field TAB reason`.
fn gaps(version: Version) -> BTreeMap<(String, String), String> {
    let version = version.to_string();
    let mut found = BTreeMap::new();
    for parts in table("tests/scenarios/gaps.tsv", 4) {
        if parts[0] == version {
            found.insert((parts[1].clone(), parts[2].clone()), parts[3].clone());
        }
    }
    found
}

/// The lines of a table with `width` columns.
fn table(path: &str, width: usize) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = fs::read_to_string(path).expect("the table is there");
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let parts: Vec<String> = line.splitn(width, '\t').map(str::to_owned).collect();
            assert_eq!(parts.len(), width, "{line}");
            parts
        })
        .collect()
}

/// What `version` answers otherwise: scenario, JSON pointer, value.
fn differences(version: Version) -> Vec<(String, String, Option<Value>)> {
    let version = version.to_string();
    table("tests/fixtures/versions.tsv", 4)
        .into_iter()
        .filter(|parts| parts[1] == version)
        .map(|parts| {
            let value = (parts[3] != "(absent)")
                .then(|| serde_json::from_str(&parts[3]).expect("a value of JSON"));
            (parts[0].clone(), parts[2].clone(), value)
        })
        .collect()
}

/// Puts `value` where `pointer` leads, making objects on the way.
fn apply(expected: &mut Value, pointer: &str, value: Option<&Value>) {
    let mut parts: Vec<String> = pointer
        .split('/')
        .skip(1)
        .map(|part| part.replace("~1", "/").replace("~0", "~"))
        .collect();
    let last = parts.pop().expect("a pointer has parts");
    let mut place = expected;
    for part in parts {
        if !place[&part].is_object() {
            place[&part] = serde_json::json!({});
        }
        place = &mut place[&part];
    }
    let members = place.as_object_mut().expect("an object");
    match value {
        Some(value) => members.insert(last, value.clone()),
        None => members.remove(&last),
    };
}

fn folders() -> Vec<PathBuf> {
    let top = std::env::var_os("SCENARIOS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scenarios"),
        PathBuf::from,
    );
    let mut found: Vec<PathBuf> = fs::read_dir(top)
        .expect("the scenarios are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.join("expected.json").exists())
        .collect();
    found.sort();
    found
}

fn compare_all(version: Version) {
    let gaps = gaps(version);
    let differences = differences(version);
    let newest_only: BTreeSet<String> = table("tests/scenarios/newest_only.txt", 1)
        .into_iter()
        .flatten()
        .collect();
    let wanted = std::env::var("SCENARIO").ok();
    let (mut compared, mut scenarios) = (0, 0);
    let mut seen = Vec::new();
    let mut wrong = Vec::new();
    let mut closed = Vec::new();
    for folder in folders() {
        let name = folder
            .file_name()
            .expect("a folder has a name")
            .to_string_lossy()
            .into_owned();
        if wanted.as_ref().is_some_and(|wanted| !name.contains(wanted)) {
            continue;
        }
        if version != version::NEWEST && newest_only.contains(&name) {
            continue;
        }
        scenarios += 1;
        let mut scenario = Scenario::read(&folder);
        for (_, pointer, value) in differences.iter().filter(|(known, ..)| *known == name) {
            apply(&mut scenario.expected, pointer, value.as_ref());
        }
        for (field, difference) in compare::compare(&name, &scenario, version) {
            compared += 1;
            let key = (name.clone(), field.to_owned());
            match (difference, gaps.contains_key(&key)) {
                (Some(difference), false) => wrong.push(format!("{name}: {field}: {difference}")),
                (None, true) => closed.push(format!("{name}: {field}")),
                _ => {}
            }
            seen.push(key);
        }
    }
    let is_whole = wanted.is_none() && std::env::var_os("SCENARIOS").is_none();
    if is_whole {
        assert!(
            scenarios >= 470 && compared > 5_000,
            "{version}: only {scenarios} scenarios and {compared} fields"
        );
    }
    assert!(
        wrong.is_empty(),
        "{version}: {} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(
        closed.is_empty(),
        "{version}: no gaps any more:\n{}",
        closed.join("\n")
    );
    if is_whole {
        let unknown: Vec<_> = gaps.keys().filter(|key| !seen.contains(key)).collect();
        assert!(unknown.is_empty(), "{version}: no such field: {unknown:?}");
    }
}

#[test]
fn the_model_answers_every_scenario_as_codex_does() {
    compare_all(version::NEWEST);
}

#[test]
fn the_model_answers_as_0_160_does() {
    compare_all(version::ASKED[3]);
}

#[test]
fn the_model_answers_as_0_154_does() {
    compare_all(version::ASKED[2]);
}

#[test]
fn the_model_answers_as_0_147_does() {
    compare_all(version::ASKED[1]);
}

#[test]
fn the_model_answers_as_0_134_does() {
    compare_all(version::ASKED[0]);
}
