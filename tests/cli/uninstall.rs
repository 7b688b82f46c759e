//! `codexgate uninstall`: the last byte comes back, and nothing of others goes.

use crate::support::{Sandbox, snapshot};

const CONFIG: &str = "project/.codex/config.toml";
/// What can be installed by a program that lies where an agent may write.
const UNSAFE: [&str; 5] = [
    "install",
    "--yes",
    "--no-approver",
    "--no-rule",
    "--no-hooks",
];

fn run(sandbox: &Sandbox, args: &[&str], exit: u8) -> String {
    let said = sandbox.run(args);
    assert!(
        said.ends_with(&format!("--- exit {exit}\n")),
        "{args:?}: {said}"
    );
    said
}

fn add(sandbox: &Sandbox, name: &str) {
    run(
        sandbox,
        &["install", "--yes", "--server", name, "--", name],
        0,
    );
}

fn take(sandbox: &Sandbox, name: &str) -> String {
    run(sandbox, &["uninstall", "--yes", "--server", name], 0)
}

#[test]
fn the_help_ends_with_examples() {
    let sandbox = Sandbox::new();
    snapshot("uninstall/help", &sandbox.run(["uninstall", "--help"]));
}

#[test]
fn what_install_created_goes() {
    let whole: &[&str] = &["install", "--yes"];
    for (sandbox, install) in [(Sandbox::with_state(), whole), (Sandbox::new(), &UNSAFE)] {
        run(&sandbox, install, 0);
        add(&sandbox, "demo");
        assert!(sandbox.path(CONFIG).exists());
        take(&sandbox, "demo");
        run(&sandbox, &["uninstall", "--yes"], 0);
        assert!(!sandbox.path("project/.codex").exists());
        assert!(!sandbox.path("project/AGENTS.md").exists());
        assert!(!sandbox.path("home/.codex/rules").exists());
        let said = run(&sandbox, &["uninstall", "--yes"], 0);
        assert!(said.contains("nothing to take out"), "{said}");
    }
}

#[test]
fn a_file_that_was_empty_is_empty_again() {
    let sandbox = Sandbox::with_state();
    sandbox.write(CONFIG, "");
    add(&sandbox, "demo");
    take(&sandbox, "demo");
    assert_eq!(sandbox.read(CONFIG), "");
}

#[test]
fn all_that_was_installed_goes_without_a_name() {
    let sandbox = Sandbox::with_state();
    let before = "# mine\r\n[tui]\r\nx = 1";
    sandbox.write(CONFIG, before);
    add(&sandbox, "one");
    add(&sandbox, "two");
    run(&sandbox, &["install", "--yes", "--trust"], 0);
    assert!(sandbox.path("home/.codex/config.toml").exists());
    run(&sandbox, &["uninstall", "--yes"], 0);
    assert_eq!(sandbox.read(CONFIG), before);
    assert!(!sandbox.path("project/.codex/requirements.toml").exists());
    assert!(!sandbox.path("home/.codex/config.toml").exists());
    let records = sandbox.path("home/.local/state/codexgate/installs");
    assert_eq!(std::fs::read_dir(records).expect("a folder").count(), 0);
}

#[test]
fn what_others_changed_meanwhile_stays() {
    let sandbox = Sandbox::with_state();
    sandbox.write(
        CONFIG,
        "mcp_servers = {\n  a = { command = \"a\" } # mine\n}\n",
    );
    add(&sandbox, "demo");
    let text = sandbox.read(CONFIG);
    sandbox.write(CONFIG, format!("model = \"new\"\n{text}[tui]\n"));
    take(&sandbox, "demo");
    assert_eq!(
        sandbox.read(CONFIG),
        "model = \"new\"\nmcp_servers = {\n  a = { command = \"a\" } # mine\n}\n[tui]\n"
    );
}

#[test]
fn installs_go_in_any_order() {
    let sandbox = Sandbox::with_state();
    let before = "model = \"x\"";
    sandbox.write(CONFIG, before);
    for name in ["one", "two", "three"] {
        add(&sandbox, name);
    }
    for name in ["two", "one", "three"] {
        take(&sandbox, name);
    }
    assert_eq!(sandbox.read(CONFIG), before);
}

