//! S: a server's own questions.

use super::super::*;
use super::desk::*;
use serde_json::{Map, Value, json};

fn form(properties: &Value, required: &[&str]) -> Value {
    json!({"message": "Run the migration?", "requestedSchema": {"type": "object", "properties": properties, "required": required}})
}

fn content(value: Value) -> Decision {
    Decision {
        content: Some(value),
        ..Word::Accept.into()
    }
}

fn link(url: &str) -> Value {
    json!({"mode": "url", "message": "Sign in", "url": url, "elicitationId": "el-1"})
}

#[test]
fn s1_t09_a_form_is_shown_whole() {
    let recording = Recording::read("09-mcp-server-form");
    let mut desk = Desk::new();
    desk.replay(&recording, 0..recording.after_request(1));
    let pending = desk.only();
    let action = pending.action();
    assert_eq!(
        (pending.kind(), action["server"].as_str()),
        ("mcpForm", Some("demo"))
    );
    assert_eq!(action["message"], "Run the migration?");
    assert_eq!(
        action["schema"]["properties"]["decision"]["enum"],
        json!(["Approve", "Reject"])
    );
    assert_eq!(
        action["during"].as_array().map(Vec::len),
        Some(1),
        "{action}"
    );
    let text = pending.card().text();
    assert!(
        text.contains("field    decision, required: ") && text.contains("\"default\":\"Reject\""),
        "{text}"
    );
    assert!(text.contains("during   "), "{text}");
    // Outside of any turn.
    let mut desk = Desk::new();
    let mut outside = form(&json!({"a": {"type": "boolean"}}), &[]);
    outside["turnId"] = Value::Null;
    desk.elicit(&json!(0), &outside);
    assert_eq!(desk.only().action().get("during"), None);
}

#[test]
fn s2_a_form_is_flat_and_of_known_types() {
    let good = [
        json!({}),
        json!({"a": {"type": "string", "title": "A", "description": "d", "default": "x", "minLength": 1, "maxLength": 9, "format": "email"}}),
        json!({"a": {"type": "string", "enum": ["x", "y"], "enumNames": ["X", "Y"]}}),
        json!({"a": {"type": "string", "oneOf": [{"const": "x", "title": "X"}]}}),
        json!({"a": {"type": "number", "minimum": 0, "maximum": 1.5}, "b": {"type": "integer"}, "c": {"type": "boolean", "default": true}}),
        json!({"a": {"type": "array", "items": {"type": "string", "enum": ["x"]}, "minItems": 1, "maxItems": 2}}),
        json!({"a": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}}}),
    ];
    for properties in good {
        let mut desk = Desk::new();
        desk.elicit(&json!(0), &form(&properties, &[]));
        assert_eq!(desk.open().len(), 1, "{properties}");
    }
    let bad = [
        json!({"a": {"type": "object", "properties": {}}}),
        json!({"a": {"type": "array", "items": {"type": "object"}}}),
        json!({"a": {"type": "array", "items": {"type": "string"}}}),
        json!({"a": {"type": "array"}}),
        json!({"a": {"type": "null"}}),
        json!({"a": {"type": ["string", "null"]}}),
        json!({"a": {}}),
        json!({"a": null}),
        json!({"a": "string"}),
        json!({"a": true}),
        json!({"a": {"$ref": "#/x"}}),
        json!({"a": {"type": "string", "enum": [1]}}),
        json!({"a": {"type": "string", "enum": "x"}}),
        json!({"a": {"type": "string", "minLength": "1"}}),
        json!({"a": {"type": "string", "pattern": ".*"}}),
        json!({"a": {"type": "string", "oneOf": [{"const": 1}]}}),
        json!({"a": {"type": "string", "enum": ["x"], "oneOf": [{"const": "y"}]}}),
        json!({"a": {"anyOf": [{"type": "string"}]}}),
        json!({"a": {"type": "string", "title": 1}}),
    ];
    for properties in bad {
        let mut desk = Desk::new();
        desk.elicit(&json!(0), &form(&properties, &[]));
        assert_eq!(reasons(&desk.done), ["unsupported_form"], "{properties}");
        assert_eq!(desk.wire(), [(json!(0), declined())]);
    }
    for schema in [
        Value::Null,
        json!([]),
        json!("x"),
        json!({}),
        json!({"type": "array", "properties": {}}),
        json!({"type": "object"}),
        json!({"type": "object", "properties": {}, "required": ["a"]}),
        json!({"type": "object", "properties": {}, "required": "a"}),
        json!({"type": "object", "properties": {}, "oneOf": []}),
        json!({"type": "object", "properties": {}, "additionalProperties": {"type": "object"}}),
    ] {
        let mut desk = Desk::new();
        desk.elicit(&json!(0), &json!({"requestedSchema": schema}));
        assert_eq!(reasons(&desk.done), ["unsupported_form"], "{schema}");
    }
    let mut desk = Desk::new();
    let mut params = elicitation(&json!({}));
    params
        .as_object_mut()
        .expect("an object")
        .shift_remove("requestedSchema");
    desk.ask(&json!(0), "mcpServer/elicitation/request", &params);
    assert_eq!(reasons(&desk.done), ["unsupported_form"]);
    // 200 fields are shown in the action, and are no form for a person.
    let many: Map<String, Value> = (0..200)
        .map(|n| (format!("f{n}"), json!({"type": "string"})))
        .collect();
    let mut desk = Desk::new();
    desk.elicit(&json!(0), &form(&Value::Object(many), &[]));
    assert!(!desk.only().card().fits());
}

