//! Hooks: what `hooks.json` and `[hooks]` of a config.toml declare, as Codex reads them.
//!
//! The two spell the same thing; only the consequences of a mistake differ. In hooks.json it voids
//! the whole file with a warning and Codex starts; in a config.toml it stops Codex (scenarios
//! `hooks-command-array`, `hooks-toml-wrong-type`). Unknown events, and keys that are nearly right,
//! are ignored without a word (`hooks-json-camel-event`, `hooks-json-flat`).
//!
//! [`Handler::hash`] is the digest that `[hooks.state]` trusts. It is here to tell whether a hook
//! is trusted; whoever writes trust asks Codex for the digest instead.

use std::fmt::Write as _;

use indexmap::IndexMap;
use serde_json::{Map, Value as Json};
use sha2::{Digest as _, Sha256};

use super::version::{Change, Version};
use crate::document::Value;

/// The seconds that a handler may run when it does not say.
pub const DEFAULT_TIMEOUT: u64 = 600;

/// One event that hooks can be tied to.
#[derive(Debug, PartialEq, Eq)]
pub struct Event {
    /// Its name in the files.
    pub name: &'static str,
    /// Its name in the keys of `[hooks.state]`.
    pub key: &'static str,
    /// Whether a matcher counts. On the others it is ignored, a wrong one too.
    pub matched: bool,
    /// Whether its handlers get one second, and at most three.
    pub brief: bool,
    /// Since when it is known; none: in all versions that were asked.
    pub since: Option<Change>,
}

const fn event(name: &'static str, key: &'static str, matched: bool) -> Event {
    Event {
        name,
        key,
        matched,
        brief: false,
        since: None,
    }
}

/// The events in Codex's order (scenario `hooks-all-events`).
#[rustfmt::skip]
pub static EVENTS: [Event; 14] = [
    Event { since: Some(Change::HookModelRequest), ..event("PreModelRequest", "pre_model_request", false) },
    Event { since: Some(Change::HookModelRequest), ..event("PostModelRequest", "post_model_request", false) },
    event("PreToolUse", "pre_tool_use", true),
    event("PermissionRequest", "permission_request", true),
    event("PostToolUse", "post_tool_use", true),
    event("PreCompact", "pre_compact", true),
    event("PostCompact", "post_compact", true),
    event("SessionStart", "session_start", true),
    Event { brief: true, since: Some(Change::HookSessionEnd), ..event("SessionEnd", "session_end", true) },
    event("UserPromptSubmit", "user_prompt_submit", false),
    event("SubagentStart", "subagent_start", true),
    event("SubagentStop", "subagent_stop", true),
    event("Stop", "stop", false),
    Event { brief: true, since: Some(Change::HookInterrupt), ..event("Interrupt", "interrupt", false) },
];

impl Event {
    fn is_known(&self, version: Version) -> bool {
        self.since.is_none_or(|change| version.has(change))
    }
}

/// What a handler is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerKind {
    /// A program.
    Command,
    /// A tool of an MCP server.
    McpTool,
}

/// One handler that Codex would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handler {
    /// Its event.
    pub event: &'static Event,
    /// The matcher of its group, where one counts.
    pub matcher: Option<String>,
    /// What it is.
    pub kind: HandlerKind,
    /// The program's command line.
    pub command: Option<String>,
    /// The seconds that it may run.
    pub timeout: u64,
    /// The index of its group below the event.
    pub group: usize,
    /// Its index in the group.
    pub index: usize,
    /// The digest that `[hooks.state]` would name, where the model knows how it is made.
    pub hash: Option<String>,
}

/// A handler or group that Codex leaves out with a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skipped {
    /// Scenario `hooks-empty-command`.
    EmptyCommand,
    /// `prompt` and `agent` (scenario `hooks-prompt-type`).
    Unsupported(&'static str),
    /// Scenario `hooks-json-bad-regex`.
    BadMatcher(String),
    /// Before 0.154 ([`Change::AsyncHooksRun`]).
    Async,
}

/// What a file or table declares.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hooks {
    /// What Codex runs, once it is trusted.
    pub handlers: Vec<Handler>,
    /// What it leaves out with a warning.
    pub skipped: Vec<Skipped>,
    /// Whether there is any group below an event that Codex knows.
    pub declares: bool,
}

