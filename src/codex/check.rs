//! Checks a value of config.toml against the tables of [`super::keys`].
//!
//! The first thing that Codex refuses is a [`Problem`], with the key path that it points at. What
//! it ignores with a warning is another question ([`unknown`]): it is asked of each layer, the
//! check only of the merged result. The verdict is Codex's; the words are plainer than its.

use indexmap::IndexMap;

use super::effective::approvals::{ApprovalPolicy, GRANULAR_KEYS};
use super::effective::{Data, Merged};
use super::features::{self, Shape};
use super::hooks_file;
use super::keys::{ACCESS, Array, HOOK_STATES, Key, ROOT, Rest, Table, Type};
use super::server::{self, ServerError};
use super::version::{Change, Version};
use crate::document::{KeyPath, Value};

/// What Codex refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What the error points at: the value, or the table that holds it.
    pub path: KeyPath,
    /// What is wrong.
    pub message: String,
}

/// Checks `value` as one layer's config.toml.
///
/// # Errors
/// The first thing that Codex refuses.
pub fn check(value: &Value, version: Version) -> Result<(), Problem> {
    check_type(value, &Type::Table(&ROOT), version)
}

/// Checks `value` as the merged result of all layers. A path that is still relative there comes
/// from a layer that is wrong by itself, and Codex does not know what it is relative to.
///
/// # Errors
/// The first thing that Codex refuses.
pub fn check_merged(value: &Value, version: Version) -> Result<(), Problem> {
    let mut checker = Checker {
        version,
        path: KeyPath::root(),
        flat: None,
        absolute: true,
        dates: false,
    };
    checker.value(value, &Type::Table(&ROOT))
}

/// Checks `value` as Codex does when it looks for the file to blame: there a date passes for a
/// table.
///
/// # Errors
/// The first thing that Codex points at.
pub fn check_text(value: &Value, version: Version) -> Result<(), Problem> {
    let mut checker = Checker {
        version,
        path: KeyPath::root(),
        flat: None,
        absolute: false,
        dates: true,
    };
    checker.value(value, &Type::Table(&ROOT))
}

/// Checks `value` against one type.
///
/// # Errors
/// The first thing that Codex refuses.
pub fn check_type(value: &Value, wanted: &Type, version: Version) -> Result<(), Problem> {
    let mut checker = Checker {
        version,
        path: KeyPath::root(),
        flat: None,
        absolute: false,
        dates: false,
    };
    checker.value(value, wanted)
}

/// Says what is wrong with `[hooks]` of a config.toml, its `state` too.
///
/// # Errors
/// What stops Codex, in words.
pub fn check_hooks(members: &IndexMap<String, Value>, version: Version) -> Result<(), String> {
    check_type(&Value::Table(members.clone()), &Type::Hooks, version)
        .map_err(|problem| problem.message)
}

/// The key paths in one layer that Codex ignores with a warning, in the order of the text.
pub fn unknown(value: &Value, version: Version) -> Vec<KeyPath> {
    unknown_in(value, &Type::Table(&ROOT), version)
}

/// The same for a table that `wanted` describes.
pub fn unknown_in(value: &Value, wanted: &Type, version: Version) -> Vec<KeyPath> {
    let mut found = Vec::new();
    collect(
        value,
        wanted,
        (version, false),
        &KeyPath::root(),
        &mut found,
    );
    found
}

/// The key paths in one layer that `--strict-config` refuses: those too that Codex otherwise
/// ignores without a word (scenarios `strict-granular`, `strict-tui`).
pub fn unknown_strictly(value: &Value, version: Version) -> Vec<KeyPath> {
    let mut found = Vec::new();
    let root = KeyPath::root();
    collect(
        value,
        &Type::Table(&ROOT),
        (version, true),
        &root,
        &mut found,
    );
    found
}

