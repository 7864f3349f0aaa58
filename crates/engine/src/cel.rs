//! The CEL evaluator: a register machine over programs that the compiler wrote.
//!
//! A program cannot fail to run: a CEL error is a value ([`Value::Error`]) in a register, so `&&`,
//! `||` and the macros absorb it exactly where the CEL specification requires.

mod access;
pub mod activation;
pub mod context;
pub mod error;
pub mod function;
pub mod functions;
pub mod op;
mod operators;
pub mod pool;
pub mod time;
pub mod validate;
pub mod value;
pub mod vm;

#[cfg(feature = "observe")]
pub(crate) use access::slot as read_slot;
#[cfg(feature = "observe")]
pub use activation::Topics;
pub use activation::{Activation, request_root};
pub use context::Context;
pub(crate) use context::spend;
pub use error::{Answer, Error};
pub use function::Function;
pub use op::Op;
pub use pool::Pool;
pub use time::Timestamp;
pub use validate::validate;
pub use value::Value;
pub use vm::eval;
