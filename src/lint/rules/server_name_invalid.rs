//! `server-name-invalid`: a name that loads and cannot start.
//! Source: scenarios mcp-name-space, mcp-name-unicode, mcp-name-empty, mcp-name-dollar,
//! mcp-name-dots, mcp-name-slash, mcp-name-colon; Codex 0.134 to 0.171.

use crate::codex::server::is_valid_name;
use crate::lint::server::Server;
use crate::lint::{Check, Confidence, ConfigFile, Findings, Rule, Severity, case};

pub const RULE: Rule = Rule {
    id: "server-name-invalid",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "Codex cannot start a server of this name",
    why: "The configuration loads and `codex mcp list` shows the server as enabled, but each \
          thread fails to start it: a name may hold letters, digits, and `_ : @ / . -`. Before \
          0.154 only letters, digits, `_` and `-` were allowed.",
    bad: &[
        case("[mcp_servers.‹\"Postgres RO\"›]\ncommand = \"pg-mcp\"\n"),
        case("[mcp_servers]\n‹'a b'› = { command = \"x\" }\n"),
        case("mcp_servers.‹\"\"›.command = \"x\"\n"),
        case("[mcp_servers.‹\"dök\"›]\nurl = \"https://x.example/mcp\"\n"),
    ],
    good: &[
        case("[mcp_servers.\"@acme/notes\"]\ncommand = \"notes-mcp\"\n"),
        case("[mcp_servers.\"acme.search\"]\ncommand = \"search-mcp\"\n"),
        case("[mcp_servers.a-b_C1]\ncommand = \"x\"\n"),
    ],
    check: Check::File(check),
};

fn check(file: &ConfigFile, found: &mut Findings) {
    for server in Server::all(file).filter(|server| !is_valid_name(server.name)) {
        found
            .add(&RULE, server.node.key)
            .label("letters, digits and `_ : @ / . -` alone")
            .note("the file loads and the server is listed, but it never starts");
    }
}
