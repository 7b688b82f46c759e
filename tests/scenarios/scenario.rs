//! A scenario laid out on the disk, as the recorded answer's own tool did it.

use std::fs;
use std::path::{Path, PathBuf};

use codexgate::codex::effective::{Effective, Question};
use codexgate::codex::site::Environment;
use codexgate::codex::{Site, Sources};
use serde_json::{Map, Value, json};

/// One scenario with its folders.
pub struct Scenario {
    /// `scenario.json`, with real paths.
    pub spec: Value,
    /// `expected.json`, as it was recorded.
    pub expected: Value,
    work: tempfile::TempDir,
    top: PathBuf,
}

/// Removes what Codex's own sandbox leaves in a writable `/tmp`: empty folders of these names, in
/// which older versions see a project. Folders that hold something stay.
fn clear_leftovers() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        for name in ["/tmp/.git", "/tmp/.codex"] {
            // Not there, or not empty: then it is none of Codex's leftovers.
            let _ = fs::remove_dir(name);
        }
    });
}

impl Scenario {
    pub fn read(folder: &Path) -> Self {
        clear_leftovers();
        let work = tempfile::Builder::new()
            .prefix("scenario-")
            // Where the recorded Codex worked: some profiles make `/tmp` writable.
            .tempdir_in("/tmp")
            .expect("a folder");
        let top = work.path().canonicalize().expect("it is there");
        let mut scenario = Self {
            spec: json!({}),
            expected: read_json(&folder.join("expected.json")),
            work,
            top,
        };
        scenario.spec = read_json(&folder.join("scenario.json"));
        scenario.lay_out(folder);
        scenario.spec =
            serde_json::from_str(&scenario.fill(&scenario.spec.to_string())).expect("still JSON");
        scenario
    }

    pub fn home(&self) -> PathBuf {
        self.top.join("user")
    }

    pub fn codex_home(&self) -> PathBuf {
        self.top.join("user/.codex")
    }

    pub fn project(&self) -> PathBuf {
        self.top.join("project")
    }

    fn etc(&self) -> PathBuf {
        self.top.join("root/etc/codex")
    }

    /// The working folder without `..`, as the recorded client wrote it.
    pub fn cwd(&self) -> PathBuf {
        let written = self.project().join(self.text("cwd").unwrap_or_default());
        let mut path = PathBuf::new();
        for part in written.components() {
            match part {
                std::path::Component::ParentDir => {
                    path.pop();
                }
                std::path::Component::CurDir => {}
                other => path.push(other),
            }
        }
        path
    }

    /// The folders as codexgate finds them.
    pub fn site(&self) -> Result<Site, codexgate::codex::site::Error> {
        let codex_home = self
            .spec
            .get("env")
            .and_then(|env| env.get("CODEX_HOME"))
            .and_then(Value::as_str)
            .filter(|path| !path.is_empty())
            .map_or_else(|| self.codex_home(), PathBuf::from);
        Site::discover(&Environment {
            directory: self.cwd(),
            home: Some(self.home()),
            codex_home: Some(codex_home),
            system_root: Some(self.top.join("root")),
            ..Environment::default()
        })
    }

    pub fn args(&self) -> Vec<String> {
        let args = self.spec.get("args").and_then(Value::as_array);
        args.into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.spec.get(name).and_then(Value::as_str)
    }

    /// An answer with real paths, in the words of the recorded one.
    pub fn scrub(&self, value: &Value) -> Value {
        let text = value
            .to_string()
            .replace(&path_text(&self.etc()), "/etc/codex")
            .replace(&path_text(&self.project()), "@PROJECT@")
            .replace(&path_text(&self.codex_home()), "@CODEX_HOME@")
            .replace(&path_text(&self.home()), "@HOME@")
            .replace(&path_text(&self.top.join("root")), "")
            .replace(&path_text(&self.top), "@WORK@");
        serde_json::from_str(&text).expect("still JSON")
    }

    /// Writes into the user's file what Codex would write when it trusts the folder by itself.
    pub fn write_trust(&self, question: &Question) {
        let Ok(site) = self.site() else { return };
        let answer = Effective::resolve(&Sources::read(&site), question);
        if answer.trust.automatic {
            self.append_trust(&answer.trust.key, "trusted");
        }
    }

    fn append_trust(&self, folder: &Path, level: &str) {
        let path = self.codex_home().join("config.toml");
        let mut bytes = fs::read(&path).unwrap_or_default();
        if !bytes.is_empty() && !bytes.ends_with(b"\n") {
            bytes.push(b'\n');
        }
        let folder = folder.display();
        let entry = format!("[projects.\"{folder}\"]\ntrust_level = \"{level}\"\n");
        bytes.extend(entry.bytes());
        fs::write(path, bytes).expect("a file");
    }

    fn fill(&self, text: &str) -> String {
        text.replace("@PROJECT@", &path_text(&self.project()))
            .replace("@CODEX_HOME@", &path_text(&self.codex_home()))
            .replace("@HOME@", &path_text(&self.home()))
            .replace("@WORKPARENT@", &path_text(&self.top))
    }

    fn lay_out(&self, folder: &Path) {
        self.copy(&folder.join("user"), &self.home());
        self.copy(&folder.join("home"), &self.codex_home());
        self.copy(&folder.join("project"), &self.project());
        if folder.join("etc").is_dir() {
            self.copy(&folder.join("etc"), &self.etc());
        }
        let links = self.spec.get("symlinks").and_then(Value::as_object);
        for (link, target) in links.unwrap_or(&Map::new()) {
            let (top, rest) = link.split_once('/').expect("a link has a folder");
            let top = match top {
                "project" => self.project(),
                "home" => self.codex_home(),
                _ => panic!("a link in {top}"),
            };
            let path = top.join(rest);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            let target = self.fill(target.as_str().expect("a path"));
            std::os::unix::fs::symlink(target, path).expect("a link");
        }
        if self.spec.get("git") == Some(&Value::Bool(true)) {
            let git = self.project().join(".git");
            for name in ["objects", "refs"] {
                fs::create_dir_all(git.join(name)).expect("folders");
            }
            fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("a file");
        }
        if let Some(level) = self.text("trust") {
            self.append_trust(&self.project(), level);
        }
        fs::create_dir_all(self.project().join(self.text("cwd").unwrap_or_default()))
            .expect("folders");
        let _ = &self.work;
    }

    fn copy(&self, from: &Path, to: &Path) {
        fs::create_dir_all(to).expect("folders");
        let Ok(entries) = fs::read_dir(from) else {
            return;
        };
        for entry in entries {
            let entry = entry.expect("the folder can be read");
            let name = entry.file_name();
            let name = if name == "_git" { ".git".into() } else { name };
            let (path, target) = (entry.path(), to.join(name));
            if entry.file_type().expect("a type").is_dir() {
                self.copy(&path, &target);
            } else if entry.file_name() != ".keep" {
                let mut bytes = fs::read(path).expect("a file");
                if let Ok(text) = std::str::from_utf8(&bytes)
                    && text.contains('@')
                {
                    bytes = self.fill(text).into_bytes();
                }
                fs::write(target, bytes).expect("a file");
            }
        }
    }
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}

fn read_json(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("a file of the scenario");
    serde_json::from_str(&text).expect("JSON")
}
