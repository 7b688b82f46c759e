//! The administrator's limits: requirements.toml, and what `managed_config.toml` implies.
//!
//! Only `/etc/codex/requirements.toml` counts. Any mistake in it stops Codex; an unknown key is
//! only a warning, so that a typo opens what it meant to close (scenario `req-typo`). A
//! `sandbox_mode`, `approval_policy` or `approvals_reviewer` in `managed_config.toml` is a limit as
//! well, and since 0.147 the stronger one (scenario `prec-managed-requirements`).
//!
//! Not modelled: what the cloud's own requirements would add.

use indexmap::IndexMap;

use super::check::{Problem, check_type, only_known, unknown_in};
use super::effective::SandboxMode;
use super::effective::approvals::ApprovalPolicy;
use super::effective::sandbox::value_word;
use super::hooks_file::{self, Hooks};
use super::keys::{
    self, Array, Key, Rest, Table,
    Type::{self, Any, AnyTable, Approval, Boolean, List, Map, OneOf, Path, Text, Word},
    since,
};
use super::layer::{Content, Layer, Place};
use super::version::{Change, Version};
use crate::document::{KeyPath, Value};

/// A limit and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Required<T> {
    /// What is required.
    pub value: T,
    /// Where.
    pub place: Place,
}

/// Who answers for the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reviewer {
    /// The person.
    User,
    /// Codex's automatic reviewer.
    AutoReview,
}

impl Reviewer {
    /// The reviewer as Codex names it; `guardian_subagent` is the older name.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "user" => Some(Self::User),
            "auto_review" | "guardian_subagent" => Some(Self::AutoReview),
            _ => None,
        }
    }

    /// The name that `version` gives in its answers.
    pub fn word(self, version: Version) -> &'static str {
        match self {
            Self::User => "user",
            Self::AutoReview if version.has(Change::ReviewerIsAutoReview) => "auto_review",
            Self::AutoReview => "guardian_subagent",
        }
    }
}

/// What a server must be to stay enabled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// This `command`, character by character.
    Command(String),
    /// This `url`, character by character.
    Url(String),
}

/// All limits in force.
#[derive(Debug, Clone, Default)]
pub struct Requirements {
    /// The approval policies that may be in force; the first one replaces any other.
    pub approvals: Option<Required<Vec<ApprovalPolicy>>>,
    /// The reviewers that may be in force; the first one replaces any other.
    pub reviewers: Option<Required<Vec<Reviewer>>>,
    /// The sandbox modes that may be in force; read-only replaces any other.
    pub sandbox_modes: Option<Required<Vec<SandboxMode>>>,
    /// The permission profiles that may be chosen, each with whether it may.
    pub profiles: Option<Required<IndexMap<String, bool>>>,
    /// The permission profile that replaces any other.
    pub default_permissions: Option<Required<String>>,
    /// Permission profiles of the administrator's own.
    pub own_profiles: IndexMap<String, Value>,
    /// Where `permissions.filesystem.deny_read` names anything: full access is then refused.
    pub deny_read: Option<Place>,
    /// The servers that stay enabled; every other one is disabled.
    pub servers: Option<Required<IndexMap<String, Identity>>>,
    /// Features that are switched for good.
    pub features: IndexMap<String, Required<bool>>,
    /// The ways of searching the web that may be in force.
    pub web_search: Option<Required<Vec<String>>>,
    /// What the requirements fix as a key of config.toml of the same name.
    pub settings: Vec<Setting>,
    /// Only the administrator's hooks run.
    pub managed_hooks_only: Option<Place>,
    /// The administrator's own hooks, and the path that Codex shows for them.
    pub hooks: Option<(Hooks, String, Place)>,
    /// All of it as a value, for reports.
    pub value: Option<Value>,
    /// Keys that Codex ignores with a warning.
    pub unknown: Vec<Place>,
    /// What stops Codex only after the configuration itself was found right.
    pub late: Option<RequirementError>,
}

/// A key of config.toml that the requirements fix (scenario `req-setting-fixed`).
#[derive(Debug, Clone)]
pub struct Setting {
    /// Its root key.
    pub name: &'static str,
    /// The key.
    pub key: KeyPath,
    /// Its value, and where it stands.
    pub required: Required<Value>,
}

/// Why the requirements stop Codex.
#[derive(Debug, Clone, PartialEq)]
pub struct RequirementError {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub place: Box<Place>,
}

