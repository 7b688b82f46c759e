//! What was approved runs, exactly, or nothing does.

use crate::gate::Desk;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn refused(desk: &Desk, token: &str, word: &str) {
    desk.approve(token);
    let said = desk.confirm(token);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains(word), "{word}: {said:?}");
    assert_eq!(desk.runs(), 0);
}

fn executable(path: &std::path::Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("mode");
}

#[test]
fn a_swapped_program_does_not_run() {
    let desk = Desk::new();
    desk.script("tool", "echo x >> ran");
    let token = desk.propose(["--", "tool"]);
    desk.script("tool", "echo y >> ran");
    refused(&desk, &token, "has another content");
}

#[test]
fn a_program_behind_a_swapped_link_does_not_run() {
    let desk = Desk::new();
    let (one, two) = (
        desk.script("one", "echo x >> ran"),
        desk.script("two", "echo x >> ran"),
    );
    let link = desk.top.join("bin/tool");
    symlink(one, &link).expect("link");
    let token = desk.propose(["--", "tool"]);
    fs::remove_file(&link).expect("removes");
    // The same content, at another place.
    symlink(two, &link).expect("link");
    refused(&desk, &token, "leads elsewhere");
}

#[test]
fn a_changed_input_refuses_also_behind_links_and_in_folders() {
    let desk = Desk::new();
    desk.script("tool", "echo x >> ran");
    let file = desk.write("in.txt", "1");
    let token = desk.propose(["--", "tool", "in.txt"]);
    fs::write(&file, "2").expect("writes");
    refused(&desk, &token, "in.txt");

    fs::write(&file, "1").expect("writes");
    let token = desk.propose(["--", "tool", "--in=in.txt"]);
    fs::remove_file(&file).expect("removes");
    let other = desk.write("other.txt", "1");
    symlink(other, &file).expect("link");
    refused(&desk, &token, "in.txt");

    let inner = desk.write("data/deep/a", "1");
    let token = desk.propose(["--input", "data", "--", "tool"]);
    fs::write(&inner, "2").expect("writes");
    refused(&desk, &token, "data");

    fs::write(&inner, "1").expect("writes");
    let token = desk.propose(["--input", "data", "--", "tool"]);
    fs::rename(desk.project.join("data"), desk.project.join("moved")).expect("moves");
    symlink("moved", desk.project.join("data")).expect("link");
    refused(&desk, &token, "data");
}

#[test]
fn another_working_folder_under_the_same_name_is_refused() {
    let desk = Desk::new();
    desk.script("tool", "echo x >> ran");
    let token = desk.propose(["--", "tool"]);
    let away = desk.top.join("away");
    fs::rename(&desk.project, &away).expect("moves");
    symlink(&away, &desk.project).expect("link");
    refused(&desk, &token, "the working folder");
    fs::remove_file(&desk.project).expect("removes");
    fs::create_dir(&desk.project).expect("folder");
    fs::create_dir(desk.project.join(".git")).expect("folder");
    refused(&desk, &token, "the working folder");
}

#[test]
fn a_file_that_changed_is_not_written() {
    let desk = Desk::new();
    let file = desk.write("a.txt", "1\n");
    desk.write("draft", "2\n");
    let args = ["--write", "a.txt", "--content", "draft"];
    let token = desk.propose(args);
    fs::write(&file, "mine\n").expect("writes");
    refused(&desk, &token, "a.txt");
    assert_eq!(fs::read_to_string(&file).expect("reads"), "mine\n");
    let token = desk.propose(args);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("mode");
    refused(&desk, &token, "a.txt");
    let token = desk.propose(args);
    fs::remove_file(&file).expect("removes");
    let secret = desk.top.join("secret");
    fs::write(&secret, "mine\n").expect("writes");
    symlink(&secret, &file).expect("link");
    refused(&desk, &token, "a.txt");
    assert_eq!(fs::read_to_string(&secret).expect("reads"), "mine\n");
}

#[test]
fn what_the_drafts_say_later_does_not_count() {
    let desk = Desk::new();
    desk.script("tool", "cat; echo x >> ran");
    let file = desk.write("in.txt", "shown");
    let token = desk.propose(["--stdin", "in.txt", "--", "tool"]);
    fs::write(&file, "other").expect("writes");
    desk.approve(&token);
    let said = desk.confirm(&token);
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (Some(0), "shown"),
        "{said:?}"
    );
}

