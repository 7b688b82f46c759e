//! `approval-never`, `never-with-full-access`, `approval-value-removed`, `approval-value-retired`,
//! `reviewer-not-human`: who is asked, and whether anybody is.
//! Source: scenarios approval-never, both-open, approval-untrusted, approval-untrusted-in-project,
//! approval-untrusted-in-system, approval-untrusted-shadowed, approval-on-failure, reviewer-auto,
//! reviewer-guardian; Codex 0.134 to 0.171.

use crate::codex::effective::{ApprovalPolicy, Reach};
use crate::codex::version::Change;
use crate::document::{Edit, Form, Node};
use crate::lint::file::word;
use crate::lint::{
    Check, Confidence, ConfigFile, Findings, Grade, Home, Kind, Layers, Rule, Severity, Spread,
    beside, case,
};

pub const NEVER: Rule = Rule {
    id: "approval-never",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "nobody is ever asked",
    why: "Under `never` Codex asks for nothing: what the sandbox refuses fails, what it allows \
          runs, and the questions of MCP servers are declined without a human seeing them.",
    bad: &[
        case("approval_policy = ‹\"never\"›\n")
            .also(&["elicitations-off"])
            .fixed("approval_policy = \"on-request\"\n"),
        case("approval_policy = ‹{ never = {} }›\n")
            .also(&["elicitations-off"])
            .fixed("approval_policy = \"on-request\"\n"),
        case("approval_policy = ‹\"never\"›\n")
            .of(Kind::Managed)
            .also(&["elicitations-off"]),
    ],
    good: &[
        case("approval_policy = \"on-request\"\n"),
        case("model = \"never\"\n"),
    ],
    check: Check::File(never),
};

pub const OPEN: Rule = Rule {
    id: "never-with-full-access",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "no sandbox, and nobody is asked",
    why: "With both in force the agent does what it likes with the user's rights, and the \
          questions of MCP servers are answered without a human.",
    bad: &[
        case("approval_policy = ‹\"never\"›\nsandbox_mode = \"danger-full-access\"\n").also(&[
            "approval-never",
            "auto-trust",
            "danger-full-access",
            "elicitations-off",
        ]),
        case("approval_policy = ‹\"never\"›\ndefault_permissions = \":danger-full-access\"\n")
            .also(&[
                "approval-never",
                "auto-trust",
                "danger-full-access",
                "elicitations-off",
            ]),
        case("approval_policy = ‹\"never\"›\n")
            .in_home(Home::Project)
            .also(&[
                "approval-never",
                "auto-trust",
                "danger-full-access",
                "elicitations-off",
            ])
            .with(&[beside(
                Home::User,
                Kind::Config,
                "sandbox_mode = \"danger-full-access\"\n",
            )]),
    ],
    good: &[
        case("approval_policy = \"never\"\nsandbox_mode = \"read-only\"\n")
            .also(&["approval-never", "elicitations-off"]),
        case("approval_policy = \"on-request\"\nsandbox_mode = \"danger-full-access\"\n")
            .also(&["auto-trust", "danger-full-access"]),
    ],
    check: Check::Many(&[Check::File(open), Check::Layers(open_across)]),
};

pub const REMOVED: Rule = Rule {
    id: "approval-value-removed",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 149),
    says: "Codex no longer takes `untrusted` as an approval policy",
    why: "From 0.149.0 on Codex does not start where this is the value in force. `on-request` \
          asks less often: `untrusted` asked before every command that was not known to be safe, \
          `on-request` lets the model choose within the sandbox.",
    bad: &[case("approval_policy = ‹\"untrusted\"›\nsandbox_mode = \"workspace-write\"\n")
        .also(&["auto-trust"])
        .fixed("approval_policy = \"on-request\"\nsandbox_mode = \"workspace-write\"\n")],
    good: &[
        case("approval_policy = \"on-request\"\n"),
        case("allowed_approval_policies = [\"on-request\", \"untrusted\"]\nallowed_sandbox_modes = [\"read-only\"]\n")
            .of(Kind::Requirements).in_home(Home::System),
    ],
    check: Check::File(removed),
};

pub const RETIRED: Rule = Rule {
    id: "approval-value-retired",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 147),
    says: "Codex reads `on-failure` as `on-request`",
    why: "The policy that asked only after a command had failed is gone. Codex reads the word as \
          `on-request` and says nothing.",
    bad: &[case("approval_policy = ‹\"on-failure\"›\n").fixed("approval_policy = \"on-request\"\n")],
    good: &[case("approval_policy = \"on-request\"\n")],
    check: Check::File(retired),
};

