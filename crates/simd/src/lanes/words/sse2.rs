//! SSE2: four words.

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_and_si128, _mm_cvtsi32_si128, _mm_loadu_si128, _mm_or_si128,
    _mm_set1_epi32, _mm_sll_epi32, _mm_srl_epi32, _mm_storeu_si128, _mm_unpackhi_epi32,
    _mm_unpackhi_epi64, _mm_unpacklo_epi32, _mm_unpacklo_epi64, _mm_xor_si128,
};

use super::quads::{self, Quads};
use super::{Block, Lanes32, MAX_WORDS, Quad};
use crate::Sse2;

/// Wraps one operation of this tier.
macro_rules! proven {
    ($operation:expr) => {
        // SAFETY: SSE2 is a part of x86-64; memory operands are as long as a vector.
        unsafe { $operation }
    };
}

impl Lanes32 for Sse2 {
    type U32 = __m128i;

    const WORDS: usize = 4;

    #[inline(always)]
    fn splat_u32(self, value: u32) -> __m128i {
        proven!(_mm_set1_epi32(value.cast_signed()))
    }

    #[inline(always)]
    fn load_u32(self, words: &[u32; MAX_WORDS]) -> __m128i {
        proven!(_mm_loadu_si128(words.as_ptr().cast()))
    }

    #[inline(always)]
    fn add_u32(self, a: __m128i, b: __m128i) -> __m128i {
        proven!(_mm_add_epi32(a, b))
    }

    #[inline(always)]
    fn xor_u32(self, a: __m128i, b: __m128i) -> __m128i {
        proven!(_mm_xor_si128(a, b))
    }

    #[inline(always)]
    fn and_u32(self, a: __m128i, b: __m128i) -> __m128i {
        proven!(_mm_and_si128(a, b))
    }

    #[inline(always)]
    fn rotate_right_u32<const COUNT: i32>(self, a: __m128i) -> __m128i {
        proven!(_mm_or_si128(
            _mm_srl_epi32(a, _mm_cvtsi32_si128(COUNT)),
            _mm_sll_epi32(a, _mm_cvtsi32_si128(32 - COUNT)),
        ))
    }

    #[inline(always)]
    fn columns(self, blocks: &[&Block; MAX_WORDS]) -> [__m128i; 16] {
        quads::columns(self, blocks)
    }

    #[inline(always)]
    fn rows<const QUADS: usize>(
        self,
        columns: &[[__m128i; 4]; QUADS],
        rows: &mut [[Quad; QUADS]; MAX_WORDS],
    ) {
        quads::rows(self, columns, rows);
    }
}

impl Quads for Sse2 {
    #[inline(always)]
    fn load_quads(self, [only, ..]: [&Quad; 4]) -> __m128i {
        proven!(_mm_loadu_si128(only.as_ptr().cast()))
    }

    #[inline(always)]
    fn store_quad(self, value: __m128i, _group: usize, quad: &mut Quad) {
        proven!(_mm_storeu_si128(quad.as_mut_ptr().cast(), value));
    }

    #[inline(always)]
    fn transpose(self, [a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
        proven!({
            let (low, high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
            let (low2, high2) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
            [
                _mm_unpacklo_epi64(low, low2),
                _mm_unpackhi_epi64(low, low2),
                _mm_unpacklo_epi64(high, high2),
                _mm_unpackhi_epi64(high, high2),
            ]
        })
    }
}
