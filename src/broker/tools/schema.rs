//! The JSON Schemas of the four tools, in draft 2020-12 without anything that needs it.

use serde_json::{Value, json};

use super::check::{ACTIONS as CHECK_ACTIONS, DECISIONS};
use super::session::ACTIONS;
use crate::broker::limits;
use crate::broker::words::{Detail, EFFORTS, PERSONALITIES, Policy, SUMMARIES, Sandbox, Status};

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn word(words: &[&str], description: &str) -> Value {
    json!({ "type": "string", "enum": words, "description": description })
}

fn number(least: u64, description: &str) -> Value {
    json!({ "type": "integer", "minimum": least, "description": description })
}

fn flag(otherwise: bool, description: &str) -> Value {
    json!({ "type": "boolean", "default": otherwise, "description": description })
}

fn object(description: &str) -> Value {
    json!({ "type": "object", "additionalProperties": {}, "description": description })
}

fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

fn policy() -> Value {
    word(
        &Policy::WORDS,
        "When Codex asks: `untrusted` before every command that is not known to be harmless, \
         `on-request` when it wants out of the sandbox, `never`. `on-failure` runs as `on-request`.",
    )
}

fn sandbox() -> Value {
    word(
        &Sandbox::WORDS,
        "What commands can reach. `danger-full-access` only where the operator allowed it.",
    )
}

fn effort() -> Value {
    // Codex has more words than these, so they are no closed list.
    json!({
        "type": "string",
        "examples": EFFORTS,
        "description": "Reasoning effort: none, minimal, low, medium, high, xhigh, or another word \
                        of the model's.",
    })
}

fn approval_timeout() -> Value {
    let millis = u64::try_from(limits::APPROVAL.as_millis()).unwrap_or_default();
    json!({
        "type": "integer",
        "exclusiveMinimum": 0,
        "default": millis,
        "description": "How long an approval waits, in milliseconds; then it is declined.",
    })
}

pub(super) fn start_input() -> Value {
    let mut effort = effort();
    effort["default"] = json!("low");
    json!({
        "type": "object",
        "properties": {
            "prompt": text("The task."),
            "approvalPolicy": policy(),
            "sandbox": sandbox(),
            "effort": effort,
            "cwd": text("The folder to work in, relative to the server's. It must exist."),
            "model": text("The model; without it the user's configuration decides."),
            "profile": text("The file NAME.config.toml of Codex's home, below what is given here."),
            "advanced": {
                "type": "object",
                "description": "What is rarely needed.",
                "properties": {
                    "baseInstructions": text("In place of Codex's own instructions."),
                    "developerInstructions": text("Beside Codex's own instructions."),
                    "personality": word(&PERSONALITIES, "Without effect since Codex 0.171."),
                    "summary": word(&SUMMARIES, "How reasoning is summarised."),
                    "config": object("Keys of config.toml about the model; anything else only \
                        where the operator allowed the key."),
                    "ephemeral": flag(false, "Keep nothing on the disk: no resume, no fork."),
                    "outputSchema": object("JSON Schema of the first turn's answer."),
                    "images": texts("Image files, relative to cwd."),
                    "approvalTimeoutMs": approval_timeout(),
                },
            },
        },
        "required": ["prompt", "approvalPolicy", "sandbox"],
    })
}

pub(super) fn start_output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "sessionId": text("Names the session in every other call."),
            "threadId": text("Codex's own name of the conversation."),
            "status": word(&["running", "idle"], "A turn runs, or it waits for a reply."),
            "pollInterval": number(0, "Milliseconds until the next poll, at most."),
            "effective": effective(),
            "compatWarnings": texts("What is not as it was asked."),
            "error": text("Only of an error."),
            "isError": { "type": "boolean" },
        },
    })
}

