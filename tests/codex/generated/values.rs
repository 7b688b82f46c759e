//! Random keys of config.toml, right and wrong ones.
//!
//! How often a value is wrong is chosen so that about a third of all configurations do not start:
//! a wrong value in one of several layers must not hide what the others would show.

use super::anything;
use super::keys::{DENIED, OTHERS, TABLES, UNKNOWN};
use super::random::Random;
use super::servers;
use super::sheet::{Sheet, quote, spell_key};

/// How many of a hundred values are wrong.
pub const WRONG: usize = 2;

/// The keys that a granular policy needs, and those that it may have.
const GRANULAR: [&str; 5] = [
    "sandbox_approval",
    "rules",
    "mcp_elicitations",
    "request_permissions",
    "skill_approval",
];

/// Which file is written: they differ in what is worth writing there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The system's, the user's or the profile's.
    Own,
    /// A project's.
    Project,
    /// The managed file.
    Managed,
}

/// Writes a random config.toml.
pub fn config(random: &mut Random, target: Target) -> String {
    let mut sheet = Sheet::new();
    if random.chance(40) {
        approval(random, &mut sheet);
    }
    if random.chance(40) {
        let mode = sandbox_mode(random);
        sheet.root(random, "sandbox_mode", &mode);
    }
    if random.chance(22) {
        sandbox_workspace_write(random, &mut sheet);
    }
    let defined = random.chance(10);
    if defined {
        permissions(random, &mut sheet);
    }
    // A profile that is defined and not chosen stops Codex, unless there is a sandbox mode.
    if random.chance(if defined { 75 } else { 12 }) {
        let name = permission_profile(random, defined);
        sheet.root(random, "default_permissions", &name);
    }
    if random.chance(12) {
        let reviewer = reviewer(random);
        sheet.root(random, "approvals_reviewer", &reviewer);
    }
    servers::add(random, &mut sheet);
    if random.chance(18) {
        trust(random, &mut sheet);
    }
    if random.chance(6) {
        let markers = if random.chance(WRONG) {
            random.pick(&["\".git\"", "[1]"])
        } else {
            random.pick(&["[\".hg\"]", "[]", "[\".git\", \".hg\"]", "[\"Cargo.toml\"]"])
        };
        sheet.root(random, "project_root_markers", markers);
    }
    for (key, right, wrong) in random.some(OTHERS, 4) {
        let value = if random.chance(WRONG) { wrong } else { right };
        sheet.root(random, key, value);
    }
    let mut tables: Vec<&str> = Vec::new();
    for (table, right, wrong) in random.some(TABLES, 3) {
        if tables.contains(&table) {
            continue;
        }
        tables.push(table);
        let member = if random.chance(WRONG) { wrong } else { right };
        sheet.table_text(format!("[{table}]\n{member}"));
    }
    let denied = if target == Target::Project { 20 } else { 2 };
    if random.chance(denied) {
        let (key, value) = random.pick(DENIED);
        sheet.root_line(format!("{key} = {value}"));
    }
    if random.chance(8) {
        let (key, value) = random.pick(UNKNOWN);
        sheet.root_line(format!("{key} = {value}"));
    }
    if random.chance(5) {
        sheet.root_line(anything::pair(random));
    }
    if random.chance(1) {
        let broken = random.pick(&[
            "x = ",
            "= 1",
            "[",
            "x = 1 2",
            "a.b = 1\na = 2",
            "x = \"\\q\"",
            "{\"a\": 1}",
        ]);
        sheet.root_line(broken.to_owned());
    }
    sheet.text(random)
}