/// Reads the text of a hooks.json.
///
/// # Errors
/// What voids the whole file.
pub fn parse_json(text: &str, version: Version) -> Result<Hooks, String> {
    let Unique(root) = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let as_object = as_object(&root);
    let members = as_object
        .as_ref()
        .or_else(|| root.as_object())
        .ok_or("the file is no object")?;
    for (name, value) in members {
        match name.as_str() {
            "hooks" => {}
            "description" if value.is_string() || value.is_null() => {}
            "description" => return Err("`description` is no string".to_owned()),
            _ if version.has(Change::HooksJsonIsStrict) => {
                return Err(format!(
                    "`{name}` stands beside `hooks`, where only `description` may"
                ));
            }
            _ => {}
        }
    }
    match members.get("hooks") {
        None => Ok(Hooks::default()),
        Some(Json::Object(events)) => read(events, version),
        Some(Json::Array(events)) if events.is_empty() => Ok(Hooks::default()),
        Some(_) => Err("`hooks` is no object".to_owned()),
    }
}

/// A file that is an array of its two values (scenario `hooks-json-array`).
fn as_object(root: &Json) -> Option<Map<String, Json>> {
    let items = root.as_array().filter(|items| items.len() <= 2)?;
    Some(
        ["description", "hooks"]
            .into_iter()
            .map(str::to_owned)
            .zip(items.iter().cloned())
            .collect(),
    )
}

/// Reads `[hooks]` of a config.toml.
///
/// # Errors
/// What stops Codex.
pub fn parse_table(members: &IndexMap<String, Value>, version: Version) -> Result<Hooks, String> {
    let mut events = Map::new();
    for (name, value) in members {
        events.insert(name.clone(), json(value));
    }
    read(&events, version)
}

fn read(events: &Map<String, Json>, version: Version) -> Result<Hooks, String> {
    let mut hooks = Hooks::default();
    for event in EVENTS.iter().filter(|event| event.is_known(version)) {
        let Some(groups) = events.get(event.name) else {
            continue;
        };
        let groups = groups
            .as_array()
            .ok_or_else(|| format!("`{}` is no array", event.name))?;
        hooks.declares |= !groups.is_empty();
        for (index, group) in groups.iter().enumerate() {
            read_group(event, index, group, version, &mut hooks)?;
        }
    }
    Ok(hooks)
}

fn read_group(
    event: &'static Event,
    group: usize,
    value: &Json,
    version: Version,
    hooks: &mut Hooks,
) -> Result<(), String> {
    let (matcher, handlers) = match value {
        Json::Object(members) => (members.get("matcher"), members.get("hooks")),
        Json::Array(items) if items.len() <= 2 => (items.first(), items.get(1)),
        _ => return Err(format!("a group of `{}` is no object", event.name)),
    };
    let matcher = optional_text(matcher, "matcher")?;
    let handlers = match handlers {
        None => &[],
        Some(Json::Array(items)) => items.as_slice(),
        Some(_) => return Err("`hooks` of a group is no array".to_owned()),
    };
    let matcher = matcher.filter(|_| event.matched);
    let is_regex = matcher.as_deref().is_none_or(is_matcher);
    if !is_regex {
        hooks
            .skipped
            .push(Skipped::BadMatcher(matcher.clone().unwrap_or_default()));
    }
    for (index, handler) in handlers.iter().enumerate() {
        let read = read_handler(handler, version)?;
        if !is_regex {
            continue;
        }
        match read {
            Read::Skip(skipped) => hooks.skipped.push(skipped),
            Read::Run(declared) => {
                let timeout = if event.brief {
                    declared.timeout.unwrap_or(1).clamp(1, 3)
                } else {
                    declared.timeout.unwrap_or(DEFAULT_TIMEOUT).max(1)
                };
                let hash = declared.hash(event, matcher.as_deref(), timeout);
                hooks.handlers.push(Handler {
                    event,
                    matcher: matcher.clone(),
                    kind: declared.kind,
                    command: declared.command,
                    timeout,
                    group,
                    index,
                    hash,
                });
            }
        }
    }
    Ok(())
}

