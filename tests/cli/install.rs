//! `codexgate install`: what it says, what it writes, when it refuses.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::support::{Sandbox, bare_command, shown, snapshot};

const CONFIG: &str = "project/.codex/config.toml";
const REQUIREMENTS: &str = "project/.codex/requirements.toml";
const DEMO: [&str; 7] = [
    "install",
    "--yes",
    "--server",
    "demo",
    "--",
    "demo-server",
    "--flag",
];

/// Runs, expects `exit`, and gives what was said.
fn run(sandbox: &Sandbox, args: &[&str], exit: u8) -> String {
    let said = sandbox.run(args);
    assert!(
        said.ends_with(&format!("--- exit {exit}\n")),
        "{args:?}: {said}"
    );
    said
}

/// Runs, expects `exit` and that nothing was touched.
fn untouched(sandbox: &Sandbox, args: &[&str], exit: u8) -> String {
    let before = sandbox.census();
    let said = run(sandbox, args, exit);
    assert_eq!(sandbox.census(), before, "{args:?}: {said}");
    said
}

#[test]
fn the_help_ends_with_examples() {
    let sandbox = Sandbox::new();
    snapshot("install/help", &sandbox.run(["install", "--help"]));
}

#[test]
fn the_gate_goes_into_a_project() {
    let sandbox = Sandbox::with_state();
    sandbox.write(CONFIG, "# ours\nmodel = \"gpt-5\"\n");
    let said = run(&sandbox, &["install", "--yes"], 0);
    snapshot("install/gate", &said);
    let again = untouched(&sandbox, &["install", "--yes"], 0);
    assert!(again.contains("nothing changed"), "{again}");
    untouched(&sandbox, &["install", "--check"], 0);
    run(&sandbox, &["lint"], 0);
}

#[test]
fn an_empty_root_without_home_and_terminal_is_enough() {
    let sandbox = Sandbox::new();
    let root = sandbox.path("root");
    std::fs::create_dir(&root).expect("a folder");
    let once = || {
        let output = bare_command()
            .current_dir(&root)
            .args(["install", "--system-root", ".", "--yes"])
            .output()
            .expect("it runs");
        shown(&output, &sandbox.path(""))
    };
    let said = once();
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    assert!(
        said.contains("neither `HOME` nor `CODEX_HOME` is set"),
        "{said}"
    );
    // The program under test lies in a work tree: what would name it is left out, and said.
    assert!(said.contains("left out: approver, hooks"), "{said}");
    assert!(!sandbox.path("root/.codex/hooks.json").exists());
    let census = sandbox.census();
    let said = once();
    assert!(said.contains("nothing changed"), "{said}");
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    assert_eq!(sandbox.census(), census);
    let lint = bare_command()
        .current_dir(&root)
        .arg("lint")
        .output()
        .expect("it runs");
    assert_eq!(lint.status.code(), Some(0));
}

#[test]
fn looking_writes_nothing() {
    let sandbox = Sandbox::with_state();
    sandbox.write(CONFIG, "");
    let demo = ["--server", "demo", "--", "demo-server"];
    let with = |flags: &[&'static str]| {
        let mut args = vec!["install"];
        args.extend(flags);
        args.extend(demo);
        args
    };
    let said = untouched(&sandbox, &with(&["--dry-run"]), 0);
    assert!(said.contains("+[mcp_servers.demo]"), "{said}");
    untouched(&sandbox, &with(&["--check"]), 1);
    let said = untouched(&sandbox, &with(&[]), 1);
    assert!(said.contains("needs a terminal or `--yes`"), "{said}");
}

