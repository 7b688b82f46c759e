//! The answer as JSON, in the words of the app server: what `show --format json` prints and what
//! the scenarios recorded.

use serde_json::{Map, Value as Json, json};

use super::super::check::{knows_server_key, only_known};
use super::super::hooks_file::HandlerKind;
use super::super::keys::{self, Type};
use super::super::layer::{Content, Kind, Layer, Sources};
use super::super::requirements::{KEYS as LIMIT_KEYS, Required, Reviewer};
use super::super::server::{self, Transport};
use super::super::trust::Level;
use super::hooks::{self, HookWarning};
use super::merge::Merged;
use super::sandbox::{Reach, Sandbox, resolve_path, value_word};
use super::{ApprovalPolicy, By, Effective, Hook, SandboxMode, Server, StartError, Why};
use crate::codex::version::{Change, Version};
use crate::document::Value;

/// The keys of the merged configuration that the answer repeats.
const CONFIG_KEYS: [&str; 9] = [
    "approval_policy",
    "approvals_reviewer",
    "sandbox_mode",
    "sandbox_workspace_write",
    "default_permissions",
    "permissions",
    "profile",
    "model_provider",
    "notify",
];

/// The whole answer. Fields that are empty or unknown are left out.
pub fn answer(effective: &Effective, sources: &Sources) -> Json {
    let before = effective.before();
    let mut fields = Map::new();
    fields.insert("version".to_owned(), effective.version.to_string().into());
    fields.insert("starts".to_owned(), effective.starts.is_ok().into());
    let error = effective.starts.as_ref().err();
    fields.insert("error".to_owned(), error.map_or(Json::Null, start_error));
    if let Ok(policy) = &effective.starts {
        let version = effective.version;
        fields.insert(
            "approval_policy".to_owned(),
            approval(policy.approval.value),
        );
        fields.insert(
            "approvals_reviewer".to_owned(),
            policy.reviewer.value.word(version).into(),
        );
        fields.insert("sandbox".to_owned(), sandbox(&policy.sandbox.value));
        if let Some(profile) = &policy.sandbox.value.profile {
            fields.insert("permission_profile".to_owned(), profile.clone().into());
        }
    }
    if let Ok(policy) = &before.starts {
        insert(&mut fields, "origins", origins(before));
        insert(&mut fields, "layers", layers(before));
        insert(&mut fields, "mcp_servers", servers(&policy.servers, before));
        insert(&mut fields, "config", config(before));
        insert(&mut fields, "hooks", all_hooks(before, sources));
    }
    insert(&mut fields, "requirements", requirements(before));
    insert(&mut fields, "ignored", ignored(effective));
    Json::Object(fields)
}

fn insert(fields: &mut Map<String, Json>, name: &str, value: Json) {
    let is_empty = match &value {
        Json::Null => true,
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    };
    if !is_empty {
        fields.insert(name.to_owned(), value);
    }
}

fn start_error(error: &StartError) -> Json {
    let place = error.place.as_deref();
    json!({
        "message": error.message,
        "key": error.key.as_ref().map(ToString::to_string),
        "path": place.and_then(|place| place.path.as_ref()).map(|path| path.display().to_string()),
        "line": place.map(|place| place.line),
        "col": place.map(|place| place.column),
    })
}

/// An approval policy: a word, or the switches.
pub fn approval(policy: ApprovalPolicy) -> Json {
    plain(&policy.value())
}

/// A sandbox as `thread/start` answers it.
pub fn sandbox(sandbox: &Sandbox) -> Json {
    let kind = sandbox.kind();
    match &sandbox.reach {
        Reach::ReadOnly => json!({"type": kind, "networkAccess": sandbox.network}),
        Reach::Workspace {
            roots,
            exclude_tmpdir,
            exclude_slash_tmp,
            ..
        } => {
            let roots: Vec<String> = roots
                .iter()
                .map(|root| root.display().to_string())
                .collect();
            json!({
                "type": kind,
                "networkAccess": sandbox.network,
                "writableRoots": roots,
                "excludeTmpdirEnvVar": exclude_tmpdir,
                "excludeSlashTmp": exclude_slash_tmp,
            })
        }
        Reach::AllFiles => {
            let network = if sandbox.network {
                "enabled"
            } else {
                "restricted"
            };
            json!({"type": kind, "networkAccess": network})
        }
        Reach::Everything => json!({"type": kind}),
    }
}

