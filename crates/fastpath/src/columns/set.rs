//! Sets of rows, and truths of all rows at once: one bit, or two, for each row of a batch.

use core::ops::{BitAnd, BitOr, Not};

use crate::code::Truth;

/// The number of rows that one word of a set describes: a block of the vector operations.
pub(super) const BLOCK: usize = wardgate_simd::ROWS;

/// The number of words of a set.
pub(super) const BLOCKS: usize = super::BATCH_ROWS / BLOCK;

/// A set of rows of a batch.
#[derive(Clone, Copy)]
pub(super) struct Set(pub(super) [u64; BLOCKS]);

/// The truth of an expression in each row, in the two bits of [`Truth`]: false 00, true 01, error
/// 10, other 11. The fields are named after the bits.
#[derive(Clone, Copy)]
pub(super) struct Truths {
    pub(super) low: Set,
    pub(super) high: Set,
}

/// Returns the rows of a block that are among the first `rows`.
pub(super) fn rows_of(block: usize, rows: usize) -> u64 {
    let here = rows.saturating_sub(block * BLOCK).min(BLOCK);
    let beyond = u32::try_from(BLOCK - here).unwrap_or(u64::BITS);
    u64::MAX.checked_shr(beyond).unwrap_or(0)
}

impl Set {
    pub(super) const NONE: Self = Self([0; BLOCKS]);

    /// Returns the set of the first `rows` rows.
    pub(super) fn first(rows: usize) -> Self {
        let mut set = Self::NONE;
        for (block, word) in set.0.iter_mut().enumerate() {
            *word = rows_of(block, rows);
        }
        set
    }

    /// Returns the set of all rows if `all`, else the empty set.
    pub(super) const fn of(all: bool) -> Self {
        Self([if all { u64::MAX } else { 0 }; BLOCKS])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |bits, word| bits | word) == 0
    }

    pub(super) fn add(&mut self, rows: Self) {
        *self = *self | rows;
    }

    pub(super) fn remove(&mut self, rows: Self) {
        *self = *self & !rows;
    }

    /// Returns `new` in the `chosen` rows and `self` in the others.
    fn blended(self, new: Self, chosen: Self) -> Self {
        new & chosen | self & !chosen
    }

    #[inline]
    fn zipped(mut self, right: Self, operation: impl Fn(u64, u64) -> u64) -> Self {
        for (left, right) in self.0.iter_mut().zip(right.0) {
            *left = operation(*left, right);
        }
        self
    }
}

impl BitAnd for Set {
    type Output = Self;

    #[inline]
    fn bitand(self, right: Self) -> Self {
        self.zipped(right, |left, right| left & right)
    }
}

impl BitOr for Set {
    type Output = Self;

    #[inline]
    fn bitor(self, right: Self) -> Self {
        self.zipped(right, |left, right| left | right)
    }
}

impl Not for Set {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}

impl Truths {
    /// False in every row.
    pub(super) const FALSE: Self = Self { low: Set::NONE, high: Set::NONE };

    /// Returns the same truth in every row.
    pub(super) const fn all(truth: Truth) -> Self {
        Self {
            low: Set::of(matches!(truth, Truth::True | Truth::Other)),
            high: Set::of(matches!(truth, Truth::Error | Truth::Other)),
        }
    }

    /// Returns the two bits of each row, 64 rows at a time.
    pub(super) fn words(&self) -> impl Iterator<Item = (u64, u64)> {
        self.low.0.into_iter().zip(self.high.0)
    }

    pub(super) fn yes(&self) -> Set {
        self.low & !self.high
    }

    pub(super) fn no(&self) -> Set {
        !(self.low | self.high)
    }

    pub(super) fn errors(&self) -> Set {
        self.high & !self.low
    }

    /// Returns `!x` of CEL: a value that is neither true nor false becomes an error.
    pub(super) fn negated(&self) -> Self {
        Self { low: self.no(), high: self.high }
    }

    /// Returns true and false exchanged, and the other truths as they are.
    pub(super) fn inverted(&self) -> Self {
        Self { low: self.no() | self.low & self.high, high: self.high }
    }

    /// Returns `self && right`, where false absorbs an error.
    pub(super) fn and(&self, right: &Self) -> Self {
        let low = self.yes() & right.yes();
        Self { low, high: !(low | self.no() | right.no()) }
    }

    /// Returns `self || right`, where true absorbs an error.
    pub(super) fn or(&self, right: &Self) -> Self {
        let low = self.yes() | right.yes();
        Self { low, high: !(low | self.no() & right.no()) }
    }

    /// Writes `new` into the `chosen` rows.
    pub(super) fn blend(&mut self, new: &Self, chosen: Set) {
        self.low = self.low.blended(new.low, chosen);
        self.high = self.high.blended(new.high, chosen);
    }
}
