//! A client that says anything at any time, against a desk that counts.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::approval::{Approved, By, Moment, NoGrant, Token, Waiting, testing};
use crate::rpc::Line;

const START: Moment = 1_000_000_000;
const EXPIRES: Moment = START + 900_000;
const PROGRAM: &str = "/opt/a b/codexgate";
const CARD: &str = "2 lines\nends here";

/// What was asked of the desk.
#[derive(Debug, Default)]
struct Seen {
    grants: usize,
    rejects: usize,
    undecided: Vec<NoGrant>,
    by: Option<By>,
}

struct Counter {
    seen: Rc<RefCell<Seen>>,
    card: String,
    refusal: Option<Refusal>,
}

impl Desk for Counter {
    fn take_up(&mut self, token: &Token, _: &Session) -> Result<Shown, Refusal> {
        if let Some(refusal) = &self.refusal {
            return Err(refusal.clone());
        }
        let waiting = testing::waiting(START, EXPIRES);
        if waiting.token() != token {
            return Err(Refusal {
                what: "no such proposal waits".to_owned(),
                todo: "Propose it again.".to_owned(),
            });
        }
        Ok(Shown {
            waiting,
            card: self.card.clone(),
        })
    }

    fn grant(&mut self, approved: Approved) -> Result<(), Refusal> {
        assert!(approved.expires() <= EXPIRES);
        self.seen.borrow_mut().grants += 1;
        Ok(())
    }

    fn reject(&mut self, _: &Waiting, by: &By) -> Result<(), Refusal> {
        let mut seen = self.seen.borrow_mut();
        seen.rejects += 1;
        seen.by = Some(by.clone());
        Ok(())
    }

    fn undecided(&mut self, _: &Waiting, _: &By, why: NoGrant) {
        self.seen.borrow_mut().undecided.push(why);
    }
}

/// A client with a hand on the clock.
struct Client {
    server: Server<Counter>,
    seen: Rc<RefCell<Seen>>,
    time: Rc<Cell<u64>>,
}

impl Client {
    fn with(card: &str, refusal: Option<Refusal>) -> Self {
        let seen = Rc::new(RefCell::new(Seen::default()));
        let time = Rc::new(Cell::new(0));
        let desk = Counter {
            seen: Rc::clone(&seen),
            card: card.to_owned(),
            refusal,
        };
        let (clock, start) = (Rc::clone(&time), Instant::now());
        let clock = Box::new(move || Now {
            moment: START + clock.get(),
            instant: start + Duration::from_millis(clock.get()),
        });
        Self {
            server: Server::new(desk, PROGRAM, clock),
            seen,
            time,
        }
    }

    fn new() -> Self {
        Self::with(CARD, None)
    }

    /// One that was initialized, and shows forms.
    fn ready() -> Self {
        Self::ready_with(CARD, None)
    }

    fn ready_with(card: &str, refusal: Option<Refusal>) -> Self {
        let mut client = Self::with(card, refusal);
        client.say(&initialize("2025-06-18", &json!({"form": {}, "url": {}})));
        client
    }

    fn wait(&self, milliseconds: u64) {
        self.time.set(self.time.get() + milliseconds);
    }

    fn send(&mut self, line: &Line) -> Vec<Value> {
        self.server.receive(line);
        self.heard()
    }

    fn say(&mut self, message: &Value) -> Vec<Value> {
        self.send(&Line::Text(message.to_string()))
    }

    fn heard(&mut self) -> Vec<Value> {
        let output = String::from_utf8(self.server.take_output()).expect("text");
        let lines = output.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }

    /// The text of the one tool result that came, which must be an error.
    fn refused(heard: &[Value]) -> String {
        let results: Vec<&Value> = heard.iter().filter(|m| m.get("result").is_some()).collect();
        assert_eq!(results.len(), 1, "{heard:?}");
        assert_eq!(results[0]["result"]["isError"], true, "{heard:?}");
        let text = results[0]["result"]["content"][0]["text"].as_str();
        text.expect("a text").to_owned()
    }

    fn grants(&self) -> usize {
        self.seen.borrow().grants
    }
}