fn collect(
    value: &Value,
    wanted: &Type,
    (version, strict): (Version, bool),
    at: &KeyPath,
    found: &mut Vec<KeyPath>,
) {
    match (wanted, value) {
        (Type::List(inner), Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                collect(
                    item,
                    inner,
                    (version, strict),
                    &at.join(index.to_string()),
                    found,
                );
            }
        }
        (Type::Map(inner), Value::Table(members)) => {
            for (name, member) in members {
                collect(member, inner, (version, strict), &at.join(name), found);
            }
        }
        (Type::Table(table), Value::Table(members)) => {
            for (name, member) in members {
                match (known(table, name, version), table.rest) {
                    (Some(key), _) => {
                        collect(member, &key.value, (version, strict), &at.join(name), found);
                    }
                    (None, Rest::Warned) => found.push(at.join(name)),
                    (None, Rest::Strict) if strict => found.push(at.join(name)),
                    (None, Rest::Entries(inner)) => {
                        collect(member, inner, (version, strict), &at.join(name), found);
                    }
                    (None, Rest::Silent | Rest::Strict | Rest::Refused | Rest::Each(_)) => {}
                }
            }
        }
        (Type::Servers, Value::Table(servers)) => {
            for (name, server) in servers {
                let members = server.as_table().into_iter();
                for path in members.flat_map(server::unknown_keys) {
                    let mut whole = at.join(name);
                    whole.0.extend(path.into_iter().map(str::to_owned));
                    found.push(whole);
                }
            }
        }
        // Of the keys within, only a requirement's are told (scenario `req-granular-unknown-key`).
        (Type::Approval, Value::Table(members))
            if strict
                || at
                    .parts()
                    .first()
                    .is_some_and(|root| root == "allowed_approval_policies") =>
        {
            let granular = members.get("granular").and_then(Value::as_table);
            let unknown = granular
                .into_iter()
                .flat_map(IndexMap::keys)
                .filter(|name| GRANULAR_KEYS.iter().all(|(key, _)| key != name));
            found.extend(unknown.map(|name| at.join(name)));
        }
        (Type::Hooks, Value::Table(members)) => {
            if let Some(state) = members.get("state") {
                collect(
                    state,
                    &HOOK_STATES,
                    (version, strict),
                    &at.join("state"),
                    found,
                );
            }
        }
        (Type::Features, Value::Table(members)) => {
            let unknown = members.keys().filter(|name| !features::is_known(name));
            found.extend(unknown.map(|name| at.join(name)));
        }
        _ => {}
    }
}

/// A layer's value in the form in which Codex merges it, once the layer is right by itself: a word
/// is a string, a table written as an array is a table, a path is absolute (scenarios
/// `granular-array`, `sandbox-ww-array`, `prec-project-relative-root`). `place` makes a path
/// absolute.
pub fn normalize(value: &Value, version: Version, place: &dyn Fn(&str) -> String) -> Value {
    normal(value, &Type::Table(&ROOT), version, place)
}

