//! The program that Codex's files name: this executable, by a path that only its user can change.
//!
//! The path is the one found on `PATH` that leads to it, where that is as safe: a packager's link
//! survives an upgrade, and the file behind it does not. What an agent can write is never named:
//! Codex would start it outside of the sandbox.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::codex::effective::{Effective, Merged, Question};
use crate::codex::{Site, Sources};
use crate::document::Value;
use crate::files;
use crate::text::visible::is_hidden;

/// The file name of every codexgate.
pub const NAME: &str = "codexgate";

/// A program that was found safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    named: String,
    real: String,
    bare: Option<String>,
}

impl Program {
    /// Judges `executable`, this program after all links, and finds its name in `path`. `open` are
    /// folders that an agent may write whatever a policy says.
    ///
    /// # Errors
    /// Why it is not safe, in words.
    pub fn find(
        site: &Site,
        executable: &Path,
        path: Option<&OsStr>,
        open: &[PathBuf],
    ) -> Result<Self, String> {
        let writable = writable(site, open);
        let real = files::own_safety(executable, &writable).map_err(|why| why.to_string())?;
        let found = path
            .iter()
            .flat_map(std::env::split_paths)
            .find_map(|folder| {
                let file = folder.join(real.file_name()?);
                let same = file.is_absolute() && file.canonicalize().is_ok_and(|file| file == real);
                (same && files::own_safety(&file, &writable).is_ok()).then_some(file)
            });
        let named = text(found.as_deref().unwrap_or(&real))?;
        Ok(Self {
            named,
            real: text(&real)?,
            bare: None,
        })
    }

    /// The same, with `name` in place of the path in the approver's entry and in the hooks.
    #[must_use]
    pub fn with_command(mut self, name: Option<String>) -> Self {
        self.bare = name;
        self
    }

    /// What the approver's entry and the hooks start.
    pub fn command(&self) -> &str {
        self.bare.as_deref().unwrap_or(&self.named)
    }

    /// The absolute path that people and agents are told.
    pub fn path(&self) -> &str {
        &self.named
    }

    /// The paths under which it may be called: a rule matches one spelling alone.
    pub fn paths(&self) -> Vec<&str> {
        let mut paths = vec![self.named.as_str()];
        if self.real != self.named {
            paths.push(&self.real);
        }
        paths
    }
}

/// What an agent may write here: the project, and what the configured sandbox opens.
fn writable(site: &Site, open: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = open.to_vec();
    found.extend([site.cwd.clone(), site.project.clone()]);
    let effective = Effective::resolve(
        &Sources::read(site),
        &Question {
            trusted: Some(true),
            ..Question::default()
        },
    );
    let roots = effective
        .merged
        .get(&["sandbox_workspace_write", "writable_roots"])
        .map(Merged::value);
    if let Some(Value::Array(roots)) = roots {
        let roots = roots.iter().filter_map(Value::as_str);
        found.extend(roots.map(|root| site.cwd.join(root)));
    }
    found
}

fn text(path: &Path) -> Result<String, String> {
    match path.to_str() {
        Some(text) if !text.chars().any(|c| c.is_control() || is_hidden(c)) => Ok(text.to_owned()),
        _ => Err(format!(
            "`{}` has characters that Codex's files cannot name",
            path.display()
        )),
    }
}

/// Whether a word names some codexgate: `codexgate`, or a packager's `codexgate-…`, in any folder.
pub fn is_own(word: &str) -> bool {
    let name = Path::new(word).file_name().and_then(OsStr::to_str);
    let rest = name.and_then(|name| name.strip_prefix(NAME));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codex::site::Environment;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn the_link_on_path_is_named_and_what_an_agent_writes_is_refused() {
        let keep = tempfile::tempdir_in("/var/tmp").expect("a folder");
        let top = keep.path().canonicalize().expect("there");
        for folder in ["project", "lib", "bin", "open"] {
            std::fs::create_dir(top.join(folder)).expect("a folder");
        }
        let real = top.join("lib").join(NAME);
        std::fs::write(&real, "").expect("a file");
        symlink(&real, top.join("bin").join(NAME)).expect("a link");
        symlink(&real, top.join("open").join(NAME)).expect("a link");
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(top.join("open"), open).expect("its owner may");
        let site = Site::discover(&Environment {
            directory: top.join("project"),
            ..Environment::default()
        })
        .expect("a site");
        let path = format!("relative:{0}/open:{0}/bin", top.display());
        let find = |file: &Path, open: &[PathBuf]| {
            Program::find(&site, file, Some(OsStr::new(&path)), open)
        };
        let program = find(&real, &[]).expect("safe");
        assert_eq!(
            program.command(),
            top.join("bin/codexgate").to_str().expect("UTF-8")
        );
        assert_eq!(program.paths().len(), 2);
        assert_eq!(program.with_command(Some("cg".into())).command(), "cg");
        assert!(find(&real, &[top.join("lib")]).is_err());
        let inside = top.join("project").join(NAME);
        std::fs::write(&inside, "").expect("a file");
        assert!(find(&inside, &[]).is_err(), "the project is the agent's");
    }

    #[test]
    fn own_names_are_known_by_their_last_part() {
        assert!(is_own("codexgate") && is_own("/x y/codexgate"));
        assert!(!is_own("codexgate.sh") && !is_own("/codexgate/x"));
    }
}
