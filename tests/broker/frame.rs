//! The frame: what is answered without Codex, and in which shape.

use crate::client::Client;
use crate::scene::Scene;
use serde_json::{Value, json};
use std::path::PathBuf;

fn without_codex() -> Scene {
    Scene::with(PathBuf::from("/no/such/codex"))
}

#[test]
fn revisions_are_negotiated_and_the_capabilities_are_two() {
    let scene = without_codex();
    for (wanted, spoken) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-11-25", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("2025-07-01", "2025-06-18"),
        ("1999-01-01", "2024-11-05"),
    ] {
        let mut client = Client::silent(&mut scene.broker(&[]));
        let hello = client.request(
            "initialize",
            &json!({"protocolVersion": wanted,
            "capabilities": {}, "clientInfo": {"name": "x", "version": "0"}}),
        );
        assert_eq!(hello["result"]["protocolVersion"], spoken);
        assert_eq!(
            hello["result"]["capabilities"],
            json!({"tools": {}, "resources": {}})
        );
    }
}

#[test]
fn what_needs_no_codex_starts_none() {
    let scene = without_codex();
    let mut client = scene.client(&[]);
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    let listed = client.request("tools/list", &json!({}));
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(
        names,
        ["codex", "codex_reply", "codex_session", "codex_check"]
    );
    let list = client.request("resources/list", &json!({}));
    assert_eq!(
        list["result"]["resources"]
            .as_array()
            .expect("a list")
            .len(),
        6
    );
    for resource in list["result"]["resources"].as_array().expect("a list") {
        let read = client.request("resources/read", &json!({"uri": resource["uri"]}));
        assert!(read["result"]["contents"][0]["text"].is_string(), "{read}");
    }
    let none = client.request("resources/read", &json!({"uri": "codex-mcp:///no"}));
    assert_eq!(none["error"]["code"], -32002);
    let templates = client.request("resources/templates/list", &json!({}));
    assert_eq!(templates["result"]["resourceTemplates"], json!([]));
    assert_eq!(
        client.request("prompts/list", &json!({}))["error"]["code"],
        -32601
    );
    let unknown = client.request("tools/call", &json!({"name": "codex_x", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602);
    let sessions = client.call("codex_session", &json!({"action": "list"}));
    assert_eq!(sessions["sessions"], json!([]));
    let (stderr, _) = client.finish();
    assert_eq!(stderr, "");
}

#[test]
fn f3_wrong_arguments_are_results_of_one_shape() {
    let scene = without_codex();
    let mut client = scene.client(&[]);
    for (tool, arguments, begins) in [
        ("codex", json!({}), "Error [INVALID_ARGUMENT]: prompt: "),
        ("codex", json!([]), "Error [INVALID_ARGUMENT]: arguments: "),
        (
            "codex_check",
            json!({"action": "poll"}),
            "Error [INVALID_ARGUMENT]: sessionId: ",
        ),
        (
            "codex_check",
            json!({"action": "poll", "sessionId": "sess_x"}),
            "Error [SESSION_NOT_FOUND]: ",
        ),
        (
            "codex_session",
            json!({"action": "burn"}),
            "Error [INVALID_ARGUMENT]: action: ",
        ),
        (
            "codex_session",
            json!({"action": "get", "sessionId": "sess_x"}),
            "Error [SESSION_NOT_FOUND]: ",
        ),
        (
            "codex_reply",
            json!({"sessionId": "sess_x", "prompt": "x"}),
            "Error [SESSION_NOT_FOUND]: ",
        ),
        (
            "codex",
            json!({"prompt": "x", "approvalPolicy": "never", "sandbox": "danger-full-access"}),
            "Error [POLICY_REFUSED]: ",
        ),
        (
            "codex",
            json!({"prompt": "x", "approvalPolicy": "never", "sandbox": "read-only",
                   "cwd": "no/such"}),
            "Error [INVALID_ARGUMENT]: cwd: ",
        ),
        (
            "codex",
            json!({"prompt": "x", "approvalPolicy": "on-request", "sandbox": "read-only"}),
            "Error [APP_SERVER_START_FAILED]: ",
        ),
    ] {
        let error = client.try_call(tool, &arguments).expect_err("it is wrong");
        assert!(error.starts_with(begins), "{error}");
    }
    let sessions = client.call("codex_session", &json!({"action": "list"}));
    assert_eq!(
        sessions["sessions"],
        json!([]),
        "F8: no half session is listed"
    );
}

#[test]
fn a_line_that_is_no_message_is_answered_and_the_connection_goes_on() {
    let scene = without_codex();
    let mut client = scene.client(&[]);
    client.write(b"garbage\n");
    assert_eq!(client.hear()["error"]["code"], -32700);
    let mut long = vec![b'x'; 16 * 1024 * 1024 + 1];
    long.push(b'\n');
    client.write(&long);
    assert_eq!(client.hear()["error"]["code"], -32700);
    client.write(b"\xff\xfe\n");
    assert_eq!(client.hear()["error"]["code"], -32700);
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
}

#[test]
fn a_caller_does_not_choose_what_judges_it() {
    let scene = without_codex();
    for args in [
        &["-C", "/", "broker"][..],
        &["broker", "--codex-home", "/x"],
        &["broker", "--max-sandbox", "everything"],
    ] {
        let done = scene.command(args).output().expect("it runs");
        assert_eq!(done.status.code(), Some(2), "{args:?}");
        assert!(done.stdout.is_empty());
    }
}

#[test]
fn the_server_tells_what_the_operator_allowed() {
    let scene = without_codex();
    let mut client = scene.client(&["--max-sandbox", "read-only", "--allow-config", "x.y"]);
    let read = client.request(
        "resources/read",
        &json!({"uri": "codex-mcp:///server-info"}),
    );
    let text = read["result"]["contents"][0]["text"]
        .as_str()
        .expect("text");
    let info: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(info["broker"]["maxSandbox"], "read-only");
    assert_eq!(info["broker"]["allowConfig"], json!(["x.y"]));
    assert_eq!(info["broker"]["appServer"]["pid"], Value::Null);
    let error = client
        .try_call(
            "codex",
            &json!({"prompt": "x", "approvalPolicy": "never",
            "sandbox": "workspace-write"}),
        )
        .expect_err("above the ceiling");
    assert!(error.starts_with("Error [POLICY_REFUSED]"), "{error}");
}
