//! What the agent may touch: the sandbox in force, out of modes, permission profiles and limits.
//!
//! Codex has two languages for it. `sandbox_mode` with `[sandbox_workspace_write]` is the older
//! one; `default_permissions` names a profile, built in or below `[permissions]`. In one layer the
//! profile wins, across layers the stronger layer (scenarios `perm-beats-sandbox`,
//! `perm-project-sandbox-user`); `-s` and a client's `sandbox` win over both. A limit is then held
//! against what the result amounts to, whichever language it is written in.

mod profile;

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use indexmap::IndexMap;

use super::super::requirements::Requirements;
use super::super::trust::Level;
use super::super::version::Change;
use super::merge::Merged;
use super::{By, Decided, Effective, Question, SandboxMode, StartError};
use crate::codex::layer::Kind;
use crate::document::{KeyPath, Value};

/// The sandbox in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// What it amounts to.
    pub reach: Reach,
    /// Whether the agent's commands reach the network.
    pub network: bool,
    /// The permission profile that it is, if Codex says so.
    pub profile: Option<String>,
    /// Whether the working folder can be written. Then a thread trusts it by itself (scenarios
    /// `autotrust-custom-profile`, `autotrust-profile-slash-tmp`).
    pub writes_cwd: bool,
}

/// What a sandbox amounts to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Nothing can be written.
    ReadOnly,
    /// These places can be written.
    Workspace {
        /// Whether the working folder is one of them.
        cwd: bool,
        /// Folders besides the working folder.
        roots: Vec<PathBuf>,
        /// Not `$TMPDIR`.
        exclude_tmpdir: bool,
        /// Not `/tmp`.
        exclude_slash_tmp: bool,
    },
    /// Everything can be written, and the network is as `network` says.
    AllFiles,
    /// No sandbox.
    Everything,
}

impl Reach {
    /// The mode that limits are held against.
    pub const fn mode(&self) -> SandboxMode {
        match self {
            Self::ReadOnly => SandboxMode::ReadOnly,
            Self::Workspace { .. } => SandboxMode::WorkspaceWrite,
            Self::AllFiles | Self::Everything => SandboxMode::DangerFullAccess,
        }
    }
}

impl Sandbox {
    /// Nothing can be written, and there is no network.
    pub const fn read_only(profile: Option<String>) -> Self {
        Self {
            reach: Reach::ReadOnly,
            network: false,
            profile,
            writes_cwd: false,
        }
    }

    /// The sandbox as the app server's answers name its type.
    pub const fn kind(&self) -> &'static str {
        match self.reach {
            Reach::ReadOnly => "readOnly",
            Reach::Workspace { .. } => "workspaceWrite",
            Reach::AllFiles => "externalSandbox",
            Reach::Everything => "dangerFullAccess",
        }
    }

    /// The word that `codex exec` prints first.
    pub const fn word(&self) -> &'static str {
        match self.reach {
            Reach::ReadOnly => "read-only",
            Reach::Workspace { cwd: true, .. } => "workspace-write",
            Reach::Workspace { cwd: false, .. } => "custom permissions",
            Reach::AllFiles => "external-sandbox",
            Reach::Everything => "danger-full-access",
        }
    }
}

/// Which of Codex's two languages chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Modes,
    Profiles,
}

/// Settings of `[sandbox_workspace_write]`.
#[derive(Debug, Clone, Default)]
struct WorkspaceWrite {
    roots: Vec<PathBuf>,
    network: bool,
    exclude_tmpdir: bool,
    exclude_slash_tmp: bool,
}

pub(super) struct Decision<'e> {
    effective: &'e Effective,
    question: &'e Question,
    requirements: &'e Requirements,
}

impl<'e> Decision<'e> {
    pub(super) const fn new(
        effective: &'e Effective,
        question: &'e Question,
        requirements: &'e Requirements,
    ) -> Self {
        Self {
            effective,
            question,
            requirements,
        }
    }

