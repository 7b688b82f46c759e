//! Commits a plan: all its files change, or none.
//!
//! The order is the promise. Locks; what a killed run left; is each file still what the plan was
//! made from; the intent, on the disk; new files beside the old ones, on the disk; a second name
//! for each old file; then the renames; then reading back and the caller's check; then the intent
//! becomes "done", and from that moment the commit counts. Whatever fails or dies before leads back
//! to the old files ([`super::recover`]), without needing space on the disk.

use super::disk::Disk;
use super::error::{Error, Left};
use super::intent::{FILES_LIMIT, Intent, Planned, digest};
use super::lock::{Folder, Folders};
use super::read::{CONFIG_LIMIT, Found, Identity, Place, Snapshot, place};
use super::recover::{Trust, clear, recover_locked, undo};
use super::replace::{After, Look, Write, new_name, old_name, stage};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// What a commit did beside changing files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Committed {
    /// Files that were not there before, as named.
    pub created_files: Vec<PathBuf>,
    /// Folders that were not there before, without links, outermost first.
    pub created_folders: Vec<PathBuf>,
    /// Why kept old files could not be cleared away. The commit counts all the same; the next one
    /// tries again.
    pub uncleared: Option<String>,
}

/// Judges one file after it was written: its path as named and its bytes (`None`: removed). It says
/// why they are not what was planned.
pub type Check<'a> = dyn Fn(&Path, Option<&[u8]>) -> Result<(), String> + 'a;

/// One write, with where it leads and what is planned for it.
struct Job<'a> {
    write: &'a Write,
    place: Place,
    /// The old file when its second name was made.
    seen: Option<Identity>,
    /// Whether that name is a link, and no copy.
    linked: bool,
}

/// Writes all files, or none.
///
/// `intents` is the folder in which the commit is remembered until it is done. It must be there,
/// and at least as trusted as each file: who can write in it can have files of this user undone.
/// `check` judges each changed file by what was read back.
///
/// Writes whose file is already as wanted are left out; without any other nothing is touched.
///
/// # Errors
/// Before any file changed, or after all were brought back: [`Error::Busy`], [`Error::Changed`],
/// [`Error::HardLinked`], [`Error::CannotKeep`], [`Error::Left`], [`Error::Intent`],
/// [`Error::RolledBack`], an error of reading or of the disk. [`Error::Stuck`]: some files are new.
pub fn commit(
    writes: &[Write],
    intents: &Path,
    check: &Check<'_>,
    disk: &mut dyn Disk,
) -> Result<Committed, Error> {
    let mut jobs = jobs(writes)?;
    if jobs.is_empty() {
        return Ok(Committed::default());
    }
    let Place::There(intents) = place(intents)? else {
        let source = io::Error::from(io::ErrorKind::NotFound);
        return Err(Error::io(intents, "open", source));
    };
    let intent = intent(&jobs)?;
    let mut folders = lock(&jobs, &intent, &intents)?;
    let ours = |path: &Path| intent.files.iter().any(|file| file.path == path);
    let recovered = recover_locked(&intents, &ours, &mut folders, disk)?;
    if !recovered.left.is_empty() {
        return Err(Error::Left {
            left: recovered.left,
        });
    }
    let looks = jobs
        .iter()
        .map(|job| recheck(job, &folders))
        .collect::<Result<Vec<_>, _>>()?;
    intent.write(folders.at(&intents)?, disk)?;
    let mut landed = 0;
    let done = prepare(&mut jobs, &looks, &intent, &mut folders, disk)
        .and_then(|()| land(&jobs, &intent, &mut landed, &folders, disk))
        .and_then(|()| verify(&jobs, &intent, check, &folders))
        .and_then(|()| Intent::done(folders.at(&intents)?, disk));
    if let Err(because) = done {
        let undone = undo(&intent, landed, Trust::Own, &intents, &mut folders, disk);
        return Err(after_undo(because, undone, &intent, landed));
    }
    // From here on the commit counts, so nothing below may fail it.
    let cleared = disk
        .sync_folder(folders.at(&intents)?)
        .map_err(|error| Error::io(&intents, "write in", error))
        .and_then(|()| clear(&intent, &intents, &mut folders, disk));
    let created = jobs.iter().filter(|job| job.write.before == Found::Missing);
    Ok(Committed {
        created_files: created.map(|job| job.write.path.clone()).collect(),
        created_folders: intent.created_folders,
        uncleared: cleared.err().map(|error| error.to_string()),
    })
}

