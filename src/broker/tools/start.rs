//! The arguments of `codex` and `codex_reply`.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::args::Args;
use crate::broker::error::{Code, Error, Result};
use crate::broker::limits;
use crate::broker::options::{CONFIG_KEYS, Options, Refused};
use crate::broker::words::{PERSONALITIES, Policy, SUMMARIES, Sandbox};
use std::time::Duration;

/// What a caller wants of a new session.
#[derive(Debug, Clone)]
pub struct Start {
    /// What to do.
    pub prompt: String,
    /// When to ask.
    pub policy: Policy,
    /// What can be reached.
    pub sandbox: Sandbox,
    /// Of the model.
    pub effort: String,
    /// As it was given.
    pub cwd: Option<PathBuf>,
    /// None: the user's.
    pub model: Option<String>,
    /// A file of Codex's home.
    pub profile: Option<String>,
    /// Thread level.
    pub base_instructions: Option<String>,
    /// Thread level.
    pub developer_instructions: Option<String>,
    /// Without effect on 0.171.
    pub personality: Option<String>,
    /// Of reasoning.
    pub summary: Option<String>,
    /// Checked against what is allowed.
    pub config: Map<String, Value>,
    /// Cannot be resumed or forked.
    pub ephemeral: bool,
    /// Of the first turn.
    pub output_schema: Option<Value>,
    /// Local files, as they were given.
    pub images: Vec<PathBuf>,
    /// How long an approval waits.
    pub approval_timeout: Duration,
    /// What to tell the caller.
    pub warnings: Vec<String>,
}

const START: [&str; 8] = [
    "prompt",
    "approvalPolicy",
    "sandbox",
    "effort",
    "cwd",
    "model",
    "profile",
    "advanced",
];
const ADVANCED: [&str; 9] = [
    "baseInstructions",
    "developerInstructions",
    "personality",
    "summary",
    "config",
    "ephemeral",
    "outputSchema",
    "images",
    "approvalTimeoutMs",
];

impl Start {
    /// Reads the arguments of `codex`.
    ///
    /// # Errors
    /// What is wrong first; a sandbox above the ceiling; a config key that is not allowed.
    pub fn read(args: &Args<'_>, options: &Options) -> Result<Self> {
        let mut warnings = Vec::new();
        args.unknown(&START, &mut warnings);
        let advanced = args.inner("advanced")?;
        advanced.unknown(&ADVANCED, &mut warnings);
        let (policy, sandbox) = policies(args, options, &mut warnings)?;
        let timeout = advanced.number("approvalTimeoutMs", 1)?;
        Ok(Self {
            prompt: args.wanted("prompt")?.to_owned(),
            policy: policy.ok_or_else(|| missing("approvalPolicy", &Policy::WORDS))?,
            sandbox: sandbox.ok_or_else(|| missing("sandbox", &Sandbox::WORDS))?,
            effort: args.text("effort")?.unwrap_or("low").to_owned(),
            cwd: args.text("cwd")?.map(PathBuf::from),
            model: owned(args.text("model")?),
            profile: profile(args)?,
            base_instructions: owned(advanced.text("baseInstructions")?),
            developer_instructions: owned(advanced.text("developerInstructions")?),
            personality: personality(&advanced, &mut warnings)?,
            summary: owned(advanced.word("summary", &SUMMARIES)?),
            config: config(&advanced, options)?,
            ephemeral: advanced.flag("ephemeral", false)?,
            output_schema: advanced.object("outputSchema")?.cloned().map(Value::Object),
            images: advanced
                .texts("images")?
                .unwrap_or_default()
                .into_iter()
                .map(PathBuf::from)
                .collect(),
            approval_timeout: timeout.map_or(limits::APPROVAL, Duration::from_millis),
            warnings,
        })
    }
}