#[test]
fn a_collision_writes_nothing_anywhere() {
    let sandbox = Sandbox::with_state();
    sandbox.write(CONFIG, "[mcp_servers.demo]\ncommand = 'mine' # keep\n");
    let said = untouched(&sandbox, &DEMO, 1);
    snapshot("install/collision", &said);
    let json = untouched(
        &sandbox,
        &[&["install", "--format", "json"], &DEMO[1..]].concat(),
        1,
    );
    snapshot(
        "install/collision_json",
        &json.replace(&sandbox.path("").display().to_string(), "[TMP]/"),
    );
    let said = run(
        &sandbox,
        &[&["install", "--on-collision", "skip"], &DEMO[1..]].concat(),
        0,
    );
    assert!(said.contains("`mcp_servers.demo.command`"), "{said}");
    assert_eq!(
        sandbox.read(CONFIG),
        "[mcp_servers.demo]\ncommand = 'mine' # keep\nargs = ['--flag']\n"
    );
    let said = run(
        &sandbox,
        &[&["install", "--on-collision", "replace"], &DEMO[1..]].concat(),
        0,
    );
    assert!(said.contains("-command = 'mine' # keep"), "{said}");
    assert_eq!(
        sandbox.read(CONFIG),
        "[mcp_servers.demo]\ncommand = 'demo-server' # keep\nargs = ['--flag']\n"
    );
}

#[test]
fn another_transport_is_a_collision_of_the_server() {
    let sandbox = Sandbox::with_state();
    let before = "[mcp_servers.demo]\nurl = \"https://x.example/mcp\" # old\nenabled = false\n\n[mcp_servers.demo.http_headers]\nX = \"1\"\n";
    sandbox.write(CONFIG, before);
    let said = untouched(&sandbox, &DEMO, 1);
    assert!(said.contains("another transport"), "{said}");
    let replace = [&["install", "--on-collision", "replace"], &DEMO[1..]].concat();
    run(&sandbox, &replace, 0);
    assert_eq!(
        sandbox.read(CONFIG),
        "[mcp_servers.demo]\nenabled = false\ncommand = \"demo-server\"\nargs = [\"--flag\"]\n"
    );
    run(&sandbox, &["uninstall", "--yes", "--server", "demo"], 0);
    assert_eq!(sandbox.read(CONFIG), before);
}

#[test]
fn arguments_that_are_not_wanted_are_a_difference() {
    let sandbox = Sandbox::with_state();
    sandbox.write(
        CONFIG,
        "[mcp_servers.x]\ncommand = \"cmd\"\nargs = [\"--all\"]\n",
    );
    untouched(
        &sandbox,
        &["install", "--yes", "--server", "x", "--", "cmd"],
        1,
    );
}

#[test]
fn a_policy_that_asks_nobody_is_a_collision_that_names_its_line() {
    let sandbox = Sandbox::with_state();
    sandbox.write(
        "home/.codex/config.toml",
        "model = \"x\"\napproval_policy = \"never\"\n",
    );
    let said = untouched(&sandbox, &["install", "--yes"], 1);
    assert!(said.contains("home/.codex/config.toml:2:19"), "{said}");
    run(&sandbox, &["install", "--yes", "--no-approver"], 0);
    sandbox.write(CONFIG, "approval_policy = \"never\"\n");
    let said = untouched(&sandbox, &["install", "--yes"], 1);
    assert!(said.contains(".codex/config.toml:1:19"), "{said}");
    run(
        &sandbox,
        &["install", "--yes", "--on-collision", "replace"],
        0,
    );
    let config = sandbox.read(CONFIG);
    assert!(
        config.starts_with("approval_policy = \"on-request\"\n"),
        "{config}"
    );
}

#[test]
fn a_granular_policy_gets_what_it_lacks_and_is_listed_in_the_pin() {
    let sandbox = Sandbox::with_state();
    sandbox.trust_project();
    sandbox.write(
        CONFIG,
        "approval_policy = { granular = { sandbox_approval = true, rules = false } }\n",
    );
    run(&sandbox, &["install", "--yes"], 0);
    assert!(sandbox.read(CONFIG).starts_with(
        "approval_policy = { granular = { sandbox_approval = true, rules = false, mcp_elicitations = true } }\n"
    ));
    let pin = sandbox.read(REQUIREMENTS);
    assert!(pin.contains("mcp_elicitations = true"), "{pin}");
    untouched(&sandbox, &["install", "--check"], 0);

    sandbox.write(
        CONFIG,
        "[approval_policy.granular]\nsandbox_approval = true\nrules = false\nmcp_elicitations = false\n",
    );
    let said = untouched(&sandbox, &["install", "--yes"], 1);
    assert!(said.contains(".codex/config.toml:4:20"), "{said}");
    // The granular value changed since: our own older list is brought up to date.
    sandbox.write(
        CONFIG,
        "[approval_policy.granular]\nsandbox_approval = true\nrules = true\nmcp_elicitations = true\n",
    );
    run(&sandbox, &["install", "--yes"], 0);
    assert!(sandbox.read(REQUIREMENTS).contains("rules = true"));
}

