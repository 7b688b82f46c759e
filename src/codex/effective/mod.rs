//! What is in force: all layers merged, checked and limited, as Codex does it.
//!
//! [`Effective::resolve`] answers one [`Question`]: which surface, which flags, which version. The
//! answer says whether Codex starts; where it does, the [`Policy`] that is then in force, each
//! value with who decided it and what it overrode. Types and words are looked at in the merged
//! result only, as Codex does, so that a wrong value is harmless while a stronger layer covers it.
//!
//! It does not know what a client sends with its `thread/start`, nor what a running session was
//! started with: those are part of the question.

pub mod approvals;
pub mod merge;

use std::path::{Path, PathBuf};

use indexmap::IndexMap;

pub use approvals::{ApprovalPolicy, Granular};
pub use merge::{Data, Merged};

use super::layer::{
    CONFIG_TOML, Content, Disabled, Flags, Kind, Layer, MANAGED_CONFIG_TOML, Place, Sources,
};
use super::trust::{Entries, Folders, Level, Trust};
use super::version::{Change, Version};
use crate::document::{KeyPath, Value};

/// Which way into Codex is asked about: they decide differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Surface {
    /// `codex app-server` with `thread/start`: editors, and the TUI is built on it.
    #[default]
    AppServer,
    /// The TUI.
    Tui,
    /// `codex exec`.
    Exec,
}

/// The three sandbox modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxMode {
    /// Nothing can be written.
    ReadOnly,
    /// The project and temporary folders can be written.
    WorkspaceWrite,
    /// No sandbox.
    DangerFullAccess,
}

impl SandboxMode {
    /// All three.
    pub const ALL: [Self; 3] = [Self::ReadOnly, Self::WorkspaceWrite, Self::DangerFullAccess];

    /// The mode as Codex names it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::DangerFullAccess => "danger-full-access",
        }
    }

    /// The mode that `word` names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.word() == word)
    }
}

/// What is asked.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// The way into Codex.
    pub surface: Surface,
    /// `-c`, `--enable`, `--disable`.
    pub flags: Flags,
    /// `-p`, which the app server does not take.
    pub profile: Option<String>,
    /// `-s`, or the client's `sandbox`.
    pub sandbox: Option<SandboxMode>,
    /// `-a`, or the client's `approvalPolicy`.
    pub approval: Option<ApprovalPolicy>,
    /// Answer as if the user had marked the folder so.
    pub trusted: Option<bool>,
    /// The working folder as the client writes it, where that is not the canonical one.
    pub cwd: Option<PathBuf>,
    /// The version of Codex.
    pub version: Version,
}

/// Why Codex does not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StartError {
    /// What is wrong, in plain words or Codex's own.
    pub message: String,
    /// The file that is wrong, and where, if one file can be blamed.
    pub place: Option<Box<Place>>,
    /// The key path that is wrong, if it is one.
    pub key: Option<KeyPath>,
}

/// Who decided a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// Nobody: Codex's default, and why it is this one.
    Default(&'static str),
    /// A layer.
    Layer(Place),
    /// A requirement.
    Requirement(Place),
    /// A flag or parameter of the question that is no layer.
    Session(&'static str),
}

/// A value that did not come to be in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Overridden {
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// A value in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided<T> {
    /// The value.
    pub value: T,
    /// Who decided it.
    pub by: By,
    /// What weaker layers said, strongest first.
    pub overrode: Vec<Overridden>,
}

/// What is in force where Codex starts.
#[derive(Debug, Clone)]
pub struct Policy {
    /// When Codex asks.
    pub approval: Decided<ApprovalPolicy>,
}

/// Something in a file that does not count.
#[derive(Debug, Clone, PartialEq)]
pub struct Dropped {
    /// Where it stands.
    pub place: Place,
    /// Why it does not count.
    pub why: Why,
}

/// Why a value does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Codex takes this key from no project.
    DeniedInProjects,
    /// Nobody trusts the project.
    ProjectUnknown,
    /// The project is marked untrusted.
    ProjectUntrusted,
}

