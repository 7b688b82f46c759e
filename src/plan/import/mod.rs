//! `--from FILE`: servers out of a TOML file for Codex or of the JSON that other clients use.
//!
//! [`parse`] reads `[mcp_servers.*]` of TOML, and JSON with `mcpServers`, `servers` (with
//! `inputs`), `mcp.servers` or nothing but servers. Each server becomes what Codex understands, or
//! the file is refused with the reason: nothing is left to chance, since Codex ignores what it does
//! not know and expands no variable.
//!
//! It promises that no value in `env` or in a header that looks like a secret is in the result, in
//! a note or in an error: it becomes a reference to a variable. Errors carry a place, but the line
//! there may hold a secret, so it must not be printed. What comes out passes
//! [`crate::codex::server::judge`]. It reads no disk and no environment.

use std::collections::HashMap;
use std::fmt::Write as _;

use indexmap::IndexMap;

use crate::codex::server::{self, ServerError};
use crate::document::{Data, Document, LineColumn, LineIndex, Node, Span, Value};

mod args;
mod json;
mod reference;
mod translate;
mod variables;

/// More servers than anyone runs; a file with more is not what it seems to be.
pub const MAX_SERVERS: usize = 1_000;

/// Bytes of one text in a server: Linux gives a program no longer argument, and it keeps the
/// search for secrets short.
pub const MAX_TEXT: usize = 128 * 1024;

/// Members of one table or array in a server: far more than any server has, few enough to look
/// through one by one.
pub const MAX_MEMBERS: usize = 1_000;

/// A server that the configuration shall have.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedServer {
    /// Its name; Codex can start a server of this name.
    pub name: String,
    /// Its keys in the order in which they are written: the transport's first.
    pub values: IndexMap<String, Value>,
}

/// What came out of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The servers, in the order of the file.
    pub servers: Vec<WantedServer>,
    /// What is not as it stood in the file.
    pub notes: Vec<Note>,
}

/// Something that a person should know about a translation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The server it is about; `None`: the file.
    pub server: Option<String>,
    /// What kind of thing it is.
    pub kind: NoteKind,
    /// The rest of the sentence.
    pub text: String,
}

/// The kinds of note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteKind {
    /// This variable must be set before Codex starts.
    Variable(String),
    /// A key means the same under another name or in another form.
    Translated,
    /// A key was left out.
    Dropped,
    /// It stays, but may not do what it seems to.
    Warning,
}

impl std::fmt::Display for Note {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.server {
            Some(server) => write!(out, "server `{server}`: {}", self.text),
            None => out.write_str(&self.text),
        }
    }
}

/// Why a file was refused. The line at [`Error::place`] may hold a secret: name the place, never
/// print the line.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}{reason}", self.subject())]
pub struct Error {
    /// The file's name, as it was given.
    pub file: String,
    /// Where in its text, and the same as line and column.
    pub place: Option<(Span, LineColumn)>,
    /// The server it is about.
    pub server: Option<String>,
    /// The key below the server, as it is written in the file.
    pub key: Vec<String>,
    /// What is wrong.
    pub reason: Box<Reason>,
}

impl Error {
    fn subject(&self) -> String {
        let mut subject = String::new();
        if let Some(server) = &self.server {
            let _ = write!(subject, "server `{server}`: ");
        }
        if !self.key.is_empty() {
            let _ = write!(subject, "`{}`: ", self.key.join("."));
        }
        subject
    }
}

