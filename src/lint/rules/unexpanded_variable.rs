//! `unexpanded-variable`: a variable that nobody expands.
//! Source: scenario mcp-env-not-expanded; Codex 0.134 to 0.171.

use crate::document::Node;
use crate::lint::launch::Launch;
use crate::lint::server::{Server, Word};
use crate::lint::{Check, Confidence, ConfigFile, Findings, Rule, Severity, case};

pub const RULE: Rule = Rule {
    id: "unexpanded-variable",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    since: (0, 134),
    says: "Codex hands this on as it is: nothing expands the variable",
    why: "Codex expands no variable and no `~` in a server's table. The server gets the text \
          `$TOKEN` in place of the token and fails to log in, or looks for a folder named `~`. \
          Other clients expand them, so the line worked elsewhere.",
    bad: &[
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nargs = [\"--limit\", ‹\"$A_LIMIT\"›]\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nenv = { A_HOST = ‹\"${A_HOST}\"› }\n"),
        case("[mcp_servers.a]\ncommand = ‹\"~/bin/a-mcp\"›\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\ncwd = ‹\"~\"›\n"),
        case("[mcp_servers.a]\ncommand = ‹'%APPDATA%\\a\\a.exe'›\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nargs = [‹\"${workspaceFolder}/x\"›, ‹\"${input:port}\"›]\n"),
        case("[mcp_servers.a]\nurl = ‹\"https://a.example/${TEAM}/mcp\"›\n"),
        case("[mcp_servers.a]\nurl = \"https://a.example/mcp\"\nhttp_headers = { X-Team = ‹\"${TEAM}\"› }\n"),
    ],
    good: &[
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nargs = [\"US$5\", \"^a$\", \"a$\", \"100%\", \"5% of 10%\"]\n"),
        case("[mcp_servers.a]\ncommand = \"sh\"\nargs = [\"-c\", \"exec a-mcp --port \\\"$A_PORT\\\"\"]\n")
            .also(&["launch-shell"]),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nenv_vars = [\"A_HOST\"]\n"),
        case("[mcp_servers.a]\ncommand = \"npx\"\nargs = [\"-y\", \"mcp-remote@0.1.2\", \"https://a.example/mcp\", \"--header\", \"X-Team: ${TEAM}\"]\nenv_vars = [\"TEAM\"]\n"),
    ],
    check: Check::File(check),
};

fn check(file: &ConfigFile, found: &mut Findings) {
    for server in Server::meant(file) {
        let launch = Launch::read(&server.line());
        let script = launch.script.map(|word| word.span);
        let words = server.line();
        // mcp-remote expands variables in its headers by itself.
        let expands_itself = words.iter().any(|word| word.text.starts_with("mcp-remote"));
        let mut after_script = false;
        for (at, word) in words.iter().enumerate() {
            after_script |= Some(word.span) == script;
            let header = at > 0 && words[at - 1].text == "--header";
            if after_script || (expands_itself && header) {
                continue;
            }
            report(*word, found, |name| {
                Some(format!(
                    "hand `{name}` on with `env_vars = [\"{name}\"]`, if the program can read it from there"
                ))
            });
        }
        for key in ["cwd", "url"] {
            if let Some(word) = server.word(key) {
                report(word, found, |_| None);
            }
        }
        for (name, node) in server.members("env") {
            value(node, found, |variable| {
                (variable == name)
                    .then(|| format!("use `env_vars = [\"{name}\"]` in place of this"))
            });
        }
        for (name, node) in server.members("http_headers") {
            value(node, found, |variable| {
                let bearer = name.eq_ignore_ascii_case("authorization");
                Some(if bearer {
                    format!("use `bearer_token_env_var = \"{variable}\"`")
                } else {
                    format!("use `env_http_headers`, with `{variable}` as the value")
                })
            });
        }
    }
}

fn value(node: &Node, found: &mut Findings, help: impl Fn(&str) -> Option<String>) {
    if let Some(word) = Word::of(node) {
        report(word, found, help);
    }
}

fn report(word: Word, found: &mut Findings, help: impl Fn(&str) -> Option<String>) {
    match variable(word.text) {
        Some(Variable::Home) => {
            found
                .add(&RULE, word.span)
                .says("Codex does not expand `~` here")
                .help("write the whole path");
        }
        Some(Variable::Named(name)) => {
            let finding = found.add(&RULE, word.span);
            if let Some(help) = help(name) {
                finding.help(help);
            }
        }
        Some(Variable::OtherClient(name)) => {
            found
                .add(&RULE, word.span)
                .says(format!(
                    "`${{{name}}}` is another client's variable, and Codex hands it on as it is"
                ))
                .help("write the value");
        }
        None => {}
    }
}

/// Characters of a variable's name in braces.
const LONGEST_NAME: usize = 200;

enum Variable<'a> {
    /// `~` or `~/…`.
    Home,
    /// `$NAME`, `${NAME}`, `%NAME%`.
    Named(&'a str),
    /// `${input:…}`, `${workspaceFolder}`, `${env:…}`.
    OtherClient(&'a str),
}

/// The first variable in `text`, if there is one.
fn variable(text: &str) -> Option<Variable<'_>> {
    if text == "~" || text.starts_with("~/") || text.starts_with("~\\") {
        return Some(Variable::Home);
    }
    for (at, _) in text.match_indices('$') {
        let rest = &text[at + 1..];
        if let Some(braced) = rest.strip_prefix('{') {
            let near = braced.char_indices().nth(LONGEST_NAME);
            let near = &braced[..near.map_or(braced.len(), |(at, _)| at)];
            let Some((name, _)) = near.split_once('}') else {
                continue;
            };
            let plain = name.split(":-").next().unwrap_or(name);
            if is_name(plain) && plain != "workspaceFolder" {
                return Some(Variable::Named(plain));
            }
            if name.contains(':') || name == "workspaceFolder" {
                return Some(Variable::OtherClient(name));
            }
            continue;
        }
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let before = text[..at].chars().next_back();
        let free = !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '$' | '\\'));
        // In lower case it is more often a name in a query or a pattern than a variable.
        if free && is_name(&rest[..end]) && rest[..end].bytes().any(|b| b.is_ascii_uppercase()) {
            return Some(Variable::Named(&rest[..end]));
        }
    }
    let mut pieces = text.split('%').skip(1);
    while let Some(name) = pieces.next() {
        // A last piece has no closing sign.
        let closed = pieces.clone().next().is_some();
        if closed
            && name.len() > 1
            && is_name(name)
            && name.bytes().all(|b| !b.is_ascii_lowercase())
        {
            return Some(Variable::Named(name));
        }
    }
    None
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
