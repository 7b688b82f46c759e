//! `telemetry-exports-prompts`: prompts that leave the machine.
//! Source: scenario otel-prompts; Codex 0.134 to 0.171.

use super::url_plaintext::is_plaintext;
use crate::document::{Data, Node};
use crate::lint::file::word;
use crate::lint::{Check, Confidence, ConfigFile, Findings, Rule, Severity, case};

pub const RULE: Rule = Rule {
    id: "telemetry-exports-prompts",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "what is written to the agent is exported",
    why: "With `log_user_prompt` the exporter gets every prompt, with whatever was pasted into it. \
          An exporter over plain http hands its events to everybody on the way.",
    bad: &[
        case(
            "[otel]\nlog_user_prompt = ‹true›\nexporter = { otlp-http = { endpoint = \"https://o.example\", protocol = \"binary\" } }\n",
        ),
        case(
            "[otel]\nexporter = { otlp-http = { endpoint = ‹\"http://o.example:4318/v1/logs\"›, protocol = \"binary\" } }\n",
        ),
    ],
    good: &[
        case("[otel]\nlog_user_prompt = true\nexporter = \"none\"\n"),
        case(
            "[otel]\nlog_user_prompt = false\n[otel.exporter.otlp-http]\nendpoint = \"http://localhost:4318/v1/logs\"\nprotocol = \"binary\"\n",
        ),
    ],
    check: Check::File(check),
};

fn check(file: &ConfigFile, found: &mut Findings) {
    let Some(otel) = file.root().child("otel") else {
        return;
    };
    let exports = otel
        .child("exporter")
        .is_some_and(|exporter| word(exporter) != Some("none"));
    let prompts = otel.child("log_user_prompt");
    if let Some(node) = prompts.filter(|node| exports && node.as_bool() == Some(true)) {
        found.add(&RULE, node).help("leave it out");
    }
    for key in ["exporter", "metrics_exporter", "trace_exporter"] {
        if let Some(exporter) = otel.child(key) {
            endpoints(exporter, found);
        }
    }
}

fn endpoints(node: &Node, found: &mut Findings) {
    for (name, member) in node.as_table().into_iter().flatten() {
        match &member.data {
            Data::String(url) if name == "endpoint" && is_plaintext(url) => {
                found
                    .add(&RULE, member)
                    .says("what is exported is not encrypted on its way")
                    .help("use `https://`");
            }
            Data::Table(_) => endpoints(member, found),
            _ => {}
        }
    }
}
