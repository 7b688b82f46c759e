//! `codexgate completions SHELL`: what it prints is what `completions/` holds.

use crate::support::bare_command;

#[test]
fn each_shell_has_its_script() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = bare_command()
            .args(["completions", shell])
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{shell}");
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(text.contains("codexgate"), "{shell}: {text}");
    }
}

#[test]
fn an_unknown_shell_is_a_usage_error_that_names_the_known_ones() {
    let output = bare_command()
        .args(["completions", "tcsh"])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).expect("text");
    assert!(
        text.contains("bash, elvish, fish, powershell, zsh"),
        "{text}"
    );
}
