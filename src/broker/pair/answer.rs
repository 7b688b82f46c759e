//! What a client may answer, and what then goes to Codex.
//!
//! Codex checks no answer against what it offered (0.147 to 0.171), so it is checked here, before
//! anything changes: an answer that does not fit is refused and the request goes on waiting.

use super::ask::{Fixed, Network, NetworkAction, QuestionsAsk};
use super::form;
use super::permissions::u4_granted;
use super::rules::{Rule, Rules};
use super::waiting::{Asked, Pending};
use crate::rpc::{METHOD_NOT_FOUND, RpcError};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Our code for a request that is refused on purpose, as the peer uses it.
const REFUSED: i64 = -32000;

/// The words of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// This once.
    Accept,
    /// And what is like it, in this session.
    AcceptForSession,
    /// And what the offered rule matches, for good.
    AcceptWithExecpolicyAmendment,
    /// A rule for a host, for good.
    ApplyNetworkPolicyAmendment,
    /// No.
    Decline,
    /// No, and the turn ends where Codex does that.
    Cancel,
}

impl Word {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Accept,
        Self::AcceptForSession,
        Self::AcceptWithExecpolicyAmendment,
        Self::ApplyNetworkPolicyAmendment,
        Self::Decline,
        Self::Cancel,
    ];

    /// As it stands in `decision`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::AcceptForSession => "acceptForSession",
            Self::AcceptWithExecpolicyAmendment => "acceptWithExecpolicyAmendment",
            Self::ApplyNetworkPolicyAmendment => "applyNetworkPolicyAmendment",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }

    /// Reads `decision`.
    pub fn read(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|word| word.as_str() == text)
    }

    /// Whether it says yes.
    pub fn grants(self) -> bool {
        !matches!(self, Self::Decline | Self::Cancel)
    }
}

/// For how long a permission is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Until the turn ends.
    Turn,
    /// As long as the session lives.
    Session,
}

/// What a client answers: `respond_permission` with all that came with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The word.
    pub word: Word,
    /// With its word only.
    pub execpolicy_amendment: Option<Vec<String>>,
    /// With its word only.
    pub network_policy_amendment: Option<Network>,
    /// For a server's form.
    pub content: Option<Value>,
    /// For permissions: which of them.
    pub permissions: Option<Value>,
    /// For permissions: how long.
    pub scope: Option<Scope>,
    /// A note that stays here.
    pub deny_message: Option<String>,
}

impl From<Word> for Decision {
    fn from(word: Word) -> Self {
        Self {
            word,
            execpolicy_amendment: None,
            network_policy_amendment: None,
            content: None,
            permissions: None,
            scope: None,
            deny_message: None,
        }
    }
}

impl From<Decision> for Answer {
    fn from(decision: Decision) -> Self {
        Self::Decision(Box::new(decision))
    }
}

/// An answer to a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// To an approval, a form or a link; questions take `decline` and `cancel` of it.
    Decision(Box<Decision>),
    /// To questions: `{id: {"answers": [text]}}`.
    Answers(BTreeMap<String, Vec<String>>),
}

impl From<Word> for Answer {
    fn from(word: Word) -> Self {
        Self::Decision(Box::new(word.into()))
    }
}

/// What an answer would do. It says nothing about who gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Goes to Codex.
    pub(super) result: Value,
    /// The word, for the record; none for answers to questions.
    pub(super) word: Option<Word>,
    /// It lets something happen.
    pub grants: bool,
    /// It changes rules outside of the session, so that a person must say it, or the operator's
    /// flag: an amendment, an allowed host.
    pub needs_person: bool,
    /// The turn is to be interrupted after it.
    pub(super) interrupts: bool,
    /// A session grant for a tool begins with it.
    pub(super) session_grant: bool,
}

/// The words that fit a request at all; which of them need a person is not judged here.
pub(super) fn words(rules: Rules, pending: &Pending) -> Vec<Word> {
    let all = Word::ALL.into_iter();
    all.filter(|word| offered(rules, pending, *word).is_ok())
        .collect()
}

/// Judges an answer.
///
/// # Errors
/// What does not fit; nothing changes then.
pub(super) fn judge(rules: Rules, pending: &Pending, answer: &Answer) -> Result<Judged, String> {
    match answer {
        Answer::Decision(decision) => decide(rules, pending, decision),
        Answer::Answers(answers) => match &pending.asked {
            Asked::Questions(ask) => u7_answers(rules, ask, answers),
            _ => Err("answers: this request is answered with a decision".into()),
        },
    }
}

