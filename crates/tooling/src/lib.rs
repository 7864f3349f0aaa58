//! Tools for authors of policies: linter, formatter, test suites, coverage, accessors and types for
//! TypeScript.
//!
//! Everything here reads the files that `wardgate-compiler` reads and changes no table. A host that
//! only compiles or decides needs none of it.
#![forbid(unsafe_code)]

pub mod accessors;
pub mod coverage;
pub mod edit;
pub mod format;
mod json;
pub mod lint;
mod sources;
pub mod suite;
pub mod typescript;

pub use lint::{lint_dir, lint_files};
pub use sources::source_files;
