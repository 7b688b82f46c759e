//! `pin-overridden`, `requirements-contradicted`, `requirements-granular-mismatch`: pins and the
//! configurations that they meet.
//! Source: scenarios prec-managed-requirements, prec-managed-partial-requirements,
//! req-sandbox-fallback, req-approval-fallback-first, req-granular-equal, req-granular-differs,
//! req-granular-stricter, req-granular-against-on-request; Codex 0.134 to 0.171.

use crate::codex::Place;
use crate::codex::effective::{ApprovalPolicy, Effective, Overridden, Policy, Refused};
use crate::codex::layer::{self, Layer, REQUIREMENTS_TOML};
use crate::codex::requirements::{KEYS, Requirements};
use crate::document::{Edit, Form, Node, edit};
use crate::lint::file::Content;
use crate::lint::words::{closest, quoted_if_needed};
use crate::lint::{
    Check, Confidence, Home, Kind, Layers, Rule, Severity, Source, Spread, beside, case,
};

const PIN: &str = "allowed_sandbox_modes = [\"read-only\", \"workspace-write\"]\nallowed_approval_policies = [\"on-request\"]\n";
const GRANULAR: &str = "approval_policy = { granular = { sandbox_approval = true, rules = true, mcp_elicitations = true } }\n";

pub const OVERRIDDEN: Rule = Rule {
    id: "pin-overridden",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 147),
    says: "this opens what the requirements refuse",
    why: "`managed_config.toml` is stronger than `requirements.toml`: what it sets is allowed, \
          whatever the pin says. Full access and `never` in it run open under a pin that allows \
          neither.",
    bad: &[
        case("sandbox_mode = ‹\"danger-full-access\"›\n")
            .of(Kind::Managed)
            .in_home(Home::System)
            .also(&["danger-full-access"])
            .with(&[beside(Home::System, Kind::Requirements, PIN)]),
        case("approval_policy = ‹\"never\"›\n")
            .of(Kind::Managed)
            .in_home(Home::System)
            .also(&["approval-never", "elicitations-off"])
            .with(&[beside(Home::System, Kind::Requirements, PIN)]),
    ],
    good: &[
        case("sandbox_mode = \"read-only\"\napproval_policy = \"on-request\"\n")
            .of(Kind::Managed)
            .in_home(Home::System)
            .with(&[beside(Home::System, Kind::Requirements, PIN)]),
        case("sandbox_mode = \"danger-full-access\"\n")
            .also(&[
                "auto-trust",
                "danger-full-access",
                "requirements-contradicted",
            ])
            .with(&[beside(Home::System, Kind::Requirements, PIN)]),
    ],
    check: Check::Layers(overridden),
};

pub const CONTRADICTED: Rule = Rule {
    id: "requirements-contradicted",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this asks for what the pin refuses",
    why: "Codex puts a weaker value in place of one that its requirements refuse. A pin in a \
          repository is not read by Codex: there the configuration beside it is in force, against \
          what the repository declares.",
    bad: &[
        case("sandbox_mode = ‹\"danger-full-access\"›\napproval_policy = \"on-request\"\n")
            .in_home(Home::Project)
            .also(&["danger-full-access"])
            .with(&[beside(Home::Project, Kind::Requirements, PIN)]),
        // Once spelled right.
        case("sandbox_mode = ‹\"danger-full-access\"›\n")
            .in_home(Home::Project)
            .also(&["danger-full-access", "requirements-incomplete", "requirements-unknown-key"])
            .with(&[beside(
                Home::Project,
                Kind::Requirements,
                "allowed_sandbox_mode = [\"read-only\"]\nallowed_approval_policies = [\"on-request\"]\n",
            )]),
        case("approval_policy = ‹\"never\"›\n")
            .also(&["approval-never", "elicitations-off"])
            .with(&[beside(Home::System, Kind::Requirements, PIN)]),
        case("default_permissions = ‹\":danger-full-access\"›\n")
            .also(&["auto-trust", "danger-full-access"])
            .with(&[beside(Home::System, Kind::Requirements, PIN)]),
    ],
    good: &[
        case("sandbox_mode = \"workspace-write\"\napproval_policy = \"on-request\"\n")
            .in_home(Home::Project)
            .with(&[beside(Home::Project, Kind::Requirements, PIN)]),
        case("sandbox_mode = \"read-only\"\n")
            .with(&[beside(Home::System, Kind::Requirements, PIN)]),
    ],
    check: Check::Layers(contradicted),
};

