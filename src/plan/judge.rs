//! The last question before a plan is shown: does Codex still take what it took before?
//!
//! The model answers for the files as they are and as they would be. A plan that turns a start
//! into a refusal is a collision, whichever file made it so: layers merge key by key, so a server
//! that is fine in its own file can clash with another layer's (scenario `mcp-merge-command-url`).

use std::path::PathBuf;

use indexmap::IndexMap;

use crate::codex::effective::{Effective, Question, Surface};
use crate::codex::layer::{Place, Sources};
use crate::document::{KeyPath, Span};

use super::draft::Draft;
use super::{Collision, CollisionKind, Part, Source, source_of};

/// The files as they would be.
pub(super) fn with_drafts(before: &Sources, drafts: &IndexMap<PathBuf, Draft>) -> Sources {
    drafts
        .values()
        .filter(|draft| !draft.steps().is_empty())
        .fold(before.clone(), |sources, draft| {
            sources.with(
                draft.path(),
                Some(draft.document().text().as_bytes().to_vec()),
            )
        })
}

/// The first of `questions` to which Codex would not start any more.
pub(super) fn refusal(
    before: &Sources,
    drafts: &IndexMap<PathBuf, Draft>,
    questions: &[Question],
) -> Option<Collision> {
    if drafts.values().all(|draft| draft.steps().is_empty()) {
        return None;
    }
    let after = with_drafts(before, drafts);
    questions.iter().find_map(|question| {
        let then = Effective::resolve(&after, question);
        let error = then.starts.as_ref().err()?;
        if Effective::resolve(before, question).starts.is_err() {
            return None;
        }
        let (part, file, path) = blame(drafts, error.key.as_ref());
        let name = match question.surface {
            Surface::Exec => "`codex exec`",
            Surface::AppServer | Surface::Tui => "Codex",
        };
        Some(Collision {
            part,
            file,
            source: other_layer(drafts, &then, &path).or_else(|| {
                error
                    .place
                    .as_deref()
                    .and_then(|place| source(drafts, place))
            }),
            path,
            kind: CollisionKind::Refused {
                why: format!("{name} would not start: {error}"),
            },
            by_hand: String::new(),
            replaceable: false,
        })
    })
}

/// The text around `place`: of the draft where there is one, else of the disk.
pub(super) fn source(drafts: &IndexMap<PathBuf, Draft>, place: &Place) -> Option<Source> {
    let path = place.path.clone()?;
    if let Some(draft) = drafts.get(&path) {
        return Some(source_of(&path, draft.document(), place.span));
    }
    let found = crate::files::read(&path, crate::files::CONFIG_LIMIT).ok()?;
    Some(Source {
        path,
        text: String::from_utf8(found.bytes()?.to_vec()).ok()?,
        span: place.span,
    })
}

/// The step that most likely made Codex refuse: one at or above `key`, else the last.
fn blame(drafts: &IndexMap<PathBuf, Draft>, key: Option<&KeyPath>) -> (Part, PathBuf, KeyPath) {
    let steps = || {
        drafts
            .values()
            .flat_map(|draft| draft.steps().iter().map(move |step| (draft, step)))
    };
    let near = key.and_then(|key| {
        steps().find(|(_, step)| key.starts_with(&step.path) || step.path.starts_with(key))
    });
    near.or_else(|| steps().last()).map_or_else(
        || (Part::Pin, PathBuf::new(), KeyPath::root()),
        |(draft, step)| {
            (
                step.part.clone(),
                draft.path().to_path_buf(),
                step.path.clone(),
            )
        },
    )
}

/// The place in a file that the plan leaves alone which says something about `path`, too.
fn other_layer(
    drafts: &IndexMap<PathBuf, Draft>,
    then: &Effective,
    path: &KeyPath,
) -> Option<Source> {
    then.layers.iter().find_map(|layer| {
        let file = layer.file.as_ref()?;
        if drafts.contains_key(file) {
            return None;
        }
        let document = layer.document()?;
        let node = document.get(path)?;
        let span = node
            .as_table()
            .and_then(|members| members.values().next())
            .map_or(node.span, |member| {
                Span::new(member.key.start, member.span.end)
            });
        Some(source_of(file, document, span))
    })
}
