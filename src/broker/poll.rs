//! `codex_check`: how a session stands, now or as soon as something needs the client.
//!
//! Under `maxBytes` the whole line of the answer is bounded, the object in it twice as MCP wants
//! it. What is given up, in this order: the text beside the object, events from the end, the
//! turn's items, the parameters of actions, pieces of the one event that is left. Never what an
//! action is, its digest and what is to be decided.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Call, success};
use super::core::Broker;
use super::error::{Code, Error, Result};
use super::limits;
use super::tools::check::{Query, Until};
use super::words::Status;
use crate::rpc::Id;

/// A call that waits until something happens.
pub struct Wait {
    pub(super) call: Call,
    query: Query,
    until: Until,
    end: Instant,
    /// What waited at the call.
    before: BTreeSet<String>,
    /// The last event of which the client was told, and when.
    told: u64,
    told_at: Option<Instant>,
    steps: u64,
}

impl Wait {
    pub(super) fn deadline(&self) -> Instant {
        match self.told_at {
            // A progress notification that was held back may be due.
            Some(told) if self.call.progress.is_some() => self.end.min(told + limits::PROGRESS),
            _ => self.end,
        }
    }

    /// Which session it is about.
    pub(super) fn session(&self) -> &str {
        &self.query.session
    }
}

impl Broker {
    /// The result of a poll, bounded if that was asked for.
    pub(super) fn body(&mut self, query: &Query, call: &Id) -> Result<Value> {
        self.body_with(query, call, false)
    }

    fn body_with(&mut self, query: &Query, call: &Id, timed_out: bool) -> Result<Value> {
        let actions = if query.with_actions {
            self.actions(&query.session)
        } else {
            Vec::new()
        };
        let session = self.session(&query.session)?;
        let status = session.status();
        let most = if query.with_events { query.events } else { 0 };
        let reader = session.events.reader();
        let from = query.cursor.unwrap_or(reader);
        let page = session
            .events
            .read(query.cursor, most, query.detail, query.max_bytes);
        let mut body = json!({ "sessionId": session.id, "status": status.as_str() });
        if let Some(interval) = session.poll_interval() {
            body["pollInterval"] = interval.into();
        }
        body["events"] = page.events.into();
        if page.cut {
            body["truncated"] = true.into();
            body["truncatedFields"] = json!(["events"]);
        }
        // Without events nothing was read.
        body["nextCursor"] = if most == 0 { from } else { page.next }.into();
        if let Some(reset) = page.reset.filter(|_| most > 0) {
            body["cursorResetTo"] = reset.into();
            if page.dropped > 0 {
                body["droppedEvents"] = page.dropped.into();
            }
        }
        if timed_out {
            body["timedOut"] = true.into();
        }
        if !actions.is_empty() {
            body["actions"] = actions.into();
        }
        let over = matches!(status, Status::Idle | Status::Error | Status::Cancelled);
        if let Some(result) = session
            .result
            .as_ref()
            .filter(|_| query.with_result && over)
        {
            body["result"] = result.clone();
        }
        if !query.warnings.is_empty() {
            body["compatWarnings"] = json!(query.warnings);
        }
        let Some(bound) = query.max_bytes else {
            return Ok(success(&body, None));
        };
        let bounded = fit(body, bound, call);
        let next = bounded["structuredContent"]["nextCursor"].as_u64();
        if let (Some(next), true) = (next, most > 0) {
            let session = self.session(&query.session)?;
            session.events.give_back(reader, next);
        }
        Ok(bounded)
    }

    /// Answers now if there is something, else later.
    pub(super) fn wait(
        &mut self,
        call: Call,
        query: Query,
        until: Until,
        timeout: Duration,
    ) -> Result<()> {
        if self.client.waits.len() >= limits::WAITS {
            let message = format!("{} waits are open, which is the most", limits::WAITS);
            return Err(Error::new(Code::SessionBusy, message));
        }
        let told = self.session(&query.session)?.events.next();
        let session = query.session.clone();
        self.client.waits.push(Wait {
            before: self.waiting_ids(&session),
            call,
            query,
            until,
            end: Instant::now() + timeout,
            told,
            told_at: None,
            steps: 0,
        });
        // What is there already answers it before the next line is taken.
        self.ask_persons(&session);
        Ok(())
    }

    fn is_over(&self, wait: &Wait) -> bool {
        let Some(session) = self.sessions.get(wait.session()) else {
            return true;
        };
        let ended = matches!(
            session.status(),
            Status::Idle | Status::Error | Status::Cancelled
        );
        if ended {
            return true;
        }
        // What stands before the person in a form needs no call of the client.
        let open = self.open_ids(wait.session());
        match wait.until {
            Until::Done => open.iter().any(|id| !wait.before.contains(id)),
            Until::Action => !open.is_empty(),
            Until::Event => {
                let cursor = wait.query.cursor.unwrap_or(session.events.reader());
                !open.is_empty() || session.events.has(cursor)
            }
        }
    }

