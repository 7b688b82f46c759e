//! The four tools: what `tools/list` says, and what a call's arguments mean.
//!
//! Names, defaults and shapes are those of codex-mcp 2.1.0, so that a client written for it goes
//! on working. Output schemas are open (`additionalProperties` is not closed): a closed one made
//! the official SDK refuse results with a member more.

pub mod args;
pub mod check;
mod schema;
pub mod session;
pub mod start;

use serde_json::{Value, json};

/// The names, in the order of the list.
pub const NAMES: [&str; 4] = ["codex", "codex_reply", "codex_session", "codex_check"];

/// What `tools/list` answers.
pub fn list() -> Value {
    json!({ "tools": [
        {
            "name": "codex",
            "title": "Start Codex Session",
            "description": "Start a Codex agent on a task. Returns at once with a sessionId; then \
                call codex_check with action `wait` until the turn has ended, and answer what it \
                asks (`actions`) with respond_permission or respond_user_input.",
            "inputSchema": schema::start_input(),
            "outputSchema": schema::start_output(),
            "annotations": annotations("Start Codex Session", true, true),
        },
        {
            "name": "codex_reply",
            "title": "Continue Codex Session",
            "description": "Send the next prompt to a session that is idle or failed, or with \
                mode `steer` into its running turn. Overrides stay for later turns, except \
                outputSchema.",
            "inputSchema": schema::reply_input(),
            "outputSchema": schema::start_output(),
            "annotations": annotations("Continue Codex Session", true, true),
        },
        {
            "name": "codex_session",
            "title": "Manage Sessions",
            "description": "List sessions, look at one, cancel it, interrupt its turn, fork it, \
                end its background terminals, or resume a thread of an earlier time.",
            "inputSchema": schema::session_input(),
            "outputSchema": schema::session_output(),
            "annotations": annotations("Manage Sessions", true, false),
        },
        {
            "name": "codex_check",
            "title": "Poll & Respond",
            "description": "See events and what waits for an answer: `wait` returns as soon as \
                something needs you, `poll` at once. `respond_permission` and \
                `respond_user_input` answer one request by its requestId.",
            "inputSchema": schema::check_input(),
            "outputSchema": schema::check_output(),
            "annotations": annotations("Poll & Respond", false, false),
        },
    ]})
}

fn annotations(title: &str, destructive: bool, open_world: bool) -> Value {
    json!({
        "title": title,
        "readOnlyHint": false,
        "destructiveHint": destructive,
        "idempotentHint": false,
        "openWorldHint": open_world,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the peer's schemas accept, without prose.
    const PEER: &str = include_str!("../../../tests/fixtures/broker/peer-tools.json");

    fn peer() -> Vec<Value> {
        let peer: Value = serde_json::from_str(PEER).expect("JSON");
        peer["tools"].as_array().expect("a list").clone()
    }

    /// Whether everything that `theirs` describes is in `ours`, with the same meaning.
    fn includes(ours: &Value, theirs: &Value, at: &str) {
        for key in [
            "type",
            "default",
            "minimum",
            "exclusiveMinimum",
            "minLength",
        ] {
            if let Some(wanted) = theirs.get(key) {
                assert_eq!(ours.get(key), Some(wanted), "{at}: {key}");
            }
        }
        if let Some(words) = theirs.get("enum").and_then(Value::as_array) {
            // An effort may be any word of Codex's.
            let listed = ours.get("enum").or_else(|| ours.get("examples"));
            let ours = listed.and_then(Value::as_array).expect(at);
            assert!(words.iter().all(|word| ours.contains(word)), "{at}: enum");
        }
        for (name, inner) in theirs["properties"].as_object().into_iter().flatten() {
            let mine = &ours["properties"][name];
            assert!(mine.is_object(), "{at}.{name} is missing");
            includes(mine, inner, &format!("{at}.{name}"));
        }
        if theirs["items"].is_object() {
            includes(&ours["items"], &theirs["items"], &format!("{at}[]"));
        }
    }

    fn closed(schema: &Value) -> bool {
        match schema {
            Value::Object(members) => {
                members.get("additionalProperties") == Some(&Value::Bool(false))
                    || members.values().any(closed)
            }
            Value::Array(items) => items.iter().any(closed),
            _ => false,
        }
    }

    #[test]
    fn the_inputs_take_what_the_peers_take() {
        let ours = list();
        for theirs in peer() {
            let name = theirs["name"].as_str().expect("a name");
            let tools = ours["tools"].as_array().expect("a list");
            let tool = tools
                .iter()
                .find(|tool| tool["name"] == name)
                .expect("it is there");
            includes(&tool["inputSchema"], &theirs["inputSchema"], name);
            assert_eq!(
                tool["inputSchema"]["required"],
                theirs["inputSchema"]["required"]
            );
            for (hint, value) in theirs["annotations"].as_object().expect("an object") {
                assert_eq!(&tool["annotations"][hint], value, "{name}: {hint}");
            }
        }
    }

    #[test]
    fn the_outputs_have_the_peers_members() {
        let ours = list();
        for (tool, theirs) in ours["tools"].as_array().expect("a list").iter().zip(peer()) {
            for name in theirs["outputSchema"]["properties"]
                .as_object()
                .expect("an object")
                .keys()
            {
                assert!(
                    tool["outputSchema"]["properties"][name].is_object(),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn f1_no_schema_is_closed_and_every_input_is_described() {
        let ours = list();
        for tool in ours["tools"].as_array().expect("a list") {
            assert!(!closed(tool), "{}", tool["name"]);
            for (name, property) in tool["inputSchema"]["properties"].as_object().expect("one") {
                assert!(
                    property["description"].is_string(),
                    "{} {name}",
                    tool["name"]
                );
            }
        }
    }
}
