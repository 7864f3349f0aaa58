//! The decisions that are recorded. What is left out is left out before it has a number, so a log has no gaps for it; a record
//! at the beginning of each process and segment says which those are.

use std::cell::Cell;

use wardgate_decision_log::record::{Body, Settings, Text};
use wardgate_native::decision_log::Effect;

use super::recorder::random;
use crate::config::Filter;

thread_local! {
    /// The state of the random numbers of this thread; 0 before the first.
    static STATE: Cell<u64> = const { Cell::new(0) };
}

impl Filter {
    /// Returns true if a decision with these actions is recorded.
    pub(super) fn takes(self, actions: &[(&str, Effect)]) -> bool {
        match self {
            Self::All => true,
            _ if actions.iter().any(|(_, effect)| *effect != Effect::Allowed) => true,
            Self::Denied => false,
            Self::Sample(share) => next_share() < share,
        }
    }

    /// Returns the record about decisions that are left out, or `None` if none are.
    pub(super) fn settings(self, micros: i64) -> Option<Body> {
        let text = Text::cut(&format!("filter = {self}"));
        (self != Self::All).then_some(Body::Settings(Settings { micros, text }))
    }
}

/// Returns a random number from 0 to 1, which is less than 1 (xorshift64* of Vigna).
fn next_share() -> f64 {
    let mut state = STATE.get();
    if state == 0 {
        // Without randomness each thread takes the same ones.
        state = random().map_or(1, u64::from_le_bytes).max(1);
    }
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    STATE.set(state);
    let [a, b, c, d, ..] = state.wrapping_mul(0x2545_F491_4F6C_DD1D).to_be_bytes();
    f64::from(u32::from_be_bytes([a, b, c, d])) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: &[(&str, Effect)] = &[("view", Effect::Allowed), ("edit", Effect::Allowed)];
    const DENIED: &[(&str, Effect)] = &[("view", Effect::Allowed), ("edit", Effect::Denied)];
    const LIMITED: &[(&str, Effect)] = &[("view", Effect::Limited)];

    #[test]
    fn what_is_denied_is_always_recorded() {
        for filter in [Filter::All, Filter::Denied, Filter::Sample(0.0), Filter::Sample(1.0)] {
            assert!(filter.takes(DENIED) && filter.takes(LIMITED));
        }
        assert!(Filter::All.takes(ALLOWED) && Filter::Sample(1.0).takes(ALLOWED));
        assert!(!Filter::Denied.takes(ALLOWED) && !Filter::Sample(0.0).takes(ALLOWED));
    }

    #[test]
    fn a_share_of_what_is_allowed_is_recorded() {
        let taken = (0..10_000).filter(|_| Filter::Sample(0.25).takes(ALLOWED)).count();
        // More than ten standard deviations away from the mean.
        assert!((2000..3000).contains(&taken), "{taken}");
    }
}
