//! The arguments of `codex_session`.

use std::path::PathBuf;
use std::time::Duration;

use super::args::Args;
use super::start::{missing, policies, profile};
use crate::broker::error::Result;
use crate::broker::limits;
use crate::broker::options::Options;
use crate::broker::words::{Policy, Sandbox};

/// What to do with sessions.
#[derive(Debug, Clone)]
pub enum Manage {
    /// All of them.
    List,
    /// One of them; with its thread, folder and config if asked for.
    Get {
        /// Which.
        session: String,
        /// Whether more is shown.
        sensitive: bool,
    },
    /// End it for good.
    Cancel(String),
    /// End its turn.
    Interrupt(String),
    /// A new session with its history.
    Fork(String),
    /// End the commands that it left running.
    Clean(String),
    /// Take up a thread of an earlier time.
    Resume(Box<Resume>),
}

/// A thread to take up.
#[derive(Debug, Clone)]
pub struct Resume {
    /// Codex's name of it.
    pub thread: String,
    /// When to ask.
    pub policy: Policy,
    /// What can be reached.
    pub sandbox: Sandbox,
    /// As it was given.
    pub cwd: Option<PathBuf>,
    /// None: the thread's.
    pub model: Option<String>,
    /// A file of Codex's home.
    pub profile: Option<String>,
    /// How long an approval waits.
    pub approval_timeout: Duration,
}

/// The actions.
pub const ACTIONS: [&str; 7] = [
    "list",
    "get",
    "cancel",
    "interrupt",
    "fork",
    "clean_background_terminals",
    "resume",
];
const PLAIN: [&str; 3] = ["action", "sessionId", "includeSensitive"];
const RESUME: [&str; 8] = [
    "action",
    "threadId",
    "approvalPolicy",
    "sandbox",
    "cwd",
    "model",
    "profile",
    "approvalTimeoutMs",
];

impl Manage {
    /// Reads the arguments, and what to tell the caller.
    ///
    /// # Errors
    /// What is wrong first.
    pub fn read(args: &Args<'_>, options: &Options) -> Result<(Self, Vec<String>)> {
        let mut warnings = Vec::new();
        let action = args.wanted_word("action", &ACTIONS)?;
        let known: &[&str] = if action == "resume" { &RESUME } else { &PLAIN };
        args.unknown(known, &mut warnings);
        let session = || args.wanted("sessionId").map(str::to_owned);
        let sensitive = args.flag("includeSensitive", false)?;
        let manage = match action {
            "list" => Self::List,
            "get" => Self::Get {
                session: session()?,
                sensitive,
            },
            "cancel" => Self::Cancel(session()?),
            "interrupt" => Self::Interrupt(session()?),
            "fork" => Self::Fork(session()?),
            "clean_background_terminals" => Self::Clean(session()?),
            _ => {
                let thread = args.wanted("threadId")?.to_owned();
                let (policy, sandbox) = policies(args, options, &mut warnings)?;
                let timeout = args.number("approvalTimeoutMs", 1)?;
                Self::Resume(Box::new(Resume {
                    thread,
                    policy: policy.ok_or_else(|| missing("approvalPolicy", &Policy::WORDS))?,
                    sandbox: sandbox.ok_or_else(|| missing("sandbox", &Sandbox::WORDS))?,
                    cwd: args.text("cwd")?.map(PathBuf::from),
                    model: args.text("model")?.map(str::to_owned),
                    profile: profile(args)?,
                    approval_timeout: timeout.map_or(limits::APPROVAL, Duration::from_millis),
                }))
            }
        };
        Ok((manage, warnings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_action_wants_its_own() {
        let read =
            |value: serde_json::Value| Manage::read(&Args::of(Some(&value))?, &Options::default());
        assert!(matches!(
            read(json!({"action": "list"})),
            Ok((Manage::List, _))
        ));
        for action in &ACTIONS[1..] {
            let error = read(json!({ "action": action })).expect_err("it names nothing");
            assert!(error.message.contains("is required"), "{error}");
        }
        let error = read(json!({})).expect_err("no action");
        assert!(error.message.starts_with("action: "));
        let (_, warnings) = read(json!({"action": "list", "x": 1})).expect("right");
        assert_eq!(warnings.len(), 1);
    }
}
