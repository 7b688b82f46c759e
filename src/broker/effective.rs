//! The policy that Codex says a thread runs under, and whether it is the one that was asked for.
//!
//! Codex decides over many layers; what it answers is read back, never assumed. Weaker than asked
//! is an error: the caller thinks that it is protected. Stricter (an administrator's requirement)
//! goes on and is told.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::pair;
use super::words::{Policy, Sandbox};

/// What Codex said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// Its word, or its object as text.
    pub policy: String,
    /// Who decides.
    pub reviewer: Option<String>,
    /// None: a kind that is not known here.
    pub sandbox: Option<Sandbox>,
    /// Whether commands reach the network.
    pub network: bool,
    /// Folders that may be written beside the session's.
    pub roots: Vec<String>,
    /// The session's folder.
    pub cwd: String,
    /// The model.
    pub model: Option<String>,
    /// The model's effort.
    pub effort: Option<String>,
    /// The method that said it.
    pub read_from: &'static str,
}

/// What was asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// When to ask.
    pub policy: Policy,
    /// What can be reached.
    pub sandbox: Sandbox,
    /// Where.
    pub cwd: PathBuf,
    /// What the user's configuration, and what the operator allowed, says for workspace-write.
    pub workspace: Value,
}

/// How what Codex said differs from what was asked.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Less protection.
    pub weaker: Vec<String>,
    /// More.
    pub stricter: Vec<String>,
}

impl Effective {
    /// Reads the answer of `thread/start`, `thread/resume` or `thread/fork`.
    pub fn of_answer(answer: &Value, read_from: &'static str) -> Self {
        Self::read(answer, "sandbox", "reasoningEffort", read_from)
    }

    /// Reads the `threadSettings` of `thread/settings/updated`.
    pub fn of_settings(settings: &Value) -> Self {
        Self::read(
            settings,
            "sandboxPolicy",
            "effort",
            "thread/settings/updated",
        )
    }

    fn read(from: &Value, sandbox: &str, effort: &str, read_from: &'static str) -> Self {
        let text = |name: &str| from[name].as_str().map(str::to_owned);
        let policy = &from["approvalPolicy"];
        let sandbox = &from[sandbox];
        let roots = sandbox["writableRoots"].as_array();
        Self {
            policy: policy
                .as_str()
                .map_or_else(|| policy.to_string(), str::to_owned),
            reviewer: text("approvalsReviewer"),
            sandbox: match sandbox["type"].as_str() {
                Some("readOnly") => Some(Sandbox::ReadOnly),
                Some("workspaceWrite") => Some(Sandbox::WorkspaceWrite),
                Some("dangerFullAccess") => Some(Sandbox::FullAccess),
                _ => None,
            },
            network: sandbox["networkAccess"].as_bool() == Some(true)
                || sandbox["networkAccess"] == "enabled"
                || sandbox["type"] == "dangerFullAccess",
            roots: roots
                .into_iter()
                .flatten()
                .filter_map(|root| root.as_str().map(str::to_owned))
                .collect(),
            cwd: text("cwd").unwrap_or_default(),
            model: text("model"),
            effort: text(effort),
            read_from,
        }
    }

    /// What happens to what needs an approval.
    pub fn gate(&self) -> &'static str {
        pair::gate(&json!(self.policy), self.sandbox_word()).word()
    }

    /// The sandbox's word.
    pub const fn sandbox_word(&self) -> &'static str {
        match self.sandbox {
            Some(sandbox) => sandbox.as_str(),
            None => "unknown",
        }
    }

    /// For a client.
    pub fn json(&self, version: Option<&str>) -> Value {
        json!({
            "approvalPolicy": self.policy,
            "approvalsReviewer": self.reviewer,
            "sandbox": self.sandbox_word(),
            "networkAccess": self.network,
            "writableRoots": self.roots,
            "cwd": self.cwd,
            "model": self.model,
            "effort": self.effort,
            "codexVersion": version,
            "gate": self.gate(),
            "readFrom": self.read_from,
        })
    }

    /// Compares it with what was asked.
    pub fn compare(&self, asked: &Asked) -> Differences {
        let mut found = Differences::default();
        let mut weaker = |what: String| found.weaker.push(what);
        let mut stricter = Vec::new();
        match Policy::parse(&self.policy).filter(|_| self.policy != "on-failure") {
            None => weaker(format!("approvalPolicy is `{}`", self.policy)),
            Some(policy) if policy.strictness() < asked.policy.strictness() => weaker(format!(
                "approvalPolicy is `{}`, asked was `{}`",
                policy.as_str(),
                asked.policy.as_str()
            )),
            Some(policy) if policy != asked.policy => stricter.push(format!(
                "approvalPolicy is `{}`, stricter than `{}`",
                policy.as_str(),
                asked.policy.as_str()
            )),
            Some(_) => {}
        }
        if !pair::user_decides(&json!(self.reviewer)) {
            let who = self.reviewer.as_deref().unwrap_or("somebody unnamed");
            weaker(format!("approvals are decided by `{who}`, not by the user"));
        }
        match self.sandbox {
            None => weaker("the sandbox is of an unknown kind".to_owned()),
            Some(sandbox) if sandbox > asked.sandbox => weaker(format!(
                "sandbox is `{}`, asked was `{}`",
                sandbox.as_str(),
                asked.sandbox.as_str()
            )),
            Some(sandbox) if sandbox < asked.sandbox => stricter.push(format!(
                "sandbox is `{}`, stricter than `{}`",
                sandbox.as_str(),
                asked.sandbox.as_str()
            )),
            Some(_) => {}
        }
        if asked.sandbox != Sandbox::FullAccess {
            let workspace = asked.sandbox == Sandbox::WorkspaceWrite;
            let network = workspace && asked.workspace["network_access"] == true;
            if self.network && !network && self.sandbox != Some(Sandbox::FullAccess) {
                weaker("commands reach the network, which no configuration says".to_owned());
            }
            let named = asked.workspace["writable_roots"].as_array();
            let named: Vec<&Path> = named
                .into_iter()
                .flatten()
                .filter_map(|root| root.as_str().map(Path::new))
                .collect();
            for root in &self.roots {
                let root = Path::new(root);
                let is_named = workspace && named.iter().any(|named| root.starts_with(named));
                if !is_named && !same(root, &asked.cwd) {
                    let root = root.display();
                    weaker(format!(
                        "`{root}` may be written, which no configuration names"
                    ));
                }
            }
        }
        if !same(Path::new(&self.cwd), &asked.cwd) {
            weaker(format!(
                "the folder is `{}`, asked was `{}`",
                self.cwd,
                asked.cwd.display()
            ));
        }
        found.stricter = stricter;
        found
    }
}

