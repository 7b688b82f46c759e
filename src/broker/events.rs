//! The events of one session: append-only, with numbers that never come twice.
//!
//! What was handed out is never changed: output is merged only into an event that nobody has seen.
//! What is dropped for want of room is counted, and a reader whose place is gone is told where the
//! rest begins. Events of requests that still wait are never dropped.

use std::collections::{HashSet, VecDeque};

use serde_json::{Map, Value, json};

use super::limits;
use super::words::Detail;

/// The type of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What the agent says, and what it was told.
    Output,
    /// Everything that goes on.
    Progress,
    /// Something waits for an answer.
    ApprovalRequest,
    /// It was answered, or waits no longer.
    ApprovalResult,
    /// A turn ended.
    Result,
    /// Something went wrong.
    Error,
}

impl Kind {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::Progress => "progress",
            Self::ApprovalRequest => "approval_request",
            Self::ApprovalResult => "approval_result",
            Self::Result => "result",
            Self::Error => "error",
        }
    }

    const fn is_pinned(self) -> bool {
        !matches!(self, Self::Output | Self::Progress)
    }
}

/// One event.
#[derive(Debug, Clone)]
pub struct Event {
    /// Counts up from the first of the session.
    pub id: u64,
    /// Its type.
    pub kind: Kind,
    /// Codex's notification, or what the broker says.
    pub data: Value,
    /// When, as text.
    pub timestamp: String,
    pinned: bool,
    handed: bool,
    bytes: usize,
}

/// The events that are held.
#[derive(Debug)]
pub struct Buffer {
    held: VecDeque<Event>,
    next: u64,
    /// The first number that this buffer gave.
    first: u64,
    /// Where the session's reader stopped.
    reader: u64,
    bytes: usize,
    /// Requests that wait: their events stay.
    waiting: HashSet<String>,
}

/// What a reader gets.
#[derive(Debug, Default)]
pub struct Page {
    /// The events, as they are shown.
    pub events: Vec<Value>,
    /// The number after the last one.
    pub next: u64,
    /// Where what is held begins, when events in between are gone.
    pub reset: Option<u64>,
    /// How many are gone.
    pub dropped: u64,
    /// More were wanted than have room in an answer.
    pub cut: bool,
}

impl Buffer {
    /// An empty one; its first event has the number `first`.
    pub fn starting_at(first: u64) -> Self {
        Self {
            held: VecDeque::new(),
            next: first,
            first,
            reader: first,
            bytes: 0,
            waiting: HashSet::new(),
        }
    }

    /// Appends an event. A pinned kind, or `pin`, is dropped last.
    pub fn push(&mut self, kind: Kind, data: Value, timestamp: String, pin: bool) {
        if kind == Kind::ApprovalRequest
            && let Some(request) = data.get("requestId").and_then(Value::as_str)
        {
            self.waiting.insert(request.to_owned());
        }
        if kind == Kind::ApprovalResult
            && let Some(request) = data.get("requestId").and_then(Value::as_str)
        {
            self.waiting.remove(request);
        }
        if self.merge(kind, &data) {
            return;
        }
        let bytes = size(&data) + OVERHEAD;
        self.bytes += bytes;
        self.held.push_back(Event {
            id: self.next,
            kind,
            data,
            timestamp,
            pinned: pin || kind.is_pinned(),
            handed: false,
            bytes,
        });
        self.next += 1;
        self.evict();
    }

    /// Puts the delta onto the last event, where both are pieces of one text and nobody has seen
    /// it yet.
    fn merge(&mut self, kind: Kind, data: &Value) -> bool {
        let Some(more) = data.get("delta").and_then(Value::as_str) else {
            return false;
        };
        let Some(last) = self
            .held
            .back_mut()
            .filter(|last| !last.handed && last.kind == kind)
        else {
            return false;
        };
        let same = [
            "method",
            "itemId",
            "turnId",
            "threadId",
            "summaryIndex",
            "contentIndex",
        ]
        .iter()
        .all(|name| last.data.get(name) == data.get(name));
        if !same {
            return false;
        }
        let Some(Value::String(text)) = last.data.get_mut("delta") else {
            return false;
        };
        if text.len() + more.len() > limits::MERGE {
            return false;
        }
        text.push_str(more);
        last.bytes += more.len();
        self.bytes += more.len();
        true
    }