fn decide(rules: Rules, pending: &Pending, decision: &Decision) -> Result<Judged, String> {
    let word = decision.word;
    belongs(pending, decision)?;
    offered(rules, pending, word)?;
    let mut judged = Judged {
        result: closed(&pending.asked),
        word: Some(word),
        grants: word.grants(),
        needs_person: false,
        interrupts: false,
        session_grant: false,
    };
    match &pending.asked {
        Asked::Command(_) | Asked::Change { .. } => {
            judged.result = json!({"decision": word.as_str()});
            match word {
                Word::AcceptWithExecpolicyAmendment => {
                    let rule = u5_rule(rules, pending, decision.execpolicy_amendment.as_deref())?;
                    let with = json!({"execpolicy_amendment": rule});
                    judged.result = json!({"decision": {word.as_str(): with}});
                    judged.needs_person = true;
                }
                Word::ApplyNetworkPolicyAmendment => {
                    let rule = u5_host(rules, pending, decision.network_policy_amendment.as_ref())?;
                    let host = json!({"host": rule.host, "action": rule.action.word()});
                    let with = json!({"network_policy_amendment": host});
                    judged.result = json!({"decision": {word.as_str(): with}});
                    judged.grants = rule.action == NetworkAction::Allow;
                    judged.needs_person = judged.grants;
                }
                _ => {}
            }
        }
        Asked::Tool { .. } => match word {
            Word::Accept => judged.result = a9_accept(rules, &json!({}), &Value::Null),
            Word::AcceptForSession => {
                judged.result = a9_accept(rules, &json!({}), &m2_persist(rules, pending));
                judged.session_grant = true;
            }
            Word::Cancel => judged.result = a9_refusal(rules, "cancel"),
            _ => {}
        },
        Asked::Form { ask, .. } => match word {
            Word::Accept => {
                let content = s3_content(
                    rules,
                    ask.requested_schema.as_ref(),
                    decision.content.as_ref(),
                )?;
                judged.result = a9_accept(rules, &content, &Value::Null);
            }
            Word::Cancel => judged.result = a9_refusal(rules, "cancel"),
            _ => {}
        },
        Asked::Link { .. } => match word {
            Word::Accept => judged.result = a9_accept(rules, &json!({}), &Value::Null),
            Word::Cancel => judged.result = a9_refusal(rules, "cancel"),
            _ => {}
        },
        Asked::Permissions(ask) => {
            if word.grants() {
                judged.result = u4_granted(rules, ask, decision)?;
            }
            judged.interrupts = word == Word::Cancel;
        }
        Asked::Questions(_) => {}
    }
    Ok(judged)
}

/// Refuses a member that does not belong to this decision.
fn belongs(pending: &Pending, decision: &Decision) -> Result<(), String> {
    let word = decision.word;
    let rule = word == Word::AcceptWithExecpolicyAmendment;
    if decision.execpolicy_amendment.is_some() != rule {
        return Err("execpolicy_amendment: it belongs to acceptWithExecpolicyAmendment".into());
    }
    let host = word == Word::ApplyNetworkPolicyAmendment;
    if decision.network_policy_amendment.is_some() != host {
        return Err("network_policy_amendment: it belongs to applyNetworkPolicyAmendment".into());
    }
    let form = matches!(pending.asked, Asked::Form { .. }) && word == Word::Accept;
    if decision.content.is_some() && !form {
        return Err("content: it belongs to the accept of a server's form".into());
    }
    let permissions = matches!(pending.asked, Asked::Permissions(_)) && word.grants();
    if (decision.permissions.is_some() || decision.scope.is_some()) && !permissions {
        return Err(
            "permissions, scope: they belong to the accept of a permissions request".into(),
        );
    }
    Ok(())
}

