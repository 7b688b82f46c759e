//! `profile-removed`: profiles in config.toml.
//! Source: scenarios profile-key, profile-key-in-flags, profile-table-only, profile-table-p,
//! profile-project-table; Codex 0.134 to 0.171.

use crate::document::Node;
use crate::lint::{Check, Confidence, ConfigFile, Findings, Home, Rule, Severity, case};

pub const RULE: Rule = Rule {
    id: "profile-removed",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "profiles no longer stand in config.toml",
    why: "With `profile = …` Codex does not start. A table `[profiles.NAME]` alone is ignored, and \
          breaks `-p NAME`. A profile is a file of its own, `NAME.config.toml`, in Codex's home.",
    bad: &[
        case("‹profile› = \"local\"\n"),
        case("[profiles.‹local›]\nmodel = \"x\"\n"),
        case("profiles = { ‹a› = { model = \"x\" }, ‹b› = { model = \"y\" } }\n"),
    ],
    good: &[
        case("model = \"x\"\n"),
        case("model = \"x\"\n").of(crate::lint::Kind::Profile),
        case("[profiles.local]\nmodel = \"x\"\n")
            .in_home(Home::Project)
            .also(&["project-key-ignored"]),
    ],
    check: Check::File(check),
};

fn check(file: &ConfigFile, found: &mut Findings) {
    // In a project Codex takes neither key.
    if file.home().is_project() {
        return;
    }
    if let Some(profile) = file.root().child("profile") {
        found
            .add(&RULE, profile.key)
            .says("Codex does not start with `profile` in config.toml")
            .help("remove it, and start Codex with `-p NAME`; the settings stand in `NAME.config.toml`");
    }
    let profiles = file.root().child("profiles").and_then(Node::as_table);
    for (name, node) in profiles.into_iter().flatten() {
        let shown = crate::text::visible(name);
        found
            .add(&RULE, node.key)
            .says(format!(
                "Codex ignores this profile, and `-p {shown}` does not start"
            ))
            .help(format!(
                "move it to `{shown}.config.toml` in Codex's home, without the header"
            ));
    }
}
