//! The list of all rules, in the order of their names. Its test walks it.

use super::Rule;
use super::rules;

/// All rules, sorted by id.
pub static RULES: &[&Rule] = &[
    &rules::approval::NEVER,
    &rules::approval::REMOVED,
    &rules::approval::RETIRED,
    &rules::approver::BLOCKED,
    &rules::approver::HIJACKED,
    &rules::approver::WEAK,
    &rules::trust::AUTO,
    &rules::bypass_flag::RULE,
    &rules::danger_full_access::RULE,
    &rules::elicitations::MISPLACED,
    &rules::elicitations::OFF,
    &rules::encoding::RULE,
    &rules::environment::INJECTED,
    &rules::environment::LEAKS,
    &rules::disk::PERMISSIONS,
    &rules::elicitations::INCOMPLETE,
    &rules::hooks::INVALID,
    &rules::disk::MISSING,
    &rules::hooks::REMOTE_CODE,
    &rules::hook_layers::TWO_FORMS,
    &rules::hook_layers::UNTRUSTED,
    &rules::hook_layers::DISABLED,
    &rules::ignore_unused::RULE,
    &rules::keys::SWALLOWED,
    &rules::keys::UNKNOWN,
    &rules::keys::WRONG_TYPE,
    &rules::launch::PRIVILEGED,
    &rules::launch::RELATIVE,
    &rules::launch::REMOTE_CODE,
    &rules::launch::SHELL,
    &rules::launch::UNPINNED,
    &rules::place::NESTED,
    &rules::sandbox::NETWORK,
    &rules::approval::OPEN,
    &rules::pins::OVERRIDDEN,
    &rules::profile_removed::RULE,
    &rules::keys::PROJECT,
    &rules::place::STARTS,
    &rules::reference_missing::RULE,
    &rules::requirements::ALLOW_OPEN,
    &rules::pins::CONTRADICTED,
    &rules::requirements::FALLBACK,
    &rules::pins::GRANULAR_MISMATCH,
    &rules::requirements::IDENTITY_LOOSE,
    &rules::requirements::INCOMPLETE,
    &rules::requirements::INVALID,
    &rules::requirements::NO_READ_ONLY,
    &rules::requirements::NOT_READ,
    &rules::requirements::UNKNOWN_KEY,
    &rules::approval::REVIEWER,
    &rules::prefix_rules::BASENAME,
    &rules::prefix_rules::BROAD,
    &rules::prefix_rules::DEFAULT_ALLOW,
    &rules::prefix_rules::OPENS_GATE,
    &rules::prefix_rules::BROKEN,
    &rules::disk::NOT_READ,
    &rules::sandbox::OVERRIDDEN,
    &rules::secret::AS_NAME,
    &rules::secret::INLINE,
    &rules::server_key_unknown::RULE,
    &rules::server_transport::WRONG_TRANSPORT,
    &rules::server_transport::MIXED,
    &rules::server_name_invalid::RULE,
    &rules::server_transport::NO_TRANSPORT,
    &rules::server_shadowed::RULE,
    &rules::server_timeout_unit::RULE,
    &rules::disk::ESCAPE,
    &rules::syntax::RULE,
    &rules::telemetry_exports_prompts::RULE,
    &rules::tools_auto_approved::RULE,
    &rules::trust::INEFFECTIVE,
    &rules::unexpanded_variable::RULE,
    &rules::unreadable::RULE,
    &rules::url_plaintext::RULE,
    &rules::keys::INVALID,
    &rules::sandbox::WIDE_ROOT,
    &rules::wrong_shape::RULE,
];

/// The rule named `id`.
pub fn find(id: &str) -> Option<&'static Rule> {
    let at = RULES.binary_search_by_key(&id, |rule| rule.id).ok()?;
    Some(RULES[at])
}

#[cfg(test)]
mod tests {
    use super::super::example::Judged;
    use super::super::finding::Mark;
    use super::super::{Case, Input, Severity};
    use super::*;
    use crate::codex::version::Version;
    use crate::document::{Edit, Span, edit};

    fn marks(case: &Case) -> Vec<Mark> {
        match case.input {
            Input::Text(marked) => unmark(marked).1,
            Input::Bytes(_, None) | Input::Unreadable(_) | Input::Place(_) => vec![Mark::File],
            Input::Bytes(_, Some((start, end))) => {
                let source = case.source();
                let width = source.text()[start..]
                    .chars()
                    .next()
                    .map_or(0, char::len_utf8);
                assert_eq!(end - start, 1, "one byte is marked");
                vec![Mark::Span(Span::new(start, start + width))]
            }
        }
    }

