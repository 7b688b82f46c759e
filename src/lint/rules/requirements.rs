//! `requirements-not-read`, `requirements-unknown-key`, `requirements-invalid`,
//! `requirements-allow-open`, `requirements-incomplete`, `requirements-no-read-only`,
//! `requirements-fallback`, `requirements-identity-loose`: pins that do not hold.
//! Source: scenarios req-home-file, req-project-file, req-typo, req-config-keys,
//! req-mcp-allowed-list, req-approval-wrong-type, req-sandbox-unknown, req-sandbox-no-read-only,
//! req-sandbox-empty, req-approval-empty-list, req-approval-fallback-first,
//! req-approval-fallback-order, req-mcp-identity-args-ignored; Codex 0.134 to 0.171.

use crate::codex::layer::{self, Layer};
use crate::codex::requirements::{KEYS, Requirements};
use crate::document::{Edit, Form, Node, Span};
use crate::lint::file::{text, word};
use crate::lint::finding::Mark;
use crate::lint::server::basename;
use crate::lint::shape::{What, dotted, faults_of};
use crate::lint::words::{closest, is_root_key, quoted_if_needed};
use crate::lint::{
    Check, Confidence, ConfigFile, Findings, Grade, Home, Kind, Rule, Severity, case,
};

const PIN: &str = "allowed_sandbox_modes = [\"read-only\", \"workspace-write\"]\nallowed_approval_policies = [\"on-request\", \"untrusted\"]\n";

pub const NOT_READ: Rule = Rule {
    id: "requirements-not-read",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "Codex does not read this file",
    why: "Codex reads requirements from the system's folder alone, `/etc/codex/requirements.toml`. \
          In Codex's home it changes nothing, however it looks. In a project it is what the \
          repository declares: codexgate and CI hold it, Codex does not.",
    bad: &[
        case("‹›allowed_sandbox_modes = [\"read-only\"]\nallowed_approval_policies = [\"on-request\"]\n")
            .of(Kind::Requirements),
        case("‹›allowed_sandbox_modes = [\"read-only\"]\nallowed_approval_policies = [\"on-request\"]\n")
            .of(Kind::Requirements)
            .in_home(Home::Project),
    ],
    good: &[
        case(PIN).of(Kind::Requirements).in_home(Home::System),
        case("model = \"x\"\n"),
    ],
    check: Check::Requirements(not_read),
};

pub const UNKNOWN_KEY: Rule = Rule {
    id: "requirements-unknown-key",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "Codex ignores this key, so it pins nothing",
    why: "A misspelt pin fails open: Codex starts, says nothing in the terminal, and allows what \
          the key was to forbid. `--strict-config` does not find it either.",
    bad: &[
        case("‹allowed_sandbox_mode› = [\"read-only\"]\nallowed_approval_policies = [\"on-request\"]\n")
            .of(Kind::Requirements)
            .in_home(Home::System)
            .also(&["requirements-incomplete"])
            .fixed("allowed_sandbox_modes = [\"read-only\"]\nallowed_approval_policies = [\"on-request\"]\n"),
        case("‹sandbox_mode› = \"read-only\"\n").of(Kind::Requirements).in_home(Home::System),
        case("[mcp_servers.a.identity]\ncommand = \"/usr/bin/a\"\n‹allowed_sandbox_modes› = [\"read-only\"]\n")
            .of(Kind::Requirements)
            .in_home(Home::System),
    ],
    good: &[case(PIN).of(Kind::Requirements).in_home(Home::System)],
    check: Check::Requirements(unknown_key),
};

