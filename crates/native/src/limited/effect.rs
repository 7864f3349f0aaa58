//! A decision narrowed by limits, without reasons.

use wardgate_engine::decision::Effect;
use wardgate_ratelimit::{Admission, Outcome};

use super::standing::{LimitState, MetLimit};

/// The effect on one action, narrowed by the limits that it meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitedEffect {
    /// Allow, if the policies and all limits do.
    pub effect: Effect,
    /// The outcome of the limit that refuses, or else of the one with the fewest tokens left; `None` if no
    /// limit was asked. Shadows do not count.
    pub outcome: Option<Outcome>,
}

impl LimitedEffect {
    /// Returns the effect where only one limit was charged.
    #[inline]
    pub(super) fn under(by_policies: bool, is_shadow: bool, outcome: Outcome) -> Self {
        if is_shadow {
            return Self::of(by_policies, &[]);
        }
        let effect = effect(by_policies && outcome.is_allowed());
        Self { effect, outcome: Some(outcome) }
    }

    /// Returns the effect where these limits were met.
    pub(super) fn of(is_allowed: bool, met: &[MetLimit]) -> Self {
        let enforced = met.iter().filter(|limit| !limit.is_shadow);
        let outcomes = enforced.filter_map(outcome);
        let outcome = outcomes.min_by_key(|outcome| (outcome.is_allowed(), outcome.remaining));
        Self { effect: effect(is_allowed), outcome }
    }
}

const fn effect(is_allowed: bool) -> Effect {
    if is_allowed { Effect::Allow } else { Effect::Deny }
}

/// Returns the outcome of a limit that was asked.
fn outcome(limit: &MetLimit) -> Option<Outcome> {
    let admission = match limit.state {
        LimitState::Charged | LimitState::Spared => Admission::Allowed,
        LimitState::Refused { retry } => Admission::After { micros: retry },
        LimitState::Never => Admission::Never,
        LimitState::Away { .. } | LimitState::Failed { .. } => return None,
    };
    Some(Outcome { admission, remaining: limit.remaining?, reset: limit.reset? })
}
