//! One server of a foreign file as Codex's keys.
//!
//! Each key goes one of four ways: it is Codex's and stays; it means the same as one of Codex's
//! and becomes it; it means nothing here and is left out with a note; or the server would not be
//! what its author meant, and the file is refused. Values that are secrets become references
//! wherever Codex has them (`env_vars`, `bearer_token_env_var`, `env_http_headers`).
//!
//! No message quotes a value: it names keys, and elements by their index.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::reference::{self, Reference};
use super::variables::{Variables, variable_name};
use super::{Dialect, Fault, Note, NoteKind, Reason};
use crate::codex::server;
use crate::document::{Data, Node, Value};
use crate::plan::secret::{
    has_token, is_placeholder, is_secret_name, looks_secret, url_has_secret,
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

/// Codex's keys in order, and what to tell about them.
type Translated = Result<(IndexMap<String, Value>, Vec<Note>), Fault>;

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
    let members = context.node.as_table();
    if members.is_some_and(|members| members.len() > super::MAX_MEMBERS) {
        return Err(fault(context.node, &[], Reason::TooManyMembers));
    }
    for (key, node) in members.into_iter().flatten() {
        check_size(node, key)?;
        server.member(key, node)?;
    }
    server.finish()
}

pub(super) struct Server<'a, 'v> {
    pub(super) context: &'a Context<'a>,
    pub(super) variables: &'v mut Variables,
    pub(super) values: IndexMap<String, Value>,
    /// The key of the file that each of Codex's keys came from.
    pub(super) origins: HashMap<&'static str, &'a str>,
    /// What `type` says, with its place.
    pub(super) kind: Option<(&'static str, &'a Node, &'a str)>,
    pub(super) notes: Vec<Note>,
    /// Keys that mean nothing in Codex: one note for all.
    pub(super) dropped: Vec<&'a str>,
}

impl<'a> Server<'a, '_> {
    pub(super) fn foreign(&self) -> bool {
        self.context.dialect == Dialect::Other
    }

    pub(super) fn note(&mut self, kind: NoteKind, text: impl Into<String>) {
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

    pub(super) fn put(&mut self, codex_key: &'static str, key: &'a str, value: Value) {
        self.origins.insert(codex_key, key);
        self.values.insert(codex_key.to_owned(), value);
    }

    /// An empty table or array. Codex refuses even that on the other transport, where other
    /// clients do not mind.
    pub(super) fn empty(&mut self, codex_key: &'static str, key: &'a str, node: &'a Node) {
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
    pub(super) fn text(&mut self, node: &Node, path: &[&str]) -> Option<String> {
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

pub(super) fn fault(node: &Node, key: &[&str], reason: Reason) -> Fault {
    Fault {
        span: Some(node.span),
        server: None,
        key: key.iter().map(|part| (*part).to_owned()).collect(),
        reason: Box::new(reason),
    }
}

pub(super) fn is_tilde(text: &str) -> bool {
    text == "~" || text.starts_with("~/")
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

/// Refuses a text that no program could be given, and lists longer than anyone writes.
fn check_size(node: &Node, key: &str) -> Result<(), Fault> {
    let members = match &node.data {
        Data::String(text) if text.len() > super::MAX_TEXT => {
            return Err(fault(node, &[key], Reason::TooLong));
        }
        Data::Array(items) => items.len(),
        Data::Table(members) => members.len(),
        _ => 0,
    };
    if members > super::MAX_MEMBERS {
        return Err(fault(node, &[key], Reason::TooManyMembers));
    }
    match &node.data {
        Data::Array(items) => items.iter().try_for_each(|item| check_size(item, key)),
        Data::Table(members) => members.values().try_for_each(|item| check_size(item, key)),
        _ => Ok(()),
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
