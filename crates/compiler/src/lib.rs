//! Policy sources in, policy table out, with diagnostics that name file, line and column.
//!
//! Deterministic: the same input gives the same bytes.
#![forbid(unsafe_code)]

pub mod accessors;
pub mod cel;
mod compile;
pub mod coverage;
pub mod diagnostics;
pub mod emit;
pub mod expression;
pub mod format;
pub mod globals;
mod json;
pub mod lint;
mod nearest;
pub mod policy;
pub mod reading;
pub mod regex;
pub mod repository;
pub mod resolve;
pub mod schema;
pub mod source;
pub mod suite;
pub mod walk;
pub mod yaml;
pub mod zones;

pub use compile::{Compiled, compile_dir, compile_files, compile_repository, lint_dir, lint_files};
pub use emit::{Enforcement, Options};
