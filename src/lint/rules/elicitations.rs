//! `elicitations-off`, `elicitations-misplaced`, `granular-incomplete`: whether a server's question
//! reaches a human.
//! Source: scenarios granular-inline, granular-dotted, granular-array, granular-missing-rules,
//! granular-missing-sandbox-approval, granular-missing-mcp-elicitations, granular-required-three,
//! granular-unknown-key, prec-granular-merge, elicitations-at-root, elicitations-in-features,
//! elicitations-in-server, granular-top-level-table, approval-never; Codex 0.134 to 0.171.

use super::approval::policy;
use crate::document::{Edit, Form, Node, Span};
use crate::lint::server::Server;
use crate::lint::words::closest;
use crate::lint::{Check, Confidence, ConfigFile, Findings, Grade, Home, Rule, Severity, case};

const KEY: &str = "mcp_elicitations";
/// Keys of a granular policy, in the order in which an array gives their values; the first three
/// by name must be there.
const KEYS: [(&str, bool); 5] = [
    ("sandbox_approval", true),
    ("rules", true),
    ("skill_approval", false),
    ("request_permissions", false),
    (KEY, true),
];

pub const OFF: Rule = Rule {
    id: "elicitations-off",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "questions of MCP servers never reach a human",
    why: "A server asks its user through an elicitation, and so does codexgate's approver. With \
          `mcp_elicitations = false`, or under `never`, Codex declines each question by itself, \
          so an approver cannot ask and grants nothing.",
    bad: &[
        case("approval_policy = { granular = { sandbox_approval = true, rules = true, mcp_elicitations = ‹false› } }\n")
            .fixed("approval_policy = { granular = { sandbox_approval = true, rules = true, mcp_elicitations = true } }\n"),
        case("[approval_policy.granular]\nsandbox_approval = true\nrules = true\nmcp_elicitations = ‹false›\n")
            .fixed("[approval_policy.granular]\nsandbox_approval = true\nrules = true\nmcp_elicitations = true\n"),
        case("approval_policy.granular = [true, true, false, false, ‹false›]\n"),
        case("approval_policy = ‹\"never\"›\n").also(&["approval-never"]),
        case("approval_policy = ‹\"never\"›\n[mcp_servers.codexgate]\ncommand = \"/usr/bin/codexgate\"\nargs = [\"mcp\"]\nenv_vars = [\"CODEX_HOME\", \"XDG_STATE_HOME\", \"XDG_CONFIG_HOME\"]\n")
            .also(&["approval-never"]),
    ],
    good: &[
        case("approval_policy = \"on-request\"\n"),
        case("[approval_policy.granular]\nsandbox_approval = false\nrules = false\nmcp_elicitations = true\n"),
    ],
    check: Check::File(off),
};

pub const MISPLACED: Rule = Rule {
    id: "elicitations-misplaced",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "Codex ignores `mcp_elicitations` here",
    why: "The key counts in `approval_policy.granular` alone. At the root, in `[features]`, in a \
          server's table or in a `[granular]` of its own it changes nothing, whatever it looks like.",
    bad: &[
        case("‹mcp_elicitations› = true\n").fixed("# mcp_elicitations = true\n"),
        case("[features]\n‹mcp_elicitations› = true\n")
            .fixed("[features]\n# mcp_elicitations = true\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\n‹mcp_elicitations› = true\n")
            .also(&["server-key-unknown"]),
        case("[granular]\n‹mcp_elicitations› = true\n"),
        case(
            "approval_policy = { granular = { sandbox_approval = true, rules = true, mcp_elicitations = true } }\n[tui]\n‹mcp_elicitations› = true\n",
        ),
    ],
    good: &[
        case(
            "[approval_policy.granular]\nsandbox_approval = true\nrules = true\nmcp_elicitations = true\n",
        ),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nenv = { mcp_elicitations = \"1\" }\n"),
    ],
    check: Check::File(misplaced),
};

pub const INCOMPLETE: Rule = Rule {
    id: "granular-incomplete",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this granular policy is not complete",
    why: "Codex does not start unless `sandbox_approval`, `rules` and `mcp_elicitations` are all \
          there in the merged result. An unknown key in it is ignored without the usual warning.",
    bad: &[
        case("[approval_policy.‹granular›]\nsandbox_approval = true\nmcp_elicitations = true\n"),
        case("approval_policy = { ‹granular› = { sandbox_approval = true, rules = true } }\n")
            .fixed("approval_policy = { granular = { sandbox_approval = true, rules = true, mcp_elicitations = true } }\n"),
        case("approval_policy.‹granular› = {}\n"),
        case("[approval_policy.granular]\nsandbox_approval = true\nrules = true\nmcp_elicitations = true\n‹mcp_elicitation› = true\n"),
        case("[approval_policy.‹granular›]\nrules = true\n").in_home(Home::Project),
    ],
    good: &[
        case("[approval_policy.granular]\nsandbox_approval = true\nrules = true\nmcp_elicitations = true\n"),
        case("approval_policy.granular = [true, true, false, false, true]\n"),
    ],
    check: Check::File(incomplete),
};

