//! UseHint and w1Encode (FIPS 204, Algorithms 40 and 28): the bytes that the signer committed to.
//!
//! Hints are few, so the high bits of all coefficients are computed and packed without them, and
//! the coefficients with a hint are corrected one by one.

use wardgate_simd::lanes::{LanesF64, Row};

use super::field::{Q, Rows, reduced};
use super::level::{MAX_HIGH_BYTES, Parameters};

/// The hashed form of w1; only the bytes of the level are used.
pub(super) type Packed = [u8; MAX_HIGH_BYTES];

/// Packs the high bits of every row of w, which is below 2^30.
pub(super) fn pack<L: LanesF64>(lanes: L, set: &Parameters, rows: &Rows, packed: &mut Packed) {
    let by_width = TOWARDS_ZERO / f64::from(2 * set.low_range);
    lanes.enter(|lanes| {
        let by_width = lanes.splat_f64(by_width);
        match set.high_bits() {
            6 => pack_groups::<L, 6, 8, 6>(lanes, rows, packed, |w| high_44(lanes, w, by_width)),
            _ => pack_groups::<L, 4, 16, 8>(lanes, rows, packed, |w| high_16(lanes, w, by_width)),
        }
    });
}

/// Packs `COUNT` coefficients of `WIDTH` bits into `BYTES` bytes, repeatedly.
#[inline(always)]
fn pack_groups<L: LanesF64, const WIDTH: u32, const COUNT: usize, const BYTES: usize>(
    lanes: L,
    rows: &Rows,
    packed: &mut Packed,
    high: impl Fn(L::F64) -> L::U64,
) {
    for (group, rows) in rows.as_chunks::<COUNT>().0.iter().enumerate() {
        let mut words = Row([0; 8]);
        for part in 0..L::PARTS {
            let mut word = lanes.splat_u64(0);
            // In reverse order, so that every shift is by the same constant.
            for row in rows.iter().rev() {
                let high = high(reduced(lanes, lanes.load_f64(&row.0, part)));
                word = lanes.or(lanes.shift_left(word, WIDTH), high);
            }
            lanes.store_u64(word, &mut words.0, part);
        }
        let polynomials = packed.chunks_exact_mut(BYTES * 256 / COUNT);
        for (word, own) in words.0.iter().zip(polynomials) {
            if let Some(position) = own.as_chunks_mut::<BYTES>().0.get_mut(group) {
                position.copy_from_slice(word.to_le_bytes().get(..BYTES).unwrap_or_default());
            }
        }
    }
}

/// Returns the high bits of `w`, from 0 to 15, at the levels that have sixteen.
///
/// FIPS 204, Algorithm 36, divides `r`, which is from 0 to q - 1, by 2 * gamma2 and rounds to the
/// nearest, a tie down. With `w` centred at zero, and because q - 1 is m times 2 * gamma2, this
/// means: a tie is rounded towards zero, and a value one further away from zero is not. A factor
/// slightly less than one does both: 2^-23 takes between 2^-7 and 1/2 away from a tie. The result
/// is from -m/2 to m/2, and masking its low bits wraps it around.
#[inline(always)]
fn high_16<L: LanesF64>(lanes: L, w: L::F64, by_width: L::F64) -> L::U64 {
    let rounded = lanes.mul_add(w, by_width, lanes.splat_f64(ROUNDER));
    lanes.and(lanes.as_u64(rounded), lanes.splat_u64(15))
}

/// Returns the high bits from 0 to 43. A negative value wraps: from -22 to 22 the second product
/// rounds to -1 or to 0.
#[inline(always)]
fn high_44<L: LanesF64>(lanes: L, w: L::F64, by_width: L::F64) -> L::U64 {
    let high = lanes.nearest_product(w, by_width);
    let less = lanes.sub(high, lanes.splat_f64(21.75));
    let wraps = lanes.nearest_product(less, lanes.splat_f64(1.0 / 44.0));
    let wrapped = lanes.neg_mul_add(wraps, lanes.splat_f64(44.0), high);
    let bits = lanes.as_u64(lanes.add(wrapped, lanes.splat_f64(ROUNDER)));
    lanes.and(bits, lanes.splat_u64(63))
}

/// Corrects the high bits of one coefficient that has a hint.
pub(super) fn use_hint(
    set: &Parameters,
    (row, position): (usize, u8),
    rows: &Rows,
    packed: &mut Packed,
) {
    let index = usize::from(position);
    let w = rows.get(index).and_then(|numbers| numbers.0.get(row));
    let high = hinted(set, w.copied().unwrap_or_default());
    let own = packed.get_mut(row * set.high_bytes()..).unwrap_or_default();
    match set.high_bits() {
        4 => replace(own, index / 2, (15, high), index % 2 * 4),
        _ => replace(own, index * 6 / 8, (63, high), index * 6 % 8),
    }
}

/// Replaces the bits of `mask`, `shift` bits after the start of byte `at`.
fn replace(bytes: &mut [u8], at: usize, (mask, bits): (u16, u16), shift: usize) {
    if let Some([low, high]) = bytes.get_mut(at..).and_then(|bytes| bytes.first_chunk_mut()) {
        let old = u16::from_le_bytes([*low, *high]);
        [*low, *high] = (old & !(mask << shift) | bits << shift).to_le_bytes();
    } else if let Some(last) = bytes.get_mut(at) {
        let [bits, _] = (u16::from(*last) & !(mask << shift) | bits << shift).to_le_bytes();
        *last = bits;
    }
}

/// Returns the high bits of a coefficient with a hint: FIPS 204, Algorithm 40.
fn hinted(set: &Parameters, w: f64) -> u16 {
    let (width, values) = (f64::from(2 * set.low_range), f64::from(set.high_values()));
    let multiple = (w * (1.0 / Q) + ROUNDER) - ROUNDER;
    let centred = w - multiple * Q;
    // A negative value wraps around q - 1, not q.
    let low_end = if centred < 0.0 { 1.0 } else { 0.0 };
    let high = (centred * (TOWARDS_ZERO / width) + ROUNDER) - ROUNDER;
    let low = centred + low_end - high * width;
    let moved = high + if low > 0.0 { 1.0 } else { -1.0 };
    let below = if moved < 0.0 { values } else { 0.0 };
    let above = if moved >= values { values } else { 0.0 };
    low_bits(moved + below - above)
}

/// Returns the low bits of a small integer that is at least 0.
fn low_bits(integer: f64) -> u16 {
    let [low, high, ..] = (integer + ROUNDER).to_bits().to_le_bytes();
    u16::from_le_bytes([low, high])
}

/// 1 - 2^-23, the factor that rounds ties towards zero.
const TOWARDS_ZERO: f64 = 1.0 - 1.0 / 8_388_608.0;

/// 1.5 * 2^52: added to a smaller number, it leaves the nearest integer in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
