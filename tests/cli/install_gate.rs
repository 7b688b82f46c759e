//! The gate as `install` puts it in and `uninstall` takes it out: approver, rule, hooks, guide.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Sandbox, bare_command, place_program, shown};

const CONFIG: &str = "project/.codex/config.toml";
const HOOKS: &str = "project/.codex/hooks.json";
const GUIDE: &str = "project/AGENTS.md";
const USER: &str = "home/.codex/config.toml";
const RULE: &str = "home/.codex/rules/codexgate.rules";

fn run(sandbox: &Sandbox, args: &[&str], exit: u8) -> String {
    let said = sandbox.run(args);
    assert!(
        said.ends_with(&format!("--- exit {exit}\n")),
        "{args:?}: {said}"
    );
    said
}

fn untouched(sandbox: &Sandbox, args: &[&str], exit: u8) -> String {
    let before = sandbox.census();
    let said = run(sandbox, args, exit);
    assert_eq!(sandbox.census(), before, "{args:?}: {said}");
    said
}

/// A program in Codex's place: it lists the hooks of the file that it was given, with a digest
/// made of each command, as the real one does from the content.
fn a_codex(sandbox: &Sandbox) -> String {
    let path = sandbox.path("program/codex");
    std::fs::write(
        &path,
        r#"#!/usr/bin/env python3
import hashlib, json, os, sys
assert sys.argv[1:] == ["app-server"], sys.argv
for line in sys.stdin:
    ask = json.loads(line)
    if "id" not in ask:
        continue
    result = {}
    if ask["method"] == "hooks/list":
        file = ask["params"]["cwds"][0] + "/.codex/hooks.json"
        keys = {"SessionStart": "session_start", "PreToolUse": "pre_tool_use"}
        hooks = [
            {"key": f"{file}:{keys[event]}:{at}:{index}", "command": handler["command"],
             "currentHash": "sha256:" + hashlib.sha256(handler["command"].encode()).hexdigest()}
            for event, groups in json.load(open(file))["hooks"].items()
            for at, group in enumerate(groups)
            for index, handler in enumerate(group["hooks"])
        ]
        result = {"data": [{"hooks": hooks}]}
    print(json.dumps({"id": ask["id"], "result": result}), flush=True)
"#,
    )
    .expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("its owner may");
    path.display().to_string()
}

fn python_is_there() -> bool {
    std::process::Command::new("python3")
        .arg("--version")
        .output()
        .is_ok()
}

/// Every file of the sandbox, without what the state directory keeps.
fn census(sandbox: &Sandbox) -> Vec<String> {
    let state = sandbox.path("home/.local").display().to_string();
    let without_time = |line: String| {
        let mut words = line.splitn(4, ' ');
        let (path, mode) = (words.next(), words.next());
        format!("{path:?} {mode:?} {:?}", words.nth(1))
    };
    sandbox
        .census()
        .into_iter()
        .filter(|line| !line.starts_with(&state))
        .map(without_time)
        .collect()
}

