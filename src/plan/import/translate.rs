//! One server of a foreign file as Codex's keys.
//!
//! Each key goes one of four ways: it is Codex's and stays; it means the same as one of Codex's
//! and becomes it; it means nothing here and is left out with a note; or the server would not be
//! what its author meant, and the file is refused. Values that are secrets become references
//! wherever Codex has them (`env_vars`, `bearer_token_env_var`, `env_http_headers`).
//!
//! No message quotes a value: it names keys, and elements by their index.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::reference::{self, Reference};
use super::{Dialect, Fault, Note, NoteKind, Reason};
use crate::codex::server;
use crate::document::{Data, Node, Value};
use crate::plan::secret::{
    has_token, is_placeholder, is_secret_name, looks_secret, url_has_secret, without_scheme,
};

/// The order in which keys are written; the others follow as they come.
const ORDER: [&str; 9] = [
    "command",
    "args",
    "cwd",
    "env",
    "env_vars",
    "url",
    "bearer_token_env_var",
    "http_headers",
    "env_http_headers",
];

/// What Codex hands to each stdio server unasked (seen on 0.171.0).
const HANDED_ON: [&str; 7] = ["HOME", "LANG", "PATH", "PWD", "SHELL", "TERM", "TMPDIR"];

/// Programs that expand variables in the text after `-c`.
const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "fish"];

/// Keys of other clients that let tools run unasked. They open the gate, so they never come over.
const OPENERS: [&str; 7] = [
    "alwaysAllow",
    "always_allow",
    "autoApprove",
    "auto_approve",
    "autoApproveTools",
    "autoapprove",
    "trust",
];

/// Keys without which a server of another client would not work.
const NEEDED: [&str; 4] = [
    "headersHelper",
    "authProviderType",
    "extensionConfig",
    "authentication",
];

pub(super) struct Context<'a> {
    pub(super) name: &'a str,
    pub(super) node: &'a Node,
    pub(super) dialect: Dialect,
    /// Descriptions of VS Code's inputs, by id.
    pub(super) inputs: &'a HashMap<&'a str, &'a str>,
}

/// The variables that the servers of one file take secrets from.
#[derive(Default)]
pub(super) struct Variables {
    /// For each name the server that had it first, and the secret, where the file had one.
    taken: HashMap<String, (String, Option<String>)>,
    /// What the file itself calls variables, all servers together: no name is made up twice.
    named: HashSet<String>,
}

impl Variables {
    /// Reads the names of all variables in `env`, `env_vars` and the references of a server.
    pub(super) fn collect(&mut self, node: &Node) {
        if let Some(env) = node.child("env").and_then(Node::as_table) {
            self.named.extend(env.keys().cloned());
        }
        self.collect_texts(node, 0);
    }

    fn collect_texts(&mut self, node: &Node, depth: usize) {
        // Servers are three levels deep; what lies below is of no server.
        const DEEPEST: usize = 4;
        match &node.data {
            Data::String(text) if reference::is_name(text) => {
                self.named.insert(text.clone());
            }
            Data::String(text) => {
                self.named
                    .extend(reference::variables(text).map(str::to_owned));
            }
            Data::Array(items) if depth < DEEPEST => {
                for item in items {
                    self.collect_texts(item, depth + 1);
                }
            }
            Data::Table(members) if depth < DEEPEST => {
                for item in members.values() {
                    self.collect_texts(item, depth + 1);
                }
            }
            _ => {}
        }
    }
}

/// Codex's keys in order, and what to tell about them.
type Translated = Result<(IndexMap<String, Value>, Vec<Note>), Fault>;

