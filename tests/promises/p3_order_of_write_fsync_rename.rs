//! Nothing gets its name before it is on the disk, and nothing counts before its name is.

use crate::faults::Faults;
use crate::scene::Scene;

#[test]
fn the_order_of_a_commit() {
    let scene = Scene::new();
    let mut disk = Faults::default();
    scene.commit(&scene.plan(3), &mut disk).expect("commits");
    let steps: Vec<&str> = disk.steps.iter().map(String::as_str).collect();
    assert_eq!(
        steps,
        [
            // what is about to happen
            "create commit.new",
            "write commit.new",
            "sync commit.new",
            "rename_new commit.new commit.json",
            "sync_folder home",
            // the new files, private before their first byte, and the old ones' second names
            "make_folder comes",
            "create .new-1",
            "set_mode .new-1",
            "write .new-1",
            "sync .new-1",
            "link config.toml .old-1",
            "create .new-2",
            "set_mode .new-2",
            "write .new-2",
            "sync .new-2",
            "link removed.toml .old-2",
            "sync_folder home",
            "sync_folder project",
            "sync_folder comes",
            "sync_folder leaves",
            // the files themselves
            "rename .new-1 config.toml",
            "rename_new .new-2 created.toml",
            "unlink removed.toml",
            "sync_folder home",
            "sync_folder comes",
            "sync_folder leaves",
            // from here on it counts
            "rename_new commit.json done.json",
            "sync_folder home",
            "unlink .old-1",
            "unlink .old-2",
            "sync_folder home",
            "sync_folder comes",
            "sync_folder leaves",
            "remove_folder leaves",
            "sync_folder project",
            "unlink done.json",
            "sync_folder home",
        ]
    );
}
