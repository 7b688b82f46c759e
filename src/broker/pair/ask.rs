//! The requests that Codex may send, read strictly and with bounds.
//!
//! What each may be answered, and what goes back when nobody answers, stands in
//! [`super::answer`]. A member that has another type than Codex's own schema gives it (0.147 to
//! 0.171) makes the request unreadable; members that are not known are kept in the parameters and
//! never read.

use serde::Deserialize;
use serde_json::{Map, Value};

/// The longest id or name: Codex's are below 64 bytes, a model's call ids below 128.
const NAME_LIMIT: usize = 1024;
/// The most entries of one list of choices: no person reads more.
const LIST_LIMIT: usize = 1000;

/// One request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ask {
    Command(CommandAsk),
    Change(ChangeAsk),
    Permissions(PermissionsAsk),
    Questions(QuestionsAsk),
    Elicitation(ElicitationAsk),
    Fixed(Fixed),
    Unknown,
}

/// Requests that get the same answer whoever is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fixed {
    DynamicTool,
    TokenRefresh,
    Attestation,
    Legacy,
    Time,
}

/// `item/commandExecution/requestApproval`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CommandAsk {
    #[serde(default, deserialize_with = "there")]
    pub(super) kind: Option<Value>,
    pub(super) thread_id: String,
    pub(super) turn_id: String,
    pub(super) item_id: String,
    pub(super) approval_id: Option<String>,
    pub(super) environment_id: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) network_approval_context: Option<Map<String, Value>>,
    pub(super) command: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) command_actions: Option<Vec<Value>>,
    pub(super) additional_permissions: Option<Map<String, Value>>,
    pub(super) proposed_execpolicy_amendment: Option<Vec<String>>,
    pub(super) proposed_network_policy_amendments: Option<Vec<Network>>,
    pub(super) available_decisions: Option<Vec<Value>>,
}

/// A rule for a host.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The host.
    pub host: String,
    /// `allow` or `deny`.
    pub action: NetworkAction,
}

/// What a rule for a host does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkAction {
    /// Lets it through, for good.
    Allow,
    /// Holds it back, for good.
    Deny,
}

impl NetworkAction {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// `item/fileChange/requestApproval`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChangeAsk {
    pub(super) thread_id: String,
    pub(super) turn_id: String,
    pub(super) item_id: String,
    pub(super) reason: Option<String>,
    pub(super) grant_root: Option<String>,
}

/// `item/permissions/requestApproval`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionsAsk {
    pub(super) thread_id: String,
    pub(super) turn_id: String,
    pub(super) item_id: String,
    pub(super) environment_id: Option<String>,
    pub(super) cwd: String,
    pub(super) reason: Option<String>,
    pub(super) permissions: Map<String, Value>,
}

/// `item/tool/requestUserInput`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct QuestionsAsk {
    pub(super) thread_id: String,
    pub(super) turn_id: String,
    pub(super) item_id: String,
    pub(super) questions: Vec<Question>,
    pub(super) is_blocking: Option<bool>,
}

/// One question to the user.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Question {
    pub(super) id: String,
    pub(super) header: String,
    #[allow(clippy::struct_field_names)] // Codex's own name
    pub(super) question: String,
    #[serde(default)]
    pub(super) is_other: bool,
    #[serde(default)]
    pub(super) is_secret: bool,
    pub(super) options: Option<Vec<Choice>>,
}

/// One of the answers that a question offers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Choice {
    pub(super) label: String,
    #[serde(default)]
    pub(super) description: String,
}

/// `mcpServer/elicitation/request`. Thread, turn, server and environment are Codex's; the rest a
/// server can write byte for byte, so it is kept as it came.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ElicitationAsk {
    pub(super) thread_id: String,
    pub(super) turn_id: Option<String>,
    pub(super) server_name: String,
    pub(super) environment_id: Option<String>,
    #[serde(default, deserialize_with = "there")]
    pub(super) mode: Option<Value>,
    #[serde(default, rename = "_meta")]
    pub(super) meta: Value,
    #[serde(default)]
    pub(super) message: Value,
    pub(super) title: Option<Value>,
    #[serde(default, deserialize_with = "there")]
    pub(super) requested_schema: Option<Value>,
    pub(super) url: Option<Value>,
    pub(super) elicitation_id: Option<Value>,
}

