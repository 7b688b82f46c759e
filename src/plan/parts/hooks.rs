//! The hooks: two handlers of ours that guide an agent to the gate, and the trust for them.
//!
//! Our groups come last, since Codex ties trust to the position (scenario `hooks-trusted-hash`):
//! in front they would make every other hook a stranger. Others' bytes stay. No mark of ours
//! stands at the top level: any other key there voids the file (scenario
//! `hooks-json-extra-key`). A handler of ours is known by its command. Hooks are guidance: no
//! promise rests on them.

use serde_json::{Map, Value, json};

use super::program;
use crate::codex::{hooks_file, version};
use crate::document::json::{self as text, Step};
use crate::document::style::Style;
use crate::document::{self, Change as Toml, Document, Edit, Form, Json, KeyPath, edit, place};
use crate::text::quote;

/// The seconds that a handler of ours may run. It takes milliseconds.
const TIMEOUT: u64 = 10;
/// The tool whose calls are judged: Codex's name for every shell (0.171).
const SHELL: &str = "^Bash$";

/// A handler of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ours {
    /// Its event.
    pub event: &'static str,
    /// The event in the keys of `[hooks.state]`.
    pub key: &'static str,
    /// The words behind the program.
    words: &'static str,
    matcher: Option<&'static str>,
}

/// The handlers of ours, in the order in which they are written.
pub const OURS: [Ours; 2] = [
    Ours {
        event: "SessionStart",
        key: "session_start",
        words: "hook session-start",
        matcher: None,
    },
    Ours {
        event: "PreToolUse",
        key: "pre_tool_use",
        words: "hook pre-tool-use",
        matcher: Some(SHELL),
    },
];

impl Ours {
    /// The command line for `program`.
    pub fn command(&self, program: &str) -> String {
        format!("{} {}", quote::word(program), self.words)
    }

    /// The group for `program`.
    pub fn group(&self, program: &str) -> Value {
        let mut group = Map::new();
        if let Some(matcher) = self.matcher {
            group.insert("matcher".to_owned(), matcher.into());
        }
        group.insert(
            "hooks".to_owned(),
            json!([{"type": "command", "command": self.command(program), "timeout": TIMEOUT}]),
        );
        Value::Object(group)
    }

    /// Whether `group` holds handlers of ours alone, for whatever program.
    pub fn is_ours(&self, group: &Value) -> bool {
        let handlers = group.get("hooks").and_then(Value::as_array);
        handlers.is_some_and(|handlers| {
            !handlers.is_empty()
                && handlers.iter().all(|handler| {
                    let command = handler.get("command").and_then(Value::as_str);
                    command.is_some_and(|command| self.is_own_command(command))
                })
        })
    }

    /// Whether `command` is a command line of ours, for whatever program.
    pub fn is_own_command(&self, command: &str) -> bool {
        let Some(program) = command.strip_suffix(self.words) else {
            return false;
        };
        let Some(program) = program.strip_suffix(' ') else {
            return false;
        };
        let bare = program.trim_matches('\'');
        program::is_own(bare) && quote::word(bare) == program
    }

    /// The positions of our groups in a value of a hooks.json.
    pub fn positions(&self, value: &Value) -> Vec<usize> {
        let groups = value
            .get("hooks")
            .and_then(|events| events.get(self.event))
            .and_then(Value::as_array);
        groups
            .iter()
            .flat_map(|groups| groups.iter().enumerate())
            .filter(|(_, group)| self.is_ours(group))
            .map(|(at, _)| at)
            .collect()
    }

    /// What follows the file in the key of `[hooks.state]`.
    pub fn state(&self, group: usize) -> String {
        format!(":{}:{group}:0", self.key)
    }
}

/// One change of a hooks.json.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The event; none where the whole file is meant.
    pub event: Option<&'static str>,
    /// What goes.
    pub old: Option<String>,
    /// What comes.
    pub new: Option<String>,
    /// How.
    pub edits: Vec<Edit>,
}

