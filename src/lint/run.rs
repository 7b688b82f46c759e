//! Reads each file once, parses it once, and asks every rule.

use std::path::{Path, PathBuf};

use super::discover::{self, discover};
use super::file::{ConfigFile, Kind, Source};
use super::finding::{Finding, Findings};
use super::hooks::HooksFile;
use super::registry::RULES;
use super::{Check, Severity};
use crate::codex::Site;
use crate::codex::version::Version;
use crate::files::{self, Found};

/// One file and what was found in it.
#[derive(Debug)]
pub struct Judged {
    /// The file.
    pub source: Source,
    /// What was found, in the order of the text.
    pub findings: Vec<Finding>,
}

/// All files of one run, in the order of their paths.
#[derive(Debug, Default)]
pub struct Report {
    /// The files that have findings.
    pub files: Vec<Judged>,
    /// How many files were judged, those without a finding included.
    pub judged: usize,
}

impl Report {
    /// Each finding with its file, in order.
    pub fn findings(&self) -> impl Iterator<Item = (&Source, &Finding)> {
        self.files.iter().flat_map(|file| {
            file.findings
                .iter()
                .map(move |finding| (&file.source, finding))
        })
    }

    /// How many findings are of `severity`.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings()
            .filter(|(_, finding)| finding.severity == severity)
            .count()
    }

    /// The gravest finding.
    pub fn worst(&self) -> Option<Severity> {
        self.findings().map(|(_, finding)| finding.severity).max()
    }
}

/// Judges the files below `paths`, or the project's where there are none.
///
/// # Errors
/// A path that is not there, or a file that is none of Codex's. A file that cannot be read is no
/// error: it is a finding.
pub fn run(site: &Site, paths: &[PathBuf], version: Version) -> Result<Report, discover::Error> {
    let mut report = Report::default();
    for found in discover(site, paths)? {
        let source = match found {
            discover::Found::Closed(subject, why) => Source::unreadable(subject, why),
            discover::Found::File(subject) => match read(&subject.path) {
                Ok(Some(bytes)) => Source::parse(subject, bytes),
                // It went away between looking and reading.
                Ok(None) => continue,
                Err(why) => Source::unreadable(subject, why),
            },
        };
        report.judged += 1;
        let findings = judge(&source, version);
        if !findings.is_empty() {
            report.files.push(Judged { source, findings });
        }
    }
    Ok(report)
}

/// Asks every rule about one file, for one version of Codex.
pub fn judge(source: &Source, version: Version) -> Vec<Finding> {
    let mut found = Findings::new(source);
    let view = ConfigFile::new(source, version);
    let config = view.filter(|file| file.kind().is_config());
    let requirements = view.filter(|file| file.kind() == Kind::Requirements);
    let hooks = HooksFile::new(source, version);
    for rule in RULES {
        match rule.check {
            Check::Source(check) => check(source, &mut found),
            Check::File(check) => {
                if let Some(file) = &config {
                    check(file, &mut found);
                }
            }
            Check::Hooks(check) => {
                if let Some(hooks) = &hooks {
                    check(hooks, &mut found);
                }
            }
            Check::Requirements(check) => {
                if let Some(file) = &requirements {
                    check(file, &mut found);
                }
            }
        }
    }
    found.into_sorted()
}

/// The bytes of `path`; nothing, where it is not there; else why it cannot be read.
fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    match files::read(path, files::CONFIG_LIMIT) {
        Ok(Found::File(snapshot)) => Ok(Some(snapshot.bytes)),
        Ok(Found::Missing) => Ok(None),
        Err(error) => Err(why(error)),
    }
}

/// The reason without the path, which the finding's place names.
fn why(error: files::Error) -> String {
    match error {
        files::Error::Folder { .. } => "it is a folder".to_owned(),
        files::Error::NotPlain { kind, .. } => format!("it is {kind}"),
        files::Error::TooLarge { len, limit, .. } => {
            format!("it has {len} bytes, more than the {limit} that are read")
        }
        files::Error::Denied { .. } => "no permission".to_owned(),
        files::Error::Dangling { .. } => "it is a link that leads to nothing".to_owned(),
        files::Error::Loop { .. } => "its links lead in a circle".to_owned(),
        files::Error::Changed { .. } => "somebody writes to it just now".to_owned(),
        files::Error::Io { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}
