//! Tests over every crate: conformance corpora, cases, oracles and fuzzing.
//!
//! It never ships. Corpora outside the project are data, read at run time; without that data the
//! tests print its absence and pass.
#![forbid(unsafe_code)]

pub mod conformance;
pub mod program;

#[cfg(feature = "server")]
pub mod fuzz;
#[cfg(feature = "server")]
pub mod hostile;
#[cfg(feature = "server")]
pub mod http;

/// Declares modules that compile or decide policies.
macro_rules! of_policies {
    ($($module:item)*) => { $(#[cfg(feature = "policies")] $module)* };
}
use of_policies;

of_policies! {
    pub mod cases;
    pub mod check;
    pub mod compiled;
    pub mod datum;
    pub mod demo;
    pub mod diagnostics;
    pub mod expression;
    pub mod fill;
    pub mod generate;
    pub mod items;
    pub mod literals;
    pub mod loadtest;
    pub mod node;
    pub mod oracle;
    pub mod parity;
    pub mod property;
    pub mod random;
    pub mod rules;
    pub mod runtimes;
    pub mod sources;
    pub mod spocp;
    pub mod suites;
    pub mod tally;
    pub mod topics;
    pub mod yaml;
}
