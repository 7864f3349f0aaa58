//! The charge of limits, after the policies have decided.

use wardgate_engine::decision::{Decision, Effect, Reason};
use wardgate_ratelimit::Outcome;
use wardgate_ratelimit_store::{Action, Away, Few, Memory, Print, Store};

use super::places::{Places, Settings};
use super::standing::{LimitState, MetLimit};
use super::uncharged::{ActionLimits, Uncharged};
use crate::plain_limits::PlainLimit;

/// A store of limits with what stands in for it: the part of a PDP that has states.
///
/// A host that keeps its policies itself decides by [`Policies::check_uncharged`], and charges here.
///
/// [`Policies::check_uncharged`]: crate::Policies::check_uncharged
#[derive(Debug)]
pub struct Limiter<S> {
    places: Places<S>,
}

/// A decision, narrowed by the limits that its actions meet.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitedDecision {
    /// The decision. An action that a limit denies says so in its reason.
    pub decision: Decision,
    /// The limits that each action meets, in the order of the actions of the decision.
    pub limits: Few<Few<MetLimit>>,
}

impl<S: Store> Limiter<S> {
    /// Charges in `store`. The conditions of the settings are not read.
    pub fn new(store: S, settings: &Settings<'_>) -> Self {
        Self { places: Places::new(store, settings) }
    }

    /// Returns the store.
    pub fn store(&self) -> &S {
        self.places.store()
    }

    /// Returns the memory of this process in which there are states: the store itself if it is one.
    pub fn memory(&self) -> &Memory {
        self.places.memory()
    }

    /// Charges a limit that an action meets alone; `None` if its states are not in the memory of this
    /// process.
    #[inline]
    pub(super) fn charge_at_once(&self, limit: &PlainLimit, key: Print) -> Option<Outcome> {
        self.places.charge_at_once(limit, key)
    }

    /// Charges the limits that the actions of a decision meet, each action for itself in their order.
    pub async fn charge(&self, uncharged: Uncharged) -> LimitedDecision {
        let Uncharged { mut decision, actions } = uncharged;
        let mut limits = Few::None;
        let charged = self.charge_each(actions).await;
        for (action, (met, denied)) in decision.actions.iter_mut().zip(charged) {
            if let Some(reason) = denied.filter(|_| action.effect == Effect::Allow) {
                (action.effect, action.reason) = (Effect::Deny, reason);
            }
            limits.push(met);
        }
        LimitedDecision { decision, limits }
    }

    /// Charges the limits that each action meets, as if [`Limiter::charge_action`] followed for one after
    /// the other, in at most two calls of the store for limits with `consistency: exact`.
    pub async fn charge_each(
        &self,
        actions: Few<ActionLimits>,
    ) -> Few<(Few<MetLimit>, Option<Reason>)> {
        match actions {
            Few::None => Few::None,
            Few::One(limits) => Few::One(self.charge_action(limits).await),
            Few::Many(mut actions) => {
                self.places.charge_each(&mut actions).await;
                let each = actions.iter_mut();
                let shadows = each.map(|limits| {
                    limits.denied = limits.denied.take().or_else(|| reason(&limits.met));
                    (shadow_action(limits.is_allowed, limits.denied.as_ref()), limits)
                });
                self.places.run_shadows(shadows.collect()).await;
                actions.into_iter().map(|limits| (limits.met, limits.denied)).collect()
            }
        }
    }

    /// Charges the limits that one action meets: all that are enforced or none, then each shadow.
    /// Returns them, and the reason for which they deny.
    pub async fn charge_action(&self, limits: ActionLimits) -> (Few<MetLimit>, Option<Reason>) {
        let ActionLimits { mut met, enforced, shadows, mut denied, is_allowed } = limits;
        if denied.is_none() {
            self.places.charge(&enforced, &mut met).await;
            denied = reason(&met);
        }
        let action = shadow_action(is_allowed, denied.as_ref());
        for shadow in &shadows {
            self.places.run_one(action, shadow, &mut met).await;
        }
        (met, denied)
    }

    /// Tells what a charge of one action would meet. Returns the limits, and the reason for which they
    /// would deny.
    pub async fn look(&self, limits: ActionLimits) -> (Few<MetLimit>, Option<Reason>) {
        let (met, denied, _) = self.run_each(Action::Look, limits).await;
        (met, denied)
    }

    /// Makes the keys full that one action meets. It is for administrators. Returns the limits, and a
    /// reason if one is still not full: its charge is unknown, or its store is away.
    pub async fn reset(&self, limits: ActionLimits) -> (Few<MetLimit>, Option<Reason>) {
        let (met, denied, away) = self.run_each(Action::Reset, limits).await;
        // Full is what the keys in the store are, not the share of this process.
        (met, denied.or_else(|| away.map(Reason::StoreAway)))
    }

    /// Does one thing for each limit. The last value names one whose store is away.
    async fn run_each(
        &self,
        action: Action,
        limits: ActionLimits,
    ) -> (Few<MetLimit>, Option<Reason>, Option<String>) {
        let ActionLimits { mut met, enforced, shadows, denied, .. } = limits;
        let mut away = None;
        for one in enforced.iter().chain(&shadows) {
            if self.places.run_one(action, one, &mut met).await {
                away = away.or_else(|| met.get(one.at).map(|limit| limit.name.to_string()));
            }
        }
        let denied = denied.or_else(|| reason(&met));
        (met, denied, away)
    }

    /// Ends the leases of this process, and gives back what can be.
    ///
    /// # Errors
    /// The store is away; the tokens of leases are lost then.
    pub async fn close(&self) -> Result<(), Away> {
        self.places.close().await
    }
}

/// Returns what is done for shadows. An action that the policies deny meets only limits that always charge.
const fn shadow_action(is_allowed: bool, denied: Option<&Reason>) -> Action {
    if is_allowed && denied.is_some() { Action::Look } else { Action::Charge }
}

/// Returns the reason for which the limits deny. A limit that refuses comes before a store that is
/// away, since the answer would be the same with it.
fn reason(met: &[MetLimit]) -> Option<Reason> {
    let first = |denies: &dyn Fn(&LimitState) -> bool, reason: fn(String) -> Reason| {
        let enforced = met.iter().filter(|limit| !limit.is_shadow);
        let limit = enforced.into_iter().find(|limit| denies(&limit.state))?;
        Some(reason(limit.name.to_string()))
    };
    let fails = |state: &LimitState| matches!(state, LimitState::Failed { .. });
    let is_away = |state: &LimitState| *state == LimitState::Away { is_allowed: false };
    first(&fails, Reason::LimitError)
        .or_else(|| first(&LimitState::is_refused, Reason::Limited))
        .or_else(|| first(&is_away, Reason::StoreAway))
}
