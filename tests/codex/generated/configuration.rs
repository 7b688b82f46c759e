//! A random configuration: which layers there are, how Codex is started, who trusts what.

use super::anything;
use super::random::Random;
use super::requirements::requirements;
use super::servers;
use super::values::{self, Target};
use crate::scenario::Scenario;
use serde_json::{Map, Value, json};

/// The configuration of `seed`.
pub fn random(seed: u64) -> Scenario {
    let random = &mut Random::new(seed);
    let mut scenario = Scenario::default();
    scenario
        .spec
        .insert("about".to_owned(), json!(format!("generated, seed {seed}")));
    let mut file =
        |name: &str, text: String| scenario.files.insert(name.to_owned(), text.into_bytes());

    let inner = random.chance(20);
    let deep = inner && random.chance(30);
    if random.chance(85) {
        file("home/config.toml", values::config(random, Target::Own));
    }
    if random.chance(25) {
        file("etc/config.toml", values::config(random, Target::Own));
    }
    if random.chance(60) {
        file(
            "project/.codex/config.toml",
            values::config(random, Target::Project),
        );
    } else if random.chance(15) {
        file("project/.codex/.keep", String::new());
    }
    if inner {
        file("project/sub/.keep", String::new());
        if random.chance(60) {
            file(
                "project/sub/.codex/config.toml",
                values::config(random, Target::Project),
            );
        }
    }
    if random.chance(18) {
        file(
            "etc/managed_config.toml",
            values::config(random, Target::Managed),
        );
    }
    if random.chance(28) {
        file("etc/requirements.toml", requirements(random));
    }
    if random.chance(3) {
        let stray = random.pick(&[
            "home/requirements.toml",
            "home/managed_config.toml",
            "project/.codex/requirements.toml",
        ]);
        file(stray, requirements(random));
    }
    match random.below(60) {
        // No repository, or a linked work tree.
        0 => drop(file("project/.git/config", String::new())),
        1 => drop(file(
            "project/.git",
            "gitdir: @WORKPARENT@/elsewhere\n".to_owned(),
        )),
        _ => {}
    }
    if random.chance(8) {
        file("project/.hg/.keep", String::new());
    }

    let spec = &mut scenario.spec;
    if !inner && random.chance(4) {
        // The client comes by a link.
        spec.insert("symlinks".to_owned(), json!({"user/link": "@PROJECT@"}));
        spec.insert("cwd".to_owned(), json!("../user/link"));
    }
    if inner {
        spec.insert(
            "cwd".to_owned(),
            json!(if deep { "sub/deep" } else { "sub" }),
        );
    }
    let has_git = scenario
        .files
        .keys()
        .any(|name| name.starts_with("project/.git"));
    if !has_git && random.chance(40) {
        spec.insert("git".to_owned(), json!(true));
    }
    if random.chance(50) {
        let level = random.pick(&["trusted", "trusted", "trusted", "untrusted"]);
        spec.insert("trust".to_owned(), json!(level));
    }
    let mut args = flags(random);
    if random.chance(8) {
        // For `codex exec` alone, as is `-s`.
        args.extend(["-p".to_owned(), "other".to_owned()]);
        if random.chance(85) {
            let text = values::config(random, Target::Own);
            scenario
                .files
                .insert("home/other.config.toml".to_owned(), text.into_bytes());
        }
    }
    if random.chance(3) {
        args.push("--strict-config".to_owned());
    }
    if random.chance(8) {
        let mode = random.pick(&["read-only", "workspace-write", "danger-full-access"]);
        args.extend(["-s".to_owned(), mode.to_owned()]);
    }
    if !args.is_empty() {
        spec.insert("args".to_owned(), json!(args));
    }
    if random.chance(10) {
        spec.insert("thread".to_owned(), Value::Object(thread(random)));
    }
    scenario
}

/// Flags that every command takes.
fn flags(random: &mut Random) -> Vec<String> {
    let mut args = Vec::new();
    let count = random.pick(&[0, 0, 0, 0, 1, 1, 2]);
    for _ in 0..count {
        if random.chance(6) {
            args.push(random.pick(&["--enable", "--disable"]).to_owned());
            args.push(
                random
                    .pick(&[
                        "hooks",
                        "hooks",
                        "multi_agent",
                        "multi_agent",
                        "no_such_feature",
                    ])
                    .to_owned(),
            );
            continue;
        }
        args.push("-c".to_owned());
        args.push(flag(random));
    }
    args
}

fn flag(random: &mut Random) -> String {
    match random.below(13) {
        12 => anything::pair(random),
        0 => format!("approval_policy={}", values::approval_word(random)),
        1 | 2 => format!("sandbox_mode={}", values::sandbox_mode(random)),
        3 => format!("default_permissions={}", values::permission_profile(random, false)),
        4 | 5 => servers::flag(random).to_owned(),
        6 => random
            .pick(&[
                "approval_policy=never",
                "approval_policy=untrusted",
                "approval_policy.granular.mcp_elicitations=false",
                "approval_policy.granular={sandbox_approval=true,rules=true,mcp_elicitations=true}",
                "approval_policy={granular={sandbox_approval=true,rules=false,mcp_elicitations=false}}",
                "approvals_reviewer=auto_review",
            ])
            .to_owned(),
        7 => random
            .pick(&[
                "sandbox_workspace_write.network_access=true",
                "sandbox_workspace_write.network_access=\"true\"",
                "sandbox_workspace_write={network_access=true}",
                "sandbox_workspace_write.writable_roots=[\"/srv\"]",
                "sandbox_workspace_write=[[], true, false, false]",
                "sandbox_mode=danger-full-access",
                "permissions.mine.network.enabled=true",
            ])
            .to_owned(),
        8 => random
            .pick(&[
                "projects={\"@PROJECT@\"={trust_level=\"trusted\"}}",
                "projects={\"@PROJECT@\"={trust_level=\"untrusted\"}}",
                "projects.\"@PROJECT@\".trust_level=\"trusted\"",
                "project_root_markers=[\".hg\"]",
                "project_root_markers=[]",
            ])
            .to_owned(),
        9 => random
            .pick(&[
                "no_such_key=1",
                "sandbox-mode=danger-full-access",
                "\"sandbox_mode\"=\"read-only\"",
                " sandbox_mode = \"read-only\" ",
                "sandbox_mode=",
                "sandbox_mode",
                "=x",
                "a..b=1",
                "profile=x",
                "profiles.x.sandbox_mode=\"read-only\"",
                "notify=[\"true\"]",
            ])
            .to_owned(),
        _ => random
            .pick(&[
                "model=some-model",
                "model=\"m=n\"",
                "model=1",
                "hide_agent_reasoning=true",
                "hide_agent_reasoning=yes",
                "history.persistence=none",
                "web_search=live",
                "features.multi_agent=true",
                "project_doc_max_bytes=0x10",
                "shell_environment_policy.set={B=\"2\"}",
            ])
            .to_owned(),
    }
}

/// What a client asks for itself.
fn thread(random: &mut Random) -> Map<String, Value> {
    let mut params = Map::new();
    if random.chance(70) {
        let mode = random.pick(&["read-only", "workspace-write", "danger-full-access"]);
        params.insert("sandbox".to_owned(), json!(mode));
    }
    if random.chance(40) {
        let policy = random.pick(&["on-request", "never"]);
        params.insert("approvalPolicy".to_owned(), json!(policy));
    }
    params
}
