//! A proposal as it is shown to a person: whole, or not at all.
//!
//! The first line says how many lines there are and the last one ends it, so a card that was cut
//! can be told. It is made from the stored proposal alone. Every character that hides or deceives
//! is made visible before lines are measured; what the agent chose is never at the start of a line,
//! where the names of fields stand, and nothing of `argv` is left out.

use super::clock::utc;
use super::digest;
use super::proposal::{Action, Command, Content, Input, Proposal};
use super::store::Waiting;
use crate::plan::secret;
use crate::text::{quote, redact, visible, visible_lines};
use similar::TextDiff;
use unicode_width::UnicodeWidthChar as _;

/// Lines that Codex's prompt shows whole on a terminal of 24 lines (Codex 0.171).
pub const FITS_LINES: usize = 16;
/// Columns of a line that it does not wrap on a terminal of 80 columns (Codex 0.171).
pub const FITS_COLUMNS: usize = 76;
/// Where the text of a field begins.
const INDENT: usize = 9;

/// Who reads a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    Person,
    Agent,
}

/// A card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    lines: Vec<String>,
}

impl Card {
    /// Shows a stored proposal to a person.
    pub fn of(waiting: &Waiting) -> Self {
        Self::for_reader(waiting, Reader::Person)
    }

    /// The same for whoever proposed it, without what was found out about its inputs: `apply` runs
    /// outside of the sandbox, and would tell an agent of files that it cannot read.
    pub fn told(waiting: &Waiting) -> Self {
        Self::for_reader(waiting, Reader::Agent)
    }

    fn for_reader(waiting: &Waiting, reader: Reader) -> Self {
        let proposal = &waiting.proposal;
        let mut card = Self { lines: Vec::new() };
        match &proposal.action {
            Action::Command(command) => card.command(command, proposal, reader),
            Action::Files(changes) => {
                card.field("writes", &format!("{} file(s), all or none", changes.len()));
                let project = proposal.project.to_string_lossy();
                card.field("project", &quote::word(&project));
                for change in changes {
                    card.change(change);
                }
            }
        }
        if let Some(reason) = &proposal.reason {
            card.field("reason", &format!("(the agent's words) {reason}"));
        }
        card.field("token", &waiting.token.to_string());
        card.field("until", &utc(proposal.expires));
        // The first and the last line count, too.
        let count = card.lines.len() + 2;
        let first = format!("codexgate: approve this? (a card of {count} lines)");
        card.lines.insert(0, first);
        card.lines.push(format!("end of the card of {count} lines"));
        card
    }

    /// The lines, each of at most [`FITS_COLUMNS`] columns.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Whether Codex's prompt shows it whole.
    pub fn fits(&self) -> bool {
        self.lines.len() <= FITS_LINES
    }

    /// All lines.
    pub fn text(&self) -> String {
        self.lines.join("\n")
    }

    fn command(&mut self, command: &Command, proposal: &Proposal, reader: Reader) {
        self.field("runs", &quote::words(&command.argv));
        let copied = if command.program.copied {
            " (an agent can write it: a copy runs)"
        } else {
            ""
        };
        let program = quote::word(&command.program.path);
        self.field("program", &format!("{program}{copied}"));
        if command.program.named != command.program.path && command.program.named != command.argv[0]
        {
            self.field("named", &quote::word(&command.program.named));
        }
        self.field("in", &quote::word(&proposal.cwd.path));
        for variable in command.environment.iter().filter(|variable| variable.asked) {
            let value = if secret::looks_secret(Some(&variable.name), &variable.value) {
                redact::secret(&variable.value)
            } else {
                quote::word(&variable.value).into_owned()
            };
            self.field("env", &format!("{}={value}", variable.name));
        }
        if let Some(stdin) = &command.stdin {
            let bytes = stdin.bytes();
            let short = &digest::of(&bytes)[..16];
            self.field("stdin", &format!("{} bytes, sha256 {short}…", bytes.len()));
        }
        match reader {
            Reader::Person => {
                for input in &command.inputs {
                    let path = quote::word(&input.path);
                    self.field("input", &format!("{path} ({})", of_input(input)));
                }
            }
            Reader::Agent => self.field("inputs", "a person is shown what was found"),
        }
        self.field(
            "beware",
            "files that the program finds by itself are not checked",
        );
    }

    fn change(&mut self, change: &super::change::Change) {
        let kind = match (&change.before, &change.after) {
            (None, _) => "create",
            (_, None) => "remove",
            _ => "change",
        };
        self.field(kind, &quote::word(&change.path));
        let text = |content: &Option<Content>| match content {
            None => Some(String::new()),
            Some(Content::Text(text)) => Some(text.clone()),
            Some(Content::Hex(_)) => None,
        };
        let (Some(before), Some(after)) = (text(&change.before), text(&change.after)) else {
            let shown = |content: &Option<Content>| {
                let bytes = content.as_ref().map(Content::bytes).unwrap_or_default();
                format!("{} bytes, sha256 {}", bytes.len(), digest::of(&bytes))
            };
            self.field("from", &shown(&change.before));
            self.field("to", &shown(&change.after));
            return;
        };
        let diff = TextDiff::from_lines(&before, &after);
        for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
            for line in hunk.to_string().lines() {
                self.wrapped("         ", &visible_lines(line).replace('\t', "<tab>"));
            }
        }
    }

    /// A name and a text, wrapped and indented.
    fn field(&mut self, name: &str, text: &str) {
        self.wrapped(&format!("{name:<INDENT$}"), &visible(text));
    }

    /// Cuts a text into lines of at most [`FITS_COLUMNS`] columns. Every character counts for at
    /// least one: those of no width could pile up without end.
    fn wrapped(&mut self, start: &str, text: &str) {
        let mut line = start.to_owned();
        let mut width = INDENT;
        for c in text.chars() {
            let columns = c.width().unwrap_or(1).max(1);
            if width + columns > FITS_COLUMNS {
                self.lines.push(std::mem::take(&mut line));
                line.extend(std::iter::repeat_n(' ', INDENT));
                width = INDENT;
            }
            line.push(c);
            width += columns;
        }
        self.lines.push(line);
    }
}

