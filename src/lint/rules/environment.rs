//! `env-injected`, `env-leaks`: what the agent's commands find in their environment.
//! Source: what was seen end to end about a line that a rule lets out of the sandbox, and scenario
//! shellenv-bad; Codex 0.134 to 0.171.

use crate::document::Node;
use crate::lint::file::{text, word};
use crate::lint::server::Server;
use crate::lint::{Check, Confidence, ConfigFile, Findings, Home, Rule, Severity, case};

pub const INJECTED: Rule = Rule {
    id: "env-injected",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this decides what runs outside of the sandbox",
    why: "A command that a rule lets out of the sandbox still gets these variables. Whoever sets \
          `PATH`, `BASH_ENV` or `LD_PRELOAD` runs code there, and whoever sets or drops `HOME`, \
          `CODEX_HOME` or `XDG_STATE_HOME` makes codexgate look for its state elsewhere. A project \
          that Codex trusts may set them.",
    bad: &[
        case("[shell_environment_policy.set]\n‹HOME› = \"/tmp/x\"\nLANG = \"C\"\n").in_home(Home::Project),
        case("shell_environment_policy = { set = { ‹LD_PRELOAD› = \"/tmp/x.so\" } }\n").in_home(Home::Nested),
        case("[shell_environment_policy]\nexclude = [\"AWS_*\", ‹\"XDG_*\"›]\n").in_home(Home::Project),
        case("[shell_environment_policy]\ninherit = ‹\"none\"›\n").in_home(Home::Project),
        case("[shell_environment_policy]\ninclude_only = ‹[\"PATH\", \"HOME\"]›\n").in_home(Home::Project),
        case("[shell_environment_policy.set]\n‹PATH› = \"/opt/bin\"\n"),
        case("[mcp_servers.codexgate]\ncommand = \"/usr/bin/codexgate\"\nargs = [\"mcp\"]\nenv_vars = [\"CODEX_HOME\", \"XDG_CONFIG_HOME\"]\n[mcp_servers.codexgate.env]\n‹XDG_STATE_HOME› = \"/tmp/s\"\n"),
    ],
    good: &[
        case("[shell_environment_policy]\ninherit = \"all\"\nexclude = [\"AWS_*\"]\nset = { LANG = \"C\" }\n")
            .in_home(Home::Project),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nenv = { HOME = \"/srv\" }\n"),
    ],
    check: Check::File(injected),
};

pub const LEAKS: Rule = Rule {
    id: "env-leaks",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    since: (0, 134),
    says: "the agent's commands get every variable, secrets too",
    why: "With `ignore_default_excludes = true` variables whose names hold KEY, SECRET or TOKEN \
          are handed to every command of the agent, which can print them and, with the network, \
          send them.",
    bad: &[
        case("[shell_environment_policy]\ninherit = \"all\"\nignore_default_excludes = ‹true›\n"),
        case("shell_environment_policy.ignore_default_excludes = ‹true›\n"),
    ],
    good: &[
        case("[shell_environment_policy]\nignore_default_excludes = false\n"),
        case("[shell_environment_policy]\ninherit = \"none\"\nignore_default_excludes = true\n"),
        case(
            "[shell_environment_policy]\nignore_default_excludes = true\nexclude = [\"*KEY*\", \"*SECRET*\", \"*TOKEN*\"]\n",
        ),
    ],
    check: Check::File(leaks),
};

/// Variables that say what runs, or where codexgate finds its state.
const NAMES: &[&str] = &["HOME", "PATH", "CODEX_HOME", "BASH_ENV", "ENV"];
const BEGINNINGS: &[&str] = &["XDG_", "LD_", "DYLD_"];
/// Those that must not be dropped.
const NEEDED: &[&str] = &[
    "HOME",
    "PATH",
    "CODEX_HOME",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
];
/// Places that the sandbox can write, as far as a text tells.
const WRITABLE: &[&str] = &[
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    "/private/tmp",
    "./",
    "../",
    ".",
];

fn decides(name: &str) -> bool {
    NAMES.contains(&name) || BEGINNINGS.iter().any(|start| name.starts_with(start))
}