#[test]
fn an_input_that_changes_during_the_run_is_recorded() {
    let desk = Desk::new();
    desk.script("tool", "echo more >> in.txt");
    desk.write("in.txt", "1");
    let token = desk.propose(["--", "tool", "in.txt"]);
    desk.approve(&token);
    let said = desk.confirm(&token);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(
        said.stderr.contains("in.txt` changed while it ran"),
        "{said:?}"
    );
    assert!(desk.journal().contains("in.txt changed meanwhile"));
}

#[test]
fn words_variables_and_folder_are_exactly_those() {
    let desk = Desk::new();
    let mut command = desk.command();
    command.args(["apply", "--format", "json", "--env", "MODE", "--", "env"]);
    command
        .env("MODE", "as it was")
        .env("OTHER", "x")
        .env("LD_LIBRARY_PATH", "/nowhere");
    let output = command.output().expect("it runs");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let token = value["token"].as_str().expect("a token");
    desk.approve(token);
    let mut command = desk.command();
    command
        .args(["apply", "--confirm", token])
        .env("MODE", "later")
        .env("LANG", "C");
    let output = command.output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let home = format!("HOME={}", desk.home.display());
    let path = format!("PATH={}/bin:/usr/bin:/bin", desk.top.display());
    assert_eq!(lines, [home.as_str(), "MODE=as it was", path.as_str()]);

    desk.script("tool", "pwd; for word in \"$@\"; do echo \"[$word]\"; done");
    let token = desk.propose(["--", "tool", "", "a b", "$HOME", "*", "--", "-x"]);
    desk.approve(&token);
    let mut command = desk.command();
    // From another folder of the same project.
    command
        .args(["apply", "--confirm", &token])
        .current_dir(desk.project.join(".git"));
    let output = command.output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let words = "[]\n[a b]\n[$HOME]\n[*]\n[--]\n[-x]\n";
    assert_eq!(text, format!("{}\n{words}", desk.project.display()));
}

#[test]
fn a_program_of_the_project_runs_from_a_copy_with_its_own_name() {
    let desk = Desk::new();
    let path = desk.write("run.sh", "#!/bin/sh\necho x >> ran\necho \"$0\"\n");
    executable(&path);
    let token = desk.propose(["--", "./run.sh"]);
    let card = desk.run(["approve", "--card", &token]).stdout;
    let card = card.replace("\n         ", "");
    assert!(card.contains("a copy runs"), "{card}");
    desk.approve(&token);
    let said = desk.confirm(&token);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stdout.contains("/codexgate/runs/"), "{said:?}");
    let left: Vec<_> = fs::read_dir(desk.state().join("runs"))
        .expect("reads")
        .collect();
    assert!(left.is_empty(), "the copy is gone: {left:?}");
    // A binary is started by the copy's handle and sees its name as it was proposed.
    fs::copy("/bin/sh", desk.project.join("shell")).expect("copies");
    let token = desk.propose(["--", "./shell", "-c", "echo $0"]);
    desk.approve(&token);
    let said = desk.confirm(&token);
    let named = format!("{}\n", desk.project.join("shell").display());
    assert_eq!((said.code, said.stdout), (Some(0), named));
}

#[test]
fn a_run_has_its_own_session_and_no_terminal() {
    let desk = Desk::new();
    desk.script(
        "tool",
        "cat /proc/$$/stat; (: < /dev/tty) 2>/dev/null || echo none",
    );
    let token = desk.propose(["--", "tool"]);
    desk.approve(&token);
    let said = desk.in_terminal(&["apply", "--confirm", &token], "", "never asked", "");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stdout.contains("none"), "{said:?}");
    let behind = said.stdout.split(") ").nth(1).expect("a stat line");
    let fields: Vec<&str> = behind.split_whitespace().collect();
    // Not compared with this test's own session: that one may be out of sight of a container.
    assert_eq!(fields[3], fields[1], "its parent leads the session");
    assert_eq!(fields[4], "0", "no terminal");
}
