//! Keys of config.toml that decide nothing about the gate, with right and wrong values.
//!
//! They show whether the model knows what stops Codex and what it passes over.

/// Root keys that change nothing here, with a right and a wrong value.
pub const OTHERS: &[(&str, &str, &str)] = &[
    ("model", "\"some-model\"", "1"),
    ("model_reasoning_effort", "\"high\"", "true"),
    ("model_reasoning_summary", "\"concise\"", "\"long\""),
    ("model_verbosity", "\"low\"", "\"loud\""),
    ("model_context_window", "100000", "\"100000\""),
    ("model_post_turn_compact_threshold_percent", "80", "300"),
    ("hide_agent_reasoning", "true", "\"true\""),
    ("show_raw_agent_reasoning", "false", "0"),
    ("disable_paste_burst", "true", "\"no\""),
    ("check_for_update_on_startup", "false", "\"false\""),
    ("file_opener", "\"none\"", "\"emacs\""),
    ("web_search", "\"cached\"", "\"yes\""),
    ("personality", "\"friendly\"", "\"rude\""),
    ("service_tier", "\"fast\"", "[]"),
    ("project_doc_max_bytes", "1024", "-1"),
    ("project_doc_fallback_filenames", "[\"X.md\"]", "\"X.md\""),
    ("tool_output_token_limit", "1000", "1.5"),
    ("cli_auth_credentials_store", "\"file\"", "\"wallet\""),
    ("mcp_oauth_callback_port", "1455", "70000"),
    ("mcp_oauth_credentials_store", "\"auto\"", "\"none\""),
    ("forced_login_method", "\"api\"", "\"token\""),
    ("instructions", "\"be kind\"", "{ text = \"x\" }"),
    ("developer_instructions", "\"be brief\"", "[\"x\"]"),
    ("review_model", "\"some-model\"", "true"),
    ("allow_login_shell", "false", "\"never\""),
    ("include_environment_context", "true", "1"),
    ("background_terminal_max_timeout", "1000", "-5"),
    ("thread_unload_delay_secs", "60", "\"60\""),
    ("suppress_unstable_features_warning", "true", "\"yes\""),
];

/// Tables that change nothing here, with a right and a wrong member.
pub const TABLES: &[(&str, &str, &str)] = &[
    (
        "history",
        "persistence = \"none\"",
        "persistence = \"some\"",
    ),
    ("history", "max_bytes = 10", "max_bytes = -1"),
    ("analytics", "enabled = false", "enabled = \"no\""),
    ("feedback", "enabled = false", "enabled = 0"),
    ("features", "multi_agent = true", "multi_agent = \"on\""),
    ("features", "hooks = false", "hooks = 1"),
    (
        "features",
        "no_such_feature = true",
        "no_such_feature = \"x\"",
    ),
    (
        "shell_environment_policy",
        "inherit = \"core\"",
        "inherit = \"some\"",
    ),
    (
        "shell_environment_policy",
        "exclude = [\"AWS_*\"]",
        "exclude = \"AWS_*\"",
    ),
    (
        "shell_environment_policy",
        "set = { A = \"1\" }",
        "set = { A = 1 }",
    ),
    ("tui", "notifications = true", "notifications = 3"),
    ("tui", "no_such_key = true", "theme = 1"),
    ("agents", "max_threads = 2", "max_threads = \"two\""),
    ("memories", "use_memories = false", "use_memories = \"no\""),
    (
        "notice",
        "hide_full_access_warning = true",
        "hide_full_access_warning = \"x\"",
    ),
    ("tools", "web_search = true", "web_search = \"yes\""),
    (
        "desktop",
        "anything = [true, \"x\"]",
        "anything = { a = \"x\" }",
    ),
    (
        "hooks",
        "Stop = [{ hooks = [{ type = \"command\", command = \"true\" }] }]",
        "Stop = \"true\"",
    ),
    ("hooks", "NoSuchEvent = []", "Stop = [{ hooks = 1 }]"),
    (
        "profiles.x",
        "approval_policy = \"never\"",
        "approval_policy = \"bogus\"",
    ),
    (
        "profiles.x",
        "approval_policy = \"untrusted\"",
        "sandbox_mode = 1",
    ),
    ("model_providers.mine", "name = \"mine\"", "name = 1"),
    ("sandbox", "mode = \"danger-full-access\"", "mode = 1"),
    (
        "granular",
        "mcp_elicitations = false",
        "mcp_elicitations = 1",
    ),
    ("mcp.servers.a", "command = \"true\"", "command = 1"),
];

/// Keys that no project may set, and features that it may not.
pub const DENIED: &[(&str, &str)] = &[
    ("openai_base_url", "\"http://127.0.0.1:9/v1\""),
    ("openai_base_url", "1"),
    ("chatgpt_base_url", "\"http://127.0.0.1:9\""),
    ("notify", "[\"true\"]"),
    ("notify", "\"true\""),
    ("model_provider", "\"no-such-provider\""),
    ("otel", "{ environment = \"x\" }"),
    ("profile", "\"x\""),
    ("profiles", "{ x = { sandbox_mode = 1 } }"),
    ("apps_mcp_product_sku", "\"x\""),
    ("responses_api_metadata", "{ a = 1 }"),
    (
        "experimental_realtime_ws_base_url",
        "\"http://127.0.0.1:9\"",
    ),
    ("features.respect_system_proxy", "true"),
    ("features.credential_masking", "\"x\""),
];

/// Keys that Codex does not know.
pub const UNKNOWN: &[(&str, &str)] = &[
    ("sandbox", "\"danger-full-access\""),
    ("sandbox-mode", "\"danger-full-access\""),
    ("approval-policy", "\"never\""),
    ("Approval_Policy", "\"never\""),
    ("approvalPolicy", "\"never\""),
    ("mcp_elicitations", "false"),
    ("granular", "{ mcp_elicitations = false }"),
    ("mcpServers", "{ a = { command = \"true\" } }"),
    ("mcp-servers", "{ a = { command = \"true\" } }"),
    ("allowed_sandbox_modes", "[\"read-only\"]"),
    ("trust_level", "\"trusted\""),
    ("no_such_key", "{ deep = [1, { x = 2 }] }"),
];
