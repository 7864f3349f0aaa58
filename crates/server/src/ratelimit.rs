//! Rate limits in policies: where they are charged, and what is counted of it.
//!
//! The states outlive the policies: a reload changes which limits there are, and no key is full again.

mod counters;
mod states;

use wardgate_engine::decision::Reason;
use wardgate_native::limited::{
    ActionLimits, Few, LimitedDecision, Limiter, MetLimit, Settings, Uncharged,
};

use crate::config::RateLimit;
use crate::policies::state::State;
use counters::Counters;
use states::States;

/// The limiter of the server.
#[derive(Debug)]
pub(crate) struct RateLimits {
    limiter: Limiter<States>,
    counters: Counters,
    /// True if answers have the fields of older clients, too.
    pub(crate) has_legacy_headers: bool,
}

impl RateLimits {
    /// Makes the limiter. For Redis it must be called within the runtime that talks to it; connections
    /// are made when something is charged.
    ///
    /// # Errors
    /// The file of the password cannot be read, or an address has another form.
    pub(crate) fn new(config: &RateLimit) -> Result<Self, String> {
        let settings = Settings {
            keys: config.keys,
            when_full: config.when_full,
            leases: config.leases,
            share: config.share,
            ..Settings::default()
        };
        Ok(Self {
            limiter: Limiter::new(States::new(config)?, &settings),
            counters: Counters::default(),
            has_legacy_headers: config.legacy_headers,
        })
    }

    /// Charges the limits that a decision meets.
    pub(crate) async fn charge(&self, uncharged: Uncharged) -> LimitedDecision {
        let charged = self.limiter.charge(uncharged).await;
        charged.limits.iter().flatten().for_each(|limit| self.counters.count(limit));
        charged
    }

    /// Charges the limits that actions meet, each for itself in their order.
    pub(crate) async fn charge_each(
        &self,
        actions: Few<ActionLimits>,
    ) -> Few<(Few<MetLimit>, Option<Reason>)> {
        let charged = self.limiter.charge_each(actions).await;
        let met = charged.iter().flat_map(|(met, _)| met.iter());
        met.for_each(|limit| self.counters.count(limit));
        charged
    }

    /// Charges the limits that an action meets.
    pub(crate) async fn charge_action(
        &self,
        limits: ActionLimits,
    ) -> (Few<MetLimit>, Option<Reason>) {
        let (met, denied) = self.limiter.charge_action(limits).await;
        met.iter().for_each(|limit| self.counters.count(limit));
        (met, denied)
    }

    /// Returns the limiter, for what is not counted.
    pub(crate) const fn limiter(&self) -> &Limiter<States> {
        &self.limiter
    }

    /// Counts from now on for the limits of these policies, and forgets the others.
    pub(crate) fn follow(&self, state: &State) {
        let limits = state.policies().into_iter().flat_map(|policies| policies.table().limits());
        self.counters.keep(limits.map(|limit| limit.name()));
    }

    /// Asks the store once, so that the log tells at the start if it is away.
    pub(crate) async fn try_store(&self) {
        self.limiter.store().try_once().await;
    }

    /// Gives back what the leases of this process have left.
    pub(crate) async fn close(&self) {
        if let Err(away) = self.limiter.close().await {
            tracing::info!(%away, "leases of rate limits are lost");
        }
    }

    /// Writes the metrics as text of Prometheus.
    pub(crate) fn write(&self, text: &mut String) {
        self.counters.write(text);
        self.limiter.store().write(text);
        let (used, places) = self.limiter.memory().fill();
        counters::write_memory(text, (used, places), self.limiter.memory().counts());
    }
}