/// What can be wrong with a file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Reason {
    /// Bytes that are not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// Neither TOML nor JSON; in the words of the parser.
    #[error("it does not parse: {0}")]
    Syntax(String),
    /// A JSON key that comes twice in its object.
    #[error("this key comes twice in its object")]
    DuplicateKey,
    /// JSON nested deeper than the reader goes.
    #[error("it is nested too deep")]
    TooDeep,
    /// More than [`MAX_SERVERS`].
    #[error("it has more than {MAX_SERVERS} servers")]
    TooManyServers,
    /// None of the known shapes.
    #[error("it holds no MCP servers")]
    NoServers,
    /// Two of the known shapes at once.
    #[error("it has servers in both `{0}` and `{1}`")]
    Ambiguous(&'static str, &'static str),
    /// A server's own keys where its name should be.
    #[error("it is a server without a name")]
    NoName,
    /// A name that Codex cannot start (scenario `mcp-name-space`).
    #[error("Codex cannot start a server of this name")]
    BadName,
    /// A server, or the table of servers, that is something else.
    #[error("it must be a table, not {0}")]
    NotTable(&'static str),
    /// `null` among the servers.
    #[error("`null` says nothing here")]
    Null,
    /// Codex would refuse the server.
    #[error("Codex would refuse it: {0}")]
    Refused(#[source] ServerError),
    /// The retired transport over HTTP.
    #[error("it wants server-sent events, and Codex speaks streamable HTTP only")]
    Sse,
    /// A `type` that is none of the known ones.
    #[error("Codex has no such transport")]
    UnknownType,
    /// A `type` against the keys.
    #[error("it says one transport, and the other keys say another")]
    TypeDisagrees,
    /// A reference in a place where Codex has none.
    #[error("it refers to a variable, and Codex expands nothing here")]
    Expansion,
    /// `~` in a place where nobody expands it.
    #[error("it begins with `~`, and Codex expands nothing here")]
    Tilde,
    /// A variable under another name.
    #[error("it takes its value from `{0}`, and Codex hands a variable on only under its own name")]
    Renamed(String),
    /// One variable that two servers want to have different values.
    #[error("it takes another secret from `{variable}` than server `{other}` does")]
    Shared {
        /// The variable.
        variable: String,
        /// The server that has it too.
        other: String,
    },
    /// A secret on a command line.
    #[error(
        "it holds a secret, or the place of one, and everyone who reads the file or the list of processes sees it"
    )]
    SecretInArgs,
    /// A secret in a URL.
    #[error("it holds a secret, or the place of one, and everyone who reads the file sees it")]
    SecretInUrl,
    /// A secret where Codex takes no reference.
    #[error("it holds a secret, and Codex takes no reference to a variable here")]
    SecretInValue,
    /// The name of a variable was wanted.
    #[error("it must be the name of a variable")]
    NotVariable,
    /// A file of variables.
    #[error("Codex reads no file of variables for a server")]
    EnvFile,
    /// A key of another client in a file for Codex.
    #[error("Codex ignores it; its own key is `{0}`")]
    ForeignKey(&'static str),
    /// A key of another client that Codex has nothing for, and that matters.
    #[error("Codex has nothing like it, and the server would not work as it should")]
    Untranslatable,
    /// Two keys that say opposite things, or the same thing twice.
    #[error("it says something else than `{0}`")]
    Contradicts(&'static str),
    /// A text longer than [`MAX_TEXT`].
    #[error("it holds a text of more than {MAX_TEXT} bytes")]
    TooLong,
    /// A table or an array with more than [`MAX_MEMBERS`].
    #[error("it has more than {MAX_MEMBERS} members")]
    TooManyMembers,
    /// A text with a NUL.
    #[error("it holds a NUL character, which no program can be given")]
    Nul,
}

impl Reason {
    /// What a person can do about it.
    pub fn way_out(&self) -> Option<String> {
        let text = match self {
            Self::NotUtf8 => "save it as UTF-8",
            Self::Syntax(_) => {
                "take the whole file: TOML with `[mcp_servers.NAME]`, or JSON with `{ \"mcpServers\": { … } }` around the servers"
            }
            Self::DuplicateKey | Self::Ambiguous(..) | Self::Contradicts(_) => "keep one of them",
            Self::NoServers => {
                "it must have `[mcp_servers.NAME]` (TOML), or `mcpServers`, `servers` or `mcp.servers` (JSON)"
            }
            Self::NoName => "put `{ \"mcpServers\": { \"NAME\": … } }` around it",
            Self::BadName => "use ASCII letters, digits and `_ : @ / . -`",
            Self::Null => "leave the key out",
            Self::Sse => {
                "ask the server's documentation for its streamable HTTP address, often `/mcp` in place of `/sse`"
            }
            Self::UnknownType => "use `command` (stdio) or `url` (streamable HTTP)",
            Self::Expansion => {
                "write the value itself; or, for a program, let a shell expand it: `command = \"sh\"`, `args = [\"-c\", \"exec PROGRAM \\\"$VAR\\\"\"]`, `env_vars = [\"VAR\"]`"
            }
            Self::Tilde => "write the whole path",
            Self::Renamed(_) => {
                "name the same variable on both sides and set it before Codex starts"
            }
            Self::Shared { .. } => {
                "import them apart, and let a shell rename one: `command = \"sh\"`, `args = [\"-c\", \"VAR=\\\"$OTHER\\\" exec PROGRAM\"]`, `env_vars = [\"OTHER\"]`"
            }
            Self::SecretInArgs => {
                "see whether the program reads a variable itself (`docker run -e NAME` hands one on), or let a shell put it in: `command = \"sh\"`, `args = [\"-c\", \"exec PROGRAM --token \\\"$TOKEN\\\"\"]`, `env_vars = [\"TOKEN\"]`"
            }
            Self::SecretInUrl => {
                "see whether the server takes it in a header: `bearer_token_env_var` or `env_http_headers`"
            }
            Self::SecretInValue => "add this key by hand, in your own Codex home",
            Self::NotVariable => {
                "put the value into a variable and write that variable's name here"
            }
            Self::EnvFile => "name its variables in `env_vars`, and set them before Codex starts",
            Self::ForeignKey(_) => "use Codex's key",
            Self::Untranslatable => "take it out if the server works without it",
            Self::TypeDisagrees => "keep the keys of one transport",
            Self::TooDeep
            | Self::TooManyServers
            | Self::TooLong
            | Self::TooManyMembers
            | Self::NotTable(_)
            | Self::Refused(_)
            | Self::Nul => return None,
        };
        Some(text.to_owned())
    }
}

/// Something wrong at a place, before the file's name and lines are known.
#[derive(Debug)]
struct Fault {
    span: Option<Span>,
    server: Option<String>,
    key: Vec<String>,
    reason: Box<Reason>,
}

impl Fault {
    fn file(span: Option<Span>, reason: Reason) -> Self {
        Self {
            span,
            server: None,
            key: vec![],
            reason: Box::new(reason),
        }
    }
}

/// Whose rules a file follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// Codex's own: a `$` is a `$`.
    Codex,
    /// Another client's: `${VAR}` means a variable.
    Other,
}

