//! AVX2: eight words.

use core::arch::x86_64::{
    __m256i, _mm_cvtsi32_si128, _mm_loadu_si128, _mm_storeu_si128, _mm256_add_epi32,
    _mm256_and_si256, _mm256_castsi128_si256, _mm256_castsi256_si128, _mm256_extracti128_si256,
    _mm256_inserti128_si256, _mm256_loadu_si256, _mm256_or_si256, _mm256_permute2x128_si256,
    _mm256_set_epi64x, _mm256_set1_epi32, _mm256_shuffle_epi8, _mm256_sll_epi32, _mm256_srl_epi32,
    _mm256_storeu_si256, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32,
    _mm256_unpacklo_epi64, _mm256_xor_si256,
};

use super::super::parts::first_of_mut;
use super::quads::{self, Quads};
use super::{Block, Lanes32, MAX_WORDS, Quad};
use crate::Avx2;
use crate::methods::proven;

impl Lanes32 for Avx2 {
    type U32 = __m256i;

    const WORDS: usize = 8;

    // SAFETY: `self` proves the features; memory operands are as long as a vector.
    proven! {
        #[inline(always)] __m256i;
        splat_u32(value: u32) => _mm256_set1_epi32(value.cast_signed());
        load_u32(words: &[u32; MAX_WORDS]) => _mm256_loadu_si256(words.as_ptr().cast());
        add_u32(a, b) => _mm256_add_epi32(a, b);
        xor_u32(a, b) => _mm256_xor_si256(a, b);
        and_u32(a, b) => _mm256_and_si256(a, b);
        // Whole bytes move in one instruction.
        rotate_right_u32<COUNT>(a) => match COUNT {
            16 => bytes(a, 0x0504_0706_0100_0302, 0x0d0c_0f0e_0908_0b0a),
            24 => bytes(a, 0x0605_0407_0201_0003, 0x0e0d_0c0f_0a09_080b),
            8 => bytes(a, 0x0407_0605_0003_0201, 0x0c0f_0e0d_080b_0a09),
            _ => _mm256_or_si256(
                _mm256_srl_epi32(a, _mm_cvtsi32_si128(COUNT)),
                _mm256_sll_epi32(a, _mm_cvtsi32_si128(32 - COUNT)),
            ),
        };
    }

    quads::conversions!(__m256i);
}

impl Quads for Avx2 {
    // SAFETY: `self` proves the features; memory operands are as long as half a vector.
    proven! {
        #[inline(always)] __m256i;
        load_quads(groups: [&Quad; 4]) => {
            let low = _mm_loadu_si128(groups[0].as_ptr().cast());
            let high = _mm_loadu_si128(groups[1].as_ptr().cast());
            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
        };
        store_quad(value, group: usize, quad: &mut Quad) -> () => {
            let part = match group {
                0 => _mm256_castsi256_si128(value),
                _ => _mm256_extracti128_si256::<1>(value),
            };
            _mm_storeu_si128(quad.as_mut_ptr().cast(), part);
        };
        in_order(quads: [__m256i; 4]) -> [__m256i; 4] => {
            let [a, b, c, d] = quads;
            [
                _mm256_permute2x128_si256::<0x20>(a, b),
                _mm256_permute2x128_si256::<0x20>(c, d),
                _mm256_permute2x128_si256::<0x31>(a, b),
                _mm256_permute2x128_si256::<0x31>(c, d),
            ]
        };
        join(value, quads: &mut [Quad]) -> () => {
            let quads = first_of_mut::<2, _>(quads);
            let joined = _mm256_xor_si256(value, _mm256_loadu_si256(quads.as_ptr().cast()));
            _mm256_storeu_si256(quads.as_mut_ptr().cast(), joined);
        };
        low_words(a, b) => _mm256_unpacklo_epi32(a, b);
        high_words(a, b) => _mm256_unpackhi_epi32(a, b);
        low_halves(a, b) => _mm256_unpacklo_epi64(a, b);
        high_halves(a, b) => _mm256_unpackhi_epi64(a, b);
    }
}

/// Shuffles the bytes of each half by the indices in two words, the lowest byte first.
#[target_feature(enable = "avx2")]
#[inline]
fn bytes(a: __m256i, low: i64, high: i64) -> __m256i {
    _mm256_shuffle_epi8(a, _mm256_set_epi64x(high, low, high, low))
}
