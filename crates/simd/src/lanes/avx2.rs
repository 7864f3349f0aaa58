//! AVX2 with fused products: four lanes.

use core::arch::x86_64::{
    __m256d, __m256i, _mm_cvtsi32_si128, _mm_loadu_si128, _mm256_add_epi64, _mm256_add_pd,
    _mm256_and_si256, _mm256_andnot_si256, _mm256_castpd_si256, _mm256_castsi128_si256,
    _mm256_castsi256_pd, _mm256_fmadd_pd, _mm256_fnmadd_pd, _mm256_inserti128_si256,
    _mm256_loadu_pd, _mm256_loadu_si256, _mm256_max_pd, _mm256_min_pd, _mm256_mul_epu32,
    _mm256_mul_pd, _mm256_or_si256, _mm256_set1_epi64x, _mm256_set1_pd, _mm256_sll_epi64,
    _mm256_srl_epi64, _mm256_storeu_pd, _mm256_storeu_si256, _mm256_sub_pd, _mm256_unpackhi_epi64,
    _mm256_unpacklo_epi64, _mm256_xor_si256,
};

use super::parts::{first_of, part_mut, part_of};
use super::wide::{Lanes64, LanesF64};
use super::{Quad, Tier, Token};
use crate::methods::proven;
use crate::{Avx2, Portable};

impl Token for Avx2 {
    const TIER: &'static str = "avx2";

    #[inline(always)]
    fn enter<R>(self, work: impl FnOnce(Self) -> R) -> R {
        // SAFETY: `self` proves the features.
        unsafe { run(self, work) }
    }
}

impl Tier for Avx2 {
    type Narrow = Portable;

    #[inline(always)]
    fn narrow(self) -> Portable {
        Portable
    }
}

impl Lanes64 for Avx2 {
    type U64 = __m256i;

    const LANES: usize = 4;

    // SAFETY: `self` proves the features; memory operands are whole parts of a row.
    proven! {
        #[inline(always)] __m256i;
        splat_u64(value: u64) => _mm256_set1_epi64x(value.cast_signed());
        load_u64(row: &[u64; 8], part: usize) =>
            _mm256_loadu_si256(part_of::<4, _>(row, part).as_ptr().cast());
        store_u64(value, row: &mut [u64; 8], part: usize) -> () =>
            _mm256_storeu_si256(part_mut::<4, _>(row, part).as_mut_ptr().cast(), value);
        xor(a, b) => _mm256_xor_si256(a, b);
        and(a, b) => _mm256_and_si256(a, b);
        or(a, b) => _mm256_or_si256(a, b);
        chi(a, b, c) => _mm256_xor_si256(a, _mm256_andnot_si256(b, c));
        add_u64(a, b) => _mm256_add_epi64(a, b);
        mul_u32(a, b) => _mm256_mul_epu32(a, b);
        load_blocks(blocks: &[Quad]) -> [__m256i; 2] => {
            let [a, b, c, d] = first_of(blocks);
            let (even, odd) = (pair(a, c), pair(b, d));
            [_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd)]
        };
        shift_left(a, count: u32) => _mm256_sll_epi64(a, _mm_cvtsi32_si128(count.cast_signed()));
        shift_right(a, count: u32) => _mm256_srl_epi64(a, _mm_cvtsi32_si128(count.cast_signed()));
    }
}

impl LanesF64 for Avx2 {
    type F64 = __m256d;

    // SAFETY: `self` proves the features; memory operands are whole parts of a row.
    proven! {
        #[inline(always)] __m256d;
        splat_f64(value: f64) => _mm256_set1_pd(value);
        load_f64(row: &[f64; 8], part: usize) =>
            _mm256_loadu_pd(part_of::<4, _>(row, part).as_ptr());
        store_f64(value, row: &mut [f64; 8], part: usize) -> () =>
            _mm256_storeu_pd(part_mut::<4, _>(row, part).as_mut_ptr(), value);
        add(a, b) => _mm256_add_pd(a, b);
        sub(a, b) => _mm256_sub_pd(a, b);
        mul(a, b) => _mm256_mul_pd(a, b);
        min(a, b) => _mm256_min_pd(a, b);
        max(a, b) => _mm256_max_pd(a, b);
        mul_add(a, b, c) => _mm256_fmadd_pd(a, b, c);
        neg_mul_add(a, b, c) => _mm256_fnmadd_pd(a, b, c);
        as_u64(a) -> __m256i => _mm256_castpd_si256(a);
        as_f64(a: __m256i) => _mm256_castsi256_pd(a);
    }
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn run<R>(token: Avx2, work: impl FnOnce(Avx2) -> R) -> R {
    work(token)
}

/// Reads two blocks into the halves of a vector.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn pair(low: &Quad, high: &Quad) -> __m256i {
    // SAFETY: both operands are as long as half a vector.
    let [low, high] = [low, high].map(|block| unsafe { _mm_loadu_si128(block.as_ptr().cast()) });
    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
}