/// Reads servers out of a file's content. `file` is its name, for messages and for its extension.
///
/// # Errors
/// The file is no TOML or JSON with servers, or one of them cannot be had in Codex as it is meant.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Imported, Error> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(place(file, "", Fault::file(None, Reason::NotUtf8)));
    };
    read(text, is_json(file, text)).map_err(|fault| place(file, text, fault))
}

fn place(file: &str, text: &str, fault: Fault) -> Error {
    Error {
        file: file.to_owned(),
        place: fault
            .span
            .map(|span| (span, LineIndex::new(text).locate(text, span.start))),
        server: fault.server,
        key: fault.key,
        reason: fault.reason,
    }
}

/// A TOML text cannot begin with `{` or `/`; else the name decides.
fn is_json(file: &str, text: &str) -> bool {
    let body = text.trim_start_matches('\u{feff}').trim_start();
    let extension = std::path::Path::new(file)
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default()
        .to_ascii_lowercase();
    body.starts_with(['{', '/']) || matches!(extension.as_str(), "json" | "jsonc" | "json5")
}

/// The servers' table and what else stands in the file.
struct Found<'a> {
    servers: &'a Node,
    dialect: Dialect,
    inputs: HashMap<&'a str, &'a str>,
    others: Vec<&'a str>,
}

fn read(text: &str, json: bool) -> Result<Imported, Fault> {
    if json {
        let json = json::parse(text).map_err(|(span, reason)| Fault::file(Some(span), reason))?;
        let found = find_in_json(&json.root)?;
        let inside = |span: &&Span| found.servers.span.contains(**span);
        if let Some(span) = json.nulls.iter().find(inside) {
            return Err(Fault::file(Some(*span), Reason::Null));
        }
        translate_all(&found)
    } else {
        let document = Document::parse(text).map_err(|error| {
            Fault::file(Some(error.span), Reason::Syntax(error.message.clone()))
        })?;
        translate_all(&find_in_toml(document.root())?)
    }
}

fn find_in_toml(root: &Node) -> Result<Found<'_>, Fault> {
    let servers = root.child("mcp_servers").ok_or_else(|| {
        match root.child("mcpServers").or(root.child("mcp-servers")) {
            Some(other) => Fault::file(Some(other.key), Reason::ForeignKey("mcp_servers")),
            None => Fault::file(None, Reason::NoServers),
        }
    })?;
    let members = root.as_table().into_iter().flatten();
    Ok(Found {
        servers,
        dialect: Dialect::Codex,
        inputs: HashMap::new(),
        others: members
            .map(|(name, _)| name.as_str())
            .filter(|name| *name != "mcp_servers")
            .collect(),
    })
}

