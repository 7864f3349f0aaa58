//! WebAssembly vectors: four words.

use core::arch::wasm32::{
    i8x16_shuffle, i32x4_shuffle, u32x4_add, u32x4_shl, u32x4_shr, u32x4_splat, v128, v128_and,
    v128_load, v128_or, v128_store, v128_xor,
};

use super::quads::{self, Quads};
use super::{Block, Lanes32, MAX_WORDS, Quad};
use crate::Simd128;

/// Wraps one read or write.
macro_rules! proven {
    ($operation:expr) => {
        // SAFETY: memory operands are as long as a vector; no alignment is needed.
        unsafe { $operation }
    };
}

impl Lanes32 for Simd128 {
    type U32 = v128;

    const WORDS: usize = 4;

    #[inline(always)]
    fn splat_u32(self, value: u32) -> v128 {
        u32x4_splat(value)
    }

    #[inline(always)]
    fn load_u32(self, words: &[u32; MAX_WORDS]) -> v128 {
        proven!(v128_load(words.as_ptr().cast()))
    }

    #[inline(always)]
    fn add_u32(self, a: v128, b: v128) -> v128 {
        u32x4_add(a, b)
    }

    #[inline(always)]
    fn xor_u32(self, a: v128, b: v128) -> v128 {
        v128_xor(a, b)
    }

    #[inline(always)]
    fn and_u32(self, a: v128, b: v128) -> v128 {
        v128_and(a, b)
    }

    // Whole bytes move in one instruction, where shifts need three.
    #[inline(always)]
    fn rotate_right_u32<const COUNT: i32>(self, a: v128) -> v128 {
        match COUNT {
            16 => i8x16_shuffle::<2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13>(a, a),
            _ => {
                let (right, left) = (COUNT.cast_unsigned(), (32 - COUNT).cast_unsigned());
                v128_or(u32x4_shr(a, right), u32x4_shl(a, left))
            }
        }
    }

    #[inline(always)]
    fn columns(self, blocks: &[&Block; MAX_WORDS]) -> [v128; 16] {
        quads::columns(self, blocks)
    }

    #[inline(always)]
    fn rows<const QUADS: usize>(
        self,
        columns: &[[v128; 4]; QUADS],
        rows: &mut [[Quad; QUADS]; MAX_WORDS],
    ) {
        quads::rows(self, columns, rows);
    }

    #[inline(always)]
    fn join_rows(self, columns: &[[v128; 4]; 4], rows: &mut [[Quad; 4]; MAX_WORDS]) {
        let [first, second, third, fourth] = rows;
        for (at, columns) in columns.iter().enumerate() {
            let [a, b, c, d] = self.transpose(*columns);
            join(self, a, first, at);
            join(self, b, second, at);
            join(self, c, third, at);
            join(self, d, fourth, at);
        }
    }
}

#[inline(always)]
fn join(tier: Simd128, value: v128, row: &mut [Quad; 4], at: usize) {
    if let Some(quad) = row.get_mut(at) {
        let joined = tier.xor_u32(value, tier.load_quads([quad; 4]));
        tier.store_quad(joined, 0, quad);
    }
}

impl Quads for Simd128 {
    #[inline(always)]
    fn load_quads(self, [only, ..]: [&Quad; 4]) -> v128 {
        proven!(v128_load(only.as_ptr().cast()))
    }

    #[inline(always)]
    fn store_quad(self, value: v128, _group: usize, quad: &mut Quad) {
        proven!(v128_store(quad.as_mut_ptr().cast(), value));
    }

    #[inline(always)]
    fn transpose(self, [a, b, c, d]: [v128; 4]) -> [v128; 4] {
        let (low, high) = (i32x4_shuffle::<0, 4, 1, 5>(a, b), i32x4_shuffle::<2, 6, 3, 7>(a, b));
        let (low2, high2) = (i32x4_shuffle::<0, 4, 1, 5>(c, d), i32x4_shuffle::<2, 6, 3, 7>(c, d));
        [
            i32x4_shuffle::<0, 1, 4, 5>(low, low2),
            i32x4_shuffle::<2, 3, 6, 7>(low, low2),
            i32x4_shuffle::<0, 1, 4, 5>(high, high2),
            i32x4_shuffle::<2, 3, 6, 7>(high, high2),
        ]
    }
}
