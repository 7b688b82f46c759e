//! Whether the model's answer is Codex's.

use crate::ask::Question;
use crate::recorded::compare::{self, Difference};
use crate::scenario::Scenario;
use crate::worker::Worker;
use serde_json::{Map, Value};

/// What is compared where Codex starts.
const FIELDS: [&str; 7] = [
    "approval_policy",
    "approvals_reviewer",
    "sandbox",
    "permission_profile",
    "mcp_servers",
    "origins",
    "layers",
];

/// What `codex exec` calls the sandbox of a permission profile.
const CUSTOM: &str = "custom permissions";

/// What came of one configuration.
#[derive(Debug)]
pub enum Verdict {
    /// Codex starts, and the model says the same.
    Agree,
    /// Codex does not start, and the model says so. The reason in Codex's words, without the
    /// place and the value.
    NeitherStarts(String),
    /// It tells nothing about the model, and why.
    Apart(String),
    /// They differ, each line a field and both values.
    Differ(Vec<String>),
}

/// Asks both.
pub fn judge(worker: &mut Worker, scenario: &Scenario, question: Question) -> Verdict {
    match worker.ask(scenario, question) {
        Ok(answer) => verdict(&answer),
        Err(why) => Verdict::Differ(vec![format!("/failed: {why}")]),
    }
}

/// Compares what both said.
pub fn verdict(answer: &Value) -> Verdict {
    let app_server = app_server(answer);
    match (app_server, exec(answer)) {
        (Verdict::Differ(mut lines), exec) => {
            lines.extend(exec);
            Verdict::Differ(lines)
        }
        (_, Some(line)) => Verdict::Differ(vec![line]),
        (verdict, None) => verdict,
    }
}

/// Compares what the app server said with what the model says of it.
pub fn app_server(answer: &Value) -> Verdict {
    compare(&answer["codex"], &answer["model"])
}

/// Compares what `codex exec` did with what the model says of it.
pub fn exec(answer: &Value) -> Option<String> {
    compare_exec(&answer["codex"]["cli"]["exec"], &answer["model_exec"])
}

/// What a disagreement is about, without the names that differ from one to the next.
pub fn kind(differences: &[String]) -> String {
    let kinds: Vec<String> = differences
        .iter()
        .map(|line| {
            let (pointer, values) = line.split_once(": ").unwrap_or((line, ""));
            let steps: Vec<&str> = pointer.split('/').collect();
            match steps.as_slice() {
                ["", "mcp_servers", _, rest @ ..] => format!("mcp_servers {}", rest.join("/")),
                ["", "origins", key] => {
                    format!("origins {}", key.rsplit('.').next().unwrap_or_default())
                }
                ["", "starts"] => values.split(": ").last().unwrap_or_default().to_owned(),
                _ => pointer.to_owned(),
            }
        })
        .collect();
    kinds.join(" ")
}

/// The field of a difference, for telling one disagreement from another.
pub fn field(difference: &str) -> &str {
    difference.split(['/', ':']).nth(1).unwrap_or_default()
}

fn compare(codex: &Value, model: &Value) -> Verdict {
    if let Some(why) = model.get("failed") {
        return Verdict::Differ(vec![format!("/failed: the model: {why}")]);
    }
    let error = codex["error"]["message"].as_str().unwrap_or_default();
    if let Some(why) = machine(error) {
        return Verdict::Apart(why.to_owned());
    }
    if codex["starts"] != model["starts"] {
        let says = if model["starts"] == true {
            format!("Codex does not start: {error}")
        } else {
            format!("Codex starts; the model: {}", model["error"])
        };
        return Verdict::Differ(vec![format!("/starts: {}", says.replace('\n', " / "))]);
    }
    if codex["starts"] != true {
        return Verdict::NeitherStarts(reason(error));
    }
    // A client's own sandbox lets a thread start where the configuration cannot be read.
    let fields = if codex.get("config_read_error").is_some() {
        &FIELDS[..4]
    } else {
        &FIELDS
    };
    let (codex, model) = (comparable(codex, fields), comparable(model, fields));
    let differences = compare::differences(&codex, &model);
    let line = |difference: &Difference| {
        difference
            .to_string()
            .replace("recorded", "Codex")
            .replace(", now", ", model")
    };
    let lines: Vec<String> = differences.iter().map(line).collect();
    if lines.is_empty() {
        Verdict::Agree
    } else {
        Verdict::Differ(lines)
    }
}

