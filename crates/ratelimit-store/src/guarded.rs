//! A store with a treatment of each limit while it is away.
//!
//! **An outage opens no door that was not asked for.** `Failure::Deny` denies, and `Failure::Local`
//! admits what a share of the quota admits in this process. That share is charged all the time, so
//! that an outage does not begin with full keys. `Failure::Allow` is what somebody wrote down.

use std::sync::Arc;

use wardgate_ratelimit::{Algorithm, Outcome};

use crate::demand::{Demand, Demands, Failure, Terms};
use crate::limits::REFUND_MICROS;
use crate::memory::{Memory, is_done};
use crate::store::{Action, Away, Store};

/// A store, and the memory that stands in for it.
#[derive(Debug)]
pub struct Guarded<S> {
    store: S,
    local: Arc<Memory>,
    share: Share,
}

/// The part of each quota that this process admits while the store is away, in thousandths.
///
/// With `n` processes on one store, `1000 / n` keeps all of them together within the quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(u32);

/// The answer to a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What became of each demand, in their order.
    pub standings: Vec<Standing>,
    /// The reason for which the store gave no outcomes, if it is away.
    pub away: Option<Away>,
}

/// What became of one demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The outcome in the store.
    Known(Outcome),
    /// The store is away; the outcome under the share of this process.
    Local(Outcome),
    /// The store is away, and the limit denies.
    Denied,
    /// The store is away, and the limit does not hold.
    Allowed,
}

impl Share {
    /// The whole quota: for the only process of a store.
    pub const WHOLE: Self = Self(1000);

    /// Makes a share of 1 to 1000 thousandths. Returns None for other numbers.
    pub const fn new(thousandths: u32) -> Option<Self> {
        if thousandths >= 1 && thousandths <= 1000 { Some(Self(thousandths)) } else { None }
    }

    /// Returns this part of tokens, rounded down, and at least one.
    fn of(self, tokens: u64) -> u64 {
        (tokens.saturating_mul(self.0.into()) / 1000).max(1)
    }

    /// Returns this part of terms. Returns None if they have no such part: a burst of many hours has
    /// at most the ticks of its rule, and a smaller quota needs more of them for a token.
    fn terms(self, terms: &Terms) -> Option<Terms> {
        let algorithm = match terms.algorithm() {
            Algorithm::Gcra { burst } => {
                Algorithm::Gcra { burst: Some(self.of(burst.unwrap_or(terms.quota()))) }
            }
            other => other,
        };
        Terms::new(algorithm, self.of(terms.quota()), terms.window()).ok()
    }
}

impl Answer {
    /// Returns true if every limit admits: a charge was done, as far as there was anything to charge.
    pub fn is_allowed(&self) -> bool {
        self.standings.iter().all(Standing::is_allowed)
    }

    /// Returns true if a limit denies since the store is away, whatever the others admit.
    pub fn is_unavailable(&self) -> bool {
        self.standings.contains(&Standing::Denied)
    }
}

impl Standing {
    /// Returns true if the limit admits.
    pub const fn is_allowed(&self) -> bool {
        match self {
            Self::Known(outcome) | Self::Local(outcome) => outcome.is_allowed(),
            Self::Denied => false,
            Self::Allowed => true,
        }
    }
}

impl<S: Store> Guarded<S> {
    /// Guards a store by a memory, which others may use for other limits.
    pub fn new(store: S, local: impl Into<Arc<Memory>>, share: Share) -> Self {
        Self { store, local: local.into(), share }
    }

    /// Returns the store.
    pub const fn store(&self) -> &S {
        &self.store
    }

    /// Returns the memory.
    pub fn local(&self) -> &Memory {
        &self.local
    }

    /// Charges all demands or none.
    pub async fn charge(&self, demands: &Demands) -> Answer {
        self.run(Action::Charge, demands).await
    }

    /// Does one thing for all demands: in the store, or as their limits say while it is away.
    pub async fn run(&self, action: Action, demands: &Demands) -> Answer {
        self.answer(action, demands, self.store.run(action, demands).await)
    }

    /// Does one thing for each check, as if they followed each other: see [`Store::run_each`].
    pub async fn run_each(&self, checks: &[(Action, Demands)]) -> Vec<Answer> {
        let found = self.store.run_each(checks).await;
        let answer = |((action, demands), found): (&(Action, Demands), _)| {
            self.answer(*action, demands, found)
        };
        checks.iter().zip(found).map(answer).collect()
    }

