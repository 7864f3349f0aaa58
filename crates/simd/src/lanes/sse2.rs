//! SSE2: two lanes, on every x86-64 machine.

use core::arch::x86_64::{
    __m128d, __m128i, _mm_add_epi64, _mm_add_pd, _mm_and_si128, _mm_andnot_si128, _mm_castpd_si128,
    _mm_castsi128_pd, _mm_cvtsi32_si128, _mm_loadu_pd, _mm_loadu_si128, _mm_max_pd, _mm_min_pd,
    _mm_mul_epu32, _mm_mul_pd, _mm_or_si128, _mm_set1_epi64x, _mm_set1_pd, _mm_sll_epi64,
    _mm_srl_epi64, _mm_storeu_pd, _mm_storeu_si128, _mm_sub_pd, _mm_unpackhi_epi64,
    _mm_unpacklo_epi64, _mm_xor_si128,
};

use super::parts::{first_of, part_mut, part_of};
use super::wide::{Lanes64, LanesF64};
use super::{Quad, Tier, Token};
use crate::methods::proven;
use crate::{Portable, Sse2};

impl Token for Sse2 {
    const TIER: &'static str = "sse2";
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

    // SAFETY: SSE2 is a part of x86-64; memory operands are whole parts of a row.
    proven! {
        #[inline(always)] __m128i;
        splat_u64(value: u64) => _mm_set1_epi64x(value.cast_signed());
        load_u64(row: &[u64; 8], part: usize) =>
            _mm_loadu_si128(part_of::<2, _>(row, part).as_ptr().cast());
        store_u64(value, row: &mut [u64; 8], part: usize) -> () =>
            _mm_storeu_si128(part_mut::<2, _>(row, part).as_mut_ptr().cast(), value);
        xor(a, b) => _mm_xor_si128(a, b);
        and(a, b) => _mm_and_si128(a, b);
        or(a, b) => _mm_or_si128(a, b);
        chi(a, b, c) => _mm_xor_si128(a, _mm_andnot_si128(b, c));
        add_u64(a, b) => _mm_add_epi64(a, b);
        mul_u32(a, b) => _mm_mul_epu32(a, b);
        load_blocks(blocks: &[Quad]) -> [__m128i; 2] => {
            let [a, b] = first_of(blocks);
            let a = _mm_loadu_si128(a.as_ptr().cast());
            let b = _mm_loadu_si128(b.as_ptr().cast());
            [_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)]
        };
        shift_left(a, count: u32) => _mm_sll_epi64(a, _mm_cvtsi32_si128(count.cast_signed()));
        shift_right(a, count: u32) => _mm_srl_epi64(a, _mm_cvtsi32_si128(count.cast_signed()));
    }
}

impl LanesF64 for Sse2 {
    type F64 = __m128d;

    // SAFETY: SSE2 is a part of x86-64; memory operands are whole parts of a row.
    proven! {
        #[inline(always)] __m128d;
        splat_f64(value: f64) => _mm_set1_pd(value);
        load_f64(row: &[f64; 8], part: usize) => _mm_loadu_pd(part_of::<2, _>(row, part).as_ptr());
        store_f64(value, row: &mut [f64; 8], part: usize) -> () =>
            _mm_storeu_pd(part_mut::<2, _>(row, part).as_mut_ptr(), value);
        add(a, b) => _mm_add_pd(a, b);
        sub(a, b) => _mm_sub_pd(a, b);
        mul(a, b) => _mm_mul_pd(a, b);
        min(a, b) => _mm_min_pd(a, b);
        max(a, b) => _mm_max_pd(a, b);
        as_u64(a) -> __m128i => _mm_castpd_si128(a);
        as_f64(a: __m128i) => _mm_castsi128_pd(a);
    }
}
