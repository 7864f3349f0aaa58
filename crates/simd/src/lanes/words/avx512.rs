//! AVX-512: sixteen words.

use core::arch::asm;
use core::arch::x86_64::{
    __m128i, __m512i, _mm_loadu_si128, _mm_storeu_si128, _mm512_add_epi32, _mm512_and_si512,
    _mm512_castsi128_si512, _mm512_castsi512_si128, _mm512_extracti32x4_epi32, _mm512_inserti32x4,
    _mm512_loadu_si512, _mm512_ror_epi32, _mm512_set1_epi32, _mm512_ternarylogic_epi32,
    _mm512_unpackhi_epi32, _mm512_unpackhi_epi64, _mm512_unpacklo_epi32, _mm512_unpacklo_epi64,
    _mm512_xor_si512,
};

use super::quads::{self, Quads};
use super::{Block, Lanes32, MAX_WORDS, Quad};
use crate::Avx512;

/// Wraps one operation of this tier.
macro_rules! proven {
    ($operation:expr) => {
        // SAFETY: `self` proves the features; memory operands are as long as a vector or a quarter.
        unsafe { $operation }
    };
}

impl Lanes32 for Avx512 {
    type U32 = __m512i;

    const WORDS: usize = 16;

    #[inline(always)]
    fn splat_u32(self, value: u32) -> __m512i {
        proven!(_mm512_set1_epi32(value.cast_signed()))
    }

    #[inline(always)]
    fn load_u32(self, words: &[u32; MAX_WORDS]) -> __m512i {
        proven!(_mm512_loadu_si512(words.as_ptr().cast()))
    }

    #[inline(always)]
    fn add_u32(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_add_epi32(a, b))
    }

    #[inline(always)]
    fn xor_u32(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_xor_si512(a, b))
    }

    #[inline(always)]
    fn and_u32(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_and_si512(a, b))
    }

    #[inline(always)]
    fn rotate_right_u32<const COUNT: i32>(self, a: __m512i) -> __m512i {
        proven!(_mm512_ror_epi32::<COUNT>(a))
    }

    #[inline(always)]
    fn in_turn(self, values: [__m512i; 4]) -> [__m512i; 4] {
        proven!(in_turn(values))
    }

    #[inline(always)]
    fn columns(self, blocks: &[&Block; MAX_WORDS]) -> [__m512i; 16] {
        quads::columns(self, blocks)
    }

    #[inline(always)]
    fn rows<const QUADS: usize>(
        self,
        columns: &[[__m512i; 4]; QUADS],
        rows: &mut [[Quad; QUADS]; MAX_WORDS],
    ) {
        quads::rows(self, columns, rows);
    }

    #[inline(always)]
    fn select_u32(self, mask: __m512i, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_ternarylogic_epi32::<SELECT>(mask, a, b))
    }
}

impl Quads for Avx512 {
    #[inline(always)]
    fn load_quads(self, groups: [&Quad; 4]) -> __m512i {
        let [a, b, c, d] = groups;
        proven!({
            let value = _mm512_castsi128_si512(quad(self, a));
            let value = _mm512_inserti32x4::<1>(value, quad(self, b));
            let value = _mm512_inserti32x4::<2>(value, quad(self, c));
            _mm512_inserti32x4::<3>(value, quad(self, d))
        })
    }

    #[inline(always)]
    fn store_quad(self, value: __m512i, group: usize, quad: &mut Quad) {
        proven!({
            let part = match group {
                0 => _mm512_castsi512_si128(value),
                1 => _mm512_extracti32x4_epi32::<1>(value),
                2 => _mm512_extracti32x4_epi32::<2>(value),
                _ => _mm512_extracti32x4_epi32::<3>(value),
            };
            _mm_storeu_si128(quad.as_mut_ptr().cast(), part);
        });
    }

    #[inline(always)]
    fn transpose(self, [a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
        proven!({
            let (low, high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
            let (low2, high2) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
            [
                _mm512_unpacklo_epi64(low, low2),
                _mm512_unpackhi_epi64(low, low2),
                _mm512_unpacklo_epi64(high, high2),
                _mm512_unpackhi_epi64(high, high2),
            ]
        })
    }
}

/// Emits no instruction; the compiler may neither drop nor move it, because assembly that is not
/// `pure` keeps its order.
#[target_feature(enable = "avx512f")]
#[inline]
fn in_turn([mut a, mut b, mut c, mut d]: [__m512i; 4]) -> [__m512i; 4] {
    // SAFETY: the assembly is empty.
    unsafe {
        asm!(
            "/* {} {} {} {} */",
            inout(zmm_reg) a,
            inout(zmm_reg) b,
            inout(zmm_reg) c,
            inout(zmm_reg) d,
            options(nomem, nostack, preserves_flags),
        );
    }
    [a, b, c, d]
}

#[inline(always)]
fn quad(_proof: Avx512, quad: &Quad) -> __m128i {
    proven!(_mm_loadu_si128(quad.as_ptr().cast()))
}

/// The truth table of `if first { second } else { third }`.
const SELECT: i32 = 0b1100_1010;