const fn key(name: &'static str, value: Type) -> Key {
    Key {
        name,
        value,
        needed: false,
        since: None,
    }
}

const fn needed(name: &'static str, value: Type) -> Key {
    Key {
        needed: true,
        ..key(name, value)
    }
}

const fn loose(keys: &'static [Key]) -> Table {
    Table {
        keys,
        rest: Rest::Silent,
        array: Array::Whole,
        rule: None,
    }
}

const fn strict(keys: &'static [Key]) -> Table {
    Table {
        rest: Rest::Refused,
        ..loose(keys)
    }
}

/// With a warning for a key that is unknown (scenario `req-unknown-in-tables`).
const fn warned(keys: &'static [Key]) -> Table {
    Table {
        rest: Rest::Warned,
        ..loose(keys)
    }
}

/// An identity is no array, unlike other tables (scenario `req-mcp-identity-array`).
const fn identity(keys: &'static [Key]) -> Table {
    Table {
        array: Array::Refused,
        ..loose(keys)
    }
}

static IDENTITY: Type = OneOf(&[
    Type::Table(&identity(&[needed("command", Text)])),
    Type::Table(&identity(&[needed("url", Text)])),
]);
static SERVER: Type = Type::Table(&warned(&[needed("identity", IDENTITY)]));
static PATTERN: Type = Type::Table(&warned(&[key("token", Text), key("any_of", List(&Text))]));
static PREFIX_RULE: Type = Type::Table(&warned(&[
    needed("pattern", List(&PATTERN)),
    key(
        "decision",
        Word(&["allow", "prompt", "prompt-user", "forbidden"]),
    ),
    key("justification", Text),
    key("canonical_matching", Any),
]));
static DENY_READ: Type = Type::Table(&warned(&[key("deny_read", List(&Path))]));
static PERMISSIONS: Table = Table {
    keys: &[key("filesystem", DENY_READ)],
    rest: Rest::Each(&keys::PERMISSION_PROFILE),
    array: Array::Refused,
    rule: None,
};
static NETWORK: Table = warned(&[
    key("enabled", Boolean),
    key("http_port", Type::Integer(0, u16::MAX as i64)),
    key("socks_port", Type::Integer(0, u16::MAX as i64)),
    key("allow_upstream_proxy", Boolean),
    key("dangerously_allow_non_loopback_proxy", Boolean),
    key("dangerously_allow_all_unix_sockets", Boolean),
    key("domains", Map(&Word(&["allow", "deny"]))),
    key("allowed_domains", List(&Text)),
    key("managed_allowed_domains_only", Boolean),
    key("denied_domains", List(&Text)),
    key("unix_sockets", Map(&Word(&["allow", "none", "deny"]))),
    key("allow_unix_sockets", List(&Text)),
    key("allow_local_binding", Boolean),
    key("review_domains", Any),
    key("header_injections", Any),
    key("proxy_url", Any),
]);
static AUTO_REVIEW: Table = warned(&[key("required_on_models", Any), key("ignore_rules", Any)]);
static BROWSER_USE: Table = warned(&[
    key("allow_history_access", Boolean),
    key("allow_global_persistent_approval", Boolean),
    key("allow_webmcp", Boolean),
    key("default_origin_policy", AnyTable),
    key("disable_auto_review", Boolean),
    key("extension", AnyTable),
    key("origins", AnyTable),
]);
static COMPUTER_USE: Table = warned(&[
    key("allow_locked_computer_use", Boolean),
    key("allow_persistent_approval", Boolean),
    key("default_app_access", Word(&["allow", "deny"])),
    key("macos", AnyTable),
    key("windows", AnyTable),
]);
static WINDOWS: Table = warned(&[
    key("allowed_sandbox_implementations", Any),
    key("require_mxc", Any),
    key("allow_mxc", Any),
]);
static APPLICATION: Table = strict(&[
    key(
        "network",
        Type::Table(&strict(&[
            key("enabled", Boolean),
            key("domains", AnyTable),
        ])),
    ),
    key("storage", AnyTable),
]);
static CONFIG_SERVER: Table = Table {
    rule: Some(config_server),
    ..strict(&[
        needed("base_url", Text),
        key(
            "oauth",
            Type::Table(&strict(&[
                key("authorization_url", Text),
                key("token_url", Text),
                key("device_authorization_url", Text),
                key("client_id", Text),
                key("resource", Text),
                key("scopes", List(&Text)),
                key("redirect_port", Type::Integer(1, u16::MAX as i64)),
            ])),
        ),
    ])
};
static PLUGIN: Type = Type::Table(&warned(&[key("mcp_servers", AnyTable)]));
static APP: Type = Type::Table(&loose(&[key("enabled", Boolean), key("tools", AnyTable)]));
static PROVIDER: Type = Type::Table(&warned(keys::PROVIDER_KEYS));
static REMOTE_SANDBOX: Type = Type::Table(&warned(&[
    needed("hostname_patterns", List(&Text)),
    needed("allowed_sandbox_modes", List(&SANDBOX_WORDS)),
]));
static SANDBOX_WORDS: Type = Word(&[
    "read-only",
    "workspace-write",
    "danger-full-access",
    "external-sandbox",
]);

