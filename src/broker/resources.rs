//! The six resources of codex-mcp: two in JSON about this broker, four guides in Markdown.
//!
//! Numbers in the guides come from the constants that the code uses. Nothing here starts Codex: its
//! version is told once it has greeted.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::client::REVISIONS;
use super::codex::OLDEST;
use super::core::{Broker, iso};
use super::error::Code;
use super::limits;
use super::options::{CONFIG_KEYS, Mode};
use super::words::{EFFORTS, Policy, Sandbox};
use crate::codex::version::NEWEST;
use crate::rpc::RpcError;

/// JSON-RPC error for a resource that is not there, as MCP has it.
const NOT_FOUND: i64 = -32002;

/// Uri, name, title, type, description.
const ALL: [(&str, &str, &str, &str, &str); 6] = [
    (
        "codex-mcp:///server-info",
        "server_info",
        "Server Info",
        "application/json",
        "What this broker is, allows and runs.",
    ),
    (
        "codex-mcp:///compat-report",
        "compat_report",
        "Compat Report",
        "application/json",
        "Which features a client may rely on, and what does not fit.",
    ),
    (
        "codex-mcp:///config",
        "config",
        "Config Guide",
        "text/markdown",
        "Parameters, what advanced.config may hold, and what stays for later turns.",
    ),
    (
        "codex-mcp:///gotchas",
        "gotchas",
        "Gotchas",
        "text/markdown",
        "What surprises: polling, approvals and their time, events, lifecycle.",
    ),
    (
        "codex-mcp:///quickstart",
        "quickstart",
        "Quickstart",
        "text/markdown",
        "Start, wait, answer, reply.",
    ),
    (
        "codex-mcp:///errors",
        "errors",
        "Errors",
        "text/markdown",
        "Each error code, and what to do.",
    ),
];

/// What `resources/list` answers.
pub fn list() -> Value {
    ALL.iter()
        .map(|(uri, name, title, kind, description)| {
            json!({ "uri": uri, "name": name, "title": title, "mimeType": kind,
                    "description": description })
        })
        .collect()
}

impl Broker {
    /// The content of a resource.
    pub(super) fn resource(&self, uri: &str) -> Result<Value, RpcError> {
        let Some((_, name, _, kind, _)) = ALL.iter().find(|known| known.0 == uri) else {
            return Err(RpcError::new(
                NOT_FOUND,
                format!("there is no resource {uri:?}"),
            ));
        };
        let text = match *name {
            "server_info" => format!("{:#}", self.server_info()),
            "compat_report" => format!("{:#}", self.compat_report()),
            "config" => config(),
            "gotchas" => gotchas(),
            "quickstart" => quickstart(),
            _ => errors(),
        };
        Ok(json!({ "contents": [{ "uri": uri, "mimeType": kind, "text": text }] }))
    }

    fn active(&self) -> usize {
        let sessions = self.sessions.values();
        sessions
            .filter(|session| session.listed && session.cancelled.is_none())
            .count()
    }

    fn server_info(&self) -> Value {
        let mode = match self.options.mode {
            Some(Mode::Exec) => "exec",
            _ => "app-server",
        };
        let model = self.sessions.values().rev().find_map(|session| {
            let effective = session.effective.as_ref();
            effective.and_then(|effective| effective.model.clone())
        });
        let source = if model.is_some() {
            "session-default"
        } else {
            "unknown"
        };
        let resources: Vec<Value> = ALL
            .iter()
            .map(|(uri, _, title, kind, description)| {
                json!({ "uri": uri, "title": title, "mimeType": kind,
                        "description": description })
            })
            .collect();
        let server = self.codex.server.as_ref();
        json!({
            "name": "codexgate",
            "version": env!("CARGO_PKG_VERSION"),
            "codexCliVersion": self.codex.version_text(),
            "clientMode": mode,
            "node": null,
            "platform": std::env::consts::OS,
            "arch": std::env::consts::ARCH,
            "stdioMode": self.options.stdio,
            "supportedApprovalPolicies": Policy::WORDS,
            "supportedSandboxModes": Sandbox::WORDS,
            "supportedEffortLevels": EFFORTS,
            "activeSessions": self.active(),
            "defaultModel": model,
            "defaultModelSource": source,
            "resources": resources,
            "broker": {
                "codexgateVersion": env!("CARGO_PKG_VERSION"),
                "codexVersionsProven": format!("{OLDEST} to {NEWEST}"),
                "mcpRevisions": REVISIONS,
                "appServer": {
                    "pid": server.map(super::app_server::AppServer::pid),
                    "startedAt": self.codex.started.filter(|_| server.is_some()).map(iso),
                    "restarts": self.codex.generation.saturating_sub(1),
                },
                "maxSandbox": self.options.max_sandbox.as_str(),
                "approvals": self.approvals().as_str(),
                "allowAmendments": self.options.allow_amendments,
                "allowConfig": self.options.allow_config,
                "allowProfile": self.options.allow_profile,
                "elicitation": self.client.shows_forms,
            },
        })
    }

