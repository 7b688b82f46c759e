//! `server-key-unknown`: a key that looks as if it worked.
//! Source: scenarios mcp-unknown-keys, mcp-unknown-keys-strict, mcp-disabled-true,
//! mcp-tool-unknown-key; Codex 0.134 to 0.171.

use crate::codex::server::{self, Transport};
use crate::document::{Edit, Form, Node, Span};
use crate::lint::server::Server;
use crate::lint::words::{closest, is_root_key, quoted_if_needed};
use crate::lint::{Check, Confidence, ConfigFile, Findings, Grade, Rule, Severity, case};

pub const RULE: Rule = Rule {
    id: "server-key-unknown",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "Codex ignores this key",
    why: "A key that Codex does not know changes nothing, and the terminal says nothing about it: \
          `disabled = true` leaves the server running, and a header under `headers` is not sent. \
          With `--strict-config` it is an error.",
    bad: &[
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\n‹type› = \"stdio\"\n"),
        case("[mcp_servers.a]\nurl = \"https://a.example/mcp\"\n‹headers› = { X-Team = \"red\" }\n")
            .fixed("[mcp_servers.a]\nurl = \"https://a.example/mcp\"\nhttp_headers = { X-Team = \"red\" }\n"),
        case("[mcp_servers.a]\nurl = \"https://a.example/mcp\"\n[mcp_servers.a.‹headers›]\nX-Team = \"red\"\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\n‹disabled› = true\n")
            .fixed("[mcp_servers.a]\ncommand = \"a-mcp\"\nenabled = false\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\n‹arg› = []\n")
            .fixed("[mcp_servers.a]\ncommand = \"a-mcp\"\nargs = []\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\n‹timeout› = 60\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\n[mcp_servers.a.tools.t]\n‹enabled› = false\n"),
    ],
    good: &[
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nenabled = false\nenv = { type = \"x\", headers = \"y\" }\n"),
        case("[mcp_servers.a]\nurl = \"https://a.example/mcp\"\nhttp_headers = { X-Team = \"red\" }\n"),
    ],
    check: Check::File(check),
};

/// What other clients call it, what Codex calls it.
const MEANT: &[(&str, &str)] = &[
    ("alwaysAllow", "tools.NAME.approval_mode"),
    ("always_allow", "tools.NAME.approval_mode"),
    ("approval_mode", "default_tools_approval_mode"),
    ("autoApprove", "tools.NAME.approval_mode"),
    ("auto_approve", "tools.NAME.approval_mode"),
    ("disabledTools", "disabled_tools"),
    ("enabledTools", "enabled_tools"),
    ("environment", "env"),
    ("envs", "env"),
    ("httpHeaders", "http_headers"),
    ("httpUrl", "url"),
    ("serverUrl", "url"),
    ("startup_timeout", "startup_timeout_sec"),
    ("timeout", "tool_timeout_sec"),
    ("tool_timeout", "tool_timeout_sec"),
    ("workdir", "cwd"),
    ("workingDirectory", "cwd"),
    ("working_directory", "cwd"),
];

/// Keys of other clients that say what Codex sees by itself.
const NEEDLESS: &[&str] = &["type", "transport", "transport_type", "description"];

fn check(file: &ConfigFile, found: &mut Findings) {
    for server in Server::all(file) {
        let value = server.node.value();
        let Some(members) = value.as_table() else {
            continue;
        };
        for path in server::unknown_keys(members) {
            let node = path
                .iter()
                .try_fold(server.node, |node, part| node.child(part));
            let Some(node) = node else { continue };
            match path.as_slice() {
                // A root key that a header has captured is another matter.
                [name] if is_root_key(name) => {}
                [name] => unknown(&server, name, node, found),
                _ => {
                    found.add(&RULE, node.key);
                }
            }
        }
    }
}

fn unknown(server: &Server, name: &str, node: &Node, found: &mut Findings) {
    let finding = found.add(&RULE, node.key);
    finding.says(format!("Codex ignores `{name}` here"));
    if NEEDLESS.contains(&name) {
        finding.help("leave it out: Codex knows the kind by `command` or `url`");
        return;
    }
    if name == "disabled" {
        match node.as_bool() {
            Some(true) => {
                finding
                    .says("`disabled = true` does not disable this server")
                    .help("use `enabled = false`")
                    .fix(
                        Grade::Safe,
                        [Edit::replace(node.key.cover(node.span), "enabled = false")],
                    );
            }
            _ => {
                finding.help("leave it out, or use `enabled`");
            }
        }
        return;
    }
    if name == "headers" && server.transport() == Some(Transport::Url) {
        finding
            .says("Codex sends none of these `headers`")
            .help("use `http_headers`");
        if server.get("http_headers").is_none() && is_pair(node) {
            finding.fix(Grade::Safe, rename(node.key, "http_headers"));
        }
        return;
    }
    let listed = MEANT.iter().find(|(other, _)| *other == name);
    if let Some((_, meant)) = listed {
        finding.help(format!("use `{meant}`"));
    } else if let Some(meant) = closest(name, server::KEYS.iter().map(|key| key.name)) {
        finding.help(format!("did you mean `{meant}`?"));
        if server.get(meant).is_none() && is_pair(node) {
            finding.fix(Grade::Safe, rename(node.key, meant));
        }
    }
}

/// Whether the key is written once, as `key = value`: only then is one edit the whole change.
fn is_pair(node: &Node) -> bool {
    matches!(node.form, Form::Value | Form::Inline)
}

fn rename(key: Span, name: &str) -> [Edit; 1] {
    [Edit::replace(key, quoted_if_needed(name))]
}
