//! The hooks of all layers, and which of them Codex trusts.
//!
//! A hook of system, administrator or requirements is trusted from the start. Any other one is
//! skipped without a word until `[hooks.state]` of the user, the profile or a flag names its
//! digest; a project cannot trust its own (scenario `hooks-state-in-project`).

use std::path::PathBuf;

use super::super::hooks_file::{self, Handler, Hooks, Skipped};
use super::super::layer::{CONFIG_TOML, Kind, Sources, Text};
use super::Effective;
use crate::document::Value;

/// The file beside each config.toml that may declare hooks as well.
pub const HOOKS_JSON: &str = "hooks.json";

/// Whether Codex runs a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookTrust {
    /// It is the administrator's.
    Managed,
    /// Its digest is known.
    Trusted,
    /// Another digest is known for its position.
    Modified,
    /// Nobody trusts it.
    Untrusted,
}

impl HookTrust {
    /// The trust as Codex names it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Trusted => "trusted",
            Self::Modified => "modified",
            Self::Untrusted => "untrusted",
        }
    }
}

/// One hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// What it does.
    pub handler: Handler,
    /// Where it comes from, as Codex names it.
    pub source: &'static str,
    /// The file that declares it.
    pub path: PathBuf,
    /// Whether it is switched on.
    pub enabled: bool,
    /// Whether Codex trusts it.
    pub trust: HookTrust,
}

impl Hook {
    /// The key of `[hooks.state]` that is about it.
    pub fn key(&self) -> String {
        key(&self.path, &self.handler)
    }

    /// Whether Codex runs it.
    pub const fn runs(&self) -> bool {
        self.enabled && matches!(self.trust, HookTrust::Managed | HookTrust::Trusted)
    }
}

/// What Codex warns of when it looks for hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookWarning {
    /// A hooks.json that is void.
    Void(PathBuf, String),
    /// A handler or group that is left out.
    Skipped(PathBuf, Skipped),
    /// Both spellings in one folder.
    Both(PathBuf, PathBuf),
}

struct Source {
    name: &'static str,
    managed: bool,
    files: Vec<(PathBuf, Hooks)>,
}

/// All hooks in Codex's order: the requirements' own, then layer by layer.
pub(super) fn hooks(effective: &Effective, sources: &Sources) -> Vec<Hook> {
    let mut found = Vec::new();
    for source in discover(effective, sources, &mut Vec::new()) {
        for (path, hooks) in source.files {
            for handler in hooks.handlers {
                let (enabled, trust) = state(effective, source.managed, &path, &handler);
                found.push(Hook {
                    handler,
                    source: source.name,
                    path: path.clone(),
                    enabled,
                    trust,
                });
            }
        }
    }
    found
}

/// What Codex warns of.
pub fn warnings(effective: &Effective, sources: &Sources) -> Vec<HookWarning> {
    let mut warnings = Vec::new();
    for source in discover(effective, sources, &mut warnings) {
        for (path, hooks) in source.files {
            for skipped in hooks.skipped {
                warnings.push(HookWarning::Skipped(path.clone(), skipped));
            }
        }
    }
    warnings
}

fn discover(
    effective: &Effective,
    sources: &Sources,
    warnings: &mut Vec<HookWarning>,
) -> Vec<Source> {
    if !effective.feature("hooks") {
        return Vec::new();
    }
    let mut found = Vec::new();
    if let Some((hooks, path, _)) = &effective.requirements.hooks {
        found.push(Source {
            name: "system",
            managed: true,
            files: vec![(PathBuf::from(path), hooks.clone())],
        });
    }
    let managed_only = effective.requirements.managed_hooks_only.is_some();
    for layer in &effective.layers {
        let (name, managed) = match layer.kind {
            Kind::System => ("system", true),
            Kind::User | Kind::Profile(_) => ("user", false),
            Kind::Project => ("project", false),
            Kind::Flags => ("sessionFlags", false),
            Kind::Managed => ("legacyManagedConfigFile", true),
        };
        if layer.disabled.is_some() || (managed_only && !managed) {
            continue;
        }
        let mut files = Vec::new();
        let elsewhere = layer.hooks_from.as_ref().map(|from| from.base.as_path());
        if matches!(layer.kind, Kind::System | Kind::User | Kind::Project) {
            let path = elsewhere.unwrap_or(&layer.base).join(HOOKS_JSON);
            match sources.text(&path) {
                Text::Text(text) => match hooks_file::parse_json(&text, effective.version) {
                    Ok(hooks) => files.push((path, hooks)),
                    Err(why) => warnings.push(HookWarning::Void(path, why)),
                },
                Text::Absent | Text::Unreadable { .. } => {}
                Text::NotUtf8 { .. } => {
                    warnings.push(HookWarning::Void(path, "it is not UTF-8".to_owned()));
                }
            }
        }
        let value = layer.value();
        if let Some(members) = value.get(&["hooks"]).and_then(Value::as_table) {
            let path = elsewhere
                .map(|base| base.join(CONFIG_TOML))
                .or_else(|| layer.file.clone())
                .unwrap_or_else(|| PathBuf::from("/<session-flags>/config.toml"));
            // What is wrong in it has stopped Codex already, unless a stronger layer covers it.
            if let Ok(hooks) = hooks_file::parse_table(members, effective.version) {
                files.push((path, hooks));
            }
        }
        if let [(json, first), (toml, second)] = files.as_slice()
            && first.declares
            && second.declares
        {
            warnings.push(HookWarning::Both(json.clone(), toml.clone()));
        }
        found.push(Source {
            name,
            managed,
            files,
        });
    }
    found
}

fn key(path: &std::path::Path, handler: &Handler) -> String {
    format!(
        "{}:{}:{}:{}",
        path.display(),
        handler.event.key,
        handler.group,
        handler.index
    )
}

fn state(
    effective: &Effective,
    managed: bool,
    path: &std::path::Path,
    handler: &Handler,
) -> (bool, HookTrust) {
    if managed {
        return (true, HookTrust::Managed);
    }
    let key = key(path, handler);
    let mut enabled = true;
    let mut trusted: Option<String> = None;
    for layer in &effective.layers {
        if !matches!(layer.kind, Kind::User | Kind::Profile(_) | Kind::Flags) {
            continue;
        }
        let value = layer.value();
        let Some(state) = value.get(&["hooks", "state", &key]) else {
            continue;
        };
        if let Some(on) = state.get(&["enabled"]).and_then(Value::as_bool) {
            enabled = on;
        }
        if let Some(hash) = state.get(&["trusted_hash"]).and_then(Value::as_str) {
            trusted = Some(hash.to_owned());
        }
    }
    let trust = match (trusted, &handler.hash) {
        (None, _) => HookTrust::Untrusted,
        (Some(trusted), Some(hash)) if trusted == *hash => HookTrust::Trusted,
        (Some(_), _) => HookTrust::Modified,
    };
    (enabled, trust)
}
