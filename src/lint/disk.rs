//! What the disk says about a file beside its bytes: modes, links, and whether programs are there.
//!
//! It is looked at once, when a file is read, so that no rule asks the disk. Looking follows what
//! Codex does: it reads through links, but not a `.rules` file that is one; it starts a hook with a
//! shell and the approver by its path. What cannot be told is not said.

use std::borrow::Cow;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::file::{Home, Kind, Source, Subject, text};
use super::hooks::HooksFile;
use super::server::{Server, Word, basename};
use super::shell::{self, ShellWord};
use super::{ConfigFile, Setup};
use crate::codex::Site;
use crate::codex::site::DOT_CODEX;
use crate::codex::version::Version;
use crate::document::{Node, Span};
use crate::files;

/// What the disk says about one file. Nothing, where nobody looked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Disk {
    /// The permission bits.
    pub mode: Option<u32>,
    /// Where it leads, if that is out of the project that it belongs to.
    pub leads_out: Option<PathBuf>,
    /// Why Codex does not read it, though it holds rules.
    pub not_read: Option<NotRead>,
    /// Whether other users of the machine can read it.
    pub others_read: bool,
    /// Why others can change it, if they can.
    pub others_write: Option<String>,
    /// The programs that it names, each that could be looked for.
    pub programs: Vec<Program>,
}

/// Why Codex does not read a file with rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotRead {
    /// It is a symbolic link.
    Link,
    /// It does not end in `.rules`.
    Suffix,
    /// It lies in a folder below `rules`.
    Nested,
}

/// A program, or another file that must be there, that a file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The value that names it.
    pub span: Span,
    /// Who starts it.
    pub role: Role,
    /// Where it is looked for.
    pub path: PathBuf,
    /// What is there.
    pub state: State,
}

/// Who starts a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A hook.
    Hook,
    /// A program that a hook starts with this as the code that it runs.
    Script,
    /// The approver's entry.
    Approver,
    /// Nobody: Codex itself reads it, and does not start without it.
    File,
    /// Nobody: Codex reads it for a role of an agent, which it ignores without it.
    RoleFile,
}

/// What is at a program's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// A program.
    There,
    /// Nothing.
    Missing,
    /// A file that nobody may start.
    NotExecutable,
    /// A program that others than this user and root can change, and how.
    Open(String),
}

/// Looks at the file that was read as `source`. Most files cost one look, whether they are links.
pub fn look(site: &Site, source: &Source) -> Disk {
    let subject = &source.subject;
    let is_secret = subject.home == Home::User && !source.secrets.is_empty();
    let is_system = subject.home == Home::System;
    let mode = (is_secret || is_system)
        .then(|| fs::metadata(&subject.path).ok())
        .flatten()
        .map(|meta| meta.permissions().mode() & 0o7777);
    Disk {
        mode,
        leads_out: (subject.home.is_project() && subject.path.is_symlink())
            .then(|| leads_out(subject))
            .flatten(),
        not_read: None,
        others_read: is_secret
            && mode.is_some_and(|mode| mode & 0o004 != 0)
            && is_reachable(&subject.path),
        others_write: is_system.then(|| others_write(&subject.path)).flatten(),
        programs: named(source)
            .iter()
            .filter_map(|named| look_for(site, source, named))
            .collect(),
    }
}

/// What the disk would say of an example.
pub fn pretend(site: &Site, source: &Source, setup: &[Setup]) -> Disk {
    let mut disk = Disk::default();
    let path = &source.subject.path;
    let link = setup.iter().find_map(|step| match step {
        Setup::Link(to) => Some(PathBuf::from(to)),
        _ => None,
    });
    let is_named = setup.iter().any(|step| matches!(step, Setup::Name(_)));
    if source.subject.kind == Kind::Folder && is_named {
        disk.not_read = not_read(path, link.is_some());
    } else {
        disk.leads_out = link;
    }
    for step in setup {
        match step {
            Setup::Mode(mode) => {
                let is_system = source.subject.home == Home::System;
                disk.mode = Some(*mode);
                disk.others_read = mode & 0o004 != 0 && !source.secrets.is_empty();
                disk.others_write =
                    (is_system && mode & 0o022 != 0).then(|| format!("it has mode {mode:04o}"));
            }
            Setup::There(programs) => {
                let found = named(source).into_iter().filter_map(|named| {
                    let path = place(site, source, &named)?;
                    let is_there = programs.iter().any(|there| Path::new(there) == path);
                    let state = if is_there {
                        State::There
                    } else {
                        State::Missing
                    };
                    Some(program(&named, path, state))
                });
                disk.programs = found.collect();
            }
            Setup::Link(_) | Setup::Name(_) => {}
        }
    }
    disk
}