/// The answer.
#[derive(Debug, Clone)]
pub struct Effective {
    /// The version that was asked about.
    pub version: Version,
    /// All layers, weak to strong; those that do not count too.
    pub layers: Vec<Layer>,
    /// The merged tree of the layers that count; its layer indices are those of `layers`.
    pub merged: Merged,
    /// The trust of the working folder.
    pub trust: Trust,
    /// What is in force, or why Codex does not start.
    pub starts: Result<Policy, StartError>,
    /// What does not count, and why.
    pub dropped: Vec<Dropped>,
}

/// Keys that Codex takes from no project, dropped before types are looked at (scenarios
/// `project-denylist`, `project-denylist-rest`), with the version that began it.
const DENIED_IN_PROJECTS: &[(&[&str], Option<Change>)] = &[
    (&["openai_base_url"], None),
    (&["chatgpt_base_url"], None),
    (&["apps_mcp_product_sku"], None),
    (&["model_provider"], None),
    (&["model_providers"], None),
    (&["notify"], None),
    (&["profile"], None),
    (&["profiles"], None),
    (&["responses_api_metadata"], Some(Change::DropsApiMetadata)),
    (
        &["experimental_realtime_webrtc_call_base_url"],
        Some(Change::DropsRealtimeCallUrl),
    ),
    (&["experimental_realtime_ws_base_url"], None),
    (&["otel"], None),
    (
        &["features", "respect_system_proxy"],
        Some(Change::DropsSystemProxy),
    ),
    (
        &["features", "system_proxy_fallback"],
        Some(Change::DropsProxyFallback),
    ),
    (
        &["features", "credential_masking"],
        Some(Change::DropsCredentialMasking),
    ),
];

impl Effective {
    /// Answers `question` from `sources`. Reads files, writes nothing, runs nothing.
    pub fn resolve(sources: &Sources, question: &Question) -> Self {
        let mut effective = Self::load(sources, question);
        if effective.starts.is_ok() {
            effective.starts = effective.decide(question);
        }
        effective
    }

    /// The policy, where Codex starts.
    pub const fn policy(&self) -> Option<&Policy> {
        match &self.starts {
            Ok(policy) => Some(policy),
            Err(_) => None,
        }
    }

    /// The place that decided the merged value at `path`.
    pub fn origin<S: AsRef<str>>(&self, path: &[S]) -> Option<Place> {
        let found = self.merged.get(path)?;
        let key = KeyPath::new(path.iter().map(AsRef::as_ref));
        Some(self.layers.get(found.layer)?.place(&key))
    }

    /// What weaker layers said at `path`, strongest first.
    pub fn overridden<S: AsRef<str>>(&self, path: &[S]) -> Vec<Overridden> {
        let key = KeyPath::new(path.iter().map(AsRef::as_ref));
        self.merged
            .get(path)
            .into_iter()
            .flat_map(|found| &found.overrode)
            .filter_map(|old| {
                Some(Overridden {
                    place: self.layers.get(old.layer)?.place(&key),
                    value: old.value.clone(),
                })
            })
            .collect()
    }

