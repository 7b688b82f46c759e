//! JSON Schemas of what codexgate reads and writes: the project's file, the baseline, the outputs.
//!
//! They describe; the readers and writers decide. Tests hold each against real outputs, and the
//! project's file against its reader. Outputs may gain fields within one version, so a reader must
//! take unknown ones; files that codexgate reads may not have any.

use serde_json::{Value, json};

use crate::lint::registry::RULES;
use crate::lint::{baseline, config};

/// The draft that all of them follow.
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Name {
    /// `.codex/codexgate.toml`
    Config,
    /// The file of `lint --baseline`
    Baseline,
    /// The output of `lint --format json`
    Lint,
    /// The output of `rules --format json`
    Rules,
    /// The output of `install --format json`
    Install,
    /// The output of `uninstall --format json`
    Uninstall,
}

impl Name {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Config,
        Self::Baseline,
        Self::Lint,
        Self::Rules,
        Self::Install,
        Self::Uninstall,
    ];

    /// The name of its file in docs/schema.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Config => "config.json",
            Self::Baseline => "baseline.json",
            Self::Lint => "lint.json",
            Self::Rules => "rules.json",
            Self::Install => "install.json",
            Self::Uninstall => "uninstall.json",
        }
    }
}

/// The schema, over several lines.
pub fn schema(name: Name) -> String {
    let (title, mut body) = match name {
        Name::Config => ("codexgate.toml: what a project asks of codexgate", config()),
        Name::Baseline => ("a baseline of codexgate lint", baseline()),
        Name::Lint => ("codexgate lint --format json", lint()),
        Name::Rules => ("codexgate rules --format json", rules()),
        Name::Install => ("codexgate install --format json", plan("install")),
        Name::Uninstall => ("codexgate uninstall --format json", plan("uninstall")),
    };
    let mut out = json!({ "$schema": DRAFT, "title": title });
    if let (Some(out), Some(body)) = (out.as_object_mut(), body.as_object_mut()) {
        out.append(body);
    }
    let text = serde_json::to_string_pretty(&out).expect("a tree of JSON always serialises");
    format!("{text}\n")
}

/// An object whose fields are all there, but for those in `optional`.
fn object(fields: &Value, optional: &[&str]) -> Value {
    let names = fields
        .as_object()
        .into_iter()
        .flat_map(|fields| fields.keys());
    let required: Vec<&String> = names
        .filter(|name| !optional.contains(&name.as_str()))
        .collect();
    json!({ "type": "object", "properties": fields, "required": required })
}

fn closed(mut object: Value) -> Value {
    object["additionalProperties"] = json!(false);
    object
}

