//! The approver: `[mcp_servers.codexgate]`, our own server, which asks the person inside Codex.
//!
//! Codex hands a server none of `CODEX_HOME`, `XDG_STATE_HOME` and `XDG_CONFIG_HOME` unless
//! `env_vars` names them, and the approver must look where `apply` looked. Where a requirements
//! file has `mcp_servers`, each server that it does not list is switched off (scenario
//! `req-mcp-empty-table`), so ours is listed there.

use indexmap::IndexMap;

use super::program::{self, Program};
use crate::document::{KeyPath, Node, Value};

/// The server's name.
pub const NAME: &str = "codexgate";

/// Keys that may stand beside ours: with any other `apply` and the approver refuse.
const BESIDE: [&str; 6] = [
    "command",
    "args",
    "env_vars",
    "required",
    "startup_timeout_sec",
    "tool_timeout_sec",
];

/// The variables by which codexgate finds its state and its policy.
pub const VARIABLES: [&str; 3] = ["CODEX_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"];

/// Where the entry stands.
pub fn path() -> KeyPath {
    KeyPath::new(["mcp_servers", NAME])
}

/// The entry.
pub fn wanted(program: &Program) -> Value {
    let members: IndexMap<String, Value> = [
        ("command".to_owned(), Value::from(program.command())),
        ("args".to_owned(), Value::from(vec!["mcp"])),
        ("env_vars".to_owned(), Value::from(VARIABLES.to_vec())),
    ]
    .into_iter()
    .collect();
    Value::Table(members)
}

/// Whether `present` is an entry that an install wrote, with whatever path: it is brought up to
/// date, and is no collision.
pub fn is_ours(present: &Value) -> bool {
    present
        .get(&["command"])
        .and_then(Value::as_str)
        .is_some_and(program::is_own)
        && present.get(&["args"]) == Some(&Value::from(vec!["mcp"]))
}

/// The first key of the entry that must not be there.
pub fn foreign_key(entry: &Node) -> Option<&str> {
    entry
        .as_table()?
        .keys()
        .map(String::as_str)
        .find(|key| !BESIDE.contains(key))
}

/// Where a requirements file names the command that may run.
pub fn identity_path() -> KeyPath {
    KeyPath::new(["mcp_servers", NAME, "identity", "command"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(command: &str, argument: &str) -> Value {
        [
            ("command", Value::from(command)),
            ("args", Value::from(vec![argument])),
        ]
        .into_iter()
        .collect()
    }

    #[test]
    fn an_entry_of_an_older_place_is_ours_and_another_program_is_not() {
        assert!(is_ours(&entry("/old/place/codexgate", "mcp")));
        assert!(is_ours(&entry("codexgate", "mcp")));
        assert!(!is_ours(&entry("/old/place/codexgate", "broker")));
        assert!(!is_ours(&entry("/old/place/other", "mcp")));
    }
}
