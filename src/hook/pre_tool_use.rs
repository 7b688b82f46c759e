//! A tool is about to run: a command line that a `confirm` or `deny` line of the policy files
//! matches is stopped, and the agent is told the line that proposes it.
//!
//! What no line matches passes, and so does our own `apply`, alone on its line. It finds too much
//! rather than too little: a stopped command can be proposed. It is no boundary: a program that
//! starts another one is not looked into.

use std::path::Path;

use super::Answer;
use crate::approval::{self, Ruling, Surroundings};
use crate::text::quote;

/// Codex's name of the event.
pub const EVENT: &str = "PreToolUse";

/// Judges a command line. `program`: the path under which the rule lets us run.
pub fn answer(command: &str, program: &Path, around: &Surroundings) -> Answer {
    let plain = plain_words(command);
    if plain
        .as_deref()
        .is_some_and(|words| is_own_apply(words, program))
    {
        return Answer::Nothing;
    }
    let shell = ["sh", "-c", command].map(str::to_owned).to_vec();
    let lines = [plain.clone(), Some(shell.clone())];
    let mut found = None;
    for line in lines.into_iter().flatten() {
        match approval::judge_words(&line, None, around) {
            Ok(Some(ruling @ Ruling::Deny(_))) => {
                found = Some(ruling);
                break;
            }
            Ok(ruling) => found = found.or(ruling),
            Err(error) => return Answer::Warning(format!("no command is judged: {error}")),
        }
    }
    let Some(ruling) = found else {
        return Answer::Nothing;
    };
    let line = ruling.line().map(ToString::to_string).unwrap_or_default();
    if matches!(ruling, Ruling::Deny(_)) {
        return Answer::Deny(format!(
            "{line} denies this command, and it cannot be proposed either. Tell the person what \
             you wanted to do."
        ));
    }
    let own = program.to_string_lossy();
    let words = plain.unwrap_or(shell);
    let proposal = [own.as_ref(), "apply", "--"]
        .into_iter()
        .chain(words.iter().map(String::as_str));
    // Codex puts words of its own right behind ours, so the line to copy is not the last one.
    Answer::Deny(format!(
        "{line} wants a person's approval for this command. Propose it with this one plain \
         command:\n{}\nIt runs nothing and prints a token; call `codexgate_approve` with that token.",
        quote::words(proposal)
    ))
}

/// Whether the words are this program's `apply`.
fn is_own_apply(words: &[String], program: &Path) -> bool {
    let [first, second, ..] = words else {
        return false;
    };
    second == "apply"
        && Path::new(first).is_absolute()
        && (Path::new(first) == program
            || Path::new(first).canonicalize().ok() == program.canonicalize().ok())
}