fn normal(value: &Value, wanted: &Type, version: Version, place: &dyn Fn(&str) -> String) -> Value {
    match (wanted, value) {
        (Type::Path, Value::String(path) | Value::Datetime(path)) => Value::String(place(path)),
        (Type::Text | Type::Filled, Value::Datetime(text)) => Value::String(text.clone()),
        (Type::Word(words), Value::Table(members)) => match members.first() {
            Some((word, _)) => renamed(word, words),
            None => value.clone(),
        },
        (Type::Word(words), Value::String(word)) => renamed(word, words),
        // Scenario `permission-access-none`: of the shapes that may stand here, one has words.
        (Type::OneOf(types), _) => types
            .iter()
            .find(|inner| check_type(value, inner, version).is_ok())
            .map_or_else(
                || value.clone(),
                |inner| normal(value, inner, version, place),
            ),
        (Type::Approval, _) => match ApprovalPolicy::parse(value, version) {
            Some(policy @ ApprovalPolicy::Granular(_)) => match value.get(&["granular"]) {
                Some(Value::Table(_)) => value.clone(),
                _ => policy.value(),
            },
            Some(policy) => policy.value(),
            None => value.clone(),
        },
        (Type::List(inner), Value::Array(items)) => Value::Array(
            items
                .iter()
                .map(|item| normal(item, inner, version, place))
                .collect(),
        ),
        (Type::Map(inner), Value::Table(members)) => Value::Table(
            members
                .iter()
                .map(|(name, member)| (name.clone(), normal(member, inner, version, place)))
                .collect(),
        ),
        (Type::Table(table), Value::Table(members)) => Value::Table(
            members
                .iter()
                .map(|(name, member)| {
                    let member = match member_type(table, name, version) {
                        Some(wanted) => normal(member, wanted, version, place),
                        None => member.clone(),
                    };
                    (name.clone(), member)
                })
                .collect(),
        ),
        (Type::Hooks, Value::Table(members)) => Value::Table(
            members
                .iter()
                .map(|(name, member)| {
                    let member = match name.as_str() {
                        "state" => normal(member, &HOOK_STATES, version, place),
                        _ => member.clone(),
                    };
                    (name.clone(), member)
                })
                .collect(),
        ),
        (Type::Servers, Value::Table(servers)) => Value::Table(
            servers
                .iter()
                .map(|(name, server)| (name.clone(), server::spelled_all(server)))
                .collect(),
        ),
        (Type::Table(table), Value::Array(items)) => {
            let mut members: IndexMap<String, Value> = table
                .keys
                .iter()
                .zip(items)
                .map(|(key, item)| {
                    let item = normal(item, &key.value, version, place);
                    (key.name.to_owned(), item)
                })
                .collect();
            // These two have no value of their own for "not given".
            for key in table.keys {
                let default = match key.value {
                    Type::Boolean => Value::Boolean(false),
                    Type::List(_) => Value::Array(Vec::new()),
                    _ => continue,
                };
                if table.array == Array::Short {
                    members.entry(key.name.to_owned()).or_insert(default);
                }
            }
            Value::Table(members)
        }
        _ => value.clone(),
    }
}

/// Gives each value of the merged result the form that [`normalize`] gives it: what a layer says
/// that is wrong by itself comes as it is written (scenario `config-lists-flag-array`).
pub fn settle(merged: &mut Merged, version: Version) {
    settle_as(merged, &Type::Table(&ROOT), version);
}

/// The same for a part of the result that `wanted` describes.
pub fn settle_as(node: &mut Merged, wanted: &Type, version: Version) {
    match (wanted, &mut node.data) {
        (Type::Map(inner), Data::Table(members)) => {
            for member in members.values_mut() {
                settle_as(member, inner, version);
            }
        }
        (Type::Table(table), Data::Table(members)) => {
            for (name, member) in members {
                if let Some(wanted) = member_type(table, name, version) {
                    settle_as(member, wanted, version);
                }
            }
        }
        (Type::Hooks, Data::Table(members)) => {
            if let Some(state) = members.get_mut("state") {
                settle_as(state, &HOOK_STATES, version);
            }
        }
        (Type::Servers, Data::Table(servers)) => {
            let members = servers
                .values_mut()
                .filter_map(|server| match &mut server.data {
                    Data::Table(members) => Some(members),
                    Data::Leaf(_) => None,
                });
            for (name, member) in members.flatten() {
                let now = server::spelled(name, &member.value());
                if now != member.value() {
                    member.respell(&now);
                }
            }
        }
        _ => {
            let (old, keep) = (node.value(), str::to_owned);
            let now = normal(&old, wanted, version, &keep);
            if now != old {
                node.respell(&now);
            }
        }
    }
}

/// What the member `name` of a table must be, if Codex looks at it.
fn member_type(table: &Table, name: &str, version: Version) -> Option<&'static Type> {
    let of_key = known(table, name, version).map(|key| &key.value);
    of_key.or(match table.rest {
        Rest::Entries(inner) | Rest::Each(inner) => Some(inner),
        Rest::Warned | Rest::Silent | Rest::Strict | Rest::Refused => None,
    })
}

