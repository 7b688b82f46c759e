//! The files that are judged, and the views of them that rules get.
//!
//! A [`Subject`] is a path with its meaning: which of Codex's files it is, and whose. A [`Source`]
//! is a subject with what came of reading and parsing it, done once for all rules. Texts that are
//! not UTF-8 are kept with replacement characters, so that a place in them can still be shown.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::PathBuf;

use super::disk::Disk;
use super::json::{self, Json};
use super::secret::{self, Secret};
use super::shape::{self, Fault};
use crate::codex::version::Version;
use crate::document::{
    Data, Document, KeyPath, LineIndex, Node, Span, Statement, StatementKind, SyntaxError,
};
use crate::text::{redact, visible};

/// Which of Codex's files it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `config.toml`.
    Config,
    /// `NAME.config.toml`: in force with `-p NAME`.
    Profile,
    /// `managed_config.toml`.
    Managed,
    /// `requirements.toml`.
    Requirements,
    /// `hooks.json`.
    Hooks,
    /// A file of prefix rules, `*.rules`.
    Rules,
    /// A folder or file that is looked at and not read.
    Folder,
    /// A text that starts programs, for `--scripts`.
    Script,
}

impl Kind {
    /// Whether it is a layer of the configuration.
    pub const fn is_config(self) -> bool {
        matches!(self, Self::Config | Self::Profile | Self::Managed)
    }

    /// Whether it is TOML.
    pub const fn is_toml(self) -> bool {
        self.is_config() || matches!(self, Self::Requirements)
    }

    /// The name of such a file, for examples.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Config => "config.toml",
            Self::Profile => "NAME.config.toml",
            Self::Managed => "managed_config.toml",
            Self::Requirements => "requirements.toml",
            Self::Hooks => "hooks.json",
            Self::Rules => "default.rules",
            Self::Folder => ".codex",
            Self::Script => "script.sh",
        }
    }
}

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Home {
    /// Codex's home.
    User,
    /// The `.codex` at the project's top.
    Project,
    /// A `.codex` below the project's top.
    Nested,
    /// The system's folder.
    System,
    /// It lies in none of them: a copy, a template, a dotfile repository.
    Loose,
}

impl Home {
    /// Whether it comes with a repository.
    pub const fn is_project(self) -> bool {
        matches!(self, Self::Project | Self::Nested)
    }
}

/// A file to be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Where it is.
    pub path: PathBuf,
    /// How its path is shown: relative to the working folder, with `/`.
    pub shown: String,
    /// Which of Codex's files it is.
    pub kind: Kind,
    /// Whose it is.
    pub home: Home,
}

/// What came of reading a file.
#[derive(Debug, Clone)]
pub enum Content {
    /// TOML that parses.
    Toml(Document),
    /// JSON that parses.
    Json(Json),
    /// A text that is not parsed here.
    Text,
    /// TOML or JSON that does not parse.
    Broken(SyntaxError),
    /// Not UTF-8, or with NUL in it.
    NotText {
        /// The bytes, as they are.
        bytes: Vec<u8>,
    },
    /// It is there and cannot be read.
    Unreadable {
        /// Why, as a phrase.
        why: String,
    },
}

/// A file with what came of reading and parsing it.
#[derive(Debug, Clone)]
pub struct Source {
    /// The file.
    pub subject: Subject,
    /// What came of it.
    pub content: Content,
    /// Secrets in it, in the order of the text: never shown.
    pub secrets: Vec<Secret>,
    /// Where they stand.
    pub hidden: Vec<Span>,
    /// What the disk says about the file.
    pub disk: Disk,
    // Empty for TOML that parses: its document has the text.
    text: String,
    lines: LineIndex,
}

impl Source {
    /// Parses `bytes` as what `subject` is.
    pub fn parse(subject: Subject, bytes: Vec<u8>) -> Self {
        let text = match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => text,
            // Scripts are no files of Codex's: any bytes are fine there.
            Ok(text) if subject.kind == Kind::Script => text,
            Err(error) if subject.kind == Kind::Script => {
                String::from_utf8_lossy(error.as_bytes()).into_owned()
            }
            Ok(text) => return Self::not_text(subject, text.into_bytes()),
            Err(error) => return Self::not_text(subject, error.into_bytes()),
        };
        if subject.kind.is_toml() {
            return match Document::parse(text.as_str()) {
                Ok(document) => Self::new(subject, Content::Toml(document), String::new()),
                Err(error) => Self::new(subject, Content::Broken(error), text),
            };
        }
        let content = match subject.kind {
            Kind::Hooks => match json::parse(&text) {
                Ok(json) => Content::Json(json),
                Err(error) => Content::Broken(error),
            },
            _ => Content::Text,
        };
        Self::new(subject, content, text)
    }

    /// A place that was looked at and not read.
    pub fn place(subject: Subject, disk: Disk) -> Self {
        let mut source = Self::new(subject, Content::Text, String::new());
        source.disk = disk;
        source
    }

    /// A file that is there and cannot be read.
    pub fn unreadable(subject: Subject, why: impl Into<String>) -> Self {
        let why = why.into();
        Self::new(subject, Content::Unreadable { why }, String::new())
    }

    fn not_text(subject: Subject, bytes: Vec<u8>) -> Self {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Self::new(subject, Content::NotText { bytes }, text)
    }

    fn new(subject: Subject, content: Content, text: String) -> Self {
        let lines = LineIndex::new(&text);
        let mut source = Self {
            subject,
            content,
            secrets: Vec::new(),
            hidden: Vec::new(),
            disk: Disk::default(),
            text,
            lines,
        };
        source.secrets = secret::find(&source);
        source.hidden = source.secrets.iter().map(|secret| secret.span).collect();
        source
    }

    /// The text, with replacement characters for what is no text.
    pub fn text(&self) -> &str {
        match &self.content {
            Content::Toml(document) => document.text(),
            _ => &self.text,
        }
    }

    /// Where each line of the text starts.
    pub fn lines(&self) -> &LineIndex {
        match &self.content {
            Content::Toml(document) => document.lines(),
            _ => &self.lines,
        }
    }
}

