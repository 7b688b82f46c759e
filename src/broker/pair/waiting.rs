//! A request that waits for an answer: what is asked, by whom, until when, and its digest.
//!
//! Whatever a person is shown or a client is handed is made from here: the action of
//! `codex_check`, the event, the card. Calls come from what Codex announced; what a server wrote
//! is marked as its words.

use super::answer::{self, Word};
use super::ask::{ChangeAsk, CommandAsk, ElicitationAsk, PermissionsAsk, QuestionsAsk};
use super::calls::{Command, FileChange, Tool};
use super::card::Card;
use super::link::Link;
use super::rules::{Rule, Rules};
use super::{Now, iso};
use crate::rpc::Id;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// A request that waits.
#[derive(Debug, Clone)]
pub struct Pending {
    pub(super) rules: Rules,
    pub(super) request_id: String,
    pub(super) session: String,
    pub(super) agent_path: Option<String>,
    pub(super) generation: u64,
    pub(super) id: Id,
    pub(super) thread: String,
    pub(super) turn: Option<String>,
    pub(super) item: Option<String>,
    pub(super) asked: Asked,
    pub(super) params: Value,
    pub(super) digest: String,
    pub(super) created: Now,
    pub(super) timeout: Duration,
    /// Of the call that it holds.
    pub(super) call: Option<u64>,
}

/// What is asked.
#[derive(Debug, Clone)]
pub(super) enum Asked {
    Command(CommandAsked),
    Change {
        ask: ChangeAsk,
        changes: Vec<FileChange>,
    },
    Tool {
        ask: Box<ElicitationAsk>,
        tool: Tool,
    },
    Permissions(PermissionsAsk),
    Form {
        ask: Box<ElicitationAsk>,
        during: Vec<String>,
    },
    Link {
        ask: Box<ElicitationAsk>,
        url: String,
        link: Link,
    },
    Questions(QuestionsAsk),
}

/// A command, or input to one that runs.
#[derive(Debug, Clone)]
pub(super) struct CommandAsked {
    pub(super) ask: Box<CommandAsk>,
    /// As it was announced: what runs, or what the input goes to.
    pub(super) call: Command,
    pub(super) stdin: bool,
}

impl Asked {
    /// The word in `kind`.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Command(_) => "command",
            Self::Change { .. } => "fileChange",
            Self::Tool { .. } => "mcpToolCall",
            Self::Permissions(_) => "permissions",
            Self::Form { .. } => "mcpForm",
            Self::Link { .. } => "mcpUrl",
            Self::Questions(_) => "user_input",
        }
    }

    /// All that a decision is about, without the process and the ids that change with each
    /// request: what the digest is made of (**I6**, **C3**).
    pub(super) fn key(&self, thread: &str, turn: Option<&str>) -> Value {
        let what = match self {
            Self::Command(asked) => json!({
                "command": asked.call.command,
                "cwd": asked.call.cwd,
                "stdin": asked.stdin.then_some(&asked.ask.command),
                "itemId": asked.ask.item_id,
                "approvalId": asked.ask.approval_id,
                "environmentId": asked.ask.environment_id,
                "network": asked.ask.network_approval_context,
                "permissions": asked.ask.additional_permissions,
                "rule": asked.ask.proposed_execpolicy_amendment,
            }),
            Self::Change { ask, changes } => json!({
                "itemId": ask.item_id,
                "grantRoot": ask.grant_root,
                "changes": changes_json(changes),
            }),
            Self::Tool { tool, .. } => json!({
                "serverName": tool.server, "environmentId": tool.environment_id,
                "tool": tool.tool, "arguments": tool.arguments,
            }),
            Self::Permissions(ask) => json!({
                "itemId": ask.item_id,
                "cwd": ask.cwd,
                "environmentId": ask.environment_id,
                "permissions": ask.permissions,
            }),
            Self::Form { ask, .. } => json!({
                "serverName": ask.server_name, "environmentId": ask.environment_id,
                "message": ask.message, "schema": ask.requested_schema,
            }),
            Self::Link { ask, url, .. } => json!({
                "serverName": ask.server_name, "environmentId": ask.environment_id,
                "message": ask.message, "url": url, "elicitationId": ask.elicitation_id,
            }),
            Self::Questions(ask) => {
                json!({"itemId": ask.item_id, "questions": questions_json(ask)})
            }
        };
        json!({"kind": self.kind(), "threadId": thread, "turnId": turn, "what": what})
    }
}

