//! Help, version, usage errors, and the streams.

use std::path::Path;

use crate::support::{Sandbox, bare_command, shown, snapshot};

fn run(args: &[&str]) -> String {
    let output = bare_command().args(args).output().expect("it runs");
    shown(&output, Path::new("/nowhere"))
}

#[test]
fn the_help_names_each_command() {
    snapshot("usage/help", &run(&["--help"]));
}

#[test]
fn the_help_of_a_command_ends_with_examples() {
    snapshot("usage/completions_help", &run(&["completions", "--help"]));
}

#[test]
fn a_usage_error_is_exit_2_and_says_nothing_on_stdout() {
    let text = run(&["completions", "--frobnicate"]);
    assert!(text.starts_with("--- stderr\nerror: "), "{text}");
    assert!(text.ends_with("--- exit 2\n"), "{text}");
    assert!(run(&[]).ends_with("--- exit 2\n"));
}

#[test]
fn colour_follows_flag_and_environment() {
    let colored = |args: &[&str], variable: Option<(&str, &str)>| {
        let mut command = bare_command();
        command.args(args).envs(variable);
        let output = command.output().expect("it runs");
        output.stdout.contains(&0x1b)
    };
    assert!(!colored(&["--help"], None));
    assert!(colored(&["--help"], Some(("CLICOLOR_FORCE", "1"))));
    assert!(colored(&["--color=always", "--help"], None));
    assert!(!colored(
        &["--color", "never", "--help"],
        Some(("CLICOLOR_FORCE", "1"))
    ));
}

#[test]
fn a_closed_pipe_ends_the_run_quietly() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_codexgate"))
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.stderr.is_empty());
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_help_needs_no_environment_and_no_project() {
    let sandbox = Sandbox::new();
    assert!(sandbox.run(["--version"]).starts_with("codexgate "));
}
