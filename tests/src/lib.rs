//! Tests over every crate: conformance corpora, cases, oracles and fuzzing.
//!
//! It never ships. Corpora outside the project are data, read at run time; without that data
//! the tests print its absence and pass.
#![forbid(unsafe_code)]

pub mod cases;
pub mod check;
pub mod conformance;
pub mod datum;
pub mod demo;
pub mod diagnostics;
pub mod expression;
pub mod fill;
// The hosts that it attacks are shared between threads, which WebAssembly lacks.
#[cfg(feature = "server")]
pub mod fuzz;
pub mod generate;
// As for `fuzz`.
#[cfg(feature = "server")]
pub mod hostile;
// As for `fuzz`.
#[cfg(feature = "server")]
pub mod http;
pub mod literals;
pub mod loadtest;
pub mod node;
pub mod oracle;
pub mod parity;
pub mod random;
pub mod rules;
pub mod runtimes;
pub mod sources;
pub mod spocp;
pub mod suites;
pub mod tally;
pub mod yaml;
