//! A person at a terminal decides about a broker's request, and the journal tells who did.

use crate::scene::{Scene, start};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

/// Runs the program in a terminal and answers its question; what it showed.
fn in_terminal(scene: &Scene, args: &[&str], prompt: &str, answer: &str) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).expect("a terminal");
    unlockpt(&master).expect("a terminal");
    let name = ptsname(&master, Vec::new()).expect("it has a name");
    let open = || {
        let name = name.to_str().expect("a name");
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(name)
            .expect("it opens")
    };
    let mut child = scene
        .command(args)
        .stdin(open())
        .stdout(open())
        .stderr(open())
        .spawn()
        .expect("it starts");
    let mut screen = File::from(master);
    let mut reader = screen.try_clone().expect("a handle");
    let (send, shown) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = reader.read(&mut piece) {
            if send
                .send(String::from_utf8_lossy(&piece[..count]).into_owned())
                .is_err()
            {
                break;
            }
        }
    });
    let mut text = String::new();
    let end = Instant::now() + Duration::from_secs(30);
    while !text.contains(prompt) {
        let left = end.saturating_duration_since(Instant::now());
        match shown.recv_timeout(left) {
            Ok(piece) => text.push_str(&piece),
            Err(_) => break,
        }
    }
    assert!(text.contains(prompt), "{text}");
    screen.write_all(answer.as_bytes()).expect("it is open");
    let _ = child.wait();
    while let Ok(piece) = shown.recv_timeout(Duration::from_millis(200)) {
        text.push_str(&piece);
    }
    text
}

#[test]
fn a_person_at_a_terminal_accepts_or_declines_and_it_is_recorded() {
    let Some(scene) = Scene::real("a_person_at_a_terminal") else {
        return;
    };
    let mut client = scene.client(&["--approvals", "human"]);
    for (verb, answer, runs) in [
        ("approve", "y\r", true),
        ("approve", "n\r", false),
        ("reject", "", false),
    ] {
        let made = scene.path("home/made");
        let line = format!("touch {}", made.display());
        let run = json!({"run": line, "sandbox_permissions": "require_escalated",
            "justification": "Write outside?"});
        let started = client.call("codex", &start(&json!([run, {"say": "end"}])));
        let id = started["sessionId"].as_str().expect("a name").to_owned();
        let body = client.wait(&id);
        let action = &body["actions"][0];
        let request = action["requestId"].as_str().expect("a name").to_owned();
        assert_eq!(
            action["decisions"],
            json!(["decline", "cancel"]),
            "a call may not accept"
        );
        let error = client
            .decide(&id, &action["requestId"], "accept")
            .expect_err("needs a person");
        assert!(
            error.contains("POLICY_REFUSED") && error.contains("codexgate approve"),
            "{error}"
        );
        let listed = scene.command(&["pending"]).output().expect("it runs");
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert!(listed.contains(&request), "{listed}");
        if verb == "approve" {
            let shown = in_terminal(
                &scene,
                &["approve", &request],
                "Accept exactly this",
                answer,
            );
            assert!(
                shown.contains("touch") && shown.contains("digest"),
                "{shown}"
            );
        }
        if !runs {
            let done = scene
                .command(&["reject", &request])
                .output()
                .expect("it runs");
            assert!(done.status.success(), "{done:?}");
        }
        let ended = client.wait_done(&id);
        assert_eq!(ended["status"], "idle", "{ended:#}");
        assert_eq!(made.exists(), runs, "{verb} {answer}");
        let _ = std::fs::remove_file(made);
        let gone = scene
            .command(&["approve", "--card", &request])
            .output()
            .expect("it runs");
        assert_eq!(gone.status.code(), Some(1), "it waits no more");
    }
    let (stderr, _) = client.finish();
    assert_eq!(stderr, "");
    let journal = scene
        .command(&["journal", "export"])
        .output()
        .expect("it runs");
    let journal: Value = serde_json::from_slice(&journal.stdout).expect("JSON");
    let mut decided = journal["records"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|record| record["event"]["kind"] == "answered")
        .map(|record| {
            (
                record["event"]["decision"].clone(),
                record["event"]["by"].clone(),
            )
        });
    assert_eq!(
        decided.next(),
        Some((json!("accept"), json!("terminal"))),
        "{journal:#}"
    );
    assert_eq!(decided.next(), Some((json!("decline"), json!("terminal"))));
    assert_eq!(decided.next(), Some((json!("decline"), json!("terminal"))));
    assert!(
        !journal.to_string().contains("Write outside?"),
        "no words of the agent"
    );
    let verified = scene
        .command(&["journal", "verify"])
        .output()
        .expect("it runs");
    assert!(verified.status.success(), "{verified:?}");
}

#[test]
fn a_decision_about_another_card_decides_nothing() {
    let Some(scene) = Scene::real("a_decision_about_another_card") else {
        return;
    };
    let mut client = scene.client(&["--approvals", "human"]);
    let made = scene.path("home/made");
    let run = json!({"run": format!("touch {}", made.display()),
        "sandbox_permissions": "require_escalated", "justification": "?"});
    let mut wish = start(&json!([run, {"say": "end"}]));
    wish["advanced"] = json!({"approvalTimeoutMs": 3000});
    let started = client.call("codex", &wish);
    let id = started["sessionId"].as_str().expect("a name").to_owned();
    let body = client.wait(&id);
    let request = body["actions"][0]["requestId"]
        .as_str()
        .expect("a name")
        .to_owned();
    let folder = scene.path("state/codexgate/broker/pending");
    for text in [
        "{\"digest\":\"00\",\"accept\":true}",
        "{",
        "{\"accept\":true}",
    ] {
        std::fs::write(folder.join(format!("{request}.decision")), text).expect("ours");
        std::thread::sleep(Duration::from_millis(600));
    }
    let ended = client.wait_done(&id);
    assert_eq!(ended["status"], "idle");
    assert!(!made.exists(), "nobody decided");
}
