//! Each numbered rule has a test whose name begins with the rule's; recorded conversations and
//! what an attacker would make of them go in.

mod desk;
mod rules_off;

mod answers;
mod cards;
mod identity;
mod pairs;
mod persist;
mod property;
mod questions;
mod recognise;
mod time;
mod units;
