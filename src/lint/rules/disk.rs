//! `rules-not-read`, `symlink-escape`, `hook-missing`, `file-permissions`: what only the disk tells.
//! Source: scenarios rules-other-suffix, rules-nested-folder, shape-symlinked-config,
//! project-symlinked-codex; that Codex reads no `.rules` file that is a link, and reads through a
//! folder that is one, was seen on 0.171. The other two are opinions.

use crate::document::Span;
use crate::lint::disk::{Disk, NotRead, Role, State};
use crate::lint::finding::Mark;
use crate::lint::{
    Check, Confidence, Findings, Grade, Home, Kind, Rule, Setup, Severity, Source, case, place,
};

const ALLOW: &str = "prefix_rule(pattern=[\"/usr/bin/git\", \"push\"], decision=\"forbidden\")\n";

pub const NOT_READ: Rule = Rule {
    id: "rules-not-read",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 171),
    says: "Codex does not read these rules",
    why: "Codex reads `rules/*.rules` beside its configuration: plain files, in that folder alone. \
          What a file forbids that is a symbolic link, has another suffix or lies in a folder \
          below is not forbidden, and nothing says so.",
    bad: &[
        place(ALLOW).on_disk(&[
            Setup::Name("rules/shared.rules"),
            Setup::Link("/example/dotfiles/shared.rules"),
        ]),
        place(ALLOW).on_disk(&[Setup::Name("rules/team/shared.rules")]),
        place(ALLOW)
            .in_home(Home::Project)
            .on_disk(&[Setup::Name("rules/shared.star")]),
    ],
    good: &[
        case(ALLOW).of(Kind::Rules),
        case(ALLOW).of(Kind::Rules).in_home(Home::Project),
    ],
    check: Check::Tree(not_read),
};

pub const ESCAPE: Rule = Rule {
    id: "symlink-escape",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this leads out of the project",
    why: "Codex follows the link. What it loads for the project then lies elsewhere: a review of \
          the repository does not show it, and whoever writes there decides about the project.",
    bad: &[
        place("")
            .in_home(Home::Project)
            .on_disk(&[Setup::Link("/example/shared")]),
        case("‹›model = \"x\"\n")
            .in_home(Home::Project)
            .on_disk(&[Setup::Link("/example/shared/config.toml")]),
    ],
    good: &[
        case("model = \"x\"\n").in_home(Home::Project),
        case("model = \"x\"\n").on_disk(&[Setup::Link("/example/dotfiles/config.toml")]),
    ],
    check: Check::Tree(escape),
};

pub const MISSING: Rule = Rule {
    id: "hook-missing",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    since: (0, 134),
    says: "the program of this hook is not there",
    why: "A hook that cannot start does nothing: what it was to check or to say is neither checked \
          nor said, and Codex goes on.",
    bad: &[
        case("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = ‹\"/example/bin/notify --done\"›\n")
            .on_disk(&[Setup::There(&[])]),
        case("{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": ‹\"bash .codex/hooks/stop.sh\"›}]}]}}\n")
            .of(Kind::Hooks)
            .in_home(Home::Project)
            .on_disk(&[Setup::There(&[])]),
        case("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = ‹\"~/bin/notify\"›\n")
            .on_disk(&[Setup::There(&["/example/bin/notify"])]),
    ],
    good: &[
        case("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"/example/bin/notify --done\"\n")
            .on_disk(&[Setup::There(&["/example/bin/notify"])]),
        case("{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"'.codex/hooks/stop.sh'\"}]}]}}\n")
            .of(Kind::Hooks)
            .in_home(Home::Project)
            .on_disk(&[Setup::There(&["/example/project/.codex/hooks/stop.sh"])]),
        // What a shell would put in their place, or finds on `PATH`, is not known.
        case("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"notify --done; $TOOLS/bin/notify\"\n")
            .on_disk(&[Setup::There(&[])]),
    ],
    check: Check::Tree(missing),
};

