//! What reaches the broker's one thread, in the order in which it came.

use super::core::Broker;
use crate::rpc::Line;

/// One thing that happened.
pub enum In {
    /// A line of the client.
    Client(Line),
    /// The client has gone.
    ClientGone,
    /// A line of the app-server of this generation.
    Codex(u64, Line),
    /// Its output ended.
    CodexGone(u64),
    /// A signal that ends the broker.
    Signal,
    /// What a thread beside it found out.
    Done(Box<dyn FnOnce(&mut Broker) + Send>),
}
