//! A TOML value without its text: what two spellings have in common.

use indexmap::IndexMap;

/// A TOML value. Tables compare without regard to order, everything else exactly.
#[derive(Debug, Clone)]
pub enum Value {
    /// A string of any of the four kinds.
    String(String),
    /// A 64-bit integer in any base.
    Integer(i64),
    /// A float. `nan` equals `nan`; zero and minus zero differ.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A date, a time or both, as written in canonical form.
    Datetime(String),
    /// An array, of tables too.
    Array(Vec<Value>),
    /// A table in any form.
    Table(IndexMap<String, Value>),
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::String(a), Self::String(b)) | (Self::Datetime(a), Self::Datetime(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => {
                a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
            }
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a == b,
            (Self::Table(a), Self::Table(b)) => a == b,
            _ => false,
        }
    }
}

impl Value {
    /// The kind in words, for messages.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::String(_) => "string",
            Self::Integer(_) => "integer",
            Self::Float(_) => "float",
            Self::Boolean(_) => "boolean",
            Self::Datetime(_) => "datetime",
            Self::Array(_) => "array",
            Self::Table(_) => "table",
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The truth of a boolean.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The members of a table.
    pub const fn as_table(&self) -> Option<&IndexMap<String, Value>> {
        match self {
            Self::Table(members) => Some(members),
            _ => None,
        }
    }

    /// The value at `path` below this one.
    pub fn get<S: AsRef<str>>(&self, path: &[S]) -> Option<&Value> {
        let Some((first, rest)) = path.split_first() else {
            return Some(self);
        };
        match self {
            Self::Table(members) => members.get(first.as_ref())?.get(rest),
            Self::Array(items) => items.get(first.as_ref().parse::<usize>().ok()?)?.get(rest),
            _ => None,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Value {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        Self::Table(
            members
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        )
    }
}
