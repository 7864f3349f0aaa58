//! Operations over any algorithm.

use crate::outcome::{Admission, Operation, Outcome};
use crate::state::State;

/// The parts of an algorithm in which it differs from others. Times are within
/// [`MAX_TIME`](crate::MAX_TIME).
pub(crate) trait Counting {
    /// The reading of a state at one time.
    type View: Copy;

    fn view(&self, state: State, now: u64) -> Self::View;

    /// Returns the tokens of a full key.
    fn capacity(&self) -> u64;

    /// Returns the shortest duration until a cost between 1 and the capacity is there.
    fn wait(&self, view: Self::View, cost: u64) -> u64;

    /// Returns the tokens that are there.
    fn remaining(&self, view: Self::View) -> u64;

    /// Adds a cost that is there.
    fn charged(&self, view: Self::View, cost: u64) -> Self::View;

    /// Takes a cost of at most the capacity back.
    fn refunded(&self, view: Self::View, cost: u64) -> Self::View;

    /// Takes a cost of at most the capacity back that was charged at the time of the view, which may
    /// be before the window of the state.
    #[inline]
    fn undone(&self, view: Self::View, cost: u64) -> Self::View {
        self.refunded(view, cost)
    }

    fn state(&self, view: Self::View) -> State;
}

/// Applies an operation to a state.
#[inline]
pub(crate) fn apply<A: Counting>(
    rule: &A,
    state: State,
    now: u64,
    operation: Operation,
) -> (State, Outcome) {
    let view = rule.view(state, now);
    match operation {
        Operation::Charge(cost) => match admission(rule, view, cost) {
            Admission::Allowed if cost > 0 => written(rule, rule.charged(view, cost)),
            admission => (state, outcome(rule, view, admission)),
        },
        Operation::Look(cost) => (state, outcome(rule, view, admission(rule, view, cost))),
        Operation::Refund(0) => (state, outcome(rule, view, Admission::Allowed)),
        Operation::Refund(cost) => written(rule, rule.refunded(view, cost.min(rule.capacity()))),
        Operation::Undo(0) => (state, outcome(rule, view, Admission::Allowed)),
        Operation::Undo(cost) => written(rule, rule.undone(view, cost.min(rule.capacity()))),
        Operation::Reset => (State::NONE, full(rule)),
    }
}

#[inline]
fn admission<A: Counting>(rule: &A, view: A::View, cost: u64) -> Admission {
    if cost > rule.capacity() {
        return Admission::Never;
    }
    match cost {
        0 => Admission::Allowed,
        cost => match rule.wait(view, cost) {
            0 => Admission::Allowed,
            micros => Admission::After { micros },
        },
    }
}

#[inline]
fn written<A: Counting>(rule: &A, view: A::View) -> (State, Outcome) {
    (rule.state(view), outcome(rule, view, Admission::Allowed))
}

#[inline]
fn outcome<A: Counting>(rule: &A, view: A::View, admission: Admission) -> Outcome {
    // A key is full when all of it can be charged.
    let reset = rule.wait(view, rule.capacity());
    Outcome { admission, remaining: rule.remaining(view), reset }
}

fn full<A: Counting>(rule: &A) -> Outcome {
    Outcome { admission: Admission::Allowed, remaining: rule.capacity(), reset: 0 }
}
