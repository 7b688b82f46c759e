//! How results look: the streams, and one shape for everything that is said about a place.
//!
//! A command decides, then hands data to this layer; only [`Ui`] prints. [`Diagnostic`] is the
//! one message with a place, for errors and findings alike.

pub mod diagnostic;
pub mod diff;
pub mod github;
pub mod json;
pub mod junit;
pub mod plan;
pub mod policy;
mod progress;
pub mod region;
pub mod rule;
pub mod sarif;
pub mod schema;
pub mod text;
pub mod ui;

pub use crate::lint::Severity;
pub use diagnostic::{Diagnostic, Excerpt};
pub use ui::Ui;