#[test]
fn a_key_of_ours_with_another_value_is_a_collision() {
    let sandbox = Sandbox::with_state();
    sandbox.write(CONFIG, "a = 1\n");
    add(&sandbox, "demo");
    let changed = sandbox.read(CONFIG).replace("\"demo\"", "\"other\"");
    sandbox.write(CONFIG, &changed);
    let said = run(&sandbox, &["uninstall", "--yes", "--server", "demo"], 1);
    assert!(
        said.contains("here `\"other\"`, wanted `\"demo\"`"),
        "{said}"
    );
    assert_eq!(sandbox.read(CONFIG), changed);
    let keep = [
        "uninstall",
        "--yes",
        "--on-collision",
        "skip",
        "--server",
        "demo",
    ];
    run(&sandbox, &keep, 0);
    assert_eq!(sandbox.read(CONFIG), changed);
    add(&sandbox, "more");
    let sandbox = Sandbox::with_state();
    sandbox.write(CONFIG, "a = 1\n");
    add(&sandbox, "demo");
    sandbox.write(CONFIG, &changed);
    let take = [
        "uninstall",
        "--yes",
        "--on-collision",
        "replace",
        "--server",
        "demo",
    ];
    run(&sandbox, &take, 0);
    assert_eq!(sandbox.read(CONFIG), "a = 1\n");
}

#[test]
fn a_replaced_value_comes_back() {
    let sandbox = Sandbox::with_state();
    let before = "[mcp_servers.demo]\ncommand = '''mine''' # keep\nargs = [ 'x', # y\n]\n";
    sandbox.write(CONFIG, before);
    let replace = [
        "install",
        "--yes",
        "--on-collision",
        "replace",
        "--server",
        "demo",
        "--",
        "ours",
        "z",
    ];
    run(&sandbox, &replace, 0);
    take(&sandbox, "demo");
    assert_eq!(sandbox.read(CONFIG), before);
}

#[test]
fn without_a_record_it_works_by_value_and_says_so() {
    let sandbox = Sandbox::new();
    let before = "# mine\n\n[mcp_servers.a]\ncommand = \"a\"\n";
    sandbox.write(CONFIG, before);
    let said = run(
        &sandbox,
        &["install", "--yes", "--server", "demo", "--", "demo"],
        0,
    );
    assert!(said.contains("no record was kept"), "{said}");
    run(&sandbox, &UNSAFE, 0);
    let said = run(&sandbox, &["uninstall", "--yes"], 0);
    assert!(said.contains("name them with `--server`"), "{said}");
    let said = take(&sandbox, "demo");
    assert!(said.contains("there is no record"), "{said}");
    assert_eq!(sandbox.read(CONFIG), before);
    assert!(!sandbox.path("project/.codex/requirements.toml").exists());
}

#[test]
fn a_record_that_is_none_is_refused() {
    let sandbox = Sandbox::with_state();
    sandbox.write(CONFIG, "a = 1\n");
    add(&sandbox, "demo");
    let folder = sandbox.path("home/.local/state/codexgate/installs");
    let record = std::fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .next()
        .expect("a record")
        .path();
    let text = std::fs::read_to_string(&record).expect("readable");
    for bad in [
        "{}",
        "[[[",
        &text.replace("\"version\": 1", "\"version\": 99"),
    ] {
        std::fs::write(&record, bad).expect("writable");
        let said = run(&sandbox, &["uninstall", "--yes", "--server", "demo"], 1);
        assert!(said.contains("install record"), "{said}");
    }
    // A forged "before" is no way in: the result must mean what taking the key out means.
    let project = sandbox.read(CONFIG);
    let forged = text.replace(
        "\"old\": \"\"",
        "\"old\": \"sandbox_mode = \\\"danger-full-access\\\"\\n\"",
    );
    assert_ne!(forged, text);
    std::fs::write(&record, forged).expect("writable");
    sandbox.write(CONFIG, &project);
    take(&sandbox, "demo");
    assert_eq!(sandbox.read(CONFIG), "a = 1\n");
}
