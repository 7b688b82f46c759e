//! `codexgate schema`: each schema held against what is really read and written.

use serde_json::{Value, json};

use crate::support::Sandbox;

const NAMES: [&str; 6] = [
    "config",
    "baseline",
    "lint",
    "rules",
    "install",
    "uninstall",
];

/// Fails with all that is wrong with `value` by `schema`.
pub fn assert_valid(schema: &Value, value: &Value) {
    let validator = jsonschema::validator_for(schema).expect("it is a schema");
    let wrong: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{}\nin {value}", wrong.join("\n"));
}

fn schema(sandbox: &Sandbox, name: &str) -> Value {
    let text = sandbox.run(["schema", name]);
    let text = text.strip_suffix("--- exit 0\n").expect("it is there");
    serde_json::from_str(text).expect("it is JSON")
}

/// The first line of the output as JSON.
fn output(sandbox: &Sandbox, args: &[&str]) -> Value {
    let text = sandbox.run(args);
    let line = text.lines().next().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The schema with nothing allowed that it does not name, so that a new field is not forgotten.
fn strict(schema: &mut Value) {
    if let Some(object) = schema.as_object_mut() {
        if object.contains_key("properties") {
            object.insert("additionalProperties".to_owned(), json!(false));
        }
        object.values_mut().for_each(strict);
    } else if let Some(items) = schema.as_array_mut() {
        items.iter_mut().for_each(strict);
    }
}

#[test]
fn every_output_is_valid_by_its_schema_and_has_no_other_field() {
    let sandbox = Sandbox::with_state();
    sandbox.write(
        "project/.codex/config.toml",
        "# codexgate: ignore[syntax] never\nsandbox_mode = \"danger-full-access\"\n\
         default_permissions = \"open\"\n[permissions.open.filesystem]\n\":root\" = \"write\"\n\
         [permissions.open.network]\nenabled = true\n[mcp_servers.a]\ncommand = \"npx\"\nargs = [\"a-mcp\"]\n",
    );
    let server = [
        "--server",
        "docs",
        "--yes",
        "--format=json",
        "--",
        "docs-mcp",
    ];
    let install = |more: &[&'static str]| [&["install"], more, &server[..]].concat();
    for (name, args) in [
        ("lint", vec!["lint", "--format=json"]),
        ("rules", vec!["rules", "--format=json"]),
        ("install", install(&["--dry-run"])),
        ("install", install(&[])),
        (
            "install",
            [
                "install",
                "--yes",
                "--format=json",
                "--server",
                "docs",
                "--",
                "other",
            ]
            .to_vec(),
        ),
        (
            "uninstall",
            vec!["uninstall", "--server=docs", "--yes", "--format=json"],
        ),
    ] {
        let mut schema = schema(&sandbox, name);
        strict(&mut schema);
        assert_valid(&schema, &output(&sandbox, &args));
    }
    sandbox.run(["lint", "--write-baseline", "base.json"]);
    let text = sandbox.read("project/base.json");
    let value = serde_json::from_str(&text).expect("it is JSON");
    assert_valid(&schema(&sandbox, "baseline"), &value);
}

#[test]
fn the_projects_file_is_judged_alike_by_schema_and_reader() {
    let sandbox = Sandbox::new();
    let schema = schema(&sandbox, "config");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    for (value, is_right) in [
        (json!({}), true),
        (json!({ "allow": ["x"], "deny": {} }), true),
        (
            json!({ "lint": { "select": ["syntax"], "severity": { "syntax": "info" } } }),
            true,
        ),
        (
            json!({ "lint": { "per-path-ignores": { "a/**": ["syntax"] } } }),
            true,
        ),
        (
            json!({ "lint": { "allowed-servers": ["a"], "allowed-packages": [] } }),
            true,
        ),
        (json!({ "lnt": {} }), false),
        (json!({ "lint": { "selekt": [] } }), false),
        (json!({ "lint": { "select": ["sintax"] } }), false),
        (
            json!({ "lint": { "severity": { "syntax": "fatal" } } }),
            false,
        ),
        (json!({ "lint": { "severity": { "sin": "info" } } }), false),
        (json!({ "lint": { "allowed-servers": "a" } }), false),
        (
            json!({ "lint": { "per-path-ignores": { "a": "syntax" } } }),
            false,
        ),
        (json!({ "lint": [] }), false),
    ] {
        assert_eq!(validator.is_valid(&value), is_right, "{value}");
        let text = toml_of(&value).expect("it is TOML, too");
        let read = codexgate::lint::config::parse(&text);
        assert_eq!(read.is_ok(), is_right, "{text}");
    }
}

#[test]
fn every_schema_is_one() {
    let sandbox = Sandbox::new();
    for name in NAMES {
        let schema = schema(&sandbox, name);
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
    }
}

/// As TOML: JSON's texts and lists are TOML's, and every table is written inline.
fn toml_of(value: &Value) -> Result<String, std::fmt::Error> {
    use std::fmt::Write as _;
    fn inline(value: &Value) -> String {
        match value {
            Value::Object(members) => {
                let pairs: Vec<String> = members
                    .iter()
                    .map(|(key, value)| format!("{} = {}", json!(key), inline(value)))
                    .collect();
                format!("{{ {} }}", pairs.join(", "))
            }
            other => other.to_string(),
        }
    }
    let mut out = String::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        writeln!(out, "{} = {}", json!(key), inline(value))?;
    }
    Ok(out)
}
