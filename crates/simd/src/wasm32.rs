//! WebAssembly with 128-bit vectors, chosen when the module is compiled.
//!
//! A module that was built without `simd128` does not contain this back end: an engine refuses a
//! module with one unknown instruction as a whole, so there is no choice at run time.

#![cfg(target_feature = "simd128")]

use core::arch::wasm32::{
    f64x2_eq, f64x2_ge, f64x2_gt, f64x2_le, f64x2_lt, f64x2_splat, i8x16_bitmask,
    i8x16_narrow_i16x8, i16x8_narrow_i32x4, i32x4_bitmask, i32x4_eq, i32x4_shuffle, i32x4_sub,
    u32x4_lt, u32x4_splat, v128, v128_or,
};

use crate::{Backend, Numbers, Relation, Words};

/// 128-bit vectors: four words or two numbers at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simd128(());

impl Simd128 {
    /// Returns the back end; its presence in the module is the proof.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

// These are calls, one for a block: this crate is built for speed, and its callers for size.
// Inlined there, the operations take twice as long, and the module is larger.
impl Backend for Simd128 {
    const NAME: &'static str = "simd128";

    #[inline(never)]
    fn equal(self, column: &Words, value: u32) -> u64 {
        let value = u32x4_splat(value);
        words(column, |row| i32x4_eq(row, value))
    }

    #[inline(never)]
    fn equal_columns(self, left: &Words, right: &Words) -> u64 {
        word_pairs(left, right)
    }

    #[inline(never)]
    fn below(self, column: &Words, bound: u32) -> u64 {
        let bound = u32x4_splat(bound);
        words(column, |row| u32x4_lt(row, bound))
    }

    #[inline(never)]
    fn equal_and_below(self, column: &Words, value: u32, bound: u32) -> (u64, u64) {
        let (equal, some_below) = equal_and_some_below(column, value, bound);
        (equal, if some_below { self.below(column, bound) } else { 0 })
    }

    #[inline(never)]
    fn compare(self, relation: Relation, column: &Numbers, value: f64) -> u64 {
        let value = f64x2_splat(value);
        match relation {
            Relation::Equal => numbers(column, |row| f64x2_eq(row, value)),
            Relation::Less => numbers(column, |row| f64x2_lt(row, value)),
            Relation::LessEqual => numbers(column, |row| f64x2_le(row, value)),
            Relation::More => numbers(column, |row| f64x2_gt(row, value)),
            Relation::MoreEqual => numbers(column, |row| f64x2_ge(row, value)),
        }
    }

    #[inline(never)]
    fn compare_columns(self, relation: Relation, left: &Numbers, right: &Numbers) -> u64 {
        match relation {
            Relation::Equal => number_pairs(left, right, |left, right| f64x2_eq(left, right)),
            Relation::Less => number_pairs(left, right, |left, right| f64x2_lt(left, right)),
            Relation::LessEqual => number_pairs(left, right, |left, right| f64x2_le(left, right)),
            Relation::More => number_pairs(right, left, |right, left| f64x2_lt(right, left)),
            Relation::MoreEqual => number_pairs(right, left, |right, left| f64x2_le(right, left)),
        }
    }
}

#[inline]
fn words(column: &Words, test: impl Fn(v128) -> v128) -> u64 {
    let (groups, _) = column.as_chunks::<GROUP>();
    join(groups.iter().map(|group| bits(quads(group).map(&test))))
}

#[inline]
fn word_pairs(left: &Words, right: &Words) -> u64 {
    let (lefts, _) = left.as_chunks::<GROUP>();
    let (rights, _) = right.as_chunks::<GROUP>();
    join(lefts.iter().zip(rights).map(|(left, right)| {
        let ([a, b, c, d], [e, f, g, h]) = (quads(left), quads(right));
        bits([i32x4_eq(a, e), i32x4_eq(b, f), i32x4_eq(c, g), i32x4_eq(d, h)])
    }))
}

/// Returns the equal rows, and true if some row may be below the bound: a word below the bound is
/// negative after subtracting the bound. So are some other words. For a bound with the highest bit
/// set this test is meaningless.
#[inline]
fn equal_and_some_below(column: &Words, value: u32, bound: u32) -> (u64, bool) {
    let (equal, less) = (u32x4_splat(value), u32x4_splat(bound));
    let mut differences = u32x4_splat(0);
    let (groups, _) = column.as_chunks::<GROUP>();
    let bits = join(groups.iter().map(|group| {
        let mut rows = quads(group);
        for row in &mut rows {
            differences = v128_or(differences, i32x4_sub(*row, less));
            *row = i32x4_eq(*row, equal);
        }
        bits(rows)
    }));
    (bits, i32x4_bitmask(differences) != 0 || bound > SIGN)
}

#[inline]
fn numbers(column: &Numbers, test: impl Fn(v128) -> v128) -> u64 {
    let (groups, _) = column.as_chunks::<GROUP>();
    join(groups.iter().map(|group| bits(halves(pairs(group).map(&test)))))
}

#[inline]
fn number_pairs(left: &Numbers, right: &Numbers, test: impl Fn(v128, v128) -> v128) -> u64 {
    let (lefts, _) = left.as_chunks::<GROUP>();
    let (rights, _) = right.as_chunks::<GROUP>();
    join(lefts.iter().zip(rights).map(|(left, right)| {
        let (mut masks, right) = (pairs(left), pairs(right));
        for (mask, right) in masks.iter_mut().zip(right) {
            *mask = test(*mask, right);
        }
        bits(halves(masks))
    }))
}

/// Joins the results of the four groups.
#[inline]
fn join(groups: impl Iterator<Item = u16>) -> u64 {
    groups
        .zip([0, 16, 32, 48])
        .fold(0, |bits, (group, position)| bits | u64::from(group) << position)
}

/// Packs sixteen lanes of all ones or all zeros into one bit each.
#[inline]
fn bits([a, b, c, d]: [v128; 4]) -> u16 {
    i8x16_bitmask(i8x16_narrow_i16x8(i16x8_narrow_i32x4(a, b), i16x8_narrow_i32x4(c, d)))
}

/// Converts masks of numbers into masks of words, which are half as wide.
#[inline]
fn halves([a, b, c, d, e, f, g, h]: [v128; 8]) -> [v128; 4] {
    let half = |low, high| i32x4_shuffle::<0, 2, 4, 6>(low, high);
    [half(a, b), half(c, d), half(e, f), half(g, h)]
}

#[inline]
fn quads(group: &[u32; GROUP]) -> [v128; 4] {
    // SAFETY: both are 64 bytes of plain data, and every bit pattern is a vector.
    unsafe { core::mem::transmute(*group) }
}

#[inline]
fn pairs(group: &[f64; GROUP]) -> [v128; 8] {
    // SAFETY: both are 128 bytes of plain data, and every bit pattern is a vector.
    unsafe { core::mem::transmute(*group) }
}

/// The number of rows whose masks fit one vector of bytes.
const GROUP: usize = 16;

/// The highest bit of a word.
const SIGN: u32 = 1 << 31;