/// Why a file at `name` in one of Codex's folders is not read, if it is not.
pub fn not_read(name: &Path, is_link: bool) -> Option<NotRead> {
    let above = name.parent()?.file_name()?;
    if !is_rules(name) {
        Some(NotRead::Suffix)
    } else if above != "rules" {
        Some(NotRead::Nested)
    } else if is_link {
        Some(NotRead::Link)
    } else {
        None
    }
}

/// Whether a name is one that Codex reads rules from.
pub fn is_rules(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix == "rules")
}

/// Where `path`, a `.codex` or a file in one, leads, if that is out of its project.
pub fn leads_out(subject: &Subject) -> Option<PathBuf> {
    if !subject.home.is_project() {
        return None;
    }
    let target = subject.path.canonicalize().ok()?;
    let dot_codex = subject
        .path
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == DOT_CODEX))?;
    let project = dot_codex.parent()?;
    let project = project.canonicalize().ok()?;
    let top = project
        .ancestors()
        // One that cannot be looked at counts: the nearer root is the safer one.
        .find(|folder| files::is_git_root(folder).unwrap_or(true))
        .unwrap_or(&project);
    // A folder that leads out is told once, not for each file in it.
    let told_above = subject.path != dot_codex
        && !dot_codex
            .canonicalize()
            .is_ok_and(|dot_codex| dot_codex.starts_with(top));
    (!target.starts_with(top) && !told_above).then_some(target)
}

/// Whether every folder above the file at `path` lets others through.
fn is_reachable(path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else {
        return false;
    };
    path.ancestors()
        .skip(1)
        .all(|folder| fs::metadata(folder).is_ok_and(|meta| meta.permissions().mode() & 0o001 != 0))
}

/// Why others can change what is at `path`, if they can.
fn others_write(path: &Path) -> Option<String> {
    match files::own_safety(&std::path::absolute(path).ok()?, &[]) {
        Err(why @ (files::Unsafe::Owner { .. } | files::Unsafe::Writable { .. })) => {
            Some(why.to_string())
        }
        // A test's system folder may lie in a repository.
        _ => None,
    }
}

/// A program as a file names it.
struct Named<'a> {
    span: Span,
    role: Role,
    text: Cow<'a, str>,
}

/// The programs that `source` names so that they can be looked for.
fn named(source: &Source) -> Vec<Named<'_>> {
    let mut found = Vec::new();
    // A copy that lies elsewhere is not meant for this machine.
    if source.subject.home == Home::Loose {
        return found;
    }
    let version = Version::default();
    if let Some(hooks) = HooksFile::new(source, version) {
        for handler in hooks.handlers() {
            if let Some(command) = handler
                .command()
                .filter(|_| handler.kind() != Some("mcp_tool"))
            {
                of_hook(command, &mut found);
            }
        }
    }
    if let Some(file) = ConfigFile::new(source, version).filter(|file| file.kind().is_config()) {
        of_config(&file, &mut found);
        for server in Server::all(&file).filter(Server::is_approver) {
            if let Some(command) = server.word("command") {
                found.push(Named {
                    span: command.span,
                    role: Role::Approver,
                    text: command.text.into(),
                });
            }
        }
    }
    found
}

/// Keys of the root that name a file which must be there.
const FILES: &[&str] = &[
    "experimental_compact_prompt_file",
    "model_catalog_json",
    "model_instructions_file",
];

