//! The errors of tool results: a code that clients of codex-mcp know, and words.
//!
//! They are never JSON-RPC errors: what a session did is a result, and only a call that names no
//! tool is an error of the protocol. Paths in messages of our own faults are taken out: whoever
//! reads them is an agent, and where a home lies is none of its business.

use std::fmt;

use serde_json::{Value, json};

/// What kind of error it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// Shape, value, folder, image, a decision that was not offered, a refused config key.
    InvalidArgument,
    /// Unknown or forgotten.
    SessionNotFound,
    /// A reply while a turn runs or waits.
    SessionBusy,
    /// An interrupt or steer while nothing runs.
    SessionNotRunning,
    /// Unknown or settled; the message says how.
    RequestNotFound,
    /// Codex did not answer in time.
    Timeout,
    /// The session was cancelled.
    Cancelled,
    /// Codex was not found, exits, or refuses its configuration.
    AppServerStartFailed,
    /// A fork or resume was refused.
    ThreadForkResumeFailed,
    /// The app-server sent lines that are none.
    ProtocolParseError,
    /// Too much waits for the app-server's input.
    WriteQueueDropped,
    /// Exec mode cannot.
    ExecNotSupported,
    /// The rest.
    Internal,
    /// The effective policy is weaker than what was asked.
    PolicyMismatch,
    /// Above the operator's ceiling, or a decision that needs a person.
    PolicyRefused,
    /// Another process has the thread.
    ThreadLocked,
    /// This Codex cannot.
    Unsupported,
}

impl Code {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 17] = [
        Self::InvalidArgument,
        Self::SessionNotFound,
        Self::SessionBusy,
        Self::SessionNotRunning,
        Self::RequestNotFound,
        Self::Timeout,
        Self::Cancelled,
        Self::AppServerStartFailed,
        Self::ThreadForkResumeFailed,
        Self::ProtocolParseError,
        Self::WriteQueueDropped,
        Self::ExecNotSupported,
        Self::Internal,
        Self::PolicyMismatch,
        Self::PolicyRefused,
        Self::ThreadLocked,
        Self::Unsupported,
    ];

    /// As it stands in a message.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::SessionNotFound => "SESSION_NOT_FOUND",
            Self::SessionBusy => "SESSION_BUSY",
            Self::SessionNotRunning => "SESSION_NOT_RUNNING",
            Self::RequestNotFound => "REQUEST_NOT_FOUND",
            Self::Timeout => "TIMEOUT",
            Self::Cancelled => "CANCELLED",
            Self::AppServerStartFailed => "APP_SERVER_START_FAILED",
            Self::ThreadForkResumeFailed => "THREAD_FORK_RESUME_FAILED",
            Self::ProtocolParseError => "PROTOCOL_PARSE_ERROR",
            Self::WriteQueueDropped => "WRITE_QUEUE_DROPPED",
            Self::ExecNotSupported => "EXEC_NOT_SUPPORTED",
            Self::Internal => "INTERNAL",
            Self::PolicyMismatch => "POLICY_MISMATCH",
            Self::PolicyRefused => "POLICY_REFUSED",
            Self::ThreadLocked => "THREAD_LOCKED",
            Self::Unsupported => "UNSUPPORTED",
        }
    }

    /// What a client can do about it.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::InvalidArgument => "correct the argument that the message names, and call again",
            Self::SessionNotFound => {
                "list the sessions; one that ended is forgotten after some minutes"
            }
            Self::SessionBusy => "poll or wait until the turn has ended, or interrupt it",
            Self::SessionNotRunning => "nothing runs: start a turn with `codex_reply`",
            Self::RequestNotFound => "poll again: `actions` lists what waits now",
            Self::Timeout => "try again; if it goes on, cancel the session",
            Self::Cancelled => "start a new session, or resume its thread",
            Self::AppServerStartFailed => {
                "the message is Codex's own; a person has to mend its configuration or its path"
            }
            Self::ThreadForkResumeFailed => "wait for the first turn, or start a new session",
            Self::ProtocolParseError => "the app-server is started again; reply to go on",
            Self::WriteQueueDropped => "Codex does not read: wait, or cancel the session",
            Self::ExecNotSupported => "only a Codex with `app-server` can do this",
            Self::Internal => "a fault of the broker or of Codex; the message says what is known",
            Self::PolicyMismatch => {
                "Codex would run with less protection than was asked; nothing was started"
            }
            Self::PolicyRefused => {
                "only whoever starts the broker, or a person, can allow it; do not work around it"
            }
            Self::ThreadLocked => "another Codex has this thread open; close it there",
            Self::Unsupported => "use a version of Codex that the broker was proven on",
        }
    }
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Its kind.
    pub code: Code,
    /// For a person or an agent.
    pub message: String,
}

/// A result of the broker.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with its words.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// A wrong argument: where, and why.
    pub fn argument(path: &str, reason: impl fmt::Display) -> Self {
        Self::new(Code::InvalidArgument, format!("{path}: {reason}"))
    }

    /// A fault of ours or of Codex. Paths in it are hidden.
    pub fn internal(message: &str) -> Self {
        Self::new(Code::Internal, without_paths(message))
    }

    /// The tool result that says it.
    pub fn result(&self) -> Value {
        let text = self.to_string();
        json!({
            "content": [{ "type": "text", "text": text }],
            "structuredContent": { "error": text, "isError": true },
            "isError": true,
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error [{}]: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for Error {}

/// `text` with each absolute path of more than one part as `<path>`.
pub fn without_paths(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let starts = rest[..at]
            .chars()
            .next_back()
            .is_none_or(|c| !c.is_alphanumeric() && !"/:.-_".contains(c));
        let end = rest[at..]
            .find(|c: char| c.is_whitespace() || "\"'`,;()<>|".contains(c))
            .map_or(rest.len(), |end| at + end);
        let path = &rest[at..end];
        if starts && path.trim_matches('/').contains('/') {
            out.push_str(&rest[..at]);
            out.push_str("<path>");
            // `path:3:1:` keeps its place.
            if let Some(colon) = path.find(':') {
                out.push_str(&path[colon..]);
            }
        } else {
            out.push_str(&rest[..end]);
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_one_shape() {
        let error = Error::argument("cwd", "is no folder");
        let result = error.result();
        let text = "Error [INVALID_ARGUMENT]: cwd: is no folder";
        assert_eq!(result["content"][0]["text"], text);
        assert_eq!(result["structuredContent"]["error"], text);
        assert_eq!(result["structuredContent"]["isError"], true);
        assert_eq!(result["isError"], true);
    }

    #[test]
    fn paths_in_our_faults_are_hidden() {
        for (text, shown) in [
            (
                "cannot read /home/u/.codex/config.toml",
                "cannot read <path>",
            ),
            ("`/home/u/x`: no", "`<path>`: no"),
            ("bad /a/b.toml:3:1: why", "bad <path>:3:1: why"),
            ("thread/start and 1/2 stay", "thread/start and 1/2 stay"),
            ("https://x.test/a/b stays", "https://x.test/a/b stays"),
            ("the root / stays", "the root / stays"),
        ] {
            assert_eq!(without_paths(text), shown);
        }
    }
}
