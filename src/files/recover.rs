//! Undoes what a commit did before it counted, in the same run or after a kill.
//!
//! Undoing reads the state off the files themselves: one that is as before is left alone, one that
//! is as planned goes back to the old file, which was kept beside it. So it needs no space, brings
//! back the very same file, and can itself be killed and begun again. A file that somebody changed
//! meanwhile is never touched; it is named, and its old text is kept.

use super::commit::{distinct, path_error};
use super::disk::Disk;
use super::error::{Error, Left};
use super::intent::{Intent, Planned, Stage, digest};
use super::lock::{Folder, Folders};
use super::read::{CONFIG_LIMIT, Place, place};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What was found of earlier runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Files that are now what they were before a run that was killed.
    pub undone: Vec<PathBuf>,
    /// Whether a run had finished, and only had not cleared away.
    pub cleared: bool,
    /// Files that were changed meanwhile and left as they are.
    pub left: Vec<Left>,
}

/// Finishes what a killed commit left, if any did: with its intent in the folder `intents`, for
/// files that `allowed` says yes to (paths without links). Without anything left it takes no lock.
///
/// # Errors
/// [`Error::Busy`] while the commit is under way in another process; [`Error::Intent`] where what
/// was left cannot be followed; any error of the disk, after which it can be called again.
pub fn recover(
    intents: &Path,
    allowed: &dyn Fn(&Path) -> bool,
    disk: &mut dyn Disk,
) -> Result<Recovered, Error> {
    let Place::There(intents) = place(intents)? else {
        return Ok(Recovered::default());
    };
    if !Intent::is_in(&intents) {
        return Ok(Recovered::default());
    }
    let mut folders = Folders::default();
    if !folders.lock(&intents)? {
        return Ok(Recovered::default());
    }
    recover_locked(&intents, allowed, &mut folders, disk)
}

/// The same, for a run that holds the lock of `intents`.
pub(super) fn recover_locked(
    intents: &Path,
    allowed: &dyn Fn(&Path) -> bool,
    folders: &mut Folders,
    disk: &mut dyn Disk,
) -> Result<Recovered, Error> {
    let mut recovered = Recovered::default();
    Intent::sweep(folders.at(intents)?, disk)?;
    if let Some(intent) = Intent::read(Stage::Done, folders.at(intents)?, allowed)? {
        lock_all(&intent, folders)?;
        clear(&intent, intents, folders, disk)?;
        recovered.cleared = true;
    }
    if let Some(intent) = Intent::read(Stage::UnderWay, folders.at(intents)?, allowed)? {
        lock_all(&intent, folders)?;
        let everything = intent.files.len();
        recovered.left = undo(&intent, everything, Trust::Digest, intents, folders, disk)?;
        let left = |file: &&Planned| recovered.left.iter().all(|left| left.path != file.path);
        let undone = intent.files.iter().filter(left);
        recovered.undone = undone.map(|file| file.path.clone()).collect();
    }
    Ok(recovered)
}

fn lock_all(intent: &Intent, folders: &mut Folders) -> Result<(), Error> {
    let changed = intent.created_folders.iter().chain(&intent.removed_folders);
    let mut all: Vec<&Path> = intent
        .files
        .iter()
        .map(Planned::folder)
        .chain(changed.filter_map(|folder| folder.parent()))
        .collect();
    all.sort_unstable();
    all.into_iter()
        .try_for_each(|folder| folders.lock(folder).map(|_| ()))
}

/// Whether the kept old file is taken as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// This run kept it. If somebody wrote into it since, that is what they shall have back.
    Own,
    /// An intent that was read says so: only if it has the old bytes.
    Digest,
}

/// Brings the first `landed` files back, removes all that the commit made, and forgets the intent.
/// Returns the files that could not be brought back.
pub(super) fn undo(
    intent: &Intent,
    landed: usize,
    trust: Trust,
    intents: &Path,
    folders: &mut Folders,
    disk: &mut dyn Disk,
) -> Result<Vec<Left>, Error> {
    let mut left = Vec::new();
    for (index, file) in intent.files.iter().enumerate().rev() {
        let Some(folder) = folders.find(file.folder()) else {
            if index < landed && file.before.is_some() {
                left.push(leave(file, "is gone with its folder", None));
            }
            continue;
        };
        let mut keep_old = false;
        if index < landed
            && let Some(why) = bring_back(file, folder, trust, disk)?
        {
            // In a file that was written to without replacing it, old and present are the same.
            keep_old = old_is_apart(file, folder)?;
            let old = file.old.as_ref().filter(|_| keep_old);
            left.push(leave(file, why, old.map(|old| folder.path().join(old))));
        }
        remove(folder, file.new.as_deref(), disk)?;
        if !keep_old {
            remove(folder, file.old.as_deref(), disk)?;
        }
    }
    for folder in distinct(intent.files.iter().map(Planned::folder)) {
        if let Some(folder) = folders.find(folder) {
            sync(folder, disk)?;
        }
    }
    let created: Vec<&PathBuf> = intent.created_folders.iter().rev().collect();
    remove_folders(&created, folders, disk)?;
    Intent::remove(Stage::UnderWay, folders.at(intents)?, disk)?;
    Ok(left)
}

