//! The MCP servers of all layers, and which of them a requirement disables.

use super::super::layer::Place;
use super::super::requirements::Identity;
use super::super::server::Transport;
use super::merge::Merged;
use super::{By, Effective};
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
    let switched_off = table.get(&["enabled"]).and_then(Merged::truth) == Some(false);
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
