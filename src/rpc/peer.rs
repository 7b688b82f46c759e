//! One side of a connection, without its streams and without a clock.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Value, json};

use super::line::Line;
use super::message::{
    INVALID_REQUEST, Id, Message, Outcome, Outgoing, PARSE_ERROR, RpcError, Unreadable,
};

/// Which JSON-RPC the other side speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// With `"jsonrpc": "2.0"` in each message, as MCP wants it.
    Standard,
    /// Without it, as Codex's app server speaks (0.171).
    Headless,
}

/// One of our own requests, as it waits for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

/// What a line meant.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// To be answered with [`Peer::answer`].
    Request {
        /// To answer with.
        id: Id,
        /// What is asked.
        method: String,
        /// An object or a list; null where there are none.
        params: Value,
    },
    /// The other side told something.
    Notification {
        /// What is told.
        method: String,
        /// An object or a list; null where there are none.
        params: Value,
    },
    /// The answer to one of our requests, which waits no longer.
    Answer(Ticket, Outcome),
    /// An answer to a request of ours that waits no longer: it was answered, withdrawn, or its
    /// time was over.
    Late,
    /// An answer to what we never asked.
    Foreign,
    /// No message; an error was sent for it.
    Unreadable,
}

/// What one side knows: its requests that wait, and what it has to send.
#[derive(Debug)]
pub struct Peer {
    dialect: Dialect,
    /// Before the number in our ids, so that a log shows whose they are.
    name: &'static str,
    asked: u64,
    waiting: BTreeMap<Ticket, Option<Instant>>,
    out: Vec<u8>,
}

impl Peer {
    /// A side that has asked nothing yet; its ids are `NAME-1`, `NAME-2`, ….
    pub fn new(dialect: Dialect, name: &'static str) -> Self {
        Self {
            dialect,
            name,
            asked: 0,
            waiting: BTreeMap::new(),
            out: Vec::new(),
        }
    }

    /// Says what `line` means at `now`. What is no message is answered here.
    pub fn receive(&mut self, line: &Line, now: Instant) -> Event {
        let text = match line {
            Line::Text(text) | Line::Partial(text) => text,
            Line::TooLong => {
                return self.unreadable(&no_text(INVALID_REQUEST, "the line is too long"));
            }
            Line::NotUtf8 => {
                return self.unreadable(&no_text(PARSE_ERROR, "the line is not UTF-8"));
            }
        };
        match Message::read(text, self.dialect == Dialect::Standard) {
            Ok(Message::Request { id, method, params }) => Event::Request { id, method, params },
            Ok(Message::Notification { method, params }) => Event::Notification { method, params },
            // stops: an answer that was cut at the end of the input and still parses.
            Ok(Message::Response { .. }) if matches!(line, Line::Partial(_)) => Event::Foreign,
            Ok(Message::Response { id, outcome }) => self.answered(&id, outcome, now),
            Err(unreadable) => self.unreadable(&unreadable),
        }
    }

    fn answered(&mut self, id: &Id, outcome: Outcome, now: Instant) -> Event {
        let Some(ticket) = self.ticket(id) else {
            return Event::Foreign;
        };
        match self.waiting.remove(&ticket) {
            Some(Some(until)) if now >= until => {
                // Its owner hears of it from `overdue`.
                self.waiting.insert(ticket, Some(until));
                Event::Late
            }
            Some(_) => Event::Answer(ticket, outcome),
            None => Event::Late,
        }
    }

    /// The request of ours that `id` names, waiting or not.
    fn ticket(&self, id: &Id) -> Option<Ticket> {
        let number = id.as_str()?.strip_prefix(self.name)?.strip_prefix('-')?;
        let ticket = Ticket(number.parse().ok()?);
        // `parse` takes `+1` and `01`, which are no ids of ours.
        (ticket.0 >= 1 && ticket.0 <= self.asked && self.id(ticket) == *id).then_some(ticket)
    }

