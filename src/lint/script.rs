//! The files that start programs beside Codex's own: workflows, shell scripts, Makefiles, package
//! manifests, Dockerfiles. `--scripts` brings them, for the rule about flags that drop the gate.
//!
//! They are known by name and by their first line, and read as lines of a shell. Nothing is judged
//! in a file that does not name Codex, and nothing about its encoding or its size.

use std::path::Path;

use super::disk::Disk;
use super::file::{Kind, Source, Subject};
use super::json;
use super::shell::{self, ShellWord};
use crate::document::{Node, Span};

/// What a script must hold to be looked into: nothing else can drop the gate of a Codex.
const NAMED: &[&str] = &[
    "codex",
    "CODEX",
    "dangerously-bypass-approvals",
    "danger-full-access",
];

/// Whether a file of this name may start programs, as far as the name tells.
pub fn is_script(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return false;
    };
    let lower = name.to_ascii_lowercase();
    let suffix = path
        .extension()
        .and_then(|suffix| suffix.to_str())
        .unwrap_or_default();
    match suffix {
        "sh" | "bash" | "zsh" | "mk" | "just" | "dockerfile" => true,
        "yml" | "yaml" => is_workflow(path, &lower),
        _ => {
            matches!(
                lower.as_str(),
                "package.json" | "justfile" | "makefile" | "gnumakefile"
            ) || lower == "dockerfile"
                || lower.starts_with("dockerfile.")
                || lower == "containerfile"
        }
    }
}

fn is_workflow(path: &Path, name: &str) -> bool {
    let below = |folder: &str| {
        path.parent()
            .is_some_and(|above| above.components().any(|part| part.as_os_str() == folder))
    };
    below(".github") || below(".circleci") || below(".buildkite") || name.starts_with(".gitlab-ci")
}

/// Whether a file without a suffix is worth a look at its first line.
pub fn may_be_script(path: &Path) -> bool {
    path.extension().is_none()
}

/// The first bytes of a script.
pub const SHEBANG: &[u8] = b"#!";

/// The script, if it names Codex.
pub fn read(subject: Subject, bytes: Vec<u8>) -> Option<Source> {
    let named = NAMED.iter().any(|word| {
        bytes
            .windows(word.len())
            .any(|window| window == word.as_bytes())
    });
    named.then(|| {
        let mut source = Source::parse(subject, bytes);
        source.disk = Disk::default();
        source
    })
}

/// One word that a command has, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The word without quotes.
    pub text: String,
    /// Where it stands in the file.
    pub span: Span,
}

/// The commands of a script, each with its words.
pub fn commands(source: &Source) -> Vec<Vec<Piece>> {
    if source.subject.kind != Kind::Script {
        return Vec::new();
    }
    let text = source.text();
    let path = &source.subject.path;
    if path.file_name().is_some_and(|name| name == "package.json") {
        return of_manifest(text);
    }
    let is_yaml = path
        .extension()
        .is_some_and(|suffix| suffix == "yml" || suffix == "yaml");
    let mut found = Vec::new();
    for (start, line) in logical_lines(text) {
        let bare = line.trim_start().trim_start_matches("- ");
        if is_yaml
            && ["name:", "description:", "#"]
                .iter()
                .any(|key| bare.starts_with(key))
        {
            continue;
        }
        for command in shell::commands(line) {
            if !is_talk(&command) {
                let mut pieces = Vec::new();
                for word in &command {
                    let span = Span::new(start + word.start, start + word.end);
                    flatten(&word.text, span, 0, &mut pieces);
                }
                found.push(pieces);
            }
        }
    }
    found
}

/// The lines of a text with where each starts; one that ends in a backslash goes on.
fn logical_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest;
        (start < text.len()).then(|| {
            loop {
                rest = text[rest..]
                    .find('\n')
                    .map_or(text.len(), |at| rest + at + 1);
                let goes_on = text[start..rest]
                    .trim_end_matches(['\n', '\r'])
                    .ends_with('\\');
                if !goes_on || rest == text.len() {
                    break;
                }
            }
            (start, &text[start..rest])
        })
    })
}

/// Whether a command only says or looks for what follows.
fn is_talk(command: &[ShellWord]) -> bool {
    let first = command
        .first()
        .map_or("", |word| word.text.trim_start_matches('@'));
    matches!(
        first,
        "echo" | "printf" | "grep" | "rg" | "egrep" | "git" | "gh" | "info" | "log" | "die"
    )
}