fn of_config<'a>(file: &ConfigFile<'a>, found: &mut Vec<Named<'a>>) {
    let root = file.root();
    let mut add = |node: &'a Node, role| {
        if let Some(text) = text(node) {
            found.push(Named {
                span: node.span,
                role,
                text: text.into(),
            });
        }
    };
    for node in FILES.iter().filter_map(|key| root.child(key)) {
        add(node, Role::File);
    }
    let roles = root.child("agents").and_then(Node::as_table);
    for role in roles.into_iter().flat_map(|roles| roles.values()) {
        if let Some(node) = role.child("config_file") {
            add(node, Role::RoleFile);
        }
    }
}

/// Programs that start what follows them.
const WRAPPERS: &[&str] = &["env", "exec", "command", "nohup", "nice", "time", "sudo"];
/// Programs whose first argument is a file of code.
const INTERPRETERS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "python", "python3", "node", "ruby", "perl", "bun",
];

/// The program of a hook's command line, and the script that an interpreter is given.
fn of_hook<'a>(command: Word<'a>, found: &mut Vec<Named<'a>>) {
    let commands = shell::commands(command.text);
    let Some(words) = commands.first() else {
        return;
    };
    let is_skipped = |word: &&ShellWord| {
        WRAPPERS.contains(&word.text.as_str())
            || word.text.split_once('=').is_some_and(|(name, _)| {
                name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            })
    };
    let mut words = words.iter().skip_while(is_skipped);
    let Some(program) = words.next() else { return };
    let mut add = |word: &ShellWord, role| {
        if let Some(text) = path_of(word) {
            found.push(Named {
                span: command.span,
                role,
                text: text.into(),
            });
        }
    };
    add(program, Role::Hook);
    if INTERPRETERS.contains(&basename(&program.text))
        && let Some(script) = words.next().filter(|word| !word.text.starts_with('-'))
    {
        add(script, Role::Script);
    }
}

/// The path that a word of a command line is, with `~` and `$HOME` as `~/`, if it can be told.
fn path_of(word: &ShellWord) -> Option<String> {
    let text = &word.text;
    let in_home = ["$HOME/", "${HOME}/"]
        .iter()
        .find_map(|start| text.strip_prefix(start));
    let text = match in_home {
        Some(rest) => format!("~/{rest}"),
        None => text.clone(),
    };
    let is_plain = !text.contains(['$', '`', '*', '?', '[', '{']);
    (is_plain && text.contains('/')).then_some(text)
}

/// Where a named program is looked for, if that can be told.
fn place(site: &Site, source: &Source, named: &Named) -> Option<PathBuf> {
    let text = named.text.as_ref();
    if text.starts_with('/') {
        return Some(PathBuf::from(text));
    }
    if named.role == Role::Approver {
        return None;
    }
    if let Some(rest) = text.strip_prefix("~/") {
        return Some(site.home.as_ref()?.join(rest));
    }
    if matches!(named.role, Role::File | Role::RoleFile) {
        return Some(source.subject.path.parent()?.join(text));
    }
    // A thread starts at the top as a rule; a hook of the user may be meant for any project.
    let dot_codex = source.subject.path.parent()?;
    (source.subject.home.is_project() && !text.starts_with('~'))
        .then(|| dot_codex.parent().map(|top| top.join(text)))?
}

fn look_for(site: &Site, source: &Source, named: &Named) -> Option<Program> {
    let path = place(site, source, named)?;
    let starts = matches!(named.role, Role::Hook | Role::Approver);
    let state = match fs::metadata(&path) {
        Ok(meta) if meta.is_dir() => State::NotExecutable,
        Ok(meta) if starts && meta.permissions().mode() & 0o111 == 0 => State::NotExecutable,
        Ok(_) if named.role == Role::Approver => match others_write(&path) {
            Some(why) => State::Open(why),
            None => State::There,
        },
        Ok(_) => State::There,
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            // A relative path may be meant from the repository's top.
            let top = site.git_root.as_deref().unwrap_or(&site.project);
            let elsewhere = matches!(named.role, Role::Hook | Role::Script)
                && !named.text.starts_with(['/', '~'])
                && [top, &site.cwd]
                    .iter()
                    .any(|top| top.join(named.text.as_ref()).exists());
            if elsewhere {
                State::There
            } else {
                State::Missing
            }
        }
        Err(_) => return None,
    };
    Some(program(named, path, state))
}

