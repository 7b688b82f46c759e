//! Elicitations: what lets an MCP server's question reach a person.
//!
//! Judged on the effective policy. `on-request` and `untrusted` let servers ask; `never` answers
//! for the person; a granular policy decides by `mcp_elicitations`, which Codex needs written out
//! (scenario `granular-missing-mcp-elicitations`).

use crate::codex::effective::{ApprovalPolicy, By, Effective};
use crate::codex::layer::Place;
use crate::document::{KeyPath, Value};

/// What has to change so that servers can ask.
#[derive(Debug, Clone)]
pub struct Need {
    /// The key path.
    pub path: KeyPath,
    /// The value wanted there.
    pub wanted: Value,
    /// Where the present value stands, or the granular table that lacks it.
    pub place: Option<Place>,
    /// Whether the key is missing, and not there with another value.
    pub missing: bool,
    /// What turns questions off, in words.
    pub why: String,
}

/// What has to change in `effective`, if anything.
pub fn need(effective: &Effective) -> Option<Need> {
    let granular = KeyPath::dotted("approval_policy.granular");
    let asks = granular.join("mcp_elicitations");
    let Some(policy) = effective.policy() else {
        // Codex does not start. If the missing key is why, adding it is the way out.
        let table = effective.merged.get(granular.parts())?;
        let members = table.members()?;
        if members.contains_key("mcp_elicitations") {
            return None;
        }
        let (first, _) = members.first()?;
        return Some(Need {
            place: effective.origin(granular.join(first).parts()),
            path: asks,
            wanted: Value::from(true),
            missing: true,
            why: "the granular policy lacks `mcp_elicitations`, which Codex needs".to_owned(),
        });
    };
    let place = match &policy.approval.by {
        By::Layer(place) | By::Requirement(place) => Some(place.clone()),
        By::Default(_) | By::Session(_) => None,
    };
    match policy.approval.value {
        value if value.lets_servers_ask() => None,
        ApprovalPolicy::Granular(_) => Some(Need {
            place: effective.origin(asks.parts()).or(place),
            path: asks,
            wanted: Value::from(true),
            missing: false,
            why: "`mcp_elicitations = false` keeps servers' questions from every person".to_owned(),
        }),
        value => Some(Need {
            path: KeyPath::dotted("approval_policy"),
            wanted: Value::from("on-request"),
            place,
            missing: false,
            why: format!(
                "`{}` is in force: servers' questions are answered without a person",
                value.word()
            ),
        }),
    }
}

/// The change as a line that a person can write.
pub fn by_hand(path: &KeyPath, wanted: &Value) -> String {
    match wanted {
        Value::String(text) => format!("{path} = \"{text}\""),
        Value::Boolean(value) => format!("{path} = {value}"),
        _ => path.to_string(),
    }
}
