//! The pin: requirements that forbid an open sandbox and a policy that asks nobody.
//!
//! In a project's `.codex/requirements.toml` it is the declared policy, reviewed in the
//! repository: Codex reads only the system's file (scenario `req-project-file`). In the system's
//! file Codex enforces it.

use crate::document::{Document, KeyPath, Value};

/// The key of the sandbox modes.
pub const SANDBOX: &str = "allowed_sandbox_modes";
/// The key of the approval policies.
pub const APPROVALS: &str = "allowed_approval_policies";

/// The sandbox modes that the pin allows. `read-only` must be among them (scenario
/// `req-sandbox-no-read-only`), and is what a refused mode becomes (scenario `req-sandbox-fallback`).
pub fn sandbox_modes() -> Value {
    Value::from(vec!["read-only", "workspace-write"])
}

/// The approval policies that the pin allows. The first is what a refused one becomes (scenario
/// `req-approval-fallback-first`). Granular values compare as a whole (scenario
/// `req-granular-differs`), so one that is in force and asks must be listed, or the pin would
/// turn it into `on-request` (scenario `req-granular-against-on-request`).
pub fn approval_policies(granular: &[Value]) -> Value {
    let mut allowed = vec![Value::from("on-request"), Value::from("untrusted")];
    for value in granular {
        let entry: Value = [("granular", value.clone())].into_iter().collect();
        if !allowed.contains(&entry) {
            allowed.push(entry);
        }
    }
    Value::Array(allowed)
}

/// Whether `present` is a list that an earlier install wrote: ours, with other granular values
/// that ask. It is brought up to date, and is no collision.
pub fn is_older_value(present: &Value) -> bool {
    let Some(items) = present.as_array() else {
        return false;
    };
    let Some((words, granular)) = items.split_at_checked(2) else {
        return false;
    };
    words == [Value::from("on-request"), Value::from("untrusted")]
        && granular.iter().all(|item| {
            item.get(&["granular", "mcp_elicitations"])
                .and_then(Value::as_bool)
                == Some(true)
        })
}

/// Which of the pin's keys in `document` hold what the pin would put there.
pub fn present_keys(document: &Document) -> Vec<KeyPath> {
    let ours = |key: &str, is_ours: &dyn Fn(&Value) -> bool| {
        let path = KeyPath::new([key]);
        document
            .get(&path)
            .is_some_and(|node| is_ours(&node.value()))
            .then_some(path)
    };
    [
        ours(SANDBOX, &|value| *value == sandbox_modes()),
        ours(APPROVALS, &is_older_value),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granular(elicitations: bool) -> Value {
        [
            ("sandbox_approval", Value::from(true)),
            ("rules", Value::from(true)),
            ("mcp_elicitations", Value::from(elicitations)),
        ]
        .into_iter()
        .collect()
    }

    #[test]
    fn a_list_with_other_asking_granular_values_is_our_own() {
        assert!(is_older_value(&approval_policies(&[])));
        assert!(is_older_value(&approval_policies(&[granular(true)])));
        assert!(!is_older_value(&approval_policies(&[granular(false)])));
        assert!(!is_older_value(&Value::from(vec!["on-request"])));
        assert!(!is_older_value(&Value::from(vec![
            "untrusted",
            "on-request"
        ])));
        assert!(!is_older_value(&Value::from(vec![
            "on-request",
            "untrusted",
            "never"
        ])));
    }
}
