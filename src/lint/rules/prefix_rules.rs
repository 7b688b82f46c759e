//! `rules-broken`, `rule-basename`, `rule-broad`, `rule-opens-gate`, `rule-default-allow`: what a
//! `.rules` file lets out of the sandbox, or fails to say.
//! Source: scenarios rules-broken-one-of-two, rules-examples-fail, rules-basename-resolve,
//! rules-host-executable, rules-default-allow, rules-migration; Codex 0.171. Which programs are
//! broad starts from those whose rules Codex itself deletes, and is an opinion beyond them.

use std::collections::BTreeSet;

use crate::codex::rules_text::{PrefixRule, Verdict, Word};
use crate::document::{Edit, Span};
use crate::lint::rules_file::{Line, RulesFile, lines, program};
use crate::lint::{Check, Confidence, Findings, Grade, Kind, Rule, Severity, case};

pub const BROKEN: Rule = Rule {
    id: "rules-broken",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 171),
    says: "Codex refuses this rules file",
    why: "One wrong call, or one example that does not hold, voids the custom rules of every file, \
          not only of this one: what they forbid is not forbidden, and what they allow is asked for.",
    bad: &[
        case("prefix_rule(\n    pattern = [‹\"tmux capture-pane\"›],\n    decision = \"allow\",\n    match = [\"tmux capture-pane -p\"],\n)\n")
            .of(Kind::Rules),
        case("prefix_rule(pattern=[\"ls\"], decision=‹\"Allow\"›)\n").of(Kind::Rules),
        case("prefix_rule(‹reason=\"x\"›, pattern=[\"ls\"])\n").of(Kind::Rules),
        case("‹allow›([\"ls\"])\n").of(Kind::Rules),
        case("‹prefix_rule›(\n    pattern = [\"ls\"],\n").of(Kind::Rules),
        case("prefix_rule(pattern=[\"ls\"], decision=\"prompt\", not_match=[‹\"ls x\"›])\n").of(Kind::Rules),
        case("host_executable(name=\"git\", paths=[‹\"git\"›])\n").of(Kind::Rules),
        case("prefix_rule(pattern=[\"ls\"], decision=\"prompt\", match=[‹\"ls 'a b'\"›])\n").of(Kind::Rules),
        // A program is not judged, and that is said.
        case("for x in [\"a\"]:\n    ‹prefix_rule(pattern=[x])›\n").of(Kind::Rules),
    ],
    good: &[
        case("prefix_rule(pattern=[\"ls\"], decision=\"prompt\", match=[\"ls -a\"], not_match=[\"lsof\"])\n")
            .of(Kind::Rules),
        case("").of(Kind::Rules),
    ],
    check: Check::Rules(is_broken),
};

pub const BASENAME: Rule = Rule {
    id: "rule-basename",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 171),
    says: "a rule for a bare name lets any program of that name out of the sandbox",
    why: "Codex compares the last part of a program's path with a bare name: a file of that name \
          that a repository brings, or that the agent has just written, runs outside of the \
          sandbox without a question.",
    bad: &[
        case("prefix_rule(pattern=[‹\"git\"›, \"status\"], decision=\"allow\")\n").of(Kind::Rules),
        case("prefix_rule(\n    pattern = [[‹\"cargo\"›, \"/usr/bin/make\"], \"test\"],\n    decision = \"allow\",\n)\n")
            .of(Kind::Rules),
        case("prefix_rule(pattern=[‹\"git\"›, \"status\"], decision=\"allow\")\nprefix_rule(pattern=[\"git\", \"log\"], decision=\"allow\")\n")
            .of(Kind::Rules),
    ],
    good: &[
        case("prefix_rule(pattern=[\"git\", \"status\"], decision=\"allow\")\nhost_executable(name=\"git\", paths=[\"/usr/bin/git\"])\n")
            .of(Kind::Rules),
        case("prefix_rule(pattern=[\"/usr/bin/git\", \"status\"], decision=\"allow\")\n").of(Kind::Rules),
        case("prefix_rule(pattern=[\"git\", \"push\"], decision=\"prompt\")\n").of(Kind::Rules),
    ],
    check: Check::Rules(basename),
};