    /// A request waits no longer, without an event of its own.
    pub fn settled(&mut self, request: &str) {
        self.waiting.remove(request);
    }

    /// Bytes that are held.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of the next event.
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Where the reader stopped.
    pub const fn reader(&self) -> u64 {
        self.reader
    }

    fn evict(&mut self) {
        while self.held.len() > limits::EVENTS_SOFT || self.bytes > limits::EVENT_BYTES {
            let hard = self.held.len() > limits::EVENTS_HARD || self.bytes > limits::EVENT_BYTES;
            if !self.evict_one(hard) {
                break;
            }
        }
    }

    /// Drops the least important event; whether there was one.
    pub fn evict_one(&mut self, hard: bool) -> bool {
        let is_request = |event: &Event| {
            matches!(
                event.kind,
                Kind::ApprovalRequest | Kind::Result | Kind::Error
            )
        };
        let place = self
            .find(|event| !event.pinned)
            .or_else(|| self.find(|event| event.kind == Kind::ApprovalResult))
            .or_else(|| hard.then(|| self.find(|event| !is_request(event)))?)
            .or_else(|| hard.then(|| self.find(|_| true))?);
        let Some(event) = place.and_then(|place| self.held.remove(place)) else {
            return false;
        };
        self.bytes -= event.bytes;
        true
    }

    /// The oldest that may go; the newest stays whatever its size.
    fn find(&self, fits: impl Fn(&Event) -> bool) -> Option<usize> {
        let before = self.held.len().saturating_sub(1);
        self.held
            .iter()
            .take(before)
            .position(|event| fits(event) && !self.waits(event))
    }

    fn waits(&self, event: &Event) -> bool {
        event.kind == Kind::ApprovalRequest
            && (event.data.get("requestId").and_then(Value::as_str))
                .is_some_and(|request| self.waiting.contains(request))
    }

    /// Whether there is an event at or after `cursor`.
    pub fn has(&self, cursor: u64) -> bool {
        self.held.back().is_some_and(|event| event.id >= cursor)
    }

    /// At most `most` events from `cursor`, or from where the reader stopped. The reader moves.
    /// Beyond the first, no event is copied that has surely no room in `bound` bytes.
    pub fn read(
        &mut self,
        cursor: Option<u64>,
        most: usize,
        detail: Detail,
        bound: Option<usize>,
    ) -> Page {
        let bound = bound.filter(|_| detail == Detail::Full);
        let mut room = bound.unwrap_or(usize::MAX);
        let from = cursor.unwrap_or(self.reader);
        // A cursor of an earlier run of the broker, or of a mistake: nothing can be there.
        let from_held = from.max(self.first).min(self.next);
        let mut page = Page {
            next: from_held,
            ..Page::default()
        };
        let start = self.held.partition_point(|event| event.id < from_held);
        for event in self.held.iter_mut().skip(start).take(most) {
            // Estimated, and JSON is never half of the estimate.
            if event.bytes / 2 > room && !page.events.is_empty() {
                page.cut = true;
                break;
            }
            room = room.saturating_sub(event.bytes / 2);
            if event.id > page.next {
                page.dropped += event.id - page.next;
                page.reset.get_or_insert(event.id);
            }
            event.handed = true;
            page.events.push(view(event, detail));
            page.next = event.id + 1;
        }
        if most > 0 && page.events.is_empty() && page.next < self.next {
            // All that was wanted is gone.
            page.dropped += self.next - page.next;
            page.reset = Some(self.next);
            page.next = self.next;
        }
        if from < self.first || from > self.next {
            page.reset = page.reset.or(Some(from_held));
        }
        if most > 0 {
            self.reader = self.reader.max(page.next);
        }
        page
    }

