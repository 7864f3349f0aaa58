//! The budget of steps for all decisions on one request.
//!
//! A thread that other clients wait for grants few steps. A decision that needs more is begun anew
//! on a thread that grants all. A request is decided on one thread without a pause, so values of
//! the thread belong to the request meanwhile.

use std::cell::Cell;
use std::ops::Deref;

use wardgate_native::Budget;

use crate::shared::Shared;

/// The steps that are left for a request.
pub(super) struct Steps(Budget);

impl Steps {
    /// Returns those that the configuration has for a request, or as many as this thread grants.
    pub(super) fn of(shared: &Shared) -> Self {
        Self(Budget::new(shared.config().http.max_steps.min(GRANT.get())))
    }
}

impl Deref for Steps {
    type Target = Budget;

    fn deref(&self) -> &Budget {
        &self.0
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if self.left() == 0 {
            SPENT.set(true);
        }
    }
}

/// Calls `decide` with at most `steps` steps. Returns `None` if it spent them all.
pub(super) fn granting<R>(steps: u32, decide: impl FnOnce() -> R) -> Option<R> {
    GRANT.set(steps);
    SPENT.set(false);
    let decided = decide();
    GRANT.set(u32::MAX);
    (!SPENT.get()).then_some(decided)
}

thread_local! {
    static GRANT: Cell<u32> = const { Cell::new(u32::MAX) };
    static SPENT: Cell<bool> = const { Cell::new(false) };
}
