//! The CEL evaluator: a register machine over programs that the compiler wrote.
//!
//! A program cannot fail to run: a CEL error is a value ([`Value::Error`]) that travels through the
//! registers, so `&&`, `||` and the macros absorb it exactly where the CEL specification says so.

pub mod function;
pub mod op;
pub mod pool;

pub use function::Function;
pub use op::Op;
pub use pool::Pool;
