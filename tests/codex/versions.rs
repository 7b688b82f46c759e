//! What other versions of Codex answer.
//!
//! `tests/fixtures/versions.tsv` says where a version answers otherwise than `expected.json`,
//! which is the pinned version's. Each version is installed beside the others in
//! `target/codex-versions` (400 MB each) and asked everything. `CODEXGATE_VERSIONS="0.172.0"`
//! asks others: a version that the table does not know is compared with the pinned one, so what
//! is printed is what changed. `CODEXGATE_RECORD=1` writes the table's lines anew.

mod document;

use crate::ask;
use crate::program::{self, say};
use crate::recorded::compare::{Difference, Table};
use crate::recorded::{self, all, folder, name};
use crate::worker;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The versions of the table, beside the pinned one: each changed something (see the table).
const VERSIONS: &str = "0.134.0 0.147.0 0.154.0 0.160.1";

/// What an installation needs, with room to unpack.
const NEEDED: u64 = 1 << 30;

#[test]
#[ignore = "installs 400 MB a version and asks for minutes; `just versions` runs it"]
fn other_versions_answer_as_the_table_says() {
    if let Err(why) = worker::possible() {
        program::skip("other_versions_answer_as_the_table_says", &why);
        return;
    }
    let versions = std::env::var("CODEXGATE_VERSIONS").unwrap_or_else(|_| VERSIONS.to_owned());
    let record = std::env::var_os("CODEXGATE_RECORD").is_some();
    let mut failed = BTreeSet::new();
    for version in versions.split_whitespace() {
        let codex = installed(version);
        let table = if record {
            Table::default()
        } else {
            Table::read(&table_path())
        };
        let different = ask_all(&codex, version, &table);
        if record {
            write_lines(version, &different);
        } else if !different.is_empty() {
            failed.insert(version.to_owned());
        }
    }
    assert!(
        failed.is_empty(),
        "these answer otherwise than the table says: {failed:?}"
    );
}

/// Where the table lies: beside the scenarios.
pub fn table_path() -> PathBuf {
    folder().with_file_name("versions.tsv")
}

/// What one version answers otherwise than recorded, by scenario.
fn ask_all(codex: &Path, version: &str, table: &Table) -> Vec<(String, Vec<Difference>)> {
    let said = ask::version(codex);
    assert_eq!(said, version, "the wrong version is installed");
    let folders = all(&folder());
    let different: Vec<(String, Vec<Difference>)> =
        worker::each(codex, &folders, |worker, folder| {
            (
                name(folder),
                recorded::ask_twice(worker, folder, table, version).differences,
            )
        })
        .into_iter()
        .filter(|(_, differences)| !differences.is_empty())
        .collect();
    let known = if table.versions().iter().any(|known| known == version) {
        "as the table says"
    } else {
        "as the pinned version"
    };
    say(&format!(
        "codex {version}: {} scenarios, {} answered {known}",
        folders.len(),
        folders.len() - different.len()
    ));
    for (name, differences) in &different {
        for difference in differences {
            say(&format!("  {name}: {difference}"));
        }
    }
    different
}

/// The program of a version, installed if it is not there.
fn installed(version: &str) -> PathBuf {
    let folder = cache().join(version);
    let start = folder.join("node_modules/.bin/codex");
    if let Some(codex) = program::native(&start) {
        return codex;
    }
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    let room = rustix::fs::statvfs(&folder).expect("it was just made");
    let free = room.f_bavail * room.f_frsize;
    assert!(
        free > NEEDED,
        "{} has {free} bytes free, an installation needs {NEEDED}",
        folder.display()
    );
    let done = Command::new("npm")
        .args([
            "install",
            "--no-audit",
            "--no-fund",
            "--no-save",
            "--loglevel=error",
            "--prefix",
        ])
        .arg(&folder)
        .arg(format!("@openai/codex@{version}"))
        .status();
    assert!(
        done.is_ok_and(|status| status.success()),
        "npm cannot install @openai/codex@{version}"
    );
    program::native(&start).unwrap_or_else(|| panic!("no program below {}", folder.display()))
}

/// Where versions are kept between runs.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("codex-versions")
}

/// Puts the lines of `version` into the table, in place of those that were there.
fn write_lines(version: &str, different: &[(String, Vec<Difference>)]) {
    let path = table_path();
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    let of_version = |line: &&str| line.split('\t').nth(1) == Some(version);
    let mut lines: Vec<String> = old
        .lines()
        .filter(|line| !of_version(line))
        .map(str::to_owned)
        .collect();
    for (name, differences) in different {
        for difference in differences {
            lines.push(format!(
                "{name}\t{version}\t{}\t{}",
                difference.pointer,
                difference.new_text()
            ));
        }
    }
    let head = lines
        .iter()
        .take_while(|line| line.starts_with('#') || line.starts_with("scenario\t"))
        .count();
    lines[head..].sort();
    lines.retain(|line| !line.starts_with("# Asked"));
    let today = Command::new("date")
        .args(["-u", "+%F"])
        .output()
        .expect("a system has `date`");
    let today = String::from_utf8_lossy(&today.stdout).trim().to_owned();
    lines.insert(0, format!("# Asked on {today}."));
    std::fs::write(&path, lines.join("\n") + "\n").expect("the table is writable");
}