fn of_input(input: &Input) -> String {
    match (input.is_known(), input.folder) {
        (true, true) => format!("{} entries", input.size),
        (true, false) => format!("{} bytes", input.size),
        (false, _) => "NOT CHECKED: not there, not readable, or more than is read".to_owned(),
    }
}

/// The line that an answer names for a person: this program, and the token.
pub fn for_terminal(executable: &std::path::Path, token: &super::token::Token) -> String {
    let words = [&executable.to_string_lossy(), "approve", token.as_str()];
    visible(&quote::words(words)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::testing::{Scene, waiting_of};
    use crate::text::visible::is_hidden;
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr as _;

    fn card(argv: &[&str], change: impl FnOnce(&mut Proposal)) -> Card {
        let scene = Scene::new();
        scene.program("tool");
        let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
        let mut proposal = scene.command(&argv);
        change(&mut proposal);
        Card::of(&waiting_of(proposal))
    }

    fn inner(proposal: &mut Proposal) -> &mut Command {
        match &mut proposal.action {
            Action::Command(command) => command,
            Action::Files(_) => panic!("a command"),
        }
    }

    #[test]
    fn a_card_has_everything_in_its_place() {
        let card = card(&["tool", "a b", "$x"], |proposal| {
            proposal.created = 0;
            proposal.expires = 3_600_000;
            proposal.nonce = "0".into();
            proposal.reason = Some("it is \u{202e}fine".into());
            proposal.state = "/s".into();
            proposal.codex_home = None;
            proposal.project = "/p".into();
            proposal.cwd = super::super::proposal::Place {
                path: "/p/sub".into(),
                dev: 1,
                ino: 2,
            };
            let command = inner(proposal);
            command.program.named = "/p/bin/tool".into();
            command.program.path = "/p/bin/real".into();
            command.program.sha256 = "0".into();
            command.program.copied = true;
            command.environment.clear();
            for (name, value) in [("MODE", "very fast"), ("API_TOKEN", "abc")] {
                command.environment.push(super::super::program::Variable {
                    name: name.into(),
                    value: value.into(),
                    asked: true,
                });
            }
            command.stdin = Some(Content::Text("abc".into()));
        });
        insta::assert_snapshot!(card.text(), @r"
        codexgate: approve this? (a card of 13 lines)
        runs     tool 'a b' '$x'
        program  /p/bin/real (an agent can write it: a copy runs)
        named    /p/bin/tool
        in       /p/sub
        env      MODE='very fast'
        env      API_TOKEN=<secret, 3 characters, sha256 ba7816bf>
        stdin    3 bytes, sha256 ba7816bf8f01cfea…
        beware   files that the program finds by itself are not checked
        reason   (the agent's words) it is <U+202E>fine
        token    6bxf-bmv8-a9te-vfhn-eahn
        until    1970-01-01 01:00:00 UTC
        end of the card of 13 lines
        ");
    }

    #[test]
    fn argv_is_never_redacted() {
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ0123";
        assert!(card(&["tool", secret], |_| {}).text().contains(secret));
    }

    #[test]
    fn what_is_too_long_does_not_fit() {
        assert!(card(&["tool"], |_| {}).fits());
        let long = "x".repeat(FITS_COLUMNS * FITS_LINES);
        assert!(!card(&["tool", &long], |_| {}).fits());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_text_leaves_its_field(
            word in "(\\PC|[\\x00-\\x1f\u{202e}\u{300}\u{2028}\u{200b} \n\t漢]){0,300}",
            reason in "(\\PC|\n|end of the card){0,200}",
        ) {
            let card = card(&["tool", &word.replace('\0', "")], |proposal| {
                proposal.reason = Some(reason);
                proposal.cwd.path = format!("/{word}");
            });
            let lines = card.lines();
            let count = lines.len();
            prop_assert_eq!(&lines[0], &format!("codexgate: approve this? (a card of {count} lines)"));
            prop_assert_eq!(&lines[count - 1], &format!("end of the card of {count} lines"));
            for line in &lines[1..count - 1] {
                prop_assert!(line.chars().count() <= FITS_COLUMNS && line.width() <= FITS_COLUMNS, "{line:?}");
                prop_assert!(!line.chars().any(is_hidden), "{line:?}");
                let name = line.get(..INDENT).expect("ascii").trim();
                let names = ["", "runs", "program", "named", "in", "beware", "reason", "token", "until"];
                prop_assert!(names.contains(&name), "{line:?}");
            }
            for name in ["runs", "program", "token", "until"] {
                prop_assert_eq!(lines.iter().filter(|line| line.starts_with(name)).count(), 1);
            }
        }
    }
}
