//! The project's `.codex/codexgate.toml`, as far as it is about lint: its table `[lint]`.
//!
//! It decides what is silenced, so it is read strictly: an unknown key, a name that no rule has or
//! a value of a wrong type is an error, and nothing is judged then. Only the file of the
//! repository's top counts, since an agent in the sandbox may write a `.codex` further down.
//! `allow`, `confirm` and `deny` beside `[lint]` are for other commands and are not read here.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::registry::{self, RULES};
use super::{Severity, words};
use crate::codex::Site;
use crate::codex::site::DOT_CODEX;
use crate::document::{Data, Document, KeyPath, Node, Span};
use crate::files::{self, Found};

/// The file's name in the project's `.codex`.
pub const NAME: &str = "codexgate.toml";

/// Root keys of other commands.
pub const OTHERS: &[&str] = &["allow", "confirm", "deny"];
/// The keys of `[lint]`.
pub const KEYS: &[&str] = &[
    "select",
    "ignore",
    "severity",
    "per-path-ignores",
    "allowed-servers",
    "allowed-packages",
];

/// What the project asks of lint.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The rules that count; all, if not given.
    pub select: Option<Vec<&'static str>>,
    /// Rules that do not count.
    pub ignore: Vec<&'static str>,
    /// Rules with another severity.
    pub severity: Vec<(&'static str, Severity)>,
    /// Rules that do not count in some files.
    pub paths: Vec<PathIgnore>,
    /// Servers whose findings count as accepted, unless they are errors.
    pub servers: Vec<String>,
    /// Packages that need no pinned version.
    pub packages: Vec<String>,
}

/// Rules that do not count in the files of a pattern.
#[derive(Debug, Clone)]
pub struct PathIgnore {
    /// Paths from the repository's top; `*` and `?` match within one name, `**` any folders.
    pub pattern: GlobMatcher,
    /// The rules.
    pub rules: Vec<&'static str>,
}

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is there and cannot be read.
    #[error("cannot use `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<files::Error>,
    },
    /// It says something that is not known.
    #[error("{}", .wrong.message)]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// What and where.
        wrong: Wrong,
    },
}

/// What is wrong in a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The place.
    pub span: Span,
    /// What, as a phrase.
    pub message: String,
    /// The way out, if it is known.
    pub help: Option<String>,
}

impl Wrong {
    fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            help: None,
        }
    }

    fn near(mut self, near: Option<&str>) -> Self {
        self.help = near.map(|near| format!("did you mean `{near}`?"));
        self
    }
}

/// The project's file, where it is.
pub fn path(site: &Site) -> PathBuf {
    let top = site.git_root.as_deref().unwrap_or(&site.project);
    top.join(DOT_CODEX).join(NAME)
}

/// Reads the file at `path`. One that is not there asks for nothing.
///
/// # Errors
/// It cannot be read, is no TOML, or says something that is not known.
pub fn load(path: &Path) -> Result<Config, Error> {
    let bytes = match files::read(path, files::CONFIG_LIMIT) {
        Ok(Found::File(snapshot)) => snapshot.bytes,
        Ok(Found::Missing) => return Ok(Config::default()),
        Err(source) => {
            return Err(Error::Read {
                path: path.to_path_buf(),
                source: Box::new(source),
            });
        }
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let result = if text.as_bytes() == bytes {
        parse(&text)
    } else {
        Err(Wrong::new(Span::at(0), "this file is not UTF-8 text"))
    };
    result.map_err(|wrong| Error::Wrong {
        path: path.to_path_buf(),
        text,
        wrong,
    })
}

/// What `text` asks for.
///
/// # Errors
/// The first thing in it that is not known.
pub fn parse(text: &str) -> Result<Config, Wrong> {
    let document =
        Document::parse(text).map_err(|error| Wrong::new(error.span, error.message.clone()))?;
    let mut config = Config::default();
    for (key, node) in members(document.root(), "the file")? {
        if key == "lint" {
            lint(node, &mut config)?;
        } else if !OTHERS.contains(&key) {
            let near = words::closest(key, OTHERS.iter().copied().chain(["lint"]));
            return Err(unknown_key(node, key, near));
        }
    }
    Ok(config)
}

fn lint(node: &Node, config: &mut Config) -> Result<(), Wrong> {
    for (key, node) in members(node, "`lint`")? {
        match key {
            "select" => config.select = Some(rules(node)?),
            "ignore" => config.ignore = rules(node)?,
            "severity" => {
                for (name, node) in members(node, "`severity`")? {
                    config
                        .severity
                        .push((rule(name, node.key)?, severity(node)?));
                }
            }
            "per-path-ignores" => {
                for (glob, node) in members(node, "`per-path-ignores`")? {
                    config.paths.push(PathIgnore {
                        pattern: pattern(glob, node.key)?,
                        rules: rules(node)?,
                    });
                }
            }
            "allowed-servers" => config.servers = texts(node)?.map(|(t, _)| t.to_owned()).collect(),
            "allowed-packages" => {
                config.packages = texts(node)?.map(|(t, _)| t.to_owned()).collect();
            }
            _ => {
                return Err(unknown_key(
                    node,
                    key,
                    words::closest(key, KEYS.iter().copied()),
                ));
            }
        }
    }
    Ok(())
}

fn unknown_key(node: &Node, key: &str, near: Option<&str>) -> Wrong {
    let key = KeyPath::new([key]);
    Wrong::new(node.key, format!("`{key}` is no key of this file")).near(near)
}

fn members<'a>(
    node: &'a Node,
    name: &str,
) -> Result<impl Iterator<Item = (&'a str, &'a Node)>, Wrong> {
    let table = node
        .as_table()
        .ok_or_else(|| Wrong::new(node.span, format!("{name} is a table")))?;
    Ok(table.iter().map(|(key, node)| (key.as_str(), node)))
}

