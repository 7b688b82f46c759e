//! The calls that Codex announced and that are not over: what an approval may be tied to.
//!
//! `item/started` opens a call, `item/completed` closes it, the end of its turn too – but for a
//! command that goes on in the background. Calls are kept in the order in which they were
//! announced. Codex writes these notifications itself; a server cannot.

use super::Reason;
use super::claim::{Claim, i5_same_arguments};
use super::rules::{Rule, Rules};
use serde::Deserialize;
use serde_json::Value;
use std::collections::VecDeque;

/// The most open calls; further ones are not kept, so an approval for them is `unmatched`.
const OPEN_LIMIT: usize = 10_000;
/// The most of one thread.
const THREAD_LIMIT: usize = 512;
/// How many ended turns are remembered, to tell a command that goes on from one that may be asked
/// about.
const ENDED_LIMIT: usize = 4096;

/// One open call.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// In the order of their announcement, never reused.
    pub(super) seq: u64,
    pub(super) thread: String,
    pub(super) turn: String,
    pub(super) item: String,
    pub(super) what: What,
    pub(super) claim: Held,
    /// The session grant that let it through, as far as one can tell.
    pub(super) ungated: Option<String>,
}

/// What is called.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    Tool(Tool),
    Command(Command),
    Change(Vec<FileChange>),
}

/// A tool of an MCP server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tool {
    pub(super) server: String,
    pub(super) environment_id: Option<String>,
    #[allow(clippy::struct_field_names)] // Codex's own name
    pub(super) tool: String,
    #[serde(default)]
    pub(super) arguments: Value,
    pub(super) read_only_hint: Option<bool>,
}

/// A command.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Command {
    pub(super) command: String,
    pub(super) cwd: String,
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct FileChange {
    pub(super) path: String,
    pub(super) kind: Value,
    pub(super) diff: String,
}

#[derive(Deserialize)]
struct Changes {
    changes: Vec<FileChange>,
}

/// Who claims a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Held {
    /// Nobody.
    Free,
    /// A request that waits.
    Waiting(String),
    /// A request that was answered: with a yes, a no, or by somebody else.
    Answered(String, Option<bool>),
}

/// What pairing found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Paired {
    /// The call with this `seq`.
    With(u64),
    /// Nothing, and nobody is asked.
    Declined(Reason),
    /// The call is claimed: these requests are declined with it.
    Contested(Vec<String>),
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: Vec<Call>,
    next: u64,
    ended: VecDeque<(String, String)>,
}

impl Calls {
    /// Takes in `item/started`.
    pub(super) fn started(&mut self, thread: &str, turn: &str, item: &Value) -> Option<&mut Call> {
        let id = item.get("id")?.as_str()?;
        let what = read(item)?;
        let of_thread = self
            .open
            .iter()
            .filter(|call| call.thread == thread)
            .count();
        if self.open.len() >= OPEN_LIMIT || of_thread >= THREAD_LIMIT {
            return None;
        }
        self.next += 1;
        self.open.push(Call {
            seq: self.next,
            thread: thread.to_owned(),
            turn: turn.to_owned(),
            item: id.to_owned(),
            what,
            claim: Held::Free,
            ungated: None,
        });
        self.open.last_mut()
    }

    /// Takes out the call that `item/completed` ends: of several with its id, the oldest that is
    /// what the item says.
    pub(super) fn completed(&mut self, thread: &str, turn: &str, item: &Value) -> Option<Call> {
        let id = item.get("id")?.as_str()?;
        let what = read(item);
        let mine = |call: &&Call| call.thread == thread && call.turn == turn && call.item == id;
        let same = self
            .open
            .iter()
            .filter(mine)
            .find(|call| Some(&call.what) == what.as_ref());
        let seq = same.or_else(|| self.open.iter().find(mine))?.seq;
        let at = self.open.iter().position(|call| call.seq == seq)?;
        Some(self.open.remove(at))
    }