pub const INVALID: Rule = Rule {
    id: "requirements-invalid",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "Codex does not start with this",
    why: "A wrong type, an unknown word or an empty list in the system's requirements stops Codex \
          for everyone on the machine.",
    bad: &[
        case("allowed_approval_policies = ‹\"on-request\"›\nallowed_sandbox_modes = [\"read-only\"]\n")
            .of(Kind::Requirements)
            .in_home(Home::System),
        case("allowed_approval_policies = [‹\"always\"›]\nallowed_sandbox_modes = [\"read-only\"]\n")
            .of(Kind::Requirements)
            .in_home(Home::System),
        case("allowed_approval_policies = ‹[]›\nallowed_sandbox_modes = [\"read-only\"]\n")
            .of(Kind::Requirements)
            .in_home(Home::System),
        case("allowed_approval_policies = [\"on-request\"]\nallowed_sandbox_modes = [\"read-only\", ‹\"full\"›]\n")
            .of(Kind::Requirements)
            .in_home(Home::System),
    ],
    good: &[case(PIN).of(Kind::Requirements).in_home(Home::System)],
    check: Check::Requirements(invalid),
};

pub const ALLOW_OPEN: Rule = Rule {
    id: "requirements-allow-open",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this pin allows what it is there to forbid",
    why: "A list that holds `danger-full-access` or `never` lets every configuration, every flag \
          and every project choose it.",
    bad: &[
        case("allowed_sandbox_modes = [\"read-only\", ‹\"danger-full-access\"›]\nallowed_approval_policies = [\"on-request\"]\n")
            .of(Kind::Requirements)
            .in_home(Home::System)
            .fixed("allowed_sandbox_modes = [\"read-only\"]\nallowed_approval_policies = [\"on-request\"]\n"),
        case("allowed_sandbox_modes = [\"read-only\"]\nallowed_approval_policies = [‹\"never\"›, \"on-request\"]\n")
            .of(Kind::Requirements)
            .in_home(Home::System)
            .also(&["requirements-fallback"])
            .fixed("allowed_sandbox_modes = [\"read-only\"]\nallowed_approval_policies = [\"on-request\"]\n"),
    ],
    good: &[case(PIN).of(Kind::Requirements).in_home(Home::System)],
    check: Check::Requirements(allow_open),
};

pub const INCOMPLETE: Rule = Rule {
    id: "requirements-incomplete",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this pins one half",
    why: "A pinned sandbox without pinned approvals still allows `never`, so that nobody is asked; \
          pinned approvals without a pinned sandbox allow full access, so that there is nothing to \
          ask about.",
    bad: &[
        case("‹allowed_sandbox_modes› = [\"read-only\"]\n")
            .of(Kind::Requirements)
            .in_home(Home::System),
        case("‹allowed_approval_policies› = [\"on-request\"]\n")
            .of(Kind::Requirements)
            .in_home(Home::System),
    ],
    good: &[
        case(PIN).of(Kind::Requirements).in_home(Home::System),
        case("[features]\nhooks = true\n")
            .of(Kind::Requirements)
            .in_home(Home::System),
    ],
    check: Check::Requirements(incomplete),
};

pub const NO_READ_ONLY: Rule = Rule {
    id: "requirements-no-read-only",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "`allowed_sandbox_modes` must hold `read-only`",
    why: "Codex does not start without it: a mode that is refused becomes `read-only`, whatever \
          else the list holds.",
    bad: &[
        case("allowed_sandbox_modes = ‹[\"workspace-write\"]›\nallowed_approval_policies = [\"on-request\"]\n")
            .of(Kind::Requirements)
            .in_home(Home::System)
            .fixed("allowed_sandbox_modes = [\"read-only\", \"workspace-write\"]\nallowed_approval_policies = [\"on-request\"]\n"),
        case("allowed_sandbox_modes = ‹[]›\nallowed_approval_policies = [\"on-request\"]\n")
            .of(Kind::Requirements)
            .in_home(Home::System)
            .fixed("allowed_sandbox_modes = [\"read-only\"]\nallowed_approval_policies = [\"on-request\"]\n"),
    ],
    good: &[case(PIN).of(Kind::Requirements).in_home(Home::System)],
    check: Check::Requirements(no_read_only),
};