/// Whether two paths lead to one folder.
fn same(one: &Path, other: &Path) -> bool {
    one == other
        || one
            .canonicalize()
            .is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(policy: Policy, sandbox: Sandbox) -> Asked {
        Asked {
            policy,
            sandbox,
            cwd: PathBuf::from("/w"),
            workspace: json!({"writable_roots": ["/cache"], "network_access": false}),
        }
    }

    #[allow(clippy::needless_pass_by_value)] // made in place by every caller
    fn answer(policy: &str, sandbox: Value) -> Value {
        json!({"approvalPolicy": policy, "approvalsReviewer": "user", "cwd": "/w",
               "sandbox": sandbox, "model": "m"})
    }

    fn compare(answer: &Value, asked: &Asked) -> (usize, usize) {
        let found = Effective::of_answer(answer, "thread/start").compare(asked);
        (found.weaker.len(), found.stricter.len())
    }

    #[test]
    fn what_is_weaker_is_found_and_what_is_stricter_is_told() {
        let write = |more: Value| {
            let mut sandbox = json!({"type": "workspaceWrite", "writableRoots": [],
                "networkAccess": false});
            for (name, value) in more.as_object().expect("an object") {
                sandbox[name] = value.clone();
            }
            sandbox
        };
        let read_only = json!({"type": "readOnly", "networkAccess": false});
        let full = json!({"type": "dangerFullAccess"});
        let on_request = asked(Policy::OnRequest, Sandbox::WorkspaceWrite);
        for (answer, want) in [
            (answer("on-request", write(json!({}))), (0, 0)),
            (answer("untrusted", write(json!({}))), (0, 1)),
            (answer("never", write(json!({}))), (1, 0)),
            (answer("on-request", read_only.clone()), (0, 1)),
            (answer("on-request", full.clone()), (1, 0)),
            (
                answer("on-request", json!({"type": "externalSandbox"})),
                (1, 0),
            ),
            (
                answer("on-request", write(json!({"networkAccess": true}))),
                (1, 0),
            ),
            (
                answer(
                    "on-request",
                    write(json!({"writableRoots": ["/cache/x", "/w"]})),
                ),
                (0, 0),
            ),
            (
                answer("on-request", write(json!({"writableRoots": ["/home"]}))),
                (1, 0),
            ),
        ] {
            assert_eq!(compare(&answer, &on_request), want, "{answer}");
        }
        let untrusted = asked(Policy::Untrusted, Sandbox::ReadOnly);
        assert_eq!(
            compare(&answer("on-request", read_only.clone()), &untrusted),
            (1, 0)
        );
        assert_eq!(
            compare(&answer("untrusted", write(json!({}))), &untrusted),
            (1, 0)
        );
        let mut other = answer("untrusted", read_only.clone());
        other["cwd"] = json!("/x");
        other["approvalsReviewer"] = json!("auto_review");
        assert_eq!(compare(&other, &untrusted), (2, 0));
        let mut granular = answer("untrusted", read_only);
        granular["approvalPolicy"] = json!({"granular": {"sandbox_approval": true}});
        assert_eq!(compare(&granular, &untrusted), (1, 0));
        let open = asked(Policy::Never, Sandbox::FullAccess);
        assert_eq!(compare(&answer("never", full), &open), (0, 0));
    }

    #[test]
    fn the_gate_is_told() {
        let gate = |policy: &str, kind: &str| {
            Effective::of_answer(&answer(policy, json!({"type": kind})), "x").gate()
        };
        assert_eq!(gate("on-request", "dangerFullAccess"), "asks");
        assert_eq!(gate("never", "workspaceWrite"), "refuses");
        assert_eq!(gate("never", "dangerFullAccess"), "open");
    }
}
