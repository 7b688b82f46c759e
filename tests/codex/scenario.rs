//! One question to Codex: files for its layers, and how it is started.
//!
//! A scenario is a folder that a person can read:
//!
//! ```text
//! home/         what lies in CODEX_HOME
//! user/         what else lies in HOME
//! project/      the folder that Codex works in
//! etc/          what lies in /etc/codex
//! scenario.json about, args, env, trust, git, cwd, symlinks, execpolicy, rules, thread, mcp_add,
//!               expect_only
//! expected.json what Codex answered
//! ```
//!
//! In every file `@PROJECT@`, `@CODEX_HOME@`, `@HOME@` and `@WORKPARENT@` stand for the real
//! paths. A file `.keep` only keeps its folder, and `_git` stands for `.git`.

use crate::lab::Lab;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The parts of a scenario that hold files.
const PARTS: [&str; 4] = ["home", "user", "project", "etc"];

/// The name that stands for `.git` in a scenario's folder, since git keeps no file of that name.
const DOT_GIT: &str = "_git";

/// A file that only keeps its folder.
const KEEP: &str = ".keep";

/// One question to Codex.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scenario {
    /// `scenario.json`.
    pub spec: Map<String, Value>,
    /// The files, by their path below the scenario's folder.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Scenario {
    /// Reads a scenario's folder.
    pub fn read(folder: &Path) -> Self {
        let mut scenario = Self::default();
        if let Ok(text) = std::fs::read(folder.join("scenario.json")) {
            scenario.spec = serde_json::from_slice(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        }
        for part in PARTS {
            read_files(&folder.join(part), part, &mut scenario.files);
        }
        scenario
    }

    /// Writes it as a folder, without `expected.json`.
    pub fn write(&self, folder: &Path) {
        let spec = serde_json::to_string_pretty(&self.spec).expect("it came from JSON");
        write_file(
            &folder.join("scenario.json"),
            format!("{spec}\n").as_bytes(),
        );
        for (name, bytes) in &self.files {
            let kept = |step| if step == ".git" { DOT_GIT } else { step };
            let name: PathBuf = name.split('/').map(kept).collect();
            write_file(&folder.join(name), bytes);
        }
    }

    /// A string of `scenario.json`.
    pub fn word(&self, key: &str) -> Option<&str> {
        self.spec.get(key).and_then(Value::as_str)
    }

    /// A list of strings of `scenario.json`.
    pub fn words(&self, key: &str) -> Vec<String> {
        strings(self.spec.get(key))
    }

    /// For the way to a worker.
    pub fn to_json(&self) -> Value {
        let files: Map<String, Value> = self
            .files
            .iter()
            .map(|(name, bytes)| {
                let bytes =
                    std::str::from_utf8(bytes).map_or_else(|_| json!(bytes), |text| json!(text));
                (name.clone(), bytes)
            })
            .collect();
        json!({"spec": self.spec, "files": files})
    }

    /// The other end of [`Scenario::to_json`].
    pub fn from_json(value: &Value) -> Option<Self> {
        let files = value.get("files")?.as_object()?;
        Some(Self {
            spec: value.get("spec")?.as_object()?.clone(),
            files: files
                .iter()
                .map(|(name, bytes)| {
                    let bytes = bytes.as_str().map_or_else(
                        || serde_json::from_value(bytes.clone()).unwrap_or_default(),
                        |text| text.as_bytes().to_vec(),
                    );
                    (name.clone(), bytes)
                })
                .collect(),
        })
    }

    /// Lays the files out below `root`, the system's files in `etc`. Returns the lab and the
    /// scenario with real paths in `scenario.json`.
    pub fn lay_out(&self, root: &Path, etc: &Path) -> (Lab, Self) {
        let mut lab = Lab::at(root);
        let places = Places::new(&lab, etc);
        let filled = places.fill(&serde_json::to_string(&self.spec).expect("it came from JSON"));
        let real = Self {
            spec: serde_json::from_str(&filled).expect("paths need no escapes"),
            files: BTreeMap::new(),
        };
        for (name, bytes) in &self.files {
            let path = places.real(name);
            if path.file_name().is_some_and(|name| name == KEEP) {
                make_parent(&path);
            } else {
                write_file(&path, &places.fill_bytes(bytes));
            }
        }
        for (link, target) in real
            .spec
            .get("symlinks")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let link = places.real(link);
            make_parent(&link);
            let target = target.as_str().expect("a link's target is a string");
            std::os::unix::fs::symlink(target, link).expect("the lab is writable");
        }
        if real.spec.get("git").and_then(Value::as_bool) == Some(true) {
            lab.fake_git();
        }
        if let Some(level) = real.word("trust") {
            lab.trust(level);
        }
        if let Some(inner) = real.word("cwd").filter(|inner| !inner.is_empty()) {
            lab.cwd = without_dots(&lab.project.join(inner));
            std::fs::create_dir_all(&lab.cwd).expect("the lab is writable");
        }
        for (name, value) in real
            .spec
            .get("env")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let value = value.as_str().expect("a variable is a string");
            lab.env.insert(name.clone(), value.to_owned());
        }
        (lab, real)
    }
}

