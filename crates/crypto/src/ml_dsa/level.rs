//! The three parameter sets of FIPS 204, section 4.

/// A parameter set of ML-DSA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// ML-DSA-44, security category 2.
    MlDsa44,
    /// ML-DSA-65, security category 3.
    MlDsa65,
    /// ML-DSA-87, security category 5.
    MlDsa87,
}

impl Level {
    /// Returns the length of a public key in bytes.
    #[must_use]
    pub const fn public_key_bytes(self) -> usize {
        SEED_BYTES + self.parameters().rows * T1_BYTES
    }

    /// Returns the length of a signature in bytes.
    #[must_use]
    pub const fn signature_bytes(self) -> usize {
        let set = self.parameters();
        set.challenge_bytes + set.columns * set.response_bytes() + set.max_hints + set.rows
    }

    pub(super) const fn parameters(self) -> Parameters {
        match self {
            Self::MlDsa44 => Parameters {
                rows: 4,
                columns: 4,
                ones: 39,
                response_bits: 18,
                low_range: 95_232,
                max_hints: 80,
                challenge_bytes: 32,
            },
            Self::MlDsa65 => Parameters {
                rows: 6,
                columns: 5,
                ones: 49,
                response_bits: 20,
                low_range: 261_888,
                max_hints: 55,
                challenge_bytes: 48,
            },
            Self::MlDsa87 => Parameters {
                rows: 8,
                columns: 7,
                ones: 60,
                response_bits: 20,
                low_range: 261_888,
                max_hints: 75,
                challenge_bytes: 64,
            },
        }
    }
}

/// The parameters of FIPS 204, Table 1, that verification needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    /// The number of rows of the matrix, k.
    pub(super) rows: usize,
    /// The number of columns of the matrix, l.
    pub(super) columns: usize,
    /// The number of coefficients of the challenge that are not zero, tau.
    pub(super) ones: usize,
    /// The width of a coefficient of z in bits: one more than gamma1 has zeros.
    pub(super) response_bits: u32,
    /// Half the width of the range that the high bits drop, gamma2.
    pub(super) low_range: u32,
    /// The most hints of a signature, omega.
    pub(super) max_hints: usize,
    /// The length of the challenge in bytes, lambda / 4.
    pub(super) challenge_bytes: usize,
}

impl Parameters {
    /// Returns gamma1.
    pub(super) const fn response_range(&self) -> u32 {
        1 << (self.response_bits - 1)
    }

    /// Returns the greatest magnitude that a coefficient of z may have: gamma1 - beta - 1.
    pub(super) const fn response_limit(&self) -> u32 {
        let beta = match self.rows {
            4 => 78,
            6 => 196,
            _ => 120,
        };
        self.response_range() - beta - 1
    }

    /// Returns the length of one polynomial of z in bytes.
    pub(super) const fn response_bytes(&self) -> usize {
        match self.response_bits {
            18 => 576,
            _ => 640,
        }
    }

    /// Returns the width of one coefficient of w1 in bits.
    pub(super) const fn high_bits(&self) -> u32 {
        match self.rows {
            4 => 6,
            _ => 4,
        }
    }

    /// Returns the number of values of the high bits, m: (q - 1) / (2 * gamma2).
    pub(super) const fn high_values(&self) -> u32 {
        match self.rows {
            4 => 44,
            _ => 16,
        }
    }

    /// Returns the length of one polynomial of w1 in bytes.
    pub(super) const fn high_bytes(&self) -> usize {
        match self.rows {
            4 => 192,
            _ => 128,
        }
    }
}

/// The length of the seed of the matrix, with which a public key begins.
pub(super) const SEED_BYTES: usize = 32;

/// The length of one polynomial of t1 in bytes.
pub(super) const T1_BYTES: usize = 320;

/// The greatest length of w1 at any level, in bytes.
pub(super) const MAX_HIGH_BYTES: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_table_2() {
        check(Level::MlDsa44, (1312, 2420));
        check(Level::MlDsa65, (1952, 3309));
        check(Level::MlDsa87, (2592, 4627));
    }

    #[test]
    fn derived_numbers_agree_with_their_definitions() {
        for level in [Level::MlDsa44, Level::MlDsa65, Level::MlDsa87] {
            let set = level.parameters();
            assert_eq!(set.high_values(), (8_380_417 - 1) / (2 * set.low_range));
            assert!(set.high_bytes() * set.rows <= MAX_HIGH_BYTES);
            assert_eq!(u32::try_from(set.high_bytes()).unwrap(), 32 * set.high_bits());
            assert_eq!(u32::try_from(set.response_bytes()).unwrap(), 32 * set.response_bits);
        }
    }

    fn check(level: Level, (key, signature): (usize, usize)) {
        assert_eq!((level.public_key_bytes(), level.signature_bytes()), (key, signature));
    }
}
