//! A full disk, a disk that fails, a missing permission: before the commit counts, every file is
//! as it was and nothing is left; afterwards, every file is new.

use crate::faults::{Fault, Faults};
use crate::scene::{OLD, Scene, State, commit_in, write};
use codexgate::files::{Error, RealDisk, commit, read};
use rustix::io::Errno;
use std::fs;

#[test]
fn any_step_may_fail() {
    for errno in [Errno::NOSPC, Errno::IO, Errno::ACCESS] {
        let mut failed = 0;
        for step in 0.. {
            let scene = Scene::quick();
            let before = read(&scene.changed(), 99).expect("readable");
            let mut disk = Faults::at(step, Fault::Fail(errno));
            let result = scene.commit(&scene.plan(3), &mut disk);
            match &result {
                Ok(done) => {
                    // What could not be cleared is cleared by the next run.
                    assert_eq!(scene.state(3), State::New, "{errno:?} at {step}");
                    let cleared = scene.recover(&mut RealDisk).expect("recovers").cleared;
                    assert!(!cleared || done.uncleared.is_some());
                }
                Err(Error::Io { .. } | Error::Denied { .. } | Error::CannotKeep { .. }) => {
                    failed += 1;
                    assert_eq!(scene.state(3), State::Old, "{errno:?} at {step}");
                    assert_eq!(read(&scene.changed(), 99).expect("readable"), before);
                }
                Err(other) => panic!("{errno:?} at {step}: {other}"),
            }
            if scene.dir.join("project/leaves").exists() && result.is_ok() {
                // The one step whose failure is let pass: an empty folder stays.
                fs::remove_dir(scene.dir.join("project/leaves")).expect("it is empty");
            }
            scene.is_tidy(3);
            if !disk.came() {
                assert!(failed > 20);
                break;
            }
        }
    }
}

#[test]
fn a_file_system_without_links_gets_copies() {
    for right in [true, false] {
        let scene = Scene::quick();
        let plan = scene.plan(2);
        let mut disk = Faults::default();
        scene.commit(&plan, &mut disk).expect("commits");
        let link = disk.steps.iter().position(|step| step.starts_with("link"));
        let scene = Scene::quick();
        let mut disk = Faults::at(link.expect("one links"), Fault::Fail(Errno::PERM));
        let check = |_: &std::path::Path, _: Option<&[u8]>| {
            right.then_some(()).ok_or_else(|| "wrong".to_owned())
        };
        let result = commit(&scene.plan(2), &scene.home(), &check, &mut disk);
        assert!(
            disk.steps.iter().any(|step| step == "create .old-1"),
            "{:?}",
            disk.steps
        );
        assert_eq!(result.is_ok(), right);
        let wanted = if right { State::New } else { State::Old };
        assert_eq!(scene.state(2), wanted);
        scene.is_tidy(2);
    }
}

#[test]
fn what_cannot_be_brought_back_is_named_and_the_next_run_does_it() {
    let scene = Scene::quick();
    let mut disk = Faults::default();
    scene.commit(&scene.plan(2), &mut disk).expect("commits");
    let second = disk
        .steps
        .iter()
        .position(|step| step.ends_with("created.toml"));
    let scene = Scene::quick();
    let mut disk = Faults::at(second.expect("it is renamed"), Fault::Die);
    let error = scene
        .commit(&scene.plan(2), &mut disk)
        .expect_err("it fails");
    assert!(matches!(&error, Error::Stuck { left, .. } if left[0].path == scene.changed()));
    assert_eq!(scene.state(2), State::Mixed);
    // The next commit undoes first; its plan was made from what was there then.
    let next = commit_in(&scene.home(), &[write(&scene.changed(), Some("x"))]);
    assert!(
        matches!(next, Err(Error::Intent { .. })),
        "it may not speak for the other file"
    );
    let recovered = scene.recover(&mut RealDisk).expect("recovers");
    assert_eq!(recovered.undone.len(), 2);
    scene.is_tidy(2);
    assert_eq!(fs::read_to_string(scene.changed()).expect("there"), OLD);
}
