//! SSE2: two lanes, on every x86-64 machine.

use core::arch::x86_64::{
    __m128d, __m128i, _mm_add_epi64, _mm_add_pd, _mm_and_si128, _mm_andnot_si128, _mm_castpd_si128,
    _mm_castsi128_pd, _mm_cvtsi32_si128, _mm_loadu_pd, _mm_loadu_si128, _mm_max_pd, _mm_min_pd,
    _mm_mul_pd, _mm_or_si128, _mm_set1_epi64x, _mm_set1_pd, _mm_sll_epi64, _mm_srl_epi64,
    _mm_storeu_pd, _mm_storeu_si128, _mm_sub_pd, _mm_xor_si128,
};

use super::parts::{part_mut, part_of};
use super::wide::{Lanes64, LanesF64, ROUNDER};
use super::{Tier, Token};
use crate::{Portable, Sse2};

/// Wraps one operation of this tier.
macro_rules! proven {
    ($operation:expr) => {
        // SAFETY: SSE2 is a part of x86-64; memory operands are whole parts of a row.
        unsafe { $operation }
    };
}

impl Token for Sse2 {
    const TIER: &'static str = "sse2";

    #[inline(always)]
    fn enter<R>(self, work: impl FnOnce(Self) -> R) -> R {
        work(self)
    }
}

impl Tier for Sse2 {
    type Narrow = Portable;

    #[inline(always)]
    fn narrow(self) -> Portable {
        Portable
    }
}

impl Lanes64 for Sse2 {
    type U64 = __m128i;

    const LANES: usize = 2;

    #[inline(always)]
    fn splat_u64(self, value: u64) -> __m128i {
        proven!(_mm_set1_epi64x(value.cast_signed()))
    }

    #[inline(always)]
    fn load_u64(self, row: &[u64; 8], part: usize) -> __m128i {
        proven!(_mm_loadu_si128(part_of::<2, _>(row, part).as_ptr().cast()))
    }

    #[inline(always)]
    fn store_u64(self, value: __m128i, row: &mut [u64; 8], part: usize) {
        proven!(_mm_storeu_si128(part_mut::<2, _>(row, part).as_mut_ptr().cast(), value));
    }

    #[inline(always)]
    fn xor(self, a: __m128i, b: __m128i) -> __m128i {
        proven!(_mm_xor_si128(a, b))
    }

    #[inline(always)]
    fn and(self, a: __m128i, b: __m128i) -> __m128i {
        proven!(_mm_and_si128(a, b))
    }

    #[inline(always)]
    fn or(self, a: __m128i, b: __m128i) -> __m128i {
        proven!(_mm_or_si128(a, b))
    }

    #[inline(always)]
    fn chi(self, a: __m128i, b: __m128i, c: __m128i) -> __m128i {
        proven!(_mm_xor_si128(a, _mm_andnot_si128(b, c)))
    }

    #[inline(always)]
    fn add_u64(self, a: __m128i, b: __m128i) -> __m128i {
        proven!(_mm_add_epi64(a, b))
    }

    #[inline(always)]
    fn shift_left(self, a: __m128i, count: u32) -> __m128i {
        proven!(_mm_sll_epi64(a, _mm_cvtsi32_si128(count.cast_signed())))
    }

    #[inline(always)]
    fn shift_right(self, a: __m128i, count: u32) -> __m128i {
        proven!(_mm_srl_epi64(a, _mm_cvtsi32_si128(count.cast_signed())))
    }

    #[inline(always)]
    fn rotate_left<const COUNT: i32>(self, a: __m128i) -> __m128i {
        let (left, right) = (COUNT.cast_unsigned(), (64 - COUNT).cast_unsigned());
        self.or(self.shift_left(a, left), self.shift_right(a, right))
    }
}

impl LanesF64 for Sse2 {
    type F64 = __m128d;

    #[inline(always)]
    fn splat_f64(self, value: f64) -> __m128d {
        proven!(_mm_set1_pd(value))
    }

    #[inline(always)]
    fn load_f64(self, row: &[f64; 8], part: usize) -> __m128d {
        proven!(_mm_loadu_pd(part_of::<2, _>(row, part).as_ptr()))
    }

    #[inline(always)]
    fn store_f64(self, value: __m128d, row: &mut [f64; 8], part: usize) {
        proven!(_mm_storeu_pd(part_mut::<2, _>(row, part).as_mut_ptr(), value));
    }

    #[inline(always)]
    fn add(self, a: __m128d, b: __m128d) -> __m128d {
        proven!(_mm_add_pd(a, b))
    }

    #[inline(always)]
    fn sub(self, a: __m128d, b: __m128d) -> __m128d {
        proven!(_mm_sub_pd(a, b))
    }

    #[inline(always)]
    fn mul(self, a: __m128d, b: __m128d) -> __m128d {
        proven!(_mm_mul_pd(a, b))
    }

    #[inline(always)]
    fn min(self, a: __m128d, b: __m128d) -> __m128d {
        proven!(_mm_min_pd(a, b))
    }

    #[inline(always)]
    fn max(self, a: __m128d, b: __m128d) -> __m128d {
        proven!(_mm_max_pd(a, b))
    }

    #[inline(always)]
    fn mul_add(self, a: __m128d, b: __m128d, c: __m128d) -> __m128d {
        self.add(self.mul(a, b), c)
    }

    #[inline(always)]
    fn neg_mul_add(self, a: __m128d, b: __m128d, c: __m128d) -> __m128d {
        self.sub(c, self.mul(a, b))
    }

    #[inline(always)]
    fn nearest_product(self, a: __m128d, b: __m128d) -> __m128d {
        let rounder = self.splat_f64(ROUNDER);
        self.sub(self.mul_add(a, b, rounder), rounder)
    }

    #[inline(always)]
    fn as_u64(self, a: __m128d) -> __m128i {
        proven!(_mm_castpd_si128(a))
    }

    #[inline(always)]
    fn as_f64(self, a: __m128i) -> __m128d {
        proven!(_mm_castsi128_pd(a))
    }
}
