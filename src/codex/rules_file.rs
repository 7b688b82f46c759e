//! Which `.rules` files Codex reads.
//!
//! `rules/*.rules` of the system's folder, Codex's home and each project folder that counts; other
//! suffixes, folders below and links are not read (scenarios `rules-other-suffix`,
//! `rules-nested-folder`).

use std::path::PathBuf;

use super::effective::Effective;
use super::layer::{Kind, Sources};

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