pub const FALLBACK: Rule = Rule {
    id: "requirements-fallback",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "a refused policy becomes this one, the weakest of the list",
    why: "Where a configuration asks for a policy that is not in the list, Codex takes the first \
          element. The strictest that is wanted belongs there.",
    bad: &[case("allowed_sandbox_modes = [\"read-only\"]\nallowed_approval_policies = [‹\"never\"›, \"on-request\"]\n")
        .of(Kind::Requirements)
        .in_home(Home::System)
        .also(&["requirements-allow-open"])
        .fixed("allowed_sandbox_modes = [\"read-only\"]\nallowed_approval_policies = [\"on-request\", \"never\"]\n")],
    good: &[case(PIN).of(Kind::Requirements).in_home(Home::System)],
    check: Check::Requirements(fallback),
};

pub const IDENTITY_LOOSE: Rule = Rule {
    id: "requirements-identity-loose",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this identity fits any server that the launcher can start",
    why: "Codex compares the command alone, not its arguments. An identity of `npx` or of a shell \
          allows every package and every script under this name.",
    bad: &[
        case("[mcp_servers.a.identity]\ncommand = ‹\"npx\"›\n").of(Kind::Requirements).in_home(Home::System),
        case("[mcp_servers.a.identity]\ncommand = ‹\"/bin/bash\"›\n").of(Kind::Requirements).in_home(Home::System),
    ],
    good: &[
        case("[mcp_servers.a.identity]\ncommand = \"/usr/bin/a-mcp\"\n[mcp_servers.b.identity]\nurl = \"https://b.example/mcp\"\n")
            .of(Kind::Requirements)
            .in_home(Home::System),
    ],
    check: Check::Requirements(identity_loose),
};

fn not_read(file: &ConfigFile, found: &mut Findings) {
    let mark = if file.document().text().is_empty() {
        Mark::File
    } else {
        Mark::Span(Span::at(0))
    };
    match file.home() {
        Home::System | Home::Loose => {}
        Home::User => {
            found
                .add(&NOT_READ, mark)
                .says("Codex reads no requirements from its home")
                .help("put the file into `/etc/codex/requirements.toml`: `codexgate install --scope system`");
        }
        Home::Project | Home::Nested => {
            found
                .add(&NOT_READ, mark)
                .severity(Severity::Info)
                .says("this pin is declared, not enforced: Codex reads the system's requirements alone")
                .help("enforce it with `codexgate install --scope system`");
        }
    }
}

/// Whether `name` is a key of the root that a header may have captured.
fn is_pin(name: &str) -> bool {
    name.starts_with("allow") && KEYS.key(name).is_some()
}

/// Pins below the root, where they pin nothing.
fn captured<'a>(node: &'a Node, path: &mut Vec<&'a str>, found: &mut Findings) {
    for (name, member) in node.as_table().into_iter().flatten() {
        if !path.is_empty() && is_pin(name) {
            found
                .add(&UNKNOWN_KEY, member.key)
                .says(format!(
                    "`{name}` stands in `[{}]`, where it pins nothing",
                    dotted(path)
                ))
                .note("a key belongs to the last header above it, and Codex says nothing here")
                .help("move it above the first header of the file");
        }
        path.push(name);
        captured(member, path, found);
        path.pop();
    }
}