/// The keys of requirements.toml: 46, by name.
#[rustfmt::skip]
pub static KEYS: Table = Table {
    keys: &[
        since(154, 0, key("additional_developer_instructions", Text)),
        key("allow_appshots", Boolean),
        since(154, 0, key("allow_browser_and_computer_use", Boolean)),
        since(147, 0, key("allow_login_shell", Boolean)),
        key("allow_managed_hooks_only", Boolean),
        since(147, 0, key("allow_remote_control", Boolean)),
        key("allowed_approval_policies", List(&Approval)),
        key("allowed_approvals_reviewers", List(&Word(keys::REVIEWERS))),
        since(147, 0, key("allowed_chatgpt_workspaces", List(&Text))),
        since(147, 0, key("allowed_login_methods", List(&Word(&["chatgpt", "api"])))),
        since(147, 0, key("allowed_permission_profiles", Map(&Boolean))),
        key("allowed_sandbox_modes", List(&SANDBOX_WORDS)),
        key("allowed_web_search_modes", List(&Word(keys::WEB_SEARCH))),
        since(154, 0, key("application", Type::Table(&APPLICATION))),
        key("apps", Map(&APP)),
        since(154, 0, key("auto_review", Type::Table(&AUTO_REVIEW))),
        since(147, 0, key("browser_use", Type::Table(&BROWSER_USE))),
        since(154, 0, key("chatgpt_base_url", Text)),
        since(147, 0, key("check_for_update_on_startup", Boolean)),
        since(154, 0, key("cli_auth_credentials_store", Word(&["file", "keyring", "auto", "ephemeral"]))),
        key("computer_use", Type::Table(&COMPUTER_USE)),
        since(171, 0, key("config_server", Type::Table(&CONFIG_SERVER))),
        since(147, 0, key("default_permissions", Text)),
        key("enforce_residency", Word(&["us"])),
        key("experimental_network", Type::Table(&NETWORK)),
        key("feature_requirements", Map(&Boolean)),
        key("features", Map(&Boolean)),
        since(147, 0, key("feedback", Type::Table(&warned(&[key("enabled", Boolean)])))),
        since(160, 1, key("guardian_extra_policy", Text)),
        key("guardian_policy_config", Text),
        key("hooks", AnyTable),
        since(154, 0, key("in_app_browser", Type::Table(&warned(&[key("allow_external_browser_settings_import", Any)])))),
        since(147, 0, key("log_dir", Path)),
        since(147, 0, key("marketplaces", Type::Table(&strict(&[key("restrict_to_allowed_sources", Boolean), key("allowed_sources", AnyTable)])))),
        key("mcp_servers", Map(&SERVER)),
        since(147, 0, key("model_catalog_json", Path)),
        since(160, 1, key("model_provider", Text)),
        since(160, 1, key("model_providers", Map(&PROVIDER))),
        since(147, 0, key("models", Type::Table(&warned(&[key("new_thread", AnyTable)])))),
        since(171, 0, key("otel", Type::Table(&strict(&[
            key("log_user_prompt", Boolean), key("environment", Text), key("exporter", OneOf(&[Text, AnyTable])),
            key("trace_exporter", OneOf(&[Text, AnyTable])), key("metrics_exporter", OneOf(&[Text, AnyTable])),
            key("span_attributes", Map(&Text)), key("tracestate", Map(&Map(&Text))),
        ])))),
        key("permissions", Type::Table(&PERMISSIONS)),
        key("plugins", Map(&PLUGIN)),
        key("remote_sandbox_config", List(&REMOTE_SANDBOX)),
        key("rules", Type::Table(&warned(&[needed("prefix_rules", List(&PREFIX_RULE))]))),
        since(147, 0, key("sqlite_home", Path)),
        since(171, 0, key("unsafe_enforce_sqlite_journal_mode", Boolean)),
        since(147, 0, key("windows", Type::Table(&WINDOWS))),
    ],
    rest: Rest::Warned,
    array: Array::Refused,
    rule: None,
};