fn texts(node: &Node) -> Result<impl Iterator<Item = (&str, Span)>, Wrong> {
    let what = "this is a list of texts";
    let Data::Array(items) = &node.data else {
        return Err(Wrong::new(node.span, what));
    };
    if let Some(other) = items.iter().find(|item| item.as_str().is_none()) {
        return Err(Wrong::new(other.span, what));
    }
    Ok(items
        .iter()
        .filter_map(|item| Some((item.as_str()?, item.span))))
}

fn rules(node: &Node) -> Result<Vec<&'static str>, Wrong> {
    texts(node)?.map(|(name, span)| rule(name, span)).collect()
}

fn rule(name: &str, span: Span) -> Result<&'static str, Wrong> {
    registry::find(name).map(|rule| rule.id).ok_or_else(|| {
        let shown = crate::text::visible::visible(name);
        Wrong::new(span, format!("no rule is named `{shown}`"))
            .near(words::closest(name, RULES.iter().map(|rule| rule.id)))
    })
}

fn severity(node: &Node) -> Result<Severity, Wrong> {
    let known = [Severity::Error, Severity::Warning, Severity::Info];
    known
        .into_iter()
        .find(|severity| node.as_str() == Some(severity.name()))
        .ok_or_else(|| Wrong::new(node.span, "this is `error`, `warning` or `info`"))
}

fn pattern(glob: &str, span: Span) -> Result<GlobMatcher, Wrong> {
    GlobBuilder::new(glob)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| Wrong::new(span, format!("this is no pattern: {}", error.kind())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each text, and what is marked as wrong in it, if anything is.
    const TEXTS: &[(&str, Option<&str>)] = &[
        ("", None),
        ("allow = [\"ls\"]\n[deny]\nx = 1\n", None),
        (
            "[lint]\nselect = [\"syntax\"]\nignore = []\nseverity.launch-unpinned = \"error\"\n\
             allowed-servers = [\"docs\"]\nallowed-packages = [\"@a/b\"]\n\
             [lint.per-path-ignores]\n\"examples/**\" = [\"secret-inline\"]\n",
            None,
        ),
        ("lint = ", Some("")),
        ("lint = 1", Some("1")),
        ("[lnt]", Some("lnt")),
        ("[lint]\nselekt = []", Some("selekt")),
        ("[lint]\nselect = \"syntax\"", Some("\"syntax\"")),
        ("[lint]\nselect = [1]", Some("1")),
        ("[lint]\nselect = ['sintax']", Some("'sintax'")),
        ("[lint.severity]\nsyntax = 'fatal'", Some("'fatal'")),
        ("[lint.severity]\nsyn = 'error'", Some("syn")),
        ("[lint.per-path-ignores]\n'a[' = []", Some("'a['")),
        ("[lint.per-path-ignores]\na = ['b']", Some("'b'")),
        ("[lint]\nallowed-servers = [[]]", Some("[]")),
    ];

    #[test]
    fn what_is_not_known_is_an_error_at_its_place() {
        for (text, wrong) in TEXTS {
            let found = parse(text).err();
            let marked = found.as_ref().map(|wrong| &text[wrong.span.range()]);
            assert_eq!(marked, *wrong, "{text}\n{found:?}");
        }
    }

    #[test]
    fn a_name_that_is_nearly_right_gets_a_hint() {
        let wrong = parse("[lint]\nselect = ['sintax']").expect_err("no such rule");
        assert_eq!(wrong.help.as_deref(), Some("did you mean `syntax`?"));
        let wrong = parse("[lint]\nallowed_servers = []").expect_err("no such key");
        assert_eq!(
            wrong.help.as_deref(),
            Some("did you mean `allowed-servers`?")
        );
    }

    #[test]
    fn a_pattern_stays_within_a_folder_unless_it_says_otherwise() {
        let config = parse("[lint.per-path-ignores]\n'a/*.toml' = []\n'b/**' = []").expect("fine");
        let hits = |path: &str| -> Vec<bool> {
            let is = |entry: &PathIgnore| entry.pattern.is_match(path);
            config.paths.iter().map(is).collect()
        };
        assert_eq!(hits("a/x.toml"), [true, false]);
        assert_eq!(hits("a/b/x.toml"), [false, false]);
        assert_eq!(hits("b/.codex/config.toml"), [false, true]);
    }
}
