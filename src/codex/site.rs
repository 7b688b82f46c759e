//! Which folders count: the working folder, the project, Codex's home, the system's files.
//!
//! Read once at the start, out of flags and environment, so that nothing below asks the
//! environment again. It knows folders, not what is in their files.

use std::path::{Path, PathBuf};

use crate::files;

/// The name of the folder that holds a project's Codex files.
pub const DOT_CODEX: &str = ".codex";

/// Why the folders cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The working folder is not there or is no folder.
    #[error("cannot work in `{}`", path.display())]
    NoFolder {
        /// The folder asked for.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A folder given by a variable or flag must be absolute or is not there.
    #[error("`{}`, given by {by}, {why}", path.display())]
    BadFolder {
        /// The folder.
        path: PathBuf,
        /// The flag or variable that named it.
        by: &'static str,
        /// What is wrong.
        why: &'static str,
    },
}

/// What flags and environment say about folders. Unset and empty variables count the same.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `-C`, else the working folder.
    pub directory: PathBuf,
    /// `$HOME`.
    pub home: Option<PathBuf>,
    /// `$CODEX_HOME`.
    pub codex_home: Option<PathBuf>,
    /// `--codex-home`.
    pub codex_home_flag: Option<PathBuf>,
    /// `--system-root`.
    pub system_root: Option<PathBuf>,
}

/// The folders that count for one run.
#[derive(Debug, Clone)]
pub struct Site {
    /// The working folder, canonical.
    pub cwd: PathBuf,
    /// The folder whose `.codex` is the project's, canonical: the nearest one from the working
    /// folder up to the git root that has a `.codex` folder, else the git root, else the working
    /// folder.
    pub project: PathBuf,
    /// The git root above the working folder, if there is one.
    pub git_root: Option<PathBuf>,
    /// `$HOME`, where it is set.
    pub home: Option<PathBuf>,
    /// Codex's home: the flag, else `$CODEX_HOME`, else `$HOME/.codex`. It need not exist.
    pub codex_home: Option<PathBuf>,
    /// The system's folder for Codex: `/etc/codex`, below the system root.
    pub system: PathBuf,
    /// The machine's name, which requirements may depend on.
    pub host: String,
}

impl Site {
    /// Finds the folders.
    ///
    /// # Errors
    /// A working folder that is not there; `$CODEX_HOME` that is relative or, as for Codex
    /// (scenario `env-codex-home-relative`), names no folder.
    pub fn discover(environment: &Environment) -> Result<Self, Error> {
        let (site, wrong) = Self::discover_anyway(environment)?;
        wrong.map_or(Ok(site), Err)
    }

    /// The same where a Codex home that is not there is an answer: the folders without it, and
    /// what is wrong with it.
    ///
    /// # Errors
    /// A working folder that is not there.
    pub fn discover_anyway(environment: &Environment) -> Result<(Self, Option<Error>), Error> {
        let cwd = canonical_folder(&environment.directory)?;
        let git_root = cwd
            .ancestors()
            // One that cannot be looked at counts: the nearer root is the safer one.
            .find(|folder| files::is_git_root(folder).unwrap_or(true))
            .map(Path::to_path_buf);
        let (codex_home, wrong) = match codex_home(environment) {
            Ok(found) => (found, None),
            Err(error) => (None, Some(error)),
        };
        let project = git_root
            .as_deref()
            .and_then(|root| {
                cwd.ancestors()
                    .take_while(|folder| folder.starts_with(root))
                    .find(|folder| folder.join(DOT_CODEX).is_dir())
            })
            .or(git_root.as_deref())
            .unwrap_or(&cwd)
            .to_path_buf();
        let system = environment.system_root.as_ref().map_or_else(
            || PathBuf::from("/etc/codex"),
            |root| root.join("etc").join("codex"),
        );
        let site = Self {
            cwd,
            project,
            git_root,
            home: environment.home.clone(),
            codex_home,
            system,
            host: rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .into_owned(),
        };
        Ok((site, wrong))
    }

    /// The folder of the project's Codex files. It need not exist.
    pub fn dot_codex(&self) -> PathBuf {
        self.project.join(DOT_CODEX)
    }

    /// Whether the project's `.codex` is Codex's home itself: it then counts once, as the user's
    /// (scenario `cwd-is-home`).
    pub fn project_is_codex_home(&self) -> bool {
        let here = self.dot_codex();
        self.codex_home.as_ref().is_some_and(|home| {
            *home == here
                || matches!((home.canonicalize(), here.canonicalize()), (Ok(a), Ok(b)) if a == b)
        })
    }
}

fn canonical_folder(path: &Path) -> Result<PathBuf, Error> {
    let source = match path.canonicalize() {
        Ok(found) if found.is_dir() => return Ok(found),
        Ok(_) => std::io::ErrorKind::NotADirectory.into(),
        Err(error) => error,
    };
    Err(Error::NoFolder {
        path: path.to_path_buf(),
        source,
    })
}

fn codex_home(environment: &Environment) -> Result<Option<PathBuf>, Error> {
    if let Some(path) = &environment.codex_home_flag {
        return Ok(Some(absolute(path, &environment.directory)));
    }
    if let Some(path) = &environment.codex_home {
        let why = if path.is_relative() {
            "is relative"
        } else if !path.is_dir() {
            "is no folder, and Codex does not start then"
        } else {
            // Codex names it without the links that lead there (scenario `env-codex-home-link`).
            return Ok(Some(path.canonicalize().unwrap_or_else(|_| path.clone())));
        };
        return Err(Error::BadFolder {
            path: path.clone(),
            by: "$CODEX_HOME",
            why,
        });
    }
    Ok(environment.home.as_ref().map(|home| home.join(DOT_CODEX)))
}

fn absolute(path: &Path, directory: &Path) -> PathBuf {
    if path.is_absolute() {
        path.to_path_buf()
    } else {
        directory.join(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn site(directory: &Path) -> Site {
        Site::discover(&Environment {
            directory: directory.to_path_buf(),
            ..Environment::default()
        })
        .expect("the folder is there")
    }

    #[test]
    fn the_project_is_the_git_root_unless_a_nearer_folder_has_its_own_files() {
        let top = tempfile::tempdir().expect("a folder");
        let top = top.path().canonicalize().expect("it is there");
        let inner = top.join("a/b");
        fs::create_dir_all(&inner).expect("folders");
        assert_eq!(site(&inner).project, inner, "no repository");
        fs::create_dir(top.join(".git")).expect("folder");
        assert_eq!(site(&inner).project, inner, "a .git without HEAD");
        fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").expect("file");
        assert_eq!(site(&inner).project, top);
        fs::create_dir(top.join("a/.codex")).expect("folder");
        assert_eq!(site(&inner).project, top.join("a"));
    }

    #[test]
    fn without_home_there_is_no_codex_home() {
        let top = tempfile::tempdir().expect("a folder");
        assert_eq!(site(top.path()).codex_home, None);
    }

    #[test]
    fn a_codex_home_that_is_not_there_is_an_error() {
        let result = Site::discover(&Environment {
            directory: PathBuf::from("/"),
            codex_home: Some(PathBuf::from("/nonexistent/codex")),
            ..Environment::default()
        });
        assert!(matches!(result, Err(Error::BadFolder { .. })));
    }
}
