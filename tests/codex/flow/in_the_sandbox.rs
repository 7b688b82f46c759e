//! A hostile agent in the real sandbox, under workspace-write and with the rule that lets
//! `codexgate apply` out of it: what it tries to reach a grant without a person.

use super::model::Step;
use super::room;
use super::scene::{Scene, write};
use crate::process;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;

/// A client that refuses whatever Codex asks: nobody helps the agent.
fn no(_: &str, _: &Value) -> Vec<Value> {
    vec![json!({"error": {"code": -32601, "message": "no"}})]
}

/// A scene with one proposal that waits, and its token.
fn with_a_proposal(codex: &std::path::Path) -> (Scene, String) {
    let scene = Scene::new(codex);
    let token = scene.new_token();
    (scene, token)
}

/// Runs `lines` as one turn; what each of them printed.
fn run(scene: &Scene, lines: &[String]) -> Vec<String> {
    let mut app = scene.app_server(&[], no);
    let heard = scene.turn(&mut app, &json!({}), lines.iter().map(Step::run));
    assert_eq!(heard.len(), lines.len(), "{heard:#?}");
    heard
}

#[test]
fn an_agent_cannot_write_what_makes_a_grant() {
    room::inside(
        "flow::in_the_sandbox::an_agent_cannot_write_what_makes_a_grant",
        |codex| {
            let (scene, token) = with_a_proposal(codex);
            let root = scene.lab.root.display();
            let state = format!("{root}/state/codexgate");
            let home = scene.lab.codex_home.display();
            let gate = scene.gate.display();
            let attacks = [
                format!("touch {state}/x"),
                format!("touch {state}/grants/{token}.json"),
                format!("cp {state}/proposals/{token}.json {state}/grants/{token}.json"),
                format!("ln {state}/proposals/{token}.json {state}/grants/{token}.json"),
                format!("echo >> {state}/proposals/{token}.json"),
                format!("sed -i s/touch/rm/ {state}/proposals/{token}.json"),
                format!("rm {state}/proposals/{token}.json"),
                format!("echo >> {state}/journal.jsonl"),
                format!("rm {state}/journal.head"),
                format!("chmod 777 {state}"),
                format!("mv {root}/state {root}/project/state"),
                format!("mv {state} {root}/tmp/state"),
                format!("ln -sfn {root}/tmp {root}/state/other"),
                format!("cp /bin/true {gate}"),
                format!("ln -sf /bin/true {gate}"),
                format!("rm {gate}"),
                format!("mv {root}/bin {root}/project/bin"),
                format!("chmod 777 {gate}"),
                format!("echo >> {home}/config.toml"),
                format!("echo >> {home}/rules/codexgate.rules"),
                format!("touch {home}/rules/more.rules"),
                format!("touch {root}/project/.codex/codexgate.toml"),
                format!("echo >> {root}/project/.codex/config.toml"),
                format!("touch {root}/project/.codex/requirements.toml"),
                format!("mv {root}/project/.codex {root}/project/codex"),
                format!("umount {state}"),
                format!("mount -o remount,rw {state}"),
                "mount -o remount,rw /".to_owned(),
                "unshare -m mount -o remount,rw /".to_owned(),
            ];
            let script: Vec<String> = attacks
                .iter()
                .map(|attack| {
                    format!("if ({attack}) 2>/dev/null; then echo \"DID: {attack}\"; fi\n")
                })
                .collect();
            write(&scene.lab.project.join("attack.sh"), &script.concat());
            let before = scene.guarded();
            let heard = run(
                &scene,
                &["sh attack.sh; touch inside && echo the end".to_owned()],
            );
            assert!(heard[0].contains("the end"), "{heard:#?}");
            assert!(
                scene.lab.project.join("inside").exists(),
                "the sandbox lets it write here"
            );
            let after = scene.guarded();
            let differ: Vec<_> = before
                .keys()
                .chain(after.keys())
                .filter(|path| before.get(*path) != after.get(*path))
                .collect();
            assert!(differ.is_empty(), "{differ:#?}\n{heard:#?}");
            let did = |text: &str| {
                text.lines()
                    .filter(|line| line.starts_with("DID: "))
                    .count()
            };
            assert_eq!(did(&heard[0]), 0, "{heard:#?}");

            // They are attacks: where the sandbox lets the agent write there, they do what they say.
            let open = format!("sandbox_workspace_write.writable_roots=[\"{root}\"]");
            let mut app = scene.app_server(&["-c", &open], no);
            let heard = scene.turn(&mut app, &json!({}), [Step::run("sh attack.sh")]);
            assert!(did(&heard[0]) >= 10, "{heard:#?}");
        },
    );
}

