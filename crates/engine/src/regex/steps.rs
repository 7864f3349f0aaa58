//! The costs of a search.

/// The step budget was spent before the search had a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfSteps;

impl core::fmt::Display for OutOfSteps {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("regular expression search ran out of steps")
    }
}

impl core::error::Error for OutOfSteps {}

/// Takes `cost` from `steps`; a budget that is too small is emptied.
pub(super) fn pay(steps: &mut u32, cost: usize) -> Result<(), OutOfSteps> {
    let left = u32::try_from(cost).ok().and_then(|cost| steps.checked_sub(cost));
    *steps = left.unwrap_or(0);
    left.map(drop).ok_or(OutOfSteps)
}
