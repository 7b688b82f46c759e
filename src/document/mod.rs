//! A TOML or JSON text with spans, and byte-exact edits of it.
//!
//! A user's file is never printed from a tree: what stays, stays because nobody touches its
//! bytes. [`Document`] reads; [`place`] finds where new text goes and makes edits, which are byte
//! splices into the original text; the result is parsed again and compared by value before
//! anyone writes it. [`json`] does the same for JSON, in the few ways that hooks need.

pub mod comment;
pub mod compare;
pub mod edit;
pub mod json;
mod layout;
pub mod parse;
pub mod path;
pub mod place;
pub mod span;
pub mod style;
pub mod value;

pub use edit::Edit;
pub use json::{Json, JsonError};
pub use parse::{Data, Document, Form, Node, Statement, StatementKind, SyntaxError};
pub use path::KeyPath;
pub use place::{Change, NoPlace};
pub use span::{LineColumn, LineIndex, Span};
pub use value::Value;