#[test]
fn s3_content_fits_the_form_or_the_request_waits_on() {
    let properties = json!({
        "text": {"type": "string", "minLength": 2, "maxLength": 3}, "pick": {"type": "string", "enum": ["a", "b"]},
        "one": {"type": "string", "oneOf": [{"const": "x", "title": "X"}]}, "n": {"type": "integer", "minimum": 1, "maximum": 9},
        "f": {"type": "number"}, "b": {"type": "boolean", "default": true}, "many": {"type": "array", "items": {"type": "string", "enum": ["p", "q"]}, "maxItems": 2},
        "mail": {"type": "string", "format": "email"}, "day": {"type": "string", "format": "date"},
    });
    let mut desk = Desk::new();
    desk.elicit(&json!(0), &form(&properties, &["text"]));
    let request = desk.only().request_id().to_owned();
    for wrong in [
        json!({}),
        json!({"pick": "a"}),
        json!({"text": 1}),
        json!({"text": "x"}),
        json!({"text": "xxxx"}),
        json!({"text": null}),
        json!({"text": "xx", "pick": "c"}),
        json!({"text": "xx", "one": "X"}),
        json!({"text": "xx", "n": 0}),
        json!({"text": "xx", "n": 10}),
        json!({"text": "xx", "n": 1.5}),
        json!({"text": "xx", "n": "1"}),
        json!({"text": "xx", "f": "1"}),
        json!({"text": "xx", "b": "true"}),
        json!({"text": "xx", "many": "p"}),
        json!({"text": "xx", "many": ["z"]}),
        json!({"text": "xx", "many": [1]}),
        json!({"text": "xx", "many": ["p", "q", "p"]}),
        json!({"text": "xx", "extra": 1}),
        json!({"text": "xx", "mail": "x"}),
        json!({"text": "xx", "day": "yesterday"}),
        json!([]),
        json!("xx"),
        json!(null),
    ] {
        let refused = desk
            .say(&request, content(wrong.clone()))
            .expect_err("does not fit");
        assert!(matches!(refused, Refused::Invalid(_)), "{wrong}");
    }
    assert!(
        matches!(desk.say(&request, Word::Accept), Err(Refused::Invalid(_))),
        "without content"
    );
    assert!(desk.wire().is_empty() && desk.open().len() == 1);
    let right = json!({"text": "äöü", "pick": "b", "one": "x", "n": 9, "f": 1.5, "many": ["p", "q"], "mail": "a@b.test", "day": "2026-12-01"});
    desk.say(&request, content(right.clone())).expect("fits");
    // Nothing is filled in: `b` has a default and stays out.
    assert_eq!(
        desk.wire(),
        [(
            json!(0),
            json!({"action": "accept", "content": right, "_meta": null})
        )]
    );
}