    fn compat_report(&self) -> Value {
        let mut mismatches: Vec<String> = Vec::new();
        if let Some(version) = self.codex.version.filter(|version| version.is_unknown()) {
            mismatches.push(format!(
                "Codex {version} is newer than what was proven ({NEWEST})"
            ));
        }
        if self.options.mode == Some(Mode::Exec) {
            mismatches.push("exec mode: no approvals, no fork, no resume by thread".to_owned());
        }
        let warnings: Vec<Value> = self
            .codex
            .warnings
            .iter()
            .filter_map(|warning| warning.get("message").or(warning.get("summary")).cloned())
            .collect();
        json!({
            "schemaVersion": "1.0.0",
            "features": {
                "respondPermission": true,
                "respondApprovalAlias": false,
                "respondUserInput": true,
                "sessionInterrupt": true,
                "responseModeMinimal": true,
                "responseModeDeltaCompact": true,
                "responseModeFull": true,
                "pollOptionsBase": true,
                "maxBytesTruncation": true,
                "compatWarnings": true,
                "diskResume": true,
                "dynamicTools": false,
                "toolPermissionControl": true,
                "wait": true,
                "steer": true,
                "mcpApprovals": true,
                "permissionsApprovals": true,
                "effectivePolicy": true,
                "elicitation": self.client.shows_forms,
            },
            "recommendedSettings": {
                "check": { "action": "wait", "responseMode": "minimal",
                           "maxEvents": limits::WAIT_EVENTS },
                "approvalTimeoutMs": millis(limits::APPROVAL),
            },
            "toolCounts": { "core": 4 },
            "runtimeWarnings": warnings,
            "detectedMismatches": mismatches,
            "runtime": {
                "codexMcpVersion": env!("CARGO_PKG_VERSION"),
                "codexCliVersion": self.codex.version_text(),
                "activeSessions": self.active(),
            },
        })
    }
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn config() -> String {
    let keys: Vec<String> = CONFIG_KEYS
        .iter()
        .map(|(key, _)| format!("`{key}`"))
        .collect();
    format!(
        "# Configuration of a session\n\n\
`codex` takes `prompt`, `approvalPolicy` and `sandbox`, which are required, and:\n\n\
| parameter | default | |\n|---|---|---|\n\
| `effort` | `low` | {efforts}, or another word of the model's |\n\
| `cwd` | the server's folder | must exist |\n\
| `model` | the user's configuration | |\n\
| `profile` | none | `NAME.config.toml` of Codex's home, below what is given here; keys beyond the \
list below need `--allow-profile NAME` |\n\
| `advanced.baseInstructions`, `.developerInstructions` | | of the thread |\n\
| `advanced.summary` | the user's configuration | stays for later turns |\n\
| `advanced.ephemeral` | `false` | nothing is kept: no fork, no resume |\n\
| `advanced.outputSchema` | | of the first turn; `result.structuredOutput` has the answer |\n\
| `advanced.images` | | files, relative to `cwd` |\n\
| `advanced.approvalTimeoutMs` | {timeout} | then an approval is declined |\n\n\
`advanced.config` may hold {keys}. Any other key is refused: whoever starts the broker can allow \
it with `--allow-config KEY`.\n\n\
`codex_reply` takes `model`, `approvalPolicy`, `effort`, `summary`, `sandbox` and `cwd`, which stay \
for later turns, and `outputSchema`, which is for its turn alone. With `mode: \"steer\"` the prompt \
goes into the running turn.\n\n\
`effective` in a result is the policy that Codex said it runs under. One that is weaker than what \
was asked is an error, and no turn starts.\n\n\
Proven on Codex {OLDEST} to {NEWEST}.\n",
        efforts = EFFORTS.map(|word| format!("`{word}`")).join(", "),
        timeout = millis(limits::APPROVAL),
        keys = keys.join(", "),
    )
}

fn gotchas() -> String {
    format!(
        "# What surprises\n\n\
## Polling and cursors\n\
- `wait` returns as soon as something needs you, after {wait} ms otherwise (`timedOut`); at most \
{most} ms.\n\
- Without `cursor` you get what you have not seen. An older cursor gives events again, also in \
another `responseMode`.\n\
- `cursorResetTo` says that events before it were dropped (`droppedEvents`).\n\
- `maxBytes` bounds the whole line, {least} at least.\n\n\
## Approvals\n\
- One that nobody answers is declined after `approvalTimeoutMs` (default {timeout}), and the event \
says `timeout: true`.\n\
- `decisions` of an action are the words that are taken from you now. `decline` and `cancel` always \
are.\n\
- `acceptForSession` on a tool of an MCP server lets the **tool** run with any arguments in this \
thread.\n\
- An amendment is for good and for all sessions of the user.\n\
- An interrupt, a cancel or the turn's end withdraws what waits.\n\n\
## Events\n\
- A session holds about {soft} events and {bytes} MiB; results, errors and requests go last, and \
those of waiting requests never.\n\
- Output is never filtered or changed. What was handed out is never merged with what follows.\n\
- Subagents' events stand in the session's stream with `threadId` and `agentPath`.\n\n\
## Windows\n\
- On Windows PowerShell may put text of its own on standard output; the broker runs on Unix.\n\n\
## Lifecycle\n\
- Idle for {idle} minutes, or running or waiting for {running} hours without a sign of life: \
cancelled. Forgotten {ended} minutes later.\n\
- When the app-server dies, running sessions end with `error`; the next reply starts it again and \
resumes the thread.\n\
- The end of the client's input ends everything.\n\n\
## Capacity\n\
- One app-server serves all sessions. {waits} waits at once.\n\n\
## Exec mode\n\
- A Codex without `app-server` is driven by `codex exec`: it asks nobody, cannot fork, and takes \
sandbox, folder and schema in the first turn only.\n",
        wait = millis(limits::WAIT),
        most = millis(limits::WAIT_MOST),
        least = limits::BYTES_LEAST,
        timeout = millis(limits::APPROVAL),
        soft = limits::EVENTS_SOFT,
        bytes = limits::EVENT_BYTES / 1024 / 1024,
        idle = limits::IDLE.as_secs() / 60,
        running = limits::RUNNING.as_secs() / 3600,
        ended = limits::ENDED.as_secs() / 60,
        waits = limits::WAITS,
    )
}

fn quickstart() -> String {
    "# Quickstart\n\n\
1. Start: `codex` with\n\
   `{\"prompt\": \"…\", \"approvalPolicy\": \"on-request\", \"sandbox\": \"workspace-write\"}`\n\
   gives a `sessionId`.\n\
2. Wait: `codex_check` with `{\"action\": \"wait\", \"sessionId\": \"…\"}`. It returns when \
something is to be answered or the turn has ended. (`poll` returns at once.)\n\
3. Answer what stands in `actions`:\n\
   - `approval`: `{\"action\": \"respond_permission\", \"sessionId\": \"…\", \"requestId\": \"…\", \
\"decision\": \"accept\"}`, or another word of its `decisions`;\n\
   - `user_input`: `{\"action\": \"respond_user_input\", \"sessionId\": \"…\", \"requestId\": \"…\", \
\"answers\": {\"QUESTION\": {\"answers\": [\"…\"]}}}`.\n\
   `POLICY_REFUSED` means that only a person may accept: in this client's form, or with \
`codexgate approve REQUEST` in a terminal.\n\
4. Wait again. `result.output` is what the agent said last.\n\
5. Go on with `codex_reply`, or end with `codex_session` and `{\"action\": \"cancel\"}`.\n\n\
Cursors: leave `cursor` out to get what is new. To read again, give an older one.\n"
        .to_owned()
}

fn errors() -> String {
    let mut text = "# Errors\n\n\
A tool result with `isError: true`; its text is `Error [CODE]: message`, and \
`structuredContent.error` is the same.\n\n| code | what to do |\n|---|---|\n"
        .to_owned();
    for code in Code::ALL {
        writeln!(text, "| `{}` | {} |", code.as_str(), code.hint())
            .expect("writing to a string cannot fail");
    }
    text.push_str(
        "\nA call of a tool that is not there, and a line that is no message, are errors of \
JSON-RPC.\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::core::Environment;
    use crate::broker::options::Options;

    #[test]
    fn each_resource_can_be_read_and_others_cannot() {
        let (send, _inbox) = std::sync::mpsc::sync_channel(1);
        let broker = Broker::new(Options::default(), Environment::default(), send);
        for (uri, _, _, kind, _) in ALL {
            let read = broker.resource(uri).expect("it is there");
            let text = read["contents"][0]["text"].as_str().expect("text");
            if kind == "application/json" {
                let _: Value = serde_json::from_str(text).expect("JSON");
            } else {
                assert!(text.starts_with("# "), "{uri}");
            }
        }
        let error = broker.resource("codex-mcp:///no").expect_err("none");
        assert_eq!(error.code, -32002);
    }

    #[test]
    fn the_guides_have_the_numbers_of_the_code() {
        assert!(config().contains("60000") && config().contains("`web_search`"));
        let text = gotchas();
        for number in [
            "25000",
            "50000",
            "1024",
            "60000",
            "30 minutes",
            "4 hours",
            "64 waits",
        ] {
            assert!(text.contains(number), "{number}");
        }
        for code in Code::ALL {
            assert!(errors().contains(code.as_str()));
        }
    }
}
