//! What is in force: all layers merged, checked and limited, as Codex does it.
//!
//! [`Effective::resolve`] answers one [`Question`]: which surface, which flags, which version. The
//! answer says whether Codex starts; where it does, the [`Policy`] that is then in force, each
//! value with who decided it and what it overrode. Types and words are looked at in the merged
//! result only, as Codex does, so that a wrong value is harmless while a stronger layer covers it.
//!
//! It does not know what a running session was started with, nor what a client sends with its
//! `thread/start`: those are part of the question. It starts no server and runs no rules file; of a
//! required server it tells at most that there is no such program.

pub mod approvals;
pub mod hooks;
pub mod json;
mod load;
pub mod merge;
pub mod sandbox;
pub mod servers;

use std::ffi::OsString;
use std::path::PathBuf;

pub use approvals::{ApprovalPolicy, Granular};
pub use hooks::{Hook, HookTrust};
pub use load::is_denied_in_projects;
pub use merge::{Data, Merged};
pub use sandbox::{Reach, Sandbox};
pub use servers::Server;

use super::features;
use super::keys;
use super::layer::{Flags, Kind, Layer, Place, Sources, Text};
use super::requirements::{Required, Requirements, Reviewer};
use super::trust::{Level, Trust};
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
    /// `--approve-for-me`, or the client's `approvalsReviewer`.
    pub reviewer: Option<Reviewer>,
    /// `--add-dir`, absolute.
    pub add_dirs: Vec<PathBuf>,
    /// `--ignore-user-config`.
    pub ignore_user: bool,
    /// Read no project's files, as the app server does when it starts with what is left.
    pub ignore_projects: bool,
    /// `--strict-config`.
    pub strict: bool,
    /// Answer as if the user had marked the folder so.
    pub trusted: Option<bool>,
    /// The working folder as the client writes it, where that is not the canonical one.
    pub cwd: Option<PathBuf>,
    /// `$PATH`, where it is asked whether each required server's program is there.
    pub path: Option<OsString>,
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

impl By {
    /// The place that decided, if it is one.
    pub const fn place(&self) -> Option<&Place> {
        match self {
            Self::Layer(place) | Self::Requirement(place) => Some(place),
            Self::Default(_) | Self::Session(_) => None,
        }
    }
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
    /// Who answers.
    pub reviewer: Decided<Reviewer>,
    /// What the agent may touch.
    pub sandbox: Decided<Sandbox>,
    /// The MCP servers, by name.
    pub servers: Vec<Server>,
    /// The hooks, in Codex's order.
    pub hooks: Vec<Hook>,
    /// The rules files that Codex reads, in its order.
    pub rules: Vec<PathBuf>,
    /// Configured values that a requirement refused.
    pub refused: Vec<Refused>,
}

/// A configured value that a requirement refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// What it is about: `approval_policy`, `approvals_reviewer`, `sandbox`, or a key that a
    /// requirement fixes.
    pub what: &'static str,
    /// What was configured.
    pub configured: String,
    /// What is in force in its place.
    pub fallback: String,
    /// The requirement.
    pub place: Place,
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
    /// Codex knows no such key.
    UnknownKey,
}

/// The answer.
#[derive(Debug, Clone)]
pub struct Effective {
    /// The version that was asked about.
    pub version: Version,
    /// The working folder as the client writes it.
    pub cwd: PathBuf,
    /// The home folder, for `~`.
    pub home: Option<PathBuf>,
    /// Codex's home.
    pub codex_home: Option<PathBuf>,
    /// All layers, weak to strong; those that do not count too.
    pub layers: Vec<Layer>,
    /// The merged tree of the layers that count; its layer indices are those of `layers`.
    pub merged: Merged,
    /// The trust of the working folder.
    pub trust: Trust,
    /// The administrator's limits.
    pub requirements: Requirements,
    /// What is in force, or why Codex does not start.
    pub starts: Result<Policy, StartError>,
    /// What does not count, and why.
    pub dropped: Vec<Dropped>,
    /// Where starting a thread trusts the folder by itself, or fails over a server: the answer
    /// before it does. It is what `config/read` tells then.
    pub before_thread: Option<Box<Effective>>,
}

