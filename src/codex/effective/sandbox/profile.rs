//! Permission profiles below `[permissions]`: what one amounts to, with all that it extends.
//!
//! Codex gives each path of a profile an access of its own and then tells what that amounts to in
//! the words of the older sandbox modes; the same is done here (scenarios `perm-custom-…`).

use std::path::{Component, Path, PathBuf};

use indexmap::IndexMap;

use super::{Decision, Reach, Sandbox, StartError, is_word_table, refuse, value_word};
use crate::document::Value;

/// A profile with all that it extends, and the order of its entries.
#[derive(Debug, Clone, Default)]
pub(super) struct Profile {
    filesystem: IndexMap<String, Value>,
    workspace_roots: Vec<String>,
    network: bool,
}

impl Decision<'_> {
    /// What a profile amounts to.
    pub(super) fn compile(&self, profile: &Profile) -> Result<Sandbox, StartError> {
        let cwd = self.cwd();
        let mut grants = Grants::default();
        let mut names: Vec<&String> = profile.filesystem.keys().collect();
        names.sort();
        for name in names {
            let value = &profile.filesystem[name];
            if name == "glob_scan_max_depth" {
                if matches!(value, Value::Integer(0)) {
                    return Err(refuse(
                        "`glob_scan_max_depth` must be at least 1".to_owned(),
                    ));
                }
                continue;
            }
            match value {
                Value::Table(scoped) if !is_word_table(value) => {
                    let mut inner: Vec<(&String, &Value)> = scoped.iter().collect();
                    inner.sort_by_key(|(sub, _)| *sub);
                    for (sub, access) in inner {
                        self.grant(&mut grants, name, Some(sub), access)?;
                    }
                }
                access => self.grant(&mut grants, name, None, access)?,
            }
        }
        // What `:workspace_roots` gives, each further root gets as well.
        for root in &profile.workspace_roots {
            let path = self.resolve_path(root, cwd);
            if path == cwd {
                continue;
            }
            if grants.cwd {
                grants.extra.push(path.clone());
            }
            for sub in grants.subs.clone() {
                grants.add(path.join(sub));
            }
        }
        if grants.cwd {
            grants.extra.extend(self.memories());
        }
        Ok(Sandbox {
            writes_cwd: grants.writes(cwd),
            reach: grants.reach(profile.network),
            network: profile.network,
            profile: None,
        })
    }

    fn grant(
        &self,
        grants: &mut Grants,
        name: &str,
        sub: Option<&str>,
        access: &Value,
    ) -> Result<(), StartError> {
        let access = value_word(access).unwrap_or_default();
        let writes = access == "write";
        let given = Access::of(&access);
        if !writes && name != ":minimal" {
            grants.narrower |= matches!(access.as_str(), "read" | "deny" | "none");
        }
        let sub = sub.filter(|sub| *sub != ".");
        if let Some(special) = name.strip_prefix(':') {
            match (special, sub) {
                ("workspace_roots", None) => {
                    grants.cwd |= writes;
                    grants.note(self.cwd(), given);
                }
                ("workspace_roots", Some(sub)) => {
                    if let Some(sub) = Self::sub_path(sub, &access)? {
                        grants.note(&self.cwd().join(&sub), given);
                        if writes {
                            grants.add(self.cwd().join(&sub));
                            grants.subs.push(sub);
                        }
                    }
                }
                ("root" | "minimal" | "tmpdir" | "slash_tmp", Some(_)) => {
                    return Err(refuse(format!("`{name}` takes no paths below it")));
                }
                ("root", None) => {
                    grants.root = writes.then_some(grants.roots.len());
                    grants.note(Path::new("/"), given);
                }
                ("tmpdir", None) => grants.tmpdir = writes,
                ("slash_tmp", None) => {
                    grants.slash_tmp = writes.then_some(grants.roots.len());
                    grants.note(Path::new(SLASH_TMP), given);
                }
                _ => {}
            }
            return Ok(());
        }
        let plain = without_glob(name, &access)?;
        let Some(plain) = plain else { return Ok(()) };
        if !plain.starts_with('/') && plain != "~" && !plain.starts_with("~/") {
            return Err(refuse(format!(
                "the path `{name}` of a permission profile must be absolute, begin with `~/` or with `:`"
            )));
        }
        let mut path = self.resolve_path(plain, self.cwd());
        if let Some(sub) = sub {
            match Self::sub_path(sub, &access)? {
                Some(sub) => path.push(sub),
                None => return Ok(()),
            }
        }
        grants.note(&path, given);
        if writes {
            if path == self.cwd() {
                grants.cwd = true;
            } else {
                grants.add(path);
            }
        }
        Ok(())
    }

    /// The folder below an entry; none where it is a pattern that only denies.
    fn sub_path(sub: &str, access: &str) -> Result<Option<PathBuf>, StartError> {
        let Some(sub) = without_glob(sub, access)? else {
            return Ok(None);
        };
        let path = PathBuf::from(sub);
        let descends = !sub.is_empty()
            && path
                .components()
                .all(|part| matches!(part, Component::Normal(_)));
        if descends {
            Ok(Some(path))
        } else {
            Err(refuse(format!(
                "`{sub}` must be a path below, without `.` and `..`"
            )))
        }
    }
}