fn initialize(version: &str, elicitation: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version,
        "capabilities": {"elicitation": elicitation},
        "clientInfo": {"name": "codex-mcp-client", "version": "0.171.0"},
    }})
}

fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

fn the_token() -> String {
    testing::waiting(START, EXPIRES).token().to_string()
}

fn call(id: impl Into<Value>) -> Value {
    let arguments = json!({"token": the_token()});
    request(
        id,
        "tools/call",
        &json!({"name": TOOL, "arguments": arguments}),
    )
}

fn answer(number: usize, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": format!("codexgate-{number}"), "result": result})
}

fn approve(number: usize) -> Value {
    answer(
        number,
        &json!({"action": "accept", "content": {"decision": "Approve"}}),
    )
}

fn cancel(id: impl Into<Value>) -> Value {
    let params = json!({"requestId": id.into()});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
}

#[test]
fn a_person_approves_and_the_agent_is_told_the_command() {
    let mut client = Client::ready();
    let asked = client.say(&call(7));
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["method"], "elicitation/create");
    assert_eq!(asked[0]["params"]["message"], CARD);
    client.wait(1500);
    let heard = client.say(&approve(1));
    assert_eq!(heard.len(), 1);
    assert_eq!(
        (&heard[0]["id"], &heard[0]["result"]["isError"]),
        (&json!(7), &json!(false))
    );
    let text = heard[0]["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    let command = format!("'{PROGRAM}' apply --confirm {}", the_token());
    assert!(text.ends_with(&command), "{text}");
    assert_eq!(client.grants(), 1);
    assert_eq!(client.say(&approve(1)), [] as [Value; 0], "a second answer");
    assert_eq!(client.grants(), 1);
}

#[test]
fn the_handshake_is_answered_as_mcp_says() {
    let mut client = Client::new();
    let heard = client.say(&initialize("2025-06-18", &json!({})));
    assert_eq!(heard[0]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(heard[0]["result"]["serverInfo"]["name"], "codexgate");
    let told = heard[0]["result"]["instructions"].as_str().expect("a text");
    assert!(
        told.contains(&format!("'{PROGRAM}' apply --confirm TOKEN")),
        "{told}"
    );
    assert!(told.contains(TOOL), "{told}");
    assert_eq!(
        heard[0]["result"]["capabilities"],
        json!({"tools": {}, "experimental": {"codex/sandbox-state-meta": {}}})
    );
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert!(client.say(&initialized).is_empty());
    let heard = client.say(&request("p", "ping", &json!({})));
    assert_eq!(heard, [json!({"jsonrpc": "2.0", "id": "p", "result": {}})]);
    let heard = client.say(&request(2, "resources/list", &json!({})));
    assert_eq!(heard[0]["error"]["code"], -32601);
    let again = client.say(&initialize("2025-06-18", &json!({})));
    assert_eq!(again[0]["error"]["code"], -32600);
}

#[test]
fn revisions_are_negotiated() {
    for (wanted, spoken) in [
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let heard = Client::new().say(&initialize(wanted, &json!({})));
        assert_eq!(heard[0]["result"]["protocolVersion"], spoken, "{wanted}");
    }
    let heard = Client::new().say(&request(1, "initialize", &json!({})));
    assert_eq!(heard[0]["error"]["code"], -32602);
}

#[test]
fn there_is_one_tool_that_codex_does_not_ask_about() {
    let heard = Client::ready().say(&request(1, "tools/list", &json!({})));
    let tools = heard[0]["result"]["tools"].as_array().expect("a list");
    assert_eq!(tools.len(), 1);
    assert_eq!(tools[0]["name"], TOOL);
    assert_eq!(
        tools[0]["annotations"],
        json!({"destructiveHint": false, "openWorldHint": false})
    );
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["token"]));
    assert_eq!(tools[0]["inputSchema"]["additionalProperties"], false);
    let description = tools[0]["description"].as_str().expect("a text");
    assert!(description.contains("'/opt/a b/codexgate' apply -- PROGRAM ARG"));
    let other = request(2, "tools/call", &json!({"name": "other", "arguments": {}}));
    assert_eq!(Client::ready().say(&other)[0]["error"]["code"], -32602);
}

