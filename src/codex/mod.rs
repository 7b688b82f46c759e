//! The model of how Codex behaves, and the only place that knows.
//!
//! Data first: tables that can be read beside the facts that were seen on the real binary. Each
//! fact names its source, a scenario or a version.

pub mod server;
pub mod site;

pub use site::Site;