/// What brings our handlers for `program` into the text of a hooks.json, one change each.
///
/// # Errors
/// Why there is no safe place, in words: most of all a file that Codex drops as it is.
pub fn install(before: &str, program: &str) -> Result<Vec<Change>, String> {
    if before.trim().is_empty() {
        let groups: Map<String, Value> = OURS
            .iter()
            .map(|ours| (ours.event.to_owned(), json!([ours.group(program)])))
            .collect();
        let new = text::print(&json!({ "hooks": groups }));
        return Ok(vec![Change {
            event: None,
            old: None,
            edits: vec![Edit::insert(before.len(), new.clone())],
            new: Some(new),
        }]);
    }
    let mut json = Json::parse(before).map_err(|why| format!("Codex drops this file: {why}"))?;
    hooks_file::parse_json(before, version::NEWEST)
        .map_err(|why| format!("Codex drops this file: {why}"))?;
    let mut changes = Vec::new();
    for ours in &OURS {
        if let Some((after, change)) = install_one(&json, ours, program)? {
            json = after;
            changes.push(change);
        }
    }
    hooks_file::parse_json(json.text(), version::NEWEST)
        .map_err(|why| format!("Codex would drop the file: {why}"))?;
    Ok(changes)
}

fn install_one(json: &Json, ours: &Ours, program: &str) -> Result<Option<(Json, Change)>, String> {
    let wanted = ours.group(program);
    let (hooks, event) = (Step::Key("hooks"), Step::Key(ours.event));
    let value = json.value();
    // Of several groups of ours the last is kept up to date; more are somebody's copies.
    if let Some(at) = ours.positions(value).pop() {
        let path = [hooks, event, Step::Item(at)];
        let present = &value["hooks"][ours.event][at];
        if *present == wanted {
            return Ok(None);
        }
        let old = present.to_string();
        let (after, edits) = json
            .replace(&path, &wanted)
            .map_err(|why| why.to_string())?;
        return Ok(Some((after, change(ours, Some(old), &wanted, edits))));
    }
    let result = if json.span(&[hooks, event]).is_some() {
        json.push(&[hooks, event], &wanted)
    } else if json.span(&[hooks]).is_some() {
        json.insert(&[hooks], ours.event, &json!([wanted]))
    } else {
        json.insert(&[], "hooks", &json!({ours.event: [wanted]}))
    };
    let (after, edits) = result.map_err(|why| why.to_string())?;
    Ok(Some((after, change(ours, None, &wanted, edits))))
}

fn change(ours: &Ours, old: Option<String>, new: &Value, edits: Vec<Edit>) -> Change {
    Change {
        event: Some(ours.event),
        old,
        new: Some(new.to_string()),
        edits,
    }
}

/// What takes every group of ours out of the text of a hooks.json, whoever put it there. Lists and
/// objects that are empty then go with it.
///
/// # Errors
/// A text that cannot be changed safely, in words.
pub fn remove(before: &str) -> Result<Vec<Change>, String> {
    let mut json = Json::parse(before).map_err(|why| why.to_string())?;
    let mut changes = Vec::new();
    let hooks = Step::Key("hooks");
    for ours in &OURS {
        let event = Step::Key(ours.event);
        while let Some(at) = ours.positions(json.value()).pop() {
            let group = &json.value()["hooks"][ours.event][at];
            let old = group.to_string();
            let alone = json.value()["hooks"][ours.event]
                .as_array()
                .is_some_and(|groups| groups.len() == 1);
            let result = if alone {
                json.remove(&[hooks, event])
            } else {
                json.remove(&[hooks, event, Step::Item(at)])
            };
            let (after, edits) = result.map_err(|why| why.to_string())?;
            json = after;
            changes.push(Change {
                event: Some(ours.event),
                old: Some(old),
                new: None,
                edits,
            });
        }
    }
    Ok(changes)
}

/// The events of ours in `[hooks]` of a config.toml: whether the layer declares its hooks there.
pub fn stands_in_toml(document: &Document) -> bool {
    let hooks = document.get(&KeyPath::new(["hooks"]));
    hooks
        .and_then(document::Node::as_table)
        .is_some_and(|members| members.keys().any(|key| key != "state"))
}

/// The key path of an event in a config.toml.
pub fn toml_path(ours: &Ours) -> KeyPath {
    KeyPath::new(["hooks", ours.event])
}

