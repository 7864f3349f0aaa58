//! SSE2: four words.

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_and_si128, _mm_cvtsi32_si128, _mm_loadu_si128, _mm_or_si128,
    _mm_set1_epi32, _mm_sll_epi32, _mm_srl_epi32, _mm_storeu_si128, _mm_unpackhi_epi32,
    _mm_unpackhi_epi64, _mm_unpacklo_epi32, _mm_unpacklo_epi64, _mm_xor_si128,
};

use super::super::parts::first_of_mut;
use super::quads::{self, Quads};
use super::{Block, Lanes32, MAX_WORDS, Quad};
use crate::Sse2;
use crate::methods::{methods, proven};

impl Lanes32 for Sse2 {
    type U32 = __m128i;

    const WORDS: usize = 4;

    // SAFETY: SSE2 is a part of x86-64; memory operands are as long as a vector.
    proven! {
        #[inline(always)] __m128i;
        splat_u32(value: u32) => _mm_set1_epi32(value.cast_signed());
        load_u32(words: &[u32; MAX_WORDS]) => _mm_loadu_si128(words.as_ptr().cast());
        add_u32(a, b) => _mm_add_epi32(a, b);
        xor_u32(a, b) => _mm_xor_si128(a, b);
        and_u32(a, b) => _mm_and_si128(a, b);
        rotate_right_u32<COUNT>(a) => _mm_or_si128(
            _mm_srl_epi32(a, _mm_cvtsi32_si128(COUNT)),
            _mm_sll_epi32(a, _mm_cvtsi32_si128(32 - COUNT)),
        );
    }

    quads::conversions!(__m128i);
}

impl Quads for Sse2 {
    // SAFETY: SSE2 is a part of x86-64; memory operands are as long as a vector.
    proven! {
        #[inline(always)] __m128i;
        load_quads(groups: [&Quad; 4]) => _mm_loadu_si128(groups[0].as_ptr().cast());
        store_quad(value, _group: usize, quad: &mut Quad) -> () =>
            _mm_storeu_si128(quad.as_mut_ptr().cast(), value);
        join(value, quads: &mut [Quad]) -> () => {
            let [quad] = first_of_mut(quads);
            let joined = _mm_xor_si128(value, _mm_loadu_si128(quad.as_ptr().cast()));
            _mm_storeu_si128(quad.as_mut_ptr().cast(), joined);
        };
        low_words(a, b) => _mm_unpacklo_epi32(a, b);
        high_words(a, b) => _mm_unpackhi_epi32(a, b);
        low_halves(a, b) => _mm_unpacklo_epi64(a, b);
        high_halves(a, b) => _mm_unpackhi_epi64(a, b);
    }

    methods! {
        #[inline(always)] __m128i;
        in_order(quads: [__m128i; 4]) -> [__m128i; 4] => quads;
    }
}
