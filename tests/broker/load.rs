//! Much at once: events, output, sessions.

use crate::fake::{Fake, of_type, session};
use serde_json::{Value, json};

/// Reads all events from `cursor` in small steps until the turn is over; the events, and how many
/// were dropped as the broker says.
fn read_all(client: &mut crate::client::Client, id: &str, step: u64) -> (Vec<Value>, u64) {
    let (mut events, mut dropped, mut cursor) = (Vec::new(), 0, 0);
    loop {
        let body = client.call("codex_check", &json!({"action": "poll", "sessionId": id, "cursor": cursor, "maxEvents": step, "responseMode": "full"}));
        dropped += body["droppedEvents"].as_u64().unwrap_or_default();
        let page = body["events"].as_array().expect("a list").clone();
        let next = body["nextCursor"].as_u64().expect("a number");
        assert!(next >= cursor, "a cursor never goes back");
        let over = page.is_empty() && body["status"] != "running";
        cursor = next;
        events.extend(page);
        if over {
            return (events, dropped);
        }
    }
}

/// What the agent said, put together.
fn said(events: &[Value]) -> String {
    let deltas = events
        .iter()
        .filter(|event| event["data"]["method"] == "item/agentMessage/delta");
    deltas
        .filter_map(|event| event["data"]["delta"].as_str())
        .collect()
}

#[test]
fn f22_ten_thousand_deltas_are_merged_and_none_is_lost() {
    let fake = Fake::new();
    let mut client = fake.client();
    let id = session(&mut client, &json!([{"deltas": 10_000}]));
    // Read along while they come: what was handed out is never changed behind the reader.
    let (events, dropped) = read_all(&mut client, &id, 3);
    let numbers: Vec<String> = (0..10_000).map(|n| n.to_string()).collect();
    let wanted = numbers.join(";") + ";";
    assert_eq!(dropped, 0);
    assert_eq!(said(&events), wanted);
    let ids: Vec<u64> = events
        .iter()
        .map(|event| event["id"].as_u64().expect("an id"))
        .collect();
    assert!(ids.windows(2).all(|pair| pair[0] + 1 == pair[1]), "no hole");
    fake.finish(client);
}

#[test]
fn f21_ten_thousand_events_before_a_slow_reader_are_counted() {
    let fake = Fake::new();
    let mut client = fake.client();
    // Two items in turn: no two deltas in a row can be merged.
    let id = session(&mut client, &json!([{"deltas": 10_000, "items": 2}]));
    client.wait_done(&id);
    let mut reader = client;
    let body = reader.call("codex_check", &json!({"action": "poll", "sessionId": id, "cursor": 0, "maxEvents": 5000, "responseMode": "full"}));
    let events = body["events"].as_array().expect("a list");
    let dropped = body["droppedEvents"].as_u64().expect("some were dropped");
    assert!(events.len() <= 2000, "{}", events.len());
    assert!(body["cursorResetTo"].is_u64());
    assert_eq!(
        body["nextCursor"].as_u64().expect("a number"),
        dropped + events.len() as u64,
        "all are accounted for"
    );
    assert_eq!(of_type(&body, "result").len(), 1, "the result stays");
    fake.finish(reader);
}

#[test]
fn f23_f26_large_output_is_whole_and_the_line_is_bounded() {
    let fake = Fake::new();
    let mut client = fake.client();
    let size = 1 << 20;
    let mut steps: Vec<Value> = (0..12)
        .map(|n| json!({"output": size, "id": format!("c{n}")}))
        .collect();
    steps.push(json!({"deltas": 1, "method": "item/commandExecution/outputDelta", "text": "WARNING: oh-my-posh (base) A new version of x is available\n"}));
    let id = session(&mut client, &json!(steps));
    client.wait_done(&id);
    let (events, _) = read_all(&mut client, &id, 50);
    let whole = events.iter().any(|event| {
        event["data"]["item"]["aggregatedOutput"]
            .as_str()
            .map(str::len)
            == Some(size)
    });
    assert!(whole, "a megabyte in one item is there");
    assert!(
        events.iter().any(|event| event["data"]["delta"]
            .as_str()
            .is_some_and(|text| text.starts_with("WARNING: oh-my-posh"))),
        "F23: never filtered"
    );
    // Whatever is asked for, the line stays below its bound and the cursor moves.
    for bytes in [1024, 20_000] {
        let mut cursor = 0;
        for _ in 0..2 {
            let request = client.ask("tools/call", &json!({"name": "codex_check", "arguments": {"action": "poll", "sessionId": id, "cursor": cursor,
                "maxEvents": 100, "responseMode": "full", "pollOptions": {"maxBytes": bytes}}}));
            let answer = client.answer(request);
            let line = answer.to_string().len();
            assert!(line <= bytes, "F26: {line} bytes for {bytes}");
            let next = answer["result"]["structuredContent"]["nextCursor"]
                .as_u64()
                .expect("a number");
            assert!(next > cursor, "F26: the cursor moves");
            cursor = next;
        }
    }
    let memory = resident(client.pid());
    assert!(
        memory < 64 << 20,
        "{} MiB after 2 MiB of output",
        memory >> 20
    );
    fake.finish(client);
}

#[test]
fn a_hundred_sessions_at_once_each_get_their_own() {
    let fake = Fake::new();
    let mut client = fake.client();
    let asks = |n: u64| {
        let item = json!({"type": "mcpToolCall", "id": "c0", "server": "demo", "environmentId": null, "tool": "pay", "status": "inProgress", "arguments": {"n": n}});
        let params = json!({"serverName": "demo", "environmentId": null, "mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}},
            "_meta": {"codex_approval_kind": "mcp_tool_call", "tool_name": "pay", "tool_params": {"n": n}}});
        json!([{"start": item}, {"ask": "mcpServer/elicitation/request", "params": params, "item": "c0"}, {"say": format!("session {n}")}])
    };
    let sessions: Vec<String> = (0..100).map(|n| session(&mut client, &asks(n))).collect();
    for (n, id) in sessions.iter().enumerate().rev() {
        let body = client.wait(id);
        let action = &body["actions"][0];
        assert_eq!(action["arguments"]["n"], n, "its own call");
        let decision = if n % 2 == 0 { "accept" } else { "decline" };
        client
            .decide(id, &action["requestId"], decision)
            .expect("taken");
    }
    for (n, id) in sessions.iter().enumerate() {
        let ended = client.wait_done(id);
        assert_eq!(ended["result"]["output"], format!("session {n}"));
    }
    let accepted = fake
        .answers()
        .iter()
        .filter(|(_, result)| result["action"] == "accept")
        .count();
    assert_eq!((accepted, fake.answers().len()), (50, 100));
    let memory = resident(client.pid());
    assert!(memory < 64 << 20, "{} MiB with 100 sessions", memory >> 20);
    fake.finish(client);
}

/// Bytes of a process in memory.
pub fn resident(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).expect("it runs");
    let pages: u64 = text
        .split(' ')
        .nth(1)
        .and_then(|word| word.parse().ok())
        .expect("a number");
    pages * 4096
}