    fn id(&self, Ticket(number): Ticket) -> Id {
        Id::new(&format!("{}-{number}", self.name))
    }

    fn unreadable(&mut self, what: &Unreadable) -> Event {
        // Codex's app server does not read such an answer (0.171).
        if self.dialect == Dialect::Standard {
            self.answer(&what.id, Err(what.error.clone()));
        }
        Event::Unreadable
    }

    /// Asks the other side. An answer at or after `until` comes too late.
    pub fn ask(&mut self, method: &str, params: &Value, until: Option<Instant>) -> Ticket {
        self.asked += 1;
        let ticket = Ticket(self.asked);
        self.waiting.insert(ticket, until);
        let id = self.id(ticket);
        self.send(Outgoing {
            method: Some(method),
            params: Some(params),
            ..Outgoing::with_id(&id)
        });
        ticket
    }

    /// Tells the other side.
    pub fn tell(&mut self, method: &str, params: &Value) {
        self.send(Outgoing {
            method: Some(method),
            params: Some(params),
            ..Outgoing::default()
        });
    }

    /// Answers the other side's request `id`.
    pub fn answer(&mut self, id: &Id, answer: Result<Value, RpcError>) {
        let (result, error) = match answer {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        self.send(Outgoing {
            result: result.as_ref(),
            error: error.as_ref(),
            ..Outgoing::with_id(id)
        });
    }

    /// Takes a request of ours back, as MCP does it: an answer that still comes is late. Says
    /// whether it waited.
    pub fn withdraw(&mut self, ticket: Ticket, reason: &str) -> bool {
        let waited = self.waiting.remove(&ticket).is_some();
        if waited {
            let id = self.id(ticket);
            let params = json!({ "requestId": id.as_str(), "reason": reason });
            self.tell("notifications/cancelled", &params);
        }
        waited
    }

    /// Waits no longer, without telling: for a side that knows no cancellation.
    pub fn forget(&mut self, ticket: Ticket) {
        self.waiting.remove(&ticket);
    }

    /// When the next of our requests is overdue.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.waiting.values().flatten().min().copied()
    }

    /// A request of ours whose time is over at `now`. It still waits: withdraw it.
    pub fn overdue(&self, now: Instant) -> Option<Ticket> {
        let over = |until: &Option<Instant>| until.is_some_and(|until| now >= until);
        let found = self.waiting.iter().find(|(_, until)| over(until));
        found.map(|(ticket, _)| *ticket)
    }

    /// What is to be written, in whole lines.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    fn send(&mut self, mut message: Outgoing) {
        message.jsonrpc = (self.dialect == Dialect::Standard).then_some("2.0");
        serde_json::to_writer(&mut self.out, &message).expect("memory takes any JSON");
        self.out.push(b'\n');
    }
}