/// A word by the name that it has now.
fn renamed(word: &str, words: &[&str]) -> Value {
    match word {
        "guardian_subagent" => Value::from("auto_review"),
        "none" if words == ACCESS => Value::from("deny"),
        other => Value::from(other),
    }
}

/// A table without what Codex does not know in it.
pub fn only_known(value: &Value, wanted: &Type, version: Version) -> Value {
    match (wanted, value) {
        (Type::Table(table), Value::Table(members)) => Value::Table(
            members
                .iter()
                .filter_map(|(name, member)| {
                    let wanted = match (known(table, name, version), &table.rest) {
                        (Some(key), _) => &key.value,
                        (None, Rest::Entries(inner) | Rest::Each(inner)) => *inner,
                        (None, _) => return None,
                    };
                    Some((name.clone(), only_known(member, wanted, version)))
                })
                .collect(),
        ),
        (Type::Map(inner), Value::Table(members)) => Value::Table(
            members
                .iter()
                .map(|(name, member)| (name.clone(), only_known(member, inner, version)))
                .collect(),
        ),
        _ => value.clone(),
    }
}

fn known(table: &Table, name: &str, version: Version) -> Option<&'static Key> {
    table.key(name).filter(|key| key.is_known(version))
}

struct Checker {
    version: Version,
    path: KeyPath,
    /// The length of the path of the table that errors point at as a whole.
    flat: Option<usize>,
    /// Whether paths must be absolute.
    absolute: bool,
    /// Whether a date passes for a table.
    dates: bool,
}

impl Checker {
    fn refuse(&self, message: impl Into<String>) -> Problem {
        let mut path = self.path.clone();
        if let Some(length) = self.flat {
            path.0.truncate(length);
        }
        Problem {
            path,
            message: message.into(),
        }
    }

    fn wrong(&self, value: &Value, wanted: &str) -> Problem {
        self.refuse(format!("{} where Codex wants {wanted}", value.kind()))
    }

    fn within<T>(
        &mut self,
        part: &str,
        inner: impl FnOnce(&mut Self) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.path.0.push(part.to_owned());
        let result = inner(self);
        self.path.0.pop();
        result
    }

    fn value(&mut self, value: &Value, wanted: &Type) -> Result<(), Problem> {
        match wanted {
            Type::Map(_)
            | Type::Table(_)
            | Type::AnyTable
            | Type::Servers
            | Type::Features
            | Type::Hooks
                if self.dates && matches!(value, Value::Datetime(_)) =>
            {
                Ok(())
            }
            Type::Text => text(value)
                .map(|_| ())
                .ok_or_else(|| self.wrong(value, "a string")),
            Type::Path => match text(value) {
                Some(path) if self.absolute && !path.starts_with('/') => {
                    Err(self.refuse("a relative path in a file that is wrong elsewhere"))
                }
                Some(_) => Ok(()),
                None => Err(self.wrong(value, "a path")),
            },
            Type::Filled => match text(value) {
                Some("") => Err(self.refuse("empty text where Codex wants some")),
                Some(_) => Ok(()),
                None => Err(self.wrong(value, "a string")),
            },
            Type::Boolean => value
                .as_bool()
                .map(|_| ())
                .ok_or_else(|| self.wrong(value, "true or false")),
            Type::Integer(min, max) => match value {
                Value::Integer(number) if (min..=max).contains(&number) => Ok(()),
                Value::Integer(_) => Err(self.refuse("this number is out of range")),
                _ => Err(self.wrong(value, "an integer")),
            },
            Type::Word(words) => self.word(value, words),
            Type::List(inner) => {
                let Value::Array(items) = value else {
                    return Err(self.wrong(value, "an array"));
                };
                for (at, item) in items.iter().enumerate() {
                    self.within(&at.to_string(), |checker| checker.value(item, inner))?;
                }
                Ok(())
            }
            Type::Map(inner) => {
                let Value::Table(members) = value else {
                    return Err(self.wrong(value, "a table"));
                };
                for (name, member) in members {
                    self.within(name, |checker| checker.value(member, inner))?;
                }
                Ok(())
            }
            Type::AnyTable => value
                .as_table()
                .map(|_| ())
                .ok_or_else(|| self.wrong(value, "a table")),
            Type::Table(table) => self.table(value, table),
            Type::Any => Ok(()),
            Type::OneOf(types) => self.one_of(value, types),
            Type::Approval => self.approval(value),
            Type::Servers => self.servers(value),
            Type::Features => self.features(value),
            Type::Hooks => self.hooks(value),
        }
    }

