//! Ids of traces and spans, and the sampling of traces.
//!
//! Ids must differ and be spread evenly; they need not be unpredictable. So a counter is mixed with
//! random seeds, and no request waits for randomness.

use std::sync::atomic::{AtomicU64, Ordering};

use ring::rand::{SecureRandom, SystemRandom};

/// Makes ids.
pub(super) struct Ids {
    next: AtomicU64,
    seeds: [u64; 3],
    ratio: f64,
}

impl Ids {
    /// Takes seeds of the system, and the share of traces to sample.
    ///
    /// # Errors
    /// The system has no randomness.
    pub(super) fn new(ratio: f64) -> Result<Self, String> {
        let mut bytes = [0; 24];
        SystemRandom::new().fill(&mut bytes).map_err(|_| "the system has no randomness")?;
        let mut seeds = [0; 3];
        for (seed, bytes) in seeds.iter_mut().zip(bytes.chunks_exact(8)) {
            *seed = bytes.try_into().map(u64::from_le_bytes).map_err(|_| "no eight bytes")?;
        }
        Ok(Self { next: AtomicU64::new(0), seeds, ratio })
    }

    /// Returns the id of a trace that begins here; `None` if it is not sampled.
    pub(super) fn trace(&self) -> Option<[u8; 16]> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let [high, low, _] = self.seeds.map(|seed| mixed(seed, turn));
        if !is_sampled(low, self.ratio) {
            return None;
        }
        Some((u128::from(high) << 64 | u128::from(low.max(1))).to_be_bytes())
    }

    /// The id of a span.
    pub(super) fn span(&self) -> [u8; 8] {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let [.., seed] = self.seeds;
        mixed(seed, turn).max(1).to_be_bytes()
    }
}

/// Returns true if the end of an id is below the ratio. Other servers that sample by the id decide
/// alike.
fn is_sampled(end: u64, ratio: f64) -> bool {
    let share = u32::try_from((end << 1) >> 32).unwrap_or(u32::MAX);
    f64::from(share) < ratio * TWO_TO_THE_32
}

/// The mixing function of SplitMix64 (Steele, Lea and Flood, 2014): one to one, so that no two ids
/// are equal.
const fn mixed(seed: u64, turn: u64) -> u64 {
    let mut mixed = seed.wrapping_add(turn.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

const TWO_TO_THE_32: f64 = 4_294_967_296.0;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_differ_also_those_of_two_servers() {
        let mut traces = BTreeSet::new();
        let mut spans = BTreeSet::new();
        for ids in [Ids::new(1.0).unwrap(), Ids::new(1.0).unwrap()] {
            for _ in 0..10_000 {
                assert!(traces.insert(ids.trace().unwrap()));
                assert!(spans.insert(ids.span()));
            }
        }
    }

    #[test]
    fn the_ratio_is_the_share_of_sampled_traces() {
        let sampled = |ratio| {
            let ids = Ids { next: AtomicU64::new(0), seeds: [1, 2, 3], ratio };
            (0..100_000).filter(|_| ids.trace().is_some()).count()
        };
        assert_eq!((sampled(0.0), sampled(1.0)), (0, 100_000));
        assert!((24_000..26_000).contains(&sampled(0.25)), "{}", sampled(0.25));
        assert!((50..150).contains(&sampled(0.001)), "{}", sampled(0.001));
    }

    #[test]
    fn a_sampled_trace_is_sampled_at_every_greater_ratio() {
        for turn in 0..10_000 {
            let end = mixed(7, turn);
            let sampled = [0.1, 0.5, 0.9].map(|ratio| is_sampled(end, ratio));
            assert!(sampled.is_sorted(), "{end}");
        }
    }
}