/// The writes that change something, each with where it leads.
fn jobs(writes: &[Write]) -> Result<Vec<Job<'_>>, Error> {
    let mut jobs: Vec<Job<'_>> = Vec::new();
    for write in writes {
        if write.before.bytes() == write.after.bytes() {
            continue;
        }
        if let After::Bytes(bytes) = &write.after
            && bytes.len() as u64 > CONFIG_LIMIT
        {
            return Err(Error::TooLarge {
                path: write.path.clone(),
                len: bytes.len() as u64,
                limit: CONFIG_LIMIT,
            });
        }
        let place = place(&write.path)?;
        if let Some(other) = jobs.iter().find(|job| job.target() == target(&place)) {
            return Err(Error::SameFile {
                path: write.path.clone(),
                other: other.write.path.clone(),
            });
        }
        jobs.push(Job {
            write,
            place,
            seen: None,
            linked: false,
        });
    }
    if jobs.len() > FILES_LIMIT {
        return Err(Error::TooMany {
            count: jobs.len(),
            limit: FILES_LIMIT,
        });
    }
    Ok(jobs)
}

impl Job<'_> {
    fn target(&self) -> &Path {
        target(&self.place)
    }

    fn changed(&self) -> Error {
        Error::Changed {
            path: self.write.path.clone(),
        }
    }
}

fn target(place: &Place) -> &Path {
    match place {
        Place::There(target) | Place::Missing { target, .. } => target,
    }
}

/// What is about to happen, as it will be written down.
fn intent(jobs: &[Job<'_>]) -> Result<Intent, Error> {
    let mut files = Vec::new();
    let mut created: Vec<PathBuf> = Vec::new();
    let mut removed: Vec<PathBuf> = Vec::new();
    for job in jobs {
        let (before, after) = (job.write.before.bytes(), job.write.after.bytes());
        files.push(Planned {
            path: job.target().to_path_buf(),
            new: after.map(|_| new_name()),
            old: before.map(|_| old_name()),
            before: before.map(digest),
            after: after.map(digest),
        });
        if let Place::Missing { target, base } = &job.place {
            let missing = target.ancestors().skip(1).take_while(|above| above != base);
            created.extend(missing.map(Path::to_path_buf));
        }
        for folder in &job.write.remove_folders {
            if let Place::There(folder) = place(folder)? {
                removed.push(folder);
            }
        }
    }
    let depth = |path: &PathBuf| path.components().count();
    created.sort_by_key(|path| (depth(path), path.clone()));
    created.dedup();
    removed.sort_by_key(|path| (std::cmp::Reverse(depth(path)), path.clone()));
    removed.dedup();
    let holds = |folder: &&PathBuf| files.iter().any(|file| file.folder().starts_with(folder));
    if let Some(folder) = removed.iter().find(|folder| !holds(folder)) {
        return Err(Error::NotAbove {
            path: folder.clone(),
        });
    }
    let paths = files.iter().map(|file| &file.path);
    if let Some(path) = paths
        .chain(&created)
        .chain(&removed)
        .find(|p| p.to_str().is_none())
    {
        return Err(Error::NotUtf8 { path: path.clone() });
    }
    Ok(Intent::new(files, created, removed))
}

/// Locks each folder that will change, in the order of their paths. For a file whose folder is to
/// be created that is the nearest one above; the created one is locked when it is there.
fn lock(jobs: &[Job<'_>], intent: &Intent, intents: &Path) -> Result<Folders, Error> {
    let mut paths: Vec<&Path> = vec![intents];
    for job in jobs {
        paths.extend(match &job.place {
            Place::There(target) => target.parent(),
            Place::Missing { base, .. } => Some(base.as_path()),
        });
    }
    paths.extend(
        intent
            .removed_folders
            .iter()
            .filter_map(|folder| folder.parent()),
    );
    let mut folders = Folders::default();
    for path in distinct(paths) {
        if !folders.lock(path)? {
            let path = path.to_path_buf();
            return Err(Error::Changed { path });
        }
    }
    Ok(folders)
}

/// Under the lock: is the file still what the plan was made from, and can it be replaced?
fn recheck(job: &Job<'_>, folders: &Folders) -> Result<Look, Error> {
    if place(&job.write.path)? != job.place {
        return Err(job.changed());
    }
    let before = match (&job.write.before, &job.place) {
        (Found::Missing, Place::Missing { .. }) => return Ok(Look::of_new(job.write.new_mode)),
        (Found::File(before), Place::There(target)) if before.target == *target => before,
        _ => return Err(job.changed()),
    };
    let name = before.target.file_name().unwrap_or_default();
    let folder = folders.at(before.target.parent().unwrap_or(&before.target))?;
    let Some((bytes, meta, file)) = folder.read(name, CONFIG_LIMIT)? else {
        return Err(job.changed());
    };
    if !meta.is_same(&before.meta) || bytes != before.bytes {
        return Err(job.changed());
    }
    if meta.nlink > 1 {
        return Err(Error::HardLinked {
            path: job.write.path.clone(),
            links: meta.nlink,
        });
    }
    Look::of_old(&job.write.path, &file, &meta)
}

/// Makes all that is needed beside the files: folders, new files, second names of the old ones.
fn prepare(
    jobs: &mut [Job<'_>],
    looks: &[Look],
    intent: &Intent,
    folders: &mut Folders,
    disk: &mut dyn Disk,
) -> Result<(), Error> {
    for path in &intent.created_folders {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            continue;
        };
        let for_files = jobs.iter().filter(|job| job.target().starts_with(path));
        let modes = for_files.map(|job| folder_mode(job.write.new_mode));
        let mode = modes.fold(0o777, |all, mode| all & mode);
        let above = folders.at(parent)?;
        match disk.make_folder(above, name, mode) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::Changed { path: path.clone() });
            }
            other => other.map_err(|error| Error::io(path, "create", error))?,
        }
        folders.lock(path)?;
    }
    for ((job, look), file) in jobs.iter_mut().zip(looks).zip(&intent.files) {
        let folder = folders.at(file.folder())?;
        if let (Some(new), Some(bytes)) = (&file.new, job.write.after.bytes()) {
            stage(folder, OsStr::new(new), &job.write.path, bytes, look, disk)?;
        }
        if let (Some(old), Found::File(before)) = (&file.old, &job.write.before) {
            keep_old(job, before, OsStr::new(old), look, folder, disk)?;
        }
    }
    let made_in = intent
        .created_folders
        .iter()
        .filter_map(|path| path.parent());
    sync(
        made_in.chain(intent.files.iter().map(Planned::folder)),
        folders,
        disk,
    )
}

