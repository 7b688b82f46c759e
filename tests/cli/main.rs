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
mod install_gate;
mod lint;
mod lint_cases;
mod lint_choose;
mod lint_disk;
mod lint_fix;
mod lint_formats;
mod mcp;
mod mcp_sdk;
mod schema;
mod show;
mod support;
mod uninstall;
mod usage;