/// Clears away after a commit that counts.
pub(super) fn clear(
    intent: &Intent,
    intents: &Path,
    folders: &mut Folders,
    disk: &mut dyn Disk,
) -> Result<(), Error> {
    for file in &intent.files {
        if let Some(folder) = folders.find(file.folder()) {
            remove(folder, file.old.as_deref(), disk)?;
            remove(folder, file.new.as_deref(), disk)?;
        }
    }
    for folder in distinct(intent.files.iter().map(Planned::folder)) {
        if let Some(folder) = folders.find(folder) {
            sync(folder, disk)?;
        }
    }
    let removed: Vec<&PathBuf> = intent.removed_folders.iter().collect();
    remove_folders(&removed, folders, disk)?;
    Intent::remove(Stage::Done, folders.at(intents)?, disk)
}

/// Makes one file what it was. Says why not, where somebody else changed it.
fn bring_back(
    file: &Planned,
    folder: &Folder,
    trust: Trust,
    disk: &mut dyn Disk,
) -> Result<Option<&'static str>, Error> {
    let name = file.name();
    let fail = |error| path_error(folder, name, "bring back", error);
    let now = match state(folder, name) {
        Ok(now) => now,
        Err(why) => return Ok(Some(why)),
    };
    if now == file.before {
        return Ok(None);
    }
    if now != file.after {
        return Ok(Some("was changed meanwhile"));
    }
    let (Some(old), Some(before)) = (&file.old, &file.before) else {
        disk.unlink(folder, name).map_err(fail)?;
        return Ok(None);
    };
    let old = OsStr::new(old);
    match state(folder, old) {
        Ok(Some(kept)) if trust == Trust::Own || kept == *before => {}
        Ok(None) => return Ok(Some("has no old text any more")),
        _ => return Ok(Some("has an old text that was changed")),
    }
    let back = if now.is_some() {
        disk.rename(folder, old, name)
    } else {
        disk.rename_new(folder, old, name)
    };
    back.map_err(fail)?;
    Ok(None)
}

/// The digest of a file, `None` where there is none; the reason where it is no file of ours.
fn state(folder: &Folder, name: &OsStr) -> Result<Option<String>, &'static str> {
    match folder.read(name, CONFIG_LIMIT) {
        Ok(found) => Ok(found.map(|(bytes, _, _)| digest(&bytes))),
        Err(Error::Io { .. } | Error::Denied { .. }) => Err("cannot be read"),
        Err(_) => Err("was changed meanwhile"),
    }
}

fn old_is_apart(file: &Planned, folder: &Folder) -> Result<bool, Error> {
    let Some(old) = &file.old else {
        return Ok(false);
    };
    let Some(old) = folder.stat(OsStr::new(old))? else {
        return Ok(false);
    };
    let now = folder.stat(file.name()).ok().flatten();
    Ok(now.is_none_or(|now| (now.dev, now.ino) != (old.dev, old.ino)))
}

fn leave(file: &Planned, why: &str, old: Option<PathBuf>) -> Left {
    Left {
        path: file.path.clone(),
        why: why.to_owned(),
        old,
    }
}

/// Removes one of our own names, if it is there.
fn remove(folder: &Folder, name: Option<&str>, disk: &mut dyn Disk) -> Result<(), Error> {
    let Some(name) = name.map(OsStr::new) else {
        return Ok(());
    };
    if folder.stat(name)?.is_none() {
        return Ok(());
    }
    disk.unlink(folder, name)
        .map_err(|error| path_error(folder, name, "remove", error))
}

/// Removes folders that are empty, in this order; one that is not stays.
fn remove_folders(
    paths: &[&PathBuf],
    folders: &mut Folders,
    disk: &mut dyn Disk,
) -> Result<(), Error> {
    for path in paths {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            continue;
        };
        let Some(above) = folders.find(parent) else {
            continue;
        };
        // Else it holds something, or may not go: an empty folder that stays harms nobody.
        if disk.remove_folder(above, name).is_ok() {
            sync(above, disk)?;
            folders.forget(path);
        }
    }
    Ok(())
}

fn sync(folder: &Folder, disk: &mut dyn Disk) -> Result<(), Error> {
    disk.sync_folder(folder)
        .map_err(|error| Error::io(folder.path(), "write in", error))
}

#[cfg(test)]
mod tests {
    //! What an intent may make a run do that reads it: nothing but bring back, clear away, refuse.

    use super::super::RealDisk;
    use super::*;
    use serde_json::{Value, json};
    use std::fs;

    const OLD: &str = ".codexgate-old-0123456789abcdef";
    const NEW: &str = ".codexgate-new-0123456789abcdef";

    /// A folder in which a run was killed: `a` is new.
    fn killed() -> (tempfile::TempDir, PathBuf, Value) {
        let keep = tempfile::tempdir().expect("a folder");
        let dir = keep.path().canonicalize().expect("it is there");
        fs::write(dir.join("a"), "new").expect("written");
        fs::write(dir.join(OLD), "old").expect("written");
        let intent = json!({
            "version": 1,
            "files": [{
                "path": dir.join("a"), "new": NEW, "old": OLD,
                "before": digest(b"old"), "after": digest(b"new"),
            }],
            "created_folders": [],
            "removed_folders": [],
        });
        (keep, dir, intent)
    }

