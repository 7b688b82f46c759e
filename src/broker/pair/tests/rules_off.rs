//! Takes one rule away after the other and looks whether a test that names it notices.

use super::super::rules::{OFF, Rule};
use std::process::Command;

/// Runs the tests of this module once for each rule, without that rule, in a process of its own.
/// A rule whose absence no test of its own notices is listed. Asked for by `just rules-off`.
#[test]
#[ignore = "runs the tests once for each rule; `just rules-off` asks for it"]
fn every_rule_that_is_taken_away_is_missed() {
    let binary = std::env::current_exe().expect("this test");
    let mut unnoticed = Vec::new();
    for rule in Rule::ALL {
        let out = Command::new(&binary)
            .args([
                "broker::pair::tests::",
                "--skip",
                "rules_off",
                "--skip",
                "property",
                "--test-threads=2",
            ])
            .env(OFF, rule.id())
            .output()
            .expect("runs once more");
        let text = String::from_utf8_lossy(&out.stdout);
        let name = format!("::{}_", rule.id().to_lowercase());
        let failed = |line: &&str| line.starts_with("test ") && line.ends_with("FAILED");
        let mut own: Vec<&str> = text
            .lines()
            .filter(failed)
            .filter(|line| line.contains(&name))
            .collect();
        own.sort_unstable();
        let all = text.lines().filter(failed).count();
        match own.first() {
            Some(first) => println!(
                "{:<4} {} ({all} in all)",
                rule.id(),
                first
                    .trim_start_matches("test broker::pair::tests::")
                    .trim_end_matches(" ... FAILED")
            ),
            None => unnoticed.push(format!("{:<4} {} ({all} others)", rule.id(), rule.says())),
        }
    }
    assert!(
        unnoticed.is_empty(),
        "without a test that names it and fails without it:\n{}",
        unnoticed.join("\n")
    );
}

/// Each rule is named by a test, by its name's beginning.
#[test]
fn every_rule_has_a_test_that_names_it() {
    let binary = std::env::current_exe().expect("this test");
    let out = Command::new(binary)
        .args(["broker::pair::tests::", "--list"])
        .output()
        .expect("lists");
    let text = String::from_utf8_lossy(&out.stdout);
    let missing: Vec<&str> = Rule::ALL
        .iter()
        .map(|rule| rule.id())
        .filter(|id| !text.contains(&format!("::{}_", id.to_lowercase())))
        .collect();
    assert!(missing.is_empty(), "without a test: {missing:?}");
}