#[test]
fn the_gate_comes_and_goes_to_the_last_byte() {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cases/hooks-merge");
    let hooks = std::fs::read_to_string(case.join("hooks.json")).expect("the case is there");
    let sandbox = Sandbox::with_state();
    sandbox.write(HOOKS, &hooks);
    sandbox.write("project/tools/guard.py", "");
    sandbox.write(CONFIG, "# ours\r\nmodel = \"gpt-5\"");
    sandbox.write(GUIDE, "# Guide\n\nBe kind.");
    sandbox.write(USER, "model = 'x' # mine\n");
    sandbox.write("home/.codex/rules/default.rules", "# mine\n");
    let before = census(&sandbox);
    run(&sandbox, &["install", "--yes", "--trust"], 0);
    let after = sandbox.read(HOOKS);
    let kept = hooks.find("\n    ]").expect("the list ends");
    assert!(after.starts_with(&hooks[..kept]), "{after}");
    assert!(after.ends_with("\n}\n"), "{after}");
    let value: Value = serde_json::from_str(&after).expect("JSON");
    assert_eq!(value["description"], "team hooks");
    assert_eq!(value.as_object().map(serde_json::Map::len), Some(2));
    let groups = value["hooks"]["PreToolUse"].as_array().expect("a list");
    assert_eq!(groups.len(), 2, "ours is the last: {after}");
    let command = format!("{} hook pre-tool-use", sandbox.program().display());
    assert_eq!(groups[1]["hooks"][0]["command"], json!(command));
    let rule = sandbox.read(RULE);
    let program = sandbox.program().display().to_string();
    assert!(
        rule.contains(&format!("[[\"{program}\"], \"apply\"]")),
        "{rule}"
    );
    let config = sandbox.read(CONFIG);
    assert!(
        config.contains(&format!("command = \"{program}\"\r\nargs = [\"mcp\"]\r\n")),
        "{config}"
    );
    let guide = sandbox.read(GUIDE);
    assert!(
        guide.starts_with("# Guide\n\nBe kind.\n\n<!-- codexgate"),
        "{guide}"
    );
    assert!(!guide.contains(&program), "{guide}");

    let again = untouched(&sandbox, &["install", "--yes", "--trust"], 0);
    assert!(again.contains("nothing changed"), "{again}");
    untouched(&sandbox, &["install", "--check"], 0);
    run(&sandbox, &["lint"], 0);
    run(&sandbox, &["uninstall", "--yes"], 0);
    assert_eq!(census(&sandbox), before);
    untouched(&sandbox, &["uninstall", "--yes"], 0);
}

#[test]
fn what_install_made_goes_whole_without_a_record_too() {
    for keep in [true, false] {
        let sandbox = Sandbox::with_state();
        let before = census(&sandbox);
        run(&sandbox, &["install", "--yes"], 0);
        if !keep {
            std::fs::remove_dir_all(sandbox.path("home/.local/state/codexgate/installs"))
                .expect("it goes");
        }
        run(&sandbox, &["uninstall", "--yes"], 0);
        let left = census(&sandbox);
        if keep {
            assert_eq!(left, before);
        } else {
            // Folders are not known to be ours.
            for file in [CONFIG, HOOKS, GUIDE, RULE] {
                assert!(!sandbox.path(file).exists(), "{file} {left:?}");
            }
        }
    }
}

#[test]
fn hooks_of_others_that_came_later_stay() {
    let sandbox = Sandbox::with_state();
    run(&sandbox, &["install", "--yes"], 0);
    let mut value: Value = serde_json::from_str(&sandbox.read(HOOKS)).expect("JSON");
    let other = json!({"hooks": [{"type": "command", "command": "theirs"}]});
    value["hooks"]["PreToolUse"]
        .as_array_mut()
        .expect("a list")
        .push(other.clone());
    sandbox.write(HOOKS, value.to_string());
    let guide = sandbox.read(GUIDE);
    sandbox.write(GUIDE, format!("# New\n\n{guide}\nLast.\n"));
    run(&sandbox, &["uninstall", "--yes"], 0);
    let left: Value = serde_json::from_str(&sandbox.read(HOOKS)).expect("JSON");
    assert_eq!(left, json!({"hooks": {"PreToolUse": [other]}}));
    assert_eq!(sandbox.read(GUIDE), "# New\n\nLast.\n");
}

#[test]
fn a_moved_program_is_a_difference_and_brought_up_to_date() {
    let sandbox = Sandbox::with_state();
    run(&sandbox, &["install", "--yes"], 0);
    let other = sandbox.path("program/new");
    std::fs::create_dir(&other).expect("a folder");
    place_program(&other.join("codexgate"));
    let moved = |args: &[&str]| {
        let mut command = assert_cmd::Command::new(other.join("codexgate"));
        let output = command
            .env_clear()
            .env("HOME", sandbox.path("home"))
            .current_dir(sandbox.path("project"))
            .args(args)
            .output()
            .expect("it runs");
        shown(&output, &sandbox.path(""))
    };
    let said = moved(&["install", "--check"]);
    assert!(said.ends_with("--- exit 1\n"), "{said}");
    let said = moved(&["install", "--yes"]);
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    let old = format!("{}\"", sandbox.program().display());
    for file in [CONFIG, HOOKS, RULE] {
        let text = sandbox.read(file);
        assert!(
            text.contains("program/new/codexgate") && !text.contains(&old),
            "{text}"
        );
    }
    untouched(&sandbox, &["install", "--check"], 1);
    run(&sandbox, &["uninstall", "--yes"], 0);
    for file in [CONFIG, HOOKS, GUIDE, RULE] {
        assert!(!sandbox.path(file).exists(), "{file}");
    }
}

