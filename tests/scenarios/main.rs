//! Each recorded answer of the real Codex, compared with the model.
//!
//! `gaps.tsv` lists what the model does not know, field by field, each with the reason. A gap that
//! has closed fails the test as well, so that the list stays true.

mod compare;
mod scenario;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use scenario::Scenario;

/// `scenario TAB field TAB reason`.
fn gaps() -> BTreeMap<(String, String), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/gaps.tsv");
    let text = fs::read_to_string(path).expect("the list of gaps is there");
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let mut parts = line.splitn(3, '\t').map(str::to_owned);
            let mut next = || parts.next().expect("a line of gaps has three parts");
            ((next(), next()), next())
        })
        .collect()
}

fn folders() -> Vec<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scenarios");
    let mut found: Vec<PathBuf> = fs::read_dir(top)
        .expect("the scenarios are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.join("expected.json").exists())
        .collect();
    found.sort();
    found
}

#[test]
fn the_model_answers_every_scenario_as_codex_does() {
    let gaps = gaps();
    let wanted = std::env::var("SCENARIO").ok();
    let mut compared = 0;
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
        let scenario = Scenario::read(&folder);
        for (field, difference) in compare::compare(&scenario, codexgate::codex::Version::default())
        {
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
    println!("{compared} fields compared, {} known gaps", gaps.len());
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(
        closed.is_empty(),
        "no gaps any more:\n{}",
        closed.join("\n")
    );
    if wanted.is_none() {
        let unknown: Vec<_> = gaps.keys().filter(|key| !seen.contains(key)).collect();
        assert!(unknown.is_empty(), "no such field: {unknown:?}");
    }
}
