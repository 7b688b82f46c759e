//! The view of hooks that rules share: a `hooks.json`, or `[hooks]` of a config.toml.

use super::file::{Content, Source, text};
use super::server::Word;
use crate::codex::version::Version;
use crate::document::Node;

/// The hooks of one file.
#[derive(Debug, Clone, Copy)]
pub struct HooksFile<'a> {
    source: &'a Source,
    /// The whole of a `hooks.json`; none for a config.toml.
    pub root: Option<&'a Node>,
    /// The table of events, where there is one.
    pub events: Option<&'a Node>,
    /// The version of Codex that it is judged for.
    pub version: Version,
}

/// One handler, whatever it holds.
#[derive(Debug, Clone, Copy)]
pub struct Handler<'a> {
    /// Its event, as it is written.
    pub event: &'a str,
    /// What it is.
    pub node: &'a Node,
}

impl<'a> HooksFile<'a> {
    /// The hooks of `source`, if it is such a file and parses.
    pub fn new(source: &'a Source, version: Version) -> Option<Self> {
        let (root, events) = match &source.content {
            Content::Json(json) => (Some(&json.root), json.root.child("hooks")),
            Content::Toml(document) if source.subject.kind.is_config() => {
                (None, Some(document.root().child("hooks")?))
            }
            _ => return None,
        };
        Some(Self {
            source,
            root,
            events,
            version,
        })
    }

    /// The file.
    pub const fn source(&self) -> &'a Source {
        self.source
    }

    /// Each event with its groups, as they are written.
    pub fn events(&self) -> impl Iterator<Item = (&'a str, &'a Node)> {
        let members = self.events.and_then(Node::as_table);
        let json = self.root.is_some();
        members
            .into_iter()
            .flatten()
            .map(|(name, node)| (name.as_str(), node))
            // Codex's own notes about trust stand beside the events.
            .filter(move |(name, _)| json || *name != "state")
    }

    /// Every handler that stands in a group.
    pub fn handlers(&self) -> impl Iterator<Item = Handler<'a>> {
        self.events().flat_map(|(event, groups)| {
            let groups = groups.as_array().into_iter().flatten();
            let handlers = groups.filter_map(|group| group.child("hooks").and_then(Node::as_array));
            handlers.flatten().map(move |node| Handler { event, node })
        })
    }
}

impl<'a> Handler<'a> {
    /// The command line that it runs.
    pub fn command(&self) -> Option<Word<'a>> {
        self.node.child("command").and_then(Word::of)
    }

    /// What kind of handler it is.
    pub fn kind(&self) -> Option<&'a str> {
        self.node.child("type").and_then(text)
    }
}