/// What becomes of a value that may be a reference or a secret.
enum Verdict<'a> {
    /// It stays.
    Literal,
    /// It is a variable's.
    Variable(&'a str),
    /// It must come from a variable, and this says why.
    Hidden(Hidden<'a>),
}

#[derive(Clone, Copy)]
enum Hidden<'a> {
    Secret(&'a str),
    Placeholder,
    Input(&'a str),
}

/// Translates one server.
pub(super) fn server(context: &Context<'_>, variables: &mut Variables) -> Translated {
    let mut server = Server {
        context,
        variables,
        values: IndexMap::new(),
        origins: HashMap::new(),
        kind: None,
        notes: vec![],
        dropped: vec![],
    };
    for (key, node) in context.node.as_table().into_iter().flatten() {
        if let Some(long) = find_long(node) {
            return Err(fault(long, &[key], Reason::TooLong));
        }
        server.member(key, node)?;
    }
    server.finish()
}

struct Server<'a, 'v> {
    context: &'a Context<'a>,
    variables: &'v mut Variables,
    values: IndexMap<String, Value>,
    /// The key of the file that each of Codex's keys came from.
    origins: HashMap<&'static str, &'a str>,
    /// What `type` says, with its place.
    kind: Option<(&'static str, &'a Node, &'a str)>,
    notes: Vec<Note>,
    /// Keys that mean nothing in Codex: one note for all.
    dropped: Vec<&'a str>,
}

impl<'a> Server<'a, '_> {
    fn foreign(&self) -> bool {
        self.context.dialect == Dialect::Other
    }

    fn note(&mut self, kind: NoteKind, text: impl Into<String>) {
        self.notes.push(Note {
            server: Some(self.context.name.to_owned()),
            kind,
            text: text.into(),
        });
    }

    /// One member of the server's table.
    fn member(&mut self, key: &'a str, node: &'a Node) -> Result<(), Fault> {
        match key {
            "type" | "transport" => self.kind(key, node),
            "command" => self.program(key, node),
            "args" => self.args(key, node),
            "cwd" => self.path(key, node),
            "env" => self.env(key, node),
            "env_vars" => self.env_vars(key, node),
            "url" => self.url(key, node),
            "serverUrl" | "httpUrl" if self.foreign() => {
                self.note(NoteKind::Translated, format!("`{key}` became `url`"));
                self.url(key, node)
            }
            "http_headers" => self.headers(key, node),
            "headers" if self.foreign() => {
                self.note(NoteKind::Translated, "`headers` became `http_headers`");
                self.headers(key, node)
            }
            "headers" => Err(fault(node, &[key], Reason::ForeignKey("http_headers"))),
            "env_http_headers" => self.env_headers(key, node),
            "bearer_token_env_var" => {
                variable_name(node, &[key])?;
                if let Some(name) = node.as_str() {
                    self.bearer(name, key, node)
                } else {
                    self.put("bearer_token_env_var", key, node.value());
                    Ok(())
                }
            }
            "bearer_token" => {
                if let Some(token) = node.as_str() {
                    self.bearer_value(token, key, node)
                } else {
                    self.put("bearer_token", key, node.value());
                    Ok(())
                }
            }
            "oauth" => self.oauth(key, node),
            "enabled" => self.enabled(node.as_bool(), key, node),
            "isActive" if self.foreign() => self.enabled(node.as_bool(), key, node),
            "disabled" => {
                if node.as_bool().is_none() {
                    return Err(fault(node, &[key], Reason::Untranslatable));
                }
                self.enabled(node.as_bool().map(|off| !off), key, node)
            }
            "timeout" => {
                self.note(
                    NoteKind::Dropped,
                    "`timeout` was left out: it counts seconds in some clients and milliseconds in others; Codex's keys are `startup_timeout_sec` and `tool_timeout_sec`",
                );
                Ok(())
            }
            "envFile" | "env_file" => Err(fault(node, &[key], Reason::EnvFile)),
            _ if OPENERS.contains(&key) => {
                self.note(
                    NoteKind::Dropped,
                    format!("`{key}` was left out: it lets tools run without a question"),
                );
                Ok(())
            }
            "disabledTools" | "excludeTools" if self.foreign() => {
                self.renamed("disabled_tools", key, node)
            }
            "enabledTools" | "includeTools" if self.foreign() => {
                self.renamed("enabled_tools", key, node)
            }
            // GitHub's coding agent: a list of tools, or all of them.
            "tools" if node.as_array().is_some() && self.foreign() => {
                let all = matches!(node.as_array(), Some([one]) if one.as_str() == Some("*"));
                if all {
                    self.dropped.push(key);
                    return Ok(());
                }
                self.renamed("enabled_tools", key, node)
            }
            _ if NEEDED.contains(&key) => Err(fault(node, &[key], Reason::Untranslatable)),
            _ => {
                match server::key(key) {
                    Some(known) => {
                        if let Some(text) = first_secret(node) {
                            return Err(fault(text, &[key], Reason::SecretInValue));
                        }
                        self.put(known.name, key, node.value());
                    }
                    None => self.dropped.push(key),
                }
                Ok(())
            }
        }
    }

    fn put(&mut self, codex_key: &'static str, key: &'a str, value: Value) {
        self.origins.insert(codex_key, key);
        self.values.insert(codex_key.to_owned(), value);
    }

    /// An empty table or array. Codex refuses even that on the other transport, where other
    /// clients do not mind.
    fn empty(&mut self, codex_key: &'static str, key: &'a str, node: &'a Node) {
        if self.foreign() {
            self.dropped.push(key);
        } else if !self.values.contains_key(codex_key) {
            self.put(codex_key, key, node.value());
        }
    }

    fn renamed(&mut self, to: &'static str, key: &'a str, node: &'a Node) -> Result<(), Fault> {
        if self.values.contains_key(to) {
            return Err(fault(node, &[key], Reason::Contradicts(to)));
        }
        self.note(NoteKind::Translated, format!("`{key}` became `{to}`"));
        self.put(to, key, node.value());
        Ok(())
    }

    fn kind(&mut self, key: &'a str, node: &'a Node) -> Result<(), Fault> {
        let word = node.as_str().unwrap_or_default().to_ascii_lowercase();
        let transport = match word.as_str() {
            "stdio" | "local" => "command",
            "http" | "streamable-http" | "streamablehttp" | "streamable_http" | "remote" => "url",
            "sse" => return Err(fault(node, &[key], Reason::Sse)),
            _ => return Err(fault(node, &[key], Reason::UnknownType)),
        };
        match self.kind {
            Some((before, ..)) if before != transport => {
                Err(fault(node, &[key], Reason::TypeDisagrees))
            }
            _ => {
                self.kind = Some((transport, node, key));
                Ok(())
            }
        }
    }

    fn enabled(&mut self, on: Option<bool>, key: &'a str, node: &'a Node) -> Result<(), Fault> {
        let Some(on) = on else {
            self.put("enabled", key, node.value());
            return Ok(());
        };
        let before = self.values.get("enabled").and_then(Value::as_bool);
        if before.is_some_and(|before| before != on) {
            return Err(fault(node, &[key], Reason::Contradicts("enabled")));
        }
        if key == "enabled" {
            self.put("enabled", key, Value::Boolean(on));
        } else if !on {
            self.note(
                NoteKind::Translated,
                format!("`{key}` became `enabled = false`: the server is there and off"),
            );
            self.put("enabled", key, Value::Boolean(false));
        } else if before.is_none() {
            // What Codex does anyway; kept until the end, so that a contradiction is seen.
            self.put("enabled", key, Value::Boolean(true));
        }
        Ok(())
    }

    /// A text that no one expands: the command and the working folder.
    fn path(&mut self, key: &'a str, node: &'a Node) -> Result<(), Fault> {
        if let Some(text) = node.as_str() {
            if reference::find(text) != Reference::None {
                return Err(fault(node, &[key], Reason::Expansion));
            }
            if is_tilde(text) {
                return Err(fault(node, &[key], Reason::Tilde));
            }
        }
        let codex_key = if key == "cwd" { "cwd" } else { "command" };
        self.put(codex_key, key, node.value());
        Ok(())
    }

    fn program(&mut self, key: &'a str, node: &'a Node) -> Result<(), Fault> {
        if let Some(command) = node.as_str() {
            if has_token(command) || url_has_secret(command) {
                return Err(fault(node, &[key], Reason::SecretInArgs));
            }
            if command.trim().contains(char::is_whitespace) && !command.contains(['/', '\\']) {
                self.note(
                    NoteKind::Warning,
                    "`command` has blanks: Codex takes it as the name of one program",
                );
            }
        }
        self.path(key, node)
    }

    fn url(&mut self, key: &'a str, node: &'a Node) -> Result<(), Fault> {
        if self.values.contains_key("url") {
            return Err(fault(node, &[key], Reason::Contradicts("url")));
        }
        if let Some(url) = node.as_str() {
            let (base, query) = url.split_once('?').unwrap_or((url, ""));
            let asks_secret = query
                .split('&')
                .filter_map(|member| member.split_once('='))
                .any(|(name, value)| {
                    is_secret_name(name)
                        && (is_placeholder(value) || reference::find(value) != Reference::None)
                });
            if asks_secret || has_token(url) || url_has_secret(url) {
                return Err(fault(node, &[key], Reason::SecretInUrl));
            }
            // In a URL nothing but a reference has these letters, in Codex's own files neither.
            if url.contains("${") || reference::find(url) != Reference::None {
                return Err(fault(node, &[key], Reason::Expansion));
            }
            if is_placeholder(url) {
                self.note(
                    NoteKind::Warning,
                    "`url` looks like a placeholder: write your value",
                );
            }
            let random = |part: &str| looks_secret(None, part);
            if base.split('/').skip(3).any(random) {
                self.note(
                    NoteKind::Warning,
                    "a part of `url` looks like a secret: everyone who reads the file has it",
                );
            }
            let lower = base.to_ascii_lowercase();
            if !lower.starts_with("http://") && !lower.starts_with("https://") {
                self.note(NoteKind::Warning, "`url` is not an http or https address");
            } else if lower.trim_end_matches('/').ends_with("/sse") {
                self.note(
                    NoteKind::Warning,
                    "`url` ends in `/sse`, often the address for server-sent events; Codex speaks streamable HTTP only",
                );
            }
        }
        self.put("url", key, node.value());
        Ok(())
    }

    fn args(&mut self, key: &'a str, node: &'a Node) -> Result<(), Fault> {
        let Some(items) = node.as_array() else {
            self.put("args", key, node.value());
            return Ok(());
        };
        if items.is_empty() {
            self.empty("args", key, node);
            return Ok(());
        }
        let command = self
            .context
            .node
            .child("command")
            .and_then(Node::as_str)
            .unwrap_or_default();
        let shell = is_shell(command);
        let remote = items
            .iter()
            .filter_map(Node::as_str)
            .any(|arg| arg == "mcp-remote" || arg.starts_with("mcp-remote@"));
        let mut values = Vec::with_capacity(items.len());
        let mut before = "";
        let mut unset = vec![];
        for (index, item) in items.iter().enumerate() {
            let at = index.to_string();
            let path = [key, at.as_str()];
            let Some(text) = self.text(item, &path) else {
                values.push(item.value());
                continue;
            };
            let script = shell && before.starts_with('-') && before.ends_with('c');
            if arg_has_secret(before, &text) {
                return Err(fault(item, &path, Reason::SecretInArgs));
            }
            if reference::find(&text) != Reference::None {
                if script || remote {
                    unset.extend(reference::variables(&text).map(str::to_owned));
                } else if self.foreign() && !self.server_gets(&text) {
                    return Err(fault(item, &path, Reason::Expansion));
                } else {
                    self.note(
                        NoteKind::Warning,
                        format!("`{key}.{at}` stays as it is: Codex expands no variable, the program must"),
                    );
                }
            } else if is_tilde(&text) {
                self.note(
                    NoteKind::Warning,
                    format!(
                        "`{key}.{at}` stays as it is: Codex does not expand `~`, the program must"
                    ),
                );
            } else if !text.is_empty() && is_placeholder(&text) && !script {
                self.note(
                    NoteKind::Warning,
                    format!("`{key}.{at}` looks like a placeholder: write your value"),
                );
            }
            before = item.as_str().unwrap_or_default();
            values.push(Value::String(text));
        }
        self.put("args", key, Value::Array(values));
        unset.sort();
        unset.dedup();
        for name in unset {
            self.expanded_by_program(&name);
        }
        Ok(())
    }

    /// Whether every variable that `text` names is one of the server's own: then the reference is
    /// for the program, since clients expand from their own environment.
    fn server_gets(&self, text: &str) -> bool {
        let env = self.context.node.child("env").and_then(Node::as_table);
        let mut names = reference::variables(text).peekable();
        names.peek().is_some()
            && names.all(|name| env.is_some_and(|env| env.contains_key(name)))
            && text.matches('$').count() == reference::variables(text).count()
    }

    /// The program expands `name` itself, so it must get it.
    fn expanded_by_program(&mut self, name: &str) {
        let node = self.context.node;
        let listed = |key: &str| match node.child(key).map(|node| &node.data) {
            Some(Data::Table(members)) => members.contains_key(name),
            Some(Data::Array(items)) => items.iter().any(|item| {
                item.as_str() == Some(name)
                    || item.child("name").and_then(Node::as_str) == Some(name)
            }),
            _ => false,
        };
        if HANDED_ON.contains(&name) || listed("env") || listed("env_vars") {
            return;
        }
        if self.foreign() {
            self.hand_on(name);
            self.note(
                NoteKind::Variable(name.to_owned()),
                format!("the program expands `{name}` itself: set the variable `{name}` before you start Codex"),
            );
        } else {
            self.note(
                NoteKind::Warning,
                format!("`args` names the variable `{name}`, which the program gets only if `env_vars` names it"),
            );
        }
    }

    fn env(&mut self, key: &'a str, node: &'a Node) -> Result<(), Fault> {
        let Some(members) = node.as_table() else {
            self.put("env", key, node.value());
            return Ok(());
        };
        let mut env = IndexMap::new();
        for (name, item) in members {
            let path = [key, name.as_str()];
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(fault(item, &path, Reason::NotVariable));
            }
            let Some(text) = self.text(item, &path) else {
                env.insert(name.clone(), item.value());
                continue;
            };
            match self.verdict(name, &text, item, &path)? {
                Verdict::Literal => {
                    env.insert(name.clone(), Value::String(text));
                }
                Verdict::Variable(variable) if variable == name => {
                    self.hand_on(name);
                    self.claim(name, None, item, &path)?;
                    self.note(
                        NoteKind::Variable(name.clone()),
                        format!("`{name}` comes from the variable of that name: set it before you start Codex"),
                    );
                }
                Verdict::Variable(variable) => {
                    return Err(fault(item, &path, Reason::Renamed(variable.to_owned())));
                }
                Verdict::Hidden(why) => {
                    self.hand_on(name);
                    self.claim(name, why.value(), item, &path)?;
                    let text = self.hidden(name, why, name, "");
                    self.note(NoteKind::Variable(name.clone()), text);
                }
            }
        }
        if !env.is_empty() {
            self.put("env", key, Value::Table(env));
        } else if members.is_empty() {
            self.empty("env", key, node);
        }
        self.origins.insert("env_vars", key);
        Ok(())
    }

    fn env_vars(&mut self, key: &'a str, node: &'a Node) -> Result<(), Fault> {
        let Some(items) = node.as_array() else {
            self.put("env_vars", key, node.value());
            return Ok(());
        };
        for (index, item) in items.iter().enumerate() {
            let at = index.to_string();
            let name = item.child("name").unwrap_or(item);
            variable_name(name, &[key, at.as_str()])?;
            self.add_env_var(item.value());
        }
        if items.is_empty() {
            self.empty("env_vars", key, node);
        }
        self.origins.insert("env_vars", key);
        Ok(())
    }

    fn hand_on(&mut self, name: &str) {
        self.add_env_var(Value::String(name.to_owned()));
    }

    fn add_env_var(&mut self, entry: Value) {
        let list = self
            .values
            .entry("env_vars".to_owned())
            .or_insert_with(|| Value::Array(vec![]));
        if let Value::Array(items) = list {
            let name = |value: &Value| {
                value
                    .as_str()
                    .or_else(|| value.get(&["name"]).and_then(Value::as_str))
                    .map(str::to_owned)
            };
            let known = name(&entry);
            if known.is_none() || items.iter().all(|item| name(item) != known) {
                items.push(entry);
            }
        }
    }

    fn headers(&mut self, key: &'a str, node: &'a Node) -> Result<(), Fault> {
        let Some(members) = node.as_table() else {
            self.put("http_headers", key, node.value());
            return Ok(());
        };
        let mut headers = match self.values.shift_remove("http_headers") {
            Some(Value::Table(before)) => before,
            _ => IndexMap::new(),
        };
        for (header, item) in members {
            let path = [key, header.as_str()];
            let Some(text) = self.text(item, &path) else {
                headers.insert(header.clone(), item.value());
                continue;
            };
            let bearer = without_scheme(text.trim())
                .filter(|_| header.eq_ignore_ascii_case("authorization"))
                .filter(|_| {
                    text.trim()
                        .get(..6)
                        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"))
                });
            if let Some(token) = bearer {
                self.origins.insert("bearer_token_env_var", key);
                match self.verdict("token", token, item, &path)? {
                    Verdict::Variable(variable) => {
                        self.bearer(variable, key, item)?;
                        self.claim(variable, None, item, &path)?;
                        self.note(
                            NoteKind::Variable(variable.to_owned()),
                            format!("the bearer token comes from the variable `{variable}`: set it before you start Codex"),
                        );
                    }
                    // Whatever stands behind `Bearer` is the secret.
                    Verdict::Literal => self.bearer_value(token, key, item)?,
                    Verdict::Hidden(why) => self.bearer_hidden(why, key, item)?,
                }
                continue;
            }
            match self.verdict(header, &text, item, &path)? {
                Verdict::Literal => {
                    headers.insert(header.clone(), Value::String(text));
                }
                Verdict::Variable(variable) => {
                    self.put_header_variable(header, variable);
                    self.claim(variable, None, item, &path)?;
                    self.note(
                        NoteKind::Variable(variable.to_owned()),
                        format!("the header `{header}` comes from the variable `{variable}`: set it before you start Codex"),
                    );
                }
                Verdict::Hidden(why) => {
                    let variable = self.derive(header, why.value());
                    self.put_header_variable(header, &variable);
                    let whole = if without_scheme(&text).is_some() {
                        " to the header's whole value, with its first word"
                    } else {
                        ""
                    };
                    let text = self.hidden(header, why, &variable, whole);
                    self.note(NoteKind::Variable(variable), text);
                }
            }
        }
        if headers.is_empty() {
            self.origins.insert("http_headers", key);
        } else {
            self.put("http_headers", key, Value::Table(headers));
        }
        self.origins.entry("env_http_headers").or_insert(key);
        Ok(())
    }

    fn env_headers(&mut self, key: &'a str, node: &'a Node) -> Result<(), Fault> {
        self.origins.insert("env_http_headers", key);
        let members = node.as_table();
        let texts = |members: &IndexMap<String, Node>| {
            members.values().all(|value| value.as_str().is_some())
        };
        let Some(members) = members.filter(|members| texts(members)) else {
            self.put("env_http_headers", key, node.value());
            return Ok(());
        };
        for (header, value) in members {
            variable_name(value, &[key, header])?;
            if let Some(name) = value.as_str() {
                self.put_header_variable(header, name);
            }
        }
        Ok(())
    }

    fn put_header_variable(&mut self, header: &str, variable: &str) {
        let table = self
            .values
            .entry("env_http_headers".to_owned())
            .or_insert_with(|| Value::Table(IndexMap::new()));
        if let Value::Table(members) = table {
            members.insert(header.to_owned(), Value::String(variable.to_owned()));
        }
    }

    fn bearer(&mut self, variable: &str, key: &'a str, node: &'a Node) -> Result<(), Fault> {
        let before = self
            .values
            .get("bearer_token_env_var")
            .and_then(Value::as_str);
        if before.is_some_and(|before| before != variable) {
            let reason = Reason::Contradicts("bearer_token_env_var");
            return Err(fault(node, &[key], reason));
        }
        self.put("bearer_token_env_var", key, variable.into());
        Ok(())
    }

    fn bearer_value(&mut self, token: &str, key: &'a str, node: &'a Node) -> Result<(), Fault> {
        match reference::find(token) {
            Reference::Variable(variable) => self.bearer(variable, key, node),
            Reference::Input(id) => self.bearer_hidden(Hidden::Input(id), key, node),
            _ if is_placeholder(token) => self.bearer_hidden(Hidden::Placeholder, key, node),
            _ => self.bearer_hidden(Hidden::Secret(token), key, node),
        }
    }

    fn bearer_hidden(
        &mut self,
        why: Hidden<'_>,
        key: &'a str,
        node: &'a Node,
    ) -> Result<(), Fault> {
        let variable = self.derive("token", why.value());
        self.bearer(&variable, key, node)?;
        let text = self.hidden("the bearer token", why, &variable, "");
        self.note(NoteKind::Variable(variable), text);
        Ok(())
    }

    /// What becomes of a value of `env` or of a header.
    fn verdict<'t>(
        &mut self,
        name: &str,
        text: &'t str,
        node: &Node,
        path: &[&str],
    ) -> Result<Verdict<'t>, Fault> {
        match reference::find(text) {
            // No message may quote it: a name that looks like a secret is one.
            Reference::Variable(variable) if looks_secret(None, variable) => {
                Ok(Verdict::Hidden(Hidden::Secret(text)))
            }
            Reference::Variable(variable) => Ok(Verdict::Variable(variable)),
            Reference::Input(id) => Ok(Verdict::Hidden(Hidden::Input(id))),
            // A password may hold a `$`; only braces make it surely a reference.
            Reference::Partial if !text.contains("${") && looks_secret(Some(name), text) => {
                Ok(Verdict::Hidden(Hidden::Secret(text)))
            }
            Reference::Partial if self.foreign() => Err(fault(node, path, Reason::Expansion)),
            found => {
                if looks_secret(Some(name), text) {
                    return Ok(Verdict::Hidden(Hidden::Secret(text)));
                }
                // An empty text or a path is only a placeholder where a secret should be.
                let gap = is_placeholder(text) && (is_secret_name(name) || !text.trim().is_empty());
                if gap {
                    return Ok(Verdict::Hidden(Hidden::Placeholder));
                }
                if found == Reference::Partial {
                    self.note(
                        NoteKind::Warning,
                        format!(
                            "`{}` stays as it is: Codex expands no variable",
                            path.join(".")
                        ),
                    );
                }
                Ok(Verdict::Literal)
            }
        }
    }

    fn hidden(&self, what: &str, why: Hidden<'_>, variable: &str, whole: &str) -> String {
        let what = if what.contains(' ') {
            what.to_owned()
        } else {
            format!("the value of `{what}`")
        };
        let why = match why {
            Hidden::Secret(_) => "was a secret and is not in the result".to_owned(),
            Hidden::Placeholder => "was a placeholder".to_owned(),
            Hidden::Input(id) => match self.context.inputs.get(id) {
                // A description is a stranger's text, and may be as long as the file.
                Some(says)
                    if !says.is_empty() && says.len() <= 120 && !looks_secret(None, says) =>
                {
                    format!("was a question of the editor ({says})")
                }
                _ => "was a question of the editor".to_owned(),
            },
        };
        format!("{what} {why}; set the variable `{variable}`{whole} before you start Codex")
    }

    /// Notes that this server takes `variable`; two servers with two secrets cannot share one.
    fn claim(
        &mut self,
        variable: &str,
        secret: Option<&str>,
        node: &Node,
        path: &[&str],
    ) -> Result<(), Fault> {
        let Some((other, before)) = self.variables.taken.get_mut(variable) else {
            let entry = (self.context.name.to_owned(), secret.map(str::to_owned));
            self.variables.taken.insert(variable.to_owned(), entry);
            return Ok(());
        };
        match (before.as_deref(), secret) {
            (Some(before), Some(secret)) if before != secret => {
                let reason = Reason::Shared {
                    variable: variable.to_owned(),
                    other: other.clone(),
                };
                Err(fault(node, path, reason))
            }
            (None, Some(secret)) => {
                *before = Some(secret.to_owned());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A variable's name out of the server's and `what`, not taken yet.
    fn derive(&mut self, what: &str, secret: Option<&str>) -> String {
        let mut base = String::new();
        for letter in format!("{}_{what}", self.context.name).chars() {
            let letter = if letter.is_ascii_alphanumeric() {
                letter.to_ascii_uppercase()
            } else {
                '_'
            };
            if letter != '_' || !base.ends_with('_') {
                base.push(letter);
            }
        }
        let base = base.trim_matches('_');
        let base = if base.starts_with(|first: char| first.is_ascii_digit()) {
            format!("MCP_{base}")
        } else {
            base.to_owned()
        };
        let mut name = base.clone();
        let mut number = 2;
        let variables = &*self.variables;
        while variables.taken.contains_key(&name) || variables.named.contains(&name) {
            name = format!("{base}_{number}");
            number += 1;
        }
        let entry = (self.context.name.to_owned(), secret.map(str::to_owned));
        self.variables.taken.insert(name.clone(), entry);
        name
    }

    fn oauth(&mut self, key: &'a str, node: &'a Node) -> Result<(), Fault> {
        let Some(members) = node.as_table() else {
            if let Some(secret) = first_secret(node) {
                return Err(fault(secret, &[key], Reason::SecretInValue));
            }
            self.put("oauth", key, node.value());
            return Ok(());
        };
        let mut oauth = IndexMap::new();
        for (name, item) in members {
            let codex_name = match name.as_str() {
                "clientId" if self.foreign() => "client_id",
                "clientSecret" if self.foreign() => "client_secret",
                "callbackPort" if self.foreign() => "callback_port",
                other => other,
            };
            let secret = match item.as_str() {
                Some(text) => codex_name == "client_secret" || looks_secret(Some(codex_name), text),
                None => first_secret(item).is_some(),
            };
            if secret {
                return Err(fault(item, &[key, name], Reason::SecretInValue));
            }
            if !server::OAUTH_KEYS.contains(&codex_name) {
                return Err(fault(item, &[key, name], Reason::Untranslatable));
            }
            if item
                .as_str()
                .is_some_and(|text| reference::find(text) != Reference::None)
            {
                return Err(fault(item, &[key, name], Reason::Expansion));
            }
            oauth.insert(codex_name.to_owned(), item.value());
        }
        self.put("oauth", key, Value::Table(oauth));
        Ok(())
    }

    /// The text of a value where text must stand: other clients also take numbers and booleans.
    fn text(&mut self, node: &Node, path: &[&str]) -> Option<String> {
        let text = match &node.data {
            Data::String(text) => return Some(text.clone()),
            _ if !self.foreign() => return None,
            Data::Integer(number) => number.to_string(),
            Data::Float(number) => number.to_string(),
            Data::Boolean(truth) => truth.to_string(),
            Data::Datetime(_) | Data::Array(_) | Data::Table(_) => return None,
        };
        self.note(
            NoteKind::Translated,
            format!("`{}` became text", path.join(".")),
        );
        Some(text)
    }

    fn finish(mut self) -> Translated {
        let node = self.context.node;
        if let Some((transport, place, key)) = self.kind {
            let other = if transport == "url" { "command" } else { "url" };
            if self.values.contains_key(other) {
                return Err(fault(place, &[key], Reason::TypeDisagrees));
            }
        }
        let off_default = self
            .origins
            .get("enabled")
            .is_some_and(|key| *key != "enabled");
        if off_default && self.values.get("enabled") == Some(&Value::Boolean(true)) {
            self.values.shift_remove("enabled");
        }
        let nested: Vec<Vec<String>> = server::unknown_keys(&self.values)
            .into_iter()
            .map(|path| path.into_iter().map(str::to_owned).collect())
            .collect();
        for path in nested {
            remove(&mut self.values, &path);
            let path = path.join(".");
            self.note(
                NoteKind::Dropped,
                format!("`{path}` was left out: Codex ignores it"),
            );
        }
        server::judge(&self.values).map_err(|error| {
            let mut key: Vec<String> = error.path().into_iter().map(str::to_owned).collect();
            if let Some(first) = key.first_mut()
                && let Some(origin) = self.origins.get(first.as_str())
            {
                (*origin).clone_into(first);
            }
            let mut place = node;
            for part in &key {
                place = place.child(part).unwrap_or(place);
            }
            Fault {
                span: Some(if key.is_empty() { node.key } else { place.span }),
                server: None,
                key,
                reason: Box::new(Reason::Refused(error)),
            }
        })?;
        if let Some(key) = self
            .values
            .iter()
            .find_map(|(key, value)| has_nul(value).then_some(key))
        {
            let origin = self.origins.get(key.as_str()).copied().unwrap_or(key);
            let place = node.child(origin).unwrap_or(node);
            return Err(fault(place, &[origin], Reason::Nul));
        }
        self.closing_notes();
        let mut ordered = IndexMap::with_capacity(self.values.len());
        for key in ORDER {
            if let Some(value) = self.values.shift_remove(key) {
                ordered.insert(key.to_owned(), value);
            }
        }
        ordered.extend(self.values);
        Ok((ordered, self.notes))
    }

    fn closing_notes(&mut self) {
        if !self.dropped.is_empty() {
            const SHOWN: usize = 8;
            let mut names: Vec<String> = self
                .dropped
                .iter()
                .take(SHOWN)
                .map(|key| format!("`{key}`"))
                .collect();
            if self.dropped.len() > SHOWN {
                names.push(format!("{} more", self.dropped.len() - SHOWN));
            }
            let text = format!(
                "left out, since it says nothing to Codex: {}",
                names.join(", ")
            );
            self.note(NoteKind::Dropped, text);
        }
        let approves = |value: Option<&Value>| value.and_then(Value::as_str) == Some("approve");
        let default = approves(self.values.get("default_tools_approval_mode"));
        let single = self
            .values
            .get("tools")
            .and_then(Value::as_table)
            .is_some_and(|tools| {
                tools
                    .values()
                    .any(|tool| approves(tool.get(&["approval_mode"])))
            });
        if default || single {
            self.note(
                NoteKind::Warning,
                "some or all of its tools run without a question (`approve`)",
            );
        }
    }
}

impl<'a> Hidden<'a> {
    const fn value(self) -> Option<&'a str> {
        match self {
            Self::Secret(value) => Some(value),
            Self::Placeholder | Self::Input(_) => None,
        }
    }
}

fn fault(node: &Node, key: &[&str], reason: Reason) -> Fault {
    Fault {
        span: Some(node.span),
        server: None,
        key: key.iter().map(|part| (*part).to_owned()).collect(),
        reason: Box::new(reason),
    }
}

/// The name of a variable; a secret in its place is a common slip.
fn variable_name(node: &Node, path: &[&str]) -> Result<(), Fault> {
    match node.as_str() {
        Some(name) if !reference::is_name(name) || has_token(name) => {
            Err(fault(node, path, Reason::NotVariable))
        }
        // Of another type: Codex refuses it in its own words.
        _ => Ok(()),
    }
}

fn is_tilde(text: &str) -> bool {
    text == "~" || text.starts_with("~/")
}

fn is_shell(command: &str) -> bool {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    SHELLS.contains(&name.strip_suffix(".exe").unwrap_or(name))
}

/// Whether an argument holds a secret, by itself or by the flag in front of it.
fn arg_has_secret(before: &str, arg: &str) -> bool {
    if has_token(arg) || url_has_secret(arg) {
        return true;
    }
    // A secret, or a gap for one; a reference is neither.
    let is_secret = |name: &str, value: &str| {
        reference::find(value) == Reference::None
            && (looks_secret(Some(name), value)
                || (is_secret_name(name) && !value.trim().is_empty() && is_placeholder(value)))
    };
    if before.starts_with("--") && !before.contains('=') && !arg.starts_with('-') {
        let named = !matches!(before, "--env" | "--header");
        if named && is_secret(before, arg) {
            return true;
        }
    }
    // `--token=V`, `-e K=V`, `-H "K: V"`, `--header="K: V"`, and each of them in a script.
    arg.match_indices(['=', ':']).any(|(at, _)| {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        let name = arg[..at]
            .rsplit(|letter| !plain(letter))
            .next()
            .unwrap_or_default();
        if !is_secret_name(name) || arg[at + 1..].starts_with("//") {
            return false;
        }
        let value = arg[at + 1..].trim_start_matches([' ', '"', '\'']);
        let end = value.find(['"', '\'', ';', '\n']).unwrap_or(value.len());
        let value = &value[..end];
        // In a script the next word is another matter, behind `Bearer` it is the secret.
        let word = value.split_whitespace().next().unwrap_or_default();
        is_secret(name, value) && (is_secret(name, word) || without_scheme(value).is_some())
    })
}

/// The first text below `node` that is a secret by itself.
fn first_secret(node: &Node) -> Option<&Node> {
    match &node.data {
        Data::String(text) if has_token(text) || url_has_secret(text) => Some(node),
        Data::Array(items) => items.iter().find_map(first_secret),
        Data::Table(members) => members.values().find_map(first_secret),
        _ => None,
    }
}

/// The first text that no program could be given.
fn find_long(node: &Node) -> Option<&Node> {
    match &node.data {
        Data::String(text) if text.len() > super::MAX_TEXT => Some(node),
        Data::Array(items) => items.iter().find_map(find_long),
        Data::Table(members) => members.values().find_map(find_long),
        _ => None,
    }
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Table(members) => members
            .iter()
            .any(|(key, value)| key.contains('\0') || has_nul(value)),
        _ => false,
    }
}

fn remove(members: &mut IndexMap<String, Value>, path: &[String]) {
    match path {
        [] => {}
        [last] => {
            members.shift_remove(last);
        }
        [first, rest @ ..] => {
            if let Some(Value::Table(inner)) = members.get_mut(first) {
                remove(inner, rest);
            }
        }
    }
}
