//! The commands of a gated action, wired: propose, approve at a terminal, run, look it up.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use crate::gate::{Desk, Said};

fn tool(desk: &Desk) {
    desk.script("tool", "echo out; echo err >&2; echo x >> ran");
}

#[test]
fn a_proposal_runs_nothing_and_an_approved_one_runs_once() {
    let desk = Desk::new();
    let said = desk.run(["apply", "--reason", "why not", "--", "touch", "made"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stdout.contains("\nruns     touch made\n"), "{said:?}");
    assert!(
        said.stdout.contains("(the agent's words) why not"),
        "{said:?}"
    );
    assert!(said.stderr.contains("nothing ran"), "{said:?}");
    let own = format!("{} approve ", desk.executable.display());
    assert!(said.stderr.contains(&own), "{said:?}");
    let token = said
        .stdout
        .trim_end()
        .rsplit(' ')
        .next()
        .expect("a token")
        .to_owned();
    let refused = desk.confirm(&token);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stderr.contains("nobody has approved it"),
        "{refused:?}"
    );
    assert!(!desk.project.join("made").exists());

    let asked = desk.in_terminal(&["approve", &token], "", "once?", "y\r");
    assert_eq!(asked.code, Some(0), "{asked:?}");
    assert!(asked.stdout.contains("end of the card of"), "{asked:?}");
    let ran = desk.confirm(&token);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(desk.project.join("made").exists());
    let again = desk.confirm(&token);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.stderr.contains("it was used: it ran"), "{again:?}");

    desk.verified();
    let journal = desk.state().join("journal.jsonl");
    let whole = fs::read(&journal).expect("reads");
    let mut changed = whole.clone();
    changed[40] ^= 1;
    let cut = whole[..whole.len() - 1]
        .iter()
        .rposition(|b| *b == b'\n')
        .expect("lines");
    for damaged in [changed, whole[..=cut].to_vec()] {
        fs::write(&journal, damaged).expect("writes");
        let said = desk.run(["journal", "verify"]);
        assert_eq!(said.code, Some(1), "{said:?}");
    }
    fs::write(&journal, whole).expect("writes");
    desk.verified();
}

#[test]
fn only_a_clear_yes_at_a_terminal_approves() {
    let desk = Desk::new();
    tool(&desk);
    let token = desk.propose(["--", "tool"]);
    for answer in ["n\r", "\r", "x\r", "yn\r"] {
        // A `y` that was typed before the card was there is no answer.
        let said = desk.in_terminal(&["approve", &token], "y\r", "once?", answer);
        assert_eq!(said.code, Some(1), "{answer:?} {said:?}");
        assert_eq!(desk.confirm(&token).code, Some(1));
    }
    assert_eq!(desk.runs(), 0);
}

#[test]
fn approving_refuses_pipes_agents_and_dumb_terminals() {
    let desk = Desk::new();
    tool(&desk);
    let token = desk.propose(["--", "tool"]);
    let said = desk.run(["approve", &token]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("needs a terminal"), "{said:?}");
    for command in [["approve", &token], ["reject", &token]] {
        let mut agent = desk.command();
        agent.args(command).env("CODEX_THREAD_ID", "t");
        let output = agent.output().expect("it runs");
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains("only a person"));
    }
    let card = desk.run(["approve", "--card", &token]);
    assert_eq!(card.code, Some(0), "{card:?}");
    assert!(card.stdout.ends_with("lines\n"), "{card:?}");
    assert_eq!(desk.confirm(&token).code, Some(1));
}

