//! Reads the layers in Codex's order and lays them on each other.
//!
//! Which project files count depends on trust, and trust on the layers that are no project's. So
//! system, user, profile and flags are read first and tell where the project begins and whether it
//! is trusted; then come the project's own files.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use super::super::check::{
    check, check_merged, check_text, check_type, normalize, settle, settle_as, unknown,
    unknown_strictly,
};
use super::super::features;
use super::super::keys::{self, Type::Map};
use super::super::layer::{
    CONFIG_TOML, Content, Disabled, HooksFrom, Kind, Layer, MANAGED_CONFIG_TOML, REQUIREMENTS_TOML,
    Sources,
};
use super::super::requirements::Requirements;
use super::super::site::DOT_CODEX;
use super::super::trust::{Entries, Folders, Level, Trust};
use super::super::version::{Change, Version};
use super::merge::Merged;
use super::{
    By, Decided, Dropped, Effective, Policy, Question, Reviewer, Sandbox, StartError, Why,
};
use crate::document::{KeyPath, Value};

/// Keys that Codex takes from no project, dropped before types are looked at (scenarios
/// `project-denylist`, `project-denylist-rest`, `feature-project-denied`), with the version that
/// began it.
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

/// The index of what a requirement fixes, which is no layer.
const FIXED: usize = usize::MAX;

/// Reads everything that `question` is about. `trusting` is a folder to take as trusted, as if the
/// user's file said so.
pub(super) fn load(sources: &Sources, question: &Question, trusting: Option<&str>) -> Effective {
    let mut loader = Loader {
        sources,
        question,
        problem: None,
        dropped: Vec::new(),
    };
    loader.load(trusting)
}

struct Loader<'l> {
    sources: &'l Sources,
    question: &'l Question,
    problem: Option<StartError>,
    dropped: Vec<Dropped>,
}

