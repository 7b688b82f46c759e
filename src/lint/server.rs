//! The view of one MCP server table that rules about servers share.

use super::file::{ConfigFile, text};
use crate::codex::server::Transport;
use crate::document::{Node, Span};

/// One table below `[mcp_servers]`.
#[derive(Debug, Clone, Copy)]
pub struct Server<'a> {
    /// Its name.
    pub name: &'a str,
    /// The table.
    pub node: &'a Node,
}

/// A word of a command line and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word<'a> {
    /// The word, decoded.
    pub text: &'a str,
    /// The value that it is.
    pub span: Span,
}

/// Tables of the root that other tools keep their servers in.
const OTHER_SHAPES: &[&str] = &["mcpServers", "mcp-servers", "mcp", "servers"];

impl<'a> Server<'a> {
    /// All of a file, in the order of the text.
    pub fn all(file: &ConfigFile<'a>) -> impl Iterator<Item = Self> {
        let servers = file.root().child("mcp_servers").and_then(Node::as_table);
        servers
            .into_iter()
            .flatten()
            .filter(|(_, node)| node.as_table().is_some())
            .map(|(name, node)| Self { name, node })
    }

    /// The same, and tables that are meant as servers and written in another tool's shape.
    pub fn meant(file: &ConfigFile<'a>) -> impl Iterator<Item = Self> {
        let root = file.root().as_table().into_iter().flatten();
        let tables = root.filter(|(name, _)| OTHER_SHAPES.contains(&name.as_str()));
        let tables = tables.flat_map(|(_, node)| [Some(node), node.child("servers")]);
        let members = tables.flatten().filter_map(Node::as_table).flatten();
        let others = members
            .filter(|(_, node)| node.child("command").is_some() || node.child("url").is_some())
            .map(|(name, node)| Self { name, node });
        Self::all(file).chain(others)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&'a Node> {
        self.node.child(key)
    }

    /// The value of a key, as a word.
    pub fn word(&self, key: &str) -> Option<Word<'a>> {
        self.get(key).and_then(Word::of)
    }

    /// The elements of `args` that are text.
    pub fn args(&self) -> impl Iterator<Item = Word<'a>> {
        let items = self.get("args").and_then(Node::as_array);
        items.into_iter().flatten().filter_map(Word::of)
    }

    /// `command` and `args`: what is started.
    pub fn line(&self) -> Vec<Word<'a>> {
        self.word("command")
            .into_iter()
            .chain(self.args())
            .collect()
    }

    /// The members of a table of strings: name, its place, value.
    pub fn members(&self, key: &str) -> impl Iterator<Item = (&'a str, &'a Node)> {
        let members = self.get(key).and_then(Node::as_table);
        members
            .into_iter()
            .flatten()
            .map(|(name, node)| (name.as_str(), node))
    }

    /// How Codex talks to it, where the table says exactly one way.
    pub fn transport(&self) -> Option<Transport> {
        match (self.get("command"), self.get("url")) {
            (Some(_), None) => Some(Transport::Stdio),
            (None, Some(_)) => Some(Transport::Url),
            _ => None,
        }
    }

    /// Whether it is our own: by its name, or a program named codexgate that is told `mcp`.
    pub fn is_approver(&self) -> bool {
        let first = self.args().next().map(|word| word.text);
        approves(self.name, self.word("command").map(|word| word.text), first)
    }
}

/// Whether a server is our own: by its name, or a program named codexgate that is told `mcp`.
pub fn approves(name: &str, command: Option<&str>, first: Option<&str>) -> bool {
    name == "codexgate" || (command.map(basename) == Some("codexgate") && first == Some("mcp"))
}

impl<'a> Word<'a> {
    /// A value that is text.
    pub fn of(node: &'a Node) -> Option<Self> {
        Some(Self {
            text: text(node)?,
            span: node.span,
        })
    }
}

/// The last part of a program's path, without `.exe`, `.cmd` or `.bat`.
pub fn basename(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let suffix = [".exe", ".cmd", ".bat", ".EXE"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix));
    suffix.unwrap_or(name)
}
