//! Values of `env` and of headers: literal, a reference, or a secret that must become one.
//!
//! Codex hands a variable on under its own name (`env_vars`), takes a bearer token from one
//! (`bearer_token_env_var`) and whole headers (`env_http_headers`); it puts no value together. So
//! a whole reference becomes one of these, a part of one is refused, and a secret goes into a
//! variable: the one of its name in `env`, one made up of the server's and the header's name else.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::reference::{self, Reference};
use super::translate::{Server, fault};
use super::{Fault, NoteKind, Reason};
use crate::document::{Data, Node, Value};
use crate::plan::secret::{
    has_token, is_placeholder, is_secret_name, looks_secret, without_scheme,
};

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

impl<'a> Hidden<'a> {
    const fn value(self) -> Option<&'a str> {
        match self {
            Self::Secret(value) => Some(value),
            Self::Placeholder | Self::Input(_) => None,
        }
    }
}

impl<'a> Server<'a, '_> {
    pub(super) fn env(&mut self, key: &'a str, node: &'a Node) -> Result<(), Fault> {
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

    pub(super) fn env_vars(&mut self, key: &'a str, node: &'a Node) -> Result<(), Fault> {
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

    pub(super) fn hand_on(&mut self, name: &str) {
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

    pub(super) fn headers(&mut self, key: &'a str, node: &'a Node) -> Result<(), Fault> {
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

    pub(super) fn env_headers(&mut self, key: &'a str, node: &'a Node) -> Result<(), Fault> {
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

    pub(super) fn bearer(
        &mut self,
        variable: &str,
        key: &'a str,
        node: &'a Node,
    ) -> Result<(), Fault> {
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

    pub(super) fn bearer_value(
        &mut self,
        token: &str,
        key: &'a str,
        node: &'a Node,
    ) -> Result<(), Fault> {
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
}

/// The name of a variable; a secret in its place is a common slip.
pub(super) fn variable_name(node: &Node, path: &[&str]) -> Result<(), Fault> {
    match node.as_str() {
        Some(name) if !reference::is_name(name) || has_token(name) => {
            Err(fault(node, path, Reason::NotVariable))
        }
        // Of another type: Codex refuses it in its own words.
        _ => Ok(()),
    }
}