    fn run(dir: &Path, intent: &Value) -> Result<Recovered, Error> {
        fs::write(dir.join(".codexgate-commit.json"), intent.to_string()).expect("written");
        recover(dir, &|path| path == dir.join("a"), &mut RealDisk)
    }

    fn text(path: &Path) -> String {
        fs::read_to_string(path).expect("it is there")
    }

    #[test]
    fn a_killed_run_is_undone() {
        let (_keep, dir, intent) = killed();
        let recovered = run(&dir, &intent).expect("recovers");
        assert_eq!(recovered.undone, [dir.join("a")]);
        assert_eq!(text(&dir.join("a")), "old");
        assert_eq!(fs::read_dir(&dir).expect("a folder").count(), 1);
    }

    #[test]
    fn an_intent_that_cannot_be_followed_stops_and_touches_nothing() {
        let (_keep, dir, intent) = killed();
        let up = dir
            .join("../")
            .join(dir.file_name().expect("one"))
            .join("a");
        let wrong: [(&str, Value); 14] = [
            ("/version", json!(2)),
            ("/more", json!(1)),
            ("/files/0/path", json!("/etc/passwd")),
            ("/files/0/path", json!("a")),
            ("/files/0/path", json!(up)),
            ("/files/0/path", json!(dir.join("b"))),
            ("/files/0/old", json!("b")),
            ("/files/0/old", json!("../.codexgate-old-0123456789abcdef")),
            ("/files/0/new", json!("a")),
            ("/files/0/new", Value::Null),
            ("/files/0/before", json!("00")),
            ("/files/0/before", intent["files"][0]["after"].clone()),
            ("/created_folders", json!(["/etc"])),
            ("/removed_folders", json!([dir.join("x")])),
        ];
        for (place, value) in wrong {
            let mut intent = intent.clone();
            if let Some(at) = intent.pointer_mut(place) {
                *at = value.clone();
            } else {
                intent[&place[1..]] = value.clone();
            }
            let result = run(&dir, &intent);
            assert!(
                matches!(result, Err(Error::Intent { .. })),
                "{place} {value}: {result:?}"
            );
            assert_eq!(text(&dir.join("a")), "new");
            assert_eq!(text(&dir.join(OLD)), "old");
        }
        for not_json in [json!([]), json!("x"), Value::Null] {
            assert!(matches!(run(&dir, &not_json), Err(Error::Intent { .. })));
        }
        let long = json!("x".repeat(2_000_000));
        assert!(matches!(run(&dir, &long), Err(Error::TooLarge { .. })));
        let mut many = intent.clone();
        many["files"] = vec![intent["files"][0].clone(); 65].into();
        assert!(matches!(run(&dir, &many), Err(Error::Intent { .. })));
    }

    #[test]
    fn an_old_text_that_was_changed_is_not_taken() {
        let (_keep, dir, intent) = killed();
        fs::write(dir.join(OLD), "planted").expect("written");
        let recovered = run(&dir, &intent).expect("recovers what it can");
        assert_eq!(recovered.left[0].why, "has an old text that was changed");
        assert_eq!(text(&dir.join("a")), "new");
    }

    #[test]
    fn a_link_in_the_place_of_a_file_is_not_followed() {
        let (_keep, dir, intent) = killed();
        fs::write(dir.join("precious"), "new").expect("written");
        fs::remove_file(dir.join("a")).expect("removed");
        std::os::unix::fs::symlink("precious", dir.join("a")).expect("link");
        let recovered = run(&dir, &intent).expect("recovers what it can");
        assert_eq!(recovered.left[0].why, "was changed meanwhile");
        assert_eq!(text(&dir.join("precious")), "new");
        assert!(dir.join("a").is_symlink());
    }

    #[test]
    fn a_project_that_is_gone_does_not_stop_the_next_run() {
        let (_keep, dir, mut intent) = killed();
        let away = dir.join("gone/a");
        intent["files"][0]["path"] = json!(away);
        fs::write(dir.join(".codexgate-commit.json"), intent.to_string()).expect("written");
        let recovered = recover(&dir, &|_| true, &mut RealDisk).expect("recovers what it can");
        assert_eq!(recovered.left[0].path, away);
        let again = recover(&dir, &|_| true, &mut RealDisk).expect("nothing left");
        assert_eq!(again, Recovered::default());
    }

    #[test]
    fn an_intent_of_somebody_else_is_not_believed() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root can give a file away");
            return;
        }
        let (_keep, dir, intent) = killed();
        let path = dir.join(".codexgate-commit.json");
        fs::write(&path, intent.to_string()).expect("written");
        std::os::unix::fs::chown(&path, Some(1234), None).expect("root may");
        let result = recover(&dir, &|_| true, &mut RealDisk);
        assert!(matches!(result, Err(Error::Intent { .. })));
    }
}
