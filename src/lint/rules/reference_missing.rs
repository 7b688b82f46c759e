//! `reference-missing`: a name that must be defined and is not.
//! Source: scenarios perm-default-unknown, perm-default-unknown-builtin, perm-defined-not-chosen,
//! perm-defined-with-sandbox; the provider and the files were seen on 0.171.0; Codex 0.134 to 0.171.

use crate::codex::keys::PROVIDERS;
use crate::document::Node;
use crate::lint::disk::{Disk, Role, State};
use crate::lint::file::text;
use crate::lint::{
    Check, Confidence, ConfigFile, Findings, Home, Kind, Rule, Setup, Severity, case,
};

pub const RULE: Rule = Rule {
    id: "reference-missing",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "nothing of this name is defined",
    why: "Codex does not start where the value in force names a provider or a permission profile \
          that no file defines, or a file that is not there, nor where profiles are defined and neither one of them nor a \
          `sandbox_mode` is chosen.",
    bad: &[
        case("model_provider = ‹\"oai\"›\n[model_providers.other]\nname = \"x\"\n"),
        case("default_permissions = ‹\"mine\"›\n"),
        case("default_permissions = ‹\":open\"›\n"),
        case("model_instructions_file = ‹\"how.md\"›\n").on_disk(&[Setup::There(&[])]),
        case("[agents.a]\ndescription = \"x\"\nconfig_file = ‹\"agents/a.toml\"›\n")
            .in_home(Home::Project)
            .on_disk(&[Setup::There(&[])]),
        case("[‹permissions›.mine]\nextends = \":read-only\"\n"),
    ],
    good: &[
        case("model_provider = \"openai\"\n"),
        case("model_provider = \"oai\"\n[model_providers.oai]\nname = \"x\"\n"),
        case("default_permissions = \"mine\"\n[permissions.mine]\nextends = \":read-only\"\n"),
        case("default_permissions = \":read-only\"\n"),
        case("model_instructions_file = \"how.md\"\n[agents.a]\nconfig_file = \"~/a.toml\"\n")
            .on_disk(&[Setup::There(&[
                "/example/home/.codex/how.md",
                "/example/home/a.toml",
            ])]),
        case("sandbox_mode = \"read-only\"\n[permissions.mine]\nextends = \":read-only\"\n"),
        case("model_provider = \"oai\"\n").of(Kind::Profile),
    ],
    check: Check::Many(&[Check::File(check), Check::Tree(files)]),
};

/// The permission profiles that Codex has by itself.
const BUILT_IN: &[&str] = &[":read-only", ":workspace", ":danger-full-access"];

fn check(file: &ConfigFile, found: &mut Findings) {
    let root = file.root();
    // Any other layer may define what this one names, but the user's file is under all projects.
    let alone = file.kind() == Kind::Config && matches!(file.home(), Home::User | Home::Loose);
    let defined = |table: &str, name: &str| {
        root.child(table)
            .and_then(Node::as_table)
            .is_some_and(|members| members.contains_key(name))
    };
    if let Some(node) = root.child("model_provider")
        && let Some(name) = text(node)
        && alone
        && !PROVIDERS.contains(&name)
        && !defined("model_providers", name)
    {
        found
            .add(&RULE, node)
            .says("no provider of this name is defined")
            .note("Codex does not start")
            .help(format!(
                "add `[model_providers.{name}]`, or name a provider that is built in"
            ));
    }
    if let Some(profiles) = root.child("permissions")
        && profiles.as_table().is_some_and(|table| !table.is_empty())
        && alone
        && ["default_permissions", "sandbox_mode"]
            .iter()
            .all(|key| root.child(key).is_none())
    {
        found
            .add(&RULE, profiles.key)
            .says("permission profiles are defined, and none is chosen")
            .note("Codex does not start unless another file chooses one, or sets `sandbox_mode`")
            .help("add `default_permissions` with the name of one");
    }
    if let Some(node) = root.child("default_permissions")
        && let Some(name) = text(node)
        && !BUILT_IN.contains(&name)
        && (name.starts_with(':') || (alone && !defined("permissions", name)))
    {
        found
            .add(&RULE, node)
            .says("no permission profile of this name is defined")
            .note("Codex does not start")
            .help(format!(
                "use one of {}, or add `[permissions.{}]`",
                listed(),
                name.trim_start_matches(':')
            ));
    }
}

/// Files that Codex reads at its start.
fn files(disk: &Disk, found: &mut Findings) {
    for file in &disk.programs {
        let what = match file.state {
            State::Missing => "is not there",
            State::NotExecutable => "is no file",
            State::There | State::Open(_) => continue,
        };
        let note = match file.role {
            Role::File => "Codex does not start",
            Role::RoleFile => "Codex ignores this role",
            Role::Hook | Role::Script | Role::Approver => continue,
        };
        let finding = found.add(&RULE, file.span);
        finding
            .says(format!("the file `{}` {what}", file.path.display()))
            .note(note)
            .help("a relative path is looked for beside this file");
        if file.role == Role::RoleFile {
            finding.severity(Severity::Warning);
        }
    }
}

fn listed() -> String {
    BUILT_IN
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
