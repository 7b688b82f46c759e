//! What an elicitation claims to be (**R1** to **R6**), and which call it points at (**I1** to
//! **I6**).
//!
//! A server can write all of this itself, so nothing here is believed: it only says which open call
//! to look for, and the card is made from that call.

use super::Reason;
use super::ask::ElicitationAsk;
use super::rules::{Rule, Rules};
use serde_json::Value;

/// Marks a tool approval in `_meta`; Codex 0.147 to 0.171.
const MARK: &str = "codex_approval_kind";
/// What it says there.
const TOOL_CALL: &str = "mcp_tool_call";

/// What an elicitation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It points at a tool call.
    Tool,
    /// A server's own form.
    Form,
    /// A server's own link.
    Link,
}

/// Tells what an elicitation is, or why it is declined.
pub(super) fn recognise(rules: Rules, ask: &ElicitationAsk) -> Result<Kind, Reason> {
    let mode = r1_mode(rules, ask);
    let mark = ask.meta.as_object().and_then(|meta| meta.get(MARK));
    match mark {
        Some(mark) if mark.as_str() != Some(TOOL_CALL) => r4_other_kind(rules),
        Some(_) if r2_is_tool_approval(rules, mode, ask) => Ok(Kind::Tool),
        Some(_) => r3_malformed(rules),
        None => match mode {
            Some("form") => Ok(r5_own_question(rules, ask)),
            Some("url") => Ok(r6_link(rules)),
            _ => r6_other_mode(rules),
        },
    }
}

/// **R1**: `mode` absent counts as `form`; null or another type is no mode.
fn r1_mode(rules: Rules, ask: &ElicitationAsk) -> Option<&str> {
    match &ask.mode {
        None => rules.on(Rule::R1).then_some("form"),
        Some(mode) => mode.as_str(),
    }
}

/// **R2**: form, marked, with a schema that has no properties and requires none.
fn r2_is_tool_approval(rules: Rules, mode: Option<&str>, ask: &ElicitationAsk) -> bool {
    if !rules.on(Rule::R2) {
        return true;
    }
    let Some(Value::Object(schema)) = &ask.requested_schema else {
        return false;
    };
    let empty = schema
        .get("properties")
        .and_then(Value::as_object)
        .is_some_and(serde_json::Map::is_empty);
    let required = schema.get("required");
    let none = required.is_none_or(|list| list.as_array().is_some_and(Vec::is_empty));
    mode == Some("form") && empty && none
}

/// **R3**: marked, and of another shape.
fn r3_malformed(rules: Rules) -> Result<Kind, Reason> {
    if rules.on(Rule::R3) {
        Err(Reason::MalformedApproval)
    } else {
        Ok(Kind::Form)
    }
}

/// **R4**: another kind of approval, of any type.
fn r4_other_kind(rules: Rules) -> Result<Kind, Reason> {
    if rules.on(Rule::R4) {
        Err(Reason::UnknownKind)
    } else {
        Ok(Kind::Form)
    }
}

/// **R5**: without the marker it is the server's own question, also where it asks for nothing.
fn r5_own_question(rules: Rules, ask: &ElicitationAsk) -> Kind {
    if rules.on(Rule::R5) || !r2_is_tool_approval(rules, Some("form"), ask) {
        Kind::Form
    } else {
        Kind::Tool
    }
}

/// **R6**: the server's own link.
fn r6_link(rules: Rules) -> Kind {
    if rules.on(Rule::R6) {
        Kind::Link
    } else {
        Kind::Form
    }
}

/// **R6**: user verification, Codex's own forms and whatever comes.
fn r6_other_mode(rules: Rules) -> Result<Kind, Reason> {
    if rules.on(Rule::R6) {
        Err(Reason::UnsupportedMode)
    } else {
        Ok(Kind::Form)
    }
}

/// Where a tool approval points.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Claim {
    pub(super) thread: String,
    pub(super) turn: Option<String>,
    pub(super) server: String,
    pub(super) environment: Option<String>,
    /// None where it is not known.
    pub(super) tool: Option<String>,
    /// None where they are not known.
    pub(super) arguments: Option<Value>,
}

impl Claim {
    /// Reads where an elicitation points that [`recognise`] took for a tool approval.
    pub(super) fn read(rules: Rules, ask: &ElicitationAsk) -> Result<Self, Reason> {
        let named = i1_tool_name(rules, &ask.meta);
        let said = i2_tool_in_message(rules, ask.message.as_str().unwrap_or_default());
        i3_consistent(rules, &ask.server_name, named, said)?;
        let tool = named.or(said
            .filter(|said| said.server == ask.server_name)
            .map(|said| said.tool));
        Ok(Self {
            thread: ask.thread_id.clone(),
            turn: ask.turn_id.clone(),
            server: ask.server_name.clone(),
            environment: ask.environment_id.clone(),
            tool: tool.map(str::to_owned),
            arguments: i4_arguments(rules, &ask.meta),
        })
    }
}

/// **I1**: `_meta.tool_name` where it is a string. Titles and displays never identify.
fn i1_tool_name(rules: Rules, meta: &Value) -> Option<&str> {
    let name = if rules.on(Rule::I1) {
        "tool_name"
    } else {
        "tool_title"
    };
    meta.get(name)?.as_str()
}

/// A message of the standard form: who asks, and for which tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Said<'a> {
    server: &'a str,
    tool: &'a str,
}

/// **I2**: `Allow the SERVER MCP server to run tool "NAME"?`. The name goes up to the last `"?`,
/// which ends the message; a server's name holds neither a space nor a quote.
fn i2_tool_in_message(rules: Rules, message: &str) -> Option<Said<'_>> {
    let rest = message.strip_prefix("Allow the ")?;
    let (server, rest) = rest.split_once(" MCP server to run tool \"")?;
    if server.contains([' ', '"']) {
        return None;
    }
    let tool = if rules.on(Rule::I2) {
        rest.strip_suffix("\"?")?
    } else {
        rest.split_once('"')?.0
    };
    Some(Said { server, tool })
}

/// **I3**: a message of the standard form names the server that asks, and the tool that
/// `tool_name` names. Codex has other forms of messages, which say nothing.
fn i3_consistent(
    rules: Rules,
    server: &str,
    named: Option<&str>,
    said: Option<Said<'_>>,
) -> Result<(), Reason> {
    let Some(said) = said.filter(|_| rules.on(Rule::I3)) else {
        return Ok(());
    };
    if said.server == server && named.is_none_or(|name| name == said.tool) {
        Ok(())
    } else {
        Err(Reason::Inconsistent)
    }
}

/// **I4**: `tool_params` where the key is there, whatever its value.
fn i4_arguments(rules: Rules, meta: &Value) -> Option<Value> {
    let there = meta.get("tool_params").cloned();
    if rules.on(Rule::I4) {
        there
    } else {
        Some(there.unwrap_or_else(|| serde_json::json!({})))
    }
}

/// **I5**: JSON values. The order of members does not count, `1` and `1.0` differ, strings are
/// compared byte for byte.
pub(super) fn i5_same_arguments(rules: Rules, left: &Value, right: &Value) -> bool {
    if rules.on(Rule::I5) {
        left == right
    } else {
        loosely(left) == loosely(right)
    }
}

fn loosely(value: &Value) -> String {
    value.to_string().replace(".0", "").to_lowercase()
}
