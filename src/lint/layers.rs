//! The view over all files of a run at once: what is in force when Codex lays them on each other.
//!
//! [`Layers`] asks [`Effective`] about the files that the run has read, and no others: a file that
//! is not judged counts as absent, so that a project is judged alone unless `--scope all` brings
//! the user's and the system's files. A project that nobody has marked is taken as trusted, since a
//! thread may trust it by itself. A rule says where it found something by path, and its findings
//! join those of that file.
//!
//! It looks from the working folder: a `.codex` below it is a layer only for a thread that starts
//! there, and that is not asked.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::file::{Content, Kind, Source};
use super::finding::{Finding, Findings, Mark};
use super::registry::RULES;
use super::server::approves;
use super::{Check, Severity};
use crate::codex::Site;
use crate::codex::Sources;
use crate::codex::effective::hooks::HOOKS_JSON;
use crate::codex::effective::{Data, Effective, Merged, Policy, Question};
use crate::codex::layer::{
    self, CONFIG_TOML, Layer, MANAGED_CONFIG_TOML, Place, REQUIREMENTS_TOML,
};
use crate::codex::site::DOT_CODEX;
use crate::codex::trust::Level;
use crate::codex::version::Version;
use crate::document::{KeyPath, Node, Value};

/// Whose files are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// The project's.
    #[default]
    Project,
    /// The user's and the system's, too, and all of them laid on each other.
    All,
}

/// Rules about a value that harms only where it is in force.
const HARMLESS_WHERE_OVERRIDDEN: &[&str] =
    &["approval-value-removed", "key-wrong-type", "value-invalid"];

/// The view of all files.
#[derive(Debug)]
pub struct Layers<'a> {
    site: &'a Site,
    scope: Scope,
    version: Version,
    sources: &'a [Source],
    by_path: HashMap<&'a Path, usize>,
    read: Sources,
    effective: Effective,
}

/// The findings of rules about all files, each with its file.
#[derive(Debug)]
pub struct Spread<'a> {
    sources: &'a [Source],
    by_path: HashMap<&'a Path, usize>,
    found: HashMap<usize, Findings<'a>>,
}

/// What judging all files together came to.
#[derive(Debug, Default)]
pub struct Outcome {
    found: HashMap<PathBuf, Vec<Finding>>,
    now: Option<Effective>,
    shown: HashMap<PathBuf, String>,
}

/// Asks the rules about layers.
pub fn judge(site: &Site, sources: &[Source], version: Version, scope: Scope) -> Outcome {
    if !sources.iter().any(|source| is_layer(source.subject.kind)) {
        return Outcome::default();
    }
    let (layers, now) = Layers::new(site, sources, version, scope);
    let mut spread = Spread {
        sources,
        by_path: layers.by_path.clone(),
        found: HashMap::new(),
    };
    for check in RULES.iter().flat_map(|rule| rule.checks()) {
        if let Check::Layers(check) = check {
            check(&layers, &mut spread);
        }
    }
    let found = spread
        .found
        .into_iter()
        .map(|(at, found)| (sources[at].subject.path.clone(), found.into_sorted()))
        .collect();
    Outcome {
        found,
        now: (scope == Scope::All).then_some(now),
        shown: sources
            .iter()
            .map(|source| (source.subject.path.clone(), source.subject.shown.clone()))
            .collect(),
    }
}

const fn is_layer(kind: Kind) -> bool {
    kind.is_toml() || matches!(kind, Kind::Hooks)
}

impl Outcome {
    /// What was found in the file at `path`.
    pub fn of(&self, path: &Path) -> &[Finding] {
        self.found.get(path).map_or(&[], Vec::as_slice)
    }

    /// Says of findings in one file what they come to with the others: milder where a stronger layer
    /// overrides a value or another one completes it, graver where none does. Their keys must be
    /// stamped.
    pub fn weigh(&self, path: &Path, findings: &mut [Finding]) {
        let Some(now) = &self.now else { return };
        let pins = &now.requirements;
        let is_pinned = pins.sandbox_modes.is_some() || pins.approvals.is_some();
        for finding in findings.iter_mut() {
            if finding.rule.id == "requirements-not-read" {
                finding.note(if is_pinned {
                    "the system has a pin of its own, which is in force"
                } else {
                    "no pin of the system is in force"
                });
            }
        }
        let layer = now
            .layers
            .iter()
            .position(|layer| layer.file.as_deref() == Some(path) && layer.disabled.is_none());
        let Some(layer) = layer else { return };
        for finding in findings {
            weigh_half(now, finding);
            if !HARMLESS_WHERE_OVERRIDDEN.contains(&finding.rule.id) {
                continue;
            }
            let Some(over) = overriding(now, layer, finding.key.parts()) else {
                continue;
            };
            let place = over.key_place(&finding.key);
            let path = place.path.as_deref().unwrap_or(Path::new(""));
            let shown = self.shown.get(path);
            let shown = shown.cloned().unwrap_or_else(|| path.display().to_string());
            finding.severity(Severity::Info).note(format!(
                "harmless here: `{shown}:{}` overrides it; without that Codex does not start",
                place.line
            ));
        }
    }
}

