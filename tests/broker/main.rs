//! The broker as a process, before a client of its own, with the real Codex where there is one.
//!
//! The model is scripted and on loopback: the prompt itself says what it does, so sessions side by
//! side do not disturb each other. `$CODEX` names Codex; else the pinned one below `tests/codex`
//! is taken. Where there is none, a test says so and passes, but under `CI=true` it fails.

mod client;
mod fake;
mod model;
mod scene;

mod approvals;
mod endings;
mod exec;
mod faults;
mod frame;
mod lifecycle;
mod load;
mod replay;
mod rmcp;
mod sdk;
mod subagents;
mod terminal;
mod turns;
