//! AVX-512: eight lanes, which is a row.

use core::arch::x86_64::{
    __m512d, __m512i, _mm_cvtsi32_si128, _mm512_add_epi64, _mm512_add_pd, _mm512_and_si512,
    _mm512_castpd_si512, _mm512_castsi512_pd, _mm512_fmadd_pd, _mm512_fnmadd_pd, _mm512_loadu_pd,
    _mm512_loadu_si512, _mm512_max_pd, _mm512_min_pd, _mm512_mul_pd, _mm512_or_si512,
    _mm512_rol_epi64, _mm512_set1_epi64, _mm512_set1_pd, _mm512_sll_epi64, _mm512_srl_epi64,
    _mm512_storeu_pd, _mm512_storeu_si512, _mm512_sub_pd, _mm512_ternarylogic_epi64,
    _mm512_xor_si512,
};

use super::narrow::Avx512Narrow;
use super::parts::{part_mut, part_of};
use super::wide::{Lanes64, LanesF64, ROUNDER};
use super::{Tier, Token};
use crate::Avx512;

/// Wraps one operation of this tier.
macro_rules! proven {
    ($operation:expr) => {
        // SAFETY: `self` proves the features; memory operands are whole parts of a row.
        unsafe { $operation }
    };
}

impl Token for Avx512 {
    const TIER: &'static str = "avx512";

    #[inline(always)]
    fn enter<R>(self, work: impl FnOnce(Self) -> R) -> R {
        // SAFETY: `self` proves the features.
        unsafe { run(self, work) }
    }
}

impl Tier for Avx512 {
    type Narrow = Avx512Narrow;

    #[inline(always)]
    fn narrow(self) -> Avx512Narrow {
        Avx512Narrow::of(self)
    }
}

impl Lanes64 for Avx512 {
    type U64 = __m512i;

    const LANES: usize = 8;

    #[inline(always)]
    fn splat_u64(self, value: u64) -> __m512i {
        proven!(_mm512_set1_epi64(value.cast_signed()))
    }

    #[inline(always)]
    fn load_u64(self, row: &[u64; 8], part: usize) -> __m512i {
        proven!(_mm512_loadu_si512(part_of::<8, _>(row, part).as_ptr().cast()))
    }

    #[inline(always)]
    fn store_u64(self, value: __m512i, row: &mut [u64; 8], part: usize) {
        proven!(_mm512_storeu_si512(part_mut::<8, _>(row, part).as_mut_ptr().cast(), value));
    }

    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_xor_si512(a, b))
    }

    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_and_si512(a, b))
    }

    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_or_si512(a, b))
    }

    #[inline(always)]
    fn xor3(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        proven!(_mm512_ternarylogic_epi64::<XOR3>(a, b, c))
    }

    #[inline(always)]
    fn chi(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        proven!(_mm512_ternarylogic_epi64::<CHI>(a, b, c))
    }

    #[inline(always)]
    fn add_u64(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_add_epi64(a, b))
    }

    #[inline(always)]
    fn shift_left(self, a: __m512i, count: u32) -> __m512i {
        proven!(_mm512_sll_epi64(a, _mm_cvtsi32_si128(count.cast_signed())))
    }

    #[inline(always)]
    fn shift_right(self, a: __m512i, count: u32) -> __m512i {
        proven!(_mm512_srl_epi64(a, _mm_cvtsi32_si128(count.cast_signed())))
    }

    #[inline(always)]
    fn rotate_left<const COUNT: i32>(self, a: __m512i) -> __m512i {
        proven!(_mm512_rol_epi64::<COUNT>(a))
    }
}

impl LanesF64 for Avx512 {
    type F64 = __m512d;

    #[inline(always)]
    fn splat_f64(self, value: f64) -> __m512d {
        proven!(_mm512_set1_pd(value))
    }

    #[inline(always)]
    fn load_f64(self, row: &[f64; 8], part: usize) -> __m512d {
        proven!(_mm512_loadu_pd(part_of::<8, _>(row, part).as_ptr()))
    }

    #[inline(always)]
    fn store_f64(self, value: __m512d, row: &mut [f64; 8], part: usize) {
        proven!(_mm512_storeu_pd(part_mut::<8, _>(row, part).as_mut_ptr(), value));
    }

    #[inline(always)]
    fn add(self, a: __m512d, b: __m512d) -> __m512d {
        proven!(_mm512_add_pd(a, b))
    }

    #[inline(always)]
    fn sub(self, a: __m512d, b: __m512d) -> __m512d {
        proven!(_mm512_sub_pd(a, b))
    }

    #[inline(always)]
    fn mul(self, a: __m512d, b: __m512d) -> __m512d {
        proven!(_mm512_mul_pd(a, b))
    }

    #[inline(always)]
    fn min(self, a: __m512d, b: __m512d) -> __m512d {
        proven!(_mm512_min_pd(a, b))
    }

    #[inline(always)]
    fn max(self, a: __m512d, b: __m512d) -> __m512d {
        proven!(_mm512_max_pd(a, b))
    }

    #[inline(always)]
    fn mul_add(self, a: __m512d, b: __m512d, c: __m512d) -> __m512d {
        proven!(_mm512_fmadd_pd(a, b, c))
    }

    #[inline(always)]
    fn neg_mul_add(self, a: __m512d, b: __m512d, c: __m512d) -> __m512d {
        proven!(_mm512_fnmadd_pd(a, b, c))
    }

    #[inline(always)]
    fn nearest_product(self, a: __m512d, b: __m512d) -> __m512d {
        let rounder = self.splat_f64(ROUNDER);
        self.sub(self.mul_add(a, b, rounder), rounder)
    }

    #[inline(always)]
    fn as_u64(self, a: __m512d) -> __m512i {
        proven!(_mm512_castpd_si512(a))
    }

    #[inline(always)]
    fn as_f64(self, a: __m512i) -> __m512d {
        proven!(_mm512_castsi512_pd(a))
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")]
#[inline]
fn run<R>(token: Avx512, work: impl FnOnce(Avx512) -> R) -> R {
    work(token)
}

/// The truth table of `a ^ b ^ c`.
pub(super) const XOR3: i32 = 0x96;

/// The truth table of `a ^ (!b & c)`.
pub(super) const CHI: i32 = 0xd2;
