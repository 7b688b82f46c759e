//! What `uninstall` would change: the inverse of `install`.
//!
//! With a record, the bytes of each step go back: exactly where the text is still the one that
//! install left, by finding the inserted bytes where other parts changed, and by value where
//! they were changed in form. A key of ours that now has another value is a collision. Without a
//! record it works by value, and the plan's notes say what cannot be known.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use crate::codex::Site;
use crate::codex::effective::hooks::HOOKS_JSON;
use crate::codex::effective::{Effective, Question, Surface};
use crate::codex::layer::{CONFIG_TOML, REQUIREMENTS_TOML, Sources};
use crate::document::edit::{self, Edit};
use crate::document::{Change, Document, KeyPath, Node, Span, Value, compare, place};
use crate::files::Found;

use super::draft::{Action, Draft, PRIVATE, SHARED};
use super::parts::{approver, guide, hooks, pin, program, rule, trust};
use super::record::{Entry, Record, Store, digest};
use super::{
    Collision, CollisionKind, Error, OnCollision, Part, PlainDraft, Plan, Scope, Skipped, Source,
    judge, source_of,
};

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Whose files.
    pub scopes: Vec<Scope>,
    /// These servers alone; none means all that install wrote.
    pub servers: Vec<String>,
    /// What to do where a key of ours now has another value.
    pub on_collision: OnCollision,
}

/// A record that is to change with the plan.
#[derive(Debug, Clone)]
pub struct RecordChange {
    /// The record's file.
    pub file: PathBuf,
    /// The file as it was read.
    pub found: Found,
    /// The record afterwards; none where nothing is left in it.
    pub record: Option<Record>,
}

/// Makes the plan, and the records that change with it.
///
/// # Errors
/// A file that cannot be read or does not parse, a record that is not one, a scope that is not
/// there.
pub fn plan(
    site: &Site,
    request: &Request,
    store: Option<&Store>,
) -> Result<(Plan, Vec<RecordChange>), Error> {
    if request.scopes.contains(&Scope::Project) && site.project_is_codex_home() {
        return Err(Error::ProjectIsHome {
            path: site.dot_codex(),
        });
    }
    let mut work = Work {
        site,
        request,
        plan: Plan::default(),
        records: Vec::new(),
        done: Vec::new(),
        plain: Vec::new(),
        trust_path: trust_path(site, request),
        trust_only: false,
        hook_keys: Vec::new(),
    };
    work.find_hook_keys()?;
    for scope in &request.scopes {
        let Some(folder) = folder(site, *scope) else {
            if request.servers.is_empty() {
                continue;
            }
            return Err(Error::NoHome);
        };
        for name in [CONFIG_TOML, REQUIREMENTS_TOML] {
            work.file(*scope, &folder, &folder.join(name), store)?;
        }
    }
    if !request.servers.is_empty() {
        return Ok(work.finish());
    }
    if request.scopes.contains(&Scope::Project) {
        work.plain(&site.dot_codex().join(HOOKS_JSON), &Part::Hooks, store)?;
        work.plain(&site.project.join(guide::FILE), &Part::Guide, store)?;
    }
    // What an install of this project wrote into Codex's home.
    if let Some(home) = &site.codex_home {
        if request.scopes.contains(&Scope::Project) && !request.scopes.contains(&Scope::User) {
            work.trust(home, store)?;
        }
        let rule_too = [Scope::Project, Scope::User]
            .iter()
            .any(|scope| request.scopes.contains(scope));
        if rule_too {
            work.rule(home, store)?;
        }
    }
    Ok(work.finish())
}

/// Where an install of this project says that it is trusted, if this uninstall covers that.
fn trust_path(site: &Site, request: &Request) -> Option<KeyPath> {
    if !request.servers.is_empty() || !request.scopes.contains(&Scope::Project) {
        return None;
    }
    let root = Effective::resolve(&Sources::read(site), &Question::default())
        .trust
        .key;
    trust::path_for(&root)
}

fn folder(site: &Site, scope: Scope) -> Option<PathBuf> {
    match scope {
        Scope::Project => Some(site.dot_codex()),
        Scope::User => site.codex_home.clone(),
        Scope::System => Some(site.system.clone()),
    }
}