/// What a caller wants of the next turn.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Which session.
    pub session: String,
    /// What to do.
    pub prompt: String,
    /// Into the running turn.
    pub steer: bool,
    /// None: unchanged, here and below.
    pub model: Option<String>,
    /// When to ask.
    pub policy: Option<Policy>,
    /// Of the model.
    pub effort: Option<String>,
    /// Of reasoning.
    pub summary: Option<String>,
    /// Without effect on 0.171.
    pub personality: Option<String>,
    /// What can be reached.
    pub sandbox: Option<Sandbox>,
    /// Relative to the session's.
    pub cwd: Option<PathBuf>,
    /// Of this turn.
    pub output_schema: Option<Value>,
    /// What to tell the caller.
    pub warnings: Vec<String>,
}

const REPLY: [&str; 11] = [
    "sessionId",
    "prompt",
    "mode",
    "model",
    "approvalPolicy",
    "effort",
    "summary",
    "personality",
    "sandbox",
    "cwd",
    "outputSchema",
];

impl Reply {
    /// Reads the arguments of `codex_reply`.
    ///
    /// # Errors
    /// What is wrong first.
    pub fn read(args: &Args<'_>, options: &Options) -> Result<Self> {
        let mut warnings = Vec::new();
        args.unknown(&REPLY, &mut warnings);
        let (policy, sandbox) = policies(args, options, &mut warnings)?;
        let steer = args.word("mode", &["turn", "steer"])? == Some("steer");
        let overrides = REPLY[3..].iter().find(|name| args.has(name));
        if let (true, Some(name)) = (steer, overrides) {
            let reason = "cannot be changed while a turn runs (`mode` is `steer`)";
            return Err(Error::argument(name, reason));
        }
        Ok(Self {
            session: args.wanted("sessionId")?.to_owned(),
            prompt: args.wanted("prompt")?.to_owned(),
            steer,
            model: owned(args.text("model")?),
            policy,
            effort: owned(args.text("effort")?),
            summary: owned(args.word("summary", &SUMMARIES)?),
            personality: personality(args, &mut warnings)?,
            sandbox,
            cwd: args.text("cwd")?.map(PathBuf::from),
            output_schema: args.object("outputSchema")?.cloned().map(Value::Object),
            warnings,
        })
    }
}

/// Both policies, where they are there, below the ceiling.
pub(super) fn policies(
    args: &Args<'_>,
    options: &Options,
    warnings: &mut Vec<String>,
) -> Result<(Option<Policy>, Option<Sandbox>)> {
    let policy = args.word("approvalPolicy", &Policy::WORDS)?;
    if policy == Some("on-failure") {
        warnings.push(
            "approvalPolicy `on-failure` is gone from Codex and runs as `on-request`.".to_owned(),
        );
    }
    let sandbox = args
        .word("sandbox", &Sandbox::WORDS)?
        .and_then(Sandbox::parse);
    if let Some(sandbox) = sandbox.filter(|sandbox| *sandbox > options.max_sandbox) {
        return Err(Error::new(
            Code::PolicyRefused,
            format!(
                "sandbox `{}` is above this broker's ceiling `{}`; whoever starts it can raise \
                 that with `--max-sandbox`",
                sandbox.as_str(),
                options.max_sandbox.as_str()
            ),
        ));
    }
    Ok((policy.and_then(Policy::parse), sandbox))
}

pub(super) fn missing(name: &str, words: &[&str]) -> Error {
    Error::argument(name, format!("is required: one of {}", words.join(", ")))
}

/// The longest name of a profile.
const PROFILE_LENGTH: usize = 64;