/// Key path → layer, the strongest first where several speak. Elements of a replaced array stay
/// listed under the weaker layer, as Codex lists them.
fn origins(effective: &Effective) -> Json {
    let mut found = Map::new();
    for layer in counting(effective) {
        let label = layer.label();
        flatten(&layer.value(), &mut Vec::new(), &mut |path| {
            let fixed = &effective.requirements.settings;
            if path.first().is_none_or(|first| first != "projects")
                && !fixed
                    .iter()
                    .any(|fixed| path.starts_with(fixed.key.parts()))
            {
                found.insert(path.join("."), label.clone().into());
            }
        });
    }
    Json::Object(found)
}

fn flatten(value: &Value, path: &mut Vec<String>, visit: &mut impl FnMut(&[String])) {
    match value {
        Value::Table(members) => {
            for (name, member) in members {
                path.push(name.clone());
                flatten(member, path, visit);
                path.pop();
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                path.push(at.to_string());
                flatten(item, path, visit);
                path.pop();
            }
        }
        _ => visit(path),
    }
}

fn counting(effective: &Effective) -> impl Iterator<Item = &Layer> {
    effective
        .layers
        .iter()
        .filter(|layer| layer.disabled.is_none())
}

/// The layers, strong to weak.
fn layers(effective: &Effective) -> Json {
    let user_file = effective
        .layers
        .iter()
        .rev()
        .find(|layer| matches!(layer.kind, Kind::User | Kind::Profile(_)))
        .and_then(|layer| layer.file.as_ref())
        .map(|file| file.display().to_string())
        .unwrap_or_default();
    effective
        .layers
        .iter()
        .rev()
        .map(|layer| {
            let place = match layer.kind {
                Kind::Project => Some(layer.base.display().to_string()),
                _ => layer.file.as_ref().map(|file| file.display().to_string()),
            };
            let mut entry = json!({
                "layer": layer.label(),
                "where": place,
                "empty": layer.is_empty() || matches!(layer.content, Content::Broken { .. }),
            });
            if let Some(disabled) = &layer.disabled {
                let key = &disabled.key;
                let parts = "project-local config, hooks, and exec policies";
                let told = effective.version.has(Change::TellsEffectiveTrust);
                let why = if disabled.level == Level::Untrusted && !told {
                    format!(
                        "{key} is marked as untrusted in {user_file}. To load {parts}, mark it trusted."
                    )
                } else if disabled.level == Level::Untrusted {
                    format!(
                        "{key} is marked as untrusted in the effective configuration. To load {parts}, update its trust setting. If that setting is managed by your organization, contact your administrator."
                    )
                } else {
                    format!("To load {parts}, add {key} as a trusted project in {user_file}.")
                };
                entry["disabled"] = why.into();
            }
            entry
        })
        .collect()
}

fn servers(servers: &[Server], effective: &Effective) -> Json {
    let origins = origins(effective);
    servers
        .iter()
        .map(|server| {
            let prefix = format!("mcp_servers.{}.", server.name);
            let origin: Map<String, Json> = origins
                .as_object()
                .into_iter()
                .flatten()
                .filter_map(|(path, layer)| {
                    Some((path.strip_prefix(&prefix)?.to_owned(), layer.clone()))
                })
                .collect();
            (server.name.clone(), one_server(server, origin, effective))
        })
        .collect::<Map<String, Json>>()
        .into()
}

