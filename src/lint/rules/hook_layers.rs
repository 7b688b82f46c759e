//! `hook-two-forms`, `hook-untrusted`, `hooks-disabled`: which hooks Codex runs, and how often.
//! Source: scenarios hooks-toml-and-json, hooks-user-json, hooks-trusted-hash, hooks-modified-hash,
//! hooks-state-in-project, feature-hooks-off, feature-codex-hooks-old-name, req-managed-hooks-only;
//! Codex 0.134 to 0.171.

use crate::codex::effective::hooks::{HookWarning, warnings};
use crate::codex::effective::{By, Hook, HookTrust};
use crate::codex::trust::Level;
use crate::lint::file::Content;
use crate::lint::layers::handler_node;
use crate::lint::server::basename;
use crate::lint::{
    Check, Confidence, Home, HooksFile, Kind, Layers, Rule, Severity, Source, Spread, beside, case,
};

const JSON: &str = "{\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}}\n";
const OURS: &str = "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"/usr/bin/codexgate hook pre-tool-use\"\n";

pub const TWO_FORMS: Rule = Rule {
    id: "hook-two-forms",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this layer has hooks in both forms",
    why: "`hooks.json` and `[hooks]` of the config.toml beside it both count: a hook that stands in \
          both runs twice, and Codex warns at every start.",
    bad: &[case(
        "[[‹hooks›.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = \"command\"\ncommand = \"true\"\n",
    )
    .with(&[beside(Home::User, Kind::Hooks, JSON)])],
    good: &[
        case("model = \"x\"\n").with(&[beside(Home::User, Kind::Hooks, JSON)]),
        case(
            "[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = \"command\"\ncommand = \"true\"\n",
        )
        .with(&[beside(Home::Project, Kind::Hooks, JSON)]),
    ],
    check: Check::Layers(two_forms),
};

pub const UNTRUSTED: Rule = Rule {
    id: "hook-untrusted",
    severity: Severity::Info,
    confidence: Confidence::High,
    since: (0, 134),
    says: "Codex skips this hook: the user does not trust it",
    why: "Codex runs a hook of a user or a project only while the user's config.toml trusts its \
          digest, and skips any other without a word. A hook that was changed after it was trusted \
          counts as another one.",
    bad: &[case(
        "[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = \"command\"\ncommand = ‹\"true\"›\n",
    )],
    good: &[
        case("[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = \"command\"\ncommand = \"true\"\n")
            .in_home(Home::System),
        case("model = \"x\"\n"),
    ],
    check: Check::Layers(untrusted),
};

pub const DISABLED: Rule = Rule {
    id: "hooks-disabled",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "the gate's hooks are switched off",
    why: "The hooks of codexgate are installed, and Codex runs none: they are switched off as a \
          feature, or only the administrator's count.",
    bad: &[
        case("[features]\nhooks = ‹false›\n").with(&[beside(Home::Project, Kind::Config, OURS)]),
        case("allowed_sandbox_modes = [\"read-only\"]\nallowed_approval_policies = [\"on-request\"]\nallow_managed_hooks_only = ‹true›\n")
            .of(Kind::Requirements)
            .in_home(Home::System)
            .with(&[beside(Home::User, Kind::Config, OURS)]),
    ],
    good: &[
        case(OURS),
        case("[features]\nhooks = false\n"),
    ],
    check: Check::Layers(disabled),
};

/// Whether a command line runs a hook of codexgate.
fn is_ours(command: &str) -> bool {
    // Our own lines quote a program with blanks in its path, and nothing else.
    let (program, rest) = match command.strip_prefix('\'') {
        Some(quoted) => quoted.split_once('\'').unwrap_or((quoted, "")),
        None => command.split_once(' ').unwrap_or((command, "")),
    };
    basename(program) == "codexgate" && rest.trim_start().starts_with("hook ")
}

