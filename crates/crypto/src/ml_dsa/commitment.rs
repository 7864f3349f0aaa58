//! UseHint and w1Encode (FIPS 204, Algorithms 40 and 28): the bytes that the signer committed to.
//!
//! Hints are few, so the high bits of all coefficients are found and packed as if there were none, and those
//! with a hint are corrected one by one.

use wardgate_simd::lanes::{LanesF64, Row};

use super::field::{Q, Rows};
use super::level::{MOST_HIGH_BYTES, Parameters};

/// w1 as it is hashed; only the bytes of the level are used.
pub(super) type Packed = [u8; MOST_HIGH_BYTES];

/// Packs the high bits of every row of w, which is below 2^30.
pub(super) fn pack<L: LanesF64>(lanes: L, set: &Parameters, rows: &Rows, packed: &mut Packed) {
    lanes.enter(|lanes| match set.high_values() {
        44 => pack_groups::<L, 8, 6>(lanes, set, rows, packed, |c| wrap_44(lanes, c)),
        _ => pack_groups::<L, 16, 8>(lanes, set, rows, packed, |c| c),
    });
}

/// Packs `COUNT` coefficients into `BYTES` bytes, over and over.
#[inline(always)]
fn pack_groups<L: LanesF64, const COUNT: usize, const BYTES: usize>(
    lanes: L,
    set: &Parameters,
    rows: &Rows,
    packed: &mut Packed,
    wrap: impl Fn(L::F64) -> L::F64,
) {
    let steps = Steps::new(lanes, set);
    for (group, rows) in rows.as_chunks::<COUNT>().0.iter().enumerate() {
        let mut words = Row([0; 8]);
        for part in 0..L::PARTS {
            let mut word = lanes.splat_u64(0);
            let mut place = 0;
            for row in rows {
                let high = wrap(steps.high(lanes, lanes.load_f64(&row.0, part)));
                word = lanes.or(word, lanes.shift_left(steps.bits(lanes, high), place));
                place += set.high_bits();
            }
            lanes.store_u64(word, &mut words.0, part);
        }
        for (word, own) in words.0.iter().zip(packed.chunks_exact_mut(set.high_bytes())) {
            if let Some(place) = own.as_chunks_mut::<BYTES>().0.get_mut(group) {
                place.copy_from_slice(word.to_le_bytes().get(..BYTES).unwrap_or_default());
            }
        }
    }
}

/// The constants of Decompose.
struct Steps<L: LanesF64> {
    by_width: L::F64,
    rounder: L::F64,
    mask: L::U64,
}

impl<L: LanesF64> Steps<L> {
    #[inline(always)]
    fn new(lanes: L, set: &Parameters) -> Self {
        Self {
            by_width: lanes.splat_f64(TOWARDS_ZERO / f64::from(2 * set.low_range)),
            rounder: lanes.splat_f64(ROUNDER),
            mask: lanes.splat_u64((1 << set.high_bits()) - 1),
        }
    }

    /// The high bits of `w` before they wrap, from -m/2 to m/2.
    ///
    /// FIPS 204, Algorithm 36, divides `r`, which is from 0 to q - 1, by 2 * gamma2 and rounds to the nearest,
    /// in the middle down. With `r` centred at zero, and because q - 1 is m times 2 * gamma2, that is: a middle
    /// is rounded towards zero, and what is one further away from zero is not. A factor a little less than one
    /// does both: 2^-23 takes between 2^-7 and 1/2 away from what lies in a middle.
    #[inline(always)]
    fn high(&self, lanes: L, w: L::F64) -> L::F64 {
        lanes.nearest_product(super::field::reduced(lanes, w), self.by_width)
    }

    /// The low bits of an integer.
    #[inline(always)]
    fn bits(&self, lanes: L, integer: L::F64) -> L::U64 {
        lanes.and(lanes.as_u64(lanes.add(integer, self.rounder)), self.mask)
    }
}

/// Adds 44 to what is negative. From -22 to 22 the product rounds to -1 below zero and to 0 above.
#[inline(always)]
fn wrap_44<L: LanesF64>(lanes: L, high: L::F64) -> L::F64 {
    let less = lanes.sub(high, lanes.splat_f64(21.75));
    let wraps = lanes.nearest_product(less, lanes.splat_f64(1.0 / 44.0));
    lanes.neg_mul_add(wraps, lanes.splat_f64(44.0), high)
}

/// Corrects the high bits of one coefficient that has a hint.
pub(super) fn use_hint(
    set: &Parameters,
    (row, place): (usize, u8),
    rows: &Rows,
    packed: &mut Packed,
) {
    let w = rows.get(usize::from(place)).and_then(|numbers| numbers.0.get(row));
    let high = hinted(set, w.copied().unwrap_or_default());
    let (index, width) = (usize::from(place), set.high_bytes() / 32);
    let (byte, shift) = (index * width / 8, index * width % 8);
    let Some(own) = packed.chunks_exact_mut(set.high_bytes()).nth(row) else { return };
    let mask = ((1_u16 << width) - 1) << shift;
    let [low, carry] = mask.to_le_bytes();
    let [bits_low, bits_carry] = (high << shift).to_le_bytes();
    if let Some(first) = own.get_mut(byte) {
        *first = *first & !low | bits_low;
    }
    if let Some(second) = own.get_mut(byte + 1) {
        *second = *second & !carry | bits_carry;
    }
}

/// FIPS 204, Algorithm 40, for a coefficient with a hint.
fn hinted(set: &Parameters, w: f64) -> u16 {
    let (width, values) = (f64::from(2 * set.low_range), f64::from(set.high_values()));
    let multiple = (w * (1.0 / Q) + ROUNDER) - ROUNDER;
    let centred = w - multiple * Q;
    // What is negative wraps around q - 1, not q.
    let r = if centred < 0.0 { centred + 1.0 } else { centred };
    let high = (centred * (TOWARDS_ZERO / width) + ROUNDER) - ROUNDER;
    let low = r - high * width;
    let moved = if low > 0.0 { high + 1.0 } else { high - 1.0 };
    let wrapped = if moved < 0.0 {
        moved + values
    } else if moved >= values {
        moved - values
    } else {
        moved
    };
    low_bits(wrapped)
}

/// A small integer that is not negative.
fn low_bits(integer: f64) -> u16 {
    let [low, high, ..] = (integer + ROUNDER).to_bits().to_le_bytes();
    u16::from_le_bytes([low, high])
}

/// 1 - 2^-23
const TOWARDS_ZERO: f64 = 1.0 - 1.0 / 8_388_608.0;

/// 1.5 * 2^52: added to a smaller number, it leaves the nearest integer in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