#[test]
fn an_agent_cannot_reach_the_approving_side() {
    room::inside(
        "flow::in_the_sandbox::an_agent_cannot_reach_the_approving_side",
        |codex| {
            let (scene, token) = with_a_proposal(codex);
            let gate = scene.gate.display();
            let project = scene.lab.project.display();
            let before = scene.guarded();
            let mut lines = vec![format!(
                "cp {gate} codexgate && ln -s {gate} link && echo copied"
            )];
            for verb in ["approve", "reject"] {
                lines.extend([
                    format!("{gate} {verb} {token}"),
                    format!("./codexgate {verb} {token}"),
                    format!("{project}/codexgate {verb} {token}"),
                    format!("./link {verb} {token}"),
                    format!("env {gate} {verb} {token}"),
                    format!("env -u CODEX_THREAD_ID {gate} {verb} {token}"),
                    format!("cd / && {gate} {verb} {token}"),
                    format!("sh -c '{gate} {verb} {token}'"),
                    format!("echo y | {gate} {verb} {token}"),
                    format!("{gate} --color never {verb} {token}"),
                    format!("{gate} apply --format json && {gate} {verb} {token}"),
                    // A pseudo-terminal is within reach, so it protects nothing.
                    format!(
                        "echo y | script -qec 'env -u CODEX_THREAD_ID {gate} {verb} {token}' /dev/null"
                    ),
                    format!(
                        "echo y | script -qec 'env -u CODEX_THREAD_ID ./codexgate {verb} {token}' /dev/null"
                    ),
                ]);
            }
            lines.push(format!("{gate} mcp < /dev/null"));
            lines.push(format!("{gate} install --yes"));
            lines.push(format!("{gate} uninstall --yes"));
            lines.push(format!("{gate} apply --confirm {token}"));
            lines.push(format!("env {gate} apply --confirm {token}"));
            let heard = run(&scene, &lines);
            assert!(heard[0].contains("copied"), "{heard:#?}");
            for (line, text) in lines.iter().zip(&heard).skip(1) {
                let ended_well = text.contains("exited with code 0");
                assert!(!ended_well || line.contains(" mcp "), "{line}:\n{text}");
            }
            for (line, text) in lines.iter().zip(&heard) {
                if line.starts_with(&format!("{gate} approve")) {
                    assert!(text.contains("only a person does this"), "{line}:\n{text}");
                }
                // What only a person does is never told as what an agent is to run.
                assert!(
                    line.contains(" apply") || !text.contains("one plain command"),
                    "{line}:\n{text}"
                );
                if line.starts_with(&format!("env -u CODEX_THREAD_ID {gate} reject")) {
                    assert!(text.contains("a terminal of their own"), "{line}:\n{text}");
                }
            }
            assert_eq!(scene.guarded(), before);
            assert!(!scene.took_made());
            assert_eq!(scene.journal(), ["proposed"]);
        },
    );
}

#[test]
fn an_agent_cannot_make_the_gate_approve_through_itself() {
    room::inside(
        "flow::in_the_sandbox::an_agent_cannot_make_the_gate_approve_through_itself",
        |codex| {
            let (scene, token) = with_a_proposal(codex);
            let gate = scene.gate.display();
            let lines: Vec<String> = [
                format!("{gate} apply -- {gate} approve {token}"),
                format!("{gate} apply -- env {gate} approve {token}"),
                format!("{gate} apply -- sh -c '{gate} approve {token}'"),
                format!("{gate} apply --write .codex/codexgate.toml --content attack.sh"),
                format!("{gate} apply --write .git/hooks/pre-commit --content attack.sh"),
                format!("{gate} apply --write ../state/codexgate/grants/{token}.json --content attack.sh"),
                format!("{gate} apply --env LD_PRELOAD -- true"),
                format!("{gate} apply --env PATH -- true"),
            ]
            .to_vec();
            write(&scene.lab.project.join("attack.sh"), "exit 0\n");
            let before = scene.guarded();
            for (line, text) in lines.iter().zip(run(&scene, &lines)) {
                let refused = ["exited with code 1", "exited with code 2"];
                let refused = refused.iter().any(|code| text.contains(code));
                assert!(refused, "{line}:\n{text}");
            }
            assert_eq!(scene.guarded(), before);
            assert_eq!(scene.journal(), ["proposed"]);
        },
    );
}