    /// Reads and merges the layers.
    fn load(sources: &Sources, question: &Question) -> Self {
        let site = sources.site();
        let cwd = question.cwd.as_ref().unwrap_or(&site.cwd).clone();
        let mut problem: Option<StartError> = None;
        let mut layers = vec![Layer::read(
            sources,
            Kind::System,
            site.system.join(CONFIG_TOML),
        )];
        if let Some(home) = &site.codex_home {
            layers.push(Layer::read(sources, Kind::User, home.join(CONFIG_TOML)));
            if let Some(name) = &question.profile {
                let file = home.join(format!("{name}.{CONFIG_TOML}"));
                layers.push(Layer::read(sources, Kind::Profile(name.clone()), file));
            }
        }
        let flags = match question.flags.value(|_| true) {
            Ok(value) => value,
            Err(error) => {
                problem = Some(StartError {
                    message: error.to_string(),
                    place: None,
                    key: None,
                });
                Value::Table(IndexMap::new())
            }
        };
        let managed = Layer::read(
            sources,
            Kind::Managed,
            site.system.join(MANAGED_CONFIG_TOML),
        );
        for layer in std::iter::once(&managed).chain(&layers) {
            problem = problem.or_else(|| unreadable(layer));
        }

        let mut before = lay(&layers);
        if !question.flags.is_empty() {
            before.lay(&flags, layers.len());
        }
        let markers = before
            .get(&["project_root_markers"])
            .and_then(|found| strings(&found.value()))
            .unwrap_or_else(|| vec![".git".to_owned()]);
        let folders = Folders::find(sources, &cwd, &markers, question.version);
        let mut entries = entries(&before);
        assume(&mut entries, &folders, question.trusted);
        let mut dropped = Vec::new();
        for folder in folders.projects(sources) {
            if is_codex_home(site.codex_home.as_deref(), &folder) {
                continue;
            }
            let file = folder.join(super::site::DOT_CODEX).join(CONFIG_TOML);
            let mut layer = Layer::read(sources, Kind::Project, file);
            let level = entries.level(folders.entry(&entries, &folder));
            layer.disabled = match level {
                Level::Trusted => None,
                Level::Untrusted => Some(Disabled::Untrusted),
                Level::Unknown => Some(Disabled::Unknown),
            };
            problem = problem.or_else(|| unreadable_project(&layer));
            sanitize(&mut layer, question.version, &mut dropped);
            layers.push(layer);
        }
        if !question.flags.is_empty() {
            layers.push(Layer {
                kind: Kind::Flags,
                file: None,
                base: cwd.clone(),
                content: Content::Flags(flags),
                disabled: None,
                dropped: Vec::new(),
            });
        }
        if !matches!(managed.content, Content::Absent) {
            layers.push(managed);
        }
        let merged = lay(&layers);
        if question.version.has(Change::TrustInManaged) {
            entries = self::entries(&merged_without_projects(&layers));
            assume(&mut entries, &folders, question.trusted);
        }
        let active = folders.active(&entries);
        let level = entries.level(active);
        let trust = Trust {
            level,
            place: active
                .and_then(|key| place_of(&layers, &merged, &["projects", key, "trust_level"])),
            key: folders.target(),
            root: folders.root.clone(),
            automatic: false,
        };
        Self {
            version: question.version,
            layers,
            merged,
            trust,
            starts: match problem {
                Some(problem) => Err(problem),
                None => Ok(Policy::undecided()),
            },
            dropped,
        }
    }

    /// Decides what is in force out of the merged tree.
    fn decide(&self, question: &Question) -> Result<Policy, StartError> {
        Ok(Policy {
            approval: self.approval(question)?,
        })
    }

    fn approval(&self, question: &Question) -> Result<Decided<ApprovalPolicy>, StartError> {
        let path = ["approval_policy"];
        let key = KeyPath::new(path);
        let configured = match self.merged.get(&path) {
            None => None,
            Some(found) => {
                let value = found.value();
                let policy =
                    ApprovalPolicy::parse(&value, self.version).ok_or_else(|| StartError {
                        message: "this is no approval policy".to_owned(),
                        place: self.origin(&path).map(Box::new),
                        key: Some(key.clone()),
                    })?;
                if policy == ApprovalPolicy::Untrusted
                    && self.version.has(Change::UntrustedKeyRefused)
                {
                    return Err(StartError {
                        message: "`approval_policy = \"untrusted\"` is no longer supported"
                            .to_owned(),
                        place: None,
                        key: Some(key),
                    });
                }
                Some(policy)
            }
        };
        let (value, by) = match (question.approval, configured, self.trust.level) {
            (Some(policy), _, _) => (policy, By::Session("approval policy of the session")),
            (None, Some(policy), _) => {
                let deciding = approvals::deciding_key(&self.merged);
                let place = self.origin(deciding);
                (
                    policy,
                    place.map_or(By::Default("no layer says otherwise"), By::Layer),
                )
            }
            (None, None, Level::Untrusted) => (
                ApprovalPolicy::Untrusted,
                By::Default("the folder is marked untrusted"),
            ),
            (None, None, _) => (
                ApprovalPolicy::OnRequest,
                By::Default("no layer says otherwise"),
            ),
        };
        Ok(Decided {
            value,
            by,
            overrode: self.overridden(approvals::deciding_key(&self.merged)),
        })
    }
}