    /// Ends a turn: its calls are over. A command goes on in the background if nobody was asked
    /// about it or somebody said yes.
    pub(super) fn turn_ended(&mut self, thread: &str, turn: &str) {
        self.open.retain(|call| {
            let other = call.thread != thread || call.turn != turn;
            let runs = matches!(call.claim, Held::Free | Held::Answered(_, Some(true)));
            other || (matches!(call.what, What::Command(_)) && runs)
        });
        self.ended.push_back((thread.to_owned(), turn.to_owned()));
        if self.ended.len() > ENDED_LIMIT {
            self.ended.pop_front();
        }
    }

    /// Forgets a thread.
    pub(super) fn thread_closed(&mut self, thread: &str) {
        self.open.retain(|call| call.thread != thread);
        self.ended.retain(|(ended, _)| ended != thread);
    }

    /// Forgets everything: the process is gone.
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.ended.clear();
    }

    pub(super) fn get(&self, seq: u64) -> Option<&Call> {
        self.open.iter().find(|call| call.seq == seq)
    }

    pub(super) fn get_mut(&mut self, seq: u64) -> Option<&mut Call> {
        self.open.iter_mut().find(|call| call.seq == seq)
    }

    /// The call that a request holds.
    pub(super) fn held_by(&mut self, request: &str) -> Option<&mut Call> {
        self.open.iter_mut().find(|call| match &call.claim {
            Held::Free => false,
            Held::Waiting(by) | Held::Answered(by, _) => by == request,
        })
    }

    /// The open calls of a server's tools in a turn.
    pub(super) fn of_server<'a>(
        &'a self,
        thread: &'a str,
        turn: &'a str,
        server: &'a str,
    ) -> impl Iterator<Item = (&'a Call, &'a Tool)> {
        self.open.iter().filter_map(move |call| match &call.what {
            What::Tool(tool)
                if call.thread == thread && call.turn == turn && tool.server == server =>
            {
                Some((call, tool))
            }
            _ => None,
        })
    }

    fn is_ended(&self, thread: &str, turn: &str) -> bool {
        self.ended.iter().any(|(t, u)| t == thread && u == turn)
    }

    /// Pairs a tool approval: **P1** to **P7**.
    pub(super) fn pair(&self, rules: Rules, claim: &Claim) -> Paired {
        let matching: Vec<(&Call, &Tool)> = self
            .open
            .iter()
            .filter_map(|call| match &call.what {
                What::Tool(tool)
                    if i6_same_key(rules, call, tool, claim)
                        && p1_same_call(rules, tool, claim) =>
                {
                    Some((call, tool))
                }
                _ => None,
            })
            .collect();
        let free: Vec<_> = matching
            .iter()
            .filter(|(call, _)| call.claim == Held::Free)
            .copied()
            .collect();
        match free[..] {
            [] if matching.is_empty() => Paired::Declined(Reason::Unmatched),
            [] => p6_p7_claimed(rules, &matching),
            [(only, _)] => p2_one(rules, only),
            [(oldest, first), ..] => {
                let same = free.iter().all(|(_, tool)| p3_identical(first, tool));
                p3_p4_several(rules, oldest, same)
            }
        }
    }

    /// The calls that a claim might have meant, for the event of an ambiguous one.
    pub(super) fn candidates(&self, rules: Rules, claim: &Claim) -> Vec<String> {
        self.open
            .iter()
            .filter_map(|call| match &call.what {
                What::Tool(tool)
                    if i6_same_key(rules, call, tool, claim)
                        && p1_same_call(rules, tool, claim)
                        && call.claim == Held::Free =>
                {
                    Some(format!("{} {}", call.item, tool.tool))
                }
                _ => None,
            })
            .collect()
    }

    /// **U1**: the open command of an item, in a turn that goes on.
    pub(super) fn command(
        &self,
        rules: Rules,
        thread: &str,
        turn: &str,
        item: &str,
        says: (Option<&str>, Option<&str>),
        network: bool,
    ) -> Result<u64, Reason> {
        let mine: Vec<(&Call, &Command)> = self
            .commands(thread, item)
            .filter(|(call, _)| call.turn == turn)
            .collect();
        if mine.is_empty() || self.is_ended(thread, turn) {
            return Err(Reason::Unmatched);
        }
        // A question about a host carries no command of its own (the schema lets both be null).
        let agrees = |said: Option<&str>, is: &str| said.map_or(network, |said| said == is);
        let same = |(_, command): &&(&Call, &Command)| {
            agrees(says.0, &command.command) && agrees(says.1, &command.cwd)
        };
        let found = if rules.on(Rule::U1) {
            mine.iter().find(same)
        } else {
            mine.first()
        };
        found.map(|(call, _)| call.seq).ok_or(Reason::Inconsistent)
    }

    /// **U2**: the command that runs, which an earlier turn may have started. Call ids repeat
    /// between turns, so there may be two of them: then it is not clear which one is meant.
    pub(super) fn terminal(&self, thread: &str, item: &str) -> Result<u64, Reason> {
        let mut mine = self.commands(thread, item);
        match (mine.next(), mine.next()) {
            (Some((call, _)), None) => Ok(call.seq),
            (None, _) => Err(Reason::Unmatched),
            (Some(_), Some(_)) => Err(Reason::Ambiguous),
        }
    }

    fn commands<'a>(
        &'a self,
        thread: &'a str,
        item: &'a str,
    ) -> impl Iterator<Item = (&'a Call, &'a Command)> {
        self.open.iter().filter_map(move |call| match &call.what {
            What::Command(command) if call.thread == thread && call.item == item => {
                Some((call, command))
            }
            _ => None,
        })
    }

    /// **U3**: the open file change of an item, with its changes.
    pub(super) fn change(&self, thread: &str, turn: &str, item: &str) -> Result<u64, Reason> {
        let mut mine = self.open.iter().filter_map(|call| match &call.what {
            What::Change(changes)
                if call.thread == thread
                    && call.turn == turn
                    && call.item == item
                    && !changes.is_empty() =>
            {
                Some((call.seq, changes))
            }
            _ => None,
        });
        let Some((seq, changes)) = mine.next() else {
            return Err(Reason::Unmatched);
        };
        if mine.all(|(_, other)| other == changes) {
            Ok(seq)
        } else {
            Err(Reason::Ambiguous)
        }
    }

    /// Takes in `item/fileChange/patchUpdated`: the calls that now say something else.
    pub(super) fn patched(
        &mut self,
        thread: &str,
        turn: &str,
        item: &str,
        changes: &Value,
    ) -> Vec<u64> {
        let read = Vec::<FileChange>::deserialize(changes).unwrap_or_default();
        let mut now_other = Vec::new();
        for call in &mut self.open {
            if call.thread == thread
                && call.turn == turn
                && call.item == item
                && let What::Change(old) = &mut call.what
                && *old != read
            {
                old.clone_from(&read);
                now_other.push(call.seq);
            }
        }
        now_other
    }

    /// Finds out which of the identical calls it was that ended, and exchanges their claims: which
    /// of them Codex meant with which approval nobody can tell (**P3**), only how many may run.
    pub(super) fn exchange(&mut self, rules: Rules, ended: &mut Call, ran: bool) {
        let What::Tool(tool) = &ended.what else {
            return;
        };
        if !rules.on(Rule::P3) {
            return;
        }
        let rank = |held: &Held| match (held, ran) {
            (Held::Answered(_, Some(true)), true) | (Held::Answered(_, Some(false)), false) => 0,
            (Held::Free, true) | (Held::Answered(_, None), _) => 1,
            (Held::Answered(_, Some(true)), false) => 2,
            (Held::Waiting(_), _) => 3,
            (Held::Answered(_, Some(false)), true) | (Held::Free, false) => 4,
        };
        let same = |call: &&mut Call| {
            call.thread == ended.thread
                && call.turn == ended.turn
                && matches!(&call.what, What::Tool(other) if p3_identical(tool, other))
        };
        let other = self
            .open
            .iter_mut()
            .filter(same)
            .min_by_key(|call| rank(&call.claim));
        if let Some(other) = other.filter(|other| rank(&other.claim) < rank(&ended.claim)) {
            std::mem::swap(&mut other.claim, &mut ended.claim);
        }
    }
}