#[test]
fn the_hooks_are_trusted_with_the_digest_that_codex_gives() {
    if !python_is_there() {
        println!("skipped: there is no python3");
        return;
    }
    let sandbox = Sandbox::with_state();
    let codex = a_codex(&sandbox);
    let theirs =
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "theirs"}]}]}}"#;
    sandbox.write(HOOKS, theirs);
    sandbox.write(USER, "# mine\n");
    let with_path = |args: &[&str]| {
        let output = sandbox
            .command()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .args(args)
            .output()
            .expect("it runs");
        shown(&output, &sandbox.path(""))
    };
    let said = with_path(&["install", "--yes", "--codex", &codex]);
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    let user = sandbox.read(USER);
    let file = sandbox.path(HOOKS).display().to_string();
    for key in ["session_start:0:0", "pre_tool_use:1:0"] {
        assert!(
            user.contains(&format!("[hooks.state.\"{file}:{key}\"]")),
            "{user}"
        );
    }
    assert_eq!(
        user.matches("trusted_hash = \"sha256:").count(),
        2,
        "only ours: {user}"
    );
    assert!(
        !sandbox
            .path("home/.local/state")
            .read_dir()
            .expect("a folder")
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().starts_with("ask-"))
    );
    // The digests of this Codex are none that the model knows: a stale one is a difference.
    let said = untouched(&sandbox, &["install", "--check"], 1);
    assert!(said.contains("Codex skips them"), "{said}");
    run(&sandbox, &["uninstall", "--yes"], 0);
    assert_eq!(sandbox.read(USER), "# mine\n");
    assert_eq!(sandbox.read(HOOKS), theirs);

    run(
        &sandbox,
        &["install", "--yes", "--codex", "/nonexistent/codex"],
        2,
    );
}

#[test]
fn a_program_that_an_agent_could_write_is_refused_unless_left_out() {
    let sandbox = Sandbox::with_state();
    let inside = sandbox.path("project/codexgate");
    place_program(&inside);
    let built = |program: &Path, args: &[&str]| {
        let output = assert_cmd::Command::new(program)
            .env_clear()
            .env("HOME", sandbox.path("home"))
            .current_dir(sandbox.path("project"))
            .args(args)
            .output()
            .expect("it runs");
        shown(&output, &sandbox.path(""))
    };
    let before = sandbox.census();
    for args in [
        &["install", "--yes"][..],
        &["install", "--yes", "--no-approver", "--no-rule"],
        &["install", "--yes", "--no-approver", "--no-hooks"],
        &["install", "--yes", "--no-rule", "--no-hooks"],
        &["install", "--yes", "--scope", "user"],
        &[
            "install",
            "--yes",
            "--scope",
            "user",
            "--approver",
            "--no-rule",
        ],
    ] {
        let said = built(&inside, args);
        assert!(said.contains("lies in"), "{said}");
        assert!(
            said.contains("--no-approver --no-rule --no-hooks"),
            "{said}"
        );
        assert!(said.ends_with("--- exit 1\n"), "{said}");
    }
    assert_eq!(sandbox.census(), before);
    let output = bare_command()
        .env("HOME", sandbox.path("home"))
        .current_dir(sandbox.path("project"))
        .args([
            "install",
            "--yes",
            "--no-approver",
            "--no-rule",
            "--no-hooks",
        ])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    assert!(sandbox.path(GUIDE).exists() && !sandbox.path(HOOKS).exists());
}

