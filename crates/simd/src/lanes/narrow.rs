//! AVX-512 on its shortest vectors: two lanes, for a single chain of steps.
//!
//! Rotation, three operands and 32 registers suit one Keccak state better than plain words: the
//! whole state fits into registers. The second lane is free for a second chain.

use core::arch::x86_64::{
    __m128i, _mm_add_epi64, _mm_and_si128, _mm_cvtsi32_si128, _mm_loadu_si128, _mm_or_si128,
    _mm_rol_epi64, _mm_set1_epi64x, _mm_sll_epi64, _mm_srl_epi64, _mm_storeu_si128,
    _mm_ternarylogic_epi64, _mm_xor_si128,
};

use super::Token;
use super::avx512::{CHI, XOR3};
use super::parts::{part_mut, part_of};
use super::wide::Lanes64;
use crate::Avx512;

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

/// Wraps one operation of this tier.
macro_rules! proven {
    ($operation:expr) => {
        // SAFETY: `self` proves the features; memory operands are whole parts of a row.
        unsafe { $operation }
    };
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

    #[inline(always)]
    fn splat_u64(self, value: u64) -> __m128i {
        proven!(_mm_set1_epi64x(value.cast_signed()))
    }

    #[inline(always)]
    fn load_u64(self, row: &[u64; 8], part: usize) -> __m128i {
        proven!(_mm_loadu_si128(part_of::<2, _>(row, part).as_ptr().cast()))
    }

    #[inline(always)]
    fn store_u64(self, value: __m128i, row: &mut [u64; 8], part: usize) {
        proven!(_mm_storeu_si128(part_mut::<2, _>(row, part).as_mut_ptr().cast(), value));
    }

    #[inline(always)]
    fn xor(self, a: __m128i, b: __m128i) -> __m128i {
        proven!(_mm_xor_si128(a, b))
    }

    #[inline(always)]
    fn and(self, a: __m128i, b: __m128i) -> __m128i {
        proven!(_mm_and_si128(a, b))
    }

    #[inline(always)]
    fn or(self, a: __m128i, b: __m128i) -> __m128i {
        proven!(_mm_or_si128(a, b))
    }

    #[inline(always)]
    fn xor3(self, a: __m128i, b: __m128i, c: __m128i) -> __m128i {
        proven!(_mm_ternarylogic_epi64::<XOR3>(a, b, c))
    }

    #[inline(always)]
    fn chi(self, a: __m128i, b: __m128i, c: __m128i) -> __m128i {
        proven!(_mm_ternarylogic_epi64::<CHI>(a, b, c))
    }

    #[inline(always)]
    fn add_u64(self, a: __m128i, b: __m128i) -> __m128i {
        proven!(_mm_add_epi64(a, b))
    }

    #[inline(always)]
    fn shift_left(self, a: __m128i, count: u32) -> __m128i {
        proven!(_mm_sll_epi64(a, _mm_cvtsi32_si128(count.cast_signed())))
    }

    #[inline(always)]
    fn shift_right(self, a: __m128i, count: u32) -> __m128i {
        proven!(_mm_srl_epi64(a, _mm_cvtsi32_si128(count.cast_signed())))
    }

    #[inline(always)]
    fn rotate_left<const COUNT: i32>(self, a: __m128i) -> __m128i {
        proven!(_mm_rol_epi64::<COUNT>(a))
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")]
#[inline]
fn run<R>(token: Avx512Narrow, work: impl FnOnce(Avx512Narrow) -> R) -> R {
    work(token)
}
