//! `key-unknown`, `key-swallowed`, `key-wrong-type`, `value-invalid`, `project-key-ignored`: keys
//! and values that Codex does not take as they are written.
//! Source: scenarios shape-unknown-root, shape-four-typos, shape-case, shape-dash-key,
//! shape-unknown-feature, shape-swallowed-root, shape-swallowed-tui, shape-swallowed-project,
//! sandbox-wrong-type, sandbox-full, sandbox-danger-full-access-upper, approval-always,
//! approval-never-upper, approval-wrong-type, reviewer-unknown, trust-bad-value, project-denylist,
//! project-denylist-rest, feature-project-denied; Codex 0.134 to 0.171.

use std::collections::HashSet;

use crate::codex::effective::is_denied_in_projects;
use crate::document::{Edit, Form, Node, Span, StatementKind};
use crate::lint::file::word;
use crate::lint::shape::{Fault, What, dotted, fits_root};
use crate::lint::words::{closest, is_root_key, quoted_if_needed};
use crate::lint::{Check, Confidence, ConfigFile, Findings, Grade, Home, Rule, Severity, case};

pub const UNKNOWN: Rule = Rule {
    id: "key-unknown",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "Codex ignores this key",
    why: "A key that Codex does not know changes nothing. Versions before 0.160 say nothing about \
          it, later ones warn in the app server alone, so a misspelt key looks as if it worked.",
    bad: &[
        case("‹sanbox_mode› = \"read-only\"\n").fixed("sandbox_mode = \"read-only\"\n"),
        case("‹sandbox-mode› = \"read-only\"\n").fixed("sandbox_mode = \"read-only\"\n"),
        case("‹bogus› = 1\n"),
        case("[sandbox_workspace_write]\n‹network› = true\n"),
        case("[features]\n‹hook› = true\n").fixed("[features]\nhooks = true\n"),
        case("[tui]\n‹animation› = true\n").fixed("[tui]\nanimations = true\n"),
        case("[‹sandbox›]\nmode = \"x\"\n"),
    ],
    good: &[
        case("sandbox_mode = \"read-only\"\n"),
        case("[features]\nhooks = true\ncodex_hooks = true\n"),
        case("[desktop]\nanything = 1\n"),
    ],
    check: Check::File(unknown),
};

pub const SWALLOWED: Rule = Rule {
    id: "key-swallowed",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "the header above has captured this key",
    why: "In TOML a key belongs to the last header above it. A key of the root that was appended to \
          the end of the file stands in the last table, where Codex ignores it, or refuses it.",
    bad: &[
        case("[tui]\nnotifications = true\n\n‹sandbox_mode› = \"read-only\"\n")
            .fixed("sandbox_mode = \"read-only\"\n\n[tui]\nnotifications = true\n\n"),
        case(
            "[features]\nmulti_agent = true\n# desktop\n‹notify› = [\"notify-send\", \"codex\"]\n",
        )
        .fixed(
            "# desktop\nnotify = [\"notify-send\", \"codex\"]\n\n[features]\nmulti_agent = true\n",
        ),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\n‹approval_policy› = \"on-request\"\n"),
    ],
    good: &[
        case("sandbox_mode = \"read-only\"\n[tui]\nnotifications = true\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nname = \"x\"\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\n[mcp_servers.a.env]\nmodel = \"x\"\n"),
        case("[features]\nskills = true\n").also(&["key-unknown"]),
        case("[agents.a]\nmodel = \"x\"\n").also(&["key-unknown"]),
    ],
    check: Check::File(swallowed),
};

