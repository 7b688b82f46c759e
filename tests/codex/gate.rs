//! The gate that `install` writes is the gate that Codex sees: an approver, a rule, trusted hooks.

use crate::install::{PROGRAM, place_program};
use crate::lab::Lab;
use crate::process::{self, Finished};
use crate::program;
use crate::worker::Worker;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A project with a hook of somebody else, and a program in a place that no agent can write.
struct Place {
    lab: Lab,
    program: PathBuf,
    _root: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("codexgate-")
            .tempdir_in("/var/tmp")
            .expect("/var/tmp is writable");
        let mut lab = Lab::at(&root.path().canonicalize().expect("it was just made"));
        let state = lab.root.join("state").display().to_string();
        lab.env.insert("XDG_STATE_HOME".to_owned(), state);
        lab.fake_git();
        place_program(&lab.root);
        let program = lab.root.join(PROGRAM);
        let dot = lab.project.join(".codex");
        std::fs::create_dir(&dot).expect("the lab is writable");
        Self {
            lab,
            program,
            _root: root,
        }
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.lab.root.join(name), text).expect("the lab is writable");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.lab.root.join(name)).unwrap_or_default()
    }

    fn codexgate(&self, args: &[&str], exit: i32) -> String {
        // npm's start script, where there is one, needs node.
        let mut command = self.lab.command(&self.program);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let done = process::run(command.args(args));
        let said = done.text() + &done.stderr;
        assert_eq!(done.code, Some(exit), "{args:?}: {said}");
        said
    }

    fn install(&self, codex: &Path, exit: i32) -> String {
        let codex = codex.display().to_string();
        self.codexgate(&["install", "--yes", "--trust", "--codex", &codex], exit)
    }
}

/// The trust of each hook whose command ends with `words`.
fn trust(answer: &Value, words: &str) -> Vec<String> {
    let hooks = answer["hooks"].as_array().expect("Codex lists hooks");
    let ours = hooks.iter().filter(|hook| {
        let command = hook["command"].as_str().unwrap_or_default();
        command.ends_with(words)
    });
    ours.map(|hook| hook["trustStatus"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn codex_sees_the_approver_and_trusts_both_hooks() {
    let test = "codex_sees_the_approver_and_trusts_both_hooks";
    let Some(codex) = program::find_for(test) else {
        return;
    };
    let mut worker = Worker::start(&codex);
    let json = r#"{"hooks": {"PreToolUse": [{"matcher": "x", "hooks": [{"type": "command", "command": "theirs"}]}]}}"#;
    let toml = "[[hooks.PreToolUse]]\nmatcher = \"x\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"theirs\"\n";
    for (file, text) in [
        ("project/.codex/hooks.json", json),
        ("project/.codex/config.toml", toml),
        ("project/.codex/keep", ""),
    ] {
        let place = Place::new();
        place.write(file, text);
        place.install(&codex, 0);
        let answer = worker.ask_in(&place.lab.root).expect("Codex answers");
        let listed = answer["listed"].as_array().expect("Codex takes the files");
        let ours = listed.iter().find(|server| server["name"] == "codexgate");
        let ours = ours.expect("the approver is listed");
        assert_eq!(ours["enabled"], true, "{ours:#}");
        let program = place.program.display().to_string();
        assert_eq!(ours["transport"]["command"], json!(program));
        for event in ["hook session-start", "hook pre-tool-use"] {
            assert_eq!(trust(&answer, event), ["trusted"], "{file}: {answer:#}");
        }
        if !text.is_empty() {
            assert_eq!(trust(&answer, "theirs"), ["untrusted"], "{file}: only ours");
        }
        // The model's digest is Codex's, so that a check needs no Codex.
        place.codexgate(&["install", "--check"], 0);

        // A stale digest is seen, by Codex and by the check, and mended.
        let user = place.read("user/.codex/config.toml");
        let at = user.find("sha256:").expect("a digest") + "sha256:".len();
        let (kept, rest) = user.split_at(at);
        place.write(
            "user/.codex/config.toml",
            &format!("{kept}00{}", &rest[2..]),
        );
        place.codexgate(&["install", "--check"], 1);
        let answer = worker.ask_in(&place.lab.root).expect("Codex answers");
        assert_eq!(trust(&answer, "hook session-start"), ["modified"]);
        place.install(&codex, 0);
        let answer = worker.ask_in(&place.lab.root).expect("Codex answers");
        assert_eq!(trust(&answer, "hook session-start"), ["trusted"]);

        place.codexgate(&["uninstall", "--yes"], 0);
        assert_eq!(place.read(file), text);
        let answer = worker.ask_in(&place.lab.root).expect("Codex answers");
        assert_eq!(trust(&answer, "hook session-start"), [""; 0]);
        let state = place.read("user/.codex/config.toml");
        assert!(!state.contains("trusted_hash"), "{state}");
    }
}

#[test]
fn the_rule_lets_apply_out_and_nothing_else() {
    let test = "the_rule_lets_apply_out_and_nothing_else";
    let Some(codex) = program::find_for(test) else {
        return;
    };
    let place = Place::new();
    place.install(&codex, 0);
    let rules = place.lab.codex_home.join("rules/codexgate.rules");
    let program = place.program.display().to_string();
    let check = |words: &[&str]| -> Value {
        let mut command = place.lab.command(&codex);
        command
            .args(["execpolicy", "check", "--rules"])
            .arg(&rules)
            .arg("--")
            .args(words);
        let done: Finished = process::run(&mut command);
        let answer: Value = serde_json::from_slice(&done.stdout).unwrap_or_default();
        assert!(done.done(), "{}{}", done.text(), done.stderr);
        answer["decision"].clone()
    };
    assert_eq!(check(&[&program, "apply", "--", "x"]), "allow");
    for word in ["approve", "reject", "install", "uninstall", "mcp", "broker"] {
        assert_eq!(check(&[&program, word, "x"]), "forbidden", "{word}");
    }
    for words in [
        &["codexgate", "apply"][..],
        &["./codexgate", "apply"],
        &["env", &program, "apply"],
        &[&program, "-C", "/", "apply"],
        &[&program, "journal"],
        &[&program],
    ] {
        assert_eq!(check(words), Value::Null, "{words:?}");
    }
}
