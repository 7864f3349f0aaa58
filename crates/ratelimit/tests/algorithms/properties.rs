//! Random operations: equal outcomes in the implementation and the oracle, and the promises of each
//! algorithm over what was admitted.

use fastrand::Rng;
use wardgate_ratelimit::{Algorithm, Operation, State};

use crate::generator::{Family, Operations, length, terms};
use crate::oracle::Oracle;
use crate::sequence::Terms;

#[test]
fn gcra_equals_the_oracle_and_keeps_its_promise() {
    run(Family::Gcra);
}

#[test]
fn fixed_windows_equal_the_oracle_and_keep_their_promise() {
    run(Family::Fixed);
}

#[test]
fn sliding_windows_equal_the_oracle_and_keep_their_promise() {
    run(Family::Sliding);
}

#[test]
fn every_number_is_a_state() {
    let mut random = Rng::with_seed(9);
    for family in [Family::Gcra, Family::Fixed, Family::Sliding] {
        for _ in 0..10_000 {
            let rule = terms(family, &mut random).rule().unwrap();
            let bits = random.u64(..) >> random.u32(..64);
            let (now, cost) = (random.u64(..) >> random.u32(..64), random.u64(..));
            for operation in [
                Operation::Charge(cost),
                Operation::Charge(1),
                Operation::Look(1),
                Operation::Refund(cost),
                Operation::Refund(1),
                Operation::Reset,
            ] {
                let (next, outcome) = rule.apply(State::from_bits(bits), now, operation);
                assert!(outcome.remaining <= rule.capacity());
                assert!(outcome.is_allowed() || next.bits() == bits);
            }
        }
    }
}

/// Runs some 35,000 steps of an algorithm, or some 3,400,000 with `SLOW_TESTS=1`.
fn run(family: Family) {
    let keys = if std::env::var_os("SLOW_TESTS").is_some() { 84_000 } else { 880 };
    let (mut allowed, mut refused) = (0, 0);
    for seed in 0..keys {
        let log = one_key(family, 1_000_000 + seed);
        allowed += log.charges.len();
        refused += STEPS - log.charges.len();
        log.check();
    }
    println!("{allowed} admitted or refunded, {refused} other");
    assert!(allowed * 4 > refused && refused * 10 > allowed, "{allowed} {refused}");
}

fn one_key(family: Family, seed: u64) -> Log {
    let mut random = Rng::with_seed(seed);
    let terms = terms(family, &mut random);
    let rule = terms.rule().unwrap();
    let (mut oracle, mut state) = (Oracle::new(terms), State::NONE);
    let mut operations = Operations::new(terms, random);
    if seed.is_multiple_of(2) {
        operations = operations.without_refunds();
    }
    let mut log = Log { terms, charges: Vec::new(), has_refunds: !seed.is_multiple_of(2) };
    let mut latest = 0;
    for _ in 0..STEPS {
        let (time, operation) = operations.next();
        if state == State::NONE && time < latest {
            // Nothing is known of the time that was: the promise begins anew.
            log.charges.clear();
        }
        latest = time;
        let expected = oracle.apply(time, operation);
        let (next, outcome) = rule.apply(state, time, operation);
        assert_eq!(outcome, expected, "{seed} {terms:?} {time} {operation:?} {state:?}");
        assert!(outcome.is_allowed() || next == state, "a refused charge changed the state");
        assert!(next.is_over(time) <= (outcome.reset == 0), "a state is forgotten too early");
        state = next;
        operations.met(operation, outcome);
        match operation {
            Operation::Charge(cost @ 1..) if outcome.is_allowed() => {
                log.charges.push((time, cost.into()))
            }
            Operation::Refund(cost) => log.charges.push((time, -i128::from(cost))),
            Operation::Reset => log.charges.clear(),
            _ => {}
        }
    }
    log
}

/// The charges that were admitted since the key was full, and refunds as negative ones.
struct Log {
    terms: Terms,
    charges: Vec<(u64, i128)>,
    has_refunds: bool,
}

impl Log {
    fn check(&self) {
        match self.terms.algorithm {
            Algorithm::Gcra { .. } => self.check_gcra(),
            _ if self.has_refunds => {}
            Algorithm::Fixed => self.check_fixed(),
            Algorithm::Sliding => self.check_sliding(),
        }
    }

    /// From one charge to another: at most the burst, and the quota in proportion to the time.
    fn check_gcra(&self) {
        let (quota, window) = (i128::from(self.terms.quota), i128::from(length(self.terms)));
        let burst = i128::from(self.terms.capacity());
        for (first, (start, cost)) in self.charges.iter().enumerate() {
            if *cost <= 0 {
                continue;
            }
            let mut sum = 0;
            for (end, cost) in &self.charges[first..] {
                sum += cost;
                let passed = i128::from(end.saturating_sub(*start));
                let is_charge = *cost > 0;
                assert!(!is_charge || sum * window <= burst * window + passed * quota, "{self:?}");
            }
        }
    }

    fn check_fixed(&self) {
        for window in self.windows() {
            let sum: i128 = window.1.iter().map(|(_, cost)| cost).sum();
            assert!(sum <= self.terms.quota.into(), "{self:?}");
        }
    }

    /// In each window at most the quota; in any interval no longer than a window, the quota and its
    /// part for the length of the interval.
    fn check_sliding(&self) {
        self.check_fixed();
        let (quota, window) = (i128::from(self.terms.quota), i128::from(length(self.terms)));
        let mut all: Vec<(i128, i128)> =
            self.windows().into_iter().flat_map(|(_, charges)| charges).collect();
        all.sort_unstable();
        for (first, (start, _)) in all.iter().enumerate() {
            let mut sum = 0;
            for (end, cost) in all[first..].iter().take_while(|(end, _)| end - start <= window) {
                sum += cost;
                assert!(sum * window <= quota * window + (end - start) * quota, "{self:?}");
            }
        }
    }

    /// Lists the charges of each window, with times before the latest window at its start.
    fn windows(&self) -> Vec<(i128, Vec<(i128, i128)>)> {
        let calendar = Oracle::new(self.terms);
        let mut windows: Vec<(i128, Vec<(i128, i128)>)> = Vec::new();
        for (time, cost) in self.charges.iter().filter(|(_, cost)| *cost > 0) {
            let latest = windows.last().map_or(0, |(start, _)| *start);
            let time = i128::from(*time).max(latest);
            let start = calendar.start(time);
            if windows.last().is_none_or(|(last, _)| *last != start) {
                windows.push((start, Vec::new()));
            }
            windows.last_mut().unwrap().1.push((time, *cost));
        }
        windows
    }
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {:?}", self.terms, self.charges)
    }
}

/// The operations on one key.
const STEPS: usize = 40;
