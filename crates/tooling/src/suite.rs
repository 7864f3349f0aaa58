//! Policy tests: suites in the format of Cerbos, read with positions and run against any host.
//!
//! A suite that cannot be run is an error, a decision that is not the expected one is a failure, and the
//! two are never mixed: a broken suite tells what is wrong with it and decides nothing. Where a table of
//! tests does not say what is expected, the expectation is that the action is denied.

mod compare;
pub mod decider;
pub mod files;
pub mod filter;
mod fixtures;
pub mod limits;
mod matrix;
pub mod model;
mod parse;
mod reader;
pub mod results;
pub mod run;
mod selection;
mod settings;
mod sources;
pub mod update;

pub use decider::{Answer, Decider, Native, Question, Sources, Watch};
pub use files::{Loaded, Stage};
pub use filter::Filter;
pub use matrix::{Expected, Test};
pub use results::Results;
pub use run::{run, tests};
