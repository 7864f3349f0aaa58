//! Random numbers that never change.

/// Marsaglia's xorshift64: the same numbers in every run, on every host and in every version.
///
/// The damaged bundles of the parity suite and the workloads of host-bench are made from it: their
/// digests and figures are compared over time. Other tests draw from `fastrand`, whose numbers may
/// change.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// Starts at a seed, which must not be 0.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub const fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_numbers_never_change() {
        let mut random = Random::new(29);
        let numbers = [(); 4].map(|()| random.number());
        let expected = [
            31_385_560_925,
            14_990_052_476_932_105_043,
            11_277_005_938_811_213_525,
            3_719_736_880_146_588_600,
        ];
        assert_eq!(numbers, expected);
    }
}