    fn finish_wait(&mut self, wait: &Wait, timed_out: bool) {
        let result = self.body_with(&wait.query, &wait.call.id, timed_out);
        let result = result.unwrap_or_else(|error| error.result());
        self.client.peer.answer(&wait.call.id, Ok(result));
    }

    /// Answers the waits that are over, and tells progress.
    pub(super) fn serve_waits(&mut self, now: Instant) {
        let mut place = 0;
        while place < self.client.waits.len() {
            let over = self.is_over(&self.client.waits[place]);
            let late = now >= self.client.waits[place].end;
            if over || late {
                let wait = self.client.waits.remove(place);
                self.finish_wait(&wait, !over);
                continue;
            }
            self.tell_progress(place, now);
            place += 1;
        }
    }

    fn tell_progress(&mut self, place: usize, now: Instant) {
        let wait = &mut self.client.waits[place];
        let Some(token) = wait.call.progress.clone() else {
            return;
        };
        let Some(session) = self.sessions.get(wait.session()) else {
            return;
        };
        let next = session.events.next();
        let soon = |told: Instant| now.saturating_duration_since(told) < limits::PROGRESS;
        if next == wait.told {
            wait.told_at = wait.told_at.filter(|told| soon(*told));
            return;
        }
        if wait.told_at.is_some_and(soon) {
            return;
        }
        wait.steps += next - wait.told;
        wait.told = next;
        wait.told_at = Some(now);
        let message = format!("{}: {next} events", session.status().as_str());
        let params = json!({
            "progressToken": token, "progress": wait.steps, "message": message,
        });
        self.client.peer.tell("notifications/progress", &params);
    }
}

/// Room for the frame around a result.
fn line_length(result: &Value, call: &Id) -> usize {
    let id = call.as_str().map_or(24, |id| 2 * id.len() + 2);
    r#"{"jsonrpc":"2.0","id":,"result":}"#.len() + id + 1 + result.to_string().len()
}

/// `body` as a result whose line has at most `bound` bytes.
fn fit(mut body: Value, bound: usize, call: &Id) -> Value {
    // It stands in the line twice: what is too long once needs no second look.
    if body.to_string().len() <= bound {
        let whole = success(&body, None);
        if line_length(&whole, call) <= bound {
            return whole;
        }
    }
    // The text needs not be the object again.
    let short = |body: &Value| {
        let text = json!({ "truncated": true, "see": "structuredContent" }).to_string();
        success(body, Some(text))
    };
    let fits = |body: &Value| line_length(&short(body), call) <= bound;
    let mut cut: Vec<&str> = Vec::new();
    if body.get("truncated").is_some() {
        cut.push("events");
    }
    body["truncated"] = true.into();
    let mark = |body: &mut Value, cut: &mut Vec<&'static str>, name: &'static str| {
        if !cut.contains(&name) {
            cut.push(name);
        }
        body["truncatedFields"] = json!(cut);
    };
    if !fits(&body) {
        give_up_events(&mut body, bound, &|body| line_length(&short(body), call));
        mark(&mut body, &mut cut, "events");
    }
    if !fits(&body) && body.pointer("/result/turn").is_some() {
        body["result"]["turn"] = Value::Null;
        mark(&mut body, &mut cut, "result.turn");
    }
    if !fits(&body) && body.get("actions").is_some() {
        for action in body["actions"].as_array_mut().into_iter().flatten() {
            if let Some(action) = action.as_object_mut() {
                action.remove("params");
                action.remove("commandActions");
            }
        }
        mark(&mut body, &mut cut, "actions[].params");
    }
    // The one event that is left, and the texts of the result, piece by piece.
    for most in [2048, 512, 128, 32] {
        if fits(&body) {
            break;
        }
        if let Some(event) = body.pointer_mut("/events/0")
            && shorten(&mut event["data"], most)
        {
            event["dataTruncated"] = true.into();
            mark(&mut body, &mut cut, "events[].data");
        }
        if !fits(&body)
            && let Some(result) = body.get_mut("result")
            && shorten(result, most)
        {
            mark(&mut body, &mut cut, "result");
        }
    }
    if !fits(&body)
        && let Some(event) = body.pointer_mut("/events/0")
    {
        let method = event["data"]["method"].clone();
        event["data"] = json!({ "method": method });
        event["dataTruncated"] = true.into();
        mark(&mut body, &mut cut, "events[].data");
    }
    for name in ["structuredOutput", "turnError", "turn", "output"] {
        if !fits(&body)
            && let Some(result) = body.get_mut("result").and_then(Value::as_object_mut)
            && result.remove(name).is_some()
        {
            mark(&mut body, &mut cut, "result");
        }
    }
    if !fits(&body)
        && let Some(members) = body.as_object_mut()
        && members.remove("compatWarnings").is_some()
    {
        mark(&mut body, &mut cut, "compatWarnings");
    }
    short(&body)
}

