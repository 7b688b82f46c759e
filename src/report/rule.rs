//! A rule as a reader sees it: on the terminal, as a page of the documentation, as JSON.
//!
//! All of them come from the registry, so that no page can say what the rule does not do. Bad and
//! good examples are those that the rule is tested with.

use std::fmt::Write as _;

use serde::Serialize;

use super::ui::style;
use crate::codex::version::NEWEST;
use crate::lint::example::unmark;
use crate::lint::{Case, Confidence, Grade, Input, Kind, Rule, Setup, Since};
use crate::text::visible::{visible, visible_lines};

/// The version of the JSON.
pub const VERSION: u32 = 1;

/// Examples of each kind on the terminal; the page has them all.
const SHOWN: usize = 4;

/// One line a rule: id, severity, fix, what it says.
pub fn list(rules: &[&Rule]) -> String {
    let wide = rules.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    let mut out = String::new();
    for rule in rules {
        let look = super::diagnostic::color(rule.severity);
        let _ = writeln!(
            out,
            "{mark}{:wide$}{mark:#}  {look}{:7}{look:#}  {:13}  {}",
            rule.id,
            rule.severity.name(),
            fix_words(rule).replace("none", "-"),
            rule.says,
            mark = style::MARK,
        );
    }
    out
}

/// The whole rule for a terminal of `width` columns.
pub fn text(rule: &Rule, width: usize) -> String {
    let (head, look) = (style::HEADING, super::diagnostic::color(rule.severity));
    let mut out = String::new();
    let _ = writeln!(out, "{head}{}{head:#}: {}", rule.id, rule.says);
    let _ = writeln!(
        out,
        "{look}{}{look:#}, {} confidence, {}, fix: {}\n",
        rule.severity.name(),
        confidence(rule.confidence),
        versions(rule.since),
        fix_words(rule),
    );
    wrap(&mut out, rule.why, width);
    for (title, cases) in [("bad", rule.bad), ("good", rule.good)] {
        let _ = writeln!(out, "\n{head}{title}{head:#}");
        for case in cases.iter().take(SHOWN) {
            example(&mut out, case);
        }
        if let Some(more) = cases.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            let quiet = style::QUIET;
            let _ = writeln!(
                out,
                "  {quiet}and {more} more in docs/rules/{}.md{quiet:#}",
                rule.id
            );
        }
    }
    let _ = writeln!(
        out,
        "\n{head}where it is right{head:#}, on the line or the line above:\n    # codexgate: ignore[{}] the reason",
        rule.id
    );
    out
}

fn example(out: &mut String, case: &Case) {
    let quiet = style::QUIET;
    let _ = writeln!(out, "  {quiet}{}{quiet:#}", case.place());
    for line in said_by_disk(case) {
        let _ = writeln!(out, "  {quiet}{line}{quiet:#}");
    }
    let (Input::Text(marked) | Input::Place(marked)) = case.input else {
        let _ = writeln!(out, "    {}", odd(case));
        return;
    };
    let (text, marks) = unmark(marked);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches('\n');
        let _ = writeln!(out, "    {}", visible(body));
        let end = start + body.len();
        for mark in marks
            .iter()
            .filter(|mark| start <= mark.start && mark.start <= end)
        {
            let before = visible(&text[start..mark.start]).chars().count();
            let width = visible(&text[mark.start..mark.end.min(end)])
                .chars()
                .count();
            let look = style::MARK;
            let _ = writeln!(
                out,
                "    {}{look}{}{look:#}",
                " ".repeat(before),
                "^".repeat(width.max(1))
            );
        }
        start += line.len();
    }
    for beside in case.beside {
        let _ = writeln!(out, "  {quiet}beside it, {}{quiet:#}", beside.place());
        for line in beside.text.lines() {
            let _ = writeln!(out, "    {}", visible(line));
        }
    }
    if let Some(fixed) = case.fixed {
        let _ = writeln!(out, "  {quiet}fixed{quiet:#}");
        for line in fixed.lines() {
            let _ = writeln!(out, "    {}", visible(line));
        }
    }
}

/// An example that is no text, in words.
fn odd(case: &Case) -> String {
    match case.input {
        Input::Text(marked) | Input::Place(marked) => visible_lines(&unmark(marked).0).into_owned(),
        Input::Bytes(bytes, _) => format!("bytes: {}", escape(bytes)),
        Input::Unreadable(why) => format!("a file that cannot be read: {why}"),
    }
}

/// What the disk says of an example, in words.
fn said_by_disk(case: &Case) -> Vec<String> {
    let words = |step: &Setup| match step {
        Setup::Name(_) => None,
        Setup::Link(to) => Some(format!("a link to `{to}`")),
        Setup::Mode(mode) => Some(format!("with mode {mode:04o}")),
        Setup::There([]) => Some("nothing that it names is there".to_owned()),
        Setup::There(programs) => Some(format!("`{}` is there", programs.join("`, `"))),
    };
    case.setup.iter().filter_map(words).collect()
}

/// Bytes as Rust writes them.
fn escape(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string().replace("\\\"", "\"")
}

/// Words at most `width` columns a line.
fn wrap(out: &mut String, text: &str, width: usize) {
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
}

