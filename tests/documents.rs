//! Keeps the documents true: README's first command runs as it stands there, what they name exists.
//!
//! It reads the Markdown files of the repository. It does not know whether a sentence is right,
//! only whether a link, a command, a recipe or a test that it names is there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

#[test]
fn the_first_command_of_the_readme_shows_a_diff_and_writes_nothing() {
    let commands = readme_commands();
    let line = commands.first().expect("README has commands");
    let arguments = line
        .strip_prefix("cargo run --quiet -- ")
        .expect("it builds from a fresh clone");
    assert!(
        !arguments.contains(['\'', '"', '\\', '$', '|', '>']),
        "plain words: {line}"
    );

    let home = tempfile::tempdir().expect("a temporary folder");
    let before = content(&root().join("examples"));
    let output = Command::new(env!("CARGO_BIN_EXE_codexgate"))
        .args(arguments.split_whitespace())
        .current_dir(root())
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::null())
        .output()
        .expect("it runs");

    let shown = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{shown}\n{said}");
    assert!(shown.contains("\n+++ "), "a diff:\n{shown}\n{said}");
    assert!(shown.contains("\n@@ "), "a diff:\n{shown}\n{said}");
    assert!(
        shown
            .lines()
            .any(|l| l.starts_with('+') && !l.starts_with("+++"))
    );
    assert!(
        !shown
            .lines()
            .any(|l| l.starts_with('-') && !l.starts_with("---"))
    );
    assert_eq!(content(&root().join("examples")), before);
    assert_eq!(content(home.path()), []);
}

#[test]
fn commands_that_documents_name_exist() {
    let known: Vec<String> = codexgate::cli::definition()
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    for document in [
        "README.md",
        "CHANGELOG.md",
        "examples/sample-project/README.md",
    ] {
        for part in read(document).split('`').skip(1) {
            for line in part.lines() {
                let words = line
                    .strip_prefix("codexgate ")
                    .or_else(|| line.strip_prefix("cargo run --quiet -- "));
                let Some(name) = words.and_then(|words| words.split_whitespace().next()) else {
                    continue;
                };
                assert!(
                    name.starts_with('-') || known.iter().any(|k| k == name),
                    "{document}: `{line}`"
                );
            }
        }
    }
}

#[test]
fn ci_runs_the_test_command_of_the_readme() {
    let commands = readme_commands();
    let test = commands.last().expect("README has commands");
    let ci = read(".ci/run");
    assert!(
        ci.lines()
            .any(|line| line.starts_with(&format!("step {test} "))),
        ".ci/run runs `{test}`"
    );
}

#[test]
fn links_lead_somewhere() {
    for document in documents() {
        let folder = document.parent().expect("a file has a folder");
        let text = fs::read_to_string(&document).expect("a document is UTF-8");
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            if target.contains("://") || target.starts_with('#') {
                continue;
            }
            let path = target.split('#').next().unwrap_or(target);
            assert!(
                folder.join(path).exists(),
                "{}: `{target}` leads nowhere",
                document.display()
            );
        }
    }
}

#[test]
fn recipes_that_documents_name_are_in_the_justfile() {
    let justfile = read("justfile");
    for document in documents() {
        let text = fs::read_to_string(&document).expect("a document is UTF-8");
        for part in text
            .split(['`', '\n'])
            .filter_map(|part| part.strip_prefix("just "))
        {
            let name = part.split_whitespace().next().unwrap_or_default();
            let there = justfile
                .lines()
                .any(|line| line.split([' ', ':']).next() == Some(name) && line.contains(':'));
            assert!(there, "{}: `just {name}`", document.display());
        }
    }
}

#[test]
fn each_attack_names_a_test_that_exists() {
    let sources: String = files(&root().join("src"), "rs")
        .into_iter()
        .chain(files(&root().join("tests"), "rs"))
        .map(|path| fs::read_to_string(path).expect("a source is UTF-8"))
        .collect();
    let mut rows = 0;
    for line in read("docs/attacks.md")
        .lines()
        .filter(|line| line.starts_with("| "))
    {
        if line.starts_with("| attack |") {
            continue;
        }
        let shown = line
            .trim_end_matches('|')
            .rsplit('|')
            .next()
            .unwrap_or_default();
        let names: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test: {line}");
        rows += 1;
        for name in names {
            let name = name.rsplit("::").next().unwrap_or(name);
            assert!(
                sources.contains(&format!("fn {name}(")),
                "no test `{name}`: {line}"
            );
        }
    }
    assert!(rows > 0, "docs/attacks.md has rows");
}

/// The lines of README's first `sh` block: the main job, then the tests.
fn readme_commands() -> Vec<String> {
    read("README.md")
        .split_once("```sh\n")
        .and_then(|(_, rest)| rest.split_once("```"))
        .map(|(block, _)| block.lines().map(str::to_owned).collect())
        .expect("README has a block of commands")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The Markdown files at the top and below `docs`.
fn documents() -> Vec<PathBuf> {
    let top = fs::read_dir(root()).expect("the root can be listed");
    top.map(|entry| entry.expect("the root can be listed").path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .chain(files(&root().join("docs"), "md"))
        .collect()
}

/// Each file and folder below `folder`, with its bytes and when it was changed.
fn content(folder: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder can be listed") {
            let path = entry.expect("a folder can be listed").path();
            let changed = path.metadata().and_then(|m| m.modified());
            let bytes = if path.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).expect("a file can be read")
            };
            found.push((path, bytes, changed.expect("has a time")));
        }
    }
    found.sort();
    found
}

/// All files below `folder` whose name ends in `extension`.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder can be listed") {
            let entry = entry.expect("a folder can be listed");
            if entry.file_type().expect("has a type").is_dir() {
                if entry.file_name() != "node_modules" {
                    folders.push(entry.path());
                }
            } else if entry.path().extension().is_some_and(|e| e == extension) {
                found.push(entry.path());
            }
        }
    }
    found
}