/// The servers that a record knows, and the folders that go with its file, if it goes.
type Recorded = (Vec<String>, Option<Vec<PathBuf>>);

struct Work<'a> {
    site: &'a Site,
    request: &'a Request,
    plan: Plan,
    records: Vec<RecordChange>,
    /// The drafts, and for a file that goes the folders that go with it.
    done: Vec<(Draft, Option<Vec<PathBuf>>)>,
    /// The same of files that are not TOML.
    plain: Vec<(PlainDraft, Option<Vec<PathBuf>>)>,
    trust_path: Option<KeyPath>,
    /// Whether only what a project's install wrote into the user's file is meant.
    trust_only: bool,
    /// The keys of `[hooks.state]` that are about handlers of ours in this project.
    hook_keys: Vec<String>,
}

impl Work<'_> {
    fn wants(&self, part: &Part, path: &KeyPath) -> bool {
        match part {
            Part::Trust => self.trust_path.as_ref() == Some(path),
            Part::Hooks => {
                // Trust in the user's file goes with the project's hooks that it is about.
                let state = match path.parts() {
                    [hooks, state, key, _] if hooks == "hooks" && state == "state" => Some(key),
                    _ => None,
                };
                let dot = self.site.dot_codex();
                self.request.servers.is_empty()
                    && state.is_none_or(|key| {
                        self.request.scopes.contains(&Scope::Project)
                            && Path::new(key).starts_with(&dot)
                    })
            }
            _ if self.trust_only => false,
            _ if self.request.servers.is_empty() => true,
            Part::Server(name) => self.request.servers.contains(name),
            _ => false,
        }
    }

    fn file(
        &mut self,
        scope: Scope,
        folder: &Path,
        file: &Path,
        store: Option<&Store>,
    ) -> Result<(), Error> {
        let inside = (scope == Scope::Project).then_some(self.site.project.as_path());
        let mode = if scope == Scope::User {
            PRIVATE
        } else {
            SHARED
        };
        let mut draft = Draft::open(file, inside, mode)?;
        if !draft.exists() {
            return Ok(());
        }
        let recorded = match store {
            Some(store) => self.by_record(&mut draft, store)?,
            None => None,
        };
        let unknown = recorded.is_none();
        let (known, mut gone) = recorded.unwrap_or_default();
        self.by_value(&mut draft, &known);
        let emptied = !draft.steps().is_empty() && draft.document().text().is_empty();
        if emptied && unknown {
            self.plan.notes.push(format!(
                "`{}` has nothing else in it and goes; there is no record of whether it was there before",
                file.display()
            ));
            let folders = (scope == Scope::Project).then(|| folder.to_path_buf());
            gone = Some(folders.into_iter().collect());
        }
        self.done.push((draft, gone));
        Ok(())
    }

    /// What the record has, where there is one. Returns the servers that it knows, and the folders
    /// that go with the file if install had created it and nothing is left in it.
    fn by_record(&mut self, draft: &mut Draft, store: &Store) -> Result<Option<Recorded>, Error> {
        let (Some(record), found) = store.load(draft.path())? else {
            return Ok(None);
        };
        let known = record
            .steps
            .iter()
            .filter_map(|entry| match entry.part() {
                Some(Part::Server(name)) => Some(name),
                Some(Part::Approver) => Some(approver::NAME.to_owned()),
                _ => None,
            })
            .collect();
        let left = self.undo(draft, &record);
        let gone = (record.created && left.is_empty() && draft.document().text().is_empty())
            .then(|| record.folders.iter().rev().cloned().collect());
        if left.len() != record.steps.len() {
            let mut changed = record;
            changed.steps = left;
            self.records.push(RecordChange {
                file: store.file_of(draft.path()),
                found,
                record: (!changed.steps.is_empty()).then_some(changed),
            });
        }
        Ok(Some((known, gone)))
    }

    fn trust(&mut self, home: &Path, store: Option<&Store>) -> Result<(), Error> {
        let mut draft = Draft::open(&home.join(CONFIG_TOML), None, PRIVATE)?;
        if draft.exists() {
            self.trust_only = true;
            let recorded = match store {
                Some(store) => self.by_record(&mut draft, store)?,
                None => None,
            };
            self.trust_only = false;
            self.hook_trust(&mut draft);
            self.done.push((draft, recorded.unwrap_or_default().1));
        }
        Ok(())
    }

    /// Trust of our own handlers that no record knows.
    fn hook_trust(&mut self, draft: &mut Draft) {
        for key in self.hook_keys.clone() {
            let path = KeyPath::new(["hooks", "state", &key]);
            let hash = path.join("trusted_hash");
            if draft.document().get(&hash).is_some() {
                let alone = draft
                    .document()
                    .get(&path)
                    .and_then(Node::as_table)
                    .is_some_and(|members| members.len() == 1);
                self.remove(draft, &Part::Hooks, if alone { &path } else { &hash });
            }
        }
    }

    /// Looks where our handlers stand, before they go.
    fn find_hook_keys(&mut self) -> Result<(), Error> {
        if !self.request.scopes.contains(&Scope::Project) || !self.request.servers.is_empty() {
            return Ok(());
        }
        let dot = self.site.dot_codex();
        let json = PlainDraft::open(&dot.join(HOOKS_JSON), Some(&self.site.project), SHARED)?;
        let toml = Draft::open(&dot.join(CONFIG_TOML), Some(&self.site.project), SHARED)?;
        let value = serde_json::from_str(json.text()).unwrap_or_default();
        for ours in &hooks::OURS {
            let in_json = ours
                .positions(&value)
                .into_iter()
                .map(|at| (json.path(), at));
            let in_toml = hooks::toml_positions(ours, toml.document());
            let in_toml = in_toml.into_iter().map(|at| (toml.path(), at));
            for (file, at) in in_json.chain(in_toml) {
                self.hook_keys
                    .push(format!("{}{}", file.display(), ours.state(at)));
            }
        }
        Ok(())
    }

    /// The rule of Codex's home. It serves every project, so it stays while another has the gate.
    fn rule(&mut self, home: &Path, store: Option<&Store>) -> Result<(), Error> {
        let own = self.site.dot_codex().join(CONFIG_TOML);
        let other = match store {
            Some(store) if !self.request.scopes.contains(&Scope::User) => {
                store.other_with(&Part::Approver, &own)
            }
            _ => None,
        };
        let file = home.join(rule::FILE);
        if let Some(other) = other {
            if file.exists() {
                self.plan.notes.push(format!(
                    "the rule in `{}` stays: `{}` has the approver, too",
                    file.display(),
                    other.display()
                ));
            }
            return Ok(());
        }
        self.plain(&file, &Part::Rule, store)
    }

    /// A file that is not TOML: by its record where the text is the one that install left, else by
    /// what is known to be ours.
    fn plain(&mut self, file: &Path, part: &Part, store: Option<&Store>) -> Result<(), Error> {
        let inside = (*part != Part::Rule).then_some(self.site.project.as_path());
        let mut draft = PlainDraft::open(file, inside, SHARED)?;
        let record = match store {
            Some(store) => Some(store.load(file)?),
            None => None,
        };
        let forget = |work: &mut Self, found: Found| {
            if let (Some(store), Found::File(_)) = (store, &found) {
                work.records.push(RecordChange {
                    file: store.file_of(file),
                    found,
                    record: None,
                });
            }
        };
        if !draft.exists() {
            if let Some((_, found)) = record {
                forget(self, found);
            }
            return Ok(());
        }
        let known = record.as_ref().and_then(|(record, _)| record.as_ref());
        let exact = known.is_some_and(|record| {
            record
                .steps
                .iter()
                .rev()
                .all(|entry| undo_plain(&mut draft, part, entry))
        });
        if !exact {
            draft = PlainDraft::open(file, inside, SHARED)?;
            if let Err(why) = by_content(&mut draft, part) {
                self.plain_collision(&draft, part, why);
                return Ok(());
            }
        }
        let created = known.map(|record| record.created);
        let emptied = draft.text().is_empty()
            || (*part == Part::Hooks && draft.changes() && hooks::is_empty(draft.text()));
        let gone = (draft.changes() && emptied && created != Some(false)).then(|| {
            if created.is_none() {
                self.plan.notes.push(format!(
                    "`{}` has nothing else in it and goes; there is no record of whether it was \
                     there before",
                    file.display()
                ));
            }
            known.map_or_else(Vec::new, |record| {
                record.folders.iter().rev().cloned().collect()
            })
        });
        if let Some((_, found)) = record {
            forget(self, found);
        }
        self.plain.push((draft, gone));
        Ok(())
    }

    fn plain_collision(&mut self, draft: &PlainDraft, part: &Part, why: String) {
        let (file, path) = (draft.path().to_path_buf(), KeyPath::root());
        if self.request.on_collision == OnCollision::Skip {
            self.plan.skipped.push(Skipped {
                part: part.clone(),
                file,
                path,
            });
            return;
        }
        self.plan.collisions.push(Collision {
            part: part.clone(),
            path,
            source: Some(Source {
                path: file.clone(),
                text: draft.original().to_owned(),
                span: Span::at(0),
            }),
            file,
            kind: CollisionKind::Taken { why },
            by_hand: String::new(),
            replaceable: false,
        });
    }

    /// Without a record: the servers by name, the pin by its values.
    fn by_value(&mut self, draft: &mut Draft, known: &[String]) {
        for name in &self.request.servers {
            let path = KeyPath::new(["mcp_servers", name]);
            if draft.document().get(&path).is_none() || known.contains(name) {
                continue;
            }
            self.plan.notes.push(format!(
                "there is no record of an install of server `{name}` in `{}`: it goes by its name, \
                 whoever wrote it",
                draft.path().display()
            ));
            self.remove(draft, &Part::Server(name.clone()), &path);
        }
        if !self.request.servers.is_empty() {
            return;
        }
        if draft.path().ends_with(REQUIREMENTS_TOML) {
            for path in pin::present_keys(draft.document()) {
                self.remove(draft, &Part::Pin, &path);
            }
            let identity = draft.document().get(&approver::identity_path());
            if identity.and_then(Node::as_str).is_some_and(program::is_own) {
                let path = KeyPath::new(["mcp_servers", approver::NAME]);
                self.remove(draft, &Part::Approver, &path);
            }
            return;
        }
        let entry = draft.document().get(&approver::path()).map(Node::value);
        if entry.is_some_and(|entry| approver::is_ours(&entry)) {
            self.remove(draft, &Part::Approver, &approver::path());
        }
        self.hooks_by_value(draft);
    }

    /// Groups of ours in `[hooks]` of a config.toml.
    fn hooks_by_value(&mut self, draft: &mut Draft) {
        for ours in &hooks::OURS {
            let path = hooks::toml_path(ours);
            let at = hooks::toml_positions(ours, draft.document());
            let Some(Value::Array(groups)) = draft.document().get(&path).map(Node::value) else {
                continue;
            };
            if at.is_empty() {
                continue;
            }
            if at.len() == groups.len() {
                self.remove(draft, &Part::Hooks, &path);
                continue;
            }
            self.collide(
                draft,
                &Part::Hooks,
                &path,
                CollisionKind::NoPlace {
                    why: "hooks of others stand beside ours: take ours out by hand".to_owned(),
                },
            );
        }
    }

    fn remove(&mut self, draft: &mut Draft, part: &Part, path: &KeyPath) {
        if let Err(error) = draft.remove(part, path) {
            self.collide(
                draft,
                part,
                path,
                CollisionKind::NoPlace {
                    why: error.to_string(),
                },
            );
        }
    }

    fn collide(&mut self, draft: &Draft, part: &Part, path: &KeyPath, kind: CollisionKind) {
        if self.request.on_collision == OnCollision::Skip {
            self.plan.skipped.push(Skipped {
                part: part.clone(),
                file: draft.path().to_path_buf(),
                path: path.clone(),
            });
            return;
        }
        let replaceable = matches!(kind, CollisionKind::Differs { .. });
        self.plan.collisions.push(Collision {
            part: part.clone(),
            file: draft.path().to_path_buf(),
            path: path.clone(),
            source: draft
                .place_of(path)
                .map(|span| source_of(draft.path(), draft.original(), span)),
            kind,
            by_hand: String::new(),
            replaceable,
        });
    }

    /// Takes the wanted steps of `record` back, newest first. Returns the steps that stay.
    fn undo(&mut self, draft: &mut Draft, record: &Record) -> Vec<Entry> {
        let mut left = Vec::new();
        for entry in record.steps.iter().rev() {
            match entry.part() {
                Some(part) if self.wants(&part, &entry.path()) => {
                    if !self.undo_step(draft, &part, entry) {
                        left.push(entry.clone());
                    }
                }
                _ => left.push(entry.clone()),
            }
        }
        left.reverse();
        left
    }

    /// Takes one step back. Returns whether it is done with.
    fn undo_step(&mut self, draft: &mut Draft, part: &Part, entry: &Entry) -> bool {
        let path = entry.path();
        let (value, old) = (entry.value(), entry.old());
        let present = draft.document().get(&path).map(Node::value);
        let action = match (&value, &old, &present) {
            (Some(_), _, None) => {
                self.plan.notes.push(format!(
                    "`{path}` is gone from `{}` already",
                    draft.path().display()
                ));
                return true;
            }
            (None, _, Some(_)) => {
                self.plan.notes.push(format!(
                    "`{path}` is in `{}` again and stays",
                    draft.path().display()
                ));
                return true;
            }
            (Some(value), _, Some(present)) => {
                if let Some((at, present, wanted)) = changed(&path, present, value)
                    && self.request.on_collision != OnCollision::Replace
                    // Codex itself writes a new digest when a person trusts a hook anew; without
                    // the hook none is about anything.
                    && !path.parts().starts_with(&["hooks".to_owned(), "state".to_owned()])
                {
                    self.collide(draft, part, &at, CollisionKind::Differs { present, wanted });
                    return self.request.on_collision == OnCollision::Skip;
                }
                old.as_ref().map_or_else(
                    || Action::Removed {
                        old: present.clone(),
                    },
                    |old| Action::Replaced {
                        old: present.clone(),
                        value: old.clone(),
                    },
                )
            }
            (None, Some(old), None) => Action::Added { value: old.clone() },
            (None, None, None) => return true,
        };
        if let Some(change) = exact(draft.document(), entry)
            .or_else(|| found_again(draft.document(), entry, &path, &action))
        {
            draft.adopt(part, &path, action, change);
            return true;
        }
        let result = match &action {
            Action::Removed { .. } => draft.remove(part, &path),
            Action::Replaced { value, .. } => draft.replace(part, &path, value),
            Action::Added { value } => draft.add(part, &path, value),
        };
        if let Err(error) = result {
            self.collide(
                draft,
                part,
                &path,
                CollisionKind::NoPlace {
                    why: error.to_string(),
                },
            );
            return false;
        }
        true
    }

    fn finish(mut self) -> (Plan, Vec<RecordChange>) {
        let questions = [Surface::AppServer, Surface::Exec].map(|surface| Question {
            surface,
            ..Question::default()
        });
        let drafts: IndexMap<PathBuf, Draft> = self
            .done
            .iter()
            .map(|(draft, _)| (draft.path().to_path_buf(), draft.clone()))
            .collect();
        let before = Sources::read(self.site);
        self.plan
            .collisions
            .extend(judge::refusal(&before, &drafts, &questions));
        self.plan.files = self
            .done
            .into_iter()
            .filter_map(|(draft, gone)| match gone {
                Some(folders) => Some(draft.finish_removed(folders)),
                None => draft.finish(),
            })
            .collect();
        let plain = self
            .plain
            .into_iter()
            .filter_map(|(draft, gone)| match gone {
                Some(folders) => Some(draft.finish_removed(folders)),
                None => draft.finish(),
            });
        self.plan.files.extend(plain);
        (self.plan, self.records)
    }
}