pub const BROAD: Rule = Rule {
    id: "rule-broad",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 171),
    says: "this rule lets any code out of the sandbox",
    why: "A rule covers every command line that begins with its words. Where what follows can be \
          code of any kind, or a file of anybody's choice, nothing is left of the sandbox and of \
          the questions.",
    bad: &[
        case("prefix_rule(pattern=[‹\"/bin/bash\"›, \"-lc\"], decision=\"allow\")\n").of(Kind::Rules),
        case("prefix_rule(pattern=[‹\"python3.12\"›], decision=\"allow\")\n").of(Kind::Rules),
        case("prefix_rule(pattern=[‹\"node\"›, \"-e\"], decision=\"allow\")\n").of(Kind::Rules),
        case("prefix_rule(pattern=[\"sudo\", \"-n\", ‹\"bash\"›], decision=\"allow\")\n").of(Kind::Rules),
        case("prefix_rule(pattern=[‹\"env\"›], decision=\"allow\")\n").of(Kind::Rules),
        case("prefix_rule(pattern=[‹\"codex\"›, \"exec\"], decision=\"allow\")\n").of(Kind::Rules),
        case("prefix_rule(pattern=[‹\"npx\"›], decision=\"allow\")\n").of(Kind::Rules),
        case("prefix_rule(pattern=[‹\"pnpm\"›, [\"dlx\", \"install\"]], decision=\"allow\")\n").of(Kind::Rules),
        case("prefix_rule(pattern=[[‹\"find\"›, \"/usr/bin/wc\"]], decision=\"allow\")\n").of(Kind::Rules),
    ],
    good: &[
        case("prefix_rule(pattern=[\"/bin/bash\", \"-lc\", \"git ls-remote\"], decision=\"allow\")\n")
            .of(Kind::Rules),
        case("prefix_rule(pattern=[\"/usr/bin/pnpm\", \"run\", \"build\"], decision=\"allow\")\n").of(Kind::Rules),
        case("prefix_rule(pattern=[\"bash\"], decision=\"prompt\")\n").of(Kind::Rules),
        case("prefix_rule(pattern=[\"/usr/bin/sudo\", \"/usr/bin/systemctl\", \"status\"], decision=\"allow\")\n")
            .of(Kind::Rules),
    ],
    check: Check::Rules(broad),
};

pub const OPENS_GATE: Rule = Rule {
    id: "rule-opens-gate",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 171),
    says: "this rule lets the agent approve what it asked for",
    why: "The gate is a person. A rule that lets the agent run the side of the gate that decides, \
          or that puts the gate in place and takes it away, leaves no gate.",
    bad: &[
        case("prefix_rule(pattern=[‹\"/usr/local/bin/codexgate\"›], decision=\"allow\")\n").of(Kind::Rules),
        case("prefix_rule(pattern=[\"/usr/local/bin/codexgate\", [\"apply\", ‹\"approve\"›]], decision=\"allow\")\n")
            .of(Kind::Rules),
        case("prefix_rule(pattern=[\"env\", \"codexgate\", ‹\"uninstall\"›], decision=\"allow\")\n").of(Kind::Rules),
    ],
    good: &[
        case("prefix_rule(pattern=[\"/usr/local/bin/codexgate\", \"apply\"], decision=\"allow\")\n").of(Kind::Rules),
        case("prefix_rule(pattern=[\"codexgate\"], decision=\"forbidden\")\n").of(Kind::Rules),
    ],
    check: Check::Rules(opens_gate),
};

pub const DEFAULT_ALLOW: Rule = Rule {
    id: "rule-default-allow",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 171),
    says: "a rule without a decision allows",
    why: "Whoever leaves the decision out may have meant a question, and a reader does not see that \
          this lets commands out of the sandbox.",
    bad: &[
        case("‹prefix_rule›(pattern=[\"/bin/ls\"])\n")
            .of(Kind::Rules)
            .fixed("prefix_rule(pattern=[\"/bin/ls\"], decision=\"allow\")\n"),
        case("‹prefix_rule›([\"/bin/ls\"])\n")
            .of(Kind::Rules)
            .fixed("prefix_rule([\"/bin/ls\"], decision=\"allow\")\n"),
        case("‹prefix_rule›(\n    pattern = [\"/bin/ls\"],\n    match = [\"/bin/ls -l\"],\n)\n")
            .of(Kind::Rules)
            .fixed("prefix_rule(\n    pattern = [\"/bin/ls\"],\n    decision = \"allow\",\n    match = [\"/bin/ls -l\"],\n)\n"),
    ],
    good: &[case("prefix_rule([\"/bin/ls\"], \"allow\")\n").of(Kind::Rules)],
    check: Check::Rules(default_allow),
};

const CONSEQUENCE: &str = "`codex exec` refuses to start; the TUI and the app server go on without ANY file of custom rules";

