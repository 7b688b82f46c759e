//! Tests against the real Codex.
//!
//! What codexgate says about Codex, and what it writes for Codex, is shown here by the program
//! itself. `npm ci --prefix tests/codex` installs the pinned version; `$CODEX` names another.
//! Where there is none, or no private namespaces for it, each test says so and passes, but under
//! `CI=true` it fails.
//!
//! Every Codex runs in a throw-away home with a cleared environment, in mount and network
//! namespaces of its own: the machine's `/etc` and `/tmp` stay as they are, and nothing leaves
//! the machine. A test process starts workers there and asks them over pipes ([`worker`]).

mod app_server;
mod ask;
mod errors;
mod lab;
mod process;
mod program;
mod scenario;
mod server_judge;
mod worker;

mod flow;
mod gate;
mod generated;
mod install;
mod lint;
mod recorded;
mod smoke;
mod versions;