#[test]
fn output_exit_code_and_journal_tell_how_it_went() {
    let desk = Desk::new();
    desk.script("fails", "echo out; echo err >&2; exit 7");
    let token = desk.propose(["--", "fails"]);
    desk.approve(&token);
    let said = desk.confirm(&token);
    assert_eq!((said.code, said.stdout.as_str()), (Some(3), "out\n"));
    assert!(said.stderr.starts_with("err\n"), "{said:?}");
    assert!(said.stderr.contains("ran once: exit 7"), "{said:?}");
    let shown = desk.run(["journal", "show", &token]).stdout;
    assert!(
        shown.contains("approved by a person at the terminal"),
        "{shown}"
    );
    assert!(
        shown.contains("ended: exit 7") && shown.contains("\nout\n"),
        "{shown}"
    );

    let token = desk.propose(["--", "fails"]);
    desk.approve(&token);
    let said = desk.run(["apply", "--format", "json", "--confirm", &token]);
    assert_eq!(said.code, Some(3));
    let value: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(
        (&value["ran"], &value["outcome"]["code"]),
        (&true.into(), &7.into())
    );
    assert_eq!(value["outcome"]["stdout"]["start"], "out\n");
}

#[test]
fn a_proposal_as_json_has_what_a_program_needs() {
    let desk = Desk::new();
    tool(&desk);
    let said = desk.run(["apply", "--format", "json", "--expires", "2m", "--", "tool"]);
    let value: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
    for key in [
        "version",
        "token",
        "expires_at",
        "group",
        "preview",
        "digest",
    ] {
        assert!(!value[key].is_null(), "{key}: {value}");
    }
    assert_eq!(value["group"], "confirm");
    let list = desk.run(["pending", "--format", "json"]);
    let list: serde_json::Value = serde_json::from_str(&list.stdout).expect("JSON");
    assert_eq!(list["pending"][0]["token"], value["token"]);
    assert_eq!(list["pending"][0]["what"][0], "tool");
}

