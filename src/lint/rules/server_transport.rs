//! `server-no-transport`, `server-mixed-transport`, `server-key-wrong-transport`: how Codex talks
//! to a server. One such fault stops all of Codex, a disabled server's too.
//! Source: scenarios mcp-no-transport, mcp-both-transports, mcp-bad-disabled, mcp-disable-undefined,
//! mcp-merge-completes, mcp-url-args, mcp-url-env, mcp-url-cwd, mcp-url-env-vars, mcp-stdio-headers,
//! mcp-stdio-bearer-env, mcp-stdio-env-headers, mcp-oauth-stdio, mcp-bearer-token-url,
//! mcp-bearer-token-stdio; Codex 0.134 to 0.171.

use crate::codex::server::{self, Transport};
use crate::lint::layers::server_key;
use crate::lint::server::Server;
use crate::lint::{
    Check, Confidence, ConfigFile, Findings, Home, Kind, Layers, Rule, Severity, Spread, beside,
    case,
};

/// A server that Codex has by itself and that no table can change.
const BUILT_IN: &str = "codex_apps";

pub const NO_TRANSPORT: Rule = Rule {
    id: "server-no-transport",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this server has neither `command` nor `url`",
    why: "Codex refuses the whole configuration over one such table, a disabled one too. It is \
          what stays behind when a server is removed and its approvals, \
          `[mcp_servers.NAME.tools.TOOL]`, are not. A project's file alone cannot tell: the \
          user's file may have the rest.",
    bad: &[
        case("[mcp_servers.‹theme›.tools.set_color]\napproval_mode = \"prompt\"\n"),
        case("[mcp_servers.‹codex_apps›]\nstartup_timeout_sec = 60\n"),
        case("[mcp_servers]\n‹a› = { enabled = false }\n"),
        case("[mcp_servers.‹a›]\nenabled = false\n").in_home(Home::Project),
    ],
    good: &[
        case(
            "[mcp_servers.a]\ncommand = \"a-mcp\"\n[mcp_servers.a.tools.t]\napproval_mode = \"prompt\"\n",
        ),
        case("[mcp_servers.a]\nurl = \"https://a.example/mcp\"\n"),
    ],
    check: Check::File(no_transport),
};

pub const MIXED: Rule = Rule {
    id: "server-mixed-transport",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this server has both `command` and `url`",
    why: "Codex refuses the whole configuration: a server is either a program or an address. \
          Layers merge key by key, so the two may come from two files.",
    bad: &[
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\n‹url› = \"https://a.example/mcp\"\n"),
        case("[mcp_servers.wiki]\n‹command› = \"wiki-local\"\n")
            .in_home(Home::Project)
            .with(&[beside(
                Home::User,
                Kind::Config,
                "[mcp_servers.wiki]\nurl = \"https://wiki.example/mcp\"\n",
            )]),
    ],
    good: &[case(
        "[mcp_servers.a]\ncommand = \"a-mcp\"\n[mcp_servers.b]\nurl = \"https://b.example/mcp\"\n",
    )],
    check: Check::Many(&[Check::File(mixed), Check::Layers(mixed_across)]),
};

pub const WRONG_TRANSPORT: Rule = Rule {
    id: "server-key-wrong-transport",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this key is for the other kind of server",
    why: "Codex refuses the whole configuration over a key of the other transport, be it empty: \
          `args`, `env`, `env_vars` and `cwd` are for programs, headers, tokens and `oauth` for \
          addresses. `bearer_token` is refused on both.",
    bad: &[
        case("[mcp_servers.a]\nurl = \"https://a.example/mcp\"\n‹args› = []\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\n‹http_headers› = { X-Team = \"red\" }\n"),
        case(
            "[mcp_servers.a]\nurl = \"https://a.example/mcp\"\n[mcp_servers.a.‹env›]\nLEVEL = \"1\"\n",
        ),
        case("[mcp_servers.a]\nurl = \"https://a.example/mcp\"\n‹bearer_token› = \"\"\n"),
    ],
    good: &[
        case(
            "[mcp_servers.a]\nurl = \"https://a.example/mcp\"\nhttp_headers = { X-Team = \"red\" }\n",
        ),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nargs = []\nenv = { LEVEL = \"1\" }\n"),
        case(
            "[mcp_servers.a]\nurl = \"https://a.example/mcp\"\nbearer_token_env_var = \"A_TOKEN\"\n",
        ),
    ],
    check: Check::File(wrong_transport),
};