/// A server with its defaults, as `config/read` tells it.
fn one_server(server: &Server, origin: Map<String, Json>, effective: &Effective) -> Json {
    let version = effective.version;
    let mut entry = Map::new();
    if server.transport == Transport::Stdio {
        entry.insert("args".to_owned(), json!([]));
    }
    entry.insert("environment_id".to_owned(), "local".into());
    for (name, value) in server.value.as_table().into_iter().flatten() {
        let Some(key) = server::key(name).filter(|_| knows_server_key(name, version)) else {
            continue;
        };
        let value = match (key.kind, value) {
            (server::Kind::Seconds, Value::Integer(number)) => json!(seconds(*number)),
            (server::Kind::Milliseconds, Value::Integer(number)) => {
                entry
                    .entry("startup_timeout_sec")
                    .or_insert_with(|| json!(seconds(*number) / 1000.0));
                continue;
            }
            _ => plain(value),
        };
        if name == "oauth" {
            let mut value = value;
            if let Some(oauth) = value.as_object_mut() {
                oauth.retain(|name, _| server::OAUTH_KEYS.contains(&name.as_str()));
                if !version.has(Change::OauthSecret) {
                    oauth.remove("client_secret");
                }
            }
            entry.insert(name.clone(), value);
        } else if name == "tools" && !is_silent_default(name, &value) {
            entry.insert(name.clone(), tools(&value));
        } else if name != "name" && !is_silent_default(name, &value) {
            entry.insert(name.clone(), value);
        }
    }
    entry.insert("enabled".to_owned(), server.enabled.into());
    if let Some(By::Requirement(place)) = &server.disabled_by
        && let Some(path) = &place.path
    {
        let reason = format!("requirements ({})", path.display());
        entry.insert("disabled_reason".to_owned(), reason.into());
    }
    entry.insert("origin".to_owned(), Json::Object(origin));
    let wide = effective.version.has(Change::WideServerNames);
    let rule = &server::NAME_RULES[usize::from(!wide)];
    if server.enabled && !rule.allows(&server.name) {
        entry.insert("startup_error".to_owned(), "the name is not valid".into());
    }
    Json::Object(entry)
}

/// Whether Codex leaves the key out of its list where it has this value (scenarios
/// `server-auth-default`, `server-required-default`).
fn is_silent_default(name: &str, value: &Json) -> bool {
    match name {
        "required" | "supports_parallel_tool_calls" => *value == false,
        "auth" => value == "oauth",
        "startup_readiness" => value == "connection",
        "env_vars" => *value == json!([]),
        "tools" => *value == json!({}),
        _ => false,
    }
}

/// Seconds as Codex tells them. Whole numbers beyond 2^53 lose digits, as they do there.
#[allow(clippy::cast_precision_loss)]
const fn seconds(number: i64) -> f64 {
    number as f64
}

fn tools(value: &Json) -> Json {
    let mut tools = value.clone();
    for tool in tools
        .as_object_mut()
        .into_iter()
        .flat_map(|tools| tools.iter_mut())
    {
        if let Some(members) = tool.1.as_object_mut() {
            members.retain(|name, _| server::TOOL_KEYS.contains(&name.as_str()));
        }
    }
    tools
}

/// The part of the merged configuration that decides.
fn config(effective: &Effective) -> Json {
    let mut found = Map::new();
    for name in CONFIG_KEYS {
        let Some(merged) = effective.merged.get(&[name]) else {
            continue;
        };
        let value = merged.value();
        let told = match name {
            "approval_policy" => ApprovalPolicy::parse(&value, effective.version).map(approval),
            "approvals_reviewer" => value_word(&value)
                .and_then(|word| Reviewer::parse(&word))
                .map(|reviewer| reviewer.word(effective.version).into()),
            "sandbox_mode" => value_word(&value).map(Json::from),
            "sandbox_workspace_write" => Some(workspace_write(effective, merged)),
            "permissions" => {
                let wanted = Type::Table(&keys::PERMISSIONS);
                Some(plain(&only_known(&value, &wanted, effective.version)))
            }
            _ => Some(plain(&value)),
        };
        if let Some(told) = told {
            found.insert(name.to_owned(), told);
        }
    }
    Json::Object(found)
}

fn workspace_write(effective: &Effective, merged: &Merged) -> Json {
    let truth = |name: &str| merged.get(&[name]).and_then(Merged::truth) == Some(true);
    let roots: Vec<String> = merged
        .get(&["writable_roots"])
        .map(Merged::value)
        .iter()
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(Value::as_str)
        .map(|root| {
            let path = resolve_path(root, &effective.cwd, effective.home.as_deref());
            path.display().to_string()
        })
        .collect();
    json!({
        "writable_roots": roots,
        "network_access": truth("network_access"),
        "exclude_tmpdir_env_var": truth("exclude_tmpdir_env_var"),
        "exclude_slash_tmp": truth("exclude_slash_tmp"),
    })
}

