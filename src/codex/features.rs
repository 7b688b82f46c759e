//! The features that Codex knows: switches below `[features]` and names of `--enable`.
//!
//! An unknown name in a file is ignored with a warning, as a flag it stops Codex (scenarios
//! `shape-unknown-feature`, `flags-enable-unknown`). The list is that of 0.171.0; which of them an
//! older version knows was not asked. `codex_hooks` is the older name of `hooks` (scenario
//! `feature-codex-hooks-old-name`).

use indexmap::IndexMap;

use crate::document::Value;

/// How far a feature is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Being worked on.
    Developing,
    /// Offered as an experiment.
    Experimental,
    /// Done.
    Stable,
    /// Still read, soon not.
    Deprecated,
    /// Read and without effect.
    Removed,
}

/// What may stand as its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A boolean.
    Switch,
    /// A boolean or a table of settings.
    Either,
    /// A table of settings only.
    Table,
}

/// One feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// Its name.
    pub name: &'static str,
    /// How far it is.
    pub stage: Stage,
    /// Whether it is on when nobody says anything.
    pub default: bool,
    /// What may stand as its value.
    pub shape: Shape,
}

const fn feature(name: &'static str, stage: Stage, default: bool, shape: Shape) -> Feature {
    Feature {
        name,
        stage,
        default,
        shape,
    }
}

/// The feature named `name`.
pub fn feature_named(name: &str) -> Option<&'static Feature> {
    FEATURES
        .binary_search_by(|feature| feature.name.cmp(name))
        .ok()
        .map(|at| &FEATURES[at])
}

/// What a setting inside a feature's table must be.
#[derive(Debug, Clone, Copy)]
enum Setting {
    Boolean,
    Text,
    /// An integer, at least this.
    Integer(i64),
    /// An integer from 1 to 100.
    Percent,
    Number,
    List,
    Table,
    Word(&'static [&'static str]),
    /// A word of which not all are known: any string passes.
    AnyWord,
}

use Setting::{AnyWord, Boolean, Integer, List, Number, Percent, Table, Text, Word};

