//! From a person's answer to the right to run: the only place where an [`Approved`] is made.
//!
//! A [`Question`] is about one proposal, by its whole digest, and is answered once: reading an
//! answer consumes it. Everything but the one right answer in time is no grant. An answer never
//! says what it approves; the question knows.

use super::clock::Moment;
use super::error::Error;
use super::grant;
use super::journal::{Event, Journal};
use super::policy::Allowed;
use super::store::{Gate, Waiting};
use super::token::Token;
use serde_json::Value;

/// How long a grant may wait for its run: 10 minutes, or the proposal's end.
const GRANT_LASTS: Moment = 10 * 60 * 1000;
/// An Approve that comes sooner is a slip of the keys: the question takes the keyboard at once,
/// while a person may be typing (seen in Codex 0.171: 0.3 to 0.7 seconds).
const SLIP: Moment = 1500;

/// The word that approves.
const APPROVE: &str = "Approve";
/// The word that rejects.
const REJECT: &str = "Reject";

/// A person's Approve of one proposal.
#[derive(Debug)]
#[must_use = "an approval grants nothing until it is written down"]
pub struct Approved {
    pub(super) token: Token,
    pub(super) digest: String,
    pub(super) by: String,
    pub(super) at: Moment,
    pub(super) expires: Moment,
}

impl Approved {
    /// Records it and writes the grant.
    ///
    /// # Errors
    /// A journal or disk that takes nothing: there is no grant then.
    pub fn grant(self, gate: &mut Gate<'_>) -> Result<(), Error> {
        grant::write(self, gate)
    }

    /// When the grant ends.
    pub const fn expires(&self) -> Moment {
        self.expires
    }

    fn new(question: Question, now: Moment) -> Self {
        Self {
            token: question.token,
            digest: question.digest,
            by: question.by.words(),
            at: now,
            expires: question.ends.min(now.saturating_add(GRANT_LASTS)),
        }
    }
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// A person at a terminal, with the user's name.
    Terminal(String),
    /// A person in Codex's prompt, with the ids that Codex gave.
    Codex(String),
    /// A person in another MCP client, with its name.
    Client(String),
}

impl By {
    /// As it is recorded.
    pub fn words(&self) -> String {
        match self {
            Self::Terminal(user) => format!("a person at the terminal ({user})"),
            Self::Codex(ids) => format!("a person in Codex ({ids})"),
            Self::Client(name) => format!("a person in {name}"),
        }
    }
}

/// One question to a person about one proposal.
#[derive(Debug)]
#[must_use]
pub struct Question {
    token: Token,
    digest: String,
    by: By,
    /// When the proposal ends.
    ends: Moment,
    asked: Moment,
    deadline: Moment,
    again: bool,
}

/// A form's answer as it came, before anything is believed of it.
#[derive(Debug, Clone, Copy)]
pub struct FormAnswer<'a> {
    /// `action` of the result.
    pub action: Option<&'a Value>,
    /// `content` of the result.
    pub content: Option<&'a Value>,
    /// `_meta` of the result.
    pub meta: Option<&'a Value>,
}

/// What an answer came to.
#[derive(Debug)]
#[must_use]
pub enum Verdict {
    /// A person approved exactly this proposal.
    Approved(Approved),
    /// A person rejected it: record it with [`reject`].
    Rejected,
    /// It came too fast to be meant: ask this once more, saying so.
    Slip(Question),
    /// No decision, so no grant.
    Nothing(NoGrant),
}

/// Why an answer is no decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoGrant {
    /// `decline`: by a person, or by Codex itself.
    #[error("the question was declined")]
    Declined,
    /// `cancel`: by a person, or by Codex itself.
    #[error("the question was cancelled")]
    Cancelled,
    /// Not the shape that was asked for.
    #[error("the answer is not one to this question")]
    Malformed,
    /// It came after the deadline, or before the question.
    #[error("the answer came too late")]
    Late,
    /// The second answer came too fast as well.
    #[error("the answer came too fast twice")]
    TooFast,
    /// Nobody answered.
    #[error("nobody answered in time")]
    Silent,
    /// The question was withdrawn, or whoever was asked went away.
    #[error("the question was withdrawn")]
    Withdrawn,
}

impl Question {
    /// Puts the question at `now`; an answer counts until `deadline` and the proposal's end.
    pub fn ask(waiting: &Waiting, by: By, now: Moment, deadline: Moment) -> Self {
        let ends = waiting.proposal.expires;
        Self {
            token: waiting.token.clone(),
            digest: waiting.digest.clone(),
            by,
            ends,
            asked: now,
            deadline: deadline.min(ends),
            again: false,
        }
    }

    /// Puts the same question once more, after a slip.
    pub fn once_more(mut self, now: Moment) -> Self {
        (self.asked, self.again) = (now, true);
        self
    }

    /// The moment from which on no answer counts.
    pub const fn deadline(&self) -> Moment {
        self.deadline
    }

