//! What the operator allows: flags and variables of whoever starts the broker.
//!
//! They are a ceiling. Nothing that comes over MCP widens them: the caller is an agent, and config
//! can open the gate where no answer of Codex shows it. So what is allowed is a list
//! ([`CONFIG_KEYS`]), never what is forbidden.

use serde_json::Value;

use super::words::Sandbox;

/// Who may accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approvals {
    /// Whoever calls the tool, as with codex-mcp.
    Client,
    /// A person: by the client's own form, or with `codexgate approve`.
    Human,
}

impl Approvals {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Human => "human",
        }
    }
}

/// How Codex is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// One `codex app-server`.
    AppServer,
    /// `codex exec` for each turn.
    Exec,
}

/// The operator's choices.
#[derive(Debug, Clone)]
pub struct Options {
    /// Name or path of Codex.
    pub codex: String,
    /// How it is driven; none: it is looked whether it has an app-server.
    pub mode: Option<Mode>,
    /// The most open sandbox that a caller may have.
    pub max_sandbox: Sandbox,
    /// Who may accept; none: a person where the client can ask one, else the client.
    pub approvals: Option<Approvals>,
    /// Whether a call may accept a rule for good.
    pub allow_amendments: bool,
    /// Further config keys that a caller may set, dotted.
    pub allow_config: Vec<String>,
    /// Profiles whose every key is taken.
    pub allow_profile: Vec<String>,
    /// Whether the client's forms are used.
    pub elicit: bool,
    /// `auto`, `strict` or `off`.
    pub stdio: &'static str,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            codex: "codex".to_owned(),
            mode: None,
            max_sandbox: Sandbox::WorkspaceWrite,
            approvals: None,
            allow_amendments: false,
            allow_config: Vec::new(),
            allow_profile: Vec::new(),
            elicit: true,
            stdio: "auto",
        }
    }
}

/// The type of a config value that a caller may set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// Any text.
    Text,
    /// A whole number from 0.
    Number,
    /// True or false.
    Flag,
    /// One of these.
    Word(&'static [&'static str]),
}

/// What a caller may set in `advanced.config`: how the model thinks and talks, nothing that decides
/// what runs, what is asked or what is reached.
pub const CONFIG_KEYS: [(&str, Scalar); 14] = [
    ("model", Scalar::Text),
    ("model_reasoning_effort", Scalar::Text),
    ("model_reasoning_summary", Scalar::Text),
    ("model_verbosity", Scalar::Text),
    ("review_model", Scalar::Text),
    ("plan_mode_reasoning_effort", Scalar::Text),
    ("personality", Scalar::Text),
    ("service_tier", Scalar::Text),
    ("tool_output_token_limit", Scalar::Number),
    ("model_context_window", Scalar::Number),
    ("model_auto_compact_token_limit", Scalar::Number),
    ("hide_agent_reasoning", Scalar::Flag),
    ("show_raw_agent_reasoning", Scalar::Flag),
    (
        "web_search",
        Scalar::Word(&["disabled", "cached", "indexed"]),
    ),
];

/// Why a config value is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// Its key is on no list.
    Key(String),
    /// Its value is of another type: the key, and what is wanted.
    Value(String, String),
}

impl Options {
    /// Checks `config`, nested or dotted. A key that the operator allowed is taken with whatever
    /// stands below it.
    ///
    /// # Errors
    /// The first key that may not be set, or value that is none of its key.
    pub fn check_config(&self, config: &serde_json::Map<String, Value>) -> Result<(), Refused> {
        for (name, value) in config {
            self.check_key(name, value)?;
        }
        Ok(())
    }

