//! `unreadable`: a file that is there and cannot be judged.
//! Source: scenarios shape-file-is-folder, req-is-folder; Codex 0.134 to 0.171.

use crate::lint::Case;
use crate::lint::file::Content;
use crate::lint::finding::Mark;
use crate::lint::{Check, Confidence, Findings, Input, Rule, Severity, Source, case};

pub const RULE: Rule = Rule {
    id: "unreadable",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this file is there and cannot be read",
    why: "What cannot be read cannot be judged, so it never passes. It may be a folder or a pipe \
          in the place of a file, a link that leads to nothing, a file without permission, or one \
          beyond the limits. Codex itself stops at most of them.",
    bad: &[Case::new(Input::Unreadable("it is a folder"))],
    good: &[case("")],
    check: Check::Source(check),
};

fn check(source: &Source, found: &mut Findings) {
    if let Content::Unreadable { why } = &source.content {
        found
            .add(&RULE, Mark::File)
            .says(format!("this file cannot be read: {why}"))
            .note("what cannot be read is never taken for absent or empty");
    }
}