#[test]
fn every_other_answer_is_a_refusal_that_says_what_to_do() {
    let ok = json!({"decision": "Approve"});
    let accept = |content: Value| answer(1, &json!({"action": "accept", "content": content}));
    let error = json!({"code": -32603, "message": "x".repeat(100_000)});
    for message in [
        answer(1, &json!({"action": "decline"})),
        answer(1, &json!({"action": "cancel"})),
        accept(json!({"decision": "Maybe"})),
        accept(json!({})),
        accept(json!(null)),
        accept(json!({"decision": "Approve", "x": 1})),
        accept(json!({"decision": true})),
        answer(1, &json!({"action": "accept"})),
        answer(
            1,
            &json!({"action": "accept", "content": ok, "_meta": {"persist": "always"}}),
        ),
        answer(1, &json!({"action": "decline", "content": ok})),
        answer(1, &json!({})),
        answer(1, &json!(null)),
        json!({"jsonrpc": "2.0", "id": "codexgate-1", "error": error}),
        json!({"jsonrpc": "2.0", "id": "codexgate-1", "error": error,
               "result": {"action": "accept", "content": ok}}),
        json!({"jsonrpc": "2.0", "id": "codexgate-1"}),
        json!({"id": "codexgate-1", "result": {"action": "accept", "content": ok}}),
        json!({"jsonrpc": "2.0", "id": "codexgate-1", "method": "m",
               "result": {"action": "accept", "content": ok}}),
        json!({"jsonrpc": "2.0", "id": "another", "result": {"action": "accept", "content": ok}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"action": "accept", "content": ok}}),
        json!({"jsonrpc": "2.0", "id": null, "result": {"action": "accept", "content": ok}}),
    ] {
        let mut client = Client::ready();
        client.say(&call(7));
        client.wait(2000);
        let text = Client::refused(&client.say(&message));
        let command = format!("'{PROGRAM}' approve {}", the_token());
        assert!(
            text.starts_with("Not approved: ") && text.contains(&command),
            "{text}"
        );
        assert!(text.len() < 1000, "a client's words are cut");
        client.say(&approve(1));
        assert_eq!(client.grants(), 0, "{message}");
        assert_eq!(client.seen.borrow().rejects, 0, "{message}");
        assert_eq!(client.seen.borrow().undecided.len(), 1, "{message}");
    }
}

#[test]
fn a_member_that_is_there_twice_approves_nothing() {
    for text in [
        r#"{"jsonrpc":"2.0","id":"codexgate-1","result":{"action":"accept","content":{"decision":"Reject","decision":"Approve"}}}"#,
        r#"{"jsonrpc":"2.0","id":"codexgate-1","result":{"action":"cancel","action":"accept","content":{"decision":"Approve"}}}"#,
        r#"{"jsonrpc":"2.0","id":"x","id":"codexgate-1","result":{"action":"accept","content":{"decision":"Approve"}}}"#,
    ] {
        let mut client = Client::ready();
        client.say(&call(7));
        client.wait(2000);
        Client::refused(&client.send(&Line::Text(text.to_owned())));
        assert_eq!(client.grants(), 0);
    }
}

#[test]
fn a_line_that_is_no_message_ends_the_question() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":"codexgate-1","result":{}"#,
        "[".repeat(500)
    );
    let batch = format!("[{}]", approve(1));
    for line in [
        Line::TooLong,
        Line::NotUtf8,
        Line::Text("garbage".to_owned()),
        Line::Text(deep),
        Line::Text(batch),
        Line::Partial(approve(1).to_string()),
    ] {
        let mut client = Client::ready();
        client.say(&call(7));
        client.wait(2000);
        let heard = client.send(&line);
        Client::refused(&heard);
        let withdrawn = |m: &Value| m["method"] == "notifications/cancelled";
        assert!(
            heard.iter().any(withdrawn),
            "the question goes away: {heard:?}"
        );
        client.say(&approve(1));
        assert_eq!(client.grants(), 0, "{line:?}");
        let heard = client.say(&call(8));
        assert_eq!(heard[0]["method"], "elicitation/create", "it goes on");
    }
}

