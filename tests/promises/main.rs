//! The promises of the design, one file each: a test here fails when its promise breaks.
//!
//! Names start with the promise's number. `faults` stands between a commit and the disk, `scene`
//! is the plan that the tests of promise 3 commit.

mod faults;
#[path = "../gate/mod.rs"]
mod gate;
mod p1_adversarial;
mod p1_no_grant_without_approve;
mod p2_a_grant_runs_once;
mod p2_kill_at_every_step;
mod p2_what_was_approved_is_what_runs;
mod p3_corpus;
mod p3_failures_before_the_commit_counts;
mod p3_kill_at_every_step;
mod p3_order_of_write_fsync_rename;
mod p3_owner_mode_and_links_stay;
mod p3_random_documents;
mod p3_somebody_else_at_work;
mod scene;