/// The words of one simple command in plain words and quotes; none where the shell would do more
/// than split it: operators, expansions, patterns, assignments, comments.
fn plain_words(line: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.trim().chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            c @ ('"' | '\\' | '$' | '`') => word.push(c),
                            '\n' => {}
                            c => word.extend(['\\', c]),
                        },
                        '$' | '`' | '!' => return None,
                        c => word.push(c),
                    }
                }
            }
            '\\' => match chars.next()? {
                '\n' => {}
                c => word.get_or_insert_default().push(c),
            },
            '\n' | '\r' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '{' | '}' | '$' | '`' | '*'
            | '?' | '[' | ']' | '!' | '#' | '~' => return None,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    let first = words.first()?;
    (!first.contains('=')).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    struct Scene {
        keep: tempfile::TempDir,
    }

    impl Scene {
        fn new(policy: &str) -> Self {
            let keep = tempfile::tempdir().expect("a folder");
            let scene = Self { keep };
            let dot = scene.top().join(".codex");
            std::fs::create_dir(&dot).expect("a folder");
            if !policy.is_empty() {
                std::fs::write(dot.join("codexgate.toml"), policy).expect("a file");
            }
            std::fs::write(scene.program(), "").expect("a file");
            scene
        }

        fn top(&self) -> PathBuf {
            self.keep.path().canonicalize().expect("it is there")
        }

        fn program(&self) -> PathBuf {
            self.top().join("code gate")
        }

        fn answer(&self, command: &str) -> Answer {
            let around = Surroundings {
                state: self.top().join("state"),
                codex_home: None,
                executable: self.program(),
                cwd: self.top(),
                project: self.top(),
                writable: Vec::new(),
                user_policy: None,
                system_policy: self.top().join("nothing/config.toml"),
            };
            answer(command, &self.program(), &around)
        }

        fn denies(&self, command: &str) -> String {
            match self.answer(command) {
                Answer::Deny(why) => why,
                other => panic!("{command}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_matched_command_is_denied_with_the_line_that_proposes_it() {
        let scene = Scene::new("confirm = [[\"terraform\"]]\ndeny = [[\"rm\", \"-rf\", \"*\"]]\n");
        let own = quote::word(&scene.program().to_string_lossy()).into_owned();
        for (command, proposal) in [
            ("terraform apply", "terraform apply"),
            ("./terraform 'a b'", "./terraform 'a b'"),
            ("env A=1 terraform plan", "env 'A=1' terraform plan"),
        ] {
            let why = scene.denies(command);
            let line = why.lines().nth(1).unwrap_or_default();
            assert!(line.starts_with(&format!("{own} apply -- ")), "{why}");
            assert_eq!(
                plain_words(line).expect("it is plain")[3..],
                plain_words(proposal).expect("it is plain"),
            );
            assert!(why.contains("codexgate.toml:1"), "{why}");
        }
        for command in [
            "cd x && terraform apply",
            "terraform apply | cat",
            "A=1 terraform apply",
            "bash -lc 'terraform apply'",
            "echo $(terraform apply)",
        ] {
            let why = scene.denies(command);
            let words = plain_words(why.lines().nth(1).unwrap_or_default()).expect("plain");
            assert!(
                words.contains(&command.to_owned()) || words[3] == "bash",
                "{why}"
            );
        }
        for command in ["rm -rf /", "terraform x; rm -rf /"] {
            let why = scene.denies(command);
            assert!(
                why.contains("cannot be proposed") && !why.contains("apply --"),
                "{why}"
            );
        }
    }

    #[test]
    fn what_nothing_matches_and_our_own_apply_pass() {
        let scene = Scene::new("confirm = [[\"terraform\"]]\n");
        let own = quote::word(&scene.program().to_string_lossy()).into_owned();
        for command in ["ls", "echo terraform", "", "(", "cat <<'X'\nhello\nX"] {
            assert_eq!(scene.answer(command), Answer::Nothing, "{command}");
        }
        assert_eq!(
            scene.answer(&format!("{own} apply -- sh -c 'a; terraform b'")),
            Answer::Nothing
        );
        assert_eq!(
            scene.answer(&format!("{own} apply --confirm x")),
            Answer::Nothing
        );
        for command in [
            format!("{own} apply x && terraform apply"),
            format!("{own} apply x; terraform apply"),
            format!("{own} apply $(terraform apply)"),
            format!("{own} apply \"`terraform apply`\""),
            format!("{own} apply x\nterraform apply"),
            format!("{own} apply x <(terraform apply)"),
        ] {
            assert!(
                matches!(scene.answer(&command), Answer::Deny(_)),
                "{command}"
            );
        }
    }

    #[test]
    fn without_a_policy_file_nothing_is_denied_and_a_broken_one_is_said() {
        let scene = Scene::new("");
        assert_eq!(scene.answer("terraform destroy"), Answer::Nothing);
        let scene = Scene::new("confirm = 1\n");
        assert!(
            matches!(scene.answer("ls"), Answer::Warning(why) if why.contains("codexgate.toml"))
        );
    }

    #[test]
    fn words_are_split_as_a_shell_does_or_not_at_all() {
        let words = |line: &str| plain_words(line);
        let some = |list: &[&str]| Some(list.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            words("a 'b c' \"d\\\"e\" f\\ g ''"),
            some(&["a", "b c", "d\"e", "f g", ""])
        );
        for line in [
            "a;b", "a|b", "a $b", "\"$b\"", "A=1 b", "a 'b", "a \\", "", "a *", "# x", "a\nb",
        ] {
            assert_eq!(words(line), None, "{line}");
        }
    }
}
