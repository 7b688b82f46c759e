//! A kill at any instant leaves each file old or new, whole, and the next run makes all of them
//! old or all of them new, with nothing left beside them.

use crate::faults::{Fault, Faults};
use crate::scene::{Scene, State, child};
use codexgate::files::RealDisk;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;

const DIR: &str = "CODEXGATE_TEST_DIR";
const STEP: &str = "CODEXGATE_TEST_STEP";
const FILES: &str = "CODEXGATE_TEST_FILES";

#[test]
fn two_files() {
    let mixed = kill_at_every_step(2);
    assert!(mixed > 0, "no kill came between the renames");
}

#[test]
fn three_files_one_created_one_removed() {
    let mixed = kill_at_every_step(3);
    assert!(mixed > 1, "no kill came between the renames");
}

/// Returns how many kills left the files neither all old nor all new.
fn kill_at_every_step(files: usize) -> usize {
    let mut mixed = 0;
    for step in 0.. {
        let scene = Scene::new();
        let status = child("p3_kill_at_every_step::commits_until_it_is_killed")
            .env(DIR, &scene.dir)
            .env(STEP, step.to_string())
            .env(FILES, files.to_string())
            .stdout(std::process::Stdio::null())
            .status()
            .expect("it starts");
        if status.success() {
            assert!(step > 20, "only {step} steps");
            assert_eq!(scene.state(files), State::New);
            scene.is_tidy(files);
            return mixed;
        }
        assert_eq!(status.signal(), Some(9), "step {step}");
        mixed += usize::from(scene.state(files) == State::Mixed);
        let recovered = scene.recover(&mut RealDisk).expect("recovers");
        assert!(recovered.left.is_empty(), "step {step}: {recovered:?}");
        assert!(
            !recovered.cleared || scene.state(files) == State::New,
            "step {step}"
        );
        scene.is_tidy(files);
        // And the plan can be made and committed again.
        if scene.state(files) == State::Old {
            scene
                .commit(&scene.plan(files), &mut RealDisk)
                .expect("commits");
            scene.is_tidy(files);
        }
    }
    unreachable!("a commit ends");
}

#[test]
#[ignore = "run by the tests above, as the process that is killed"]
fn commits_until_it_is_killed() {
    let Some(dir) = std::env::var_os(DIR) else {
        return;
    };
    let number = |name| {
        let text = std::env::var(name).expect("it is set");
        text.parse::<usize>().expect("a number")
    };
    let scene = Scene::of(PathBuf::from(dir));
    let plan = scene.plan(number(FILES));
    let mut disk = Faults::at(number(STEP), Fault::Kill);
    let done = scene.commit(&plan, &mut disk).expect("commits");
    assert_eq!(done.uncleared, None);
}

/// The same with a disk that is gone from a step on, and gone again from any step of the recovery.
#[test]
fn a_recovery_that_dies_can_be_begun_again() {
    for step in 0.. {
        let mut done = false;
        for again in 0.. {
            let scene = Scene::quick();
            let mut disk = Faults::at(step, Fault::Die);
            let result = scene.commit(&scene.plan(3), &mut disk);
            done = !disk.came();
            assert!(result.is_ok() || disk.came());
            let mut disk = Faults::at(again, Fault::Die);
            let _ = scene.recover(&mut disk);
            let _ = scene.state(3);
            let recovered = scene.recover(&mut RealDisk).expect("recovers");
            assert!(recovered.left.is_empty(), "{step}/{again}: {recovered:?}");
            scene.is_tidy(3);
            if !disk.came() {
                break;
            }
        }
        if done {
            return;
        }
    }
}