/// The scripts of a `package.json`.
fn of_manifest(text: &str) -> Vec<Vec<Piece>> {
    let Ok(json) = json::parse(text) else {
        return Vec::new();
    };
    let scripts = json.root.child("scripts").and_then(Node::as_table);
    let lines = scripts.into_iter().flatten();
    lines
        .filter_map(|(_, node)| Some((node.as_str()?, node.span)))
        .flat_map(|(line, span)| {
            shell::commands(line).into_iter().map(move |command| {
                let mut pieces = Vec::new();
                for word in &command {
                    flatten(&word.text, span, 0, &mut pieces);
                }
                pieces
            })
        })
        .collect()
}

/// Command lines within command lines: more than anybody writes.
const MAX_NESTING: usize = 4;

/// Takes a word apart that is a command line itself: a string for a shell, a list, the value of a
/// variable. A setting of Codex's, `KEY = VALUE`, stays whole.
pub fn flatten(text: &str, span: Span, depth: usize, pieces: &mut Vec<Piece>) {
    let push = |pieces: &mut Vec<Piece>, text: &str| {
        pieces.push(Piece {
            text: text.to_owned(),
            span,
        });
    };
    let name = text
        .split_once('=')
        .map(|(name, value)| (name.trim(), value));
    let is_key = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
    };
    if text.is_empty() {
        return;
    }
    if depth == MAX_NESTING {
        push(pieces, text);
    } else if let Some((name, value)) = name.filter(|(name, _)| is_key(name)) {
        push(pieces, text);
        // The value of a variable may be flags of a later command.
        if name.bytes().any(|b| b.is_ascii_uppercase()) {
            push(pieces, name);
            flatten(value, span, depth + 1, pieces);
        }
    } else if text.starts_with('[') && text.contains(',') {
        let items = text.trim_matches(['[', ']']).split(',');
        items.for_each(|item| flatten(item.trim(), span, depth + 1, pieces));
    } else if text.contains(char::is_whitespace) {
        for word in shell::commands(text).iter().flatten() {
            flatten(&word.text, span, depth + 1, pieces);
        }
    } else {
        push(pieces, text.trim_matches(['[', ']', ',']));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::Home;

    fn texts(name: &str, text: &str) -> Vec<String> {
        let subject = Subject {
            path: name.into(),
            shown: name.into(),
            kind: Kind::Script,
            home: Home::Loose,
        };
        let source = Source::parse(subject, text.as_bytes().to_vec());
        let join = |pieces: Vec<Piece>| {
            let texts: Vec<String> = pieces.into_iter().map(|piece| piece.text).collect();
            texts.join(" ")
        };
        commands(&source).into_iter().map(join).collect()
    }

    #[test]
    fn scripts_are_known_by_name() {
        for name in [
            "a.sh",
            "Makefile",
            "sub/package.json",
            "Dockerfile.dev",
            ".github/workflows/ci.yml",
            ".gitlab-ci.yml",
            "tools/x.mk",
        ] {
            assert!(is_script(Path::new(name)), "{name}");
        }
        for name in ["a.rs", "values.yaml", "notes.md", "tsconfig.json"] {
            assert!(!is_script(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn each_kind_of_script_gives_its_commands() {
        assert_eq!(
            texts(
                "a.sh",
                "# codex no\ncodex exec \\\n  --x \"it's\"\necho codex\nbash -c 'codex y'\n"
            ),
            ["codex exec --x it's", "bash -c codex y"]
        );
        assert_eq!(
            texts(
                "package.json",
                "{\"scripts\": {\"a\": \"codex x && y\"}, \"b\": \"z\"}"
            ),
            ["codex x", "y"]
        );
        assert_eq!(
            texts(
                "Dockerfile",
                "CMD [\"codex\", \"exec\"]\nENTRYPOINT [\"codex\",\"x\"]\n"
            ),
            ["CMD codex exec", "ENTRYPOINT codex x"]
        );
        assert_eq!(
            texts(
                ".github/a.yml",
                "- name: Don't codex\n  run: codex 'a b=c'\n"
            ),
            ["run: codex a b=c"]
        );
        assert_eq!(
            texts("b.sh", "CODEX_FLAGS='--a b' codex -c 'x = \"y\"'"),
            ["CODEX_FLAGS=--a b CODEX_FLAGS --a b codex -c x = \"y\""]
        );
    }
}
