//! What every text for a person passes before it is shown.
//!
//! Files, agents and servers are hostile, and a terminal obeys control characters: a text that
//! deletes itself, turns its direction around or hides characters can say one thing to a program
//! and another to its reader. [`visible`] makes such characters visible, [`quote`] writes words so
//! that a shell reads them back unchanged, [`redact`] stands in for a secret. None of them reads
//! the disk or knows where its text came from.

pub mod quote;
pub mod redact;
pub mod visible;

pub use visible::{visible, visible_lines};