fn find_in_json(root: &Node) -> Result<Found<'_>, Fault> {
    let Some(members) = root.as_table() else {
        return Err(Fault::file(Some(root.span), Reason::NoServers));
    };
    let nested = root.child("mcp").and_then(|mcp| mcp.child("servers"));
    let shapes = [
        ("mcpServers", root.child("mcpServers")),
        ("servers", root.child("servers")),
        ("mcp.servers", nested.or(root.child("mcp.servers"))),
        ("mcp_servers", root.child("mcp_servers")),
    ];
    let mut present = shapes
        .iter()
        .filter_map(|(name, node)| node.map(|node| (*name, node)));
    let Some((name, servers)) = present.next() else {
        return find_bare(root, members);
    };
    if let Some((second, node)) = present.next() {
        let reason = Reason::Ambiguous(name, second);
        return Err(Fault::file(Some(node.key), reason));
    }
    let inputs = root
        .child("inputs")
        .or(root.child("mcp").and_then(|mcp| mcp.child("inputs")));
    let top = name.split('.').next().unwrap_or(name);
    Ok(Found {
        servers,
        dialect: if name == "mcp_servers" {
            Dialect::Codex
        } else {
            Dialect::Other
        },
        inputs: inputs.map(read_inputs).unwrap_or_default(),
        others: members
            .keys()
            .map(String::as_str)
            .filter(|key| *key != name && *key != top && !matches!(*key, "inputs" | "$schema"))
            .collect(),
    })
}

/// `{ "NAME": { "command": … } }`: only when every member is plainly a server.
fn find_bare<'a>(root: &'a Node, members: &'a IndexMap<String, Node>) -> Result<Found<'a>, Fault> {
    const TRANSPORTS: [&str; 4] = ["command", "url", "serverUrl", "httpUrl"];
    let is_server = |node: &Node| {
        TRANSPORTS.iter().any(|key| {
            node.child(key)
                .is_some_and(|value| value.as_str().is_some())
        })
    };
    if is_server(root) {
        return Err(Fault::file(Some(root.span), Reason::NoName));
    }
    if members.is_empty() || !members.values().all(is_server) {
        return Err(Fault::file(Some(root.span), Reason::NoServers));
    }
    Ok(Found {
        servers: root,
        dialect: Dialect::Other,
        inputs: HashMap::new(),
        others: vec![],
    })
}

/// What each input of VS Code is described as.
fn read_inputs(inputs: &Node) -> HashMap<&str, &str> {
    let items = inputs.as_array().unwrap_or_default();
    items
        .iter()
        .filter_map(|input| {
            let id = input.child("id")?.as_str()?;
            let says = input.child("description").and_then(Node::as_str);
            Some((id, says.unwrap_or_default()))
        })
        .collect()
}

fn translate_all(found: &Found<'_>) -> Result<Imported, Fault> {
    let Some(members) = found.servers.as_table() else {
        let reason = Reason::NotTable(kind(found.servers));
        return Err(Fault::file(Some(found.servers.span), reason));
    };
    if members.is_empty() {
        return Err(Fault::file(Some(found.servers.span), Reason::NoServers));
    }
    if members.len() > MAX_SERVERS {
        let span = Some(found.servers.span);
        return Err(Fault::file(span, Reason::TooManyServers));
    }
    let mut imported = Imported {
        servers: Vec::with_capacity(members.len()),
        notes: others_note(&found.others).into_iter().collect(),
    };
    let mut taken = variables::Variables::default();
    members.values().for_each(|node| taken.collect(node));
    for (name, node) in members {
        let wrong = |reason| Fault {
            key: vec![name.clone()],
            ..Fault::file(Some(node.key), reason)
        };
        if !server::is_valid_name(name) {
            return Err(wrong(Reason::BadName));
        }
        if node.as_table().is_none() {
            return Err(wrong(Reason::NotTable(kind(node))));
        }
        let context = translate::Context {
            name,
            node,
            dialect: found.dialect,
            inputs: &found.inputs,
        };
        let (values, notes) = translate::server(&context, &mut taken).map_err(|mut fault| {
            fault.server = Some(name.clone());
            fault.span = fault.span.or(Some(node.key));
            fault
        })?;
        imported.servers.push(WantedServer {
            name: name.clone(),
            values,
        });
        imported.notes.extend(notes);
    }
    Ok(imported)
}

/// What else the file has, in one note however much it is.
fn others_note(others: &[&str]) -> Option<Note> {
    const SHOWN: usize = 5;
    let (first, rest) = others.split_at(others.len().min(SHOWN));
    let mut names: Vec<String> = first.iter().map(|name| format!("`{name}`")).collect();
    if !rest.is_empty() {
        names.push(format!("{} more", rest.len()));
    }
    (!names.is_empty()).then(|| Note {
        server: None,
        kind: NoteKind::Dropped,
        text: format!("only servers are taken, not {}", names.join(", ")),
    })
}

fn kind(node: &Node) -> &'static str {
    match &node.data {
        Data::String(_) => "a string",
        Data::Integer(_) | Data::Float(_) => "a number",
        Data::Boolean(_) => "a boolean",
        Data::Datetime(_) => "a date",
        Data::Array(_) => "an array",
        Data::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests;
