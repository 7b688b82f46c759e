//! `wrong-shape`: another tool's shape, which Codex ignores or refuses.
//! Source: scenarios mcp-camel, mcp-dash, mcp-nested, mcp-root-array, shape-json, shape-json-array;
//! Codex 0.134 to 0.171.

use crate::codex::version::Version;
use crate::document::{Edit, KeyPath, Node, Span, StatementKind};
use crate::lint::file::Content;
use crate::lint::{Check, Confidence, ConfigFile, Findings, Grade, Rule, Severity, Source, case};
use crate::plan::secret::looks_secret;

pub const RULE: Rule = Rule {
    id: "wrong-shape",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this is another tool's shape",
    why: "Every client names its servers otherwise, and server READMEs offer JSON. Codex ignores a \
          table that it does not know, so the file loads, nothing looks wrong, and no server is \
          there. JSON in a TOML file stops it.",
    bad: &[
        case("[‹mcpServers›.courier]\ncommand = \"courier\"\n")
            .fixed("[mcp_servers.courier]\ncommand = \"courier\"\n"),
        case("[‹mcp-servers›.a]\ncommand = \"a-mcp\"\n[mcp-servers.a.env]\nX = \"1\"\n")
            .fixed("[mcp_servers.a]\ncommand = \"a-mcp\"\n[mcp_servers.a.env]\nX = \"1\"\n"),
        case("[‹mcp›.servers.\"a\"]\ncommand = \"a-mcp\"\n"),
        case("[‹mcp›.a]\ncommand = \"a-mcp\"\n"),
        case("[[‹mcp_servers›]]\nname = \"a\"\ncommand = \"a-mcp\"\n"),
        case("[‹servers›.a]\ncommand = \"a-mcp\"\n"),
        case("‹includeCoAuthoredBy› = false\n"),
        case("‹{›\n  \"mcpServers\": { \"courier\": { \"command\": \"courier\", \"args\": [\"mcp\"] } }\n}\n")
            .also(&["syntax"]),
    ],
    good: &[
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\n"),
        case("mcp_servers = { a = { command = \"a-mcp\" } }\n"),
    ],
    check: Check::Source(check),
};

/// Other names for the table of servers.
const SERVER_TABLES: &[&str] = &[
    "mcpServers",
    "mcp-servers",
    "mcpservers",
    "McpServers",
    "mcp_server",
    "context_servers",
];

/// Keys of Claude Code's settings.json.
const SETTINGS: &[&str] = &[
    "allowedTools",
    "apiKeyHelper",
    "cleanupPeriodDays",
    "disabledMcpjsonServers",
    "enableAllProjectMcpServers",
    "enabledMcpjsonServers",
    "includeCoAuthoredBy",
    "outputStyle",
    "statusLine",
];

fn check(source: &Source, found: &mut Findings) {
    if let Content::Broken(_) = &source.content {
        if source.subject.kind.is_toml() {
            json(source, found);
        }
        return;
    }
    let Some(file) =
        ConfigFile::new(source, Version::default()).filter(|file| file.kind().is_config())
    else {
        return;
    };
    let Some(root) = file.root().as_table() else {
        return;
    };
    for (name, node) in root {
        let name = name.as_str();
        if SERVER_TABLES.contains(&name) {
            other_table(&file, name, node, found);
        } else if name == "mcp_servers" && node.as_array().is_some() {
            found
                .add(&RULE, node.key)
                .says("Codex wants a table of servers by name, not a list")
                .note("Codex does not start")
                .help("write `[mcp_servers.NAME]` for each");
        } else if (name == "mcp" || name == "servers") && holds_servers(node) {
            found
                .add(&RULE, node.key)
                .says(format!("Codex ignores `{name}`: the key is `mcp_servers`"))
                .note("the file loads, and none of these servers is there")
                .help("write `[mcp_servers.NAME]`");
        } else if SETTINGS.contains(&name) {
            found.add(&RULE, node.key).says(format!(
                "`{name}` is a setting of Claude Code, and Codex ignores it"
            ));
        }
    }
}

/// Whether a key of the root is one that this rule speaks about.
pub(super) fn is_other_shape(name: &str, node: &Node) -> bool {
    SERVER_TABLES.contains(&name)
        || SETTINGS.contains(&name)
        || (matches!(name, "mcp" | "servers") && holds_servers(node))
}

fn other_table(file: &ConfigFile, name: &str, node: &Node, found: &mut Findings) {
    let finding = found.add(&RULE, node.key);
    finding
        .says(format!("Codex ignores `{name}`: the key is `mcp_servers`"))
        .note("the file loads, and none of these servers is there")
        .help("write `[mcp_servers.NAME]`");
    // Beside servers of Codex's own shape a plain renaming may define one twice.
    if holds_servers(node) && file.root().child("mcp_servers").is_none() {
        finding.fix(
            Grade::Unsafe,
            keys_at_root(file, name)
                .into_iter()
                .map(|span| Edit::replace(span, "mcp_servers")),
        );
    }
}