    /// Takes back what a page gave beyond `next`: it did not fit into the answer.
    pub fn give_back(&mut self, before: u64, next: u64) {
        self.reader = before.max(next);
    }
}

/// What an event costs beside its data.
const OVERHEAD: usize = 96;

/// About how many bytes a value holds.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 24,
        Value::Array(items) => 24 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => {
            let sizes = members
                .iter()
                .map(|(name, value)| name.len() + 24 + size(value));
            48 + sizes.sum::<usize>()
        }
        _ => 16,
    }
}

/// Members that `minimal` keeps.
const MINIMAL: [&str; 30] = [
    "method",
    "delta",
    "message",
    "error",
    "status",
    "phase",
    "itemId",
    "turnId",
    "requestId",
    "kind",
    "decision",
    "timeout",
    "willRetry",
    "retryCount",
    "maxRetries",
    // Ours: what a client must not overlook.
    "threadId",
    "agentPath",
    "auto",
    "reason",
    "withdrawn",
    "ungated",
    "digest",
    "paths",
    "server",
    "tool",
    "url",
    "host",
    "by",
    "code",
    "expiresAt",
];
/// Members that `delta_compact` has beside them.
const COMPACT: [&str; 4] = ["reason", "command", "cwd", "sourceMethod"];

fn view(event: &Event, detail: Detail) -> Value {
    json!({
        "id": event.id,
        "type": event.kind.as_str(),
        "data": shown(event, detail),
        "timestamp": event.timestamp,
    })
}

fn shown(event: &Event, detail: Detail) -> Value {
    let (limit, more): (usize, &[&str]) = match detail {
        Detail::Full => return event.data.clone(),
        Detail::Compact => (limits::DELTA_COMPACT, &COMPACT),
        Detail::Minimal => (limits::DELTA_MINIMAL, &[]),
    };
    let mut out = Map::new();
    for (name, value) in event.data.as_object().into_iter().flatten() {
        // An own thread is known by the session; a subagent's has its path beside it.
        let foreign = name != "threadId" || event.data.get("agentPath").is_some();
        let wanted = MINIMAL.contains(&name.as_str()) || more.contains(&name.as_str());
        if wanted && foreign {
            out.insert(name.clone(), value.clone());
        }
    }
    if let Some(Value::String(text)) = out.get_mut("delta")
        && let Some(cut) = cut(text, limit)
    {
        text.truncate(cut);
        out.insert("deltaTruncated".to_owned(), Value::Bool(true));
    }
    if event.kind == Kind::ApprovalRequest {
        for name in ["command", "cwd", "questions", "message", "grantRoot"] {
            if let Some(value) = event.data.get(name).filter(|value| !value.is_null()) {
                out.insert(name.to_owned(), value.clone());
            }
        }
    }
    item(event, &mut out);
    if out.is_empty() {
        out.insert(
            "summary".to_owned(),
            json!("omitted for minimal response mode"),
        );
    }
    Value::Object(out)
}

/// What the agent said, and how a command ended: without these a reader of the default mode would
/// know neither.
fn item(event: &Event, out: &mut Map<String, Value>) {
    let Some(item) = event.data.get("item") else {
        return;
    };
    if let Some(id) = item.get("id") {
        out.entry("itemId").or_insert_with(|| id.clone());
    }
    if let Some(kind) = item.get("type") {
        out.insert("itemType".to_owned(), kind.clone());
    }
    if event.data["method"] != "item/completed" {
        return;
    }
    match item["type"].as_str() {
        Some("agentMessage") => {
            if let Some(text) = item["text"].as_str() {
                let end = cut(text, limits::TEXT_MINIMAL);
                out.insert("text".to_owned(), json!(text[..end.unwrap_or(text.len())]));
                if end.is_some() {
                    out.insert("textTruncated".to_owned(), Value::Bool(true));
                }
            }
        }
        Some("commandExecution") => {
            for name in ["command", "exitCode", "status"] {
                out.insert(name.to_owned(), item[name].clone());
            }
        }
        Some("mcpToolCall") => {
            for name in ["server", "tool", "status"] {
                out.insert(name.to_owned(), item[name].clone());
            }
        }
        _ => {}
    }
}

