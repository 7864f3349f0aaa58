//! Random rules, and random operations that look for the edges of what came before.

use fastrand::Rng;
use wardgate_ratelimit::{Admission, MAX_TIME, MAX_WINDOW, Operation, Outcome, Window};

use crate::oracle::Oracle;
use crate::sequence::{Sequence, Step, Terms};

/// The algorithms that have vectors of their own.
#[derive(Clone, Copy)]
pub(crate) enum Family {
    Gcra,
    Fixed,
    Sliding,
}

/// A source of operations on one key.
pub(crate) struct Operations {
    random: Rng,
    terms: Terms,
    /// The time of the last operation, and what it met.
    time: u64,
    outcome: Outcome,
    /// The tokens charged and not refunded.
    charged: u64,
    has_refunds: bool,
}

/// Makes a rule that holds.
pub(crate) fn terms(family: Family, random: &mut Rng) -> Terms {
    loop {
        let window = window(random);
        let quota = match random.u8(..4) {
            0 => random.u64(1..=5),
            1 => random.u64(1..=1000),
            2 => near(random, window),
            _ => 1 << random.u32(..40),
        };
        let terms = match family {
            Family::Gcra => Terms::gcra(quota, window, burst(random, quota)),
            Family::Fixed if random.u8(..4) == 0 => Terms::fixed(quota, Window::Month),
            Family::Fixed => Terms::fixed(quota, Window::Micros(window)),
            Family::Sliding => Terms::sliding(quota, window),
        };
        if terms.rule().is_ok() {
            return terms;
        }
    }
}

fn window(random: &mut Rng) -> u64 {
    match random.u8(..5) {
        0 => random.u64(1..=100),
        1 => [1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000][random.usize(..4)],
        2 => random.u64(1..=10) * 1_000_000,
        3 => MAX_WINDOW - random.u64(..3),
        _ => {
            let most = 1 << random.u32(..44);
            random.u64(1..=most)
        }
    }
}

fn burst(random: &mut Rng, quota: u64) -> Option<u64> {
    match random.u8(..4) {
        0 => None,
        1 => Some(1),
        2 => Some(random.u64(1..=quota)),
        _ => Some(near(random, quota)),
    }
}

/// Returns a number of at least 1 near one, or near a power of two below it.
fn near(random: &mut Rng, number: u64) -> u64 {
    (number >> random.u32(..20)).saturating_add(random.u64(..3)).saturating_sub(1).max(1)
}

impl Operations {
    pub(crate) fn new(terms: Terms, random: Rng) -> Self {
        let outcome =
            Outcome { admission: Admission::Allowed, remaining: terms.capacity(), reset: 0 };
        let mut new = Self { random, terms, time: 0, outcome, charged: 0, has_refunds: true };
        new.time = new.first_time();
        new
    }

    pub(crate) fn without_refunds(self) -> Self {
        Self { has_refunds: false, ..self }
    }

    fn first_time(&mut self) -> u64 {
        match self.random.u8(..8) {
            0 => self.random.u64(..1000),
            1 => MAX_TIME - (1 << 51),
            _ => 1_700_000_000_000_000 + self.random.u64(..100_000_000_000_000),
        }
    }

    /// Returns the next time and operation.
    pub(crate) fn next(&mut self) -> (u64, Operation) {
        let random = &mut self.random;
        let step = match (random.u8(..12), self.outcome.admission) {
            (0..3, Admission::After { micros }) => micros,
            (3..5, Admission::After { micros }) => micros - 1,
            (5, _) => self.outcome.reset,
            (6, _) => self.outcome.reset.saturating_sub(1),
            (7, _) => random.u64(..=length(self.terms)),
            (8, _) => length(self.terms) - 1 + random.u64(..3),
            (9, _) => random.u64(..=length(self.terms) / 10 + 1),
            (10, _) => random.u64(..3),
            _ => 0,
        };
        self.time = match random.u8(..20) {
            0 => self.time.saturating_sub(step),
            _ => self.time.saturating_add(step).min(MAX_TIME),
        };
        (self.time, self.operation())
    }

    fn operation(&mut self) -> Operation {
        let cost = self.cost();
        match self.random.u8(..40) {
            0 => Operation::Reset,
            1..4 => Operation::Look(cost),
            4..7 if self.has_refunds => Operation::Refund(self.random.u64(..=self.charged)),
            _ => Operation::Charge(cost),
        }
    }

    fn cost(&mut self) -> u64 {
        let capacity = self.terms.capacity();
        match self.random.u8(..12) {
            0 => 0,
            1 => self.outcome.remaining,
            2 => self.outcome.remaining + 1,
            3 => capacity,
            4 if self.random.u8(..4) == 0 => capacity + self.random.u64(1..=1 << 40),
            5..8 => self.random.u64(..=capacity / 3 + 1),
            _ => 1,
        }
    }

    /// Takes note of what the last operation met.
    pub(crate) fn met(&mut self, operation: Operation, outcome: Outcome) {
        self.outcome = outcome;
        match operation {
            Operation::Charge(cost) if outcome.is_allowed() => self.charged += cost,
            Operation::Refund(cost) => self.charged -= cost.min(self.charged),
            Operation::Reset => self.charged = 0,
            _ => {}
        }
    }
}

/// Makes a sequence whose outcomes are those of the oracle.
pub(crate) fn sequence(family: Family, seed: u64, steps: usize) -> Sequence {
    let mut random = Rng::with_seed(seed);
    let terms = terms(family, &mut random);
    let mut oracle = Oracle::new(terms);
    let mut operations = Operations::new(terms, random);
    let mut step = || {
        let (time, operation) = operations.next();
        let outcome = oracle.apply(time, operation);
        operations.met(operation, outcome);
        Step { time, operation, outcome }
    };
    let steps = (0..steps).map(|_| step()).collect();
    Sequence { name: format!("generated {seed}"), terms, steps }
}

/// Returns the microseconds of a window; of a long month.
pub(crate) fn length(terms: Terms) -> u64 {
    match terms.window {
        Window::Micros(window) => window,
        Window::Month => 31 * 86_400_000_000,
    }
}
