//! The rules, one file each or a tight family. [`super::registry`] lists them.

pub mod danger_full_access;
pub mod encoding;
pub mod launch;
pub mod secret;
pub mod server_key_unknown;
pub mod server_name_invalid;
pub mod server_timeout_unit;
pub mod server_transport;
pub mod syntax;
pub mod tools_auto_approved;
pub mod unexpanded_variable;
pub mod unreadable;
pub mod url_plaintext;
pub mod wrong_shape;
