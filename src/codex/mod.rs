//! The model of how Codex behaves, and the only place that knows.
//!
//! Data first: tables that can be read beside the facts that were seen on the real binary. Each
//! fact names its source, a scenario or a version.

pub mod ask;
pub mod check;
pub mod effective;
pub mod features;
pub mod hooks_file;
pub mod keys;
pub mod layer;
pub mod requirements;
pub mod rules_file;
pub mod rules_text;
pub mod server;
pub mod site;
pub mod trust;
pub mod version;

pub use effective::{Effective, Question};
pub use layer::{Flags, Layer, Place, Sources};
pub use site::Site;
pub use version::Version;
