//! The Wardgate policy decision point: one policy table, one request, one decision.
//!
//! Pure and total: it does no I/O, reads no clock, holds no cryptography, and cannot panic. Time is
//! an argument. Trouble is a reason inside the decision, and an incomplete answer is never Allow.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod attr;
pub mod budget;
pub mod cel;
mod codes;
pub mod decide;
pub mod decision;
pub mod fastpath;
pub mod glob;
pub mod limits;
pub mod names;
pub mod number;
mod open;
pub mod order;
pub mod regex;
pub mod request;
pub mod schema;
pub mod table;
pub mod text;
pub mod wire;
