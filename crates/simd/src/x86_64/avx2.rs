//! AVX2: eight words or four numbers at a time, if the machine has it.

use core::arch::x86_64::{
    __m256d, __m256i, _CMP_EQ_OQ, _CMP_GE_OQ, _CMP_GT_OQ, _CMP_LE_OQ, _CMP_LT_OQ, _mm256_cmp_pd,
    _mm256_cmpeq_epi32, _mm256_max_epu32, _mm256_min_epu32, _mm256_movemask_epi8,
    _mm256_movemask_pd, _mm256_packs_epi16, _mm256_packs_epi32, _mm256_permutevar8x32_epi32,
    _mm256_set1_epi32, _mm256_set1_pd, _mm256_setr_epi32,
};

use crate::lanes::Token;
use crate::lanes::detected::{AVX, AVX2, Answer, FMA, Needs};
use crate::methods::proven;
use crate::{Backend, Numbers, Relation, Words};

/// Proof that this machine has AVX2 and fused products, and that its system saves the wide
/// registers.
///
/// Every machine with AVX2 that is still sold has both.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    /// Detects the features, once.
    #[must_use]
    #[inline]
    pub fn detect() -> Option<Self> {
        static ANSWER: Answer = Answer::unknown();
        ANSWER.keep(|| NEEDS.are_met(Self::TIER)).then_some(Self(()))
    }
}

impl Backend for Avx2 {
    const NAME: &'static str = "avx2";

    #[inline]
    fn run<R>(self, work: impl FnOnce(Self) -> R) -> R {
        // SAFETY: `self` proves the feature.
        unsafe { run(self, work) }
    }

    // SAFETY: `self` proves the feature.
    proven! {
        #[inline] u64;
        equal(column: &Words, value: u32) => equal(column, value);
        equal_columns(left: &Words, right: &Words) => equal_columns(left, right);
        below(column: &Words, bound: u32) => below(column, bound);
        compare(relation: Relation, column: &Numbers, value: f64) => match relation {
            Relation::Equal => compare::<_CMP_EQ_OQ>(column, value),
            Relation::Less => compare::<_CMP_LT_OQ>(column, value),
            Relation::LessEqual => compare::<_CMP_LE_OQ>(column, value),
            Relation::More => compare::<_CMP_GT_OQ>(column, value),
            Relation::MoreEqual => compare::<_CMP_GE_OQ>(column, value),
        };
        compare_columns(relation: Relation, left: &Numbers, right: &Numbers) => match relation {
            Relation::Equal => compare_columns::<_CMP_EQ_OQ>(left, right),
            Relation::Less => compare_columns::<_CMP_LT_OQ>(left, right),
            Relation::LessEqual => compare_columns::<_CMP_LE_OQ>(left, right),
            Relation::More => compare_columns::<_CMP_GT_OQ>(left, right),
            Relation::MoreEqual => compare_columns::<_CMP_GE_OQ>(left, right),
        };
    }

