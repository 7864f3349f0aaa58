//! The CEL front end: source text in, programs for the register machine out.
//!
//! The stages follow each other and share one tree: [`parse`] builds it and expands the macros,
//! [`check`] resolves its names and types, [`lower`] writes its instructions. Every stage reports
//! what is wrong with the byte span where it is wrong. Nothing here trusts its input: sources are
//! bounded in size and depth before anything recurses over them.

pub mod ast;
mod check;
mod constant;
mod env;
pub mod lexer;
mod literal;
mod lower;
mod macros;
mod parser;
mod references;
mod signature;
mod standalone;
mod types;
mod validate;

pub use ast::{CelError, Expr, Span};
pub use check::{Checked, check};
pub use constant::constant;
pub use env::Env;
pub use lower::{Scope, lower};
pub use parser::parse;
pub use references::{References, references};
pub use signature::{Signature, functions};
pub use standalone::Standalone;
pub use types::Type;
pub use validate::not_a_filter;
