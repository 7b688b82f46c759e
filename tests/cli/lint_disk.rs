//! `codexgate lint` on what only the disk tells, and on scripts.

use std::os::unix::fs::PermissionsExt as _;

use crate::support::Sandbox;

#[test]
fn a_mode_that_lets_others_in_is_mended() {
    use std::fs::{Permissions, metadata, set_permissions};
    let sandbox = Sandbox::with_state();
    set_permissions(sandbox.path(""), Permissions::from_mode(0o755)).expect("ours");
    let file = "root/etc/codex/config.toml";
    sandbox.write(file, "sandbox_mode = \"read-only\"\n");
    let path = sandbox.path(file);
    set_permissions(&path, Permissions::from_mode(0o666)).expect("ours");
    let run = |args: &[&str]| {
        let all = ["lint", "--scope", "all", "--system-root", "../root"];
        sandbox.run([&all, args].concat())
    };
    let found = run(&[]);
    assert!(found.contains("error[file-permissions]"), "{found}");
    assert!(found.contains("chmod 0644"), "{found}");
    let shown = run(&["--fix", "--diff"]);
    assert!(shown.contains("mode 0666 -> 0644"), "{shown}");
    let mode = || metadata(&path).expect("there").permissions().mode() & 0o7777;
    assert_eq!(mode(), 0o666, "nothing is written");
    let mended = run(&["--fix"]);
    assert!(mended.contains("mended 1 finding in 1 file"), "{mended}");
    assert_eq!(mode(), 0o644);
    assert!(mended.contains("no findings"), "{mended}");
}

#[test]
fn scripts_are_looked_into_where_they_are_asked_for() {
    let sandbox = Sandbox::new();
    let open = [
        (
            ".github/workflows/ci.yml",
            "jobs:\n  a:\n    steps:\n      - name: codex --yolo\n      - run: codex exec --yolo hi\n",
        ),
        ("Makefile", "all:\n\t@codex exec -s danger-full-access hi\n"),
        (
            "package.json",
            "{\"scripts\": {\"a\": \"npx @openai/codex exec -c sandbox_mode=danger-full-access\"}}\n",
        ),
        (
            "Dockerfile",
            "CMD [\"codex\",\"--dangerously-bypass-approvals-and-sandbox\"]\n",
        ),
        (
            "scripts/deploy",
            "#!/bin/sh\n# codex --yolo\nFLAGS=\"-a never\"\ncodex -a never\n",
        ),
        (".codex/hooks/stop.sh", "codex exec \\\n  --yolo hi\n"),
    ];
    for (name, text) in open {
        sandbox.write(&format!("project/{name}"), text);
    }
    sandbox.write("project/node_modules/a/x.sh", "codex --yolo\n");
    sandbox.write("project/notes.md", "codex --yolo\n");
    sandbox.write("project/other.sh", b"\xff\xfe no word of it\n");
    assert!(sandbox.run(["lint"]).contains("no Codex files here"));
    let text = sandbox.run(["lint", "--scripts"]);
    for place in [
        ".github/workflows/ci.yml:5:25",
        "Makefile:2:17",
        "package.json:1:19",
        "Dockerfile:1:5",
        "scripts/deploy:4:10",
        ".codex/hooks/stop.sh:2:3",
    ] {
        assert!(text.contains(&format!("--> {place}")), "{place}: {text}");
    }
    assert!(text.contains("6 errors in 6 files"), "{text}");
    sandbox.write(
        "project/quiet.sh",
        "# codexgate: ignore[bypass-flag] in a container of its own\ncodex --yolo\n",
    );
    let quiet = sandbox.run(["lint", "--scripts", "quiet.sh"]);
    assert!(quiet.contains("1 silenced by comments"), "{quiet}");
    let one = sandbox.run(["lint", "--scripts", "Makefile"]);
    assert!(one.contains("1 error in 1 file"), "{one}");
}

#[test]
fn a_secret_beside_a_flag_is_not_printed() {
    let sandbox = Sandbox::new();
    let secret = "tok_9fK2mQ7xT4vB8nL1cZ6w";
    sandbox.write(
        "project/run.sh",
        format!("A_TOKEN={secret} codex exec --yolo --token {secret}\n"),
    );
    for format in ["text", "json", "sarif", "github", "junit"] {
        let text = sandbox.run(["lint", "--scripts", "--format", format]);
        assert!(
            text.contains("bypass-flag") && !text.contains(secret),
            "{text}"
        );
    }
}

#[test]
fn a_link_out_of_the_project_is_told_once() {
    let sandbox = Sandbox::new();
    sandbox.write("shared/config.toml", "model = \"x\"\n");
    sandbox.write("shared/rules/default.rules", "");
    std::os::unix::fs::symlink("../shared", sandbox.path("project/.codex")).expect("a link");
    let text = sandbox.run(["lint"]);
    assert_eq!(text.matches("warning[symlink-escape]").count(), 1, "{text}");
    assert!(text.contains("--> .codex\n"), "{text}");
}

#[test]
fn a_link_within_the_project_is_fine() {
    let sandbox = Sandbox::new();
    sandbox.write("project/tools/codex/config.toml", "model = \"x\"\n");
    std::os::unix::fs::symlink("tools/codex", sandbox.path("project/.codex")).expect("a link");
    assert!(sandbox.run(["lint"]).contains("no findings in 1 file"));
}
