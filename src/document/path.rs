//! Key paths: the parts of `mcp_servers.docs.command`.

use std::fmt;

/// A key path as parts, each decoded. An element of an array counts as its index, written in digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct KeyPath(pub Vec<String>);

impl KeyPath {
    /// The path of the whole document.
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// A path out of plain parts.
    pub fn new<I, S>(parts: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        Self(parts.into_iter().map(Into::into).collect())
    }

    /// A path of bare keys with dots between them, for names that codexgate itself knows.
    pub fn dotted(text: &str) -> Self {
        Self::new(text.split('.'))
    }

    /// This path and one part more.
    #[must_use]
    pub fn join(&self, part: impl Into<String>) -> Self {
        let mut parts = self.0.clone();
        parts.push(part.into());
        Self(parts)
    }

    /// The path without its last part, if it has one.
    pub fn parent(&self) -> Option<Self> {
        let (_, rest) = self.0.split_last()?;
        Some(Self(rest.to_vec()))
    }

    /// The last part, if there is one.
    pub fn last(&self) -> Option<&str> {
        self.0.last().map(String::as_str)
    }

    /// Whether this path is `other` or lies below it.
    pub fn starts_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// The parts.
    pub fn parts(&self) -> &[String] {
        &self.0
    }
}

/// Whether `key` can stand in TOML without quotes.
pub fn is_bare(key: &str) -> bool {
    !key.is_empty()
        && key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

impl fmt::Display for KeyPath {
    /// As TOML writes it, with quotes where a part needs them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            if is_bare(part) {
                f.write_str(part)?;
            } else {
                f.write_str(&toml_edit::Key::new(part.as_str()).to_string())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_needs_quotes_gets_them() {
        assert_eq!(
            KeyPath::new(["mcp_servers", "a.b", "env"]).to_string(),
            "mcp_servers.\"a.b\".env"
        );
        assert_eq!(KeyPath::new([""]).to_string(), "\"\"");
    }
}
