//! Asks the model, in the words that `codexgate show --format json` prints.

use super::command_line::Flags;
use crate::lab::Lab;
use crate::scenario::{Places, Scenario};
use codexgate::codex::effective::{
    self, ApprovalPolicy, Effective, Question, SandboxMode, Surface,
};
use codexgate::codex::site::Environment;
use codexgate::codex::{Site, Sources, layer};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// What the app server would answer. A client's wishes go with its `thread/start`.
pub fn app_server(
    lab: &Lab,
    flags: &Flags,
    real: &Scenario,
    places: &Places,
    version: &str,
) -> Value {
    let thread = real.spec.get("thread").cloned().unwrap_or_default();
    let question = Question {
        surface: Surface::AppServer,
        // Then `exec`, which is asked before, has written it.
        trusted: flags
            .exec
            .iter()
            .any(|flag| flag == "--trust")
            .then_some(true),
        strict: flags.strict().is_some(),
        sandbox: thread["sandbox"].as_str().and_then(SandboxMode::parse),
        approval: match thread["approvalPolicy"].as_str() {
            Some("never") => Some(ApprovalPolicy::Never),
            Some("on-request") => Some(ApprovalPolicy::OnRequest),
            _ => None,
        },
        ..question(lab, flags, version)
    };
    answer(lab, &question, places)
}

/// What `codex exec` would do; null with flags that only it has and that are not asked about.
pub fn exec(lab: &Lab, flags: &Flags, places: &Places, version: &str) -> Value {
    let sandbox = match flags.exec.as_slice() {
        [] => None,
        [flag, mode] if flag == "-s" => SandboxMode::parse(mode),
        _ => return Value::Null,
    };
    let question = Question {
        surface: Surface::Exec,
        profile: flags.profile.get(1).cloned(),
        strict: flags.strict().is_some(),
        sandbox,
        // It works in the folder itself, without the links that lead there.
        cwd: None,
        ..question(lab, flags, version)
    };
    answer(lab, &question, places)
}

fn question(lab: &Lab, flags: &Flags, version: &str) -> Question {
    let mut found = layer::Flags::default();
    for pair in flags.everywhere.chunks(2) {
        let [flag, value] = pair else { continue };
        let list = match flag.as_str() {
            "--enable" => &mut found.enable,
            "--disable" => &mut found.disable,
            _ => &mut found.config,
        };
        list.push(value.clone());
    }
    Question {
        flags: found,
        cwd: Some(lab.cwd.clone()),
        version: version.parse().unwrap_or_default(),
        ..Question::default()
    }
}

/// The answer with names for real paths; `{"failed": …}` where the model panics.
fn answer(lab: &Lab, question: &Question, places: &Places) -> Value {
    let variable = |name: &str, usual: &PathBuf| {
        let path = lab
            .env
            .get(name)
            .map_or_else(|| usual.clone(), PathBuf::from);
        Some(path)
    };
    let environment = Environment {
        directory: lab.cwd.clone(),
        home: variable("HOME", &lab.home),
        codex_home: variable("CODEX_HOME", &lab.codex_home),
        ..Environment::default()
    };
    let ask = || match Site::discover(&environment) {
        Ok(site) => {
            let sources = Sources::read(&site);
            effective::json::answer(&Effective::resolve(&sources, question), &sources)
        }
        Err(error) => json!({"starts": false, "error": {"message": error.to_string()}}),
    };
    let told = catch_unwind(AssertUnwindSafe(ask))
        .unwrap_or_else(|_| json!({"failed": "the model panics"}));
    serde_json::from_str(&places.strip(&told.to_string())).expect("names need no escapes")
}
