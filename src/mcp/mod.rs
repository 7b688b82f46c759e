//! The approver: the MCP server that Codex starts, and that asks the person inside Codex.
//!
//! ```text
//! lines ─► Server ─► Desk::take_up ─► one Question ─► its answer ─► Verdict ─► Desk::grant
//! ```
//!
//! What it promises: a grant comes out of one answer only, the one that accepts with
//! `decision = Approve` and nothing else, to the one question that is open, once, in time and not
//! as a slip of the keys. Everything else ends in a tool result that says what happened and what to
//! do. The card is made from the stored proposal alone; an agent brings nothing but a token.
//! Nothing but JSON-RPC is written, and nothing is left behind.
//!
//! What it does not know: whether a person or a program sits at the other end of the client. Codex
//! answers an empty form by itself under some policies, never this one (0.171, the truth table).

mod desk;
mod elicit;
mod server;
mod session;

pub use desk::{GateDesk, TELL};
pub use server::{Desk, LINE_LIMIT, Now, Refusal, Server, Shown, TOOL, serve};
pub use session::{Guarded, Session};

#[cfg(test)]
mod tests;
