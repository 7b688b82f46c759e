//! What is proposed, with everything that decides what it will do, by content.
//!
//! A proposal is built here from a [`Wish`] and written down once; its bytes are its identity. From
//! then on nothing is taken from the agent: the card, the comparison and the run read the proposal.

use super::change::{self, Change, FilesWish};
use super::clock::{Moment, millis};
use super::digest::{self, Budget};
use super::error::Error;
use super::journal::{Event, Journal};
use super::policy::{self, Ruling};
use super::program::{self, Program, Variable};
use super::store::{Gate, PROPOSAL_LIMIT, Waiting};
use super::surroundings::Surroundings;
use crate::files::{self, Found};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest life of a proposal: a person decides within a day.
const EXPIRES_LIMIT: Duration = Duration::from_hours(24);
/// The longest run.
const TIMEOUT_LIMIT: Duration = Duration::from_hours(24);
/// The most bytes of all words: what a person can read at all, far below the system's limit.
const WORDS_LIMIT: usize = 128 * 1024;
/// The most bytes of a reason: a few lines of the card.
const REASON_LIMIT: usize = 1000;
/// The most words and named inputs of one proposal, each of which may be a file. Words are counted
/// that are none, too: the count of files would tell which are there.
const INPUTS_LIMIT: usize = 1024;
const VERSION: u32 = 1;

/// What an agent proposes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    /// The version of this shape.
    pub version: u32,
    /// When it was made.
    pub created: Moment,
    /// When it ends.
    pub expires: Moment,
    /// Random, so that nobody chooses a token.
    pub nonce: String,
    /// The agent's words.
    pub reason: Option<String>,
    /// Codex's thread, where it said so.
    pub thread: Option<String>,
    /// The state directory that was judged.
    pub state: PathBuf,
    /// The Codex home that was judged.
    pub codex_home: Option<PathBuf>,
    /// The git root, or the working folder: no file outside is written.
    pub project: PathBuf,
    /// Where it runs.
    pub cwd: Place,
    /// What is done.
    pub action: Action,
}

/// A folder by name and identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Canonical.
    pub path: String,
    /// Its device.
    pub dev: u64,
    /// Its inode.
    pub ino: u64,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// A program runs.
    Command(Box<Command>),
    /// Files change, all or none.
    Files(Vec<Change>),
}

/// A program with all that it is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The words as they were given.
    pub argv: Vec<String>,
    /// What the first of them is.
    pub program: Program,
    /// All variables.
    pub environment: Vec<Variable>,
    /// Standard input; without it there is none.
    pub stdin: Option<Content>,
    /// Files and folders that it is told of.
    pub inputs: Vec<Input>,
    /// How long it may run, in milliseconds.
    pub timeout: u64,
}

/// Something named that is read, by content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Absolute, as named.
    pub path: String,
    /// Where it leads; empty where it cannot be read.
    pub target: String,
    /// Whether it is a folder.
    pub folder: bool,
    /// SHA-256 of the content, or of the tree; empty where it cannot be read.
    pub sha256: String,
    /// Bytes, or entries of the tree.
    pub size: u64,
}

impl Input {
    /// Whether its content was read, so that a change of it is found.
    pub const fn is_known(&self) -> bool {
        !self.sha256.is_empty()
    }
}

/// Bytes, as text where they are one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// UTF-8.
    Text(String),
    /// Anything else, in hex.
    Hex(String),
}

impl Content {
    /// Holds `bytes`.
    pub fn new(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).map_or_else(|e| Self::Hex(digest::hex(e.as_bytes())), Self::Text)
    }

    /// The bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let nibble = |byte: u8| match byte {
            b'0'..=b'9' => byte - b'0',
            _ => byte.wrapping_sub(b'a' - 10) & 0xf,
        };
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Hex(hex) => {
                let pairs = hex.as_bytes().chunks(2);
                let byte = |pair: &[u8]| pair.iter().fold(0, |all, b| all << 4 | nibble(*b));
                pairs.map(byte).collect()
            }
        }
    }
}

