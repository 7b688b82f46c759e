//! Subagents of the real Codex: their threads and approvals belong to the session that made them,
//! and their end is not its end.
//!
//! Codex has two sets of tools for them. The older one is there without a word in its configuration
//! and announces a thread by a `collabAgentToolCall`; the newer one has to be switched on and
//! announces it by a `subAgentActivity` with a path.

use crate::client::Client;
use crate::scene::{Scene, start};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a subagent may take.
const LIMIT: Duration = Duration::from_mins(1);

/// A set of tools.
struct Tools {
    namespace: &'static str,
    /// What the user's configuration needs for it.
    switch: &'static str,
    /// What announces a thread.
    item: &'static str,
    /// The subagent's path, where Codex does not make up a name.
    path: Option<&'static str>,
}

const OLDER: Tools = Tools {
    namespace: "multi_agent_v1",
    switch: "",
    item: "collabAgentToolCall",
    path: None,
};

const NEWER: Tools = Tools {
    namespace: "collaboration",
    switch: "[features]\nmulti_agent_v2 = true\n",
    item: "subAgentActivity",
    path: Some("/root/helper"),
};

impl Tools {
    /// The step that makes a subagent do `steps`.
    fn spawn(&self, steps: &Value) -> Value {
        let mut arguments = json!({"message": steps.to_string()});
        if self.path.is_some() {
            arguments["task_name"] = "helper".into();
            arguments["fork_turns"] = "none".into();
        }
        json!({"tool": "spawn_agent", "namespace": self.namespace, "arguments": arguments})
    }
}

/// What a subagent does here: something that must be asked for.
fn child(file: &Path) -> Value {
    json!([{"run": format!("touch {}", file.display()), "sandbox_permissions": "require_escalated",
            "justification": "for the test"}, {"say": "child done"}])
}

/// A session whose agent makes a subagent and then does `rest`.
struct Family {
    scene: Scene,
    client: Client,
    id: String,
    thread: Value,
    file: std::path::PathBuf,
}

impl Family {
    fn start(test: &str, tools: &Tools, rest: &[Value]) -> Option<Self> {
        let scene = Scene::real(test)?;
        scene.configure(tools.switch);
        let file = scene.path("home/made");
        let mut steps = vec![tools.spawn(&child(&file))];
        steps.extend_from_slice(rest);
        let mut client = scene.client(&["--approvals", "client"]);
        let started = client.call("codex", &start(&json!(steps)));
        Some(Self {
            id: started["sessionId"].as_str().expect("a name").to_owned(),
            thread: started["threadId"].clone(),
            scene,
            client,
            file,
        })
    }

    /// All that was told so far, and the state.
    fn all(&mut self) -> Value {
        self.client.call(
            "codex_check",
            &json!({"action": "poll", "sessionId": self.id, "cursor": 0, "maxEvents": 1000,
                    "responseMode": "full"}),
        )
    }