/// Compares what `codex exec` does with what the model says of it.
fn compare_exec(exec: &Value, model: &Value) -> Option<String> {
    if exec.is_null() || model.is_null() {
        return None;
    }
    if let Some(why) = model.get("failed") {
        return Some(format!("/failed: the model of exec: {why}"));
    }
    let error = exec["error"]["message"].as_str().unwrap_or_default();
    if machine(error).is_some() {
        return None;
    }
    let (said, mut meant) = (exec_words(exec), model_words(model));
    if said.ends_with(CUSTOM) {
        // Of a profile it tells no more than that there is one.
        let approval = meant.split(", ").next().unwrap_or_default();
        meant = format!("{approval}, {CUSTOM}");
    }
    (said != meant).then(|| {
        let error = if error.is_empty() {
            &model["error"]
        } else {
            &exec["error"]["message"]
        };
        format!("/exec: Codex {said}, model {meant} ({error})")
    })
}

/// What the header of `codex exec` says, without the writable places.
fn exec_words(exec: &Value) -> String {
    if exec["starts"] != true {
        return "does not start".to_owned();
    }
    let sandbox = exec["sandbox"].as_str().unwrap_or_default();
    let mode = if sandbox.starts_with(CUSTOM) {
        CUSTOM
    } else {
        sandbox.split(' ').next().unwrap_or_default()
    };
    let network = if mode != CUSTOM && sandbox.contains("network access enabled") {
        " with network"
    } else {
        ""
    };
    format!(
        "{}, {mode}{network}",
        exec["approval"].as_str().unwrap_or_default()
    )
}

/// The same of the model.
fn model_words(model: &Value) -> String {
    if model["starts"] != true {
        return "does not start".to_owned();
    }
    let approval = model["approval_policy"].as_str().unwrap_or("granular");
    let mode = match model["sandbox"]["type"].as_str().unwrap_or_default() {
        "readOnly" => "read-only",
        "workspaceWrite" => "workspace-write",
        "dangerFullAccess" => "danger-full-access",
        "externalSandbox" => "external-sandbox",
        other => other,
    };
    let open = mode != "danger-full-access" && model["sandbox"]["networkAccess"] == true;
    format!(
        "{approval}, {mode}{}",
        if open { " with network" } else { "" }
    )
}

/// An error without its place, and without what stands in quotes.
fn reason(error: &str) -> String {
    let line = error.lines().next().unwrap_or_default();
    let line = line.rsplit(":1: ").next().unwrap_or(line);
    let words = line
        .split(['"', '`'])
        .step_by(2)
        .collect::<Vec<_>>()
        .join("_");
    words
        .rsplit(": ")
        .take(2)
        .collect::<Vec<_>>()
        .join(" < ")
        .replace(|c: char| c.is_ascii_digit(), "")
}

/// Errors that tell about the machine.
fn machine(error: &str) -> Option<&'static str> {
    // Codex reads AGENTS.md in the sandbox that a permission profile asks for; whether that works
    // depends on the kernel and on who asks.
    error
        .contains("failed to load AGENTS.md")
        .then_some("the sandbox of a permission profile does not work here")
}

fn comparable(answer: &Value, fields: &[&str]) -> Value {
    let empty = |value: &Value| value.as_object().is_some_and(Map::is_empty) || value.is_null();
    let mut kept = Map::new();
    for field in fields {
        if let Some(value) = answer.get(*field).filter(|value| !empty(value)) {
            kept.insert((*field).to_owned(), value.clone());
        }
    }
    if let Some(origins) = kept.get_mut("origins") {
        drop_elements(origins);
    }
    if let Some(servers) = kept.get_mut("mcp_servers").and_then(Value::as_object_mut) {
        // Of a profile, which the app server does not take.
        servers.retain(|_, server| server.get("only_in_mcp_list").is_none());
    }
    kept.retain(|_, value| !empty(value));
    for (_, server) in kept
        .get_mut("mcp_servers")
        .and_then(Value::as_object_mut)
        .into_iter()
        .flatten()
    {
        if let Some(server) = server.as_object_mut() {
            // It comes when it comes.
            server.remove("startup_error");
            if let Some(origin) = server.get_mut("origin") {
                drop_elements(origin);
            }
        }
    }
    Value::Object(kept)
}

/// Takes the elements of arrays out of origins: Codex also lists those of a weaker layer's array
/// that a shorter one has replaced (scenario `mcp-merge-array-replaced`).
fn drop_elements(origins: &mut Value) {
    if let Some(origins) = origins.as_object_mut() {
        let is_index =
            |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
        origins.retain(|key, _| !key.split('.').any(is_index));
    }
}
