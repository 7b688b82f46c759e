//! Configurations that broke for others, from `tests/fixtures/cases/`: each `case.json` says why.
//! What `lint` finds in each file, with the line: warnings and errors, nothing else.

use std::path::Path;

use crate::support::Sandbox;

const USER: &str = "home/.codex/config.toml";
const PROJECT: &str = "project/.codex/config.toml";

/// `severity rule line` of each warning and error in `file` of the case, laid out at `place`.
fn found(case: &str, file: &str, place: &str, more: &[&str]) -> Vec<String> {
    let sandbox = Sandbox::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cases");
    let content = std::fs::read(folder.join(case).join(file)).expect("the case has the file");
    sandbox.write(place, content);
    let path = sandbox.path(place);
    // As Codex itself writes such a file: what is in it is judged, not the umask of a test.
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&path, private).expect("ours");
    let mut command = sandbox.command();
    command
        .args(["lint", "--format", "json"])
        .args(more)
        .arg(path);
    let output = command.output().expect("it runs");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let findings = json["findings"].as_array().expect("a list");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let mut lines: Vec<String> = findings
        .iter()
        .filter(|finding| finding["severity"] != "info")
        .map(|finding| {
            let (severity, rule) = (text(&finding["severity"]), text(&finding["rule"]));
            format!("{severity} {rule} {}", finding["line"])
        })
        .collect();
    let clean = lines.is_empty();
    assert_eq!(output.status.code(), Some(i32::from(!clean)), "{case}");
    lines.sort();
    lines
}

