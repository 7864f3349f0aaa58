//! The store in process: a table of fixed memory that all threads share.
//!
//! A check of one limit is one operation of the table, which is exact whoever else writes. A check
//! of several looks at all of them, then charges one after another, and refunds what it took if
//! another thread was faster: so it never admits too much, and another check may for a moment
//! find too little. It has no lock of its own.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use wardgate_ratelimit::{Admission, Operation, Outcome, Set, Table, TableCounts, WhenFull};

use crate::demand::{Demand, Demands, Print, Terms};
use crate::few::Few;
use crate::store::{Action, Away, Store};

/// States in the memory of this process.
///
/// # Examples
/// ```
/// use wardgate_ratelimit::{Algorithm, WhenFull, Window};
/// use wardgate_ratelimit_store::{Action, Demand, Demands, Failure, Key, Limit, Memory, Terms};
///
/// let store = Memory::new(1000, WhenFull::Deny);
/// let demands = Demands::new([Demand {
///     limit: Limit::new("api", Failure::Local)?,
///     key: Key::new([b"sam".as_slice()]),
///     terms: Terms::new(Algorithm::Gcra { burst: None }, 100, Window::MINUTE)?,
///     cost: 1,
/// }])?;
/// let outcomes = store.apply(Action::Charge, &demands);
/// assert_eq!(outcomes.first().map(|outcome| outcome.remaining), Some(99));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Memory {
    table: Table<Vec<Set>>,
    clock: Clock,
}

impl Memory {
    /// Makes a store with places for so many keys at once. Its memory is taken here: 24 bytes a key.
    pub fn new(keys: usize, when_full: WhenFull) -> Self {
        let mut sets = Vec::new();
        sets.resize_with(Set::count_for(keys), Set::default);
        Self { table: Table::new(sets, when_full), clock: Clock::new() }
    }

    /// Does one thing for all demands, now.
    pub fn apply(&self, action: Action, demands: &Demands) -> Few<Outcome> {
        self.apply_at(self.now(), action, demands)
    }

    /// Returns the microseconds since 1970 of this store's clock, which never goes back.
    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Returns the events of the table.
    pub fn counts(&self) -> TableCounts {
        self.table.counts()
    }

    /// Returns the number of keys that have places, and of places. It reads the whole memory.
    pub fn fill(&self) -> (usize, usize) {
        (self.table.live(self.now()), self.table.places())
    }

    /// Does one thing for one demand, now.
    pub(crate) fn apply_one(&self, action: Action, demand: &Demand) -> Outcome {
        self.apply_one_at(self.now(), action, demand)
    }

    /// Does one thing for one demand at a time in microseconds since 1970; nothing is allocated.
    pub fn apply_one_at(&self, now: u64, action: Action, demand: &Demand) -> Outcome {
        self.operate(now, demand, action.with(demand.cost))
    }

    /// Charges the limit of a print at a time in microseconds since 1970, as the only one of a check; nothing
    /// is allocated. The print is that of a limit with these terms.
    #[inline]
    pub fn charge_at(
        &self,
        now: u64,
        (limit, terms): (Print, &Terms),
        key: Print,
        cost: u64,
    ) -> Outcome {
        let fingerprint = Print::of_state(limit, key);
        self.table.apply(fingerprint, terms.rule(), now, Operation::Charge(cost))
    }

    /// Does one thing for all demands at a time in microseconds since 1970.
    pub fn apply_at(&self, now: u64, action: Action, demands: &Demands) -> Few<Outcome> {
        match demands.each() {
            [one] => Few::One(self.operate(now, one, action.with(one.cost))),
            several if action == Action::Charge => self.charge(now, several).into(),
            several => self.each(now, several, action).into(),
        }
    }

    /// Takes back a charge that was done at a time, and tells what a charge would meet now. Tokens of
    /// a fixed or sliding window that is over stay charged there.
    pub fn undo(&self, charged: u64, demands: &Demands) -> Few<Outcome> {
        for demand in demands.each() {
            self.operate(charged, demand, Operation::Undo(demand.cost));
        }
        self.apply(Action::Look, demands)
    }

    fn charge(&self, now: u64, demands: &[Demand]) -> Vec<Outcome> {
        let mut outcomes = self.each(now, demands, Action::Look);
        if !outcomes.iter().all(Outcome::is_allowed) {
            return outcomes;
        }
        for (at, demand) in demands.iter().enumerate() {
            let outcome = self.operate(now, demand, Operation::Charge(demand.cost));
            let is_allowed = outcome.is_allowed();
            if let Some(place) = outcomes.get_mut(at) {
                *place = outcome;
            }
            if !is_allowed {
                self.give_back(now, demands.get(..at).unwrap_or_default(), &mut outcomes);
                break;
            }
        }
        outcomes
    }