impl Effective {
    /// Answers `question` from `sources`. Reads files, writes nothing, runs nothing.
    pub fn resolve(sources: &Sources, question: &Question) -> Self {
        let mut first = Self::once(sources, question, None);
        if let Some(error) = Self::server_error(sources, question, &first) {
            first.starts = Err(error);
        }
        let mut last = match first.trusts_itself(sources, question) {
            Some(key) => {
                let mut then = Self::once(sources, question, Some(&key));
                then.trust.automatic = true;
                then.before_thread = Some(Box::new(first));
                then
            }
            None => first,
        };
        let path = question.path.as_deref();
        let rules = last.policy().map(|policy| policy.rules.as_slice());
        let fails = rules
            .and_then(|rules| super::rules_file::first_unreadable(rules, sources))
            .or_else(|| servers::cannot_start(&last, path?));
        if let Some(error) = fails {
            if last.before_thread.is_none() {
                last.before_thread = Some(Box::new(last.clone()));
            }
            last.starts = Err(error);
        }
        last
    }

    /// Says that Codex does not start, for a reason that stands in no file.
    pub fn refuse(&mut self, message: String) {
        self.before_thread = None;
        self.starts = Err(StartError {
            message,
            place: None,
            key: None,
        });
    }

    fn once(sources: &Sources, question: &Question, trusting: Option<&str>) -> Self {
        let mut effective = load::load(sources, question, trusting);
        let problem = effective
            .problem()
            .and_then(|()| effective.missing_file(sources));
        if let Err(error) = problem {
            if effective.starts.is_ok() {
                effective.starts = Err(error);
            }
        } else if effective.starts.is_ok() {
            effective.starts = effective.decide(sources, question);
        }
        effective
    }

    /// The app server, which `exec` brings along, starts before anybody says more. Where the files alone do not
    /// load, it goes on without the user's and the projects'; where that does not load either,
    /// no parameter of a thread can help.
    fn server_error(sources: &Sources, question: &Question, found: &Self) -> Option<StartError> {
        let says_more = question.sandbox.is_some() || question.approval.is_some();
        let is_server = question.surface != Surface::Exec;
        let mut without = question.clone();
        without.surface = Surface::AppServer;
        without.sandbox = None;
        without.approval = None;
        let error = match &found.starts {
            Ok(_) if !says_more => return None,
            Ok(_) => Self::once(sources, &without, None).starts.err()?,
            Err(error) if is_server => error.clone(),
            Err(_) => return None,
        };
        without.ignore_user = true;
        without.ignore_projects = true;
        let rest = Self::once(sources, &without, None);
        let left = rest.starts.err()?;
        // A wrong type in the rest is what the server tells then. When it looks for the file to
        // blame, it looks into the user's all the same.
        let is_right = super::check::check_merged(&rest.merged.value(), rest.version).is_ok();
        if !is_server || is_right {
            return Some(error);
        }
        let blamed = found
            .layers
            .iter()
            .filter(|layer| layer.kind != Kind::Project)
            .find_map(|layer| {
                let value = layer.document()?.root().value();
                let problem = super::check::check_text(&value, found.version).err()?;
                Some(StartError {
                    message: problem.message,
                    place: Some(Box::new(layer.place(&problem.path))),
                    key: Some(problem.path),
                })
            });
        Some(blamed.unwrap_or(left))
    }

    /// The folder that starting a thread marks as trusted by itself, if it does.
    fn trusts_itself(&self, sources: &Sources, question: &Question) -> Option<String> {
        let policy = self.policy()?;
        let writes = match question.surface {
            Surface::AppServer | Surface::Tui => true,
            Surface::Exec => !question.version.has(Change::ExecWritesNoTrust),
        };
        let is_project = self.trust.is_repository
            || self.layers.iter().any(|layer| layer.kind == Kind::Project)
            || !question.version.has(Change::PlainFolderNotTrusted);
        let is_wide = policy.sandbox.value.writes_cwd;
        let has_home = sources.site().codex_home.is_some();
        (writes && is_wide && is_project && has_home && self.trust.level == Level::Unknown)
            .then(|| self.trust.key.to_string_lossy().into_owned())
    }

    /// The policy, where Codex starts.
    pub const fn policy(&self) -> Option<&Policy> {
        match &self.starts {
            Ok(policy) => Some(policy),
            Err(_) => None,
        }
    }

    /// The answer before a thread trusted the folder or failed; mostly this one.
    pub fn before(&self) -> &Self {
        self.before_thread.as_deref().unwrap_or(self)
    }