#[test]
fn a_pin_of_another_kind_is_a_collision() {
    let sandbox = Sandbox::with_state();
    sandbox.write(REQUIREMENTS, "allowed_sandbox_modes = [\"read-only\"]\n");
    let said = untouched(&sandbox, &["install", "--yes"], 1);
    assert!(said.contains("requirements.toml:1:25"), "{said}");
    run(&sandbox, &["install", "--yes", "--no-pin"], 0);
}

#[test]
fn trust_is_written_only_when_asked_for() {
    let sandbox = Sandbox::with_state();
    let said = run(&sandbox, &DEMO, 0);
    assert!(said.contains("written, not in force"), "{said}");
    assert!(!sandbox.path("home/.codex/config.toml").exists());
    let said = run(&sandbox, &[&["install", "--trust"], &DEMO[1..]].concat(), 0);
    assert!(said.contains("not in force: nothing"), "{said}");
    let project = sandbox.path("project").display().to_string();
    assert_eq!(
        sandbox.read("home/.codex/config.toml"),
        format!("[projects.\"{project}\"]\ntrust_level = \"trusted\"\n")
    );
    let mode = sandbox
        .path("home/.codex/config.toml")
        .metadata()
        .expect("there");
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);
}

#[test]
fn the_system_is_written_below_its_root() {
    let sandbox = Sandbox::with_state();
    let args = [
        "install",
        "--scope",
        "system",
        "--system-root",
        "../root",
        "--yes",
    ];
    run(&sandbox, &args, 0);
    let pin = sandbox.read("root/etc/codex/requirements.toml");
    assert!(pin.starts_with("allowed_sandbox_modes = [\"read-only\", \"workspace-write\"]\n"));
    assert!(!sandbox.path("project/.codex").exists());
    untouched(&sandbox, &args, 0);
    let mut out = args;
    out[0] = "uninstall";
    run(&sandbox, &out, 0);
    assert!(!sandbox.path("root/etc").exists());
}

#[test]
fn a_link_out_of_the_project_is_refused() {
    let sandbox = Sandbox::with_state();
    sandbox.write("home/.bashrc.toml", "");
    sandbox.write("project/.codex/keep", "");
    symlink("../../home/.bashrc.toml", sandbox.path(CONFIG)).expect("a link");
    let said = untouched(&sandbox, &DEMO, 1);
    assert!(said.contains("leads out of the project"), "{said}");
    std::fs::remove_dir_all(sandbox.path("project/.codex")).expect("it goes");
    symlink("../home", sandbox.path("project/.codex")).expect("a link");
    let said = untouched(&sandbox, &DEMO, 1);
    assert!(said.contains("leads out of the project"), "{said}");
}

#[test]
fn codex_home_is_no_project() {
    let sandbox = Sandbox::with_state();
    let said = shown(
        &sandbox
            .command()
            .current_dir(sandbox.path("home"))
            .args(DEMO)
            .output()
            .expect("it runs"),
        &sandbox.path(""),
    );
    assert!(said.contains("use `--scope user`"), "{said}");
    assert!(said.ends_with("--- exit 1\n"), "{said}");
}