/// Reads what an item calls; none for items that are no calls.
fn read(item: &Value) -> Option<What> {
    match item.get("type")?.as_str()? {
        "mcpToolCall" => Tool::deserialize(item).ok().map(What::Tool),
        "commandExecution" => Command::deserialize(item).ok().map(What::Command),
        "fileChange" => Changes::deserialize(item)
            .ok()
            .map(|item| What::Change(item.changes)),
        _ => None,
    }
}

/// **I6**: thread, turn, server and environment are the call's; a turn that is not named is left
/// out (**P1**).
fn i6_same_key(rules: Rules, call: &Call, tool: &Tool, claim: &Claim) -> bool {
    let turn = claim.turn.as_ref().is_none_or(|turn| *turn == call.turn);
    let place = turn && tool.server == claim.server && tool.environment_id == claim.environment;
    i7_same_thread(rules, &call.thread, &claim.thread) && (place || !rules.on(Rule::I6))
}

/// **I7**: a subagent's thread is its own.
fn i7_same_thread(rules: Rules, call: &str, claim: &str) -> bool {
    !rules.on(Rule::I7) || call == claim
}

/// **P1**: the same tool if it is known, the same arguments if they are known.
fn p1_same_call(rules: Rules, tool: &Tool, claim: &Claim) -> bool {
    let named = claim.tool.as_ref().is_none_or(|name| *name == tool.tool);
    let given = claim.arguments.as_ref();
    let same = given.is_none_or(|given| i5_same_arguments(rules, given, &tool.arguments));
    !rules.on(Rule::P1) || (named && same)
}

