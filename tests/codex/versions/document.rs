//! `docs/codex-versions.md`: what other versions do otherwise, made from the table.

use super::table_path;
use crate::recorded::compare::{Change, Table};
use crate::recorded::{all, folder, name};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// The document, below the project.
const DOCUMENT: &str = "docs/codex-versions.md";

/// The command that makes it anew.
const AGAIN: &str = "UPDATE=1 cargo test --test codex versions::document";

#[test]
fn the_document_says_what_the_table_says() {
    let wanted = document(&Table::read(&table_path()), &scenarios());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(DOCUMENT);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, wanted).expect("docs is writable");
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "{DOCUMENT} is out of date: run `{AGAIN}`");
}

/// What is asked by each scenario, and what the pinned version answers.
fn scenarios() -> BTreeMap<String, (String, Value)> {
    let read = |path: &Path| -> Value {
        let text = std::fs::read(path).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    };
    all(&folder())
        .iter()
        .map(|folder| {
            let about = read(&folder.join("scenario.json"))["about"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            (name(folder), (about, read(&folder.join("expected.json"))))
        })
        .collect()
}

fn document(table: &Table, scenarios: &BTreeMap<String, (String, Value)>) -> String {
    let versions = table.versions();
    let pinned = scenarios
        .values()
        .find_map(|(_, expected)| expected["version"].as_str())
        .unwrap_or("the pinned version");
    let mut rows: BTreeMap<&str, BTreeMap<&str, String>> = BTreeMap::new();
    let mut asked: BTreeSet<(&str, &str)> = BTreeSet::new();
    for ((scenario, version), changes) in table.all() {
        asked.insert((version, scenario));
        let expected = scenarios.get(scenario).map(|(_, expected)| expected);
        let cell = cell(changes, expected);
        if !cell.is_empty() {
            rows.entry(scenario).or_default().insert(version, cell);
        }
    }
    let mut text = format!(
        "# What other versions of Codex do\n\n\
         Made from `tests/fixtures/versions.tsv` by `{AGAIN}`; do not edit. {}\n\n\
         Each version was asked all {} scenarios of `tests/fixtures/scenarios`, whose answers are those of {pinned}. \
         `just versions` asks again.\n\n\
         | version | the same | only in wording | in what it does |\n|---|---|---|---|\n",
        table.date(),
        scenarios.len(),
    );
    for version in &versions {
        let differ = asked.iter().filter(|(known, _)| known == version).count();
        let does = rows
            .values()
            .filter(|row| row.contains_key(version.as_str()))
            .count();
        let same = scenarios.len().saturating_sub(differ);
        let _ = writeln!(text, "| {version} | {same} | {} | {does} |", differ - does);
    }
    let _ = write!(
        text,
        "\nWording: texts of errors and warnings, and which of them there are; which files of Codex's home it writes; what \
         `configRequirements/read` lists; layers that are listed.\n\n\
         ## Where one does otherwise than {pinned}\n\n| scenario | what it asks |"
    );
    for version in &versions {
        let _ = write!(text, " {version} |");
    }
    text.push_str("\n|---|---|");
    text.push_str(&"---|".repeat(versions.len()));
    text.push('\n');
    for (scenario, row) in &rows {
        let about = scenarios
            .get(*scenario)
            .map_or("", |(about, _)| about.as_str());
        let _ = write!(
            text,
            "| `{scenario}` | {} |",
            about.replace('|', "\\|").replace('<', "&lt;")
        );
        for version in &versions {
            let _ = write!(
                text,
                " {} |",
                row.get(version.as_str()).map_or("", String::as_str)
            );
        }
        text.push('\n');
    }
    text
}

/// What a version does otherwise, in a few words.
fn cell(changes: &[Change], expected: Option<&Value>) -> String {
    let starts = changes.iter().find(|(pointer, _)| pointer == "/starts");
    if let Some((_, value)) = starts {
        let word = if value.as_ref() == Some(&Value::Bool(true)) {
            "starts"
        } else {
            "does not start"
        };
        return word.to_owned();
    }
    let started = expected.is_none_or(|expected| expected["starts"] == true);
    let fields: BTreeSet<&str> = changes
        .iter()
        .filter_map(|(pointer, _)| field(pointer, started))
        .collect();
    Vec::from_iter(fields).join(", ")
}

/// The word for a field that says what Codex does; none for wording.
fn field(pointer: &str, started: bool) -> Option<&'static str> {
    let steps: Vec<&str> = pointer.split('/').skip(1).collect();
    match *steps.as_slice() {
        ["cli", "exec", "starts" | "approval" | "sandbox"] => Some("`exec`"),
        ["cli", "mcp_list", "starts"] => Some("`mcp list`"),
        ["cli", "prompt", "starts" | "approval" | "sandbox"] => Some("`-p`"),
        // Older versions list the memories folder in Codex's home.
        ["sandbox", "writableRoots"] => None,
        ["sandbox" | "permission_profile", ..] => Some("sandbox"),
        ["approval_policy", ..] => Some("approvals"),
        ["approvals_reviewer"] => Some("reviewer"),
        // A word for "this name cannot be started"; the names are in the scenario.
        ["mcp_servers", _, "startup_error"] => Some("server starts"),
        ["mcp_servers", ..] => Some("servers"),
        ["origins", ..] => Some("origins"),
        ["hooks", ..] if started => Some("hooks"),
        ["execpolicy", ..] => Some("rules"),
        ["mcp_add", "file" | "loads_after" | "mode"] => Some("`mcp add`"),
        _ => None,
    }
}
