//! `approver-blocked`, `approver-hijacked`, `approver-weak`: whether our own server asks the person,
//! and whether it is ours.
//! Source: scenarios req-mcp-empty-table, req-mcp-identity-other-command, req-mcp-disabled-by-user,
//! mcp-merge-swap-command, mcp-project-disables-user, mcp-managed-disables; Codex 0.134 to 0.171.

use std::path::Path;

use crate::codex::effective::{By, Merged, Reach};
use crate::codex::layer::Layer;
use crate::document::{Edit, Form, Node};
use crate::lint::disk::{Disk, Role, State};
use crate::lint::file::text;
use crate::lint::layers::server_key;
use crate::lint::server::Server;
use crate::lint::{
    Check, Confidence, ConfigFile, Findings, Grade, Home, Kind, Layers, Rule, Setup, Severity,
    Spread, beside, case,
};
use crate::plan::parts::approver;

const OURS: &str = "[mcp_servers.codexgate]\ncommand = \"/usr/local/bin/codexgate\"\nargs = [\"mcp\"]\nenv_vars = [\"CODEX_HOME\", \"XDG_STATE_HOME\", \"XDG_CONFIG_HOME\"]\n";
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
        case("[mcp_servers.codexgate]\ncommand = \"/usr/local/bin/codexgate\"\nargs = [\"mcp\"]\nenv_vars = [\"CODEX_HOME\", \"XDG_STATE_HOME\", \"XDG_CONFIG_HOME\"]\nenabled = ‹false›\n"),
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
        case("[mcp_servers.codexgate]\ncommand = \"/usr/local/bin/codexgate\"\nargs = [\"mcp\"]\nenv_vars = [\"CODEX_HOME\", \"XDG_STATE_HOME\", \"XDG_CONFIG_HOME\"]\n‹cwd› = \"/srv\"\n")
            .in_home(Home::Project),
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
    check: Check::Many(&[
        Check::Layers(hijacked),
        Check::File(foreign),
        Check::Tree(open_to_others),
    ]),
};

