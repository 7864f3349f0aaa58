//! AVX2: eight words.

use core::arch::x86_64::{
    __m128i, __m256i, _mm_cvtsi32_si128, _mm_loadu_si128, _mm_storeu_si128, _mm256_add_epi32,
    _mm256_and_si256, _mm256_castsi128_si256, _mm256_castsi256_si128, _mm256_extracti128_si256,
    _mm256_inserti128_si256, _mm256_loadu_si256, _mm256_or_si256, _mm256_set_epi64x,
    _mm256_set1_epi32, _mm256_shuffle_epi8, _mm256_sll_epi32, _mm256_srl_epi32,
    _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
    _mm256_xor_si256,
};

use super::quads::{self, Quads};
use super::{Block, Lanes32, MAX_WORDS, Quad};
use crate::Avx2;

/// Wraps one operation of this tier.
macro_rules! proven {
    ($operation:expr) => {
        // SAFETY: `self` proves the features; memory operands are as long as a vector or a half.
        unsafe { $operation }
    };
}

impl Lanes32 for Avx2 {
    type U32 = __m256i;

    const WORDS: usize = 8;

    #[inline(always)]
    fn splat_u32(self, value: u32) -> __m256i {
        proven!(_mm256_set1_epi32(value.cast_signed()))
    }

    #[inline(always)]
    fn load_u32(self, words: &[u32; MAX_WORDS]) -> __m256i {
        proven!(_mm256_loadu_si256(words.as_ptr().cast()))
    }

    #[inline(always)]
    fn add_u32(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_add_epi32(a, b))
    }

    #[inline(always)]
    fn xor_u32(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_xor_si256(a, b))
    }

    #[inline(always)]
    fn and_u32(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_and_si256(a, b))
    }

    // Whole bytes move in one instruction.
    #[inline(always)]
    fn rotate_right_u32<const COUNT: i32>(self, a: __m256i) -> __m256i {
        match COUNT {
            16 => bytes(self, a, 0x0504_0706_0100_0302, 0x0d0c_0f0e_0908_0b0a),
            8 => bytes(self, a, 0x0407_0605_0003_0201, 0x0c0f_0e0d_080b_0a09),
            _ => proven!(_mm256_or_si256(
                _mm256_srl_epi32(a, _mm_cvtsi32_si128(COUNT)),
                _mm256_sll_epi32(a, _mm_cvtsi32_si128(32 - COUNT)),
            )),
        }
    }

    #[inline(always)]
    fn columns(self, blocks: &[&Block; MAX_WORDS]) -> [__m256i; 16] {
        quads::columns(self, blocks)
    }

    #[inline(always)]
    fn rows<const QUADS: usize>(
        self,
        columns: &[[__m256i; 4]; QUADS],
        rows: &mut [[Quad; QUADS]; MAX_WORDS],
    ) {
        quads::rows(self, columns, rows);
    }
}

impl Quads for Avx2 {
    #[inline(always)]
    fn load_quads(self, [low, high, ..]: [&Quad; 4]) -> __m256i {
        let (low, high) = (quad(self, low), quad(self, high));
        proven!(_mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high))
    }

    #[inline(always)]
    fn store_quad(self, value: __m256i, group: usize, quad: &mut Quad) {
        proven!({
            let part = match group {
                0 => _mm256_castsi256_si128(value),
                _ => _mm256_extracti128_si256::<1>(value),
            };
            _mm_storeu_si128(quad.as_mut_ptr().cast(), part);
        });
    }

    #[inline(always)]
    fn transpose(self, [a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
        proven!({
            let (low, high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
            let (low2, high2) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
            [
                _mm256_unpacklo_epi64(low, low2),
                _mm256_unpackhi_epi64(low, low2),
                _mm256_unpacklo_epi64(high, high2),
                _mm256_unpackhi_epi64(high, high2),
            ]
        })
    }
}

#[inline(always)]
fn quad(_proof: Avx2, quad: &Quad) -> __m128i {
    proven!(_mm_loadu_si128(quad.as_ptr().cast()))
}

/// Shuffles the bytes of each half by the indices in two words, the lowest byte first.
#[inline(always)]
fn bytes(_proof: Avx2, a: __m256i, low: i64, high: i64) -> __m256i {
    proven!(_mm256_shuffle_epi8(a, _mm256_set_epi64x(high, low, high, low)))
}
