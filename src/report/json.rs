//! Findings as JSON, for programs. [`VERSION`] counts up when a field changes its meaning or goes.

use serde::Serialize;

use super::Severity;
use super::region::{Region, open_fix};
use super::rule;
use crate::lint::{Finding, Report, Silenced, Source};

/// The version of this shape.
pub const VERSION: u32 = 1;

#[derive(Serialize)]
struct Output<'a> {
    version: u32,
    findings: Vec<Item<'a>>,
    summary: Summary,
}

#[derive(Serialize)]
struct Item<'a> {
    rule: &'a str,
    severity: &'a str,
    confidence: &'a str,
    /// Relative to the working folder where it lies below it, with `/`.
    path: &'a str,
    #[serde(flatten)]
    region: Region,
    /// The path of keys, where there is one.
    #[serde(skip_serializing_if = "String::is_empty")]
    key: String,
    message: &'a str,
    /// Words for the marked text.
    #[serde(skip_serializing_if = "str::is_empty")]
    label: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    helps: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<Related<'a>>,
    /// Left out where it could tell a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<Fix<'a>>,
    fingerprint: &'a str,
}

#[derive(Serialize)]
struct Related<'a> {
    #[serde(flatten)]
    region: Region,
    message: &'a str,
}

#[derive(Serialize)]
struct Fix<'a> {
    grade: &'a str,
    edits: Vec<Edit<'a>>,
}

#[derive(Serialize)]
struct Edit<'a> {
    #[serde(flatten)]
    region: Region,
    text: &'a str,
}

#[derive(Serialize)]
struct Summary {
    files: usize,
    errors: usize,
    warnings: usize,
    infos: usize,
    silenced: Silence,
    milder: usize,
}

/// How many findings the project's own files keep from being shown.
#[derive(Serialize)]
pub(super) struct Silence {
    comments: usize,
    config: usize,
    baseline: usize,
}

impl Silence {
    pub(super) fn of(report: &Report) -> Self {
        Self {
            comments: report.silenced(Silenced::Comment),
            config: report.silenced(Silenced::Config),
            baseline: report.silenced(Silenced::Baseline),
        }
    }
}

/// All findings as one line of JSON, without a line feed.
pub fn findings(report: &Report) -> String {
    let findings = report
        .findings()
        .map(|(source, finding)| item(source, finding))
        .collect();
    let output = Output {
        version: VERSION,
        findings,
        summary: Summary {
            files: report.judged,
            errors: report.count(Severity::Error),
            warnings: report.count(Severity::Warning),
            infos: report.count(Severity::Info),
            silenced: Silence::of(report),
            milder: report.milder,
        },
    };
    serde_json::to_string(&output).expect("texts and numbers always serialise")
}

fn item<'a>(source: &'a Source, finding: &'a Finding) -> Item<'a> {
    let edit = |edit: &'a crate::document::Edit| Edit {
        region: Region::of(source, edit.span),
        text: &edit.text,
    };
    Item {
        rule: finding.rule.id,
        severity: finding.severity.name(),
        confidence: rule::confidence(finding.rule.confidence),
        path: &source.subject.shown,
        region: Region::of(source, finding.span()),
        key: crate::text::visible::visible(&finding.key.to_string()).into_owned(),
        message: &finding.message,
        label: &finding.label,
        notes: finding.notes.iter().map(AsRef::as_ref).collect(),
        helps: finding.helps.iter().map(AsRef::as_ref).collect(),
        related: finding
            .related
            .iter()
            .map(|(span, message)| Related {
                region: Region::of(source, *span),
                message,
            })
            .collect(),
        fix: open_fix(source, finding).map(|fix| Fix {
            grade: rule::grade(fix.grade),
            edits: fix.edits.iter().map(edit).collect(),
        }),
        fingerprint: &finding.fingerprint,
    }
}
