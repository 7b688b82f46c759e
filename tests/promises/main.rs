//! The promises of the design, one file each: a test here fails when its promise breaks.
//!
//! Names start with the promise's number. `faults` stands between a commit and the disk, `scene`
//! is the plan that the tests of promise 3 commit.

mod faults;
mod p1_adversarial;
mod p3_corpus;
mod p3_failures_before_the_commit_counts;
mod p3_kill_at_every_step;
mod p3_order_of_write_fsync_rename;
mod p3_owner_mode_and_links_stay;
mod p3_random_documents;
mod p3_somebody_else_at_work;
mod scene;