#[test]
fn servers_of_a_readme_are_translated() {
    let sandbox = Sandbox::with_state();
    sandbox.write(
        "project/servers.json",
        r#"{ "mcpServers": {
            "notes": { "command": "npx", "args": ["-y", "notes-mcp@1.2.3"], "env": { "NOTES_TOKEN": "${NOTES_TOKEN}" } },
            "far": { "type": "http", "url": "https://far.example/mcp", "headers": { "Authorization": "Bearer sk-9fK2mQ7xT4vB8nL1cZ6wPq" } }
        } }"#,
    );
    let said = run(&sandbox, &["install", "--yes", "--from", "servers.json"], 0);
    snapshot("install/from_json", &said);
    assert!(!said.contains("9fK2mQ7xT4vB8nL1cZ6w"), "{said}");
    assert!(!sandbox.read(CONFIG).contains("9fK2mQ7xT4vB8nL1cZ6w"));
    untouched(&sandbox, &["install", "--yes", "--from", "servers.json"], 0);
}

#[test]
fn flags_of_a_server_become_its_keys() {
    let sandbox = Sandbox::with_state();
    run(
        &sandbox,
        &[
            "install",
            "--yes",
            "--server",
            "a",
            "--env-var",
            "A_KEY",
            "--env-var",
            "B",
            "--",
            "a",
        ],
        0,
    );
    run(
        &sandbox,
        &[
            "install",
            "--yes",
            "--server",
            "b",
            "--url",
            "https://b.example/",
            "--bearer-token-env-var",
            "T",
        ],
        0,
    );
    assert_eq!(
        sandbox.read(CONFIG),
        "[mcp_servers.a]\ncommand = \"a\"\nenv_vars = [\"A_KEY\", \"B\"]\n\n[mcp_servers.b]\nurl = \"https://b.example/\"\nbearer_token_env_var = \"T\"\n"
    );
    for args in [
        &["install", "--server", "x"][..],
        &["install", "--server", "x", "--url", "u", "--", "c"],
        &["install", "--url", "u"],
        &["install", "--", "c"],
    ] {
        untouched(&sandbox, args, 2);
    }
}

#[test]
fn bad_input_gets_a_clear_error_and_loses_nothing() {
    let sandbox = Sandbox::with_state();
    sandbox.write(CONFIG, "x = 1\n".repeat(50 * 1024 * 1024 / 6));
    let size = std::fs::metadata(sandbox.path(CONFIG))
        .expect("there")
        .len();
    let said = run(&sandbox, &DEMO, 2);
    assert!(said.contains("config.toml") && said.len() < 1000, "{said}");
    assert_eq!(
        std::fs::metadata(sandbox.path(CONFIG))
            .expect("there")
            .len(),
        size
    );

    sandbox.write(CONFIG, format!("a = {}", "[".repeat(10_000)));
    untouched(&sandbox, &DEMO, 1);
    sandbox.write(CONFIG, b"a = \"\xff\"\n");
    let said = untouched(&sandbox, &DEMO, 1);
    assert!(said.contains("not UTF-8"), "{said}");
    std::fs::remove_file(sandbox.path(CONFIG)).expect("it goes");
    symlink("nowhere", sandbox.path(CONFIG)).expect("a link");
    untouched(&sandbox, &DEMO, 2);
    std::fs::remove_file(sandbox.path(CONFIG)).expect("it goes");
    let made = std::process::Command::new("mkfifo")
        .arg(sandbox.path(CONFIG))
        .status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo is there");
    run(&sandbox, &DEMO, 2);
    for shape in [
        "mcp_servers = 1\n",
        "[[mcp_servers]]\na = 1\n",
        "mcp_servers = []\n",
    ] {
        std::fs::remove_file(sandbox.path(CONFIG)).expect("it goes");
        sandbox.write(CONFIG, shape);
        let said = untouched(&sandbox, &DEMO, 1);
        assert!(
            said.contains("[mcp_servers.demo]"),
            "the text to add: {said}"
        );
    }
}