pub const PERMISSIONS: Rule = Rule {
    id: "file-permissions",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    since: (0, 134),
    says: "others can get at this file",
    why: "Who can write the system's files decides about every user's sandbox and approvals. Who \
          can read a file with a secret in it has the secret. On a shared file system the modes \
          may say less than they seem to.",
    bad: &[
        case("‹›sandbox_mode = \"read-only\"\n")
            .in_home(Home::System)
            .on_disk(&[Setup::Mode(0o666)]),
        case("‹›[mcp_servers.a]\ncommand = \"a-mcp\"\nenv = { A_TOKEN = \"tok_4mW8qZ1xR7vK2nJ9pL5c\" }\n")
            .also(&["secret-inline"])
            .on_disk(&[Setup::Mode(0o644)]),
    ],
    good: &[
        case("sandbox_mode = \"read-only\"\n")
            .in_home(Home::System)
            .on_disk(&[Setup::Mode(0o644)]),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nenv = { A_TOKEN = \"tok_4mW8qZ1xR7vK2nJ9pL5c\" }\n")
            .also(&["secret-inline"])
            .on_disk(&[Setup::Mode(0o600)]),
        case("model = \"x\"\n").on_disk(&[Setup::Mode(0o644)]),
    ],
    check: Check::Tree(permissions),
};

/// The start of a text, where there is one.
fn start(source: &Source) -> Mark {
    if source.text().is_empty() {
        Mark::File
    } else {
        Mark::Span(Span::at(0))
    }
}

fn not_read(disk: &Disk, found: &mut Findings) {
    let Some(why) = disk.not_read else { return };
    let finding = found.add(&NOT_READ, Mark::File);
    match why {
        NotRead::Link => finding
            .says("Codex reads no rules file that is a symbolic link")
            .help("put the file itself here"),
        NotRead::Suffix => finding
            .says("Codex reads rules from files that end in `.rules` alone")
            .help("name it so, or move it out of this folder"),
        NotRead::Nested => finding
            .says("Codex reads no rules from a folder below `rules`")
            .help("move it into `rules` itself"),
    };
    finding.note("what it forbids is not forbidden, and what it allows is asked for");
}

fn escape(disk: &Disk, found: &mut Findings) {
    let source = found.source();
    let Some(to) = disk
        .leads_out
        .as_ref()
        .filter(|_| source.subject.home.is_project())
    else {
        return;
    };
    found
        .add(&ESCAPE, start(source))
        .says(format!(
            "this leads out of the project, to `{}`",
            to.display()
        ))
        .note("Codex follows it")
        .help("put the files themselves into the repository");
}

fn missing(disk: &Disk, found: &mut Findings) {
    let of_hooks = |role| matches!(role, Role::Hook | Role::Script);
    for program in disk.programs.iter().filter(|it| of_hooks(it.role)) {
        let path = program.path.display();
        let says = match (&program.state, program.role) {
            (State::Missing, Role::Script) => {
                format!("this hook runs `{path}`, which is not there")
            }
            (State::Missing, _) => format!("this hook starts `{path}`, which is not there"),
            (State::NotExecutable, _) => format!("this hook starts `{path}`, which is no program"),
            (State::There | State::Open(_), _) => continue,
        };
        found
            .add(&MISSING, program.span)
            .says(says)
            .note("the hook does nothing, and Codex goes on");
    }
}

/// Bits that let others write; and those of others and the group.
const OTHERS_WRITE: u32 = 0o022;
const OTHERS: u32 = 0o077;

fn permissions(disk: &Disk, found: &mut Findings) {
    let Some(mode) = disk.mode else { return };
    let source = found.source();
    if let Some(why) = &disk.others_write {
        let finding = found.add(&PERMISSIONS, start(source));
        finding
            .says("others can change this file of the system")
            .note(why.clone());
        if mode & OTHERS_WRITE != 0 {
            finding
                .help(format!("`chmod {:04o}`", mode & !OTHERS_WRITE))
                .chmod(Grade::Safe, mode & !OTHERS_WRITE);
        }
    } else if disk.others_read && source.subject.home == Home::User {
        found
            .add(&PERMISSIONS, start(source))
            .says("every user of this machine can read the secrets in this file")
            .note(format!("it has mode {mode:04o}"))
            .help(format!("`chmod {:04o}`", mode & !OTHERS))
            .chmod(Grade::Safe, mode & !OTHERS);
    }
}
