//! What `uninstall` would change: the inverse of `install`.
//!
//! With a record, the bytes of each step go back: exactly where the text is still the one that
//! install left, by finding the inserted bytes where other parts changed, and by value where
//! they were changed in form. A key of ours that now has another value is a collision. Without a
//! record it works by value, and the plan's notes say what cannot be known.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use crate::codex::Site;
use crate::codex::effective::{Effective, Question, Surface};
use crate::codex::layer::{CONFIG_TOML, REQUIREMENTS_TOML, Sources};
use crate::document::edit::{self, Edit};
use crate::document::{Change, Document, KeyPath, Node, Span, Value, compare, place};
use crate::files::Found;

use super::draft::{Action, Draft, PRIVATE, SHARED};
use super::parts::{pin, trust};
use super::record::{Entry, Record, Store, digest};
use super::{
    Collision, CollisionKind, Error, OnCollision, Part, Plan, Scope, Skipped, judge, source_of,
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
        trust_path: trust_path(site, request),
    };
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
    // The trust entry that an install of this project wrote lies in the user's file.
    if let (Some(home), Some(_), Some(store), false) = (
        &site.codex_home,
        &work.trust_path,
        store,
        request.scopes.contains(&Scope::User),
    ) {
        work.trust(home, store)?;
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
    trust_path: Option<KeyPath>,
}

impl Work<'_> {
    fn wants(&self, part: &Part, path: &KeyPath) -> bool {
        match part {
            Part::Trust => self.trust_path.as_ref() == Some(path),
            _ if self.request.servers.is_empty() => true,
            Part::Server(name) => self.request.servers.contains(name),
            Part::Pin | Part::Elicitations => false,
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

    fn trust(&mut self, home: &Path, store: &Store) -> Result<(), Error> {
        let mut draft = Draft::open(&home.join(CONFIG_TOML), None, PRIVATE)?;
        if draft.exists() {
            let recorded = self.by_record(&mut draft, store)?;
            self.done.push((draft, recorded.unwrap_or_default().1));
        }
        Ok(())
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
        if self.request.servers.is_empty() && draft.path().ends_with(REQUIREMENTS_TOML) {
            for path in pin::present_keys(draft.document()) {
                self.remove(draft, &Part::Pin, &path);
            }
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
