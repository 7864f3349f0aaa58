//! A decision of the policies, and the limits that its actions meet, before any is charged.

use wardgate_engine::budget::Budget;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decide::{LimitError, Met};
use wardgate_engine::decision::{ActionDecision, Decision, Effect, Reason};
use wardgate_engine::request::Request;
use wardgate_ratelimit_store::Few;

use super::places::Demanded;
use super::standing::MetLimit;
use crate::clock::Clock;
use crate::fast::input::FastInput;
use crate::fast::request::RequestInput;
use crate::policies::Policies;

/// A decision whose limits are not charged yet. Until they are, no action is allowed by it.
#[derive(Clone, Debug)]
pub struct Uncharged {
    /// The decision of the policies alone.
    pub(super) decision: Decision,
    /// The limits of each action.
    pub(super) actions: Few<ActionLimits>,
}

/// The limits that one action meets, before any of them is charged.
#[derive(Clone, Debug, Default)]
pub struct ActionLimits {
    pub(super) met: Few<MetLimit>,
    pub(super) enforced: Few<Demanded>,
    pub(super) shadows: Few<Demanded>,
    /// The reason of a denial that needs no store.
    pub(super) denied: Option<Reason>,
    /// True if the policies allow the action.
    pub(super) is_allowed: bool,
}

impl Policies {
    /// Decides every action of `request`, and finds the limits that they meet: see
    /// [`Limiter::charge`](super::Limiter::charge).
    #[must_use]
    pub fn check_uncharged(&self, request: &Request, clock: impl Clock) -> Uncharged {
        self.check_uncharged_within(request, clock, &Budget::default())
    }

    /// Decides like [`Policies::check_uncharged`], and takes the steps from `budget`. Actions for
    /// which they do not suffice are denied.
    #[must_use]
    pub fn check_uncharged_within(
        &self,
        request: &Request,
        clock: impl Clock,
        budget: &Budget,
    ) -> Uncharged {
        let now = clock.now();
        let decision = self.table().check_within(request, now, budget);
        self.uncharged(request, decision, now, budget)
    }

    /// Finds the limits that the actions of a decision meet.
    pub(super) fn uncharged(
        &self,
        request: &Request,
        decision: Decision,
        now: Timestamp,
        budget: &Budget,
    ) -> Uncharged {
        let limits = |action: &ActionDecision| {
            let of = (action.action.as_str(), action.effect);
            self.limits_of(request, of, now, budget)
        };
        let actions = decision.actions.iter().map(limits).collect();
        Uncharged { decision, actions }
    }

    /// Returns the limits that an action meets if the policies decide with this effect. The steps are
    /// taken from `budget`.
    #[must_use]
    pub fn limits_of(
        &self,
        request: &Request,
        (action, effect): (&str, Effect),
        now: Timestamp,
        budget: &Budget,
    ) -> ActionLimits {
        let (input, is_allowed) = (RequestInput { request, action }, effect == Effect::Allow);
        self.plain_limits_of(&input, is_allowed, budget)
            .unwrap_or_else(|| self.limits_by_engine(request, (action, effect), now, budget))
    }

    /// Returns the limits that an action meets, as the engine finds them.
    pub(super) fn limits_by_engine(
        &self,
        request: &Request,
        (action, effect): (&str, Effect),
        now: Timestamp,
        budget: &Budget,
    ) -> ActionLimits {
        let met = self.table().charges(request, (action, effect), now, budget);
        ActionLimits::of(met, effect == Effect::Allow)
    }

    /// Returns the limits that an action meets, if all of them are plain.
    pub(crate) fn plain_limits_of(
        &self,
        input: &impl FastInput,
        is_allowed: bool,
        budget: &Budget,
    ) -> Option<ActionLimits> {
        let mut limits = ActionLimits { is_allowed, ..ActionLimits::default() };
        for plain in self.plain_limits().met(input, is_allowed, budget)? {
            let (limit, demanded) = MetLimit::of_plain(plain, plain.key(input)?, limits.met.len());
            limits.met.push(limit);
            let all = if plain.is_shadow { &mut limits.shadows } else { &mut limits.enforced };
            all.push(demanded);
        }
        Some(limits)
    }
}

impl Uncharged {
    /// Returns the decision of the policies alone, which limits may narrow.
    #[must_use]
    pub const fn by_policies(&self) -> &Decision {
        &self.decision
    }

    /// Returns true if an action meets a limit, or if nobody knows whether it does.
    #[must_use]
    pub fn meets_limits(&self) -> bool {
        self.actions.iter().any(ActionLimits::is_some)
    }
}

impl ActionLimits {
    fn of(found: Result<Vec<Met<'_>>, LimitError>, is_allowed: bool) -> Self {
        let mut limits = Self { is_allowed, ..Self::default() };
        match found {
            Ok(found) => found.iter().for_each(|met| limits.add(met)),
            Err(_) => limits.denied = Some(Reason::LimitError(String::new())),
        }
        limits
    }

    /// Returns the names of the limits.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.met.iter().map(|limit| &*limit.name)
    }

    /// Leaves out the limits without one of these names.
    #[must_use]
    pub fn named(mut self, names: &[String]) -> Self {
        let is_named = |limit: &MetLimit| names.iter().any(|name| **name == *limit.name);
        let mut kept = 0;
        let places: Vec<Option<usize>> = self
            .met
            .iter()
            .map(|limit| {
                let place = is_named(limit).then_some(kept);
                kept += usize::from(place.is_some());
                place
            })
            .collect();
        for all in [&mut self.enforced, &mut self.shadows] {
            all.retain_mut(|demanded| match places.get(demanded.at).copied().flatten() {
                Some(at) => {
                    demanded.at = at;
                    true
                }
                None => false,
            });
        }
        self.met.retain_mut(|limit| is_named(limit));
        self.denied = self.denied.filter(|reason| match reason {
            // An empty name is that of no limit: the steps did not suffice to find any.
            Reason::LimitError(name) => name.is_empty(),
            _ => true,
        });
        let failed = self.met.iter().find(|limit| !limit.is_shadow && limit.has_failed());
        let failed = failed.map(|limit| Reason::LimitError(limit.name.to_string()));
        Self { denied: self.denied.or(failed), ..self }
    }

    pub(crate) fn is_some(&self) -> bool {
        !self.met.is_empty() || self.denied.is_some()
    }

    fn add(&mut self, met: &Met<'_>) {
        let at = self.met.len();
        let is_enforced = met.is_enforced();
        let (limit, demanded) = MetLimit::of(met, at);
        match demanded {
            Some(demanded) if is_enforced => self.enforced.push(demanded),
            Some(demanded) => self.shadows.push(demanded),
            None if is_enforced => {
                self.denied.get_or_insert_with(|| Reason::LimitError(limit.name.to_string()));
            }
            None => {}
        }
        self.met.push(limit);
    }
}
