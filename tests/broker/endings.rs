//! The end: whoever goes first, no process is left.

use crate::client::Client;
use crate::scene::{Scene, start};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::time::Duration;

/// As long as the contract gives.
const LIMIT: Duration = Duration::from_secs(6);

fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).expect("a pid")).expect("not 0");
    kill_process(pid, signal).expect("it runs");
}

/// A client with a session in mid-turn, whose escalated command left a `setsid` child behind.
fn busy(scene: &Scene) -> Client {
    let mut client = scene.client(&["--approvals", "client"]);
    let run = json!({"run": "setsid sleep 1000 >/dev/null 2>&1 & echo started",
        "sandbox_permissions": "require_escalated", "justification": "?"});
    let sleep = json!({"run": "sleep 500", "sandbox_permissions": "require_escalated",
        "justification": "?"});
    let started = client.call("codex", &start(&json!([run, sleep])));
    let id = started["sessionId"].as_str().expect("a name").to_owned();
    let body = client.wait(&id);
    let request = body["actions"][0]["requestId"].clone();
    client.decide(&id, &request, "accept").expect("taken");
    let body = client.wait(&id);
    let request = body["actions"][0]["requestId"].clone();
    client.decide(&id, &request, "accept").expect("taken");
    let end = std::time::Instant::now() + Duration::from_secs(20);
    let runs = |words: &str| {
        scene
            .processes()
            .iter()
            .any(|(_, line)| line.contains(words))
    };
    while !(runs("sleep 1000") && runs("sleep 500")) {
        assert!(std::time::Instant::now() < end, "{:?}", scene.processes());
        std::thread::sleep(Duration::from_millis(20));
    }
    client
}

#[test]
fn f31_the_end_of_input_ends_everything() {
    let Some(scene) = Scene::real("f31_the_end_of_input") else {
        return;
    };
    let mut client = busy(&scene);
    let (stderr, took) = client.finish();
    assert!(took < LIMIT, "{took:?}");
    let left = scene.left_after(Duration::from_secs(1));
    assert!(left.is_empty(), "{left:?}");
    assert!(stderr.contains("sleep"), "what was left is named: {stderr}");
}

#[test]
fn a_signal_ends_everything() {
    let Some(scene) = Scene::real("a_signal") else {
        return;
    };
    for which in [Signal::TERM, Signal::INT, Signal::HUP] {
        let client = busy(&scene);
        signal(client.pid(), which);
        let left = scene.left_after(LIMIT);
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn a_dead_parent_ends_everything() {
    let Some(scene) = Scene::real("a_dead_parent") else {
        return;
    };
    // The parent is a shell between us and the broker; the streams stay open when it is killed.
    let broker = scene.broker(&[]);
    let words: Vec<String> = std::iter::once(broker.get_program())
        .chain(broker.get_args())
        .map(|word| format!("'{}'", word.to_string_lossy()))
        .collect();
    let line = format!("exec 3<&0; {} <&3 3<&- & wait", words.join(" "));
    let mut shell = scene.run("sh".as_ref());
    let mut client = Client::start(shell.args(["-c", &line]), &json!({}));
    let started = client.call("codex", &start(&json!("x")));
    client.wait(started["sessionId"].as_str().expect("a name"));
    signal(client.pid(), Signal::KILL);
    let left = scene.left_after(LIMIT);
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_killed_broker_ends_codex() {
    let Some(scene) = Scene::real("a_killed_broker") else {
        return;
    };
    let mut client = scene.client(&[]);
    let started = client.call("codex", &start(&json!("x")));
    client.wait(started["sessionId"].as_str().expect("a name"));
    client.kill();
    let left = scene.left_after(LIMIT);
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_idle_broker_ends_at_once() {
    let scene = Scene::with("/no/such/codex".into());
    let mut client = scene.client(&[]);
    let (_, took) = client.finish();
    assert!(took < Duration::from_secs(2), "{took:?}");
}
