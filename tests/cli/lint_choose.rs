//! `codexgate lint`: thresholds, selection, ignores, the project's file, the baseline.

use crate::support::{Sandbox, snapshot};

const OPEN: &str = "sandbox_mode = \"danger-full-access\"\n";
const UNPINNED: &str = "[mcp_servers.docs]\ncommand = \"npx\"\nargs = [\"-y\", \"docs-mcp\"]\n";

/// A project with one error and one warning.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("project/.codex/config.toml", format!("{OPEN}{UNPINNED}"));
    sandbox
}

/// The ids of the shown findings, then the last lines.
fn told(text: &str) -> String {
    let mut out: Vec<&str> = text
        .lines()
        .filter_map(|line| {
            let head = line.split_once(']')?.0;
            let (severity, id) = head.split_once('[')?;
            ["error", "warning", "info"]
                .contains(&severity)
                .then_some(id)
        })
        .collect();
    out.sort_unstable();
    let mut lines: Vec<String> = vec![out.join(" ")];
    let rest = text.lines().skip_while(|line| !line.contains(" in 1 file"));
    lines.extend(rest.map(str::to_owned));
    lines.join("\n")
}

#[test]
fn the_threshold_decides_the_exit_code_alone() {
    let sandbox = sandbox();
    let exit = |args: &[&str]| {
        let text = sandbox.run(args);
        text.lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(exit(&["lint", "--fail-on", "error"]), "--- exit 1");
    let only = ["lint", "--select", "launch-unpinned", "--fail-on"];
    assert_eq!(exit(&[&only[..], &["error"]].concat()), "--- exit 0");
    assert_eq!(exit(&[&only[..], &["warning"]].concat()), "--- exit 1");
    assert_eq!(
        exit(&["lint", "--select", "project-starts-program"]),
        "--- exit 0"
    );
    let info = [
        "lint",
        "--select",
        "project-starts-program",
        "--fail-on",
        "info",
    ];
    assert_eq!(exit(&info), "--- exit 1");
}

#[test]
fn rules_are_selected_and_left_out_by_name() {
    let sandbox = sandbox();
    let run = |args: &[&str]| told(&sandbox.run(args));
    assert_eq!(
        run(&["lint", "--select", "syntax,launch-unpinned"]),
        "launch-unpinned\n1 warning in 1 file\n--- exit 1"
    );
    assert_eq!(
        run(&[
            "lint",
            "--ignore",
            "launch-unpinned",
            "--ignore=project-starts-program"
        ]),
        "danger-full-access\n1 error in 1 file\n--- exit 1"
    );
    let wrong = sandbox.run(["lint", "--select", "launch-unpined"]);
    assert!(wrong.contains("did you mean `launch-unpinned`?"), "{wrong}");
    assert!(wrong.ends_with("--- exit 2\n"), "{wrong}");
}

#[test]
fn what_the_project_silences_is_counted_and_can_be_shown() {
    let sandbox = sandbox();
    sandbox.write(
        "project/.codex/config.toml",
        format!("# codexgate: ignore[danger-full-access] a test machine\n{OPEN}{UNPINNED}"),
    );
    sandbox.write(
        "project/.codex/codexgate.toml",
        "[lint]\nallowed-packages = [\"docs-mcp\"]\nignore = [\"project-starts-program\"]\n",
    );
    snapshot("lint/silenced", &sandbox.run(["lint"]));
    assert_eq!(sandbox.run(["lint"]), sandbox.run(["lint", "-q"]));
    assert_eq!(
        told(&sandbox.run(["lint", "--no-ignore"])),
        "danger-full-access launch-unpinned project-starts-program\n1 error, 1 warning, 1 info in 1 file\n--- exit 1"
    );
}

#[test]
fn the_projects_file_chooses_severities_paths_and_servers() {
    let sandbox = sandbox();
    let run = |config: &str| {
        sandbox.write("project/.codex/codexgate.toml", config);
        told(&sandbox.run(["lint"]))
    };
    assert_eq!(
        run("[lint.severity]\nlaunch-unpinned = \"error\"\ndanger-full-access = \"info\"\n"),
        "danger-full-access launch-unpinned project-starts-program\n1 error, 2 info in 1 file\nbeside that: 1 made milder by codexgate.toml (`--no-ignore` undoes it)\n--- exit 1"
    );
    assert_eq!(
        run("[lint.per-path-ignores]\n\".codex/*.toml\" = [\"danger-full-access\"]\n"),
        "launch-unpinned project-starts-program\n1 warning, 1 info in 1 file\nbeside that: 1 silenced by codexgate.toml (`--no-ignore` undoes it)\n--- exit 1"
    );
    assert_eq!(
        run("[lint]\nselect = [\"danger-full-access\"]\n"),
        "danger-full-access\n1 error in 1 file\nbeside that: 2 silenced by codexgate.toml (`--no-ignore` undoes it)\n--- exit 1"
    );
    assert_eq!(
        run("[lint]\nallowed-servers = [\"docs\"]\n"),
        "danger-full-access\n1 error in 1 file\nbeside that: 2 silenced by codexgate.toml (`--no-ignore` undoes it)\n--- exit 1"
    );
}

#[test]
fn a_wrong_file_of_the_project_stops_the_run() {
    let sandbox = sandbox();
    sandbox.write("project/.codex/codexgate.toml", "[lint]\nignor = []\n");
    snapshot("lint/wrong_config", &sandbox.run(["lint"]));
    std::fs::remove_file(sandbox.path("project/.codex/codexgate.toml")).expect("it is there");
    sandbox.write("project/.codex/codexgate.toml/x", "");
    let text = sandbox.run(["lint"]);
    assert!(text.ends_with("--- exit 2\n"), "{text}");
}

#[test]
fn a_file_further_down_silences_nothing() {
    let sandbox = sandbox();
    sandbox.write("project/sub/.codex/config.toml", OPEN);
    sandbox.write(
        "project/sub/.codex/codexgate.toml",
        "[lint]\nignore = [\"danger-full-access\"]\n",
    );
    let text = sandbox.run(["-C", "sub", "lint", "."]);
    assert!(text.contains("error[danger-full-access]"), "{text}");
}

#[test]
fn a_baseline_silences_what_was_there_and_nothing_new() {
    let sandbox = sandbox();
    assert_eq!(
        sandbox.run(["lint", "--write-baseline", "base.json"]),
        "--- stderr\nwrote 3 findings to `base.json`\n--- exit 0\n"
    );
    let first = sandbox.read("project/base.json");
    assert_eq!(
        told(&sandbox.run(["lint", "--baseline", "base.json"])),
        "\nno findings in 1 file\nbeside that: 3 silenced by the baseline (`--no-ignore` undoes it)\n--- exit 0"
    );
    // Moved, reordered, reformatted: the same findings.
    sandbox.write(
        "project/.codex/config.toml",
        "\n# new\nsandbox_mode = 'danger-full-access'\n\n[mcp_servers]\n\
         docs = { args = [\n  '-y',\n  'docs-mcp',\n], command = 'npx' }\n",
    );
    let text = sandbox.run(["lint", "--baseline", "base.json"]);
    assert!(text.ends_with("--- exit 0\n"), "{text}");
    assert!(
        sandbox
            .run(["lint", "--write-baseline", "base.json"])
            .ends_with("exit 0\n")
    );
    assert_eq!(sandbox.read("project/base.json"), first);
    // Another package is another finding.
    sandbox.write(
        "project/.codex/config.toml",
        format!("{OPEN}{}", UNPINNED.replace("docs-mcp", "evil-mcp")),
    );
    let text = sandbox.run(["lint", "--baseline", "base.json"]);
    assert!(text.contains("warning[launch-unpinned]"), "{text}");
    assert!(text.ends_with("--- exit 1\n"), "{text}");
}

#[test]
fn a_baseline_that_cannot_be_used_stops_the_run_and_no_other_file_is_overwritten() {
    let sandbox = sandbox();
    let run = |file: &str| sandbox.run(["lint", "--baseline", file]);
    assert!(run("none.json").ends_with("--- exit 2\n"));
    sandbox.write("project/notes.json", "{\"version\": 1}");
    assert!(run("notes.json").ends_with("--- exit 2\n"));
    let text = sandbox.run(["lint", "--write-baseline", "notes.json"]);
    assert!(text.ends_with("--- exit 1\n"), "{text}");
    assert_eq!(sandbox.read("project/notes.json"), "{\"version\": 1}");
}

#[test]
fn standard_input_is_judged_by_its_name() {
    let sandbox = Sandbox::new();
    let run = |name: &[&str], text: &str| {
        let mut command = sandbox.command();
        let output = command
            .args([&["lint", "-"], name].concat())
            .write_stdin(text)
            .output()
            .expect("it runs");
        crate::support::shown(&output, &sandbox.path(""))
    };
    let name = ["--stdin-filename", "sub/.codex/config.toml"];
    let text = run(&name, OPEN);
    assert!(text.contains("--> sub/.codex/config.toml:1:16"), "{text}");
    assert!(run(&name, "model = \"x\"\n").ends_with("--- exit 0\n") || text.contains("nested"));
    assert!(run(&[], OPEN).ends_with("--- exit 2\n"));
    assert!(run(&["--stdin-filename", "x.txt"], OPEN).ends_with("--- exit 2\n"));
    assert!(run(&["--stdin-filename", "config.toml", "--fix"], OPEN).ends_with("--- exit 2\n"));
    let diff = [
        "--stdin-filename",
        "config.toml",
        "--fix",
        "--unsafe-fixes",
        "--diff",
    ];
    let text = run(&diff, OPEN);
    assert!(
        text.contains("+sandbox_mode = \"workspace-write\""),
        "{text}"
    );
}