#[test]
fn a_plan_that_changed_underneath_is_not_written() {
    // The file is read again under the lock; a plan is never written over another text.
    let sandbox = Sandbox::with_state();
    sandbox.write(CONFIG, "a = 1\n");
    let path = sandbox.path(CONFIG);
    let request = codexgate::plan::install::Request {
        scopes: vec![codexgate::plan::Scope::Project],
        servers: vec![codexgate::plan::WantedServer {
            name: "demo".into(),
            values: [("command".to_owned(), "demo".into())]
                .into_iter()
                .collect(),
        }],
        ..Default::default()
    };
    let site = codexgate::codex::Site::discover(&codexgate::codex::site::Environment {
        directory: sandbox.path("project"),
        ..Default::default()
    })
    .expect("the project is there");
    let (plan, _) = codexgate::plan::install::plan(&site, &request).expect("a plan");
    std::fs::write(&path, "a = 2\n").expect("somebody else writes");
    let result = codexgate::plan::write::commit(
        &plan,
        &[],
        &sandbox.path("project/.codex"),
        &mut codexgate::files::RealDisk,
    );
    assert!(
        matches!(result, Err(codexgate::files::Error::Changed { .. })),
        "{result:?}"
    );
    assert_eq!(sandbox.read(CONFIG), "a = 2\n");
}

#[test]
fn several_scopes_are_one_plan() {
    let sandbox = Sandbox::with_state();
    sandbox.write(
        "home/.codex/config.toml",
        "[mcp_servers.demo]\ncommand = \"other\"\n",
    );
    let both = ["--scope", "project", "--scope", "user"];
    let args = [&["install"][..], &both, &DEMO[1..]].concat();
    untouched(&sandbox, &args, 1);
    sandbox.write("home/.codex/config.toml", "model = \"x\"\n");
    run(&sandbox, &args, 0);
    assert!(sandbox.read(CONFIG).contains("[mcp_servers.demo]"));
    assert!(
        sandbox
            .read("home/.codex/config.toml")
            .contains("[mcp_servers.demo]")
    );
    let out = [&["uninstall", "--yes", "--server", "demo"][..], &both].concat();
    run(&sandbox, &out, 0);
    assert!(!sandbox.path(CONFIG).exists());
    assert_eq!(sandbox.read("home/.codex/config.toml"), "model = \"x\"\n");
}

#[test]
fn a_new_file_of_the_project_follows_the_umask() {
    for (umask, wanted) in [("022", 0o644), ("077", 0o600)] {
        let sandbox = Sandbox::with_state();
        let line = format!("umask {umask}; exec \"$0\" install --yes -q");
        let status = std::process::Command::new("sh")
            .arg("-c")
            .arg(&line)
            .arg(sandbox.program())
            .current_dir(sandbox.path("project"))
            .env("HOME", sandbox.path("home"))
            .stdout(std::process::Stdio::null())
            .status()
            .expect("sh is there");
        assert!(status.success());
        let meta = sandbox.path(REQUIREMENTS).metadata().expect("there");
        assert_eq!(meta.permissions().mode() & 0o777, wanted, "umask {umask}");
    }
}

/// Runs in a pseudo-terminal and types `keys`.
fn in_a_terminal(sandbox: &Sandbox, keys: &str) -> (String, Option<i32>) {
    use std::io::Write as _;
    let line = format!(
        "{} install --server demo -- demo-server",
        env!("CARGO_BIN_EXE_codexgate")
    );
    let mut child = std::process::Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(sandbox.path("project"))
        .env_clear()
        .env("HOME", sandbox.path("home"))
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("`script` of util-linux is there");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(keys.as_bytes()).expect("it listens");
    let output = child.wait_with_output().expect("it ends");
    drop(input);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (text, output.status.code())
}

#[test]
fn on_a_terminal_it_asks_once() {
    let sandbox = Sandbox::with_state();
    let (said, code) = in_a_terminal(&sandbox, "n\r");
    assert!(said.contains("Write these changes?"), "{said}");
    assert!(
        said.contains("\u{1b}[32m+[mcp_servers.demo]"),
        "coloured: {said}"
    );
    assert_eq!(code, Some(1), "{said}");
    assert!(!sandbox.path(CONFIG).exists());
    let (said, code) = in_a_terminal(&sandbox, "\r");
    assert_eq!(code, Some(1), "the default is no: {said}");
    let (said, code) = in_a_terminal(&sandbox, "y\r");
    assert_eq!(code, Some(0), "{said}");
    assert!(sandbox.read(CONFIG).contains("[mcp_servers.demo]"));
}
