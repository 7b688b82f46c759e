//! What the policy files say about a proposal: `allow`, `confirm`, `deny`.
//!
//! ```toml
//! deny = [["terraform", "destroy"], ["rm", "-rf", "*"]]
//! confirm = [["terraform"]]
//! allow = [{ command = ["/usr/bin/make", "test"], in = ["/home/me/project"] }]
//! ```
//!
//! A `*` in a word stands for any characters. `deny` and `confirm` match loosely, the beginning of
//! the words, by basename and through known wrappers: a guard rail, no boundary. `allow` matches
//! strictly: all words (`**` at the end: any more), the canonical program, which no agent can
//! write, in a named folder, with no input from outside. Every `.codex/codexgate.toml` above the
//! working folder and above each path among the arguments is asked, and can only tighten. A file
//! that cannot be followed refuses everything.

use super::error::Error;
use super::program::is_own_name;
use super::proposal::{Action, Command, Proposal};
use super::surroundings::Surroundings;
use crate::document::{Document, Node};
use crate::files::{self, Found};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// The policy file of a project.
const PROJECT_FILE: &str = ".codex/codexgate.toml";
/// How deep wrappers are looked into: `sh -c 'sudo env …'` is three.
const DEPTH_LIMIT: usize = 8;
/// How many command lines are looked for in one: words made to confuse have no end.
const CANDIDATES_LIMIT: usize = 256;

/// The line of a policy file that decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The pattern that stands there.
    pub pattern: Vec<String>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pattern = self.pattern.join(" ");
        write!(f, "{}:{} ({pattern})", self.path.display(), self.line)
    }
}

/// The `allow` line under which a proposal runs without a question. Only [`judge`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed(Line);

impl Allowed {
    /// The line.
    pub const fn line(&self) -> &Line {
        &self.0
    }
}

/// What the policy says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Ruling {
    /// It is not even proposed.
    Deny(Line),
    /// A person decides; with the line that says so, if one does.
    Confirm(Option<Line>),
    /// It runs at once.
    Allow(Allowed),
}

impl Ruling {
    /// The group's name.
    pub const fn group(&self) -> &'static str {
        match self {
            Self::Deny(_) => "deny",
            Self::Confirm(_) => "confirm",
            Self::Allow(_) => "allow",
        }
    }

    /// The line that decided, if one did.
    pub const fn line(&self) -> Option<&Line> {
        match self {
            Self::Deny(line) | Self::Confirm(Some(line)) | Self::Allow(Allowed(line)) => Some(line),
            Self::Confirm(None) => None,
        }
    }
}

/// Judges a proposal.
///
/// # Errors
/// [`Error::Policy`], [`Error::Files`]: a policy file that cannot be followed.
pub fn judge(proposal: &Proposal, around: &Surroundings) -> Result<Ruling, Error> {
    let command = match &proposal.action {
        Action::Command(command) => command,
        // Every change of a file is shown to a person.
        Action::Files(_) => return Ok(Ruling::Confirm(None)),
    };
    let ruling = judge_words(
        &command.argv,
        Some(Path::new(&command.program.path)),
        around,
    )?;
    if let Some(ruling) = ruling {
        return Ok(ruling);
    }
    for (line, why) in allowing(proposal, command, around)? {
        if why.is_none() {
            return Ok(Ruling::Allow(Allowed(line)));
        }
    }
    Ok(Ruling::Confirm(None))
}

/// The first `allow` line that would let a proposal run, and does not count, since its file is not
/// safe from an agent. A person who wrote it wants to know.
///
/// # Errors
/// As [`judge`].
pub fn skipped_allow(
    proposal: &Proposal,
    around: &Surroundings,
) -> Result<Option<(Line, files::Unsafe)>, Error> {
    let Action::Command(command) = &proposal.action else {
        return Ok(None);
    };
    let mut lines = allowing(proposal, command, around)?.into_iter();
    Ok(lines.find_map(|(line, why)| Some((line, why?))))
}

/// All `allow` lines that fit, each with why it does not count, if that is so.
fn allowing(
    proposal: &Proposal,
    command: &Command,
    around: &Surroundings,
) -> Result<Vec<(Line, Option<files::Unsafe>)>, Error> {
    let mut found = Vec::new();
    for (path, may_allow) in files_of(&command.argv, around) {
        if !may_allow {
            continue;
        }
        let mut allow = Rules::read(&path)?.allow.into_iter();
        if let Some(rule) = allow.find(|rule| rule.fits(command, &proposal.cwd.path)) {
            // stops: an `allow` that an agent wrote
            let why = files::own_safety(&path, &around.writable).err();
            found.push((rule.line, why));
        }
    }
    Ok(found)
}