/// **U6**, **M1**: whether the word fits the request. `decline` and `cancel` always do.
fn offered(rules: Rules, pending: &Pending, word: Word) -> Result<(), String> {
    let no = |why: &str| Err(format!("decision: {} {why}", word.as_str()));
    if !word.grants() {
        return Ok(());
    }
    match (&pending.asked, word) {
        (Asked::Command(asked), _) => {
            let ask = &asked.ask;
            let listed = ask.available_decisions.as_ref().is_none_or(|list| {
                list.iter()
                    .any(|entry| entry.as_str().or_else(|| only_key(entry)) == Some(word.as_str()))
            });
            let there = match word {
                Word::AcceptWithExecpolicyAmendment => {
                    ask.proposed_execpolicy_amendment.is_some() || !rules.on(Rule::U5)
                }
                Word::ApplyNetworkPolicyAmendment => {
                    ask.proposed_network_policy_amendments.is_some() || !rules.on(Rule::U5)
                }
                _ => true,
            };
            let amendment = !matches!(word, Word::Accept | Word::AcceptForSession);
            let lax = !rules.on(Rule::U6) || (amendment && !rules.on(Rule::U5));
            if (listed || lax) && there {
                Ok(())
            } else {
                no("was not offered")
            }
        }
        (Asked::Tool { .. }, Word::AcceptForSession) => m1_persist_offered(rules, pending),
        (Asked::Form { .. } | Asked::Link { .. }, Word::AcceptForSession)
            if !rules.on(Rule::S5) =>
        {
            Ok(())
        }
        (Asked::Questions(_), _) => no("does not fit: use respond_user_input"),
        (_, Word::Accept)
        | (Asked::Change { .. } | Asked::Permissions(_), Word::AcceptForSession) => Ok(()),
        _ => no("does not fit this kind of request"),
    }
}

fn only_key(entry: &Value) -> Option<&str> {
    let mut keys = entry.as_object()?.keys();
    let key = keys.next()?;
    keys.next().is_none().then_some(key)
}

/// **U5**: the rule that was proposed, entry by entry.
fn u5_rule<'a>(
    rules: Rules,
    pending: &Pending,
    given: Option<&'a [String]>,
) -> Result<&'a [String], String> {
    let given = given.unwrap_or_default();
    let Asked::Command(asked) = &pending.asked else {
        return Err("execpolicy_amendment: not offered".into());
    };
    let proposed = asked.ask.proposed_execpolicy_amendment.as_deref();
    let name = Word::AcceptWithExecpolicyAmendment.as_str();
    let mut listed = asked
        .ask
        .available_decisions
        .iter()
        .flatten()
        .filter_map(|entry| entry.get(name));
    let same = asked.ask.available_decisions.is_none()
        || listed.any(|entry| entry["execpolicy_amendment"] == json!(given));
    if rules.on(Rule::U5) && (given.is_empty() || proposed != Some(given) || !same) {
        return Err("execpolicy_amendment: it is not the rule that was offered".into());
    }
    Ok(given)
}

/// **U5**: one of the rules for hosts that were proposed.
fn u5_host<'a>(
    rules: Rules,
    pending: &Pending,
    given: Option<&'a Network>,
) -> Result<&'a Network, String> {
    let (Asked::Command(asked), Some(given)) = (&pending.asked, given) else {
        return Err("network_policy_amendment: not offered".into());
    };
    let name = Word::ApplyNetworkPolicyAmendment.as_str();
    let rule = json!({"host": given.host, "action": given.action.word()});
    let mut listed = asked
        .ask
        .available_decisions
        .iter()
        .flatten()
        .filter_map(|entry| entry.get(name));
    let same = asked.ask.available_decisions.is_none()
        || listed.any(|entry| entry["network_policy_amendment"] == rule);
    let proposed = asked.ask.proposed_network_policy_amendments.as_ref();
    let offered = proposed.is_some_and(|list| list.contains(given)) && same;
    if rules.on(Rule::U5) && !offered {
        return Err("network_policy_amendment: it is none of those that were offered".into());
    }
    Ok(given)
}

/// **M1**: `session` among what Codex offered, an array or a single string.
fn m1_persist_offered(rules: Rules, pending: &Pending) -> Result<(), String> {
    if !rules.on(Rule::M1) || persist(pending).iter().any(|word| word == "session") {
        Ok(())
    } else {
        Err("decision: acceptForSession was not offered".into())
    }
}