/// The folder for temporary files that all share.
const SLASH_TMP: &str = "/tmp";

/// What an entry gives, in the order in which one stands before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    Read,
    Write,
    Deny,
}

impl Access {
    fn of(word: &str) -> Self {
        match word {
            "write" => Self::Write,
            "deny" | "none" => Self::Deny,
            _ => Self::Read,
        }
    }
}

/// What the entries of a profile give.
#[derive(Debug, Default)]
struct Grants {
    cwd: bool,
    /// Where among the roots everything is named, if it is.
    root: Option<usize>,
    tmpdir: bool,
    /// Where among the roots `/tmp` is named, if it is.
    slash_tmp: Option<usize>,
    /// What each folder gets.
    given: Vec<(PathBuf, Access)>,
    /// Whether any entry gives less than writing.
    narrower: bool,
    roots: Vec<PathBuf>,
    /// Folders below the working folder that can be written.
    subs: Vec<PathBuf>,
    extra: Vec<PathBuf>,
}

impl Grants {
    fn add(&mut self, path: PathBuf) {
        if !self.roots.contains(&path) {
            self.roots.push(path);
        }
    }

    fn note(&mut self, path: &Path, access: Access) {
        self.given.push((path.to_path_buf(), access));
    }

    const fn is_everything(&self) -> bool {
        self.root.is_some() && !self.narrower
    }

    /// Whether `path` can be written: the entry nearest to it decides, of two for the same folder
    /// the one that gives more, and a denial before both.
    fn writes(&self, path: &Path) -> bool {
        self.given
            .iter()
            .filter(|(folder, _)| path.starts_with(folder))
            .max_by_key(|(folder, access)| (folder.components().count(), *access))
            .is_some_and(|(_, access)| *access == Access::Write)
    }

    fn reach(mut self, network: bool) -> Reach {
        if self.is_everything() {
            return if network {
                Reach::Everything
            } else {
                Reach::AllFiles
            };
        }
        if self.cwd {
            self.roots.append(&mut self.extra);
            return Reach::Workspace {
                cwd: true,
                roots: self.roots,
                exclude_tmpdir: !self.tmpdir,
                exclude_slash_tmp: self.slash_tmp.is_none(),
            };
        }
        if self.roots.is_empty() && !self.tmpdir && self.slash_tmp.is_none() && self.root.is_none()
        {
            return Reach::ReadOnly;
        }
        // Without the working folder Codex tells what can be written, not what was written down:
        // `$TMPDIR` counts only when it is set, which the model does not look at.
        let writes_tmp = self.writes(Path::new(SLASH_TMP));
        if let Some(at) = self.slash_tmp
            && !self.roots.iter().any(|root| root == Path::new(SLASH_TMP))
        {
            self.roots.insert(at, PathBuf::from(SLASH_TMP));
        }
        if let Some(at) = self.root {
            self.roots.insert(at, PathBuf::from("/"));
        }
        Reach::Workspace {
            cwd: false,
            exclude_tmpdir: true,
            exclude_slash_tmp: !writes_tmp,
            roots: self.roots,
        }
    }
}

