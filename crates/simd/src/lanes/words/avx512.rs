//! AVX-512: sixteen words.

use core::arch::asm;
use core::arch::x86_64::{
    __m512i, _mm_loadu_si128, _mm_storeu_si128, _mm512_add_epi32, _mm512_and_si512,
    _mm512_castsi128_si512, _mm512_castsi512_si128, _mm512_extracti32x4_epi32, _mm512_inserti32x4,
    _mm512_loadu_si512, _mm512_ror_epi32, _mm512_set1_epi32, _mm512_shuffle_i32x4,
    _mm512_storeu_si512, _mm512_ternarylogic_epi32, _mm512_unpackhi_epi32, _mm512_unpackhi_epi64,
    _mm512_unpacklo_epi32, _mm512_unpacklo_epi64, _mm512_xor_si512,
};

use super::super::parts::first_of_mut;
use super::quads::{self, Quads};
use super::{Block, Lanes32, MAX_WORDS, Quad};
use crate::Avx512;
use crate::methods::proven;

impl Lanes32 for Avx512 {
    type U32 = __m512i;

    const WORDS: usize = 16;

    // SAFETY: `self` proves the features; memory operands are as long as a vector.
    proven! {
        #[inline(always)] __m512i;
        splat_u32(value: u32) => _mm512_set1_epi32(value.cast_signed());
        load_u32(words: &[u32; MAX_WORDS]) => _mm512_loadu_si512(words.as_ptr().cast());
        add_u32(a, b) => _mm512_add_epi32(a, b);
        xor_u32(a, b) => _mm512_xor_si512(a, b);
        and_u32(a, b) => _mm512_and_si512(a, b);
        rotate_right_u32<COUNT>(a) => _mm512_ror_epi32::<COUNT>(a);
        in_turn(values: [__m512i; 4]) -> [__m512i; 4] => in_turn(values);
        select_u32(mask, a, b) => _mm512_ternarylogic_epi32::<SELECT>(mask, a, b);
    }

    quads::conversions!(__m512i);
}

impl Quads for Avx512 {
    // SAFETY: `self` proves the features; memory operands are as long as a quarter of a vector.
    proven! {
        #[inline(always)] __m512i;
        load_quads(groups: [&Quad; 4]) => {
            let value = _mm512_castsi128_si512(_mm_loadu_si128(groups[0].as_ptr().cast()));
            let value = _mm512_inserti32x4::<1>(value, _mm_loadu_si128(groups[1].as_ptr().cast()));
            let value = _mm512_inserti32x4::<2>(value, _mm_loadu_si128(groups[2].as_ptr().cast()));
            _mm512_inserti32x4::<3>(value, _mm_loadu_si128(groups[3].as_ptr().cast()))
        };
        store_quad(value, group: usize, quad: &mut Quad) -> () => {
            let part = match group {
                0 => _mm512_castsi512_si128(value),
                1 => _mm512_extracti32x4_epi32::<1>(value),
                2 => _mm512_extracti32x4_epi32::<2>(value),
                _ => _mm512_extracti32x4_epi32::<3>(value),
            };
            _mm_storeu_si128(quad.as_mut_ptr().cast(), part);
        };
        in_order(quads: [__m512i; 4]) -> [__m512i; 4] => {
            let [a, b, c, d] = quads;
            let (low, high) = (
                _mm512_shuffle_i32x4::<0b01_00_01_00>(a, b),
                _mm512_shuffle_i32x4::<0b11_10_11_10>(a, b),
            );
            let (low2, high2) = (
                _mm512_shuffle_i32x4::<0b01_00_01_00>(c, d),
                _mm512_shuffle_i32x4::<0b11_10_11_10>(c, d),
            );
            [
                _mm512_shuffle_i32x4::<0b10_00_10_00>(low, low2),
                _mm512_shuffle_i32x4::<0b11_01_11_01>(low, low2),
                _mm512_shuffle_i32x4::<0b10_00_10_00>(high, high2),
                _mm512_shuffle_i32x4::<0b11_01_11_01>(high, high2),
            ]
        };
        join(value, quads: &mut [Quad]) -> () => {
            let quads = first_of_mut::<4, _>(quads);
            let joined = _mm512_xor_si512(value, _mm512_loadu_si512(quads.as_ptr().cast()));
            _mm512_storeu_si512(quads.as_mut_ptr().cast(), joined);
        };
        low_words(a, b) => _mm512_unpacklo_epi32(a, b);
        high_words(a, b) => _mm512_unpackhi_epi32(a, b);
        low_halves(a, b) => _mm512_unpacklo_epi64(a, b);
        high_halves(a, b) => _mm512_unpackhi_epi64(a, b);
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

/// The truth table of `if first { second } else { third }`.
const SELECT: i32 = 0b1100_1010;
