//! Lanes of 64 bits: unsigned words for hashing, doubles for exact modular arithmetic.
//!
//! Memory is laid out in rows of eight lanes for every width of a vector: a tier of two lanes reads
//! a row as four parts, one of eight as a single part. So all tiers agree on the meaning of data in
//! memory.

use super::{Quad, Token};

/// Eight lanes in memory, aligned for the widest vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Row<T>(pub [T; 8]);

/// Vectors of unsigned 64-bit words. Sums wrap; lanes never mix.
pub trait Lanes64: Token {
    /// The vector type.
    type U64: Copy;

    /// The number of lanes of a vector: 1, 2, 4 or 8.
    const LANES: usize;

    /// The number of parts of a row.
    const PARTS: usize = 8 / Self::LANES;

    /// Broadcasts `value` to every lane.
    fn splat_u64(self, value: u64) -> Self::U64;

    /// Reads part `part` of `row`; `part` is below `PARTS`.
    fn load_u64(self, row: &[u64; 8], part: usize) -> Self::U64;

    /// Writes part `part` of `row`; `part` is below `PARTS`.
    fn store_u64(self, value: Self::U64, row: &mut [u64; 8], part: usize);

    /// Returns `a ^ b`.
    fn xor(self, a: Self::U64, b: Self::U64) -> Self::U64;

    /// Returns `a & b`.
    fn and(self, a: Self::U64, b: Self::U64) -> Self::U64;

    /// Returns `a | b`.
    fn or(self, a: Self::U64, b: Self::U64) -> Self::U64;

    /// Returns `a ^ b ^ c`.
    #[inline(always)]
    fn xor3(self, a: Self::U64, b: Self::U64, c: Self::U64) -> Self::U64 {
        // In this order, because theta of Keccak needs `b ^ c` five times: it is computed once.
        self.xor(a, self.xor(b, c))
    }

    /// Returns `a ^ (!b & c)`, the step chi of Keccak.
    fn chi(self, a: Self::U64, b: Self::U64, c: Self::U64) -> Self::U64;

    /// Returns `a + b`.
    fn add_u64(self, a: Self::U64, b: Self::U64) -> Self::U64;

    /// Returns `a * b`, of which both are below 2^32.
    fn mul_u32(self, a: Self::U64, b: Self::U64) -> Self::U64;

    /// Reads the first blocks of sixteen bytes, one into each lane: the lower and the upper word,
    /// the lowest byte of each first. There are at least `LANES` blocks.
    fn load_blocks(self, blocks: &[Quad]) -> [Self::U64; 2];

    /// Shifts every lane to the left by `count`, which is below 64.
    fn shift_left(self, a: Self::U64, count: u32) -> Self::U64;

    /// Shifts every lane to the right by `count`, which is below 64, and fills with zeros.
    fn shift_right(self, a: Self::U64, count: u32) -> Self::U64;

    /// Rotates every lane to the left by `COUNT`, which is from 1 to 63.
    #[inline(always)]
    fn rotate_left<const COUNT: i32>(self, a: Self::U64) -> Self::U64 {
        let (left, right) = (COUNT.cast_unsigned(), (64 - COUNT).cast_unsigned());
        self.or(self.shift_left(a, left), self.shift_right(a, right))
    }

    /// Collects one word for each lane.
    #[inline(always)]
    fn collect_u64(self, mut lane: impl FnMut(usize) -> u64) -> Self::U64 {
        let mut row = [0; 8];
        for (index, word) in row.iter_mut().enumerate().take(Self::LANES) {
            *word = lane(index);
        }
        self.load_u64(&row, 0)
    }
}

/// Vectors of doubles, one for each lane of the words.
///
/// They represent integers: as long as every product and every sum stays below 2^53, every result
/// is exact, and all tiers agree to the bit, with or without fused products.
pub trait LanesF64: Lanes64 {
    /// The vector type.
    type F64: Copy;

    /// Broadcasts `value` to every lane.
    fn splat_f64(self, value: f64) -> Self::F64;

    /// Reads part `part` of `row`; `part` is below `PARTS`.
    fn load_f64(self, row: &[f64; 8], part: usize) -> Self::F64;

    /// Writes part `part` of `row`; `part` is below `PARTS`.
    fn store_f64(self, value: Self::F64, row: &mut [f64; 8], part: usize);

    /// Returns `a + b`.
    fn add(self, a: Self::F64, b: Self::F64) -> Self::F64;

    /// Returns `a - b`.
    fn sub(self, a: Self::F64, b: Self::F64) -> Self::F64;

    /// Returns `a * b`.
    fn mul(self, a: Self::F64, b: Self::F64) -> Self::F64;

    /// Returns the lesser of two values that are not NaN.
    fn min(self, a: Self::F64, b: Self::F64) -> Self::F64;

    /// Returns the greater of two values that are not NaN.
    fn max(self, a: Self::F64, b: Self::F64) -> Self::F64;

    /// Returns `a * b + c`, rounded once or twice.
    #[inline(always)]
    fn mul_add(self, a: Self::F64, b: Self::F64, c: Self::F64) -> Self::F64 {
        self.add(self.mul(a, b), c)
    }

    /// Returns `c - a * b`, rounded once or twice.
    #[inline(always)]
    fn neg_mul_add(self, a: Self::F64, b: Self::F64, c: Self::F64) -> Self::F64 {
        self.sub(c, self.mul(a, b))
    }

    /// Returns an integer next to `a * b`, the nearest unless the product lies within a rounding
    /// error of the middle of two. The product is less than 2^51.
    #[inline(always)]
    fn nearest_product(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        // `f64::round_ties_even` calls a library where the target has no instruction for it.
        let rounder = self.splat_f64(ROUNDER);
        self.sub(self.mul_add(a, b, rounder), rounder)
    }

    /// Reinterprets the bits of doubles as words.
    fn as_u64(self, a: Self::F64) -> Self::U64;

    /// Reinterprets words as the bits of doubles.
    fn as_f64(self, a: Self::U64) -> Self::F64;
}

/// 1.5 * 2^52: added to a smaller number, it leaves the nearest integer in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