/// Everything, nothing, or a regular expression.
fn is_matcher(matcher: &str) -> bool {
    matcher.is_empty() || matcher == "*" || regex_syntax::parse(matcher).is_ok()
}

enum Read {
    Skip(Skipped),
    Run(Declared),
}

struct Declared {
    kind: HandlerKind,
    command: Option<String>,
    timeout: Option<u64>,
    is_async: bool,
    status: Option<String>,
    limit: Option<u64>,
}

impl Declared {
    /// The digest of the handler in its normal form: a JSON object with sorted keys (scenario
    /// `hooks-trusted-hash`).
    fn hash(&self, event: &Event, matcher: Option<&str>, timeout: u64) -> Option<String> {
        if self.kind != HandlerKind::Command || self.limit.is_some() {
            return None;
        }
        let mut handler = Map::new();
        handler.insert("async".to_owned(), self.is_async.into());
        handler.insert("command".to_owned(), self.command.clone()?.into());
        if let Some(status) = &self.status {
            handler.insert("statusMessage".to_owned(), status.clone().into());
        }
        handler.insert("timeout".to_owned(), timeout.into());
        handler.insert("type".to_owned(), "command".into());
        let mut identity = Map::new();
        identity.insert("event_name".to_owned(), event.key.into());
        identity.insert("hooks".to_owned(), Json::Array(vec![Json::Object(handler)]));
        if let Some(matcher) = matcher {
            identity.insert("matcher".to_owned(), matcher.into());
        }
        let digest = Sha256::digest(Json::Object(identity).to_string().as_bytes());
        let mut hash = "sha256:".to_owned();
        for byte in digest {
            let _ = write!(hash, "{byte:02x}");
        }
        Some(hash)
    }
}

fn read_handler(value: &Json, version: Version) -> Result<Read, String> {
    let members = match value {
        Json::Object(members) => members.clone(),
        Json::Array(items) => positional(items)?,
        _ => return Err("a handler is no object".to_owned()),
    };
    let kind = match members.get("type") {
        None => return Err("a handler has no `type`".to_owned()),
        Some(Json::String(kind)) => kind.as_str(),
        Some(_) => return Err("a handler's `type` is no string".to_owned()),
    };
    let kind = match kind {
        "command" => HandlerKind::Command,
        "mcp_tool" if version.has(Change::HookMcpTool) => HandlerKind::McpTool,
        "prompt" => return Ok(Read::Skip(Skipped::Unsupported("prompt"))),
        "agent" => return Ok(Read::Skip(Skipped::Unsupported("agent"))),
        other => return Err(format!("`{other}` is no type of handler")),
    };
    let timeout = optional_count(members.get("timeout"), "timeout")?;
    let status = optional_text(members.get("statusMessage"), "statusMessage")?;
    if kind == HandlerKind::McpTool {
        for name in ["server", "tool"] {
            if !members.get(name).is_some_and(Json::is_string) {
                return Err(format!("`{name}` is missing or no string"));
            }
        }
        if members.get("input").is_some_and(|input| !input.is_object()) {
            return Err("`input` is no object".to_owned());
        }
        return Ok(Read::Run(Declared {
            kind,
            command: None,
            timeout,
            is_async: false,
            status,
            limit: None,
        }));
    }
    let command = members
        .get("command")
        .ok_or("a handler has no `command`")?
        .as_str()
        .ok_or("`command` is no string")?
        .to_owned();
    let is_async = match members.get("async") {
        None => false,
        Some(Json::Bool(on)) => *on,
        Some(_) => return Err("`async` is not true or false".to_owned()),
    };
    if members.contains_key("commandWindows") && members.contains_key("command_windows") {
        return Err("`commandWindows` is there twice".to_owned());
    }
    for name in ["commandWindows", "command_windows"] {
        optional_text(members.get(name), name)?;
    }
    let limit = optional_count(
        members.get("additionalContextLimit"),
        "additionalContextLimit",
    )?;
    if command.trim().is_empty() {
        return Ok(Read::Skip(Skipped::EmptyCommand));
    }
    if is_async && !version.has(Change::AsyncHooksRun) {
        return Ok(Read::Skip(Skipped::Async));
    }
    Ok(Read::Run(Declared {
        kind,
        command: Some(command),
        timeout,
        is_async,
        status,
        limit,
    }))
}

