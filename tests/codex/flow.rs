//! The whole gate in the real Codex: an agent proposes, a person decides, it runs once.
//!
//! The agent is a script ([`model`]), the person is a script too: keys in a terminal
//! ([`terminal`]) or answers of an app server's client. Codex, codexgate and the sandbox are the
//! real ones. Each test runs in namespaces of its own ([`room`]) and in a home of its own below
//! `/var/tmp` ([`scene`]): codexgate refuses to keep anything in `/tmp` or in a git work tree,
//! where an agent may write.

mod model;
mod room;
mod scene;
mod sdk;
mod terminal;

mod at_once;
mod in_a_terminal;
mod in_the_sandbox;
mod in_the_tui;
mod open_sessions;
mod over_the_app_server;
mod python_sdk;
mod through_exec;
mod typescript_sdk;