/// What one file lacks, another one may have; whom one file silences, another one may define.
fn weigh_half(now: &Effective, finding: &mut Finding) {
    let key: Vec<&str> = finding.key.parts().iter().map(String::as_str).collect();
    let has = |path: &[&str]| now.merged.get(path).is_some();
    let granular = ["approval_policy", "granular"];
    let is_whole = match (finding.rule.id, key.as_slice()) {
        ("server-no-transport", ["mcp_servers", name, ..]) => ["command", "url"]
            .iter()
            .any(|way| has(&["mcp_servers", name, way])),
        ("granular-incomplete", [policy, word]) if [*policy, *word] == granular => {
            if !has(&granular) {
                return;
            }
            ["sandbox_approval", "rules", "mcp_elicitations"]
                .iter()
                .all(|switch| has(&[granular[0], granular[1], switch]))
        }
        ("elicitations-off", _) => {
            let servers = now.merged.get(&["mcp_servers"]).and_then(Merged::members);
            if servers
                .into_iter()
                .flatten()
                .any(|(name, server)| is_ours(name, &server.value()))
            {
                finding.severity(Severity::Error);
            }
            return;
        }
        _ => return,
    };
    if is_whole {
        finding
            .severity(Severity::Info)
            .note("here another layer has the rest");
    } else {
        finding.severity(Severity::Error);
    }
}

/// Whether a server's table is that of our own.
fn is_ours(name: &str, server: &Value) -> bool {
    let args = server.get(&["args"]).and_then(Value::as_array);
    let first = args.and_then(<[Value]>::first).and_then(Value::as_str);
    let command = server.get(&["command"]).and_then(Value::as_str);
    approves(name, command, first)
}

/// The layer that covers what the layer with index `at` says at `path`.
fn overriding<'e>(effective: &'e Effective, at: usize, path: &[String]) -> Option<&'e Layer> {
    let mut node = &effective.merged;
    for part in path {
        let Data::Table(members) = &node.data else {
            break;
        };
        let Some(member) = members.get(part) else {
            break;
        };
        node = member;
    }
    let covered = node.overrode.iter().any(|old| old.layer == at);
    let above = effective.layers.get(node.layer)?;
    (covered && node.layer > at && !path.is_empty()).then_some(above)
}

impl<'a> Layers<'a> {
    /// The view, and the answer without taking any project as trusted.
    fn new(
        site: &'a Site,
        sources: &'a [Source],
        version: Version,
        scope: Scope,
    ) -> (Self, Effective) {
        let by_path: HashMap<&Path, usize> = sources
            .iter()
            .enumerate()
            .map(|(at, source)| (source.subject.path.as_path(), at))
            .collect();
        let read = only(site, |path| by_path.get(path).map(|at| &sources[*at]));
        let mut question = Question {
            version,
            ..Question::default()
        };
        let now = Effective::resolve(&read, &question);
        let effective = if now.before().trust.level == Level::Unknown {
            question.trusted = Some(true);
            Effective::resolve(&read, &question)
        } else {
            now.clone()
        };
        let layers = Self {
            site,
            scope,
            version,
            sources,
            by_path,
            read,
            effective,
        };
        (layers, now)
    }

    /// The version of Codex that is asked about.
    pub const fn version(&self) -> Version {
        self.version
    }