#[test]
fn each_case_has_its_findings() {
    let table: &[(&str, &str, &str, &[&str])] = &[
        (
            "windows-path-found",
            "config.toml",
            USER,
            &["error syntax 5"],
        ),
        ("nul-filled", "config.toml", USER, &["error encoding 1"]),
        ("byte-order-mark", "config.toml", USER, &[]),
        (
            "file-already-broken",
            "config.toml",
            USER,
            &["error syntax 2"],
        ),
        (
            "typographic-quotes",
            "config.toml",
            USER,
            &["error syntax 2"],
        ),
        (
            "claude-shape",
            "config.toml",
            USER,
            &["error wrong-shape 3"],
        ),
        (
            "dotted-mcp-servers",
            "config.toml",
            USER,
            &["error unexpanded-variable 4", "error wrong-shape 1"],
        ),
        (
            "json-in-toml",
            "config.toml",
            USER,
            &["error syntax 1", "error wrong-shape 1"],
        ),
        (
            "type-stdio-and-headers",
            "config.toml",
            USER,
            &[
                "warning server-key-unknown 2",
                "warning server-key-unknown 6",
                "warning server-key-unknown 8",
                "warning server-key-unknown 9",
            ],
        ),
        (
            "variables-not-expanded",
            "config.toml",
            USER,
            &[
                "error unexpanded-variable 11",
                "error unexpanded-variable 3",
                "error unexpanded-variable 7",
                "warning launch-shell 16",
            ],
        ),
        (
            "untrusted-policy",
            "config.toml",
            USER,
            &["error approval-value-removed 2", "warning auto-trust 3"],
        ),
        (
            "legacy-profile",
            "config.toml",
            USER,
            &["error profile-removed 1", "error profile-removed 4"],
        ),
        (
            "swallowed-root-keys",
            "features.toml",
            USER,
            &["error key-swallowed 6"],
        ),
        (
            "swallowed-root-keys",
            "windows.toml",
            USER,
            &["error key-swallowed 4"],
        ),
        (
            "swallowed-root-keys",
            "tui.toml",
            USER,
            &["error key-swallowed 4"],
        ),
        (
            "orphan-subtable",
            "config.toml",
            USER,
            &[
                "error server-no-transport 3",
                "warning tools-auto-approved 4",
            ],
        ),
        (
            "server-name-with-space",
            "config.toml",
            USER,
            &["error server-name-invalid 1"],
        ),
        (
            "inline-bearer",
            "config.toml",
            USER,
            &[
                "error secret-inline 11",
                "error secret-inline 15",
                "error secret-inline 3",
                "error secret-inline 7",
                "error server-key-wrong-transport 3",
            ],
        ),
        (
            "project-requirements",
            "requirements.toml",
            "project/.codex/requirements.toml",
            &[
                "error requirements-unknown-key 1",
                "warning requirements-incomplete 2",
            ],
        ),
        (
            "hooks-extra-key",
            "managed.json",
            "project/.codex/hooks.json",
            &["error hook-invalid 2"],
        ),
        (
            "hooks-extra-key",
            "bare.json",
            "project/.codex/hooks.json",
            &["error hook-invalid 2"],
        ),
        (
            "hooks-extra-key",
            "flat.json",
            "project/.codex/hooks.json",
            &["error hook-invalid 4"],
        ),
        (
            "hooks-extra-key",
            "described.json",
            "project/.codex/hooks.json",
            &[],
        ),
        (
            "one-broken-rules-file",
            "b.rules",
            "home/.codex/rules/b.rules",
            &["error rules-broken 2"],
        ),
        (
            "one-broken-rules-file",
            "a.rules",
            "home/.codex/rules/a.rules",
            &["error rule-basename 2"],
        ),
        (
            "launch-lines",
            "config.toml",
            PROJECT,
            &[
                "error launch-privileged 31",
                "error launch-remote-code 23",
                "error launch-remote-code 27",
                "warning launch-relative 34",
                "warning launch-shell 27",
                "warning launch-shell 38",
                "warning launch-unpinned 11",
                "warning launch-unpinned 15",
                "warning launch-unpinned 3",
            ],
        ),
        (
            "advice-that-breaks",
            "config.toml",
            USER,
            &["error server-no-transport 3"],
        ),
    ];
    let mut wrong = Vec::new();
    for (case, file, place, wanted) in table {
        let found = found(case, file, place, &[]);
        if found != *wanted {
            wrong.push(format!("{case}/{file}: {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_value_that_an_older_version_takes_is_fine_for_it() {
    let older = ["--codex-version", "0.148.0"];
    assert_eq!(
        found("untrusted-policy", "config.toml", USER, &older),
        ["warning auto-trust 3"]
    );
}

#[test]
fn no_secret_of_a_case_is_in_any_output() {
    let sandbox = Sandbox::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cases/inline-bearer");
    let content = std::fs::read_to_string(folder.join("config.toml")).expect("the case");
    sandbox.write("home/.codex/config.toml", &content);
    // Broken at its end, each line is shown as text alone.
    sandbox.write("home/.codex/x.config.toml", format!("{content}\n= 1\n"));
    let secrets = [
        "tok_9fK2mQ7xT4vB8nL1cZ6w",
        "7hQ2vXk9TzLm4RpWc8Ns",
        "kX83hdQz71LmPw02VbTy",
        "Zp4nV8sQ1yKt6MwR3xHb",
    ];
    for format in ["text", "json"] {
        let text = sandbox.run(["lint", "--format", format, "../home/.codex"]);
        assert!(text.contains("secret-inline"), "{text}");
        for secret in secrets {
            assert!(content.contains(secret) && !text.contains(secret), "{text}");
        }
    }
}

/// `severity rule line` of each warning and error in files of a case that lie together.
fn together(case: &str, files: &[(&str, &str)], more: &[&str]) -> Vec<String> {
    let sandbox = Sandbox::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cases");
    for (file, place) in files {
        let content =
            std::fs::read_to_string(folder.join(case).join(file)).expect("the case has the file");
        let project = sandbox.path("project").display().to_string();
        sandbox.write(place, content.replace("$PROJECT", &project));
    }
    let root = sandbox.path("root");
    let mut command = sandbox.command();
    command
        .args(["lint", "--format", "json", "--system-root"])
        .arg(root)
        .args(more);
    let output = command.output().expect("it runs");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut lines: Vec<String> = json["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|finding| finding["severity"] != "info")
        .map(|finding| {
            let word = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
            let (severity, rule) = (word("severity"), word("rule"));
            format!("{severity} {rule} {}", finding["line"])
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn a_pin_in_the_repository_is_held_against_the_file_beside_it() {
    let files = [
        ("requirements.toml", "project/.codex/requirements.toml"),
        ("config.toml", PROJECT),
    ];
    assert_eq!(
        together("project-requirements", &files, &[]),
        [
            "error danger-full-access 1",
            "error requirements-contradicted 1",
            "error requirements-unknown-key 1",
            "warning requirements-incomplete 2",
        ]
    );
}

#[test]
fn a_server_with_two_transports_in_two_files_is_found_where_both_are_read() {
    let files = [("user.toml", USER), ("project.toml", PROJECT)];
    assert_eq!(
        together("other-layer-has-the-url", &files, &["--scope", "all"]),
        ["error server-mixed-transport 2"]
    );
    assert!(together("other-layer-has-the-url", &files, &[]).is_empty());
}

#[test]
fn hooks_in_both_forms_are_told_once() {
    let files = [
        ("hooks.json", "home/.codex/hooks.json"),
        ("config.toml", USER),
    ];
    assert_eq!(
        together("hooks-in-two-places", &files, &["--scope", "all"]),
        ["warning hook-two-forms 3"]
    );
}

/// What `lint` prints about a case's file in Codex's home.
fn printed(case: &str, file: &str, place: &str, args: &[&str]) -> String {
    let sandbox = Sandbox::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cases");
    sandbox.write(
        place,
        std::fs::read(folder.join(case).join(file)).expect("the case has the file"),
    );
    let path = sandbox.path(place).display().to_string();
    sandbox.run([&["lint"], args, &[path.as_str()]].concat())
}

#[test]
fn each_case_is_told_in_words_that_help() {
    let table: &[(&str, &str, &[&str])] = &[
        (
            "windows-path-found",
            "config.toml",
            &[
                "reads `\\U` as an escape",
                "single quotes take it as it is",
                ":5:16",
            ],
        ),
        (
            "nul-filled",
            "config.toml",
            &["consists of 4146 NUL bytes", "its content is gone"],
        ),
        (
            "typographic-quotes",
            "config.toml",
            &["U+201C", "U+201D", "U+0022", ":2:11"],
        ),
        ("claude-shape", "config.toml", &["the key is `mcp_servers`"]),
        (
            "dotted-mcp-servers",
            "config.toml",
            &["`env_vars = [\"OBSIDIAN_KEY\"]`"],
        ),
        (
            "json-in-toml",
            "config.toml",
            &["JSON of another client", "[mcp_servers.courier]"],
        ),
        ("untrusted-policy", "config.toml", &["asks less often"]),
        ("legacy-profile", "config.toml", &["`local.config.toml`"]),
        (
            "orphan-subtable",
            "config.toml",
            &["[mcp_servers.theme", "remove the table"],
        ),
        (
            "advice-that-breaks",
            "config.toml",
            &["`codex_apps` is built into Codex"],
        ),
    ];
    for (case, file, words) in table {
        let text = printed(case, file, USER, &[]);
        for word in *words {
            assert!(text.contains(word), "{case}: {word:?} in {text}");
        }
    }
    let rules = printed(
        "one-broken-rules-file",
        "b.rules",
        "home/.codex/rules/b.rules",
        &[],
    );
    assert!(
        rules.contains("without ANY file of custom rules"),
        "{rules}"
    );
}

#[test]
fn cases_are_mended_as_they_ask_for() {
    let lines = |text: &str| -> Vec<String> {
        let changed = |line: &&str| {
            (line.starts_with('+') || line.starts_with('-'))
                && !line.starts_with("+++")
                && !line.starts_with("---")
        };
        text.lines().filter(changed).map(str::to_owned).collect()
    };
    let mended = |case: &str, file: &str, args: &[&str]| {
        lines(&printed(
            case,
            file,
            USER,
            &[&["--fix", "--diff"], args].concat(),
        ))
    };
    assert_eq!(
        mended("claude-shape", "config.toml", &["--unsafe-fixes"]),
        ["-[mcpServers.courier]", "+[mcp_servers.courier]"]
    );
    assert_eq!(
        mended(
            "type-stdio-and-headers",
            "config.toml",
            &["--select", "server-key-unknown"]
        ),
        [
            "-headers = { X-Team = \"red\" }",
            "-disabled = true",
            "+http_headers = { X-Team = \"red\" }",
            "+enabled = false",
        ]
    );
    for file in ["features.toml", "windows.toml", "tui.toml"] {
        assert!(
            !mended("swallowed-root-keys", file, &[]).is_empty(),
            "{file}"
        );
    }
}

#[test]
fn a_profile_alone_is_told_too_and_a_pin_in_a_project_is_declared() {
    let sandbox = Sandbox::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cases");
    let text = std::fs::read_to_string(folder.join("legacy-profile/config.toml")).expect("there");
    let (_, rest) = text.split_once('\n').expect("lines");
    sandbox.write(USER, rest);
    let text = sandbox.run(["lint", "../home/.codex/config.toml"]);
    assert!(
        text.contains("error[profile-removed]") && text.contains(":3:"),
        "{text}"
    );
    let pin = "project/.codex/requirements.toml";
    let text = printed("project-requirements", "requirements.toml", pin, &[]);
    assert!(text.contains("info[requirements-not-read]"), "{text}");
    assert!(
        text.contains("did you mean `allowed_sandbox_modes`"),
        "{text}"
    );
}