    /// Reads the answer of a form with the one property `decision`.
    pub fn read_form(self, answer: &FormAnswer<'_>, now: Moment) -> Verdict {
        if now < self.asked || now >= self.deadline {
            return Verdict::Nothing(NoGrant::Late);
        }
        match answer.action.and_then(Value::as_str) {
            Some("accept") => {}
            Some("decline") => return Verdict::Nothing(NoGrant::Declined),
            Some("cancel") => return Verdict::Nothing(NoGrant::Cancelled),
            Some(_) | None => return Verdict::Nothing(NoGrant::Malformed),
        }
        let plain = match answer.meta {
            None | Some(Value::Null) => true,
            Some(Value::Object(members)) => members.is_empty(),
            Some(_) => false,
        };
        let content = answer.content.and_then(Value::as_object);
        let decision = content
            .filter(|members| members.len() == 1)
            .and_then(|members| members.get("decision"))
            .and_then(Value::as_str);
        match decision {
            Some(REJECT) if plain => Verdict::Rejected,
            Some(APPROVE) if plain && now - self.asked >= SLIP => {
                Verdict::Approved(Approved::new(self, now))
            }
            Some(APPROVE) if plain && self.again => Verdict::Nothing(NoGrant::TooFast),
            Some(APPROVE) if plain => Verdict::Slip(self),
            Some(_) | None => Verdict::Nothing(NoGrant::Malformed),
        }
    }

    /// Reads the answer to a yes-or-no question on a terminal; `None`: there was none.
    pub fn read_terminal(self, yes: Option<bool>, now: Moment) -> Verdict {
        if now < self.asked || now >= self.deadline {
            return Verdict::Nothing(NoGrant::Late);
        }
        match yes {
            Some(true) => Verdict::Approved(Approved::new(self, now)),
            Some(false) | None => Verdict::Nothing(NoGrant::Declined),
        }
    }
}

/// The approval that an `allow` line gives.
pub fn by_policy(allowed: &Allowed, waiting: &Waiting, now: Moment) -> Approved {
    Approved {
        token: waiting.token.clone(),
        digest: waiting.digest.clone(),
        by: format!("the policy, {}", allowed.line()),
        at: now,
        expires: waiting
            .proposal
            .expires
            .min(now.saturating_add(GRANT_LASTS)),
    }
}

/// Records a rejection and removes the proposal.
///
/// # Errors
/// A journal that takes nothing; the proposal is gone all the same.
pub fn reject(
    gate: &mut Gate<'_>,
    waiting: &Waiting,
    by: &By,
    reason: Option<String>,
) -> Result<(), Error> {
    gate.forget(&waiting.token);
    let event = Event::Rejected {
        token: waiting.token.clone(),
        by: by.words(),
        reason,
    };
    Journal::append(gate, event)
}