    /// The sandbox that is configured, before limits on modes.
    pub(super) fn configured(&self) -> Result<Decided<Sandbox>, StartError> {
        let merged = &self.effective.merged;
        let language = self.language();
        let profiles = self.profiles()?;
        let chosen = self.chosen(&profiles)?;
        let forced = self.requirements.profiles.is_some();
        if !profiles.is_empty() && language != Some(Language::Modes) && chosen.is_none() && !forced
        {
            return Err(StartError {
                message: "`[permissions]` has profiles and `default_permissions` names none"
                    .to_owned(),
                place: None,
                key: Some(KeyPath::new(["permissions"])),
            });
        }
        if forced || language != Some(Language::Modes) {
            let implicit = language.is_none() && chosen.is_none();
            let name = chosen
                .clone()
                .unwrap_or_else(|| self.default_profile().to_owned());
            let sandbox = self.of_profile(&name, &profiles, implicit)?;
            let by = match (&chosen, self.effective.origin(&["default_permissions"])) {
                (Some(chosen), Some(place))
                    if merged.get(&["default_permissions"]).and_then(Merged::text)
                        == Some(chosen.as_str()) =>
                {
                    By::Layer(place)
                }
                (Some(_), _) => match &self.requirements.default_permissions {
                    Some(required) => By::Requirement(required.place.clone()),
                    None => self.default_reason(),
                },
                (None, _) => self.default_reason(),
            };
            return Ok(self.decided(sandbox, by));
        }
        let configured = merged
            .get(&["sandbox_mode"])
            .and_then(word)
            .and_then(|word| SandboxMode::parse(&word));
        let (mode, by) = match (self.question.sandbox, configured) {
            (Some(mode), _) => (mode, By::Session("sandbox of the session")),
            (None, Some(mode)) => (
                mode,
                self.effective
                    .origin(&["sandbox_mode"])
                    .map_or_else(|| self.default_reason(), By::Layer),
            ),
            (None, None) => (self.default_mode(), self.default_reason()),
        };
        let sandbox = match mode {
            SandboxMode::ReadOnly => Sandbox::read_only(None),
            SandboxMode::WorkspaceWrite => self.workspace(&self.workspace_write(), None),
            SandboxMode::DangerFullAccess => Sandbox {
                reach: Reach::Everything,
                network: true,
                profile: None,
                writes_cwd: true,
            },
        };
        Ok(self.decided(sandbox, by))
    }

    fn decided(&self, value: Sandbox, by: By) -> Decided<Sandbox> {
        let mut overrode = self.effective.overridden(&["sandbox_mode"]);
        overrode.extend(self.effective.overridden(&["default_permissions"]));
        let deciding = match &by {
            By::Layer(place) => Some(place.key.clone()),
            _ => None,
        };
        // The key of the other language lost as well.
        for path in [["sandbox_mode"], ["default_permissions"]] {
            if Some(KeyPath::new(path)) != deciding
                && let Some(place) = self.effective.origin(&path)
                && let Some(found) = self.effective.merged.get(&path)
            {
                overrode.insert(
                    0,
                    super::Overridden {
                        place,
                        value: found.value(),
                    },
                );
            }
        }
        Decided {
            value,
            by,
            overrode,
        }
    }

    /// `-c default_permissions` is not overridden by any layer (scenario
    /// `perm-flag-managed-narrower`); else the strongest layer that speaks either language.
    fn language(&self) -> Option<Language> {
        if self.question.sandbox.is_some() {
            return Some(Language::Modes);
        }
        let mut language = None;
        for layer in &self.effective.layers {
            if layer.disabled.is_some() {
                continue;
            }
            let value = layer.value();
            let mode = value.get(&["sandbox_mode"]);
            let name = value.get(&["default_permissions"]);
            // A layer in which one of the two is not readable speaks neither.
            if mode.is_some_and(|mode| !is_mode(mode)) || name.is_some_and(|name| !is_text(name)) {
                continue;
            }
            if mode.is_some() {
                language = Some(Language::Modes);
            }
            if name.is_some() {
                if layer.kind == Kind::Flags {
                    return Some(Language::Profiles);
                }
                language = Some(Language::Profiles);
            }
        }
        if language.is_some() {
            return language;
        }
        let merged = &self.effective.merged;
        if merged.get(&["default_permissions"]).is_some() {
            Some(Language::Profiles)
        } else if merged.get(&["sandbox_mode"]).is_some() {
            Some(Language::Modes)
        } else {
            None
        }
    }