/// Where `text` is to be cut so that it has at most `most` characters; none if it is short.
pub fn cut(text: &str, most: usize) -> Option<usize> {
    if text.len() <= most {
        return None;
    }
    text.char_indices().nth(most).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn buffer() -> Buffer {
        Buffer::starting_at(0)
    }

    fn push(buffer: &mut Buffer, kind: Kind, data: Value) {
        buffer.push(kind, data, "t".to_owned(), false);
    }

    fn delta(text: &str) -> Value {
        json!({"method": "item/agentMessage/delta", "itemId": "i", "turnId": "t", "delta": text})
    }

    #[test]
    fn f22_what_was_handed_out_is_never_changed() {
        let mut buffer = buffer();
        push(&mut buffer, Kind::Output, delta("a"));
        push(&mut buffer, Kind::Output, delta("b"));
        let page = buffer.read(None, 10, Detail::Full, None);
        assert_eq!(page.events.len(), 1);
        assert_eq!(page.events[0]["data"]["delta"], "ab");
        push(&mut buffer, Kind::Output, delta("c"));
        let page = buffer.read(None, 10, Detail::Full, None);
        assert_eq!(page.events[0]["data"]["delta"], "c");
        assert_eq!(page.events[0]["id"], 1);
        let again = buffer.read(Some(0), 10, Detail::Full, None);
        assert_eq!(again.events[0]["data"]["delta"], "ab");
    }

    #[test]
    fn f21_a_gap_behind_a_pinned_event_is_told() {
        let mut buffer = buffer();
        push(
            &mut buffer,
            Kind::ApprovalRequest,
            json!({"requestId": "r"}),
        );
        for n in 0..limits::EVENTS_SOFT + 10 {
            push(&mut buffer, Kind::Progress, json!({"method": "m", "n": n}));
        }
        let page = buffer.read(Some(0), 1, Detail::Full, None);
        assert_eq!((page.next, page.reset, page.dropped), (1, None, 0));
        let page = buffer.read(None, 1, Detail::Full, None);
        let gone = 11;
        assert_eq!(page.reset, Some(1 + gone));
        assert_eq!(page.dropped, gone);
        assert_eq!(page.next, 2 + gone);
        // And where both stand in one page.
        let page = buffer.read(Some(0), 5, Detail::Full, None);
        assert_eq!((page.reset, page.dropped), (Some(1 + gone), gone));
    }

    #[test]
    fn a_waiting_request_is_never_dropped_and_an_answered_one_is() {
        let mut buffer = buffer();
        push(
            &mut buffer,
            Kind::ApprovalRequest,
            json!({"requestId": "r"}),
        );
        for n in 0..3 * limits::EVENTS_HARD {
            push(&mut buffer, Kind::Error, json!({"n": n}));
        }
        assert!(buffer.held.len() <= limits::EVENTS_HARD);
        assert_eq!(buffer.held[0].kind, Kind::ApprovalRequest);
        push(&mut buffer, Kind::ApprovalResult, json!({"requestId": "r"}));
        for n in 0..3 * limits::EVENTS_HARD {
            push(&mut buffer, Kind::Error, json!({"n": n}));
        }
        assert_ne!(buffer.held[0].kind, Kind::ApprovalRequest);
    }

    #[test]
    fn bytes_are_bounded_and_the_newest_stays() {
        let mut buffer = buffer();
        for _ in 0..20 {
            let text = "x".repeat(1024 * 1024);
            push(
                &mut buffer,
                Kind::Progress,
                json!({"method": "m", "text": text}),
            );
        }
        assert!(buffer.bytes() <= limits::EVENT_BYTES, "{}", buffer.bytes());
        let big = "x".repeat(2 * limits::EVENT_BYTES);
        push(&mut buffer, Kind::Progress, json!({ "text": big }));
        assert_eq!(buffer.held.len(), 1);
        let page = buffer.read(None, 1, Detail::Minimal, None);
        assert_eq!(page.dropped, 20);
    }

    #[test]
    fn f25_minimal_says_what_the_agent_said_and_what_is_asked() {
        let mut buffer = buffer();
        let item = json!({"id": "i", "type": "agentMessage", "text": "é".repeat(5000)});
        push(
            &mut buffer,
            Kind::Output,
            json!({"method": "item/completed", "item": item}),
        );
        let item = json!({"id": "c", "type": "commandExecution", "command": "ls", "exitCode": 0,
            "aggregatedOutput": "long"});
        push(
            &mut buffer,
            Kind::Progress,
            json!({"method": "item/completed", "item": item}),
        );
        push(
            &mut buffer,
            Kind::ApprovalRequest,
            json!({"requestId": "r", "kind": "command", "command": "touch x", "big": "no"}),
        );
        let page = buffer.read(None, 9, Detail::Minimal, None);
        let data = &page.events[0]["data"];
        assert_eq!(data["text"].as_str().expect("text").chars().count(), 4096);
        assert_eq!(data["textTruncated"], true);
        assert_eq!(page.events[1]["data"]["command"], "ls");
        assert_eq!(page.events[1]["data"]["exitCode"], 0);
        assert_eq!(page.events[2]["data"]["command"], "touch x");
        assert!(page.events[2]["data"].get("big").is_none());
    }

    #[test]
    fn f23_output_is_never_filtered() {
        let mut buffer = buffer();
        for text in [
            "WARNING: x\n",
            "(base) $ oh-my-posh\n",
            "A new version of y is available\n",
        ] {
            push(&mut buffer, Kind::Progress, delta(text));
        }
        let page = buffer.read(None, 9, Detail::Full, None);
        let text = page.events[0]["data"]["delta"].as_str().expect("text");
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn a_reader_only_goes_forward_and_a_far_cursor_is_told() {
        let mut buffer = Buffer::starting_at(1_000_000);
        push(&mut buffer, Kind::Progress, json!({"method": "m"}));
        let page = buffer.read(Some(57), 5, Detail::Full, None);
        assert_eq!((page.reset, page.next), (Some(1_000_000), 1_000_001));
        let page = buffer.read(Some(9_999_999), 5, Detail::Full, None);
        assert_eq!((page.reset, page.next), (Some(1_000_001), 1_000_001));
        assert_eq!(buffer.read(Some(0), 0, Detail::Full, None).next, 1_000_000);
        assert_eq!(buffer.reader(), 1_000_001);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        /// Whatever comes and however it is read: each number is given or counted as dropped.
        #[test]
        fn a_reader_accounts_for_every_number(steps in prop::collection::vec(0_u8..6, 0..1500)) {
            let mut buffer = buffer();
            let mut seen = 0;
            let mut dropped = 0;
            let mut cursor = 0;
            for step in steps {
                match step {
                    0..=2 => for n in 0..7 {
                        push(&mut buffer, Kind::Progress, json!({ "n": n }));
                    },
                    3 => push(&mut buffer, Kind::Error, json!({})),
                    4 => push(&mut buffer, Kind::Output, delta("x")),
                    _ => {
                        let page = buffer.read(None, 3, Detail::Minimal, None);
                        prop_assert!(page.next >= cursor);
                        cursor = page.next;
                        seen += page.events.len() as u64;
                        dropped += page.dropped;
                    }
                }
                prop_assert!(buffer.held.len() <= limits::EVENTS_HARD);
            }
            prop_assert_eq!(seen + dropped, cursor);
        }
    }
}