impl Pending {
    /// The name that an answer gives.
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// Whose it is.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The thread that asks: a subagent's own.
    pub fn thread(&self) -> &str {
        &self.thread
    }

    /// The turn, where Codex names one.
    pub fn turn(&self) -> Option<&str> {
        self.turn.as_deref()
    }

    /// The word in `kind`.
    pub fn kind(&self) -> &'static str {
        self.asked.kind()
    }

    /// SHA-256 of what is asked, in hex. A decision is bound to it.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// When it is declined if nobody answers.
    pub fn expires(&self) -> Instant {
        self.created.at + self.timeout
    }

    /// The same in milliseconds since 1970.
    pub fn expires_utc(&self) -> u64 {
        self.created.utc.saturating_add(super::millis(self.timeout))
    }

    /// How a person sees it.
    pub fn card(&self) -> Card {
        Card::of(self)
    }

    /// The words that fit it, whoever says them.
    pub fn words(&self) -> Vec<Word> {
        answer::words(self.rules, self)
    }

    /// A server's form, as it may be passed on to a client that shows forms.
    pub fn form(&self) -> Option<(&str, &Value)> {
        match &self.asked {
            Asked::Form { ask, .. } => {
                Some((ask.message.as_str()?, ask.requested_schema.as_ref()?))
            }
            _ => None,
        }
    }

    /// A server's link: its message, the URL and the `elicitationId`.
    pub fn link(&self) -> Option<(&str, &str, &str)> {
        match &self.asked {
            Asked::Link { ask, url, .. } => {
                let id = ask.elicitation_id.as_ref().and_then(Value::as_str);
                Some((
                    ask.message.as_str().unwrap_or_default(),
                    url,
                    id.unwrap_or_default(),
                ))
            }
            _ => None,
        }
    }

    /// The whole entry of `actions[]`.
    pub fn action(&self) -> Value {
        let mut action = self.shown();
        action.insert("params".into(), self.params.clone());
        if let Asked::Questions(_) = self.asked {
            action.remove("questions");
        }
        Value::Object(action)
    }

    /// The data of its `approval_request` event: the action without the parameters, with what the
    /// short modes show.
    pub fn event(&self) -> Value {
        let mut event = self.shown();
        match &self.asked {
            Asked::Command(asked) => {
                event.insert("command".into(), readable(asked).into());
            }
            Asked::Change { changes, .. } => {
                let paths: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
                event.insert("paths".into(), json!(paths));
            }
            _ => {}
        }
        Value::Object(event)
    }

    fn shown(&self) -> Map<String, Value> {
        let mut out = Map::new();
        let mut put = |name: &str, value: Value| {
            out.insert(name.into(), value);
        };
        let kind = self.kind();
        put(
            "type",
            if kind == "user_input" {
                "user_input"
            } else {
                "approval"
            }
            .into(),
        );
        put("requestId", self.request_id.as_str().into());
        put("kind", kind.into());
        put("itemId", json!(self.item));
        put("threadId", self.thread.as_str().into());
        put("turnId", json!(self.turn));
        if let Some(path) = &self.agent_path {
            put("agentPath", path.as_str().into());
        }
        let reason = match &self.asked {
            Asked::Command(asked) => &asked.ask.reason,
            Asked::Change { ask, .. } => &ask.reason,
            Asked::Permissions(ask) => &ask.reason,
            _ => &None,
        };
        if let Some(reason) = reason {
            put("reason", reason.as_str().into());
        }
        match &self.asked {
            Asked::Command(asked) => {
                let of = |name: &str| self.params.get(name).cloned().unwrap_or(Value::Null);
                for name in [
                    "commandActions",
                    "proposedExecpolicyAmendment",
                    "availableDecisions",
                    "proposedNetworkPolicyAmendments",
                ] {
                    put(name, of(name));
                }
                for name in [
                    "approvalId",
                    "additionalPermissions",
                    "networkApprovalContext",
                ] {
                    if !of(name).is_null() {
                        put(name, of(name));
                    }
                }
                if asked.stdin {
                    put(
                        "terminal",
                        json!({"command": asked.call.command, "cwd": asked.call.cwd}),
                    );
                }
            }
            Asked::Change { changes, .. } => put("changes", changes_json(changes)),
            Asked::Tool { ask, tool } => {
                put("server", tool.server.as_str().into());
                put("environmentId", json!(tool.environment_id));
                put("tool", tool.tool.as_str().into());
                put("arguments", tool.arguments.clone());
                for (name, meta) in [
                    ("description", "tool_description"),
                    ("annotations", "tool_annotations"),
                ] {
                    if let Some(value) = ask.meta.get(meta) {
                        put(name, value.clone());
                    }
                }
                put("persistOffered", json!(answer::persist(self)));
                if tool.read_only_hint == Some(true) && self.rules.on(Rule::P8) {
                    put("unusual", true.into());
                }
            }
            Asked::Permissions(ask) => {
                put("requested", Value::Object(ask.permissions.clone()));
                put("cwd", ask.cwd.as_str().into());
            }
            Asked::Form { ask, during } => {
                put("server", ask.server_name.as_str().into());
                put("message", ask.message.clone());
                put("schema", ask.requested_schema.clone().unwrap_or_default());
                if !during.is_empty() {
                    put("during", json!(during));
                }
            }
            Asked::Link { ask, url, link } => {
                put("server", ask.server_name.as_str().into());
                put("message", ask.message.clone());
                put("url", url.as_str().into());
                put("host", link.host.as_str().into());
                put("urlWarnings", json!(link.warnings));
                put(
                    "elicitationId",
                    ask.elicitation_id.clone().unwrap_or_default(),
                );
            }
            Asked::Questions(ask) => put("questions", questions_json(ask)),
        }
        put("digest", self.digest.as_str().into());
        put("createdAt", iso(self.created.utc).into());
        put("expiresAt", iso(self.expires_utc()).into());
        let words: Vec<&str> = self.words().into_iter().map(Word::as_str).collect();
        put("decisions", json!(words));
        let card = self.card();
        put("card", card.bounded().into());
        put("cardFits", card.fits().into());
        out
    }
}

/// The line that a person reads: without the shell around it, where Codex gives it so.
fn readable(asked: &CommandAsked) -> String {
    let actions = asked.ask.command_actions.as_deref().unwrap_or_default();
    let lines: Vec<&str> = actions
        .iter()
        .filter_map(|action| action.get("command")?.as_str())
        .collect();
    match &asked.ask.command {
        Some(command) if asked.stdin => command.clone(),
        _ if lines.is_empty() => asked.call.command.clone(),
        _ => lines.join(" && "),
    }
}

fn changes_json(changes: &[FileChange]) -> Value {
    let one = |change: &FileChange| json!({"path": change.path, "kind": change.kind, "diff": change.diff});
    changes.iter().map(one).collect()
}

fn questions_json(ask: &QuestionsAsk) -> Value {
    let one = |question: &super::ask::Question| {
        let options = question.options.as_ref().map(|list| {
            let one = |choice: &super::ask::Choice| {
                json!({"label": choice.label, "description": choice.description})
            };
            list.iter().map(one).collect::<Vec<_>>()
        });
        json!({
            "id": question.id, "header": question.header, "question": question.question,
            "isOther": question.is_other, "isSecret": question.is_secret, "options": options,
        })
    };
    ask.questions.iter().map(one).collect()
}
