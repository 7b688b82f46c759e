//! A plan as text for people and as JSON: diffs, collisions, what was skipped.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::diagnostic::{Diagnostic, Excerpt};
use super::diff;
use crate::document::style::Style;
use crate::document::{Document, LineIndex, Value};
use crate::files::Found;
use crate::plan::draft::{Action, Outcome};
use crate::plan::{Collision, CollisionKind, FilePlan, Plan, secret};
use crate::text::redact;

/// The version of the JSON form.
pub const VERSION: u32 = 1;

/// `path` as people write it: relative to `cwd` where it lies below.
pub fn shown(cwd: &Path, path: &Path) -> String {
    path.strip_prefix(cwd).unwrap_or(path).display().to_string()
}

/// The diffs of all files.
pub fn diffs(plan: &Plan, cwd: &Path) -> String {
    plan.files
        .iter()
        .map(|file| file_diff(file, &shown(cwd, &file.path)))
        .collect()
}

fn file_diff(file: &FilePlan, name: &str) -> String {
    let before = matches!(file.found, Found::File(_)).then_some(file.before.as_str());
    let after = match &file.outcome {
        Outcome::Text(text) => Some(text.as_str()),
        Outcome::Removed => None,
    };
    diff::unified(name, before, after)
}

/// A collision as a message.
pub fn collision(collision: &Collision, cwd: &Path) -> Diagnostic {
    let part = collision.part.name();
    let (title, label) = match &collision.kind {
        CollisionKind::Differs { present, wanted } => (
            format!("{part}: `{}` is there with another value", collision.path),
            format!(
                "here {}, wanted {}; nothing was written",
                in_words(collision, present),
                in_words(collision, wanted)
            ),
        ),
        CollisionKind::Transport { key } => (
            format!("{part} is there with another transport"),
            format!("`{key}` stands against the wanted one; nothing was written"),
        ),
        CollisionKind::NoPlace { why } => (
            format!("{part}: no safe place for `{}`", collision.path),
            format!("{why}; nothing was written"),
        ),
        CollisionKind::Taken { why } => {
            (format!("{part}: {why}"), "nothing was written".to_owned())
        }
        CollisionKind::Refused { why } => (
            format!("{part}: {why}"),
            "this makes the difference; nothing was written".to_owned(),
        ),
        CollisionKind::ElicitationsOff { why } => (
            format!("{part}: servers' questions would not reach a person"),
            format!("{why}; nothing was written"),
        ),
    };
    let mut message = Diagnostic::error(title);
    message = match &collision.source {
        Some(source) => {
            let lines = LineIndex::new(&source.text);
            let mut place =
                Excerpt::text(shown(cwd, &source.path), &source.text, &lines, source.span);
            if let CollisionKind::Differs {
                present: Value::String(text),
                ..
            } = &collision.kind
                && secret::looks_secret(collision.path.last(), text)
            {
                place = place.redacted(&redact::secret(text));
            }
            message.at(place.label(label))
        }
        None => message
            .at(Excerpt::file(shown(cwd, &collision.file)))
            .note(label),
    };
    if !collision.by_hand.is_empty() {
        message = message.note(format!("to write it by hand:\n{}", collision.by_hand));
    }
    if collision.replaceable {
        message
            .help("keep yours with `--on-collision skip`, take ours with `--on-collision replace`")
    } else if matches!(collision.kind, CollisionKind::NoPlace { .. }) {
        message.help("bring the file into another shape, or add the text by hand")
    } else {
        message
    }
}

fn in_words(collision: &Collision, value: &Value) -> String {
    /// Characters of a value in a message.
    const SHOWN: usize = 60;
    if let Value::String(text) = value
        && secret::looks_secret(collision.path.last(), text)
    {
        return redact::secret(text);
    }
    if matches!(value, Value::Table(_)) {
        return "a table".to_owned();
    }
    let text = print(value);
    if text.chars().count() <= SHOWN {
        return format!("`{text}`");
    }
    let cut: String = text.chars().take(SHOWN).collect();
    format!("`{cut}…`")
}

fn print(value: &Value) -> String {
    Document::parse("").map_or_else(
        |_| String::new(),
        |document| Style::of(&document, None).value(value),
    )
}

/// The plan as JSON. `written` says whether it has been written.
pub fn json(plan: &Plan, cwd: &Path, command: &str, written: bool) -> Json {
    json!({
        "version": VERSION,
        "command": command,
        "changed": !plan.is_empty(),
        "written": written,
        "files": plan.files.iter().map(|file| file_json(file, cwd)).collect::<Vec<_>>(),
        "collisions": plan.collisions.iter().map(|c| collision_json(c, cwd)).collect::<Vec<_>>(),
        "skipped": plan.skipped.iter().map(|skipped| json!({
            "part": skipped.part.name(),
            "path": shown(cwd, &skipped.file),
            "key": skipped.path.to_string(),
        })).collect::<Vec<_>>(),
        "notes": plan.notes,
    })
}

fn file_json(file: &FilePlan, cwd: &Path) -> Json {
    let name = shown(cwd, &file.path);
    let colored = file_diff(file, &name);
    json!({
        "path": name,
        "created": matches!(file.found, Found::Missing),
        "removed": file.outcome == Outcome::Removed,
        "changes": file.steps.iter().map(|step| json!({
            "part": step.part.name(),
            "key": step.path.to_string(),
            "action": match step.action {
                Action::Added { .. } => "added",
                Action::Replaced { .. } => "replaced",
                Action::Removed { .. } => "removed",
            },
        })).collect::<Vec<_>>(),
        "diff": anstream::adapter::strip_str(&colored).to_string(),
    })
}

fn collision_json(collision: &Collision, cwd: &Path) -> Json {
    let (kind, why) = match &collision.kind {
        CollisionKind::Differs { present, wanted } => (
            "differs",
            format!(
                "here {}, wanted {}",
                in_words(collision, present),
                in_words(collision, wanted)
            ),
        ),
        CollisionKind::Transport { key } => (
            "transport",
            format!("`{key}` stands against the wanted one"),
        ),
        CollisionKind::NoPlace { why } => ("no-place", why.clone()),
        CollisionKind::Taken { why } => ("taken", why.clone()),
        CollisionKind::Refused { why } => ("refused", why.clone()),
        CollisionKind::ElicitationsOff { why } => ("elicitations-off", why.clone()),
    };
    let place = collision.source.as_ref().map(|source| {
        let at = LineIndex::new(&source.text).locate(&source.text, source.span.start);
        json!({ "path": shown(cwd, &source.path), "line": at.line, "column": at.column })
    });
    json!({
        "part": collision.part.name(),
        "path": shown(cwd, &collision.file),
        "key": collision.path.to_string(),
        "kind": kind,
        "message": why,
        "place": place,
        "by_hand": collision.by_hand,
        "replaceable": collision.replaceable,
    })
}