    /// Returns what the store found, or as the limits say while it is away.
    fn answer(
        &self,
        action: Action,
        demands: &Demands,
        found: Result<Vec<Outcome>, Away>,
    ) -> Answer {
        match found {
            Ok(outcomes) => {
                self.keep_warm(action, demands, &outcomes);
                let standings = outcomes.into_iter().map(Standing::Known).collect();
                Answer { standings, away: None }
            }
            Err(away) => {
                Answer { standings: self.stand_in(action, demands.each()), away: Some(away) }
            }
        }
    }

    /// Takes back a charge that was done with this answer, `micros` microseconds after it began:
    /// where it was charged, in the store or in memory. Returns what became of each demand.
    ///
    /// Tokens of a fixed or sliding window that may be over when they arrive stay charged: they
    /// would be taken from the count of the next window, which would then admit more than its quota.
    pub async fn undo(&self, demands: &Demands, charge: &Answer, micros: u64) -> Answer {
        let mut undone = charge.clone();
        let each = demands.each().iter().zip(&mut undone.standings);
        let (places, back): (Vec<&mut Standing>, Vec<Demand>) = each
            .filter(|(demand, standing)| is_open(demand, standing, micros))
            .map(|(demand, standing)| (standing, demand.clone()))
            .unzip();
        if let Ok(back) = Demands::new(back) {
            let standings = match charge.away {
                None => self.run(Action::Refund, &back).await.standings,
                Some(_) => self.stand_in(Action::Refund, back.each()),
            };
            for (place, standing) in places.into_iter().zip(standings) {
                *place = standing;
            }
        }
        undone
    }

    /// Repeats in memory what the store did, each limit for itself. A charge that is more than its
    /// share has left uses up the share.
    fn keep_warm(&self, action: Action, demands: &Demands, outcomes: &[Outcome]) {
        if action == Action::Look || action == Action::Charge && !is_done(outcomes) {
            return;
        }
        for mut demand in demands.each().iter().filter_map(|one| self.shared(one)) {
            let outcome = self.local.apply_one(action, &demand);
            if !outcome.is_allowed() {
                demand.cost = outcome.remaining;
                self.local.apply_one(action, &demand);
            }
        }
    }

    /// Answers without the store. Where a limit denies, no other is charged.
    fn stand_in(&self, action: Action, demands: &[Demand]) -> Vec<Standing> {
        let mut standings: Vec<Standing> = demands.iter().map(without).collect();
        let shared: Vec<Option<Demand>> = demands.iter().map(|one| self.shared(one)).collect();
        let is_denied = standings
            .iter()
            .zip(&shared)
            .any(|(standing, shared)| shared.is_none() && !standing.is_allowed());
        let action = if is_denied && action == Action::Charge { Action::Look } else { action };
        let locals: Vec<Demand> = shared.iter().flatten().cloned().collect();
        let outcomes = Demands::new(locals).map(|locals| self.local.apply(action, &locals));
        let places = standings.iter_mut().zip(&shared).filter(|(_, shared)| shared.is_some());
        for ((standing, _), outcome) in places.zip(outcomes.unwrap_or_default()) {
            *standing = Standing::Local(outcome);
        }
        standings
    }

    /// Returns a demand for the share of this process, if its limit has one.
    fn shared(&self, demand: &Demand) -> Option<Demand> {
        if demand.limit.failure() != Failure::Local {
            return None;
        }
        Some(Demand { terms: self.share.terms(&demand.terms)?, ..demand.clone() })
    }
}

/// Returns the standing of a limit without any store.
fn without(demand: &Demand) -> Standing {
    match demand.limit.failure() {
        Failure::Allow => Standing::Allowed,
        Failure::Local | Failure::Deny => Standing::Denied,
    }
}

/// Returns true if a charge can be taken back so long after it: the window in which it is counted
/// will not be over when the refund arrives. Tokens of GCRA have no window.
fn is_open(demand: &Demand, charge: &Standing, micros: u64) -> bool {
    let (Standing::Known(outcome) | Standing::Local(outcome)) = charge else { return false };
    let left = match demand.terms.algorithm() {
        Algorithm::Gcra { .. } => return true,
        Algorithm::Fixed => outcome.reset,
        // A key is full one window after its last count is over.
        Algorithm::Sliding => outcome.reset.saturating_sub(demand.terms.micros()),
    };
    micros.saturating_add(REFUND_MICROS) < left
}

#[cfg(test)]
mod tests;
