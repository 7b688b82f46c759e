//! What the app server answers, in the words of `expected.json`.

use super::command_line::Flags;
use crate::app_server::{AppServer, Refusal};
use crate::errors::{NOISE, error_from};
use crate::lab::Lab;
use crate::scenario::Scenario;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::Duration;

/// What the app server answered.
pub struct Answers {
    config: Result<Value, Refusal>,
    requirements: Option<Value>,
    hooks: Option<Value>,
    thread: Result<Value, Refusal>,
    hello: Option<Refusal>,
    notes: Vec<Value>,
    stderr: String,
}

impl Answers {
    /// Asks it all.
    pub fn ask(
        codex: &Path,
        lab: &Lab,
        flags: &Flags,
        real: &Scenario,
        settle: Option<Duration>,
    ) -> Self {
        let mut server = AppServer::start(
            lab.command(codex)
                .args(&flags.everywhere)
                .arg("app-server")
                .args(flags.strict()),
        );
        let hello = server.initialize().err();
        let mut answers = Self {
            config: Err(Refusal::Silent),
            requirements: None,
            hooks: None,
            thread: Err(Refusal::Silent),
            hello,
            notes: Vec::new(),
            stderr: String::new(),
        };
        if answers.hello.is_none() {
            answers.config = server.call(
                "config/read",
                &json!({"cwd": lab.cwd, "includeLayers": true}),
            );
            answers.requirements = server.call("configRequirements/read", &Value::Null).ok();
            answers.hooks = server.call("hooks/list", &json!({"cwds": [lab.cwd]})).ok();
            let mut params = json!({"cwd": lab.cwd, "ephemeral": true});
            for (key, value) in real
                .spec
                .get("thread")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                params[key] = value.clone();
            }
            answers.thread = server.call("thread/start", &params);
            if let Some(time) = settle {
                server.settle(time);
            }
        }
        answers.stderr = server.stop();
        answers.notes = std::mem::take(&mut server.notes);
        answers
    }

    /// Puts what was answered into `result`.
    pub fn describe(&self, result: &mut Map<String, Value>) {
        let mut put = |key: &str, value: Value| result.insert(key.to_owned(), value);
        put("starts", json!(self.thread.is_ok()));
        match &self.thread {
            Err(refusal) => {
                let refusals = [
                    Some(refusal),
                    self.config.as_ref().err(),
                    self.hello.as_ref(),
                ];
                put("error", explain(&refusals, &self.stderr));
            }
            Ok(thread) => {
                put("error", Value::Null);
                put("approval_policy", thread["approvalPolicy"].clone());
                put("approvals_reviewer", thread["approvalsReviewer"].clone());
                put("sandbox", thread["sandbox"].clone());
                put(
                    "permission_profile",
                    thread["activePermissionProfile"]["id"].clone(),
                );
                let configured = self
                    .config
                    .as_ref()
                    .is_ok_and(|config| is_set(&config["config"]["model"]));
                put(
                    "model",
                    if configured {
                        thread["model"].clone()
                    } else {
                        Value::Null
                    },
                );
            }
        }
        if let Err(Refusal::Error(text)) = &self.config {
            put("config_read_error", error_from(text));
        }
        if let Ok(config) = &self.config {
            let origins = origins(config);
            put("mcp_servers", self.servers(config, &origins));
            put("layers", layers(config));
            put("config", chosen_keys(config));
            put(
                "origins",
                origins
                    .into_iter()
                    .filter(|(key, _)| !key.starts_with("projects."))
                    .collect(),
            );
        }
        let requirements = self
            .requirements
            .as_ref()
            .map(|answer| answer["requirements"].clone());
        put(
            "requirements",
            without_null(requirements.unwrap_or_default()),
        );
        put("warnings", json!(self.warnings()));
        if let Some(hooks) = self.hooks.as_ref().and_then(describe_hooks) {
            put("hooks", hooks);
        }
    }

    fn servers(&self, config: &Value, origins: &Map<String, Value>) -> Value {
        let mut servers = Map::new();
        for (name, entry) in config["config"]["mcp_servers"]
            .as_object()
            .into_iter()
            .flatten()
        {
            let prefix = format!("mcp_servers.{name}.");
            let own: Map<String, Value> = origins
                .iter()
                .filter_map(|(key, layer)| {
                    Some((key.strip_prefix(&prefix)?.to_owned(), layer.clone()))
                })
                .collect();
            let mut entry = without_null(entry.clone());
            entry["origin"] = Value::Object(own);
            servers.insert(name.clone(), entry);
        }
        for note in self.notes_of(&["mcpServer/startupStatus/updated"]) {
            let text = note["params"]["error"].as_str().unwrap_or_default();
            let server = note["params"]["name"]
                .as_str()
                .and_then(|name| servers.get_mut(name));
            // Other errors, of a handshake, depend on the moment at which the server is ended.
            let steady = text.contains("Invalid MCP server name")
                || text.contains("(os error") && !text.contains("handshak");
            if let Some(server) = server.filter(|_| steady) {
                let text = text.rsplit("MCP startup failed: ").next().unwrap_or(text);
                server["startup_error"] = json!(text);
            }
        }
        Value::Object(servers)
    }

    fn warnings(&self) -> Vec<Value> {
        let mut warnings: Vec<Value> = Vec::new();
        for note in self.notes_of(&["configWarning", "warning", "deprecationNotice"]) {
            let params = &note["params"];
            let mut text = ["summary", "message"]
                .iter()
                .find_map(|key| params[key].as_str().filter(|text| !text.is_empty()))
                .unwrap_or_default()
                .to_owned();
            if let Some(details) = params["details"].as_str().filter(|text| !text.is_empty()) {
                text = format!("{text} | {details}");
            }
            if NOISE.iter().any(|word| text.contains(word))
                || warnings.iter().any(|known| known["text"] == text)
            {
                continue;
            }
            let mut entry = json!({ "text": text });
            if is_set(&params["path"]) {
                entry["path"] = params["path"].clone();
            }
            if is_set(&params["range"]) {
                entry["line"] = params["range"]["start"]["line"].clone();
                entry["col"] = params["range"]["start"]["column"].clone();
            }
            warnings.push(entry);
        }
        warnings
    }

    fn notes_of<'a>(&'a self, methods: &'a [&str]) -> impl Iterator<Item = &'a Value> {
        self.notes.iter().filter(|note| {
            note["method"]
                .as_str()
                .is_some_and(|method| methods.contains(&method))
        })
    }
}

