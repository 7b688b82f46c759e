//! When Codex asks a person, and who decided that.

use std::fmt;

use super::super::version::{Change, Version};
use super::merge::{Data, Merged};
use crate::document::Value;

/// When Codex asks before it acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalPolicy {
    /// The agent asks when it wants more than the sandbox gives.
    OnRequest,
    /// Nobody is ever asked, by servers neither.
    Never,
    /// Everything but known reading commands is asked for.
    Untrusted,
    /// A policy of its own before 0.147 ([`Change::OnFailureIsOnRequest`]).
    OnFailure,
    /// Each kind of question has a switch.
    Granular(Granular),
}

/// The switches of a granular policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Granular {
    /// Leaving the sandbox may be asked for.
    pub sandbox_approval: bool,
    /// Prefix rules may ask.
    pub rules: bool,
    /// Skills may ask.
    pub skill_approval: bool,
    /// More permissions may be asked for.
    pub request_permissions: bool,
    /// Servers may ask: the approver's questions reach a person.
    pub mcp_elicitations: bool,
}

/// The switches in the order that a positional array has (scenario `granular-array`), each with
/// whether it must be there.
pub const GRANULAR_KEYS: [(&str, bool); 5] = [
    ("sandbox_approval", true),
    ("rules", true),
    ("skill_approval", false),
    ("request_permissions", false),
    ("mcp_elicitations", true),
];

impl ApprovalPolicy {
    /// Whether a server's question reaches a person.
    pub const fn lets_servers_ask(self) -> bool {
        match self {
            Self::Never => false,
            Self::OnRequest | Self::Untrusted | Self::OnFailure => true,
            Self::Granular(granular) => granular.mcp_elicitations,
        }
    }

    /// The policy as Codex names it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::OnRequest => "on-request",
            Self::Never => "never",
            Self::Untrusted => "untrusted",
            Self::OnFailure => "on-failure",
            Self::Granular(_) => "granular",
        }
    }

    /// The policy that a configuration or requirement writes as `value`; none where Codex reads
    /// no policy in it.
    pub fn parse(value: &Value, version: Version) -> Option<Self> {
        let word = match value {
            Value::String(word) | Value::Datetime(word) => word.as_str(),
            Value::Table(members) if members.len() == 1 => {
                let (name, inner) = members.first()?;
                if name == "granular" {
                    return Granular::parse(inner).map(Self::Granular);
                }
                // A word may stand as a table with nothing in it.
                let is_empty = match inner {
                    Value::Table(members) => members.is_empty(),
                    Value::Array(items) => items.is_empty(),
                    _ => false,
                };
                is_empty.then_some(name)?
            }
            _ => return None,
        };
        match word {
            "on-request" => Some(Self::OnRequest),
            "on-failure" if version.has(Change::OnFailureIsOnRequest) => Some(Self::OnRequest),
            "on-failure" => Some(Self::OnFailure),
            "never" => Some(Self::Never),
            "untrusted" => Some(Self::Untrusted),
            _ => None,
        }
    }

    /// The policy as a value of TOML or JSON.
    pub fn value(self) -> Value {
        match self {
            Self::Granular(granular) => [("granular", granular.value())].into_iter().collect(),
            other => Value::from(other.word()),
        }
    }
}

impl Granular {
    fn parse(value: &Value) -> Option<Self> {
        let mut found = [None; 5];
        match value {
            Value::Table(members) => {
                for (at, (key, _)) in GRANULAR_KEYS.iter().enumerate() {
                    if let Some(member) = members.get(*key) {
                        found[at] = Some(member.as_bool()?);
                    }
                }
            }
            Value::Array(items) if items.len() <= GRANULAR_KEYS.len() => {
                for (at, item) in items.iter().enumerate() {
                    found[at] = Some(item.as_bool()?);
                }
            }
            _ => return None,
        }
        let switch = |at: usize| match found[at] {
            None if GRANULAR_KEYS[at].1 => None,
            other => Some(other.unwrap_or(false)),
        };
        Some(Self {
            sandbox_approval: switch(0)?,
            rules: switch(1)?,
            skill_approval: switch(2)?,
            request_permissions: switch(3)?,
            mcp_elicitations: switch(4)?,
        })
    }

    fn value(self) -> Value {
        [
            ("sandbox_approval", self.sandbox_approval),
            ("rules", self.rules),
            ("skill_approval", self.skill_approval),
            ("request_permissions", self.request_permissions),
            ("mcp_elicitations", self.mcp_elicitations),
        ]
        .into_iter()
        .collect()
    }
}

impl fmt::Display for ApprovalPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Granular(granular) = self else {
            return f.write_str(self.word());
        };
        f.write_str("granular (")?;
        let switches = [
            ("sandbox_approval", granular.sandbox_approval),
            ("rules", granular.rules),
            ("mcp_elicitations", granular.mcp_elicitations),
            ("request_permissions", granular.request_permissions),
            ("skill_approval", granular.skill_approval),
        ];
        for (at, (key, on)) in switches.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{key} {}", if *on { "on" } else { "off" })?;
        }
        f.write_str(")")
    }
}

/// The key path of what decides whether servers may ask: the switch where the policy is granular.
pub fn deciding_key(merged: &Merged) -> &'static [&'static str] {
    let switch = &["approval_policy", "granular", "mcp_elicitations"];
    match merged.get(switch).map(|found| &found.data) {
        Some(Data::Leaf(_)) => switch,
        _ => &["approval_policy"],
    }
}
