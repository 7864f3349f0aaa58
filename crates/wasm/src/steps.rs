//! The steps that several checks of one call share.
//!
//! JavaScript sets them before the first check and takes them back after the last.

use core::cell::Cell;

use wardgate_engine::budget::Budget;

use crate::shared::shared;

shared!(static STEPS: Cell<u32> = Cell::new(UNSHARED));

/// Sets the steps that the checks from now on share, and returns those that were left. With [`UNSHARED`] each check has
/// its own.
#[unsafe(export_name = "shareSteps")]
extern "C" fn share_steps(steps: u32) -> u32 {
    STEPS.with(|left| left.replace(steps))
}

/// Takes so many steps from what the checks share, if they do.
pub(crate) fn charge(steps: usize) {
    STEPS.with(|left| {
        if left.get() != UNSHARED {
            left.set(left.get().saturating_sub(u32::try_from(steps).unwrap_or(u32::MAX)));
        }
    });
}

/// Lends the budget of the call to `decide`.
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

/// More steps than a decision takes from any budget.
const UNSHARED: u32 = u32::MAX;