/// What brings one handler of ours into a config.toml. Nothing where it is there.
///
/// # Errors
/// Why there is no safe place, in words.
pub fn install_toml(
    document: &Document,
    ours: &Ours,
    program: &str,
) -> Result<Option<Toml>, String> {
    let path = toml_path(ours);
    let group = ours.group(program);
    let present = document.get(&path);
    let groups = present.map_or(Ok(&[][..]), |node| {
        node.as_array().ok_or(format!("`{path}` is no array"))
    })?;
    for (at, there) in groups.iter().enumerate() {
        let value = as_json(&there.value());
        if !ours.is_ours(&value) {
            continue;
        }
        if value == group {
            return Ok(None);
        }
        let command = [
            "hooks",
            ours.event,
            &at.to_string(),
            "hooks",
            "0",
            "command",
        ];
        let node = document
            .get(&KeyPath::new(command))
            .ok_or_else(|| format!("`{path}` has a group of ours in another shape"))?;
        let new = document::Value::from(ours.command(program));
        let edits = vec![Edit::replace(
            node.span,
            Style::of(document, None).value(&new),
        )];
        return toml_checked(document, edits, &path, |groups| {
            groups[at] = as_toml(&group);
        })
        .map(Some);
    }
    if present.is_none_or(|node| node.form != Form::Inline) {
        let text = document.text();
        let style = Style::of(document, None);
        let newline = style.newline;
        let matcher = ours.matcher.map_or_else(String::new, |matcher| {
            let pair = style.pair(&["matcher".to_owned()], &matcher.into());
            format!("{pair}{newline}")
        });
        let pair = |key: &str, value: document::Value| style.pair(&[key.to_owned()], &value);
        let lines = [
            String::new(),
            format!("[[hooks.{}]]", ours.event),
            format!("{matcher}[[hooks.{}.hooks]]", ours.event),
            pair("type", "command".into()),
            pair("command", ours.command(program).into()),
            pair("timeout", i64::try_from(TIMEOUT).unwrap_or_default().into()),
        ];
        let open = !text.is_empty() && !text.ends_with('\n');
        let (before, after) = if open { (newline, "") } else { ("", newline) };
        let block = format!("{before}{}{after}", lines.join(newline));
        let edits = vec![Edit::insert(text.len(), block)];
        let done = toml_checked(document, edits, &path, |groups| {
            groups.push(as_toml(&group));
        });
        if done.is_ok() {
            return done.map(Some);
        }
    }
    if present.is_some() {
        return Err(format!(
            "`{path}` is an array on its own line: nothing can be appended to it"
        ));
    }
    let value = document::Value::Array(vec![as_toml(&group)]);
    let change = place::insert(document, &path, &value).map_err(|why| why.to_string())?;
    Ok(Some(change))
}

/// Counts only where the array at `path` became what `wanted` makes of it, and nothing else changed.
fn toml_checked(
    document: &Document,
    edits: Vec<Edit>,
    path: &KeyPath,
    wanted: impl Fn(&mut Vec<document::Value>),
) -> Result<Toml, String> {
    let text = edit::apply(document.text(), &edits).map_err(|why| why.to_string())?;
    let after = Document::parse(text).map_err(|why| why.to_string())?;
    let mut value = document.root().value();
    let mut groups = match value.get(path.parts()) {
        Some(document::Value::Array(groups)) => groups.clone(),
        _ => Vec::new(),
    };
    wanted(&mut groups);
    let set = document::compare::set(&mut value, path.parts(), document::Value::Array(groups));
    if set && document::compare::differences(&value, &after.root().value()).is_empty() {
        let document = after;
        return Ok(Toml { document, edits });
    }
    Err(format!("`{path}` has no safe place"))
}

fn as_json(value: &document::Value) -> Value {
    match value {
        document::Value::String(text) => text.as_str().into(),
        document::Value::Integer(number) => (*number).into(),
        document::Value::Boolean(truth) => (*truth).into(),
        document::Value::Array(items) => items.iter().map(as_json).collect(),
        document::Value::Table(members) => Value::Object(
            members
                .iter()
                .map(|(key, value)| (key.clone(), as_json(value)))
                .collect(),
        ),
        document::Value::Float(_) | document::Value::Datetime(_) => Value::Null,
    }
}