    /// A word, or a table of one word with nothing in it.
    fn word(&mut self, value: &Value, words: &[&str]) -> Result<(), Problem> {
        let word = match value {
            Value::String(word) => word,
            Value::Table(members) => match members.first() {
                Some((word, inner)) if members.len() == 1 => {
                    if words.contains(&word.as_str())
                        && !inner.as_table().is_some_and(IndexMap::is_empty)
                    {
                        return Err(self.refuse("a word with something in it"));
                    }
                    word
                }
                _ => return Err(self.refuse("a table where Codex wants a word")),
            },
            _ => return Err(self.wrong(value, "a word")),
        };
        if words.contains(&word.as_str()) {
            return Ok(());
        }
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        Err(self.refuse(format!("`{word}` where Codex knows {}", words.join(", "))))
    }

    fn one_of(&mut self, value: &Value, types: &[Type]) -> Result<(), Problem> {
        if types.iter().any(|wanted| self.value(value, wanted).is_ok()) {
            return Ok(());
        }
        Err(self.refuse("this value has none of the shapes that Codex takes here"))
    }

    fn table(&mut self, value: &Value, table: &Table) -> Result<(), Problem> {
        let members = match value {
            Value::Table(members) => members,
            Value::Array(items) => return self.array(items, table),
            _ => return Err(self.wrong(value, "a table")),
        };
        for (name, member) in members {
            if let Some(key) = known(table, name, self.version) {
                self.within(name, |checker| checker.value(member, &key.value))?;
                continue;
            }
            match table.rest {
                Rest::Warned | Rest::Silent | Rest::Strict => {}
                Rest::Entries(each) => {
                    self.within(name, |checker| checker.value(member, each))?;
                }
                Rest::Refused if !self.version.has(Change::RequirementsRefuseNested) => {}
                Rest::Refused => {
                    return self.within(name, |checker| {
                        Err(checker.refuse("Codex knows no such key"))
                    });
                }
                Rest::Each(each) => {
                    let outer = self.flat;
                    self.flat = outer.or(Some(self.path.parts().len()));
                    let result = self.within(name, |checker| checker.value(member, each));
                    self.flat = outer;
                    result?;
                }
            }
        }
        for key in table.keys.iter().filter(|key| key.needed) {
            if !members.contains_key(key.name) {
                return Err(self.refuse(format!("`{}` is missing", key.name)));
            }
        }
        match table.rule.and_then(|rule| rule(members)) {
            Some(message) => Err(self.refuse(message)),
            None => Ok(()),
        }
    }

    /// A table written as an array of its values (scenario `sandbox-ww-array`).
    fn array(&mut self, items: &[Value], table: &Table) -> Result<(), Problem> {
        let enough = match table.array {
            Array::Refused => return Err(self.refuse("an array where Codex wants a table")),
            Array::Short => 0,
            Array::Whole => table.keys.len(),
        };
        for (at, (item, key)) in items.iter().zip(table.keys).enumerate() {
            self.within(&at.to_string(), |checker| checker.value(item, &key.value))?;
        }
        if let Some(key) = table.keys.iter().skip(items.len()).find(|key| key.needed) {
            return Err(self.refuse(format!("`{}` is missing", key.name)));
        }
        if items.len() < enough || items.len() > table.keys.len() {
            return Err(self.refuse("an array of another length than the table has keys"));
        }
        Ok(())
    }

