//! AVX2: eight words or four numbers at a time, where the machine says that it has them.

use core::arch::x86_64::{
    __cpuid, __cpuid_count, __m256d, __m256i, _CMP_EQ_OQ, _CMP_GE_OQ, _CMP_GT_OQ, _CMP_LE_OQ,
    _CMP_LT_OQ, _mm256_castsi256_ps, _mm256_cmp_pd, _mm256_cmpeq_epi32, _mm256_max_epu32,
    _mm256_movemask_pd, _mm256_movemask_ps, _mm256_set1_epi32, _mm256_set1_pd, _xgetbv,
};

use crate::{Backend, Numbers, Relation, Words};

/// Proof that this machine has AVX2 and that its system keeps the wide registers.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    /// Asks the machine. Keep the answer: virtual machines take microseconds for it.
    #[must_use]
    pub fn detect() -> Option<Self> {
        let highest = __cpuid(0).eax;
        let first = __cpuid(1).ecx;
        if highest < 7 || first & (AVX | OSXSAVE) != (AVX | OSXSAVE) {
            return None;
        }
        // SAFETY: OSXSAVE says that the instruction exists and that the system allows it.
        let kept = unsafe { _xgetbv(0) };
        let extended = __cpuid_count(7, 0).ebx;
        (kept & WIDE_KEPT == WIDE_KEPT && extended & AVX2 != 0).then_some(Self(()))
    }
}

impl Backend for Avx2 {
    const NAME: &'static str = "avx2";

    #[inline]
    fn run<R>(self, work: impl FnOnce(Self) -> R) -> R {
        // SAFETY: `self` proves the feature.
        unsafe { run(self, work) }
    }

    #[inline]
    fn equal(self, column: &Words, value: u32) -> u64 {
        // SAFETY: `self` proves the feature.
        unsafe { equal(column, value) }
    }

    #[inline]
    fn equal_columns(self, left: &Words, right: &Words) -> u64 {
        // SAFETY: `self` proves the feature.
        unsafe { equal_columns(left, right) }
    }

    #[inline]
    fn below(self, column: &Words, bound: u32) -> u64 {
        // SAFETY: `self` proves the feature.
        unsafe { below(column, bound) }
    }

    #[inline]
    fn compare(self, relation: Relation, column: &Numbers, value: f64) -> u64 {
        // SAFETY: `self` proves the feature.
        unsafe {
            match relation {
                Relation::Equal => compare::<_CMP_EQ_OQ>(column, value),
                Relation::Less => compare::<_CMP_LT_OQ>(column, value),
                Relation::LessEqual => compare::<_CMP_LE_OQ>(column, value),
                Relation::More => compare::<_CMP_GT_OQ>(column, value),
                Relation::MoreEqual => compare::<_CMP_GE_OQ>(column, value),
            }
        }
    }

    #[inline]
    fn compare_columns(self, relation: Relation, left: &Numbers, right: &Numbers) -> u64 {
        // SAFETY: `self` proves the feature.
        unsafe {
            match relation {
                Relation::Equal => compare_columns::<_CMP_EQ_OQ>(left, right),
                Relation::Less => compare_columns::<_CMP_LT_OQ>(left, right),
                Relation::LessEqual => compare_columns::<_CMP_LE_OQ>(left, right),
                Relation::More => compare_columns::<_CMP_GT_OQ>(left, right),
                Relation::MoreEqual => compare_columns::<_CMP_GE_OQ>(left, right),
            }
        }
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
    for (group, place) in column.as_chunks().0.iter().zip(WORD_PLACES) {
        bits |= word_bits(_mm256_cmpeq_epi32(octet(group), value)) << place;
    }
    bits
}

#[target_feature(enable = "avx2")]
#[inline]
fn equal_columns(left: &Words, right: &Words) -> u64 {
    let mut bits = 0;
    let pairs = left.as_chunks().0.iter().zip(right.as_chunks().0);
    for ((left, right), place) in pairs.zip(WORD_PLACES) {
        bits |= word_bits(_mm256_cmpeq_epi32(octet(left), octet(right))) << place;
    }
    bits
}

/// There is no unsigned comparison, but a maximum: the greater of row and bound is the row exactly
/// when the row is not below.
#[target_feature(enable = "avx2")]
#[inline]
fn below(column: &Words, bound: u32) -> u64 {
    let bound = _mm256_set1_epi32(bound.cast_signed());
    let mut bits = 0;
    for (group, place) in column.as_chunks().0.iter().zip(WORD_PLACES) {
        let row = octet(group);
        bits |= word_bits(_mm256_cmpeq_epi32(_mm256_max_epu32(row, bound), row)) << place;
    }
    !bits
}

#[target_feature(enable = "avx2")]
#[inline]
fn compare<const RELATION: i32>(column: &Numbers, value: f64) -> u64 {
    let value = _mm256_set1_pd(value);
    let mut bits = 0;
    for (group, place) in column.as_chunks().0.iter().zip(NUMBER_PLACES) {
        bits |= number_bits(_mm256_cmp_pd::<RELATION>(quartet(group), value)) << place;
    }
    bits
}

#[target_feature(enable = "avx2")]
#[inline]
fn compare_columns<const RELATION: i32>(left: &Numbers, right: &Numbers) -> u64 {
    let mut bits = 0;
    let pairs = left.as_chunks().0.iter().zip(right.as_chunks().0);
    for ((left, right), place) in pairs.zip(NUMBER_PLACES) {
        let mask = _mm256_cmp_pd::<RELATION>(quartet(left), quartet(right));
        bits |= number_bits(mask) << place;
    }
    bits
}

#[target_feature(enable = "avx2")]
#[inline]
fn word_bits(masks: __m256i) -> u64 {
    u64::from(_mm256_movemask_ps(_mm256_castsi256_ps(masks)).cast_unsigned())
}

#[target_feature(enable = "avx2")]
#[inline]
fn number_bits(masks: __m256d) -> u64 {
    u64::from(_mm256_movemask_pd(masks).cast_unsigned())
}

#[target_feature(enable = "avx2")]
#[inline]
fn octet(group: &[u32; 8]) -> __m256i {
    // SAFETY: both are 32 bytes of plain data, and every bit pattern is a vector.
    unsafe { core::mem::transmute(*group) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn quartet(group: &[f64; 4]) -> __m256d {
    // SAFETY: both are 32 bytes of plain data, and every bit pattern is a vector.
    unsafe { core::mem::transmute(*group) }
}

/// Where the answers of eight words begin.
const WORD_PLACES: [u32; 8] = [0, 8, 16, 24, 32, 40, 48, 56];

/// Where the answers of four numbers begin.
const NUMBER_PLACES: [u32; 16] = [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60];

// CPUID leaf 1, ECX.
const OSXSAVE: u32 = 1 << 27;
const AVX: u32 = 1 << 28;
// CPUID leaf 7, EBX.
const AVX2: u32 = 1 << 5;
// XCR0: the system saves the registers of SSE and AVX.
const WIDE_KEPT: u64 = 0b110;
