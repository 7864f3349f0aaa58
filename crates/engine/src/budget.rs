//! The steps that several decisions share.
//!
//! One caller may send many questions at once. Each decision has a bound of its own; a budget
//! bounds their sum, so that the work of a call does not grow with the number of its questions.

use core::cell::Cell;

use crate::limits::MAX_REQUEST_STEPS;

/// The steps that are left for the decisions of one call.
///
/// A decision takes the steps that it uses, at most [`MAX_REQUEST_STEPS`]. Once a budget is spent,
/// all actions without a decision are denied.
#[derive(Debug)]
pub struct Budget {
    left: Cell<u32>,
}

impl Budget {
    /// Returns a budget of so many steps.
    #[must_use]
    pub const fn new(steps: u32) -> Self {
        Self { left: Cell::new(steps) }
    }

    /// Returns the steps that are left.
    #[must_use]
    pub const fn left(&self) -> u32 {
        self.left.get()
    }

    /// Takes `steps`, or all that are left, and returns true if there were enough.
    pub fn take(&self, steps: u32) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(steps));
        steps <= left
    }
}

/// The budget of one decision.
impl Default for Budget {
    fn default() -> Self {
        Self::new(MAX_REQUEST_STEPS)
    }
}