fn unknown_key(file: &ConfigFile, found: &mut Findings) {
    captured(file.root(), &mut Vec::new(), found);
    for fault in faults_of(file, &KEYS) {
        let What::Unknown { known, silent } = &fault.what else {
            continue;
        };
        let Some((name, above)) = fault.path.split_last() else {
            continue;
        };
        if !above.is_empty() && is_pin(name) {
            continue;
        }
        let meant = closest(name, known.iter().copied());
        // Below a table that says nothing of unknown keys only a slip is worth a word.
        if *silent && meant.is_none() {
            continue;
        }
        let finding = found.add(&UNKNOWN_KEY, fault.node.key);
        let path = dotted(&fault.path);
        finding.says(format!("Codex knows no requirement `{path}`"));
        if let Some(meant) = meant {
            finding.help(format!("did you mean `{meant}`?"));
            let table = above
                .iter()
                .try_fold(file.root(), |node, part| node.child(part));
            let once = matches!(fault.node.form, Form::Value | Form::Inline);
            if once && table.is_some_and(|table| table.child(meant).is_none()) {
                let new = quoted_if_needed(meant);
                finding.fix(Grade::Safe, [Edit::replace(fault.node.key, new)]);
            }
        } else if is_root_key(name) && above.is_empty() {
            finding.help("it is a key of config.toml; requirements list what is allowed");
        }
    }
}

fn invalid(file: &ConfigFile, found: &mut Findings) {
    let mut seen = false;
    for fault in faults_of(file, &KEYS) {
        let path = dotted(&fault.path);
        let finding = match &fault.what {
            What::Unknown { .. } => continue,
            What::Type { wanted } => {
                let finding = found.add(&INVALID, fault.node);
                finding.says(format!("`{path}` must be {wanted}"));
                finding
            }
            What::Word { words } => {
                let listed: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                let finding = found.add(&INVALID, fault.node);
                finding
                    .says(format!("`{path}` does not take this word"))
                    .label(format!("Codex knows {}", listed.join(", ")));
                finding
            }
            What::Refused { why } => {
                let finding = found.add(&INVALID, fault.node);
                finding.says(format!("Codex refuses `{path}`: {why}"));
                finding
            }
        };
        finding.note("with it as the system's file Codex does not start");
        seen = true;
    }
    if seen || lacks_read_only(file).is_some() {
        return;
    }
    let layer = Layer {
        kind: layer::Kind::System,
        name: None,
        file: None,
        base: std::path::PathBuf::from("/etc/codex"),
        content: layer::Content::Document(file.document().clone()),
        disabled: None,
        dropped: Vec::new(),
        hooks_from: None,
        said: None,
    };
    if let Err(error) = Requirements::read(&layer, None, "", file.version()) {
        found
            .add(&INVALID, error.place.span)
            .says(format!("Codex refuses this: {}", error.message))
            .note("with it as the system's file Codex does not start");
    }
}

fn list<'a>(file: &ConfigFile<'a>, key: &str) -> Option<(&'a Node, &'a [Node])> {
    let node = file.root().child(key)?;
    Some((node, node.as_array()?))
}

fn allow_open(file: &ConfigFile, found: &mut Findings) {
    for (key, open) in [
        ("allowed_sandbox_modes", "danger-full-access"),
        ("allowed_approval_policies", "never"),
    ] {
        let Some((list, items)) = list(file, key) else {
            continue;
        };
        let rest: Vec<&Node> = items
            .iter()
            .filter(|item| word(item) != Some(open))
            .collect();
        for item in items.iter().filter(|item| word(item) == Some(open)) {
            let finding = found.add(&ALLOW_OPEN, item);
            finding
                .says(format!("this pin allows `{open}`"))
                .help("take it out of the list");
            // A list that would be empty, or without read-only, would stop Codex.
            let stays = match key {
                "allowed_sandbox_modes" => rest.iter().any(|item| word(item) == Some("read-only")),
                _ => !rest.is_empty(),
            };
            if stays {
                finding.fix(Grade::Unsafe, [rewrite(file, list, &rest)]);
            }
        }
    }
    let profiles = file.root().child("allowed_permission_profiles");
    if let Some(open) = profiles.and_then(|profiles| profiles.child(":danger-full-access"))
        && open.as_bool() == Some(true)
    {
        found
            .add(&ALLOW_OPEN, open.key)
            .says("this pin allows `:danger-full-access`");
    }
}

