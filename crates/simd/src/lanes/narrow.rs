//! AVX-512 on its shortest vectors: two lanes, for a single chain of steps.
//!
//! Rotation, three operands and 32 registers suit one Keccak state better than plain words: the
//! whole state fits into registers. The second lane is free for a second chain.

use core::arch::x86_64::{
    __m128i, _mm_add_epi64, _mm_and_si128, _mm_cvtsi32_si128, _mm_loadu_si128, _mm_mul_epu32,
    _mm_or_si128, _mm_rol_epi64, _mm_set1_epi64x, _mm_sll_epi64, _mm_srl_epi64, _mm_storeu_si128,
    _mm_ternarylogic_epi64, _mm_unpackhi_epi64, _mm_unpacklo_epi64, _mm_xor_si128,
};

use super::avx512::{CHI, XOR3, run};
use super::parts::{first_of, part_mut, part_of};
use super::wide::Lanes64;
use super::{Quad, Token};
use crate::Avx512;
use crate::methods::proven;

/// Proof that this machine has AVX-512.
#[derive(Clone, Copy, Debug)]
pub struct Avx512Narrow(());

impl Avx512Narrow {
    /// Returns the short vectors of a machine with the long ones.
    #[inline(always)]
    pub(super) const fn of(_proof: Avx512) -> Self {
        Self(())
    }
}

impl Token for Avx512Narrow {
    const TIER: &'static str = "avx512 narrow";

    #[inline(always)]
    fn enter<R>(self, work: impl FnOnce(Self) -> R) -> R {
        // SAFETY: `self` proves the features.
        unsafe { run(self, work) }
    }
}

impl Lanes64 for Avx512Narrow {
    type U64 = __m128i;

    const LANES: usize = 2;

    // SAFETY: `self` proves the features; memory operands are whole parts of a row.
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
        xor3(a, b, c) => _mm_ternarylogic_epi64::<XOR3>(a, b, c);
        chi(a, b, c) => _mm_ternarylogic_epi64::<CHI>(a, b, c);
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
        rotate_left<COUNT>(a) => _mm_rol_epi64::<COUNT>(a);
    }
}