impl Requirements {
    /// Reads the limits of `file` (requirements.toml as a layer) and of `managed`, on the machine
    /// named `host`.
    ///
    /// # Errors
    /// What stops Codex.
    pub fn read(
        file: &Layer,
        managed: Option<&Layer>,
        host: &str,
        version: Version,
    ) -> Result<Self, RequirementError> {
        let mut found = Self::default();
        if !matches!(file.content, Content::Absent) {
            found.take(file, host, version)?;
        }
        if let Some(managed) = managed {
            found.imply(managed, version)?;
        }
        found.check_lists()?;
        Ok(found)
    }

    /// What must hold of the lists that are left: a managed value replaces one before it is looked
    /// at (scenarios `req-sandbox-replaced-by-managed`, `req-approvals-replaced-by-managed`).
    fn check_lists(&self) -> Result<(), RequirementError> {
        let empty = |place: &Place| {
            Err(RequirementError {
                message: format!("`{}` must not be empty", place.key),
                place: Box::new(place.clone()),
            })
        };
        match (&self.approvals, &self.reviewers, &self.sandbox_modes) {
            (Some(list), _, _) if list.value.is_empty() => empty(&list.place),
            (_, Some(list), _) if list.value.is_empty() => empty(&list.place),
            (_, _, Some(list)) if !list.value.contains(&SandboxMode::ReadOnly) => {
                Err(RequirementError {
                    message: "`allowed_sandbox_modes` must hold `read-only`".to_owned(),
                    place: Box::new(list.place.clone()),
                })
            }
            _ => Ok(()),
        }
    }

    fn take(&mut self, file: &Layer, host: &str, version: Version) -> Result<(), RequirementError> {
        let value = file.value();
        let wrong = |path: &KeyPath, message: String| RequirementError {
            message,
            place: Box::new(file.place(path)),
        };
        check_type(&value, &Type::Table(&KEYS), version)
            .map_err(|Problem { path, message }| wrong(&path, message))?;
        let unknown = unknown_in(&value, &Type::Table(&KEYS), version);
        self.unknown = unknown.iter().map(|path| file.place(path)).collect();
        let at = |name: &str| file.place(&KeyPath::new([name]));
        let get = |name: &str| value.get(&[name]);

        if let Some(policies) = get("allowed_approval_policies").and_then(Value::as_array) {
            let policies: Vec<ApprovalPolicy> = policies
                .iter()
                .filter_map(|policy| ApprovalPolicy::parse(policy, version))
                .collect();
            self.approvals = Some(Required {
                value: policies,
                place: at("allowed_approval_policies"),
            });
        }
        if let Some(words) = get("allowed_approvals_reviewers").and_then(texts) {
            let reviewers = words
                .iter()
                .filter_map(|word| Reviewer::parse(word))
                .collect();
            self.reviewers = Some(Required {
                value: reviewers,
                place: at("allowed_approvals_reviewers"),
            });
        }
        let here = of_host(&value, host);
        let words = here.map_or_else(|| get("allowed_sandbox_modes"), Some);
        if let Some(words) = words.and_then(texts) {
            let modes: Vec<SandboxMode> = words
                .iter()
                .filter_map(|word| SandboxMode::parse(word))
                .collect();
            self.sandbox_modes = Some(Required {
                value: modes,
                place: at("allowed_sandbox_modes"),
            });
        }
        if let Some(methods) = get("allowed_login_methods").and_then(Value::as_array) {
            not_empty(methods.to_vec(), at("allowed_login_methods"))?;
        }
        if let Some(words) = get("allowed_web_search_modes").and_then(texts) {
            self.web_search = Some(Required {
                value: words,
                place: at("allowed_web_search_modes"),
            });
        }
        if version.has(Change::PermissionProfilePins) {
            self.late = self.take_profiles(&value, &at).err();
        }
        self.take_features(&value, file)?;
        self.take_servers(&value, file);
        self.take_settings(&value, file, version);
        if get("allow_managed_hooks_only").and_then(Value::as_bool) == Some(true) {
            self.managed_hooks_only = Some(at("allow_managed_hooks_only"));
        }
        let denied = value.get(&["permissions", "filesystem", "deny_read"]);
        if denied
            .and_then(Value::as_array)
            .is_some_and(|items| !items.is_empty())
        {
            let path = KeyPath::dotted("permissions.filesystem.deny_read");
            self.deny_read = Some(file.place(&path));
        }
        if let Some(members) = get("hooks").and_then(Value::as_table) {
            let hooks = hooks_file::parse_table(members, version)
                .map_err(|message| wrong(&KeyPath::new(["hooks"]), message))?;
            let path = members
                .get("managed_dir")
                .and_then(Value::as_str)
                .map(str::to_owned)
                .or_else(|| file.file.as_ref().map(|path| path.display().to_string()))
                .unwrap_or_default();
            self.hooks = Some((hooks, path, at("hooks")));
        }
        check_rules(&value).map_err(|message| wrong(&KeyPath::new(["rules"]), message))?;
        self.value = Some(value.into_owned());
        Ok(())
    }

