//! codexgate puts a human gate into `OpenAI` Codex, proves that it is there, and keeps it there.
//!
//! The modules stand in the order of their layers: one may use what stands above it, never what
//! stands below. `tests/layers.rs` holds that.

pub mod files;

pub mod text;

pub mod document;

pub mod rpc;

pub mod codex;

pub mod plan;

pub mod lint;

pub mod approval;

pub mod report;

pub mod mcp;

pub mod broker;

pub mod hook;

pub mod cli;
