//! Which call a request is about, or why nobody is asked.

use super::super::ask::{ChangeAsk, CommandAsk, ElicitationAsk};
use super::super::calls::{Paired, Tool, What};
use super::super::claim::{self, Claim, Kind};
use super::super::rules::Rule;
use super::super::waiting::{Asked, CommandAsked};
use super::super::{Reason, form, link};
use super::{Pairing, cut};
use serde_json::{Value, json};

impl Pairing {
    /// **U1**, **U2**: a command, or input to one.
    pub(super) fn command(&self, ask: CommandAsk) -> Judgement {
        let kind = match &ask.kind {
            None => Some("command"),
            Some(kind) => kind.as_str(),
        };
        let network = ask.network_approval_context.is_some();
        let (seq, stdin) = match kind {
            Some("writeStdin") if self.rules.on(Rule::U2) => {
                (self.calls.terminal(&ask.thread_id, &ask.item_id)?, true)
            }
            Some("command") => {
                let says = (ask.command.as_deref(), ask.cwd.as_deref());
                (
                    self.calls.command(
                        self.rules,
                        &ask.thread_id,
                        &ask.turn_id,
                        &ask.item_id,
                        says,
                        network,
                    )?,
                    false,
                )
            }
            _ if self.rules.on(Rule::U2) => return Err(Reason::UnknownKind.into()),
            _ => (self.calls.terminal(&ask.thread_id, &ask.item_id)?, false),
        };
        let Some(What::Command(call)) = self.calls.get(seq).map(|call| call.what.clone()) else {
            return Err(Reason::Unmatched.into());
        };
        Ok((
            Asked::Command(CommandAsked {
                ask: Box::new(ask),
                call,
                stdin,
            }),
            Some(seq),
        ))
    }

    /// **U3**: the request has no diff; the announced item has.
    pub(super) fn u3_change(&self, ask: ChangeAsk) -> Judgement {
        match self
            .calls
            .change(&ask.thread_id, &ask.turn_id, &ask.item_id)
        {
            Ok(seq) => match self.calls.get(seq).map(|call| call.what.clone()) {
                Some(What::Change(changes)) => Ok((Asked::Change { ask, changes }, Some(seq))),
                _ => Err(Reason::Unmatched.into()),
            },
            Err(reason) if self.rules.on(Rule::U3) => Err(reason.into()),
            Err(_) => Ok((
                Asked::Change {
                    ask,
                    changes: Vec::new(),
                },
                None,
            )),
        }
    }

    pub(super) fn elicitation(&self, ask: ElicitationAsk) -> Judgement {
        let told = |ask: &ElicitationAsk| {
            let text = ask
                .message
                .as_str()
                .or_else(|| ask.title.as_ref()?.as_str())
                .unwrap_or_default();
            json!({"server": cut(&ask.server_name), "message": cut(text)})
        };
        let kind = claim::recognise(self.rules, &ask)
            .map_err(|reason| Declined::told(reason, told(&ask)))?;
        match kind {
            Kind::Tool => {
                let claim = Claim::read(self.rules, &ask)
                    .map_err(|reason| Declined::told(reason, told(&ask)))?;
                self.tool(ask, &claim)
            }
            Kind::Form => {
                if let Err(why) = form::unsupported(ask.requested_schema.as_ref())
                    && self.rules.on(Rule::S2)
                {
                    let mut told = told(&ask);
                    told["why"] = cut(&why).into();
                    return Err(Declined::told(Reason::UnsupportedForm, told));
                }
                let during = self.during(&ask);
                Ok((
                    Asked::Form {
                        ask: Box::new(ask),
                        during,
                    },
                    None,
                ))
            }
            Kind::Link => {
                let url = ask
                    .url
                    .as_ref()
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned();
                let read = link::read(&url);
                let Some(link) =
                    read.or_else(|| (!self.rules.on(Rule::S4)).then(link::Link::unread))
                else {
                    return Err(Declined::told(Reason::UnsafeUrl, told(&ask)));
                };
                Ok((
                    Asked::Link {
                        ask: Box::new(ask),
                        url,
                        link,
                    },
                    None,
                ))
            }
        }
    }

    /// **S1**: the calls during which a server asks something of its own.
    pub(super) fn during(&self, ask: &ElicitationAsk) -> Vec<String> {
        let Some(turn) = &ask.turn_id else {
            return Vec::new();
        };
        let open = self.calls.of_server(&ask.thread_id, turn, &ask.server_name);
        open.map(|(call, tool)| format!("{} {}", tool.tool, call.item))
            .collect()
    }

    pub(super) fn tool(&self, ask: ElicitationAsk, claim: &Claim) -> Judgement {
        let told = || {
            json!({
                "server": claim.server, "tool": claim.tool.as_deref().map(cut),
                "message": cut(ask.message.as_str().unwrap_or_default()),
                "candidates": self.calls.candidates(self.rules, claim),
            })
        };
        match self.calls.pair(self.rules, claim) {
            Paired::With(seq) => match self.calls.get(seq).map(|call| call.what.clone()) {
                Some(What::Tool(tool)) => Ok((
                    Asked::Tool {
                        ask: Box::new(ask),
                        tool,
                    },
                    Some(seq),
                )),
                _ => Err(Reason::Unmatched.into()),
            },
            Paired::Declined(Reason::Unmatched) if !self.rules.on(Rule::P5) => {
                let tool = Tool {
                    server: claim.server.clone(),
                    environment_id: claim.environment.clone(),
                    tool: claim.tool.clone().unwrap_or_default(),
                    arguments: claim.arguments.clone().unwrap_or_default(),
                    read_only_hint: None,
                };
                Ok((
                    Asked::Tool {
                        ask: Box::new(ask),
                        tool,
                    },
                    None,
                ))
            }
            Paired::Declined(reason) => Err(Declined::told(reason, told())),
            Paired::Contested(contested) => Err(Declined {
                reason: Reason::Contested,
                contested,
                told: told(),
            }),
        }
    }
}

/// Why nobody is asked.
pub(super) struct Declined {
    pub(super) reason: Reason,
    /// Requests that are declined with it.
    pub(super) contested: Vec<String>,
    /// For the event: what was asked.
    pub(super) told: Value,
}

impl Declined {
    pub(super) fn told(reason: Reason, told: Value) -> Self {
        Self {
            reason,
            contested: Vec::new(),
            told,
        }
    }
}

impl From<Reason> for Declined {
    fn from(reason: Reason) -> Self {
        Self::told(reason, Value::Null)
    }
}

pub(super) type Judgement = Result<(Asked, Option<u64>), Declined>;