/// What Codex offers to keep: the words of `_meta.persist`.
pub(super) fn persist(pending: &Pending) -> Vec<String> {
    let Asked::Tool { ask, .. } = &pending.asked else {
        return Vec::new();
    };
    match ask.meta.get("persist") {
        Some(Value::String(word)) => vec![word.clone()],
        Some(Value::Array(words)) => words
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

/// **M2**: `session`, and nothing else (**M3**).
fn m2_persist(rules: Rules, pending: &Pending) -> Value {
    if !rules.on(Rule::M2) {
        return Value::Null;
    }
    let words = persist(pending);
    let word = if rules.on(Rule::M3) {
        "session"
    } else {
        words.last().map_or("always", String::as_str)
    };
    json!({"persist": word})
}

/// **S3**: content that fits the form.
fn s3_content(
    rules: Rules,
    schema: Option<&Value>,
    content: Option<&Value>,
) -> Result<Value, String> {
    let content = content.cloned();
    if !rules.on(Rule::S3) {
        return Ok(content.unwrap_or_else(|| json!({})));
    }
    let content = content.ok_or("content: an accept of a form needs it")?;
    form::misfit(schema.unwrap_or(&Value::Null), &content)?;
    Ok(content)
}

/// **A9**: the one form of an accept.
fn a9_accept(rules: Rules, content: &Value, meta: &Value) -> Value {
    if !rules.on(Rule::A9) {
        return json!({"action": "accept"});
    }
    json!({"action": "accept", "content": content, "_meta": meta})
}

/// **A9**: the one form of a decline and of a cancel.
fn a9_refusal(rules: Rules, action: &str) -> Value {
    if !rules.on(Rule::A9) {
        return json!({"action": action});
    }
    json!({"action": action, "content": null, "_meta": null})
}

/// **U7**: answers for the questions that were asked.
fn u7_answers(
    rules: Rules,
    ask: &QuestionsAsk,
    answers: &BTreeMap<String, Vec<String>>,
) -> Result<Judged, String> {
    if rules.on(Rule::U7) {
        for (id, given) in answers {
            let Some(question) = ask.questions.iter().find(|question| question.id == *id) else {
                return Err(format!("answers.{id}: no such question"));
            };
            let options = question.options.as_deref().filter(|_| !question.is_other);
            let known = |text: &String| {
                options.is_none_or(|list| list.iter().any(|choice| choice.label == *text))
            };
            if !given.iter().all(known) {
                return Err(format!("answers.{id}: none of the options"));
            }
        }
        let open = |id: &str| answers.get(id).is_none_or(Vec::is_empty);
        let missing = ask.questions.iter().find(|question| open(&question.id));
        // Before there was `isBlocking` each request held the turn.
        if let Some(question) = missing.filter(|_| ask.is_blocking.unwrap_or(true)) {
            return Err(format!(
                "answers.{}: each question needs an answer",
                question.id
            ));
        }
    }
    let map: Map<String, Value> = answers
        .iter()
        .map(|(id, given)| (id.clone(), json!({"answers": given})))
        .collect();
    Ok(Judged {
        result: json!({"answers": map}),
        word: None,
        grants: true,
        needs_person: false,
        interrupts: false,
        session_grant: false,
    })
}

/// What goes to Codex when nobody answers, nothing is paired, or the session is gone.
pub(super) fn closed(asked: &Asked) -> Value {
    match asked {
        Asked::Command(_) | Asked::Change { .. } => json!({"decision": "decline"}),
        Asked::Permissions(_) => json!({"permissions": {}, "scope": "turn"}),
        Asked::Questions(_) => json!({"answers": {}}),
        Asked::Tool { .. } | Asked::Form { .. } | Asked::Link { .. } => {
            declined("mcpServer/elicitation/request")
        }
    }
}

/// The same when the whole session is cancelled: a command or a change ends its turn.
pub(super) fn cancelled(asked: &Asked) -> Value {
    match asked {
        Asked::Command(_) | Asked::Change { .. } => json!({"decision": "cancel"}),
        other => closed(other),
    }
}

/// The same by the method alone, for a request that could not be read.
pub(super) fn declined(method: &str) -> Value {
    match method {
        "item/permissions/requestApproval" => json!({"permissions": {}, "scope": "turn"}),
        "item/tool/requestUserInput" => json!({"answers": {}}),
        "mcpServer/elicitation/request" => {
            json!({"action": "decline", "content": null, "_meta": null})
        }
        _ => json!({"decision": "decline"}),
    }
}

/// The answer to a request that gets the same one whoever is there. `seconds` since 1970.
pub(super) fn fixed(ask: Fixed, seconds: u64) -> Result<Value, RpcError> {
    match ask {
        Fixed::DynamicTool => {
            let text = "codexgate offers no dynamic tools";
            Ok(json!({"contentItems": [{"type": "inputText", "text": text}], "success": false}))
        }
        Fixed::TokenRefresh => Err(RpcError::new(
            REFUSED,
            "codexgate does not manage ChatGPT tokens",
        )),
        Fixed::Attestation => Err(RpcError::new(METHOD_NOT_FOUND, "codexgate attests nothing")),
        Fixed::Legacy => {
            let rejection = "codexgate does not answer legacy approvals";
            Ok(json!({"decision": {"denied": {"rejection": rejection}}}))
        }
        Fixed::Time => Ok(json!({"currentTimeAt": seconds})),
    }
}
