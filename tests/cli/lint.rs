//! `codexgate lint`: files found, findings shown, exit codes.

use crate::support::{Sandbox, snapshot};

const OPEN: &str = "# ours\nsandbox_mode = \"danger-full-access\"\n";

#[test]
fn an_open_sandbox_is_an_error_on_its_line() {
    let sandbox = Sandbox::new();
    sandbox.write("project/.codex/config.toml", OPEN);
    snapshot("lint/open_sandbox", &sandbox.run(["lint"]));
    snapshot(
        "lint/open_sandbox_json",
        &sandbox.run(["lint", "--format", "json"]),
    );
}

#[test]
fn a_clean_project_and_an_empty_one_are_fine() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(["lint"]), "no Codex files here\n--- exit 0\n");
    sandbox.write("project/.codex/config.toml", "model = \"gpt-5\"\n");
    assert_eq!(sandbox.run(["lint"]), "no findings in 1 file\n--- exit 0\n");
    assert_eq!(sandbox.run(["lint", "-q"]), "--- exit 0\n");
    let json = sandbox.run(["lint", "--format=json"]);
    let start = "{\"version\":1,\"findings\":[],\"summary\":{\"files\":1,";
    assert!(json.starts_with(start), "{json}");
    assert!(json.ends_with("}\n--- exit 0\n"), "{json}");
}

#[test]
fn the_project_is_judged_with_what_lies_below_and_above_it() {
    let sandbox = Sandbox::new();
    for folder in [
        "",
        "a/",
        "a/deep/er/",
        "neighbour/",
        "node_modules/x/",
        "target/",
        ".git/",
    ] {
        sandbox.write(&format!("project/{folder}.codex/config.toml"), OPEN);
    }
    sandbox.write("project/a/config.toml", OPEN);
    let found = |args: &[&str]| {
        let text = sandbox.run([args, &["--format", "json"]].concat());
        let json: serde_json::Value =
            serde_json::from_str(text.lines().next().expect("a line")).expect("the output is JSON");
        let findings = json["findings"].as_array().expect("a list");
        let paths: Vec<String> = findings
            .iter()
            .filter(|finding| finding["rule"] == "danger-full-access")
            .map(|finding| format!("{}:{}", finding["path"], finding["line"]))
            .collect();
        paths.join("\n").replace('"', "")
    };
    insta::assert_snapshot!(found(&["lint"]), @r"
    .codex/config.toml:2
    a/.codex/config.toml:2
    a/deep/er/.codex/config.toml:2
    neighbour/.codex/config.toml:2
    ");
    insta::assert_snapshot!(found(&["-C", "a", "lint"]), @r"
    .codex/config.toml:2
    [TMP]/project/.codex/config.toml:2
    deep/er/.codex/config.toml:2
    ");
    assert_eq!(found(&["lint", "a/deep"]), "a/deep/er/.codex/config.toml:2");
    assert_eq!(found(&["lint", "a/config.toml"]), "a/config.toml:2");
}

#[test]
fn files_are_known_by_place_and_by_name() {
    let sandbox = Sandbox::new();
    sandbox.write("home/.codex/config.toml", "model = 1 1\n");
    sandbox.write("home/.codex/work.config.toml", OPEN);
    sandbox.write("root/etc/codex/managed_config.toml", OPEN);
    sandbox.write("root/etc/codex/requirements.toml", "a = \n");
    sandbox.write("root/etc/codex/hooks.json", "{,}");
    let text = sandbox.run([
        "lint",
        "--system-root",
        "../root",
        "../root/etc/codex",
        "../home/.codex",
        "../home/.codex/./config.toml",
    ]);
    snapshot(
        "lint/places",
        &text.replace(&sandbox.path("").display().to_string(), "[TMP]/"),
    );
}

#[test]
fn what_is_not_there_or_not_codex_is_a_usage_error() {
    let sandbox = Sandbox::new();
    sandbox.write("project/notes.txt", "");
    snapshot(
        "lint/missing",
        &sandbox.run(["lint", "nowhere/config.toml"]),
    );
    snapshot("lint/unknown_file", &sandbox.run(["lint", "notes.txt"]));
    assert!(
        sandbox
            .run(["-C", "nowhere", "lint"])
            .ends_with("--- exit 2\n")
    );
}

#[test]
fn what_cannot_be_read_is_a_finding() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path("project/.codex/config.toml")).expect("a folder");
    sandbox.write("project/.codex/hooks.json", "\u{feff}{\"hooks\": {}}");
    sandbox.write("project/.codex/requirements.toml", b"a = \"\xe9\"\n");
    let link = sandbox.path("project/sub/.codex");
    std::fs::create_dir_all(link.parent().expect("below")).expect("a folder");
    std::os::unix::fs::symlink("nowhere", link).expect("a link");
    snapshot("lint/unreadable", &sandbox.run(["lint"]));
}

#[test]
fn a_pipe_is_not_waited_for() {
    let sandbox = Sandbox::new();
    sandbox.write("project/.codex/rules/x.rules", "");
    let pipe = sandbox.path("project/.codex/config.toml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo is there");
    let text = sandbox.run(["lint"]);
    assert!(text.contains("error[unreadable]"), "{text}");
    assert!(text.ends_with("--- exit 1\n"), "{text}");
}

