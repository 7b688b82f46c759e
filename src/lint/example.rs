//! Examples as files: what a rule's own cases look like to the engine and to a reader.

use std::path::PathBuf;

use super::{Beside, Case, Finding, Grade, Home, Input, Kind, Rule, Scope, Source, Subject, run};
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

fn subject(kind: Kind, home: Home) -> Subject {
    let (site, name) = (site(), kind.name());
    let folder = match (home, kind) {
        (Home::System, _) | (_, Kind::Managed) => Some(site.system),
        (Home::User, _) => site.codex_home,
        (Home::Project, _) => Some(site.project.join(DOT_CODEX)),
        (Home::Nested, _) => Some(site.project.join("sub").join(DOT_CODEX)),
        (Home::Loose, _) => None,
    };
    Subject {
        path: folder.unwrap_or_default().join(name),
        shown: name.to_owned(),
        kind,
        home,
    }
}

impl Case {
    /// The example as a file that was read.
    pub fn source(&self) -> Source {
        let subject = subject(self.kind, self.home);
        match self.input {
            Input::Text(marked) => Source::parse(subject, unmark(marked).0.into_bytes()),
            Input::Bytes(bytes, _) => Source::parse(subject, bytes.to_vec()),
            Input::Unreadable(why) => Source::unreadable(subject, why),
        }
    }

    /// What every rule finds in it, alone and with the files beside it.
    pub fn judge(&self, version: Version) -> Judged {
        let source = self.source();
        let path = source.subject.path.clone();
        let mut sources = vec![source];
        sources.extend(self.beside.iter().map(Beside::source));
        let report = run::judge_in(&site(), sources, version, Scope::All);
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
        place(self.kind, self.home)
    }
}

impl Beside {
    fn source(&self) -> Source {
        let mut subject = subject(self.kind, self.home);
        subject.shown = self.place();
        Source::parse(subject, self.text.as_bytes().to_vec())
    }

    /// Where such a file lies, for a reader.
    pub fn place(&self) -> String {
        place(self.kind, self.home)
    }
}

fn place(kind: Kind, home: Home) -> String {
    let name = match kind {
        Kind::Rules => "rules/default.rules",
        kind => kind.name(),
    };
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
