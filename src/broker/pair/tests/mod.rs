//! Each numbered rule has a test whose name begins with the rule's; recorded conversations and
//! what an attacker would make of them go in.

#[allow(dead_code)] // some helpers wait for their tests
mod desk;

mod pairs;
