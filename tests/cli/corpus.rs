//! Real configurations, where the machine has them: `$CODEXGATE_CORPUS`. They are no part of the
//! project, and nothing of them is printed but names.

use std::path::{Path, PathBuf};

use crate::support::{Sandbox, bare_command};

fn corpus() -> Option<PathBuf> {
    std::env::var_os("CODEXGATE_CORPUS").map(PathBuf::from)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the corpus is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

#[test]
fn lint_judges_every_real_file() {
    let Some(corpus) = corpus() else {
        // It says so, since a test that saw nothing proves nothing.
        println!("no $CODEXGATE_CORPUS: nothing was read");
        return;
    };
    let sandbox = Sandbox::new();
    for (folder, name) in [
        ("", "config.toml"),
        ("requirements", "requirements.toml"),
        ("hooks", "hooks.json"),
        ("rules", "rules/default.rules"),
    ] {
        let mut seen = 0;
        for file in files(&corpus.join(folder)) {
            if file.extension().is_some_and(|suffix| suffix == "tsv") {
                continue;
            }
            let number = file
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            let content = std::fs::read(&file).expect("it is there");
            sandbox.write(&format!("project/{folder}{number}/.codex/{name}"), content);
            seen += 1;
        }
        assert!(seen > 0, "{folder}: the corpus has such files");
    }
    for format in ["text", "json"] {
        let mut command = bare_command();
        command.current_dir(sandbox.path("project"));
        let output = command
            .args(["lint", "--format", format])
            .output()
            .expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{stderr}");
        assert!(stderr.is_empty(), "{stderr}");
    }
}