#[test]
fn a_rule_file_or_an_entry_of_somebody_else_is_a_collision() {
    let sandbox = Sandbox::with_state();
    sandbox.write(RULE, "# mine\n");
    let said = untouched(&sandbox, &["install", "--yes"], 1);
    assert!(said.contains("codexgate.rules:1"), "{said}");
    assert!(said.contains("with other content"), "{said}");
    std::fs::remove_file(sandbox.path(RULE)).expect("it goes");
    for (entry, line) in [
        (
            "[mcp_servers.codexgate]\ncommand = \"other\"\nargs = [\"mcp\"]\n",
            ":2:11",
        ),
        (
            "[mcp_servers.codexgate]\nurl = \"https://x.example\"\n",
            ":2:7",
        ),
        (
            "[mcp_servers.codexgate]\ncommand = \"codexgate\"\nargs = [\"mcp\"]\nenv = { HOME = \"/x\" }\n",
            ":4:",
        ),
        (
            "[mcp_servers.codexgate]\ncommand = \"codexgate\"\nargs = [\"mcp\"]\nenabled = false\n",
            ":4:",
        ),
    ] {
        sandbox.write(CONFIG, entry);
        let said = untouched(&sandbox, &["install", "--yes"], 1);
        assert!(said.contains(&format!("config.toml{line}")), "{said}");
    }
    for hooks in [
        "{\"hooks\": {}, \"mine\": 1}",
        "{\"hooks\": {},}",
        "// x\n{}",
    ] {
        sandbox.write(CONFIG, "");
        sandbox.write(HOOKS, hooks);
        let said = untouched(&sandbox, &["install", "--yes"], 1);
        assert!(said.contains("hooks: Codex drops this file"), "{said}");
    }
    // Codex takes it for no hooks; there is no place for ours in it.
    sandbox.write(HOOKS, "{\"hooks\": []}");
    untouched(&sandbox, &["install", "--yes"], 1);
    std::fs::remove_file(sandbox.path(HOOKS)).expect("it goes");
    sandbox.write(GUIDE, "<!-- codexgate: begin -->\n");
    untouched(&sandbox, &["install", "--yes"], 1);
    run(&sandbox, &["install", "--yes", "--no-guide"], 0);
}

#[test]
fn hooks_go_where_the_layer_has_them() {
    for toml in [
        "[[hooks.PreToolUse]]\nmatcher = \"x\"\n\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"theirs\" # mine\n",
        "# mine\nhooks = { Stop = [{ hooks = [{ type = \"command\", command = \"theirs\" }] }] }",
        "[hooks]\nStop = [{ hooks = [{ type = \"command\", command = \"theirs\" }] }]\n",
    ] {
        let sandbox = Sandbox::with_state();
        sandbox.write(CONFIG, toml);
        run(&sandbox, &["install", "--yes"], 0);
        assert!(!sandbox.path(HOOKS).exists());
        let config = sandbox.read(CONFIG);
        assert!(config.contains("codexgate hook pre-tool-use"), "{config}");
        assert!(config.contains("codexgate hook session-start"), "{config}");
        untouched(&sandbox, &["install", "--check"], 0);
        run(&sandbox, &["uninstall", "--yes"], 0);
        assert_eq!(sandbox.read(CONFIG), toml);
    }
}

#[test]
fn the_rule_stays_while_another_project_has_the_gate() {
    let sandbox = Sandbox::with_state();
    sandbox.write("other/.git/HEAD", "ref: refs/heads/main\n");
    run(&sandbox, &["install", "--yes"], 0);
    let other = |args: &[&str]| {
        let args = [&["-C", "../other"], args].concat();
        run(&sandbox, &args, 0)
    };
    other(&["install", "--yes"]);
    let said = run(&sandbox, &["uninstall", "--yes"], 0);
    assert!(
        said.contains("stays") && sandbox.path(RULE).exists(),
        "{said}"
    );
    other(&["uninstall", "--yes"]);
    assert!(!sandbox.path(RULE).exists());
}