fn all_hooks(effective: &Effective, sources: &Sources) -> Json {
    let Ok(policy) = &effective.starts else {
        return Json::Null;
    };
    let warnings: Vec<String> = hooks::warnings(effective, sources)
        .iter()
        .map(warning)
        .collect();
    if policy.hooks.is_empty() && warnings.is_empty() {
        return Json::Null;
    }
    let hooks: Vec<Json> = policy.hooks.iter().map(hook).collect();
    json!({"hooks": hooks, "errors": [], "warnings": warnings})
}

fn hook(hook: &Hook) -> Json {
    let mut name = hook.handler.event.name.to_owned();
    name[..1].make_ascii_lowercase();
    let mut entry = json!({
        "event": name,
        "type": match hook.handler.kind {
            HandlerKind::Command => "command",
            HandlerKind::McpTool => "mcpTool",
        },
        "source": hook.source,
        "path": hook.path.display().to_string(),
        "enabled": hook.enabled,
        "trust": hook.trust.word(),
        "timeout": hook.handler.timeout,
    });
    if let Some(matcher) = &hook.handler.matcher {
        entry["matcher"] = matcher.clone().into();
    }
    if let Some(command) = &hook.handler.command {
        entry["command"] = command.clone().into();
    }
    entry
}

fn warning(warning: &HookWarning) -> String {
    match warning {
        HookWarning::Void(path, why) => format!("{} is void: {why}", path.display()),
        HookWarning::Skipped(path, skipped) => {
            format!("left out of {}: {skipped:?}", path.display())
        }
        HookWarning::Both(json, toml) => {
            format!("hooks in both {} and {}", json.display(), toml.display())
        }
    }
}

/// The limits, as far as `configRequirements/read` tells them.
fn requirements(effective: &Effective) -> Json {
    let limits = &effective.requirements;
    let version = effective.version;
    if limits.is_empty(version) {
        return Json::Null;
    }
    let value = limits.value.as_ref();
    let get = |path: &[&str]| value.and_then(|value| value.get(path)).map(plain);
    let mut found = Map::new();
    let mut methods: Vec<String> = vec!["api".to_owned(), "chatgpt".to_owned()];
    if let Some(Json::Array(allowed)) = get(&["allowed_login_methods"]) {
        methods.retain(|method| allowed.contains(&Json::from(method.clone())));
    }
    if version.has(Change::TellsLoginMethods) {
        found.insert("allowedLoginMethods".to_owned(), methods.into());
    }
    if let Some(Required { value, .. }) = &limits.approvals {
        let policies: Vec<Json> = value.iter().map(|policy| approval(*policy)).collect();
        found.insert("allowedApprovalPolicies".to_owned(), policies.into());
    }
    if let Some(Required { value, .. }) = &limits.reviewers {
        let words: Vec<&str> = value
            .iter()
            .map(|reviewer| reviewer.word(version))
            .collect();
        found.insert("allowedApprovalsReviewers".to_owned(), words.into());
    }
    if let Some(Required { value, .. }) = &limits.sandbox_modes {
        let words: Vec<&str> = value.iter().copied().map(SandboxMode::word).collect();
        found.insert("allowedSandboxModes".to_owned(), words.into());
    }
    if let Some(Required { value, .. }) = &limits.profiles {
        let profiles: Map<String, Json> = value
            .iter()
            .map(|(name, may)| (name.clone(), (*may).into()))
            .collect();
        found.insert("allowedPermissionProfiles".to_owned(), profiles.into());
    }
    if version.has(Change::PermissionProfilePins)
        && let Some(name) = get(&["default_permissions"])
    {
        found.insert("defaultPermissions".to_owned(), name);
    }
    if let Some(Required { value, .. }) = &limits.web_search {
        let mut modes = value.clone();
        if !modes.iter().any(|mode| mode == "disabled") {
            modes.push("disabled".to_owned());
        }
        found.insert("allowedWebSearchModes".to_owned(), modes.into());
    }
    if !limits.features.is_empty() {
        let features: Map<String, Json> = limits
            .features
            .iter()
            .map(|(name, required)| (name.clone(), required.value.into()))
            .collect();
        found.insert("featureRequirements".to_owned(), features.into());
    }
    let told = limits
        .value
        .iter()
        .flat_map(|value| told_as_written(value, version));
    found.extend(told);
    Json::Object(found)
}

