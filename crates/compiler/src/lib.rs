//! Policy sources in, policy table out, with diagnostics that name file, line and column.
//!
//! Deterministic: the same input gives the same bytes.
#![forbid(unsafe_code)]

pub mod cel;
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
pub mod walk;
mod words;
pub mod yaml;
pub mod zones;

pub use compile::{Compiled, compile_dir, compile_files, compile_repository};
pub use emit::{Enforcement, Options};

/// Collects items one after the other. `collect` sorts the items of a set or a map first, by code that is compiled anew for
/// each type: some kilobytes of the module for the package each time.
#[doc(hidden)]
pub fn gathered<C: Default + Extend<T>, T>(items: impl IntoIterator<Item = T>) -> C {
    let mut gathered = C::default();
    gathered.extend(items);
    gathered
}