fn no_text(code: i64, what: &str) -> Unreadable {
    Unreadable {
        id: Id::null(),
        error: RpcError::new(code, what),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn peer() -> Peer {
        Peer::new(Dialect::Standard, "test")
    }

    fn text(text: &str) -> Line {
        Line::Text(text.to_owned())
    }

    fn output(peer: &mut Peer) -> String {
        String::from_utf8(peer.take_output()).expect("JSON is text")
    }

    fn answer_to(id: &str) -> Line {
        text(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":7}}"#))
    }

    #[test]
    fn what_is_sent_is_one_line_a_message() {
        let mut peer = peer();
        peer.tell("a", &json!({"x": "one\ntwo"}));
        peer.answer(&Id::null(), Err(RpcError::new(-1, "no")));
        peer.ask("b", &json!({}), None);
        assert_eq!(
            output(&mut peer),
            concat!(
                r#"{"jsonrpc":"2.0","method":"a","params":{"x":"one\ntwo"}}"#,
                "\n",
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}"#,
                "\n",
                r#"{"jsonrpc":"2.0","id":"test-1","method":"b","params":{}}"#,
                "\n",
            )
        );
        let mut peer = Peer::new(Dialect::Headless, "test");
        peer.tell("a", &json!({}));
        assert_eq!(output(&mut peer), "{\"method\":\"a\",\"params\":{}}\n");
    }

    #[test]
    fn an_answer_reaches_its_request_once() {
        let mut peer = peer();
        let now = Instant::now();
        let ticket = peer.ask("m", &json!({}), None);
        let answer = answer_to("\"test-1\"");
        assert_eq!(
            peer.receive(&answer, now),
            Event::Answer(ticket, Outcome::Result(json!(7)))
        );
        assert_eq!(peer.receive(&answer, now), Event::Late);
    }

    #[test]
    fn an_answer_to_what_was_never_asked_is_foreign() {
        let mut peer = peer();
        let now = Instant::now();
        peer.ask("m", &json!({}), None);
        for id in [
            "\"test-2\"",
            "\"test-0\"",
            "\"test-01\"",
            "\"test-+1\"",
            "\"test-1 \"",
            "1",
            "null",
        ] {
            assert_eq!(peer.receive(&answer_to(id), now), Event::Foreign, "{id}");
        }
        assert_eq!(
            output(&mut peer).lines().count(),
            1,
            "answers are not answered"
        );
    }

    #[test]
    fn an_answer_at_the_deadline_is_late_and_the_request_overdue() {
        let mut peer = peer();
        let now = Instant::now();
        let until = now + Duration::from_secs(5);
        let ticket = peer.ask("m", &json!({}), Some(until));
        assert_eq!(peer.next_deadline(), Some(until));
        assert_eq!(peer.overdue(now), None);
        assert_eq!(peer.receive(&answer_to("\"test-1\""), until), Event::Late);
        assert_eq!(peer.overdue(until), Some(ticket));
        assert!(peer.withdraw(ticket, "late"));
        assert_eq!(peer.overdue(until), None);
        assert_eq!(peer.next_deadline(), None);
    }

    #[test]
    fn a_withdrawn_request_says_so_once_and_takes_no_answer() {
        let mut peer = peer();
        let now = Instant::now();
        let ticket = peer.ask("m", &json!({}), None);
        output(&mut peer);
        assert!(peer.withdraw(ticket, "gone"));
        assert!(!peer.withdraw(ticket, "gone"));
        assert_eq!(
            output(&mut peer),
            concat!(
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"test-1","reason":"gone"}}"#,
                "\n"
            )
        );
        assert_eq!(peer.receive(&answer_to("\"test-1\""), now), Event::Late);
    }

    #[test]
    fn a_cut_answer_is_none_and_a_cut_request_is_one() {
        let mut peer = peer();
        let now = Instant::now();
        peer.ask("m", &json!({}), None);
        let cut = Line::Partial(r#"{"jsonrpc":"2.0","id":"test-1","result":7}"#.to_owned());
        assert_eq!(peer.receive(&cut, now), Event::Foreign);
        let cut = Line::Partial(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned());
        assert!(matches!(peer.receive(&cut, now), Event::Request { .. }));
    }

    #[test]
    fn what_is_no_message_is_answered_and_the_peer_goes_on() {
        let mut peer = peer();
        let now = Instant::now();
        for (line, code) in [
            (Line::TooLong, INVALID_REQUEST),
            (Line::NotUtf8, PARSE_ERROR),
            (text("garbage"), PARSE_ERROR),
            (text("[]"), INVALID_REQUEST),
        ] {
            assert_eq!(peer.receive(&line, now), Event::Unreadable);
            let sent: Value = serde_json::from_str(&output(&mut peer)).expect("one answer");
            assert_eq!(sent["error"]["code"], code);
            assert_eq!(sent["id"], Value::Null);
        }
        let ping = text(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        assert!(matches!(peer.receive(&ping, now), Event::Request { .. }));
    }
}
