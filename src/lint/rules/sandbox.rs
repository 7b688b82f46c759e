//! `network-in-sandbox`, `writable-root-wide`, `sandbox-overridden`: a sandbox that is wider than
//! it looks.
//! Source: scenarios sandbox-ww-all-keys, sandbox-ww-array, sandbox-ww-without-mode,
//! sandbox-ww-without-mode-trusted, prec-writable-root-tilde, prec-project-relative-root,
//! perm-beats-sandbox, perm-beats-sandbox-2, perm-custom-extends, perm-custom-open; Codex 0.134 to
//! 0.171.

use crate::document::Node;
use crate::lint::file::{text, word};
use crate::lint::{Check, Confidence, ConfigFile, Findings, Rule, Severity, case};

pub const NETWORK: Rule = Rule {
    id: "network-in-sandbox",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "commands in the sandbox have the network",
    why: "What the agent can read it can send away, and what it is told by a page it can fetch and \
          run. No requirement pins this key.",
    bad: &[
        case(
            "sandbox_mode = \"workspace-write\"\n[sandbox_workspace_write]\nnetwork_access = ‹true›\n",
        ).also(&["auto-trust"]),
        case("sandbox_workspace_write.network_access = ‹true›\n"),
        case("sandbox_workspace_write = [[\"/srv/w\"], ‹true›, false, false]\n"),
        case(
            "default_permissions = \"mine\"\n[permissions.mine]\nextends = \":workspace\"\nnetwork.enabled = ‹true›\n",
        ),
    ],
    good: &[
        case("[sandbox_workspace_write]\nnetwork_access = false\n"),
        case("sandbox_mode = \"read-only\"\n[sandbox_workspace_write]\nnetwork_access = true\n"),
        case("sandbox_mode = \"read-only\"\n[permissions.mine]\nnetwork.enabled = true\n"),
    ],
    check: Check::File(network),
};

pub const WIDE_ROOT: Rule = Rule {
    id: "writable-root-wide",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "the sandbox may write here",
    why: "A writable root that holds the home, Codex's own home, a `.git` or a `.codex` lets the \
          agent change what decides about it: configuration, rules, hooks, shell start files, keys. \
          No requirement pins this key.",
    bad: &[
        case("[sandbox_workspace_write]\nwritable_roots = [‹\"/\"›, \"/srv/w\", ‹\"~\"›]\n"),
        case(
            "sandbox_workspace_write.writable_roots = [‹\"/home/ann\"›, ‹\"~/.codex\"›, ‹\"/srv/x/.git\"›]\n",
        ),
        case("sandbox_workspace_write = [[‹\"/Users\"›]]\n"),
        case(
            "default_permissions = \"mine\"\n[permissions.mine.filesystem]\n‹\":root\"› = \"write\"\n\"/srv\" = \"write\"\n‹\"~/.local\"› = \"write\"\n",
        ),
    ],
    good: &[
        case(
            "[sandbox_workspace_write]\nwritable_roots = [\"/srv/w\", \"~/.cache/pip\", \"~/.codex/worktrees\"]\n",
        ),
        case(
            "sandbox_mode = \"read-only\"\n[permissions.mine.filesystem]\n\":root\" = \"write\"\n",
        ),
    ],
    check: Check::File(wide_root),
};

pub const OVERRIDDEN: Rule = Rule {
    id: "sandbox-overridden",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "`default_permissions` silently beats this",
    why: "Where one file has both, Codex takes the permission profile and does not look at \
          `sandbox_mode`.",
    bad: &[
        case("sandbox_mode = ‹\"read-only\"›\ndefault_permissions = \":workspace\"\n")
            .also(&["auto-trust"]),
    ],
    good: &[
        case("sandbox_mode = \"read-only\"\n"),
        case("default_permissions = \":workspace\"\n").also(&["auto-trust"]),
    ],
    check: Check::File(overridden),
};