#[test]
fn a_reject_is_recorded_at_once_and_is_final() {
    let mut client = Client::ready();
    let mut called = call(7);
    called["params"]["_meta"] = json!({"threadId": "T", "callId": "C"});
    client.say(&called);
    let reject = answer(
        1,
        &json!({"action": "accept", "content": {"decision": "Reject"}}),
    );
    let text = Client::refused(&client.say(&reject));
    assert!(text.contains("rejected"), "{text}");
    let seen = client.seen.borrow();
    assert_eq!((seen.grants, seen.rejects, seen.undecided.len()), (0, 1, 0));
    let by = seen.by.as_ref().expect("somebody").words();
    assert_eq!(by, "a person in Codex (codex-mcp-client, thread T, call C)");
}

#[test]
fn a_slip_of_the_keys_is_asked_once_more_and_no_more() {
    let mut client = Client::ready();
    client.say(&call(7));
    client.wait(1499);
    let heard = client.say(&approve(1));
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!(heard[0]["id"], "codexgate-2");
    let message = heard[0]["params"]["message"].as_str().expect("a text");
    assert!(
        message.ends_with(CARD) && message.contains("too fast"),
        "{message}"
    );
    client.wait(5000);
    assert!(
        client.say(&approve(1)).is_empty(),
        "the first question is answered"
    );
    assert_eq!(client.grants(), 0);
    let heard = client.say(&approve(2));
    assert_eq!(heard[0]["result"]["isError"], false);
    assert_eq!(client.grants(), 1);

    let mut client = Client::ready();
    client.say(&call(7));
    client.say(&approve(1));
    Client::refused(&client.say(&approve(2)));
    assert_eq!(client.grants(), 0);
}

#[test]
fn a_full_card_leaves_no_room_to_ask_again() {
    let mut client = Client::ready_with(&["line"; 16].join("\n"), None);
    client.say(&call(7));
    let text = Client::refused(&client.say(&approve(1)));
    assert!(text.contains("1.5 seconds"), "{text}");
    assert_eq!(client.grants(), 0);
}

#[test]
fn a_card_that_would_be_cut_is_not_asked() {
    for card in [
        ["line"; 17].join("\n"),
        "x".repeat(77),
        "a\u{1b}[31m".to_owned(),
    ] {
        let mut client = Client::ready_with(&card, None);
        let heard = client.say(&call(7));
        assert!(Client::refused(&heard).contains(" approve "), "{heard:?}");
        assert_eq!(heard.len(), 1);
    }
}

#[test]
fn a_client_without_forms_is_not_asked() {
    let clients = [
        json!({"url": {}}),
        json!(null),
        json!(true),
        json!({"form": null}),
        json!([]),
    ];
    for elicitation in clients {
        let mut client = Client::new();
        client.say(&initialize("2025-06-18", &elicitation));
        let heard = client.say(&call(7));
        let text = Client::refused(&heard);
        assert!(
            text.contains("cannot ask") && text.contains(" approve "),
            "{text}"
        );
        assert_eq!(heard.len(), 1);
    }
    Client::refused(&Client::new().say(&call(7)));
    let mut empty = Client::new();
    empty.say(&initialize("2025-06-18", &json!({})));
    assert_eq!(empty.say(&call(7))[0]["method"], "elicitation/create");
}

#[test]
fn one_question_is_asked_at_a_time() {
    let mut client = Client::ready();
    client.say(&call(7));
    let heard = client.say(&call(8));
    assert_eq!(heard[0]["id"], 8);
    Client::refused(&heard);
    client.wait(2000);
    assert_eq!(client.say(&approve(1))[0]["id"], 7);
    assert_eq!(client.grants(), 1);
}