/// Gives the old file a second name; where the system allows none, a copy gets it.
fn keep_old(
    job: &mut Job<'_>,
    before: &Snapshot,
    old: &OsStr,
    look: &Look,
    folder: &Folder,
    disk: &mut dyn Disk,
) -> Result<(), Error> {
    let name = before.target.file_name().unwrap_or_default();
    match disk.link(folder, name, old) {
        Ok(()) => job.linked = true,
        Err(error) if no_links(&error) => {
            stage(folder, old, &job.write.path, &before.bytes, look, disk)?;
        }
        Err(error) => return Err(path_error(folder, old, "create", error)),
    }
    // A union file system may give the file another inode with its first new name.
    job.seen = folder.stat(name)?;
    let same = |seen: &Identity| (seen.len, seen.mtime) == (before.meta.len, before.meta.mtime);
    if job.seen.as_ref().is_some_and(same) && (!job.linked || folder.stat(old)? == job.seen) {
        Ok(())
    } else {
        Err(job.changed())
    }
}

fn no_links(error: &io::Error) -> bool {
    let codes = [Errno::PERM, Errno::NOTSUP, Errno::NOSYS, Errno::MLINK];
    codes
        .iter()
        .any(|code| error.raw_os_error() == Some(code.raw_os_error()))
}

/// Gives the new files their names. `landed` counts along, for undoing.
fn land(
    jobs: &[Job<'_>],
    intent: &Intent,
    landed: &mut usize,
    folders: &Folders,
    disk: &mut dyn Disk,
) -> Result<(), Error> {
    for (job, file) in jobs.iter().zip(&intent.files) {
        let (folder, name) = (folders.at(file.folder())?, file.name());
        // The last look: from here to the rename is the time in which a save would be lost.
        if folder.stat(name)? != job.seen {
            return Err(job.changed());
        }
        let renamed = match (&file.new, &job.seen) {
            (Some(new), Some(_)) => disk.rename(folder, OsStr::new(new), name),
            (Some(new), None) => disk.rename_new(folder, OsStr::new(new), name),
            (None, _) => disk.unlink(folder, name),
        };
        match renamed {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(job.changed());
            }
            other => other.map_err(|error| Error::io(&job.write.path, "replace", error))?,
        }
        *landed += 1;
    }
    sync(intent.files.iter().map(Planned::folder), folders, disk)
}