fn effective() -> Value {
    json!({
        "type": "object",
        "description": "The policy that Codex says it runs under, read back from it.",
        "properties": {
            "approvalPolicy": { "type": "string" },
            "approvalsReviewer": { "type": ["string", "null"] },
            "sandbox": { "type": "string" },
            "networkAccess": { "type": "boolean" },
            "writableRoots": { "type": "array", "items": { "type": "string" } },
            "cwd": { "type": "string" },
            "model": { "type": ["string", "null"] },
            "effort": { "type": ["string", "null"] },
            "codexVersion": { "type": ["string", "null"] },
            "gate": word(&["asks", "refuses", "open"], "What happens to what needs an approval."),
            "readFrom": { "type": "string" },
        },
    })
}

pub(super) fn reply_input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "sessionId": text("The session."),
            "prompt": text("What to do next."),
            "mode": word(&["turn", "steer"], "A new turn (default), or into the running one."),
            "model": text("From now on."),
            "approvalPolicy": policy(),
            "effort": effort(),
            "summary": word(&SUMMARIES, "How reasoning is summarised, from now on."),
            "personality": word(&PERSONALITIES, "Without effect since Codex 0.171."),
            "sandbox": sandbox(),
            "cwd": text("The folder to work in from now on, relative to the session's."),
            "outputSchema": object("JSON Schema of this turn's answer."),
        },
        "required": ["sessionId", "prompt"],
    })
}

pub(super) fn session_input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "action": word(&ACTIONS, "What to do."),
            "sessionId": text("The session; not for list and resume."),
            "includeSensitive": flag(false, "get: also thread, folder, profile and config."),
            "threadId": text("resume: the thread to take up."),
            "approvalPolicy": policy(),
            "sandbox": sandbox(),
            "cwd": text("resume: the folder to work in."),
            "model": text("resume: the model."),
            "profile": text("resume: the profile."),
            "approvalTimeoutMs": approval_timeout(),
        },
        "required": ["action"],
    })
}

fn session_properties() -> Value {
    json!({
        "sessionId": { "type": "string" },
        "status": { "type": "string", "enum": Status::WORDS },
        "createdAt": { "type": "string" },
        "lastActiveAt": { "type": "string" },
        "cancelledAt": { "type": "string" },
        "cancelledReason": { "type": "string" },
        "model": { "type": "string" },
        "approvalPolicy": { "type": "string" },
        "sandbox": { "type": "string" },
        "pendingRequestCount": { "type": "integer" },
        "parentSessionId": { "type": "string" },
        "codexVersion": { "type": "string" },
        "lastError": { "type": "string" },
        "effective": effective(),
    })
}

pub(super) fn session_output() -> Value {
    let mut properties = session_properties();
    properties["sessions"] = json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": session_properties(),
            "required": ["sessionId", "status", "createdAt", "lastActiveAt", "pendingRequestCount"],
        },
    });
    for (name, schema) in [
        ("threadId", json!({ "type": "string" })),
        ("cwd", json!({ "type": "string" })),
        ("profile", json!({ "type": "string" })),
        ("config", json!({ "type": "object" })),
        ("pollInterval", json!({ "type": "integer" })),
        ("success", json!({ "type": "boolean" })),
        ("message", json!({ "type": "string" })),
        ("compatWarnings", texts("What is not as it was asked.")),
        ("error", json!({ "type": "string" })),
        ("isError", json!({ "type": "boolean" })),
    ] {
        properties[name] = schema;
    }
    json!({ "type": "object", "properties": properties })
}