/// `path` without `..`, links left alone: the way to a folder is what a client writes.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for step in path.components() {
        if step == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(step);
        }
    }
    plain
}

/// Where the parts of a scenario lie.
pub struct Places<'a> {
    lab: &'a Lab,
    etc: PathBuf,
}

impl<'a> Places<'a> {
    /// The places in `lab`, the system's files in `etc`.
    pub fn new(lab: &'a Lab, etc: &Path) -> Self {
        Self {
            lab,
            etc: etc.to_path_buf(),
        }
    }

    /// The real path of a scenario's file.
    pub fn real(&self, name: &str) -> PathBuf {
        let (part, rest) = name.split_once('/').unwrap_or((name, ""));
        let top = match part {
            "home" => &self.lab.codex_home,
            "user" => &self.lab.home,
            "etc" => &self.etc,
            _ => &self.lab.project,
        };
        top.join(rest)
    }

    /// `text` with real paths for names.
    pub fn fill(&self, text: &str) -> String {
        self.names()
            .iter()
            .fold(text.to_owned(), |text, (name, path)| {
                text.replace(name, path)
            })
    }

    fn fill_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.fill(text).into_bytes(),
            // Bytes that are no text take no part in a path, but a path may stand beside them.
            Err(_) => bytes
                .utf8_chunks()
                .flat_map(|chunk| [self.fill(chunk.valid()).as_bytes(), chunk.invalid()].concat())
                .collect(),
        }
    }

    /// `text` with names for real paths.
    pub fn strip(&self, text: &str) -> String {
        let text = self.names()[..3]
            .iter()
            .fold(text.to_owned(), |text, (name, path)| {
                text.replace(path, name)
            });
        text.replace(&text_of(&self.lab.root), "@WORK@")
    }

    fn names(&self) -> [(&'static str, String); 4] {
        [
            ("@PROJECT@", text_of(&self.lab.project)),
            ("@CODEX_HOME@", text_of(&self.lab.codex_home)),
            ("@HOME@", text_of(&self.lab.home)),
            ("@WORKPARENT@", text_of(&self.lab.root)),
        ]
    }
}

/// The strings of a JSON list.
pub fn strings(value: Option<&Value>) -> Vec<String> {
    value
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|word| word.as_str().map(str::to_owned))
        .collect()
}

fn text_of(path: &Path) -> String {
    path.to_str().expect("a lab's path is text").to_owned()
}

fn read_files(folder: &Path, name: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let file = entry.file_name();
        let step = if file == DOT_GIT { ".git".into() } else { file };
        let name = format!("{name}/{}", step.to_string_lossy());
        if entry.path().is_dir() {
            read_files(&entry.path(), &name, files);
        } else {
            let bytes =
                std::fs::read(entry.path()).unwrap_or_else(|error| panic!("{name}: {error}"));
            files.insert(name, bytes);
        }
    }
}

fn write_file(path: &Path, bytes: &[u8]) {
    make_parent(path);
    std::fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn make_parent(path: &Path) {
    let parent = path.parent().expect("it lies in a lab");
    std::fs::create_dir_all(parent).unwrap_or_else(|error| panic!("{}: {error}", parent.display()));
}
