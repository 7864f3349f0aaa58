//! MQTT: topic names and filters, what filters cover, sets of filters, packets, a gate, and a broker.
//!
//! Everything here is a function of its arguments: no clock, no I/O, no randomness. Texts of others
//! enter through types that cannot be wrong (`Name`, `Filter`), and every
//! loop over them is bounded by [`Limits`].
//!
//! Sources: OASIS MQTT 3.1.1 and MQTT 5.0; statements are named by their numbers, `[MQTT-4.7.1-1]`.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod blocks;
pub mod broker;
mod cover;
pub mod gate;
mod limits;
mod lists;
pub mod packet;
mod set;
mod topic;

pub use cover::{Cover, cover, intersection, overlap};
pub use limits::Limits;
pub use set::{Filters, Full, Id};
pub use topic::{Filter, Level, Levels, Name, OwnedFilter, TopicError};
