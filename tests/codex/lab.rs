//! A throw-away home and project for one question.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where programs are looked for.
pub const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Folders for one run of Codex or codexgate. All paths are canonical.
#[derive(Debug, Clone)]
pub struct Lab {
    /// The folder that holds the others.
    pub root: PathBuf,
    /// `$HOME`.
    pub home: PathBuf,
    /// `$CODEX_HOME`.
    pub codex_home: PathBuf,
    /// The project.
    pub project: PathBuf,
    /// The working folder: the project or a folder in it.
    pub cwd: PathBuf,
    /// Variables beside the usual ones.
    pub env: BTreeMap<String, String>,
}

impl Lab {
    /// The lab below `root`, which is canonical; makes its folders.
    pub fn at(root: &Path) -> Self {
        let lab = Self {
            root: root.to_path_buf(),
            home: root.join("user"),
            codex_home: root.join("user/.codex"),
            project: root.join("project"),
            cwd: root.join("project"),
            env: BTreeMap::new(),
        };
        for folder in [&lab.codex_home, &lab.project] {
            std::fs::create_dir_all(folder).expect("the lab is writable");
        }
        lab
    }

    /// `program` in this lab, with nothing of the caller's environment.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.cwd)
            .env_clear()
            .env("HOME", &self.home)
            .env("CODEX_HOME", &self.codex_home)
            .env("PATH", PATH)
            .env("LANG", "C.UTF-8")
            .env("RUST_BACKTRACE", "0")
            .env("RUST_LIB_BACKTRACE", "0")
            .envs(&self.env);
        command
    }

    /// Makes the project a git repository as far as Codex looks: `.git` with a HEAD.
    pub fn fake_git(&self) {
        let git = self.project.join(".git");
        for folder in ["objects", "refs"] {
            std::fs::create_dir_all(git.join(folder)).expect("the lab is writable");
        }
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("the lab is writable");
    }

    /// Says in the user's file how far Codex trusts the project.
    pub fn trust(&self, level: &str) {
        let file = self.codex_home.join("config.toml");
        let mut text = std::fs::read(&file).unwrap_or_default();
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        let entry = format!(
            "[projects.\"{}\"]\ntrust_level = \"{level}\"\n",
            self.project.display()
        );
        text.extend_from_slice(entry.as_bytes());
        std::fs::write(&file, text).expect("the lab is writable");
    }
}
