//! Findings as text for a person: what, where with the line, what Codex does, the way out.

use super::{Diagnostic, Excerpt, Severity};
use crate::document::Span;
use crate::lint::finding::Mark;
use crate::lint::run::Phase;
use crate::lint::{Finding, Report, Silenced, Source};

/// One finding.
pub fn finding(source: &Source, finding: &Finding) -> Diagnostic {
    let path = source.subject.shown.as_str();
    let place = match finding.mark {
        Mark::File => Excerpt::file(path),
        Mark::Span(span) => excerpt(source, span),
    };
    let mut diagnostic = Diagnostic::new(finding.severity, finding.message.as_ref())
        .id(finding.rule.id)
        .at(place.label(finding.label.as_ref()));
    for (span, label) in &finding.related {
        let place = excerpt(source, *span);
        diagnostic = diagnostic.at(place.label(label.as_ref()));
    }
    for note in &finding.notes {
        diagnostic = diagnostic.note(note.as_ref());
    }
    for help in &finding.helps {
        diagnostic = diagnostic.help(help.as_ref());
    }
    diagnostic
}

fn excerpt(source: &Source, span: Span) -> Excerpt {
    Excerpt::hiding(
        source.subject.shown.as_str(),
        source.text(),
        source.lines(),
        span,
        &source.hidden,
    )
}

/// The last lines: how many of each, in how many files, and what the project silences.
pub fn summary(report: &Report) -> String {
    if report.judged == 0 {
        return "no Codex files here".to_owned();
    }
    let files = count(report.judged, "file");
    let parts: Vec<String> = [Severity::Error, Severity::Warning, Severity::Info]
        .into_iter()
        .map(|severity| (report.count(severity), severity.name()))
        .filter(|(number, _)| *number > 0)
        .map(|(number, name)| match name {
            "info" => format!("{number} info"),
            _ => count(number, name),
        })
        .collect();
    let found = if parts.is_empty() {
        format!("no findings in {files}")
    } else {
        format!("{} in {files}", parts.join(", "))
    };
    let by = [
        (report.silenced(Silenced::Comment), "by comments"),
        (report.silenced(Silenced::Config), "by codexgate.toml"),
        (report.silenced(Silenced::Baseline), "by the baseline"),
    ];
    let mut hidden: Vec<String> = by
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, how)| format!("{number} silenced {how}"))
        .collect();
    if report.milder > 0 {
        hidden.push(format!("{} made milder by codexgate.toml", report.milder));
    }
    if hidden.is_empty() {
        found
    } else {
        format!(
            "{found}\nbeside that: {} (`--no-ignore` undoes it)",
            hidden.join(", ")
        )
    }
}

/// What a run does just now, in a short line.
pub fn phase(phase: Phase) -> String {
    match phase {
        Phase::Looking => "looking for Codex's files".to_owned(),
        Phase::Reading(done, all) => format!("read {done} of {}", count(all, "file")),
        Phase::Judging(done, all) => format!("judged {done} of {}", count(all, "file")),
    }
}

/// `1 file`, `2 files`.
pub fn count(number: usize, name: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {name}{plural}")
}
