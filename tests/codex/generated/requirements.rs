//! A random requirements.toml: lists, identities, and the mistakes that people make.

use super::anything;
use super::random::Random;
use super::servers;
use super::sheet::{Sheet, list};
use super::values::{WRONG, granular, inline, permission_profile};

/// Writes one.
pub fn requirements(random: &mut Random) -> String {
    let mut sheet = Sheet::new();
    if random.chance(50) {
        let granular = format!("{{ granular = {} }}", inline(&granular(random)));
        let mut policies: Vec<String> = random
            .some(
                &[
                    "\"on-request\"",
                    "\"never\"",
                    "\"untrusted\"",
                    "\"on-failure\"",
                ],
                45,
            )
            .into_iter()
            .map(str::to_owned)
            .collect();
        if random.chance(25) {
            let at = random.below(policies.len() + 1);
            policies.insert(at, granular);
        }
        if random.chance(WRONG / 2) {
            policies.push(random.pick(&["\"bogus\"", "1", "{}"]).to_owned());
        }
        if policies.is_empty() && random.chance(80) {
            policies.push("\"on-request\"".to_owned());
        }
        sheet.root(
            random,
            "allowed_approval_policies",
            &format!("[{}]", policies.join(", ")),
        );
    }
    if random.chance(50) {
        let mut modes = random.some(
            &["workspace-write", "danger-full-access", "external-sandbox"],
            35,
        );
        if !random.chance(WRONG) {
            let at = random.below(modes.len() + 1);
            modes.insert(at, "read-only");
        }
        if random.chance(WRONG / 2) {
            modes.push("bogus");
        }
        let modes = list(random, &modes);
        sheet.root(random, "allowed_sandbox_modes", &modes);
    }
    if random.chance(15) {
        let reviewers = random.some(&["user", "auto_review", "guardian_subagent"], 60);
        let reviewers = list(random, &reviewers);
        sheet.root(random, "allowed_approvals_reviewers", &reviewers);
    }
    if random.chance(12) {
        let mut names = random.some(
            &[
                "\":read-only\"",
                "\":workspace\"",
                "\":danger-full-access\"",
            ],
            70,
        );
        if random.chance(10) {
            names.push("mine");
        }
        let members: Vec<(String, String)> = names
            .iter()
            .map(|name| {
                (
                    (*name).to_owned(),
                    if random.chance(85) { "true" } else { "false" }.to_owned(),
                )
            })
            .collect();
        sheet.table(random, "allowed_permission_profiles", &members);
        if random.chance(70) {
            let name = permission_profile(random, false);
            sheet.root(random, "default_permissions", &name);
        }
    }
    if random.chance(25) {
        servers::add_identities(random, &mut sheet);
    }
    if random.chance(10) {
        let (key, value) = random.pick(&[
            ("sandbox_mode", "\"read-only\""),
            ("approval_policy", "\"never\""),
            ("allowed_sandbox_mode", "[\"read-only\"]"),
            ("allowed_approval_policy", "[\"on-request\"]"),
            ("network_access", "false"),
            ("no_such_key", "{ a = 1 }"),
            ("allow_managed_hooks_only", "true"),
            ("allow_managed_hooks_only", "\"yes\""),
            ("enforce_residency", "\"us\""),
            ("enforce_residency", "\"eu\""),
            ("features", "{ multi_agent = false }"),
            ("features", "{ multi_agent = 1 }"),
            ("allowed_web_search_modes", "[\"cached\"]"),
            ("marketplaces", "{ no_such_key = 1 }"),
            ("experimental_network", "{ enabled = false }"),
        ]);
        sheet.root_line(format!("{key} = {value}"));
    }
    if random.chance(8) {
        sheet.root_line(anything::requirement(random));
    }
    sheet.text(random)
}