/// `approval_policy` in one of its forms.
fn approval(random: &mut Random, sheet: &mut Sheet) {
    if random.chance(45) {
        let word = approval_word(random);
        sheet.root(random, "approval_policy", &word);
        return;
    }
    let mut members = granular(random);
    if random.chance(93) {
        match random.below(4) {
            0 => sheet.root_line(format!(
                "approval_policy = {{ granular = {} }}",
                inline(&members)
            )),
            1 => sheet.root_line(format!("approval_policy.granular = {}", inline(&members))),
            2 => sheet.table(random, "approval_policy.granular", &members),
            _ => {
                let lines: Vec<String> = members
                    .iter()
                    .map(|(key, value)| format!("{key} = {value}"))
                    .collect();
                sheet.table_text(format!("[approval_policy.granular]\n{}", lines.join("\n")));
            }
        }
        return;
    }
    members.truncate(2);
    let text = match random.below(8) {
        0 => "{ granular = [true, true, false, false, true] }".to_owned(),
        1 => "{ granular = [true, true, true] }".to_owned(),
        2 => format!("{{ reject = {} }}", inline(&members)),
        3 => inline(&members),
        4 => format!(
            "{{ granular = {}, mode = \"x\" }}",
            inline(&granular(random))
        ),
        5 => "{}".to_owned(),
        6 => "{ granular = {} }".to_owned(),
        _ => "{ granular = true }".to_owned(),
    };
    sheet.root(random, "approval_policy", &text);
}

/// An approval policy as one word.
pub fn approval_word(random: &mut Random) -> String {
    if random.chance(2 * WRONG) {
        return random
            .pick(&[
                "\"bogus\"",
                "\"\"",
                "\"Never\"",
                "true",
                "1",
                "\"granular\"",
                "[]",
                "[\"never\"]",
                "1979-05-27",
            ])
            .to_owned();
    }
    let word = if random.chance(6) {
        "untrusted"
    } else {
        random.pick(&["on-request", "never", "never", "on-failure"])
    };
    quote(random, word)
}

/// The members of a granular policy, mostly complete.
pub fn granular(random: &mut Random) -> Vec<(String, String)> {
    let mut members = Vec::new();
    for (index, key) in GRANULAR.into_iter().enumerate() {
        // Layers may complete each other, so some leave a needed one out.
        let there = if index < 3 {
            !random.chance(6)
        } else {
            random.chance(40)
        };
        if there {
            let value = if random.chance(1) {
                "\"yes\""
            } else {
                random.pick(&["true", "false"])
            };
            members.push((spell_key(random, key), value.to_owned()));
        }
    }
    if random.chance(8) {
        members.push(("no_such_key".to_owned(), "1".to_owned()));
    }
    members
}

/// `members` as an inline table.
pub fn inline(members: &[(String, String)]) -> String {
    let members: Vec<String> = members
        .iter()
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    format!("{{ {} }}", members.join(", "))
}

/// A sandbox mode.
pub fn sandbox_mode(random: &mut Random) -> String {
    if random.chance(WRONG) {
        return random
            .pick(&[
                "\"full\"",
                "\"Read-Only\"",
                "\"external-sandbox\"",
                "1",
                "\"\"",
                "[\"read-only\"]",
                "{ mode = \"read-only\" }",
            ])
            .to_owned();
    }
    let word = random.pick(&[
        "read-only",
        "workspace-write",
        "workspace-write",
        "danger-full-access",
    ]);
    quote(random, word)
}

fn reviewer(random: &mut Random) -> String {
    if random.chance(WRONG) {
        return random.pick(&["\"nobody\"", "\"User\"", "1"]).to_owned();
    }
    let word = random.pick(&["user", "auto_review", "guardian_subagent"]);
    quote(random, word)
}

/// The name of a permission profile.
pub fn permission_profile(random: &mut Random, defined: bool) -> String {
    if random.chance(WRONG) {
        return random
            .pick(&["\"nope\"", "\":nope\"", "1", "\"\"", "\"read-only\""])
            .to_owned();
    }
    let name = if random.chance(if defined { 70 } else { 6 }) {
        "mine"
    } else {
        random.pick(&[":read-only", ":workspace", ":danger-full-access"])
    };
    quote(random, name)
}