/// Where bytes come from that are given with a wish.
#[derive(Debug, Clone)]
pub enum Source {
    /// A plain file inside the project.
    File(PathBuf),
    /// Bytes that a person piped in.
    Bytes(Vec<u8>),
}

/// What shall be proposed.
#[derive(Debug, Clone)]
pub struct Wish {
    /// The agent's words.
    pub reason: Option<String>,
    /// How long it waits.
    pub expires: Duration,
    /// What is done.
    pub what: What,
}

/// A command or files.
#[derive(Debug, Clone)]
pub enum What {
    /// A command.
    Command(CommandWish),
    /// Files.
    Files(FilesWish),
}

/// A command that shall be proposed.
#[derive(Debug, Clone)]
pub struct CommandWish {
    /// The words.
    pub argv: Vec<OsString>,
    /// Files and folders that it reads.
    pub inputs: Vec<PathBuf>,
    /// Names of further variables.
    pub env: Vec<String>,
    /// Standard input.
    pub stdin: Option<Source>,
    /// How long it may run.
    pub timeout: Duration,
}

impl Proposal {
    /// The bytes that it is stored as: one spelling a proposal.
    pub(super) fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("texts and numbers always serialise")
    }

    /// The files that it writes.
    pub fn paths(&self) -> Vec<PathBuf> {
        match &self.action {
            Action::Command(_) => Vec::new(),
            Action::Files(changes) => changes.iter().map(|c| PathBuf::from(&c.path)).collect(),
        }
    }

    /// What is done, in words.
    pub fn words(&self) -> Vec<String> {
        match &self.action {
            Action::Command(command) => command.argv.clone(),
            Action::Files(changes) => {
                let start = ["write".to_owned()].into_iter();
                start
                    .chain(changes.iter().map(|c| c.path.clone()))
                    .collect()
            }
        }
    }
}

/// Builds a proposal out of `wish`, asks the policy, and writes it down to wait.
///
/// # Errors
/// [`Error::Denied`] by a policy, and every other refusal; nothing waits then.
pub fn propose(
    gate: &mut Gate<'_>,
    around: &Surroundings,
    wish: Wish,
) -> Result<(Waiting, Ruling), Error> {
    let proposal = build(gate.now(), around, wish, &|name| std::env::var_os(name))?;
    let ruling = policy::judge(&proposal, around)?;
    if let Ruling::Deny(line) = &ruling {
        let line = line.to_string();
        return Err(Error::Denied { line });
    }
    let bytes = proposal.bytes();
    if bytes.len() as u64 > PROPOSAL_LIMIT {
        return Err(limit("the proposal", "16 MiB"));
    }
    let waiting = gate.add(&bytes)?;
    let line = ruling.line().map(|line| format!(" {line}"));
    let event = Event::Proposed {
        token: waiting.token.clone(),
        digest: waiting.digest.clone(),
        what: proposal.words(),
        cwd: proposal.cwd.path.clone(),
        reason: proposal.reason.clone(),
        thread: proposal.thread.clone(),
        group: format!("{}{}", ruling.group(), line.unwrap_or_default()),
    };
    if let Err(error) = Journal::append(gate, event) {
        // What is not recorded does not wait.
        gate.forget(&waiting.token);
        return Err(error);
    }
    Ok((waiting, ruling))
}

