//! WebAssembly vectors: four words.

use core::arch::wasm32::{
    i8x16_shuffle, i32x4_shuffle, u32x4_add, u32x4_shl, u32x4_shr, u32x4_splat, v128, v128_and,
    v128_load, v128_or, v128_store, v128_xor,
};

use super::super::parts::first_of_mut;
use super::quads::{self, Quads};
use super::{Block, Lanes32, MAX_WORDS, Quad};
use crate::Simd128;
use crate::methods::{methods, proven};

impl Lanes32 for Simd128 {
    type U32 = v128;

    const WORDS: usize = 4;

    methods! {
        #[inline(always)] v128;
        splat_u32(value: u32) => u32x4_splat(value);
        add_u32(a, b) => u32x4_add(a, b);
        xor_u32(a, b) => v128_xor(a, b);
        and_u32(a, b) => v128_and(a, b);
        // Whole bytes move in one instruction, where shifts need three.
        rotate_right_u32<COUNT>(a) => match COUNT {
            16 => i8x16_shuffle::<2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13>(a, a),
            _ => {
                let (right, left) = (COUNT.cast_unsigned(), (32 - COUNT).cast_unsigned());
                v128_or(u32x4_shr(a, right), u32x4_shl(a, left))
            }
        };
    }

    // SAFETY: memory operands are as long as a vector; no alignment is needed.
    proven! {
        #[inline(always)] v128;
        load_u32(words: &[u32; MAX_WORDS]) => v128_load(words.as_ptr().cast());
    }

    quads::conversions!(v128);
}

impl Quads for Simd128 {
    // SAFETY: memory operands are as long as a vector; no alignment is needed.
    proven! {
        #[inline(always)] v128;
        load_quads(groups: [&Quad; 4]) => v128_load(groups[0].as_ptr().cast());
        store_quad(value, _group: usize, quad: &mut Quad) -> () =>
            v128_store(quad.as_mut_ptr().cast(), value);
        join(value, quads: &mut [Quad]) -> () => {
            let [quad] = first_of_mut(quads);
            v128_store(quad.as_mut_ptr().cast(), v128_xor(value, v128_load(quad.as_ptr().cast())));
        };
    }

    methods! {
        #[inline(always)] v128;
        in_order(quads: [v128; 4]) -> [v128; 4] => quads;
        low_words(a, b) => i32x4_shuffle::<0, 4, 1, 5>(a, b);
        high_words(a, b) => i32x4_shuffle::<2, 6, 3, 7>(a, b);
        low_halves(a, b) => i32x4_shuffle::<0, 1, 4, 5>(a, b);
        high_halves(a, b) => i32x4_shuffle::<2, 3, 6, 7>(a, b);
    }
}