/// What `deny` and `confirm` lines say about a command line, whether it is proposed or not.
/// `program`: what its first word was resolved to. `None`: no line matches.
///
/// # Errors
/// As [`judge`].
pub fn judge_words(
    argv: &[String],
    program: Option<&Path>,
    around: &Surroundings,
) -> Result<Option<Ruling>, Error> {
    let mut lines = loose_candidates(argv);
    if let (Some(program), Some(first)) = (program.and_then(Path::to_str), lines.first_mut()) {
        let mut resolved = first.clone();
        program.clone_into(&mut resolved[0]);
        lines.push(resolved);
    }
    let mut confirm = None;
    for (path, _) in files_of(argv, around) {
        let rules = Rules::read(&path)?;
        let hit = |patterns: Vec<Line>| {
            let mut patterns = patterns.into_iter();
            patterns.find(|line| {
                lines
                    .iter()
                    .any(|words| is_loose_match(&line.pattern, words))
            })
        };
        if let Some(line) = hit(rules.deny) {
            return Ok(Some(Ruling::Deny(line)));
        }
        confirm = confirm.or(hit(rules.confirm));
    }
    Ok(confirm.map(|line| Ruling::Confirm(Some(line))))
}

/// Whether codexgate would be run, through whatever known wrapper.
pub(super) fn runs_itself(argv: &[String]) -> bool {
    let lines = loose_candidates(argv);
    lines
        .iter()
        .any(|words| words.first().is_some_and(|word| is_own_name(word)))
}

/// All policy files that are asked, each with whether its `allow` counts.
fn files_of(argv: &[String], around: &Surroundings) -> Vec<(PathBuf, bool)> {
    let mut places: BTreeSet<PathBuf> = BTreeSet::from([around.cwd.clone()]);
    let words = argv
        .iter()
        .map(|word| word.split_once('=').map_or(word.as_str(), |(_, v)| v));
    places.extend(
        words
            .chain(argv.iter().map(String::as_str))
            .filter_map(|word| around.cwd.join(word).canonicalize().ok()),
    );
    let folders: BTreeSet<&Path> = places.iter().flat_map(|path| path.ancestors()).collect();
    let mut found = vec![(around.system_policy.clone(), true)];
    found.extend(around.user_policy.clone().map(|path| (path, true)));
    found.extend(
        folders
            .into_iter()
            .map(|folder| (folder.join(PROJECT_FILE), false)),
    );
    found
}

/// One `allow` entry.
#[derive(Debug)]
struct Allow {
    line: Line,
    folders: Vec<String>,
}

#[derive(Debug, Default)]
struct Rules {
    deny: Vec<Line>,
    confirm: Vec<Line>,
    allow: Vec<Allow>,
}

impl Rules {
    fn read(path: &Path) -> Result<Self, Error> {
        let bad = |why: String| Error::Policy {
            path: path.to_path_buf(),
            why,
        };
        // A `.codex` that is no folder holds no policy.
        if path.parent().is_none_or(|folder| !folder.is_dir()) {
            return Ok(Self::default());
        }
        let Found::File(file) = files::read(path, files::CONFIG_LIMIT)? else {
            return Ok(Self::default());
        };
        let text = String::from_utf8(file.bytes).map_err(|_| bad("it is not UTF-8".into()))?;
        let document = Document::parse(text).map_err(|error| bad(error.to_string()))?;
        let mut rules = Self::default();
        for (group, node) in document.root().as_table().into_iter().flatten() {
            if group == "lint" {
                continue; // for `codexgate lint`
            }
            let at = |node: &Node| document.locate(node.span.start).line;
            let wrong = |node: &Node, what: &str| bad(format!("line {}: {what}", at(node)));
            let items = node.as_array();
            for item in items.ok_or_else(|| wrong(node, "a list of patterns is wanted"))? {
                let shape = if group == "allow" {
                    item.child("command")
                } else {
                    Some(item)
                };
                let words = shape.and_then(strings).filter(|words| !words.is_empty());
                let line = Line {
                    path: path.to_path_buf(),
                    line: at(item),
                    pattern: words.ok_or_else(|| wrong(item, "a list of words is wanted"))?,
                };
                match group.as_str() {
                    "deny" => rules.deny.push(line),
                    "confirm" => rules.confirm.push(line),
                    "allow" => {
                        let members = item.as_table().map_or(0, indexmap::IndexMap::len);
                        let folders = item.child("in").and_then(strings);
                        let folders = folders.filter(|list| members == 2 && !list.is_empty());
                        rules.allow.push(Allow {
                            line,
                            folders: folders.ok_or_else(|| {
                                wrong(item, "`command` and `in`, a list of folders, are wanted")
                            })?,
                        });
                    }
                    _ => return Err(wrong(node, "the groups are `allow`, `confirm` and `deny`")),
                }
            }
        }
        Ok(rules)
    }
}

