//! The prefix rules: what lets `codexgate apply` leave the sandbox, and nothing else of it.
//!
//! A file of its own, `$CODEX_HOME/rules/codexgate.rules`: it is written and removed whole, and
//! Codex's one-time rewrite of `default.rules` leaves it alone (scenario
//! `rules-migration-other-file`). The path is absolute, since a bare name would match
//! `./codexgate`, too (scenario `rules-basename-resolve`). The strictest rule wins, so what only a
//! person does stays forbidden whatever else is allowed.

use serde_json::Value as Json;

/// The file below Codex's home.
pub const FILE: &str = "rules/codexgate.rules";

/// The first line, by which the file is known.
const HEAD: &str = "# Written by `codexgate install`, taken out by `codexgate uninstall`.\n";
/// What stands before and after the paths.
const OPEN: &str = "    pattern = [";
const CLOSE: &str = ", \"apply\"],\n";
/// What an agent must not run: only a person decides, and Codex alone starts the servers.
const FORBIDDEN: [&str; 6] = ["approve", "reject", "install", "uninstall", "mcp", "broker"];

/// The file's text for a program with these paths.
pub fn text(paths: &[&str]) -> String {
    let program = list(paths);
    format!(
        "{HEAD}\
         # It runs outside of the sandbox, and runs nothing that no person approved.\n\
         prefix_rule(\n{OPEN}{program}{CLOSE}    decision = \"allow\",\n)\n\
         prefix_rule(\n{OPEN}{program}, {}],\n    decision = \"forbidden\",\n    \
         justification = \"only a person does this, in a terminal of their own\",\n)\n",
        list(&FORBIDDEN)
    )
}

/// Whether an install wrote `text`, for whatever paths: it is brought up to date, and is no
/// collision.
pub fn is_ours(text: &str) -> bool {
    let paths = text
        .split_once(OPEN)
        .and_then(|(_, rest)| rest.split_once(CLOSE))
        .and_then(|(paths, _)| serde_json::from_str::<Vec<String>>(paths).ok());
    paths.is_some_and(|paths| {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        self::text(&paths) == text
    })
}

/// A list of texts. Starlark takes JSON's escapes; control characters are refused before.
fn list(words: &[&str]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| Json::from(*word).to_string())
        .collect();
    format!("[{}]", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_known_by_its_whole_text() {
        let text = text(&["/usr/bin/codexgate", "/opt/a \"b\"/codexgate"]);
        assert!(
            text.contains(
                r#"pattern = [["/usr/bin/codexgate", "/opt/a \"b\"/codexgate"], "apply"]"#
            )
        );
        assert!(is_ours(&text));
        assert!(!is_ours(&format!("{text}# mine\n")));
        assert!(!is_ours(&text.replace("forbidden", "allow")));
        assert!(!is_ours(""));
    }
}