fn is_broken(file: &RulesFile, found: &mut Findings) {
    match &file.verdict {
        Verdict::Right(_) => {}
        // The byte order mark has a rule of its own.
        Verdict::Broken { .. } if file.source().text().starts_with('\u{feff}') => {}
        Verdict::Broken {
            why,
            span,
            word: None,
            ..
        } => {
            found
                .add(&BROKEN, *span)
                .says(format!("Codex refuses this rules file: {why}"))
                .note(CONSEQUENCE);
        }
        Verdict::Broken {
            span,
            word: Some(word),
            ..
        } => {
            found
                .add(&BROKEN, *word)
                .says(
                    "this is one word with a space in it, so an example of the rule never matches",
                )
                .related(*span, "this example is several words")
                .note(CONSEQUENCE)
                .help("write each word of the command as a string of its own");
        }
        Verdict::NotJudged {
            span,
            example: true,
            ..
        } => {
            found
                .add(&BROKEN, *span)
                .severity(Severity::Info)
                .says("this example has quotes, and whether it holds is not judged")
                .help("ask Codex: `codex execpolicy check --rules FILE -- COMMAND`");
        }
        Verdict::NotJudged { span, .. } => {
            found
                .add(&BROKEN, *span)
                .severity(Severity::Info)
                .says("this file is a program: from here on it is not judged")
                .help("ask Codex: `codex execpolicy check --rules FILE -- COMMAND`");
        }
    }
}

fn basename(file: &RulesFile, found: &mut Findings) {
    let hosts = file.rules().map_or(&[][..], |rules| &rules.hosts);
    let mut told = BTreeSet::new();
    for rule in file.allowing() {
        // A rule that lets everything out has a finding that says more.
        if lines(rule)
            .iter()
            .any(|line| is_broad(line) || !gate_words(line).is_empty())
        {
            continue;
        }
        for word in &rule.pattern[0] {
            let name = word.text.as_str();
            // A word with a space or an operator is no program that a shell's line starts with.
            let is_name = !name.is_empty() && !name.contains(['/', '\\', ' ', '|', '&', ';']);
            if is_name && !hosts.iter().any(|host| host == name) && told.insert(name) {
                found
                    .add(&BASENAME, word.span)
                    .says(format!(
                        "this allows any program named `{name}`, one in the repository too"
                    ))
                    .note(format!("`./{name}` then runs outside of the sandbox, unasked"))
                    .help(format!(
                        "add `host_executable(name = \"{name}\", paths = [\"/usr/bin/{name}\"])` with its real path"
                    ));
            }
        }
    }
}

fn broad(file: &RulesFile, found: &mut Findings) {
    for rule in file.allowing() {
        for line in lines(rule).iter().filter(|line| is_broad(line)) {
            let name = program(&line.first.text);
            found
                .add(&BROAD, line.first.span)
                .says(format!(
                    "this rule covers whatever `{name}` can be told to do"
                ))
                .note("it runs outside of the sandbox, unasked, with any further arguments")
                .help("allow the exact command, or use `decision = \"prompt\"`");
        }
    }
}

/// Programs that run what their arguments say, or that may write any file: as a whole they are
/// broad. Codex deletes rules for the first line of them by itself, where it wrote them.
const WHOLE: &[&str] = &[
    "git",
    "bash",
    "sh",
    "zsh",
    "fish",
    "dash",
    "python",
    "node",
    "nodejs",
    "ruby",
    "perl",
    "php",
    "lua",
    "deno",
    "bun",
    "pwsh",
    "powershell",
    "osascript",
    "rm",
    "ksh",
    "cmd",
    "tclsh",
    "rscript",
    "java",
    "ghci",
    "eval",
    "su",
    "npx",
    "bunx",
    "uvx",
    "pnpx",
    "pipx",
    "npm",
    "pnpm",
    "yarn",
    "uv",
    "pip",
    "poetry",
    "cargo",
    "go",
    "make",
    "just",
    "docker",
    "podman",
    "kubectl",
    "ssh",
    "find",
    "awk",
    "gawk",
    "codex",
    "gh",
    "dd",
    "curl",
    "wget",
    "tar",
    "rsync",
    "cp",
    "mv",
    "tee",
    "ln",
    "vim",
    "vi",
    "parallel",
    "watch",
    "tmux",
    "screen",
    "at",
    "crontab",
    "systemctl",
    "systemd-run",
    "nix",
    "aws",
    "gcloud",
    "terraform",
    "sed",
    "chmod",
    "launchctl",
    "brew",
];

