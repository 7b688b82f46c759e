//! Examples as files: what a rule's own cases look like to the engine and to a reader.

use std::path::PathBuf;

use super::run::Watch;
use super::{
    Beside, Case, Finding, Grade, Home, Input, Kind, Rule, Scope, Setup, Source, Subject, disk, run,
};
use crate::codex::Site;
use crate::codex::site::DOT_CODEX;
use crate::codex::version::Version;
use crate::document::Span;

/// The text without its marks, and what `‹` and `›` enclose, in order.
pub fn unmark(marked: &str) -> (String, Vec<Span>) {
    let (mut text, mut marks, mut start) = (String::new(), Vec::new(), 0);
    for c in marked.chars() {
        match c {
            '‹' => start = text.len(),
            '›' => marks.push(Span::new(start, text.len())),
            _ => text.push(c),
        }
    }
    (text, marks)
}

/// What was found in an example.
#[derive(Debug)]
pub struct Judged {
    /// In the example itself.
    pub findings: Vec<Finding>,
    /// In the files beside it.
    pub beside: Vec<Finding>,
}

/// Where examples lie. There are no such folders: each file is at hand, and no other.
fn site() -> Site {
    let project = PathBuf::from("/example/project");
    Site {
        cwd: project.clone(),
        git_root: Some(project.clone()),
        project,
        home: Some(PathBuf::from("/example/home")),
        codex_home: Some(PathBuf::from("/example/home/.codex")),
        system: PathBuf::from("/example/etc/codex"),
        host: String::new(),
    }
}

fn subject(kind: Kind, home: Home, name: Option<&str>) -> Subject {
    let site = site();
    let is_folder = kind == Kind::Folder && name.is_none();
    let name = name.unwrap_or(kind.name());
    let folder = match (home, kind) {
        (Home::System, _) | (_, Kind::Managed) => Some(site.system),
        (Home::User, _) => site.codex_home,
        (Home::Project, _) => Some(site.project.join(DOT_CODEX)),
        (Home::Nested, _) => Some(site.project.join("sub").join(DOT_CODEX)),
        (Home::Loose, _) => None,
    };
    let folder = folder.unwrap_or_default();
    Subject {
        path: if is_folder { folder } else { folder.join(name) },
        shown: name.to_owned(),
        kind,
        home,
    }
}

impl Case {
    /// The example as a file that was read.
    pub fn source(&self) -> Source {
        let subject = subject(self.kind, self.home, self.name());
        let mut source = match self.input {
            Input::Text(marked) => Source::parse(subject, unmark(marked).0.into_bytes()),
            Input::Bytes(bytes, _) => Source::parse(subject, bytes.to_vec()),
            Input::Unreadable(why) => Source::unreadable(subject, why),
            Input::Place(_) => Source::place(subject, disk::Disk::default()),
        };
        source.disk = disk::pretend(&site(), &source, self.setup);
        source
    }

    /// Its path in Codex's folder, where it is not the usual one.
    pub fn name(&self) -> Option<&'static str> {
        self.setup.iter().find_map(|step| match step {
            Setup::Name(name) => Some(*name),
            _ => None,
        })
    }

    /// What every rule finds in it, alone and with the files beside it.
    pub fn judge(&self, version: Version) -> Judged {
        let source = self.source();
        let path = source.subject.path.clone();
        let mut sources = vec![source];
        sources.extend(self.beside.iter().map(Beside::source));
        let report = run::judge_in(&site(), sources, version, Scope::All, &Watch::default());
        let mut judged = Judged {
            findings: Vec::new(),
            beside: Vec::new(),
        };
        for file in report.files {
            if file.source.subject.path == path {
                judged.findings = file.findings;
            } else {
                judged.beside.extend(file.findings);
            }
        }
        judged
    }

    /// Where such a file lies, for a reader.
    pub fn place(&self) -> String {
        place(self.kind, self.home, self.name())
    }
}

impl Beside {
    fn source(&self) -> Source {
        let mut subject = subject(self.kind, self.home, None);
        subject.shown = self.place();
        Source::parse(subject, self.text.as_bytes().to_vec())
    }

    /// Where such a file lies, for a reader.
    pub fn place(&self) -> String {
        place(self.kind, self.home, None)
    }
}

fn place(kind: Kind, home: Home, name: Option<&str>) -> String {
    let name = name.unwrap_or(match kind {
        Kind::Rules => "rules/default.rules",
        Kind::Folder => "",
        kind => kind.name(),
    });
    match (home, kind) {
        (Home::System, _) | (_, Kind::Managed) => format!("/etc/codex/{name}"),
        (Home::User, _) => format!("$CODEX_HOME/{name}"),
        (Home::Project, _) => format!(".codex/{name}"),
        (Home::Nested, _) => format!("sub/.codex/{name}"),
        (Home::Loose, _) => name.to_owned(),
    }
}

impl Rule {
    /// The grades of the fixes that its bad examples get, each once.
    pub fn fixes(&self) -> Vec<Grade> {
        let mut grades: Vec<Grade> = self
            .bad
            .iter()
            .flat_map(|case| run::judge(&case.source(), Version::default()))
            .filter(|finding| finding.rule.id == self.id)
            .filter_map(|finding| finding.fix.map(|fix| fix.grade))
            .collect();
        grades.sort_unstable();
        grades.dedup();
        grades
    }
}
