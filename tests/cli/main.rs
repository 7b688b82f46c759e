//! What a person sees: the binary run on files, its output and exit code in one snapshot.
//!
//! Logic is tested in the library; here is what shows that it is wired.

mod approval;
mod cases;
mod completions;
mod corpus;
mod explain;
#[path = "../gate/mod.rs"]
mod gate;
mod install;
mod lint;
mod lint_cases;
mod mcp;
mod mcp_sdk;
mod show;
mod support;
mod uninstall;
mod usage;
