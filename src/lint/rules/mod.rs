//! The rules, one file each or a tight family. [`super::registry`] lists them.

pub mod danger_full_access;
pub mod encoding;
pub mod syntax;
pub mod unreadable;