fn two_forms(layers: &Layers, spread: &mut Spread) {
    for warning in warnings(layers.effective(), layers.read()) {
        let HookWarning::Both(json, toml) = warning else {
            continue;
        };
        let (Some(toml), Some(json)) = (layers.file(&toml), layers.file(&json)) else {
            continue;
        };
        let hooks = |source: &Source| match &source.content {
            Content::Toml(document) => document.root().child("hooks").map(|node| node.key),
            Content::Json(json) => json.root.child("hooks").map(|node| node.key),
            _ => None,
        };
        let (Some(here), Some(there)) = (hooks(toml), hooks(json)) else {
            continue;
        };
        let line = json.lines().locate(json.text(), there.start).line;
        if let Some(found) = spread.at(&toml.subject.path) {
            found
                .add(&TWO_FORMS, here)
                .says(format!(
                    "this layer has hooks here and in `{}:{line}`",
                    json.subject.shown
                ))
                .note("both count: a hook that stands in both runs twice")
                .help("keep one of the two");
        }
    }
}

fn untrusted(layers: &Layers, spread: &mut Spread) {
    // Without the user's file nobody knows what is trusted.
    let Some(policy) = layers.policy().filter(|_| layers.knows_user()) else {
        return;
    };
    for hook in policy.hooks.iter().filter(|hook| hook.enabled) {
        let changed = match hook.trust {
            HookTrust::Untrusted => false,
            // Without a digest of our own nothing can be compared.
            HookTrust::Modified if hook.handler.hash.is_some() => true,
            _ => continue,
        };
        let ours = hook.handler.command.as_deref().is_some_and(is_ours);
        let Some(node) = node(layers, hook) else {
            continue;
        };
        let Some(found) = spread.at(&hook.path) else {
            continue;
        };
        let finding = found.add(&UNTRUSTED, node.child("command").unwrap_or(node));
        if changed {
            finding
                .says("Codex skips this hook: the user trusts another one in its place")
                .note("it was changed after it was trusted, or another one stood here");
        } else {
            finding.note("it runs once the user trusts its digest");
        }
        if changed && ours && layers.effective().trust.level == Level::Trusted {
            finding.severity(Severity::Warning);
        }
        finding.help("look at it in Codex with `/hooks`, and trust it there if it is right");
    }
}

fn node<'a>(layers: &Layers<'a>, hook: &Hook) -> Option<&'a crate::document::Node> {
    let source = layers.file(&hook.path)?;
    let handler = &hook.handler;
    handler_node(source, handler.event.name, handler.group, handler.index)
}

fn disabled(layers: &Layers, spread: &mut Spread) {
    let effective = layers.effective();
    let is_off = !effective.feature("hooks");
    let only_managed = effective.requirements.managed_hooks_only.as_ref();
    if !is_off && only_managed.is_none() {
        return;
    }
    let installed = layers.counting().find_map(|(_, layer)| {
        let managed = only_managed.is_some()
            && matches!(
                layer.kind,
                crate::codex::layer::Kind::System | crate::codex::layer::Kind::Managed
            );
        let toml = layer.file.clone()?;
        let json = layer.base.join("hooks.json");
        [toml, json].iter().find_map(|path| {
            let hooks = HooksFile::new(layers.file(path)?, layers.version())?;
            let word = hooks
                .handlers()
                .filter_map(|handler| handler.command())
                .find(|word| is_ours(word.text))?;
            let line = hooks.source().lines();
            let line = line.locate(hooks.source().text(), word.span.start).line;
            (is_off || !managed).then(|| format!("{}:{line}", hooks.source().subject.shown))
        })
    });
    let Some(installed) = installed else { return };
    let place = if is_off {
        effective
            .requirements
            .feature("hooks")
            .map(|required| By::Requirement(required.place.clone()))
            .or_else(|| effective.origin(&["features", "hooks"]).map(By::Layer))
            .or_else(|| {
                effective
                    .origin(&["features", "codex_hooks"])
                    .map(By::Layer)
            })
    } else {
        only_managed.cloned().map(By::Requirement)
    };
    let Some(place) = place.as_ref().and_then(By::place) else {
        return;
    };
    if let Some(finding) = spread.add(&DISABLED, place) {
        finding
            .note(format!(
                "`{installed}` installs one, and Codex does not run it"
            ))
            .help("remove this line, or the hooks with `codexgate uninstall`");
    }
}
