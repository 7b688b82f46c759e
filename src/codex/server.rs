//! What Codex does with one MCP server table, merged over all layers.
//!
//! [`KEYS`] is the table of keys and [`judge`] the rules on top of it. Both hold for Codex 0.171.0;
//! [`Key::since`] and [`NAME_RULES`] tell what older versions do otherwise. Codex checks types
//! first, meaning second, and one bad server stops all of Codex, a disabled one too (scenario
//! `mcp-bad-disabled`).
//!
//! `judge` promises the same verdict as Codex, not the same words, and says one thing where a
//! table has several faults. It does not know whether a server starts: an empty command or a
//! senseless URL loads fine (scenarios `mcp-command-empty`, `mcp-url-garbage`). Its errors name
//! keys and never quote a value, since values hold secrets.

use std::fmt;

use indexmap::IndexMap;

use crate::document::Value;

/// A version of Codex: major, minor, patch.
pub type Version = (u16, u16, u16);

/// How Codex talks to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    /// `command`: a program that speaks on its standard streams.
    Stdio,
    /// `url`: streamable HTTP. Codex has no other transport over HTTP; its errors call this one
    /// `streamable_http` (scenario `mcp-url-args`).
    Url,
}

impl Transport {
    /// The key that chooses it.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Stdio => "command",
            Self::Url => "url",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Stdio => "stdio",
            Self::Url => "HTTP",
        })
    }
}

/// What a key's value must be. A TOML date counts as a string wherever text stands
/// (scenario `shape-datetime-as-string`), not as a word of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    Text,
    /// `true` or `false`.
    Boolean,
    /// An integer or float, not negative, below 2^64; seconds.
    Seconds,
    /// An integer, not negative; milliseconds.
    Milliseconds,
    /// An array of strings.
    Texts,
    /// A table of strings.
    TextTable,
    /// One of these words.
    Word(&'static [&'static str]),
    /// An array of these words.
    Words(&'static [&'static str]),
    /// An array of names or of `{ name, source = "local" | "remote" }` without other keys.
    EnvVars,
    /// A table of tables with [`TOOL_KEYS`].
    Tools,
    /// A table with [`OAUTH_KEYS`].
    OAuth,
}

/// One key of a server table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value must be.
    pub kind: Kind,
    /// Whether a stdio server may have it; Codex refuses to start otherwise, even when it is empty.
    pub stdio: bool,
    /// Whether a URL server may have it.
    pub url: bool,
    /// The first version of those asked that knows the key; older ones ignore it. `None`: all of
    /// them know it.
    pub since: Option<Version>,
    /// The scenario that shows the type or the refusal, or the version it was seen on.
    pub source: &'static str,
}

impl Key {
    /// Whether a server with `transport` may have the key.
    pub const fn fits(&self, transport: Transport) -> bool {
        match transport {
            Transport::Stdio => self.stdio,
            Transport::Url => self.url,
        }
    }
}

/// How much a tool may do without a question. `writes` came with 0.147.
pub const APPROVAL_MODES: &[&str] = &["auto", "prompt", "writes", "approve"];

const fn both(name: &'static str, kind: Kind, source: &'static str) -> Key {
    Key {
        name,
        kind,
        stdio: true,
        url: true,
        since: None,
        source,
    }
}

const fn stdio(name: &'static str, kind: Kind, source: &'static str) -> Key {
    Key {
        url: false,
        ..both(name, kind, source)
    }
}

const fn url(name: &'static str, kind: Kind, source: &'static str) -> Key {
    Key {
        stdio: false,
        ..both(name, kind, source)
    }
}

const fn since(version: Version, key: Key) -> Key {
    Key {
        since: Some(version),
        ..key
    }
}

