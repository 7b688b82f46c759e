//! What is in force, as text for people and as JSON: each value with the line that decided it.
//!
//! It shows what [`Effective`] says and judges nothing but the few questions that a person asks
//! ([`Judgement`]): does a server's question reach me, what can the agent touch, which line would
//! have to change. Values that look like secrets are hidden in every form.

use std::path::PathBuf;

use serde_json::Value as Json;

use crate::codex::Sources;
use crate::codex::effective::{Effective, Merged, Surface, Why, json as answer};
use crate::document::{KeyPath, Value};
use crate::plan::secret;
use crate::text::redact;

mod json;
mod text;
mod verdict;

pub use verdict::Judgement;

/// Below this length a value is no secret that redacting could keep.
const SECRET_LENGTH: usize = 8;

/// Keys of a server whose values are secrets more often than not.
const SECRET_TABLES: [&str; 3] = ["env", "http_headers", "set"];

/// What there is to show.
pub struct View<'v> {
    /// The answer for the way into Codex that was asked about.
    pub effective: &'v Effective,
    /// The answers for all ways: the verdict speaks of each.
    pub others: &'v [(Surface, Effective)],
    /// Where the files came from.
    pub sources: &'v Sources,
    /// Which way was asked about.
    pub surface: Surface,
    /// Folders that must not be written by the agent, each with what it is.
    pub precious: &'v [(PathBuf, &'static str)],
}

/// The leaves below a merged value, each with its whole path.
fn leaves_of<'m>(found: &'m Merged, key: &KeyPath) -> Vec<(KeyPath, &'m Merged)> {
    let mut leaves = Vec::new();
    found.leaves(&mut |path, leaf| {
        let mut whole = key.clone();
        whole.0.extend(path.iter().map(|part| (*part).to_owned()));
        leaves.push((whole, leaf));
    });
    leaves
}

const fn surface_word(surface: Surface) -> &'static str {
    match surface {
        Surface::AppServer => "app-server",
        Surface::Tui => "tui",
        Surface::Exec => "exec",
    }
}

const fn why(why: Why) -> &'static str {
    match why {
        Why::DeniedInProjects => "Codex takes this key from no project",
        Why::ProjectUnknown => "nobody trusts the project",
        Why::ProjectUntrusted => "the project is marked untrusted",
        Why::UnknownKey => "Codex knows no such key",
    }
}

/// A value for a program, secrets hidden.
fn hidden(path: &KeyPath, value: &Value) -> Json {
    let mut value = answer::plain(value);
    hide(path.parts(), &mut value);
    value
}

fn hide(path: &[String], value: &mut Json) {
    match value {
        Json::String(text) if is_secret(path, text) => *value = redact::secret(text).into(),
        Json::Array(items) => {
            for item in items {
                hide(path, item);
            }
        }
        Json::Object(members) => {
            for (name, member) in members {
                let mut whole = path.to_vec();
                whole.push(name.clone());
                hide(&whole, member);
            }
        }
        _ => {}
    }
}

/// Whether a value is one that no output may show: by its look, by its name, or by its table.
fn is_secret(path: &[String], text: &str) -> bool {
    let name = path.last().map(String::as_str);
    let in_table = path
        .iter()
        .rev()
        .skip(1)
        .any(|part| SECRET_TABLES.contains(&part.as_str()));
    text.chars().count() >= SECRET_LENGTH
        && (secret::looks_secret(name, text)
            || (in_table && name.is_some_and(secret::is_secret_name)))
}
