//! `tools-auto-approved`: tools that run unasked.
//! Source: scenarios mcp-tools-modes, mcp-approval-mode-bad; Codex 0.134 to 0.171.

use crate::document::Node;
use crate::lint::file::word;
use crate::lint::server::Server;
use crate::lint::{Check, Confidence, ConfigFile, Findings, Rule, Severity, case};

pub const RULE: Rule = Rule {
    id: "tools-auto-approved",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this lets a server's tool run unasked",
    why: "With the mode `approve` Codex calls the tool whenever the model wants it, with whatever \
          arguments it wants, outside of the sandbox. Codex writes such lines itself when somebody \
          chooses to always allow a tool.",
    bad: &[
        case(
            "[mcp_servers.a]\ncommand = \"a-mcp\"\n[mcp_servers.a.tools.drop]\napproval_mode = ‹\"approve\"›\n",
        ),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\ndefault_tools_approval_mode = ‹\"approve\"›\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\ntools.drop = [‹\"approve\"›]\n"),
    ],
    good: &[
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\ndefault_tools_approval_mode = \"prompt\"\n"),
        case(
            "[mcp_servers.a]\ncommand = \"a-mcp\"\n[mcp_servers.a.tools.drop]\napproval_mode = \"auto\"\n",
        ),
        case(
            "[mcp_servers.codexgate]\ncommand = \"/usr/bin/codexgate\"\nargs = [\"mcp\"]\nenv_vars = [\"CODEX_HOME\", \"XDG_STATE_HOME\", \"XDG_CONFIG_HOME\"]\n",
        ),
    ],
    check: Check::File(check),
};

fn check(file: &ConfigFile, found: &mut Findings) {
    for server in Server::all(file) {
        if let Some(mode) = server
            .get("default_tools_approval_mode")
            .filter(|mode| approves(mode))
        {
            found
                .add(&RULE, mode)
                .says("this lets every tool of the server run unasked")
                .help("use `prompt`, or `writes` to be asked before a tool changes something");
        }
        for (tool, node) in server.members("tools") {
            // A table may be written as an array of its values.
            let mode = node.child("approval_mode").or_else(|| node.child("0"));
            if let Some(mode) = mode.filter(|mode| approves(mode)) {
                found
                    .add(&RULE, mode)
                    .says(format!(
                        "this lets the tool `{}` run unasked",
                        crate::text::visible(tool)
                    ))
                    .help("use `prompt`, or `writes` to be asked before it changes something");
            }
        }
    }
}

fn approves(mode: &Node) -> bool {
    word(mode) == Some("approve")
}
