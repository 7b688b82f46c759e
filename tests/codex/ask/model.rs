//! Asks the model, in the words that `codexgate show --format json` prints.

use super::command_line::Flags;
use crate::lab::{self, Lab};
use crate::process;
use crate::scenario::{Places, Scenario};
use codexgate::codex::effective::{
    self, ApprovalPolicy, Effective, Question, SandboxMode, Surface,
};
use codexgate::codex::site::Environment;
use codexgate::codex::{Site, Sources, layer};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How the model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// As people do: the program, with its flags.
    Program,
    /// By the library, which costs no process and takes `--strict-config`.
    Library,
}

/// What the app server would answer. A client's wishes go with its `thread/start`.
pub fn app_server(
    by: By,
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
    answer(by, lab, flags, &question, places)
}

/// What `codex exec` would do; null with flags that only it has and that are not asked about.
pub fn exec(by: By, lab: &Lab, flags: &Flags, places: &Places, version: &str) -> Value {
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
    answer(by, lab, flags, &question, places)
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
        path: Some(lab::PATH.into()),
        version: version.parse().unwrap_or_default(),
        ..Question::default()
    }
}

/// The answer with names for real paths; `{"failed": …}` where there is none.
fn answer(by: By, lab: &Lab, flags: &Flags, question: &Question, places: &Places) -> Value {
    let text = if by == By::Library || question.strict {
        ask_library(lab, question).to_string()
    } else {
        let said = process::run(&mut show(lab, flags, question));
        if said.done() {
            said.text()
        } else {
            json!({"failed": format!("exit {:?}: {}", said.code, said.stderr.trim())}).to_string()
        }
    };
    serde_json::from_str(&places.strip(&text))
        .unwrap_or_else(|error| json!({"failed": error.to_string()}))
}

/// `codexgate show` with the flags of `question`.
fn show(lab: &Lab, flags: &Flags, question: &Question) -> Command {
    let mut command = lab.command(Path::new(env!("CARGO_BIN_EXE_codexgate")));
    command
        .args([
            "show",
            "--format",
            "json",
            "--codex-version",
            &question.version.to_string(),
        ])
        .arg("-C")
        .arg(question.cwd.as_ref().unwrap_or(&lab.cwd))
        .args(&flags.everywhere);
    if question.surface == Surface::Exec {
        command.args(["--as", "exec"]);
    }
    if question.trusted == Some(true) {
        command.arg("--trusted");
    }
    if let Some(profile) = &question.profile {
        command.args(["-p", profile]);
    }
    if let Some(mode) = question.sandbox {
        command.args(["-s", mode.word()]);
    }
    match question.approval {
        Some(ApprovalPolicy::Never) => drop(command.args(["-a", "never"])),
        Some(ApprovalPolicy::OnRequest) => drop(command.args(["-a", "on-request"])),
        _ => {}
    }
    command
}

fn ask_library(lab: &Lab, question: &Question) -> Value {
    let variable = |name: &str, usual: &PathBuf| {
        let path = lab
            .env
            .get(name)
            .filter(|path| !path.is_empty())
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
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|_| json!({"failed": "the model panics"}))
}
