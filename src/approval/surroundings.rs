//! Where this runs, and whether the gate can hold there. It is looked at before anything else.
//!
//! A grant is unforgeable because a sandboxed process cannot write the state directory, replace
//! the executable or choose its environment. [`Surroundings::for_agent`] refuses where one of
//! these does not hold; [`Surroundings::for_person`] asks less, since a person may stand in any
//! folder. It cannot see the flags of a running session; the approver can.

use super::error::Error;
use crate::codex::effective::sandbox::Reach;
use crate::codex::effective::{By, Merged};
use crate::codex::layer::{Kind, Layer};
use crate::codex::rules_text::{self, Verdict};
use crate::codex::{Effective, Question, Site, Sources, rules_file};
use crate::document::{KeyPath, Value};
use crate::files;
use std::path::{Path, PathBuf};

/// What was found, and judged safe.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The state directory.
    pub state: PathBuf,
    /// Codex's home, where one is known.
    pub codex_home: Option<PathBuf>,
    /// This program, after all links.
    pub executable: PathBuf,
    /// The working folder, canonical.
    pub cwd: PathBuf,
    /// The git root, else the working folder.
    pub project: PathBuf,
    /// Folders that an agent may write, beside git work trees.
    pub writable: Vec<PathBuf>,
    /// The user's policy file. It need not exist.
    pub user_policy: Option<PathBuf>,
    /// The system's policy file. It need not exist.
    pub system_policy: PathBuf,
}

/// The system's policy file.
const SYSTEM_POLICY: &str = "/etc/codexgate/config.toml";

/// Variables that decide where the gate looks or which code runs.
const PROTECTED: [&str; 10] = [
    "HOME",
    "PATH",
    "CODEX_HOME",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "LD_PRELOAD",
    "DYLD_INSERT_LIBRARIES",
    "BASH_ENV",
    "ENV",
];

/// Keys of the approver's entry that a project may have: what `install` writes, and timeouts.
const APPROVER_KEYS: [&str; 6] = [
    "command",
    "args",
    "env_vars",
    "required",
    "startup_timeout_sec",
    "tool_timeout_sec",
];

/// Whether a variable decides where the gate looks or which code runs.
pub(super) fn is_protected(name: &str) -> bool {
    PROTECTED.contains(&name)
        || ["XDG_", "LD_", "DYLD_", "BASH_FUNC_"]
            .iter()
            .any(|start| name.starts_with(start))
}

impl Surroundings {
    /// For a command that an agent runs, or that runs for one: everything is judged.
    ///
    /// # Errors
    /// The first reason why the gate cannot hold here.
    pub fn for_agent(site: &Site) -> Result<Self, Error> {
        let effective = Effective::resolve(&Sources::read(site), &Question::default());
        let mut found = Self::find(site, roots(&effective, site))?;
        found.writable.push(site.cwd.clone());
        found.judge()?;
        if let Some(why) = open(&effective) {
            return Err(Error::Open { why });
        }
        for layer in &effective.layers {
            if let Some(why) = injected(layer)? {
                return Err(Error::Injected { why });
            }
        }
        Ok(found)
    }

    /// For a person's command: the state directory and the executable are judged.
    ///
    /// # Errors
    /// They are not safe.
    pub fn for_person(site: &Site) -> Result<Self, Error> {
        let found = Self::find(site, Vec::new())?;
        found.judge()?;
        Ok(found)
    }

    fn find(site: &Site, roots: Vec<PathBuf>) -> Result<Self, Error> {
        let (state, config) = own_folders()?;
        let executable = std::env::current_exe()
            .map_err(|error| Error::io(Path::new("/proc/self/exe"), "find", error))?;
        let mut writable = open_folders();
        writable.extend(roots);
        Ok(Self {
            state,
            codex_home: site.codex_home.clone(),
            executable,
            cwd: site.cwd.clone(),
            project: site.git_root.clone().unwrap_or_else(|| site.cwd.clone()),
            writable,
            user_policy: Some(config.join("config.toml")),
            system_policy: PathBuf::from(SYSTEM_POLICY),
        })
    }

    fn judge(&self) -> Result<(), Error> {
        files::state_dir_safety(&self.state, &self.writable).map_err(|why| {
            let set = std::env::var_os("XDG_STATE_HOME").is_some_and(|value| !value.is_empty());
            Error::UnsafeState {
                why,
                variable: if set { "XDG_STATE_HOME" } else { "HOME" },
            }
        })?;
        files::own_safety(&self.executable, &self.writable).map_err(Error::UnsafeExecutable)?;
        Ok(())
    }

    /// Whether an agent can change what is at `path`, which is absolute and without links.
    pub fn is_writable(&self, path: &Path) -> bool {
        files::is_writable_by_agent(path, &self.writable)
    }

