//! The keys of Codex's config.toml and what may stand as their values, as tables.
//!
//! All 109 root keys and the tables below them, as the error messages and the strict mode of
//! 0.171.0 gave them away. A table lists its keys in Codex's own order where that is known,
//! because a table may be written as an array in that order (scenario `sandbox-ww-array`). [`Key::since`]
//! dates the keys that not all versions know: each was asked with a wrong value, which a version
//! that does not know the key passes over.
//! MCP servers, features and hooks have tables of their own: [`super::server`],
//! [`super::features`], [`super::hooks_file`].
//!
//! Not listed key by key: `[tui]`'s key bindings, features that are tables, exporters of `[otel]`,
//! apps. Their contents are taken as they are.

use indexmap::IndexMap;

use super::server::OAUTH_METHODS;
use super::version::Version;
use crate::document::Value;

/// What a value must be. A TOML date counts as a string where text stands (scenario
/// `shape-datetime-as-string`).
#[derive(Debug, Clone, Copy)]
pub enum Type {
    /// A string.
    Text,
    /// A string with something in it.
    Filled,
    /// `true` or `false`.
    Boolean,
    /// An integer between these two, both included.
    Integer(i64, i64),
    /// One of these words. Codex also takes a table of one word with nothing in it.
    Word(&'static [&'static str]),
    /// A path; a relative one is relative to the file's folder.
    Path,
    /// An array.
    List(&'static Type),
    /// A table with any keys.
    Map(&'static Type),
    /// A table with these keys.
    Table(&'static Table),
    /// A table with anything in it.
    AnyTable,
    /// Anything.
    Any,
    /// One of these types.
    OneOf(&'static [Type]),
    /// An approval policy.
    Approval,
    /// A table of MCP servers.
    Servers,
    /// A table of features.
    Features,
    /// A table of hooks.
    Hooks,
}

/// A table with known keys.
#[derive(Debug)]
pub struct Table {
    /// Its keys.
    pub keys: &'static [Key],
    /// What becomes of other keys.
    pub rest: Rest,
    /// What becomes of an array in its place.
    pub array: Array,
    /// What must hold besides; Codex points at the table then.
    pub rule: Option<Rule>,
}

/// What must hold for a table as a whole: says what is wrong.
pub type Rule = fn(&IndexMap<String, Value>) -> Option<&'static str>;

/// What becomes of keys that a table does not know.
#[derive(Debug, Clone, Copy)]
pub enum Rest {
    /// Ignored with a warning; an error with `--strict-config`.
    Warned,
    /// Ignored without a word.
    Silent,
    /// Ignored without a word; an error with `--strict-config`.
    Strict,
    /// Codex does not start.
    Refused,
    /// They are entries of this type.
    Entries(&'static Type),
    /// They are entries of this type. Codex then points at the table as a whole and warns of
    /// nothing in it.
    Each(&'static Type),
}

/// What becomes of an array in a table's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Array {
    /// Codex does not start.
    Refused,
    /// The values of the keys in their order, all of them.
    Whole,
    /// The values of the keys in their order, as many as one likes.
    Short,
}

/// One key of a table.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value must be.
    pub value: Type,
    /// Whether it must be there.
    pub needed: bool,
    /// The first version of those asked that knows it; none: all of them do. An older one passes
    /// over it, whatever its value.
    pub since: Option<Version>,
}

impl Key {
    /// Whether `version` knows it.
    pub fn is_known(&self, version: Version) -> bool {
        self.since.is_none_or(|since| version >= since)
    }
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

/// `key`, known since a version.
pub(super) const fn since(minor: u32, patch: u32, key: Key) -> Key {
    Key {
        since: Some(Version::new(0, minor, patch)),
        ..key
    }
}

impl Table {
    const fn whole(keys: &'static [Key]) -> Self {
        Self {
            keys,
            rest: Rest::Warned,
            array: Array::Whole,
            rule: None,
        }
    }

    const fn short(keys: &'static [Key]) -> Self {
        Self {
            keys,
            rest: Rest::Warned,
            array: Array::Short,
            rule: None,
        }
    }

    const fn entries(keys: &'static [Key], each: &'static Type) -> Self {
        Self {
            keys,
            rest: Rest::Each(each),
            array: Array::Refused,
            rule: None,
        }
    }

    /// The key named `name`.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

use Type::{
    AnyTable, Approval, Boolean, Features, Filled, Hooks, Integer, List, Map, OneOf, Path, Servers,
    Text, Word,
};

/// An integer that is not negative.
const COUNT: Type = Integer(0, i64::MAX);
/// An integer above zero.
const POSITIVE: Type = Integer(1, i64::MAX);
/// Any integer.
const ANY_INTEGER: Type = Integer(i64::MIN, i64::MAX);
/// An integer of 32 bits, not negative.
const U32: Type = Integer(0, u32::MAX as i64);

/// The sandbox modes.
pub const SANDBOX_MODES: &[&str] = &["read-only", "workspace-write", "danger-full-access"];
/// Who answers for the person.
pub const REVIEWERS: &[&str] = &["user", "auto_review", "guardian_subagent"];
/// How web search works.
pub const WEB_SEARCH: &[&str] = &["disabled", "cached", "indexed", "live"];
/// The levels of trust.
pub const TRUST_LEVELS: &[&str] = &["trusted", "untrusted"];
/// What a permission profile may give to a path.
pub const ACCESS: &[&str] = &["read", "write", "deny", "none"];

/// Keys that are still read by an older name, each with the name that Codex lists them under, in
/// a layer that is wrong elsewhere as well (scenarios `agents-max-threads-alias`,
/// `memories-older-key-name`).
pub const OLDER_KEYS: &[(&[&str], &str)] = &[
    (
        &["agents", "max_threads"],
        "max_concurrent_threads_per_session",
    ),
    (
        &["memories", "no_memories_if_mcp_or_web_search"],
        "disable_on_external_context",
    ),
];

const PERSONALITIES: &[&str] = &["none", "friendly", "pragmatic"];
const SUMMARIES: &[&str] = &["auto", "concise", "detailed", "none"];
const VERBOSITIES: &[&str] = &["low", "medium", "high"];

static TEXTS: Type = List(&Text);
static TEXT_TABLE: Type = Map(&Text);
static SWITCH: Table = Table::whole(&[key("enabled", Boolean)]);

static AGENT_ROLE: Type = Type::Table(&Table::whole(&[
    key("description", Text),
    key("config_file", Path),
    key("nickname_candidates", TEXTS),
]));

static AGENTS: Table = Table::entries(
    &[
        key("enabled", Boolean),
        key("max_concurrent_threads_per_session", POSITIVE),
        key("max_threads", POSITIVE),
        key("max_depth", Integer(i32::MIN as i64, i32::MAX as i64)),
        key("job_max_runtime_seconds", COUNT),
        key("default_subagent_model", Text),
        key("default_subagent_reasoning_effort", Filled),
        key("interrupt_message", Boolean),
    ],
    &AGENT_ROLE,
);

static APP: Type = Type::Table(&Table {
    keys: &[
        key("enabled", Boolean),
        key("approvals_reviewer", Word(REVIEWERS)),
    ],
    rest: Rest::Silent,
    array: Array::Short,
    rule: None,
});

static AUDIO: Table = Table::whole(&[
    since(
        171,
        0,
        key(
            "microphone_channel",
            OneOf(&[
                Integer(1, u16::MAX as i64),
                List(&Integer(1, u16::MAX as i64)),
            ]),
        ),
    ),
    key("microphone", Text),
    key("speaker", Text),
]);

static AUTO_REVIEW: Table = Table::whole(&[
    key("circuit_break_action", Word(&["default", "strict"])),
    key("policy", Text),
    key("timeout_ms", U32),
    key("conversation_history_max_output_tokens", POSITIVE),
    key("experimental_conversation_history_prompt", Text),
]);

static ORIGIN_POLICY: Table = Table {
    keys: &[],
    rest: Rest::Strict,
    array: Array::Refused,
    rule: None,
};
static ORIGIN: Type = Type::Table(&ORIGIN_POLICY);

static BROWSER_USE: Table = Table::whole(&[
    key("allow_history_access", Boolean),
    key("default_origin_policy", ORIGIN),
    key("origins", Map(&ORIGIN)),
]);

static COMPUTER_USE_APPS: Table = Table {
    keys: &[key("apps", AnyTable)],
    rest: Rest::Silent,
    array: Array::Whole,
    rule: None,
};

static COMPUTER_USE: Table = Table::whole(&[
    key("default_app_access", Word(&["allow", "deny"])),
    key("macos", Type::Table(&COMPUTER_USE_APPS)),
    key("windows", AnyTable),
]);

static GHOST_SNAPSHOT: Table = Table::whole(&[
    key("ignore_large_untracked_files", ANY_INTEGER),
    key("ignore_large_untracked_dirs", ANY_INTEGER),
    key("disable_warnings", Boolean),
    key("ignore_untracked_files_over_bytes", ANY_INTEGER),
    key("large_untracked_dir_warning_threshold", ANY_INTEGER),
]);

static HISTORY: Table = Table::short(&[
    key("persistence", Word(&["save-all", "none"])),
    key("max_bytes", COUNT),
]);

static MARKETPLACE: Type = Type::Table(&Table::short(&[
    key("auto_update", Boolean),
    key("last_updated", Text),
    key("last_revision", Text),
    key("source_type", Word(&["git", "local"])),
    key("source", Text),
    key("ref", Text),
    key("sparse_paths", TEXTS),
]));

static MEMORIES: Table = Table::whole(&[
    key("version", Word(&["v1", "v2"])),
    key("dual_write", Boolean),
    key("disable_on_external_context", Boolean),
    key("no_memories_if_mcp_or_web_search", Boolean),
    key("generate_memories", Boolean),
    key("use_memories", Boolean),
    key("dedicated_tools", Boolean),
    key("max_raw_memories_for_consolidation", COUNT),
    key("max_unused_days", ANY_INTEGER),
    key("max_rollout_age_days", ANY_INTEGER),
    key("max_rollouts_per_startup", COUNT),
    key("min_rollout_idle_hours", ANY_INTEGER),
    key("min_rate_limit_remaining_percent", ANY_INTEGER),
    key("extract_model", Text),
    key("consolidation_model", Text),
    key("consolidation_service_tier", Text),
]);

/// Providers that are built in, and cannot be written anew.
pub const PROVIDERS: &[&str] = &["openai", "amazon-bedrock", "ollama", "lmstudio"];

/// What must hold for all providers (seen on 0.171.0).
fn providers(members: &IndexMap<String, Value>) -> Option<&'static str> {
    for (name, provider) in members {
        if name == "amazon-bedrock" {
            if provider.get(&["name"]).is_some() {
                return Some("only some keys of the built-in provider can be set");
            }
            continue;
        }
        if PROVIDERS.contains(&name.as_str()) {
            return Some("a built-in provider cannot be written anew");
        }
        let is_called = match provider.get(&["name"]) {
            Some(Value::String(name) | Value::Datetime(name)) => !name.trim().is_empty(),
            _ => false,
        };
        if !is_called {
            return Some("a provider needs a `name`");
        }
        if provider.get(&["aws"]).is_some() {
            return Some("`aws` is for `amazon-bedrock` alone");
        }
        let with_auth = ["env_key", "experimental_bearer_token"];
        if provider.get(&["auth"]).is_some()
            && (with_auth.iter().any(|key| provider.get(&[*key]).is_some())
                || provider
                    .get(&["requires_openai_auth"])
                    .and_then(Value::as_bool)
                    == Some(true))
        {
            return Some("`auth` of a provider stands alone");
        }
    }
    None
}

static PROVIDER_AUTH: Table = Table {
    keys: &[needed("command", Text)],
    rest: Rest::Strict,
    array: Array::Short,
    rule: None,
};

static MODEL_PROVIDERS: Table = Table {
    keys: &[],
    rest: Rest::Entries(&MODEL_PROVIDER),
    array: Array::Refused,
    rule: Some(providers),
};

/// The keys of a model provider.
pub const PROVIDER_KEYS: &[Key] = &[
    key("name", Text),
    key("base_url", Text),
    key("env_key", Text),
    key("env_key_instructions", Text),
    key("experimental_bearer_token", Text),
    key("auth", Type::Table(&PROVIDER_AUTH)),
    key("aws", AnyTable),
    key("wire_api", Word(&["responses"])),
    key("query_params", TEXT_TABLE),
    key("http_headers", TEXT_TABLE),
    key("env_http_headers", TEXT_TABLE),
    key("request_max_retries", COUNT),
    key("stream_max_retries", COUNT),
    key("stream_idle_timeout_ms", COUNT),
    key("websocket_connect_timeout_ms", COUNT),
    key("requires_openai_auth", Boolean),
    key("supports_websockets", Boolean),
];

static MODEL_PROVIDER: Type = Type::Table(&Table::whole(PROVIDER_KEYS));

static NOTICE: Table = Table::whole(&[
    key("hide_full_access_warning", Boolean),
    key("hide_world_writable_warning", Boolean),
    key("hide_gov_cloud_guidance", Boolean),
    key("fast_default_opt_out", Boolean),
    key("hide_rate_limit_model_nudge", Boolean),
    key("hide_gpt5_1_migration_prompt", Boolean),
    key("hide_gpt-5.1-codex-max_migration_prompt", Boolean),
    key("model_migrations", TEXT_TABLE),
    key("external_config_migration_prompts", AnyTable),
]);

static EXPORTER: Type = OneOf(&[
    Word(&["none", "statsig"]),
    Type::Table(&Table {
        keys: &[key("otlp-http", AnyTable), key("otlp-grpc", AnyTable)],
        rest: Rest::Refused,
        array: Array::Refused,
        rule: Some(one_exporter),
    }),
]);

fn one_exporter(members: &IndexMap<String, Value>) -> Option<&'static str> {
    (members.len() != 1).then_some("there must be one exporter")
}

static OTEL: Table = Table::whole(&[
    key("log_user_prompt", Boolean),
    key("log_agent_responses", Boolean),
    key("log_guardian_assessments", Boolean),
    key("log_sse_deltas", Boolean),
    key("environment", Text),
    key("exporter", EXPORTER),
    key("trace_exporter", EXPORTER),
    key("metrics_exporter", EXPORTER),
    key("headers_helper", Text),
    key("headers_helper_refresh_interval_ms", POSITIVE),
    key("span_attributes", TEXT_TABLE),
    key("tool_result", OneOf(&[AnyTable, List(&COUNT)])),
    key("tracestate", Map(&TEXT_TABLE)),
]);

static FILESYSTEM: Table = Table::entries(
    &[key("glob_scan_max_depth", COUNT)],
    &OneOf(&[Word(ACCESS), Map(&Word(ACCESS))]),
);

static NETWORK: Table = Table::whole(&[
    key("enabled", Boolean),
    key("proxy_url", Text),
    key("enable_socks5", Boolean),
    key("socks_url", Text),
    key("enable_socks5_udp", Boolean),
    key("allow_upstream_proxy", Boolean),
    key("dangerously_allow_non_loopback_proxy", Boolean),
    key("dangerously_allow_all_unix_sockets", Boolean),
    key("mode", Word(&["limited", "full"])),
    key("domains", Map(&Word(&["allow", "deny"]))),
    key("unix_sockets", Map(&Word(&["allow", "deny"]))),
    key("allow_local_binding", Boolean),
    key(
        "mitm",
        Type::Table(&Table {
            keys: &[
                key("version", ANY_INTEGER),
                key("hooks", AnyTable),
                key("actions", AnyTable),
            ],
            rest: Rest::Refused,
            array: Array::Refused,
            rule: None,
        }),
    ),
]);

/// A permission profile.
pub static PERMISSION_PROFILE: Type = Type::Table(&Table::whole(&[
    key("description", Text),
    key("extends", Text),
    key("workspace_roots", Map(&Boolean)),
    key("filesystem", Type::Table(&FILESYSTEM)),
    key("network", Type::Table(&NETWORK)),
]));

/// `[permissions]`: profiles by name.
pub static PERMISSIONS: Table = Table::entries(&[], &PERMISSION_PROFILE);

static PLUGIN: Type = Type::Table(&Table::short(&[
    key("enabled", Boolean),
    key("mcp_servers", AnyTable),
]));

/// The keys of `[profiles.X]`, which loads, is checked, and does nothing (scenarios
/// `profile-table-only`, `profile-bad-content`).
static PROFILE: Type = Type::Table(&Table::whole(&[
    key("model", Text),
    key("service_tier", Text),
    key("model_provider", Text),
    key("approval_policy", Approval),
    key("approvals_reviewer", Word(REVIEWERS)),
    key("sandbox_mode", Word(SANDBOX_MODES)),
    key("model_reasoning_effort", Filled),
    key("plan_mode_reasoning_effort", Filled),
    key("model_reasoning_summary", Word(SUMMARIES)),
    key("model_verbosity", Word(VERBOSITIES)),
    key("model_catalog_json", Path),
    key("personality", Word(PERSONALITIES)),
    key("chatgpt_base_url", Text),
    key("model_instructions_file", Path),
    key("js_repl_node_path", Path),
    key("js_repl_node_module_dirs", List(&Path)),
    key("experimental_compact_prompt_file", Path),
    key("include_permissions_instructions", Boolean),
    key("include_apps_instructions", Boolean),
    key("include_collaboration_mode_instructions", Boolean),
    key("include_environment_context", Boolean),
    key("include_environment_context_time", Boolean),
    key("experimental_use_unified_exec_tool", Boolean),
    key("tools", Type::Table(&TOOLS)),
    key("web_search", Word(WEB_SEARCH)),
    key("analytics", Type::Table(&SWITCH)),
    key("tui", AnyTable),
    key("windows", Type::Table(&WINDOWS)),
    key("features", Features),
    key("oss_provider", Text),
]));

/// `[hooks.state]`: what is known of each hook.
pub static HOOK_STATES: Type = Map(&HOOK_STATE);

static HOOK_STATE: Type = Type::Table(&Table::short(&[
    key("enabled", Boolean),
    key("trusted_hash", Text),
]));

/// An entry of `[projects]`.
pub static PROJECT: Type = Type::Table(&Table::whole(&[key("trust_level", Word(TRUST_LEVELS))]));

#[rustfmt::skip]
static VOICES: &[&str] = &[
    "alloy", "arbor", "ash", "aube", "ballad", "breeze", "bubbie", "cedar", "coral", "cove", "echo",
    "ember", "haetsal", "hanul", "himari", "juniper", "leher", "maple", "marin", "miko", "neer",
    "porto", "rindo", "rio", "rivage", "sage", "selva", "shimmer", "sol", "sonna", "spruce",
    "tinta", "vale", "verse", "viola",
];

static REALTIME: Table = Table::whole(&[
    key("version", Word(&["v1", "v2", "v3"])),
    key("type", Word(&["conversational", "transcription"])),
    key("transport", Word(&["webrtc", "websocket"])),
    key("voice", Word(VOICES)),
]);

/// `[sandbox_workspace_write]`: counts whenever the mode in force is workspace-write.
pub static WORKSPACE_WRITE: Table = Table::short(&[
    key("writable_roots", List(&Path)),
    key("network_access", Boolean),
    key("exclude_tmpdir_env_var", Boolean),
    key("exclude_slash_tmp", Boolean),
]);

static SHELL_ENVIRONMENT: Table = Table {
    keys: &[
        key("inherit", Word(&["core", "all", "none"])),
        key("ignore_default_excludes", Boolean),
        key("exclude", TEXTS),
        key("set", TEXT_TABLE),
        key("include_only", TEXTS),
        key("experimental_use_profile", Boolean),
        key("filters", Map(&Word(&["include", "exclude"]))),
    ],
    rest: Rest::Warned,
    array: Array::Whole,
    rule: Some(one_kind_of_filter),
};

fn one_kind_of_filter(members: &IndexMap<String, Value>) -> Option<&'static str> {
    let older = members.contains_key("exclude") || members.contains_key("include_only");
    (older && members.contains_key("filters"))
        .then_some("`filters` stands beside `exclude` or `include_only`")
}

static SKILL: Type = Type::Table(&Table::whole(&[
    key("path", Path),
    key("name", Text),
    needed("enabled", Boolean),
]));

static SKILLS: Table = Table::short(&[
    key(
        "bundled",
        Type::Table(&Table::short(&[key("enabled", Boolean)])),
    ),
    key("include_instructions", Boolean),
    key("config", List(&SKILL)),
]);

static THREAD_STORE: Table = Table {
    keys: &[
        needed("type", Word(&["local", "in_memory"])),
        key("id", Text),
    ],
    rest: Rest::Silent,
    array: Array::Refused,
    rule: Some(memory_has_a_name),
};

fn memory_has_a_name(members: &IndexMap<String, Value>) -> Option<&'static str> {
    let kind = members.get("type").and_then(Value::as_str);
    (kind == Some("in_memory") && !members.contains_key("id")).then_some("`id` is missing")
}

static SUGGESTION: Type = Type::Table(&Table::whole(&[
    needed("type", Word(&["connector", "plugin"])),
    needed("id", Text),
]));

static TOOL_SUGGEST: Table = Table::short(&[
    key("discoverables", List(&SUGGESTION)),
    key("disabled_tools", List(&SUGGESTION)),
]);

static TOOLS: Table = Table::whole(&[
    key("web_search", OneOf(&[Boolean, AnyTable])),
    key(
        "experimental_request_user_input",
        Type::Table(&Table::short(&[key("enabled", Boolean)])),
    ),
]);

static TUI: Table = Table {
    keys: &[
        key("animations", Boolean),
        key("show_tooltips", Boolean),
        key("show_mcp_startup_status", Boolean),
        key("vim_mode_default", Boolean),
        key("raw_output_mode", Boolean),
        key("alternate_screen", Word(&["auto", "always", "never"])),
        key("status_line", TEXTS),
        key("status_line_use_colors", Boolean),
        key("terminal_title", TEXTS),
        key("theme", Text),
        key("pet", Text),
        key("pet_anchor", Word(&["composer", "screen-bottom"])),
        key("session_picker_view", Word(&["comfortable", "dense"])),
        key("keymap", AnyTable),
        key("model_availability_nux", Map(&U32)),
        key("terminal_resize_reflow_max_rows", COUNT),
        key("notifications", OneOf(&[Boolean, TEXTS])),
        key("notification_method", Word(&["auto", "osc9", "bel"])),
        key("notification_condition", Word(&["unfocused", "always"])),
    ],
    rest: Rest::Strict,
    array: Array::Refused,
    rule: None,
};

static ISSUER: Table = Table {
    keys: &[
        needed("issuer", Text),
        needed("client_id", Text),
        key("client_secret", Text),
        key("token_endpoint_auth_method", Word(OAUTH_METHODS)),
    ],
    rest: Rest::Refused,
    array: Array::Short,
    rule: None,
};

static WINDOWS: Table = Table::whole(&[
    key("sandbox", Word(&["elevated", "unelevated", "mxc"])),
    since(171, 0, key("allow_mxc", Boolean)),
]);

/// The whole of config.toml: 109 keys by name. As an array it is refused, since TOML has none there.
#[rustfmt::skip]
pub static ROOT: Table = Table {
    keys: &[
        key("agents", Type::Table(&AGENTS)),
        key("allow_login_shell", Boolean),
        since(154, 0, key("allow_symlinked_codex_home", Boolean)),
        key("analytics", Type::Table(&SWITCH)),
        key("approval_policy", Approval),
        key("approvals_reviewer", Word(REVIEWERS)),
        key("apps", Type::Table(&Table::entries(&[key("_default", AnyTable)], &APP))),
        key("apps_mcp_product_sku", Text),
        key("audio", Type::Table(&AUDIO)),
        key("auto_review", Type::Table(&AUTO_REVIEW)),
        key("background_terminal_max_timeout", COUNT),
        since(154, 0, key("browser_use", Type::Table(&BROWSER_USE))),
        key("chatgpt_base_url", Text),
        key("check_for_update_on_startup", Boolean),
        key("cli_auth_credentials_store", Word(&["file", "keyring", "auto", "ephemeral"])),
        since(160, 1, key("cloud", Type::Table(&Table::whole(&[key("skills", Type::Table(&SWITCH))])))),
        since(171, 0, key("code_mode", Type::Table(&Table::whole(&[key("heartbeat_interval_s", U32)])))),
        key("compact_prompt", Text),
        since(154, 0, key("computer_use", Type::Table(&COMPUTER_USE))),
        since(171, 0, key("daybreak", Boolean)),
        key("default_permissions", Text),
        key("desktop", AnyTable),
        key("developer_instructions", Text),
        key("disable_paste_burst", Boolean),
        key("experimental_compact_prompt_file", Path),
        key("experimental_realtime_start_instructions", Text),
        since(147, 0, key("experimental_realtime_webrtc_call_base_url", Text)),
        key("experimental_realtime_ws_backend_prompt", Text),
        key("experimental_realtime_ws_base_url", Text),
        key("experimental_realtime_ws_model", Text),
        key("experimental_realtime_ws_startup_context", Text),
        key("experimental_thread_store", Type::Table(&THREAD_STORE)),
        key("experimental_thread_store_endpoint", Text),
        key("experimental_use_unified_exec_tool", Boolean),
        key("features", Features),
        key("feedback", Type::Table(&SWITCH)),
        key("file_opener", Word(&["vscode", "vscode-insiders", "windsurf", "cursor", "none"])),
        key("forced_chatgpt_workspace_id", OneOf(&[Text, TEXTS])),
        key("forced_login_method", Word(&["chatgpt", "api"])),
        key("ghost_snapshot", Type::Table(&GHOST_SNAPSHOT)),
        since(154, 0, key("goals", Type::Table(&Table::whole(&[key("max_goal_token_budget", POSITIVE)])))),
        key("hide_agent_reasoning", Boolean),
        key("history", Type::Table(&HISTORY)),
        key("hooks", Hooks),
        key("include_apps_instructions", Boolean),
        key("include_collaboration_mode_instructions", Boolean),
        key("include_environment_context", Boolean),
        since(171, 0, key("include_environment_context_time", Boolean)),
        key("include_permissions_instructions", Boolean),
        key("instructions", Text),
        key("js_repl_node_module_dirs", List(&Path)),
        key("js_repl_node_path", Path),
        key("log_dir", Path),
        key("marketplaces", Map(&MARKETPLACE)),
        since(160, 1, key("mcp_enterprise_managed_auth", Type::Table(&Table { keys: &[needed("idp", Type::Table(&ISSUER))], rest: Rest::Refused, array: Array::Whole, rule: None }))),
        key("mcp_oauth_callback_port", Integer(0, u16::MAX as i64)),
        key("mcp_oauth_callback_url", Text),
        key("mcp_oauth_credentials_store", Word(&["auto", "file", "keyring"])),
        since(154, 0, key("mcp_optional_startup_grace_ms", COUNT)),
        key("mcp_servers", Servers),
        key("memories", Type::Table(&MEMORIES)),
        key("model", Text),
        key("model_auto_compact_token_limit", ANY_INTEGER),
        key("model_auto_compact_token_limit_scope", Word(&["total", "body_after_prefix"])),
        key("model_catalog_json", Path),
        key("model_context_window", ANY_INTEGER),
        key("model_instructions_file", Path),
        since(160, 1, key("model_post_turn_compact_threshold_percent", Integer(0, u8::MAX as i64))),
        key("model_provider", Text),
        key("model_providers", Type::Table(&MODEL_PROVIDERS)),
        key("model_reasoning_effort", Filled),
        key("model_reasoning_summary", Word(SUMMARIES)),
        key("model_verbosity", Word(VERBOSITIES)),
        key("notice", Type::Table(&NOTICE)),
        key("notify", TEXTS),
        key("openai_base_url", Text),
        since(147, 0, key("orchestrator", Type::Table(&Table::whole(&[key("mcp", Type::Table(&SWITCH)), key("skills", Type::Table(&SWITCH))])))),
        key("oss_provider", Text),
        key("otel", Type::Table(&OTEL)),
        key("permissions", Type::Table(&PERMISSIONS)),
        key("personality", Word(PERSONALITIES)),
        key("plan_mode_reasoning_effort", Filled),
        key("plugins", Type::Table(&Table::entries(&[], &PLUGIN))),
        key("profile", Text),
        key("profiles", Map(&PROFILE)),
        key("project_doc_fallback_filenames", TEXTS),
        key("project_doc_max_bytes", COUNT),
        key("project_root_markers", TEXTS),
        key("projects", Map(&PROJECT)),
        key("realtime", Type::Table(&REALTIME)),
        since(171, 0, key("responses", Type::Table(&Table::whole(&[key("process_mode", Word(&["streaming", "after_complete_response"]))])))),
        since(154, 0, key("responses_api_metadata", TEXT_TABLE)),
        key("review_model", Text),
        since(171, 0, key("rollout_trace", Type::Table(&Table::whole(&[key("max_bytes", COUNT), key("max_payload_bytes", COUNT)])))),
        key("sandbox_mode", Word(SANDBOX_MODES)),
        key("sandbox_workspace_write", Type::Table(&WORKSPACE_WRITE)),
        key("service_tier", Text),
        key("shell_environment_policy", Type::Table(&SHELL_ENVIRONMENT)),
        key("show_raw_agent_reasoning", Boolean),
        key("skills", Type::Table(&SKILLS)),
        key("sqlite_home", Path),
        key("suppress_unstable_features_warning", Boolean),
        since(154, 0, key("thread_unload_delay_secs", COUNT)),
        key("tool_output_token_limit", COUNT),
        key("tool_suggest", Type::Table(&TOOL_SUGGEST)),
        key("tools", Type::Table(&TOOLS)),
        key("tui", Type::Table(&TUI)),
        key("web_search", Word(WEB_SEARCH)),
        key("windows", Type::Table(&WINDOWS)),
    ],
    rest: Rest::Warned,
    array: Array::Refused,
    rule: None,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_has_all_109_keys_in_order() {
        assert_eq!(ROOT.keys.len(), 109);
        assert!(ROOT.keys.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