/// The settings of features that take a table, each asked of 0.171.0 with a value of every kind
/// (scenario `feature-settings-typed`). Codex refuses any other name in such a table.
const SETTINGS: &[(&str, &[(&str, Setting)])] = &[
    ("apps_mcp_path_override", &[("path", Text)]),
    (
        "async_compaction",
        &[("model_async_compact_threshold_percent", Percent)],
    ),
    (
        "code_mode",
        &[
            ("default_exec_yield_time_ms", Integer(0)),
            ("direct_only_tool_namespaces", List),
            ("excluded_tool_namespaces", List),
            ("experimental_show_cell_overhead", Boolean),
            ("tool_input_schema_max_bytes", Integer(1)),
        ],
    ),
    (
        "code_mode_host",
        &[("disable_in_process_fallback", Boolean)],
    ),
    ("context_management", &[("experimental_mode", Boolean)]),
    (
        "current_time_reminder",
        &[
            ("clock_source", Word(&["system", "external"])),
            (
                "delivery_mode",
                Word(&["any_inference", "after_user_or_tool_output"]),
            ),
            ("reminder_interval_seconds", Integer(0)),
            ("sleep_tool", Boolean),
        ],
    ),
    (
        "guardianv2",
        &[
            ("async_classifier_conversation_token_limit", Integer(1)),
            ("async_classifier_mode", AnyWord),
            ("async_elastic_budgeting", AnyWord),
            ("async_elastic_sections", Table),
            ("classifier_instructions", Text),
            ("free_guardian", Boolean),
            ("max_tool_call_lag", Integer(0)),
            ("persist_scores", Boolean),
            ("reuse_parent_compaction", Boolean),
            ("review_scope", Table),
            ("sync_elastic_budgeting", AnyWord),
            ("sync_elastic_sections", Table),
            ("thread_context", Boolean),
            ("transcript", Table),
            ("transcript_mode", AnyWord),
        ],
    ),
    ("guardianv3", &[]),
    (
        "multi_agent_v2",
        &[
            ("default_wait_timeout_ms", Integer(0)),
            ("disable_direct_message", Boolean),
            ("disable_native_tools", Boolean),
            ("expose_spawn_agent_model_overrides", Boolean),
            ("hide_spawn_agent_metadata", Boolean),
            ("interrupt_at_item_boundary", Boolean),
            ("max_concurrent_threads_per_session", Integer(1)),
            ("max_wait_timeout_ms", Integer(0)),
            ("message_board_in_memory", Boolean),
            ("message_board_remote", Table),
            ("min_wait_timeout_ms", Integer(0)),
            ("multi_agent_mode_hint_text", Text),
            ("non_code_mode_only", Boolean),
            ("preserve_fork_prefix", Boolean),
            ("root_agent_usage_hint_text", Text),
            ("subagent_developer_instructions", Text),
            ("subagent_usage_hint_text", Text),
            ("tool_namespace", Text),
            ("usage_hint_enabled", Boolean),
            ("usage_hint_text", Text),
            ("wait_agent_enabled", Boolean),
        ],
    ),
    (
        "network_proxy",
        &[
            ("allow_local_binding", Boolean),
            ("allow_upstream_proxy", Boolean),
            ("credential_broker", Boolean),
            ("dangerously_allow_all_unix_sockets", Boolean),
            ("dangerously_allow_non_loopback_proxy", Boolean),
            ("domains", Table),
            ("enable_socks5", Boolean),
            ("enable_socks5_udp", Boolean),
            ("mode", Word(&["limited", "full"])),
            ("proxy_url", Text),
            ("socks_url", Text),
            ("transparent_tcp", Boolean),
            ("unix_sockets", Table),
        ],
    ),
    ("non_prefixed_mcp_tool_names", &[("server_names", List)]),
    (
        "rollout_budget",
        &[
            ("enforce_limit", Boolean),
            ("limit_budget", Number),
            ("limit_tokens", Integer(i64::MIN)),
            ("prefill_token_weight", Number),
            ("reminder_at_context_start", Boolean),
            ("reminder_at_remaining_tokens", List),
            ("sampling_token_weight", Number),
        ],
    ),
    ("runtime_agent_instances", &[]),
    (
        "sleep_tool",
        &[("mode", Word(&["model_driven", "always_on"]))],
    ),
    (
        "token_budget",
        &[
            ("auto_compact_fallback_buffer_tokens", Integer(i64::MIN)),
            ("auto_compact_fallback_prompt", Text),
            ("context_window_as_tool_output", Boolean),
            ("reminder_message_template", Text),
            ("reminder_threshold_tokens", Integer(i64::MIN)),
            ("use_history_notes_extension", Boolean),
        ],
    ),
];

/// Two features' tables have no switch of their own.
const WITHOUT_SWITCH: &[&str] = &["context_management", "rollout_budget"];

/// Whether 0.171.0 takes `members` as the table of the feature `name`. What is inside of inner
/// tables and lists is not looked at.
pub fn takes(name: &str, members: &IndexMap<String, Value>) -> bool {
    let Some((_, settings)) = SETTINGS.iter().find(|(feature, _)| *feature == name) else {
        return true;
    };
    members.iter().all(|(key, value)| {
        if key == "enabled" && !WITHOUT_SWITCH.contains(&name) {
            return matches!(value, Value::Boolean(_));
        }
        let setting = settings.iter().find(|(known, _)| known == key);
        setting.is_some_and(|(_, setting)| match (setting, value) {
            (Boolean, Value::Boolean(_))
            | (Text | AnyWord, Value::String(_))
            | (Number, Value::Integer(_) | Value::Float(_))
            | (List, Value::Array(_))
            | (Table, Value::Table(_)) => true,
            (Integer(least), Value::Integer(number)) => number >= least,
            (Percent, Value::Integer(number)) => (1..=100).contains(number),
            (Word(words), Value::String(word)) => words.contains(&word.as_str()),
            _ => false,
        })
    })
}