/// Reads everything back.
fn verify(
    jobs: &[Job<'_>],
    intent: &Intent,
    check: &Check<'_>,
    folders: &Folders,
) -> Result<(), Error> {
    for (job, file) in jobs.iter().zip(&intent.files) {
        let folder = folders.at(file.folder())?;
        let now = folder
            .read(file.name(), CONFIG_LIMIT)?
            .map(|(bytes, ..)| bytes);
        // Somebody else's text: undoing leaves it alone.
        if now.as_deref() != job.write.after.bytes() {
            return Err(job.changed());
        }
        // Somebody who had the old file open wrote into it: undoing gives it back to them.
        if let (true, Some(old), Some(seen)) = (job.linked, &file.old, &job.seen) {
            let old = folder.stat(OsStr::new(old))?;
            if old.is_none_or(|old| (old.len, old.mtime) != (seen.len, seen.mtime)) {
                return Err(job.changed());
            }
        }
        check(&job.write.path, now.as_deref()).map_err(|why| Error::RolledBack {
            path: job.write.path.clone(),
            why,
        })?;
    }
    Ok(())
}

fn after_undo(
    because: Error,
    undone: Result<Vec<Left>, Error>,
    intent: &Intent,
    landed: usize,
) -> Error {
    let left = undone.unwrap_or_else(|error| {
        let why = format!("may be new ({error}); the next run tries again");
        let files = intent.files.iter().take(landed);
        files
            .map(|file| Left {
                path: file.path.clone(),
                why: why.clone(),
                old: None,
            })
            .collect()
    });
    if left.is_empty() {
        return because;
    }
    Error::Stuck {
        because: Box::new(because),
        left,
    }
}

fn sync<'a>(
    paths: impl IntoIterator<Item = &'a Path>,
    folders: &Folders,
    disk: &mut dyn Disk,
) -> Result<(), Error> {
    for path in distinct(paths) {
        disk.sync_folder(folders.at(path)?)
            .map_err(|error| Error::io(path, "write in", error))?;
    }
    Ok(())
}

pub(super) fn distinct<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Vec<&'a Path> {
    let mut paths: Vec<&Path> = paths.into_iter().collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

pub(super) fn path_error(
    folder: &Folder,
    name: &OsStr,
    doing: &'static str,
    source: io::Error,
) -> Error {
    Error::io(&folder.path().join(name), doing, source)
}

/// Who may read a file may enter the folder made for it.
fn folder_mode(mode: u32) -> u32 {
    mode & 0o666 | (mode & 0o444) >> 2
}