/// The keys that Codex knows in `[mcp_servers.NAME]`, sorted. It has one more that nobody found
/// yet; what is not here is ignored with a warning (scenario `mcp-unknown-keys`).
#[rustfmt::skip]
pub static KEYS: [Key; 29] = [
    stdio("args", Kind::Texts, "mcp-url-args"),
    since((0, 147, 0), url("auth", Kind::Word(&["oauth", "chatgpt", "ema_auth"]), "0.171.0")),
    // Refused on both, always: a token in a file (mcp-bearer-token-stdio, mcp-bearer-token-url).
    Key { stdio: false, url: false, ..both("bearer_token", Kind::Text, "mcp-bearer-token-url") },
    url("bearer_token_env_var", Kind::Text, "mcp-stdio-bearer-env"),
    stdio("command", Kind::Text, "mcp-command-array"),
    stdio("cwd", Kind::Text, "mcp-url-cwd"),
    both("default_tools_approval_mode", Kind::Word(APPROVAL_MODES), "mcp-approval-mode-bad"),
    both("disabled_tools", Kind::Texts, "mcp-tools-modes"),
    both("enabled", Kind::Boolean, "mcp-bad-disabled"),
    both("enabled_tools", Kind::Texts, "mcp-tools-modes"),
    stdio("env", Kind::TextTable, "mcp-url-env"),
    url("env_http_headers", Kind::TextTable, "mcp-stdio-env-headers"),
    stdio("env_vars", Kind::EnvVars, "mcp-url-env-vars"),
    both("environment_id", Kind::Text, "mcp-environment-unknown"),
    url("http_headers", Kind::TextTable, "mcp-stdio-headers"),
    since((0, 154, 0), url("http_headers_helper", Kind::Text, "0.171.0")),
    both("name", Kind::Text, "0.171.0"),
    url("oauth", Kind::OAuth, "mcp-oauth-stdio"),
    url("oauth_resource", Kind::Text, "0.171.0"),
    since((0, 147, 0), both("omit_tools_from", Kind::Words(&["code_mode", "deferred", "direct"]), "mcp-startup-readiness")),
    both("required", Kind::Boolean, "mcp-required-missing"),
    both("scopes", Kind::Texts, "0.171.0"),
    since((0, 160, 1), both("startup_readiness", Kind::Word(&["connection", "catalog"]), "mcp-startup-readiness")),
    both("startup_timeout_ms", Kind::Milliseconds, "mcp-timeout-ms"),
    both("startup_timeout_sec", Kind::Seconds, "mcp-timeout-negative"),
    both("supports_parallel_tool_calls", Kind::Boolean, "mcp-startup-readiness"),
    both("tool_timeout_sec", Kind::Seconds, "mcp-timeouts"),
    both("tools", Kind::Tools, "mcp-tools-modes"),
    url("url", Kind::Text, "mcp-both-transports"),
];

/// The keys of `[mcp_servers.NAME.tools.TOOL]` in Codex's own order, which counts where the table
/// is written as an array. Unknown ones are ignored (scenario `mcp-tool-unknown-key`);
/// `output_token_limit` must be a positive integer (seen on 0.171.0).
pub static TOOL_KEYS: [&str; 2] = ["approval_mode", "output_token_limit"];

/// The keys of `[mcp_servers.NAME.oauth]` in Codex's own order, as above.
pub static OAUTH_KEYS: [&str; 6] = [
    "client_id",
    "client_secret",
    "token_endpoint_auth_method",
    "authorization_server_issuer",
    "callback_port",
    "callback_url",
];

/// How a client shows its secret.
pub const OAUTH_METHODS: &[&str] = &["client_secret_basic", "client_secret_post"];

/// The key named `name`.
pub fn key(name: &str) -> Option<&'static Key> {
    KEYS.binary_search_by(|key| key.name.cmp(name))
        .ok()
        .map(|at| &KEYS[at])
}

/// Which names a range of versions can start, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameRule {
    /// The first version of those asked that follows it.
    pub since: Version,
    /// What a name may hold besides ASCII letters and digits.
    pub marks: &'static str,
}

/// A name outside the rule loads and is listed as enabled; a thread then fails to start it
/// (scenarios `mcp-name-space`, `mcp-name-unicode`, `mcp-name-empty`, `mcp-name-dollar`). Length
/// does not matter (`mcp-name-long`).
pub static NAME_RULES: [NameRule; 2] = [
    // mcp-name-dots, mcp-name-slash, mcp-name-colon
    NameRule {
        since: (0, 154, 0),
        marks: "_:@/.-",
    },
    // The same scenarios on 0.134 and 0.147.
    NameRule {
        since: (0, 134, 0),
        marks: "_-",
    },
];

impl NameRule {
    /// Whether a server of this name can be started.
    pub fn allows(&self, name: &str) -> bool {
        !name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || self.marks.contains(letter))
    }
}

/// Whether Codex 0.171.0 can start a server of this name: `^[a-zA-Z0-9_:@/.-]+$`.
pub fn is_valid_name(name: &str) -> bool {
    NAME_RULES[0].allows(name)
}

/// Whether every version that was asked (from 0.134 on) can start a server of this name.
pub fn is_valid_name_everywhere(name: &str) -> bool {
    NAME_RULES.iter().all(|rule| rule.allows(name))
}

