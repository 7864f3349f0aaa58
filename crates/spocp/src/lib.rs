//! Restricted S-expressions as a language of authorization: reading, writing, and the order among them.
//!
//! A rule allows a query if the query is less than or equal to the rule. The meaning of both is that of
//! draft-hedberg-spocp-sexp-00; where the draft leaves a choice, the module that makes it says which.
//! Pure and total: no I/O, no clock, and nothing that a caller writes makes it run without a bound.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod error;
pub mod expression;
pub mod file;
pub mod limits;
mod normal;
mod order;
pub mod packed;
pub mod range;
mod read;
pub mod rules;
mod write;

pub use error::{Error, Kind};
pub use expression::{Element, Elements, Expression};
pub use normal::Normal;
pub use rules::{Inserted, Refused, RuleId, RuleSet};
