//! The host as its users see it.
#![forbid(unsafe_code)]

mod allocations;
mod decisions;
mod policies;
mod threads;
