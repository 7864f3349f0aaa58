//! WebAssembly with 128-bit vectors: two lanes.

use core::arch::wasm32::{
    f64x2_add, f64x2_mul, f64x2_nearest, f64x2_pmax, f64x2_pmin, f64x2_splat, f64x2_sub,
    i64x2_shuffle, u64x2_add, u64x2_mul, u64x2_shl, u64x2_shr, u64x2_splat, v128, v128_and,
    v128_andnot, v128_load, v128_or, v128_store, v128_xor,
};

use super::parts::{first_of, part_mut, part_of};
use super::wide::{Lanes64, LanesF64};
use super::{Quad, Tier, Token};
use crate::methods::{methods, proven};
use crate::{Portable, Simd128};

impl Token for Simd128 {
    const TIER: &'static str = "simd128";
}

impl Tier for Simd128 {
    type Narrow = Portable;

    #[inline(always)]
    fn narrow(self) -> Portable {
        Portable
    }
}

impl Lanes64 for Simd128 {
    type U64 = v128;

    const LANES: usize = 2;

    // SAFETY: the module contains the instructions; memory operands are whole parts of a row.
    proven! {
        #[inline(always)] v128;
        load_u64(row: &[u64; 8], part: usize) =>
            v128_load(part_of::<2, _>(row, part).as_ptr().cast());
        store_u64(value, row: &mut [u64; 8], part: usize) -> () =>
            v128_store(part_mut::<2, _>(row, part).as_mut_ptr().cast(), value);
        load_blocks(blocks: &[Quad]) -> [v128; 2] => {
            let [a, b] = first_of(blocks);
            let (a, b) = (v128_load(a.as_ptr().cast()), v128_load(b.as_ptr().cast()));
            [i64x2_shuffle::<0, 2>(a, b), i64x2_shuffle::<1, 3>(a, b)]
        };
    }

    methods! {
        #[inline(always)] v128;
        splat_u64(value: u64) => u64x2_splat(value);
        xor(a, b) => v128_xor(a, b);
        and(a, b) => v128_and(a, b);
        or(a, b) => v128_or(a, b);
        chi(a, b, c) => v128_xor(a, v128_andnot(c, b));
        add_u64(a, b) => u64x2_add(a, b);
        mul_u32(a, b) => u64x2_mul(a, b);
        shift_left(a, count: u32) => u64x2_shl(a, count);
        shift_right(a, count: u32) => u64x2_shr(a, count);
    }
}

impl LanesF64 for Simd128 {
    type F64 = v128;

    // SAFETY: the module contains the instructions; memory operands are whole parts of a row.
    proven! {
        #[inline(always)] v128;
        load_f64(row: &[f64; 8], part: usize) =>
            v128_load(part_of::<2, _>(row, part).as_ptr().cast());
        store_f64(value, row: &mut [f64; 8], part: usize) -> () =>
            v128_store(part_mut::<2, _>(row, part).as_mut_ptr().cast(), value);
    }

    methods! {
        #[inline(always)] v128;
        splat_f64(value: f64) => f64x2_splat(value);
        add(a, b) => f64x2_add(a, b);
        sub(a, b) => f64x2_sub(a, b);
        mul(a, b) => f64x2_mul(a, b);
        min(a, b) => f64x2_pmin(a, b);
        max(a, b) => f64x2_pmax(a, b);
        nearest_product(a, b) => f64x2_nearest(f64x2_mul(a, b));
        as_u64(a) => a;
        as_f64(a) => a;
    }
}