/// Why Codex refuses a server table, and with it the whole configuration. Paths lie below the
/// server's table: `["env", "PORT"]`, array elements by their index.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// Neither `command` nor `url` (scenarios `mcp-no-transport`, `mcp-disable-undefined`).
    #[error("it has neither `command` nor `url`")]
    NoTransport,
    /// Both (scenarios `mcp-both-transports`, `mcp-merge-command-url`).
    #[error("it has both `command` and `url`")]
    BothTransports,
    /// A key of the other transport, be it empty (scenarios `mcp-url-args`, `mcp-stdio-headers`).
    #[error("`{key}` is not for a server with `{}`", transport.key())]
    OtherTransport {
        /// The key.
        key: &'static str,
        /// What the server has.
        transport: Transport,
    },
    /// `bearer_token`, on either transport (scenarios `mcp-bearer-token-url`,
    /// `mcp-bearer-token-stdio`).
    #[error("Codex takes no `bearer_token`, only `bearer_token_env_var`")]
    BearerToken,
    /// A value of the wrong type (scenarios `mcp-args-string`, `mcp-env-number`).
    #[error("`{}` must be {wanted}, not {found}", path.join("."))]
    WrongType {
        /// Where.
        path: Vec<String>,
        /// The type that Codex wants, in words.
        wanted: &'static str,
        /// The type that is there, in words.
        found: &'static str,
    },
    /// A word that Codex does not know (scenario `mcp-approval-mode-bad`).
    #[error("`{}` must be one of {}", path.join("."), quoted(words))]
    UnknownWord {
        /// Where.
        path: Vec<String>,
        /// The words it knows.
        words: &'static [&'static str],
    },
    /// A number out of range (scenario `mcp-timeout-negative`).
    #[error("`{}` must be {wanted}", path.join("."))]
    OutOfRange {
        /// Where.
        path: Vec<String>,
        /// The range in words.
        wanted: &'static str,
    },
    /// An array in place of a table, with more elements than the table has keys.
    #[error("`{}` has too many elements", path.join("."))]
    TooMany {
        /// Where.
        path: Vec<String>,
    },
    /// Empty text in a place where Codex wants some.
    #[error("`{}` must not be empty", path.join("."))]
    Empty {
        /// Where.
        path: Vec<String>,
    },
    /// A negative number of seconds, which Codex sees when it has read the table (scenario
    /// `mcp-timeout-negative`).
    #[error("`{}` must be a number of seconds, 0 or more", path.join("."))]
    Negative {
        /// Where.
        path: Vec<String>,
    },
    /// A key that needs another one (scenario `mcp-oauth-secret-alone`).
    #[error("`{}` needs `{needs}`", path.join("."))]
    Needs {
        /// Where.
        path: Vec<String>,
        /// What it needs.
        needs: &'static str,
    },
}