    fn approval(&mut self, value: &Value) -> Result<(), Problem> {
        if ApprovalPolicy::parse(value, self.version).is_some() {
            return Ok(());
        }
        match value {
            Value::Table(members) if members.len() == 1 => {
                let Some((name, granular)) = members.first() else {
                    return Err(self.refuse("this is no approval policy"));
                };
                if ApprovalPolicy::parse(&Value::from(name.as_str()), self.version).is_some() {
                    return self.within(name, |checker| {
                        Err(checker.refuse("a word with something in it"))
                    });
                }
                if name != "granular" {
                    return Err(self.refuse(format!("`{name}` is no approval policy")));
                }
                self.within("granular", |checker| checker.granular(granular))
            }
            Value::Table(_) => Err(self.refuse("an approval policy has exactly one key")),
            Value::String(word) | Value::Datetime(word) => {
                Err(self.refuse(format!("`{word}` is no approval policy")))
            }
            _ => Err(self.wrong(value, "an approval policy")),
        }
    }

    fn granular(&mut self, value: &Value) -> Result<(), Problem> {
        match value {
            Value::Table(members) => {
                for (key, _) in GRANULAR_KEYS {
                    if let Some(member) = members.get(key) {
                        self.within(key, |checker| checker.value(member, &Type::Boolean))?;
                    }
                }
                let missing = GRANULAR_KEYS
                    .iter()
                    .find(|(key, needed)| *needed && !members.contains_key(*key));
                Err(match missing {
                    Some((key, _)) => self.refuse(format!("`{key}` is missing")),
                    None => self.refuse("this is no granular policy"),
                })
            }
            Value::Array(_) => Err(self.refuse("an array that is no granular policy")),
            _ => Err(self.wrong(value, "a table")),
        }
    }

    fn servers(&mut self, value: &Value) -> Result<(), Problem> {
        let Value::Table(servers) = value else {
            return Err(self.wrong(value, "a table"));
        };
        for (name, server) in servers {
            self.within(name, |checker| checker.server(server))?;
        }
        Ok(())
    }

    fn server(&mut self, value: &Value) -> Result<(), Problem> {
        let Value::Table(members) = value else {
            return Err(self.wrong(value, "a table"));
        };
        let mut members = members.clone();
        members.retain(|name, _| knows_server_key(name, self.version));
        self.as_older_versions(&mut members)?;
        if let Err(error) = server::judge(&members) {
            // Types point at the value, meaning at the server as a whole.
            let at_value = match &error {
                ServerError::WrongType { .. } | ServerError::OutOfRange { .. } => true,
                ServerError::UnknownWord { path, .. } => {
                    path.first().is_some_and(|first| first != "env_vars")
                }
                _ => false,
            };
            let mut problem = self.refuse(error.to_string());
            if at_value && self.flat.is_none() {
                problem
                    .path
                    .0
                    .extend(error.path().into_iter().map(str::to_owned));
            }
            return Err(problem);
        }
        Ok(())
    }

    /// What versions before the newest read otherwise.
    fn as_older_versions(&self, members: &mut IndexMap<String, Value>) -> Result<(), Problem> {
        if !self.version.has(Change::OauthSecret)
            && let Some(Value::Table(oauth)) = members.get_mut("oauth")
        {
            oauth.shift_remove("client_secret");
        }
        if !self.version.has(Change::AnyEnvironment)
            && let Some(environment) = members.get("environment_id").and_then(Value::as_str)
        {
            let cwd = members.get("cwd").and_then(Value::as_str);
            if environment != "local" && !cwd.is_some_and(|cwd| cwd.starts_with('/')) {
                return Err(self.refuse("an `environment_id` needs an absolute `cwd`"));
            }
        }
        if !self.version.has(Change::ApprovalModeWrites) {
            let tools = members.get("tools").and_then(Value::as_table);
            let modes = tools
                .into_iter()
                .flat_map(IndexMap::values)
                .filter_map(|tool| tool.get(&["approval_mode"]))
                .chain(members.get("default_tools_approval_mode"));
            for mode in modes {
                if mode.as_str() == Some("writes") {
                    return Err(self.refuse("there is no approval mode `writes`"));
                }
            }
        }
        Ok(())
    }