    /// The folders that count.
    pub const fn site(&self) -> &'a Site {
        self.site
    }

    /// Whether the user's files are at hand.
    pub fn knows_user(&self) -> bool {
        self.scope == Scope::All
    }

    /// The files as they were read, for those who ask Codex's model more.
    pub const fn read(&self) -> &Sources {
        &self.read
    }

    /// What is in force.
    pub const fn effective(&self) -> &Effective {
        &self.effective
    }

    /// What is in force, where Codex starts.
    pub const fn policy(&self) -> Option<&Policy> {
        self.effective.policy()
    }

    /// The files of a kind.
    pub fn files(&self, kind: Kind) -> impl Iterator<Item = &'a Source> {
        self.sources
            .iter()
            .filter(move |source| source.subject.kind == kind)
    }

    /// The file at `path`.
    pub fn file(&self, path: &Path) -> Option<&'a Source> {
        self.by_path.get(path).map(|at| &self.sources[*at])
    }

    /// The layer with this index in the merged tree.
    pub fn layer(&self, at: usize) -> Option<&Layer> {
        self.effective.layers.get(at)
    }

    /// The layers that count, weak to strong.
    pub fn counting(&self) -> impl Iterator<Item = (usize, &Layer)> {
        let layers = self.effective.layers.iter().enumerate();
        layers.filter(|(_, layer)| layer.disabled.is_none())
    }

    /// The merged servers by name.
    pub fn servers(&self) -> impl Iterator<Item = (&str, &Merged)> {
        let servers = self.effective.merged.get(&["mcp_servers"]);
        let servers = servers.and_then(Merged::members).into_iter().flatten();
        servers.map(|(name, server)| (name.as_str(), server))
    }

    /// Whether the server `name` is our own in any layer.
    pub fn is_approver(&self, name: &str) -> bool {
        approves(name, None, None)
            || self.counting().any(|(_, layer)| {
                let value = layer.value();
                let server = value.get(&["mcp_servers", name]);
                server.is_some_and(|server| is_ours(name, server))
            })
    }

    /// The place for a message: file and line.
    pub fn place(&self, place: &Place) -> String {
        let Some(path) = &place.path else {
            return "a flag".to_owned();
        };
        format!("`{}:{}`", self.shown(path), place.line)
    }

    /// A path for a message.
    pub fn shown(&self, path: &Path) -> String {
        self.file(path).map_or_else(
            || path.display().to_string(),
            |source| source.subject.shown.clone(),
        )
    }

    /// What would be in force in the project's folder above `pin`, out of its config.toml alone,
    /// if `limits` stood in the system's requirements.
    pub fn under(&self, pin: &Path, limits: &str) -> Option<Effective> {
        let dot_codex = pin.parent()?;
        let config = dot_codex.join(CONFIG_TOML);
        let mut site = self.site.clone();
        site.cwd = dot_codex.parent()?.to_path_buf();
        let source = self.file(&config)?;
        let read = only(&site, |path| (*path == config).then_some(source)).with(
            site.system.join(REQUIREMENTS_TOML),
            Some(limits.as_bytes().to_vec()),
        );
        let question = Question {
            version: self.version,
            trusted: Some(true),
            ..Question::default()
        };
        Some(Effective::resolve(&read, &question))
    }
}

/// Codex's files of `site`, each as `source` has it, and absent where it has none.
fn only<'s>(site: &Site, source: impl Fn(&Path) -> Option<&'s Source>) -> Sources {
    let mut folders = vec![site.system.clone()];
    folders.extend(site.codex_home.clone());
    folders.extend(site.cwd.ancestors().map(|folder| folder.join(DOT_CODEX)));
    let names = [
        CONFIG_TOML,
        HOOKS_JSON,
        MANAGED_CONFIG_TOML,
        REQUIREMENTS_TOML,
    ];
    let paths = folders
        .iter()
        .flat_map(|folder| names.map(|name| folder.join(name)));
    paths.fold(Sources::read(site), |read, path| {
        let bytes = match source(&path).map(|source| (&source.content, source.text())) {
            None => None,
            Some((Content::NotText { bytes }, _)) => Some(bytes.clone()),
            // What could not be read then cannot be read now.
            Some((Content::Unreadable { .. }, _)) => return read,
            Some((_, text)) => Some(text.as_bytes().to_vec()),
        };
        read.with(path, bytes)
    })
}

impl<'a> Spread<'a> {
    /// The findings of the file at `path`, if it is judged.
    pub fn at(&mut self, path: &Path) -> Option<&mut Findings<'a>> {
        let at = *self.by_path.get(path)?;
        let sources = self.sources;
        Some(
            self.found
                .entry(at)
                .or_insert_with(|| Findings::new(&sources[at])),
        )
    }

    /// Adds a finding at `place`, if its file is judged.
    pub fn add(&mut self, rule: &'static super::Rule, place: &Place) -> Option<&mut Finding> {
        let found = self.at(place.path.as_deref()?)?;
        Some(found.add(rule, Mark::Span(place.span)))
    }
}

/// The node of a handler in a hooks.json or a config.toml.
pub fn handler_node<'s>(
    source: &'s Source,
    event: &str,
    group: usize,
    index: usize,
) -> Option<&'s Node> {
    let root = match &source.content {
        Content::Toml(document) => document.root(),
        Content::Json(json) => &json.root,
        _ => return None,
    };
    let group = root.child("hooks")?.child(event)?.as_array()?.get(group)?;
    group.child("hooks")?.as_array()?.get(index)
}

/// The path of a key below a server.
pub fn server_key(name: &str, below: &[&str]) -> KeyPath {
    KeyPath::new(["mcp_servers", name].iter().chain(below).copied())
}

/// Whether a layer comes with a repository.
pub const fn is_project(layer: &Layer) -> bool {
    matches!(layer.kind, layer::Kind::Project)
}