/// **P2**: one candidate.
fn p2_one(rules: Rules, only: &Call) -> Paired {
    if rules.on(Rule::P2) {
        Paired::With(only.seq)
    } else {
        Paired::Declined(Reason::Unmatched)
    }
}

fn p3_identical(left: &Tool, right: &Tool) -> bool {
    left.server == right.server
        && left.environment_id == right.environment_id
        && left.tool == right.tool
        && left.arguments == right.arguments
}

/// **P3**: identical ones are interchangeable, the oldest it is. **P4**: different ones are not.
fn p3_p4_several(rules: Rules, oldest: &Call, same: bool) -> Paired {
    let pairs = if same {
        rules.on(Rule::P3)
    } else {
        !rules.on(Rule::P4)
    };
    if pairs {
        Paired::With(oldest.seq)
    } else {
        Paired::Declined(Reason::Ambiguous)
    }
}

/// **P6**: of the claims that wait for these calls one is forged, and nothing on the wire says
/// which: all are declined. **P7**: where none waits, it was decided already.
fn p6_p7_claimed(rules: Rules, matching: &[(&Call, &Tool)]) -> Paired {
    let waiting: Vec<String> = matching
        .iter()
        .filter_map(|(call, _)| match &call.claim {
            Held::Waiting(request) => Some(request.clone()),
            _ => None,
        })
        .collect();
    let (rule, found) = if waiting.is_empty() {
        (Rule::P7, Paired::Declined(Reason::AlreadyDecided))
    } else {
        (Rule::P6, Paired::Contested(waiting))
    };
    if rules.on(rule) {
        found
    } else {
        Paired::With(matching[0].0.seq)
    }
}
