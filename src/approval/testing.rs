//! Scenes for the tests of this module: a project, a state directory, programs.

use super::proposal::{CommandWish, Proposal, What, Wish, build};
use super::store::Waiting;
use super::surroundings::Surroundings;
use super::{Clock, Moment, Token, digest};
use crate::files::{Disk, Folder, RealDisk};
use std::cell::Cell;
use std::ffi::{CStr, OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A clock that stands still until it is moved.
#[derive(Debug, Default)]
pub(crate) struct Still(pub(crate) Cell<Moment>);

impl Clock for Still {
    fn now(&self) -> Moment {
        self.0.get()
    }
}

/// A disk that takes so many steps. At the next one the process dies, as a panic, or this and all
/// later ones fail.
pub(crate) struct Dies {
    pub(crate) left: usize,
    pub(crate) fails: bool,
}

impl Dies {
    fn step(&mut self) -> io::Result<RealDisk> {
        if self.left > 0 {
            self.left -= 1;
            return Ok(RealDisk);
        }
        assert!(self.fails, "it dies here");
        Err(io::Error::other("the disk is full"))
    }
}

impl Disk for Dies {
    fn create(&mut self, folder: &Folder, name: &OsStr) -> io::Result<File> {
        self.step()?.create(folder, name)
    }
    fn set_owner(&mut self, file: &File, name: &OsStr, uid: u32, gid: u32) -> io::Result<()> {
        self.step()?.set_owner(file, name, uid, gid)
    }
    fn set_attribute(
        &mut self,
        file: &File,
        name: &OsStr,
        key: &CStr,
        value: Option<&[u8]>,
    ) -> io::Result<()> {
        self.step()?.set_attribute(file, name, key, value)
    }
    fn set_mode(&mut self, file: &File, name: &OsStr, mode: u32) -> io::Result<()> {
        self.step()?.set_mode(file, name, mode)
    }
    fn write(&mut self, file: &mut File, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        self.step()?.write(file, name, bytes)
    }
    fn sync(&mut self, file: &File, name: &OsStr) -> io::Result<()> {
        self.step()?.sync(file, name)
    }
    fn link(&mut self, folder: &Folder, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.step()?.link(folder, from, to)
    }
    fn rename(&mut self, folder: &Folder, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.step()?.rename(folder, from, to)
    }
    fn rename_new(&mut self, folder: &Folder, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.step()?.rename_new(folder, from, to)
    }
    fn unlink(&mut self, folder: &Folder, name: &OsStr) -> io::Result<()> {
        self.step()?.unlink(folder, name)
    }
    fn make_folder(&mut self, folder: &Folder, name: &OsStr, mode: u32) -> io::Result<()> {
        self.step()?.make_folder(folder, name, mode)
    }
    fn remove_folder(&mut self, folder: &Folder, name: &OsStr) -> io::Result<()> {
        self.step()?.remove_folder(folder, name)
    }
    fn sync_folder(&mut self, folder: &Folder) -> io::Result<()> {
        self.step()?.sync_folder(folder)
    }
}

/// A project (a git root) beside a state directory and a folder of programs, outside of every
/// folder that agents write.
pub(crate) struct Scene {
    _keep: tempfile::TempDir,
    pub(crate) top: PathBuf,
    pub(crate) project: PathBuf,
    pub(crate) around: Surroundings,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let keep = tempfile::Builder::new()
            .prefix("codexgate-")
            .tempdir_in("/var/tmp")
            .expect("a folder");
        let top = keep.path().canonicalize().expect("it is there");
        let project = top.join("project");
        fs::create_dir_all(project.join(".git")).expect("folders");
        fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").expect("file");
        fs::create_dir(top.join("bin")).expect("folder");
        fs::write(top.join("gate"), "the executable").expect("file");
        let around = Surroundings {
            state: top.join("state"),
            codex_home: Some(top.join("codex")),
            executable: top.join("gate"),
            cwd: project.clone(),
            project: project.clone(),
            writable: vec![PathBuf::from("/tmp")],
            user_policy: Some(top.join("policy.toml")),
            system_policy: top.join("system.toml"),
        };
        fs::create_dir(&around.state).expect("folder");
        fs::set_permissions(&around.state, fs::Permissions::from_mode(0o700)).expect("mode");
        Self {
            _keep: keep,
            top,
            project,
            around,
        }
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.project.join(name);
        fs::create_dir_all(path.parent().expect("below")).expect("folders");
        fs::write(path, text).expect("file");
    }

    pub(crate) fn executable(&self, name: &str) {
        executable(&self.project.join(name));
    }

    pub(crate) fn user_policy(&self, text: &str) {
        fs::write(self.top.join("policy.toml"), text).expect("file");
    }

    /// A program that no agent can write, in the folder of PATH; its path.
    pub(crate) fn program(&self, name: &str) -> String {
        let path = self.top.join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\necho {name}\n")).expect("file");
        executable(&path);
        path.to_str().expect("UTF-8").to_owned()
    }

    pub(crate) fn env(&self, name: &str) -> Option<OsString> {
        let bin = self.top.join("bin").display().to_string();
        let own = self.project.join("bin").display().to_string();
        match name {
            "PATH" => Some(format!("{own}:bin::{bin}:/usr/bin:/bin").into()),
            "HOME" => Some(self.top.clone().into()),
            _ => None,
        }
    }

    pub(crate) fn wish(argv: &[&str]) -> CommandWish {
        CommandWish {
            argv: argv.iter().map(OsString::from).collect(),
            inputs: Vec::new(),
            env: Vec::new(),
            stdin: None,
            timeout: Duration::from_mins(1),
        }
    }

    /// A proposal of these words, made at 0, which lasts an hour.
    pub(crate) fn command(&self, argv: &[String]) -> Proposal {
        let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
        let what = What::Command(Self::wish(&argv));
        self.proposal(what).expect("it can be proposed")
    }

    pub(crate) fn proposal(&self, what: What) -> Result<Proposal, super::Error> {
        let wish = Wish {
            reason: None,
            expires: Duration::from_hours(1),
            what,
        };
        build(0, &self.around, wish, &|name| self.env(name))
    }
}

fn executable(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("mode");
}

/// A proposal as if it had been stored.
pub(crate) fn waiting_of(proposal: Proposal) -> Waiting {
    let bytes = proposal.bytes();
    Waiting {
        token: Token::of(&bytes),
        digest: digest::of(&bytes),
        proposal,
    }
}

/// Any stored proposal with these times; the same each time.
pub(crate) fn waiting(created: Moment, expires: Moment) -> Waiting {
    let place = super::proposal::Place {
        path: "/".to_owned(),
        dev: 0,
        ino: 0,
    };
    waiting_of(Proposal {
        version: 1,
        created,
        expires,
        nonce: String::new(),
        reason: None,
        thread: None,
        state: PathBuf::from("/state"),
        codex_home: None,
        project: PathBuf::from("/"),
        cwd: place,
        action: super::proposal::Action::Files(Vec::new()),
    })
}
