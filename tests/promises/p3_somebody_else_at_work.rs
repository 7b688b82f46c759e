//! Another run, an editor, an agent that swaps folders: nothing of theirs is lost or followed.

use crate::faults::{Fault, Faults};
use crate::scene::{NEW, OLD, Scene, State, child, commit_in, write};
use codexgate::files::{Error, RealDisk};
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::path::PathBuf;
use std::process::Stdio;

const DIR: &str = "CODEXGATE_TEST_BUSY_DIR";

#[test]
fn of_two_runs_one_commits_and_one_is_told() {
    let scene = Scene::new();
    let mut other = child("p3_somebody_else_at_work::commits_when_told")
        .env(DIR, &scene.dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let said = BufReader::new(other.stdout.take().expect("piped")).lines();
    let mut said = said.map_while(Result::ok);
    assert!(
        said.any(|line| line.contains("in the middle")),
        "it got there"
    );

    let plan = scene.plan(2);
    let result = scene.commit(&plan, &mut RealDisk);
    let Err(error @ Error::Busy { .. }) = result else {
        panic!("{result:?}")
    };
    assert!(
        error
            .to_string()
            .starts_with("another codexgate is at work in `")
    );
    assert!(matches!(
        scene.recover(&mut RealDisk),
        Err(Error::Busy { .. })
    ));
    // A plan of one file whose folder the other locked is told so, too.
    let elsewhere = scene.dir.clone();
    let result = commit_in(&elsewhere, &[write(&scene.changed(), Some("x"))]);
    assert!(matches!(result, Err(Error::Busy { .. })));

    let mut stdin = other.stdin.take().expect("piped");
    stdin.write_all(b"go on\n").expect("it listens");
    said.for_each(drop); // until it closes its end
    assert!(other.wait().expect("it ends").success());
    assert_eq!(scene.state(2), State::New);
    scene.is_tidy(2);
    let result = scene.commit(&plan, &mut RealDisk);
    assert!(
        matches!(result, Err(Error::Changed { .. })),
        "the plan is stale now"
    );
}

#[test]
#[ignore = "run by the test above, as the other process"]
fn commits_when_told() {
    let Some(dir) = std::env::var_os(DIR) else {
        return;
    };
    let scene = Scene::of(PathBuf::from(dir));
    let mut disk = Faults::meanwhile(|step| {
        if step.starts_with("rename .new-1") {
            println!("in the middle");
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).expect("told");
        }
    });
    scene.commit(&scene.plan(2), &mut disk).expect("commits");
}

#[test]
fn a_lock_leaves_no_file() {
    let scene = Scene::new();
    scene
        .commit(&scene.plan(3), &mut RealDisk)
        .expect("commits");
    scene.is_tidy(3);
}

#[test]
fn a_text_written_into_the_old_file_comes_back() {
    let scene = Scene::new();
    let (path, theirs) = (scene.changed(), "theirs = true\n");
    let mut disk = Faults::meanwhile(|step| {
        // After the last look, right before the rename: nobody can see this one come.
        if step == "rename .new-1 config.toml" {
            fs::write(&path, theirs).expect("written in place");
        }
    });
    let result = scene.commit(&scene.plan(2), &mut disk);
    assert!(matches!(result, Err(Error::Changed { .. })), "{result:?}");
    assert_eq!(fs::read_to_string(&path).expect("there"), theirs);
    assert!(!scene.created().exists());
}

#[test]
fn a_file_that_is_saved_meanwhile_stays() {
    // While the commit makes ready, and in the last moment before it looks for the last time.
    for moment in ["link config.toml .old-1", "sync_folder comes"] {
        let scene = Scene::new();
        let (path, theirs) = (scene.changed(), "theirs = true\n");
        let mut disk = Faults::meanwhile(|step| {
            if step == moment {
                let aside = path.with_extension("tmp");
                fs::write(&aside, theirs).expect("written");
                fs::rename(&aside, &path).expect("saved as editors do");
            }
        });
        let result = scene.commit(&scene.plan(2), &mut disk);
        assert!(
            matches!(result, Err(Error::Changed { .. })),
            "{moment}: {result:?}"
        );
        assert_eq!(fs::read_to_string(&path).expect("there"), theirs);
        assert!(!scene.created().exists());
    }
}

#[test]
fn a_file_that_comes_meanwhile_stays() {
    let scene = Scene::new();
    let (path, theirs) = (scene.created(), "theirs = true\n");
    let mut disk = Faults::meanwhile(|step| {
        if step == "rename_new .new-2 created.toml" {
            fs::write(&path, theirs).expect("written");
        }
    });
    let result = scene.commit(&scene.plan(2), &mut disk);
    assert!(matches!(result, Err(Error::Changed { .. })), "{result:?}");
    assert_eq!(fs::read_to_string(&path).expect("there"), theirs);
    assert_eq!(fs::read_to_string(scene.changed()).expect("there"), OLD);
}

#[test]
fn a_folder_swapped_for_a_link_is_not_followed() {
    let scene = Scene::new();
    let (project, elsewhere) = (scene.dir.join("project"), scene.dir.join("elsewhere"));
    fs::create_dir_all(elsewhere.join("leaves")).expect("folder");
    fs::write(elsewhere.join("leaves/removed.toml"), OLD).expect("written");
    let mut disk = Faults::meanwhile(|step| {
        if step == "make_folder comes" {
            fs::rename(&project, scene.dir.join("away")).expect("moved");
            std::os::unix::fs::symlink(&elsewhere, &project).expect("link");
        }
    });
    let _ = scene.commit(&scene.plan(3), &mut disk);
    assert!(!elsewhere.join("comes").exists());
    assert!(elsewhere.join("leaves/removed.toml").exists());
}

#[test]
fn a_file_changed_after_a_kill_is_named_and_its_old_text_kept() {
    let scene = Scene::new();
    let mut disk = Faults::default();
    scene.commit(&scene.plan(3), &mut disk).expect("commits");
    let removed = disk
        .steps
        .iter()
        .position(|step| step == "unlink removed.toml");
    let scene = Scene::new();
    let mut disk = Faults::at(removed.expect("it is removed"), Fault::Die);
    scene
        .commit(&scene.plan(3), &mut disk)
        .expect_err("it dies");
    assert_eq!(fs::read_to_string(scene.changed()).expect("there"), NEW);
    fs::write(scene.changed(), "theirs = true\n").expect("written");
    let recovered = scene.recover(&mut RealDisk).expect("recovers");
    let [left] = &recovered.left[..] else {
        panic!("{recovered:?}")
    };
    assert_eq!(left.path, scene.changed());
    let old = left.old.as_ref().expect("it is kept");
    assert_eq!(fs::read_to_string(old).expect("there"), OLD);
    assert_eq!(
        fs::read_to_string(scene.changed()).expect("there"),
        "theirs = true\n"
    );
    assert!(!scene.created().exists() && scene.removed().exists());
    // It is told once; the next run is free.
    let again = scene.recover(&mut RealDisk).expect("nothing left");
    assert_eq!(again, codexgate::files::Recovered::default());
}