    fn take_profiles(
        &mut self,
        value: &Value,
        at: &impl Fn(&str) -> Place,
    ) -> Result<(), RequirementError> {
        let refuse = |name: &str, message: &str| RequirementError {
            message: message.to_owned(),
            place: Box::new(at(name)),
        };
        if let Some(members) = value.get(&["permissions"]).and_then(Value::as_table) {
            self.own_profiles = members
                .iter()
                .filter(|(name, _)| *name != "filesystem")
                .map(|(name, profile)| (name.clone(), profile.clone()))
                .collect();
        }
        let default = value.get(&["default_permissions"]).and_then(Value::as_str);
        let allowed = value
            .get(&["allowed_permission_profiles"])
            .and_then(Value::as_table);
        let Some(allowed) = allowed else {
            return match default {
                Some(_) => Err(refuse(
                    "default_permissions",
                    "`default_permissions` needs `allowed_permission_profiles`",
                )),
                None => Ok(()),
            };
        };
        let allowed: IndexMap<String, bool> = allowed
            .iter()
            .map(|(name, on)| (name.clone(), on.as_bool() == Some(true)))
            .collect();
        let may = |name: &str| allowed.get(name) == Some(&true);
        let default = match default {
            Some(name) if !may(name) => {
                return Err(refuse(
                    "default_permissions",
                    "`default_permissions` is not among the allowed profiles",
                ));
            }
            Some(name) => Required {
                value: name.to_owned(),
                place: at("default_permissions"),
            },
            None if may(":workspace") && may(":read-only") => Required {
                value: ":workspace".to_owned(),
                place: at("allowed_permission_profiles"),
            },
            None => {
                return Err(refuse(
                    "allowed_permission_profiles",
                    "`default_permissions` must be set unless `:workspace` and `:read-only` are allowed",
                ));
            }
        };
        self.default_permissions = Some(default);
        self.profiles = Some(Required {
            value: allowed,
            place: at("allowed_permission_profiles"),
        });
        Ok(())
    }

    fn take_features(&mut self, value: &Value, file: &Layer) -> Result<(), RequirementError> {
        let both = ["features", "feature_requirements"].map(|name| (name, value.get(&[name])));
        if both.iter().all(|(_, table)| table.is_some()) {
            return Err(RequirementError {
                message: "`features` is there twice, once as `feature_requirements`".to_owned(),
                place: Box::new(file.place(&KeyPath::new(["feature_requirements"]))),
            });
        }
        for (name, table) in both {
            for (feature, on) in table.and_then(Value::as_table).into_iter().flatten() {
                let required = Required {
                    value: on.as_bool() == Some(true),
                    place: file.place(&KeyPath::new([name, feature])),
                };
                self.features.insert(feature.clone(), required);
            }
        }
        Ok(())
    }

    fn take_servers(&mut self, value: &Value, file: &Layer) {
        let Some(servers) = value.get(&["mcp_servers"]).and_then(Value::as_table) else {
            return;
        };
        let text = |server: &Value, name: &str| {
            let found = server.get(&["identity", name]).and_then(Value::as_str);
            found.map(str::to_owned)
        };
        let identities = servers
            .iter()
            .filter_map(|(name, server)| {
                // With both, the command counts (scenario `req-mcp-identity-two-keys`).
                let identity = text(server, "command")
                    .map(Identity::Command)
                    .or_else(|| text(server, "url").map(Identity::Url))?;
                Some((name.clone(), identity))
            })
            .collect();
        self.servers = Some(Required {
            value: identities,
            place: file.place(&KeyPath::new(["mcp_servers"])),
        });
    }

