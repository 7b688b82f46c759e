//! Two folders and a plan over them: one file changes, one is created in a folder that is not
//! there, one is removed with its folder.

use codexgate::files::{
    After, CONFIG_LIMIT, Committed, Disk, Error, Found, RealDisk, Recovered, Write, commit, read,
    recover,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const OLD: &str = "old = true # a text of some length, so that half of it can be told\n";
pub const NEW: &str = "new = true # a text of some length, so that half of it can be told\n";

/// Where the plan's files are.
pub struct Scene {
    pub dir: PathBuf,
    _keep: Option<tempfile::TempDir>,
}

/// How all files of a scene stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Old,
    New,
    /// Each is whole, but they are not all old or all new.
    Mixed,
}

impl Scene {
    /// A fresh scene, all old.
    pub fn new() -> Self {
        Self::in_folder(tempfile::tempdir().expect("a folder"))
    }

    /// The same in memory where there is such a place, for tests of hundreds of commits: to sync a
    /// real disk takes most of their time.
    pub fn quick() -> Self {
        let keep = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self::in_folder(keep.expect("a folder"))
    }

    fn in_folder(keep: tempfile::TempDir) -> Self {
        let dir = keep.path().canonicalize().expect("it is there");
        let scene = Self {
            dir,
            _keep: Some(keep),
        };
        fs::create_dir_all(scene.home()).expect("folder");
        fs::create_dir_all(scene.dir.join("project/leaves")).expect("folder");
        fs::write(scene.changed(), OLD).expect("written");
        fs::write(scene.removed(), OLD).expect("written");
        scene
    }

    /// One that another process made.
    pub fn of(dir: PathBuf) -> Self {
        Self { dir, _keep: None }
    }

    pub fn home(&self) -> PathBuf {
        self.dir.join("home")
    }

    pub fn changed(&self) -> PathBuf {
        self.home().join("config.toml")
    }

    pub fn created(&self) -> PathBuf {
        self.dir.join("project/comes/created.toml")
    }

    pub fn removed(&self) -> PathBuf {
        self.dir.join("project/leaves/removed.toml")
    }

    /// The first `count` of: change, create, remove.
    pub fn plan(&self, count: usize) -> Vec<Write> {
        let mut leaves = write(&self.removed(), None);
        leaves.remove_folders = vec![self.dir.join("project/leaves")];
        let mut plan = vec![
            write(&self.changed(), Some(NEW)),
            write(&self.created(), Some(NEW)),
            leaves,
        ];
        plan.truncate(count);
        plan
    }

    pub fn commit(&self, plan: &[Write], disk: &mut dyn Disk) -> Result<Committed, Error> {
        commit(plan, &self.home(), &|_, _| Ok(()), disk)
    }

    pub fn recover(&self, disk: &mut dyn Disk) -> Result<Recovered, Error> {
        let ours = [self.changed(), self.created(), self.removed()];
        recover(&self.home(), &|path| ours.iter().any(|o| o == path), disk)
    }

    /// How the first `count` files of the plan stand; each must be whole.
    pub fn state(&self, count: usize) -> State {
        let text = |path: &Path| match read(path, CONFIG_LIMIT).expect("readable") {
            Found::Missing => None,
            Found::File(file) => Some(String::from_utf8(file.bytes).expect("text")),
        };
        let is_new = [
            (text(&self.changed()), Some(OLD), Some(NEW)),
            (text(&self.created()), None, Some(NEW)),
            (text(&self.removed()), Some(OLD), None),
        ]
        .map(|(now, old, new)| {
            assert!(now.as_deref() == old || now.as_deref() == new, "{now:?}");
            now.as_deref() == new
        });
        let is_new = &is_new[..count];
        match is_new[0] {
            new if is_new.iter().any(|other| *other != new) => State::Mixed,
            true => State::New,
            false => State::Old,
        }
    }

    /// Asserts that nothing of ours is left and the folders fit the files.
    pub fn is_tidy(&self, count: usize) {
        let all = tree(&self.dir);
        let own: Vec<_> = all.iter().filter(|p| p.contains(".codexgate")).collect();
        assert!(own.is_empty(), "left: {own:?}");
        let state = self.state(count);
        assert_ne!(state, State::Mixed);
        let is_there = |name: &str| self.dir.join(name).exists();
        assert_eq!(is_there("project/comes"), state == State::New, "{all:?}");
        if count > 2 {
            assert_eq!(is_there("project/leaves"), state == State::Old, "{all:?}");
        }
    }
}

/// A write of `after` on what is there now.
pub fn write(path: &Path, after: Option<&str>) -> Write {
    Write {
        path: path.to_path_buf(),
        before: read(path, CONFIG_LIMIT).expect("readable"),
        after: after.map_or(After::Removed, |text| After::Bytes(text.into())),
        new_mode: 0o600,
        remove_folders: Vec::new(),
    }
}

/// Commits with the real disk and a check that is content.
pub fn commit_in(folder: &Path, plan: &[Write]) -> Result<Committed, Error> {
    commit(plan, folder, &|_, _| Ok(()), &mut RealDisk)
}

/// All paths below a folder, sorted.
pub fn tree(dir: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut todo = vec![dir.to_path_buf()];
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let entry = entry.expect("an entry");
            if entry.file_type().expect("a type").is_dir() {
                todo.push(entry.path());
            }
            all.push(entry.path().to_string_lossy().into_owned());
        }
    }
    all.sort_unstable();
    all
}

/// This test program again, to run the ignored test `name` alone: a process that may be killed,
/// or that is somebody else.
pub fn child(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", name, "--ignored", "--nocapture", "--quiet"]);
    command
}
