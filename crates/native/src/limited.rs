//! Rate limits in policies: a decision and the charge of its limits, in one call.
//!
//! **Policies decide first, and limits only narrow.** For each action that the policies allow, all
//! limits that it meets are charged together or not at all; where one refuses, the action is denied.
//! A limit whose expression fails denies as well. An action that the policies deny charges nothing,
//! except limits with `charge: always`. Limits of `mode: shadow` are charged one by one after the
//! others, and never deny.
//!
//! The actions of a request are charged one after the other, in their order, each for itself.

mod answer;
mod effect;
mod limiter;
mod places;
mod report;
mod standing;
mod uncharged;

use wardgate_bundle::{Conditions, Header, OpenError, Trust, open_with_limits};
use wardgate_engine::budget::Budget;
use wardgate_engine::decision::Effect;
use wardgate_engine::request::Request;
use wardgate_ratelimit::Outcome;
use wardgate_ratelimit_store::{KeyParts, Store};

pub use answer::UnchargedAnswer;
pub use effect::LimitedEffect;
pub use limiter::{LimitedDecision, Limiter};
pub use places::Settings;
pub use standing::{LimitState, MetLimit};
pub use uncharged::{ActionLimits, Uncharged};
pub use wardgate_ratelimit::WhenFull;
pub use wardgate_ratelimit_store::{Away, Few, Memory, Share};

use crate::clock::{Clock, Once};
use crate::fast::request::RequestInput;
use crate::pdp::Pdp;
use crate::plain_limits::PlainLimit;
use crate::policies::Policies;

/// The answer for one action, or the limits that are left to charge.
#[expect(clippy::large_enum_variant, reason = "a box would be an allocation for each charge")]
enum Begun {
    Done(LimitedEffect),
    Uncharged(ActionLimits),
}

/// A policy decision point that charges the rate limits of its policies.
///
/// # Examples
/// ```
/// use wardgate_native::limited::{Limited, Memory, Settings, WhenFull};
/// use wardgate_native::{Effect, Principal, Request, Resource, SystemClock, Trust};
///
/// # let files = [
/// #     ("album.yaml", "apiVersion: api.cerbos.dev/v1\nresourcePolicy: { resource: album, version: default, rules: [{ actions: [view], roles: ['*'], effect: EFFECT_ALLOW }] }\n"),
/// #     ("api.yaml", "apiVersion: api.cerbos.dev/v1\nwardgateLimit: { name: api, resource: album, actions: [view], key: [P.id], quota: 1, window: 60s }\n"),
/// # ];
/// # let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
/// # let compiled = wardgate_compiler::compile_files(&files, &Default::default()).unwrap();
/// # let bundle = wardgate_bundle::pack(&compiled.parts);
/// let store = Memory::new(10_000, WhenFull::Deny);
/// let pdp = Limited::open(&bundle, Trust::Unsigned, store, Settings::default())?;
/// let request = Request {
///     principal: Principal { id: "ada".into(), roles: vec!["user".into()], ..Principal::default() },
///     resource: Resource { kind: "album".into(), id: "a1".into(), ..Resource::default() },
///     actions: vec!["view".into()],
///     ..Request::default()
/// };
/// # fn block_on<T>(future: impl Future<Output = T>) -> T {
/// #     let mut future = std::pin::pin!(future);
/// #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// #     loop {
/// #         if let std::task::Poll::Ready(done) = future.as_mut().poll(&mut context) {
/// #             return done;
/// #         }
/// #     }
/// # }
/// // In an asynchronous function: pdp.check(&request, SystemClock).await
/// let first = block_on(pdp.check(&request, SystemClock));
/// assert_eq!(first.decision.actions[0].effect, Effect::Allow);
/// let second = block_on(pdp.check(&request, SystemClock));
/// assert_eq!(second.decision.actions[0].effect, Effect::Deny);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Limited<S> {
    pdp: Pdp,
    limiter: Limiter<S>,
}

impl<S: Store> Limited<S> {
    /// Opens a bundle, with or without rate limits, whose limits are charged in `store`.
    ///
    /// # Errors
    /// The bundle is refused.
    pub fn open(
        bundle: &[u8],
        trust: Trust<'_>,
        store: S,
        settings: Settings<'_>,
    ) -> Result<Self, OpenError> {
        let opened = open_with_limits(bundle, trust, &settings.conditions)?;
        Ok(Self { pdp: Pdp::of(opened, 0), limiter: Limiter::new(store, &settings) })
    }

    /// Replaces the policies; the states of limits stay. The law of [`Pdp::reload_under`] holds.
    ///
    /// # Errors
    /// The bundle is refused; the policies then stay the same.
    pub fn reload(
        &self,
        bundle: &[u8],
        trust: Trust<'_>,
        conditions: &Conditions<'_>,
    ) -> Result<Header, OpenError> {
        self.pdp.replace(open_with_limits(bundle, trust, conditions)?, trust)
    }

