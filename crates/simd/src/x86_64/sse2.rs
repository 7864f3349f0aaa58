//! SSE2: four words or two numbers at a time. It is part of x86-64 itself.

use core::arch::x86_64::{
    __m128d, __m128i, _mm_castpd_ps, _mm_castps_si128, _mm_castsi128_ps, _mm_cmpeq_epi32,
    _mm_cmpeq_pd, _mm_cmpgt_epi32, _mm_cmple_pd, _mm_cmplt_pd, _mm_movemask_epi8, _mm_movemask_ps,
    _mm_or_si128, _mm_packs_epi16, _mm_packs_epi32, _mm_set1_epi32, _mm_set1_pd, _mm_setzero_si128,
    _mm_shuffle_ps, _mm_sub_epi32, _mm_xor_si128,
};

use crate::methods::proven;
use crate::{Backend, Numbers, Relation, Words};

/// 128-bit vectors, which every x86-64 machine has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sse2(());

impl Sse2 {
    /// Returns the back end; the target is the proof.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

impl Backend for Sse2 {
    const NAME: &'static str = "sse2";

    // SAFETY: SSE2 is a part of x86-64.
    proven! {
        #[inline] u64;
        equal(column: &Words, value: u32) => equal(column, value);
        equal_columns(left: &Words, right: &Words) => equal_columns(left, right);
        below(column: &Words, bound: u32) => below(column, bound);
        compare(relation: Relation, column: &Numbers, value: f64) =>
            compare(relation, column, value);
        compare_columns(relation: Relation, left: &Numbers, right: &Numbers) =>
            compare_columns(relation, left, right);
    }

