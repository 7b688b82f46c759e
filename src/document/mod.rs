//! A TOML text with spans, and byte-exact edits of it.
//!
//! A user's file is never printed from a tree: what stays, stays because nobody touches its
//! bytes. [`Document`] reads; edits are byte splices into the original text, and the result is
//! parsed again and compared by value before anyone writes it.

pub mod parse;
pub mod path;
pub mod span;
pub mod value;

pub use parse::{Data, Document, Form, Node, Statement, StatementKind, SyntaxError};
pub use path::KeyPath;
pub use span::{LineColumn, LineIndex, Span};
pub use value::Value;