#[test]
fn s4_t10_a_link_is_shown_and_never_opened() {
    let recording = Recording::read("10-mcp-server-url");
    let mut desk = Desk::new();
    desk.replay(&recording, 0..recording.after_request(1));
    let action = desk.only().action();
    assert_eq!(
        (action["kind"].as_str(), action["host"].as_str()),
        (Some("mcpUrl"), Some("login.example.test"))
    );
    assert_eq!(action["urlWarnings"], json!([]));
    assert!(
        desk.only()
            .card()
            .text()
            .contains("url      https://login.example.test/authorize?x=1\n")
    );
    for url in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "JAVASCRIPT://x/%0aalert(1)",
        "ftp://x/",
        "https:example.test",
        "//example.test",
        "",
        " https://example.test",
        "vbscript:x",
        "about:blank",
        "java\nscript://x",
        "blob:https://x/1",
        "codex://x",
        "mailto:a@b",
    ] {
        let mut desk = Desk::new();
        desk.elicit(&json!(0), &link(url));
        assert_eq!(reasons(&desk.done), ["unsafe_url"], "{url}");
    }
    for url in [Value::Null, json!(1), json!(["https://example.test"])] {
        let mut desk = Desk::new();
        let mut members = link("");
        members["url"] = url;
        desk.elicit(&json!(0), &members);
        assert_eq!(reasons(&desk.done), ["unsafe_url"]);
    }
    for (url, host) in [
        ("http://example.test/", "example.test"),
        ("https://bank.test@evil.test/", "evil.test"),
        ("https://user:pw@evil.test:8443/x", "evil.test"),
        ("https://xn--bnk-5cd.test/", "xn--bnk-5cd.test"),
        ("https://b\u{e4}nk.test/", "b\u{e4}nk.test"),
        ("https://evil.test\\@bank.test/", "evil.test"),
        ("https://example.test/\u{202e}x", "example.test"),
        ("https://example.test/a b", "example.test"),
        ("https://b%61nk.test/", "b%61nk.test"),
        ("https:///x", ""),
    ] {
        let mut desk = Desk::new();
        desk.elicit(&json!(0), &link(url));
        let action = desk.only().action();
        assert_eq!(action["host"], host, "{url}");
        assert!(
            !action["urlWarnings"].as_array().expect("a list").is_empty(),
            "{url}"
        );
        assert_eq!(action["url"], url, "whole");
    }
}

#[test]
fn s5_nothing_but_an_answer_accepts_a_question() {
    // Not a session grant of the same server.
    let mut desk = Desk::new();
    desk.call("c0", "t", &json!({}));
    desk.elicit(&json!(0), &approval("t", &json!({})));
    let request = desk.only().request_id().to_owned();
    desk.say(&request, Word::AcceptForSession).expect("offered");
    let mut asks = form(&json!({}), &[]);
    asks["_meta"] = json!({"persist": ["session", "always"]});
    desk.elicit(&json!(1), &asks);
    desk.elicit(&json!(2), &link("https://example.test/"));
    assert_eq!(desk.open().len(), 2);
    let requests: Vec<String> = desk
        .open()
        .iter()
        .map(|p| p.request_id().to_owned())
        .collect();
    // `persist` means nothing here.
    for request in &requests {
        assert!(matches!(
            desk.say(request, Word::AcceptForSession),
            Err(Refused::Invalid(_))
        ));
        let words = desk.pairing.get(request).expect("waits").words();
        assert_eq!(words, [Word::Accept, Word::Decline, Word::Cancel]);
    }
    // Not the time.
    desk.later(TIMEOUT);
    let now = desk.now;
    let out = desk.pairing.due(now);
    assert_eq!(wire(&out), [(json!(1), declined()), (json!(2), declined())]);
}
