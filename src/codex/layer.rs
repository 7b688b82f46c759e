//! The layers of a configuration: which files there are, and what stands in each.
//!
//! [`Sources`] says where text comes from: the disk, with files replaced or removed in memory, so
//! that a plan can ask what would be in force after it. [`Layer`] is one source with what came of
//! reading it: a parsed document, nothing, or the reason why it could not be read. Nothing here
//! judges; [`super::effective`] does.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use super::Site;
use super::keys::OLDER_KEYS;
use super::trust::Level;
use crate::document::{Document, Form, KeyPath, LineColumn, Node, Span, SyntaxError, Value};
use crate::files;

/// Codex's configuration file in each of its folders.
pub const CONFIG_TOML: &str = "config.toml";
/// The administrator's older file, stronger than every layer.
pub const MANAGED_CONFIG_TOML: &str = "managed_config.toml";
/// The administrator's limits.
pub const REQUIREMENTS_TOML: &str = "requirements.toml";

/// Which source a layer is, from weak to strong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// `/etc/codex/config.toml`.
    System,
    /// `$CODEX_HOME/config.toml`.
    User,
    /// `$CODEX_HOME/NAME.config.toml`, with its name.
    Profile(String),
    /// `.codex/config.toml` of one folder.
    Project,
    /// `-c`, `--enable`, `--disable`.
    Flags,
    /// `/etc/codex/managed_config.toml`.
    Managed,
}

impl Kind {
    /// The layer's name, as `codexgate show` and the scenarios write it.
    pub fn label(&self) -> String {
        match self {
            Self::System => "system".to_owned(),
            Self::User => "user".to_owned(),
            Self::Profile(name) => format!("profile:{name}"),
            Self::Project => "project".to_owned(),
            Self::Flags => "flags".to_owned(),
            Self::Managed => "managed".to_owned(),
        }
    }
}

/// What came of reading one file.
#[derive(Debug, Clone)]
pub enum Text {
    /// It is not there.
    Absent,
    /// Its text.
    Text(String),
    /// It is there and not UTF-8.
    NotUtf8 {
        /// How many bytes before the first wrong one are right.
        valid: usize,
    },
    /// It is there and cannot be read.
    Unreadable {
        /// Why, in the system's words.
        why: String,
    },
}

/// Where files are read: the disk, and above it what a plan would write or remove.
#[derive(Debug, Clone)]
pub struct Sources {
    site: Site,
    changed: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

impl Sources {
    /// The files of `site` as they are on the disk. Nothing is read before it is asked for.
    pub fn read(site: &Site) -> Self {
        Self {
            site: site.clone(),
            changed: BTreeMap::new(),
        }
    }

    /// The same, with `path` holding `bytes`, or with no `path` where `bytes` is none.
    #[must_use]
    pub fn with(mut self, path: impl Into<PathBuf>, bytes: Option<Vec<u8>>) -> Self {
        self.changed.insert(path.into(), bytes);
        self
    }

    /// The folders that count.
    pub const fn site(&self) -> &Site {
        &self.site
    }

    /// The text of `path`.
    pub fn text(&self, path: &Path) -> Text {
        match self.changed.get(path) {
            Some(Some(bytes)) => decode(bytes.clone()),
            Some(None) => Text::Absent,
            None => read(path),
        }
    }

    /// Whether there is anything at `path`.
    pub fn exists(&self, path: &Path) -> bool {
        match self.changed.get(path) {
            Some(change) => change.is_some(),
            None => self.changes_below(path) || path.exists(),
        }
    }

    /// Whether `path` is a folder.
    pub fn is_folder(&self, path: &Path) -> bool {
        self.changes_below(path) || path.is_dir()
    }