    #[inline]
    fn equal_and_below(self, column: &Words, value: u32, bound: u32) -> (u64, u64) {
        // SAFETY: SSE2 is a part of x86-64.
        let (equal, some_below) = unsafe { equal_and_some_below(column, value, bound) };
        (equal, if some_below { self.below(column, bound) } else { 0 })
    }
}

#[target_feature(enable = "sse2")]
#[inline]
fn equal(column: &Words, value: u32) -> u64 {
    let value = _mm_set1_epi32(value.cast_signed());
    words(column, |row| _mm_cmpeq_epi32(row, value))
}

#[target_feature(enable = "sse2")]
#[inline]
fn equal_columns(left: &Words, right: &Words) -> u64 {
    let (lefts, _) = left.as_chunks::<GROUP>();
    let (rights, _) = right.as_chunks::<GROUP>();
    join(lefts.iter().zip(rights).map(|(left, right)| {
        let (mut masks, right) = (quads(left), quads(right));
        for (mask, right) in masks.iter_mut().zip(right) {
            *mask = _mm_cmpeq_epi32(*mask, right);
        }
        bits(masks)
    }))
}

/// Returns the rows below the bound. Comparisons are signed here: flipping the highest bit
/// preserves the order of unsigned words.
#[target_feature(enable = "sse2")]
#[inline]
fn below(column: &Words, bound: u32) -> u64 {
    let sign = _mm_set1_epi32(i32::MIN);
    let bound = _mm_xor_si128(_mm_set1_epi32(bound.cast_signed()), sign);
    words(column, |row| _mm_cmpgt_epi32(bound, _mm_xor_si128(row, sign)))
}

/// Returns the equal rows, and true if some row may be below the bound: a word below the bound is
/// negative after subtracting the bound. So are some other words. For a bound with the highest bit
/// set this test is meaningless.
#[target_feature(enable = "sse2")]
#[inline]
fn equal_and_some_below(column: &Words, value: u32, bound: u32) -> (u64, bool) {
    let (equal, less) = (_mm_set1_epi32(value.cast_signed()), _mm_set1_epi32(bound.cast_signed()));
    let mut differences = _mm_setzero_si128();
    let (groups, _) = column.as_chunks::<GROUP>();
    let bits = join(groups.iter().map(|group| {
        let mut rows = quads(group);
        for row in &mut rows {
            differences = _mm_or_si128(differences, _mm_sub_epi32(*row, less));
            *row = _mm_cmpeq_epi32(*row, equal);
        }
        bits(rows)
    }));
    let negative = _mm_movemask_ps(_mm_castsi128_ps(differences)) != 0;
    (bits, negative || bound > SIGN)
}

#[target_feature(enable = "sse2")]
#[inline]
fn compare(relation: Relation, column: &Numbers, value: f64) -> u64 {
    let value = _mm_set1_pd(value);
    match relation {
        Relation::Equal => numbers(column, |row| _mm_cmpeq_pd(row, value)),
        Relation::Less => numbers(column, |row| _mm_cmplt_pd(row, value)),
        Relation::LessEqual => numbers(column, |row| _mm_cmple_pd(row, value)),
        Relation::More => numbers(column, |row| _mm_cmplt_pd(value, row)),
        Relation::MoreEqual => numbers(column, |row| _mm_cmple_pd(value, row)),
    }
}

#[target_feature(enable = "sse2")]
#[inline]
fn compare_columns(relation: Relation, left: &Numbers, right: &Numbers) -> u64 {
    match relation {
        Relation::Equal => number_pairs(left, right, |left, right| _mm_cmpeq_pd(left, right)),
        Relation::Less => number_pairs(left, right, |left, right| _mm_cmplt_pd(left, right)),
        Relation::LessEqual => number_pairs(left, right, |left, right| _mm_cmple_pd(left, right)),
        Relation::More => number_pairs(right, left, |right, left| _mm_cmplt_pd(right, left)),
        Relation::MoreEqual => number_pairs(right, left, |right, left| _mm_cmple_pd(right, left)),
    }
}

#[target_feature(enable = "sse2")]
#[inline]
fn words(column: &Words, test: impl Fn(__m128i) -> __m128i) -> u64 {
    let (groups, _) = column.as_chunks::<GROUP>();
    join(groups.iter().map(|group| bits(quads(group).map(&test))))
}

#[target_feature(enable = "sse2")]
#[inline]
fn numbers(column: &Numbers, test: impl Fn(__m128d) -> __m128d) -> u64 {
    let (groups, _) = column.as_chunks::<GROUP>();
    join(groups.iter().map(|group| bits(halves(pairs(group).map(&test)))))
}

#[target_feature(enable = "sse2")]
#[inline]
fn number_pairs(
    left: &Numbers,
    right: &Numbers,
    test: impl Fn(__m128d, __m128d) -> __m128d,
) -> u64 {
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
fn join(groups: impl Iterator<Item = i32>) -> u64 {
    groups
        .zip([0, 16, 32, 48])
        .fold(0, |bits, (group, position)| bits | u64::from(group.cast_unsigned()) << position)
}

/// Packs sixteen lanes of all ones or all zeros into one bit each.
#[target_feature(enable = "sse2")]
#[inline]
fn bits([a, b, c, d]: [__m128i; 4]) -> i32 {
    _mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)))
}

/// Converts masks of numbers into masks of words, which are half as wide.
#[target_feature(enable = "sse2")]
#[inline]
fn halves([a, b, c, d, e, f, g, h]: [__m128d; 8]) -> [__m128i; 4] {
    let half = |low, high| {
        let (low, high) = (_mm_castpd_ps(low), _mm_castpd_ps(high));
        _mm_castps_si128(_mm_shuffle_ps::<EVEN>(low, high))
    };
    [half(a, b), half(c, d), half(e, f), half(g, h)]
}

#[target_feature(enable = "sse2")]
#[inline]
fn quads(group: &[u32; GROUP]) -> [__m128i; 4] {
    // SAFETY: both are 64 bytes of plain data, and every bit pattern is a vector.
    unsafe { core::mem::transmute(*group) }
}

#[target_feature(enable = "sse2")]
#[inline]
fn pairs(group: &[f64; GROUP]) -> [__m128d; 8] {
    // SAFETY: both are 128 bytes of plain data, and every bit pattern is a vector.
    unsafe { core::mem::transmute(*group) }
}

/// The number of rows whose masks fit one vector of bytes.
const GROUP: usize = 16;

/// The highest bit of a word.
const SIGN: u32 = 1 << 31;

/// The lanes 0 and 2 of both operands.
const EVEN: i32 = 0b10_00_10_00;