fn quoted(words: &[&str]) -> String {
    words
        .iter()
        .map(|word| format!("`{word}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

impl ServerError {
    /// Where below the server's table the fault lies: empty when it is the table as a whole.
    pub fn path(&self) -> Vec<&str> {
        match self {
            Self::NoTransport => vec![],
            Self::BothTransports => vec!["url"],
            Self::OtherTransport { key, .. } => vec![key],
            Self::BearerToken => vec!["bearer_token"],
            Self::WrongType { path, .. }
            | Self::UnknownWord { path, .. }
            | Self::OutOfRange { path, .. }
            | Self::TooMany { path }
            | Self::Negative { path }
            | Self::Empty { path }
            | Self::Needs { path, .. } => path.iter().map(String::as_str).collect(),
        }
    }
}

/// Says what Codex does with a server table that has these members.
///
/// # Errors
/// Codex does not start with it.
pub fn judge(members: &IndexMap<String, Value>) -> Result<Transport, ServerError> {
    for (name, value) in members {
        if let Some(key) = key(name) {
            check(key.kind, value, &Path::Root(name))?;
        }
    }
    // What Codex decides on the table as a whole comes after all types.
    let transport = match (members.get("command"), members.get("url")) {
        (None, None) => return Err(ServerError::NoTransport),
        (Some(_), Some(_)) => return Err(ServerError::BothTransports),
        (Some(_), None) => Transport::Stdio,
        (None, Some(_)) => Transport::Url,
    };
    if members.contains_key("bearer_token") {
        return Err(ServerError::BearerToken);
    }
    for key in &KEYS {
        if !key.fits(transport) && members.contains_key(key.name) {
            return Err(ServerError::OtherTransport {
                key: key.name,
                transport,
            });
        }
    }
    if text(members.get("http_headers_helper")).is_some_and(|helper| helper.trim().is_empty()) {
        return Err(ServerError::Empty {
            path: vec!["http_headers_helper".into()],
        });
    }
    check_oauth_meaning(members)?;
    Ok(transport)
}

/// The value of the key `name` in the form in which Codex merges and lists it: a word written as a
/// table is a string, a table written as an array is a table, a date is a string. A value that is
/// wrong stays as it is.
pub fn spelled(name: &str, value: &Value) -> Value {
    key(name).map_or_else(|| value.clone(), |key| spelled_as(key.kind, value))
}

/// All members of a server's table in that form.
pub fn spelled_all(server: &Value) -> Value {
    map_members(server, spelled)
}

fn spelled_as(kind: Kind, value: &Value) -> Value {
    match (kind, value) {
        (Kind::Text, Value::Datetime(text)) => Value::String(text.clone()),
        (Kind::Word(_), Value::Table(members)) => match members.first() {
            Some((word, _)) if members.len() == 1 => Value::String(word.clone()),
            _ => value.clone(),
        },
        (Kind::Texts, Value::Array(items)) => Value::Array(
            items
                .iter()
                .map(|item| spelled_as(Kind::Text, item))
                .collect(),
        ),
        (Kind::Words(words), Value::Array(items)) => Value::Array(
            items
                .iter()
                .map(|item| spelled_as(Kind::Word(words), item))
                .collect(),
        ),
        (Kind::TextTable, Value::Table(_)) => {
            map_members(value, |_, value| spelled_as(Kind::Text, value))
        }
        (Kind::Tools, Value::Table(_)) => map_members(value, |_, tool| {
            map_members(&as_table(&TOOL_KEYS, tool), |name, value| match name {
                "approval_mode" => spelled_as(Kind::Word(APPROVAL_MODES), value),
                _ => value.clone(),
            })
        }),
        (Kind::OAuth, _) => map_members(&as_table(&OAUTH_KEYS, value), |name, value| match name {
            "token_endpoint_auth_method" => spelled_as(Kind::Word(OAUTH_METHODS), value),
            _ => spelled_as(Kind::Text, value),
        }),
        _ => value.clone(),
    }
}

fn map_members(table: &Value, each: impl Fn(&str, &Value) -> Value) -> Value {
    match table {
        Value::Table(members) => Value::Table(
            members
                .iter()
                .map(|(name, value)| (name.clone(), each(name, value)))
                .collect(),
        ),
        other => other.clone(),
    }
}

/// A table that is written as an array, as a table.
fn as_table(keys: &[&str], value: &Value) -> Value {
    match value {
        Value::Array(items) if items.len() <= keys.len() => Value::Table(
            keys.iter()
                .zip(items)
                .map(|(key, item)| ((*key).to_owned(), item.clone()))
                .collect(),
        ),
        other => other.clone(),
    }
}

/// The members that Codex ignores with a warning, in their order, those of `oauth` and `tools`
/// too. `--strict-config` makes them errors (scenario `mcp-unknown-keys-strict`).
pub fn unknown_keys(members: &IndexMap<String, Value>) -> Vec<Vec<&str>> {
    let mut found = vec![];
    for (name, value) in members {
        match (key(name).map(|key| key.kind), value) {
            (None, _) => found.push(vec![name.as_str()]),
            (Some(Kind::OAuth), Value::Table(inner)) => {
                found.extend(
                    inner
                        .keys()
                        .filter(|inner| !OAUTH_KEYS.contains(&inner.as_str()))
                        .map(|inner| vec![name.as_str(), inner]),
                );
            }
            (Some(Kind::Tools), Value::Table(tools)) => {
                for (tool, value) in tools {
                    let keys = value.as_table().into_iter().flat_map(IndexMap::keys);
                    found.extend(
                        keys.filter(|inner| !TOOL_KEYS.contains(&inner.as_str()))
                            .map(|inner| vec![name.as_str(), tool, inner]),
                    );
                }
            }
            _ => {}
        }
    }
    found
}

/// A path on the stack: made into strings only when something is wrong.
enum Path<'a> {
    Root(&'a str),
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl Path<'_> {
    fn parts(&self) -> Vec<String> {
        let (mut parts, last) = match self {
            Self::Root(name) => (vec![], (*name).to_owned()),
            Self::Key(above, name) => (above.parts(), (*name).to_owned()),
            Self::Index(above, index) => (above.parts(), index.to_string()),
        };
        parts.push(last);
        parts
    }

    fn wrong(&self, wanted: &'static str, found: &Value) -> ServerError {
        ServerError::WrongType {
            path: self.parts(),
            wanted,
            found: match found {
                Value::String(_) => "a string",
                Value::Integer(_) => "an integer",
                Value::Float(_) => "a float",
                Value::Boolean(_) => "a boolean",
                Value::Datetime(_) => "a date",
                Value::Array(_) => "an array",
                Value::Table(_) => "a table",
            },
        }
    }

    fn range(&self, wanted: &'static str) -> ServerError {
        ServerError::OutOfRange {
            path: self.parts(),
            wanted,
        }
    }
}

fn text(value: Option<&Value>) -> Option<&str> {
    match value? {
        Value::String(text) | Value::Datetime(text) => Some(text),
        _ => None,
    }
}

fn check(kind: Kind, value: &Value, at: &Path<'_>) -> Result<(), ServerError> {
    match kind {
        Kind::Text => check_text(value, at),
        Kind::Boolean => match value {
            Value::Boolean(_) => Ok(()),
            other => Err(at.wrong("`true` or `false`", other)),
        },
        Kind::Seconds => check_seconds(value, at),
        Kind::Milliseconds => match value {
            Value::Integer(0..) => Ok(()),
            Value::Integer(_) => Err(at.range("0 or more")),
            other => Err(at.wrong("an integer", other)),
        },
        Kind::Texts => each(value, at, "an array of strings", check_text),
        Kind::TextTable => each_member(value, at, "a table of strings", check_text),
        Kind::Word(words) => check_word(words, value, at),
        Kind::Words(words) => each(value, at, "an array of strings", |item, at| {
            check_word(words, item, at)
        }),
        Kind::EnvVars => each(value, at, "an array", check_env_var),
        Kind::Tools => each_member(value, at, "a table of tables", |tool, at| {
            let checks: [Check; 2] = [&|v, at| check_word(APPROVAL_MODES, v, at), &check_limit];
            check_struct(&TOOL_KEYS, &checks, tool, at)
        }),
        Kind::OAuth => {
            let method: Check = &|v, at| check_word(OAUTH_METHODS, v, at);
            let checks: [Check; 6] = [
                &check_text,
                &check_text,
                method,
                &check_text,
                &check_port,
                &check_text,
            ];
            check_struct(&OAUTH_KEYS, &checks, value, at)
        }
    }
}

fn check_text(value: &Value, at: &Path<'_>) -> Result<(), ServerError> {
    text(Some(value))
        .map(|_| ())
        .ok_or_else(|| at.wrong("a string", value))
}

/// Seen on 0.171.0: `nan`, `inf` and 2^64 or more are refused like negative numbers; minus zero
/// passes.
#[allow(clippy::cast_precision_loss)] // Codex reads an integer as a float, too
fn check_seconds(value: &Value, at: &Path<'_>) -> Result<(), ServerError> {
    let seconds = match value {
        Value::Float(seconds) => *seconds,
        Value::Integer(seconds) => *seconds as f64,
        other => return Err(at.wrong("a number", other)),
    };
    if (0.0..18_446_744_073_709_551_616.0).contains(&seconds) {
        Ok(())
    } else if seconds.is_finite() && seconds < 0.0 {
        Err(ServerError::Negative { path: at.parts() })
    } else {
        Err(at.range("a number of seconds, 0 or more"))
    }
}

fn check_port(value: &Value, at: &Path<'_>) -> Result<(), ServerError> {
    match value {
        Value::Integer(0..=65535) => Ok(()),
        Value::Integer(_) => Err(at.range("between 0 and 65535")),
        other => Err(at.wrong("an integer", other)),
    }
}

fn check_limit(value: &Value, at: &Path<'_>) -> Result<(), ServerError> {
    match value {
        Value::Integer(1..) => Ok(()),
        Value::Integer(_) => Err(at.range("1 or more")),
        other => Err(at.wrong("an integer", other)),
    }
}

/// A word, or, as Codex's parser also takes it, a table of one empty table or array under the
/// word's name. A date is no word.
fn check_word(
    words: &'static [&'static str],
    value: &Value,
    at: &Path<'_>,
) -> Result<(), ServerError> {
    let word = match value {
        Value::String(word) => word,
        Value::Table(members) if members.len() == 1 => match members.get_index(0) {
            Some((word, Value::Table(inner))) if inner.is_empty() => word,
            Some((word, Value::Array(inner))) if inner.is_empty() => word,
            _ => return Err(at.wrong("a string", value)),
        },
        other => return Err(at.wrong("a string", other)),
    };
    if words.contains(&word.as_str()) {
        Ok(())
    } else {
        Err(ServerError::UnknownWord {
            path: at.parts(),
            words,
        })
    }
}

fn check_env_var(value: &Value, at: &Path<'_>) -> Result<(), ServerError> {
    const SOURCES: &[&str] = &["local", "remote"];
    const WANTED: &str = "a name or `{ name, source }`";
    if text(Some(value)).is_some() {
        return Ok(());
    }
    let Value::Table(members) = value else {
        return Err(at.wrong(WANTED, value));
    };
    let known = |name: &String| matches!(name.as_str(), "name" | "source");
    if text(members.get("name")).is_none() || !members.keys().all(known) {
        return Err(at.wrong(WANTED, value));
    }
    let Some(source) = members.get("source") else {
        return Ok(());
    };
    let at = Path::Key(at, "source");
    check_text(source, &at)?;
    // mcp-env-vars-bad-source
    match text(Some(source)) {
        Some(word) if SOURCES.contains(&word) => Ok(()),
        _ => Err(ServerError::UnknownWord {
            path: at.parts(),
            words: SOURCES,
        }),
    }
}

type Check<'a> = &'a dyn Fn(&Value, &Path<'_>) -> Result<(), ServerError>;

/// A table, or an array of the values in the order of the keys (scenario `sandbox-ww-array`).
fn check_struct(
    keys: &[&str],
    checks: &[Check],
    value: &Value,
    at: &Path<'_>,
) -> Result<(), ServerError> {
    match value {
        Value::Table(members) => {
            for (key, check) in keys.iter().zip(checks) {
                if let Some(value) = members.get(*key) {
                    check(value, &Path::Key(at, key))?;
                }
            }
            Ok(())
        }
        Value::Array(items) => {
            for (index, (value, check)) in items.iter().zip(checks).enumerate() {
                check(value, &Path::Index(at, index))?;
            }
            if items.len() > checks.len() {
                return Err(ServerError::TooMany { path: at.parts() });
            }
            Ok(())
        }
        other => Err(at.wrong("a table", other)),
    }
}

fn each(
    value: &Value,
    at: &Path<'_>,
    wanted: &'static str,
    check: impl Fn(&Value, &Path<'_>) -> Result<(), ServerError>,
) -> Result<(), ServerError> {
    let Value::Array(items) = value else {
        return Err(at.wrong(wanted, value));
    };
    items
        .iter()
        .enumerate()
        .try_for_each(|(index, item)| check(item, &Path::Index(at, index)))
}

fn each_member(
    value: &Value,
    at: &Path<'_>,
    wanted: &'static str,
    check: impl Fn(&Value, &Path<'_>) -> Result<(), ServerError>,
) -> Result<(), ServerError> {
    let Value::Table(members) = value else {
        return Err(at.wrong(wanted, value));
    };
    members
        .iter()
        .try_for_each(|(name, item)| check(item, &Path::Key(at, name)))
}

/// The rules between the keys of `oauth` and `auth`: scenario `mcp-oauth-secret-alone`, the others
/// seen on 0.171.0. Text of blanks counts as empty.
fn check_oauth_meaning(members: &IndexMap<String, Value>) -> Result<(), ServerError> {
    let Some(oauth) = members.get("oauth") else {
        return Ok(());
    };
    let member = |at: usize| match oauth {
        Value::Table(inner) => inner.get(OAUTH_KEYS[at]),
        Value::Array(items) => items.get(at),
        _ => None,
    };
    let path = |at: usize| vec!["oauth".to_owned(), OAUTH_KEYS[at].to_owned()];
    let needs = |at: usize, needs| ServerError::Needs {
        path: path(at),
        needs,
    };
    let blank = |value: Option<&Value>| text(value).is_none_or(|text| text.trim().is_empty());
    let (id, secret, method, issuer) = (member(0), member(1), member(2), member(3));
    if secret.is_some() && blank(secret) {
        return Err(ServerError::Empty { path: path(1) });
    }
    if secret.is_some() && blank(id) {
        return Err(needs(1, "oauth.client_id"));
    }
    let ema = match members.get("auth") {
        Some(Value::String(word)) => word == "ema_auth",
        Some(Value::Table(inner)) => inner.contains_key("ema_auth"),
        _ => false,
    };
    if issuer.is_some() && !ema {
        return Err(needs(3, "auth = \"ema_auth\""));
    }
    if method.is_some() && !ema {
        return Err(needs(2, "auth = \"ema_auth\""));
    }
    if method.is_some() && secret.is_none() {
        return Err(needs(2, "oauth.client_secret"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    /// The members of `[mcp_servers.a]` in a config written as in the scenarios.
    fn members(text: &str) -> IndexMap<String, Value> {
        let document = Document::parse(text).expect("the scenario's TOML parses");
        let value = document.root().value();
        value
            .get(&["mcp_servers", "a"])
            .and_then(Value::as_table)
            .expect("a server")
            .clone()
    }

    fn judged(text: &str) -> Result<Transport, String> {
        judge(&members(text)).map_err(|error| error.to_string())
    }

    const STDIO: &str = "[mcp_servers.a]\ncommand = \"true\"\n";
    const URL: &str = "[mcp_servers.a]\nurl = \"http://127.0.0.1:1/mcp\"\n";

    #[test]
    fn the_table_is_sorted_and_each_key_names_its_scenario() {
        assert!(KEYS.windows(2).all(|pair| pair[0].name < pair[1].name));
        assert!(
            KEYS.iter()
                .all(|key| key.source.starts_with("mcp-") || key.source == "0.171.0")
        );
        assert_eq!(key("url").map(|key| key.stdio), Some(false));
        assert_eq!(key("headers"), None);
    }

    /// Each scenario named `mcp-*` that loads.
    #[test]
    fn what_loads_in_the_scenarios_loads_here() {
        for (scenario, text, transport) in [
            (
                "mcp-command-empty",
                "[mcp_servers.a]\ncommand = \"\"\n",
                Transport::Stdio,
            ),
            (
                "mcp-disabled-true",
                "[mcp_servers.a]\ncommand = \"true\"\ndisabled = true\n",
                Transport::Stdio,
            ),
            (
                "mcp-dotted-keys",
                "mcp_servers.a.command = \"true\"\nmcp_servers.a.args = [\"x\"]\n",
                Transport::Stdio,
            ),
            (
                "mcp-env-not-expanded",
                "[mcp_servers.a]\ncommand = \"$HOME/bin/x\"\nargs = [\"${FOO}\"]\nenv = { A = \"$HOME\" }\ncwd = \"~/x\"\n",
                Transport::Stdio,
            ),
            (
                "mcp-env-vars-table",
                "[mcp_servers.a]\ncommand = \"true\"\nenv_vars = [\"A\", { name = \"B\" }, { name = \"C\", source = \"local\" }, { name = \"D\", source = \"remote\" }]\n",
                Transport::Stdio,
            ),
            (
                "mcp-environment-unknown",
                "[mcp_servers.a]\ncommand = \"true\"\nenvironment_id = \"nowhere\"\n",
                Transport::Stdio,
            ),
            (
                "mcp-inline-root",
                "mcp_servers = { a = { command = \"true\" } }\n",
                Transport::Stdio,
            ),
            (
                "mcp-managed-disables, mcp-project-disables-user, merged",
                "[mcp_servers.a]\ncommand = \"true\"\nenabled = false\n",
                Transport::Stdio,
            ),
            (
                "mcp-merge-completes, mcp-merge-array-replaced, merged",
                "[mcp_servers.a]\nargs = [\"x\"]\ncommand = \"true\"\n",
                Transport::Stdio,
            ),
            (
                "mcp-merge-user-project, mcp-merge-swap-command, merged",
                "[mcp_servers.a]\ncommand = \"true\"\nargs = [\"p\"]\nenv = { A = \"1\", B = \"2\" }\nenabled = false\n",
                Transport::Stdio,
            ),
            (
                "mcp-missing-program, mcp-required-missing",
                "[mcp_servers.a]\ncommand = \"/nowhere\"\nrequired = true\n",
                Transport::Stdio,
            ),
            (
                "mcp-startup-readiness",
                "[mcp_servers.a]\ncommand = \"true\"\nstartup_readiness = \"catalog\"\nomit_tools_from = []\nsupports_parallel_tool_calls = true\n",
                Transport::Stdio,
            ),
            (
                "mcp-timeout-both",
                "[mcp_servers.a]\ncommand = \"true\"\nstartup_timeout_ms = 5000\nstartup_timeout_sec = 9\n",
                Transport::Stdio,
            ),
            (
                "mcp-timeout-ms",
                "[mcp_servers.a]\ncommand = \"true\"\nstartup_timeout_ms = 5000\n",
                Transport::Stdio,
            ),
            (
                "mcp-timeouts",
                "[mcp_servers.a]\ncommand = \"true\"\nstartup_timeout_sec = 5\ntool_timeout_sec = 7.5\n",
                Transport::Stdio,
            ),
            (
                "mcp-tool-unknown-key",
                "[mcp_servers.a]\ncommand = \"true\"\n[mcp_servers.a.tools.t]\napproval_mode = \"prompt\"\nenabled = false\n",
                Transport::Stdio,
            ),
            (
                "mcp-tools-modes",
                "[mcp_servers.a]\ncommand = \"true\"\nenabled_tools = [\"x\"]\ndisabled_tools = [\"y\"]\ndefault_tools_approval_mode = \"prompt\"\n[mcp_servers.a.tools.x]\napproval_mode = \"approve\"\n",
                Transport::Stdio,
            ),
            (
                "mcp-unknown-keys",
                "[mcp_servers.a]\ncommand = \"true\"\ntype = \"stdio\"\nheaders = { A = \"b\" }\ndisabled = true\nautoApprove = [\"x\"]\ntimeout = 5\n",
                Transport::Stdio,
            ),
            (
                "mcp-url-empty",
                "[mcp_servers.a]\nurl = \"\"\n",
                Transport::Url,
            ),
            (
                "mcp-url-garbage",
                "[mcp_servers.a]\nurl = \"not a url\"\n",
                Transport::Url,
            ),
        ] {
            assert_eq!(judged(text), Ok(transport), "{scenario}");
        }
    }

    /// Each scenario named `mcp-*` whose server table stops Codex.
    #[test]
    fn what_stops_codex_in_the_scenarios_is_refused_here() {
        for (scenario, text, says) in [
            (
                "mcp-approval-mode-bad",
                format!("{STDIO}default_tools_approval_mode = \"always\""),
                "`default_tools_approval_mode` must be one of `auto`, `prompt`, `writes`, `approve`",
            ),
            (
                "mcp-args-string",
                format!("{STDIO}args = \"a b\""),
                "`args` must be an array of strings, not a string",
            ),
            (
                "mcp-bad-disabled, mcp-both-transports, mcp-merge-command-url, mcp-error-position",
                format!("{URL}command = \"true\"\nenabled = false"),
                "it has both `command` and `url`",
            ),
            (
                "mcp-bearer-token-stdio",
                format!("{STDIO}bearer_token = \"x\""),
                "Codex takes no `bearer_token`, only `bearer_token_env_var`",
            ),
            (
                "mcp-bearer-token-url",
                format!("{URL}bearer_token = \"x\""),
                "Codex takes no `bearer_token`, only `bearer_token_env_var`",
            ),
            (
                "mcp-command-array",
                "[mcp_servers.a]\ncommand = [\"true\", \"x\"]".into(),
                "`command` must be a string, not an array",
            ),
            (
                "mcp-disable-undefined",
                "[mcp_servers.a]\nenabled = false".into(),
                "it has neither `command` nor `url`",
            ),
            (
                "mcp-env-number",
                format!("{STDIO}env = {{ PORT = 8080 }}"),
                "`env.PORT` must be a string, not an integer",
            ),
            (
                "mcp-env-vars-bad-source",
                format!("{STDIO}env_vars = [{{ name = \"C\", source = \"vault\" }}]"),
                "`env_vars.0.source` must be one of `local`, `remote`",
            ),
            (
                "mcp-no-transport",
                "[mcp_servers.a]\nargs = [\"x\"]".into(),
                "it has neither `command` nor `url`",
            ),
            (
                "mcp-oauth-secret-alone",
                format!("{URL}oauth = {{ client_secret = \"x\" }}"),
                "`oauth.client_secret` needs `oauth.client_id`",
            ),
            (
                "mcp-oauth-stdio",
                format!("{STDIO}oauth = {{ client_id = \"x\" }}"),
                "`oauth` is not for a server with `command`",
            ),
            (
                "mcp-stdio-bearer-env",
                format!("{STDIO}bearer_token_env_var = \"T\""),
                "`bearer_token_env_var` is not for a server with `command`",
            ),
            (
                "mcp-stdio-env-headers",
                format!("{STDIO}env_http_headers = {{ A = \"B\" }}"),
                "`env_http_headers` is not for a server with `command`",
            ),
            (
                "mcp-stdio-headers",
                format!("{STDIO}http_headers = {{ A = \"b\" }}"),
                "`http_headers` is not for a server with `command`",
            ),
            (
                "mcp-timeout-negative",
                format!("{STDIO}startup_timeout_sec = -1"),
                "`startup_timeout_sec` must be a number of seconds, 0 or more",
            ),
            (
                "mcp-timeout-string",
                format!("{STDIO}startup_timeout_sec = \"10s\""),
                "`startup_timeout_sec` must be a number, not a string",
            ),
            (
                "mcp-url-args",
                format!("{URL}args = []"),
                "`args` is not for a server with `url`",
            ),
            (
                "mcp-url-cwd",
                format!("{URL}cwd = \"/\""),
                "`cwd` is not for a server with `url`",
            ),
            (
                "mcp-url-env",
                format!("{URL}env = {{}}"),
                "`env` is not for a server with `url`",
            ),
            (
                "mcp-url-env-vars",
                format!("{URL}env_vars = [\"X\"]"),
                "`env_vars` is not for a server with `url`",
            ),
        ] {
            assert_eq!(judged(&text), Err(says.into()), "{scenario}");
        }
    }

    #[test]
    fn what_codex_ignores_is_listed() {
        let members = members(
            "[mcp_servers.a]\ncommand = \"true\"\ntype = \"stdio\"\nname = \"x\"\n\
             tools = { t = { approval_mode = \"auto\", enabled = false } }\noauth = { id = 1 }\n",
        );
        assert_eq!(
            unknown_keys(&members),
            [
                vec!["type"],
                vec!["tools", "t", "enabled"],
                vec!["oauth", "id"]
            ]
        );
    }

    #[test]
    fn names_follow_the_rule_of_each_version() {
        for good in [
            "docs",
            "a.b",
            "@scope/name",
            "a:b",
            "x-1_",
            &"x".repeat(200),
        ] {
            assert!(is_valid_name(good), "{good}");
        }
        for bad in ["", "a b", "é", "a$b", "a\n", "a\u{0}"] {
            assert!(!is_valid_name(bad), "{bad}");
        }
        assert!(is_valid_name_everywhere("docs-1_a"));
        assert!(!is_valid_name_everywhere("a.b"));
    }

    #[test]
    fn an_error_never_quotes_a_value() {
        for text in [
            format!("{URL}auth = \"s3cret\""),
            format!("{STDIO}args = [[\"s3cret\"]]"),
            format!("{STDIO}env_vars = [{{ name = \"A\", source = \"s3cret\" }}]"),
        ] {
            let says = judged(&text).expect_err("Codex refuses it");
            assert!(!says.contains("s3cret"), "{says}");
        }
    }
}