impl Loader<'_> {
    fn load(&mut self, trusting: Option<&str>) -> Effective {
        let (sources, question) = (self.sources, self.question);
        let site = sources.site();
        let version = question.version;
        let cwd = question.cwd.as_ref().unwrap_or(&site.cwd).clone();

        let flags = self.flags();
        let managed = Layer::read(
            sources,
            Kind::Managed,
            site.system.join(MANAGED_CONFIG_TOML),
        );
        let requirements = self.requirements(&managed);
        let mut layers = self.outer_layers();

        self.normalize(&mut layers);
        let mut before = lay(&layers);
        if !question.flags.is_empty() {
            before.lay(&flags, layers.len());
        }
        if question.version.has(Change::TrustInManaged) {
            before.lay(&managed.value(), layers.len() + 1);
        }
        self.check_early(&before, &layers);
        let markers = before
            .get(&["project_root_markers"])
            .and_then(|found| strings(&found.value()))
            .unwrap_or_else(|| vec![".git".to_owned()]);
        let folders = Folders::find(sources, &cwd, &markers, version);
        let entries = trust_entries(&before, &folders, question.trusted, trusting, version);
        if !question.ignore_projects {
            layers.extend(self.project_layers(&folders, &entries));
        }
        if !question.flags.is_empty() {
            layers.push(Layer {
                kind: Kind::Flags,
                name: None,
                file: None,
                base: cwd.clone(),
                content: Content::Flags(flags),
                disabled: None,
                dropped: Vec::new(),
                hooks_from: None,
                said: None,
            });
        }
        if !matches!(managed.content, Content::Absent) {
            layers.push(managed);
        }
        self.normalize(&mut layers);
        let mut merged = lay(&layers);
        for fixed in &requirements.settings {
            let value = fixed.required.value.clone();
            let whole = fixed.key.parts().iter().rev().fold(value, |value, part| {
                [(part.as_str(), value)].into_iter().collect()
            });
            merged.lay(&whole, FIXED);
        }
        if check_merged(&merged.value(), version).is_ok() {
            settle(&mut merged, version);
        }
        let trust = self.trust(&layers, &folders, trusting);
        if question.strict {
            self.check_strictly(&layers);
        }
        self.note_unknown(&layers, &requirements);
        Effective {
            version,
            cwd,
            home: site.home.clone(),
            codex_home: site.codex_home.clone(),
            layers,
            merged,
            trust,
            requirements,
            starts: match self.problem.take() {
                Some(problem) => Err(problem),
                None => Ok(undecided()),
            },
            dropped: std::mem::take(&mut self.dropped),
            before_thread: None,
        }
    }

    fn blame(&mut self, problem: StartError) {
        self.problem.get_or_insert(problem);
    }

    /// Codex reads each layer by itself, and where that works, writes it out anew.
    fn normalize(&self, layers: &mut [Layer]) {
        let version = self.question.version;
        let home = self.sources.site().home.as_deref();
        for layer in layers.iter_mut().filter(|layer| layer.said.is_none()) {
            let written = layer.written();
            layer.said = Some(if check(&written, version).is_ok() {
                let place = |path: &str| {
                    let path = super::sandbox::resolve_path(path, &layer.base, home);
                    path.to_string_lossy().into_owned()
                };
                normalize(&written, version, &place)
            } else {
                written
            });
        }
    }

    fn flags(&mut self) -> Value {
        match self.question.flags.value(features::is_known) {
            Ok(value) => value,
            Err(error) => {
                self.blame(StartError {
                    message: error.to_string(),
                    place: None,
                    key: None,
                });
                Value::Table(IndexMap::new())
            }
        }
    }

    fn requirements(&mut self, managed: &Layer) -> Requirements {
        // The name of a layer is not asked for here, only where things stand.
        let mut file = Layer::read(
            self.sources,
            Kind::System,
            self.sources.site().system.join(REQUIREMENTS_TOML),
        );
        file.name = Some("requirements");
        for layer in [&file, managed] {
            if let Some(problem) = unreadable(layer) {
                self.blame(problem);
                return Requirements::default();
            }
        }
        let managed = (!matches!(managed.content, Content::Absent)).then_some(managed);
        let host = &self.sources.site().host;
        Requirements::read(&file, managed, host, self.question.version).unwrap_or_else(|error| {
            self.blame(StartError {
                message: error.message,
                key: Some(error.place.key.clone()),
                place: Some(error.place),
            });
            Requirements::default()
        })
    }

    /// The layers that no project can touch.
    fn outer_layers(&mut self) -> Vec<Layer> {
        let site = self.sources.site();
        let mut layers = vec![Layer::read(
            self.sources,
            Kind::System,
            site.system.join(CONFIG_TOML),
        )];
        if let Some(home) = &site.codex_home {
            let mut user = Layer::read(self.sources, Kind::User, home.join(CONFIG_TOML));
            if self.question.ignore_user {
                user.content = Content::Absent;
            }
            if let Some(name) = &self.question.profile {
                self.check_profile(name, &user);
                let file = home.join(format!("{name}.{CONFIG_TOML}"));
                let profile = Layer::read(self.sources, Kind::Profile(name.clone()), file);
                layers.push(user);
                layers.push(profile);
            } else {
                layers.push(user);
            }
        }
        for layer in &layers {
            if let Some(problem) = unreadable(layer) {
                self.problem.get_or_insert(problem);
            }
        }
        layers
    }

    /// Scenarios `profile-name-path`, `profile-table-p`.
    fn check_profile(&mut self, name: &str, user: &Layer) {
        let is_plain = !name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
        if !is_plain {
            self.blame(StartError {
                message: format!("`-p {name}` is no plain name"),
                place: None,
                key: None,
            });
        }
        let value = user.value();
        let chosen = value.get(&["profile"]).and_then(Value::as_str) == Some(name);
        if chosen || value.get(&["profiles", name]).is_some() {
            self.blame(StartError {
                message: format!(
                    "`-p {name}` cannot be used while the user's file has `profile` or `[profiles.{name}]`"
                ),
                place: Some(Box::new(user.place(&KeyPath::new(["profiles", name])))),
                key: None,
            });
        }
    }

    /// What must be right before the project can be looked for.
    fn check_early(&mut self, before: &Merged, layers: &[Layer]) {
        for name in ["project_root_markers", "projects"] {
            let (Some(found), Some(key)) = (before.get(&[name]), keys::ROOT.key(name)) else {
                continue;
            };
            if check_type(&found.value(), &key.value, self.question.version).is_ok() {
                continue;
            }
            let blamed = layers.iter().find_map(|layer| {
                let value = layer.document()?.root().value();
                let problem = check_text(&value, self.question.version).err()?;
                Some((layer.place(&problem.path), problem))
            });
            let (place, message, key) = match blamed {
                Some((place, problem)) => (Some(Box::new(place)), problem.message, problem.path),
                None => (
                    None,
                    format!("`{name}` is not what Codex wants"),
                    KeyPath::new([name]),
                ),
            };
            self.blame(StartError {
                message,
                place,
                key: Some(key),
            });
        }
    }

    fn project_layers(&mut self, folders: &Folders, entries: &Entries) -> Vec<Layer> {
        let home = self.sources.site().codex_home.clone();
        let mut layers = Vec::new();
        for folder in folders.projects(self.sources) {
            if is_codex_home(home.as_deref(), &folder) {
                continue;
            }
            let file = folder.join(DOT_CODEX).join(CONFIG_TOML);
            let mut layer = Layer::read(self.sources, Kind::Project, file);
            let entry = folders.entry(entries, &folder);
            let level = entries.level(entry);
            layer.disabled = match level {
                Level::Trusted => None,
                Level::Untrusted | Level::Unknown => Some(Disabled {
                    level,
                    key: entry.map_or_else(|| folders.named(), str::to_owned),
                }),
            };
            if let Some(problem) = unreadable_project(&layer) {
                self.blame(problem);
            }
            if layer.disabled.is_none()
                && let Some(main) = folders.main_folder(&folder)
            {
                layer.hooks_from = Some(self.hooks_of(main.join(DOT_CODEX)));
            }
            sanitize(&mut layer, self.question.version, &mut self.dropped);
            layers.push(layer);
        }
        layers
    }

    /// The hooks of a linked work tree, from the main one's folder `base`.
    fn hooks_of(&mut self, base: PathBuf) -> HooksFrom {
        let layer = Layer::read(self.sources, Kind::Project, base.join(CONFIG_TOML));
        if let Some(problem) = unreadable(&layer) {
            self.blame(problem);
        }
        HooksFrom {
            table: layer.written().get(&["hooks"]).cloned(),
            base,
        }
    }

    /// What decides the defaults. Here the administrator's file counts too, in all versions, and so
    /// does a project's own, once it is loaded (scenario `autotrust-project-marks-itself-untrusted`).
    fn trust(&self, layers: &[Layer], folders: &Folders, trusting: Option<&str>) -> Trust {
        let mut merged = Merged::empty();
        let mut written = trusting.map(|key| {
            let level = [("trust_level", Value::from("trusted"))];
            let entry = [(key, level.into_iter().collect::<Value>())];
            let projects = [("projects", entry.into_iter().collect::<Value>())];
            projects.into_iter().collect::<Value>()
        });
        for (index, layer) in layers.iter().enumerate() {
            let is_users = matches!(layer.kind, Kind::System | Kind::User | Kind::Profile(_));
            // What Codex writes stands at the end of the user's file, which is no layer yet.
            if !is_users && let Some(written) = written.take() {
                merged.lay(&written, FIXED);
            }
            if layer.disabled.is_none() {
                merged.lay(&layer.value(), index);
            }
        }
        if let Some(written) = written {
            merged.lay(&written, FIXED);
        }
        let question = self.question;
        let entries = trust_entries(&merged, folders, question.trusted, None, question.version);
        let active = folders.active(&entries);
        Trust {
            level: entries.level(active),
            place: active.and_then(|key| {
                let path = ["projects", key, "trust_level"];
                let found = merged.get(&path)?;
                Some(layers.get(found.layer)?.place(&KeyPath::new(path)))
            }),
            key: folders.target(),
            root: folders.root.clone(),
            is_repository: folders.repository.is_some(),
            automatic: false,
        }
    }

    /// `--strict-config`: each layer by itself, unknown keys too.
    fn check_strictly(&mut self, layers: &[Layer]) {
        let version = self.question.version;
        for layer in layers.iter().filter(|layer| layer.disabled.is_none()) {
            let value = match &layer.content {
                Content::Document(document) => document.root().value(),
                Content::Flags(value) => value.clone(),
                _ => continue,
            };
            let ignored = unknown_strictly(&value, version);
            let (path, message, place) = match check(&value, version) {
                Err(problem) => {
                    let place = layer.place(&problem.path);
                    (problem.path, problem.message, place)
                }
                Ok(()) => match ignored.into_iter().next() {
                    Some(path) => {
                        let place = layer.key_place(&path);
                        (path, "Codex knows no such key".to_owned(), place)
                    }
                    None => continue,
                },
            };
            self.blame(StartError {
                message,
                place: layer.file.is_some().then(|| Box::new(place)),
                key: Some(path),
            });
        }
    }

    fn note_unknown(&mut self, layers: &[Layer], requirements: &Requirements) {
        for layer in layers.iter().filter(|layer| layer.disabled.is_none()) {
            for path in unknown(&layer.written(), self.question.version) {
                self.dropped.push(Dropped {
                    place: layer.key_place(&path),
                    why: Why::UnknownKey,
                });
            }
        }
        for place in &requirements.unknown {
            self.dropped.push(Dropped {
                place: place.clone(),
                why: Why::UnknownKey,
            });
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

fn trust_entries(
    merged: &Merged,
    folders: &Folders,
    assumed: Option<bool>,
    trusting: Option<&str>,
    version: Version,
) -> Entries {
    let mut entries = Entries::default();
    let projects = merged.get(&["projects"]).cloned();
    let projects = projects.map(|mut found| {
        settle_as(&mut found, &Map(&keys::PROJECT), version);
        found
    });
    let projects = projects.as_ref().and_then(Merged::members);
    for (path, project) in projects.into_iter().flatten() {
        let word = project.get(&["trust_level"]).and_then(Merged::text);
        let level = match word {
            Some("trusted") => Level::Trusted,
            Some("untrusted") => Level::Untrusted,
            _ => continue,
        };
        entries.0.insert(path.clone(), level);
    }
    if let Some(key) = trusting {
        entries.0.insert(key.to_owned(), Level::Trusted);
    }
    if let Some(trusted) = assumed {
        entries.0.clear();
        let level = if trusted {
            Level::Trusted
        } else {
            Level::Untrusted
        };
        for folder in [folders.target(), folders.root.clone(), folders.cwd.clone()] {
            let key = folder.to_string_lossy().into_owned();
            entries.0.insert(key, level);
        }
    }
    entries
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
    let here = folder.join(DOT_CODEX);
    home.is_some_and(|home| {
        home == here
            || matches!((home.canonicalize(), here.canonicalize()), (Ok(a), Ok(b)) if a == b)
    })
}

/// What stops Codex in a file of system, user or administrator.
fn unreadable(layer: &Layer) -> Option<StartError> {
    let mut place = layer.place(&KeyPath::root());
    let message = match &layer.content {
        Content::Broken { error, at } => {
            place.span = error.span;
            place.line = at.line;
            place.column = at.column;
            error.message.clone()
        }
        Content::NotUtf8 { valid } => format!("not UTF-8 after {valid} bytes"),
        Content::Unreadable { why } => why.clone(),
        Content::Absent | Content::Document(_) | Content::Flags(_) => return None,
    };
    Some(StartError {
        message,
        place: Some(Box::new(place)),
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

/// Whether Codex takes the key at `path` from no project.
pub fn is_denied_in_projects(path: &[&str], version: Version) -> bool {
    DENIED_IN_PROJECTS
        .iter()
        .any(|(denied, since)| *denied == path && since.is_none_or(|change| version.has(change)))
}

/// Drops what Codex takes from no project, and notes it with the rest of a disabled layer.
fn sanitize(layer: &mut Layer, version: Version, dropped: &mut Vec<Dropped>) {
    let value = layer.written();
    for (path, since) in DENIED_IN_PROJECTS {
        if since.is_none_or(|change| version.has(change)) && value.get(path).is_some() {
            let key = KeyPath::new(path.iter().copied());
            dropped.push(Dropped {
                place: layer.key_place(&key),
                why: Why::DeniedInProjects,
            });
            layer.dropped.push(key);
        }
    }
    let Some(disabled) = &layer.disabled else {
        return;
    };
    let why = match disabled.level {
        Level::Untrusted => Why::ProjectUntrusted,
        Level::Unknown | Level::Trusted => Why::ProjectUnknown,
    };
    for name in layer
        .value()
        .as_table()
        .into_iter()
        .flat_map(IndexMap::keys)
    {
        dropped.push(Dropped {
            place: layer.key_place(&KeyPath::new([name.as_str()])),
            why,
        });
    }
}

/// Stands in until everything is read.
fn undecided() -> Policy {
    let by = By::Default("no layer says otherwise");
    Policy {
        approval: Decided {
            value: super::ApprovalPolicy::OnRequest,
            by: by.clone(),
            overrode: Vec::new(),
        },
        reviewer: Decided {
            value: Reviewer::User,
            by: by.clone(),
            overrode: Vec::new(),
        },
        sandbox: Decided {
            value: Sandbox::read_only(None),
            by,
            overrode: Vec::new(),
        },
        servers: Vec::new(),
        hooks: Vec::new(),
        rules: Vec::new(),
        refused: Vec::new(),
    }
}
