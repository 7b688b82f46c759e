//! Findings as SARIF 2.1.0, for code scanning.
//!
//! Files of the repository are named from its top, as the services expect; others by their whole
//! address. Columns count Unicode scalar values. The test holds the output against the schema of
//! the standard. No piece of a file is in it but what messages quote and what fixes write anew.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::json::Silence;
use super::region::{Region, open_fix};
use super::{Severity, rule};
use crate::codex::Site;
use crate::document::Span;
use crate::lint::finding::Mark;
use crate::lint::registry::RULES;
use crate::lint::{Finding, Report, Rule, Source};

/// Where the schema is published.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The name of our fingerprint; its number counts up when the same finding gets another one.
const FINGERPRINT: &str = "codexgate/v1";

/// All findings as one line of JSON, without a line feed.
pub fn findings(report: &Report, site: &Site) -> String {
    let results: Vec<Value> = report
        .findings()
        .map(|(source, finding)| result(source, finding, site))
        .collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "codexgate",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": RULES.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { "%SRCROOT%": { "description": { "text": "the top of the repository" } } },
            "results": results,
            "properties": {
                "files": report.judged,
                "silenced": Silence::of(report),
                "milder": report.milder,
            },
        }],
    })
    .to_string()
}

fn descriptor(known: &Rule) -> Value {
    json!({
        "id": known.id,
        "shortDescription": { "text": known.says },
        "fullDescription": { "text": known.why },
        "help": { "text": known.why, "markdown": rule::help(known) },
        "defaultConfiguration": { "level": level(known.severity) },
        "properties": {
            "precision": match rule::confidence(known.confidence) {
                "high" => "very-high",
                "medium" => "high",
                _ => "low",
            },
            "tags": ["security", "codex"],
        },
    })
}

fn result(source: &Source, finding: &Finding, site: &Site) -> Value {
    let artifact = artifact(source, site);
    let mut text = finding.message.to_string();
    for more in finding.notes.iter().chain(&finding.helps) {
        text.push_str("\n\n");
        text.push_str(more);
    }
    let place = match finding.mark {
        Mark::File => json!({ "artifactLocation": artifact }),
        Mark::Span(span) => {
            json!({ "artifactLocation": artifact, "region": region(source, span) })
        }
    };
    let index = RULES
        .iter()
        .position(|rule| rule.id == finding.rule.id)
        .expect("a finding's rule is of the registry");
    let mut result = json!({
        "ruleId": finding.rule.id,
        "ruleIndex": index,
        "level": level(finding.severity),
        "message": { "text": text },
        "locations": [{ "physicalLocation": place }],
        "partialFingerprints": { FINGERPRINT: finding.fingerprint },
    });
    if !finding.related.is_empty() {
        let related = finding.related.iter().map(|(span, label)| {
            json!({
                "physicalLocation": {
                    "artifactLocation": artifact,
                    "region": region(source, *span),
                },
                "message": { "text": label },
            })
        });
        result["relatedLocations"] = related.collect();
    }
    if let Some(fix) = open_fix(source, finding) {
        let replacements = fix.edits.iter().map(|edit| {
            json!({
                "deletedRegion": region(source, edit.span),
                "insertedContent": { "text": edit.text },
            })
        });
        result["fixes"] = json!([{
            "description": { "text": format!("{} fix", rule::grade(fix.grade)) },
            "artifactChanges": [{
                "artifactLocation": artifact,
                "replacements": replacements.collect::<Vec<_>>(),
            }],
        }]);
    }
    result
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn region(source: &Source, span: Span) -> Value {
    let region = Region::of(source, span);
    json!({
        "startLine": region.line,
        "startColumn": region.column,
        "endLine": region.end_line,
        "endColumn": region.end_column,
    })
}

fn artifact(source: &Source, site: &Site) -> Value {
    let path = &source.subject.path;
    let top = site.git_root.as_deref().unwrap_or(&site.project);
    match path.strip_prefix(top) {
        Ok(below) => json!({ "uri": uri(below), "uriBaseId": "%SRCROOT%" }),
        Err(_) => json!({ "uri": format!("file://{}", uri(path)) }),
    }
}

/// A path as the path of an address: everything but plain characters and `/` by its bytes.
fn uri(path: &Path) -> String {
    let mut out = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            out.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_an_address_byte_by_byte() {
        assert_eq!(uri(Path::new("a b/ü%.toml")), "a%20b/%C3%BC%25.toml");
        assert_eq!(uri(Path::new(".codex/config.toml")), ".codex/config.toml");
    }
}