/// A member of `[sandbox_workspace_write]`, by name or by its place in an array.
fn workspace<'a>(file: &ConfigFile<'a>, key: &str, at: usize) -> Option<&'a Node> {
    let table = file.root().child("sandbox_workspace_write")?;
    match table.as_array() {
        Some(items) => items.get(at),
        None => table.child(key),
    }
}

/// The permission profile that this file chooses, where it defines it.
fn chosen<'a>(file: &ConfigFile<'a>) -> Option<&'a Node> {
    let name = file.root().child("default_permissions").and_then(text)?;
    file.root().child("permissions")?.child(name)
}

fn network(file: &ConfigFile, found: &mut Findings) {
    let mode = file.root().child("sandbox_mode").and_then(word);
    let on = |node: &&Node| node.as_bool() == Some(true);
    if let Some(node) = workspace(file, "network_access", 1).filter(on)
        && mode != Some("read-only")
    {
        found
            .add(&NETWORK, node)
            .help("leave it off, and allow what needs it by a rule or by asking");
    }
    let profile = chosen(file).and_then(|profile| profile.child("network")?.child("enabled"));
    // Together with the whole disk it is danger-full-access, which another rule says.
    let opens_all = chosen(file)
        .and_then(|profile| profile.child("filesystem")?.child(":root"))
        .and_then(text)
        == Some("write");
    if let Some(node) = profile.filter(on)
        && !opens_all
    {
        found.add(&NETWORK, node);
    }
}

fn wide_root(file: &ConfigFile, found: &mut Findings) {
    let roots = workspace(file, "writable_roots", 0).and_then(Node::as_array);
    for node in roots.into_iter().flatten() {
        if let Some(what) = text(node).and_then(width) {
            found
                .add(&WIDE_ROOT, node)
                .says(format!("the sandbox may write {what}"))
                .help("name the one folder that is needed");
        }
    }
    let paths = chosen(file).and_then(|profile| profile.child("filesystem")?.as_table());
    for (path, access) in paths.into_iter().flatten() {
        let what = if path == ":root" {
            Some("the whole disk")
        } else {
            width(path)
        };
        if let Some(what) = what.filter(|_| text(access) == Some("write")) {
            found
                .add(&WIDE_ROOT, access.key)
                .says(format!("the sandbox may write {what}"))
                .help("name the one folder that is needed");
        }
    }
}

/// What of importance a root is or holds, as far as its text tells.
fn width(path: &str) -> Option<&'static str> {
    let path = path.trim_end_matches('/');
    let home = path
        .strip_prefix("/home/")
        .or_else(|| path.strip_prefix("/Users/"));
    // What stands below somebody's home, however the home is written.
    let below = match home.map(|rest| rest.split_once('/')) {
        Some(Some((_, below))) => Some(below),
        Some(None) => Some(""),
        None => match path {
            "~" | "/root" => Some(""),
            _ => path
                .strip_prefix("~/")
                .or_else(|| path.strip_prefix("/root/")),
        },
    };
    match (path, below) {
        ("", _) => Some("the whole disk"),
        ("/home" | "/Users", _) | (_, Some("")) => Some("a whole home"),
        (_, Some(".codex")) => Some("Codex's own home"),
        (_, Some(".local" | ".local/state" | ".local/state/codexgate")) => {
            Some("codexgate's state, which makes a grant unforgeable")
        }
        (_, Some(".config" | ".ssh")) => Some("what programs and shells start with"),
        ("/etc" | "/usr" | "/usr/local" | "/opt" | "/var" | "/bin" | "/lib", _) => {
            Some("a folder of the system")
        }
        _ if path.ends_with("/.git") || path == ".git" => {
            Some("a repository's own files and hooks")
        }
        _ if path.ends_with("/.codex") => Some("a folder of Codex's configuration"),
        _ => None,
    }
}

fn overridden(file: &ConfigFile, found: &mut Findings) {
    let root = file.root();
    if let (Some(mode), Some(profile)) = (
        root.child("sandbox_mode"),
        root.child("default_permissions"),
    ) {
        found
            .add(&OVERRIDDEN, mode)
            .related(profile.span, "this is in force")
            .help("keep one of the two");
    }
}
