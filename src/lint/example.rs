//! Examples as files: what a rule's own cases look like to the engine and to a reader.

use std::path::PathBuf;

use super::{Case, Grade, Home, Input, Kind, Rule, Source, Subject, run};
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

impl Case {
    /// The example as a file that was read.
    pub fn source(&self) -> Source {
        let name = self.kind.name();
        let subject = Subject {
            path: PathBuf::from(name),
            shown: name.to_owned(),
            kind: self.kind,
            home: self.home,
        };
        match self.input {
            Input::Text(marked) => Source::parse(subject, unmark(marked).0.into_bytes()),
            Input::Bytes(bytes, _) => Source::parse(subject, bytes.to_vec()),
            Input::Unreadable(why) => Source::unreadable(subject, why),
        }
    }

    /// Where such a file lies, for a reader.
    pub fn place(&self) -> String {
        let name = match self.kind {
            Kind::Rules => "rules/default.rules",
            kind => kind.name(),
        };
        match (self.home, self.kind) {
            (Home::System, _) | (_, Kind::Managed) => format!("/etc/codex/{name}"),
            (Home::User, _) => format!("$CODEX_HOME/{name}"),
            (Home::Project, _) => format!(".codex/{name}"),
            (Home::Nested, _) => format!("sub/.codex/{name}"),
            (Home::Loose, _) => name.to_owned(),
        }
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
