//! Policy tests: suites in the format of Cerbos, read with positions and run against any host.
//!
//! A suite that cannot be run is an error, an unexpected decision is a failure, and the two are
//! never mixed: a broken suite reports its errors and decides nothing. Where a table of tests has
//! no expectation, the action is expected to be denied.

mod charges;
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