pub const WRONG_TYPE: Rule = Rule {
    id: "key-wrong-type",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "Codex refuses a value of this type",
    why: "Codex does not start where this is the value in force: one value of another type stops \
          all of it. It looks at the merged result, so a stronger layer may hide the fault, and \
          whether Codex starts then depends on the folder.",
    bad: &[
        case("sandbox_mode = ‹1›\n"),
        case("notify = ‹\"notify-send\"›\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nargs = ‹\"--x\"›\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nenv = { PORT = ‹80› }\n"),
        case("[sandbox_workspace_write]\nnetwork_access = ‹\"no\"›\n"),
        case("[features]\nhooks = ‹\"on\"›\n"),
        case("[analytics]\nenabled = ‹0›\n"),
        case("project_doc_max_bytes = ‹-1›\n"),
        case("approval_policy = ‹true›\n"),
    ],
    good: &[
        case("model = 1979-05-27\n"),
        case("sandbox_workspace_write = [[\"/srv/w\"], false]\n"),
        case("[tui]\nnotifications = [\"a\"]\n"),
    ],
    check: Check::File(wrong_type),
};

pub const INVALID: Rule = Rule {
    id: "value-invalid",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "Codex does not know this word",
    why: "Codex does not start where this is the value in force. Case counts, too.",
    bad: &[
        case("sandbox_mode = ‹\"full\"›\n"),
        case("sandbox_mode = ‹\"Read-Only\"›\n").fixed("sandbox_mode = \"read-only\"\n"),
        case("sandbox_mode = ‹\"Danger-Full-Access\"›\n"),
        case("approval_policy = ‹\"always\"›\n"),
        case("approvals_reviewer = ‹\"usr\"›\n").fixed("approvals_reviewer = \"user\"\n"),
        case("[projects.\"/srv/a\"]\ntrust_level = ‹\"yes\"›\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\ndefault_tools_approval_mode = ‹\"ask\"›\n"),
    ],
    good: &[
        case("sandbox_mode = \"read-only\"\napproval_policy = \"on-request\"\n"),
        case("approval_policy = \"on-failure\"\n").also(&["approval-value-retired"]),
    ],
    check: Check::File(invalid),
};

pub const PROJECT: Rule = Rule {
    id: "project-key-ignored",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "Codex takes this key from no project",
    why: "Where the agent's requests go, who is told of them, and which profile is in force are the \
          user's to say: Codex drops such keys from a project's file and starts without them.",
    bad: &[
        case("‹notify› = [\"x\"]\n")
            .in_home(Home::Project)
            .fixed("# notify = [\"x\"]\n"),
        case("[‹model_providers›.x]\nname = \"x\"\n").in_home(Home::Project),
        case("[features]\n‹respect_system_proxy› = true\n").in_home(Home::Nested),
    ],
    good: &[
        case("notify = [\"x\"]\n"),
        case("model = \"x\"\n").in_home(Home::Project),
    ],
    check: Check::File(project),
};

fn unknown(file: &ConfigFile, found: &mut Findings) {
    for fault in file.faults() {
        let What::Unknown { known, silent } = &fault.what else {
            continue;
        };
        let Some((name, above)) = fault.path.split_last() else {
            continue;
        };
        if is_swallowed(file, fault) || is_told_elsewhere(fault) {
            continue;
        }
        let meant = closest(name, known.iter().copied());
        if *silent && meant.is_none() {
            // The table may hold what nobody listed yet.
            continue;
        }
        let finding = found.add(&UNKNOWN, fault.node.key);
        if above.is_empty() {
            finding.says(format!("Codex knows no key `{name}`, and ignores it"));
        } else {
            finding.says(format!(
                "Codex knows no key `{name}` in `{}`, and ignores it",
                dotted(above)
            ));
        }
        if let Some(meant) = meant {
            finding.help(format!("did you mean `{meant}`?"));
            let once = matches!(fault.node.form, Form::Value | Form::Inline);
            let table = above
                .iter()
                .try_fold(file.root(), |node, part| node.child(part));
            if once
                && table.is_some_and(|table| table.child(meant).is_none())
                && !opens(meant, fault.node)
            {
                finding.fix(
                    Grade::Safe,
                    [Edit::replace(fault.node.key, quoted_if_needed(meant))],
                );
            }
        }
    }
}