    #[inline]
    fn equal_and_below(self, column: &Words, value: u32, bound: u32) -> (u64, u64) {
        // SAFETY: `self` proves the feature.
        let (equal, some_below) = unsafe { equal_and_some_below(column, value, bound) };
        (equal, if some_below { self.below(column, bound) } else { 0 })
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn run<R>(token: Avx2, work: impl FnOnce(Avx2) -> R) -> R {
    work(token)
}

#[target_feature(enable = "avx2")]
#[inline]
fn equal(column: &Words, value: u32) -> u64 {
    let value = _mm256_set1_epi32(value.cast_signed());
    let mut bits = 0;
    for (group, position) in column.as_chunks().0.iter().zip(WORD_SHIFTS) {
        let mut rows = octets(group);
        for row in &mut rows {
            *row = _mm256_cmpeq_epi32(*row, value);
        }
        bits |= word_bits(rows) << position;
    }
    bits
}

#[target_feature(enable = "avx2")]
#[inline]
fn equal_columns(left: &Words, right: &Words) -> u64 {
    let mut bits = 0;
    let pairs = left.as_chunks().0.iter().zip(right.as_chunks().0);
    for ((left, right), position) in pairs.zip(WORD_SHIFTS) {
        let mut rows = octets(left);
        for (row, right) in rows.iter_mut().zip(octets(right)) {
            *row = _mm256_cmpeq_epi32(*row, right);
        }
        bits |= word_bits(rows) << position;
    }
    bits
}

/// Returns the rows below the bound. There is no unsigned comparison, but a maximum: the greater of
/// row and bound is the row exactly when the row is not below.
#[target_feature(enable = "avx2")]
#[inline]
fn below(column: &Words, bound: u32) -> u64 {
    let bound = _mm256_set1_epi32(bound.cast_signed());
    let mut bits = 0;
    for (group, position) in column.as_chunks().0.iter().zip(WORD_SHIFTS) {
        let mut rows = octets(group);
        for row in &mut rows {
            *row = _mm256_cmpeq_epi32(_mm256_max_epu32(*row, bound), *row);
        }
        bits |= word_bits(rows) << position;
    }
    !bits
}

/// Returns the equal rows, and true if some row is below: then the minimum of bound and rows is not
/// the bound.
#[target_feature(enable = "avx2")]
#[inline]
fn equal_and_some_below(column: &Words, value: u32, bound: u32) -> (u64, bool) {
    let (value, bound) =
        (_mm256_set1_epi32(value.cast_signed()), _mm256_set1_epi32(bound.cast_signed()));
    let (mut bits, mut least) = (0, bound);
    for (group, position) in column.as_chunks().0.iter().zip(WORD_SHIFTS) {
        let mut rows = octets(group);
        for row in &mut rows {
            least = _mm256_min_epu32(least, *row);
            *row = _mm256_cmpeq_epi32(*row, value);
        }
        bits |= word_bits(rows) << position;
    }
    (bits, _mm256_movemask_epi8(_mm256_cmpeq_epi32(least, bound)) != -1)
}

#[target_feature(enable = "avx2")]
#[inline]
fn compare<const RELATION: i32>(column: &Numbers, value: f64) -> u64 {
    let value = _mm256_set1_pd(value);
    let mut bits = 0;
    for (group, position) in column.as_chunks().0.iter().zip(NUMBER_SHIFTS) {
        bits |= number_bits(_mm256_cmp_pd::<RELATION>(quartet(group), value)) << position;
    }
    bits
}

#[target_feature(enable = "avx2")]
#[inline]
fn compare_columns<const RELATION: i32>(left: &Numbers, right: &Numbers) -> u64 {
    let mut bits = 0;
    let pairs = left.as_chunks().0.iter().zip(right.as_chunks().0);
    for ((left, right), position) in pairs.zip(NUMBER_SHIFTS) {
        let mask = _mm256_cmp_pd::<RELATION>(quartet(left), quartet(right));
        bits |= number_bits(mask) << position;
    }
    bits
}

/// Packs 32 lanes of all ones or all zeros into one bit each.
#[target_feature(enable = "avx2")]
#[inline]
fn word_bits([a, b, c, d]: [__m256i; 4]) -> u64 {
    let bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    // Packing puts the lower halves of all four in front, and the upper ones behind.
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    let ordered = _mm256_permutevar8x32_epi32(bytes, order);
    u64::from(_mm256_movemask_epi8(ordered).cast_unsigned())
}

#[target_feature(enable = "avx2")]
#[inline]
fn number_bits(masks: __m256d) -> u64 {
    u64::from(_mm256_movemask_pd(masks).cast_unsigned())
}

#[target_feature(enable = "avx2")]
#[inline]
fn octets(group: &[u32; 32]) -> [__m256i; 4] {
    // SAFETY: both are 128 bytes of plain data, and every bit pattern is a vector.
    unsafe { core::mem::transmute(*group) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn quartet(group: &[f64; 4]) -> __m256d {
    // SAFETY: both are 32 bytes of plain data, and every bit pattern is a vector.
    unsafe { core::mem::transmute(*group) }
}

/// The shifts of the results of 32 words.
const WORD_SHIFTS: [u32; 2] = [0, 32];

/// The shifts of the results of four numbers.
const NUMBER_SHIFTS: [u32; 16] = [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60];

const NEEDS: Needs = Needs { first: FMA | AVX, extended: AVX2, saved: WIDE_SAVED };

// XCR0: the system saves the registers of SSE and AVX.
const WIDE_SAVED: u64 = 0b110;