    /// Refuses where a proposal was made with another state directory or Codex home.
    pub(super) fn same_folders(&self, state: &Path, home: Option<&Path>) -> Result<(), Error> {
        let differ = |what, theirs: &Path, ours: &Path| {
            if theirs == ours {
                return Ok(());
            }
            Err(Error::OtherFolder {
                what,
                theirs: theirs.to_path_buf(),
                ours: ours.to_path_buf(),
            })
        };
        let none = Path::new("(none)");
        differ("the state directory", state, &self.state)?;
        differ(
            "Codex's home",
            home.unwrap_or(none),
            self.codex_home.as_deref().unwrap_or(none),
        )
    }
}

/// The state directory and the folder of the user's policy file, safe or not: `state_dir()` of the
/// platform, `data_local_dir()` where a platform has none; on Linux `$XDG_STATE_HOME/codexgate`, by
/// default `~/.local/state/codexgate`.
///
/// # Errors
/// [`Error::NoState`]: no variable names one.
pub fn own_folders() -> Result<(PathBuf, PathBuf), Error> {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !set("HOME") && !set("XDG_STATE_HOME") {
        return Err(Error::NoState);
    }
    let folders = directories::ProjectDirs::from("", "", "codexgate").ok_or(Error::NoState)?;
    let state = folders.state_dir();
    let state = state.unwrap_or_else(|| folders.data_local_dir());
    Ok((state.to_path_buf(), folders.config_dir().to_path_buf()))
}

/// Folders that a sandboxed agent may write whatever its policy says.
pub fn open_folders() -> Vec<PathBuf> {
    let temporary = std::env::var_os("TMPDIR").filter(|value| !value.is_empty());
    let fixed = ["/tmp", "/dev/shm"].map(PathBuf::from).into_iter();
    fixed.chain(temporary.map(PathBuf::from)).collect()
}

/// Why the effective policy is open, naming what decided it; or why it cannot be told.
fn open(effective: &Effective) -> Option<String> {
    let sandbox = match &effective.starts {
        Ok(policy) => &policy.sandbox,
        Err(error) => return Some(format!("Codex would not start here ({error})")),
    };
    let what = match &sandbox.value.reach {
        Reach::ReadOnly | Reach::Workspace { .. } => return None,
        Reach::AllFiles => "an agent can write everything",
        Reach::Everything => "the sandbox is off",
    };
    Some(format!("{what}, decided by {}", place(&sandbox.by)))
}

fn place(by: &By) -> String {
    match by {
        By::Layer(place) | By::Requirement(place) => match &place.path {
            Some(path) => format!("{}:{}:{}", path.display(), place.line, place.column),
            None => place.layer.clone(),
        },
        By::Default(why) => (*why).to_owned(),
        By::Session(what) => (*what).to_owned(),
    }
}

/// Folders that the sandbox lets an agent write: those in force, and those that are configured and
/// come into force once a session is started with `-s workspace-write`.
fn roots(effective: &Effective, site: &Site) -> Vec<PathBuf> {
    let mut found = match effective.policy().map(|policy| &policy.sandbox.value.reach) {
        Some(Reach::Workspace { roots, .. }) => roots.clone(),
        Some(Reach::ReadOnly | Reach::AllFiles | Reach::Everything) | None => Vec::new(),
    };
    let key = ["sandbox_workspace_write", "writable_roots"];
    if let Some(Value::Array(items)) = effective.merged.get(&key).map(Merged::value) {
        found.extend(items.iter().filter_map(Value::as_str).map(PathBuf::from));
    }
    found.iter().map(|root| site.cwd.join(root)).collect()
}

/// How a project's layer, trusted or not, decides about the environment of commands, about the
/// approver's entry or about what leaves the sandbox.
fn injected(layer: &Layer) -> Result<Option<String>, Error> {
    if layer.kind != Kind::Project {
        return Ok(None);
    }
    let at = |keys: &[&str]| {
        let place = layer.place(&KeyPath::new(keys.iter().copied()));
        let file = place.path.as_deref().unwrap_or(Path::new("")).display();
        format!(
            "{file}:{}:{} has `{}`",
            place.line,
            place.column,
            keys.join(".")
        )
    };
    let value = layer.value();
    let get = |keys: &[&str]| {
        let start = Some(value.as_ref());
        keys.iter()
            .fold(start, |value, key| value?.as_table()?.get(*key))
    };
    let policy = "shell_environment_policy";
    if let Some(set) = get(&[policy, "set"]).and_then(Value::as_table)
        && let Some(name) = set.keys().find(|name| is_protected(&name.to_uppercase()))
    {
        return Ok(Some(at(&[policy, "set", name])));
    }
    let patterns = |key: &str| -> Option<Vec<String>> {
        let items = get(&[policy, key])?.as_array()?;
        let texts = items.iter().filter_map(Value::as_str);
        Some(texts.map(str::to_uppercase).collect())
    };
    let matches = |patterns: &[String], name: &str| {
        patterns
            .iter()
            .any(|pattern| super::policy::wildcard(pattern, name))
    };
    let needed = &PROTECTED[..6];
    if patterns("exclude").is_some_and(|list| needed.iter().any(|name| matches(&list, name))) {
        return Ok(Some(at(&[policy, "exclude"])));
    }
    let drops =
        |list: Vec<String>| !list.is_empty() && !needed.iter().all(|name| matches(&list, name));
    if patterns("include_only").is_some_and(drops) {
        return Ok(Some(at(&[policy, "include_only"])));
    }
    if get(&[policy, "inherit"]).is_some_and(|inherit| inherit.as_str() != Some("all")) {
        return Ok(Some(at(&[policy, "inherit"])));
    }
    let server = ["mcp_servers", "codexgate"];
    if let Some(entry) = get(&server).and_then(Value::as_table) {
        let other = entry
            .keys()
            .find(|key| !APPROVER_KEYS.contains(&key.as_str()));
        if let Some(key) = other {
            return Ok(Some(at(&[server[0], server[1], key])));
        }
    }
    rules(&layer.base.join(rules_file::RULES))
}