#[cfg(test)]
mod tests {
    use super::super::{RealDisk, read};
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().canonicalize().expect("it is there");
        (folder, path)
    }

    fn write(path: &Path, after: Option<&str>) -> Write {
        Write {
            path: path.to_path_buf(),
            before: read(path, CONFIG_LIMIT).expect("readable"),
            after: after.map_or(After::Removed, |text| After::Bytes(text.into())),
            new_mode: 0o600,
            remove_folders: Vec::new(),
        }
    }

    fn run(writes: &[Write], intents: &Path) -> Result<Committed, Error> {
        commit(writes, intents, &|_, _| Ok(()), &mut RealDisk)
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> = entries
            .map(|e| name(e).into_string().expect("text"))
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn files_are_changed_created_and_removed_together() {
        let (_keep, dir) = folder();
        fs::write(dir.join("a"), "old").expect("written");
        fs::create_dir(dir.join("sub")).expect("folder");
        fs::write(dir.join("sub/b"), "old").expect("written");
        let mut gone = write(&dir.join("sub/b"), None);
        gone.remove_folders = vec![dir.join("sub")];
        let new = dir.join("x/y/c");
        let writes = [
            write(&dir.join("a"), Some("new")),
            write(&new, Some("c")),
            gone,
        ];
        let done = run(&writes, &dir).expect("committed");
        assert_eq!(done.created_files, std::slice::from_ref(&new));
        assert_eq!(done.created_folders, [dir.join("x"), dir.join("x/y")]);
        assert_eq!(done.uncleared, None);
        assert_eq!(names(&dir), ["a", "x"]);
        assert_eq!(names(&dir.join("x/y")), ["c"]);
        assert_eq!(fs::read(dir.join("a")).expect("there"), b"new");
        let mode = |path: &Path| fs::metadata(path).expect("there").mode() & 0o7777;
        assert_eq!((mode(&new), mode(&dir.join("x"))), (0o600, 0o700));
    }

    #[test]
    fn nothing_is_touched_where_nothing_changes() {
        let (_keep, dir) = folder();
        fs::write(dir.join("a"), "same").expect("written");
        let before = fs::metadata(&dir).expect("there").mtime_nsec();
        let writes = [
            write(&dir.join("a"), Some("same")),
            write(&dir.join("b"), None),
        ];
        assert_eq!(
            run(&writes, &dir).expect("nothing to do"),
            Committed::default()
        );
        assert_eq!(fs::metadata(&dir).expect("there").mtime_nsec(), before);
    }

    #[test]
    fn a_link_stays_and_its_file_changes_with_its_mode() {
        let (_keep, dir) = folder();
        fs::create_dir(dir.join("real")).expect("folder");
        fs::write(dir.join("real/a"), "old").expect("written");
        let mode = fs::Permissions::from_mode(0o640);
        fs::set_permissions(dir.join("real/a"), mode).expect("mode");
        symlink("real/a", dir.join("a")).expect("link");
        run(&[write(&dir.join("a"), Some("new"))], &dir).expect("committed");
        let link = fs::read_link(dir.join("a")).expect("still a link");
        assert_eq!(link, Path::new("real/a"));
        assert_eq!(fs::read(dir.join("real/a")).expect("there"), b"new");
        assert_eq!(names(&dir.join("real")), ["a"]);
        let meta = fs::metadata(dir.join("real/a")).expect("there");
        assert_eq!(meta.mode() & 0o7777, 0o640);
    }

    #[test]
    fn a_failed_check_brings_the_very_same_files_back() {
        let (_keep, dir) = folder();
        fs::write(dir.join("a"), "old").expect("written");
        let before = read(&dir.join("a"), 9).expect("readable");
        let writes = [
            write(&dir.join("a"), Some("new")),
            write(&dir.join("d/b"), Some("b")),
        ];
        let no = |path: &Path, _: Option<&[u8]>| {
            let right = !path.ends_with("b");
            right.then_some(()).ok_or("is not right".to_owned())
        };
        let error = commit(&writes, &dir, &no, &mut RealDisk).expect_err("refused");
        assert!(matches!(&error, Error::RolledBack { why, .. } if why == "is not right"));
        assert_eq!(read(&dir.join("a"), 9).expect("readable"), before);
        assert_eq!(names(&dir), ["a"]);
    }

    #[test]
    fn what_changed_since_it_was_read_is_refused() {
        let (_keep, dir) = folder();
        let (a, b) = (dir.join("a"), dir.join("b"));
        fs::write(&a, "old").expect("written");
        let writes = [write(&a, Some("new")), write(&b, Some("new"))];
        fs::write(&b, "came").expect("written");
        assert!(matches!(run(&writes, &dir), Err(Error::Changed { path }) if path == b));
        fs::remove_file(&b).expect("removed");
        fs::write(&a, "odd").expect("written");
        assert!(matches!(run(&writes, &dir), Err(Error::Changed { path }) if path == a));
        // Not even a clock that was set back hides another text.
        let Found::File(file) = &writes[0].before else {
            panic!("it was there")
        };
        let nanos = u64::try_from(file.meta.mtime).expect("after 1970");
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(nanos);
        let opened = fs::File::options().write(true).open(&a).expect("there");
        opened.set_modified(time).expect("its owner may");
        assert!(matches!(run(&writes, &dir), Err(Error::Changed { path }) if path == a));
        fs::remove_file(&a).expect("removed");
        assert!(matches!(run(&writes, &dir), Err(Error::Changed { path }) if path == a));
        assert_eq!(names(&dir), [""; 0]);
    }

    #[test]
    fn a_file_with_two_names_is_refused() {
        let (_keep, dir) = folder();
        fs::write(dir.join("a"), "old").expect("written");
        fs::hard_link(dir.join("a"), dir.join("b")).expect("link");
        let result = run(&[write(&dir.join("a"), Some("new"))], &dir);
        assert!(matches!(result, Err(Error::HardLinked { links: 2, .. })));
    }

    #[test]
    fn two_ways_to_one_file_are_refused() {
        let (_keep, dir) = folder();
        fs::write(dir.join("a"), "old").expect("written");
        symlink("a", dir.join("b")).expect("link");
        let writes = [
            write(&dir.join("a"), Some("1")),
            write(&dir.join("b"), Some("2")),
        ];
        assert!(matches!(run(&writes, &dir), Err(Error::SameFile { .. })));
    }

    #[test]
    fn a_folder_that_is_locked_is_busy() {
        let (_keep, dir) = folder();
        let mut folders = Folders::default();
        assert!(folders.lock(&dir).expect("free"));
        let writes = [write(&dir.join("x/a"), Some("1"))];
        assert!(matches!(run(&writes, &dir), Err(Error::Busy { folder }) if folder == dir));
        drop(folders);
        run(&writes, &dir).expect("free again");
    }
}
