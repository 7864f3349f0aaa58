//! The algorithms as their definitions say them, over fractions.
//!
//! Only two things are defined: what a charge writes, and whether a cost fits at a time. Each number
//! of an outcome is searched for: what remains is the largest cost that fits, and a duration ends
//! at the first time at which a cost fits. The implementation computes them by formulas.

use std::collections::BTreeMap;

use num_rational::Ratio;
use wardgate_ratelimit::{Admission, Algorithm, Operation, Outcome, Window};

use crate::sequence::Terms;

type Number = Ratio<i128>;

/// A key under a rule.
pub(crate) struct Oracle {
    terms: Terms,
    /// The theoretical arrival time of GCRA.
    tat: Option<Number>,
    /// The tokens charged in each window, by its start.
    counts: BTreeMap<i128, i128>,
    /// The start of the latest window with a charge.
    latest: Option<i128>,
    /// The starts of all months.
    months: Vec<i128>,
}

impl Oracle {
    pub(crate) fn new(terms: Terms) -> Self {
        let months = if terms.window == Window::Month { months() } else { Vec::new() };
        Self { terms, tat: None, counts: BTreeMap::new(), latest: None, months }
    }

    pub(crate) fn apply(&mut self, time: u64, operation: Operation) -> Outcome {
        let now = i128::from(time);
        let cost = match operation {
            Operation::Charge(cost) | Operation::Look(cost) => cost,
            Operation::Refund(_) | Operation::Undo(_) | Operation::Reset => 0,
        };
        let admission = self.admission(now, cost);
        match operation {
            Operation::Charge(0)
            | Operation::Look(_)
            | Operation::Refund(0)
            | Operation::Undo(0) => {}
            Operation::Charge(cost) if admission == Admission::Allowed => self.charge(now, cost),
            Operation::Charge(_) => {}
            // The time of an operation is never before that of an earlier one.
            Operation::Refund(cost) | Operation::Undo(cost) => {
                self.refund(now, cost.min(self.terms.capacity()))
            }
            Operation::Reset => self.forget(),
        }
        let capacity = self.terms.capacity();
        let remaining = last(capacity, |cost| self.fits(now, cost));
        Outcome { admission, remaining, reset: self.wait(now, capacity) }
    }

    fn admission(&self, now: i128, cost: u64) -> Admission {
        if cost > self.terms.capacity() {
            return Admission::Never;
        }
        match self.wait(now, cost) {
            0 => Admission::Allowed,
            micros => Admission::After { micros },
        }
    }

    /// Searches for the shortest duration after which a cost fits.
    fn wait(&self, now: i128, cost: u64) -> u64 {
        if self.fits(now, cost) {
            return 0;
        }
        1 + last(1 << 54, |micros| !self.fits(now + i128::from(micros), cost))
    }

    /// Returns true if a cost may be charged. A cost of 0 always may.
    fn fits(&self, now: i128, cost: u64) -> bool {
        if cost == 0 {
            return true;
        }
        let cost = i128::from(cost);
        let quota = i128::from(self.terms.quota);
        let capacity = i128::from(self.terms.capacity());
        match self.terms.algorithm {
            Algorithm::Gcra { .. } => {
                let (now, interval) = (Number::from(now), self.interval());
                let tat = self.tat.map_or(now, |tat| tat.max(now));
                tat + interval * cost - interval * capacity <= now
            }
            Algorithm::Fixed => self.count(self.start(self.effective(now))) + cost <= quota,
            Algorithm::Sliding => {
                let window = self.length();
                let now = self.effective(now);
                let start = self.start(now);
                let overlap = Number::new(window - (now - start), window);
                let before = (overlap * self.count(start - window)).ceil().to_integer();
                self.count(start) + before + cost <= quota
            }
        }
    }

    fn charge(&mut self, now: i128, cost: u64) {
        let cost = i128::from(cost);
        match self.terms.algorithm {
            Algorithm::Gcra { .. } => {
                let now = Number::from(now);
                let tat = self.tat.map_or(now, |tat| tat.max(now));
                self.tat = Some(tat + self.interval() * cost);
            }
            Algorithm::Fixed | Algorithm::Sliding => {
                let start = self.start(self.effective(now));
                *self.counts.entry(start).or_default() += cost;
                self.latest = Some(start);
            }
        }
    }

    fn refund(&mut self, now: i128, cost: u64) {
        let cost = i128::from(cost);
        let interval = self.interval();
        if let Some(tat) = &mut self.tat {
            *tat -= interval * cost;
            if *tat <= Number::from(now) {
                self.tat = None;
            }
        }
        if matches!(self.terms.algorithm, Algorithm::Gcra { .. }) {
            return;
        }
        let start = self.start(self.effective(now));
        let rest = (cost - self.count(start)).max(0);
        self.reduce(start, cost);
        let mut left = self.count(start);
        if self.terms.algorithm == Algorithm::Sliding {
            self.reduce(start - self.length(), rest);
            left += self.count(start - self.length());
        }
        self.latest = Some(start);
        if left == 0 {
            self.forget();
        }
    }

    fn reduce(&mut self, start: i128, cost: i128) {
        let count = self.counts.entry(start).or_default();
        *count = (*count - cost).max(0);
    }

    fn forget(&mut self) {
        (self.tat, self.latest) = (None, None);
        self.counts.clear();
    }

    /// Returns a time, or the start of the latest window if it is later.
    fn effective(&self, now: i128) -> i128 {
        self.latest.map_or(now, |latest| latest.max(now))
    }

    fn count(&self, start: i128) -> i128 {
        self.counts.get(&start).copied().unwrap_or(0)
    }

    pub(crate) fn start(&self, time: i128) -> i128 {
        match self.terms.window {
            Window::Micros(window) => time - time % i128::from(window),
            Window::Month => self.months[self.months.partition_point(|month| *month <= time) - 1],
        }
    }

    fn length(&self) -> i128 {
        let Window::Micros(window) = self.terms.window else { panic!("a month has no length") };
        i128::from(window)
    }

    /// Returns the microseconds of a token, rounded up to 1/128.
    fn interval(&self) -> Number {
        match self.terms.window {
            Window::Month => Number::from(0),
            Window::Micros(window) => {
                let exact = Number::new(i128::from(window) * 128, i128::from(self.terms.quota));
                exact.ceil() / 128
            }
        }
    }
}

/// Returns the largest number up to `most` that holds, where all smaller ones hold too.
fn last(most: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = high - (high - low) / 2;
        if holds(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// Counts the starts of all months from 1970 up to 2300.
fn months() -> Vec<i128> {
    let mut starts = Vec::new();
    let mut day = 0;
    for year in 1970..2300 {
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        for length in [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
            starts.push(day * 86_400_000_000);
            day += length;
        }
    }
    starts
}
