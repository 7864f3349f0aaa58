//! AVX2 with fused products: four lanes.

use core::arch::x86_64::{
    __m256d, __m256i, _mm_cvtsi32_si128, _mm256_add_epi64, _mm256_add_pd, _mm256_and_si256,
    _mm256_andnot_si256, _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_fmadd_pd,
    _mm256_fnmadd_pd, _mm256_loadu_pd, _mm256_loadu_si256, _mm256_max_pd, _mm256_min_pd,
    _mm256_mul_pd, _mm256_or_si256, _mm256_set1_epi64x, _mm256_set1_pd, _mm256_sll_epi64,
    _mm256_srl_epi64, _mm256_storeu_pd, _mm256_storeu_si256, _mm256_sub_pd, _mm256_xor_si256,
};

use super::parts::{part_mut, part_of};
use super::wide::{Lanes64, LanesF64, ROUNDER};
use super::{Tier, Token};
use crate::{Avx2, Portable};

/// Wraps one operation of this tier.
macro_rules! proven {
    ($operation:expr) => {
        // SAFETY: `self` proves the features; memory operands are whole parts of a row.
        unsafe { $operation }
    };
}

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

    #[inline(always)]
    fn splat_u64(self, value: u64) -> __m256i {
        proven!(_mm256_set1_epi64x(value.cast_signed()))
    }

    #[inline(always)]
    fn load_u64(self, row: &[u64; 8], part: usize) -> __m256i {
        proven!(_mm256_loadu_si256(part_of::<4, _>(row, part).as_ptr().cast()))
    }

    #[inline(always)]
    fn store_u64(self, value: __m256i, row: &mut [u64; 8], part: usize) {
        proven!(_mm256_storeu_si256(part_mut::<4, _>(row, part).as_mut_ptr().cast(), value));
    }

    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_xor_si256(a, b))
    }

    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_and_si256(a, b))
    }

    #[inline(always)]
    fn or(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_or_si256(a, b))
    }

    #[inline(always)]
    fn chi(self, a: __m256i, b: __m256i, c: __m256i) -> __m256i {
        proven!(_mm256_xor_si256(a, _mm256_andnot_si256(b, c)))
    }

    #[inline(always)]
    fn add_u64(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_add_epi64(a, b))
    }

    #[inline(always)]
    fn shift_left(self, a: __m256i, count: u32) -> __m256i {
        proven!(_mm256_sll_epi64(a, _mm_cvtsi32_si128(count.cast_signed())))
    }

    #[inline(always)]
    fn shift_right(self, a: __m256i, count: u32) -> __m256i {
        proven!(_mm256_srl_epi64(a, _mm_cvtsi32_si128(count.cast_signed())))
    }

    #[inline(always)]
    fn rotate_left<const COUNT: i32>(self, a: __m256i) -> __m256i {
        let (left, right) = (COUNT.cast_unsigned(), (64 - COUNT).cast_unsigned());
        self.or(self.shift_left(a, left), self.shift_right(a, right))
    }
}

impl LanesF64 for Avx2 {
    type F64 = __m256d;

    #[inline(always)]
    fn splat_f64(self, value: f64) -> __m256d {
        proven!(_mm256_set1_pd(value))
    }

    #[inline(always)]
    fn load_f64(self, row: &[f64; 8], part: usize) -> __m256d {
        proven!(_mm256_loadu_pd(part_of::<4, _>(row, part).as_ptr()))
    }

    #[inline(always)]
    fn store_f64(self, value: __m256d, row: &mut [f64; 8], part: usize) {
        proven!(_mm256_storeu_pd(part_mut::<4, _>(row, part).as_mut_ptr(), value));
    }

    #[inline(always)]
    fn add(self, a: __m256d, b: __m256d) -> __m256d {
        proven!(_mm256_add_pd(a, b))
    }

    #[inline(always)]
    fn sub(self, a: __m256d, b: __m256d) -> __m256d {
        proven!(_mm256_sub_pd(a, b))
    }

    #[inline(always)]
    fn mul(self, a: __m256d, b: __m256d) -> __m256d {
        proven!(_mm256_mul_pd(a, b))
    }

    #[inline(always)]
    fn min(self, a: __m256d, b: __m256d) -> __m256d {
        proven!(_mm256_min_pd(a, b))
    }

    #[inline(always)]
    fn max(self, a: __m256d, b: __m256d) -> __m256d {
        proven!(_mm256_max_pd(a, b))
    }

    #[inline(always)]
    fn mul_add(self, a: __m256d, b: __m256d, c: __m256d) -> __m256d {
        proven!(_mm256_fmadd_pd(a, b, c))
    }

    #[inline(always)]
    fn neg_mul_add(self, a: __m256d, b: __m256d, c: __m256d) -> __m256d {
        proven!(_mm256_fnmadd_pd(a, b, c))
    }

    #[inline(always)]
    fn nearest_product(self, a: __m256d, b: __m256d) -> __m256d {
        let rounder = self.splat_f64(ROUNDER);
        self.sub(self.mul_add(a, b, rounder), rounder)
    }

    #[inline(always)]
    fn as_u64(self, a: __m256d) -> __m256i {
        proven!(_mm256_castpd_si256(a))
    }

    #[inline(always)]
    fn as_f64(self, a: __m256i) -> __m256d {
        proven!(_mm256_castsi256_pd(a))
    }
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn run<R>(token: Avx2, work: impl FnOnce(Avx2) -> R) -> R {
    work(token)
}
