//! Findings as JSON, for programs. [`VERSION`] counts up when a field changes its meaning or goes.

use serde::Serialize;

use crate::document::LineColumn;
use crate::lint::{Finding, Report, Source};

/// The version of this shape.
pub const VERSION: u32 = 1;

#[derive(Serialize)]
struct Output<'a> {
    version: u32,
    findings: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Item<'a> {
    rule: &'a str,
    severity: &'a str,
    /// Relative to the working folder where it lies below it, with `/`.
    path: &'a str,
    /// From 1, as the other three; columns count Unicode scalar values.
    line: usize,
    column: usize,
    end_line: usize,
    /// The column behind the last marked character.
    end_column: usize,
    message: &'a str,
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
    };
    serde_json::to_string(&output).expect("texts and numbers always serialise")
}

fn item<'a>(source: &'a Source, finding: &'a Finding) -> Item<'a> {
    let span = finding.span();
    let locate = |at| -> LineColumn { source.lines().locate(source.text(), at) };
    let (start, end) = (locate(span.start), locate(span.end));
    Item {
        rule: finding.rule.id,
        severity: finding.severity.name(),
        path: &source.subject.shown,
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        message: &finding.message,
    }
}
