//! `codexgate lint --fix`: what is written, what is left, and that nothing else changes.

use crate::support::{Sandbox, snapshot};

const TEXT: &str = "# ours\r\nsandbox_mode = 'danger-full-access'   # for now\r\n\
    [mcp_servers.docs]\r\nurl = \"https://docs.example/mcp\"\r\nheaders = { A = \"b\" }\r\n";

#[test]
fn safe_fixes_are_written_and_unsafe_ones_wait() {
    let sandbox = Sandbox::with_state();
    sandbox.write("project/.codex/config.toml", TEXT);
    let text = sandbox.run([
        "lint",
        "--fix",
        "--select=danger-full-access,server-key-unknown",
    ]);
    snapshot("lint/fix", &text);
    let fixed = TEXT.replace("headers", "http_headers");
    assert_eq!(sandbox.read("project/.codex/config.toml"), fixed);
    let text = sandbox.run([
        "lint",
        "--fix",
        "--unsafe-fixes",
        "--select=danger-full-access",
    ]);
    assert!(text.ends_with("--- exit 0\n"), "{text}");
    assert_eq!(
        sandbox.read("project/.codex/config.toml"),
        fixed.replace("'danger-full-access'", "\"workspace-write\"")
    );
}

#[test]
fn a_diff_shows_the_same_and_writes_nothing() {
    let sandbox = Sandbox::with_state();
    sandbox.write("project/.codex/config.toml", TEXT);
    let before = sandbox.census();
    let args = ["lint", "--fix", "--unsafe-fixes", "--diff", "--color=never"];
    snapshot("lint/fix_diff", &sandbox.run(args));
    assert_eq!(sandbox.census(), before);
}

#[test]
fn nothing_to_mend_touches_nothing() {
    let sandbox = Sandbox::with_state();
    sandbox.write("project/.codex/config.toml", "model = \"x\"\n");
    let before = sandbox.census();
    let text = sandbox.run(["lint", "--fix", "--unsafe-fixes"]);
    assert!(text.ends_with("--- exit 0\n"), "{text}");
    assert_eq!(sandbox.census(), before);
}

#[test]
fn many_files_are_mended_also_where_no_state_directory_is_safe() {
    for sandbox in [Sandbox::with_state(), Sandbox::new()] {
        for n in 0..70 {
            let open = "sandbox_mode = \"danger-full-access\"\n";
            sandbox.write(&format!("project/p{n}/.codex/config.toml"), open);
        }
        let text = sandbox.run(["lint", "--fix", "--unsafe-fixes", "-q"]);
        let mut fixed = 0;
        for n in 0..70 {
            let text = sandbox.read(&format!("project/p{n}/.codex/config.toml"));
            fixed += usize::from(text == "sandbox_mode = \"workspace-write\"\n");
        }
        assert_eq!(fixed, 70, "{text}");
        let left = std::fs::read_dir(sandbox.path("project/p1/.codex")).expect("a folder");
        assert_eq!(left.count(), 1, "nothing is left beside the file");
    }
}

#[test]
fn a_link_out_of_the_project_is_not_followed() {
    let sandbox = Sandbox::with_state();
    let users = "sandbox_mode = \"danger-full-access\"\n";
    sandbox.write("home/.codex/config.toml", users);
    sandbox.write("project/.codex/x", "");
    let link = sandbox.path("project/.codex/config.toml");
    std::os::unix::fs::symlink(sandbox.path("home/.codex/config.toml"), link).expect("a link");
    let text = sandbox.run(["lint", "--fix", "--unsafe-fixes"]);
    assert!(text.contains("leads out of the project"), "{text}");
    assert!(text.ends_with("--- exit 1\n"), "{text}");
    assert_eq!(sandbox.read("home/.codex/config.toml"), users);
}
