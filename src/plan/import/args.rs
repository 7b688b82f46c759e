//! Arguments: what stays, what the program must expand itself, and what must not be there.
//!
//! Codex expands nothing in `args` (scenario `mcp-env-not-expanded`), so a reference is refused
//! unless the program at hand expands it: a shell its script, `mcp-remote` its headers. A secret is
//! always refused, since Codex has no reference for it here and the list of processes shows it.

use super::reference::{self, Reference};
use super::translate::{Server, fault, is_tilde};
use super::{Fault, NoteKind, Reason};
use crate::document::{Data, Node, Value};
use crate::plan::secret::{
    has_token, is_placeholder, is_secret_name, looks_secret, url_has_secret, without_scheme,
};

/// What Codex hands to each stdio server unasked (seen on 0.171.0).
const HANDED_ON: [&str; 7] = ["HOME", "LANG", "PATH", "PWD", "SHELL", "TERM", "TMPDIR"];

/// Programs that expand variables in the text after `-c`.
const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "fish"];

impl<'a> Server<'a, '_> {
    pub(super) fn args(&mut self, key: &'a str, node: &'a Node) -> Result<(), Fault> {
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
