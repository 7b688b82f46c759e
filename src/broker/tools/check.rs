//! The arguments of `codex_check`.

use std::time::Duration;

use serde_json::{Map, Value};

use super::args::Args;
use crate::broker::error::{Error, Result};
use crate::broker::limits;
use crate::broker::words::Detail;

/// What of a session is wanted.
#[derive(Debug, Clone)]
pub struct Query {
    /// Which session.
    pub session: String,
    /// The first event; none: where the reader stopped.
    pub cursor: Option<u64>,
    /// The most events.
    pub events: usize,
    /// How much of each.
    pub detail: Detail,
    /// Whether events are given.
    pub with_events: bool,
    /// Whether what waits is given.
    pub with_actions: bool,
    /// Whether the turn's result is given.
    pub with_result: bool,
    /// The most bytes of the answer's line.
    pub max_bytes: Option<usize>,
    /// What to tell the caller.
    pub warnings: Vec<String>,
}

/// When a wait is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Something to answer, or the turn's end.
    Action,
    /// Also an event.
    Event,
    /// The turn's end, or something new to answer.
    Done,
}

/// What a client decides.
#[derive(Debug, Clone)]
pub struct Permission {
    /// Which request.
    pub request: String,
    /// One of [`DECISIONS`].
    pub decision: String,
    /// With `acceptWithExecpolicyAmendment`.
    pub execpolicy: Option<Vec<String>>,
    /// With `applyNetworkPolicyAmendment`: action and host.
    pub network: Option<(String, String)>,
    /// A note.
    pub deny_message: Option<String>,
    /// Of a server's form.
    pub content: Option<Map<String, Value>>,
    /// What of the permissions is granted.
    pub permissions: Option<Map<String, Value>>,
    /// `turn` or `session`.
    pub scope: Option<String>,
}

/// What to do.
#[derive(Debug, Clone)]
pub enum Check {
    /// Say how it stands.
    Poll(Query),
    /// The same, once something happened.
    Wait {
        /// What is wanted then.
        query: Query,
        /// What is waited for.
        until: Until,
        /// The longest.
        timeout: Duration,
    },
    /// Answer an approval, then poll.
    Permission(Query, Box<Permission>),
    /// Answer questions, then poll.
    Input {
        /// What is wanted then.
        query: Query,
        /// Which request.
        request: String,
        /// Question to answers.
        answers: Map<String, Value>,
    },
}

/// The actions.
pub const ACTIONS: [&str; 4] = ["poll", "wait", "respond_permission", "respond_user_input"];
/// The decisions.
pub const DECISIONS: [&str; 6] = [
    "accept",
    "acceptForSession",
    "acceptWithExecpolicyAmendment",
    "applyNetworkPolicyAmendment",
    "decline",
    "cancel",
];

const ALL: [&str; 6] = [
    "action",
    "sessionId",
    "cursor",
    "maxEvents",
    "responseMode",
    "pollOptions",
];
const WAIT: [&str; 2] = ["timeoutMs", "until"];
const PERMISSION: [&str; 8] = [
    "requestId",
    "decision",
    "execpolicy_amendment",
    "network_policy_amendment",
    "denyMessage",
    "content",
    "permissions",
    "scope",
];
const INPUT: [&str; 2] = ["requestId", "answers"];
const OPTIONS: [&str; 4] = [
    "includeEvents",
    "includeActions",
    "includeResult",
    "maxBytes",
];

impl Check {
    /// Reads the arguments.
    ///
    /// # Errors
    /// What is wrong first; a member that belongs to another action.
    pub fn read(args: &Args<'_>) -> Result<Self> {
        let action = args.wanted_word("action", &ACTIONS)?;
        let own: &[&str] = match action {
            "wait" => &WAIT,
            "respond_permission" => &PERMISSION,
            "respond_user_input" => &INPUT,
            _ => &[],
        };
        for name in WAIT.iter().chain(&PERMISSION).chain(&INPUT) {
            if args.has(name) && !own.contains(name) {
                let reason = format!("does not belong to action `{action}`");
                return Err(Error::argument(name, reason));
            }
        }
        let query = query(args, action, own)?;
        match action {
            "wait" => {
                let until = match args.word("until", &["action", "event", "done"])? {
                    Some("event") => Until::Event,
                    Some("done") => Until::Done,
                    _ => Until::Action,
                };
                Ok(Self::Wait {
                    query,
                    until,
                    timeout: wait_timeout(args)?,
                })
            }
            "respond_permission" => Ok(Self::Permission(query, Box::new(permission(args)?))),
            "respond_user_input" => {
                let request = args.wanted("requestId")?.to_owned();
                let Some(answers) = args.object("answers")? else {
                    return Err(Error::argument("answers", "is required"));
                };
                for (question, answer) in answers {
                    let texts = answer.get("answers").and_then(Value::as_array);
                    if !texts.is_some_and(|texts| texts.iter().all(Value::is_string)) {
                        let path = format!("answers.{question}.answers");
                        return Err(Error::argument(&path, "must be an array of strings"));
                    }
                }
                Ok(Self::Input {
                    query,
                    request,
                    answers: answers.clone(),
                })
            }
            _ => Ok(Self::Poll(query)),
        }
    }
}