    /// Takes back demands that were charged at this time. Another thread may have charged in a later
    /// window since.
    fn give_back(&self, now: u64, charged: &[Demand], outcomes: &mut [Outcome]) {
        for (demand, outcome) in charged.iter().zip(outcomes) {
            *outcome = self.operate(now, demand, Operation::Undo(demand.cost));
        }
    }

    fn each(&self, now: u64, demands: &[Demand], action: Action) -> Vec<Outcome> {
        demands.iter().map(|one| self.operate(now, one, action.with(one.cost))).collect()
    }

    fn operate(&self, now: u64, demand: &Demand, operation: Operation) -> Outcome {
        let Demand { limit, key, terms, .. } = demand;
        let fingerprint = Print::of_state(Print::of_limit(limit, terms), key.print());
        self.table.apply(fingerprint, terms.rule(), now, operation)
    }
}

impl Store for Memory {
    async fn run(&self, action: Action, demands: &Demands) -> Result<Vec<Outcome>, Away> {
        Ok(self.apply(action, demands).into_vec())
    }

    fn memory(&self) -> Option<&Memory> {
        Some(self)
    }
}

/// Microseconds since 1970: what the clock of the machine said at the start, and what has passed
/// since by the one that never goes back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
    micros: u64,
}

impl Clock {
    pub(crate) fn new() -> Self {
        let micros = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        Self { start: Instant::now(), micros: u64::try_from(micros).unwrap_or(u64::MAX) }
    }

    pub(crate) fn now(&self) -> u64 {
        let passed = u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.micros.saturating_add(passed)
    }
}

/// Returns true if a charge with these outcomes was done.
pub(crate) fn is_done(outcomes: &[Outcome]) -> bool {
    outcomes.iter().all(|outcome| outcome.admission == Admission::Allowed)
}

#[cfg(test)]
mod tests {
    use wardgate_ratelimit::{Algorithm, Window};

    use super::*;
    use crate::demand::{Failure, Key, Limit};

    const SECOND: u64 = 1_000_000;

    fn demands(algorithm: Algorithm, cost: u64) -> Demands {
        let demand = Demand {
            limit: Limit::new("api", Failure::Local).unwrap(),
            key: Key::new([b"sam".as_slice()]),
            terms: Terms::new(algorithm, 10, Window::MINUTE).unwrap(),
            cost,
        };
        Demands::new([demand]).unwrap()
    }

    fn remaining(store: &Memory, now: u64, demands: &Demands) -> u64 {
        store.apply_at(now, Action::Look, demands)[0].remaining
    }

    #[test]
    fn a_charge_of_an_earlier_window_adds_nothing_to_the_next() {
        let (four, three) = (demands(Algorithm::Fixed, 4), demands(Algorithm::Fixed, 3));
        let store = Memory::new(10, WhenFull::Deny);
        let edge = (store.now() / (60 * SECOND) + 9) * 60 * SECOND;
        store.apply_at(edge - SECOND, Action::Charge, &four);
        store.apply_at(edge + SECOND, Action::Charge, &three);
        store.undo(edge - SECOND, &four);
        assert_eq!(remaining(&store, edge + SECOND, &four), 7);
        store.undo(edge + SECOND, &three);
        assert_eq!(remaining(&store, edge + SECOND, &four), 10);
    }

    #[test]
    fn a_sliding_window_gives_back_where_it_was_charged() {
        let (six, three) = (demands(Algorithm::Sliding, 6), demands(Algorithm::Sliding, 3));
        let store = Memory::new(10, WhenFull::Deny);
        let edge = (store.now() / (60 * SECOND) + 9) * 60 * SECOND;
        let later = edge + 30 * SECOND;
        store.apply_at(edge - SECOND, Action::Charge, &six);
        store.apply_at(later, Action::Charge, &three);
        assert_eq!(remaining(&store, later, &six), 4, "half of 6, and 3");
        store.undo(edge - SECOND, &six);
        assert_eq!(remaining(&store, later, &six), 7);
        store.undo(edge - 61 * SECOND, &six);
        assert_eq!(remaining(&store, later, &six), 7);
    }

    #[test]
    fn a_charge_of_the_same_window_is_taken_back_whole() {
        for algorithm in [Algorithm::Gcra { burst: None }, Algorithm::Fixed, Algorithm::Sliding] {
            let (store, four) = (Memory::new(10, WhenFull::Deny), demands(algorithm, 4));
            let start = (store.now() / (60 * SECOND) + 9) * 60 * SECOND;
            store.apply_at(start, Action::Charge, &four);
            store.undo(start, &four);
            assert_eq!(remaining(&store, start, &four), 10, "{algorithm:?}");
        }
    }
}