    fn features(&mut self, value: &Value) -> Result<(), Problem> {
        let Value::Table(members) = value else {
            return Err(self.wrong(value, "a table"));
        };
        for (name, member) in members {
            let shape = features::feature_named(name).map_or(Shape::Switch, |found| found.shape);
            self.within(name, |checker| match (shape, member) {
                (Shape::Switch | Shape::Either, Value::Boolean(_)) => Ok(()),
                (Shape::Either | Shape::Table, Value::Table(settings)) => {
                    // Which settings older versions take was not asked.
                    if checker.version < Version::default() || features::takes(name, settings) {
                        return Ok(());
                    }
                    Err(checker.refuse("a setting that this feature does not take"))
                }
                _ => Err(checker.wrong(member, "true or false")),
            })?;
        }
        Ok(())
    }

    fn hooks(&mut self, value: &Value) -> Result<(), Problem> {
        let Value::Table(members) = value else {
            return Err(self.wrong(value, "a table"));
        };
        hooks_file::parse_table(members, self.version).map_err(|message| self.refuse(message))?;
        match members.get("state") {
            Some(state) => self.within("state", |checker| checker.value(state, &HOOK_STATES)),
            None => Ok(()),
        }
    }
}

/// Whether a server's key is one that `version` reads.
pub fn knows_server_key(name: &str, version: Version) -> bool {
    server::key(name)
        .and_then(|key| key.since)
        .is_none_or(|(_, minor, patch)| version >= Version::new(0, minor.into(), patch.into()))
}

/// The text of a string, or of a date, which counts as one.
fn text(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) | Value::Datetime(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    fn value(text: &str) -> Value {
        let document = Document::parse(text).expect("the test's text is TOML");
        document.root().value()
    }

    fn verdict(text: &str) -> Result<(), String> {
        check(&value(text), Version::default()).map_err(|problem| problem.path.to_string())
    }

    #[test]
    fn what_codex_takes_is_taken() {
        for text in [
            "model = 1979-05-27",
            "sandbox_mode = { danger-full-access = {} }",
            "approval_policy = { never = {} }",
            "history = []",
            "analytics = [true]",
            "sandbox_workspace_write = [['/w'], true]",
            "[agents.x]",
            "skills = []",
            "[mcp_servers.a]\ncommand = 'x'",
        ] {
            assert_eq!(verdict(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_codex_refuses_is_refused_where_it_points() {
        for (text, path) in [
            ("model = 1", "model"),
            ("mcp_oauth_callback_port = 70000", "mcp_oauth_callback_port"),
            ("analytics = []", "analytics"),
            ("[tui]\nanimations = 5", "tui.animations"),
            ("[agents.x]\ndescription = 5", "agents"),
            ("[permissions.x.filesystem]\n'/a' = 'zz'", "permissions"),
            (
                "[mcp_servers.a]\ncommand = 'x'\nargs = [1]",
                "mcp_servers.a.args.0",
            ),
            ("[mcp_servers.a]\ncommand = 'x'\nurl = 'y'", "mcp_servers.a"),
            (
                "[approval_policy.granular]\nrules = true",
                "approval_policy.granular",
            ),
            ("approval_policy.reject.rules = true", "approval_policy"),
            ("[[hooks.Stop]]\nmatcher = 1", "hooks"),
            (
                "[projects.a]\ntrust_level = 'yes'",
                "projects.a.trust_level",
            ),
        ] {
            assert_eq!(verdict(text), Err(path.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_codex_ignores_is_listed_where_it_warns() {
        let text = "bogus = 1\n[tui]\nbogus = 1\n[projects.a]\nbogus = 1\n[mcp_servers.a]\ncommand = 'x'\nbogus = 1\n[features]\nbogus = true\n[agents.x]\nbogus = 1\n";
        let found: Vec<String> = unknown(&value(text), Version::default())
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            found,
            [
                "bogus",
                "projects.a.bogus",
                "mcp_servers.a.bogus",
                "features.bogus"
            ]
        );
    }
}
