//! All layers laid on each other, with the origin of each value.
//!
//! Tables merge key by key, everything else is replaced as a whole, a table by a scalar and the
//! other way round too (scenarios `prec-table-merge`, `mcp-merge-array-replaced`,
//! `prec-granular-over-string`, `prec-string-over-granular`). Types do not matter here.

use indexmap::IndexMap;

use crate::document::Value;

/// A value of the merged tree.
#[derive(Debug, Clone)]
pub struct Merged {
    /// What it is.
    pub data: Data,
    /// The index of the strongest layer that speaks of it.
    pub layer: usize,
    /// What weaker layers said in this place, strongest first.
    pub overrode: Vec<Overrode>,
}

/// What a merged value is.
#[derive(Debug, Clone)]
pub enum Data {
    /// A scalar or an array, of one layer.
    Leaf(Value),
    /// A table, of one or more layers.
    Table(IndexMap<String, Merged>),
}

/// A value that a stronger layer replaced.
#[derive(Debug, Clone)]
pub struct Overrode {
    /// The index of its layer.
    pub layer: usize,
    /// The value.
    pub value: Value,
}

impl Merged {
    /// The tree of nothing.
    pub fn empty() -> Self {
        Self {
            data: Data::Table(IndexMap::new()),
            layer: 0,
            overrode: Vec::new(),
        }
    }

    /// Lays `value`, of the layer with index `layer`, on this tree.
    pub fn lay(&mut self, value: &Value, layer: usize) {
        if let (Data::Table(members), Value::Table(news)) = (&mut self.data, value) {
            self.layer = layer;
            for (key, new) in news {
                match members.get_mut(key) {
                    Some(member) => member.lay(new, layer),
                    None => {
                        members.insert(key.clone(), Self::of(new, layer));
                    }
                }
            }
        } else {
            let old = Overrode {
                layer: self.layer,
                value: self.value(),
            };
            let mut overrode = std::mem::take(&mut self.overrode);
            overrode.insert(0, old);
            *self = Self {
                overrode,
                ..Self::of(value, layer)
            };
        }
    }

    /// Puts `value` in place of this one: the same, written otherwise.
    pub fn respell(&mut self, value: &Value) {
        self.data = Self::of(value, self.layer).data;
    }

    fn of(value: &Value, layer: usize) -> Self {
        let data = match value {
            Value::Table(members) => Data::Table(
                members
                    .iter()
                    .map(|(key, value)| (key.clone(), Self::of(value, layer)))
                    .collect(),
            ),
            other => Data::Leaf(other.clone()),
        };
        Self {
            data,
            layer,
            overrode: Vec::new(),
        }
    }

    /// The value without its origins.
    pub fn value(&self) -> Value {
        match &self.data {
            Data::Leaf(value) => value.clone(),
            Data::Table(members) => Value::Table(
                members
                    .iter()
                    .map(|(key, member)| (key.clone(), member.value()))
                    .collect(),
            ),
        }
    }

    /// The merged value at `path` below this one.
    pub fn get<S: AsRef<str>>(&self, path: &[S]) -> Option<&Merged> {
        path.iter()
            .try_fold(self, |node, part| node.members()?.get(part.as_ref()))
    }

    /// The members, if this is a table.
    pub const fn members(&self) -> Option<&IndexMap<String, Merged>> {
        match &self.data {
            Data::Table(members) => Some(members),
            Data::Leaf(_) => None,
        }
    }

    /// The text, if this is a string. A date counts as one (scenario `shape-datetime-as-string`).
    pub fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Leaf(Value::String(text) | Value::Datetime(text)) => Some(text),
            _ => None,
        }
    }

    /// The truth, if this is a boolean.
    pub const fn truth(&self) -> Option<bool> {
        match &self.data {
            Data::Leaf(Value::Boolean(value)) => Some(*value),
            _ => None,
        }
    }

    /// Walks all leaves in order, each with its path.
    pub fn leaves<'m>(&'m self, visit: &mut impl FnMut(&[&'m str], &'m Merged)) {
        fn walk<'m>(
            node: &'m Merged,
            path: &mut Vec<&'m str>,
            visit: &mut impl FnMut(&[&'m str], &'m Merged),
        ) {
            match &node.data {
                Data::Leaf(_) => visit(path, node),
                Data::Table(members) => {
                    for (key, member) in members {
                        path.push(key);
                        walk(member, path, visit);
                        path.pop();
                    }
                }
            }
        }
        walk(self, &mut Vec::new(), visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    fn merged(texts: &[&str]) -> Merged {
        let mut tree = Merged::empty();
        for (layer, text) in texts.iter().enumerate() {
            let document = Document::parse(*text).expect("the test's text is TOML");
            tree.lay(&document.root().value(), layer);
        }
        tree
    }

    #[test]
    fn tables_merge_and_the_rest_is_replaced() {
        let tree = merged(&["a = { b = 1, c = [1, 2] }\n", "a.c = [3]\na.d = true\n"]);
        let wanted = Document::parse("a = { b = 1, c = [3], d = true }").expect("TOML");
        assert_eq!(tree.value(), wanted.root().value());
        let c = tree.get(&["a", "c"]).expect("there");
        assert_eq!((c.layer, c.overrode[0].layer), (1, 0));
        assert_eq!(tree.get(&["a", "b"]).expect("there").layer, 0);
    }

    #[test]
    fn a_table_replaces_a_scalar_and_the_other_way_round() {
        let tree = merged(&["a = 1", "a.b = 2", "a = 3", "a.c = 4"]);
        let wanted = Document::parse("a.c = 4").expect("TOML");
        assert_eq!(tree.value(), wanted.root().value());
        let a = tree.get(&["a"]).expect("there");
        let layers: Vec<usize> = a.overrode.iter().map(|old| old.layer).collect();
        assert_eq!(layers, [2, 1, 0]);
    }
}