#[test]
fn a_call_that_does_not_name_one_token_is_refused() {
    let token = the_token();
    for arguments in [
        json!(null),
        json!({}),
        json!([token]),
        json!({"token": 5}),
        json!({"token": ""}),
        json!({"token": &token[..10]}),
        json!({"token": format!("{token} ")}),
        json!({"token": token, "reason": "trust me"}),
    ] {
        let params = json!({"name": TOOL, "arguments": arguments});
        let heard = Client::ready().say(&request(1, "tools/call", &params));
        Client::refused(&heard);
        assert_eq!(heard.len(), 1, "{arguments}");
    }
    let params = json!({"name": TOOL, "arguments": {"token": "0000-0000-0000-0000-0000"}});
    let text = Client::refused(&Client::ready().say(&request(1, "tools/call", &params)));
    assert_eq!(
        text,
        "Not approved: no such proposal waits. Propose it again."
    );
}

#[test]
fn nobody_answers_until_the_proposal_ends() {
    let mut client = Client::ready();
    client.say(&call(7));
    client.wait(899_999);
    client.server.tick();
    assert!(client.heard().is_empty());
    client.wait(1);
    assert!(client.server.next_deadline().is_some());
    client.server.tick();
    let heard = client.heard();
    assert_eq!(heard[0]["method"], "notifications/cancelled");
    assert_eq!(heard[0]["params"]["requestId"], "codexgate-1");
    assert!(Client::refused(&heard).contains("in time"));
    assert_eq!(client.server.next_deadline(), None);
    client.say(&approve(1));
    assert_eq!(client.grants(), 0);
}

#[test]
fn an_answer_at_the_deadline_is_too_late() {
    let mut client = Client::ready();
    client.say(&call(7));
    client.wait(900_000);
    Client::refused(&client.say(&approve(1)));
    assert_eq!(client.grants(), 0);
    assert_eq!(client.seen.borrow().undecided, [NoGrant::Silent]);
}

#[test]
fn a_cancelled_call_takes_its_question_away_and_has_no_result() {
    let mut client = Client::ready();
    client.say(&call("seven"));
    assert!(client.say(&cancel("eight")).is_empty());
    assert!(client.say(&cancel("codexgate-1")).is_empty());
    let heard = client.say(&cancel("seven"));
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0]["params"]["requestId"], "codexgate-1");
    client.wait(2000);
    assert!(client.say(&approve(1)).is_empty());
    assert_eq!(client.grants(), 0);
    assert_eq!(client.seen.borrow().undecided, [NoGrant::Withdrawn]);
}

#[test]
fn what_the_client_tells_beside_leaves_the_question_open() {
    let mut client = Client::ready();
    client.say(&call(7));
    for method in [
        "notifications/progress",
        "notifications/initialized",
        "cancelled",
    ] {
        let mut note = cancel(7);
        note["method"] = json!(method);
        assert!(client.say(&note).is_empty(), "{method}");
    }
    client.wait(2000);
    client.say(&approve(1));
    assert_eq!(client.grants(), 1);
}

#[test]
fn a_late_answer_to_an_older_question_leaves_the_open_one_alone() {
    let mut client = Client::ready();
    client.say(&call(7));
    client.say(&cancel(7));
    client.say(&call(8));
    client.wait(2000);
    assert!(
        client
            .say(&answer(1, &json!({"action": "cancel"})))
            .is_empty()
    );
    assert!(client.say(&approve(1)).is_empty());
    assert_eq!(client.grants(), 0);
    assert_eq!(client.say(&approve(2))[0]["id"], 8);
    assert_eq!(client.grants(), 1);
}

#[test]
fn the_end_of_the_input_ends_the_question() {
    let mut client = Client::ready();
    client.say(&call(7));
    client.server.end();
    Client::refused(&client.heard());
    assert_eq!(client.grants(), 0);
}

#[test]
fn what_the_desk_refuses_is_told_as_it_says() {
    let refusal = Refusal {
        what: "it expired".to_owned(),
        todo: "Propose it again.".to_owned(),
    };
    let mut client = Client::ready_with(CARD, Some(refusal));
    let heard = client.say(&call(7));
    assert_eq!(heard.len(), 1);
    assert_eq!(
        Client::refused(&heard),
        "Not approved: it expired. Propose it again."
    );
}

