//! `server-timeout-unit`: a timeout in the wrong unit.
//! Source: scenarios mcp-timeouts, mcp-timeout-ms, mcp-timeout-both; Codex 0.134 to 0.171. That a
//! value can only be meant in the other unit is an opinion.

use crate::document::{Data, Edit, Node};
use crate::lint::server::Server;
use crate::lint::{Check, Confidence, ConfigFile, Findings, Grade, Rule, Severity, case};

/// From here on nobody means seconds: 10,000 of them are almost three hours.
const TOO_MANY_SECONDS: f64 = 10_000.0;
/// Up to here nobody means milliseconds: no server starts in that time.
const TOO_FEW_MILLISECONDS: i64 = 120;

pub const RULE: Rule = Rule {
    id: "server-timeout-unit",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    since: (0, 134),
    says: "this timeout is in another unit",
    why: "`startup_timeout_sec` and `tool_timeout_sec` are seconds. Milliseconds there make Codex \
          wait for hours on a server that hangs. The older key `startup_timeout_ms` is still read, \
          in milliseconds; `startup_timeout_sec` wins over it.",
    bad: &[
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nstartup_timeout_sec = ‹30000›\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\ntool_timeout_sec = ‹60_000.0›\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nstartup_timeout_ms = ‹30›\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\n‹startup_timeout_ms› = 30000\n")
            .fixed("[mcp_servers.a]\ncommand = \"a-mcp\"\nstartup_timeout_sec = 30\n"),
    ],
    good: &[
        case(
            "[mcp_servers.a]\ncommand = \"a-mcp\"\nstartup_timeout_sec = 120\ntool_timeout_sec = 3600\n",
        ),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nstartup_timeout_sec = 2.5\n"),
    ],
    check: Check::File(check),
};

fn check(file: &ConfigFile, found: &mut Findings) {
    for server in Server::all(file) {
        for key in ["startup_timeout_sec", "tool_timeout_sec"] {
            if let Some(node) = server.get(key)
                && seconds(node).is_some_and(|value| value >= TOO_MANY_SECONDS)
            {
                found
                    .add(&RULE, node)
                    .says(format!(
                        "`{key}` is in seconds, and this can only be milliseconds"
                    ))
                    .help("divide it by 1000");
            }
        }
        let Some(older) = server.get("startup_timeout_ms") else {
            continue;
        };
        let Data::Integer(milliseconds) = older.data else {
            continue;
        };
        if (1..=TOO_FEW_MILLISECONDS).contains(&milliseconds) {
            found
                .add(&RULE, older)
                .says("`startup_timeout_ms` is in milliseconds, and this can only be seconds")
                .help("use `startup_timeout_sec`");
            continue;
        }
        let finding = found.add(&RULE, older.key);
        finding
            .severity(Severity::Info)
            .says("`startup_timeout_ms` is the older name of `startup_timeout_sec`")
            .help("use `startup_timeout_sec`, in seconds");
        if milliseconds > 0
            && milliseconds % 1000 == 0
            && server.get("startup_timeout_sec").is_none()
        {
            let seconds = (milliseconds / 1000).to_string();
            finding.fix(
                Grade::Safe,
                [
                    Edit::replace(older.key, "startup_timeout_sec"),
                    Edit::replace(older.span, seconds),
                ],
            );
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "compared with a limit far below 2^53"
)]
fn seconds(node: &Node) -> Option<f64> {
    match node.data {
        Data::Integer(value) => Some(value as f64),
        Data::Float(value) => Some(value),
        _ => None,
    }
}