pub const GRANULAR_MISMATCH: Rule = Rule {
    id: "requirements-granular-mismatch",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "no configuration equals this granular entry",
    why: "Codex compares a granular policy as a whole: one switch more or less, a stricter one \
          too, and it is refused, and the first entry of the list is in force in its place.",
    bad: &[
        case(
            "allowed_sandbox_modes = [\"read-only\"]\nallowed_approval_policies = [\"on-request\", ‹{ granular = { sandbox_approval = true, rules = true, mcp_elicitations = true, skill_approval = true } }›]\n",
        )
        .of(Kind::Requirements)
        .in_home(Home::System)
        .with(&[beside(Home::User, Kind::Config, GRANULAR)]),
    ],
    good: &[
        case(
            "allowed_sandbox_modes = [\"read-only\"]\nallowed_approval_policies = [\"on-request\", { granular = { sandbox_approval = true, rules = true, mcp_elicitations = true } }]\n",
        )
        .of(Kind::Requirements)
        .in_home(Home::System)
        .with(&[beside(Home::User, Kind::Config, GRANULAR)]),
        case(PIN).of(Kind::Requirements).in_home(Home::System),
    ],
    check: Check::Layers(granular_mismatch),
};

fn overridden(layers: &Layers, spread: &mut Spread) {
    let path = layers.site().system.join(REQUIREMENTS_TOML);
    if layers.file(&path).is_none() {
        return;
    }
    let file = Layer::read(layers.read(), layer::Kind::System, path);
    let Ok(pins) = Requirements::read(&file, None, "", layers.version()) else {
        return;
    };
    let limits = &layers.effective().requirements;
    let mut report = |limit: &Place, pin: &Place| {
        if let Some(finding) = spread.add(&OVERRIDDEN, limit) {
            finding
                .note(format!(
                    "{} refuses it, and this file is the stronger one",
                    layers.place(pin)
                ))
                .help("remove it here, or choose a value that the pin allows");
        }
    };
    // What managed_config.toml sets is a limit by itself, and takes the place of the pin's.
    if let (Some(pin), Some(limit)) = (&pins.sandbox_modes, &limits.sandbox_modes)
        && limit.value.iter().any(|mode| !pin.value.contains(mode))
    {
        report(&limit.place, &pin.place);
    }
    if let (Some(pin), Some(limit)) = (&pins.approvals, &limits.approvals)
        && limit.value.iter().any(|policy| !pin.value.contains(policy))
    {
        report(&limit.place, &pin.place);
    }
    if let (Some(pin), Some(limit)) = (&pins.reviewers, &limits.reviewers)
        && limit.value.iter().any(|who| !pin.value.contains(who))
    {
        report(&limit.place, &pin.place);
    }
}

/// Each answer to what a pin refuses, with the pin's file and whether Codex reads it.
fn under_pins<'l>(layers: &'l Layers, mut each: impl FnMut(&Effective, &'l Source, bool)) {
    let system = layers.site().system.join(REQUIREMENTS_TOML);
    for pin in layers.files(Kind::Requirements) {
        if pin.subject.path == system {
            each(layers.effective(), pin, true);
        } else if pin.subject.home.is_project()
            && let Some(effective) = layers.under(&pin.subject.path, &spelled_right(pin))
        {
            each(&effective, pin, false);
        }
    }
}

/// The text of a pin with its misspelt keys as they are meant.
fn spelled_right(pin: &Source) -> String {
    let text = pin.text();
    let Content::Toml(document) = &pin.content else {
        return text.to_owned();
    };
    let root = document.root().as_table();
    let edits: Vec<Edit> = root
        .into_iter()
        .flatten()
        .filter(|(name, node)| {
            KEYS.key(name).is_none() && matches!(node.form, Form::Value | Form::Inline)
        })
        .filter_map(|(name, node)| {
            let meant = closest(name, KEYS.keys.iter().map(|key| key.name))?;
            let free = root.is_some_and(|root| !root.contains_key(meant));
            free.then(|| Edit::replace(node.key, quoted_if_needed(meant)))
        })
        .collect();
    edit::apply(text, &edits).unwrap_or_else(|_| text.to_owned())
}