    /// All profiles by name: those below `[permissions]` and the administrator's own.
    fn profiles(&self) -> Result<IndexMap<String, Value>, StartError> {
        let permissions = self.effective.merged.get(&["permissions"]);
        let mut profiles: IndexMap<String, Value> = permissions
            .and_then(Merged::members)
            .into_iter()
            .flatten()
            .map(|(name, profile)| (name.clone(), profile.value()))
            .collect();
        for (name, profile) in &self.requirements.own_profiles {
            if profiles.contains_key(name) {
                return Err(refuse(format!(
                    "the permission profile `{name}` is one of the requirements' own"
                )));
            }
            profiles.insert(name.clone(), profile.clone());
        }
        if let Some(name) = profiles.keys().find(|name| name.starts_with(':')) {
            return Err(refuse(format!(
                "the permission profile `{name}` has the name of a built-in one"
            )));
        }
        if let Some(allowed) = &self.requirements.profiles
            && let Some(name) = allowed
                .value
                .keys()
                .find(|name| !is_built_in(name) && !profiles.contains_key(*name))
        {
            return Err(StartError {
                message: format!("requirements.toml allows `{name}`, which is no profile"),
                place: Some(Box::new(allowed.place.clone())),
                key: None,
            });
        }
        Ok(profiles)
    }

    /// The profile that `default_permissions` and the limits on profiles choose.
    fn chosen(&self, profiles: &IndexMap<String, Value>) -> Result<Option<String>, StartError> {
        let configured = self
            .effective
            .merged
            .get(&["default_permissions"])
            .and_then(Merged::text)
            .map(str::to_owned);
        let (Some(allowed), Some(required)) = (
            &self.requirements.profiles,
            &self.requirements.default_permissions,
        ) else {
            return Ok(configured);
        };
        let name = configured
            .filter(|name| allowed.value.get(name) == Some(&true))
            .unwrap_or_else(|| required.value.clone());
        if is_built_in(&name) || profiles.contains_key(&name) {
            return Ok(Some(name));
        }
        Err(refuse(format!("there is no permission profile `{name}`")))
    }

    /// A profile that is configured and not among the allowed ones.
    pub(super) fn refused_profile(&self) -> Option<super::Refused> {
        let configured = self
            .effective
            .merged
            .get(&["default_permissions"])
            .and_then(Merged::text)?;
        let allowed = self.requirements.profiles.as_ref()?;
        let required = self.requirements.default_permissions.as_ref()?;
        (allowed.value.get(configured) != Some(&true)).then(|| super::Refused {
            what: "sandbox",
            configured: configured.to_owned(),
            fallback: required.value.clone(),
            place: allowed.place.clone(),
        })
    }

    fn default_mode(&self) -> SandboxMode {
        match self.effective.trust.level {
            Level::Trusted | Level::Untrusted => SandboxMode::WorkspaceWrite,
            Level::Unknown => SandboxMode::ReadOnly,
        }
    }