    fn check_key(&self, path: &str, value: &Value) -> Result<(), Refused> {
        // A quoted or empty part could mean another key to Codex than to us.
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '.';
        if !path.chars().all(plain) || path.split('.').any(str::is_empty) {
            return Err(Refused::Key(path.to_owned()));
        }
        if self
            .allow_config
            .iter()
            .any(|allowed| covers(allowed, path))
        {
            return Ok(());
        }
        if let Some((_, wanted)) = CONFIG_KEYS.iter().find(|(name, _)| *name == path) {
            return wanted.check(path, value);
        }
        // Down into a table, in search of keys that the operator allowed.
        let leads_on = self
            .allow_config
            .iter()
            .any(|allowed| covers(path, allowed));
        match value {
            Value::Object(members) if leads_on && !members.is_empty() => members
                .iter()
                .try_for_each(|(name, value)| self.check_key(&format!("{path}.{name}"), value)),
            _ => Err(Refused::Key(path.to_owned())),
        }
    }

    /// Whether every key of this profile is taken.
    pub fn allows_profile(&self, name: &str) -> bool {
        self.allow_profile.iter().any(|allowed| allowed == name)
    }
}

/// Whether `path` is `key` or stands below it.
pub fn covers(key: &str, path: &str) -> bool {
    path.strip_prefix(key)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl Scalar {
    fn check(self, path: &str, value: &Value) -> Result<(), Refused> {
        let (fits, wanted) = match self {
            Self::Text => (value.is_string(), "a string".to_owned()),
            Self::Number => (value.is_u64(), "a whole number from 0".to_owned()),
            Self::Flag => (value.is_boolean(), "true or false".to_owned()),
            Self::Word(words) => (
                value.as_str().is_some_and(|word| words.contains(&word)),
                format!("one of {}", words.join(", ")),
            ),
        };
        if fits {
            Ok(())
        } else {
            Err(Refused::Value(path.to_owned(), wanted))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(options: &Options, config: &Value) -> Result<(), Refused> {
        options.check_config(config.as_object().expect("an object"))
    }

    #[test]
    fn only_listed_keys_are_taken_and_only_scalars_of_their_type() {
        let options = Options::default();
        for good in [
            json!({"model": "m", "web_search": "cached", "hide_agent_reasoning": true}),
            json!({"tool_output_token_limit": 5}),
            json!({}),
        ] {
            assert_eq!(check(&options, &good), Ok(()), "{good}");
        }
        for bad in [
            json!({"approval_policy": "never"}),
            json!({"sandbox_mode": "danger-full-access"}),
            json!({"sandbox_workspace_write": [["/w"], true]}),
            json!({"sandbox_workspace_write": {"network_access": true}}),
            json!({"sandbox_workspace_write.network_access": true}),
            json!({"mcp_servers": {"x": {"default_tools_approval_mode": "approve"}}}),
            json!({"mcp_servers.x.default_tools_approval_mode": "approve"}),
            json!({"mcp_servers.x": {"command": "sh"}}),
            json!({"projects": {"/w": {"trust_level": "trusted"}}}),
            json!({"approvals_reviewer": "auto_review"}),
            json!({"notify": ["sh"]}),
            json!({"model_provider": "x"}),
            json!({"model": ["m"]}),
            json!({"model": {"x": 1}}),
            json!({"model": null}),
            json!({"web_search": "live"}),
            json!({"tool_output_token_limit": -1}),
            json!({"tool_output_token_limit": 1.5}),
            json!({"\"model\"": "m"}),
            json!({"": 1}),
            json!({"model.": "m"}),
            json!({"features": {}}),
        ] {
            assert!(check(&options, &bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_allowed_key_opens_itself_and_what_is_below_in_every_spelling() {
        let options = Options {
            allow_config: vec!["mcp_servers.docs".to_owned()],
            ..Options::default()
        };
        for good in [
            json!({"mcp_servers": {"docs": {"command": "x"}}}),
            json!({"mcp_servers.docs": {"command": "x"}}),
            json!({"mcp_servers.docs.command": "x"}),
            json!({"mcp_servers": {"docs.command": "x"}}),
        ] {
            assert_eq!(check(&options, &good), Ok(()), "{good}");
        }
        for bad in [
            json!({"mcp_servers": {"docs": {}, "other": {}}}),
            json!({"mcp_servers": {}}),
            json!({"mcp_servers": [1]}),
            json!({"mcp_servers.docsx.command": "x"}),
            json!({"mcp_servers.other": {}}),
        ] {
            assert!(check(&options, &bad).is_err(), "{bad}");
        }
    }
}
