//! A person at the terminal: the card on 80 columns and 24 lines, and what each key does.
//!
//! With `CODEXGATE_SCREENS=DIR` the screens are left in that folder: docs/flow.md has them.

use super::model::Step;
use super::room;
use super::scene::Scene;
use super::terminal::{self, QUESTION, Terminal};
use crate::program;
use std::path::Path;

/// What the agent says at the end of a turn.
const BYE: &str = "That was all.";

/// Runs `body` in a room, where there is a tmux.
fn at_a_terminal(test: &str, body: impl FnOnce(&Path)) {
    match terminal::possible() {
        Ok(()) => room::inside(test, body),
        Err(why) => program::skip(test, &why),
    }
}

/// Leaves a screen for the documentation, if it is wanted.
fn keep(name: &str, screen: &str) {
    if let Some(folder) = std::env::var_os("CODEXGATE_SCREENS") {
        let file = Path::new(&folder).join(format!("{name}.txt"));
        std::fs::write(file, screen).expect("the folder for screens is there");
    }
}

/// The same, with every path of the lab gone.
fn flow(scene: &Scene) -> Vec<Step> {
    let mut steps = scene.flow().to_vec();
    steps.push(Step::say(BYE));
    steps
}

#[test]
fn a_person_approves_and_it_runs_once() {
    at_a_terminal(
        "gate::in_the_tui::a_person_approves_and_it_runs_once",
        |codex| {
            let scene = Scene::new(codex);
            scene.model.script(flow(&scene));
            let terminal = Terminal::start(&scene, &[]);
            keep("1-ready", &terminal.settled());
            terminal.say("please make it");
            let card = terminal.read_question();
            keep("2-card", &card);
            for text in [
                "codexgate: approve this? (a card of ",
                "runs     touch made",
                "end of the card of ",
                "› 1. Reject",
                "  2. Approve",
                QUESTION,
            ] {
                assert!(card.contains(text), "{text} is missing:\n{card}");
            }
            assert!(!scene.took_made());

            terminal.choose("Approve");
            keep("3-done", &terminal.wait(BYE));
            let heard = scene.model.heard();
            assert!(heard[1].contains("Approved by the person"), "{heard:#?}");
            assert!(heard[2].contains("exited with code 0"), "{heard:#?}");
            assert!(heard[3].contains("exited with code 1"), "{heard:#?}");
            assert!(scene.took_made());
            assert_eq!(
                scene.journal(),
                ["proposed", "approved", "started", "ended"]
            );
            assert!(scene.gate(&["journal", "verify"]).done());
            keep("4-journal", &scene.gate(&["journal", "list"]).text());

            drop(terminal);
            assert!(scene.is_left_alone(), "{:?}", scene.processes());
        },
    );
}

#[test]
fn every_other_key_grants_nothing() {
    at_a_terminal(
        "gate::in_the_tui::every_other_key_grants_nothing",
        |codex| {
            let scene = Scene::new(codex);
            let terminal = Terminal::start(&scene, &[]);
            // The digit of Reject, Enter on what the mark stands on, and the keys that go away.
            for (key, said) in [
                ("1", "the person rejected it"),
                ("Enter", "the person rejected it"),
                ("Escape", "Not approved: "),
                ("C-c", "Not approved: "),
            ] {
                let bye = format!("That was {key}.");
                let mut steps = scene.flow().to_vec();
                steps.push(Step::say(&bye));
                scene.model.script(steps);
                terminal.say(&format!("try {key}"));
                terminal.read_question();
                terminal.key(key);
                keep(&format!("5-{key}"), &terminal.wait(&bye));
                let heard = scene.model.heard();
                assert!(heard[1].contains(said), "{key}: {heard:#?}");
                for text in &heard[2..] {
                    assert!(text.contains("exited with code 1"), "{key}: {text}");
                }
                assert!(!scene.took_made(), "{key}: it ran");
            }
            let journal = scene.journal();
            let expected = ["rejected", "rejected", "undecided", "undecided"]
                .iter()
                .flat_map(|kind| ["proposed", kind]);
            assert!(journal.iter().eq(expected), "{journal:?}");
        },
    );
}

#[test]
fn a_person_who_types_when_the_question_comes_grants_nothing() {
    at_a_terminal(
        "gate::in_the_tui::a_person_who_types_when_the_question_comes_grants_nothing",
        |codex| {
            let scene = Scene::new(codex);
            scene.model.script(flow(&scene));
            let terminal = Terminal::start(&scene, &[]);
            terminal.say("please make it");
            // The digit of Approve, over and over, as if in the midst of a number.
            let mut slipped = false;
            loop {
                terminal.key("2");
                let screen = terminal.screen();
                if screen.contains("Approve came too fast") && !slipped {
                    slipped = true;
                    keep("6-slip", &screen);
                }
                if screen.contains(BYE) {
                    break;
                }
            }
            let heard = scene.model.heard();
            assert!(heard[1].contains("within 1.5 seconds"), "{heard:#?}");
            assert!(!scene.took_made());
            assert_eq!(scene.journal(), ["proposed", "undecided"]);
        },
    );
}

#[test]
fn a_card_that_would_be_cut_is_not_asked_there() {
    at_a_terminal(
        "gate::in_the_tui::a_card_that_would_be_cut_is_not_asked_there",
        |codex| {
            let scene = Scene::new(codex);
            let words = "word ".repeat(300);
            let steps = [
                Step::run(scene.line(&format!("apply --format json -- echo {words}"))),
                Step::ask(),
                scene.confirm(),
                Step::say(BYE),
            ];
            scene.model.script(steps);
            let terminal = Terminal::start(&scene, &[]);
            terminal.say("say much");
            terminal.wait(BYE);
            let heard = scene.model.heard();
            assert!(
                heard[1].contains("too long to be shown whole"),
                "{heard:#?}"
            );
            assert!(heard[1].contains(&scene.line("approve ")), "{heard:#?}");
            assert!(heard[2].contains("exited with code 1"), "{heard:#?}");
            let scrollback = terminal.scrollback();
            assert!(!scrollback.contains(QUESTION), "{scrollback}");
            assert_eq!(scene.journal(), ["proposed"]);
        },
    );
}