    /// The plain files in `folder` whose names end in `suffix`, sorted. Links do not count: Codex
    /// reads no rules file through one.
    pub fn files_in(&self, folder: &Path, suffix: &str) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
            .map(|entry| entry.path())
            .filter(|path| !self.changed.contains_key(path))
            .collect();
        found.extend(
            self.changed
                .iter()
                .filter(|(path, bytes)| bytes.is_some() && path.parent() == Some(folder))
                .map(|(path, _)| path.clone()),
        );
        found.retain(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().ends_with(suffix))
        });
        found.sort();
        found
    }

    fn changes_below(&self, folder: &Path) -> bool {
        self.changed.iter().any(|(path, bytes)| {
            bytes.is_some() && path.starts_with(folder) && path.as_path() != folder
        })
    }
}

fn read(path: &Path) -> Text {
    match files::read(path, files::CONFIG_LIMIT) {
        Ok(files::Found::File(file)) => decode(file.bytes),
        // A link to nothing is nothing to Codex.
        Ok(files::Found::Missing) | Err(files::Error::Dangling { .. }) => Text::Absent,
        Err(error) => Text::Unreadable {
            why: error.to_string(),
        },
    }
}

fn decode(bytes: Vec<u8>) -> Text {
    match String::from_utf8(bytes) {
        Ok(text) => Text::Text(text),
        Err(error) => Text::NotUtf8 {
            valid: error.utf8_error().valid_up_to(),
        },
    }
}

/// What stands in a layer.
#[derive(Debug, Clone)]
pub enum Content {
    /// There is no such file.
    Absent,
    /// A document.
    Document(Document),
    /// What flags say.
    Flags(Value),
    /// Text that is not TOML.
    Broken {
        /// What the parser says.
        error: SyntaxError,
        /// Where it says so.
        at: LineColumn,
    },
    /// Bytes that are not UTF-8.
    NotUtf8 {
        /// How many bytes before the first wrong one are right.
        valid: usize,
    },
    /// A file that cannot be read, or a folder in its place.
    Unreadable {
        /// Why, in the system's words.
        why: String,
    },
}

/// One layer.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Which source it is.
    pub kind: Kind,
    /// A name of its own, for a file that is read like a layer and is none.
    pub name: Option<&'static str>,
    /// Its file, if it is one.
    pub file: Option<PathBuf>,
    /// The folder that relative paths in it are relative to.
    pub base: PathBuf,
    /// What stands in it.
    pub content: Content,
    /// Why it does not count, if so.
    pub disabled: Option<Disabled>,
    /// Key paths in it that do not count: the values are there and Codex drops them.
    pub dropped: Vec<KeyPath>,
    /// Where its hooks come from, if not from beside the file.
    pub hooks_from: Option<HooksFrom>,
    /// What it says, once it is read: in the form in which Codex merges it, or as it is written
    /// where the layer is wrong by itself.
    pub said: Option<Value>,
}

/// The hooks of a linked work tree are those of the main one.
#[derive(Debug, Clone)]
pub struct HooksFrom {
    /// The folder of the main one's files.
    pub base: PathBuf,
    /// `[hooks]` of its config.toml.
    pub table: Option<Value>,
}

/// Why a project's layer does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disabled {
    /// Unknown or untrusted.
    pub level: Level,
    /// The folder that would have to be trusted.
    pub key: String,
}

/// A place in a layer: what a message points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The layer's name.
    pub layer: String,
    /// The file; flags have none.
    pub path: Option<PathBuf>,
    /// The bytes of the value.
    pub span: Span,
    /// The line of the value, from 1.
    pub line: usize,
    /// The column of the value, from 1.
    pub column: usize,
    /// The key path that stands there.
    pub key: KeyPath,
}

impl Layer {
    /// Reads `file` as a layer of `kind`.
    pub fn read(sources: &Sources, kind: Kind, file: PathBuf) -> Self {
        let content = match sources.text(&file) {
            Text::Absent => Content::Absent,
            Text::NotUtf8 { valid } => Content::NotUtf8 { valid },
            Text::Unreadable { why } => Content::Unreadable { why },
            Text::Text(text) => parse(&text),
        };
        Self {
            kind,
            name: None,
            base: file.parent().map(Path::to_path_buf).unwrap_or_default(),
            file: Some(file),
            content,
            disabled: None,
            dropped: Vec::new(),
            hooks_from: None,
            said: None,
        }
    }