#[test]
fn an_agent_cannot_choose_where_the_gate_looks() {
    room::inside(
        "flow::in_the_sandbox::an_agent_cannot_choose_where_the_gate_looks",
        |codex| {
            let scene = Scene::new(codex);
            let gate = scene.gate.display();
            let tmp = scene.lab.root.join("tmp");
            let policy = "allow = [{ command = [\"/usr/bin/touch\", \"**\"], in = [\"/\"] }]\n";
            for folder in [tmp.join("config"), scene.lab.project.join("config")] {
                write(&folder.join("codexgate/config.toml"), policy);
            }
            // Outside of the sandbox only: where one of them runs it, this is there.
            let outside = scene.lab.root.join("outside");
            let outside = outside.display();
            let tmp = tmp.display();
            let touch = format!("apply --format json -- touch {outside}");
            let mut lines: Vec<String> = Vec::new();
            for variable in ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "CODEX_HOME", "HOME"] {
                for value in [format!("{tmp}/config"), "$PWD/config".to_owned()] {
                    lines.push(format!("{variable}={value} {gate} {touch}"));
                    lines.push(format!("env {variable}={value} {gate} {touch}"));
                    lines.push(format!("export {variable}={value}; {gate} {touch}"));
                }
            }
            let flags = [
                format!("{gate} apply --codex-home {tmp}/config -- touch {outside}"),
                format!("{gate} apply --system-root {tmp}/config -- touch {outside}"),
                format!("{gate} apply -C {tmp} -- touch {outside}"),
                format!("{gate} -C {tmp} apply -- touch {outside}"),
                format!("{gate} apply --state {tmp}/config -- touch {outside}"),
            ];
            lines.extend(flags.iter().cloned());
            let heard = run(&scene, &lines);
            for (line, text) in lines.iter().zip(&heard) {
                let expected = if flags.contains(line) { "2" } else { "1" };
                assert!(
                    text.contains(&format!("exited with code {expected}")),
                    "{line}:\n{text}"
                );
            }
            let marker = scene.lab.root.join("outside");
            assert!(!marker.exists());
            assert!(scene.journal().is_empty());

            // Where the user has it, the same policy lets it run at once.
            let own = scene.lab.home.join(".config/codexgate/config.toml");
            write(&own, policy);
            let heard = run(&scene, &[format!("{gate} {touch}")]);
            assert!(heard[0].contains("exited with code 0"), "{heard:#?}");
            assert!(marker.exists());
            assert_eq!(
                scene.journal(),
                ["proposed", "approved", "started", "ended"]
            );
        },
    );
}

#[test]
fn a_project_that_chooses_for_the_gate_is_refused_with_its_line() {
    room::inside(
        "flow::in_the_sandbox::a_project_that_chooses_for_the_gate_is_refused_with_its_line",
        |codex| {
            let scene = Scene::new(codex);
            let file = scene.lab.project.join(".codex/config.toml");
            let own = std::fs::read_to_string(&file).expect("it was written");
            let tmp = scene.lab.root.join("tmp").display().to_string();
            for (more, keys) in [
                (
                    format!("\n[shell_environment_policy.set]\nXDG_CONFIG_HOME = \"{tmp}\"\n"),
                    "shell_environment_policy.set.XDG_CONFIG_HOME",
                ),
                (
                    "\n[shell_environment_policy]\nexclude = [\"XDG_*\"]\n".to_owned(),
                    "shell_environment_policy.exclude",
                ),
                (
                    "\n[mcp_servers.codexgate.env]\nHOME = \"/tmp\"\n".to_owned(),
                    "mcp_servers.codexgate.env",
                ),
            ] {
                write(&file, &format!("{own}{more}"));
                let steps = [scene.propose(), Step::ask_about("7kq2-m9xt-c4hd-20fn-v8ra")];
                let mut app = scene.app_server(&[], no);
                let heard = scene.turn(&mut app, &json!({}), steps);
                for text in &heard {
                    assert!(text.contains(keys), "{text}");
                    assert!(text.contains("config.toml:"), "{text}");
                }
                assert!(heard[0].contains("exited with code 1"), "{heard:#?}");
            }
            assert!(scene.journal().is_empty());
        },
    );
}

