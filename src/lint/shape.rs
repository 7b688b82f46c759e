//! Lays a file beside [`crate::codex::keys`] and tells every place where the two differ.
//!
//! [`crate::codex::check`] gives Codex's own verdict, which is the first thing that it refuses.
//! People want all of them, on the value itself, and apart by kind: an unknown key, a value of
//! another type, a word that is not known. What this walk does not see and Codex still refuses is
//! reported at the place that Codex points at, so no file passes here that stops Codex.
//!
//! It leaves to other rules what they say better: how a server is reached, what a granular policy
//! lacks, which approval policies are gone, and hooks.

use crate::codex::check;
use crate::codex::effective::is_denied_in_projects;
use crate::codex::features::{self, Shape};
use crate::codex::keys::{Array, Key, ROOT, Rest, Table, Type};
use crate::codex::server::{self, ServerError};
use crate::codex::version::Version;
use crate::document::{Data, KeyPath, Node};

use super::file::{ConfigFile, text, word};

/// One difference.
#[derive(Debug, Clone)]
pub struct Fault<'a> {
    /// The value, or the table that lacks something.
    pub node: &'a Node,
    /// The path to it.
    pub path: Vec<&'a str>,
    /// What is wrong.
    pub what: What,
}

/// What is wrong with a value.
#[derive(Debug, Clone)]
pub enum What {
    /// The key is not known in its table.
    Unknown {
        /// Names that are known there.
        known: Vec<&'static str>,
        /// Whether Codex says nothing about it.
        silent: bool,
    },
    /// The value has another type.
    Type {
        /// What Codex wants, in words.
        wanted: &'static str,
    },
    /// The word is not among those that Codex knows.
    Word {
        /// Those.
        words: &'static [&'static str],
    },
    /// Codex refuses it for another reason.
    Refused {
        /// Why, in words.
        why: String,
    },
}

/// Every difference in `file`. Keys that Codex takes from no project are left out in one. Rules ask
/// [`ConfigFile::faults`], which keeps it.
pub fn faults<'a>(file: &ConfigFile<'a>) -> Vec<Fault<'a>> {
    let denied =
        |path: &[&str]| file.home().is_project() && is_denied_in_projects(path, file.version());
    let mut walk = Walk {
        version: file.version(),
        path: Vec::new(),
        found: Vec::new(),
    };
    let Some(members) = file.root().as_table() else {
        return Vec::new();
    };
    for (name, member) in members {
        if !denied(&[name]) {
            walk.member(name, member, &ROOT);
        }
    }
    let mut found = walk.found;
    found.retain(|fault| !denied(&fault.path));
    let sees = found
        .iter()
        .any(|fault| !matches!(fault.what, What::Unknown { .. }));
    if !sees
        && let Err(problem) = check::check(&file.root().value(), file.version())
        && let Some(fault) = unseen(file, &problem)
        && !denied(&fault.path)
    {
        found.push(fault);
    }
    found
}

/// The same for a file whose root is another table than config.toml's.
pub fn faults_of<'a>(file: &ConfigFile<'a>, table: &'static Table) -> Vec<Fault<'a>> {
    let mut walk = Walk {
        version: file.version(),
        path: Vec::new(),
        found: Vec::new(),
    };
    walk.table(file.root(), table);
    walk.found
}

/// Whether a value would be right as the root's key `name`.
pub fn fits_root(name: &str, node: &Node, file: &ConfigFile) -> bool {
    let mut walk = Walk {
        version: file.version(),
        path: Vec::new(),
        found: Vec::new(),
    };
    let Some(key) = ROOT.key(name) else {
        return false;
    };
    walk.value(node, &key.value);
    !walk
        .found
        .iter()
        .any(|fault| matches!(fault.what, What::Type { .. }))
}

/// Tables whose faults other rules tell.
const TOLD_ELSEWHERE: &[&str] = &["mcp_servers", "approval_policy", "hooks"];

fn unseen<'a>(file: &ConfigFile<'a>, problem: &check::Problem) -> Option<Fault<'a>> {
    let first = problem.path.parts().first()?;
    if TOLD_ELSEWHERE.contains(&first.as_str()) {
        return None;
    }
    let (mut node, mut path) = (file.root(), Vec::new());
    for part in problem.path.parts() {
        let Some((name, inner)) = node
            .as_table()
            .and_then(|members| members.get_key_value(part))
        else {
            break;
        };
        path.push(name.as_str());
        node = inner;
    }
    Some(Fault {
        node,
        path,
        what: What::Refused {
            why: problem.message.clone(),
        },
    })
}

