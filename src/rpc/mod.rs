//! One JSON-RPC 2.0 peer on newline-delimited streams.
//!
//! Both sides of a connection are peers: each may ask, tell and answer. [`Peer`] holds what one
//! side knows (which of its own requests wait for an answer, and until when) and turns lines into
//! events and calls into lines. It reads no stream and no clock, so whoever uses it can be tested
//! message by message; the thread of [`read_lines`] is the only place that waits.
//!
//! What it promises: a line of any length costs bounded memory; what is no message is answered
//! with an error and never stops the peer; an answer is handed out only to the one request that
//! waits for it, once, in time; nothing but messages is written. It knows no method but the one
//! that takes a request back.

mod line;
mod message;
mod peer;

pub use line::{Line, LineReader, read_lines};
pub use message::{
    INVALID_PARAMS, INVALID_REQUEST, Id, METHOD_NOT_FOUND, Message, Outcome, PARSE_ERROR, RpcError,
    Unreadable,
};
pub use peer::{Dialect, Event, Peer, Ticket};