#[test]
fn a_long_line_is_not_printed() {
    let sandbox = Sandbox::new();
    let line = format!("a = \"{}\" b\n", "x".repeat(5_000_000));
    sandbox.write("project/.codex/config.toml", line);
    let text = sandbox.run(["lint"]);
    assert!(
        text.len() < 1000 && text.ends_with("--- exit 1\n"),
        "{}",
        text.len()
    );
}

#[test]
fn deep_nesting_is_a_finding_and_no_crash() {
    let sandbox = Sandbox::new();
    let deep = "[".repeat(10_000);
    sandbox.write("project/.codex/config.toml", format!("a = {deep}\n"));
    sandbox.write("project/.codex/hooks.json", deep);
    let text = sandbox.run(["lint"]);
    assert!(text.contains("2 errors in 2 files\n--- exit 1"), "{text}");
}

#[test]
fn a_codex_home_that_is_the_projects_folder_counts_as_the_home() {
    let sandbox = Sandbox::new();
    sandbox.write("home/.codex/config.toml", "a = \n");
    let output = sandbox
        .command()
        .args(["-C", "../home", "lint"])
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("note: Codex does not start\n"), "{text}");
}

#[test]
fn all_files_are_laid_on_each_other_where_all_are_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "home/.codex/config.toml",
        "approval_policy = \"untrusted\"\n[mcp_servers.wiki]\nurl = \"https://wiki.example.com/mcp\"\n",
    );
    sandbox.trust_project();
    sandbox.write(
        "project/.codex/config.toml",
        "approval_policy = \"on-request\"\n[mcp_servers.wiki]\ncommand = \"/usr/bin/wiki\"\n",
    );
    sandbox.write("root/etc/codex/config.toml", "");
    let run = |args: &[&str]| {
        sandbox.run(
            [
                &["lint", "--system-root", "../root", "--format", "json"],
                args,
            ]
            .concat(),
        )
    };
    let alone = run(&[]);
    assert!(!alone.contains("server-mixed-transport"), "{alone}");
    let all = run(&["--scope", "all"]);
    assert!(all.contains("server-mixed-transport"), "{all}");
    assert!(
        all.contains(".codex/config.toml:3`"),
        "names the other place: {all}"
    );
    let json: serde_json::Value =
        serde_json::from_str(all.lines().next().expect("a line")).expect("JSON");
    let removed = json["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|finding| finding["rule"] == "approval-value-removed");
    let removed = removed.expect("the user's value is still told");
    assert_eq!(
        removed["severity"], "info",
        "the project overrides it: {all}"
    );
}

#[test]
fn a_folder_given_by_a_link_is_looked_into() {
    let sandbox = Sandbox::new();
    sandbox.write("elsewhere/a/.codex/config.toml", OPEN);
    let link = sandbox.path("project/link");
    std::os::unix::fs::symlink(sandbox.path("elsewhere"), link).expect("a link");
    let text = sandbox.run(["lint", "link"]);
    assert!(
        text.contains("--> link/a/.codex/config.toml:2:16"),
        "{text}"
    );
    // One that a walk comes upon is not followed.
    assert_eq!(sandbox.run(["lint"]), "no Codex files here\n--- exit 0\n");
}

#[test]
fn what_one_file_lacks_or_silences_is_weighed_with_the_others() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "home/.codex/config.toml",
        "[approval_policy.granular]\nsandbox_approval = true\nrules = true\n[mcp_servers.a]\nenabled = true\n",
    );
    sandbox.trust_project();
    sandbox.write(
        "project/.codex/config.toml",
        "[approval_policy.granular]\nmcp_elicitations = false\n[mcp_servers.a]\ncommand = \"/usr/bin/a\"\n[mcp_servers.b]\nenabled = false\n",
    );
    sandbox.write(
        "root/etc/codex/config.toml",
        "[mcp_servers.codexgate]\ncommand = \"/usr/bin/codexgate\"\nargs = [\"mcp\"]\n",
    );
    sandbox.write("project/.codex/requirements.toml", "");
    let all = ["lint", "--scope", "all", "--system-root", "../root"];
    assert!(
        sandbox
            .run(all)
            .contains("no pin of the system is in force")
    );
    let pin = "allowed_sandbox_modes = [\"read-only\"]\nallowed_approval_policies = [\"on-request\", \"never\"]\n";
    sandbox.write("root/etc/codex/requirements.toml", pin);
    assert!(sandbox.run(all).contains("the system has a pin of its own"));
    std::fs::remove_file(sandbox.path("root/etc/codex/requirements.toml")).expect("ours");
    let severities = |args: &[&str]| {
        let all = ["lint", "--system-root", "../root", "--format", "json"];
        let text = sandbox.run([&all, args].concat());
        let json: serde_json::Value =
            serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
        let word = |finding: &serde_json::Value, key: &str| {
            finding[key].as_str().unwrap_or_default().to_owned()
        };
        let mut found: Vec<String> = json["findings"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|finding| format!("{} {}", word(finding, "rule"), word(finding, "severity")))
            .filter(|found| {
                ["granular", "server-no", "elicit"]
                    .iter()
                    .any(|start| found.starts_with(start))
            })
            .collect();
        found.sort();
        found
    };
    assert_eq!(
        severities(&[]),
        [
            "elicitations-off warning",
            "granular-incomplete info",
            "server-no-transport info"
        ]
    );
    assert_eq!(
        severities(&["--scope", "all"]),
        [
            "elicitations-off error",
            "granular-incomplete info",
            "granular-incomplete info",
            "server-no-transport error",
            "server-no-transport info",
        ]
    );
}