    /// The layer's name.
    pub fn label(&self) -> String {
        self.name.map_or_else(|| self.kind.label(), str::to_owned)
    }

    /// The document, if there is one.
    pub const fn document(&self) -> Option<&Document> {
        match &self.content {
            Content::Document(document) => Some(document),
            _ => None,
        }
    }

    /// What the layer says, without what Codex drops from it; an empty table where it says nothing.
    pub fn value(&self) -> Cow<'_, Value> {
        match &self.said {
            Some(value) => Cow::Borrowed(value),
            None => Cow::Owned(self.written()),
        }
    }

    /// What the layer says as it is written, without what Codex drops from it.
    pub fn written(&self) -> Value {
        let mut value = match &self.content {
            Content::Document(document) => document.root().value(),
            Content::Flags(value) => value.clone(),
            _ => Value::Table(IndexMap::new()),
        };
        for path in &self.dropped {
            remove(&mut value, path.parts());
        }
        rename_older(&mut value);
        if let (Some(from), Value::Table(members)) = (&self.hooks_from, &mut value) {
            members.shift_remove("hooks");
            if let Some(table) = &from.table {
                members.insert("hooks".to_owned(), table.clone());
            }
        }
        value
    }

    /// Whether the layer says anything.
    pub fn is_empty(&self) -> bool {
        self.value().as_table().is_none_or(IndexMap::is_empty)
    }

    /// Where the value of `key` stands in this layer, as Codex points at it: a table at its
    /// header, a table without one at its name (scenario `mcp-error-position`). A value that only
    /// the file as a whole can be blamed for gets the file's start.
    pub fn place(&self, key: &KeyPath) -> Place {
        let span = self.document().and_then(|document| {
            // A table written as an array has no such key: then the array itself.
            let node = std::iter::successors(Some(key.clone()), KeyPath::parent)
                .find_map(|path| document.get(&path))?;
            Some(match node.form {
                Form::Implicit | Form::Dotted => node.key,
                Form::Root => Span::default(),
                _ => node.span,
            })
        });
        self.place_at(key, span)
    }

    /// Where the name of `key` stands in this layer.
    pub fn key_place(&self, key: &KeyPath) -> Place {
        let span = self
            .document()
            .and_then(|document| Some(document.get(key)?.key));
        self.place_at(key, span)
    }

    fn place_at(&self, key: &KeyPath, span: Option<Span>) -> Place {
        let at = match (self.document(), span) {
            (Some(document), Some(span)) => document.locate(span.start),
            _ => LineColumn { line: 1, column: 1 },
        };
        Place {
            layer: self.label(),
            path: self.file.clone(),
            span: span.unwrap_or_default(),
            line: at.line,
            column: at.column,
            key: key.clone(),
        }
    }
}

fn parse(text: &str) -> Content {
    match Document::parse(text) {
        Ok(document) => Content::Document(document),
        Err(error) => {
            let at = crate::document::LineIndex::new(text).locate(text, error.span.start);
            Content::Broken { error, at }
        }
    }
}

/// Gives each key the name that it has now; what already has that name stays.
fn rename_older(root: &mut Value) {
    for (path, now) in OLDER_KEYS {
        let Some((older, table)) = path.split_last() else {
            continue;
        };
        let table = table.iter().try_fold(&mut *root, |value, part| {
            let Value::Table(members) = value else {
                return None;
            };
            members.get_mut(*part)
        });
        let Some(Value::Table(members)) = table else {
            continue;
        };
        if let Some(at) = members.get_index_of(*older)
            && let Some((_, value)) = members.shift_remove_index(at)
            && !members.contains_key(*now)
        {
            members.shift_insert(at, (*now).to_owned(), value);
        }
    }
}

fn remove(value: &mut Value, path: &[String]) {
    let (Value::Table(members), Some((first, rest))) = (value, path.split_first()) else {
        return;
    };
    if rest.is_empty() {
        members.shift_remove(first);
    } else if let Some(inner) = members.get_mut(first) {
        remove(inner, rest);
    }
}

