//! AVX-512: eight lanes, which is a row.

use core::arch::x86_64::{
    __m512d, __m512i, _mm_cvtsi32_si128, _mm512_add_epi64, _mm512_add_pd, _mm512_and_si512,
    _mm512_castpd_si512, _mm512_castsi512_pd, _mm512_fmadd_pd, _mm512_fnmadd_pd, _mm512_loadu_pd,
    _mm512_loadu_si512, _mm512_max_pd, _mm512_min_pd, _mm512_mul_epu32, _mm512_mul_pd,
    _mm512_or_si512, _mm512_permutex2var_epi64, _mm512_rol_epi64, _mm512_set1_epi64,
    _mm512_set1_pd, _mm512_setr_epi64, _mm512_sll_epi64, _mm512_srl_epi64, _mm512_storeu_pd,
    _mm512_storeu_si512, _mm512_sub_pd, _mm512_ternarylogic_epi64, _mm512_xor_si512,
};

use super::narrow::Avx512Narrow;
use super::parts::{first_of, part_mut, part_of};
use super::wide::{Lanes64, LanesF64};
use super::{Quad, Tier, Token};
use crate::Avx512;
use crate::methods::proven;

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

    // SAFETY: `self` proves the features; memory operands are whole parts of a row.
    proven! {
        #[inline(always)] __m512i;
        splat_u64(value: u64) => _mm512_set1_epi64(value.cast_signed());
        load_u64(row: &[u64; 8], part: usize) =>
            _mm512_loadu_si512(part_of::<8, _>(row, part).as_ptr().cast());
        store_u64(value, row: &mut [u64; 8], part: usize) -> () =>
            _mm512_storeu_si512(part_mut::<8, _>(row, part).as_mut_ptr().cast(), value);
        xor(a, b) => _mm512_xor_si512(a, b);
        and(a, b) => _mm512_and_si512(a, b);
        or(a, b) => _mm512_or_si512(a, b);
        xor3(a, b, c) => _mm512_ternarylogic_epi64::<XOR3>(a, b, c);
        chi(a, b, c) => _mm512_ternarylogic_epi64::<CHI>(a, b, c);
        add_u64(a, b) => _mm512_add_epi64(a, b);
        mul_u32(a, b) => _mm512_mul_epu32(a, b);
        load_blocks(blocks: &[Quad]) -> [__m512i; 2] => {
            let blocks = first_of::<8, _>(blocks);
            let first = _mm512_loadu_si512(part_of::<4, _>(blocks, 0).as_ptr().cast());
            let second = _mm512_loadu_si512(part_of::<4, _>(blocks, 1).as_ptr().cast());
            let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
            let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
            [
                _mm512_permutex2var_epi64(first, even, second),
                _mm512_permutex2var_epi64(first, odd, second),
            ]
        };
        shift_left(a, count: u32) => _mm512_sll_epi64(a, _mm_cvtsi32_si128(count.cast_signed()));
        shift_right(a, count: u32) => _mm512_srl_epi64(a, _mm_cvtsi32_si128(count.cast_signed()));
        rotate_left<COUNT>(a) => _mm512_rol_epi64::<COUNT>(a);
    }
}

impl LanesF64 for Avx512 {
    type F64 = __m512d;

    // SAFETY: `self` proves the features; memory operands are whole parts of a row.
    proven! {
        #[inline(always)] __m512d;
        splat_f64(value: f64) => _mm512_set1_pd(value);
        load_f64(row: &[f64; 8], part: usize) =>
            _mm512_loadu_pd(part_of::<8, _>(row, part).as_ptr());
        store_f64(value, row: &mut [f64; 8], part: usize) -> () =>
            _mm512_storeu_pd(part_mut::<8, _>(row, part).as_mut_ptr(), value);
        add(a, b) => _mm512_add_pd(a, b);
        sub(a, b) => _mm512_sub_pd(a, b);
        mul(a, b) => _mm512_mul_pd(a, b);
        min(a, b) => _mm512_min_pd(a, b);
        max(a, b) => _mm512_max_pd(a, b);
        mul_add(a, b, c) => _mm512_fmadd_pd(a, b, c);
        neg_mul_add(a, b, c) => _mm512_fnmadd_pd(a, b, c);
        as_u64(a) -> __m512i => _mm512_castpd_si512(a);
        as_f64(a: __m512i) => _mm512_castsi512_pd(a);
    }
}

/// Runs `work` as code of AVX-512, of vectors of any length.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")]
#[inline]
pub(super) fn run<T, R>(token: T, work: impl FnOnce(T) -> R) -> R {
    work(token)
}

/// The truth table of `a ^ b ^ c`.
pub(super) const XOR3: i32 = 0x96;

/// The truth table of `a ^ (!b & c)`.
pub(super) const CHI: i32 = 0xd2;
