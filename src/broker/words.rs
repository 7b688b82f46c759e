//! The words of the interface: policies, sandboxes, statuses, modes, and their order.

use serde_json::{Value, json};

/// When Codex asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Before every command that is not known to be harmless.
    Untrusted,
    /// When the agent wants out of the sandbox.
    OnRequest,
    /// Never: what would be asked is refused, or runs where there is no sandbox.
    Never,
}

impl Policy {
    /// What a caller may ask for. `on-failure` runs as `on-request`: app-server has no such word
    /// (0.147 to 0.171).
    pub const WORDS: [&str; 4] = ["untrusted", "on-failure", "on-request", "never"];

    /// The policy of a word, `on-failure` included.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "untrusted" => Some(Self::Untrusted),
            "on-request" | "on-failure" => Some(Self::OnRequest),
            "never" => Some(Self::Never),
            _ => None,
        }
    }

    /// As Codex has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Untrusted => "untrusted",
            Self::OnRequest => "on-request",
            Self::Never => "never",
        }
    }

    /// More is stricter: how much is asked about.
    pub const fn strictness(self) -> u8 {
        match self {
            Self::Untrusted => 2,
            Self::OnRequest => 1,
            Self::Never => 0,
        }
    }
}

/// What a command can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sandbox {
    /// Reads.
    ReadOnly,
    /// Writes the folder of the session and temporary folders.
    WorkspaceWrite,
    /// Everything that the user can.
    FullAccess,
}

impl Sandbox {
    /// The words, from the strictest.
    pub const WORDS: [&str; 3] = ["read-only", "workspace-write", "danger-full-access"];

    /// The sandbox of a word.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "read-only" => Some(Self::ReadOnly),
            "workspace-write" => Some(Self::WorkspaceWrite),
            "danger-full-access" => Some(Self::FullAccess),
            _ => None,
        }
    }

    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::FullAccess => "danger-full-access",
        }
    }

    /// Codex's object for it, with what the user's own config says for workspace-write.
    pub fn policy(self, workspace: &Value) -> Value {
        match self {
            Self::ReadOnly => json!({ "type": "readOnly" }),
            Self::FullAccess => json!({ "type": "dangerFullAccess" }),
            Self::WorkspaceWrite => {
                let mut policy = json!({ "type": "workspaceWrite" });
                for (ours, theirs) in WORKSPACE_KEYS {
                    if let Some(value) = workspace.get(theirs).filter(|value| !value.is_null()) {
                        policy[ours] = value.clone();
                    }
                }
                policy
            }
        }
    }
}

/// Members of the object `sandboxPolicy`, and the keys of `sandbox_workspace_write`.
const WORKSPACE_KEYS: [(&str, &str); 4] = [
    ("writableRoots", "writable_roots"),
    ("networkAccess", "network_access"),
    ("excludeTmpdirEnvVar", "exclude_tmpdir_env_var"),
    ("excludeSlashTmp", "exclude_slash_tmp"),
];

/// What a session does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// A turn runs.
    Running,
    /// Something waits for an answer.
    WaitingApproval,
    /// Waits for a reply.
    Idle,
    /// The last turn failed; a reply goes on.
    Error,
    /// Over.
    Cancelled,
}

impl Status {
    /// The words.
    pub const WORDS: [&str; 5] = ["running", "idle", "waiting_approval", "error", "cancelled"];

    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::WaitingApproval => "waiting_approval",
            Self::Idle => "idle",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Efforts that the schema lists; Codex takes any word.
pub const EFFORTS: [&str; 6] = ["none", "minimal", "low", "medium", "high", "xhigh"];
/// Summaries of reasoning.
pub const SUMMARIES: [&str; 4] = ["auto", "concise", "detailed", "none"];
/// Personalities, without effect on 0.171.
pub const PERSONALITIES: [&str; 3] = ["none", "friendly", "pragmatic"];

/// How much of an event is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// What a client needs to go on.
    #[default]
    Minimal,
    /// A little more.
    Compact,
    /// All of it.
    Full,
}

impl Detail {
    /// The words.
    pub const WORDS: [&str; 3] = ["minimal", "delta_compact", "full"];

    /// The mode of a word.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "minimal" => Some(Self::Minimal),
            "delta_compact" => Some(Self::Compact),
            "full" => Some(Self::Full),
            _ => None,
        }
    }
}