/// The first leaf of what install wrote that has another value now. What was added beside it
/// goes with it: a server's sub-tables cannot live without the server.
fn changed(path: &KeyPath, present: &Value, wrote: &Value) -> Option<(KeyPath, Value, Value)> {
    match (present, wrote) {
        (Value::Table(present), Value::Table(wrote)) => wrote.iter().find_map(|(key, wrote)| {
            // A key of ours that somebody took out is no obstacle.
            let present = present.get(key)?;
            changed(&path.join(key), present, wrote)
        }),
        _ => (present != wrote).then(|| (path.clone(), present.clone(), wrote.clone())),
    }
}

/// The inverse of a step on the very text that it left.
fn exact(document: &Document, entry: &Entry) -> Option<Change> {
    if digest(document.text().as_bytes()) != entry.after {
        return None;
    }
    let edits = inverse(entry, document.text(), |edit| Some(edit.at))?;
    let text = edit::apply(document.text(), &edits).ok()?;
    if digest(text.as_bytes()) != entry.before {
        return None;
    }
    Some(Change {
        document: Document::parse(text).ok()?,
        edits,
    })
}

/// The inverse of a step whose bytes are all still there, once each, in a text that changed
/// elsewhere. It counts only where the result means what removing by value would.
fn found_again(
    document: &Document,
    entry: &Entry,
    path: &KeyPath,
    action: &Action,
) -> Option<Change> {
    let text = document.text();
    let edits = inverse(entry, text, |edit| {
        let mut places = text.match_indices(edit.new.as_str());
        let (at, _) = places.next()?;
        places.next().is_none().then_some(at)
    })?;
    let after = Document::parse(edit::apply(text, &edits).ok()?).ok()?;
    let wanted = match action {
        Action::Removed { .. } => place::remove(document, path).ok()?.document.root().value(),
        Action::Replaced { value, .. } | Action::Added { value } => {
            let mut wanted = document.root().value();
            compare::set(&mut wanted, path.parts(), value.clone()).then_some(wanted)?
        }
    };
    (after.root().value() == wanted).then_some(Change {
        document: after,
        edits,
    })
}

