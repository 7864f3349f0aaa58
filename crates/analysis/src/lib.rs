//! What policies mean together: rules that are similar, and what a change changes.
//!
//! Everything here reads what `wardgate-compiler` reads and changes no table. What is shown as certain
//! was proved, or decided by the engine; the rest is told as unknown.
#![forbid(unsafe_code)]

pub mod compare;
pub mod derived;
pub mod findings;
pub mod groups;
pub mod index;
pub mod limits;
mod logic;
pub mod merges;
pub mod normal;
pub mod policies;
pub mod proof;
pub mod report;
pub mod similar;
pub mod suggestions;
mod written;
