//! Asks the real Codex what a scenario means, in the words of `expected.json`.
//!
//! - `starts`, `error`, `approval_policy`, `sandbox`, `origins`, `layers`, `mcp_servers` and
//!   `warnings` are the app server's: the TUI, the editors and the desktop app all use it. It has
//!   no `-p`, `-s`, `--yolo`; what those do is in `cli`.
//! - `layers` and `origins` are read before the thread starts, which may write trust.
//! - Real paths are replaced by the names that scenarios use.
//! - A field without a value is left out, but for `error`.

mod answers;
mod command_line;
mod model;

use crate::app_server::AppServer;
use crate::errors::error_from;
use crate::lab::Lab;
use crate::process::{self, Finished};
use crate::scenario::{Places, Scenario};
use answers::{Answers, add_listed, explain, is_set, origins};
use command_line::Flags;
use model::By;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// How long warnings of a started thread may take to come.
const SETTLE: Duration = Duration::from_millis(300);

/// How much is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// All that `expected.json` records.
    Everything,
    /// The app server and `codex mcp list`.
    AppServer,
    /// The same, and `codex exec`.
    WithExec,
}

impl Question {
    const ALL: [Self; 3] = [Self::Everything, Self::AppServer, Self::WithExec];

    /// Its name on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::AppServer => "app-server",
            Self::WithExec => "with-exec",
        }
    }

    /// The question of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|question| question.word() == word)
    }
}

/// What Codex answers, and what the model says of the same files: `codex` in the words of
/// `expected.json`, `model` and `model_exec` as `codexgate show` prints them.
pub fn scenario(
    codex: &Path,
    scenario: &Scenario,
    root: &Path,
    etc: &Path,
    question: Question,
) -> Value {
    let (lab, real) = scenario.lay_out(root, etc);
    let places = Places::new(&lab, etc);
    let flags = Flags::split(&real.words("args"));
    let version = version(codex);
    let by = match question {
        Question::Everything => By::Program,
        Question::AppServer | Question::WithExec => By::Library,
    };
    // The model first, since Codex may write trust.
    let mut answer = json!({
        "model": model::app_server(by, &lab, &flags, &real, &places, &version),
        "model_exec": model::exec(by, &lab, &flags, &places, &version),
    });
    let result = if question == Question::Everything {
        everything(codex, &lab, &flags, &real, &places, &version)
    } else {
        some(codex, &lab, &flags, &real, question)
    };
    answer["codex"] = finish(result, &places);
    answer
}

fn everything(
    codex: &Path,
    lab: &Lab,
    flags: &Flags,
    real: &Scenario,
    places: &Places,
    version: &str,
) -> Map<String, Value> {
    let mut result = Map::new();
    result.insert("version".to_owned(), json!(version));
    // First: starting a thread may rewrite rules/default.rules.
    if let Some(checks) = command_line::rules(codex, lab, places, real) {
        result.insert("execpolicy".to_owned(), checks);
    }
    let before = snapshot(&lab.codex_home);
    // Before the thread, which may write to the user's file.
    let (cli, listed) = command_line::all(codex, lab, flags);
    let answers = Answers::ask(codex, lab, flags, real, Some(SETTLE));
    answers.describe(&mut result);
    result.insert("cli".to_owned(), cli);
    add_listed(&mut result, listed.as_deref());
    let changed = changed(&before, &lab.codex_home);
    result.insert("home_files_changed".to_owned(), json!(changed));
    // Last: it rewrites the user's file.
    if let Some(added) = command_line::mcp_add(codex, lab, real) {
        result.insert("mcp_add".to_owned(), added);
    }
    result
}

fn some(
    codex: &Path,
    lab: &Lab,
    flags: &Flags,
    real: &Scenario,
    question: Question,
) -> Map<String, Value> {
    let mut result = Map::new();
    if question == Question::WithExec {
        // Older versions trust the project then, which the app server would see.
        let file = lab.codex_home.join("config.toml");
        let text = std::fs::read(&file).ok();
        let exec = command_line::exec(codex, lab, flags);
        match text {
            Some(text) => std::fs::write(&file, text).expect("the lab is writable"),
            // It may not be there, or be a folder.
            None => drop(std::fs::remove_file(&file)),
        }
        result.insert("cli".to_owned(), json!({ "exec": exec }));
    }
    let listed = command_line::mcp_list(codex, lab, &flags.everywhere);
    Answers::ask(codex, lab, flags, real, None).describe(&mut result);
    add_listed(&mut result, listed.ok().as_deref());
    result
}

/// The servers of a lab, as `codex mcp list --json` and `config/read` give them, and its hooks.
pub fn servers(codex: &Path, lab: &Lab) -> Value {
    let listed = process::run(lab.command(codex).args(["mcp", "list", "--json"]));
    let mut server = AppServer::start(lab.command(codex).arg("app-server"));
    let config = server.initialize().and_then(|_| {
        server.call(
            "config/read",
            &json!({"cwd": lab.cwd, "includeLayers": true}),
        )
    });
    let hooks = server.call("hooks/list", &json!({"cwds": [lab.cwd]}));
    let stderr = server.stop();
    let list = |finished: &Finished| serde_json::from_slice::<Value>(&finished.stdout).ok();
    json!({
        "listed": if listed.done() { list(&listed) } else { None },
        "list_error": if listed.done() { Value::Null } else { error_from(&listed.stderr) },
        "config": config.as_ref().ok().map(|config| config["config"].clone()),
        "origins": config.as_ref().ok().map(origins),
        "config_error": config.err().map(|refusal| explain(&[Some(&refusal)], &stderr)),
        "hooks": hooks.ok().map(|hooks| hooks["data"][0]["hooks"].clone()),
    })
}

/// Leaves out what has no value and puts names for real paths.
fn finish(mut result: Map<String, Value>, places: &Places) -> Value {
    result.retain(|key, value| key == "error" || *value == json!(false) || is_set(value));
    let text = places.strip(&Value::Object(result).to_string());
    serde_json::from_str(&text).expect("names need no escapes")
}

/// What of an answer is recorded for `scenario`: all of it, or what it asks for.
pub fn recorded(scenario: &Scenario, answer: &Value) -> Value {
    let wanted = scenario.words("expect_only");
    let always = |key: &str| matches!(key, "version" | "starts" | "error");
    let fields = answer.as_object().into_iter().flatten();
    fields
        .filter(|(key, _)| wanted.is_empty() || always(key) || wanted.contains(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// The version that `codex --version` names. Each program is asked once.
pub fn version(codex: &Path) -> String {
    static KNOWN: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().expect("asking does not panic");
    known
        .entry(codex.to_path_buf())
        .or_insert_with(|| ask_version(codex))
        .clone()
}

fn ask_version(codex: &Path) -> String {
    let said = process::run(std::process::Command::new(codex).arg("--version")).text();
    said.split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
        .unwrap_or("?")
        .to_owned()
}

fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if let Ok(bytes) = std::fs::read(&path) {
                found.insert(path, bytes);
            }
        }
    }
    found
}

/// The files that were there, and config.toml, where they are no more what they were.
fn changed(before: &BTreeMap<PathBuf, Vec<u8>>, home: &Path) -> Vec<String> {
    let after = snapshot(home);
    let config = home.join("config.toml");
    let mut names: Vec<String> = before
        .keys()
        .chain((!before.contains_key(&config)).then_some(&config))
        .filter(|path| after.get(*path) != before.get(*path))
        .filter_map(|path| Some(path.strip_prefix(home).ok()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
}