    /// The place that decided the merged value at `path`.
    pub fn origin<S: AsRef<str>>(&self, path: &[S]) -> Option<Place> {
        let found = self.merged.get(path)?;
        let key = KeyPath::new(path.iter().map(AsRef::as_ref));
        match self.layers.get(found.layer) {
            Some(layer) => Some(layer.place(&key)),
            None => self
                .requirements
                .settings
                .iter()
                .find(|fixed| fixed.key == key)
                .map(|fixed| fixed.required.place.clone()),
        }
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

    /// Whether a feature is on: a requirement, else the merged value, else its default.
    pub fn feature(&self, name: &str) -> bool {
        if let Some(required) = self.requirements.feature(name) {
            return required.value;
        }
        let older = features::OLDER_NAMES
            .iter()
            .filter(|(_, now)| *now == Some(name))
            .map(|(older, _)| *older);
        std::iter::once(name)
            .chain(older)
            .find_map(|name| self.merged.get(&["features", name])?.truth())
            .unwrap_or_else(|| features::feature_named(name).is_some_and(|found| found.default))
    }

    /// What stops Codex in the merged result, before anything is decided.
    fn problem(&self) -> Result<(), StartError> {
        let value = self.merged.value();
        if let Err(problem) = super::check::check_merged(&value, self.version) {
            return Err(self.blame(problem.message, problem.path));
        }
        if let Some(late) = &self.requirements.late {
            return Err(StartError {
                message: late.message.clone(),
                place: Some(late.place.clone()),
                key: None,
            });
        }
        let refuse = |key: &[&str], message: &str| {
            Err(StartError {
                message: message.to_owned(),
                place: None,
                key: Some(KeyPath::new(key.iter().copied())),
            })
        };
        if value.get(&["experimental_thread_store_endpoint"]).is_some() {
            return refuse(
                &["experimental_thread_store_endpoint"],
                "`experimental_thread_store_endpoint` is no longer supported",
            );
        }
        if value.get(&["profile"]).is_some() {
            return refuse(
                &["profile"],
                "`profile` is no longer supported, use `-p` and a file of that name",
            );
        }
        let approval = self.merged.get(&["approval_policy"]).map(Merged::value);
        let approval = approval.and_then(|value| ApprovalPolicy::parse(&value, self.version));
        if approval == Some(ApprovalPolicy::Untrusted)
            && self.version.has(Change::UntrustedKeyRefused)
        {
            return refuse(
                &["approval_policy"],
                "`approval_policy = \"untrusted\"` is no longer supported",
            );
        }
        if self.version.has(Change::RefusesUseXaa) {
            let path = ["features", "use_xaa"];
            let of_project = self.layers.iter().any(|layer| {
                layer.kind == Kind::Project
                    && layer.disabled.is_none()
                    && layer.value().get(&path).and_then(Value::as_bool) == Some(true)
            });
            if of_project {
                return refuse(&path, "`features.use_xaa` must not come from a project");
            }
        }
        if let Some(name) = value.get(&["model_provider"]).and_then(Value::as_str)
            && !keys::PROVIDERS.contains(&name)
            && value.get(&["model_providers", name]).is_none()
        {
            return refuse(&["model_provider"], "there is no such model provider");
        }
        Ok(())
    }

    /// A file that the configuration names and Codex reads at once.
    fn missing_file(&self, sources: &Sources) -> Result<(), StartError> {
        for name in [
            "model_instructions_file",
            "experimental_compact_prompt_file",
            "model_catalog_json",
        ] {
            let Some(path) = self.merged.get(&[name]).and_then(Merged::text) else {
                continue;
            };
            let path = sandbox::resolve_path(path, &self.cwd, self.home.as_deref());
            let why = match sources.text(&path) {
                Text::Text(text) if name == "model_catalog_json" => {
                    let catalog: Option<serde_json::Value> = serde_json::from_str(&text).ok();
                    let models = catalog.as_ref().and_then(|all| all["models"].as_array());
                    if models.is_some_and(|models| !models.is_empty()) {
                        continue;
                    }
                    "is no catalogue of models"
                }
                Text::Text(text) if text.trim().is_empty() => "is empty",
                Text::Text(_) => continue,
                Text::Absent => "is not there",
                Text::NotUtf8 { .. } => "is not UTF-8",
                Text::Unreadable { .. } => "cannot be read",
            };
            return Err(StartError {
                message: format!("`{}`, named by `{name}`, {why}", path.display()),
                place: None,
                key: Some(KeyPath::new([name])),
            });
        }
        Ok(())
    }

    /// Points at the first layer, weakest first, that is wrong by itself; what is wrong only in
    /// the merged result has no file.
    fn blame(&self, message: String, path: KeyPath) -> StartError {
        for layer in self.layers.iter().filter(|layer| layer.disabled.is_none()) {
            let Some(document) = layer.document() else {
                continue;
            };
            if let Err(problem) = super::check::check_text(&document.root().value(), self.version) {
                return StartError {
                    message: problem.message,
                    place: Some(Box::new(layer.place(&problem.path))),
                    key: Some(problem.path),
                };
            }
        }
        StartError {
            message,
            place: None,
            key: Some(path),
        }
    }

    /// Decides what is in force out of the merged tree.
    fn decide(&self, sources: &Sources, question: &Question) -> Result<Policy, StartError> {
        let mut refused = Vec::new();
        let reviewer = self.reviewer(question, &mut refused);
        let configured = self.approval(question, reviewer.value);
        let approval = limit(
            configured,
            self.requirements.approvals.as_ref(),
            "approval_policy",
            ToString::to_string,
            ApprovalPolicy::value,
            &mut refused,
        );
        let decision = sandbox::Decision::new(self, question, &self.requirements);
        let configured = decision.configured()?;
        refused.extend(decision.refused_profile());
        refused.extend(self.refused_settings());
        let sandbox = self.limit_sandbox(question, configured, approval.value, &mut refused)?;
        let rules = super::rules_file::files(self, sources);
        if question.surface == Surface::Exec
            && let Some(error) = super::rules_file::first_broken(&rules, sources)
        {
            return Err(error);
        }
        Ok(Policy {
            approval,
            reviewer,
            sandbox,
            servers: servers::servers(self),
            hooks: hooks::hooks(self, sources),
            rules,
            refused,
        })
    }

    /// Configured values that a requirement fixes otherwise.
    fn refused_settings(&self) -> impl Iterator<Item = Refused> {
        self.requirements.settings.iter().filter_map(|fixed| {
            let found = self.merged.get(&[fixed.name])?;
            let old = &found.overrode.first()?.value;
            (fixed.key.parts().len() == 1 && *old != fixed.required.value).then(|| Refused {
                what: fixed.name,
                configured: answer_text(old),
                fallback: answer_text(&fixed.required.value),
                place: fixed.required.place.clone(),
            })
        })
    }

    fn approval(&self, question: &Question, reviewer: Reviewer) -> Decided<ApprovalPolicy> {
        let path = ["approval_policy"];
        let deciding = approvals::deciding_key(&self.merged);
        let configured = self
            .merged
            .get(&path)
            .and_then(|found| ApprovalPolicy::parse(&found.value(), self.version));
        // `exec` asks nobody, unless a reviewer answers (scenarios `reviewer-auto`,
        // `prec-user-exec-flag`).
        let somebody_answers =
            reviewer == Reviewer::AutoReview && self.version.has(Change::ExecAsksReviewer);
        let session = match (question.surface, question.approval) {
            (_, Some(policy)) => Some((policy, "approval policy of the session")),
            (Surface::Exec, None) if !somebody_answers => {
                Some((ApprovalPolicy::Never, "`codex exec` asks nobody"))
            }
            _ => None,
        };
        let (value, by) = match (session, configured, self.trust.level) {
            (Some((policy, why)), _, _) => (policy, By::Session(why)),
            (None, Some(policy), _) => (
                policy,
                self.origin(deciding)
                    .map_or(By::Default("no layer says otherwise"), By::Layer),
            ),
            (None, None, Level::Untrusted) => (
                ApprovalPolicy::Untrusted,
                By::Default("the folder is marked untrusted"),
            ),
            (None, None, _) => (
                ApprovalPolicy::OnRequest,
                By::Default("no layer says otherwise"),
            ),
        };
        Decided {
            value,
            by,
            overrode: self.overridden(deciding),
        }
    }

    fn reviewer(&self, question: &Question, refused: &mut Vec<Refused>) -> Decided<Reviewer> {
        let path = ["approvals_reviewer"];
        let configured = self
            .merged
            .get(&path)
            .and_then(|found| sandbox::value_word(&found.value()))
            .and_then(|word| Reviewer::parse(&word));
        let (value, by) = match (question.reviewer, configured) {
            (Some(reviewer), _) => (reviewer, By::Session("reviewer of the session")),
            (None, Some(reviewer)) => (
                reviewer,
                self.origin(&path)
                    .map_or(By::Default("no layer says otherwise"), By::Layer),
            ),
            (None, None) => (Reviewer::User, By::Default("no layer says otherwise")),
        };
        let version = self.version;
        limit(
            Decided {
                value,
                by,
                overrode: self.overridden(&path),
            },
            self.requirements.reviewers.as_ref(),
            "approvals_reviewer",
            |reviewer| reviewer.word(version).to_owned(),
            |reviewer| Value::from(reviewer.word(version)),
            refused,
        )
    }

    /// A mode that is not allowed becomes read-only (scenario `req-sandbox-fallback`).
    fn limit_sandbox(
        &self,
        question: &Question,
        configured: Decided<Sandbox>,
        approval: ApprovalPolicy,
        refused: &mut Vec<Refused>,
    ) -> Result<Decided<Sandbox>, StartError> {
        let mode = configured.value.reach.mode();
        let by_mode = self
            .requirements
            .sandbox_modes
            .as_ref()
            .filter(|allowed| !allowed.value.contains(&mode))
            .map(|allowed| &allowed.place);
        let by_denial = self
            .requirements
            .deny_read
            .as_ref()
            .filter(|_| mode == SandboxMode::DangerFullAccess);
        let Some(place) = by_mode.or(by_denial) else {
            return Ok(configured);
        };
        if mode == SandboxMode::DangerFullAccess
            && approval == ApprovalPolicy::Never
            && (question.surface == Surface::Exec || self.version.has(Change::NeverNeedsSandbox))
        {
            return Err(StartError {
                message: "`never` cannot stand with a sandbox that requirements refuse".to_owned(),
                place: None,
                key: Some(KeyPath::new(["approval_policy"])),
            });
        }
        refused.push(Refused {
            what: "sandbox",
            configured: configured.value.word().to_owned(),
            fallback: "read-only".to_owned(),
            place: place.clone(),
        });
        let mut overrode = configured.overrode;
        if let By::Layer(old) = configured.by {
            overrode.insert(
                0,
                Overridden {
                    place: old,
                    value: Value::from(configured.value.word()),
                },
            );
        }
        Ok(Decided {
            value: Sandbox::read_only(None),
            by: By::Requirement(place.clone()),
            overrode,
        })
    }
}

/// A value for a sentence: a string without its quotes.
fn answer_text(value: &Value) -> String {
    json::plain(value)
        .as_str()
        .map_or_else(|| json::plain(value).to_string(), str::to_owned)
}

/// Holds a value against a list: what is not on it becomes the first of the list (scenario
/// `req-approval-fallback-first`).
fn limit<T: PartialEq + Copy>(
    decided: Decided<T>,
    allowed: Option<&Required<Vec<T>>>,
    what: &'static str,
    word: impl Fn(&T) -> String,
    value: impl Fn(T) -> Value,
    refused: &mut Vec<Refused>,
) -> Decided<T> {
    let Some(allowed) = allowed else {
        return decided;
    };
    let Some(first) = allowed.value.first().copied() else {
        return decided;
    };
    if allowed.value.contains(&decided.value) {
        return decided;
    }
    if !matches!(decided.by, By::Default(_)) {
        refused.push(Refused {
            what,
            configured: word(&decided.value),
            fallback: word(&first),
            place: allowed.place.clone(),
        });
    }
    let mut overrode = decided.overrode;
    if let By::Layer(old) = decided.by {
        overrode.insert(
            0,
            Overridden {
                place: old,
                value: value(decided.value),
            },
        );
    }
    Decided {
        value: first,
        by: By::Requirement(allowed.place.clone()),
        overrode,
    }
}

#[cfg(test)]
mod tests {
    use super::super::layer::{CONFIG_TOML, MANAGED_CONFIG_TOML};
    use super::super::site::{Environment, Site};
    use super::*;
    use std::fs;
    use std::path::Path;

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
