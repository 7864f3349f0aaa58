//! Policy sources in, policy table out, with diagnostics that name file, line and column.
//!
//! Deterministic: the same input gives the same bytes.
#![forbid(unsafe_code)]

pub mod cel;
#[doc(hidden)]
pub mod compile;
pub mod diagnostics;
pub mod emit;
pub mod expression;
pub mod globals;
pub mod limits;
mod message;
pub mod nearest;
pub mod policy;
pub mod pool;
pub mod reading;
pub mod regex;
pub mod repository;
pub mod resolve;
pub mod schema;
pub mod source;
pub mod topics;
pub mod walk;
mod words;
pub mod yaml;
pub mod zones;

pub use compile::{Compiled, compile_dir, compile_files, compile_repository};
pub use emit::{Enforcement, Options};