#[test]
fn the_user_has_one_approver_for_all_projects() {
    let sandbox = Sandbox::with_state();
    let user = ["--scope", "user", "--yes"];
    run(&sandbox, &[&["install"], &user[..]].concat(), 0);
    assert!(sandbox.path(RULE).exists() && !sandbox.path(USER).exists());
    run(
        &sandbox,
        &[&["install", "--approver"], &user[..]].concat(),
        0,
    );
    assert!(sandbox.read(USER).contains("[mcp_servers.codexgate]"));
    assert!(!sandbox.path("project/.codex").exists());
    // A project's uninstall leaves what the user registered.
    run(&sandbox, &["install", "--yes"], 0);
    run(&sandbox, &["uninstall", "--yes"], 0);
    assert!(sandbox.read(USER).contains("[mcp_servers.codexgate]"));
    assert!(sandbox.path(RULE).exists());
    run(&sandbox, &[&["uninstall"], &user[..]].concat(), 0);
    assert!(!sandbox.path(USER).exists() && !sandbox.path(RULE).exists());
}

#[test]
fn a_bare_name_stands_in_the_project_and_the_path_in_the_rule() {
    let sandbox = Sandbox::with_state();
    let output = sandbox
        .command()
        .env("PATH", sandbox.path("program"))
        .args(["install", "--yes", "--command", "codexgate"])
        .output()
        .expect("it runs");
    let said = shown(&output, &sandbox.path(""));
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    let program = sandbox.program().display().to_string();
    assert!(sandbox.read(CONFIG).contains("command = \"codexgate\""));
    assert!(
        sandbox
            .read(HOOKS)
            .contains("\"codexgate hook session-start\"")
    );
    assert!(sandbox.read(RULE).contains(&program));
    assert!(!sandbox.read(CONFIG).contains(&program));
    // The name leads nowhere: written, and the check says that it does not work.
    let sandbox = Sandbox::with_state();
    let said = run(
        &sandbox,
        &["install", "--yes", "--command", "codexgate-none"],
        3,
    );
    assert!(said.contains("does not work"), "{said}");
    run(
        &sandbox,
        &["install", "--yes", "--command", "../codexgate"],
        2,
    );
}

#[test]
fn requirements_that_list_servers_get_the_approver() {
    let sandbox = Sandbox::with_state();
    let file = "root/etc/codex/requirements.toml";
    sandbox.write(file, "[mcp_servers.docs.identity]\ncommand = \"docs\"\n");
    let before = sandbox.read(file);
    let args = ["--scope", "system", "--system-root", "../root", "--yes"];
    run(&sandbox, &[&["install"], &args[..]].concat(), 0);
    let program = sandbox.program().display().to_string();
    let text = sandbox.read(file);
    let value = codexgate::document::Document::parse(text.clone())
        .expect("TOML")
        .root()
        .value();
    let path = ["mcp_servers", "codexgate", "identity", "command"];
    assert_eq!(value.get(&path), Some(&program.as_str().into()), "{text}");
    run(&sandbox, &[&["uninstall"], &args[..]].concat(), 0);
    assert_eq!(sandbox.read(file), before);
}

#[test]
fn without_a_home_what_lives_there_is_left_out_and_named() {
    let sandbox = Sandbox::with_state();
    let output = assert_cmd::Command::new(sandbox.program())
        .env_clear()
        .current_dir(sandbox.path("project"))
        .args(["install", "--yes"])
        .output()
        .expect("it runs");
    let said = shown(&output, &sandbox.path(""));
    assert!(said.contains("rule, trust of the hooks"), "{said}");
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    assert!(sandbox.path(HOOKS).exists() && !sandbox.path(RULE).exists());
}