/// Flags that go to every command of Codex.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// The texts of `-c`, in order.
    pub config: Vec<String>,
    /// The names of `--enable`, in order.
    pub enable: Vec<String>,
    /// The names of `--disable`, in order.
    pub disable: Vec<String>,
}

/// Flags that Codex refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    /// Scenario `flags-no-equals`.
    #[error("`-c {0}` has no `=`")]
    NoEquals(String),
    /// A key of nothing.
    #[error("`-c {0}` has an empty key")]
    EmptyKey(String),
    /// Scenario `flags-enable-unknown`.
    #[error("there is no feature `{0}`")]
    UnknownFeature(String),
}

impl Flags {
    /// Whether no flag was given.
    pub fn is_empty(&self) -> bool {
        self.config.is_empty() && self.enable.is_empty() && self.disable.is_empty()
    }

    /// The table that the flags make. `is_feature` tells which features Codex knows.
    ///
    /// # Errors
    /// A `-c` without `=`, or a feature that Codex does not know.
    pub fn value(&self, is_feature: impl Fn(&str) -> bool) -> Result<Value, FlagError> {
        let mut root = Value::Table(IndexMap::new());
        for text in &self.config {
            let Some((key, raw)) = text.split_once('=') else {
                return Err(FlagError::NoEquals(text.clone()));
            };
            let key = key.trim();
            if key.is_empty() {
                return Err(FlagError::EmptyKey(text.clone()));
            }
            // Every dot splits, inside quotes too (scenario `flags-quoted-key`).
            let path: Vec<&str> = key.split('.').collect();
            set(&mut root, &path, flag_value(raw.trim()));
        }
        for (names, on) in [(&self.enable, true), (&self.disable, false)] {
            for name in names {
                if !is_feature(name) {
                    return Err(FlagError::UnknownFeature(name.clone()));
                }
                set(&mut root, &["features", name], Value::Boolean(on));
            }
        }
        Ok(root)
    }
}

/// TOML, else the plain text (scenario `flags-raw-string`).
fn flag_value(raw: &str) -> Value {
    Document::parse(format!("value = {raw}"))
        .ok()
        .filter(|document| document.root().as_table().is_some_and(|t| t.len() == 1))
        .and_then(|document| document.root().child("value").map(Node::value))
        .unwrap_or_else(|| Value::String(raw.trim_matches(['"', '\'']).to_owned()))
}

fn set(root: &mut Value, path: &[&str], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *root = value;
        return;
    };
    if !matches!(root, Value::Table(_)) {
        *root = Value::Table(IndexMap::new());
    }
    if let Value::Table(members) = root {
        let member = members
            .entry((*first).to_owned())
            .or_insert_with(|| Value::Table(IndexMap::new()));
        set(member, rest, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(texts: &[&str]) -> Value {
        Flags {
            config: texts.iter().map(|text| (*text).to_owned()).collect(),
            ..Flags::default()
        }
        .value(|_| true)
        .expect("the flags are well formed")
    }

    #[test]
    fn a_flag_is_toml_or_plain_text_and_the_last_one_wins() {
        let value = flags(&[
            "a.b=1",
            "a.c = never",
            "a.b = [1, 2]",
            "d=\"x y",
            "e={f=true}",
        ]);
        let wanted =
            Document::parse("a = { b = [1, 2], c = \"never\" }\nd = \"x y\"\ne.f = true\n")
                .expect("the test's text is TOML");
        assert_eq!(value, wanted.root().value());
    }

    #[test]
    fn quotes_do_not_protect_a_dot() {
        let value = flags(&["p.\"/a.b\".t=1"]);
        assert!(value.get(&["p", "\"/a", "b\"", "t"]).is_some());
    }

    #[test]
    fn a_flag_without_equals_is_refused() {
        let wrong = Flags {
            config: vec!["approval_policy".to_owned()],
            ..Flags::default()
        };
        assert!(matches!(wrong.value(|_| true), Err(FlagError::NoEquals(_))));
        let unknown = Flags {
            enable: vec!["no_such".to_owned()],
            ..Flags::default()
        };
        assert!(unknown.value(|_| false).is_err());
    }
}
