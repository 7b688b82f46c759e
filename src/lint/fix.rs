//! Mends what findings offer to mend: byte splices, tried before they are kept.
//!
//! Fixes are taken in the order of the text. One that touches bytes of an earlier one waits for the
//! next round, since the earlier one may have mended both. A round's text is judged again: each
//! rule whose fix was taken must have fewer findings, and no rule more, else the fixes are tried
//! in halves until the one that does harm is left out. It ends when nothing is left to take, or
//! after [`ROUNDS`]. Nothing is written here.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::choose::Choice;
use super::file::Content;
use super::finding::{Finding, Grade};
use super::run::{Report, judge, judge_all};
use super::{Source, Subject};
use crate::codex::Site;
use crate::codex::version::Version;
use crate::document::{Edit, edit};

/// Rounds over one file. A fix that opens the way for another one is rare, a chain of them rarer.
const ROUNDS: usize = 16;
/// Trials in one round: more than any file that a person wrote needs, few enough that a file made
/// to be slow is not.
const TRIALS: usize = 64;

/// Which fixes are wanted, and how a file is judged.
#[derive(Debug)]
pub struct Fixer<'a> {
    /// The folders that count.
    pub site: &'a Site,
    /// Which findings count: no other is mended.
    pub choice: &'a Choice,
    /// The version of Codex.
    pub version: Version,
    /// The grade that is taken, and with it all safer ones.
    pub grade: Grade,
}

/// A file with its new text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// The file.
    pub subject: Subject,
    /// The text as it was read.
    pub before: String,
    /// The text with the fixes.
    pub after: String,
    /// How many findings were mended.
    pub mended: usize,
}

/// What mending came to.
#[derive(Debug, Default)]
pub struct Mending {
    /// Files that change, in the order of the report.
    pub files: Vec<Fixed>,
    /// Modes that change, in the order of the report.
    pub modes: Vec<Chmod>,
    /// Fixes that were left out, since they would have made another finding.
    pub refused: usize,
}

/// A file whose mode is to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chmod {
    /// The file.
    pub subject: Subject,
    /// The permission bits that it had when it was read.
    pub from: u32,
    /// Those that it shall have.
    pub to: u32,
}

/// How many findings each rule has.
type Counts = HashMap<&'static str, usize>;

impl Fixer<'_> {
    /// Mends `sources`, all files of one run.
    pub fn mend(&self, sources: &[Source]) -> Mending {
        let mut mending = Mending::default();
        for source in sources {
            mending.modes.extend(self.mode(source));
            if let Some(fixed) = self.file(source, &mut mending.refused) {
                mending.files.push(fixed);
            }
        }
        // Together they must do no harm either: rules look across files, too.
        let before = counts_of(&judge_all(self.site, sources.to_vec(), self.version));
        while !mending.files.is_empty() {
            let after = judge_all(self.site, mending.apply(sources), self.version);
            if !grew(&before, &counts_of(&after)) {
                break;
            }
            if let Some(last) = mending.files.pop() {
                mending.refused += last.mended;
            }
        }
        mending
    }

    /// The mode that mends a file.
    fn mode(&self, source: &Source) -> Option<Chmod> {
        let disk = &source.disk;
        let from = disk
            .mode
            .filter(|_| disk.others_read || disk.others_write.is_some())?;
        let wanted = self.wanted(source, &HashSet::new());
        let to = wanted
            .iter()
            .find_map(|finding| finding.fix.as_ref()?.mode)?;
        Some(Chmod {
            subject: source.subject.clone(),
            from,
            to,
        })
    }

    /// Mends one file.
    fn file(&self, source: &Source, refused: &mut usize) -> Option<Fixed> {
        if matches!(
            source.content,
            Content::NotText { .. } | Content::Unreadable { .. }
        ) {
            return None;
        }
        let mut now = source.clone();
        let (mut left_out, mut mended) = (HashSet::new(), 0);
        for _ in 0..ROUNDS {
            let wanted = self.wanted(&now, &left_out);
            let batch = apart(&wanted);
            if batch.is_empty() {
                break;
            }
            let mut round = Round::new(&now, self.version);
            round.take(&batch);
            mended += round.taken.len();
            *refused += round.refused.len();
            left_out.extend(round.refused.iter().map(|f| f.fingerprint.clone()));
            if let Some(text) = round.text.take() {
                now = Source::parse(now.subject.clone(), text.into_bytes());
            } else if round.refused.is_empty() {
                break;
            }
        }
        let (before, after) = (source.text(), now.text());
        (before != after).then(|| Fixed {
            subject: source.subject.clone(),
            before: before.to_owned(),
            after: after.to_owned(),
            mended,
        })
    }

    /// The findings that count and have a fix of the grade, in the order of the text.
    fn wanted(&self, source: &Source, left_out: &HashSet<String>) -> Vec<Finding> {
        let mut report = judge_all(self.site, vec![source.clone()], self.version);
        self.choice.apply(&mut report);
        report
            .files
            .into_iter()
            .flat_map(|file| file.findings)
            .filter(|finding| finding.silenced.is_none())
            .filter(|finding| {
                let grade = finding.fix.as_ref().map(|fix| fix.grade);
                grade.is_some_and(|grade| grade <= self.grade)
            })
            .filter(|finding| !left_out.contains(&finding.fingerprint))
            .collect()
    }
}