/// Whether a table holds servers, or a table of them.
fn holds_servers(node: &Node) -> bool {
    let is_server = |node: &Node| node.child("command").is_some() || node.child("url").is_some();
    let members = |node: &Node| -> Vec<Node> {
        node.as_table()
            .map(|members| members.values().cloned().collect())
            .unwrap_or_default()
    };
    members(node).iter().any(is_server)
        || node
            .child("servers")
            .is_some_and(|inner| members(inner).iter().any(is_server))
}

/// Every place where a statement of the root writes the key `name` as its first part.
fn keys_at_root(file: &ConfigFile, name: &str) -> Vec<Span> {
    let document = file.document();
    let path = KeyPath::new([name]);
    let inside = |braces: Option<Span>| braces.is_some();
    let mut under_header = false;
    let mut places = Vec::new();
    for statement in document.statements() {
        match &statement.kind {
            StatementKind::Header => {
                under_header = true;
                if statement.path.starts_with(&path) {
                    places.extend(first_key(
                        document.slice(statement.span),
                        statement.span.start,
                    ));
                }
            }
            StatementKind::Pair { keys, braces, .. } => {
                if !under_header && !inside(*braces) && statement.path.starts_with(&path) {
                    places.extend(keys.first().copied());
                }
            }
        }
    }
    places
}

/// The first key of a header.
fn first_key(header: &str, at: usize) -> Option<Span> {
    let open = header.len() - header.trim_start_matches(['[', ' ', '\t']).len();
    let body = &header[open..];
    let length = match body.chars().next()? {
        quote @ ('"' | '\'') => body[1..].find(quote)? + 2,
        _ => body.find(|c: char| c == '.' || c == ']' || c.is_whitespace())?,
    };
    Some(Span::new(at + open, at + open + length))
}

/// A whole file that is JSON.
fn json(source: &Source, found: &mut Findings) {
    let text = source.text();
    let body = text.trim_start_matches('\u{feff}').trim_start();
    let at = text.len() - body.len();
    if !body.starts_with('{') {
        return;
    }
    let Ok(value) = serde_json::from_str::<serde_json::Value>(body) else {
        return;
    };
    let servers = ["mcpServers", "mcp_servers", "servers", "context_servers"]
        .iter()
        .find_map(|name| value.get(name)?.as_object());
    let finding = found.add(&RULE, Span::new(at, at + 1));
    finding.says("this is JSON of another client; Codex reads TOML");
    match servers {
        Some(servers) if !servers.is_empty() => {
            finding.help(as_toml(servers));
        }
        _ => {
            finding.help("write each key as `key = value`, and each object as `[table]`");
        }
    }
}

/// Servers shown in full; more are named by their number.
const SHOWN: usize = 3;

/// The same servers as TOML. Values of variables and headers are left out: they may be secrets.
fn as_toml(servers: &serde_json::Map<String, serde_json::Value>) -> String {
    let mut lines = vec!["the same in TOML:".to_owned()];
    let text = |server: &serde_json::Value, key: &str| {
        server
            .get(key)
            .and_then(|value| value.as_str())
            .map(|text| public(text).to_owned())
    };
    for (name, server) in servers.iter().take(SHOWN) {
        lines.push(format!(
            "[{}]",
            KeyPath::new(["mcp_servers", name.as_str()])
        ));
        for key in ["command", "url", "cwd"] {
            if let Some(value) = text(server, key) {
                lines.push(format!("{key} = {}", toml_edit::Value::from(value)));
            }
        }
        if let Some(args) = server.get("args").and_then(|args| args.as_array()) {
            let args: toml_edit::Array = args
                .iter()
                .filter_map(|arg| arg.as_str())
                .map(public)
                .collect();
            lines.push(format!("args = {args}"));
        }
        let env = server.get("env").and_then(|env| env.as_object());
        if let Some(env) = env.filter(|env| !env.is_empty()) {
            let names: toml_edit::Array = env.keys().map(String::as_str).collect();
            lines.push(format!("env_vars = {names}"));
        }
    }
    if servers.len() > SHOWN {
        lines.push(format!("# and {} more", servers.len() - SHOWN));
    }
    lines.join("\n")
}

/// `text`, or a sign in its place where it looks like a secret.
fn public(text: &str) -> &str {
    if looks_secret(None, text) {
        "<secret>"
    } else {
        text
    }
}