fn contradicted(layers: &Layers, spread: &mut Spread) {
    under_pins(layers, |effective, pin, is_read| {
        let Some(policy) = effective.policy() else {
            return clash(effective, pin, spread);
        };
        for refused in &policy.refused {
            if granular_entries(pin).next().is_some() && refused.configured.starts_with("granular")
            {
                // Which of the two is wrong cannot be told, and the entry's own rule speaks.
                continue;
            }
            let Some(place) = asked(effective, policy, refused) else {
                continue;
            };
            let Some(finding) = spread.add(&CONTRADICTED, &place) else {
                continue;
            };
            finding.says(format!(
                "this asks for `{}`, which `{}` refuses",
                refused.configured, pin.subject.shown
            ));
            if is_read {
                finding
                    .note(format!("`{}` is in force in its place", refused.fallback))
                    .help("write a value that the pin allows");
            } else {
                finding
                    .note("Codex does not read a pin in a project, so this value is in force")
                    .help("write a value that the pin allows, and install the pin for the system");
            }
        }
    });
}

/// Codex does not start where `never` meets a sandbox that is refused.
fn clash(effective: &Effective, pin: &Source, spread: &mut Spread) {
    let Err(error) = &effective.starts else {
        return;
    };
    let is_clash = error.place.is_none()
        && error.key.as_ref().and_then(|key| key.last()) == Some("approval_policy");
    let Some(place) = effective
        .origin(&["sandbox_mode"])
        .or_else(|| effective.origin(&["default_permissions"]))
        .filter(|_| is_clash && effective.requirements.sandbox_modes.is_some())
    else {
        return;
    };
    if let Some(finding) = spread.add(&CONTRADICTED, &place) {
        finding
            .says(format!("`{}` refuses this sandbox", pin.subject.shown))
            .note("with `never` beside it Codex does not start under the pin")
            .help("write a sandbox that the pin allows");
    }
}

/// The place that asks for what is refused.
fn asked(effective: &Effective, policy: &Policy, refused: &Refused) -> Option<Place> {
    let first = |overrode: &[Overridden]| overrode.first().map(|old| old.place.clone());
    match refused.what {
        "approval_policy" => first(&policy.approval.overrode),
        "approvals_reviewer" => first(&policy.reviewer.overrode),
        _ => policy
            .sandbox
            .overrode
            .first()
            .filter(|old| old.value.as_str() == Some(refused.configured.as_str()))
            .map(|old| old.place.clone())
            .or_else(|| effective.origin(&["default_permissions"])),
    }
}

/// Granular entries of a pin.
fn granular_entries(pin: &Source) -> impl Iterator<Item = &Node> {
    let root = match &pin.content {
        Content::Toml(document) => Some(document.root()),
        _ => None,
    };
    let list = root.and_then(|root| root.child("allowed_approval_policies")?.as_array());
    list.into_iter()
        .flatten()
        .filter(|entry| entry.child("granular").is_some())
}

fn granular_mismatch(layers: &Layers, spread: &mut Spread) {
    under_pins(layers, |effective, pin, _| {
        let merged = effective.merged.get(&["approval_policy"]);
        let configured = merged
            .and_then(|found| ApprovalPolicy::parse(&found.value(), layers.version()))
            .filter(|policy| matches!(policy, ApprovalPolicy::Granular(_)));
        let Some(configured) = configured else { return };
        let entries: Vec<(&Node, ApprovalPolicy)> = granular_entries(pin)
            .filter_map(|node| {
                let entry = ApprovalPolicy::parse(&node.value(), layers.version())?;
                Some((node, entry))
            })
            .collect();
        if entries.iter().any(|(_, entry)| *entry == configured) {
            return;
        }
        let place = effective.origin(&["approval_policy"]);
        for (node, entry) in entries {
            let Some(found) = spread.at(&pin.subject.path) else {
                return;
            };
            let finding = found.add(&GRANULAR_MISMATCH, node);
            finding.label(format!("this is {entry}"));
            if let Some(place) = &place {
                finding.note(format!("{} has {configured}", layers.place(place)));
            }
            finding.help("write the same switches in both; one that is left out is off");
        }
    });
}