/// Whether mending the key would open the gate: nobody does that by a safe fix.
fn opens(key: &str, value: &Node) -> bool {
    let open_word = matches!(
        word(value),
        Some("danger-full-access" | ":danger-full-access" | "never" | "approve" | "trusted")
    );
    open_word || (key == "network_access" && value.as_bool() == Some(true))
}

/// Keys that a rule of their own speaks about.
fn is_told_elsewhere(fault: &Fault) -> bool {
    let name = fault.path.last().copied().unwrap_or_default();
    name == "mcp_elicitations"
        || (fault.path.len() == 1
            && (super::wrong_shape::is_other_shape(name, fault.node)
                || (name == "granular" && fault.node.child("mcp_elicitations").is_some())))
}

/// A key of the root that stands as a plain line below some header.
fn is_swallowed(file: &ConfigFile, fault: &Fault) -> bool {
    let Some((name, above)) = fault.path.split_last() else {
        return false;
    };
    // An agent's role, and a profile, is often given keys of the root, and means them.
    let meant = matches!(above, ["agents" | "profiles", _]);
    if above.is_empty() || meant || !is_root_key(name) || !fits_root(name, fault.node, file) {
        return false;
    }
    let table = above
        .iter()
        .try_fold(file.root(), |node, part| node.child(part));
    table.is_some_and(|table| table.form == Form::Header)
        && matches!(fault.node.form, Form::Value | Form::Inline)
}

fn swallowed(file: &ConfigFile, found: &mut Findings) {
    let target = end_of_root(file);
    let report = |fault: &Fault, found: &mut Findings| {
        let (Some((name, above)), node) = (fault.path.split_last(), fault.node) else {
            return;
        };
        let table = dotted(above);
        let finding = found.add(&SWALLOWED, node.key);
        finding
            .says(format!(
                "`{name}` stands in `[{table}]`, where it does not count"
            ))
            .note("a key belongs to the last header above it")
            .help("move it above the first header of the file");
        if let Some(edits) = target.and_then(|target| move_up(file, name, node, target)) {
            finding.fix(Grade::Safe, edits);
        }
    };
    let mut seen = HashSet::new();
    for fault in file.faults() {
        let unknown = matches!(fault.what, What::Unknown { .. });
        if unknown && is_swallowed(file, fault) {
            seen.insert(fault.node.key);
            report(fault, found);
        }
    }
    // Servers' unknown keys are another rule's, their captured ones are not.
    let servers = file.root().child("mcp_servers").and_then(Node::as_table);
    for (name, server) in servers.into_iter().flatten() {
        for (key, node) in server.as_table().into_iter().flatten() {
            let fault = Fault {
                node,
                path: vec!["mcp_servers", name, key],
                what: What::Unknown {
                    known: Vec::new(),
                    silent: false,
                },
            };
            let own = crate::codex::server::key(key).is_some();
            if !own && !seen.contains(&node.key) && is_swallowed(file, &fault) {
                report(&fault, found);
            }
        }
    }
}

/// Where a line of the root goes: above the first header and its comments.
fn end_of_root(file: &ConfigFile) -> Option<usize> {
    let first = file
        .document()
        .statements()
        .iter()
        .find(|statement| matches!(statement.kind, StatementKind::Header))?;
    let span = with_comments(file.document().text(), Span::at(first.span.start))?;
    Some(span.start)
}

/// The edits that move a line, with the comments above it, to the end of the root's own lines.
fn move_up(file: &ConfigFile, name: &str, node: &Node, target: usize) -> Option<[Edit; 2]> {
    let document = file.document();
    if file.root().child(name).is_some() {
        return None;
    }
    let text = document.text();
    let cut = with_comments(text, file.pair(node)?.span)?;
    let mut lines = document.slice(cut).to_owned();
    // Only the last line of a file has no end of its own to go by.
    let newline = if lines.ends_with("\r\n") || (!lines.ends_with('\n') && text.contains("\r\n")) {
        "\r\n"
    } else {
        "\n"
    };
    if !lines.ends_with('\n') {
        lines.push_str(newline);
    }
    lines.push_str(newline);
    Some([Edit::insert(target, lines), Edit::remove(cut)])
}