pub(super) fn check_input() -> Value {
    let most = u64::try_from(limits::WAIT_MOST.as_millis()).unwrap_or_default();
    let usual = u64::try_from(limits::WAIT.as_millis()).unwrap_or_default();
    json!({
        "type": "object",
        "properties": {
            "action": word(&CHECK_ACTIONS, "What to do."),
            "sessionId": text("The session."),
            "cursor": number(0, "The first event wanted; without it where you stopped."),
            "maxEvents": number(0, "The most events: 1 for poll, 20 for wait, 0 for respond."),
            "responseMode": word(&Detail::WORDS, "How much of each event."),
            "pollOptions": {
                "type": "object",
                "description": "What is given, and how much.",
                "properties": {
                    "includeEvents": flag(true, "Give events."),
                    "includeActions": flag(true, "Give what waits for an answer."),
                    "includeResult": flag(true, "Give the result of the turn."),
                    "maxBytes": {
                        "type": "integer",
                        "exclusiveMinimum": 0,
                        "description": "The most bytes of the whole answer, 1024 at least.",
                    },
                },
            },
            "timeoutMs": {
                "type": "integer", "minimum": 0, "maximum": most, "default": usual,
                "description": "wait: how long.",
            },
            "until": word(
                &["action", "event", "done"],
                "wait: until something is to be answered or the turn has ended (default), also \
                 on any event, or until the turn has ended or something new is to be answered.",
            ),
            "requestId": text("respond: which request, from `actions`."),
            "decision": word(&DECISIONS, "respond_permission: one of the action's `decisions`."),
            "execpolicy_amendment": texts("With acceptWithExecpolicyAmendment: exactly what was \
                offered."),
            "network_policy_amendment": {
                "type": "object",
                "description": "With applyNetworkPolicyAmendment: exactly what was offered.",
                "properties": {
                    "action": { "type": "string", "enum": ["allow", "deny"] },
                    "host": { "type": "string", "minLength": 1 },
                },
                "required": ["action", "host"],
            },
            "denyMessage": text("respond_permission: a note for the record; the agent does not \
                see it."),
            "content": object("respond_permission on mcpForm: what was filled in."),
            "permissions": object("respond_permission on permissions: the part that is granted."),
            "scope": word(&["turn", "session"], "respond_permission on permissions: how long."),
            "answers": {
                "type": "object",
                "description": "respond_user_input: question id to answers.",
                "additionalProperties": {
                    "type": "object",
                    "properties": { "answers": { "type": "array", "items": { "type": "string" } } },
                    "required": ["answers"],
                },
            },
        },
        "required": ["action", "sessionId"],
    })
}

pub(super) fn check_output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "sessionId": { "type": "string" },
            "status": { "type": "string", "enum": Status::WORDS },
            "pollInterval": { "type": "integer" },
            "events": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": { "type": "integer" },
                        "type": {
                            "type": "string",
                            "enum": ["output", "progress", "approval_request",
                                     "approval_result", "result", "error"],
                        },
                        "data": {},
                        "timestamp": { "type": "string" },
                    },
                    "required": ["id", "type", "data", "timestamp"],
                },
            },
            "nextCursor": { "type": "integer" },
            "cursorResetTo": { "type": "integer" },
            "droppedEvents": { "type": "integer" },
            "timedOut": { "type": "boolean" },
            "actions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "type": { "type": "string", "enum": ["approval", "user_input"] },
                        "requestId": { "type": "string" },
                        "kind": {
                            "type": "string",
                            "enum": ["command", "fileChange", "mcpToolCall", "permissions",
                                     "mcpForm", "mcpUrl", "user_input"],
                        },
                        "params": {},
                        "itemId": { "type": ["string", "null"] },
                        "reason": { "type": ["string", "null"] },
                        "digest": { "type": "string" },
                        "decisions": { "type": "array", "items": { "type": "string" } },
                        "createdAt": { "type": "string" },
                        "expiresAt": { "type": "string" },
                    },
                    "required": ["type", "requestId", "kind", "createdAt"],
                },
            },
            "result": {
                "type": "object",
                "properties": {
                    "turnId": { "type": "string" },
                    "output": { "type": "string" },
                    "structuredOutput": {},
                    "turn": {},
                    "status": { "type": "string" },
                    "turnError": {},
                    "error": { "type": "string" },
                    "completedAt": { "type": "string" },
                },
                "required": ["turnId", "completedAt"],
            },
            "compatWarnings": texts("What is not as it was asked."),
            "truncated": { "type": "boolean" },
            "truncatedFields": { "type": "array", "items": { "type": "string" } },
            "error": { "type": "string" },
            "isError": { "type": "boolean" },
        },
    })
}