/// Tells null from absent.
fn there<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Ask {
    /// Reads the parameters of `method`.
    ///
    /// # Errors
    /// Why they cannot be read.
    pub(super) fn read(method: &str, params: &Value) -> Result<Self, String> {
        fn of<T: for<'de> Deserialize<'de>>(params: &Value) -> Result<T, String> {
            if !params.is_object() {
                return Err("the parameters are no object".into());
            }
            T::deserialize(params).map_err(|error| error.to_string())
        }
        let ask = match method {
            "item/commandExecution/requestApproval" => Self::Command(of(params)?),
            "item/fileChange/requestApproval" => Self::Change(of(params)?),
            "item/permissions/requestApproval" => Self::Permissions(of(params)?),
            "item/tool/requestUserInput" => Self::Questions(of(params)?),
            "mcpServer/elicitation/request" => Self::Elicitation(of(params)?),
            "item/tool/call" => Self::Fixed(Fixed::DynamicTool),
            "account/chatgptAuthTokens/refresh" => Self::Fixed(Fixed::TokenRefresh),
            "attestation/generate" => Self::Fixed(Fixed::Attestation),
            "applyPatchApproval" | "execCommandApproval" => Self::Fixed(Fixed::Legacy),
            "currentTime/read" => Self::Fixed(Fixed::Time),
            _ => Self::Unknown,
        };
        ask.bounded()?;
        Ok(ask)
    }

    /// Refuses names and lists that no request of Codex has.
    fn bounded(&self) -> Result<(), String> {
        let (names, lists): (Vec<Option<&str>>, Vec<usize>) = match self {
            Self::Command(ask) => (
                vec![
                    Some(&ask.thread_id),
                    Some(&ask.turn_id),
                    Some(&ask.item_id),
                    ask.approval_id.as_deref(),
                ],
                vec![
                    ask.command_actions.as_ref().map_or(0, Vec::len),
                    ask.proposed_execpolicy_amendment
                        .as_ref()
                        .map_or(0, Vec::len),
                    ask.proposed_network_policy_amendments
                        .as_ref()
                        .map_or(0, Vec::len),
                    ask.available_decisions.as_ref().map_or(0, Vec::len),
                ],
            ),
            Self::Change(ask) => (
                vec![Some(&ask.thread_id), Some(&ask.turn_id), Some(&ask.item_id)],
                vec![],
            ),
            Self::Permissions(ask) => (
                vec![Some(&ask.thread_id), Some(&ask.turn_id), Some(&ask.item_id)],
                vec![],
            ),
            Self::Questions(ask) => {
                let options = ask
                    .questions
                    .iter()
                    .map(|q| q.options.as_ref().map_or(0, Vec::len));
                let names = ask.questions.iter().map(|q| Some(q.id.as_str()));
                let own = [
                    Some(ask.thread_id.as_str()),
                    Some(&ask.turn_id),
                    Some(&ask.item_id),
                ];
                (
                    own.into_iter().chain(names).collect(),
                    options.chain([ask.questions.len()]).collect(),
                )
            }
            Self::Elicitation(ask) => (
                vec![
                    Some(&ask.thread_id),
                    ask.turn_id.as_deref(),
                    Some(&ask.server_name),
                    ask.environment_id.as_deref(),
                ],
                vec![],
            ),
            Self::Fixed(_) | Self::Unknown => (vec![], vec![]),
        };
        if names
            .into_iter()
            .flatten()
            .any(|name| name.len() > NAME_LIMIT)
        {
            return Err(format!("an id is longer than {NAME_LIMIT} bytes"));
        }
        if lists.into_iter().any(|length| length > LIST_LIMIT) {
            return Err(format!("a list has more than {LIST_LIMIT} entries"));
        }
        if let Self::Questions(ask) = self {
            let mut ids: Vec<&str> = ask.questions.iter().map(|q| q.id.as_str()).collect();
            ids.sort_unstable();
            if ids.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err("two questions have one id".into());
            }
        }
        Ok(())
    }
}