impl Policy {
    fn undecided() -> Self {
        Self {
            approval: Decided {
                value: ApprovalPolicy::OnRequest,
                by: By::Default("no layer says otherwise"),
                overrode: Vec::new(),
            },
        }
    }
}

/// All layers that count, laid on each other.
fn lay(layers: &[Layer]) -> Merged {
    let mut merged = Merged::empty();
    for (index, layer) in layers.iter().enumerate() {
        if layer.disabled.is_none() {
            merged.lay(&layer.value(), index);
        }
    }
    merged
}

/// What says which folders are trusted: a project never does (scenario `trust-self`).
fn merged_without_projects(layers: &[Layer]) -> Merged {
    let mut merged = Merged::empty();
    for (index, layer) in layers.iter().enumerate() {
        if layer.kind != Kind::Project {
            merged.lay(&layer.value(), index);
        }
    }
    merged
}

fn entries(merged: &Merged) -> Entries {
    let mut found = Entries::default();
    let projects = merged.get(&["projects"]).and_then(Merged::members);
    for (path, project) in projects.into_iter().flatten() {
        let level = match project.get(&["trust_level"]).and_then(Merged::text) {
            Some("trusted") => Level::Trusted,
            Some("untrusted") => Level::Untrusted,
            _ => continue,
        };
        found.0.insert(path.clone(), level);
    }
    found
}

/// Answers as if the user's file had an entry for this folder.
fn assume(entries: &mut Entries, folders: &Folders, trusted: Option<bool>) {
    let Some(trusted) = trusted else { return };
    entries.0.clear();
    let level = if trusted {
        Level::Trusted
    } else {
        Level::Untrusted
    };
    for folder in [folders.target(), folders.root.clone(), folders.cwd.clone()] {
        entries
            .0
            .insert(folder.to_string_lossy().into_owned(), level);
    }
}

fn place_of(layers: &[Layer], merged: &Merged, path: &[&str]) -> Option<Place> {
    let found = merged.get(path)?;
    let key = KeyPath::new(path.iter().copied());
    Some(layers.get(found.layer)?.place(&key))
}

fn strings(value: &Value) -> Option<Vec<String>> {
    value
        .as_array()?
        .iter()
        .map(|item| item.as_str().map(str::to_owned))
        .collect()
}

/// Scenario `cwd-is-home`: Codex's home counts once, as the user's.
fn is_codex_home(home: Option<&Path>, folder: &Path) -> bool {
    let here = folder.join(super::site::DOT_CODEX);
    home.is_some_and(|home| {
        home == here
            || matches!((home.canonicalize(), here.canonicalize()), (Ok(a), Ok(b)) if a == b)
    })
}

/// What stops Codex in a file of system, user or administrator.
fn unreadable(layer: &Layer) -> Option<StartError> {
    let place = || Some(layer.place(&KeyPath::root()));
    let (message, place) = match &layer.content {
        Content::Broken { error, at } => {
            let mut place = layer.place(&KeyPath::root());
            place.span = error.span;
            place.line = at.line;
            place.column = at.column;
            (error.message.clone(), Some(place))
        }
        Content::NotUtf8 { valid } => (format!("not UTF-8 after {valid} bytes"), place()),
        Content::Unreadable { why } => (why.clone(), place()),
        Content::Absent | Content::Document(_) | Content::Flags(_) => return None,
    };
    Some(StartError {
        message,
        place: place.map(Box::new),
        key: None,
    })
}

/// In a project that does not count, broken TOML is harmless, bytes that are not UTF-8 are not
/// (scenarios `trust-unknown-broken-project`, `shape-latin1-untrusted-project`).
fn unreadable_project(layer: &Layer) -> Option<StartError> {
    match &layer.content {
        Content::Broken { .. } if layer.disabled.is_some() => None,
        _ => unreadable(layer),
    }
}

