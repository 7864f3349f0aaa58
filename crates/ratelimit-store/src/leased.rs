//! Leases: tokens of a hot key, paid in a store in advance and spent in this process.
//!
//! **Tokens are paid before they are spent**, so all processes together spend no more than the store
//! charged. What differs is the time. A token of a fixed window is spent before that window ends. A
//! token of GCRA is spent at most a second after it was paid, and at most a window: any interval
//! may hold the leases of its start besides what the rule admits. Sliding windows have no leases.
//!
//! A lease is at most a tenth of a full key and a sixteenth of what remains: it shrinks to nothing
//! as a key is used up, and from then on each check is exact. A lease that ends, or whose process
//! does, loses its tokens; those of GCRA go back when the key is next used or the store is closed.
//! (In a fixed window they would be subtracted from the count of the next one if they came late.)
//!
//! A check of several limits takes from leases first and asks the store for the others; where that
//! refuses, the leases have their tokens again. A check that finds no lease pays for the next one with
//! its own cost, in one call; where the store refuses that, it asks for its cost alone.

mod book;

use wardgate_ratelimit::{Algorithm, Outcome};

use crate::demand::{Demand, Demands};
use crate::memory::{Clock, is_done};
use crate::store::{Action, Away, Store};
use book::{Book, Renewal, Taken};

/// A store of which leases are taken, for every limit that may have them.
#[derive(Debug)]
pub struct Leased<S> {
    store: S,
    book: Book,
    clock: Clock,
}

impl<S: Store> Leased<S> {
    /// Takes leases of a store, for so many keys at once. Further keys are exact.
    pub fn new(store: S, keys: usize) -> Self {
        Self { store, book: Book::new(keys), clock: Clock::new() }
    }

    /// Returns the store.
    pub const fn store(&self) -> &S {
        &self.store
    }

    /// Ends all leases, and gives their tokens back where their algorithm is GCRA.
    ///
    /// # Errors
    /// Returns the first error of the store; the tokens of that lease and of later ones are lost.
    pub async fn close(&self) -> Result<(), Away> {
        for unspent in self.book.drain() {
            self.give_back(unspent).await?;
        }
        Ok(())
    }

    async fn charge_leased(&self, demands: &Demands) -> Result<Vec<Outcome>, Away> {
        let now = self.clock.now();
        let each = demands.each();
        if let [one] = each
            && let Some(taken) = self.book.take(one, now)
        {
            return Ok(vec![taken.outcome]);
        }
        let taken: Vec<Option<Taken>> = each.iter().map(|one| self.book.take(one, now)).collect();
        let missing = each.iter().zip(&taken).filter(|(_, taken)| taken.is_none());
        let rest: Vec<Demand> = missing.map(|(demand, _)| demand.clone()).collect();
        let Ok(rest) = Demands::new(rest) else {
            return Ok(taken.into_iter().flatten().map(|taken| taken.outcome).collect());
        };
        let found = self.charge_rest(&rest, now).await;
        if !found.as_ref().is_ok_and(|found| is_done(found)) {
            for (demand, taken) in each.iter().zip(&taken) {
                taken.iter().for_each(|taken| self.book.put_back(demand, taken));
            }
        }
        let mut found = found?.into_iter();
        let known = taken.into_iter().map(|taken| taken.map(|taken| taken.outcome));
        Ok(known.filter_map(|known| known.or_else(|| found.next())).collect())
    }

    /// Charges what no lease has, with the next leases of it.
    async fn charge_rest(&self, rest: &Demands, now: u64) -> Result<Vec<Outcome>, Away> {
        let mut renewals = Vec::with_capacity(rest.each().len());
        for demand in rest.each() {
            let renewal = self.book.begin(demand, now);
            if let Some(unspent) = renewal.as_ref().and_then(Renewal::unspent) {
                // If this fails they are lost, as those of a process that ends.
                let _ = self.give_back(unspent).await;
            }
            renewals.push(renewal);
        }
        let costs = rest.each().iter().zip(&renewals);
        let more: Vec<Demand> = costs
            .map(|(demand, renewal)| {
                let tokens = renewal.as_ref().map_or(0, Renewal::tokens);
                Demand { cost: demand.cost.saturating_add(tokens), ..demand.clone() }
            })
            .collect();
        if let Ok(more) = Demands::new(more)
            && more != *rest
        {
            // The server's time will be later, so that the lease ends before its window.
            let before = self.clock.now();
            let outcomes = self.store.charge(&more).await?;
            if is_done(&outcomes) {
                return Ok(granted(renewals, outcomes, before));
            }
        }
        let outcomes = self.store.charge(rest).await?;
        for (renewal, outcome) in renewals.into_iter().zip(&outcomes) {
            renewal.into_iter().for_each(|renewal| renewal.note(outcome, self.clock.now()));
        }
        Ok(outcomes)
    }

    async fn give_back(&self, unspent: Demand) -> Result<(), Away> {
        let is_gcra = matches!(unspent.terms.algorithm(), Algorithm::Gcra { .. });
        match Demands::new([unspent]) {
            Ok(unspent) if is_gcra => self.store.refund(&unspent).await.map(drop),
            _ => Ok(()),
        }
    }
}

impl<S: Store> Store for Leased<S> {
    async fn run(&self, action: Action, demands: &Demands) -> Result<Vec<Outcome>, Away> {
        match action {
            Action::Charge => self.charge_leased(demands).await,
            // A look tells what is in the store: tokens on lease count as used.
            Action::Look | Action::Refund => self.store.run(action, demands).await,
            Action::Reset => {
                demands.each().iter().for_each(|demand| self.book.forget(demand));
                self.store.run(action, demands).await
            }
        }
    }
}

/// Begins the leases that were paid, and returns the outcomes with their tokens.
fn granted(
    renewals: Vec<Option<Renewal<'_>>>,
    outcomes: Vec<Outcome>,
    before: u64,
) -> Vec<Outcome> {
    let each = renewals.into_iter().zip(outcomes);
    each.map(|(renewal, outcome)| {
        let tokens = renewal.as_ref().map_or(0, Renewal::tokens);
        renewal.into_iter().for_each(|renewal| renewal.grant(&outcome, before));
        Outcome { remaining: outcome.remaining.saturating_add(tokens), ..outcome }
    })
    .collect()
}

#[cfg(test)]
mod tests;
