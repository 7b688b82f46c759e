//! `codexgate explain` and `codexgate rules`.

use crate::support::{Sandbox, snapshot};

#[test]
fn a_rule_is_explained_with_its_examples() {
    let sandbox = Sandbox::new();
    snapshot("explain/syntax", &sandbox.run(["explain", "syntax"]));
    snapshot("explain/encoding", &sandbox.run(["explain", "encoding"]));
}

#[test]
fn a_name_that_no_rule_has_is_a_usage_error() {
    let sandbox = Sandbox::new();
    assert_eq!(
        sandbox.run(["explain", "sintax"]),
        "--- stderr\nerror: no rule is named `sintax`\nhelp: did you mean `syntax`?\n--- exit 2\n"
    );
    assert_eq!(
        sandbox.run(["explain", "everything"]),
        "--- stderr\nerror: no rule is named `everything`\nhelp: `codexgate rules` lists them\n--- exit 2\n"
    );
}

#[test]
fn the_list_names_every_rule_as_the_json_does() {
    let sandbox = Sandbox::new();
    let list = sandbox.run(["rules"]);
    let json = sandbox.run(["rules", "--format", "json"]);
    let json = json.split("\n---").next().expect("a line");
    let json: serde_json::Value = serde_json::from_str(json).expect("it is JSON");
    let ids: Vec<&str> = json["rules"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|rule| rule["id"].as_str().expect("a name"))
        .collect();
    let listed: Vec<&str> = list
        .lines()
        .take_while(|line| !line.starts_with("---"))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(ids, listed);
    for id in ids {
        let text = sandbox.run(["explain", id]);
        assert!(text.ends_with("--- exit 0\n"), "{text}");
        for part in [id, "\nbad\n", "\ngood\n"] {
            assert!(text.contains(part), "{id}: {part:?} in {text}");
        }
    }
}

#[test]
fn every_rule_of_the_catalogue_is_there() {
    let wanted: Vec<&str> = include_str!("../fixtures/rules.txt").lines().collect();
    let sandbox = Sandbox::new();
    let output = sandbox
        .command()
        .args(["rules", "--format", "json"])
        .output()
        .expect("it runs");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rules = json["rules"].as_array().expect("a list");
    let ids: Vec<&str> = rules
        .iter()
        .filter_map(|rule| rule["id"].as_str())
        .collect();
    assert_eq!(ids, wanted);
}
