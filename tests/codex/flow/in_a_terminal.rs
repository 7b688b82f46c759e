//! A person at a terminal of their own, beside Codex: what does not fit into Codex's prompt is
//! decided there, by keys.

use super::model::Step;
use super::room;
use super::scene::Scene;
use super::terminal::{self, QUESTION, Terminal};
use crate::program;

/// What `approve` asks.
const ASKS: &str = "Approve exactly this, once?";

#[test]
fn what_codex_would_cut_is_approved_by_keys_and_runs_once() {
    let test = "flow::in_a_terminal::what_codex_would_cut_is_approved_by_keys_and_runs_once";
    if let Err(why) = terminal::possible() {
        return program::skip(test, &why);
    }
    room::inside(test, |codex| {
        let scene = Scene::new(codex);
        let words = "word ".repeat(220);
        let line = format!("apply --format json -- touch made {words}");
        let ask = [
            Step::run(scene.line(&line)),
            Step::ask(),
            Step::say("Please approve it in a terminal."),
        ];
        scene.model.script(ask);
        let agent = Terminal::start(&scene, &[]);
        agent.say("make it");
        agent.wait("Please approve it in a terminal.");
        let told = scene.model.heard();
        let command = told[1]
            .split_once("where you cannot: ")
            .expect("it is told")
            .1;
        let command = command.trim().trim_end_matches('.').to_owned();
        assert!(!agent.scrollback().contains(QUESTION));

        // Whatever is no clear yes grants nothing, and it can be asked again.
        let person = Terminal::shell(&scene);
        for (round, keys) in [&["n", "Enter"][..], &["Enter"], &["x", "Enter"], &["C-c"]]
            .into_iter()
            .enumerate()
        {
            person.say(&command);
            let card = person.wait(ASKS);
            assert!(card.contains("end of the card of "), "{card}");
            for key in keys {
                person.key(key);
            }
            person.prompt();
            person.say(&format!("echo round-$(({round}+0)):$?"));
            let screen = person.wait(&format!("round-{round}:"));
            let granted = format!("round-{round}:0");
            assert!(!screen.contains(&granted), "{keys:?}: {screen}");
            let told = screen.contains("not approved");
            assert!(told || keys == ["C-c"], "{keys:?}: {screen}");
            person.prompt();
            person.say("clear");
            person.prompt();
            let confirmed = scene.gate(&["apply", "--confirm", &token(&command)]);
            assert_eq!(confirmed.code, Some(1), "{keys:?}");
        }
        person.say(&command);
        person.wait(ASKS);
        person.key("y");
        person.key("Enter");
        person.wait("approved: it may run once");

        let steps = [scene.confirm(), scene.confirm(), Step::say("That was all.")];
        scene.model.script(steps);
        agent.say("go on");
        agent.wait("That was all.");
        let heard = scene.model.heard();
        assert!(heard[0].contains("exited with code 0"), "{heard:#?}");
        assert!(heard[1].contains("exited with code 1"), "{heard:#?}");
        assert!(scene.took_made());
        let journal = scene.journal();
        let last: Vec<&str> = journal.iter().rev().take(3).map(String::as_str).collect();
        assert_eq!(last, ["ended", "started", "approved"], "{journal:?}");
        assert!(scene.gate(&["journal", "verify"]).done());
    });
}

fn token(command: &str) -> String {
    let token = command.rsplit(' ').next().expect("it ends with one");
    token.to_owned()
}
