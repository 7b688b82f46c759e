//! `nested-config`, `project-starts-program`: what a file means by where it lies.
//! Source: scenarios trust-subdir-git-two-files, project-open-keys, mcp-merge-user-project;
//! Codex 0.134 to 0.171.

use crate::codex::version::Version;
use crate::lint::finding::Mark;
use crate::lint::server::Server;
use crate::lint::{
    Check, Confidence, ConfigFile, Findings, Home, HooksFile, Kind, Rule, Severity, Source, case,
};

pub const NESTED: Rule = Rule {
    id: "nested-config",
    severity: Severity::Info,
    confidence: Confidence::High,
    since: (0, 134),
    says: "the agent may write this file, and Codex loads it",
    why: "The sandbox keeps the agent from the `.codex` at the top of the project, not from one \
          below it. Codex loads that when a thread starts in its folder, with the trust of the \
          repository.",
    bad: &[case("‹›model = \"x\"\n").in_home(Home::Nested)],
    good: &[case("model = \"x\"\n").in_home(Home::Project)],
    check: Check::Source(nested),
};

pub const STARTS: Rule = Rule {
    id: "project-starts-program",
    severity: Severity::Info,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this project starts a program with your rights",
    why: "Once Codex trusts the folder, the servers and hooks of its files run with the user's \
          rights, outside of the sandbox. Look at them before you trust it.",
    bad: &[
        case("[mcp_servers.a]\ncommand = ‹\"a-mcp\"›\n").in_home(Home::Project),
        case("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = ‹\"./notify.sh\"›\n")
            .in_home(Home::Project),
    ],
    good: &[
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\n"),
        case("[mcp_servers.a]\nurl = \"https://a.example/mcp\"\n").in_home(Home::Project),
        case("[mcp_servers.codexgate]\ncommand = \"/usr/bin/codexgate\"\nargs = [\"mcp\"]\nenv_vars = [\"CODEX_HOME\", \"XDG_STATE_HOME\", \"XDG_CONFIG_HOME\"]\n")
            .in_home(Home::Project),
    ],
    check: Check::Source(starts),
};

fn nested(source: &Source, found: &mut Findings) {
    let subject = &source.subject;
    if subject.home == Home::Nested && !matches!(subject.kind, Kind::Folder | Kind::Script) {
        let mark = if source.text().is_empty() {
            Mark::File
        } else {
            Mark::Span(crate::document::Span::at(0))
        };
        found
            .add(&NESTED, mark)
            .help("keep configuration in the `.codex` at the top of the project");
    }
}

fn starts(source: &Source, found: &mut Findings) {
    if !source.subject.home.is_project() {
        return;
    }
    let version = Version::default();
    if let Some(file) = ConfigFile::new(source, version).filter(|file| file.kind().is_config()) {
        for server in Server::all(&file).filter(|server| !server.is_approver()) {
            if let Some(command) = server.get("command") {
                found.add(&STARTS, command);
            }
        }
    }
    if let Some(hooks) = HooksFile::new(source, version) {
        for command in hooks.handlers().filter_map(|handler| handler.command()) {
            found.add(&STARTS, command.span);
        }
    }
}