    /// Polls until `it` is so.
    fn until(&mut self, what: &str, it: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + LIMIT;
        loop {
            let body = self.all();
            if it(&body) {
                return body;
            }
            assert!(Instant::now() < end, "{what}: {body:#}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What the subagent asks, once it asks.
    fn question(&mut self) -> Value {
        let body = self.until("it asks", |body| body["status"] == "waiting_approval");
        let actions = body["actions"].as_array().expect("a list");
        assert_eq!(actions.len(), 1, "{body:#}");
        assert!(!self.file.exists(), "nothing ran before the answer");
        actions[0].clone()
    }

    fn decide(&mut self, action: &Value, decision: &str) -> Result<Value, String> {
        self.client.decide(&self.id, &action["requestId"], decision)
    }

    /// Waits for the end of the turn of `thread`; the whole stream up to then.
    fn ended(&mut self, thread: &Value) -> Value {
        self.until("its turn ends", |body| end_of(body, thread).is_some())
    }
}

fn events(body: &Value) -> &[Value] {
    body["events"].as_array().expect("a list")
}

/// Where the first turn of a thread ends.
fn end_of(body: &Value, thread: &Value) -> Option<usize> {
    events(body).iter().position(|event| {
        event["data"]["method"] == "turn/completed" && event["data"]["threadId"] == *thread
    })
}

#[test]
fn a_subagent_asks_under_its_session_and_its_end_is_not_the_sessions() {
    for tools in [OLDER, NEWER] {
        let rest = [json!({"say": "parent done"})];
        let Some(mut family) = Family::start("a_subagent_asks", &tools, &rest) else {
            return;
        };
        let action = family.question();
        let child = &action["threadId"];
        assert_ne!(*child, family.thread);
        let path = action["agentPath"].as_str().expect("it has one");
        assert!(tools.path.is_none_or(|known| known == path), "{path}");
        assert_ne!(path, "subagent", "a name of its own");
        let card = action["card"].as_str().expect("a card");
        assert!(card.contains(&format!("a subagent: {path}\n")), "{card}");
        family.decide(&action, "accept").expect("taken");
        let body = family.ended(child);
        assert!(family.file.exists(), "what was approved ran");
        let announced = events(&body).iter().any(|event| {
            event["data"]["item"]["type"] == tools.item
                && event["data"]["threadId"] == family.thread
        });
        assert!(announced, "{body:#}");
        for event in events(&body) {
            if event["data"]["threadId"] == *child {
                assert_ne!(event["type"], "result", "{event:#}");
                assert_eq!(event["data"]["agentPath"], path, "{event:#}");
            }
        }
        let thread = family.thread.clone();
        family.ended(&thread);
        let body = family.until("it is idle", |body| body["status"] == "idle");
        assert_eq!(body["result"]["output"], "parent done");
        let prompt = json!({"sessionId": family.id, "prompt": "and on"});
        family.client.call("codex_reply", &prompt);
        let ended = family.client.wait_done(&family.id);
        assert_eq!(ended["result"]["output"], "and on", "{ended:#}");
    }
}

#[test]
fn a_session_goes_on_when_the_subagent_that_it_waits_for_has_ended() {
    let rest = [
        json!({"tool": "wait_agent", "namespace": NEWER.namespace, "arguments": {}}),
        json!({"say": "parent done"}),
    ];
    let Some(mut family) = Family::start("a_session_goes_on", &NEWER, &rest) else {
        return;
    };
    let action = family.question();
    family.decide(&action, "decline").expect("taken");
    let thread = family.thread.clone();
    let body = family.ended(&thread);
    assert!(!family.file.exists());
    let child = end_of(&body, &action["threadId"]).expect("it ended");
    assert!(child < end_of(&body, &thread).expect("it ended"));
    let results = events(&body).iter().filter(|one| one["type"] == "result");
    assert_eq!(results.count(), 1, "{body:#}");
    assert_eq!(body["result"]["output"], "parent done");
    assert_eq!(body["status"], "idle");
}

#[test]
fn a_cancelled_session_leaves_no_subagent_that_asks() {
    for tools in [OLDER, NEWER] {
        let rest = [json!({"say": "parent done"})];
        let Some(mut family) = Family::start("a_cancelled_session", &tools, &rest) else {
            return;
        };
        let action = family.question();
        let cancel = json!({"action": "cancel", "sessionId": family.id});
        family.client.call("codex_session", &cancel);
        let late = family.decide(&action, "accept").expect_err("it is void");
        assert!(late.starts_with("Error [REQUEST_NOT_FOUND]"), "{late}");
        family.client.finish();
        assert!(!family.file.exists());
        assert_eq!(family.scene.left_after(Duration::from_secs(6)), []);
    }
}

#[test]
fn a_cancelled_sessions_subagent_stops_in_the_middle_of_its_work() {
    for tools in [OLDER, NEWER] {
        let Some(scene) = Scene::real("a_cancelled_sessions_subagent") else {
            return;
        };
        scene.configure(tools.switch);
        let sleep = "sleep 1234";
        let steps = json!([tools.spawn(&json!([{"run": sleep}])), {"say": "parent done"}]);
        let mut client = scene.client(&[]);
        let started = client.call("codex", &start(&steps));
        let runs = || {
            let all = scene.processes();
            all.iter().any(|(_, words)| words.trim_end() == sleep)
        };
        let until = |what: &str, it: bool| {
            let end = Instant::now() + LIMIT;
            while runs() != it {
                assert!(Instant::now() < end, "{what}");
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        until("it works", true);
        let id = &started["sessionId"];
        let cancel = json!({"action": "cancel", "sessionId": id});
        client.call("codex_session", &cancel);
        until("it was stopped", false);
        // Codex itself goes on.
        let other = client.call("codex", &start(&json!("another")));
        let ended = client.wait(other["sessionId"].as_str().expect("a name"));
        assert_eq!(ended["result"]["output"], "another", "{ended:#}");
    }
}