/// Runs a hook with `told` on its standard input.
fn hook(sandbox: &Sandbox, event: &str, told: &str) -> Value {
    let output = sandbox
        .command()
        .args(["hook", event])
        .write_stdin(told)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    if output.stdout.is_empty() {
        return Value::Null;
    }
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn hooks_answer_and_never_stop_codex() {
    let sandbox = Sandbox::with_state();
    let project = sandbox.path("project");
    let program = sandbox.program().display().to_string();
    let start = json!({"hook_event_name": "SessionStart", "cwd": project, "source": "startup"});
    let tool = |command: &str| {
        json!({"hook_event_name": "PreToolUse", "cwd": project, "tool_name": "Bash",
               "tool_input": {"command": command}})
        .to_string()
    };
    let answer = hook(&sandbox, "session-start", &start.to_string());
    let text = answer["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .expect("text");
    assert!(
        text.contains(&format!("`{program} apply --confirm TOKEN`")),
        "{text}"
    );
    assert!(text.contains("The gate holds here"), "{text}");
    sandbox.write(CONFIG, "sandbox_mode = \"danger-full-access\"\n");
    sandbox.trust_project();
    let answer = hook(&sandbox, "session-start", &start.to_string());
    let text = answer["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .expect("text");
    assert!(
        text.contains("OPEN") && text.contains("config.toml:1:"),
        "{text}"
    );

    assert_eq!(
        hook(&sandbox, "pre-tool-use", &tool("terraform apply")),
        Value::Null
    );
    sandbox.write(
        "project/.codex/codexgate.toml",
        "confirm = [[\"terraform\"]]\n",
    );
    let answer = hook(&sandbox, "pre-tool-use", &tool("./terraform apply"));
    let specific = &answer["hookSpecificOutput"];
    assert_eq!(specific["permissionDecision"], "deny");
    let reason = specific["permissionDecisionReason"].as_str().expect("text");
    assert!(
        reason.contains(&format!("\n{program} apply -- ./terraform apply\n")),
        "{reason}"
    );
    assert_eq!(hook(&sandbox, "pre-tool-use", &tool("ls")), Value::Null);
    let own = format!("{program} apply -- terraform apply");
    assert_eq!(hook(&sandbox, "pre-tool-use", &tool(&own)), Value::Null);

    sandbox.write("project/.codex/codexgate.toml", "confirm = 1\n");
    for (event, told) in [
        ("pre-tool-use", tool("ls")),
        ("pre-tool-use", start.to_string()),
        ("pre-tool-use", String::new()),
        ("session-start", "[".repeat(1000)),
        ("session-start", "x".repeat(9 * 1024 * 1024)),
    ] {
        let answer = hook(&sandbox, event, &told);
        let text = answer["systemMessage"].as_str().unwrap_or_default();
        assert!(text.starts_with("codexgate: "), "{event} {answer}");
    }
    run(&sandbox, &["-C", ".", "hook", "session-start"], 2);
    run(
        &sandbox,
        &["hook", "session-start", "--codex-home", "/x"],
        2,
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn every_other_byte_of_a_hooks_file_stays(
        before in prop::collection::vec("[a-z]{1,5}", 0..3),
        tools in prop::collection::vec("[a-z]{1,5}", 0..3),
        pretty in any::<bool>(),
        crlf in any::<bool>(),
        end in prop_oneof![Just(""), Just("\n"), Just("\n\n")],
    ) {
        let group = |word: &String| json!({"matcher": word, "hooks": [{"type": "command", "command": word}]});
        let mut events = serde_json::Map::new();
        events.insert("Stop".to_owned(), json!([]));
        if !before.is_empty() {
            events.insert("SessionStart".to_owned(), before.iter().map(group).collect());
        }
        if !tools.is_empty() {
            events.insert("PreToolUse".to_owned(), tools.iter().map(group).collect());
        }
        let value = json!({"description": "x", "hooks": events});
        let mut text = if pretty {
            serde_json::to_string_pretty(&value).expect("JSON")
        } else {
            value.to_string()
        };
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        text.push_str(end);
        let sandbox = Sandbox::with_state();
        sandbox.write(HOOKS, &text);
        let parts = ["--no-pin", "--no-guide", "--no-rule", "--no-approver"];
        run(&sandbox, &[&["install", "--yes"], &parts[..]].concat(), 0);
        let after = sandbox.read(HOOKS);
        prop_assert_eq!(similar_kept(&text, &after), text.len(), "{}", after);
        run(&sandbox, &["uninstall", "--yes"], 0);
        prop_assert_eq!(sandbox.read(HOOKS), text);
    }
}

/// How many bytes of `before` are in `after`, in their order.
fn similar_kept(before: &str, after: &str) -> usize {
    let mut rest = after.bytes();
    before
        .bytes()
        .take_while(|byte| rest.any(|other| other == *byte))
        .count()
}