    fn default_profile(&self) -> &'static str {
        match self.default_mode() {
            SandboxMode::WorkspaceWrite => ":workspace",
            _ => ":read-only",
        }
    }

    const fn default_reason(&self) -> By {
        By::Default(match self.effective.trust.level {
            Level::Trusted => "the folder is trusted",
            Level::Untrusted => "the folder is marked untrusted",
            Level::Unknown => "nobody trusts the folder",
        })
    }

    fn of_profile(
        &self,
        name: &str,
        profiles: &IndexMap<String, Value>,
        implicit: bool,
    ) -> Result<Sandbox, StartError> {
        let profile = Some(name.to_owned());
        match name {
            ":read-only" => return Ok(Sandbox::read_only(profile)),
            ":danger-full-access" => {
                return Ok(Sandbox {
                    reach: Reach::Everything,
                    network: true,
                    profile,
                    writes_cwd: true,
                });
            }
            ":workspace" => {
                let has_settings = self
                    .effective
                    .merged
                    .get(&["sandbox_workspace_write"])
                    .is_some();
                // Chosen by name, the built-in profile ignores the older language's settings.
                return Ok(if implicit && has_settings {
                    self.workspace(&self.workspace_write(), None)
                } else {
                    self.workspace(&WorkspaceWrite::default(), profile)
                });
            }
            other if other.starts_with(':') => {
                return Err(refuse(format!(
                    "`default_permissions` names `{other}`, which is no built-in profile"
                )));
            }
            _ => {}
        }
        if profiles.is_empty() {
            return Err(refuse(format!(
                "`default_permissions` names `{name}`, and there is no `[permissions]`"
            )));
        }
        let whole = profile::resolve(name, profiles, &mut Vec::new())?;
        let mut sandbox = self.compile(&whole)?;
        sandbox.profile = profile;
        Ok(sandbox)
    }

    fn workspace(&self, settings: &WorkspaceWrite, profile: Option<String>) -> Sandbox {
        let mut seen = HashSet::from([self.cwd()]);
        let new = settings.roots.iter().filter(|root| seen.insert(root));
        let mut roots: Vec<PathBuf> = new.cloned().collect();
        roots.extend(self.memories());
        Sandbox {
            reach: Reach::Workspace {
                cwd: true,
                roots,
                exclude_tmpdir: settings.exclude_tmpdir,
                exclude_slash_tmp: settings.exclude_slash_tmp,
            },
            network: settings.network,
            profile,
            writes_cwd: true,
        }
    }

    /// Codex's own memories, which older versions list as writable.
    fn memories(&self) -> Option<PathBuf> {
        let home = self.effective.codex_home.as_ref()?;
        (!self.effective.version.has(Change::MemoriesNotWritable)).then(|| home.join("memories"))
    }

    fn workspace_write(&self) -> WorkspaceWrite {
        let mut settings = WorkspaceWrite::default();
        let Some(found) = self.effective.merged.get(&["sandbox_workspace_write"]) else {
            return settings;
        };
        let truth = |name: &str| found.get(&[name]).and_then(Merged::truth) == Some(true);
        settings.network = truth("network_access");
        settings.exclude_tmpdir = truth("exclude_tmpdir_env_var");
        settings.exclude_slash_tmp = truth("exclude_slash_tmp");
        settings.roots = found
            .get(&["writable_roots"])
            .map(Merged::value)
            .iter()
            .filter_map(Value::as_array)
            .flatten()
            .filter_map(Value::as_str)
            .map(|root| self.resolve_path(root, self.cwd()))
            .collect();
        settings
    }

    fn cwd(&self) -> &Path {
        &self.effective.cwd
    }

    /// `~` is the home folder, `$HOME` is not (scenario `prec-writable-root-tilde`).
    fn resolve_path(&self, text: &str, base: &Path) -> PathBuf {
        resolve_path(text, base, self.effective.home.as_deref())
    }
}

/// An absolute path without `.` and `..`.
pub(super) fn resolve_path(text: &str, base: &Path, home: Option<&Path>) -> PathBuf {
    let joined = match (text.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_path_buf(),
        (Some(rest), Some(home)) if rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => base.join(text),
    };
    let mut path = PathBuf::new();
    for part in joined.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path
}

fn is_built_in(name: &str) -> bool {
    matches!(name, ":read-only" | ":workspace" | ":danger-full-access")
}

fn is_text(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Datetime(_))
}

fn is_mode(value: &Value) -> bool {
    value_word(value).is_some_and(|word| SandboxMode::parse(&word).is_some())
}

fn word(found: &Merged) -> Option<String> {
    value_word(&found.value())
}

/// A word, or a table of one word with nothing in it.
pub(crate) fn value_word(value: &Value) -> Option<String> {
    match value {
        Value::String(word) => Some(word.clone()),
        Value::Table(members) if is_word_table(value) => {
            members.first().map(|(word, _)| word.clone())
        }
        _ => None,
    }
}

fn is_word_table(value: &Value) -> bool {
    value.as_table().is_some_and(|members| {
        members.len() == 1
            && members
                .first()
                .is_some_and(|(_, inner)| inner.as_table().is_some_and(IndexMap::is_empty))
    })
}

fn refuse(message: String) -> StartError {
    StartError {
        message,
        place: None,
        key: Some(KeyPath::new(["default_permissions"])),
    }
}