    /// The text without its marks, and what they enclose.
    fn unmark(marked: &str) -> (String, Vec<Mark>) {
        let (mut text, mut marks, mut start) = (String::new(), Vec::new(), 0);
        for c in marked.chars() {
            match c {
                '‹' => start = text.len(),
                '›' => marks.push(Mark::Span(Span::new(start, text.len()))),
                _ => text.push(c),
            }
        }
        (text, marks)
    }

    fn shown(case: &Case) -> String {
        format!("{:?} {:?}\n{:?}", case.kind, case.home, case.input)
    }

    #[test]
    fn rules_are_sorted_and_complete() {
        assert!(RULES.windows(2).all(|pair| pair[0].id < pair[1].id));
        for rule in RULES {
            let id = rule.id;
            assert!(
                id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'),
                "{id}: kebab-case"
            );
            assert!(!rule.bad.is_empty(), "{id}: a bad example");
            assert!(!rule.good.is_empty(), "{id}: a good example");
            assert!(rule.why.ends_with('.'), "{id}: why, in whole sentences");
            assert!(!rule.says.ends_with('.'), "{id}: no full stop");
            assert!(find(id).is_some_and(|found| found.id == id));
        }
    }

    #[test]
    fn bad_examples_are_found_where_they_are_marked() {
        let mut wrong = Vec::new();
        for rule in RULES {
            for case in rule.bad {
                let mut marks = marks(case);
                marks.sort();
                assert!(
                    !marks.is_empty(),
                    "{}: nothing marked in {}",
                    rule.id,
                    shown(case)
                );
                let Judged { findings, beside } = case.judge(Version::default());
                let mut mine: Vec<Mark> = findings
                    .iter()
                    .filter(|finding| finding.rule.id == rule.id)
                    .map(|finding| finding.mark)
                    .collect();
                mine.sort();
                if mine != marks {
                    wrong.push(format!(
                        "{}: {mine:?}, not {marks:?} in {}",
                        rule.id,
                        shown(case)
                    ));
                }
                let mut others: Vec<&str> = findings
                    .iter()
                    .filter(|finding| finding.rule.id != rule.id)
                    .chain(&beside)
                    .filter(|finding| finding.severity > Severity::Info)
                    .map(|finding| finding.rule.id)
                    .collect();
                others.sort_unstable();
                others.dedup();
                if others != case.also {
                    wrong.push(format!("{}: {others:?} in {}", rule.id, shown(case)));
                }
            }
        }
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }

    #[test]
    fn good_examples_are_left_alone() {
        let mut wrong = Vec::new();
        for rule in RULES {
            for case in rule.good {
                let Judged { findings, beside } = case.judge(Version::default());
                let found: Vec<_> = findings
                    .iter()
                    .chain(&beside)
                    .filter(|finding| {
                        finding.rule.id == rule.id
                            || (finding.severity > Severity::Info
                                && !case.also.contains(&finding.rule.id))
                    })
                    .map(|finding| (finding.rule.id, &finding.message))
                    .collect();
                if !found.is_empty() {
                    wrong.push(format!("{}: {found:?} in {}", rule.id, shown(case)));
                }
            }
        }
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }

    #[test]
    fn fixes_give_the_fixed_text() {
        for rule in RULES {
            for case in rule.bad {
                let Some(wanted) = case.fixed else { continue };
                let source = case.source();
                let edits: Vec<Edit> = case
                    .judge(Version::default())
                    .findings
                    .iter()
                    .filter(|finding| finding.rule.id == rule.id)
                    .filter_map(|finding| finding.fix.clone())
                    .flat_map(|fix| fix.edits)
                    .collect();
                assert!(!edits.is_empty(), "{}: no fix for {}", rule.id, shown(case));
                let text = edit::apply(source.text(), &edits).expect("edits apart");
                assert_eq!(text, wanted, "{}: {}", rule.id, shown(case));
            }
        }
    }

    #[test]
    fn messages_are_one_visible_line() {
        for rule in RULES {
            for case in rule.bad {
                for finding in case.judge(Version::default()).findings {
                    let message = &finding.message;
                    assert!(
                        !message.chars().any(crate::text::visible::is_hidden),
                        "{message}"
                    );
                    assert!(!message.ends_with('.') && !message.is_empty(), "{message}");
                }
            }
        }
    }
}