/// A handler written as an array: its type, then its values in Codex's order.
fn positional(items: &[Json]) -> Result<Map<String, Json>, String> {
    const COMMAND: [&str; 7] = [
        "type",
        "command",
        "commandWindows",
        "timeout",
        "async",
        "statusMessage",
        "additionalContextLimit",
    ];
    if items.len() > COMMAND.len() {
        return Err("a handler has too many elements".to_owned());
    }
    Ok(COMMAND
        .iter()
        .zip(items)
        .map(|(name, item)| ((*name).to_owned(), item.clone()))
        .collect())
}

fn optional_text(value: Option<&Json>, name: &str) -> Result<Option<String>, String> {
    match value {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{name}` is no string")),
    }
}

fn optional_count(value: Option<&Json>, name: &str) -> Result<Option<u64>, String> {
    match value {
        None | Some(Json::Null) => Ok(None),
        Some(value) => value
            .as_u64()
            .map(Some)
            .ok_or_else(|| format!("`{name}` is no count")),
    }
}

/// A value of TOML as JSON; a date counts as its text.
fn json(value: &Value) -> Json {
    match value {
        Value::String(text) | Value::Datetime(text) => text.clone().into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Boolean(value) => (*value).into(),
        Value::Array(items) => items.iter().map(json).collect(),
        Value::Table(members) => members
            .iter()
            .map(|(name, member)| (name.clone(), json(member)))
            .collect::<Map<String, Json>>()
            .into(),
    }
}

/// JSON in which no object has a key twice (scenario `hooks-json-duplicate-key`).
struct Unique(Json);

impl<'de> serde::Deserialize<'de> for Unique {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> serde::de::Visitor<'de> for UniqueVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut found = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            found.push(item);
        }
        Ok(found.into())
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut found = Map::new();
        while let Some((name, Unique(member))) = members.next_entry::<String, Unique>()? {
            if found.insert(name.clone(), member).is_some() {
                return Err(serde::de::Error::custom(format!("`{name}` is there twice")));
            }
        }
        Ok(found.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hooks(text: &str) -> Result<Hooks, String> {
        parse_json(text, Version::default())
    }

    #[test]
    fn the_digest_is_the_one_that_codex_trusts() {
        let found = hooks(
            r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"true"}]}]}}"#,
        )
        .expect("Codex takes it");
        assert_eq!(
            found.handlers[0].hash.as_deref(),
            Some("sha256:39057ebd30cc98418da09c661f1ff844e076ba83820ea7f8a14b085993f1a440")
        );
    }

    #[test]
    fn what_is_nearly_right_is_ignored_and_what_is_wrong_voids_the_file() {
        for text in [
            r#"{"hooks":{"sessionStart":[{"hooks":[{"type":"command","command":"x"}]}]}}"#,
            r#"{"hooks":{"SessionStart":[{"type":"command","command":"x"}]}}"#,
            "{}",
        ] {
            assert_eq!(
                hooks(text).map(|found| found.handlers.len()),
                Ok(0),
                "{text}"
            );
        }
        for text in [
            "",
            "\u{feff}{}",
            r#"{"hooks":{"Stop":[],"Stop":[]}}"#,
            r#"{"version":1,"hooks":{}}"#,
            r#"{"hooks":{"Stop":[{"hooks":[{"type":"script"}]}]}}"#,
            r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":["x"]}]}]}}"#,
        ] {
            assert!(hooks(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_wrong_matcher_drops_its_group_where_a_matcher_counts() {
        let text = |event: &str| {
            format!(
                r#"{{"hooks":{{"{event}":[{{"matcher":"(","hooks":[{{"type":"command","command":"x"}}]}}]}}}}"#
            )
        };
        assert_eq!(
            hooks(&text("Stop")).map(|found| found.handlers.len()),
            Ok(1)
        );
        let dropped = hooks(&text("PreToolUse")).expect("Codex takes it");
        assert_eq!(dropped.skipped, [Skipped::BadMatcher("(".to_owned())]);
        assert!(dropped.handlers.is_empty());
    }
}