/// First arguments after which anything may follow; nothing more is required of the line.
const OPEN: &[(&str, &[&str])] = &[
    ("python", &["-c", "-m", "-"]),
    ("node", &["-e", "--eval", "-p", "--print", "-"]),
    ("nodejs", &["-e", "--eval", "-p", "--print", "-"]),
    ("perl", &["-e", "-E", "-"]),
    ("ruby", &["-e", "-"]),
    ("php", &["-r"]),
    ("lua", &["-e", "-"]),
    ("deno", &["run", "eval", "x"]),
    ("bun", &["run", "x", "-e"]),
    ("osascript", &["-e"]),
    ("npm", &["run", "exec", "x"]),
    ("pnpm", &["run", "exec", "dlx"]),
    ("yarn", &["run", "exec", "dlx"]),
    ("npx", &["-y", "--yes", "-c"]),
    ("pipx", &["run"]),
    ("uv", &["run", "tool", "x"]),
    ("poetry", &["run"]),
    ("go", &["run", "generate"]),
    ("cargo", &["run", "install"]),
    ("docker", &["run", "exec"]),
    ("podman", &["run", "exec"]),
    ("kubectl", &["exec"]),
    ("git", &["-c", "-C"]),
    (
        "codex",
        &[
            "exec",
            "e",
            "resume",
            "fork",
            "sandbox",
            "app-server",
            "mcp",
        ],
    ),
    ("cmd", &["/c", "/C"]),
    ("su", &["-c", "-"]),
];

fn is_broad(line: &Line) -> bool {
    if line.open {
        return true;
    }
    let name = program(&line.first.text).to_ascii_lowercase();
    // python3.12 is python, and pip3 is pip.
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let has = |words: &[Word], known: &[&str]| {
        words.iter().any(|word| known.contains(&word.text.as_str()))
    };
    match line.rest {
        [] => WHOLE.contains(&name),
        [only] if is_shell(name) => only.iter().any(|word| word.text.starts_with('-')),
        [only] => OPEN
            .iter()
            .any(|(program, words)| *program == name && has(only, words)),
        // `codex exec` takes every option after any other word.
        [first, ..] => name == "codex" && has(first, &["exec", "e"]),
    }
}

fn is_shell(name: &str) -> bool {
    [
        "bash",
        "sh",
        "zsh",
        "fish",
        "dash",
        "ksh",
        "pwsh",
        "powershell",
    ]
    .contains(&name)
}

/// Subcommands of codexgate that decide, or that put the gate in place.
const DECIDING: &[&str] = &["approve", "reject", "install", "uninstall", "mcp", "broker"];

fn opens_gate(file: &RulesFile, found: &mut Findings) {
    for rule in file.allowing() {
        for word in lines(rule).iter().flat_map(gate_words) {
            let finding = found.add(&OPENS_GATE, word.span);
            if DECIDING.contains(&word.text.as_str()) {
                finding.says(format!(
                    "this rule lets the agent run `codexgate {}` without a person",
                    word.text
                ));
            }
            finding.help("allow `codexgate apply` alone, by its full path");
        }
    }
}

/// The words of a line that reach the deciding side: a subcommand, or the program as a whole.
fn gate_words<'a>(line: &Line<'a>) -> Vec<&'a Word> {
    if program(&line.first.text) != "codexgate" {
        return Vec::new();
    }
    // Options before the subcommand are the program's own.
    let is_option = |words: &Vec<Word>| words.iter().all(|word| word.text.starts_with('-'));
    match line.rest.iter().find(|words| !is_option(words)) {
        None => vec![line.first],
        Some(words) => words
            .iter()
            .filter(|word| DECIDING.contains(&word.text.as_str()))
            .collect(),
    }
}

fn default_allow(file: &RulesFile, found: &mut Findings) {
    let text = file.source().text();
    for rule in file.allowing().filter(|rule| !rule.written) {
        found
            .add(&DEFAULT_ALLOW, rule.call)
            .note("Codex runs what it matches outside of the sandbox, unasked")
            .fix(Grade::Safe, [written_out(text, rule)]);
    }
}

/// `decision = "allow"` behind the pattern, in the manner of the call.
fn written_out(text: &str, rule: &PrefixRule) -> Edit {
    let Span { start, end } = rule.argument;
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let before = &text[line..start];
    let spaced = text[start..end].starts_with("pattern =");
    let equals = if spaced { " = " } else { "=" };
    if before.trim().is_empty() && line > rule.call.start {
        let newline = if text[..line].ends_with("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        Edit::insert(end, format!(",{newline}{before}decision{equals}\"allow\""))
    } else {
        Edit::insert(end, format!(", decision{equals}\"allow\""))
    }
}