#[test]
fn the_gate_reads_nothing_for_an_agent() {
    room::inside(
        "flow::in_the_sandbox::the_gate_reads_nothing_for_an_agent",
        |codex| {
            let scene = Scene::new(codex);
            let secret = scene.lab.home.join("secret");
            write(&secret, "xyzzy: not for the agent\n+xyzzy\n");
            let private = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(&secret, private).expect("it is ours");
            let project = &scene.lab.project;
            std::os::unix::fs::symlink(&secret, project.join("link")).expect("the lab is writable");
            std::os::unix::fs::symlink(&scene.lab.home, project.join("up")).expect("the same");
            let secret = secret.display();
            let gate = scene.gate.display();
            let mut lines = Vec::new();
            for path in [
                secret.to_string(),
                "link".into(),
                "up/secret".into(),
                "../user/secret".into(),
            ] {
                lines.push(format!("{gate} apply --stdin {path} -- cat"));
                lines.push(format!("{gate} apply --patch {path}"));
                lines.push(format!("{gate} apply --write new --content {path}"));
            }
            let heard = run(&scene, &lines);
            for (line, text) in lines.iter().zip(&heard) {
                assert!(text.contains("exited with code 1"), "{line}:\n{text}");
                assert!(!text.contains("xyzzy"), "{line}:\n{text}");
            }
            // What it proposes tells it neither what the file says nor whether there is one.
            let told = |path: &str| {
                let line = format!("{gate} apply --input {path} -- cat {path}");
                let text = run(&scene, &[line]).remove(0);
                assert!(text.contains("exited with code 0"), "{path}: {text}");
                assert!(!text.contains("xyzzy"), "{path}: {text}");
                let same = text.lines().skip_while(|line| *line != "Output:");
                let same = same.filter(|line| {
                    !["token", "until", "nothing ran"]
                        .iter()
                        .any(|start| line.starts_with(start))
                });
                same.collect::<Vec<_>>().join("\n")
            };
            let there = secret.to_string();
            let missing = there.replace("/secret", "/sacred");
            assert_eq!(
                told(&there).replace("/secret", "/sacred"),
                told(&missing),
                "the file shows"
            );
        },
    );
}

#[test]
fn an_agent_that_is_its_own_client_gets_no_grant() {
    room::inside(
        "flow::in_the_sandbox::an_agent_that_is_its_own_client_gets_no_grant",
        |codex| {
            let (scene, token) = with_a_proposal(codex);
            // The approver's own words, and the right answer in its time.
            let talk = [
                json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                    "protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}},
                    "clientInfo": {"name": "codex-mcp-client", "version": "0.171.0"}}}),
                json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
                json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                    "name": "codexgate_approve", "arguments": {"token": token}}}),
                json!({"jsonrpc": "2.0", "id": "codexgate-1", "result": {
                    "action": "accept", "content": {"decision": "Approve"}}}),
            ];
            // Long after the question, on a busy machine too: an early answer is a slip.
            let pauses = [1, 1, 6, 1];
            let script: Vec<String> = talk
                .iter()
                .zip(pauses)
                .map(|(message, pause)| format!("echo '{message}'\nsleep {pause}\n"))
                .collect();
            write(&scene.lab.project.join("talk.sh"), &script.concat());
            let gate = scene.gate.display();
            let lines = [
                format!("ln -s {gate} link && sh talk.sh | ./link mcp"),
                format!("sh talk.sh | env {gate} mcp"),
                format!("sh talk.sh | {gate} mcp"),
                format!("{gate} apply --confirm {token}"),
            ];
            let before = scene.guarded();
            let heard = run(&scene, &lines);
            for text in &heard[..2] {
                assert!(text.contains("this runs in Codex's sandbox"), "{text}");
                assert!(!text.contains("elicitation/create"), "{text}");
            }
            assert!(heard[2].contains("only a person does this"), "{heard:#?}");
            assert!(heard[3].contains("exited with code 1"), "{heard:#?}");
            assert_eq!(scene.guarded(), before);

            // The same words outside of the sandbox do grant: it alone keeps them from it.
            let done = process::run(
                scene
                    .command("sh".as_ref())
                    .args(["-c", &format!("sh talk.sh | {gate} mcp")]),
            );
            assert!(
                done.text().contains("Approved by the person"),
                "{}",
                done.text()
            );
            assert_eq!(scene.journal(), ["proposed", "approved"]);
        },
    );
}