/// Builds a proposal without writing anything.
pub(super) fn build(
    now: Moment,
    around: &Surroundings,
    wish: Wish,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Proposal, Error> {
    if wish.expires > EXPIRES_LIMIT {
        return Err(limit("the expiry", "24 hours"));
    }
    if wish
        .reason
        .as_ref()
        .is_some_and(|reason| reason.len() > REASON_LIMIT)
    {
        return Err(limit("the reason", "1000 bytes"));
    }
    let action = match wish.what {
        What::Command(command) => Action::Command(Box::new(build_command(around, command, env)?)),
        What::Files(files) => Action::Files(change::build(around, files)?),
    };
    let meta = fs::metadata(&around.cwd).map_err(|error| Error::io(&around.cwd, "read", error))?;
    Ok(Proposal {
        version: VERSION,
        created: now,
        expires: now.saturating_add(millis(wish.expires)),
        nonce: digest::random(),
        reason: wish.reason,
        thread: env("CODEX_THREAD_ID").and_then(|id| id.into_string().ok()),
        state: utf8(&around.state)?,
        codex_home: around.codex_home.as_deref().map(utf8).transpose()?,
        project: utf8(&around.project)?,
        cwd: Place {
            path: program::text("the working folder", around.cwd.as_os_str())?,
            dev: meta.dev(),
            ino: meta.ino(),
        },
        action,
    })
}

fn utf8(path: &Path) -> Result<PathBuf, Error> {
    program::text("a folder's path", path.as_os_str()).map(PathBuf::from)
}

fn build_command(
    around: &Surroundings,
    wish: CommandWish,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Command, Error> {
    let words = wish.argv.iter();
    let argv: Vec<String> = words
        .map(|word| program::text("an argument", word))
        .collect::<Result<_, _>>()?;
    let Some(first) = argv.first().filter(|word| !word.is_empty()) else {
        return Err(Error::Nothing {
            why: "there is no program",
        });
    };
    if argv.iter().map(|word| word.len() + 1).sum::<usize>() > WORDS_LIMIT {
        return Err(limit("the command line", "128 KiB"));
    }
    if wish.timeout > TIMEOUT_LIMIT {
        return Err(limit("the timeout", "24 hours"));
    }
    if policy::runs_itself(&argv) {
        return Err(Error::Itself);
    }
    let path = program::safe_path(env("PATH"), around);
    let program = program::find(first, &path, around, &mut Budget::new())?;
    let inputs = inputs(around, &argv[1..], &wish.inputs)?;
    let stdin = wish.stdin.map(|source| read(around, source)).transpose()?;
    Ok(Command {
        environment: program::variables(&wish.env, path, env)?,
        argv,
        program,
        stdin: stdin.map(Content::new),
        inputs,
        timeout: millis(wish.timeout),
    })
}

/// Every argument that is a file (alone, or behind a `=`), and everything that was named.
fn inputs(around: &Surroundings, words: &[String], named: &[PathBuf]) -> Result<Vec<Input>, Error> {
    if words.len() + named.len() > INPUTS_LIMIT {
        return Err(limit("the number of words and inputs", "1024"));
    }
    let mut paths: Vec<PathBuf> = Vec::new();
    for word in words {
        let behind = word.split_once('=').map(|(_, value)| value);
        let texts = [Some(word.as_str()), behind].into_iter().flatten();
        let files = texts.map(|text| around.cwd.join(text));
        paths.extend(files.filter(|path| path.is_file()));
    }
    paths.extend(named.iter().map(|path| around.cwd.join(path)));
    let mut budget = Budget::new();
    let mut found: Vec<Input> = Vec::new();
    for path in paths {
        let input = input(&path, &mut budget)?;
        if !found.contains(&input) {
            found.push(input);
        }
    }
    Ok(found)
}

/// Reads an input as it is now. What is not there or cannot be read is an input all the same, one
/// without a digest: an error would tell an agent of files that its sandbox does not let it read.
/// The card says so to the person.
pub(super) fn input(path: &Path, budget: &mut Budget) -> Result<Input, Error> {
    let mut input = Input {
        path: program::text("an input's path", path.as_os_str())?,
        target: String::new(),
        folder: false,
        sha256: String::new(),
        size: 0,
    };
    let Ok(target) = path.canonicalize() else {
        return Ok(input);
    };
    let folder = target.is_dir();
    let read = if folder {
        digest::tree(&target, budget)
    } else {
        digest::file(&target, budget)
    };
    if let (Ok((sha256, size)), Some(target)) = (read, target.to_str()) {
        (input.target, input.folder) = (target.to_owned(), folder);
        (input.sha256, input.size) = (sha256, size);
    }
    Ok(input)
}

/// The bytes of a source. A file is a plain one inside the project: outside the sandbox nothing is
/// read for an agent that it may not read itself.
pub(super) fn read(around: &Surroundings, source: Source) -> Result<Vec<u8>, Error> {
    let path = match source {
        Source::Bytes(bytes) => return Ok(bytes),
        Source::File(path) => around.cwd.join(path),
    };
    let outside = |why| Error::Outside {
        path: path.clone(),
        why,
    };
    match files::read_below(&around.project, &path, PROPOSAL_LIMIT)? {
        Some(Found::File(file)) => Ok(file.bytes),
        Some(Found::Missing) => Err(outside("is not there")),
        None => Err(outside("lies outside the project: only its files are read")),
    }
}

pub(super) fn limit(what: &'static str, limit: &str) -> Error {
    Error::Limit {
        what,
        limit: limit.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::testing::Scene;
    use proptest::prelude::*;

    fn refused(scene: &Scene, change: impl FnOnce(&mut CommandWish)) -> Error {
        let mut wish = Scene::wish(&["tool"]);
        change(&mut wish);
        let wish = Wish {
            reason: None,
            expires: Duration::from_mins(1),
            what: What::Command(wish),
        };
        build(0, &scene.around, wish, &|name| scene.env(name)).expect_err("it is refused")
    }

    #[test]
    fn every_field_is_part_of_the_token() {
        let scene = Scene::new();
        scene.program("tool");
        let one = scene.command(&["tool".to_owned()]);
        let mut tokens = vec![crate::approval::Token::of(&one.bytes())];
        let text = String::from_utf8(one.bytes()).expect("json");
        let value: serde_json::Value = serde_json::from_str(&text).expect("json");
        // Every leaf changed by itself gives another token.
        let mut leaves = Vec::new();
        leaf_paths(&value, String::new(), &mut leaves);
        assert!(leaves.len() > 15, "{leaves:?}");
        for path in leaves {
            let mut changed = value.clone();
            let leaf = changed.pointer_mut(&path).expect("a leaf");
            *leaf = match leaf.take() {
                serde_json::Value::String(text) => format!("{text}x").into(),
                serde_json::Value::Number(n) => (n.as_u64().expect("u64") ^ 1).into(),
                serde_json::Value::Bool(b) => (!b).into(),
                _ => "x".into(),
            };
            let Ok(proposal) = serde_json::from_value::<Proposal>(changed) else {
                panic!("{path} is read");
            };
            let token = crate::approval::Token::of(&proposal.bytes());
            assert!(!tokens.contains(&token), "{path}");
            tokens.push(token);
        }
    }

    fn leaf_paths(value: &serde_json::Value, at: String, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(members) => {
                for (key, value) in members {
                    leaf_paths(value, format!("{at}/{key}"), found);
                }
            }
            serde_json::Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    leaf_paths(value, format!("{at}/{index}"), found);
                }
            }
            serde_json::Value::Null if at.ends_with("stdin") => {}
            _ => found.push(at),
        }
    }

    #[test]
    fn two_proposals_of_the_same_have_two_tokens() {
        let scene = Scene::new();
        scene.program("tool");
        let argv = ["tool".to_owned()];
        assert_ne!(scene.command(&argv).bytes(), scene.command(&argv).bytes());
    }

    #[test]
    fn variables_that_choose_code_are_refused() {
        let scene = Scene::new();
        scene.program("tool");
        for name in [
            "PATH",
            "LD_PRELOAD",
            "DYLD_X",
            "BASH_ENV",
            "ENV",
            "",
            "A=B",
            "BASH_FUNC_a%%",
        ] {
            let error = refused(&scene, |wish| wish.env = vec![name.to_owned()]);
            assert!(matches!(error, Error::Variable { .. }), "{name}: {error}");
        }
        let error = refused(&scene, |wish| wish.env = vec!["NOT_SET".to_owned()]);
        assert!(matches!(error, Error::Unset { .. }));
    }

    #[test]
    fn arguments_that_are_files_are_inputs_once() {
        let scene = Scene::new();
        scene.program("tool");
        scene.write("a.txt", "1");
        scene.write("b.txt", "2");
        let words = ["tool", "a.txt", "--in=b.txt", "a.txt", "-x", "none", "."];
        let proposal = scene.command(&words.map(str::to_owned));
        let Action::Command(command) = proposal.action else {
            panic!("a command");
        };
        let names: Vec<&str> = command
            .inputs
            .iter()
            .map(|input| input.path.rsplit('/').next().expect("a name"))
            .collect();
        assert_eq!(names, ["a.txt", "b.txt"]);
    }

    #[test]
    fn only_files_of_the_project_are_read_for_an_agent() {
        let scene = Scene::new();
        scene.program("tool");
        let secret = scene.top.join("secret");
        fs::write(&secret, "hidden words").expect("file");
        std::os::unix::fs::symlink(&secret, scene.project.join("link")).expect("link");
        std::os::unix::fs::symlink(&scene.top, scene.project.join("up")).expect("link");
        fs::create_dir(scene.project.join("folder")).expect("folder");
        for name in [
            "link",
            "../secret",
            "up/secret",
            "folder",
            "/dev/zero",
            "missing",
        ] {
            let source = Source::File(PathBuf::from(name));
            let error = refused(&scene, |wish| wish.stdin = Some(source));
            assert!(!error.to_string().contains("hidden"), "{error}");
        }
    }

    #[test]
    fn a_bare_name_is_never_found_where_an_agent_writes() {
        let scene = Scene::new();
        scene.write("bin/evil", "#!/bin/sh\n");
        scene.executable("bin/evil");
        let error = refused(&scene, |wish| wish.argv = vec!["evil".into()]);
        assert!(matches!(error, Error::NoProgram { .. }), "{error}");
        // By its path it may be proposed: a copy will run.
        let proposal = scene.command(&["bin/evil".to_owned()]);
        let Action::Command(command) = proposal.action else {
            panic!("a command");
        };
        assert!(command.program.copied);
        let path = &command
            .environment
            .iter()
            .find(|v| v.name == "PATH")
            .expect("it")
            .value;
        assert!(!path.contains("project"), "{path}");
    }

    #[test]
    fn codexgate_is_never_proposed() {
        let scene = Scene::new();
        scene.program("tool");
        scene.program("codexgate");
        for argv in [
            vec!["codexgate"],
            vec!["tool", "x"],
            vec!["/bin/sh", "-c", "codexgate approve"],
        ] {
            let mut around = scene.around.clone();
            if argv[0] == "tool" {
                // The same content under another name.
                around.executable = PathBuf::from(scene.program("tool"));
            }
            let what = What::Command(Scene::wish(&argv));
            let expires = Duration::from_mins(1);
            let wish = Wish {
                reason: None,
                expires,
                what,
            };
            let built = build(0, &around, wish, &|name| scene.env(name));
            assert!(matches!(built, Err(Error::Itself)), "{argv:?}");
        }
    }

    #[test]
    fn limits_hold() {
        let scene = Scene::new();
        scene.program("tool");
        let error = refused(&scene, |wish| {
            wish.argv.push("x".repeat(WORDS_LIMIT).into());
        });
        assert!(matches!(error, Error::Limit { .. }));
        let error = refused(&scene, |wish| {
            wish.timeout = TIMEOUT_LIMIT + Duration::from_secs(1);
        });
        assert!(matches!(error, Error::Limit { .. }));
        let error = refused(&scene, |wish| wish.argv.clear());
        assert!(matches!(error, Error::Nothing { .. }));
    }

    proptest! {
        #[test]
        fn content_comes_back(bytes in any::<Vec<u8>>()) {
            prop_assert_eq!(Content::new(bytes.clone()).bytes(), bytes);
        }
    }
}