/// The lines of `span`, and the comment lines right above.
fn with_comments(text: &str, span: Span) -> Option<Span> {
    let mut start = text.get(..span.start)?.rfind('\n').map_or(0, |at| at + 1);
    // A mark at the very start of the file stays there.
    if start == 0 && text.starts_with('\u{feff}') {
        start = '\u{feff}'.len_utf8();
    }
    while start > 0 {
        let above = text.get(..start - 1)?;
        let line = above.rfind('\n').map_or(0, |at| at + 1);
        if !text[line..start].trim_start().starts_with('#') {
            break;
        }
        start = line;
    }
    let end = text
        .get(span.end..)?
        .find('\n')
        .map_or(text.len(), |at| span.end + at + 1);
    Some(Span::new(start, end))
}

fn wrong_type(file: &ConfigFile, found: &mut Findings) {
    let all = file.faults();
    let captured: HashSet<Span> = all
        .iter()
        .filter(|fault| matches!(fault.what, What::Unknown { .. }) && is_swallowed(file, fault))
        .map(|fault| fault.node.key)
        .collect();
    for fault in all {
        let path = dotted(&fault.path);
        match &fault.what {
            What::Type { wanted } if !captured.contains(&fault.node.key) => {
                found
                    .add(&WRONG_TYPE, fault.node)
                    .says(format!("`{path}` must be {wanted}"))
                    .label(format!("this is {}", kind(fault.node)));
            }
            What::Refused { why } => {
                found
                    .add(&WRONG_TYPE, fault.node)
                    .says(format!("Codex refuses `{path}`: {why}"));
            }
            _ => {}
        }
    }
}

/// The kind of a value with its article.
fn kind(node: &Node) -> &'static str {
    match node.value().kind() {
        "string" => "a string",
        "integer" => "an integer",
        "float" => "a float",
        "boolean" => "a boolean",
        "datetime" => "a date",
        "array" => "an array",
        _ => "a table",
    }
}

fn invalid(file: &ConfigFile, found: &mut Findings) {
    for fault in file.faults() {
        let What::Word { words } = &fault.what else {
            continue;
        };
        let path = dotted(&fault.path);
        let listed: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        let finding = found.add(&INVALID, fault.node);
        finding
            .says(format!("`{path}` does not take this word"))
            .label(format!("Codex knows {}", listed.join(", ")));
        let meant = word(fault.node).and_then(|word| closest(word, words.iter().copied()));
        if let Some(meant) = meant {
            finding.help(format!("did you mean `{meant}`?"));
            let opens = matches!(
                meant,
                "danger-full-access" | "never" | "approve" | "trusted"
            );
            if !opens && fault.node.form == Form::Value {
                finding.fix(
                    Grade::Safe,
                    [Edit::replace(fault.node.span, format!("\"{meant}\""))],
                );
            }
        }
    }
}

fn project(file: &ConfigFile, found: &mut Findings) {
    if !file.home().is_project() {
        return;
    }
    let mut report = |path: &[&str], node: &Node| {
        if !is_denied_in_projects(path, file.version()) {
            return;
        }
        let finding = found.add(&PROJECT, node.key);
        finding
            .says(format!("Codex takes `{}` from no project", dotted(path)))
            .help("write it into the user's config.toml");
        let line = file
            .pair(node)
            .filter(|statement| !file.document().slice(statement.span).contains('\n'));
        if let Some(line) = line {
            finding.fix(Grade::Safe, [Edit::insert(line.span.start, "# ")]);
        }
    };
    for (name, node) in file.root().as_table().into_iter().flatten() {
        report(&[name], node);
    }
    let features = file.root().child("features").and_then(Node::as_table);
    for (name, node) in features.into_iter().flatten() {
        report(&["features", name], node);
    }
}
