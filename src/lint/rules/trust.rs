//! `trust-ineffective`, `auto-trust`: which folders Codex trusts.
//! Source: scenarios trust-trailing-slash, trust-dot-segment, trust-tilde-real, trust-self,
//! project-projects-key, autotrust-user-workspace-write, autotrust-user-full-access,
//! autotrust-user-permissions, autotrust-system, autotrust-user-read-only; Codex 0.134 to 0.171.

use crate::document::{Edit, Form, Node};
use crate::lint::file::word;
use crate::lint::words::quoted_if_needed;
use crate::lint::{
    Check, Confidence, ConfigFile, Findings, Grade, Home, Kind, Rule, Severity, case,
};

pub const INEFFECTIVE: Rule = Rule {
    id: "trust-ineffective",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "no folder ever has this path",
    why: "Codex compares the path as text with the canonical path of the folder. A slash at the \
          end, a `~`, a `.` or `..` in it, or a relative path never match, so the project is as \
          unknown as before. A project cannot trust itself.",
    bad: &[
        case("[projects.‹\"/srv/a/\"›]\ntrust_level = \"trusted\"\n")
            .fixed("[projects.\"/srv/a\"]\ntrust_level = \"trusted\"\n"),
        case("[projects.‹\"~/a\"›]\ntrust_level = \"trusted\"\n"),
        case("[projects.‹\"/srv/./a\"›]\ntrust_level = \"untrusted\"\n")
            .fixed("[projects.\"/srv/a\"]\ntrust_level = \"untrusted\"\n"),
        case("projects = { ‹a› = { trust_level = \"trusted\" } }\n"),
        case("[‹projects›.\"/srv/a\"]\ntrust_level = \"trusted\"\n").in_home(Home::Project),
    ],
    good: &[
        case(
            "[projects.\"/srv/a\"]\ntrust_level = \"trusted\"\n[projects.\"/\"]\ntrust_level = \"untrusted\"\n",
        ),
        case("[projects.'C:\\work\\a']\ntrust_level = \"trusted\"\n"),
    ],
    check: Check::File(ineffective),
};

pub const AUTO: Rule = Rule {
    id: "auto-trust",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "clients of Codex's app server trust every repository that they open",
    why: "An editor that opens a repository starts a thread. Where the sandbox of the user or \
          system is workspace-write or wider, Codex then marks a repository that nobody marked as \
          trusted, loads its configuration and starts its servers, in the same call. With \
          read-only it asks first.",
    bad: &[
        case("sandbox_mode = ‹\"workspace-write\"›\n"),
        case("default_permissions = ‹\":workspace\"›\n"),
        case("sandbox_mode = ‹\"workspace-write\"›\n").in_home(Home::System),
        case("sandbox_mode = ‹\"danger-full-access\"›\n").also(&["danger-full-access"]),
    ],
    good: &[
        case("sandbox_mode = \"read-only\"\n"),
        case("sandbox_mode = \"workspace-write\"\n").in_home(Home::Project),
        case("sandbox_mode = \"workspace-write\"\n").of(Kind::Profile),
    ],
    check: Check::File(auto),
};

fn ineffective(file: &ConfigFile, found: &mut Findings) {
    let Some(projects) = file.root().child("projects") else {
        return;
    };
    if file.home().is_project() {
        found
            .add(&INEFFECTIVE, projects.key)
            .says("a project cannot say which folders are trusted")
            .note("Codex reads `projects` from the user's and the system's files alone");
        return;
    }
    for (path, node) in projects.as_table().into_iter().flatten() {
        let Some(why) = never_matches(path) else {
            continue;
        };
        let finding = found.add(&INEFFECTIVE, node.key);
        finding
            .says(format!("this path never matches: it {why}"))
            .help("write the canonical path of the folder");
        let plain = canonical(path).filter(|plain| {
            // One place, one edit, and no second entry for the same folder.
            projects.child(plain).is_none() && written_once(node)
        });
        if let Some(plain) = plain {
            finding.fix(
                Grade::Safe,
                [Edit::replace(node.key, quoted_if_needed(&plain))],
            );
        }
    }
}

fn never_matches(path: &str) -> Option<&'static str> {
    let windows = path.as_bytes().get(1) == Some(&b':') || path.starts_with("\\\\");
    if windows || path.contains("{{") {
        None
    } else if path.starts_with('~') {
        Some("starts with `~`, which nothing expands")
    } else if path.starts_with('$') {
        Some("starts with a variable, which nothing expands")
    } else if !path.starts_with('/') {
        Some("is relative")
    } else if path.len() > 1 && path.ends_with('/') {
        Some("ends with a slash")
    } else if path.split('/').any(|part| part == "." || part == "..") {
        Some("has `.` or `..` in it")
    } else if path.contains("//") {
        Some("has an empty part")
    } else {
        None
    }
}

/// The path without what is only spelling. `..` may pass a link, so only the disk could tell.
fn canonical(path: &str) -> Option<String> {
    if !path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return None;
    }
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    Some(format!("/{}", parts.join("/")))
}

/// Whether the path stands there once: by a header of its own or in braces, with no table below.
fn written_once(node: &Node) -> bool {
    let scalars = node
        .as_table()
        .is_some_and(|members| members.values().all(|member| member.form == Form::Value));
    scalars && matches!(node.form, Form::Header | Form::Inline)
}

fn auto(file: &ConfigFile, found: &mut Findings) {
    let judged = file.kind() == Kind::Config && matches!(file.home(), Home::User | Home::System);
    if !judged {
        return;
    }
    // In one file the permission profile is in force (scenario perm-beats-sandbox).
    let profile = file.root().child("default_permissions");
    let is_wide = |node: &&Node| match profile {
        Some(_) => matches!(node.as_str(), Some(":workspace" | ":danger-full-access")),
        None => matches!(word(node), Some("workspace-write" | "danger-full-access")),
    };
    let wide = profile
        .or_else(|| file.root().child("sandbox_mode"))
        .filter(is_wide);
    if let Some(node) = wide {
        found.add(&AUTO, node).help(
            "keep `read-only` here, and let each project that you know say `workspace-write`",
        );
    }
}