    fn take_settings(&mut self, value: &Value, file: &Layer, version: Version) {
        for name in SETTINGS {
            let known = KEYS.key(name).filter(|key| key.is_known(version));
            let (Some(found), Some(known)) = (value.get(&[name]), known) else {
                continue;
            };
            let parts = match only_known(found, &known.value, version) {
                Value::Table(members) => members
                    .into_iter()
                    .map(|(member, value)| (KeyPath::new([*name, &member]), value))
                    .collect(),
                value => vec![(KeyPath::new([*name]), value)],
            };
            self.settings
                .extend(parts.into_iter().map(|(key, value)| Setting {
                    name,
                    required: Required {
                        value,
                        place: file.place(&key),
                    },
                    key,
                }));
        }
    }

    /// What `managed_config.toml` limits by what it sets.
    fn imply(&mut self, managed: &Layer, version: Version) -> Result<(), RequirementError> {
        let value = managed.value();
        let at = |name: &str| managed.place(&KeyPath::new([name]));
        let wrong = |name: &str| RequirementError {
            message: format!("`{name}` is not one that Codex knows"),
            place: Box::new(at(name)),
        };
        let stronger = version.has(Change::ManagedOverRequirements);
        if let Some(policy) = value.get(&["approval_policy"]) {
            let policy =
                ApprovalPolicy::parse(policy, version).ok_or_else(|| wrong("approval_policy"))?;
            if stronger || self.approvals.is_none() {
                self.approvals = Some(Required {
                    value: vec![policy],
                    place: at("approval_policy"),
                });
            }
        }
        if let Some(reviewer) = value.get(&["approvals_reviewer"]) {
            let reviewer = value_word(reviewer)
                .and_then(|word| Reviewer::parse(&word))
                .ok_or_else(|| wrong("approvals_reviewer"))?;
            if stronger || self.reviewers.is_none() {
                let reviewers = match reviewer {
                    Reviewer::User => vec![Reviewer::User],
                    Reviewer::AutoReview => vec![Reviewer::AutoReview, Reviewer::User],
                };
                self.reviewers = Some(Required {
                    value: reviewers,
                    place: at("approvals_reviewer"),
                });
            }
        }
        if let Some(mode) = value.get(&["sandbox_mode"]) {
            let mode = value_word(mode)
                .and_then(|word| SandboxMode::parse(&word))
                .ok_or_else(|| wrong("sandbox_mode"))?;
            if stronger || self.sandbox_modes.is_none() {
                let modes = match mode {
                    SandboxMode::ReadOnly => vec![mode],
                    _ => vec![SandboxMode::ReadOnly, mode],
                };
                self.sandbox_modes = Some(Required {
                    value: modes,
                    place: at("sandbox_mode"),
                });
            }
        }
        Ok(())
    }

    /// Whether there is any limit at all.
    pub fn is_empty(&self, version: Version) -> bool {
        let file = self.value.as_ref().and_then(Value::as_table);
        self.approvals.is_none()
            && self.reviewers.is_none()
            && self.sandbox_modes.is_none()
            && file.is_none_or(|members| {
                members
                    .iter()
                    .all(|(name, value)| KEYS.key(name).is_none() || !limits(name, value, version))
            })
    }

    /// What a feature is switched to for good.
    pub fn feature(&self, name: &str) -> Option<&Required<bool>> {
        self.features.get(name)
    }
}

/// Keys that fix the key of config.toml of that name, or those below it.
const SETTINGS: &[&str] = &[
    "allow_login_shell",
    "chatgpt_base_url",
    "check_for_update_on_startup",
    "cli_auth_credentials_store",
    "feedback",
    "log_dir",
    "model_catalog_json",
    "model_provider",
    "otel",
    "sqlite_home",
];