/// Takes a step back on the very text that it left. Returns whether that could be done.
fn undo_plain(draft: &mut PlainDraft, part: &Part, entry: &Entry) -> bool {
    if entry.part().as_ref() != Some(part) || digest(draft.text().as_bytes()) != entry.after {
        return false;
    }
    let Some(edits) = inverse(entry, draft.text(), |edit| Some(edit.at)) else {
        return false;
    };
    let text = |value: Option<Value>| value.and_then(|value| value.as_str().map(str::to_owned));
    draft.step(
        part,
        entry.path(),
        text(entry.value()),
        text(entry.old()),
        edits,
    ) && digest(draft.text().as_bytes()) == entry.before
}

/// Takes out what is known to be ours by its content.
///
/// # Errors
/// Why that cannot be done safely, in words.
fn by_content(draft: &mut PlainDraft, part: &Part) -> Result<(), String> {
    let present = draft.text().to_owned();
    match part {
        Part::Rule if rule::is_ours(&present) => {
            let edits = vec![Edit::remove(Span::new(0, present.len()))];
            draft.step(part, KeyPath::root(), Some(present), None, edits);
        }
        Part::Rule => return Err("the file has other content than install wrote".to_owned()),
        Part::Guide => {
            if let Some(span) = guide::added(&present)? {
                let old = present[span.range()].to_owned();
                let edits = vec![Edit::remove(span)];
                draft.step(part, KeyPath::root(), Some(old), None, edits);
            }
        }
        _ => {
            // A file that Codex drops has no hooks of ours that run.
            for change in hooks::remove(&present).unwrap_or_default() {
                let path = std::iter::once("hooks").chain(change.event);
                draft.step(
                    part,
                    KeyPath::new(path),
                    change.old,
                    change.new,
                    change.edits,
                );
            }
        }
    }
    Ok(())
}

fn inverse(
    entry: &Entry,
    text: &str,
    find: impl Fn(&super::record::EntryEdit) -> Option<usize>,
) -> Option<Vec<Edit>> {
    let mut edits: Vec<Edit> = entry
        .edits
        .iter()
        .map(|edit| {
            let at = find(edit)?;
            let span = Span::new(at, at.checked_add(edit.new.len())?);
            (text.get(span.range())? == edit.new).then(|| Edit::replace(span, edit.old.clone()))
        })
        .collect::<Option<_>>()?;
    edits.sort_by_key(|edit| edit.span);
    (!edits.is_empty()).then_some(edits)
}