pub(super) fn profile(args: &Args<'_>) -> Result<Option<String>> {
    let Some(name) = args.text("profile")? else {
        return Ok(None);
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > PROFILE_LENGTH || !name.chars().all(plain) {
        let reason = "must be 1 to 64 letters, digits, `_` or `-`";
        return Err(Error::argument("profile", reason));
    }
    Ok(Some(name.to_owned()))
}

fn personality(args: &Args<'_>, warnings: &mut Vec<String>) -> Result<Option<String>> {
    let word = args.word("personality", &PERSONALITIES)?;
    if word.is_some() {
        warnings.push("`personality` has no effect on Codex 0.171: it is deprecated.".to_owned());
    }
    Ok(owned(word))
}

fn config(advanced: &Args<'_>, options: &Options) -> Result<Map<String, Value>> {
    let Some(config) = advanced.object("config")? else {
        return Ok(Map::new());
    };
    match options.check_config(config) {
        Ok(()) => Ok(config.clone()),
        Err(Refused::Key(key)) => {
            let allowed: Vec<&str> = CONFIG_KEYS.iter().map(|(name, _)| *name).collect();
            Err(Error::argument(
                "advanced.config",
                format!(
                    "`{key}` may not be set by a caller; whoever starts the broker can allow it \
                     with `--allow-config {key}`. Taken are: {}",
                    allowed.join(", ")
                ),
            ))
        }
        Err(Refused::Value(key, wanted)) => Err(Error::argument(
            &format!("advanced.config.{key}"),
            format!("must be {wanted}"),
        )),
    }
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn start(value: &Value, options: &Options) -> Result<Start> {
        Start::read(&Args::of(Some(value))?, options)
    }

    fn plain() -> Value {
        json!({"prompt": "x", "approvalPolicy": "on-request", "sandbox": "read-only"})
    }

    #[test]
    fn defaults_are_those_of_the_peer() {
        let start = start(&plain(), &Options::default()).expect("right");
        assert_eq!(start.effort, "low");
        assert_eq!(start.approval_timeout, limits::APPROVAL);
        assert!(!start.ephemeral && start.warnings.is_empty());
    }

    #[test]
    fn f5_on_failure_runs_as_on_request_and_says_so() {
        let mut value = plain();
        value["approvalPolicy"] = json!("on-failure");
        let start = start(&value, &Options::default()).expect("right");
        assert_eq!(start.policy, Policy::OnRequest);
        assert!(start.warnings[0].contains("on-failure"));
    }

    #[test]
    fn misspelt_members_are_named() {
        let mut value = plain();
        value["aproval"] = json!(1);
        value["advanced"] = json!({"epheremal": true});
        let start = start(&value, &Options::default()).expect("right");
        assert_eq!(start.warnings.len(), 2);
        assert!(start.warnings[1].contains("`advanced.epheremal`"));
    }

    #[test]
    fn full_access_needs_the_operator() {
        let mut value = plain();
        value["sandbox"] = json!("danger-full-access");
        let error = start(&value, &Options::default()).expect_err("refused");
        assert_eq!(error.code, Code::PolicyRefused);
        let open = Options {
            max_sandbox: Sandbox::FullAccess,
            ..Options::default()
        };
        assert!(start(&value, &open).is_ok());
    }

    #[test]
    fn f7_a_refused_config_key_is_named_with_its_flag() {
        let mut value = plain();
        value["advanced"] = json!({"config": {"mcp_servers": {"x": {"command": "sh"}}}});
        let error = start(&value, &Options::default()).expect_err("refused");
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(
            error.message.contains("--allow-config mcp_servers"),
            "{error}"
        );
    }

    #[test]
    fn each_wrong_argument_is_an_argument_error() {
        for (name, wrong) in [
            ("prompt", json!(" ")),
            ("prompt", json!(7)),
            ("approvalPolicy", json!("always")),
            ("sandbox", json!("none")),
            ("profile", json!("../x")),
            ("profile", json!("")),
            ("advanced", json!([])),
            ("advanced", json!({"approvalTimeoutMs": 0})),
            ("advanced", json!({"images": "x"})),
            ("advanced", json!({"summary": "long"})),
            ("cwd", json!(null)),
        ] {
            let mut value = plain();
            value[name] = wrong;
            let error = start(&value, &Options::default()).expect_err("wrong");
            assert_eq!(error.code, Code::InvalidArgument, "{name}: {error}");
            assert!(error.message.starts_with(name), "{error}");
        }
    }

    #[test]
    fn steering_takes_no_overrides() {
        let value = json!({"sessionId": "s", "prompt": "x", "mode": "steer", "model": "m"});
        let args = Args::of(Some(&value)).expect("an object");
        let error = Reply::read(&args, &Options::default()).expect_err("refused");
        assert!(error.message.starts_with("model: "));
    }
}