/// The first rule of a project that lets a program out of the sandbox, or that cannot be told.
fn rules(folder: &Path) -> Result<Option<String>, Error> {
    let Ok(names) = super::store::names(folder, rules_file::SUFFIX) else {
        return Ok(None);
    };
    for name in names {
        let path = folder.join(name);
        let file = files::read(&path, files::CONFIG_LIMIT)?;
        let text = String::from_utf8_lossy(file.bytes().unwrap_or_default()).into_owned();
        let (line, what) = match rules_text::judge(&text) {
            Verdict::Right(rules) => {
                match rules.prefixes.iter().find(|rule| rule.decision == "allow") {
                    Some(rule) => (rule.line, "lets a program leave the sandbox"),
                    None => continue,
                }
            }
            Verdict::Broken { line, .. } => (line, "is broken"),
            Verdict::NotJudged { line, .. } => (line, "is a program that may allow anything"),
        };
        return Ok(Some(format!("{}:{line} {what}", path.display())));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codex::site::Environment;
    use std::fs;

    fn look(file: &str, text: &str) -> Option<String> {
        let keep = tempfile::tempdir().expect("a folder");
        let dot = keep.path().join(".codex");
        fs::create_dir_all(dot.join("rules")).expect("folders");
        fs::write(dot.join(file), text).expect("file");
        let site = Site::discover(&Environment {
            directory: keep.path().to_path_buf(),
            ..Environment::default()
        })
        .expect("a site");
        let effective = Effective::resolve(&Sources::read(&site), &Question::default());
        let found = effective
            .layers
            .iter()
            .find_map(|l| injected(l).expect("reads"));
        found.or_else(|| open(&effective))
    }

    #[test]
    fn a_project_that_decides_about_the_environment_is_refused_with_its_line() {
        for (text, line) in [
            ("shell_environment_policy.set = { HOME = \"/x\" }", ":1:"),
            (
                "\n[shell_environment_policy.set]\nld_preload = \"/x\"",
                ":3:",
            ),
            ("[shell_environment_policy.set]\nXDG_FOO = \"/x\"", ":2:"),
            ("[shell_environment_policy]\nexclude = [\"xdg_*\"]", ":2:"),
            ("[shell_environment_policy]\ninherit = \"core\"", ":2:"),
            (
                "[shell_environment_policy]\ninclude_only = [\"PATH\"]",
                ":2:",
            ),
            (
                "[mcp_servers.codexgate]\ncommand = \"x\"\nenv = { A = \"b\" }",
                ":3:",
            ),
        ] {
            let found = look("config.toml", text).unwrap_or_else(|| panic!("{text}"));
            assert!(found.contains(line), "{text}: {found}");
        }
        for text in [
            "shell_environment_policy.set = { MODE = \"fast\" }",
            "[shell_environment_policy]\ninherit = \"all\"\nexclude = [\"AWS_*\"]",
            "[shell_environment_policy]\ninclude_only = [\"*\"]",
            "[mcp_servers.codexgate]\ncommand = \"x\"\nargs = [\"mcp\"]\nrequired = true",
            "[mcp_servers.docs]\ncommand = \"x\"\nenv = { HOME = \"/x\" }",
        ] {
            assert_eq!(look("config.toml", text), None, "{text}");
        }
    }

    #[test]
    fn a_rule_of_a_project_that_may_allow_is_refused() {
        for text in [
            "prefix_rule([\"make\"])",
            "prefix_rule(pattern = [\"make\"], decision = \"allow\")",
            "prefix_rule([\"make\"], \"allow\")",
            "f = prefix_rule\nf([\"make\"])",
            "prefix_rule([\"a\"], decision=\"forbidden\")\nprefix_rule([\"make\"], decision=\"al\" + \"low\")",
        ] {
            assert!(look("rules/a.rules", text).is_some(), "{text}");
        }
        let strict =
            "# nothing is allowed\nprefix_rule(pattern=[\"rm\"], decision = \"forbidden\")\n";
        assert_eq!(look("rules/a.rules", strict), None);
        assert_eq!(look("rules/a.txt", "prefix_rule([\"make\"])"), None);
    }
}