const STOPS: &str = "Codex does not start while it is there, be the server disabled or not";

fn no_transport(file: &ConfigFile, found: &mut Findings) {
    // Only the user's file is under all projects: in any other, the rest may be elsewhere.
    let alone = file.kind() == Kind::Config && matches!(file.home(), Home::User | Home::Loose);
    for server in Server::all(file) {
        if server.get("command").is_some() || server.get("url").is_some() {
            continue;
        }
        let finding = found.add(&NO_TRANSPORT, server.node.key);
        if server.name == BUILT_IN {
            finding
                .note("`codex_apps` is built into Codex and cannot be tuned here")
                .help("remove the table");
        } else {
            finding.help("remove the table and those below it, or say how to reach the server");
        }
        if alone {
            finding.note(STOPS);
        } else {
            finding
                .severity(Severity::Info)
                .note("Codex does not start unless another layer has the rest");
        }
    }
}

fn mixed(file: &ConfigFile, found: &mut Findings) {
    for server in Server::all(file) {
        if let (Some(command), Some(url)) = (server.get("command"), server.get("url")) {
            found
                .add(&MIXED, url.key)
                .related(command.key, "and this")
                .note(STOPS)
                .help("keep one of the two");
        }
    }
}

/// Two halves in two files, each of which is right alone.
fn mixed_across(layers: &Layers, spread: &mut Spread) {
    for (name, server) in layers.servers() {
        let (Some(command), Some(url)) = (server.get(&["command"]), server.get(&["url"])) else {
            continue;
        };
        let both_in_one = layers.counting().any(|(_, layer)| {
            let value = layer.value();
            let has = |key: &str| value.get(&["mcp_servers", name, key]).is_some();
            has("command") && has("url")
        });
        if both_in_one {
            continue;
        }
        let (upper, lower) = if command.layer > url.layer {
            (("command", command.layer), ("url", url.layer))
        } else {
            (("url", url.layer), ("command", command.layer))
        };
        let (Some(above), Some(below)) = (layers.layer(upper.1), layers.layer(lower.1)) else {
            continue;
        };
        let other = layers.place(&below.key_place(&server_key(name, &[lower.0])));
        let place = above.key_place(&server_key(name, &[upper.0]));
        if let Some(finding) = spread.add(&MIXED, &place) {
            finding
                .says(format!(
                    "`{name}` has `{}` here and `{}` at {other}",
                    upper.0, lower.0
                ))
                .note("no command of Codex starts in this folder, be the server disabled or not")
                .help("give one of the two servers another name");
        }
    }
}

fn wrong_transport(file: &ConfigFile, found: &mut Findings) {
    for server in Server::all(file) {
        for key in &server::KEYS {
            let Some(node) = server.get(key.name) else {
                continue;
            };
            if !key.stdio && !key.url {
                let finding = found.add(&WRONG_TRANSPORT, node.key);
                finding.says("Codex refuses this key").note(STOPS);
                if server.transport() == Some(Transport::Url) {
                    finding.help(
                        "put the token into a variable and name that with `bearer_token_env_var`",
                    );
                } else {
                    finding.help("name the variable that holds the token in `env_vars`");
                }
                continue;
            }
            let Some(transport) = server.transport().filter(|it| !key.fits(*it)) else {
                continue;
            };
            let finding = found.add(&WRONG_TRANSPORT, node.key);
            finding
                .says(format!(
                    "`{}` is not for a server with `{}`",
                    key.name,
                    transport.key()
                ))
                .note(STOPS);
            if let Some(meant) = counterpart(key.name) {
                finding.help(format!("use `{meant}`"));
            }
        }
    }
}

/// The key that does the same on the other transport.
fn counterpart(key: &str) -> Option<&'static str> {
    Some(match key {
        "env" => "http_headers",
        "env_vars" => "env_http_headers",
        "http_headers" => "env",
        "env_http_headers" | "bearer_token_env_var" => "env_vars",
        _ => return None,
    })
}
