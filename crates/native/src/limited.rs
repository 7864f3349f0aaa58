//! Rate limits in policies: a decision and the charge of its limits, in one call.
//!
//! **Policies decide first, and limits only narrow.** For each action that the policies allow, all
//! limits that it meets are charged together or not at all; where one refuses, the action is denied.
//! A limit whose expression fails denies as well. An action that the policies deny charges nothing,
//! except limits with `charge: always`. Limits of `mode: shadow` are charged one by one after the
//! others, and never deny.
//!
//! The actions of a request are charged one after the other, in their order, each for itself.

mod places;
mod standing;

use wardgate_bundle::{Conditions, Header, OpenError, Trust, open_with_limits};
use wardgate_engine::budget::Budget;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decide::{LimitError, Met};
use wardgate_engine::decision::{Decision, Effect, Reason};
use wardgate_engine::request::Request;
use wardgate_ratelimit_store::{Action, Store};

pub use places::Settings;
pub use standing::{LimitState, MetLimit};
pub use wardgate_ratelimit::WhenFull;
pub use wardgate_ratelimit_store::{Away, Memory, Share};

use crate::clock::Clock;
use crate::pdp::Pdp;
use places::{Demanded, Places};

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
    places: Places<S>,
}

/// A decision, narrowed by the limits that its actions meet.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitedDecision {
    /// The decision. An action that a limit denies says so in its reason.
    pub decision: Decision,
    /// The limits that each action meets, in the order of the actions of the decision.
    pub limits: Vec<Vec<MetLimit>>,
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
        Ok(Self { pdp: Pdp::of(opened, 0), places: Places::new(store, &settings) })
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
        let now = clock.now();
        let (mut decision, all) = self.decide(request, now);
        let mut limits = Vec::with_capacity(all.len());
        for (action, uncharged) in decision.actions.iter_mut().zip(all) {
            let is_allowed = action.effect == Effect::Allow;
            let (met, denied) = self.charge(uncharged, is_allowed).await;
            if let Some(reason) = denied.filter(|_| is_allowed) {
                (action.effect, action.reason) = (Effect::Deny, reason);
            }
            limits.push(met);
        }
        LimitedDecision { decision, limits }
    }

    /// Ends the leases of this process, and gives back what can be.
    ///
    /// # Errors
    /// The store is away; the tokens of leases are lost then.
    pub async fn close(&self) -> Result<(), Away> {
        self.places.close().await
    }

    /// Returns the decision of the policies, and for each of its actions what it asks of limits.
    fn decide(&self, request: &Request, now: Timestamp) -> (Decision, Vec<Uncharged>) {
        let policies = self.pdp.snapshot();
        let (table, budget) = (policies.table(), Budget::default());
        let decision = table.check_within(request, now, &budget);
        let charges = decision.actions.iter().map(|action| {
            let met = table.charges(request, (&action.action, action.effect), now, &budget);
            Uncharged::of(met)
        });
        let uncharged = charges.collect();
        (decision, uncharged)
    }

    /// Charges what one action asks for. Returns the limits that it meets, and why it is denied.
    async fn charge(
        &self,
        uncharged: Uncharged,
        is_allowed: bool,
    ) -> (Vec<MetLimit>, Option<Reason>) {
        let Uncharged { mut met, enforced, shadows, mut denied } = uncharged;
        if denied.is_none() {
            self.places.charge(&enforced, &mut met).await;
            denied = reason(&met);
        }
        let action = if denied.is_none() { Action::Charge } else { Action::Look };
        // An action that the policies deny meets only limits that always charge.
        let action = if is_allowed { action } else { Action::Charge };
        for shadow in &shadows {
            self.places.shadow(action, shadow, &mut met).await;
        }
        (met, denied)
    }
}

/// The limits that an action meets, before any of them is charged.
struct Uncharged {
    met: Vec<MetLimit>,
    enforced: Vec<Demanded>,
    shadows: Vec<Demanded>,
    /// The reason of a denial that needs no store.
    denied: Option<Reason>,
}

impl Uncharged {
    fn of(found: Result<Vec<Met<'_>>, LimitError>) -> Self {
        let mut uncharged =
            Self { met: Vec::new(), enforced: Vec::new(), shadows: Vec::new(), denied: None };
        let Ok(found) = found else {
            return Self { denied: Some(Reason::LimitError(String::new())), ..uncharged };
        };
        for met in found {
            uncharged.add(&met);
        }
        uncharged
    }

    fn add(&mut self, met: &Met<'_>) {
        let at = self.met.len();
        let is_enforced = met.is_enforced();
        let (limit, demanded) = MetLimit::of(met, at);
        match demanded {
            Some(demanded) if is_enforced => self.enforced.push(demanded),
            Some(demanded) => self.shadows.push(demanded),
            None if is_enforced => {
                self.denied.get_or_insert_with(|| Reason::LimitError(limit.name.clone()));
            }
            None => {}
        }
        self.met.push(limit);
    }
}

/// Returns the reason for which the limits deny. A limit that refuses comes before a store that is
/// away, since the answer would be the same with it.
fn reason(met: &[MetLimit]) -> Option<Reason> {
    let first = |denies: &dyn Fn(&LimitState) -> bool, reason: fn(String) -> Reason| {
        let enforced = met.iter().filter(|limit| !limit.is_shadow);
        let limit = enforced.into_iter().find(|limit| denies(&limit.state))?;
        Some(reason(limit.name.clone()))
    };
    let fails = |state: &LimitState| matches!(state, LimitState::Failed { .. });
    let is_away = |state: &LimitState| *state == LimitState::Away { is_allowed: false };
    first(&fails, Reason::LimitError)
        .or_else(|| first(&LimitState::is_refused, Reason::Limited))
        .or_else(|| first(&is_away, Reason::StoreAway))
}
