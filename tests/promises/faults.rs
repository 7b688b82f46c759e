//! A disk that writes down each step, and fails or dies at one of them.

use codexgate::files::{Disk, Folder, RealDisk};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io;

/// What happens at a step, instead of it. A write first writes half of its bytes.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// This one step fails.
    Fail(Errno),
    /// This step and all that follow fail: for the disk it is as if the process had died.
    Die,
    /// The process dies, truly.
    Kill,
}

type Meanwhile<'a> = Box<dyn FnMut(&str) + 'a>;

/// The real disk, watched.
#[derive(Default)]
pub struct Faults<'a> {
    /// What was done, with our own names numbered: `rename .new-1 config.toml`.
    pub steps: Vec<String>,
    /// At which step (from 0) what happens.
    pub at: Option<(usize, Fault)>,
    /// Called before each step, with what it is: another program that does something then.
    pub meanwhile: Option<Meanwhile<'a>>,
    names: BTreeMap<String, String>,
}

impl<'a> Faults<'a> {
    pub fn at(step: usize, fault: Fault) -> Self {
        Self {
            at: Some((step, fault)),
            ..Self::default()
        }
    }

    pub fn meanwhile(does: impl FnMut(&str) + 'a) -> Self {
        Self {
            meanwhile: Some(Box::new(does)),
            ..Self::default()
        }
    }

    /// Whether the step at which something was to happen came.
    pub fn came(&self) -> bool {
        self.at.is_none_or(|(step, _)| self.steps.len() > step)
    }

    fn step(&mut self, does: &str, names: &[&OsStr]) -> io::Result<()> {
        let mut line = does.to_owned();
        for name in names {
            line.push(' ');
            line.push_str(&self.short(&name.to_string_lossy()));
        }
        if let Some(meanwhile) = &mut self.meanwhile {
            meanwhile(&line);
        }
        let now = self.steps.len();
        self.steps.push(line);
        match self.at {
            Some((at, Fault::Fail(errno))) if now == at => Err(errno.into()),
            Some((at, Fault::Die)) if now >= at => Err(Errno::IO.into()),
            Some((at, Fault::Kill)) if now == at => {
                let own = rustix::process::getpid();
                rustix::process::kill_process(own, rustix::process::Signal::KILL)?;
                unreachable!("the process is dead");
            }
            _ => Ok(()),
        }
    }

    fn short(&mut self, name: &str) -> String {
        for kind in ["new", "old"] {
            if name.starts_with(&format!(".codexgate-{kind}-")) {
                let same_kind = self.names.values().filter(|n| n.contains(kind)).count();
                let fresh = format!(".{kind}-{}", same_kind + 1);
                return self.names.entry(name.to_owned()).or_insert(fresh).clone();
            }
        }
        name.trim_start_matches(".codexgate-").to_owned()
    }

    fn is_next(&self) -> bool {
        matches!(self.at, Some((at, _)) if self.steps.len() == at)
    }
}

/// The last part of a folder's path, for the list of steps.
fn short(folder: &Folder) -> &OsStr {
    folder.path().file_name().unwrap_or_default()
}

impl Disk for Faults<'_> {
    fn create(&mut self, folder: &Folder, name: &OsStr) -> io::Result<File> {
        self.step("create", &[name])?;
        RealDisk.create(folder, name)
    }

    fn set_owner(&mut self, file: &File, name: &OsStr, uid: u32, gid: u32) -> io::Result<()> {
        self.step("set_owner", &[name])?;
        RealDisk.set_owner(file, name, uid, gid)
    }

    fn set_attribute(
        &mut self,
        file: &File,
        name: &OsStr,
        key: &CStr,
        value: Option<&[u8]>,
    ) -> io::Result<()> {
        self.step("set_attribute", &[name])?;
        RealDisk.set_attribute(file, name, key, value)
    }

    fn set_mode(&mut self, file: &File, name: &OsStr, mode: u32) -> io::Result<()> {
        self.step("set_mode", &[name])?;
        RealDisk.set_mode(file, name, mode)
    }

    fn write(&mut self, file: &mut File, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        if self.is_next() {
            RealDisk.write(file, name, &bytes[..bytes.len() / 2])?;
        }
        self.step("write", &[name])?;
        RealDisk.write(file, name, bytes)
    }

    fn sync(&mut self, file: &File, name: &OsStr) -> io::Result<()> {
        self.step("sync", &[name])?;
        RealDisk.sync(file, name)
    }

    fn link(&mut self, folder: &Folder, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.step("link", &[from, to])?;
        RealDisk.link(folder, from, to)
    }

    fn rename(&mut self, folder: &Folder, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.step("rename", &[from, to])?;
        RealDisk.rename(folder, from, to)
    }

    fn rename_new(&mut self, folder: &Folder, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.step("rename_new", &[from, to])?;
        RealDisk.rename_new(folder, from, to)
    }

    fn unlink(&mut self, folder: &Folder, name: &OsStr) -> io::Result<()> {
        self.step("unlink", &[name])?;
        RealDisk.unlink(folder, name)
    }

    fn make_folder(&mut self, folder: &Folder, name: &OsStr, mode: u32) -> io::Result<()> {
        self.step("make_folder", &[name])?;
        RealDisk.make_folder(folder, name, mode)
    }

    fn remove_folder(&mut self, folder: &Folder, name: &OsStr) -> io::Result<()> {
        self.step("remove_folder", &[name])?;
        RealDisk.remove_folder(folder, name)
    }

    fn sync_folder(&mut self, folder: &Folder) -> io::Result<()> {
        self.step("sync_folder", &[short(folder)])?;
        RealDisk.sync_folder(folder)
    }
}
