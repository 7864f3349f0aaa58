//! The meaning of every operation, one lane at a time, in safe code.

use super::wide::{Lanes64, LanesF64, ROUNDER};
use super::{Tier, Token};
use crate::Portable;

impl Token for Portable {
    const TIER: &'static str = "portable";

    #[inline(always)]
    fn enter<R>(self, work: impl FnOnce(Self) -> R) -> R {
        work(self)
    }
}

impl Tier for Portable {
    type Narrow = Self;

    #[inline(always)]
    fn narrow(self) -> Self {
        self
    }
}

impl Lanes64 for Portable {
    type U64 = u64;

    const LANES: usize = 1;

    #[inline(always)]
    fn splat_u64(self, value: u64) -> u64 {
        value
    }

    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "the caller owes a part of the row")]
    fn load_u64(self, row: &[u64; 8], part: usize) -> u64 {
        row[part]
    }

    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "the caller owes a part of the row")]
    fn store_u64(self, value: u64, row: &mut [u64; 8], part: usize) {
        row[part] = value;
    }

    #[inline(always)]
    fn xor(self, a: u64, b: u64) -> u64 {
        a ^ b
    }

    #[inline(always)]
    fn and(self, a: u64, b: u64) -> u64 {
        a & b
    }

    #[inline(always)]
    fn or(self, a: u64, b: u64) -> u64 {
        a | b
    }

    #[inline(always)]
    fn chi(self, a: u64, b: u64, c: u64) -> u64 {
        a ^ (!b & c)
    }

    #[inline(always)]
    fn add_u64(self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }

    #[inline(always)]
    fn shift_left(self, a: u64, count: u32) -> u64 {
        a << count
    }

    #[inline(always)]
    fn shift_right(self, a: u64, count: u32) -> u64 {
        a >> count
    }

    #[inline(always)]
    fn rotate_left<const COUNT: i32>(self, a: u64) -> u64 {
        a.rotate_left(COUNT.cast_unsigned())
    }
}

impl LanesF64 for Portable {
    type F64 = f64;

    #[inline(always)]
    fn splat_f64(self, value: f64) -> f64 {
        value
    }

    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "the caller owes a part of the row")]
    fn load_f64(self, row: &[f64; 8], part: usize) -> f64 {
        row[part]
    }

    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "the caller owes a part of the row")]
    fn store_f64(self, value: f64, row: &mut [f64; 8], part: usize) {
        row[part] = value;
    }

    #[inline(always)]
    fn add(self, a: f64, b: f64) -> f64 {
        a + b
    }

    #[inline(always)]
    fn sub(self, a: f64, b: f64) -> f64 {
        a - b
    }

    #[inline(always)]
    fn mul(self, a: f64, b: f64) -> f64 {
        a * b
    }

    #[inline(always)]
    fn min(self, a: f64, b: f64) -> f64 {
        if b < a { b } else { a }
    }

    #[inline(always)]
    fn max(self, a: f64, b: f64) -> f64 {
        if a < b { b } else { a }
    }

    #[inline(always)]
    fn mul_add(self, a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }

    #[inline(always)]
    fn neg_mul_add(self, a: f64, b: f64, c: f64) -> f64 {
        c - a * b
    }

    // `f64::round_ties_even` calls a library where the target has no instruction for it.
    #[inline(always)]
    fn nearest_product(self, a: f64, b: f64) -> f64 {
        (a * b + ROUNDER) - ROUNDER
    }

    #[inline(always)]
    fn as_u64(self, a: f64) -> u64 {
        a.to_bits()
    }

    #[inline(always)]
    fn as_f64(self, a: u64) -> f64 {
        f64::from_bits(a)
    }
}
