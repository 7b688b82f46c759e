//! Merging a wish into a draft, key by key.
//!
//! What is there with an equal value stays as it is, whatever its spelling; what is not there is
//! added; what is there with another value is a collision, and the caller's choice decides what
//! becomes of it.

use crate::codex::server::{self, Transport};
use crate::document::style::Style;
use crate::document::{Data, Form, KeyPath, Value};

use super::draft::Draft;
use super::{Collision, CollisionKind, OnCollision, Part, Plan, Skipped, source_of};

/// Merges `wanted` at `path` into `draft`.
pub(super) fn value(
    draft: &mut Draft,
    part: &Part,
    path: &KeyPath,
    wanted: &Value,
    on_collision: OnCollision,
    plan: &mut Plan,
) {
    let Some(node) = draft.document().get(path) else {
        if let Err(error) = draft.add(part, path, wanted) {
            no_place(
                draft,
                part,
                path,
                wanted,
                &error.to_string(),
                on_collision,
                plan,
            );
        }
        return;
    };
    match (&node.data, wanted) {
        (Data::Table(_), Value::Table(members)) => {
            for (key, wanted) in members {
                value(draft, part, &path.join(key), wanted, on_collision, plan);
            }
        }
        _ if node.value() == *wanted => {}
        _ => {
            let present = node.value();
            let kind = CollisionKind::Differs {
                present,
                wanted: wanted.clone(),
            };
            match on_collision {
                OnCollision::Refuse => collide(draft, part, path, wanted, kind, plan),
                OnCollision::Skip => skip(draft, part, path, plan),
                OnCollision::Replace => {
                    if let Err(error) = draft.replace(part, path, wanted) {
                        no_place(
                            draft,
                            part,
                            path,
                            wanted,
                            &error.to_string(),
                            on_collision,
                            plan,
                        );
                    }
                }
            }
        }
    }
}

/// Merges a whole server. A transport that is there and another than the wanted one is a
/// collision of the server, not of one key, since Codex refuses a table with both (scenario
/// `mcp-both-transports`) and any key of the other transport (scenario `mcp-url-args`).
pub(super) fn server(
    draft: &mut Draft,
    part: &Part,
    name: &str,
    wanted: &Value,
    on_collision: OnCollision,
    plan: &mut Plan,
) {
    let path = KeyPath::new(["mcp_servers", name]);
    let transport = match wanted
        .as_table()
        .map(|members| members.contains_key("command"))
    {
        Some(true) => Transport::Stdio,
        _ => Transport::Url,
    };
    let present: Vec<String> = draft
        .document()
        .get(&path)
        .and_then(|node| node.as_table())
        .map(|members| members.keys().cloned().collect())
        .unwrap_or_default();
    let against: Vec<String> = present
        .iter()
        .filter(|key| server::key(key).is_some_and(|known| !known.fits(transport)))
        .cloned()
        .collect();
    if let Some(first) = against.first() {
        match on_collision {
            OnCollision::Refuse => {
                let kind = CollisionKind::Transport { key: first.clone() };
                let at = path.join(first);
                collide_at(draft, part, &path, &at, wanted, kind, plan);
                return;
            }
            OnCollision::Skip => {
                skip(draft, part, &path, plan);
                return;
            }
            OnCollision::Replace => {
                for key in &against {
                    if let Err(error) = draft.remove(part, &path.join(key)) {
                        no_place(
                            draft,
                            part,
                            &path,
                            wanted,
                            &error.to_string(),
                            on_collision,
                            plan,
                        );
                        return;
                    }
                }
            }
        }
    }
    // A command line is wanted as a whole: arguments that are there and not wanted are a difference.
    let mut wanted = wanted.clone();
    if transport == Transport::Stdio
        && present.iter().any(|key| key == "args")
        && let Value::Table(members) = &mut wanted
    {
        members
            .entry("args".to_owned())
            .or_insert_with(|| Value::Array(Vec::new()));
    }
    value(draft, part, &path, &wanted, on_collision, plan);
}

pub(super) fn skip(draft: &Draft, part: &Part, path: &KeyPath, plan: &mut Plan) {
    plan.skipped.push(Skipped {
        part: part.clone(),
        file: draft.path().to_path_buf(),
        path: path.clone(),
    });
}

fn collide(
    draft: &Draft,
    part: &Part,
    path: &KeyPath,
    wanted: &Value,
    kind: CollisionKind,
    plan: &mut Plan,
) {
    collide_at(draft, part, path, path, wanted, kind, plan);
}

/// A collision at `path` of which a part knows more than a value: the text to write by hand.
pub(super) fn collide_by_hand(
    draft: &Draft,
    part: &Part,
    path: &KeyPath,
    kind: CollisionKind,
    by_hand: String,
    plan: &mut Plan,
) {
    plan.collisions.push(Collision {
        part: part.clone(),
        file: draft.path().to_path_buf(),
        path: path.clone(),
        source: draft
            .place_of(path)
            .map(|span| source_of(draft.path(), draft.original(), span)),
        kind,
        by_hand,
        replaceable: false,
    });
}

fn collide_at(
    draft: &Draft,
    part: &Part,
    path: &KeyPath,
    at: &KeyPath,
    wanted: &Value,
    kind: CollisionKind,
    plan: &mut Plan,
) {
    let replaceable = matches!(
        kind,
        CollisionKind::Differs { .. } | CollisionKind::Transport { .. }
    );
    plan.collisions.push(Collision {
        part: part.clone(),
        file: draft.path().to_path_buf(),
        path: path.clone(),
        source: draft
            .place_of(at)
            .map(|span| source_of(draft.path(), draft.original(), span)),
        kind,
        by_hand: by_hand(draft, path, wanted),
        replaceable,
    });
}

fn no_place(
    draft: &Draft,
    part: &Part,
    path: &KeyPath,
    wanted: &Value,
    why: &str,
    on_collision: OnCollision,
    plan: &mut Plan,
) {
    if on_collision == OnCollision::Skip {
        skip(draft, part, path, plan);
        return;
    }
    let kind = CollisionKind::NoPlace {
        why: why.to_owned(),
    };
    collide(draft, part, path, wanted, kind, plan);
}

/// The wish as TOML that a person can paste: a section of its own, or one dotted line.
pub(super) fn by_hand(draft: &Draft, path: &KeyPath, wanted: &Value) -> String {
    let style = Style::of(draft.original(), None);
    let mut path = path.clone();
    let mut wanted = wanted.clone();
    let inline = (1..path.parts().len()).any(|depth| {
        draft
            .original()
            .get(&KeyPath(path.parts()[..depth].to_vec()))
            .is_some_and(|node| node.form == Form::Inline)
    });
    if inline || path.parts().len() == 1 {
        return style.pair(path.parts(), &wanted);
    }
    if !matches!(wanted, Value::Table(_)) {
        let last = path.0.pop().unwrap_or_default();
        wanted = [(last, wanted)].into_iter().collect();
    }
    crate::document::style::lines(&style, &path, &wanted)
}