#[test]
fn a_served_client_hears_its_answers_and_nothing_else() {
    let client = Client::new();
    let lines = [
        initialize("2025-06-18", &json!({})).to_string(),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
        request(1, "tools/list", &json!({})).to_string(),
        request(2, "unknown", &json!({})).to_string(),
    ];
    let mut output = Vec::new();
    let input = std::io::Cursor::new(lines.join("\n"));
    serve(input, &mut output, client.server).expect("memory can be written");
    let output = String::from_utf8(output).expect("text");
    let heard: Vec<Value> = output
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let kinds: Vec<(&Value, bool)> = heard
        .iter()
        .map(|m| (&m["id"], m.get("result").is_some()))
        .collect();
    assert_eq!(
        kinds,
        [(&json!(0), true), (&json!(1), true), (&json!(2), false)]
    );
}

#[test]
fn a_line_may_be_long_and_not_without_end() {
    let served = |padding: usize| {
        let client = Client::new();
        let params = json!({"padding": "x".repeat(padding)});
        let input = request(1, "tools/list", &params).to_string();
        let mut output = Vec::new();
        let input = std::io::Cursor::new(input);
        serve(input, &mut output, client.server).expect("memory can be written");
        String::from_utf8(output).expect("text").contains(TOOL)
    };
    assert!(served(1_000_000));
    assert!(!served(LINE_LIMIT));
}

/// A client whose side of the output is broken in some way.
struct Broken(std::io::ErrorKind);

impl std::io::Write for Broken {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(self.0.into())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_client_that_has_gone_is_no_error_and_a_full_disk_is_one() {
    let served = |kind| {
        let input = std::io::Cursor::new(request(1, "ping", &json!({})).to_string());
        serve(input, Broken(kind), Client::new().server)
    };
    assert!(served(std::io::ErrorKind::BrokenPipe).is_ok());
    let full = served(std::io::ErrorKind::StorageFull);
    assert_eq!(
        full.expect_err("it cannot answer").kind(),
        std::io::ErrorKind::StorageFull
    );
}

/// How many clients are tried: as many as `PROPTEST_CASES` says, else more than usual.
fn cases() -> u32 {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default().cases,
        None => 2000,
    }
}

/// One thing that a hostile client does.
#[derive(Debug, Clone)]
enum Act {
    Say(Value),
    Send(Line),
    Wait(u64),
    Tick,
}

fn acts() -> impl Strategy<Value = Act> {
    let number = 1_usize..5;
    let id = prop_oneof![
        Just(json!(7)),
        Just(json!("seven")),
        Just(json!("codexgate-1"))
    ];
    let ok = json!({"decision": "Approve"});
    let wrong = prop_oneof![
        Just(json!({"action": "decline", "content": ok})),
        Just(json!({"action": "cancel"})),
        Just(json!({"action": "accept", "content": {"decision": "Reject"}})),
        Just(json!({"action": "accept", "content": {"decision": "approve"}})),
        Just(json!({"action": "accept", "content": {"decision": "Approve", "x": 1}})),
        Just(json!({"action": "accept", "content": {}})),
        Just(json!({"action": "accept"})),
        Just(json!({"action": "accept", "content": ok, "_meta": {"persist": "session"}})),
        Just(json!([])),
    ];
    let foreign = prop_oneof![
        Just(json!(1)),
        Just(json!(null)),
        Just(json!("codexgate-0")),
        Just(json!("codexgate-9")),
        Just(json!("codexgate-01")),
    ];
    let line = prop_oneof![
        Just(Line::TooLong),
        Just(Line::NotUtf8),
        Just(Line::Text("garbage".to_owned())),
        Just(Line::Text(format!("[{}]", approve(1)))),
        Just(Line::Text(format!("{{\"a\":{}", "[".repeat(300)))),
        number
            .clone()
            .prop_map(|n| Line::Partial(approve(n).to_string())),
    ];
    let both = |n: usize| {
        let mut message = approve(n);
        message["error"] = json!({"code": 1, "message": "no"});
        message
    };
    prop_oneof![
        6 => number.clone().prop_map(|n| Act::Say(approve(n))),
        4 => id.clone().prop_map(|id| Act::Say(call(id))),
        2 => (number.clone(), wrong).prop_map(|(n, result)| Act::Say(answer(n, &result))),
        1 => number.prop_map(move |n| Act::Say(both(n))),
        1 => foreign.prop_map(|id| {
            let mut message = approve(1);
            message["id"] = id;
            Act::Say(message)
        }),
        1 => id.prop_map(|id| Act::Say(cancel(id))),
        1 => line.prop_map(Act::Send),
        1 => Just(Act::Say(initialize("2025-06-18", &json!({"url": {}})))),
        1 => Just(Act::Say(request(9, "tools/list", &json!({})))),
        3 => prop_oneof![Just(100), Just(1400), Just(1500), Just(60_000), Just(899_000)]
            .prop_map(Act::Wait),
        1 => Just(Act::Tick),
    ]
}