/// Records that a question ended without a decision. The proposal waits on.
///
/// # Errors
/// A journal that takes nothing.
pub fn undecided(
    gate: &mut Gate<'_>,
    waiting: &Waiting,
    by: &By,
    why: NoGrant,
) -> Result<(), Error> {
    let event = Event::Undecided {
        token: waiting.token.clone(),
        by: by.words(),
        why: why.to_string(),
    };
    Journal::append(gate, event)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::testing;
    use proptest::prelude::*;
    use serde_json::json;

    const ASKED: Moment = 1_000_000;
    const FINE: Moment = ASKED + SLIP;

    fn question() -> Question {
        let waiting = testing::waiting(ASKED, ASKED + 3_600_000);
        Question::ask(&waiting, By::Codex("t".into()), ASKED, ASKED + 900_000)
    }

    fn read(answer: &Value, now: Moment) -> Verdict {
        let answer = FormAnswer {
            action: answer.get("action"),
            content: answer.get("content"),
            meta: answer.get("_meta"),
        };
        question().read_form(&answer, now)
    }

    fn approves() -> Value {
        json!({"action": "accept", "content": {"decision": "Approve"}})
    }

    #[test]
    fn the_one_right_answer_approves_exactly_what_was_asked() {
        let Verdict::Approved(approved) = read(&approves(), FINE) else {
            panic!("it is the right answer");
        };
        let waiting = testing::waiting(ASKED, ASKED + 3_600_000);
        assert_eq!(approved.token, waiting.token);
        assert_eq!(approved.digest, waiting.digest);
        assert_eq!(approved.at, FINE);
        assert_eq!(approved.expires, FINE + 600_000);
        assert_eq!(approved.by, "a person in Codex (t)");
    }

    #[test]
    fn a_grant_ends_with_its_proposal() {
        let waiting = testing::waiting(ASKED, ASKED + 60_000);
        let question = Question::ask(&waiting, By::Client("x".into()), ASKED, Moment::MAX);
        assert_eq!(question.deadline(), ASKED + 60_000);
        let Verdict::Approved(approved) = question.read_terminal(Some(true), ASKED) else {
            panic!("it is in time");
        };
        assert_eq!(approved.expires(), ASKED + 60_000);
    }

    #[test]
    fn empty_meta_is_no_meta() {
        for meta in [json!(null), json!({})] {
            let mut answer = approves();
            answer["_meta"] = meta;
            assert!(matches!(read(&answer, FINE), Verdict::Approved(_)));
        }
    }

    #[test]
    fn every_other_answer_is_none() {
        use NoGrant::{Cancelled, Declined, Malformed};
        let accept = |content: Value| json!({"action": "accept", "content": content});
        for (answer, why) in [
            (json!({}), Malformed),
            (json!({"action": "decline"}), Declined),
            (json!({"action": "cancel"}), Cancelled),
            (
                json!({"action": "decline", "content": {"decision": "Approve"}}),
                Declined,
            ),
            (
                json!({"action": "cancel", "content": {"decision": "Approve"}}),
                Cancelled,
            ),
            (
                json!({"action": "Accept", "content": {"decision": "Approve"}}),
                Malformed,
            ),
            (
                json!({"action": ["accept"], "content": {"decision": "Approve"}}),
                Malformed,
            ),
            (json!({"content": {"decision": "Approve"}}), Malformed),
            (json!({"action": "accept"}), Malformed),
            (accept(json!(null)), Malformed),
            (accept(json!({})), Malformed),
            (accept(json!("Approve")), Malformed),
            (accept(json!(["Approve"])), Malformed),
            (accept(json!({"decision": "approve"})), Malformed),
            (accept(json!({"decision": "Approve "})), Malformed),
            (accept(json!({"decision": true})), Malformed),
            (accept(json!({"decision": ["Approve"]})), Malformed),
            (accept(json!({"decision": null})), Malformed),
            (accept(json!({"Decision": "Approve"})), Malformed),
            (accept(json!({"decision": "Maybe", "x": 1})), Malformed),
            (accept(json!({"decision": "Approve", "x": 1})), Malformed),
        ] {
            match read(&answer, FINE) {
                Verdict::Nothing(got) => assert_eq!(got, why, "{answer}"),
                other => panic!("{answer}: {other:?}"),
            }
        }
    }

    #[test]
    fn an_answer_with_meta_is_none() {
        for meta in [json!({"persist": "always"}), json!(0), json!(""), json!([])] {
            for decision in ["Approve", "Reject"] {
                let answer =
                    json!({"action": "accept", "content": {"decision": decision}, "_meta": meta});
                let got = read(&answer, FINE);
                assert!(
                    matches!(got, Verdict::Nothing(NoGrant::Malformed)),
                    "{answer}"
                );
            }
        }
    }

    #[test]
    fn reject_is_a_decision_at_once() {
        let answer = json!({"action": "accept", "content": {"decision": "Reject"}});
        assert!(matches!(read(&answer, ASKED), Verdict::Rejected));
    }

    #[test]
    fn an_answer_out_of_its_time_is_none() {
        for now in [0, ASKED - 1, ASKED + 900_000, Moment::MAX] {
            let late = |verdict| matches!(verdict, Verdict::Nothing(NoGrant::Late));
            assert!(late(read(&approves(), now)), "{now}");
            assert!(late(question().read_terminal(Some(true), now)), "{now}");
        }
        assert!(matches!(
            read(&approves(), ASKED + 899_999),
            Verdict::Approved(_)
        ));
    }

    #[test]
    fn a_slip_of_the_keys_is_asked_once_more_and_no_more() {
        let Verdict::Slip(question) = read(&approves(), FINE - 1) else {
            panic!("it came too fast");
        };
        let again = FINE;
        let fast = question.once_more(again);
        let answer = approves();
        let answer = FormAnswer {
            action: answer.get("action"),
            content: answer.get("content"),
            meta: None,
        };
        let got = fast.read_form(&answer, again + SLIP - 1);
        assert!(matches!(got, Verdict::Nothing(NoGrant::TooFast)));
        let meant = question_again(again).read_form(&answer, again + SLIP);
        assert!(matches!(meant, Verdict::Approved(_)));
    }

    fn question_again(at: Moment) -> Question {
        question().once_more(at)
    }

    #[test]
    fn at_the_terminal_only_yes_approves() {
        let no = |answer| question().read_terminal(answer, FINE);
        assert!(matches!(
            no(Some(false)),
            Verdict::Nothing(NoGrant::Declined)
        ));
        assert!(matches!(no(None), Verdict::Nothing(NoGrant::Declined)));
        assert!(matches!(no(Some(true)), Verdict::Approved(_)));
    }

    fn hostile() -> impl Strategy<Value = Value> {
        let word = prop_oneof![
            Just("accept"),
            Just("decline"),
            Just("cancel"),
            Just("Approve"),
            Just("Reject"),
            Just("decision"),
            Just("action"),
            Just("content"),
            Just("_meta"),
            Just("persist"),
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            word.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 3, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map(word.clone().prop_map(str::to_owned), inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_hostile_answer_approves(answer in hostile(), at in 0_u64..2_000_000) {
            let right = answer.get("action") == Some(&json!("accept"))
                && answer.get("content") == Some(&json!({"decision": "Approve"}))
                && (matches!(answer.get("_meta"), None | Some(Value::Null))
                    || answer.get("_meta") == Some(&json!({})));
            if let Verdict::Approved(_) = read(&answer, at) {
                prop_assert!(right && (FINE..ASKED + 900_000).contains(&at), "{answer}");
            }
        }
    }
}
