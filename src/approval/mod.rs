//! Proposal, decision, grant, run and journal: what a gated action is, whoever asks the person.
//!
//! ```text
//! Surroundings::look ─ refuses where the gate cannot hold
//! Gate::open ─ the state directory, a clock, a disk
//! propose(gate, around, Wish) ─► Waiting (token, proposal), Ruling (allow, confirm, deny)
//! load(gate, token) ─► Waiting        waiting(gate) ─► all of them
//! Card::of(&Waiting) ─ what a person is shown          inspect(&Waiting, around) ─ still the same?
//! Question::ask(…) ─► read_form, read_terminal ─► Verdict ─► Approved::grant(gate)
//! confirm(gate, …): inspect, Grant::take, run(grant, …) ─► Outcome, in the journal
//! ```
//!
//! A grant comes only out of a person's Approve of exactly this proposal, or of an `allow` line
//! that is journaled; it is spent once, by the type and by a rename on the disk. What cannot be
//! told is refused. This module knows no transport: the terminal, the approver and the broker bring
//! an answer and get a verdict. It does not know which files a program finds by itself.

mod card;
mod change;
mod clock;
mod decision;
mod digest;
mod error;
mod execute;
mod grant;
mod journal;
mod policy;
mod program;
mod proposal;
mod store;
mod supervise;
mod surroundings;
mod token;

#[cfg(test)]
pub(crate) mod testing;

pub use card::{Card, FITS_COLUMNS, FITS_LINES, for_terminal};
pub use change::{Change, FilesWish};
pub use clock::{Clock, Moment, SystemClock, utc};
pub use decision::{
    Approved, By, FormAnswer, NoGrant, Question, Verdict, by_policy, reject, undecided,
};
pub use error::Error;
pub(crate) use execute::SUPERVISE;
pub use execute::{Ended, Outcome, Sink, Stream, confirm, inspect, run};
pub use grant::Grant;
pub use journal::{Damage, Event, Journal, Output, Record, Verified, Written};
pub use policy::{Allowed, Line, Ruling, judge, judge_words, loose_candidates, skipped_allow};
pub use program::{Program, Variable};
pub use proposal::{
    Action, Command, CommandWish, Content, Input, Place, Proposal, Source, What, Wish, propose,
};
pub use store::{Gate, Summary, Waiting, load, waiting};
pub use supervise::supervise;
pub use surroundings::{Surroundings, open_folders, own_folders};
pub use token::Token;