/// The page of a rule, as Markdown.
pub fn page(rule: &Rule) -> String {
    let mut out = format!(
        "# `{}`\n\n{}.\n\n| severity | confidence | proven on | fix |\n|---|---|---|---|\n| {} | {} | {} | {} |\n\n## Why\n\n{}\n",
        rule.id,
        capital(rule.says),
        rule.severity.name(),
        confidence(rule.confidence),
        versions(rule.since),
        fix_words(rule),
        rule.why,
    );
    for (title, cases) in [("Bad", rule.bad), ("Good", rule.good)] {
        let _ = write!(out, "\n## {title}\n");
        for case in cases {
            let _ = write!(out, "\n`{}`{}:\n\n", case.place(), beside_place(case));
            fence(&mut out, case.kind, case.input);
            for beside in case.beside {
                let _ = write!(out, "\nbeside it, `{}`:\n\n", beside.place());
                fence(&mut out, beside.kind, Input::Text(beside.text));
            }
            if let Some(fixed) = case.fixed {
                out.push_str("\nfixed:\n\n");
                fence(&mut out, case.kind, Input::Text(fixed));
            }
        }
    }
    let _ = write!(
        out,
        "\n## Where it is right\n\nOn its line, or on the line above:\n\n```toml\n# codexgate: ignore[{}] the reason\n```\n\nJSON and whole files: by [`.codex/codexgate.toml`](../lint.md).\n",
        rule.id
    );
    out
}

/// Why, and the first example of each kind, as Markdown.
pub fn help(rule: &Rule) -> String {
    let mut out = format!("{}\n", rule.why);
    for (title, cases) in [("Bad", rule.bad), ("Good", rule.good)] {
        if let Some(case) = cases.first() {
            let place = case.place();
            let _ = write!(out, "\n{title}, in `{place}`{}:\n\n", beside_place(case));
            fence(&mut out, case.kind, case.input);
        }
    }
    let _ = write!(out, "\nMore: `codexgate explain {}`\n", rule.id);
    out
}

/// What the disk says of an example, behind its place.
fn beside_place(case: &Case) -> String {
    let words = said_by_disk(case);
    words
        .iter()
        .fold(String::new(), |out, word| out + ", " + word)
}

fn fence(out: &mut String, kind: Kind, input: Input) {
    let (language, text) = match input {
        Input::Place("") => return out.push_str("(the folder itself)\n"),
        Input::Text(marked) | Input::Place(marked) => {
            let language = match kind {
                Kind::Hooks => "json",
                Kind::Rules | Kind::Folder => "python",
                Kind::Script => "sh",
                _ => "toml",
            };
            (language, visible_lines(&unmark(marked).0).into_owned())
        }
        Input::Bytes(bytes, _) => ("text", escape(bytes)),
        Input::Unreadable(why) => ("text", format!("(a file that cannot be read: {why})")),
    };
    let ticks = if text.contains("```") { "````" } else { "```" };
    let text = text.trim_end_matches('\n');
    let _ = write!(out, "{ticks}{language}\n{text}\n{ticks}\n");
}

/// The list of all pages, as Markdown.
pub fn index(rules: &[&Rule]) -> String {
    let mut out = String::from(
        "# Rules\n\nWhat `codexgate lint` finds. **error**: the gate is open, a secret is exposed, or Codex does not start. **warning**: a likely mistake or a weak spot. **info**: worth knowing. Each page is made from the rule itself, and its examples are the rule's tests. `codexgate explain ID` says the same on the terminal.\n\n| rule | severity | what it says | fix |\n|---|---|---|---|\n",
    );
    for rule in rules {
        let _ = writeln!(
            out,
            "| [`{id}`]({id}.md) | {} | {} | {} |",
            rule.severity.name(),
            rule.says.replace('|', "\\|"),
            fix_words(rule),
            id = rule.id,
        );
    }
    out
}

#[derive(Serialize)]
struct Output<'a> {
    version: u32,
    rules: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Item<'a> {
    id: &'a str,
    severity: &'a str,
    confidence: &'a str,
    /// The oldest and the newest version of Codex that it was proven on.
    since: String,
    until: String,
    says: &'a str,
    why: &'a str,
    fixes: Vec<&'a str>,
    bad: Vec<Example>,
    good: Vec<Example>,
}

#[derive(Serialize)]
struct Example {
    path: String,
    /// What the disk says about it, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    disk: Vec<String>,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<&'static str>,
}

/// All of `rules` as one line of JSON.
pub fn json(rules: &[&Rule]) -> String {
    let examples = |cases: &'static [Case]| {
        let example = |case: &Case| Example {
            path: case.place(),
            disk: said_by_disk(case),
            text: match case.input {
                Input::Text(marked) | Input::Place(marked) => unmark(marked).0,
                _ => odd(case),
            },
            fixed: case.fixed,
        };
        cases.iter().map(example).collect()
    };
    let rules = rules
        .iter()
        .map(|rule| Item {
            id: rule.id,
            severity: rule.severity.name(),
            confidence: confidence(rule.confidence),
            since: short(rule.since),
            until: newest(),
            says: rule.says,
            why: rule.why,
            fixes: rule.fixes().into_iter().map(grade).collect(),
            bad: examples(rule.bad),
            good: examples(rule.good),
        })
        .collect();
    let output = Output {
        version: VERSION,
        rules,
    };
    serde_json::to_string(&output).expect("texts and numbers always serialise")
}

/// The word for how sure a rule is.
pub const fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "low",
        Confidence::Medium => "medium",
        Confidence::High => "high",
    }
}

/// The word for how much a fix can be trusted.
pub const fn grade(grade: Grade) -> &'static str {
    match grade {
        Grade::Safe => "safe",
        Grade::Unsafe => "unsafe",
    }
}

/// What `--fix` does about the rule, in a word or three.
fn fix_words(rule: &Rule) -> String {
    let grades: Vec<&str> = rule.fixes().into_iter().map(grade).collect();
    if grades.is_empty() {
        return "none".to_owned();
    }
    grades.join(" or ")
}

fn versions(since: Since) -> String {
    format!("Codex {} to {}", short(since), newest())
}

fn short((major, minor): Since) -> String {
    format!("{major}.{minor}")
}

fn newest() -> String {
    format!("{}.{}", NEWEST.major, NEWEST.minor)
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}
