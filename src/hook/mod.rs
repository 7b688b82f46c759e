//! Hooks: what Codex asks at a session's start and before a tool, and our answers.
//!
//! They guide an agent to the gate; no promise rests on them. So whatever goes wrong here never
//! stops Codex: the answer is a warning that the person sees, and the exit code stays 0. Codex
//! takes exit code 2 for a refusal, and drops the words of any other one (0.171).
//!
//! Shapes as seen on 0.171: a JSON object on standard input with `hook_event_name`, `cwd` and, for
//! a tool, `tool_name` (`Bash` for every shell) and `tool_input.command`, the text of a command
//! line; an answer in `hookSpecificOutput`, or a `systemMessage`. No answer is no objection.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::text::visible::visible_lines;

pub mod pre_tool_use;
pub mod session_start;

/// The most bytes of an input: a command line may carry a file.
pub const INPUT_LIMIT: u64 = 8 * 1024 * 1024;

/// Codex's name for every shell.
const SHELL: &str = "Bash";

/// What Codex tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Input {
    /// The session's working folder.
    pub cwd: Option<PathBuf>,
    /// The command line that is about to run, if a shell is.
    pub command: Option<String>,
}

/// Why an input is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is no JSON object.
    #[error("what Codex tells is no JSON object")]
    NoObject,
    /// It is about another event.
    #[error("what Codex tells is about another event than `{0}`")]
    OtherEvent(&'static str),
    /// A shell without a command line.
    #[error("what Codex tells of a shell has no command line")]
    NoCommand,
}

impl Input {
    /// Reads what Codex tells about `event`.
    ///
    /// # Errors
    /// It is not what is known of Codex.
    pub fn read(bytes: &[u8], event: &'static str) -> Result<Self, Error> {
        let value: Value = serde_json::from_slice(bytes).map_err(|_| Error::NoObject)?;
        let members = value.as_object().ok_or(Error::NoObject)?;
        let text = |key: &str| members.get(key).and_then(Value::as_str);
        if text("hook_event_name") != Some(event) {
            return Err(Error::OtherEvent(event));
        }
        let command = match text("tool_name") {
            Some(SHELL) => {
                let command = value.pointer("/tool_input/command").and_then(Value::as_str);
                Some(command.ok_or(Error::NoCommand)?.to_owned())
            }
            _ => None,
        };
        Ok(Self {
            cwd: text("cwd")
                .map(PathBuf::from)
                .filter(|cwd| cwd.is_absolute()),
            command,
        })
    }
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// No objection.
    Nothing,
    /// Words for the agent at a session's start.
    Context(String),
    /// The tool does not run, and the agent is told why.
    Deny(String),
    /// Words for the person; all goes on.
    Warning(String),
}

impl Answer {
    /// The JSON that Codex expects on standard output. Nothing to print for no objection.
    pub fn to_json(&self) -> Option<Value> {
        Some(match self {
            Self::Nothing => return None,
            Self::Context(text) => json!({"hookSpecificOutput": {
                "hookEventName": session_start::EVENT,
                "additionalContext": visible_lines(text),
            }}),
            Self::Deny(why) => json!({"hookSpecificOutput": {
                "hookEventName": pre_tool_use::EVENT,
                "permissionDecision": "deny",
                "permissionDecisionReason": visible_lines(why),
            }}),
            Self::Warning(text) => json!({
                "systemMessage": format!("codexgate: {}", visible_lines(text)),
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_codex_tells_is_read_and_anything_else_is_an_error() {
        let told = br#"{"session_id":"x","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls -la"},"tool_use_id":"c"}"#;
        let input = Input::read(told, "PreToolUse").expect("it is known");
        assert_eq!(input.cwd, Some(PathBuf::from("/p")));
        assert_eq!(input.command.as_deref(), Some("ls -la"));
        assert_eq!(
            Input::read(told, "SessionStart"),
            Err(Error::OtherEvent("SessionStart"))
        );
        let patch = br#"{"hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"x"},"cwd":"p"}"#;
        assert_eq!(Input::read(patch, "PreToolUse"), Ok(Input::default()));
        let shell = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":["ls"]}}"#;
        assert_eq!(Input::read(shell, "PreToolUse"), Err(Error::NoCommand));
        for bytes in [&b""[..], b"[]", b"\xff", b"{\"hook_event_name\""] {
            assert_eq!(Input::read(bytes, "PreToolUse"), Err(Error::NoObject));
        }
    }

    #[test]
    fn answers_have_the_shapes_that_codex_expects() {
        assert_eq!(Answer::Nothing.to_json(), None);
        let deny = Answer::Deny("no\u{202e}".into())
            .to_json()
            .expect("an answer");
        let specific = &deny["hookSpecificOutput"];
        assert_eq!(specific["hookEventName"], "PreToolUse");
        assert_eq!(specific["permissionDecision"], "deny");
        let reason = specific["permissionDecisionReason"].as_str().expect("text");
        assert!(!reason.contains('\u{202e}'), "{reason}");
        let context = Answer::Context("a\nb".into()).to_json().expect("an answer");
        assert_eq!(context["hookSpecificOutput"]["additionalContext"], "a\nb");
        let warning = Answer::Warning("x".into()).to_json().expect("an answer");
        assert_eq!(warning["systemMessage"], "codexgate: x");
    }
}
