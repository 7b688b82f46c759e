//! Generated files are checked in; here they are made again and compared.
//!
//! After a change of a command or flag: `UPDATE=1 cargo test --test generated` writes them.

use std::path::Path;

use clap_complete::Shell;
use codexgate::lint::registry::RULES;
use codexgate::report::{rule, schema};

#[test]
fn completions_are_those_of_the_definition() {
    for shell in [
        Shell::Bash,
        Shell::Zsh,
        Shell::Fish,
        Shell::PowerShell,
        Shell::Elvish,
    ] {
        let mut script = Vec::new();
        let mut definition = codexgate::cli::definition();
        clap_complete::generate(shell, &mut definition, "codexgate", &mut script);
        let name = clap_complete::Generator::file_name(&shell, "codexgate");
        compare(&format!("completions/{name}"), &script);
    }
}

#[test]
fn pages_of_rules_are_those_of_the_registry() {
    compare("docs/rules/README.md", rule::index(RULES).as_bytes());
    for known in RULES {
        let name = format!("docs/rules/{}.md", known.id);
        compare(&name, rule::page(known).as_bytes());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules");
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy();
        let id = name.trim_end_matches(".md");
        let known = id == "README" || RULES.iter().any(|rule| rule.id == id);
        assert!(known, "docs/rules/{name} is about no rule");
    }
}

#[test]
fn schemas_are_those_of_the_program() {
    for name in schema::Name::ALL {
        let file = format!("docs/schema/{}", name.file());
        compare(&file, schema::schema(name).as_bytes());
    }
}

/// Compares the file `name` with what it should hold, or writes it.
fn compare(name: &str, wanted: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    if std::env::var_os("UPDATE").is_some() {
        let folder = path.parent().expect("below the project");
        std::fs::create_dir_all(folder).expect("a folder");
        std::fs::write(&path, wanted).expect("a file");
        return;
    }
    let found = std::fs::read(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "{name} is out of date: run `UPDATE=1 cargo test --test generated`"
    );
}