/// The first refusal that has words, else what the server wrote to its standard error.
pub fn explain(refusals: &[Option<&Refusal>], stderr: &str) -> Value {
    let text = refusals.iter().flatten().find_map(|refusal| match refusal {
        Refusal::Error(text) if !text.is_empty() => Some(text.as_str()),
        Refusal::Error(_) | Refusal::Silent => None,
    });
    error_from(text.unwrap_or(stderr))
}

/// The layer of each key, in the words of the scenarios.
pub fn origins(config: &Value) -> Map<String, Value> {
    config["origins"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, origin)| (key.clone(), json!(layer_word(&origin["name"]))))
        .collect()
}

/// The layers, the strongest first, as Codex lists them.
fn layers(config: &Value) -> Value {
    let describe = |layer: &Value| {
        let name = &layer["name"];
        let place = [&name["file"], &name["dotCodexFolder"]]
            .into_iter()
            .find(|place| is_set(place));
        let mut entry = json!({
            "layer": layer_word(name),
            "where": place,
            "empty": !is_set(&layer["config"]),
        });
        if is_set(&layer["disabledReason"]) {
            entry["disabled"] = layer["disabledReason"].clone();
        }
        entry
    };
    config["layers"]
        .as_array()
        .into_iter()
        .flatten()
        .map(describe)
        .collect()
}

fn layer_word(name: &Value) -> String {
    let kind = name["type"].as_str().unwrap_or_default();
    match (kind, name["profile"].as_str()) {
        ("user", Some(profile)) if !profile.is_empty() => format!("profile:{profile}"),
        ("sessionFlags", _) => "flags".to_owned(),
        ("legacyManagedConfigTomlFromFile", _) => "managed".to_owned(),
        ("packagedDefaults", _) => "packaged".to_owned(),
        _ => kind.to_owned(),
    }
}

/// The merged values of the keys that decide about the gate.
fn chosen_keys(config: &Value) -> Value {
    [
        "approval_policy",
        "approvals_reviewer",
        "sandbox_mode",
        "sandbox_workspace_write",
        "default_permissions",
        "permissions",
        "profile",
        "model_provider",
        "notify",
    ]
    .into_iter()
    .map(|key| (key.to_owned(), without_null(config["config"][key].clone())))
    .filter(|(_, value)| !value.is_null())
    .collect()
}

/// Puts what `codex mcp list` says beside what the app server says.
pub fn add_listed(result: &mut Map<String, Value>, listed: Option<&[Value]>) {
    let Some(listed) = listed else { return };
    let known = result.contains_key("mcp_servers");
    let servers = result.entry("mcp_servers").or_insert_with(|| json!({}));
    for entry in listed {
        let name = entry["name"].as_str().unwrap_or_default();
        if servers.get(name).is_none() {
            servers[name] = if known {
                json!({"only_in_mcp_list": true})
            } else {
                json!({})
            };
        }
        servers[name]["enabled"] = entry["enabled"].clone();
        if known && is_set(&entry["disabled_reason"]) {
            servers[name]["disabled_reason"] = entry["disabled_reason"].clone();
        }
    }
}

fn describe_hooks(hooks: &Value) -> Option<Value> {
    let data = &hooks["data"][0];
    let found: Vec<Value> = data["hooks"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|hook| {
            without_null(json!({
                "event": hook["eventName"], "matcher": hook["matcher"], "command": hook["command"],
                "type": hook["handlerType"], "source": hook["source"], "path": hook["sourcePath"],
                "enabled": hook["enabled"], "trust": hook["trustStatus"], "timeout": hook["timeoutSec"],
            }))
        })
        .collect();
    let says_more = is_set(&data["errors"]) || is_set(&data["warnings"]);
    (says_more || !found.is_empty())
        .then(|| json!({"hooks": found, "errors": data["errors"], "warnings": data["warnings"]}))
}

/// Whether a value says anything: not null, false, empty.
pub fn is_set(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(list) => !list.is_empty(),
        Value::Object(table) => !table.is_empty(),
        Value::String(text) => !text.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

fn without_null(value: Value) -> Value {
    match value {
        Value::Object(table) => table
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_null(value)))
            .collect(),
        Value::Array(list) => list.into_iter().map(without_null).collect(),
        other => other,
    }
}
