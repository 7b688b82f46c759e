//! Which `.rules` files Codex reads.
//!
//! `rules/*.rules` of the system's folder, Codex's home and each project folder that counts; other
//! suffixes, folders below and links are not read (scenarios `rules-other-suffix`,
//! `rules-nested-folder`).

use std::path::{Path, PathBuf};

use super::effective::{Effective, StartError};
use super::layer::{Kind, Place, Sources, Text};
use super::rules_text::{self, Verdict};
use crate::document::{KeyPath, Span};

/// The folder of rules beside each config.toml.
pub const RULES: &str = "rules";
/// The end of a rules file's name.
pub const SUFFIX: &str = ".rules";

/// The files that Codex reads, layer by layer and by name.
pub fn files(effective: &Effective, sources: &Sources) -> Vec<PathBuf> {
    effective
        .layers
        .iter()
        .filter(|layer| {
            layer.disabled.is_none()
                && matches!(layer.kind, Kind::System | Kind::User | Kind::Project)
        })
        .flat_map(|layer| sources.files_in(&layer.base.join(RULES), SUFFIX))
        .collect()
}

/// The first file that `codex exec` refuses to start with. The app server drops all rules instead.
pub fn first_broken(files: &[PathBuf], sources: &Sources) -> Option<StartError> {
    files.iter().find_map(|path| {
        let text = match sources.text(path) {
            Text::Text(text) => text,
            Text::NotUtf8 { .. } => return unreadable(path, sources),
            Text::Absent | Text::Unreadable { .. } => return None,
        };
        let Verdict::Broken { line, why, .. } = rules_text::judge(&text) else {
            return None;
        };
        Some(StartError {
            message: why.to_owned(),
            place: Some(Box::new(Place {
                layer: "rules".to_owned(),
                path: Some(path.clone()),
                span: Span::default(),
                line,
                column: 1,
                key: KeyPath::root(),
            })),
            key: None,
        })
    })
}

/// The first file that is not UTF-8: nothing starts with it (scenario `rules-latin1`).
pub fn first_unreadable(files: &[PathBuf], sources: &Sources) -> Option<StartError> {
    files.iter().find_map(|path| unreadable(path, sources))
}

fn unreadable(path: &Path, sources: &Sources) -> Option<StartError> {
    let Text::NotUtf8 { valid } = sources.text(path) else {
        return None;
    };
    Some(StartError {
        message: format!(
            "the rules file `{}` is not UTF-8 after {valid} bytes",
            path.display()
        ),
        place: None,
        key: None,
    })
}
