//! The tally of the decisions on one request, for its metrics and its span.
//!
//! A request is decided on one thread, from its body to its answer without a pause, so the tally of
//! the thread is the request's.

use std::cell::Cell;

use crate::telemetry::metrics::Tally;

/// Calls `decide`, and returns the decisions that it noted.
pub(crate) fn counted<R>(decide: impl FnOnce() -> R) -> (R, Tally) {
    let before = TALLY.replace(Tally::default());
    let decided = decide();
    (decided, TALLY.replace(before))
}

/// Notes decisions.
pub(crate) fn note(tally: Tally) {
    let mut all = TALLY.get();
    all += tally;
    TALLY.set(all);
}

thread_local! {
    static TALLY: Cell<Tally> = const { Cell::new(Tally { resources: 0, allowed: 0, denied: 0 }) };
}
