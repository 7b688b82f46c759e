//! What the tools do, as steps with Codex.
//!
//! Each checks everything that it can before anything changes, then asks Codex step by step. A
//! step that fails puts back what was changed: no half session is left, and no session stays
//! `running` for a turn that never began.

mod life;
mod manage;
mod prepare;
mod reply;
mod start;

pub use prepare::Prepared;