fn granular<'a>(file: &ConfigFile<'a>) -> Option<&'a Node> {
    file.root().child("approval_policy")?.child("granular")
}

/// The value of a key of the policy, by name or by its place in an array.
fn member<'a>(granular: &'a Node, key: &str) -> Option<&'a Node> {
    let at = KEYS.iter().position(|(name, _)| *name == key)?;
    match granular.as_array() {
        Some(items) => items.get(at),
        None => granular.child(key),
    }
}

fn off(file: &ConfigFile, found: &mut Findings) {
    let approver = Server::all(file).find(Server::is_approver);
    let off = granular(file)
        .and_then(|granular| member(granular, KEY))
        .filter(|node| node.as_bool() == Some(false));
    let never = policy(file, "never");
    let Some(node) = off.or(never) else {
        return;
    };
    let finding = found.add(&OFF, node);
    if off.is_some() {
        finding
            .help("use `mcp_elicitations = true`")
            .fix(Grade::Unsafe, [Edit::replace(node.span, "true")]);
    } else {
        finding
            .label("`never` declines them, too")
            .help("use `approval_policy = \"on-request\"`");
    }
    if let Some(approver) = approver {
        finding
            .severity(Severity::Error)
            .related(approver.node.key, "so this approver cannot ask");
    }
}

fn misplaced(file: &ConfigFile, found: &mut Findings) {
    let mut path = Vec::new();
    search(file, file.root(), &mut path, found);
}

/// Tables whose members are anybody's names, not Codex's keys.
const FREE: &[&str] = &[
    "env",
    "set",
    "http_headers",
    "env_http_headers",
    "tools",
    "input",
];

fn search<'a>(file: &ConfigFile, node: &'a Node, path: &mut Vec<&'a str>, found: &mut Findings) {
    let Some(members) = node.as_table() else {
        return;
    };
    if path.last().is_some_and(|last| FREE.contains(last)) {
        return;
    }
    for (name, member) in members {
        let right = matches!(path.as_slice(), [.., "approval_policy", "granular"]);
        if name == KEY && !right {
            report(file, member, found);
        }
        path.push(name);
        search(file, member, path, found);
        path.pop();
    }
}

fn report(file: &ConfigFile, node: &Node, found: &mut Findings) {
    let finding = found.add(&MISPLACED, node.key);
    finding.help("write it into `[approval_policy.granular]`, which needs `sandbox_approval` and `rules`, too; under `on-request` it is not needed");
    if let Some(line) = own_line(file, node) {
        finding.fix(Grade::Unsafe, [Edit::insert(line.start, "# ")]);
    }
}

/// The statement `key = value` of a node, where it has its line to itself.
fn own_line(file: &ConfigFile, node: &Node) -> Option<Span> {
    let span = file.pair(node)?.span;
    (!file.document().slice(span).contains('\n')).then_some(span)
}

fn incomplete(file: &ConfigFile, found: &mut Findings) {
    let Some(granular) = granular(file) else {
        return;
    };
    let Some(members) = granular.as_table() else {
        return;
    };
    for (name, node) in members {
        if KEYS.iter().any(|(key, _)| key == name) {
            continue;
        }
        let finding = found.add(&INCOMPLETE, node.key);
        finding.severity(Severity::Warning).says(format!(
            "Codex ignores `{name}` in a granular policy, without a word"
        ));
        if let Some(meant) = closest(name, KEYS.iter().map(|(key, _)| *key)) {
            finding.help(format!("did you mean `{meant}`?"));
        }
    }
    let missing: Vec<&str> = KEYS
        .iter()
        .filter(|(key, needed)| *needed && !members.contains_key(*key))
        .map(|(key, _)| *key)
        .collect();
    if missing.is_empty() {
        return;
    }
    let names: Vec<String> = missing.iter().map(|key| format!("`{key}`")).collect();
    let finding = found.add(&INCOMPLETE, granular.key);
    finding
        .says(format!(
            "this granular policy lacks {}",
            names.join(" and ")
        ))
        .help(format!("add {} = true", missing.join(" = true, ")));
    if file.home().is_project() || file.kind() != crate::lint::Kind::Config {
        finding
            .severity(Severity::Info)
            .note("Codex does not start unless another layer has the rest");
    } else {
        finding.note("Codex does not start, unless another layer has the rest");
    }
    // Behind the last member, in braces: `, key = true`.
    if granular.form == Form::Inline
        && let Some(last) = members.values().last()
    {
        let text = format!(", {} = true", missing.join(" = true, "));
        finding.fix(Grade::Unsafe, [Edit::insert(last.span.end, text)]);
    }
}