fn sandbox_workspace_write(random: &mut Random, sheet: &mut Sheet) {
    if random.chance(12) {
        let text = random.pick(&[
            "[[\"@HOME@/w\"], true, false, false]",
            "[[\"@HOME@/w\"], true]",
            "[[], false, true, true]",
            "[]",
            "[[\"@HOME@/w\"], true, false, false, true]",
            "[true]",
            "\"all\"",
            "true",
        ]);
        sheet.root(random, "sandbox_workspace_write", text);
        return;
    }
    let roots = random.pick(&[
        "[]",
        "[\"@HOME@/w\"]",
        "[\"@HOME@/w\", \"@PROJECT@/x\"]",
        "[\"relative\"]",
        "[\"~/w\"]",
        "[\"/\"]",
        "[\"@HOME@/a/../b\"]",
    ]);
    let mut members = Vec::new();
    for (key, right, wrong) in [
        ("writable_roots", roots, "\"@HOME@/w\""),
        (
            "network_access",
            random.pick(&["true", "false"]),
            "\"true\"",
        ),
        (
            "exclude_tmpdir_env_var",
            random.pick(&["true", "false"]),
            "1",
        ),
        (
            "exclude_slash_tmp",
            random.pick(&["true", "false"]),
            "\"yes\"",
        ),
        ("network", "true", "1"),
    ] {
        let percent = if key == "network" { 8 } else { 45 };
        if random.chance(percent) {
            let value = if random.chance(WRONG / 2) {
                wrong
            } else {
                right
            };
            members.push((spell_key(random, key), value.to_owned()));
        }
    }
    sheet.table(random, "sandbox_workspace_write", &members);
}

fn permissions(random: &mut Random, sheet: &mut Sheet) {
    let mut members: Vec<(String, String)> = Vec::new();
    if random.chance(50) {
        let parent = random.pick(&[
            "\":workspace\"",
            "\":read-only\"",
            "\":danger-full-access\"",
            "\"other\"",
            "\"mine\"",
            "\":workspace\"",
        ]);
        members.push(("extends".to_owned(), parent.to_owned()));
    }
    if random.chance(60) {
        let access = random.pick(&["\"read\"", "\"write\"", "\"deny\"", "\"none\"", "\"write\""]);
        let access = if random.chance(WRONG) {
            "\"rwx\""
        } else {
            access
        };
        let place = random.pick(&[
            ":root",
            "@HOME@/w",
            ":workspace_roots",
            ":tmpdir",
            ":minimal",
        ]);
        members.push((
            "filesystem".to_owned(),
            format!("{{ \"{place}\" = {access} }}"),
        ));
    }
    if random.chance(50) {
        let enabled = random.pick(&["true", "false"]);
        members.push(("network".to_owned(), format!("{{ enabled = {enabled} }}")));
    }
    if random.chance(10) {
        members.push(("no_such_key".to_owned(), "1".to_owned()));
    }
    sheet.table(random, "permissions.mine", &members);
}

/// An entry of `[projects]`, in a form that matches or one that does not.
fn trust(random: &mut Random, sheet: &mut Sheet) {
    let path = random.pick(&[
        "@PROJECT@",
        "@PROJECT@",
        "@PROJECT@",
        "@PROJECT@/sub",
        "@PROJECT@/",
        "@PROJECT@/.",
        "@PROJECT@/.codex",
        "@WORKPARENT@",
        "/",
        "~/project",
        "@HOME@/link",
    ]);
    let level = if random.chance(2 * WRONG) {
        random.pick(&["\"maybe\"", "true", "\"Trusted\""])
    } else {
        random.pick(&["\"trusted\"", "\"trusted\"", "\"untrusted\""])
    };
    let quoted = if random.chance(80) {
        format!("\"{path}\"")
    } else {
        format!("'{path}'")
    };
    match random.below(4) {
        0 => sheet.root_line(format!("projects.{quoted}.trust_level = {level}")),
        1 => sheet.root_line(format!(
            "projects = {{ {quoted} = {{ trust_level = {level} }} }}"
        )),
        _ => sheet.table_text(format!("[projects.{quoted}]\ntrust_level = {level}")),
    }
}
