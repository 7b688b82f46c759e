//! Compares answers, and knows the table of what other versions answer.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

/// The word for a missing value, in the table and in what is printed.
const ABSENT: &str = "(absent)";

/// How much of a value a message shows.
const SHOWN: usize = 90;

/// One value that is not what was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Where: a JSON pointer.
    pub pointer: String,
    /// What was recorded.
    pub old: Option<Value>,
    /// What is answered.
    pub new: Option<Value>,
}

impl Difference {
    /// There was no answer.
    pub fn failure(why: &str) -> Self {
        Self {
            pointer: "/failed".to_owned(),
            old: None,
            new: Some(Value::String(why.to_owned())),
        }
    }

    /// The new value as the table has it.
    pub fn new_text(&self) -> String {
        text(self.new.as_ref())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let brief = |value: Option<&Value>| {
            let text = text(value);
            match text.char_indices().nth(SHOWN) {
                Some((end, _)) => format!("{}...", &text[..end]),
                None => text,
            }
        };
        let (old, new) = (brief(self.old.as_ref()), brief(self.new.as_ref()));
        write!(f, "{}: recorded {old}, now {new}", self.pointer)
    }
}

fn text(value: Option<&Value>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), Value::to_string)
}

/// What differs between two answers: tables key by key, lists and scalars as a whole, the version
/// not at all.
pub fn differences(old: &Value, new: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(Some(old), Some(new), "", &mut found);
    found.retain(|difference| difference.pointer != "/version");
    found
}

fn compare(old: Option<&Value>, new: Option<&Value>, pointer: &str, found: &mut Vec<Difference>) {
    if let (Some(Value::Object(a)), Some(Value::Object(b))) = (old, new) {
        let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
        for key in keys {
            let step = key.replace('~', "~0").replace('/', "~1");
            compare(a.get(key), b.get(key), &format!("{pointer}/{step}"), found);
        }
    } else if old != new {
        found.push(Difference {
            pointer: pointer.to_owned(),
            old: old.cloned(),
            new: new.cloned(),
        });
    }
}

/// A change to a recorded answer: a pointer, and the value or its absence.
pub type Change = (String, Option<Value>);

/// What other versions answer: scenario, version, JSON pointer and value, a line each.
#[derive(Debug, Default)]
pub struct Table {
    changes: BTreeMap<(String, String), Vec<Change>>,
    head: Vec<String>,
}

impl Table {
    /// Reads `versions.tsv`; a missing one is empty.
    pub fn read(path: &Path) -> Self {
        let mut table = Self::default();
        let text = std::fs::read_to_string(path).unwrap_or_default();
        for line in text.lines() {
            if let Some(line) = line.strip_prefix("# ") {
                table.head.push(line.to_owned());
                continue;
            }
            let fields: Vec<&str> = line.splitn(4, '\t').collect();
            let &[name, version, pointer, value] = fields.as_slice() else {
                panic!("{}: not four fields: {line}", path.display());
            };
            if name == "scenario" {
                continue;
            }
            let value = (value != ABSENT).then(|| {
                serde_json::from_str(value).unwrap_or_else(|error| panic!("{line}: {error}"))
            });
            let key = (name.to_owned(), version.to_owned());
            let change = (pointer.to_owned(), value);
            table.changes.entry(key).or_default().push(change);
        }
        table
    }

    /// The versions that it has lines about, old to new.
    pub fn versions(&self) -> Vec<String> {
        let number = |version: &str| -> Vec<u32> {
            version
                .split('.')
                .map(|part| part.parse().unwrap_or_default())
                .collect()
        };
        let known: BTreeSet<&String> = self.changes.keys().map(|(_, version)| version).collect();
        let mut versions: Vec<String> = known.into_iter().cloned().collect();
        versions.sort_by_key(|version| number(version));
        versions
    }

    /// Each scenario and version with what is answered otherwise.
    pub fn all(&self) -> impl Iterator<Item = ((&str, &str), &[Change])> {
        self.changes.iter().map(|((scenario, version), changes)| {
            ((scenario.as_str(), version.as_str()), changes.as_slice())
        })
    }

    /// The line of its head that says when which versions were asked.
    pub fn date(&self) -> &str {
        let dated = self.head.iter().find(|line| line.starts_with("Asked"));
        dated.map_or("", String::as_str)
    }

    /// Makes of an answer of the newest version the answer of `version`.
    pub fn apply(&self, scenario: &str, version: &str, answer: &mut Value) {
        let key = (scenario.to_owned(), version.to_owned());
        for (pointer, value) in self.changes.get(&key).into_iter().flatten() {
            change(answer, pointer, value.as_ref());
        }
    }
}

fn change(answer: &mut Value, pointer: &str, value: Option<&Value>) {
    let mut steps: Vec<String> = pointer
        .split('/')
        .skip(1)
        .map(|step| step.replace("~1", "/").replace("~0", "~"))
        .collect();
    let last = steps.pop().expect("a pointer has a step");
    let mut place = answer;
    for step in steps {
        if !place[step.as_str()].is_object() {
            place[step.as_str()] = Value::Object(serde_json::Map::new());
        }
        place = &mut place[step.as_str()];
    }
    match value {
        Some(value) => place[last.as_str()] = value.clone(),
        None => {
            if let Some(table) = place.as_object_mut() {
                table.remove(&last);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_change_is_the_inverse_of_a_difference() {
        let old = json!({"version": "1", "a": {"b/c": 1, "d": [1]}, "e": 2});
        let new = json!({"version": "2", "a": {"b/c": 3, "d": [1, 2]}, "f": {"g": null}});
        let mut changed = old.clone();
        for difference in differences(&old, &new) {
            change(&mut changed, &difference.pointer, difference.new.as_ref());
        }
        changed["version"] = json!("2");
        assert_eq!(changed, new);
    }
}
