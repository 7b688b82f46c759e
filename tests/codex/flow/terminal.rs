//! A person at Codex's terminal interface: keys and screens of a tmux of its own.
//!
//! Everything waits for what the screen shows, never for a time, with two exceptions that Codex
//! asks for: a burst of keys counts as a paste, and an Enter within it as part of that.

use super::scene::Scene;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long something may take to show. It takes a second; a busy machine takes many.
const LIMIT: Duration = Duration::from_mins(1);

/// How often the screen is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// How long a screen has to stay the same to count as drawn.
const SETTLED: Duration = Duration::from_millis(300);

/// Longer than what counts as a slip of the keys.
const TO_READ: Duration = Duration::from_millis(1700);

/// What stands below every question.
pub const QUESTION: &str = "enter to submit";

/// Whether this machine has tmux.
pub fn possible() -> Result<(), String> {
    match Command::new("tmux").arg("-V").output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err("there is no tmux".to_owned()),
    }
}

/// Codex or a shell in a terminal of 24 lines and 80 columns.
pub struct Terminal<'a> {
    scene: &'a Scene,
    socket: PathBuf,
}

impl<'a> Terminal<'a> {
    /// Starts Codex with `flags` and waits until it can be typed to.
    pub fn start(scene: &'a Scene, flags: &[&str]) -> Self {
        let codex = scene.codex.display();
        let errors = scene.lab.root.join("terminal.stderr");
        let line = format!(
            "'{codex}' --no-daemon {} 2>'{}'; echo \"[codex ended: $?]\"; exec sleep 600",
            flags.join(" "),
            errors.display()
        );
        let terminal = Self::open(scene, "tmux", &line);
        terminal.until("the composer", Self::is_ready);
        terminal
    }

    /// Starts a shell, as a person has one beside Codex.
    pub fn shell(scene: &'a Scene) -> Self {
        let terminal = Self::open(scene, "tmux-shell", "PS1='ready> ' exec sh");
        terminal.prompt();
        terminal
    }

    /// Waits until the shell can be typed to: what it runs would take the keys.
    pub fn prompt(&self) {
        self.until("the shell's prompt", |screen| {
            let last = screen.lines().rev().find(|line| !line.trim().is_empty());
            last.is_some_and(|line| line.trim() == "ready>")
        });
    }

    fn open(scene: &'a Scene, socket: &str, line: &str) -> Self {
        let socket = scene.lab.root.join(socket);
        let terminal = Self { scene, socket };
        let project = scene.lab.project.to_string_lossy().into_owned();
        let size = ["-x", "80", "-y", "24"];
        let session = ["new-session", "-d", "-s", "codex"];
        terminal.tmux(&[&session[..], &size, &["-c", &project, line]].concat());
        terminal
    }

    /// The composer is drawn early, and other screens over it: it is real when the line below it
    /// names the model and the folder.
    fn is_ready(screen: &str) -> bool {
        let mut lines = screen.lines();
        let composer = lines.clone().any(|line| line.starts_with("› "));
        let loading = lines.clone().any(|line| line.trim() == "loading");
        let footer = lines.any(|line| {
            line.starts_with("  ")
                && [" · /", " · ~", " · …"]
                    .iter()
                    .any(|start| line.contains(start))
        });
        composer && footer && !loading
    }

    /// Types a prompt and sends it.
    pub fn say(&self, text: &str) {
        self.tmux(&["send-keys", "-t", "codex", "-l", text]);
        self.wait(text);
        sleep(SETTLED);
        self.key("Enter");
    }

    /// Presses a key, by tmux's name of it.
    pub fn key(&self, name: &str) {
        self.tmux(&["send-keys", "-t", "codex", name]);
    }

    /// Moves the mark to the choice that is named `label`, sees that it is there, and takes it.
    pub fn choose(&self, label: &str) {
        for _ in 0..8 {
            let screen = self.screen();
            // The lines above the question may have the same mark.
            let mut lines = screen.lines().rev();
            let marked = lines.find(|line| line.trim_start().starts_with('›'));
            if marked.is_some_and(|line| line.trim_end().ends_with(label)) {
                return self.key("Enter");
            }
            self.key("Down");
            sleep(LOOK * 2);
        }
        panic!("the mark does not reach {label}:\n{}", self.screen());
    }

    /// Waits for a question and for as long as a person takes to read it; the screen.
    pub fn read_question(&self) -> String {
        self.wait(QUESTION);
        sleep(TO_READ);
        self.settled()
    }

    /// Waits until `text` shows; the screen.
    pub fn wait(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    /// Waits until one of `texts` shows; the screen.
    pub fn wait_any(&self, texts: &[&str]) -> String {
        self.until(&texts.join(" or "), |screen| {
            texts.iter().any(|text| screen.contains(text))
        })
    }

    /// The screen, when it has been drawn to its end.
    pub fn settled(&self) -> String {
        let end = Instant::now() + LIMIT;
        let mut last = self.screen();
        while Instant::now() < end {
            sleep(SETTLED);
            let screen = self.screen();
            if screen == last {
                return screen;
            }
            last = screen;
        }
        panic!("the screen does not come to rest:\n{last}");
    }

    /// The screen as text, one line a row.
    pub fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-t", "codex"])
    }

    /// The screen with what has scrolled off.
    pub fn scrollback(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-t", "codex", "-S", "-"])
    }

    fn until(&self, what: &str, test: impl Fn(&str) -> bool) -> String {
        let end = Instant::now() + LIMIT;
        loop {
            let screen = self.screen();
            if test(&screen) {
                return screen;
            }
            assert!(
                Instant::now() < end && !screen.contains("[codex ended"),
                "{what} does not show; the screen is:\n{screen}"
            );
            sleep(LOOK);
        }
    }

    fn tmux(&self, args: &[&str]) -> String {
        let done = self
            .scene
            .command("tmux".as_ref())
            .arg("-S")
            .arg(&self.socket)
            .args(["-f", "/dev/null"])
            .args(args)
            .output()
            .expect("tmux was there a moment ago");
        assert!(
            done.status.success(),
            "tmux {args:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        String::from_utf8_lossy(&done.stdout).into_owned()
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        // Our own server, on our own socket.
        let _ = self
            .scene
            .command("tmux".as_ref())
            .arg("-S")
            .arg(&self.socket)
            .args(["-f", "/dev/null", "kill-server"])
            .output();
    }
}
