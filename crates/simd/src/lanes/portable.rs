//! The meaning of every operation, one lane at a time, in safe code.

use super::parts::{first_of, part_mut, part_of};
use super::wide::{Lanes64, LanesF64};
use super::{Quad, Tier, Token};
use crate::Portable;
use crate::methods::methods;

impl Token for Portable {
    const TIER: &'static str = "portable";
}

impl Tier for Portable {
    type Narrow = Self;

    #[inline(always)]
    fn narrow(self) -> Self {
        self
    }
}

impl Lanes64 for Portable {
    type U64 = u64;

    const LANES: usize = 1;

    methods! {
        #[inline(always)] u64;
        splat_u64(value) => value;
        load_u64(row: &[u64; 8], part: usize) => part_of::<1, _>(row, part)[0];
        store_u64(value, row: &mut [u64; 8], part: usize) -> () => *part_mut(row, part) = [value];
        xor(a, b) => a ^ b;
        and(a, b) => a & b;
        or(a, b) => a | b;
        chi(a, b, c) => a ^ (!b & c);
        add_u64(a, b) => a.wrapping_add(b);
        mul_u32(a, b) => a.wrapping_mul(b);
        shift_left(a, count: u32) => a << count;
        shift_right(a, count: u32) => a >> count;
        rotate_left<COUNT>(a) => a.rotate_left(COUNT.cast_unsigned());
    }

    #[inline(always)]
    fn load_blocks(self, blocks: &[Quad]) -> [u64; 2] {
        let block = u128::from_le_bytes(first_of::<1, _>(blocks)[0]);
        [block, block >> 64].map(low_word)
    }
}

impl LanesF64 for Portable {
    type F64 = f64;

    methods! {
        #[inline(always)] f64;
        splat_f64(value) => value;
        load_f64(row: &[f64; 8], part: usize) => part_of::<1, _>(row, part)[0];
        store_f64(value, row: &mut [f64; 8], part: usize) -> () => *part_mut(row, part) = [value];
        add(a, b) => a + b;
        sub(a, b) => a - b;
        mul(a, b) => a * b;
        min(a, b) => if b < a { b } else { a };
        max(a, b) => if a < b { b } else { a };
        as_u64(a) -> u64 => a.to_bits();
        as_f64(a: u64) => f64::from_bits(a);
    }
}

/// Returns the lower 64 bits.
#[inline(always)]
#[expect(clippy::as_conversions, reason = "the lower bits are wanted")]
fn low_word(number: u128) -> u64 {
    number as u64
}