/// Limits that are told as they are written, by the name that the app server gives them.
const TOLD: [(&str, &str); 16] = [
    (
        "additional_developer_instructions",
        "additionalDeveloperInstructions",
    ),
    ("allow_appshots", "allowAppshots"),
    (
        "allow_browser_and_computer_use",
        "allowBrowserAndComputerUse",
    ),
    ("allow_login_shell", "allowLoginShell"),
    ("allow_managed_hooks_only", "allowManagedHooksOnly"),
    ("allow_remote_control", "allowRemoteControl"),
    ("browser_use", "browserUse"),
    ("chatgpt_base_url", "chatgptBaseUrl"),
    ("check_for_update_on_startup", "checkForUpdateOnStartup"),
    ("cli_auth_credentials_store", "cliAuthCredentialsStore"),
    ("computer_use", "computerUse"),
    ("enforce_residency", "enforceResidency"),
    ("feedback", "feedback"),
    ("log_dir", "logDir"),
    ("model_provider", "modelProvider"),
    ("sqlite_home", "sqliteHome"),
];

fn told_as_written(value: &Value, version: Version) -> Vec<(String, Json)> {
    let known = |name: &str| {
        let key = LIMIT_KEYS.key(name)?;
        Some(plain(&only_known(value.get(&[name])?, &key.value, version)))
    };
    let mut found: Vec<(String, Json)> = TOLD
        .iter()
        .filter_map(|(name, told)| {
            let value = match known(name)? {
                Json::Object(members) => members
                    .into_iter()
                    .map(|(name, value)| (camel(&name), value))
                    .collect::<Map<String, Json>>()
                    .into(),
                Json::String(path) if matches!(*name, "log_dir" | "sqlite_home") => {
                    format!("file://{path}").into()
                }
                other => other,
            };
            Some(((*told).to_owned(), value))
        })
        .collect();
    if let Some(application) = known("application") {
        let mut network = json!({"enabled": true, "domains": {}});
        let given = application["network"].as_object().cloned();
        if let Some(network) = network.as_object_mut() {
            network.extend(given.into_iter().flatten());
        }
        let mut whole = json!({ "network": network });
        if let Some(storage) = application.get("storage") {
            whole["storage"] = storage.clone();
        }
        found.push(("application".to_owned(), whole));
    }
    found.extend(known("otel").map(|otel| ("otel".to_owned(), otel)));
    if let Some(Json::Object(providers)) = known("model_providers") {
        let providers: Map<String, Json> = providers
            .into_iter()
            .map(|(name, provider)| {
                let mut whole = json!({
                    "wire_api": "responses",
                    "requires_openai_auth": false,
                    "supports_websockets": false,
                    "supports_standalone_web_search": false,
                });
                if let (Some(whole), Json::Object(given)) = (whole.as_object_mut(), provider) {
                    whole.extend(given);
                }
                (name, whole)
            })
            .collect();
        found.push(("modelProviders".to_owned(), providers.into()));
    }
    found
}

/// `a_name` as `aName`.
fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.extend(letters);
    }
    camel
}

/// Keys that Codex ignores with a warning, by layer.
fn ignored(effective: &Effective) -> Json {
    if !effective.version.has(Change::WarnsOfUnknownKeys) {
        return Json::Null;
    }
    effective
        .dropped
        .iter()
        .filter(|dropped| dropped.why == Why::UnknownKey)
        .map(|dropped| {
            json!({
                "layer": dropped.place.layer,
                "key": dropped.place.key.parts().join("."),
            })
        })
        .collect()
}

/// A value of TOML as JSON.
pub fn plain(value: &Value) -> Json {
    match value {
        Value::String(text) | Value::Datetime(text) => text.clone().into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => json!(number),
        Value::Boolean(value) => (*value).into(),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Table(members) => members
            .iter()
            .map(|(name, member)| (name.clone(), plain(member)))
            .collect::<Map<String, Json>>()
            .into(),
    }
}
