//! **U4**: permissions that a person grants are a part of what was asked, by value.
//!
//! Codex cuts down what is more; it is refused here all the same, so that nobody believes to have
//! granted it.

use super::answer::{Decision, Scope, Word};
use super::ask::PermissionsAsk;
use super::rules::{Rule, Rules};
use serde_json::{Map, Value, json};

/// **U4**: what was asked, or a part of it.
pub(super) fn u4_granted(
    rules: Rules,
    ask: &PermissionsAsk,
    decision: &Decision,
) -> Result<Value, String> {
    let session = decision.word == Word::AcceptForSession;
    if session && decision.scope == Some(Scope::Turn) {
        return Err("scope: acceptForSession is for the session".into());
    }
    let scope = if session || decision.scope == Some(Scope::Session) {
        "session"
    } else {
        "turn"
    };
    let asked = Value::Object(ask.permissions.clone());
    let mut granted = decision
        .permissions
        .clone()
        .unwrap_or_else(|| asked.clone());
    if rules.on(Rule::U4) {
        subset(&ask.permissions, &granted)?;
        keep_depth(&ask.permissions, &mut granted);
    }
    Ok(json!({"permissions": granted, "scope": scope}))
}

/// Holds `granted` against what was asked, by value.
fn subset(asked: &Map<String, Value>, granted: &Value) -> Result<(), String> {
    let more = |what: &str| Err(format!("permissions.{what}: more than was asked"));
    let Value::Object(granted) = granted else {
        return Err("permissions: must be an object".into());
    };
    for (name, value) in granted {
        let of = asked.get(name).unwrap_or(&Value::Null);
        match (name.as_str(), value) {
            (_, Value::Null) => {}
            ("network", Value::Object(network)) => {
                for (key, value) in network {
                    let off = key == "enabled" && matches!(value, Value::Null | Value::Bool(false));
                    if !off && of.get(key) != Some(value) {
                        return more("network");
                    }
                }
            }
            ("fileSystem", Value::Object(files)) => files_subset(of, files)?,
            _ if asked.get(name) == Some(value) => {}
            _ => return more(name),
        }
    }
    Ok(())
}

fn files_subset(asked: &Value, granted: &Map<String, Value>) -> Result<(), String> {
    for (key, value) in granted {
        let of = asked.get(key).unwrap_or(&Value::Null);
        let fits = match value {
            Value::Null => true,
            Value::Array(list) if key != "globScanMaxDepth" => {
                let of = of.as_array().map(Vec::as_slice).unwrap_or_default();
                list.iter().all(|entry| of.contains(entry))
            }
            value => value == of,
        };
        if !fits {
            return Err(format!("permissions.fileSystem.{key}: more than was asked"));
        }
    }
    // An entry that denies narrows the others: to leave it out would grant more.
    let entries = |of: Option<&Value>| of.and_then(Value::as_array).cloned().unwrap_or_default();
    let (have, had) = (
        entries(granted.get("entries")),
        entries(asked.get("entries")),
    );
    let opens = |name: &str| !entries(granted.get(name)).is_empty();
    let any = have.iter().any(|entry| entry["access"] != "deny") || opens("read") || opens("write");
    let mut denied = had.iter().filter(|entry| entry["access"] == "deny");
    if any && denied.any(|entry| !have.contains(entry)) {
        return Err("permissions.fileSystem.entries: an entry that denies was left out".into());
    }
    Ok(())
}

/// How deep patterns are looked up goes along with them.
fn keep_depth(asked: &Map<String, Value>, granted: &mut Value) {
    let depth = asked
        .get("fileSystem")
        .and_then(|files| files.get("globScanMaxDepth"));
    if let (Some(depth), Some(Value::Object(files))) = (depth, granted.get_mut("fileSystem")) {
        files.insert("globScanMaxDepth".into(), depth.clone());
    }
}