pub(super) fn resolve(
    name: &str,
    profiles: &IndexMap<String, Value>,
    seen: &mut Vec<String>,
) -> Result<Profile, StartError> {
    match name {
        ":read-only" => return Ok(built_in(&[(":root", "read")])),
        ":workspace" => {
            return Ok(built_in(&[
                (":root", "read"),
                (":slash_tmp", "write"),
                (":tmpdir", "write"),
                (":workspace_roots", "write"),
            ]));
        }
        _ => {}
    }
    if seen.iter().any(|earlier| earlier == name) {
        return Err(refuse(format!(
            "the permission profile `{name}` extends itself"
        )));
    }
    let Some(profile) = profiles.get(name) else {
        return Err(refuse(format!("there is no permission profile `{name}`")));
    };
    seen.push(name.to_owned());
    let mut whole = match profile.get(&["extends"]).and_then(Value::as_str) {
        Some(parent) => resolve(parent, profiles, seen)?,
        None => Profile::default(),
    };
    for (path, access) in profile
        .get(&["filesystem"])
        .and_then(Value::as_table)
        .into_iter()
        .flatten()
    {
        match (whole.filesystem.get_mut(path), access) {
            (Some(Value::Table(old)), Value::Table(new)) if !is_word_table(access) => {
                for (sub, access) in new {
                    old.insert(sub.clone(), access.clone());
                }
            }
            (Some(old), Value::Table(new))
                if !is_word_table(access) && path == ":workspace_roots" =>
            {
                let mut scoped: IndexMap<String, Value> = IndexMap::new();
                scoped.insert(".".to_owned(), old.clone());
                scoped.extend(
                    new.iter()
                        .map(|(sub, access)| (sub.clone(), access.clone())),
                );
                *old = Value::Table(scoped);
            }
            _ => {
                whole.filesystem.insert(path.clone(), access.clone());
            }
        }
    }
    for (root, on) in profile
        .get(&["workspace_roots"])
        .and_then(Value::as_table)
        .into_iter()
        .flatten()
    {
        whole.workspace_roots.retain(|known| known != root);
        if on.as_bool() == Some(true) {
            whole.workspace_roots.push(root.clone());
        }
    }
    whole.workspace_roots.sort();
    if let Some(on) = profile
        .get(&["network", "enabled"])
        .and_then(Value::as_bool)
    {
        whole.network = on;
    }
    Ok(whole)
}

fn built_in(entries: &[(&str, &str)]) -> Profile {
    Profile {
        filesystem: entries
            .iter()
            .map(|(path, access)| ((*path).to_owned(), Value::from(*access)))
            .collect(),
        ..Profile::default()
    }
}

/// The path of an entry without a `/**` at its end; none where it is a pattern, which may only deny.
fn without_glob<'p>(path: &'p str, access: &str) -> Result<Option<&'p str>, StartError> {
    let is_glob = |path: &str| path.contains(['*', '?', '[', ']']);
    if !is_glob(path) {
        return Ok(Some(path));
    }
    if access == "deny" || access == "none" {
        return Ok(None);
    }
    let plain = path.strip_suffix("/**").unwrap_or(path);
    if is_glob(plain) {
        return Err(refuse(format!("the pattern `{path}` may only deny")));
    }
    Ok(Some(plain))
}