/// Which question is open, and since when: told by what was seen on the wire alone.
#[derive(Debug, Default)]
struct Observer {
    open: Option<(String, u64)>,
    calls: usize,
    results: usize,
}

impl Observer {
    /// Whether this act is the one right answer to the one question.
    fn is_right(&self, act: &Act, time: u64) -> bool {
        let (Act::Say(message), Some((id, since))) = (act, &self.open) else {
            return false;
        };
        let right = json!({"action": "accept", "content": {"decision": "Approve"}});
        message.get("id") == Some(&json!(id))
            && message.get("result") == Some(&right)
            && message.get("error").is_none()
            && time - since >= 1500
            && START + time < EXPIRES
    }

    fn did(&mut self, act: &Act) {
        let Act::Say(message) = act else { return };
        self.calls += usize::from(message["method"] == "tools/call");
        let answers = message.get("result").is_some() || message.get("error").is_some();
        self.open
            .take_if(|(id, _)| answers && message["id"] == json!(id));
    }

    fn heard(&mut self, heard: &[Value], time: u64) {
        for message in heard {
            assert_eq!(message["jsonrpc"], "2.0");
            match message.get("method").and_then(Value::as_str) {
                Some("elicitation/create") => {
                    assert_eq!(self.open, None, "one question at a time");
                    let id = message["id"].as_str().expect("a text").to_owned();
                    self.open = Some((id, time));
                }
                Some("notifications/cancelled") => {
                    let id = &message["params"]["requestId"];
                    self.open.take_if(|(open, _)| json!(open) == *id);
                }
                Some(other) => panic!("unheard of: {other}"),
                None => {
                    self.results += usize::from(message["result"].get("isError").is_some());
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: cases(), ..ProptestConfig::default() })]

    /// Promise 1, at the wire: a grant exactly when the one right answer came to the one question.
    #[test]
    fn a_hostile_client_gets_no_grant(acts in prop::collection::vec(acts(), 1..24)) {
        let mut client = Client::ready();
        let mut observer = Observer::default();
        for act in &acts {
            let (before, time) = (client.grants(), client.time.get());
            let right = observer.is_right(act, time);
            observer.did(act);
            let heard = match act {
                Act::Say(message) => client.say(message),
                Act::Send(line) => client.send(line),
                Act::Wait(milliseconds) => {
                    client.wait(*milliseconds);
                    Vec::new()
                }
                Act::Tick => {
                    client.server.tick();
                    client.heard()
                }
            };
            let granted = client.grants() - before;
            prop_assert_eq!(granted, usize::from(right), "{:?} after {:?}", act, observer);
            observer.heard(&heard, time);
        }
        let before = client.grants();
        client.server.end();
        observer.heard(&client.heard(), client.time.get());
        prop_assert_eq!(client.grants(), before);
        prop_assert_eq!(&observer.open, &None);
        // Each call has one result, but for those that were cancelled.
        prop_assert!(observer.results <= observer.calls);
        let cancels = acts.iter().filter(|act| matches!(act, Act::Say(m) if m["method"] == "notifications/cancelled"));
        prop_assert!(observer.results + cancels.count() >= observer.calls);
    }
}
