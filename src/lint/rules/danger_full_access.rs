//! `danger-full-access`: no sandbox at all.
//! Source: scenarios sandbox-danger-full-access, sandbox-escaped, perm-default-danger,
//! perm-custom-open, profile-file-p; Codex 0.134 to 0.171.

use crate::document::{Edit, Node};
use crate::lint::file::word;
use crate::lint::{
    Check, Confidence, ConfigFile, Findings, Grade, Home, Kind, Rule, Severity, case,
};

const OPEN_MODE: &str = "danger-full-access";
const OPEN_PROFILE: &str = ":danger-full-access";
/// Profiles that extend one another are followed this far; Codex's own are one step.
const MAX_EXTENDS: usize = 16;

pub const RULE: Rule = Rule {
    id: "danger-full-access",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "the sandbox is off",
    why: "Codex then runs every command with all rights of your user: it can read every secret, \
          write every file, and change Codex's own configuration, so nothing else that guards \
          the agent holds. A key or value counts however it is written: dotted, quoted, inline, \
          or with escapes.",
    bad: &[
        case("sandbox_mode = ‹\"danger-full-access\"›\n")
            .also(&["auto-trust"])
            .fixed("sandbox_mode = \"workspace-write\"\n"),
        case("\"sandbox_mode\" = ‹'danger-full-access'› # for now\n")
            .also(&["auto-trust"])
            .fixed("\"sandbox_mode\" = \"workspace-write\" # for now\n"),
        case("\"sandbox\\u005fmode\" = ‹\"danger\\u002dfull-access\"›\n")
            .also(&["auto-trust"])
            .fixed("\"sandbox\\u005fmode\" = \"workspace-write\"\n"),
        case("sandbox_mode = ‹\"\"\"\ndanger-full-access\"\"\"›\n")
            .also(&["auto-trust"])
            .fixed("sandbox_mode = \"workspace-write\"\n"),
        case("[profiles.x]\nsandbox_mode = ‹\"danger-full-access\"›\n")
            .also(&["profile-removed"])
            .fixed("[profiles.x]\nsandbox_mode = \"workspace-write\"\n"),
        case("profiles.x.sandbox_mode = ‹\"danger-full-access\"›\n")
            .also(&["profile-removed"])
            .fixed("profiles.x.sandbox_mode = \"workspace-write\"\n"),
        case("profiles = { x = { sandbox_mode = ‹\"danger-full-access\"› } }\n")
            .also(&["profile-removed"])
            .fixed("profiles = { x = { sandbox_mode = \"workspace-write\" } }\n"),
        case("sandbox_mode = ‹{ danger-full-access = {} }›\n")
            .also(&["auto-trust"])
            .fixed("sandbox_mode = \"workspace-write\"\n"),
        case("sandbox_mode = ‹\"danger-full-access\"›\n").of(Kind::Managed),
        case("sandbox_mode = ‹\"danger-full-access\"›\n").of(Kind::Profile),
        case("default_permissions = ‹\":danger-full-access\"›\n")
            .also(&["auto-trust"])
            .fixed("default_permissions = \":workspace\"\n"),
        case(
            "default_permissions = ‹\"open\"›\n\
             [permissions.open.filesystem]\n\":root\" = \"write\"\n\
             [permissions.open.network]\nenabled = true\n",
        )
        .also(&["writable-root-wide"]),
        case(
            "default_permissions = ‹\"child\"›\n\
             [permissions.base]\nfilesystem = { \":root\" = \"write\" }\n\
             [permissions.child]\nextends = \"base\"\nnetwork.enabled = true\n",
        )
        .also(&["network-in-sandbox"]),
    ],
    good: &[
        case("sandbox_mode = \"workspace-write\"\n").in_home(Home::Project),
        case("default_permissions = \":workspace\"\n").in_home(Home::Project),
        case("# sandbox_mode = \"danger-full-access\"\n"),
        case("model = \"danger-full-access\"\n"),
        case(
            "default_permissions = \"wide\"\n\
             [permissions.wide.filesystem]\n\":root\" = \"write\"\n",
        )
        .also(&["writable-root-wide"]),
        case(
            "default_permissions = \"shut\"\n\
             [permissions.shut.filesystem]\n\":root\" = \"read\"\n\
             [permissions.shut.network]\nenabled = true\n",
        )
        .also(&["network-in-sandbox"]),
        case("allowed_sandbox_modes = [\"read-only\", \"danger-full-access\"]\nallowed_approval_policies = [\"on-request\"]\n")
            .of(Kind::Requirements)
            .in_home(Home::System)
            .also(&["requirements-allow-open"]),
    ],
    check: Check::File(check),
};

fn check(file: &ConfigFile, found: &mut Findings) {
    for value in file.values("sandbox_mode") {
        if word(value) == Some(OPEN_MODE) {
            found
                .add(&RULE, value)
                .label("no sandbox for any command")
                .help("use `sandbox_mode = \"workspace-write\"`")
                .fix(
                    Grade::Unsafe,
                    [Edit::replace(value.span, quoted("workspace-write"))],
                );
        }
    }
    let Some(chosen) = file.root().child("default_permissions") else {
        return;
    };
    match chosen.as_str() {
        Some(OPEN_PROFILE) => {
            found
                .add(&RULE, chosen)
                .label("no sandbox for any command")
                .help("use `default_permissions = \":workspace\"`")
                .fix(
                    Grade::Unsafe,
                    [Edit::replace(chosen.span, quoted(":workspace"))],
                );
        }
        Some(name) => {
            if let Some(root) = open_profile(file, name) {
                found
                    .add(&RULE, chosen)
                    .says("the permission profile in force amounts to no sandbox")
                    .label("this profile writes everywhere and has the network")
                    .related(root.span, "everything may be written")
                    .note("Codex reports this profile as danger-full-access")
                    .help("leave out `\":root\" = \"write\"`, or the network");
            }
        }
        None => {}
    }
}

/// The value that lets profile `name` write everywhere, if it has the network, too.
fn open_profile<'a>(file: &ConfigFile<'a>, name: &str) -> Option<&'a Node> {
    let profiles = file.root().child("permissions")?;
    // From the chosen profile to what it extends: the first that speaks decides.
    let mut chain = Vec::new();
    let mut next = Some(name);
    while let Some(profile) = next.and_then(|name| profiles.child(name)) {
        if chain.len() == MAX_EXTENDS {
            break;
        }
        chain.push(profile);
        next = profile.child("extends").and_then(Node::as_str);
    }
    let first = |keys: [&str; 2]| {
        chain
            .iter()
            .find_map(|profile| profile.child(keys[0])?.child(keys[1]))
    };
    let root = first(["filesystem", ":root"])?;
    let network = first(["network", "enabled"])?;
    (root.as_str() == Some("write") && network.as_bool() == Some(true)).then_some(root)
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}