pub const REVIEWER: Rule = Rule {
    id: "reviewer-not-human",
    severity: Severity::Info,
    confidence: Confidence::High,
    since: (0, 134),
    says: "a model answers the approvals",
    why: "With the automatic reviewer a model, not a person, decides about what leaves the \
          sandbox. `codex exec` then runs under on-request.",
    bad: &[
        case("approvals_reviewer = ‹\"auto_review\"›\n"),
        case("approvals_reviewer = ‹\"guardian_subagent\"›\n"),
    ],
    good: &[case("approvals_reviewer = \"user\"\n")],
    check: Check::File(reviewer),
};

/// The value of `approval_policy`, if it is `word`.
pub(super) fn policy<'a>(file: &ConfigFile<'a>, wanted: &str) -> Option<&'a Node> {
    let node = file.root().child("approval_policy")?;
    (word(node) == Some(wanted)).then_some(node)
}

fn on_request(node: &Node) -> Option<[Edit; 1]> {
    matches!(node.form, Form::Value | Form::Inline)
        .then(|| [Edit::replace(node.span, "\"on-request\"")])
}

fn never(file: &ConfigFile, found: &mut Findings) {
    if let Some(node) = policy(file, "never") {
        let finding = found.add(&NEVER, node);
        finding
            .note("what the sandbox refuses fails without a question")
            .help("use `approval_policy = \"on-request\"`");
        if let Some(edits) = on_request(node) {
            finding.fix(Grade::Unsafe, edits);
        }
    }
}

fn open(file: &ConfigFile, found: &mut Findings) {
    let Some(never) = policy(file, "never") else {
        return;
    };
    let root = file.root();
    let mode = root
        .child("sandbox_mode")
        .filter(|node| word(node) == Some("danger-full-access"));
    let profile = root
        .child("default_permissions")
        .filter(|node| node.as_str() == Some(":danger-full-access"));
    // In one file `default_permissions` wins over `sandbox_mode` (scenario perm-beats-sandbox).
    let in_force = match root.child("default_permissions") {
        Some(_) => profile,
        None => mode,
    };
    if let Some(open) = in_force {
        found
            .add(&OPEN, never)
            .label("nobody is asked")
            .related(open.span, "and nothing is refused")
            .help("change at least one of the two");
    }
}

/// The same from two files: each may seem harmless.
fn open_across(layers: &Layers, spread: &mut Spread) {
    let Some(policy) = layers.policy() else {
        return;
    };
    let is_open = policy.approval.value == ApprovalPolicy::Never
        && matches!(policy.sandbox.value.reach, Reach::Everything);
    let places = (policy.approval.by.place(), policy.sandbox.by.place());
    let (Some(never), Some(open)) = places else {
        return;
    };
    if !is_open || never.path == open.path {
        return;
    }
    if let Some(finding) = spread.add(&OPEN, never) {
        finding
            .label("nobody is asked")
            .note(format!("{} opens the sandbox", layers.place(open)))
            .help("change at least one of the two");
    }
}

fn removed(file: &ConfigFile, found: &mut Findings) {
    if !file.version().has(Change::UntrustedKeyRefused) {
        return;
    }
    if let Some(node) = policy(file, "untrusted") {
        let finding = found.add(&REMOVED, node);
        finding
            .note("Codex does not start where this is the value in force")
            .help("use `on-request`; it asks less often than `untrusted` did");
        if let Some(edits) = on_request(node) {
            finding.fix(Grade::Unsafe, edits);
        }
    }
}

fn retired(file: &ConfigFile, found: &mut Findings) {
    if !file.version().has(Change::OnFailureIsOnRequest) {
        return;
    }
    if let Some(node) = policy(file, "on-failure") {
        let finding = found.add(&RETIRED, node);
        finding.help("write `on-request`");
        if let Some(edits) = on_request(node) {
            finding.fix(Grade::Safe, edits);
        }
    }
}

fn reviewer(file: &ConfigFile, found: &mut Findings) {
    if let Some(node) = file.root().child("approvals_reviewer")
        && matches!(word(node), Some("auto_review" | "guardian_subagent"))
    {
        found
            .add(&REVIEWER, node)
            .help("`approvals_reviewer = \"user\"` asks a person");
    }
}
