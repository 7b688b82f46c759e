//! Which findings count: what the command line, the project's file and the baseline say.
//!
//! Every rule is asked always; what does not count is taken out afterwards. What the command line
//! leaves out goes without a trace. What the project's own files silence stays, marked, and is
//! counted, since the project may not be the reader's friend.

use super::baseline::Baseline;
use super::config::Config;
use super::finding::{Finding, Silenced};
use super::run::Judged;
use super::{Report, Severity, Source};

/// What counts.
#[derive(Debug, Default)]
pub struct Choice {
    /// `--select`: the rules that count. It takes the place of the project's own selection.
    pub select: Option<Vec<&'static str>>,
    /// `--ignore`: rules that do not count.
    pub ignore: Vec<&'static str>,
    /// The project's file.
    pub config: Config,
    /// The baseline.
    pub baseline: Option<Baseline>,
    /// `--no-ignore`: nothing that the project says silences a finding or makes it milder.
    pub all: bool,
}

impl Choice {
    /// Takes out and marks what does not count.
    pub fn apply(&self, report: &mut Report) {
        for file in &mut report.files {
            file.findings.retain(|finding| self.is_asked(finding));
            let verdicts: Vec<Verdict> = file
                .findings
                .iter()
                .map(|finding| self.judge(file, finding))
                .collect();
            for (finding, verdict) in file.findings.iter_mut().zip(verdicts) {
                report.milder += usize::from(verdict.severity < finding.severity);
                finding.severity = verdict.severity;
                finding.silenced = verdict.silenced;
            }
        }
        report.files.retain(|file| !file.findings.is_empty());
    }

    fn is_asked(&self, finding: &Finding) -> bool {
        let id = finding.rule.id;
        let selected = self
            .select
            .as_ref()
            .is_none_or(|select| select.contains(&id));
        selected && !self.ignore.contains(&id)
    }

    fn judge(&self, file: &Judged, finding: &Finding) -> Verdict {
        let id = finding.rule.id;
        let known = || {
            let baseline = self.baseline.as_ref();
            baseline.is_some_and(|baseline| baseline.contains(&finding.fingerprint))
        };
        let wanted = self
            .config
            .severity
            .iter()
            .find(|(rule, _)| *rule == id)
            .map_or(finding.severity, |(_, severity)| *severity);
        if self.all {
            return Verdict {
                severity: wanted.max(finding.severity),
                silenced: None,
            };
        }
        let silenced = finding
            .silenced
            .or_else(|| self.is_off(file, finding).then_some(Silenced::Config))
            .or_else(|| known().then_some(Silenced::Baseline));
        Verdict {
            severity: wanted,
            silenced,
        }
    }

    /// Whether the project's file silences it.
    fn is_off(&self, file: &Judged, finding: &Finding) -> bool {
        let (config, id) = (&self.config, finding.rule.id);
        let selected = || {
            config
                .select
                .as_ref()
                .is_none_or(|select| select.contains(&id))
                && !config.ignore.contains(&id)
        };
        if self.select.is_none() && !selected() {
            return true;
        }
        let here = |entry: &&super::config::PathIgnore| entry.rules.contains(&id);
        if config
            .paths
            .iter()
            .filter(here)
            .any(|entry| entry.pattern.is_match(&file.anchor))
        {
            return true;
        }
        let server = || server_of(finding);
        let package = || package_of(&file.source, finding);
        (finding.severity < Severity::Error
            && !config.servers.is_empty()
            && server().is_some_and(|name| config.servers.iter().any(|known| known == name)))
            || (!config.packages.is_empty()
                && package().is_some_and(|name| config.packages.contains(&name)))
    }
}

struct Verdict {
    severity: Severity,
    silenced: Option<Silenced>,
}

/// The server in whose table the finding is.
fn server_of(finding: &Finding) -> Option<&str> {
    match finding.key.parts() {
        [servers, name, ..] if servers == "mcp_servers" => Some(name),
        _ => None,
    }
}

/// The package without its version that a finding of `launch-unpinned` is about.
fn package_of(source: &Source, finding: &Finding) -> Option<String> {
    if finding.rule.id != super::rules::launch::UNPINNED.id {
        return None;
    }
    let text = source.text().get(finding.span().range())?;
    let word = text.trim_matches(['"', '\'']);
    // A scope starts with `@`, a version follows one; Python writes `==`, images `:`.
    let end = word
        .char_indices()
        .skip(1)
        .find(|(_, c)| matches!(c, '@' | '=' | '<' | '>' | '~' | '!' | '['))
        .map_or(word.len(), |(at, _)| at);
    // An image's tag stands behind the last colon, unless that is the registry's port.
    let name = match word[..end].rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => &word[..end],
    };
    Some(name.to_owned())
}
