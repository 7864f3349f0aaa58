//! WebAssembly with 128-bit vectors: two lanes.

use core::arch::wasm32::{
    f64x2_add, f64x2_mul, f64x2_nearest, f64x2_pmax, f64x2_pmin, f64x2_splat, f64x2_sub, u64x2_add,
    u64x2_shl, u64x2_shr, u64x2_splat, v128, v128_and, v128_andnot, v128_load, v128_or, v128_store,
    v128_xor,
};

use super::parts::{part_mut, part_of};
use super::wide::{Lanes64, LanesF64};
use super::{Tier, Token};
use crate::{Portable, Simd128};

/// Wraps one operation of this tier.
macro_rules! proven {
    ($operation:expr) => {
        // SAFETY: the module contains the instructions; memory operands are whole parts of a row.
        unsafe { $operation }
    };
}

impl Token for Simd128 {
    const TIER: &'static str = "simd128";

    #[inline(always)]
    fn enter<R>(self, work: impl FnOnce(Self) -> R) -> R {
        work(self)
    }
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

    #[inline(always)]
    fn splat_u64(self, value: u64) -> v128 {
        u64x2_splat(value)
    }

    #[inline(always)]
    fn load_u64(self, row: &[u64; 8], part: usize) -> v128 {
        proven!(v128_load(part_of::<2, _>(row, part).as_ptr().cast()))
    }

    #[inline(always)]
    fn store_u64(self, value: v128, row: &mut [u64; 8], part: usize) {
        proven!(v128_store(part_mut::<2, _>(row, part).as_mut_ptr().cast(), value));
    }

    #[inline(always)]
    fn xor(self, a: v128, b: v128) -> v128 {
        v128_xor(a, b)
    }

    #[inline(always)]
    fn and(self, a: v128, b: v128) -> v128 {
        v128_and(a, b)
    }

    #[inline(always)]
    fn or(self, a: v128, b: v128) -> v128 {
        v128_or(a, b)
    }

    #[inline(always)]
    fn chi(self, a: v128, b: v128, c: v128) -> v128 {
        v128_xor(a, v128_andnot(c, b))
    }

    #[inline(always)]
    fn add_u64(self, a: v128, b: v128) -> v128 {
        u64x2_add(a, b)
    }

    #[inline(always)]
    fn shift_left(self, a: v128, count: u32) -> v128 {
        u64x2_shl(a, count)
    }

    #[inline(always)]
    fn shift_right(self, a: v128, count: u32) -> v128 {
        u64x2_shr(a, count)
    }

    #[inline(always)]
    fn rotate_left<const COUNT: i32>(self, a: v128) -> v128 {
        let (left, right) = (COUNT.cast_unsigned(), (64 - COUNT).cast_unsigned());
        self.or(self.shift_left(a, left), self.shift_right(a, right))
    }
}

impl LanesF64 for Simd128 {
    type F64 = v128;

    #[inline(always)]
    fn splat_f64(self, value: f64) -> v128 {
        f64x2_splat(value)
    }

    #[inline(always)]
    fn load_f64(self, row: &[f64; 8], part: usize) -> v128 {
        proven!(v128_load(part_of::<2, _>(row, part).as_ptr().cast()))
    }

    #[inline(always)]
    fn store_f64(self, value: v128, row: &mut [f64; 8], part: usize) {
        proven!(v128_store(part_mut::<2, _>(row, part).as_mut_ptr().cast(), value));
    }

    #[inline(always)]
    fn add(self, a: v128, b: v128) -> v128 {
        f64x2_add(a, b)
    }

    #[inline(always)]
    fn sub(self, a: v128, b: v128) -> v128 {
        f64x2_sub(a, b)
    }

    #[inline(always)]
    fn mul(self, a: v128, b: v128) -> v128 {
        f64x2_mul(a, b)
    }

    #[inline(always)]
    fn min(self, a: v128, b: v128) -> v128 {
        f64x2_pmin(a, b)
    }

    #[inline(always)]
    fn max(self, a: v128, b: v128) -> v128 {
        f64x2_pmax(a, b)
    }

    #[inline(always)]
    fn mul_add(self, a: v128, b: v128, c: v128) -> v128 {
        f64x2_add(f64x2_mul(a, b), c)
    }

    #[inline(always)]
    fn neg_mul_add(self, a: v128, b: v128, c: v128) -> v128 {
        f64x2_sub(c, f64x2_mul(a, b))
    }

    #[inline(always)]
    fn nearest_product(self, a: v128, b: v128) -> v128 {
        f64x2_nearest(f64x2_mul(a, b))
    }

    #[inline(always)]
    fn as_u64(self, a: v128) -> v128 {
        a
    }

    #[inline(always)]
    fn as_f64(self, a: v128) -> v128 {
        a
    }
}
