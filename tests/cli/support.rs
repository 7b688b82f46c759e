//! Runs the binary in a clean environment, and shows what it said.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;

/// A folder of its own with a project and a Codex home in it.
pub struct Sandbox {
    top: tempfile::TempDir,
}

impl Sandbox {
    /// An empty project (a git root) and an empty Codex home.
    pub fn new() -> Self {
        let sandbox = Self {
            top: tempfile::tempdir().expect("a temporary folder"),
        };
        sandbox.write("project/.git/HEAD", "ref: refs/heads/main\n");
        std::fs::create_dir_all(sandbox.path("home/.codex")).expect("a folder");
        sandbox
    }

    /// The same in a place where a state directory is safe: outside of the folders that a sandbox
    /// may write.
    pub fn with_state() -> Self {
        let sandbox = Self {
            top: tempfile::tempdir_in("/var/tmp").expect("a temporary folder"),
        };
        sandbox.write("project/.git/HEAD", "ref: refs/heads/main\n");
        std::fs::create_dir_all(sandbox.path("home/.codex")).expect("a folder");
        let folder = sandbox.path(BIN);
        std::fs::create_dir(&folder).expect("a folder");
        place_program(&folder.join("codexgate"));
        sandbox
    }

    /// The program: a copy in a place that is safe, where the sandbox has one.
    pub fn program(&self) -> PathBuf {
        let copy = self.path(BIN).join("codexgate");
        if copy.exists() {
            copy
        } else {
            PathBuf::from(env!("CARGO_BIN_EXE_codexgate"))
        }
    }

    /// Says in Codex's home that the project is trusted.
    pub fn trust_project(&self) {
        let file = "home/.codex/config.toml";
        let old = std::fs::read_to_string(self.path(file)).unwrap_or_default();
        let project = self.path("project");
        let entry = format!(
            "[projects.\"{}\"]\ntrust_level = \"trusted\"\n",
            project.display()
        );
        self.write(file, old + &entry);
    }

    /// The text of `name`.
    pub fn read(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Every file and link below the top with its bytes, mode and modification time.
    pub fn census(&self) -> Vec<String> {
        use std::os::unix::fs::MetadataExt as _;
        let mut found = Vec::new();
        let mut folders = vec![self.path("")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
                let path = entry.path();
                let meta = path.symlink_metadata().expect("it is there");
                if path == self.path(BIN) {
                    continue;
                }
                if meta.is_dir() {
                    folders.push(path.clone());
                }
                let bytes = if meta.is_file() {
                    String::from_utf8_lossy(&std::fs::read(&path).expect("readable")).into_owned()
                } else {
                    format!("{:?}", std::fs::read_link(&path))
                };
                let time = if meta.is_dir() { 0 } else { meta.mtime_nsec() };
                found.push(format!(
                    "{} {:o} {time} {bytes}",
                    path.display(),
                    meta.mode()
                ));
            }
        }
        found.sort();
        found
    }

    /// The path of `name` below the top, canonical.
    pub fn path(&self, name: &str) -> PathBuf {
        self.top
            .path()
            .canonicalize()
            .expect("it is there")
            .join(name)
    }

    /// Writes a file with its folders.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("below the top")).expect("folders");
        std::fs::write(path, content).expect("a file");
    }

    /// The binary, working in `project`, with `home` as its only environment.
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.program());
        command
            .env_clear()
            .current_dir(self.path("project"))
            .env("HOME", self.path("home"));
        command
    }

    /// Runs with `args`: stdout, then stderr, then the exit code, with the folder scrubbed.
    pub fn run<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> String {
        let output = self.command().args(args).output().expect("it runs");
        shown(&output, &self.path(""))
    }
}

/// Where the copy of the program lies.
const BIN: &str = "program";

/// Puts the program at `path`, as another name of the same file where that can be.
pub fn place_program(path: &Path) {
    let built = Path::new(env!("CARGO_BIN_EXE_codexgate"));
    if std::fs::hard_link(built, path).is_err() {
        std::fs::copy(built, path).expect("there is room for a copy");
    }
}

/// The binary with an empty environment.
pub fn bare_command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_codexgate"));
    command.env_clear();
    command
}

/// stdout, stderr and exit code as one text; `folder` becomes `[TMP]/`.
pub fn shown(output: &Output, folder: &Path) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !stderr.is_empty() {
        write!(text, "--- stderr\n{stderr}").expect("a string");
    }
    let code = output
        .status
        .code()
        .map_or_else(|| "a signal".to_owned(), |code| code.to_string());
    writeln!(text, "--- exit {code}").expect("a string");
    text.replace(&folder.display().to_string(), "[TMP]/")
}

/// Compares with `snapshots/cli/NAME.snap`.
pub fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    let (folder, name) = name.rsplit_once('/').unwrap_or(("", name));
    settings.set_snapshot_path(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("snapshots/cli")
            .join(folder),
    );
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
