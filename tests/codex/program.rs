//! Which Codex the tests run, and what happens where there is none.

use std::io::Write;
use std::path::{Path, PathBuf};

/// The command that installs the pinned Codex.
const INSTALL: &str = "npm ci --prefix tests/codex";

/// Codex for `test`; `None`, with a word about it, where a test has to be skipped.
///
/// # Panics
/// Under `CI=true`, where a skipped test would look like a passed one.
pub fn find_for(test: &str) -> Option<PathBuf> {
    match find().and_then(|codex| crate::worker::possible().map(|()| codex)) {
        Ok(codex) => Some(codex),
        Err(why) => {
            skip(test, &why);
            None
        }
    }
}

/// Says that `test` was skipped, or fails under `CI=true`.
pub fn skip(test: &str, why: &str) {
    assert!(
        std::env::var_os("CI").is_none_or(|value| value != "true"),
        "{test}: {why}"
    );
    say(&format!("skipped {test}: {why}"));
}

/// Prints a line past the capture of test output, which would hide it in a passed test.
pub fn say(line: &str) {
    // Nothing is lost with a closed stream but the word itself.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// `$CODEX`, else the pinned one below `tests/codex`.
fn find() -> Result<PathBuf, String> {
    if let Some(given) = std::env::var_os("CODEX").filter(|value| !value.is_empty()) {
        return native(Path::new(&given))
            .ok_or_else(|| format!("$CODEX names no program: {}", given.display()));
    }
    let pinned = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/codex/node_modules/.bin/codex");
    native(&pinned).ok_or_else(|| {
        format!("there is no Codex: install it with `{INSTALL}`, or name one with $CODEX")
    })
}

/// The native program behind `path`. npm's start script is looked through: a signal to the script
/// would leave the real program running.
pub fn native(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    if path.extension().is_none_or(|ending| ending != "js") {
        return path.is_file().then_some(path);
    }
    let package = path.parent()?.parent()?;
    let beside = package.parent()?;
    let inside = package.join("node_modules/@openai");
    [beside, &inside]
        .iter()
        .flat_map(|folder| children(folder))
        .filter(|folder| {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("codex-")
        })
        .chain([package.to_path_buf()])
        .flat_map(|folder| children(&folder.join("vendor")))
        .flat_map(|target| [target.join("bin/codex"), target.join("codex/codex")])
        .find(|program| program.is_file())
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}