/// A list with these items, as they are written.
fn rewrite(file: &ConfigFile, list: &Node, items: &[&Node]) -> Edit {
    let items: Vec<&str> = items
        .iter()
        .map(|item| file.document().slice(item.span))
        .collect();
    Edit::replace(list.span, format!("[{}]", items.join(", ")))
}

fn incomplete(file: &ConfigFile, found: &mut Findings) {
    let root = file.root();
    let approvals = root.child("allowed_approval_policies");
    let sandbox = root
        .child("allowed_sandbox_modes")
        .or_else(|| root.child("allowed_permission_profiles"));
    let (node, says, help) = match (sandbox, approvals) {
        (Some(node), None) => (
            node,
            "this pins the sandbox, and lets every configuration choose `never`",
            "add `allowed_approval_policies = [\"on-request\", \"untrusted\"]`",
        ),
        (None, Some(node)) => (
            node,
            "this pins approvals, and lets every configuration turn the sandbox off",
            "add `allowed_sandbox_modes = [\"read-only\", \"workspace-write\"]`",
        ),
        _ => return,
    };
    found.add(&INCOMPLETE, node.key).says(says).help(help);
}

fn lacks_read_only<'a>(file: &ConfigFile<'a>) -> Option<(&'a Node, &'a [Node])> {
    let (list, items) = list(file, "allowed_sandbox_modes")?;
    let has = items.iter().any(|item| word(item) == Some("read-only"));
    (!has).then_some((list, items))
}

fn no_read_only(file: &ConfigFile, found: &mut Findings) {
    if let Some((list, items)) = lacks_read_only(file) {
        let comma = if items.is_empty() { "" } else { ", " };
        found
            .add(&NO_READ_ONLY, list)
            .note("with it as the system's file Codex does not start")
            .help("add `\"read-only\"`")
            .fix(
                Grade::Safe,
                [Edit::insert(
                    list.span.start + 1,
                    format!("\"read-only\"{comma}"),
                )],
            );
    }
}

fn fallback(file: &ConfigFile, found: &mut Findings) {
    let Some((list, items)) = list(file, "allowed_approval_policies") else {
        return;
    };
    let Some((first, rest)) = items.split_first() else {
        return;
    };
    let strict: Vec<&Node> = rest
        .iter()
        .filter(|item| word(item) != Some("never"))
        .collect();
    if word(first) != Some("never") || strict.is_empty() {
        return;
    }
    let weak = items.iter().filter(|item| word(item) == Some("never"));
    let ordered: Vec<&Node> = strict.iter().copied().chain(weak).collect();
    found
        .add(&FALLBACK, first)
        .help("put the strictest first")
        .fix(Grade::Safe, [rewrite(file, list, &ordered)]);
}

/// Programs that start whatever they are told.
const LAUNCHERS: &[&str] = &[
    "npx",
    "bunx",
    "pnpx",
    "pnpm",
    "npm",
    "yarn",
    "bun",
    "node",
    "deno",
    "uvx",
    "uv",
    "pipx",
    "python",
    "python3",
    "docker",
    "podman",
    "nerdctl",
    "sh",
    "bash",
    "zsh",
    "dash",
    "fish",
    "env",
    "sudo",
    "cmd",
    "powershell",
    "pwsh",
    "go",
    "cargo",
    "ruby",
    "perl",
];

fn identity_loose(file: &ConfigFile, found: &mut Findings) {
    let servers = file.root().child("mcp_servers").and_then(Node::as_table);
    for server in servers.into_iter().flat_map(|servers| servers.values()) {
        let command = server
            .child("identity")
            .and_then(|identity| identity.child("command"));
        if let Some(node) = command
            && text(node).is_some_and(|command| LAUNCHERS.contains(&basename(command)))
        {
            found
                .add(&IDENTITY_LOOSE, node)
                .label("its arguments are not looked at")
                .help("start the server by a program of its own, with an absolute path");
        }
    }
}