#[test]
fn a_rejected_proposal_is_gone() {
    let desk = Desk::new();
    tool(&desk);
    let token = desk.propose(["--", "tool"]);
    desk.approve(&token);
    let said = desk.run(["reject", &token, "--reason", "not today"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let said = desk.confirm(&token);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("it was rejected"), "{said:?}");
    assert!(desk.journal().contains("not today"));
    assert_eq!(desk.runs(), 0);
}

#[test]
fn no_flag_chooses_the_folders_and_no_part_of_a_token_is_one() {
    let desk = Desk::new();
    tool(&desk);
    let token = desk.propose(["--", "tool"]);
    desk.approve(&token);
    for args in [
        vec!["apply", "-C", "/", "--confirm", &token],
        vec!["-C", "/", "pending"],
        vec!["pending", "--codex-home", "/x"],
        vec!["journal", "list", "--system-root", "/x"],
        vec!["apply", "--confirm", &token[..9]],
        vec!["apply", "--confirm", &token, "--", "tool"],
        vec!["apply"],
        vec!["apply", "--write", "x"],
        vec!["apply", "--env", "PATH", "--", "tool"],
        vec!["apply", "--", "no-such-program"],
    ] {
        let said = desk.run(&args);
        assert_eq!(said.code, Some(2), "{args:?} {said:?}");
    }
    assert_eq!(desk.runs(), 0);
}

#[test]
fn a_policy_allows_confirms_and_denies() {
    let desk = Desk::new();
    tool(&desk);
    let config = desk.home.join(".config/codexgate");
    fs::create_dir_all(&config).expect("folders");
    let (program, project) = (desk.top.join("bin/tool"), desk.project.display());
    let allow = format!(
        "deny = [[\"tool\", \"drop\"]]\nallow = [{{ command = [\"{}\", \"go\"], in = [\"{project}\"] }}]\n",
        program.display()
    );
    fs::write(config.join("config.toml"), allow).expect("file");
    let said = desk.run(["apply", "--", "tool", "go"]);
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (Some(0), "out\n"),
        "{said:?}"
    );
    assert_eq!(desk.runs(), 1);
    assert!(
        desk.journal().contains("config.toml:2"),
        "{}",
        desk.journal()
    );

    let said = desk.run(["apply", "--", "sh", "-c", "./tool drop"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("config.toml:1"), "{said:?}");

    desk.write(".codex/codexgate.toml", "confirm = [[\"tool\"]]\n");
    desk.propose(["--", "tool", "go"]);
    assert_eq!(desk.runs(), 1);

    desk.write(".codex/codexgate.toml", "confirm = oops\n");
    let said = desk.run(["apply", "--", "tool", "go"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(desk.runs(), 1);
}

#[test]
fn where_the_gate_cannot_hold_it_refuses_and_says_why() {
    let refused = |desk: &Desk, word: &str| {
        let said = desk.run(["apply", "--", "true"]);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.stderr.contains(word), "{word}: {said:?}");
    };
    let desk = Desk::new();
    desk.write(
        ".codex/config.toml",
        "\n[shell_environment_policy.set]\nHOME = \"/x\"\n",
    );
    refused(&desk, ".codex/config.toml:3:");

    let desk = Desk::new();
    desk.write(".codex/rules/a.rules", "prefix_rule([\"make\"])\n");
    refused(&desk, "a.rules");

    let desk = Desk::new();
    fs::write(
        desk.home.join(".codex/config.toml"),
        "sandbox_mode = \"danger-full-access\"\n",
    )
    .expect("file");
    refused(&desk, "config.toml:1:");

    let desk = Desk::new();
    let root = format!(
        "[sandbox_workspace_write]\nwritable_roots = [\"{}\"]\n",
        desk.home.display()
    );
    fs::write(desk.home.join(".codex/config.toml"), root).expect("file");
    refused(&desk, "which an agent may write");

    let desk = Desk::new();
    fs::create_dir(desk.home.join(".git")).expect("folder");
    fs::write(desk.home.join(".git/HEAD"), "x").expect("file");
    refused(&desk, "git work tree");

    let desk = Desk::new();
    fs::create_dir(desk.top.join("bin/.git")).expect("folder");
    fs::write(desk.top.join("bin/.git/HEAD"), "x").expect("file");
    refused(&desk, "executable");

    let desk = Desk::new();
    let said: Said = desk
        .command()
        .args(["apply", "--", "true"])
        .env("XDG_STATE_HOME", "/tmp/state")
        .output()
        .expect("it runs")
        .into();
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("`XDG_STATE_HOME` decides"), "{said:?}");
}

#[test]
fn another_home_than_the_proposals_is_refused() {
    let desk = Desk::new();
    tool(&desk);
    let token = desk.propose(["--", "tool"]);
    desk.approve(&token);
    fs::create_dir(desk.top.join("other")).expect("folder");
    let said: Said = desk
        .command()
        .args(["apply", "--confirm", &token])
        .env("CODEX_HOME", desk.top.join("other"))
        .output()
        .expect("it runs")
        .into();
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("Codex's home"), "{said:?}");
    let said: Said = desk
        .command()
        .args(["apply", "--confirm", &token])
        .env("XDG_STATE_HOME", desk.top.join("elsewhere"))
        .output()
        .expect("it runs")
        .into();
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("elsewhere/codexgate"), "{said:?}");
    assert_eq!(desk.runs(), 0);
}

#[test]
fn files_are_written_as_shown_and_brought_back() {
    let desk = Desk::new();
    let file = desk.write("a.txt", "1\n2\n");
    desk.write(
        "change.diff",
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n",
    );
    desk.write("draft", "hello\n");
    let said = desk.run(["apply", "--patch", "change.diff"]);
    assert!(
        said.stdout.contains("\n         -2\n         +two\n"),
        "{said:?}"
    );
    let patch = desk.propose(["--patch", "change.diff"]);
    let write = desk.propose(["--write", "new/b.txt", "--content", "draft"]);
    for token in [&patch, &write] {
        desk.approve(token);
        let said = desk.confirm(token);
        assert_eq!(said.code, Some(0), "{said:?}");
    }
    assert_eq!(fs::read_to_string(&file).expect("reads"), "1\ntwo\n");
    let made = desk.project.join("new/b.txt");
    assert_eq!(fs::read_to_string(&made).expect("reads"), "hello\n");
    let shown = desk.run(["journal", "show", &patch]).stdout;
    assert!(shown.contains("-2\n+two\n"), "{shown}");

    let said = desk.run(["journal", "restore", &patch]);
    assert_eq!(said.code, Some(1), "without a terminal: {said:?}");
    let said = desk.in_terminal(&["journal", "restore", &patch], "", "back?", "y\r");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(fs::read_to_string(&file).expect("reads"), "1\n2\n");
    fs::write(&made, "mine\n").expect("writes");
    let said = desk.in_terminal(&["journal", "restore", &write], "", "back?", "y\r");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(fs::read_to_string(&made).expect("reads"), "mine\n");
    desk.verified();
}