fn program(named: &Named, path: PathBuf, state: State) -> Program {
    Program {
        span: named.span,
        role: named.role,
        path,
        state,
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::unmark;
    use super::super::registry::RULES;
    use super::super::run::{self, Watch};
    use super::super::{Case, Input, Scope};
    use super::*;
    use std::os::unix::fs::symlink;

    /// Builds an example below `top`, which takes the place of `/example`.
    fn build(case: &Case, top: &Path) -> Site {
        let here = |path: &Path| {
            let rest = path.strip_prefix("/example").expect("examples lie there");
            top.join(rest)
        };
        let write = |path: &Path, text: &str, mode: u32| {
            fs::create_dir_all(path.parent().expect("below the top")).expect("folders");
            fs::write(path, text).expect("a file");
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
        };
        for folder in ["project/.git", "home/.codex", "etc/codex"] {
            fs::create_dir_all(top.join(folder)).expect("folders");
        }
        fs::write(top.join("project/.git/HEAD"), "ref: refs/heads/main\n").expect("a file");
        let subject = case.source().subject;
        let mut path = here(&subject.path);
        if subject.kind == Kind::Rules {
            path = path.with_file_name("rules").join("default.rules");
        }
        let text = match case.input {
            Input::Text(text) | Input::Place(text) => unmark(text).0,
            Input::Bytes(..) | Input::Unreadable(_) => panic!("no such example is built"),
        };
        let text = text.replace("/example/", &format!("{}/", top.display()));
        let mut mode = 0o600;
        let mut link = None;
        for step in case.setup {
            match step {
                Setup::Link(to) => link = Some(here(Path::new(to))),
                Setup::Mode(bits) => mode = *bits,
                Setup::There(programs) => {
                    for program in *programs {
                        write(&here(Path::new(program)), "#!/bin/sh\n", 0o755);
                    }
                }
                Setup::Name(_) => {}
            }
        }
        if let Some(target) = link {
            fs::create_dir_all(path.parent().expect("below the top")).expect("folders");
            if path.ends_with(DOT_CODEX) {
                fs::create_dir_all(&target).expect("folders");
            } else {
                write(&target, &text, mode);
            }
            symlink(&target, &path).expect("a link");
        } else {
            write(&path, &text, mode);
        }
        Site {
            cwd: top.join("project"),
            project: top.join("project"),
            git_root: Some(top.join("project")),
            home: Some(top.join("home")),
            codex_home: Some(top.join("home/.codex")),
            system: top.join("etc/codex"),
            host: String::new(),
        }
    }

    /// How often `id` is found in an example that was built on the disk.
    fn found(case: &Case, id: &str) -> usize {
        let keep = tempfile::tempdir_in("/var/tmp").expect("a folder");
        let top = keep.path().canonicalize().expect("there");
        fs::set_permissions(&top, fs::Permissions::from_mode(0o755)).expect("ours");
        let site = build(case, &top);
        let sources = run::read_all(&site, &[], Scope::All, &Watch::default()).expect("there");
        let report = run::judge_in(
            &site,
            sources,
            Version::default(),
            Scope::All,
            &Watch::default(),
        );
        let findings = report.findings();
        findings
            .filter(|(_, finding)| finding.rule.id == id)
            .count()
    }

    #[test]
    fn what_examples_pretend_is_what_the_disk_says() {
        let mut built = 0;
        for rule in RULES {
            let is_tree = rule
                .checks()
                .iter()
                .any(|c| matches!(c, super::super::Check::Tree(_)));
            let on_disk = |case: &&Case| !case.setup.is_empty() || rule.id == "rules-not-read";
            for case in rule.bad.iter().filter(on_disk).filter(|_| is_tree) {
                assert_eq!(found(case, rule.id), 1, "{}: {:?}", rule.id, case.setup);
                built += 1;
            }
            for case in rule.good.iter().filter(on_disk).filter(|_| is_tree) {
                assert_eq!(found(case, rule.id), 0, "{}: {:?}", rule.id, case.setup);
                built += 1;
            }
        }
        assert!(built > 15, "{built}");
    }
}