struct Walk<'a> {
    version: Version,
    path: Vec<&'a str>,
    found: Vec<Fault<'a>>,
}

impl<'a> Walk<'a> {
    fn add(&mut self, node: &'a Node, what: What) {
        self.found.push(Fault {
            node,
            path: self.path.clone(),
            what,
        });
    }

    fn wants(&mut self, node: &'a Node, wanted: &'static str) {
        self.add(node, What::Type { wanted });
    }

    fn refuses(&mut self, node: &'a Node, why: impl Into<String>) {
        self.add(node, What::Refused { why: why.into() });
    }

    fn known(&self, table: &Table, name: &str) -> Option<&'static Key> {
        let known = |key: &&Key| key.is_known(self.version);
        table.key(name).filter(known)
    }

    fn member(&mut self, name: &'a str, node: &'a Node, table: &'static Table) {
        self.path.push(name);
        match (self.known(table, name), table.rest) {
            (Some(key), _) => self.value(node, &key.value),
            (None, Rest::Entries(each) | Rest::Each(each)) => self.value(node, each),
            (None, Rest::Warned) => self.unknown(node, names(table), false),
            (None, Rest::Silent | Rest::Strict) => self.unknown(node, names(table), true),
            (None, Rest::Refused) => self.refuses(node, "Codex knows no such key"),
        }
        self.path.pop();
    }

    fn unknown(&mut self, node: &'a Node, known: Vec<&'static str>, silent: bool) {
        self.add(node, What::Unknown { known, silent });
    }

    fn value(&mut self, node: &'a Node, wanted: &'static Type) {
        match wanted {
            Type::Text | Type::Path if text(node).is_none() => self.wants(node, "a string"),
            Type::Filled => match text(node) {
                None => self.wants(node, "a string"),
                Some("") => self.refuses(node, "it must not be empty"),
                Some(_) => {}
            },
            Type::Boolean if node.as_bool().is_none() => self.wants(node, "true or false"),
            Type::Integer(min, max) => match node.data {
                Data::Integer(number) if (*min..=*max).contains(&number) => {}
                Data::Integer(_) if *min > i64::MIN && *max == i64::MAX => {
                    self.refuses(node, format!("it must be at least {min}"));
                }
                Data::Integer(_) => self.refuses(node, format!("it must be {min} to {max}")),
                _ => self.wants(node, "an integer"),
            },
            Type::Word(words) => self.word(node, words),
            Type::List(inner) => match node.as_array() {
                Some(items) => items.iter().for_each(|item| self.value(item, inner)),
                None => self.wants(node, "an array"),
            },
            Type::Map(inner) => match node.as_table() {
                Some(members) => {
                    for (name, member) in members {
                        self.path.push(name);
                        self.value(member, inner);
                        self.path.pop();
                    }
                }
                None => self.wants(node, "a table"),
            },
            Type::Table(table) => self.table(node, table),
            Type::OneOf(types) => self.one_of(node, types),
            Type::Approval => self.approval(node),
            Type::Servers => self.servers(node),
            Type::Features => self.features(node),
            Type::AnyTable | Type::Hooks if node.as_table().is_none() => {
                self.wants(node, "a table");
            }
            Type::Text | Type::Path | Type::Boolean | Type::AnyTable | Type::Hooks | Type::Any => {}
        }
    }

    fn word(&mut self, node: &'a Node, words: &'static [&'static str]) {
        match word(node) {
            Some(word) if words.contains(&word) => {}
            Some(_) => self.add(node, What::Word { words }),
            None => self.wants(node, "a word"),
        }
    }

    fn table(&mut self, node: &'a Node, table: &'static Table) {
        if let Some(items) = node.as_array() {
            let fits = match table.array {
                Array::Refused => return self.wants(node, "a table"),
                Array::Short => items.len() <= table.keys.len(),
                Array::Whole => items.len() == table.keys.len(),
            };
            for (item, key) in items.iter().zip(table.keys) {
                self.value(item, &key.value);
            }
            if !fits {
                self.wants(node, "a table");
            }
            return;
        }
        let Some(members) = node.as_table() else {
            return self.wants(node, "a table");
        };
        for (name, member) in members {
            self.member(name, member, table);
        }
        for key in table.keys.iter().filter(|key| key.needed) {
            if !members.contains_key(key.name) {
                self.refuses(node, format!("`{}` is missing", key.name));
            }
        }
    }

    fn one_of(&mut self, node: &'a Node, types: &'static [Type]) {
        let before = self.found.len();
        for wanted in types {
            self.value(node, wanted);
            let refused = self.found[before..]
                .iter()
                .any(|fault| !matches!(fault.what, What::Unknown { .. }));
            // Codex reads such a value twice, and warns of nothing in it.
            self.found.truncate(before);
            if !refused {
                return;
            }
        }
        let words = types.iter().find_map(|wanted| match wanted {
            Type::Word(words) => Some(*words),
            _ => None,
        });
        match words {
            Some(words) if word(node).is_some() => self.add(node, What::Word { words }),
            _ => self.wants(node, "another type"),
        }
    }

    fn approval(&mut self, node: &'a Node) {
        // `untrusted` is another rule's, for the versions that refuse it.
        const WORDS: &[&str] = &["on-request", "never"];
        const READ: &[&str] = &["on-failure", "untrusted"];
        match word(node).filter(|_| node.child("granular").is_none()) {
            Some(word) if WORDS.contains(&word) || READ.contains(&word) => return,
            Some(_) => return self.add(node, What::Word { words: WORDS }),
            None => {}
        }
        let Some(members) = node.as_table() else {
            return self.wants(node, "a policy");
        };
        if members.len() != 1 || !members.contains_key("granular") {
            return self.refuses(node, "an approval policy has exactly one key, `granular`");
        }
        self.path.push("granular");
        match &members["granular"].data {
            Data::Table(granular) => {
                for (name, member) in granular {
                    let known = [
                        "sandbox_approval",
                        "rules",
                        "mcp_elicitations",
                        "request_permissions",
                        "skill_approval",
                    ];
                    if known.contains(&name.as_str()) {
                        self.path.push(name);
                        self.value(member, &Type::Boolean);
                        self.path.pop();
                    }
                }
            }
            Data::Array(items) => {
                for item in items {
                    self.value(item, &Type::Boolean);
                }
                if items.len() != 5 {
                    self.wants(&members["granular"], "a table");
                }
            }
            _ => self.wants(&members["granular"], "a table"),
        }
        self.path.pop();
    }

    fn servers(&mut self, node: &'a Node) {
        let Some(servers) = node.as_table() else {
            // A list is another tool's shape, which its own rule says.
            if node.as_array().is_none() {
                self.wants(node, "a table");
            }
            return;
        };
        for (name, server) in servers {
            self.path.push(name);
            self.server(server);
            self.path.pop();
        }
    }

    fn server(&mut self, node: &'a Node) {
        let value = node.value();
        let Some(members) = value.as_table() else {
            return self.wants(node, "a table");
        };
        let Err(error) = server::judge(members) else {
            return;
        };
        let place = error
            .path()
            .iter()
            .try_fold(node, |node, part| node.child(part))
            .unwrap_or(node);
        match error {
            ServerError::NoTransport
            | ServerError::BothTransports
            | ServerError::OtherTransport { .. }
            | ServerError::BearerToken => {}
            ServerError::WrongType { wanted, .. } => self.wants(place, wanted),
            ServerError::UnknownWord { words, .. } => self.add(place, What::Word { words }),
            other => self.refuses(place, other.to_string()),
        }
    }

    fn features(&mut self, node: &'a Node) {
        let Some(members) = node.as_table() else {
            return self.wants(node, "a table");
        };
        for (name, member) in members {
            self.path.push(name);
            let shape = features::feature_named(name).map_or(Shape::Switch, |found| found.shape);
            match (shape, &member.data) {
                (Shape::Switch | Shape::Either, Data::Boolean(_))
                | (Shape::Either | Shape::Table, Data::Table(_)) => {}
                (Shape::Table, _) => self.wants(member, "a table"),
                _ => self.wants(member, "true or false"),
            }
            if !features::is_known(name) {
                let known = features::FEATURES.iter().map(|found| found.name).collect();
                self.unknown(member, known, false);
            }
            self.path.pop();
        }
    }
}

fn names(table: &'static Table) -> Vec<&'static str> {
    table.keys.iter().map(|key| key.name).collect()
}

/// The path as people write it.
pub fn dotted(path: &[&str]) -> String {
    KeyPath::new(path.iter().copied()).to_string()
}
