//! Install and uninstall as data: what would change, why, and what stands in the way.

pub mod import;
pub mod secret;