fn list(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn truth() -> Value {
    json!({ "type": "boolean" })
}

fn one_of(words: &[&str]) -> Value {
    json!({ "enum": words })
}

fn rule_id() -> Value {
    json!({ "enum": RULES.iter().map(|rule| rule.id).collect::<Vec<_>>() })
}

fn severity() -> Value {
    one_of(&["error", "warning", "info"])
}

fn described(mut schema: Value, words: &str) -> Value {
    schema["description"] = json!(words);
    schema
}

fn config() -> Value {
    let rules = list(&rule_id());
    let by_rule = json!({
        "type": "object",
        "propertyNames": rule_id(),
        "additionalProperties": severity(),
    });
    let by_path = json!({ "type": "object", "additionalProperties": rules });
    let keys = json!({
        "select": described(rules.clone(), "The rules that count; all, if not given."),
        "ignore": described(rules.clone(), "Rules that do not count."),
        "severity": described(by_rule, "Rules with another severity."),
        "per-path-ignores": described(by_path, "By patterns of paths from the repository's top: rules that do not count there. `*` stays within a name, `**` does not."),
        "allowed-servers": described(list(&text()), "Servers whose findings are accepted, unless they are errors."),
        "allowed-packages": described(list(&text()), "Packages that need no pinned version."),
    });
    let all: Vec<&str> = config::KEYS.to_vec();
    let mut root = serde_json::Map::new();
    root.insert("lint".to_owned(), closed(object(&keys, &all)));
    for other in config::OTHERS {
        root.insert((*other).to_owned(), json!(true));
    }
    let names: Vec<&str> = root.keys().map(String::as_str).collect();
    closed(object(&Value::Object(root.clone()), &names))
}

fn baseline() -> Value {
    let entry = json!({
        "path": described(text(), "The file, from the repository's top; for the reader alone."),
        "rule": described(text(), "The rule; for the reader alone."),
        "fingerprint": described(text(), "What the finding is known by."),
    });
    closed(object(
        &json!({
            "version": { "const": baseline::VERSION },
            "findings": list(&closed(object(&entry, &[]))),
        }),
        &[],
    ))
}

/// The fields of a range, in front of `more`.
fn region(more: Value) -> Value {
    let mut fields = json!({
        "line": described(count(), "From 1, as the other three; columns count Unicode scalar values."),
        "column": count(),
        "end_line": count(),
        "end_column": described(count(), "Behind the last character."),
    });
    if let (Some(fields), Value::Object(mut more)) = (fields.as_object_mut(), more) {
        fields.append(&mut more);
    }
    fields
}

fn lint() -> Value {
    let edit = object(&region(json!({ "text": text() })), &[]);
    let fix = object(
        &json!({ "grade": one_of(&["safe", "unsafe"]), "edits": list(&edit) }),
        &[],
    );
    let related = object(&region(json!({ "message": text() })), &[]);
    let finding = region(json!({
        "rule": rule_id(),
        "severity": severity(),
        "confidence": one_of(&["low", "medium", "high"]),
        "path": described(text(), "Relative to the working folder where it lies below it."),
        "key": described(text(), "The path of keys."),
        "message": text(),
        "label": described(text(), "Words for the marked text."),
        "notes": described(list(&text()), "What Codex does with it."),
        "helps": described(list(&text()), "The way out."),
        "related": list(&related),
        "fix": described(fix, "Left out where it could tell a secret."),
        "fingerprint": described(text(), "Stays when lines move."),
    }));
    let silenced = json!({ "comments": count(), "config": count(), "baseline": count() });
    let summary = json!({
        "files": count(),
        "errors": count(),
        "warnings": count(),
        "infos": count(),
        "silenced": described(object(&silenced, &[]), "Findings that the project's own files keep from being shown."),
        "milder": described(count(), "Findings that the project's file made milder."),
    });
    let optional = ["key", "label", "notes", "helps", "related", "fix"];
    object(
        &json!({
            "version": { "const": super::json::VERSION },
            "findings": list(&object(&finding, &optional)),
            "summary": object(&summary, &[]),
        }),
        &[],
    )
}

fn rules() -> Value {
    let example = object(
        &json!({ "path": text(), "disk": list(&text()), "text": text(), "fixed": text() }),
        &["disk", "fixed"],
    );
    let rule = json!({
        "id": text(),
        "severity": severity(),
        "confidence": one_of(&["low", "medium", "high"]),
        "since": described(text(), "The oldest version of Codex that it was proven on."),
        "until": described(text(), "The newest one."),
        "says": text(),
        "why": text(),
        "fixes": list(&one_of(&["safe", "unsafe"])),
        "bad": list(&example),
        "good": list(&example),
    });
    object(
        &json!({
            "version": { "const": super::rule::VERSION },
            "rules": list(&object(&rule, &[])),
        }),
        &[],
    )
}

fn plan(command: &str) -> Value {
    let change = object(
        &json!({ "part": text(), "key": text(), "action": one_of(&["added", "replaced", "removed"]) }),
        &[],
    );
    let file = json!({
        "path": text(),
        "created": truth(),
        "removed": truth(),
        "changes": list(&change),
        "diff": described(text(), "Values that look like secrets are hidden."),
    });
    let place = object(
        &json!({ "path": text(), "line": count(), "column": count() }),
        &[],
    );
    let collision = json!({
        "part": text(),
        "path": text(),
        "key": text(),
        "kind": text(),
        "message": text(),
        "place": { "anyOf": [place, { "type": "null" }] },
        "by_hand": described(json!({ "type": ["string", "null"] }), "What to add by hand."),
        "replaceable": truth(),
    });
    let skipped = json!({ "part": text(), "path": text(), "key": text() });
    object(
        &json!({
            "version": { "const": super::plan::VERSION },
            "command": { "const": command },
            "changed": truth(),
            "written": truth(),
            "files": list(&object(&file, &[])),
            "collisions": list(&object(&collision, &[])),
            "skipped": list(&object(&skipped, &[])),
            "notes": list(&text()),
        }),
        &[],
    )
}