/// Whether Codex takes what stands at the key `name` for a limit.
fn limits(name: &str, value: &Value, version: Version) -> bool {
    match name {
        // It becomes `allowed_sandbox_modes`, or nothing.
        "remote_sandbox_config" => false,
        "allowed_web_search_modes" | "application" | "experimental_network" | "mcp_servers" => true,
        "hooks" => value.as_table().is_some_and(|members| {
            let known = |name: &String| {
                name.ends_with("managed_dir")
                    || hooks_file::EVENTS.iter().any(|event| event.name == name)
            };
            members.keys().any(known)
        }),
        "permissions" => value
            .get(&["filesystem", "deny_read"])
            .and_then(Value::as_array)
            .is_none_or(|items| !items.is_empty()),
        _ => KEYS
            .key(name)
            .is_some_and(|key| !says_nothing(&only_known(value, &key.value, version))),
    }
}

/// `config_server` must be reached by TLS (seen on 0.171.0).
fn config_server(members: &IndexMap<String, Value>) -> Option<&'static str> {
    let url = members.get("base_url").and_then(Value::as_str)?;
    let is_right = url.starts_with("https://") && !url.contains(['@', '#', '?']);
    (!is_right).then_some("the URL must begin with `https://`, without user, query or fragment")
}

/// The sandbox modes for this machine alone: the first entry with a pattern that its name matches
/// (scenario `req-remote-any-host`).
fn of_host<'v>(value: &'v Value, host: &str) -> Option<&'v Value> {
    let entries = value.get(&["remote_sandbox_config"])?.as_array()?;
    let host = host.to_lowercase();
    let entry = entries.iter().find(|entry| {
        let patterns = entry.get(&["hostname_patterns"]).and_then(Value::as_array);
        patterns
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .any(|pattern| matches(pattern.to_lowercase().as_bytes(), host.as_bytes()))
    })?;
    entry.get(&["allowed_sandbox_modes"])
}

/// Whether `pattern` with `*` and `?` matches the whole of `text`. Time grows with the product of
/// their lengths at most.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(letter) if *letter == b'?' || *letter == text[from] => {
                at += 1;
                from += 1;
            }
            _ => {
                let Some((back, taken)) = star else {
                    return false;
                };
                star = Some((back, taken + 1));
                (at, from) = (back + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|letter| *letter == b'*')
}

/// Whether there is no value in it, however many tables.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Table(members) => members.values().all(says_nothing),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

fn not_empty<T>(value: Vec<T>, place: Place) -> Result<Required<Vec<T>>, RequirementError> {
    if value.is_empty() {
        return Err(RequirementError {
            message: format!("`{}` must not be empty", place.key),
            place: Box::new(place),
        });
    }
    Ok(Required { value, place })
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value
        .as_array()?
        .iter()
        .map(|item| match item {
            Value::String(text) => Some(text.clone()),
            Value::Table(members) => members.first().map(|(word, _)| word.clone()),
            _ => None,
        })
        .collect()
}

/// Scenarios `req-unknown-nested`, `req-rules-no-decision`, `req-rules-allow`.
fn check_rules(value: &Value) -> Result<(), String> {
    let Some(rules) = value
        .get(&["rules", "prefix_rules"])
        .and_then(Value::as_array)
    else {
        return Ok(());
    };
    if rules.is_empty() {
        return Err("`rules.prefix_rules` must not be empty".to_owned());
    }
    for rule in rules {
        match rule.get(&["decision"]).and_then(Value::as_str) {
            None => return Err("a prefix rule has no `decision`".to_owned()),
            Some("allow") => return Err("a required prefix rule may not allow".to_owned()),
            Some(_) => {}
        }
        let pattern = rule
            .get(&["pattern"])
            .and_then(Value::as_array)
            .unwrap_or_default();
        if pattern.is_empty() {
            return Err("a prefix rule has an empty `pattern`".to_owned());
        }
        for element in pattern {
            let token = element.get(&["token"]);
            let any_of = element.get(&["any_of"]).and_then(Value::as_array);
            let is_right = match (token, any_of) {
                (Some(token), None) => token.as_str().is_some_and(|token| !token.is_empty()),
                (None, Some(items)) => {
                    !items.is_empty() && items.iter().all(|item| item.as_str() != Some(""))
                }
                _ => false,
            };
            if !is_right {
                return Err("an element of a pattern is neither `token` nor `any_of`".to_owned());
            }
        }
        let reason = rule.get(&["justification"]).and_then(Value::as_str);
        if reason.is_some_and(|reason| reason.trim().is_empty()) {
            return Err("a `justification` must not be empty".to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_are_all_46_and_one_older_name_in_order() {
        assert_eq!(KEYS.keys.len(), 47);
        assert!(KEYS.keys.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
