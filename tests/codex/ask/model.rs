//! Asks the model: `codexgate show --format json`.

use super::command_line::Flags;
use crate::lab::Lab;
use crate::process;
use crate::scenario::{Places, Scenario};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// What the app server would answer. What a client sends with its `thread/start` goes as `-s`
/// and `-a`.
pub fn app_server(
    lab: &Lab,
    flags: &Flags,
    real: &Scenario,
    places: &Places,
    version: &str,
) -> Value {
    let mut command = show(lab, flags, version);
    let thread = real.spec.get("thread");
    for (flag, key) in [("-s", "sandbox"), ("-a", "approvalPolicy")] {
        if let Some(word) = thread.and_then(|thread| thread[key].as_str()) {
            command.args([flag, word]);
        }
    }
    answer(&mut command, places)
}

/// What `codex exec` would do; null with flags that `show` does not take.
pub fn exec(lab: &Lab, flags: &Flags, places: &Places, version: &str) -> Value {
    let known = matches!(flags.exec.as_slice(), [] | [_, _] if flags.exec.first().is_none_or(|flag| flag == "-s"));
    if !known || flags.strict().is_some() {
        return Value::Null;
    }
    let mut command = show(lab, flags, version);
    command
        .args(["--as", "exec"])
        .args(&flags.profile)
        .args(&flags.exec);
    answer(&mut command, places)
}

fn show(lab: &Lab, flags: &Flags, version: &str) -> Command {
    let mut command = lab.command(Path::new(env!("CARGO_BIN_EXE_codexgate")));
    command
        .args(["show", "--format", "json", "--codex-version", version])
        .args(&flags.everywhere);
    command
}

/// The answer with names for real paths; `{"failed": …}` where there is none.
fn answer(command: &mut Command, places: &Places) -> Value {
    let said = process::run(command);
    if !said.done() {
        return json!({"failed": format!("exit {:?}: {}", said.code, said.stderr.trim())});
    }
    serde_json::from_str(&places.strip(&said.text()))
        .unwrap_or_else(|error| json!({"failed": format!("no JSON: {error}")}))
}
