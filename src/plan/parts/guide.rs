//! The agent guide: a marked section at the end of AGENTS.md.
//!
//! No path is in it, since it is committed: the approver's tool names the command. It is words for
//! an agent, and no promise rests on it.

use crate::document::{Edit, Span};

/// The file below the project.
pub const FILE: &str = "AGENTS.md";

const BEGIN: &str = "<!-- codexgate: begin -->";
const END: &str = "<!-- codexgate: end -->";
const BODY: &str = "\
## Actions that need a person

Some commands and changes here need a person's approval. Propose such an action in place of running
it: use the `apply` command that the tool `codexgate_approve` names, as one plain command. It runs
nothing and prints a token. Call `codexgate_approve` with the token; a person decides. After an
approval run the same command with `--confirm` and the token: it runs exactly that, once. A refusal
is an answer: do not look for another way.
";

/// What is to be done with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The section as it was, where there is one.
    pub old: Option<String>,
    /// The piece that comes.
    pub new: String,
    /// How it gets there.
    pub edit: Edit,
}

/// What brings the section into `text`, or up to date. Nothing where it is there.
///
/// # Errors
/// Marks that do not belong together, in words.
pub fn change(text: &str) -> Result<Option<Change>, String> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let section = format!("{BEGIN}\n{BODY}{END}").replace('\n', newline);
    if let Some(span) = section_in(text)? {
        let old = &text[span.range()];
        return Ok((old != section).then(|| Change {
            old: Some(old.to_owned()),
            new: section.clone(),
            edit: Edit::replace(span, section),
        }));
    }
    let gap = match text {
        "" => String::new(),
        _ if text.ends_with("\n\n") || text.ends_with("\n\r\n") => String::new(),
        _ if text.ends_with('\n') => newline.to_owned(),
        _ => newline.repeat(2),
    };
    // A file without a last line end gets none.
    let end = if text.is_empty() || text.ends_with('\n') {
        newline
    } else {
        ""
    };
    let new = format!("{gap}{section}{end}");
    Ok(Some(Change {
        old: None,
        edit: Edit::insert(text.len(), new.clone()),
        new,
    }))
}

/// Where the section stands, with the empty line above it and the line end behind it: what an
/// install added.
///
/// # Errors
/// As [`change`].
pub fn added(text: &str) -> Result<Option<Span>, String> {
    let Some(span) = section_in(text)? else {
        return Ok(None);
    };
    let rest = &text[span.end..];
    let end = ["\r\n", "\n"]
        .iter()
        .find_map(|end| rest.starts_with(end).then_some(span.end + end.len()));
    let before = &text[..span.start];
    let above = ["\r\n", "\n"].iter().find_map(|newline| {
        let one = before.strip_suffix(newline)?;
        one.ends_with('\n').then_some(one.len())
    });
    Ok(Some(Span::new(
        above.unwrap_or(span.start),
        end.unwrap_or(span.end),
    )))
}

fn section_in(text: &str) -> Result<Option<Span>, String> {
    let begins: Vec<usize> = text.match_indices(BEGIN).map(|(at, _)| at).collect();
    let ends: Vec<usize> = text.match_indices(END).map(|(at, _)| at).collect();
    match (begins.as_slice(), ends.as_slice()) {
        ([], []) => Ok(None),
        ([begin], [end]) if begin < end => Ok(Some(Span::new(*begin, end + END.len()))),
        _ => Err(format!(
            "`{BEGIN}` and `{END}` do not stand there once each, in this order"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::edit;

    fn with(text: &str) -> String {
        let change = change(text)
            .expect("marks are right")
            .expect("it is not there");
        edit::apply(text, &[change.edit]).expect("it fits")
    }

    #[test]
    fn the_section_comes_last_and_goes_without_a_trace() {
        for text in [
            "",
            "# Ours\n",
            "# Ours",
            "# Ours\n\n",
            "# Ours\r\n\r\nx\r\n",
        ] {
            let after = with(text);
            assert!(after.starts_with(text));
            assert_eq!(change(&after), Ok(None), "{text:?}: twice changes nothing");
            assert_eq!(
                after.matches('\n').count() == after.matches("\r\n").count(),
                text.contains('\r'),
                "{text:?}"
            );
            let span = added(&after).expect("marks are right").expect("there");
            let back = edit::apply(&after, &[Edit::remove(span)]).expect("it fits");
            assert_eq!(back.trim_end(), text.trim_end(), "{text:?}");
        }
    }

    #[test]
    fn an_older_section_is_brought_up_to_date_in_place() {
        let old = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        let after = with(&old);
        assert!(
            after.starts_with("a\n<!--") && after.ends_with("-->\nb\n"),
            "{after}"
        );
        assert!(!after.contains("old") && !after.contains('/'), "{after}");
    }

    #[test]
    fn marks_that_do_not_fit_are_refused() {
        for text in [
            BEGIN,
            END,
            &format!("{END}{BEGIN}"),
            &format!("{BEGIN}{BEGIN}{END}"),
        ] {
            assert!(change(text).is_err(), "{text}");
        }
    }
}