    /// Decides every action of `request`, and charges the limits that they meet.
    pub async fn check(&self, request: &Request, clock: impl Clock) -> LimitedDecision {
        match self.check_at_once(request, clock) {
            Ok(done) => done,
            Err(uncharged) => self.limiter.charge(*uncharged).await,
        }
    }

    /// Decides whether the principal of `request` may perform `action`, and charges the limits that it
    /// meets; the list of actions of the request is not read. The answer is that of [`Limited::check`]
    /// without the reasons, and sooner there: if the action meets one limit, whose states are in the memory
    /// of this process, nothing is allocated.
    pub async fn is_allowed(
        &self,
        request: &Request,
        action: &str,
        clock: impl Clock,
    ) -> LimitedEffect {
        match self.begin(request, action, clock) {
            Begun::Done(done) => done,
            Begun::Uncharged(limits) => {
                let is_allowed = limits.is_allowed;
                let (met, denied) = self.limiter.charge_action(limits).await;
                LimitedEffect::of(is_allowed && denied.is_none(), &met)
            }
        }
    }

    /// Decides about one action with its reason, and charges if that needs no wait.
    #[inline]
    fn check_at_once(
        &self,
        request: &Request,
        clock: impl Clock,
    ) -> Result<LimitedDecision, Box<Uncharged>> {
        let policies = self.pdp.current();
        let (now, budget) = (clock.now(), Budget::default());
        let mut decision = policies.table().check_within(request, now, &budget);
        if let [action] = decision.actions.as_mut_slice() {
            let input = RequestInput { request, action: &action.action };
            let is_allowed = action.effect == Effect::Allow;
            match self.charge_at_once(&policies, &input, is_allowed, &budget) {
                AtOnce::Later => {}
                AtOnce::Unlimited => {
                    return Ok(LimitedDecision { decision, limits: Few::One(Few::None) });
                }
                AtOnce::Charged(limit, parts, outcome) => {
                    let mut met = MetLimit::unasked(limit, parts.key());
                    met.note_outcome(&outcome, true);
                    met.narrow(action);
                    return Ok(LimitedDecision { decision, limits: Few::One(Few::One(met)) });
                }
            }
        }
        Err(Box::new(policies.uncharged(request, decision, now, &budget)))
    }

    /// Decides, and charges if that needs no wait.
    #[inline]
    fn begin(&self, request: &Request, action: &str, clock: impl Clock) -> Begun {
        let policies = self.pdp.current();
        let now = Once::new(clock);
        let is_allowed = policies.is_allowed(request, action, &now);
        let (input, budget) = (RequestInput { request, action }, Budget::default());
        match self.charge_at_once(&policies, &input, is_allowed, &budget) {
            AtOnce::Unlimited => Begun::Done(LimitedEffect::of(is_allowed, &[])),
            AtOnce::Charged(limit, _, outcome) => {
                Begun::Done(LimitedEffect::under(is_allowed, limit.is_shadow, outcome))
            }
            AtOnce::Later => {
                let effect = if is_allowed { Effect::Allow } else { Effect::Deny };
                Begun::Uncharged(policies.limits_of(request, (action, effect), now.now(), &budget))
            }
        }
    }

    /// Charges the limit that an action meets, if that needs no wait.
    #[inline]
    fn charge_at_once<'p>(
        &self,
        policies: &'p Policies,
        input: &RequestInput<'_>,
        is_allowed: bool,
        budget: &Budget,
    ) -> AtOnce<'p> {
        let Some(mut met) = policies.plain_limits().met(input, is_allowed, budget) else {
            return AtOnce::Later;
        };
        let Some(limit) = met.next() else { return AtOnce::Unlimited };
        if met.next().is_some() {
            return AtOnce::Later;
        }
        let Some(parts) = limit.parts(input) else { return AtOnce::Later };
        match self.limiter.charge_at_once(limit, parts.print()) {
            Some(outcome) => AtOnce::Charged(limit, parts, outcome),
            None => AtOnce::Later,
        }
    }

    /// Ends the leases of this process, and gives back what can be.
    ///
    /// # Errors
    /// The store is away; the tokens of leases are lost then.
    pub async fn close(&self) -> Result<(), Away> {
        self.limiter.close().await
    }
}

/// Tells how a charge without a wait has ended.
#[expect(
    clippy::large_enum_variant,
    reason = "it is taken apart at once, and a box would be an allocation for each check"
)]
enum AtOnce<'p> {
    /// The action meets no limit.
    Unlimited,
    /// The limit that it meets, the key, and the outcome.
    Charged(&'p PlainLimit, KeyParts, Outcome),
    /// Nothing is charged yet: the action meets several limits, one that a `PlainLimit` cannot express, or one whose state is not in this process.
    Later,
}

#[cfg(test)]
mod tests;
