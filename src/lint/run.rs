//! Reads each file once, parses it once, and asks every rule.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::discover::{self, discover};
use super::file::{ConfigFile, Kind, Source};
use super::finding::{Finding, Findings};
use super::hooks::HooksFile;
use super::registry::RULES;
use super::rules_file::RulesFile;
use super::{Check, Scope, Severity, Silenced, Wanted, disk, fingerprint, ignore, layers, script};
use crate::codex::Site;
use crate::codex::version::Version;
use crate::files;

/// One file and what was found in it.
#[derive(Debug)]
pub struct Judged {
    /// The file.
    pub source: Source,
    /// What was found, in the order of the text, what is silenced included.
    pub findings: Vec<Finding>,
    /// The path that is the same on every machine.
    pub anchor: String,
}

/// All files of one run, in the order of their paths.
#[derive(Debug, Default)]
pub struct Report {
    /// The files that have findings.
    pub files: Vec<Judged>,
    /// How many files were judged, those without a finding included.
    pub judged: usize,
    /// How many findings the project's file made milder.
    pub milder: usize,
}

impl Report {
    /// Each finding with its file, in order, without those that are silenced.
    pub fn findings(&self) -> impl Iterator<Item = (&Source, &Finding)> {
        self.files.iter().flat_map(|file| {
            file.findings
                .iter()
                .filter(|finding| finding.silenced.is_none())
                .map(move |finding| (&file.source, finding))
        })
    }

    /// How many findings `by` silences.
    pub fn silenced(&self, by: Silenced) -> usize {
        let findings = self.files.iter().flat_map(|file| &file.findings);
        findings
            .filter(|finding| finding.silenced == Some(by))
            .count()
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

/// Reads and parses the files below `paths`, or the project's where there are none.
///
/// # Errors
/// A path that is not there, or a file that is none of Codex's. A file that cannot be read is no
/// error: it is a finding.
pub fn read_all(
    site: &Site,
    paths: &[PathBuf],
    wanted: impl Into<Wanted>,
    watch: &Watch,
) -> Result<Vec<Source>, discover::Error> {
    let found = discover(site, paths, wanted.into())?;
    watch.begin(1, found.len());
    let sources = side_by_side(found, |found| {
        let source = read_one(site, found);
        watch.one();
        source
    });
    Ok(sources.into_iter().flatten().collect())
}

/// Judges files that were read. They stay in their order.
pub fn judge_all(site: &Site, sources: Vec<Source>, version: Version) -> Report {
    judge_in(site, sources, version, Scope::Project, &Watch::default())
}

/// The same, and with [`Scope::All`] what the user's and the system's files make of a project's.
pub fn judge_in(
    site: &Site,
    sources: Vec<Source>,
    version: Version,
    scope: Scope,
    watch: &Watch,
) -> Report {
    let judged = sources.len();
    let together = layers::judge(site, &sources, version, scope);
    watch.begin(2, judged);
    let files = side_by_side(sources, |source| {
        watch.one();
        let path = &source.subject.path;
        let mut findings = judge_with(&source, version, together.of(path).to_vec());
        if findings.is_empty() {
            return None;
        }
        let anchor = fingerprint::anchor(site, &source.subject);
        fingerprint::stamp(&anchor, &source, &mut findings);
        together.weigh(path, &mut findings);
        Some(Judged {
            source,
            findings,
            anchor,
        })
    });
    Report {
        files: files.into_iter().flatten().collect(),
        judged,
        milder: 0,
    }
}

/// How far a run has come, for who waits for it.
#[derive(Debug, Default)]
pub struct Watch {
    phase: AtomicUsize,
    done: AtomicUsize,
    all: AtomicUsize,
}

/// What a run does just now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Looks for files.
    Looking,
    /// Has read so many files of all.
    Reading(usize, usize),
    /// Has judged so many files of all.
    Judging(usize, usize),
}

impl Watch {
    /// What the run does just now.
    pub fn phase(&self) -> Phase {
        let read = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        let (done, all) = (read(&self.done), read(&self.all));
        match read(&self.phase) {
            0 => Phase::Looking,
            1 => Phase::Reading(done, all),
            _ => Phase::Judging(done, all),
        }
    }

    fn begin(&self, phase: usize, all: usize) {
        self.done.store(0, Ordering::Relaxed);
        self.all.store(all, Ordering::Relaxed);
        self.phase.store(phase, Ordering::Relaxed);
    }

    fn one(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

fn read_one(site: &Site, found: discover::Found) -> Option<Source> {
    Some(match found {
        discover::Found::Closed(subject, why) => Source::unreadable(subject, why),
        discover::Found::Place(subject, disk) => Source::place(subject, disk),
        discover::Found::File(subject) => {
            match files::content(&subject.path, files::CONFIG_LIMIT) {
                Ok(Some(bytes)) if subject.kind == Kind::Script => script::read(subject, bytes)?,
                Ok(Some(bytes)) => {
                    let mut source = Source::parse(subject, bytes);
                    source.disk = disk::look(site, &source);
                    source
                }
                // It went away between looking and reading.
                Ok(None) => return None,
                Err(error) => Source::unreadable(subject, why(error)),
            }
        }
    })
}

/// Fewer than these are not worth a second thread, which costs about as much as reading ten files.
const FEW: usize = 32;
/// Items that a thread takes at a time: enough that taking costs nothing, few enough that no thread
/// waits long for the last one.
const PORTION: usize = 16;

/// `work` on each of `items`, on all processors where there are many. The order stays.
fn side_by_side<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if items.len() < FEW || threads == 1 {
        return items.into_iter().map(work).collect();
    }
    let queue = Mutex::new(items.into_iter().enumerate());
    let portion = || -> Vec<(usize, T)> {
        // A thread that panicked holds no item, so the rest may go on to tell of it.
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.by_ref().take(PORTION).collect()
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let run = || {
            let mut done = Vec::new();
            loop {
                let items = portion();
                if items.is_empty() {
                    return done;
                }
                done.extend(items.into_iter().map(|(at, item)| (at, work(item))));
            }
        };
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut done = run();
        for other in others {
            match other.join() {
                Ok(part) => done.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Asks every rule about one file, for one version of Codex.
pub fn judge(source: &Source, version: Version) -> Vec<Finding> {
    judge_with(source, version, Vec::new())
}

/// The same; `more` was found in it beside others.
fn judge_with(source: &Source, version: Version, more: Vec<Finding>) -> Vec<Finding> {
    let mut found = Findings::holding(source, more);
    let view = ConfigFile::new(source, version);
    let config = view.as_ref().filter(|file| file.kind().is_config());
    let requirements = view
        .as_ref()
        .filter(|file| file.kind() == Kind::Requirements);
    let hooks = HooksFile::new(source, version);
    let rules = RulesFile::new(source);
    for check in RULES.iter().flat_map(|rule| rule.checks()) {
        match check {
            Check::Source(check) => check(source, &mut found),
            Check::Tree(check) => check(&source.disk, &mut found),
            Check::File(check) => {
                if let Some(file) = config {
                    check(file, &mut found);
                }
            }
            Check::Hooks(check) => {
                if let Some(hooks) = &hooks {
                    check(hooks, &mut found);
                }
            }
            Check::Rules(check) => {
                if let Some(rules) = &rules {
                    check(rules, &mut found);
                }
            }
            Check::Requirements(check) => {
                if let Some(file) = requirements {
                    check(file, &mut found);
                }
            }
            // They need to know what the others found, or all files.
            Check::Ignores(_) | Check::Layers(_) | Check::Many(_) => {}
        }
    }
    ignore::apply(source, found.into_sorted())
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
