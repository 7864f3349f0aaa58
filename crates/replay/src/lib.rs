//! What a log of decisions would have said with other policies.
//!
//! Lines of JSON are read on all cores in bounded memory, each decision is made again at the time of its entry, and
//! every one of them is counted once: what cannot be decided again is counted as that, and never guessed.
#![forbid(unsafe_code)]

pub mod limits;
pub mod lines;
pub mod replay;
pub mod source;
pub mod tally;
pub mod usage;

mod changed;
mod deciders;
mod kinds;
mod memo;
mod roles;
mod sides;
mod threads;
mod worker;