fn injected(file: &ConfigFile, found: &mut Findings) {
    let policy = file.root().child("shell_environment_policy");
    let set = policy.and_then(|policy| policy.child("set")?.as_table());
    for (name, node) in set.into_iter().flatten() {
        if !decides(name) {
            continue;
        }
        let writable = text(node).is_some_and(|value| {
            value
                .split(':')
                .any(|part| WRITABLE.iter().any(|place| part.starts_with(place)))
        });
        let finding = found.add(&INJECTED, node.key);
        finding.says(format!(
            "this sets `{name}` for every command, outside of the sandbox, too"
        ));
        if !file.home().is_project() && !writable {
            finding.severity(Severity::Info);
        }
    }
    if let Some(policy) = policy {
        dropped(file, policy, found);
    }
    for server in Server::all(file).filter(Server::is_approver) {
        for (name, node) in server.members("env") {
            if decides(name) {
                found
                    .add(&INJECTED, node.key)
                    .says(format!("this sets `{name}` for the approver"))
                    .help("let it have the environment's own, by `env_vars`");
            }
        }
    }
}

/// What a policy takes away of the variables that codexgate needs.
fn dropped(file: &ConfigFile, policy: &Node, found: &mut Findings) {
    let severity = if file.home().is_project() {
        Severity::Error
    } else {
        Severity::Info
    };
    let mut add = |node: &Node, names: Vec<&str>| {
        if !names.is_empty() {
            found
                .add(&INJECTED, node)
                .says(format!(
                    "this drops `{}` for every command",
                    names.join("`, `")
                ))
                .severity(severity);
        }
    };
    if let Some(inherit) = policy.child("inherit") {
        match word(inherit) {
            Some("none") => add(inherit, NEEDED.to_vec()),
            // The core variables are those of a login; Codex's and XDG's are none.
            Some("core") => add(inherit, NEEDED[2..].to_vec()),
            _ => {}
        }
    }
    let patterns = policy.child("exclude").and_then(Node::as_array);
    for pattern in patterns.into_iter().flatten() {
        let matched = text(pattern).map(|pattern| {
            NEEDED
                .iter()
                .filter(|name| matches(pattern, name))
                .copied()
                .collect()
        });
        add(pattern, matched.unwrap_or_default());
    }
    if let Some(only) = policy.child("include_only") {
        let patterns: Vec<&str> = only
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(text)
            .collect();
        if !patterns.is_empty() {
            let lost = NEEDED
                .iter()
                .filter(|name| !patterns.iter().any(|pattern| matches(pattern, name)))
                .copied()
                .collect();
            add(only, lost);
        }
    }
}

/// Whether a pattern with `*` and `?` matches, without regard to case.
fn matches(pattern: &str, name: &str) -> bool {
    fn at(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern, name) {
            ([], []) => true,
            ([b'*', rest @ ..], _) => (0..=name.len()).any(|skip| at(rest, &name[skip..])),
            ([b'?', rest @ ..], [_, after @ ..]) => at(rest, after),
            ([p, rest @ ..], [n, after @ ..]) => p.eq_ignore_ascii_case(n) && at(rest, after),
            _ => false,
        }
    }
    // Stars beyond this are nobody's pattern, and each one multiplies the work.
    const MOST_STARS: usize = 4;
    pattern.matches('*').count() <= MOST_STARS && at(pattern.as_bytes(), name.as_bytes())
}

fn leaks(file: &ConfigFile, found: &mut Findings) {
    let Some(policy) = file.root().child("shell_environment_policy") else {
        return;
    };
    let ignores = policy
        .child("ignore_default_excludes")
        .filter(|node| node.as_bool() == Some(true));
    let inherits_little = policy
        .child("inherit")
        .and_then(word)
        .is_some_and(|inherit| inherit != "all");
    let patterns = policy.child("exclude").and_then(Node::as_array);
    let excludes = |name: &str| {
        patterns
            .into_iter()
            .flatten()
            .filter_map(text)
            .any(|pattern| matches(pattern, name))
    };
    let covered = ["A_API_KEY", "A_SECRET", "A_TOKEN"]
        .iter()
        .all(|name| excludes(name));
    let only = policy.child("include_only").and_then(Node::as_array);
    let chosen = only.is_some_and(|only| !only.is_empty());
    if let Some(node) = ignores
        && !inherits_little
        && !covered
        && !chosen
    {
        found
            .add(&LEAKS, node)
            .help("leave it out, or exclude `*KEY*`, `*SECRET*` and `*TOKEN*`");
    }
}
