//! `url-plaintext`: an address that everybody on the way can read and change.
//! Source: an opinion about addresses; Codex takes them as they are (scenario mcp-url-garbage).

use crate::document::Node;
use crate::lint::server::{Server, Word};
use crate::lint::{Check, Confidence, ConfigFile, Findings, Rule, Severity, case};

pub const RULE: Rule = Rule {
    id: "url-plaintext",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this address is not encrypted",
    why: "Over `http://` everybody between the two machines reads the tokens and prompts and can \
          change the answers, and a server's answers steer the agent.",
    bad: &[
        case("[mcp_servers.a]\nurl = ‹\"http://a.example/mcp\"›\n"),
        case("[mcp_servers.a]\nurl = ‹\"HTTP://10.0.0.7:8080/mcp\"›\n"),
        case("[model_providers.x]\nname = \"x\"\nbase_url = ‹\"http://llm.example/v1\"›\n"),
        case("openai_base_url = ‹\"http://proxy.example/v1\"›\n"),
    ],
    good: &[
        case("[mcp_servers.a]\nurl = \"https://a.example/mcp\"\n"),
        case("[mcp_servers.a]\nurl = \"http://localhost:3000/mcp\"\n"),
        case("[mcp_servers.a]\nurl = \"http://[::1]:3000/mcp\"\n"),
        case("[model_providers.x]\nname = \"x\"\nbase_url = \"http://127.0.0.1:11434/v1\"\n"),
    ],
    check: Check::File(check),
};

fn check(file: &ConfigFile, found: &mut Findings) {
    let servers = Server::all(file).filter_map(|server| server.get("url"));
    let providers = file
        .root()
        .child("model_providers")
        .and_then(Node::as_table);
    let providers = providers
        .into_iter()
        .flat_map(|providers| providers.values())
        .filter_map(|provider| provider.child("base_url"));
    let roots = ["openai_base_url", "chatgpt_base_url"]
        .into_iter()
        .filter_map(|key| file.root().child(key));
    for node in servers.chain(providers).chain(roots) {
        if Word::of(node).is_some_and(|word| is_plaintext(word.text)) {
            found
                .add(&RULE, node)
                .label("everybody on the way reads and changes it")
                .help("use `https://`");
        }
    }
}

/// Whether `url` leaves this machine unencrypted.
pub fn is_plaintext(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else {
        return false;
    };
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("ws") {
        return false;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = match host.strip_prefix('[') {
        Some(six) => six.split(']').next().unwrap_or(six),
        None => host.split(':').next().unwrap_or(host),
    };
    !is_this_machine(&host.to_ascii_lowercase())
}

/// By name: loopback, what a container calls its host, and what a template will fill in.
fn is_this_machine(host: &str) -> bool {
    matches!(
        host,
        "" | "localhost" | "::1" | "0.0.0.0" | "host.docker.internal"
    ) || host.ends_with(".localhost")
        || host.starts_with("127.")
        || host.contains(['{', '$', '<'])
}
