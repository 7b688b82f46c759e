//! `approver-blocked`, `approver-hijacked`, `approver-weak`: whether our own server asks the person,
//! and whether it is ours.
//! Source: scenarios req-mcp-empty-table, req-mcp-identity-other-command, req-mcp-disabled-by-user,
//! mcp-merge-swap-command, mcp-project-disables-user, mcp-managed-disables; Codex 0.134 to 0.171.

use std::path::Path;

use crate::codex::effective::{By, Merged, Reach};
use crate::codex::layer::Layer;
use crate::lint::layers::server_key;
use crate::lint::server::Server;
use crate::lint::{
    Check, Confidence, ConfigFile, Findings, Home, Kind, Layers, Rule, Severity, Spread, beside,
    case,
};

const OURS: &str =
    "[mcp_servers.codexgate]\ncommand = \"/usr/local/bin/codexgate\"\nargs = [\"mcp\"]\n";
const PIN: &str = "allowed_sandbox_modes = [\"read-only\"]\nallowed_approval_policies = [\"on-request\"]\n[‹mcp_servers›.docs.identity]\ncommand = \"/usr/bin/docs-mcp\"\n";

pub const BLOCKED: Rule = Rule {
    id: "approver-blocked",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "the approver is switched off",
    why: "Codex does not start the server that asks the person. Once requirements have a table \
          `mcp_servers`, every server that no entry of it matches, character by character, is off.",
    bad: &[
        case(PIN)
            .of(Kind::Requirements)
            .in_home(Home::System)
            .with(&[beside(Home::User, Kind::Config, OURS)]),
        case("[mcp_servers.codexgate]\ncommand = \"/usr/local/bin/codexgate\"\nargs = [\"mcp\"]\nenabled = ‹false›\n"),
    ],
    good: &[
        case("allowed_sandbox_modes = [\"read-only\"]\nallowed_approval_policies = [\"on-request\"]\n[mcp_servers.codexgate.identity]\ncommand = \"/usr/local/bin/codexgate\"\n")
            .of(Kind::Requirements)
            .in_home(Home::System)
            .with(&[beside(Home::User, Kind::Config, OURS)]),
        case(OURS),
    ],
    check: Check::Layers(blocked),
};

pub const HIJACKED: Rule = Rule {
    id: "approver-hijacked",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this changes the approver that another layer defines",
    why: "Layers merge key by key. Who sets one key of the approver's table runs another program \
          in its place, with its environment, or gives it another state directory, or turns it \
          off: the person is then asked by somebody else, or not at all.",
    bad: &[
        case("[mcp_servers.codexgate]\n‹command› = \"/srv/bin/approver\"\n")
            .in_home(Home::Project)
            .with(&[beside(Home::User, Kind::Config, OURS)]),
        case("[mcp_servers.codexgate]\n‹enabled› = false\n")
            .in_home(Home::Project)
            .also(&["approver-blocked"])
            .with(&[beside(Home::User, Kind::Config, OURS)]),
        case("[mcp_servers.codexgate.env]\n‹LEVEL› = \"1\"\n")
            .in_home(Home::Project)
            .with(&[beside(Home::User, Kind::Config, OURS)]),
    ],
    good: &[
        case(OURS),
        case(OURS)
            .in_home(Home::Project)
            .with(&[beside(Home::User, Kind::Config, OURS)]),
        case("[mcp_servers.codexgate]\ntool_timeout_sec = 600\n")
            .in_home(Home::Project)
            .with(&[beside(Home::User, Kind::Config, OURS)]),
    ],
    check: Check::Layers(hijacked),
};

pub const WEAK: Rule = Rule {
    id: "approver-weak",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "another program may stand in for the approver",
    why: "A relative program is looked for where the thread runs, and a repository can hold one of \
          that name; so can a path into the repository. A bare name is looked for on `PATH`: it \
          is as good as every folder on it.",
    bad: &[
        case("[mcp_servers.codexgate]\ncommand = ‹\"./codexgate\"›\nargs = [\"mcp\"]\n")
            .also(&["launch-relative"]),
        case("[mcp_servers.gate]\ncommand = ‹\"codexgate\"›\nargs = [\"mcp\"]\n"),
        case("[mcp_servers.codexgate]\ncommand = ‹\"/example/project/bin/codexgate\"›\nargs = [\"mcp\"]\n")
            .also(&["approver-hijacked"]),
    ],
    good: &[
        case(OURS),
        case("[mcp_servers.docs]\ncommand = \"docs-mcp\"\n"),
    ],
    check: Check::FileAndLayers(weak, in_repository),
};

/// Keys of a server's table that decide what runs, and whether.
const DECIDES: &[&str] = &[
    "command",
    "args",
    "env",
    "env_vars",
    "cwd",
    "url",
    "enabled",
    "enabled_tools",
    "disabled_tools",
];

