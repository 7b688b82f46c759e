//! The MCP servers of all layers, and which of them a requirement disables.

use std::ffi::OsStr;

use super::super::layer::Place;
use super::super::requirements::Identity;
use super::super::server::{NAME_RULES, Transport};
use super::super::version::Change;
use super::merge::Merged;
use super::{By, Effective, StartError};
use crate::document::{KeyPath, Value};

/// One MCP server in force.
#[derive(Debug, Clone)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// How Codex talks to it.
    pub transport: Transport,
    /// Its merged table.
    pub value: Value,
    /// The place of each value in it, with its key path below the server's table.
    pub origins: Vec<(KeyPath, Place)>,
    /// Whether Codex starts it.
    pub enabled: bool,
    /// Who turned it off, where somebody did.
    pub disabled_by: Option<By>,
}

/// All servers, by name.
pub(super) fn servers(effective: &Effective) -> Vec<Server> {
    let tables = effective.merged.get(&["mcp_servers"]);
    let mut servers: Vec<Server> = tables
        .and_then(Merged::members)
        .into_iter()
        .flatten()
        .filter_map(|(name, table)| server(effective, name, table))
        .collect();
    servers.sort_by(|a, b| a.name.cmp(&b.name));
    servers
}

fn server(effective: &Effective, name: &str, table: &Merged) -> Option<Server> {
    let value = table.value();
    let text = |key: &str| table.get(&[key]).and_then(Merged::text);
    let transport = match (text("command"), text("url")) {
        (Some(_), _) => Transport::Stdio,
        (None, Some(_)) => Transport::Url,
        (None, None) => return None,
    };
    let mut origins = Vec::new();
    table.leaves(&mut |path, leaf| {
        let below = KeyPath::new(path.iter().copied());
        let whole = KeyPath::new(["mcp_servers", name].iter().chain(path).copied());
        if let Some(layer) = effective.layers.get(leaf.layer) {
            origins.push((below, layer.place(&whole)));
        }
    });
    // Once the table of requirements is there, every other server is off (scenario
    // `req-mcp-empty-table`); it switches nothing on (`req-mcp-disabled-by-user`).
    let refused = effective.requirements.servers.as_ref().filter(|required| {
        let is_allowed = match required.value.get(name) {
            Some(Identity::Command(command)) => {
                transport == Transport::Stdio && text("command") == Some(command)
            }
            Some(Identity::Url(url)) => transport == Transport::Url && text("url") == Some(url),
            None => false,
        };
        !is_allowed
    });
    // Without the sign-in that it stands for (seen on 0.171.0).
    let no_sign_in = text("auth") == Some("ema_auth")
        && !(effective.feature("use_xaa")
            && effective
                .merged
                .get(&["mcp_enterprise_managed_auth"])
                .is_some());
    let switched_off = no_sign_in || table.get(&["enabled"]).and_then(Merged::truth) == Some(false);
    let disabled_by = match refused {
        Some(required) => Some(By::Requirement(required.place.clone())),
        None if switched_off => effective
            .origin(&["mcp_servers", name, "enabled"])
            .map(By::Layer),
        None => None,
    };
    Some(Server {
        name: name.to_owned(),
        transport,
        value,
        origins,
        enabled: refused.is_none() && !switched_off,
        disabled_by,
    })
}

/// Why a thread cannot start: a required server that certainly fails (scenarios
/// `mcp-required-missing`, `mcp-required-bad-name`). Whether a program that is there works, and
/// whether anybody listens at a URL, is not asked.
pub(super) fn cannot_start(effective: &Effective, path: &OsStr) -> Option<StartError> {
    let servers = &effective.policy()?.servers;
    servers.iter().find_map(|server| {
        let is_required = server.value.get(&["required"]).and_then(Value::as_bool) == Some(true);
        let why = (server.enabled && is_required)
            .then(|| why_not(server, effective, path))
            .flatten()?;
        let key = KeyPath::new(["mcp_servers", &server.name]);
        Some(StartError {
            message: format!("the required server `{}` cannot start: {why}", server.name),
            place: effective.origin(key.parts()).map(Box::new),
            key: Some(key),
        })
    })
}

fn why_not(server: &Server, effective: &Effective, path: &OsStr) -> Option<&'static str> {
    let wide = effective.version.has(Change::WideServerNames);
    if !NAME_RULES[usize::from(!wide)].allows(&server.name) {
        return Some("its name is not valid");
    }
    let text = |key: &[&str]| server.value.get(key).and_then(Value::as_str);
    let Some(command) = text(&["command"]) else {
        return text(&["url"])
            .is_some_and(|url| !url.contains(':'))
            .then_some("its `url` is none");
    };
    let folder =
        text(&["cwd"]).map_or_else(|| effective.cwd.clone(), |cwd| effective.cwd.join(cwd));
    if !folder.is_dir() {
        return Some("its `cwd` is not there");
    }
    let path = text(&["env", "PATH"]).map_or(path, OsStr::new);
    let is_there = if command.contains('/') {
        folder.join(command).exists()
    } else {
        !command.is_empty()
            && std::env::split_paths(path).any(|place| folder.join(place).join(command).exists())
    };
    (!is_there).then_some("there is no such program")
}
