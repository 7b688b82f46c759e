//! The rules, one file each or a tight family. [`super::registry`] lists them.

pub mod approval;
pub mod bypass_flag;
pub mod danger_full_access;
pub mod elicitations;
pub mod encoding;
pub mod environment;
pub mod keys;
pub mod launch;
pub mod place;
pub mod profile_removed;
pub mod reference_missing;
pub mod sandbox;
pub mod secret;
pub mod server_key_unknown;
pub mod server_name_invalid;
pub mod server_timeout_unit;
pub mod server_transport;
pub mod syntax;
pub mod telemetry_exports_prompts;
pub mod tools_auto_approved;
pub mod trust;
pub mod unexpanded_variable;
pub mod unreadable;
pub mod url_plaintext;
pub mod wrong_shape;