/// Drops what Codex takes from no project, and notes it with the rest of a disabled layer.
fn sanitize(layer: &mut Layer, version: Version, dropped: &mut Vec<Dropped>) {
    let value = layer.value();
    for (path, since) in DENIED_IN_PROJECTS {
        if since.is_none_or(|change| version.has(change)) && value.get(path).is_some() {
            let key = KeyPath::new(path.iter().copied());
            dropped.push(Dropped {
                place: layer.place(&key),
                why: Why::DeniedInProjects,
            });
            layer.dropped.push(key);
        }
    }
    let why = match layer.disabled {
        None => return,
        Some(Disabled::Unknown) => Why::ProjectUnknown,
        Some(Disabled::Untrusted) => Why::ProjectUntrusted,
    };
    for key in layer.value().as_table().into_iter().flatten() {
        dropped.push(Dropped {
            place: layer.place(&KeyPath::new([key.0.as_str()])),
            why,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::site::{Environment, Site};
    use super::*;
    use std::fs;

    /// A project with a repository, a home and a system folder of its own.
    fn world() -> (tempfile::TempDir, Sources) {
        let top = tempfile::tempdir().expect("a folder");
        let root = top.path().canonicalize().expect("it is there");
        fs::create_dir_all(root.join("project/.git")).expect("folders");
        fs::write(root.join("project/.git/HEAD"), "ref: refs/heads/main\n").expect("a file");
        let site = Site::discover(&Environment {
            directory: root.join("project"),
            home: Some(root.join("home")),
            system_root: Some(root.clone()),
            ..Environment::default()
        })
        .expect("the folders are there");
        (top, Sources::read(&site))
    }

    fn file(sources: Sources, path: &Path, text: &str) -> Sources {
        sources.with(path, Some(text.as_bytes().to_vec()))
    }

    #[test]
    fn a_plan_asks_what_would_be_in_force_after_it() {
        let (_top, sources) = world();
        let site = sources.site().clone();
        let user = site
            .codex_home
            .clone()
            .expect("home is set")
            .join(CONFIG_TOML);
        let project = site.dot_codex().join(CONFIG_TOML);
        let sources = file(sources, &project, "# never\napproval_policy = \"never\"\n");

        let before = Effective::resolve(&sources, &Question::default());
        let policy = before.policy().expect("it starts");
        assert_eq!(policy.approval.value, ApprovalPolicy::OnRequest);
        assert_eq!(before.trust.level, Level::Unknown);
        assert_eq!(before.dropped[0].why, Why::ProjectUnknown);

        let trust = format!(
            "approval_policy = \"on-request\"\n[projects.\"{}\"]\ntrust_level = \"trusted\"\n",
            site.project.display()
        );
        let after = Effective::resolve(&file(sources, &user, &trust), &Question::default());
        let approval = &after.policy().expect("it starts").approval;
        assert_eq!(approval.value, ApprovalPolicy::Never);
        let By::Layer(place) = &approval.by else {
            panic!("a layer decided: {approval:?}");
        };
        assert_eq!((place.layer.as_str(), place.line), ("project", 2));
        assert_eq!(
            approval.overrode[0].place.path.as_deref(),
            Some(user.as_path())
        );
        assert_eq!(after.trust.place.expect("the entry").line, 3);
    }

    #[test]
    fn a_file_that_is_no_toml_stops_codex_at_its_place() {
        let (_top, sources) = world();
        let managed = sources.site().system.join(MANAGED_CONFIG_TOML);
        let sources = file(sources, &managed, "a = 1\napproval_policy = \n");
        let answer = Effective::resolve(&sources, &Question::default());
        let place = answer.starts.expect_err("broken").place.expect("a place");
        assert_eq!((place.line, place.column), (2, 19));
    }

    #[test]
    fn the_switch_for_servers_decides_in_a_granular_policy() {
        let (_top, sources) = world();
        let system = sources.site().system.join(CONFIG_TOML);
        let sources = file(
            sources,
            &system,
            "[approval_policy.granular]\nsandbox_approval = true\nrules = true\nmcp_elicitations = true\n",
        );
        let mut question = Question::default();
        question
            .flags
            .config
            .push("approval_policy.granular.mcp_elicitations=false".to_owned());
        let answer = Effective::resolve(&sources, &question);
        let approval = &answer.policy().expect("it starts").approval;
        assert!(!approval.value.lets_servers_ask());
        assert!(matches!(&approval.by, By::Layer(place) if place.layer == "flags"));
    }
}
