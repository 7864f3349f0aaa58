//! The times of single decisions: each time that occurred, and how often.
//!
//! Every sample counts. Times are stored as the clock returned them, so that a quantile is a
//! measured time and not the border of a bucket.

use super::clock::Clock;
use super::units::approximate;

/// Samples while they are taken. Counting one allocates nothing, unless it is a long one.
pub(crate) struct Recorder {
    /// The number of samples of each time: the index is the nanoseconds.
    short: Vec<u64>,
    long: Vec<u64>,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Self { short: vec![0; SHORT], long: Vec::new() }
    }

    /// Counts a sample.
    pub(crate) fn add(&mut self, nanoseconds: u64) {
        let index = usize::try_from(nanoseconds).ok().and_then(|index| self.short.get_mut(index));
        match index {
            Some(count) => *count += 1,
            None => self.long.push(nanoseconds),
        }
    }

    /// Returns each time and how often it occurred.
    pub(crate) fn counts(self) -> Vec<(u64, u64)> {
        let short = (0..).zip(self.short).filter(|(_, count)| *count > 0);
        short.chain(self.long.into_iter().map(|time| (time, 1))).collect()
    }
}

/// Samples in the order of their length: nanoseconds of one decision, and how often.
#[derive(Debug)]
pub(crate) struct Samples {
    counts: Vec<(f64, u64)>,
    total: u64,
}

impl Samples {
    /// Returns the times of decisions from readings of the clock, with the count of each reading.
    pub(crate) fn new(readings: &[(u64, u64)], clock: &Clock) -> Self {
        let one = |reading: u64| {
            (approximate(reading) - clock.cost).max(0.0) / f64::from(clock.group.max(1))
        };
        let mut counts: Vec<_> = readings.iter().map(|&(it, count)| (one(it), count)).collect();
        counts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total = counts.iter().map(|(_, count)| count).sum();
        Self { counts, total }
    }

    /// Returns how many samples there are.
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    /// Returns the time within which this many of a million samples stay.
    pub(crate) fn quantile(&self, of_a_million: u64) -> f64 {
        let rank = u128::from(self.total) * u128::from(of_a_million);
        let mut seen = 0_u128;
        for (time, count) in &self.counts {
            seen += u128::from(*count) * 1_000_000;
            if seen >= rank {
                return *time;
            }
        }
        self.longest()
    }

    /// Returns the longest time.
    pub(crate) fn longest(&self) -> f64 {
        self.counts.last().map_or(0.0, |(time, _)| *time)
    }

    /// Returns how many samples are longer than `least`, and at most `most`.
    pub(crate) fn between(&self, least: f64, most: f64) -> u64 {
        let from = self.counts.partition_point(|(time, _)| *time <= least);
        let to = self.counts.partition_point(|(time, _)| *time <= most);
        self.counts.get(from..to).unwrap_or_default().iter().map(|(_, count)| count).sum()
    }
}

/// Nanoseconds below which a sample is counted by index: a quarter of a millisecond. Longer ones
/// are few, also in a long measurement.
const SHORT: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use super::{Clock, Recorder, SHORT, Samples};

    const CLOCK: Clock = Clock { cost: 20.0, step: 1.0, group: 1 };

    #[test]
    fn quantiles_are_times_that_were_measured() {
        let samples = Samples::new(&[(30, 900), (120, 98), (5020, 2)], &CLOCK);
        let check =
            |of: u64, expected: f64| assert!((samples.quantile(of) - expected).abs() < 1e-9);
        check(500_000, 10.0);
        check(900_000, 10.0);
        check(900_001, 100.0);
        check(998_000, 100.0);
        check(999_000, 5000.0);
        check(1_000_000, 5000.0);
        assert_eq!((samples.total(), samples.between(10.0, 5000.0)), (1000, 100));
    }

    #[test]
    fn the_clock_is_taken_off_before_the_group_is_shared_out() {
        let clock = Clock { group: 4, ..CLOCK };
        let samples = Samples::new(&[(60, 1), (12, 1)], &clock);
        assert_eq!((samples.quantile(1), samples.longest()), (0.0, 10.0));
    }

    #[test]
    fn every_sample_counts_however_long_it_is() {
        let mut recorder = Recorder::new();
        let long = u64::try_from(SHORT).unwrap();
        for time in [3, long, 3, long - 1, u64::MAX] {
            recorder.add(time);
        }
        assert_eq!(recorder.counts(), [(3, 2), (long - 1, 1), (long, 1), (u64::MAX, 1)]);
    }
}
