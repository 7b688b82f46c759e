//! What two documents differ in, by value: the check after every edit.

use indexmap::IndexMap;

use super::path::KeyPath;
use super::value::Value;

/// Puts `new` at `path`, making the tables above it. Returns false where something that is no
/// table is in the way.
#[must_use]
pub fn set(value: &mut Value, path: &[String], new: Value) -> bool {
    let Some((first, rest)) = path.split_first() else {
        *value = new;
        return true;
    };
    match value {
        Value::Table(members) => {
            let member = members
                .entry(first.clone())
                .or_insert_with(|| Value::Table(IndexMap::new()));
            set(member, rest, new)
        }
        Value::Array(items) => first
            .parse::<usize>()
            .ok()
            .and_then(|index| items.get_mut(index))
            .is_some_and(|item| set(item, rest, new)),
        _ => false,
    }
}

/// Takes away what is at `path`. Returns false where nothing is there.
#[must_use]
pub fn unset(value: &mut Value, path: &[String]) -> bool {
    match (value, path) {
        (Value::Table(members), [last]) => members.shift_remove(last).is_some(),
        (Value::Table(members), [first, rest @ ..]) => members
            .get_mut(first)
            .is_some_and(|member| unset(member, rest)),
        (Value::Array(items), [first, rest @ ..]) if !rest.is_empty() => first
            .parse::<usize>()
            .ok()
            .and_then(|index| items.get_mut(index))
            .is_some_and(|item| unset(item, rest)),
        _ => false,
    }
}

/// One path whose value differs between two documents.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Where. Tables are entered, arrays are compared as a whole.
    pub path: KeyPath,
    /// The old value, if there was one.
    pub old: Option<Value>,
    /// The new value, if there is one.
    pub new: Option<Value>,
}

/// All paths at which `old` and `new` differ, in the order of the old document, then the new one.
pub fn differences(old: &Value, new: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    collect(&KeyPath::root(), old, new, &mut found);
    found
}

fn collect(path: &KeyPath, old: &Value, new: &Value, found: &mut Vec<Difference>) {
    let (Value::Table(old_members), Value::Table(new_members)) = (old, new) else {
        if old != new {
            found.push(Difference {
                path: path.clone(),
                old: Some(old.clone()),
                new: Some(new.clone()),
            });
        }
        return;
    };
    for (key, old) in old_members {
        match new_members.get(key) {
            Some(new) => collect(&path.join(key), old, new, found),
            None => found.push(Difference {
                path: path.join(key),
                old: Some(old.clone()),
                new: None,
            }),
        }
    }
    for (key, new) in new_members {
        if !old_members.contains_key(key) {
            found.push(Difference {
                path: path.join(key),
                old: None,
                new: Some(new.clone()),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::Document;
    use super::*;

    fn value(text: &str) -> Value {
        Document::parse(text).expect("TOML").root().value()
    }

    #[test]
    fn order_and_spelling_are_no_difference() {
        let old = value("a = 1\nb.c = [1]\n");
        let new = value("b = { c = [ 0x1, ] }\n\"a\" = 0b1\n");
        assert_eq!(differences(&old, &new), []);
    }

    #[test]
    fn every_kind_of_difference_is_found() {
        let old = value("a = 1\nt.gone = true\nt.same = 'x'");
        let new = value("a = '1'\nt.same = \"x\"\nt.come = 0.0");
        let paths: Vec<String> = differences(&old, &new)
            .iter()
            .map(|d| d.path.to_string())
            .collect();
        assert_eq!(paths, ["a", "t.gone", "t.come"]);
    }

    #[test]
    fn set_and_unset_are_inverse() {
        let mut tree = value("a.b = 1");
        let path = KeyPath::dotted("a.c.d");
        assert!(set(&mut tree, path.parts(), Value::from(true)));
        assert!(unset(&mut tree, path.parts()));
        assert!(unset(&mut tree, KeyPath::dotted("a.c").parts()));
        assert_eq!(tree, value("a.b = 1"));
        assert!(!set(
            &mut tree,
            KeyPath::dotted("a.b.c").parts(),
            Value::from(1)
        ));
    }
}
