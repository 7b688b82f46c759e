//! `codexgate broker`: Codex behind any MCP client, each approval tied to the exact call.
//!
//! ```text
//! client ─ lines ─► inbox ◄─ lines ─ app-server
//!                     │
//!                  Broker (one owner of all state)
//!                     ├─ tools, resources, poll: what a client may ask, and how it is answered
//!                     ├─ ops: what the tools do, as steps with Codex
//!                     ├─ route, children, session, events: whose a message is, and what becomes of it
//!                     ├─ pair: whether a person is asked, what the card says, what may go back
//!                     └─ approvals, ask, pending: who answers
//! ```
//!
//! It is an MCP server on stdio with the tools of codex-mcp and one `codex app-server` behind it.
//! What is promised: nothing that comes over MCP widens what whoever started the broker allowed; no
//! request of Codex stays without an answer; what is not understood is declined, and said; no
//! process that it started outlives it.

mod app_server;
mod approvals;
mod ask;
mod children;
mod client;
mod codex;
mod core;
mod effective;
mod ending;
mod error;
mod events;
mod exec;
mod inbox;
mod limits;
mod ops;
pub mod options;
pub mod pair;
pub mod pending;
mod poll;
mod random;
mod resources;
mod route;
mod serve;
mod session;
mod store;
mod tools;
pub mod words;

pub use self::core::Environment;
pub use serve::serve;