/// Takes events from the end until the line fits or one is left; the cursor follows.
fn give_up_events(body: &mut Value, bound: usize, length: &dyn Fn(&Value) -> usize) {
    let over = length(body).saturating_sub(bound);
    let Some(events) = body["events"].as_array_mut() else {
        return;
    };
    let mut gained = 0;
    let mut next = None;
    while events.len() > 1 && gained < over + MARKS {
        if let Some(event) = events.pop() {
            gained += event.to_string().len() + 1;
            next = event["id"].as_u64();
        }
    }
    let last = events.last().and_then(|event| event["id"].as_u64());
    if next.is_some()
        && let Some(last) = last
    {
        body["nextCursor"] = (last + 1).into();
    }
}

/// Bytes for the names of what was given up.
const MARKS: usize = 96;

/// Cuts every text below `value` to `most` characters; whether there was one.
fn shorten(value: &mut Value, most: usize) -> bool {
    match value {
        Value::String(text) => match super::events::cut(text, most) {
            Some(end) => {
                text.truncate(end);
                true
            }
            None => false,
        },
        Value::Array(items) => items
            .iter_mut()
            .map(|item| shorten(item, most))
            // All of them, not up to the first.
            .collect::<Vec<_>>()
            .contains(&true),
        Value::Object(members) => members
            .iter_mut()
            .filter(|(name, _)| !KEPT.contains(&name.as_str()))
            .map(|(_, value)| shorten(value, most))
            .collect::<Vec<_>>()
            .contains(&true),
        _ => false,
    }
}

/// What names something is not cut.
const KEPT: [&str; 6] = [
    "method",
    "requestId",
    "turnId",
    "itemId",
    "digest",
    "status",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn body(events: usize, size: usize) -> Value {
        let events: Vec<Value> = (0..events)
            .map(|id| {
                json!({"id": id, "type": "progress", "timestamp": "t",
                       "data": {"method": "m", "delta": "é\"\n".repeat(size)}})
            })
            .collect();
        let next = events.len();
        json!({"sessionId": "sess_1", "status": "running", "events": events, "nextCursor": next})
    }

    #[test]
    fn f26_the_bound_holds_for_the_line_and_the_cursor_moves() {
        let id = Id::new("1");
        for events in [1, 5, 40] {
            for size in [1, 100, 5000] {
                for bound in [1024, 2000, 10_000] {
                    let fitted = fit(body(events, size), bound, &id);
                    let line = json!({"jsonrpc": "2.0", "id": "1", "result": fitted}).to_string();
                    assert!(
                        line.len() < bound,
                        "{events} {size} {bound}: {}",
                        line.len()
                    );
                    let content = &fitted["structuredContent"];
                    let given = content["events"].as_array().expect("a list").len();
                    assert!(given >= 1);
                    assert_eq!(content["nextCursor"], given);
                }
            }
        }
    }

    #[test]
    fn what_fits_is_whole() {
        let id = Id::new("1");
        let fitted = fit(body(2, 1), 10_000, &id);
        assert!(fitted["structuredContent"].get("truncated").is_none());
        assert!(
            fitted["content"][0]["text"]
                .as_str()
                .expect("text")
                .contains("\n  ")
        );
    }

    #[test]
    fn an_action_keeps_its_name_digest_and_what_is_asked() {
        let mut body = body(20, 500);
        body["actions"] = json!([{"requestId": "r", "kind": "command", "digest": "d",
            "command": "touch x", "params": {"x": "y".repeat(5000)}}]);
        let fitted = fit(body, 1024, &Id::new("1"));
        let action = &fitted["structuredContent"]["actions"][0];
        assert_eq!(action["digest"], "d");
        assert_eq!(action["command"], "touch x");
        assert!(action.get("params").is_none());
        assert!(fitted.to_string().len() < 1024);
    }

    #[test]
    fn a_result_that_is_too_long_is_cut_last() {
        let mut body = body(1, 1);
        body["result"] = json!({"turnId": "t", "completedAt": "now", "output": "x".repeat(9000),
            "turn": {"items": ["y".repeat(9000)]}});
        let fitted = fit(body, 2000, &Id::new("1"));
        let result = &fitted["structuredContent"]["result"];
        assert!(
            result["output"]
                .as_str()
                .is_some_and(|output| output.len() >= 128)
        );
        assert!(fitted.to_string().len() < 2000);
    }
}