impl Mending {
    /// `sources` with the new texts.
    fn apply(&self, sources: &[Source]) -> Vec<Source> {
        let texts: HashMap<_, _> = self
            .files
            .iter()
            .map(|fixed| (&fixed.subject.path, &fixed.after))
            .collect();
        sources
            .iter()
            .map(|source| match texts.get(&source.subject.path) {
                Some(text) => Source::parse(source.subject.clone(), text.as_bytes().to_vec()),
                None => source.clone(),
            })
            .collect()
    }
}

/// One round over a file: what is taken, and the text that it makes.
struct Round<'a> {
    source: &'a Source,
    version: Version,
    before: Counts,
    taken: Vec<&'a Finding>,
    refused: Vec<&'a Finding>,
    text: Option<String>,
    trials: usize,
}

impl<'a> Round<'a> {
    fn new(source: &'a Source, version: Version) -> Self {
        Self {
            source,
            version,
            before: counts(&judge(source, version)),
            taken: Vec::new(),
            refused: Vec::new(),
            text: None,
            trials: 0,
        }
    }

    /// Takes of `batch` what does no harm beside what is taken already.
    fn take(&mut self, batch: &[&'a Finding]) {
        let together: Vec<&Finding> = self.taken.iter().chain(batch).copied().collect();
        if let Some(text) = self.tried(&together) {
            self.taken.extend(batch);
            self.text = Some(text);
        } else if let [only] = batch {
            self.refused.push(only);
        } else {
            let (first, second) = batch.split_at(batch.len() / 2);
            self.take(first);
            self.take(second);
        }
    }

    /// The text with the fixes of `findings`, if it is better and nowhere worse.
    fn tried(&mut self, findings: &[&Finding]) -> Option<String> {
        self.trials += 1;
        if self.trials > TRIALS {
            return None;
        }
        let edits: Vec<Edit> = findings
            .iter()
            .filter_map(|finding| finding.fix.as_ref())
            .flat_map(|fix| fix.edits.iter().cloned())
            .collect();
        let text = edit::apply(self.source.text(), &edits).ok()?;
        let source = Source::parse(self.source.subject.clone(), text.clone().into_bytes());
        let after = counts(&judge(&source, self.version));
        let fewer = |finding: &&&Finding| {
            let id = finding.rule.id;
            after.get(id).copied().unwrap_or(0) < self.before.get(id).copied().unwrap_or(0)
        };
        let better = findings.iter().filter(fewer).count() == findings.len();
        (better && !grew(&self.before, &after)).then_some(text)
    }
}

/// Of `findings` those whose edits touch no bytes of an earlier one's.
fn apart(findings: &[Finding]) -> Vec<&Finding> {
    let mut used: BTreeMap<usize, usize> = BTreeMap::new();
    let mut batch = Vec::new();
    for finding in findings {
        let Some(fix) = &finding.fix else { continue };
        let is_free = fix.edits.iter().all(|edit| {
            let (start, end) = (edit.span.start, edit.span.end);
            let before = used.range(..=start).next_back();
            let behind = used.range(start..).next();
            before.is_none_or(|(from, to)| *from < start && *to <= start)
                && behind.is_none_or(|(from, _)| end <= *from && start < *from)
        });
        if is_free && !fix.edits.is_empty() {
            used.extend(
                fix.edits
                    .iter()
                    .map(|edit| (edit.span.start, edit.span.end)),
            );
            batch.push(finding);
        }
    }
    batch
}

fn counts(findings: &[Finding]) -> Counts {
    let mut counts = Counts::new();
    for finding in findings {
        *counts.entry(finding.rule.id).or_default() += 1;
    }
    counts
}

fn counts_of(report: &Report) -> Counts {
    let mut counts = Counts::new();
    for finding in report.files.iter().flat_map(|file| &file.findings) {
        *counts.entry(finding.rule.id).or_default() += 1;
    }
    counts
}

/// Whether some rule has more findings than before.
fn grew(before: &Counts, after: &Counts) -> bool {
    after
        .iter()
        .any(|(id, count)| *count > before.get(id).copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codex::site::Environment;
    use crate::lint::registry::RULES;
    use crate::lint::{Home, Input, Kind};

    fn site() -> (tempfile::TempDir, Site) {
        let top = tempfile::tempdir().expect("a folder");
        let site = Site::discover(&Environment {
            directory: top.path().to_path_buf(),
            ..Environment::default()
        });
        (top, site.expect("the folder is there"))
    }

    fn mend(source: &Source, choice: &Choice, grade: Grade) -> Mending {
        let (_top, site) = site();
        let fixer = Fixer {
            site: &site,
            choice,
            version: Version::default(),
            grade,
        };
        fixer.mend(std::slice::from_ref(source))
    }

    fn source(text: &str) -> Source {
        let subject = Subject {
            path: "config.toml".into(),
            shown: "config.toml".into(),
            kind: Kind::Config,
            home: Home::User,
        };
        Source::parse(subject, text.as_bytes().to_vec())
    }

    #[test]
    fn every_bad_example_with_a_fix_becomes_its_fixed_text() {
        for rule in RULES {
            let choice = Choice {
                select: Some(vec![rule.id]),
                ..Choice::default()
            };
            for case in rule.bad {
                let Some(wanted) = case.fixed else { continue };
                let mending = mend(&case.source(), &choice, Grade::Unsafe);
                let after = mending.files.first().map(|file| file.after.as_str());
                assert_eq!(after, Some(wanted), "{}: {:?}", rule.id, case.input);
                assert_eq!(mending.refused, 0, "{}: {:?}", rule.id, case.input);
            }
        }
    }

    #[test]
    fn no_example_gets_a_new_finding_or_changes_without_its_grade() {
        let all = Choice::default();
        for case in RULES
            .iter()
            .flat_map(|rule| rule.bad.iter().chain(rule.good))
        {
            if !matches!(case.input, Input::Text(_)) {
                continue;
            }
            let source = case.source();
            let before = judge(&source, Version::default());
            let mending = mend(&source, &all, Grade::Safe);
            let is_safe = |finding: &Finding| {
                let fix = finding.fix.as_ref();
                finding.silenced.is_none() && fix.is_some_and(|fix| fix.grade == Grade::Safe)
            };
            if !before.iter().any(is_safe) {
                assert!(mending.files.is_empty(), "{:?}", case.input);
            }
            for fixed in mend(&source, &all, Grade::Unsafe).files {
                let text = fixed.after.into_bytes();
                let after = judge(&Source::parse(fixed.subject, text), Version::default());
                assert!(!grew(&counts(&before), &counts(&after)), "{:?}", case.input);
            }
        }
    }

    #[test]
    fn what_is_silenced_or_not_selected_stays() {
        let open = "sandbox_mode = \"danger-full-access\"";
        let silenced = format!("{open} # codexgate: ignore[danger-full-access] why\n");
        let mending = mend(&source(&silenced), &Choice::default(), Grade::Unsafe);
        assert!(mending.files.is_empty());
        let other = Choice {
            select: Some(vec!["syntax"]),
            ..Choice::default()
        };
        assert!(mend(&source(open), &other, Grade::Unsafe).files.is_empty());
        assert!(
            mend(&source(open), &Choice::default(), Grade::Safe)
                .files
                .is_empty()
        );
    }

    #[test]
    fn many_findings_are_mended_in_one_run() {
        use std::fmt::Write as _;
        let mut text = String::new();
        for n in 0..300 {
            writeln!(
                text,
                "[profiles.p{n}]\nsandbox_mode = 'danger-full-access' # {n}"
            )
            .expect("fits");
        }
        let choice = Choice {
            select: Some(vec!["danger-full-access"]),
            ..Choice::default()
        };
        let mending = mend(&source(&text), &choice, Grade::Unsafe);
        let wanted = text.replace("'danger-full-access'", "\"workspace-write\"");
        let fixed = mending.files.first().expect("one file");
        assert_eq!((fixed.after.as_str(), fixed.mended), (wanted.as_str(), 300));
    }
}
