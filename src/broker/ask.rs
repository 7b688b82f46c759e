//! The person, through the client's own form.
//!
//! A request is put to the person once, while one of the client's calls on its session is open. The
//! form shows the pairing's card, whole or not at all, and has one property with `Reject` as its
//! default. Only an accept with exactly that property and one of the offered words is an accept;
//! an answer of another shape is a decline. A cancel, or an error, decides nothing.

use serde_json::{Value, json};

use super::core::Broker;
use super::pair::{Answer, By, Decision, Pending, Word};
use crate::rpc::{Outcome, Ticket};

/// The words of the form, with what they mean.
const REJECT: &str = "Reject";
const APPROVE: &str = "Approve";
const SESSION: &str = "Approve for this session";

impl Broker {
    /// Puts what waits in a session to the person, where a call of the client is open on it.
    pub(super) fn ask_persons(&mut self, session: &str) {
        let open = self
            .client
            .waits
            .iter()
            .any(|wait| wait.session() == session);
        if !open || !(self.client.shows_forms || self.client.shows_links) {
            return;
        }
        let new: Vec<(String, Value, std::time::Instant)> = self
            .pairing
            .waiting(session)
            .filter(|pending| !self.client.put.contains(pending.request_id()))
            .filter_map(|pending| {
                let params = self.form(pending)?;
                Some((pending.request_id().to_owned(), params, pending.expires()))
            })
            .collect();
        for (request, params, until) in new {
            // After its time the pairing declines and the form is taken back.
            let until = until + std::time::Duration::from_secs(1);
            let ticket = self
                .client
                .peer
                .ask("elicitation/create", &params, Some(until));
            self.client.asked.insert(ticket, request.clone());
            self.client.put.insert(request);
        }
    }

    /// What is sent for a request; none where this client cannot show it whole.
    fn form(&self, pending: &Pending) -> Option<Value> {
        if let Some((message, url, id)) = pending.link() {
            return self.client.shows_links.then(
                || json!({ "mode": "url", "message": message, "url": url, "elicitationId": id }),
            );
        }
        if !self.client.shows_forms || pending.kind() == "user_input" {
            return None;
        }
        if let Some((message, schema)) = pending.form() {
            return Some(json!({ "message": message, "requestedSchema": schema }));
        }
        let card = pending.card();
        if !card.fits() {
            return None;
        }
        let words = pending.words();
        let mut offered = vec![REJECT];
        if words.contains(&Word::Accept) {
            offered.push(APPROVE);
        }
        if words.contains(&Word::AcceptForSession) {
            offered.push(SESSION);
        }
        Some(json!({
            "message": card.text(),
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "decision": { "type": "string", "enum": offered, "default": REJECT },
                },
                "required": ["decision"],
            },
        }))
    }

    /// The client answered one of our forms.
    pub(super) fn form_answered(&mut self, ticket: Ticket, outcome: &Outcome) {
        let Some(request) = self.client.asked.remove(&ticket) else {
            return;
        };
        let Some(pending) = self.pairing.get(&request) else {
            return;
        };
        if let Some(answer) = read(pending, outcome)
            && !self.person_says(&request, &answer, By::Elicitation)
        {
            // A form filled in so that it does not fit: not an accept.
            self.person_says(&request, &Word::Decline.into(), By::Elicitation);
        }
    }

    /// A request waits no more: its form goes away, and a late answer means nothing.
    pub(super) fn take_back_form(&mut self, request: &str) {
        let place = self
            .client
            .asked
            .iter()
            .find(|(_, asked)| *asked == request);
        if let Some(ticket) = place.map(|(ticket, _)| *ticket) {
            self.client.asked.remove(&ticket);
            self.client.peer.withdraw(ticket, "it waits no longer");
        }
        self.client.put.remove(request);
    }
}

/// What an answer to a form means; none where nobody decided.
fn read(pending: &Pending, outcome: &Outcome) -> Option<Answer> {
    let result = match outcome {
        Outcome::Result(result) => result,
        Outcome::Error(_) => return None,
        Outcome::Malformed(_) => return Some(Word::Decline.into()),
    };
    let decline = || Some(Answer::from(Word::Decline));
    // stops: an answer that a program gave in place of the person.
    let by_program = result.get("_meta").is_some_and(|meta| {
        meta.as_object().is_none_or(|meta| !meta.is_empty()) && !meta.is_null()
    });
    match result.get("action").and_then(Value::as_str) {
        Some("cancel") => None,
        Some("accept") if by_program => decline(),
        Some("accept") if pending.form().is_some() => {
            let mut decision = Decision::from(Word::Accept);
            decision.content = result.get("content").filter(|it| it.is_object()).cloned();
            Some(Answer::from(decision))
        }
        Some("accept") if pending.link().is_some() => Some(Word::Accept.into()),
        Some("accept") => {
            let content = result.get("content").and_then(Value::as_object);
            let word = content
                .filter(|content| content.len() == 1)
                .and_then(|content| content.get("decision"))
                .and_then(Value::as_str);
            match word {
                Some(APPROVE) => Some(Word::Accept.into()),
                Some(SESSION) => Some(Word::AcceptForSession.into()),
                _ => decline(),
            }
        }
        _ => decline(),
    }
}
