//! Restricted S-expressions as a language of authorization: reading, writing, and their order.
//!
//! A rule allows a query if the query is less than or equal to the rule. The meaning of both is
//! that of draft-hedberg-spocp-sexp-00; where the draft leaves a choice, the module that makes it
//! documents it. Pure and total: no I/O, no clock, and every loop over input is bounded.
//!
//! # Examples
//! ```
//! use wardgate_spocp::{Normal, RuleSet};
//!
//! let mut rules = RuleSet::new();
//! rules.insert(&Normal::from_advanced(b"(http (page index.html))")?)?;
//! assert!(rules.allows(&Normal::from_advanced(b"(http (page index.html)(action GET))")?));
//! assert!(!rules.allows(&Normal::from_advanced(b"(http (page other.html))")?));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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
