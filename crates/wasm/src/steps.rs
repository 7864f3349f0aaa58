//! The budget of steps that several checks of one call share.
//!
//! JavaScript sets it before the first check and resets it after the last.

use core::cell::Cell;

use wardgate_engine::budget::Budget;

use crate::shared::shared;

shared!(static STEPS: Cell<u32> = Cell::new(UNSHARED));

/// Sets the steps that later checks share, and returns the remainder of the old budget. With
/// [`UNSHARED`] each check has its own.
#[unsafe(export_name = "shareSteps")]
extern "C" fn share_steps(steps: u32) -> u32 {
    STEPS.with(|left| left.replace(steps))
}

/// Calls `decide` with the budget of the call.
pub(crate) fn shared<T>(decide: impl FnOnce(&Budget) -> T) -> T {
    STEPS.with(|left| {
        let budget = Budget::new(left.get());
        let decided = decide(&budget);
        if left.get() != UNSHARED {
            left.set(budget.left());
        }
        decided
    })
}

/// The value for no shared budget: more steps than a decision takes from any budget.
const UNSHARED: u32 = u32::MAX;