fn query(args: &Args<'_>, action: &str, own: &[&str]) -> Result<Query> {
    let mut warnings = Vec::new();
    let known: Vec<&str> = ALL.iter().chain(own).copied().collect();
    args.unknown(&known, &mut warnings);
    let options = args.inner("pollOptions")?;
    options.unknown(&OPTIONS, &mut warnings);
    let (least, usual) = match action {
        "wait" => (1, limits::WAIT_EVENTS),
        "poll" => (1, limits::POLL_EVENTS),
        _ => (0, 0),
    };
    let events = args
        .number("maxEvents", 0)?
        .map_or(usual, |count| usize::try_from(count).unwrap_or(usize::MAX));
    let mut max_bytes = options
        .number("maxBytes", 1)?
        .map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    if let Some(bytes) = max_bytes
        .as_mut()
        .filter(|bytes| **bytes < limits::BYTES_LEAST)
    {
        warnings.push(format!(
            "pollOptions.maxBytes {bytes} is too small; {} is used.",
            limits::BYTES_LEAST
        ));
        *bytes = limits::BYTES_LEAST;
    }
    Ok(Query {
        session: args.wanted("sessionId")?.to_owned(),
        cursor: args.number("cursor", 0)?,
        events: events.max(least),
        detail: args
            .word("responseMode", &Detail::WORDS)?
            .and_then(Detail::parse)
            .unwrap_or_default(),
        with_events: options.flag("includeEvents", true)?,
        with_actions: options.flag("includeActions", true)?,
        with_result: options.flag("includeResult", true)?,
        max_bytes,
        warnings,
    })
}

fn wait_timeout(args: &Args<'_>) -> Result<Duration> {
    let most = u64::try_from(limits::WAIT_MOST.as_millis()).unwrap_or(u64::MAX);
    match args.number("timeoutMs", 0)? {
        None => Ok(limits::WAIT),
        Some(millis) if millis <= most => Ok(Duration::from_millis(millis)),
        Some(_) => Err(Error::argument(
            "timeoutMs",
            format!("must be at most {most}"),
        )),
    }
}

fn permission(args: &Args<'_>) -> Result<Permission> {
    let request = args.wanted("requestId")?.to_owned();
    let decision = args.wanted_word("decision", &DECISIONS)?.to_owned();
    let execpolicy = args.texts("execpolicy_amendment")?;
    let network = if args.object("network_policy_amendment")?.is_some() {
        let inner = args.inner("network_policy_amendment")?;
        let action = inner.wanted_word("action", &["allow", "deny"])?;
        let host = inner.wanted("host")?;
        Some((action.to_owned(), host.to_owned()))
    } else {
        None
    };
    for (name, there, belongs) in [
        (
            "execpolicy_amendment",
            execpolicy.is_some(),
            "acceptWithExecpolicyAmendment",
        ),
        (
            "network_policy_amendment",
            network.is_some(),
            "applyNetworkPolicyAmendment",
        ),
    ] {
        if there != (decision == belongs) {
            let reason = format!("is required with, and only with, decision `{belongs}`");
            return Err(Error::argument(name, reason));
        }
    }
    if execpolicy.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::argument("execpolicy_amendment", "must not be empty"));
    }
    Ok(Permission {
        request,
        decision,
        execpolicy,
        network,
        deny_message: args.text("denyMessage")?.map(str::to_owned),
        content: args.object("content")?.cloned(),
        permissions: args.object("permissions")?.cloned(),
        scope: args.word("scope", &["turn", "session"])?.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> Result<Check> {
        Check::read(&Args::of(Some(value))?)
    }

    #[test]
    fn f15_no_events_of_a_poll_are_one() {
        for action in ["poll", "wait"] {
            let check = read(&json!({"action": action, "sessionId": "s", "maxEvents": 0}));
            match check.expect("right") {
                Check::Poll(query) | Check::Wait { query, .. } => assert_eq!(query.events, 1),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_member_of_another_action_is_refused() {
        for value in [
            json!({"action": "poll", "sessionId": "s", "requestId": "r"}),
            json!({"action": "poll", "sessionId": "s", "until": "done"}),
            json!({"action": "respond_user_input", "sessionId": "s", "requestId": "r",
                   "answers": {}, "decision": "accept"}),
            json!({"action": "respond_permission", "sessionId": "s", "requestId": "r"}),
            json!({"action": "respond_permission", "sessionId": "s", "decision": "accept"}),
            json!({"action": "respond_permission", "sessionId": "s", "requestId": "r",
                   "decision": "accept", "execpolicy_amendment": ["ls"]}),
            json!({"action": "respond_permission", "sessionId": "s", "requestId": "r",
                   "decision": "acceptWithExecpolicyAmendment"}),
            json!({"action": "respond_permission", "sessionId": "s", "requestId": "r",
                   "decision": "acceptWithExecpolicyAmendment", "execpolicy_amendment": []}),
            json!({"action": "respond_permission", "sessionId": "s", "requestId": "r",
                   "decision": "applyNetworkPolicyAmendment",
                   "network_policy_amendment": {"action": "allow", "host": ""}}),
            json!({"action": "respond_user_input", "sessionId": "s", "requestId": "r",
                   "answers": {"q": {"answers": [1]}}}),
            json!({"action": "wait", "sessionId": "s", "timeoutMs": 50_001}),
        ] {
            assert!(read(&value).is_err(), "{value}");
        }
    }

    #[test]
    fn a_bound_that_holds_nothing_is_raised() {
        let check = read(&json!({"action": "poll", "sessionId": "s",
            "pollOptions": {"maxBytes": 10, "colour": 1}}));
        let Ok(Check::Poll(query)) = check else {
            panic!("a poll")
        };
        assert_eq!(query.max_bytes, Some(1024));
        assert_eq!(query.warnings.len(), 2);
    }
}
