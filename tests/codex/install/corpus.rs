//! The same over real configurations of other people, which are no part of this repository.

use super::{Place, assert_demo_beside_the_old};
use crate::program::{self, say};
use crate::worker::{self, Worker};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// What happened to one file.
enum Outcome {
    /// Codex reads the original, and the result with it.
    Kept,
    /// Codex does not read the original; the change was made and taken back.
    Unread,
    /// codexgate refused, with a reason, and left the file.
    Refused {
        /// The reason.
        why: String,
        /// Whether Codex reads the file.
        loads: bool,
    },
}

#[test]
fn every_file_of_the_corpus_still_loads_with_its_servers_and_ours() {
    let test = "every_file_of_the_corpus_still_loads_with_its_servers_and_ours";
    let Some(codex) = program::find_for(test) else {
        return;
    };
    let Some(corpus) = std::env::var_os("CODEXGATE_CORPUS").map(PathBuf::from) else {
        say(&format!(
            "skipped {test}: $CODEXGATE_CORPUS names no folder of real configurations"
        ));
        return;
    };
    let files = files(&corpus);
    assert!(
        !files.is_empty(),
        "{} holds no .toml file",
        corpus.display()
    );
    let outcomes = worker::each(&codex, &files, |worker, file| {
        let checked = catch_unwind(AssertUnwindSafe(|| check(worker, file)));
        checked.map_err(|_| file.file_name().unwrap_or_default().to_owned())
    });
    let mut counts = [0; 3];
    let mut failed = Vec::new();
    for (file, outcome) in files.iter().zip(outcomes) {
        match outcome {
            Ok(Outcome::Kept) => counts[0] += 1,
            Ok(Outcome::Unread) => counts[1] += 1,
            Ok(Outcome::Refused { why, loads }) => {
                counts[2] += 1;
                let name = file.file_name().unwrap_or_default().display();
                let codex = if loads {
                    "Codex reads it"
                } else {
                    "nor does Codex read it"
                };
                say(&format!("  {name}: refused, {codex}: {why}"));
            }
            Err(name) => failed.push(name),
        }
    }
    let [kept, unread, refused] = counts;
    say(&format!(
        "corpus: {} files; {kept} load with old servers and ours, {unread} that Codex does not load came back \
         byte for byte, {refused} refused with a reason, {} failed",
        files.len(),
        failed.len()
    ));
    assert!(failed.is_empty(), "{failed:?}");
    assert!(kept > 0, "no file of the corpus loads in Codex");
}

fn files(corpus: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(corpus)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    found.sort();
    found
}

fn check(worker: &mut Worker, file: &Path) -> Outcome {
    let place = Place::new();
    let config = place.lab.codex_home.join("config.toml");
    let original = std::fs::read(file).expect("the corpus can be read");
    std::fs::write(&config, &original).expect("the lab is writable");
    let before = worker.ask_in(&place.lab.root).expect("Codex answers");
    let loads = before["listed"].is_array() && before["config"].is_object();

    let done = place.install("user");
    if done.code == Some(1) {
        let now = std::fs::read(&config).expect("it was there");
        assert!(now == original, "{}: refused and changed", file.display());
        let why = done
            .stderr
            .lines()
            .find(|line| line.contains("error"))
            .unwrap_or_default();
        assert!(
            !why.is_empty(),
            "{}: refused without a reason",
            file.display()
        );
        return Outcome::Refused {
            why: why.to_owned(),
            loads,
        };
    }
    assert!(
        done.done(),
        "{}: {}{}",
        file.display(),
        done.text(),
        done.stderr
    );
    if loads {
        let after = worker.ask_in(&place.lab.root).expect("Codex answers");
        assert_demo_beside_the_old(&before, &after, "user");
    }
    let done = place.uninstall("user");
    assert!(
        done.done(),
        "{}: {}{}",
        file.display(),
        done.text(),
        done.stderr
    );
    let now = std::fs::read(&config).expect("it was there");
    assert!(
        now == original,
        "{}: not the same bytes after uninstall",
        file.display()
    );
    if loads {
        Outcome::Kept
    } else {
        Outcome::Unread
    }
}