fn as_toml(value: &Value) -> document::Value {
    match value {
        Value::Array(items) => document::Value::Array(items.iter().map(as_toml).collect()),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.as_str(), as_toml(value)))
            .collect(),
        Value::String(text) => text.as_str().into(),
        Value::Number(number) => number.as_i64().unwrap_or_default().into(),
        Value::Bool(truth) => (*truth).into(),
        Value::Null => document::Value::Array(Vec::new()),
    }
}

/// `[hooks]` of a config.toml alone, to ask about: what a digest covers is in it.
pub fn toml_alone(document: &Document) -> Option<String> {
    let hooks = document.get(&KeyPath::new(["hooks"]))?.value();
    let style = Document::parse("")
        .ok()
        .map(|empty| Style::of(&empty, None))?;
    Some(style.pair(&["hooks".to_owned()], &hooks) + "\n")
}

/// The positions of our groups of an event in a config.toml.
pub fn toml_positions(ours: &Ours, document: &Document) -> Vec<usize> {
    let hooks = document.get(&KeyPath::new(["hooks"]));
    let value = hooks.map(|hooks| json!({"hooks": as_json(&hooks.value())}));
    value
        .map(|value| ours.positions(&value))
        .unwrap_or_default()
}

/// Whether a hooks.json says nothing.
pub fn is_empty(text: &str) -> bool {
    serde_json::from_str::<Value>(text)
        .is_ok_and(|value| value == json!({"hooks": {}}) || value == json!({}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::edit;

    const PROGRAM: &str = "/opt/a b/codexgate";

    fn apply(text: &str, changes: &[Change]) -> String {
        changes.iter().fold(text.to_owned(), |text, change| {
            edit::apply(&text, &change.edits).expect("they fit")
        })
    }

    #[test]
    fn groups_of_others_keep_their_place_and_bytes() {
        let text = "{\n  \"description\": \"x\",\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"y\", \"hooks\": [] }\n    ]\n  }\n}\n";
        let changes = install(text, PROGRAM).expect("a place");
        let after = apply(text, &changes);
        assert_eq!(changes.len(), 2);
        assert!(
            after.starts_with(&text[..=text.find("}\n    ]").expect("there")]),
            "{after}"
        );
        assert_eq!(install(&after, PROGRAM), Ok(Vec::new()), "{after}");
        let value: Value = serde_json::from_str(&after).expect("JSON");
        assert_eq!(OURS[1].positions(&value), [1]);
        assert_eq!(OURS[0].positions(&value), [0]);
        assert_eq!(apply(&after, &remove(&after).expect("JSON")), text);
    }

    #[test]
    fn a_handler_of_another_place_is_brought_up_to_date() {
        let before = apply("", &install("", "/old/codexgate").expect("a place"));
        let changes = install(&before, PROGRAM).expect("a place");
        assert_eq!(changes.len(), 2);
        let after = apply(&before, &changes);
        assert!(!after.contains("/old/"), "{after}");
        assert!(
            after.contains("'/opt/a b/codexgate' hook session-start"),
            "{after}"
        );
        assert!(
            is_empty(&apply(&after, &remove(&after).expect("JSON"))),
            "nothing else is in it"
        );
    }

    #[test]
    fn a_file_that_codex_drops_is_refused() {
        for text in [
            "{\"hooks\": {}, \"ours\": 1}",
            "{\"hooks\": []}",
            "{\"hooks\": {\"PreToolUse\": {}}}",
            "{\"hooks\": {},}",
            "// x\n{}",
            "\u{feff}{}",
            "[]",
        ] {
            assert!(install(text, PROGRAM).is_err(), "{text}");
        }
    }

    #[test]
    fn commands_that_only_look_like_ours_are_not() {
        let group = |command: &str| json!({"hooks": [{"type": "command", "command": command}]});
        for command in [
            "codexgate hook session-start",
            "'/a b/codexgate' hook session-start",
        ] {
            assert!(OURS[0].is_ours(&group(command)), "{command}");
        }
        for command in [
            "codexgate hook pre-tool-use",
            "evil; codexgate hook session-start",
            "/a b/codexgate hook session-start",
            "other hook session-start",
            "codexgate hook session-start; evil",
        ] {
            assert!(!OURS[0].is_ours(&group(command)), "{command}");
        }
        assert!(!OURS[0].is_ours(&json!({"hooks": []})));
    }
}