fn blocked(layers: &Layers, spread: &mut Spread) {
    let servers = layers.policy().map(|policy| &policy.servers);
    for server in servers.into_iter().flatten() {
        let (Some(by), true) = (&server.disabled_by, layers.is_approver(&server.name)) else {
            continue;
        };
        let Some(place) = by.place() else { continue };
        let Some(finding) = spread.add(&BLOCKED, place) else {
            continue;
        };
        let command = server
            .value
            .get(&["command"])
            .and_then(|value| value.as_str());
        if let (By::Requirement(_), Some(command)) = (by, command) {
            finding
                .says(format!("no entry matches the approver `{}`", server.name))
                .note("Codex switches off every server that no entry matches")
                .help(format!(
                    "add `[mcp_servers.{}.identity]` with `command = {command:?}`",
                    server.name
                ));
        } else {
            finding
                .note("nobody is asked then")
                .help("remove the line, or write `true`");
        }
    }
}

/// Whether a layer weaker than the one with index `at` says how to reach the server.
fn is_defined_below(layers: &Layers, name: &str, at: usize) -> bool {
    let defines = |layer: &Layer| {
        let value = layer.value();
        ["command", "url"]
            .iter()
            .any(|key| value.get(&["mcp_servers", name, key]).is_some())
    };
    layers
        .counting()
        .any(|(index, layer)| index < at && defines(layer))
}

fn hijacked(layers: &Layers, spread: &mut Spread) {
    for (name, server) in layers.servers() {
        if !layers.is_approver(name) {
            continue;
        }
        server.leaves(&mut |path, leaf| {
            let decides = path.first().is_some_and(|key| DECIDES.contains(key));
            let value = leaf.value();
            let replaced = leaf.overrode.iter().find(|old| old.value != value);
            let added = leaf.overrode.is_empty() && is_defined_below(layers, name, leaf.layer);
            if !decides || (replaced.is_none() && !added) {
                return;
            }
            let key = server_key(name, path);
            let Some(layer) = layers.layer(leaf.layer) else {
                return;
            };
            let Some(finding) = spread.add(&HIJACKED, &layer.key_place(&key)) else {
                return;
            };
            let what = path.join(".");
            if let Some(old) = replaced.and_then(|old| layers.layer(old.layer)) {
                finding
                    .says(format!("this replaces `{what}` of the approver `{name}`"))
                    .note(format!(
                        "{} has another value, and Codex takes this one",
                        layers.place(&old.key_place(&key))
                    ));
            } else {
                finding
                    .says(format!("this adds `{what}` to the approver `{name}`"))
                    .note("another layer defines it, and Codex merges the two key by key");
            }
            finding
                .help("remove it; a project needs no approver of its own where the user has one");
        });
        writable(layers, name, server, spread);
    }
}

/// A program that the agent can write is the agent's.
fn writable(layers: &Layers, name: &str, server: &Merged, spread: &mut Spread) {
    let (Some(program), Some(policy)) = (absolute(server), layers.policy()) else {
        return;
    };
    let can_write = match &policy.sandbox.value.reach {
        Reach::ReadOnly => false,
        Reach::Workspace {
            cwd,
            roots,
            exclude_slash_tmp,
            ..
        } => {
            let is_below = |folder: &Path| program.starts_with(folder);
            (*cwd && is_below(&layers.effective().cwd))
                || roots.iter().any(|root| is_below(root))
                || (!exclude_slash_tmp && is_below(Path::new("/tmp")))
        }
        Reach::AllFiles | Reach::Everything => return,
    };
    let place = layers
        .effective()
        .origin(&["mcp_servers", name, "command"])
        .filter(|_| can_write);
    if let Some(finding) = place.and_then(|place| spread.add(&HIJACKED, &place)) {
        finding
            .says("the sandbox lets the agent write the approver's program")
            .note("the agent can put its own program there, which then answers for the person")
            .help("install codexgate where the sandbox cannot write");
    }
}

fn absolute(server: &Merged) -> Option<&Path> {
    let command = server.get(&["command"]).and_then(Merged::text)?;
    Some(Path::new(command)).filter(|path| path.is_absolute())
}

fn weak(file: &ConfigFile, found: &mut Findings) {
    for server in Server::all(file).filter(Server::is_approver) {
        let Some(command) = server.word("command") else {
            continue;
        };
        if Path::new(command.text).is_absolute() || command.text.contains(":\\") {
            continue;
        }
        let is_bare = !command.text.contains(['/', '\\']);
        let finding = found.add(&WEAK, command.span);
        if is_bare {
            finding
                .severity(Severity::Info)
                .says("the approver is found by a bare name")
                .note("Codex starts the first program of that name on `PATH`");
        } else {
            finding
                .says("the approver is found by a relative path")
                .note("Codex starts what lies there, seen from where the thread runs");
        }
        finding.help("write its absolute path");
    }
}

fn in_repository(layers: &Layers, spread: &mut Spread) {
    let site = layers.site();
    let top = site.git_root.as_deref().unwrap_or(&site.project);
    for (name, server) in layers.servers() {
        if !layers.is_approver(name) || !absolute(server).is_some_and(|path| path.starts_with(top))
        {
            continue;
        }
        let place = layers.effective().origin(&["mcp_servers", name, "command"]);
        if let Some(finding) = place.and_then(|place| spread.add(&WEAK, &place)) {
            finding
                .says("the approver lies in the repository that it guards")
                .note("who changes the repository changes the approver")
                .help("install codexgate outside of it");
        }
    }
}