/// The view of one TOML file that parses.
#[derive(Debug)]
pub struct ConfigFile<'a> {
    source: &'a Source,
    document: &'a Document,
    version: Version,
    faults: OnceCell<Vec<Fault<'a>>>,
}

impl<'a> ConfigFile<'a> {
    /// The view of `source`, if it is TOML that parses.
    pub fn new(source: &'a Source, version: Version) -> Option<Self> {
        match &source.content {
            Content::Toml(document) => Some(Self {
                source,
                document,
                version,
                faults: OnceCell::new(),
            }),
            _ => None,
        }
    }

    /// Every difference from the keys that Codex knows, found once for all rules.
    pub fn faults(&self) -> &[Fault<'a>] {
        self.faults.get_or_init(|| shape::faults(self))
    }

    /// Which of Codex's files it is.
    pub const fn kind(&self) -> Kind {
        self.source.subject.kind
    }

    /// Whose it is.
    pub const fn home(&self) -> Home {
        self.source.subject.home
    }

    /// The version of Codex that the file is judged for.
    pub const fn version(&self) -> Version {
        self.version
    }

    /// The parsed text.
    pub const fn document(&self) -> &'a Document {
        self.document
    }

    /// The top table.
    pub const fn root(&self) -> &'a Node {
        self.document.root()
    }

    /// The node at a path of bare names.
    pub fn get(&self, path: &str) -> Option<&'a Node> {
        self.document.get(&KeyPath::dotted(path))
    }

    /// The values of a root key wherever Codex reads it: at the root, then in each profile.
    pub fn values(&self, key: &str) -> impl Iterator<Item = &'a Node> {
        let profiles = self.root().child("profiles").and_then(Node::as_table);
        self.root().child(key).into_iter().chain(
            profiles
                .into_iter()
                .flat_map(|profiles| profiles.values())
                .filter_map(move |profile| profile.child(key)),
        )
    }

    /// The statement that gives `node` its value on lines of its own, not within braces.
    pub fn pair(&self, node: &Node) -> Option<&'a Statement> {
        let statements = self.document.statements();
        // They stand in the order of the text, and the last one that begins before the key holds it.
        let behind = statements.partition_point(|it| it.span.start <= node.key.start);
        let found = &statements[behind.checked_sub(1)?];
        match &found.kind {
            StatementKind::Pair {
                value,
                braces: None,
                ..
            } if *value == node.span => Some(found),
            _ => None,
        }
    }

    /// The text of `span` for a message: short, in one line, visible, without secrets.
    pub fn quote(&self, span: Span) -> Cow<'a, str> {
        quote(self.source, span)
    }
}

/// The text of a string, or of a date, which Codex takes as one (scenario
/// shape-datetime-as-string).
pub fn text(node: &Node) -> Option<&str> {
    match &node.data {
        Data::String(text) | Data::Datetime(text) => Some(text),
        _ => None,
    }
}

/// A word that Codex chooses by: a string, or a table of that one key with nothing in it.
pub fn word(node: &Node) -> Option<&str> {
    match &node.data {
        Data::String(word) => Some(word),
        Data::Table(members) if members.len() == 1 => {
            let (word, inner) = members.first()?;
            inner.as_table()?.is_empty().then_some(word)
        }
        _ => None,
    }
}

/// Characters of a value that a message quotes; more hides the rest of the message.
const QUOTED: usize = 60;

fn quote(source: &Source, span: Span) -> Cow<'_, str> {
    let text = source.text().get(span.range()).unwrap_or_default();
    let hidden = |secret: &Secret| secret.span.start < span.end && span.start < secret.span.end;
    if source.secrets.iter().any(hidden) {
        return redact::secret(text).into();
    }
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", visible(&text[..end])).into(),
        None => visible(text),
    }
}
