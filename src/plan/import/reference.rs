//! References to variables in a value: `${VAR}`, `$VAR`, `${env:VAR}`, `${input:ID}`.
//!
//! Other clients expand some of them; Codex expands nothing (scenario `mcp-env-not-expanded`). A
//! reference that is the whole value can become one of Codex's own; any other stays text.

/// What a value says about variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reference<'a> {
    /// Nothing.
    None,
    /// The whole value is `${VAR}`, `$VAR` or `${env:VAR}`.
    Variable(&'a str),
    /// The whole value is `${input:ID}`: the editor asks for it.
    Input(&'a str),
    /// A reference stands somewhere in it, or one that nothing here matches.
    Partial,
}

/// Reads `value`, blanks at its ends aside.
pub(super) fn find(value: &str) -> Reference<'_> {
    let trimmed = value.trim();
    if let Some(inner) = trimmed
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
    {
        let name = inner.strip_prefix("env:").unwrap_or(inner);
        if is_name(name) {
            return Reference::Variable(name);
        }
        if let Some(id) = inner.strip_prefix("input:")
            && !id.is_empty()
            && !id.contains(['{', '}', '$'])
        {
            return Reference::Input(id);
        }
        return Reference::Partial;
    }
    // Without braces only capitals: a password may begin with a `$`.
    if let Some(name) = trimmed.strip_prefix('$')
        && is_name(name)
        && !name.contains(|letter: char| letter.is_ascii_lowercase())
    {
        return Reference::Variable(name);
    }
    if variables(value).next().is_some() || value.contains("${") {
        return Reference::Partial;
    }
    Reference::None
}

/// The names that a shell would expand in `text`: `$NAME`, `${NAME}`, `${NAME:-…}`.
pub(super) fn variables(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('$').filter_map(|(at, _)| {
        let rest = &text[at + 1..];
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let end = rest
            .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
            .unwrap_or(rest.len());
        let name = &rest[..end];
        is_name(name).then_some(name)
    })
}

/// Whether `name` can be the name of a variable on every system.
pub(super) fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_references_are_told_from_parts() {
        for (value, wanted) in [
            ("plain", Reference::None),
            ("costs $5", Reference::None),
            ("", Reference::None),
            ("$", Reference::None),
            ("${A}", Reference::Variable("A")),
            (" $A_1 ", Reference::Variable("A_1")),
            ("${env:A}", Reference::Variable("A")),
            ("${input:my-key}", Reference::Input("my-key")),
            ("${A:-x}", Reference::Partial),
            ("${A}${B}", Reference::Partial),
            ("x/${A}", Reference::Partial),
            ("$HOME/x", Reference::Partial),
            ("$ecret", Reference::Partial),
            ("${workspaceFolder}/x", Reference::Partial),
            ("${config:a.b}", Reference::Partial),
            ("${", Reference::Partial),
            ("${}", Reference::Partial),
        ] {
            assert_eq!(find(value), wanted, "{value}");
        }
    }

    #[test]
    fn a_shell_sees_each_name() {
        let found: Vec<&str> = variables("a $B ${C} ${D:-x} $5 $").collect();
        assert_eq!(found, ["B", "C", "D"]);
    }
}
