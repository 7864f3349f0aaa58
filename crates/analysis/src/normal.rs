//! The normal form of a condition: one spelling for all spellings that mean the same.
//!
//! A rewrite is used only where the outcome stays the same for every request: true, false, another
//! value or an error, in strict and in lenient tables. Operands of `&&` and `||` have no order,
//! because logic looks past errors. The parts of `all`, `any` and `none` have one: the first part
//! that fails ends a strict condition, and counts as false in a lenient one. They are joined to
//! `&&` and `||` only where no part but the last can fail. Budgets of steps are not considered.

mod condition;
mod constant;
mod logic;
mod node;
mod path;
mod risk;
mod scope;
mod spell;
mod translate;

pub use condition::Normal;
pub use node::Node;
pub use scope::{Parsed, Scope};