fn strings(node: &Node) -> Option<Vec<String>> {
    let items = node.as_array()?.iter();
    items.map(|item| item.as_str().map(str::to_owned)).collect()
}

impl Allow {
    /// Strictly: this program by content and place, these words, in one of these folders, and
    /// nothing of the agent's choosing beside them.
    fn fits(&self, command: &Command, cwd: &str) -> bool {
        let (program, rest) = (&self.line.pattern[0], &self.line.pattern[1..]);
        let plain = command.stdin.is_none() && command.environment.iter().all(|v| !v.asked);
        let here = |folder: &String| {
            let folder = Path::new(folder);
            folder.is_absolute() && Path::new(cwd).starts_with(folder)
        };
        plain
            && program.starts_with('/')
            && *program == command.program.path
            && !command.program.copied
            && wrapper(program).is_none()
            && self.folders.iter().any(here)
            && match_words(rest, &command.argv[1..], true)
    }
}

fn is_loose_match(pattern: &[String], words: &[String]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let resolved = Path::new(first).canonicalize().ok();
    let mut names = vec![first.as_str(), base(first)];
    names.extend(resolved.as_deref().and_then(Path::to_str).map(base));
    names
        .iter()
        .any(|name| wildcard(&pattern[0], name) || wildcard(base(&pattern[0]), name))
        && match_words(&pattern[1..], rest, false)
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Whether each pattern word matches; `whole`: no word may be left over, unless `**` ends it.
fn match_words(pattern: &[String], words: &[String], whole: bool) -> bool {
    let (pattern, open) = match pattern.split_last() {
        Some((last, rest)) if last == "**" => (rest, true),
        _ => (pattern, !whole),
    };
    (words.len() == pattern.len() || open && words.len() > pattern.len())
        && pattern
            .iter()
            .zip(words)
            .all(|(pattern, word)| wildcard(pattern, word))
}

/// Whether `text` fits `pattern`, in which `*` stands for any characters.
pub(super) fn wildcard(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// What a program does with the rest of its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrapper {
    /// Runs them, after its options and this many words of its own.
    Runs(usize),
    /// Reads the word behind `-c` as commands.
    Shell,
}

fn wrapper(word: &str) -> Option<Wrapper> {
    Some(match base(word) {
        "env" | "sudo" | "doas" | "nice" | "ionice" | "nohup" | "setsid" | "time" | "stdbuf"
        | "xargs" | "command" | "exec" | "builtin" | "busybox" | "toybox" => Wrapper::Runs(0),
        "timeout" | "chroot" | "taskset" | "chrt" | "su" => Wrapper::Runs(1),
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "fish" => Wrapper::Shell,
        _ => return None,
    })
}

/// The command lines that `argv` may come to run, itself first: behind wrappers and in the plain
/// words of a shell's `-c`. It finds too many rather than too few.
pub fn loose_candidates(argv: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    unwrap(argv, DEPTH_LIMIT, &mut found);
    found
}

fn unwrap(argv: &[String], depth: usize, found: &mut Vec<Vec<String>>) {
    let Some((first, rest)) = argv.split_first() else {
        return;
    };
    if found.len() >= CANDIDATES_LIMIT {
        return;
    }
    found.push(argv.to_vec());
    if depth == 0 {
        return;
    }
    match wrapper(first) {
        None => {}
        Some(Wrapper::Runs(own)) => {
            let mut left = own;
            for (at, word) in rest.iter().enumerate() {
                if word.starts_with('-') || is_assignment(word) {
                    continue;
                }
                unwrap(&rest[at..], depth - 1, found);
                // The word behind an option may be its value: look at the next one, too.
                let value = at > 0 && rest[at - 1].starts_with('-');
                if left == 0 && !value {
                    break;
                }
                left = left.saturating_sub(usize::from(!value));
            }
        }
        Some(Wrapper::Shell) => {
            let is_c = |word: &&String| word.starts_with('-') && word.contains('c');
            let scripts = rest.iter().skip_while(|word| !is_c(word)).skip(1);
            for script in scripts {
                for words in commands(script) {
                    unwrap(&words, depth - 1, found);
                }
            }
        }
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
}

/// The words of each simple command in a shell's text, quotes taken off, without assignments and
/// reserved words in front.
fn commands(script: &str) -> Vec<Vec<String>> {
    const BEFORE: [&str; 8] = ["!", "do", "else", "elif", "if", "then", "until", "while"];
    let pieces = script.split([';', '&', '|', '\n', '(', ')', '{', '}', '`']);
    let words = |piece: &str| -> Vec<String> {
        piece
            .split_whitespace()
            .map(|word| word.replace(['"', '\'', '\\'], ""))
            .skip_while(|word| BEFORE.contains(&word.as_str()) || is_assignment(word))
            .collect()
    };
    pieces
        .map(words)
        .filter(|words| !words.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::testing::Scene;
    use proptest::prelude::*;

    fn argv(line: &str) -> Vec<String> {
        // `'` keeps a word together.
        let mut words = Vec::new();
        for (at, part) in line.split('\'').enumerate() {
            if at % 2 == 1 {
                words.push(part.to_owned());
            } else {
                words.extend(part.split_whitespace().map(str::to_owned));
            }
        }
        words
    }

    #[test]
    fn deny_and_confirm_see_through_paths_and_wrappers() {
        let pattern = argv("terraform destroy");
        for line in [
            "terraform destroy",
            "terraform destroy -auto-approve",
            "./terraform destroy",
            "/usr/bin/terraform destroy",
            "/tmp/terraform destroy",
            "env terraform destroy",
            "env -i A=b -u HOME terraform destroy",
            "sudo -u root -E terraform destroy",
            "nice -n 10 terraform destroy",
            "timeout -s KILL 10 terraform destroy",
            "xargs -n 1 terraform destroy",
            "sh -c 'terraform destroy'",
            "bash -lc 'cd x && TF_LOG=1 terraform destroy -y'",
            "bash -c 'if true; then \"terraform\" destroy; fi'",
            "sudo env bash -c 'echo a | xargs terraform destroy'",
        ] {
            let hit = loose_candidates(&argv(line))
                .iter()
                .any(|w| is_loose_match(&pattern, w));
            assert!(hit, "{line}");
        }
        for line in [
            "terraform plan",
            "terraform",
            "echo terraform destroy",
            "sudo echo terraform destroy",
            "sh -c 'echo terraform destroy'",
            "terraformx destroy",
        ] {
            let hit = loose_candidates(&argv(line))
                .iter()
                .any(|w| is_loose_match(&pattern, w));
            assert!(!hit, "{line}");
        }
    }

    #[test]
    fn a_pattern_with_a_path_catches_the_name_elsewhere() {
        let pattern = argv("/usr/bin/terraform");
        assert!(is_loose_match(&pattern, &argv("./terraform x")));
        assert!(is_loose_match(
            &argv("*form"),
            &argv("/usr/local/bin/terraform")
        ));
        assert!(!is_loose_match(&pattern, &argv("./tofu x")));
    }

    #[test]
    fn codexgate_is_found_behind_wrappers() {
        for line in [
            "codexgate approve x",
            "env /x/codexgate approve",
            "sh -c './codexgate apply'",
        ] {
            assert!(runs_itself(&argv(line)), "{line}");
        }
        assert!(!runs_itself(&argv("cat codexgate")));
    }

    #[test]
    fn allow_is_this_program_in_this_folder_and_nothing_else() {
        let scene = Scene::new();
        let program = scene.program("tool");
        let project = scene.project.display().to_string();
        let rule = format!(
            "allow = [{{ command = [\"{program}\", \"go\", \"*.txt\"], in = [\"{project}\"] }}]"
        );
        scene.user_policy(&rule);
        let ruling =
            |line: &str| judge(&scene.command(&argv(line)), &scene.around).expect("judges");
        let allowed = |line: &str| matches!(ruling(line), Ruling::Allow(_));
        assert!(allowed(&format!("{program} go a.txt")));
        for line in [
            format!("{program} go"),
            format!("{program} go a.txt b.txt"),
            format!("{program} go a.md"),
            format!("env {program} go a.txt"),
            format!("sh -c '{program} go a.txt'"),
        ] {
            assert!(!allowed(&line), "{line}");
        }
        let mut outside = scene.command(&argv(&format!("{program} go a.txt")));
        outside.cwd.path = "/var".to_owned();
        assert!(matches!(
            judge(&outside, &scene.around),
            Ok(Ruling::Confirm(None))
        ));
        let mut copied = scene.command(&argv(&format!("{program} go a.txt")));
        if let Action::Command(command) = &mut copied.action {
            command.program.copied = true;
        }
        assert!(matches!(
            judge(&copied, &scene.around),
            Ok(Ruling::Confirm(None))
        ));
        let mut fed = scene.command(&argv(&format!("{program} go a.txt")));
        if let Action::Command(command) = &mut fed.action {
            command.environment[0].asked = true;
        }
        assert!(matches!(
            judge(&fed, &scene.around),
            Ok(Ruling::Confirm(None))
        ));
    }

    #[test]
    fn the_strictest_group_wins_and_a_project_only_tightens() {
        let scene = Scene::new();
        let program = scene.program("tool");
        let project = scene.project.display().to_string();
        let allow =
            format!("allow = [{{ command = [\"{program}\", \"**\"], in = [\"{project}\"] }}]");
        let line = argv(&format!("{program} x"));
        let ruling = || judge(&scene.command(&line), &scene.around).expect("judges");
        scene.write(".codex/codexgate.toml", &allow);
        assert_eq!(
            ruling(),
            Ruling::Confirm(None),
            "an `allow` of a project is ignored"
        );
        scene.user_policy(&allow);
        assert!(matches!(ruling(), Ruling::Allow(_)));
        scene.write(
            ".codex/codexgate.toml",
            "\nconfirm = [[\"tool\"]]\n[lint]\nignore = []",
        );
        assert!(matches!(ruling(), Ruling::Confirm(Some(line)) if line.line == 2));
        scene.user_policy("confirm = [[\"tool\"]]\ndeny = [[\"to*\", \"x\"]]");
        assert!(matches!(ruling(), Ruling::Deny(line) if line.line == 2));
    }

    #[test]
    fn the_policies_above_each_argument_are_asked() {
        let scene = Scene::new();
        let program = scene.program("tool");
        let other = scene.top.join("other");
        std::fs::create_dir_all(other.join(".codex")).expect("folders");
        std::fs::create_dir_all(other.join("deep")).expect("folders");
        std::fs::write(other.join(".codex/codexgate.toml"), "deny = [[\"tool\"]]").expect("file");
        for word in [
            format!("{}/deep", other.display()),
            format!("--in={}/deep", other.display()),
        ] {
            let proposal = scene.command(&[program.clone(), word]);
            assert!(matches!(
                judge(&proposal, &scene.around),
                Ok(Ruling::Deny(_))
            ));
        }
        assert!(matches!(
            judge(&scene.command(&[program]), &scene.around),
            Ok(Ruling::Confirm(None))
        ));
    }

    #[test]
    fn a_policy_that_cannot_be_followed_refuses() {
        let scene = Scene::new();
        let proposal = scene.command(&[scene.program("tool")]);
        for text in [
            "deny = ",
            "denied = [[\"x\"]]",
            "deny = \"x\"",
            "deny = [\"x\"]",
            "deny = [[]]",
            "deny = [[1]]",
            "allow = [[\"/x\"]]",
            "allow = [{ command = [\"/x\"] }]",
            "allow = [{ command = [\"/x\"], in = [] }]",
            "allow = [{ command = [\"/x\"], in = [\"/\"], at = [] }]",
        ] {
            scene.user_policy(text);
            let judged = judge(&proposal, &scene.around);
            assert!(
                matches!(judged, Err(Error::Policy { .. })),
                "{text}: {judged:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn looking_into_any_words_ends(words in prop::collection::vec("(sudo|env|sh|-c|sh -c|a=b|;|x){0,4}", 0..12)) {
            let found = loose_candidates(&words);
            prop_assert_eq!(found.first(), if words.is_empty() { None } else { Some(&words) });
        }

        #[test]
        fn a_wildcard_matches_what_it_was_made_from(a in "[a-z]{0,5}", b in "[a-z]{0,5}", c in "[a-z*]{0,5}") {
            let (pattern, text) = (format!("{a}*{b}"), format!("{a}{c}{b}"));
            prop_assert!(wildcard(&pattern, &text));
            prop_assert!(wildcard(&a, &a));
            let longer = format!("{a}x");
            prop_assert!(!wildcard(&a, &longer));
        }
    }
}
