//! `server-shadowed`: a project that changes a server of the user or the system.
//! Source: scenarios mcp-merge-user-project, mcp-merge-swap-command, mcp-project-disables-user,
//! mcp-merge-array-replaced; Codex 0.134 to 0.171.

use crate::codex::layer::{self, Layer};
use crate::lint::layers::{is_project, server_key};
use crate::lint::{Check, Confidence, Home, Kind, Layers, Rule, Severity, Spread, beside, case};

const DOCS: &str = "[mcp_servers.docs]\ncommand = \"/usr/bin/docs-mcp\"\nargs = [\"--all\"]\nenv_vars = [\"DOCS_TOKEN\"]\n";

pub const RULE: Rule = Rule {
    id: "server-shadowed",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "the project changes a server of another layer",
    why: "Tables of servers merge key by key. A project that sets `command` of a server that the \
          user has gets its own program started with the user's environment for that server, \
          secrets too; one that sets `enabled` turns it off.",
    bad: &[
        case("[mcp_servers.docs]\n‹command› = \"/usr/bin/other\"\n")
            .in_home(Home::Project)
            .with(&[beside(Home::User, Kind::Config, DOCS)]),
        case("[mcp_servers.docs]\n‹enabled› = false\n‹args› = []\n")
            .in_home(Home::Project)
            .with(&[beside(Home::User, Kind::Config, DOCS)]),
        case("[mcp_servers.docs.env]\n‹DOCS_HOST› = \"docs.example\"\n")
            .in_home(Home::Project)
            .with(&[beside(Home::System, Kind::Config, DOCS)]),
    ],
    good: &[
        case("[mcp_servers.docs]\ncommand = \"/usr/bin/docs-mcp\"\nstartup_timeout_sec = 20\n")
            .in_home(Home::Project)
            .with(&[beside(Home::User, Kind::Config, DOCS)]),
        case("[mcp_servers.other]\ncommand = \"/usr/bin/other\"\n")
            .in_home(Home::Project)
            .with(&[beside(Home::User, Kind::Config, DOCS)]),
        case(DOCS).with(&[beside(
            Home::System,
            Kind::Config,
            "[mcp_servers.docs]\ncommand = \"/usr/bin/older\"\n",
        )]),
    ],
    check: Check::Layers(check),
};

/// Keys that only say how long Codex waits.
const HARMLESS: &[&str] = &[
    "startup_timeout_sec",
    "startup_timeout_ms",
    "tool_timeout_sec",
];

fn is_outside(layer: &Layer) -> bool {
    matches!(
        layer.kind,
        layer::Kind::System | layer::Kind::User | layer::Kind::Profile(_)
    )
}

fn check(layers: &Layers, spread: &mut Spread) {
    for (name, server) in layers.servers() {
        // The approver has a graver rule of its own; two transports, too.
        let mixed = server.get(&["command"]).is_some() && server.get(&["url"]).is_some();
        if layers.is_approver(name) || mixed {
            continue;
        }
        let outside = layers.counting().find(|(_, layer)| {
            let value = layer.value();
            is_outside(layer)
                && ["command", "url"]
                    .iter()
                    .any(|key| value.get(&["mcp_servers", name, key]).is_some())
        });
        let Some((_, outside)) = outside else {
            continue;
        };
        server.leaves(&mut |path, leaf| {
            let Some(layer) = layers.layer(leaf.layer).filter(|layer| is_project(layer)) else {
                return;
            };
            if path.first().is_some_and(|key| HARMLESS.contains(key)) {
                return;
            }
            let value = leaf.value();
            let old = leaf
                .overrode
                .iter()
                .filter_map(|old| Some((layers.layer(old.layer)?, &old.value)))
                .find(|(layer, _)| is_outside(layer));
            let key = server_key(name, path);
            let (verb, place) = match old {
                Some((_, old)) if *old == value => return,
                Some((layer, _)) => ("replaces", layer.key_place(&key)),
                None => ("adds to", outside.place(&server_key(name, &[]))),
            };
            if let Some(finding) = spread.add(&RULE, &layer.key_place(&key)) {
                let what = path.join(".");
                let whose = layers.place(&place);
                finding
                    .says(if verb == "replaces" {
                        format!("this replaces `{what}` of the server `{name}`")
                    } else {
                        format!("this adds `{what}` to the server `{name}`")
                    })
                    .note(format!(
                        "it is defined at {whose}, and Codex merges the two"
                    ))
                    .help("give the project's server another name");
            }
        });
    }
}
