//! Compares the ways to a decision: all must lead to the same one.
//!
//! The general path of the engine is the reference of the others, and the oracle is its reference.
//! A way may answer that it is unsure, but not often: the answers that it did give are counted, so
//! that a fast path that is never taken does not pass for one that is always right.

pub(crate) mod attempts;
pub(crate) mod hosts;
mod logs;
mod native;
mod refusals;
mod smallest;
mod subscriptions;

use std::collections::BTreeMap;
use std::fmt;

pub use logs::{Logs, logs};
pub use native::{Compared, Native};
pub use refusals::refusals;
pub use smallest::smallest;
pub use subscriptions::{Subscriptions, subscriptions};

/// An answer that is not the one of the general path.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The way that led to it.
    pub way: String,
    /// The number of the request among those of its world.
    pub request: usize,
    /// The action; empty for the decision as a whole.
    pub action: String,
    /// The answer, and the right one.
    pub answer: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { way, request, action, answer } = self;
        write!(out, "{way}, request {request}, action `{action}`: {answer}")
    }
}

/// The number of questions to each way, and of its own answers.
#[derive(Clone, Debug, Default)]
pub struct Tally(BTreeMap<String, [u64; 2]>);

impl Tally {
    /// Counts some questions to `way`, and those that it answered without the general path.
    pub fn count(&mut self, way: &str, [questions, known]: [u64; 2]) {
        let entry = self.0.entry(way.to_owned()).or_default();
        *entry = [entry[0] + questions, entry[1] + known];
    }

    /// Adds the counts of another tally.
    pub fn add(&mut self, other: &Self) {
        other.0.iter().for_each(|(way, counts)| self.count(way, *counts));
    }
}

impl fmt::Display for Tally {
    /// Writes one line for each way.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (way, [questions, known]) in &self.0 {
            let share = if *questions == 0 { 0 } else { known * 100 / questions };
            writeln!(out, "  {way:<24} {questions:>10} asked {known:>10} answered  {share:>3} %")?;
        }
        Ok(())
    }
}