/// Older names that are still read, each with the name that it has now where that is known.
pub const OLDER_NAMES: &[(&str, Option<&str>)] = &[
    ("codex_hooks", Some("hooks")),
    ("collab", Some("multi_agent")),
    ("connectors", Some("apps")),
    ("enable_experimental_windows_sandbox", None),
    ("experimental_use_unified_exec_tool", None),
    ("imagegenext", None),
    ("memory_tool", Some("memories")),
    ("request_permissions", None),
    ("telepathy", Some("chronicle")),
    ("web_search", Some("web_search_request")),
];

/// Whether Codex knows the name, the older ones too.
pub fn is_known(name: &str) -> bool {
    feature_named(name).is_some() || OLDER_NAMES.iter().any(|(older, _)| *older == name)
}

/// All features, by name.
#[rustfmt::skip]
pub static FEATURES: &[Feature] = &[
    feature("agent_message_board", Stage::Developing, false, Shape::Switch),
    feature("agent_message_board_mcp", Stage::Developing, false, Shape::Switch),
    feature("analytics_plan_history", Stage::Experimental, false, Shape::Switch),
    feature("api_key_cyber_access_programs", Stage::Stable, true, Shape::Switch),
    feature("api_key_model_discovery", Stage::Stable, true, Shape::Switch),
    feature("app_server_websocket_compression", Stage::Developing, false, Shape::Switch),
    feature("apply_patch_freeform", Stage::Removed, false, Shape::Switch),
    feature("apply_patch_preserve_line_endings", Stage::Removed, false, Shape::Switch),
    feature("apply_patch_streaming_events", Stage::Developing, false, Shape::Switch),
    feature("apps", Stage::Stable, true, Shape::Switch),
    feature("apps_early_resource_discovery", Stage::Developing, false, Shape::Switch),
    feature("apps_mcp_path_override", Stage::Removed, false, Shape::Either),
    feature("artifact", Stage::Developing, false, Shape::Switch),
    feature("async_compaction", Stage::Developing, false, Shape::Either),
    feature("async_compaction_root_only", Stage::Developing, false, Shape::Switch),
    feature("auth_elicitation", Stage::Stable, true, Shape::Switch),
    feature("background_paginated_rollout_migration", Stage::Developing, false, Shape::Switch),
    feature("bedrock_setup_wizard", Stage::Stable, true, Shape::Switch),
    feature("browser_annotation_api", Stage::Stable, true, Shape::Switch),
    feature("browser_use", Stage::Stable, true, Shape::Switch),
    feature("browser_use_external", Stage::Stable, true, Shape::Switch),
    feature("browser_use_full_cdp_access", Stage::Stable, true, Shape::Switch),
    feature("catalog_apps_instructions", Stage::Developing, false, Shape::Switch),
    feature("chronicle", Stage::Developing, false, Shape::Switch),
    feature("cli_daybreak", Stage::Stable, true, Shape::Switch),
    feature("cli_resume_account_check", Stage::Developing, false, Shape::Switch),
    feature("code_mode", Stage::Developing, false, Shape::Either),
    feature("code_mode_buffered_exec", Stage::Removed, false, Shape::Switch),
    feature("code_mode_host", Stage::Stable, true, Shape::Either),
    feature("code_mode_host_grpc", Stage::Stable, true, Shape::Switch),
    feature("code_mode_host_output_truncation", Stage::Stable, true, Shape::Switch),
    feature("code_mode_interrupt", Stage::Stable, true, Shape::Switch),
    feature("code_mode_only", Stage::Developing, false, Shape::Switch),
    feature("code_mode_only_strict_3p_tools", Stage::Developing, false, Shape::Switch),
    feature("code_mode_prewarm", Stage::Developing, false, Shape::Switch),
    feature("code_mode_tool_description_first", Stage::Removed, false, Shape::Switch),
    feature("code_mode_tool_search", Stage::Developing, false, Shape::Switch),
    feature("codex_apps_mcp_2026_07_28", Stage::Developing, false, Shape::Switch),
    feature("codex_git_commit", Stage::Removed, false, Shape::Switch),
    feature("collaboration_modes", Stage::Removed, true, Shape::Switch),
    feature("command_sessions_world_state", Stage::Developing, false, Shape::Switch),
    feature("compaction_image_budget", Stage::Stable, true, Shape::Switch),
    feature("computer_use", Stage::Stable, true, Shape::Switch),
    feature("concurrent_reasoning_summaries", Stage::Developing, false, Shape::Switch),
    feature("content_item_kinds", Stage::Stable, true, Shape::Switch),
    feature("context_management", Stage::Developing, false, Shape::Either),
    feature("credential_masking", Stage::Developing, false, Shape::Switch),
    feature("critical_path_timing", Stage::Developing, false, Shape::Switch),
    feature("current_time_reminder", Stage::Developing, false, Shape::Either),
    feature("cwd_relative_turn_diffs", Stage::Developing, false, Shape::Switch),
    feature("daemon_auto_start", Stage::Stable, true, Shape::Switch),
    feature("daybreak_program_propagation", Stage::Developing, false, Shape::Switch),
    feature("default_mode_request_user_input", Stage::Developing, false, Shape::Switch),
    feature("defer_mailbox_preemption", Stage::Developing, false, Shape::Switch),
    feature("deferred_executor", Stage::Developing, false, Shape::Switch),
    feature("deferred_tool_world_state", Stage::Stable, true, Shape::Switch),
    feature("elevated_windows_sandbox", Stage::Removed, false, Shape::Switch),
    feature("enable_fanout", Stage::Removed, false, Shape::Switch),
    feature("enable_mcp_apps", Stage::Developing, false, Shape::Switch),
    feature("enable_request_compression", Stage::Stable, true, Shape::Switch),
    feature("exec_permission_approvals", Stage::Developing, false, Shape::Switch),
    feature("executed_tool_call_metadata", Stage::Developing, false, Shape::Switch),
    feature("executor_capability_discovery", Stage::Developing, false, Shape::Switch),
    feature("executor_capability_discovery_v2", Stage::Developing, false, Shape::Switch),
    feature("experimental_windows_sandbox", Stage::Removed, false, Shape::Switch),
    feature("external_agent_memory_import", Stage::Developing, false, Shape::Switch),
    feature("external_migration", Stage::Removed, false, Shape::Switch),
    feature("fast_mode", Stage::Stable, true, Shape::Switch),
    feature("file_backed_tool_audio", Stage::Developing, false, Shape::Switch),
    feature("gateway_setup_wizard", Stage::Stable, false, Shape::Switch),
    feature("gcp_setup_wizard", Stage::Stable, false, Shape::Switch),
    feature("goals", Stage::Stable, true, Shape::Switch),
    feature("guardian_approval", Stage::Stable, true, Shape::Switch),
    feature("guardian_conversation_history_tools", Stage::Developing, false, Shape::Switch),
    feature("guardian_denial_reconsideration", Stage::Developing, false, Shape::Switch),
    feature("guardian_enhanced_node_repl_transcripts", Stage::Developing, false, Shape::Switch),
    feature("guardian_ext", Stage::Removed, false, Shape::Switch),
    feature("guardian_include_additional_context", Stage::Stable, true, Shape::Switch),
    feature("guardian_native_multi_agent_history", Stage::Developing, false, Shape::Switch),
    feature("guardian_nested_approval_context", Stage::Developing, false, Shape::Switch),
    feature("guardian_node_repl_transcript_images", Stage::Developing, false, Shape::Switch),
    feature("guardian_recorded_items", Stage::Developing, false, Shape::Switch),
    feature("guardian_reuse_parent_compaction", Stage::Stable, true, Shape::Switch),
    feature("guardian_root_handoff_context", Stage::Developing, false, Shape::Switch),
    feature("guardian_trust_orchestrator_connectors", Stage::Developing, false, Shape::Switch),
    feature("guardianv2", Stage::Developing, false, Shape::Either),
    feature("guardianv2.thread_context", Stage::Removed, false, Shape::Switch),
    feature("guardianv2_decisions_comparison", Stage::Developing, false, Shape::Switch),
    feature("guardianv3", Stage::Developing, false, Shape::Either),
    feature("hooks", Stage::Stable, true, Shape::Switch),
    feature("hosted_search_policy", Stage::Developing, false, Shape::Switch),
    feature("image_detail_original", Stage::Removed, false, Shape::Switch),
    feature("image_generation", Stage::Stable, true, Shape::Switch),
    feature("image_generation_animation", Stage::Developing, false, Shape::Switch),
    feature("image_resize_notice", Stage::Developing, false, Shape::Switch),
    feature("in_app_browser", Stage::Stable, true, Shape::Switch),
    feature("in_app_chat", Stage::Stable, true, Shape::Switch),
    feature("in_app_dictation", Stage::Stable, true, Shape::Switch),
    feature("in_app_local_automation", Stage::Stable, true, Shape::Switch),
    feature("in_app_updates", Stage::Stable, true, Shape::Switch),
    feature("in_app_voice", Stage::Stable, true, Shape::Switch),
    feature("incremental_exec_tools", Stage::Developing, false, Shape::Switch),
    feature("incremental_tools", Stage::Stable, true, Shape::Switch),
    feature("incremental_tools_legacy", Stage::Stable, true, Shape::Switch),
    feature("incremental_tools_legacy_gcp", Stage::Stable, true, Shape::Switch),
    feature("instant_interrupt", Stage::Developing, true, Shape::Switch),
    feature("interrupt_on_cancel", Stage::Developing, false, Shape::Switch),
    feature("item_ids", Stage::Removed, true, Shape::Switch),
    feature("js_repl", Stage::Removed, false, Shape::Switch),
    feature("js_repl_tools_only", Stage::Removed, false, Shape::Switch),
    feature("local_thread_store_compression", Stage::Developing, false, Shape::Switch),
    feature("local_thread_store_shared_compression", Stage::Removed, false, Shape::Switch),
    feature("login_shell_package_path", Stage::Experimental, false, Shape::Switch),
    feature("mcp_2026_07_28", Stage::Developing, false, Shape::Switch),
    feature("mcp_connection_sharing", Stage::Developing, false, Shape::Switch),
    feature("mcp_lazy_stdio_startup", Stage::Developing, false, Shape::Switch),
    feature("mcp_oauth_refresh_coordination", Stage::Stable, true, Shape::Switch),
    feature("mcp_shared_repl_cwd", Stage::Developing, false, Shape::Switch),
    feature("mcp_tool_list_changed", Stage::Developing, false, Shape::Switch),
    feature("memories", Stage::Stable, false, Shape::Switch),
    feature("mentions_v2", Stage::Stable, true, Shape::Switch),
    feature("model_catalog_in_context", Stage::Developing, false, Shape::Switch),
    feature("multi_agent", Stage::Deprecated, true, Shape::Switch),
    feature("multi_agent_mode", Stage::Removed, false, Shape::Switch),
    feature("multi_agent_v2", Stage::Stable, false, Shape::Either),
    feature("multi_agent_v2_dynamic_tools", Stage::Developing, false, Shape::Switch),
    feature("multi_env_copy_file", Stage::Developing, false, Shape::Switch),
    feature("multi_environment_mcp", Stage::Developing, false, Shape::Switch),
    feature("network_proxy", Stage::Experimental, false, Shape::Either),
    feature("non_prefixed_mcp_tool_names", Stage::Developing, false, Shape::Either),
    feature("nonfatal_clock_read_errors", Stage::Developing, false, Shape::Switch),
    feature("omit_app_server_notification_media", Stage::Developing, false, Shape::Switch),
    feature("omit_skill_descriptions", Stage::Developing, false, Shape::Switch),
    feature("output_token_replay", Stage::Developing, false, Shape::Switch),
    feature("per_environment_context", Stage::Developing, false, Shape::Switch),
    feature("personality", Stage::Removed, false, Shape::Switch),
    feature("plugin_discovery_prefetch", Stage::Removed, false, Shape::Switch),
    feature("plugin_hooks", Stage::Removed, false, Shape::Switch),
    feature("plugin_sharing", Stage::Stable, true, Shape::Switch),
    feature("plugins", Stage::Stable, true, Shape::Switch),
    feature("powershell_shell_version", Stage::Developing, false, Shape::Switch),
    feature("prediction_preserve_parent_tools", Stage::Stable, true, Shape::Switch),
    feature("prefer_mxc", Stage::Developing, false, Shape::Switch),
    feature("prevent_idle_sleep", Stage::Experimental, false, Shape::Switch),
    feature("psp", Stage::Developing, false, Shape::Switch),
    feature("realtime_conversation", Stage::Removed, true, Shape::Switch),
    feature("reasoning_effort_override", Stage::Stable, true, Shape::Switch),
    feature("recommended_plugins", Stage::Stable, false, Shape::Switch),
    feature("remote_compaction_v2", Stage::Removed, false, Shape::Switch),
    feature("remote_control", Stage::Removed, false, Shape::Switch),
    feature("remote_models", Stage::Removed, false, Shape::Switch),
    feature("remote_plugin", Stage::Stable, true, Shape::Switch),
    feature("request_permissions_tool", Stage::Developing, false, Shape::Switch),
    feature("request_rule", Stage::Removed, false, Shape::Switch),
    feature("resize_all_images", Stage::Removed, true, Shape::Switch),
    feature("respect_system_proxy", Stage::Experimental, false, Shape::Switch),
    feature("responses_websockets", Stage::Removed, false, Shape::Switch),
    feature("responses_websockets_v2", Stage::Removed, false, Shape::Switch),
    feature("restored_history_prewarm", Stage::Developing, false, Shape::Switch),
    feature("retain_client_developer_messages", Stage::Developing, false, Shape::Switch),
    feature("retain_client_tool_outputs", Stage::Stable, true, Shape::Switch),
    feature("rollout_budget", Stage::Developing, false, Shape::Table),
    feature("runtime_agent_instances", Stage::Developing, false, Shape::Either),
    feature("runtime_metrics", Stage::Developing, false, Shape::Switch),
    feature("safe_image_decoder", Stage::Developing, false, Shape::Switch),
    feature("search_tool", Stage::Removed, false, Shape::Switch),
    feature("secret_auth_storage", Stage::Stable, false, Shape::Switch),
    feature("send_async_message", Stage::Removed, false, Shape::Switch),
    feature("send_message_to_user_async", Stage::Developing, false, Shape::Switch),
    feature("shell_snapshot", Stage::Stable, true, Shape::Switch),
    feature("shell_snapshot_v2", Stage::Developing, false, Shape::Switch),
    feature("shell_tool", Stage::Stable, true, Shape::Switch),
    feature("shell_zsh_fork", Stage::Removed, false, Shape::Switch),
    feature("simplified_selection_hints", Stage::Developing, false, Shape::Switch),
    feature("skill_catalog_deltas", Stage::Developing, false, Shape::Switch),
    feature("skill_env_var_dependency_prompt", Stage::Removed, false, Shape::Switch),
    feature("skill_mcp_dependency_install", Stage::Stable, true, Shape::Switch),
    feature("skill_search", Stage::Stable, true, Shape::Switch),
    feature("skip_host_skill_discovery", Stage::Developing, false, Shape::Switch),
    feature("sleep_tool", Stage::Stable, true, Shape::Either),
    feature("sqlite", Stage::Removed, true, Shape::Switch),
    feature("stable_environment_tools", Stage::Removed, false, Shape::Switch),
    feature("standalone_web_search", Stage::Developing, false, Shape::Switch),
    feature("steer", Stage::Removed, true, Shape::Switch),
    feature("step_model_switching", Stage::Developing, false, Shape::Switch),
    feature("subagent_default_context_limits", Stage::Developing, false, Shape::Switch),
    feature("subagent_thread_environments", Stage::Developing, false, Shape::Switch),
    feature("suppress_model_change_announcements", Stage::Stable, false, Shape::Switch),
    feature("system_proxy_fallback", Stage::Stable, true, Shape::Switch),
    feature("terminal_resize_reflow", Stage::Removed, true, Shape::Switch),
    feature("terminal_visualization_instructions", Stage::Developing, false, Shape::Switch),
    feature("token_budget", Stage::Developing, false, Shape::Either),
    feature("tool_call_mcp_elicitation", Stage::Stable, true, Shape::Switch),
    feature("tool_search", Stage::Removed, false, Shape::Switch),
    feature("tool_search_always_defer_mcp_tools", Stage::Removed, true, Shape::Switch),
    feature("tool_suggest", Stage::Stable, true, Shape::Switch),
    feature("transcript_v2", Stage::Removed, false, Shape::Switch),
    feature("tui_app_server", Stage::Removed, true, Shape::Switch),
    feature("tui_extensions_statusline", Stage::Experimental, false, Shape::Switch),
    feature("tui_multi_backend", Stage::Developing, false, Shape::Switch),
    feature("tui_workspace", Stage::Stable, true, Shape::Switch),
    feature("ultrafast_mode", Stage::Stable, true, Shape::Switch),
    feature("unavailable_dummy_tools", Stage::Removed, false, Shape::Switch),
    feature("unbounded_connection_retries", Stage::Stable, true, Shape::Switch),
    feature("undo", Stage::Removed, false, Shape::Switch),
    feature("unified_exec", Stage::Stable, true, Shape::Switch),
    feature("unified_exec_tty", Stage::Stable, true, Shape::Switch),
    feature("unified_exec_zsh_fork", Stage::Removed, false, Shape::Switch),
    feature("unified_image_budget", Stage::Stable, true, Shape::Switch),
    feature("untrusted_as_tool_output", Stage::Stable, true, Shape::Switch),
    feature("use_agent_identity", Stage::Developing, false, Shape::Switch),
    feature("use_legacy_landlock", Stage::Deprecated, false, Shape::Switch),
    feature("use_linux_sandbox_bwrap", Stage::Removed, false, Shape::Switch),
    feature("use_xaa", Stage::Developing, false, Shape::Switch),
    feature("utc_environment_date", Stage::Developing, false, Shape::Switch),
    feature("view_image", Stage::Stable, true, Shape::Switch),
    feature("wake_on_agent_messages", Stage::Developing, false, Shape::Switch),
    feature("web_search_cached", Stage::Deprecated, false, Shape::Switch),
    feature("web_search_request", Stage::Deprecated, false, Shape::Switch),
    feature("windows_sandbox_service", Stage::Developing, false, Shape::Switch),
    feature("workspace_dependencies", Stage::Stable, true, Shape::Switch),
    feature("workspace_owner_usage_nudge", Stage::Removed, false, Shape::Switch),
    feature("worktrees", Stage::Removed, true, Shape::Switch),
    feature("write_stdin_approval", Stage::Stable, true, Shape::Switch),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_features_are_sorted_and_found_by_name() {
        assert!(FEATURES.windows(2).all(|pair| pair[0].name < pair[1].name));
        assert!(feature_named("hooks").is_some_and(|hooks| hooks.default));
        assert!(feature_named("no_such_feature").is_none());
    }
}