#[test]
fn secrets_are_hidden_in_the_journal_and_shown_on_the_card() {
    let desk = Desk::new();
    tool(&desk);
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ0123";
    let said = desk.run(["apply", "--", "tool", secret]);
    assert!(said.stdout.contains(secret), "{said:?}");
    assert!(!desk.journal().contains(secret));
    assert!(!desk.run(["journal", "export"]).stdout.contains(secret));
}

#[test]
fn in_a_sandbox_it_says_what_to_do() {
    // A state directory that cannot be written, as in Codex's sandbox; root writes everywhere.
    if rustix::process::geteuid().is_root() {
        println!("skipped: root writes everywhere");
        return;
    }
    let desk = Desk::new();
    let above = desk.home.join(".local");
    fs::create_dir(&above).expect("folder");
    fs::set_permissions(&above, fs::Permissions::from_mode(0o500)).expect("mode");
    let said = desk.run(["apply", "--", "true"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("sandbox"), "{said:?}");
}

#[test]
fn every_command_that_is_told_begins_as_this_one_was_called() {
    let desk = Desk::new();
    tool(&desk);
    // The rule of `install` matches the spelling on PATH, here a link with a blank in its path.
    let folder = desk.top.join("a b");
    fs::create_dir(&folder).expect("a folder");
    let link = folder.join("codexgate");
    symlink(&desk.executable, &link).expect("a link");
    let run = |program: &str, args: &[&str]| -> Said {
        let mut command = Command::new(program);
        let envs = desk.command();
        let path = format!(
            "{}:{}/bin:/usr/bin:/bin",
            folder.display(),
            desk.top.display()
        );
        command
            .env_clear()
            .envs(envs.get_envs().filter_map(|(k, v)| Some((k, v?))));
        command.env("PATH", path).current_dir(&desk.project);
        command.args(args).output().expect("it runs").into()
    };
    let own = format!("'{}'", link.display());
    let absolute = link.to_str().expect("UTF-8");
    for program in [absolute, "codexgate"] {
        let said = run(program, &["apply", "--format", "json", "--", "tool"]);
        let value: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
        let token = value["token"].as_str().expect("a token");
        assert_eq!(value["approve"], format!("{own} approve {token}"));
        assert_eq!(value["confirm"], format!("{own} apply --confirm {token}"));
        let said = run(program, &["apply", "--", "tool"]);
        assert!(
            said.stderr.contains(&format!("`{own} approve ")),
            "{said:?}"
        );
        assert!(
            said.stderr.contains(&format!("`{own} apply --confirm ")),
            "{said:?}"
        );
        let said = run(program, &["apply", "--confirm", token]);
        assert_eq!(said.code, Some(1), "{said:?}");
        let approve = format!("`{own} approve {token}`");
        assert!(said.stderr.contains(&approve), "{said:?}");
    }
}

#[test]
fn a_proposal_waits_a_quarter_of_an_hour_unless_told_otherwise() {
    let desk = Desk::new();
    tool(&desk);
    for (args, minutes) in [(&[][..], 15), (&["--expires", "2h"][..], 120)] {
        let token = desk.propose([args, &["--", "tool"]].concat());
        let proposal = desk.waiting(&token).proposal().clone();
        assert_eq!(proposal.expires - proposal.created, minutes * 60_000);
    }
}

#[test]
fn an_agent_is_told_nothing_of_files_that_it_names() {
    let desk = Desk::new();
    tool(&desk);
    let secret = desk.top.join("secret");
    let name = secret.to_str().expect("UTF-8");
    // What is told, but for what differs between any two proposals.
    let told = |args: &[&str]| -> (Option<i32>, String) {
        let said = desk.run(args);
        let text = format!("{}{}", said.stdout, said.stderr);
        let token = said
            .stdout
            .trim_end()
            .rsplit(' ')
            .next()
            .unwrap_or_default()
            .to_owned();
        let same = text.lines().filter(|line| !line.starts_with("until"));
        let text: Vec<String> = same.map(|line| line.replace(&token, "TOKEN")).collect();
        (said.code, text.join("\n"))
    };
    let lines: [&[&str]; 3] = [
        &["apply", "--input", name, "--", "tool"],
        &["apply", "--", "tool", name],
        &["apply", "--", "tool", "--in", name],
    ];
    let look = || lines.map(told);
    let missing = look();
    assert!(
        missing.iter().all(|(code, _)| *code == Some(0)),
        "{missing:?}"
    );
    fs::write(&secret, "x".repeat(4321)).expect("a file");
    assert_eq!(look(), missing);
    fs::remove_file(&secret).expect("removes");
    fs::create_dir(&secret).expect("a folder");
    fs::write(secret.join("inner"), "x").expect("a file");
    assert_eq!(look(), missing);
    fs::remove_dir_all(&secret).expect("removes");
    symlink("/dev/zero", &secret).expect("a link to what has no end");
    assert_eq!(look(), missing);
    fs::remove_file(&secret).expect("removes");

    // The person is shown what was found, and a change of it needs an approval to be told.
    let token = desk.propose(["--input", name, "--", "tool"]);
    let card = desk.run(["approve", "--card", &token]).stdout;
    assert!(card.contains("NOT CHECKED: not there"), "{card}");
    fs::write(&secret, "1234").expect("a file");
    let said = desk.confirm(&token);
    assert!(said.stderr.contains("nobody has approved it"), "{said:?}");
    desk.approve(&token);
    let said = desk.confirm(&token);
    assert!(
        said.stderr.contains("has another content or place"),
        "{said:?}"
    );
    let token = desk.propose(["--input", name, "--", "tool"]);
    let card = desk.run(["approve", "--card", &token]).stdout;
    assert!(card.contains("secret (4 bytes)"), "{card}");
    assert_eq!(desk.runs(), 0);
}

#[test]
fn an_allow_line_that_does_not_count_is_named() {
    let desk = Desk::new();
    tool(&desk);
    let config = desk.home.join(".config/codexgate");
    fs::create_dir_all(&config).expect("folders");
    let file = config.join("config.toml");
    let (program, project) = (desk.top.join("bin/tool"), desk.project.display());
    let allow = format!(
        "allow = [{{ command = [\"{}\", \"go\"], in = [\"{project}\"] }}]\n",
        program.display()
    );
    fs::write(&file, allow).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("mode");
    let said = desk.run(["apply", "--", "tool", "go"]);
    assert_eq!((said.code, desk.runs()), (Some(0), 0), "{said:?}");
    assert!(said.stderr.contains("config.toml:1"), "{said:?}");
    assert!(said.stderr.contains("does not count"), "{said:?}");
    // Nothing is said where the line would not fit either.
    let said = desk.run(["apply", "--", "tool", "stop"]);
    assert!(!said.stderr.contains("does not count"), "{said:?}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("mode");
    assert_eq!(desk.run(["apply", "--", "tool", "go"]).code, Some(0));
    assert_eq!(desk.runs(), 1);
}

#[test]
fn install_and_apply_keep_their_records_in_one_folder() {
    for variable in [None, Some("XDG_STATE_HOME")] {
        let desk = Desk::new();
        let folder = match variable {
            None => desk.state(),
            Some(_) => desk.top.join("elsewhere/codexgate"),
        };
        let run = |args: &[&str]| {
            let mut command = desk.command();
            if let Some(name) = variable {
                command.env(name, desk.top.join("elsewhere"));
            }
            let said: Said = command.args(args).output().expect("it runs").into();
            assert_eq!(said.code, Some(0), "{said:?}");
        };
        run(&["install", "--yes", "--no-approver", "--no-hooks"]);
        run(&["apply", "--", "true"]);
        for kind in ["installs", "proposals"] {
            let mut left = fs::read_dir(folder.join(kind)).expect(kind);
            assert!(left.next().is_some(), "{kind}");
        }
    }
}