pub const WEAK: Rule = Rule {
    id: "approver-weak",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "another program may stand in for the approver",
    why: "A relative program is looked for where the thread runs, and a repository can hold one of \
          that name; so can a path into the repository. A bare name is looked for on `PATH`: it \
          is as good as every folder on it. Codex hands a server neither `CODEX_HOME` nor `XDG_*` \
          unless `env_vars` names them: without these the approver may look elsewhere than `apply`.",
    bad: &[
        case("[mcp_servers.codexgate]\ncommand = ‹\"./codexgate\"›\nargs = [\"mcp\"]\nenv_vars = [\"CODEX_HOME\", \"XDG_STATE_HOME\", \"XDG_CONFIG_HOME\"]\n")
            .also(&["launch-relative"]),
        case("[mcp_servers.gate]\ncommand = ‹\"codexgate\"›\nargs = [\"mcp\"]\nenv_vars = [\"CODEX_HOME\", \"XDG_STATE_HOME\", \"XDG_CONFIG_HOME\"]\n"),
        case("[mcp_servers.codexgate]\ncommand = ‹\"/example/project/bin/codexgate\"›\nargs = [\"mcp\"]\nenv_vars = [\"CODEX_HOME\", \"XDG_STATE_HOME\", \"XDG_CONFIG_HOME\"]\n")
            .also(&["approver-hijacked"]),
        case("[mcp_servers.‹codexgate›]\ncommand = \"/usr/local/bin/codexgate\"\nargs = [\"mcp\"]\n")
            .fixed(OURS),
        case("[mcp_servers.codexgate]\ncommand = \"/usr/local/bin/codexgate\"\nargs = [\"mcp\"]\nenv_vars = ‹[\"CODEX_HOME\"]›\n")
            .fixed(OURS),
        case("[mcp_servers.codexgate]\ncommand = ‹\"/example/bin/codexgate\"›\nargs = [\"mcp\"]\nenv_vars = [\"CODEX_HOME\", \"XDG_STATE_HOME\", \"XDG_CONFIG_HOME\"]\n")
            .on_disk(&[Setup::There(&[])]),
    ],
    good: &[
        case(OURS),
        case("[mcp_servers.codexgate]\ncommand = \"/example/bin/codexgate\"\nargs = [\"mcp\"]\nenv_vars = [\"CODEX_HOME\", \"XDG_STATE_HOME\", \"XDG_CONFIG_HOME\"]\n")
            .on_disk(&[Setup::There(&["/example/bin/codexgate"])]),
        case("[mcp_servers.docs]\ncommand = \"docs-mcp\"\n"),
    ],
    check: Check::Many(&[
        Check::File(weak),
        Check::Layers(in_repository),
        Check::Tree(moved),
    ]),
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

/// Keys of the approver in a project that `apply` and the approver itself refuse.
fn foreign(file: &ConfigFile, found: &mut Findings) {
    if !file.home().is_project() {
        return;
    }
    for server in Server::all(file).filter(Server::is_approver) {
        let Some(key) = approver::foreign_key(server.node) else {
            continue;
        };
        // Where another layer has the rest, that is told with both places.
        if DECIDES.contains(&key) && server.get("command").is_none() {
            continue;
        }
        let Some(node) = server.get(key) else {
            continue;
        };
        found
            .add(&HIJACKED, node.key)
            .says(format!("a project sets `{key}` of the approver"))
            .note("`apply` and the approver refuse while it is there")
            .help("remove it");
    }
}

fn open_to_others(disk: &Disk, found: &mut Findings) {
    for program in disk.programs.iter().filter(|it| it.role == Role::Approver) {
        if let State::Open(why) = &program.state {
            found
                .add(&HIJACKED, program.span)
                .says("others can change the approver's program")
                .note(why.clone())
                .help("install codexgate where only you and root can write");
        }
    }
}

fn moved(disk: &Disk, found: &mut Findings) {
    for program in disk.programs.iter().filter(|it| it.role == Role::Approver) {
        let what = match program.state {
            State::Missing => "is not there",
            State::NotExecutable => "is no program",
            State::There | State::Open(_) => continue,
        };
        found
            .add(&WEAK, program.span)
            .says(format!("the approver `{}` {what}", program.path.display()))
            .note("Codex goes on without it, and nobody is asked")
            .help("run `codexgate install` again: it writes where codexgate is now");
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
        blind(file, &server, found);
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

/// An approver that is not handed the variables by which it finds its state.
fn blind(file: &ConfigFile, server: &Server, found: &mut Findings) {
    // A table without `args` is half of an entry: another layer may have the rest.
    let list = server.get("env_vars");
    if list.is_none() && server.get("args").is_none() {
        return;
    }
    let items = || list.and_then(Node::as_array).into_iter().flatten();
    let named: Vec<&str> = items()
        .filter_map(|item| text(item).or_else(|| item.child("name").and_then(text)))
        .collect();
    let is_set = |name: &str| server.members("env").any(|(set, _)| set == name);
    let missing: Vec<&str> = approver::VARIABLES
        .into_iter()
        .filter(|name| !named.contains(name) && !is_set(name))
        .collect();
    if missing.is_empty() {
        return;
    }
    let whole = format!("[\"{}\"]", approver::VARIABLES.join("\", \""));
    let finding = found.add(&WEAK, list.map_or(server.node.key, |list| list.span));
    finding
        .says(format!(
            "the approver is not handed `{}`",
            missing.join("`, `")
        ))
        .note("it may look for its state elsewhere than `codexgate apply` does")
        .help(format!("write `env_vars = {whole}`"));
    if let Some(list) = list {
        let known = |item: &Node| text(item).is_some_and(|it| approver::VARIABLES.contains(&it));
        if matches!(list.form, Form::Value) && items().all(known) {
            finding.fix(Grade::Safe, [Edit::replace(list.span, whole)]);
        }
        return;
    }
    let above = server.get("args").or_else(|| server.get("command"));
    if let Some(pair) = above.and_then(|node| file.pair(node))
        && server.node.form == Form::Header
    {
        let rest = &file.document().text()[pair.span.end..];
        let line = rest.split('\n').next().unwrap_or(rest);
        let end = line.trim_end_matches('\r').len();
        let newline = if end < line.len() { "\r\n" } else { "\n" };
        let text = format!("{newline}env_vars = {whole}");
        finding.fix(Grade::Safe, [Edit::insert(pair.span.end + end, text)]);
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
