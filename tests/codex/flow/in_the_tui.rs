//! A person at the terminal: the card on 80 columns and 24 lines, and what each key does.
//!
//! docs/flow.md shows the screens, and a test holds the cards in it. With `CODEXGATE_SCREENS=DIR`
//! all of them are left in that folder, ready to be copied there.

use super::model::Step;
use super::room;
use super::scene::{Scene, write};
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

/// What stands above a card that is shown again.
const SLIPPED: &str = "Approve came too fast";

/// What stands in the documentation for what differs each time, of the same length.
const ROOT: &str = "/home/dana/work/warehouse";
const TOKEN: &str = "7kq2-m9xt-c4hd-20fn-v8ra";
const UNTIL: &str = "until    2026-03-01 14:05:09 UTC";

/// A screen as the documentation has it.
fn scrubbed(scene: &Scene, screen: &str) -> String {
    let root = scene.lab.root.display().to_string();
    assert_eq!(root.len(), ROOT.len(), "lines would break elsewhere");
    let screen = screen.replace(&root, ROOT);
    let mut lines: Vec<String> = screen
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    let name = "  token    ";
    let token = lines
        .iter()
        .find_map(|line| line.strip_prefix(name).map(str::to_owned));
    for line in &mut lines {
        if let Some(token) = &token {
            *line = line.replace(token, TOKEN);
        }
        if line.starts_with("  until    ") {
            *line = format!("  {UNTIL}");
        }
    }
    lines.join("\n").trim_end().to_owned() + "\n"
}

/// Leaves a screen for the documentation, if it is wanted.
fn keep(scene: &Scene, name: &str, screen: &str) {
    if let Some(folder) = std::env::var_os("CODEXGATE_SCREENS") {
        let file = Path::new(&folder).join(format!("{name}.txt"));
        std::fs::write(file, scrubbed(scene, screen)).expect("the folder for screens is there");
    }
}

/// That docs/flow.md shows this question as it is: from `start` to the end of the screen.
fn assert_documented(scene: &Scene, screen: &str, start: &str) {
    let screen = scrubbed(scene, screen);
    let at = screen.find(start).expect("the card begins with it");
    let page = include_str!("../../../docs/flow.md");
    assert!(
        page.contains(&screen[at..]),
        "docs/flow.md has another question:\n{screen}"
    );
}

/// The whole flow, and a word at its end.
fn flow(scene: &Scene) -> Vec<Step> {
    let mut steps = scene.flow().to_vec();
    steps.push(Step::say(BYE));
    steps
}

#[test]
fn a_person_approves_and_it_runs_once() {
    at_a_terminal(
        "flow::in_the_tui::a_person_approves_and_it_runs_once",
        |codex| {
            let scene = Scene::new(codex);
            let policy = scene.lab.project.join(".codex/codexgate.toml");
            write(&policy, "confirm = [[\"touch\"]]\n");
            let mut steps = flow(&scene);
            steps.insert(0, Step::run("touch made"));
            scene.model.script(steps);
            let terminal = Terminal::start(&scene, &[]);
            keep(&scene, "1-ready", &terminal.settled());
            terminal.say("please make it");
            let card = terminal.read_question();
            keep(&scene, "2-card", &card);
            assert_documented(&scene, &card, "  codexgate: approve this?");
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
            keep(&scene, "3-done", &terminal.wait(BYE));
            let heard = scene.model.heard();
            assert!(heard[2].contains("Approved by the person"), "{heard:#?}");
            assert!(heard[3].contains("exited with code 0"), "{heard:#?}");
            assert!(heard[4].contains("exited with code 1"), "{heard:#?}");
            // Both hooks ran: one told how the gate works, one stopped what has to be proposed.
            assert!(scene.model.was_told("This project has codexgate"));
            let proposal = scene.line("apply -- touch made");
            assert!(heard[0].contains(&proposal), "{heard:#?}");
            assert!(scene.took_made());
            assert_eq!(
                scene.journal(),
                ["proposed", "approved", "started", "ended"]
            );
            assert!(scene.gate(&["journal", "verify"]).done());
            keep(
                &scene,
                "4-journal",
                &scene.gate(&["journal", "list"]).text(),
            );

            drop(terminal);
            assert!(scene.is_left_alone(), "{:?}", scene.processes());
        },
    );
}

#[test]
fn every_other_key_grants_nothing() {
    at_a_terminal(
        "flow::in_the_tui::every_other_key_grants_nothing",
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
                keep(&scene, &format!("5-{key}"), &terminal.wait(&bye));
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
        "flow::in_the_tui::a_person_who_types_when_the_question_comes_grants_nothing",
        |codex| {
            let scene = Scene::new(codex);
            scene.model.script(flow(&scene));
            let terminal = Terminal::start(&scene, &[]);
            terminal.say("please make it");
            // The digit of Approve, over and over, as if in the midst of a number.
            while !terminal.screen().contains(BYE) {
                terminal.key("2");
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
        "flow::in_the_tui::a_card_that_would_be_cut_is_not_asked_there",
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

#[test]
fn an_approve_at_once_is_asked_once_more() {
    at_a_terminal(
        "flow::in_the_tui::an_approve_at_once_is_asked_once_more",
        |codex| {
            let scene = Scene::new(codex);
            let terminal = Terminal::start(&scene, &[]);
            // A busy machine may be too slow to slip.
            for attempt in 0..5 {
                let bye = format!("That was attempt {attempt}.");
                let mut steps = scene.flow().to_vec();
                steps.push(Step::say(&bye));
                scene.model.script(steps);
                terminal.say(&format!("make it, attempt {attempt}"));
                terminal.wait(QUESTION);
                terminal.key("2");
                let screen = terminal.wait_any(&[SLIPPED, &bye]);
                if !screen.contains(SLIPPED) {
                    scene.took_made();
                    continue;
                }
                assert!(!scene.took_made());
                let screen = terminal.read_question();
                assert_documented(&scene, &screen, &format!("  {SLIPPED}"));
                keep(&scene, "6-slip", &screen);
                terminal.choose("Approve");
                terminal.wait(&bye);
                assert!(scene.took_made(), "{:#?}", scene.model.heard());
                return;
            }
            panic!("five answers took longer than 1.5 seconds");
        },
    );
}
