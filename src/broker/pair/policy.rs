//! Whether anybody is asked at all, and by whom a decision was made.

use super::rules::{Rule, Rules};
use serde_json::Value;

/// What becomes of a tool call without annotations in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// A person is asked.
    Asks,
    /// Codex refuses by itself.
    Refuses,
    /// It runs, and nobody is asked.
    Open,
}

impl Gate {
    /// The word in `effective.gate`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Asks => "asks",
            Self::Refuses => "refuses",
            Self::Open => "open",
        }
    }
}

/// **N1**: the gate that an effective policy makes. `policy` is Codex's `approvalPolicy`, a word or
/// a granular object; `sandbox` the word of the effective sandbox.
///
/// Codex 0.171: `never` refuses what would be asked, with full access it runs everything; a
/// granular policy still asks about tool calls.
pub fn gate(policy: &Value, sandbox: &str) -> Gate {
    gate_by(Rules::in_force(), policy, sandbox)
}

pub(super) fn gate_by(rules: Rules, policy: &Value, sandbox: &str) -> Gate {
    if !rules.on(Rule::N1) || policy.as_str() != Some("never") {
        return Gate::Asks;
    }
    match sandbox {
        "read-only" | "workspace-write" => Gate::Refuses,
        // A sandbox that is not ours to know does not hold anything back.
        _ => Gate::Open,
    }
}

/// **N2**: whether the effective `approvalsReviewer` is the user. With any other a model decides,
/// and the session must not start.
pub fn user_decides(reviewer: &Value) -> bool {
    user_decides_by(Rules::in_force(), reviewer)
}

pub(super) fn user_decides_by(rules: Rules, reviewer: &Value) -> bool {
    !rules.on(Rule::N2) || reviewer.as_str() == Some("user")
}

/// **N3**: what is said about a notification with which a model decided in place of a person.
pub fn model_decided(method: &str) -> Option<&'static str> {
    model_decided_by(Rules::in_force(), method)
}

pub(super) fn model_decided_by(rules: Rules, method: &str) -> Option<&'static str> {
    let review = method.starts_with("item/autoApprovalReview/")
        || method == "autoApprovalReview/strictReviewRequired";
    (review && rules.on(Rule::N3)).then_some("decided by a model")
}
