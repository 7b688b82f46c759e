//! The view of a `.rules` file that rules share, and what a pattern lets a command line be.
//!
//! It says what is written in plain calls. A file that is a program shows the calls before its
//! first piece that would have to be run, and nothing after it.

use super::file::{Content, Kind, Source};
use crate::codex::rules_text::{self, PrefixRule, Rules, Verdict, Word};

/// One `.rules` file.
#[derive(Debug, Clone)]
pub struct RulesFile<'a> {
    source: &'a Source,
    /// What Codex makes of it.
    pub verdict: Verdict,
}

impl<'a> RulesFile<'a> {
    /// The rules of `source`, if it is such a file and a text.
    pub fn new(source: &'a Source) -> Option<Self> {
        let is_rules = source.subject.kind == Kind::Rules;
        (is_rules && matches!(source.content, Content::Text)).then(|| Self {
            source,
            verdict: rules_text::judge(source.text()),
        })
    }

    /// The file.
    pub const fn source(&self) -> &'a Source {
        self.source
    }

    /// The calls, as far as they can be told; none where Codex refuses the file.
    pub const fn rules(&self) -> Option<&Rules> {
        match &self.verdict {
            Verdict::Right(rules) | Verdict::NotJudged { before: rules, .. } => Some(rules),
            Verdict::Broken { .. } => None,
        }
    }

    /// The rules that let commands out of the sandbox without a question.
    pub fn allowing(&self) -> impl Iterator<Item = &PrefixRule> {
        let rules = self.rules().into_iter().flat_map(|rules| &rules.prefixes);
        rules.filter(|rule| rule.decision == "allow")
    }
}

/// The name of a program, whatever its folder: a rule for a bare name matches every path to it
/// (scenario rules-basename-resolve).
pub fn program(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Programs that run the rest of their line.
const WRAPPERS: &[&str] = &[
    "env",
    "sudo",
    "doas",
    "pkexec",
    "xargs",
    "nice",
    "nohup",
    "setsid",
    "stdbuf",
    "time",
    "timeout",
    "command",
    "exec",
    "caffeinate",
];

/// One way to read a pattern: a first word, and the words after it with their alternatives.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The program.
    pub first: &'a Word,
    /// What must follow.
    pub rest: &'a [Vec<Word>],
    /// Whether the program is a wrapper, after which nothing else is required.
    pub open: bool,
}

/// Each program that a rule lets run, with wrappers such as `env` looked through.
pub fn lines(rule: &PrefixRule) -> Vec<Line<'_>> {
    let Some((firsts, rest)) = rule.pattern.split_first() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for first in firsts {
        if WRAPPERS.contains(&program(&first.text)) {
            let inner = unwrapped(rest);
            match inner.split_first() {
                None => found.push(Line {
                    first,
                    rest,
                    open: true,
                }),
                Some((programs, rest)) => found.extend(programs.iter().map(|word| Line {
                    first: word,
                    rest,
                    open: WRAPPERS.contains(&program(&word.text)) && unwrapped(rest).is_empty(),
                })),
            }
        } else {
            found.push(Line {
                first,
                rest,
                open: false,
            });
        }
    }
    found
}

/// What is left after a wrapper's options, variables and numbers, and after wrappers in it.
fn unwrapped(mut words: &[Vec<Word>]) -> &[Vec<Word>] {
    while let Some((first, rest)) = words.split_first() {
        let is_own = |word: &Word| {
            word.text.starts_with('-')
                || word.text.contains('=')
                || word.text.starts_with(|c: char| c.is_ascii_digit())
                || (!rest.is_empty() && WRAPPERS.contains(&program(&word.text)))
        };
        if !first.iter().all(is_own) {
            break;
        }
        words = rest;
    }
    words
}
