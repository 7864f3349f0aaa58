//! The response z (FIPS 204, Algorithm 19), decoded for all its polynomials at once, and its bound.

use wardgate_simd::lanes::{LanesF64, Row};

use super::field::{BASE, Rows};
use super::level::Parameters;

/// Writes polynomial `j` of z into lane `j` of every row, and zero into the lanes without one.
///
/// Returns true if every coefficient is within the bound; otherwise the rows are meaningless.
/// `bytes` begins with z and has at least eight more bytes.
pub(super) fn unpack<L: LanesF64>(
    lanes: L,
    set: &Parameters,
    bytes: &[u8],
    rows: &mut Rows,
) -> bool {
    let mut words = [Row([zeros(set); 8]); GROUPS];
    for lane in 0..set.columns {
        let own = bytes.get(lane * set.response_bytes()..).unwrap_or_default();
        match set.response_bits {
            18 => gather::<4, 27>([0, 54, 108, 162], own, lane, &mut words),
            _ => gather::<2, 15>([0, 60], own, lane, &mut words),
        }
    }
    lanes.enter(|lanes| spread(lanes, set, &words, rows))
}

/// Reads the word that begins with each group of three coefficients into lane `lane`.
///
/// `starts` are the bit offsets at which the groups in `STEP` bytes begin.
fn gather<const COUNT: usize, const STEP: usize>(
    starts: [usize; COUNT],
    bytes: &[u8],
    lane: usize,
    words: &mut Words,
) {
    for (step, rows) in words.chunks_mut(COUNT).enumerate() {
        // The last group of a step extends into the next byte.
        let own = bytes.get(step * STEP..).and_then(|own| own.get(..STEP + 1)).unwrap_or_default();
        for (row, start) in rows.iter_mut().zip(starts) {
            let read = own.get(start / 8..).and_then(|own| own.first_chunk());
            if let (Some(word), Some(bytes)) = (row.0.get_mut(lane), read) {
                *word = u64::from_le_bytes(*bytes) >> (start % 8);
            }
        }
    }
}

/// Returns three zero coefficients: the packed form is gamma1 minus the coefficient.
fn zeros(set: &Parameters) -> u64 {
    let gamma1 = u64::from(set.response_range());
    gamma1 | gamma1 << set.response_bits | gamma1 << (2 * set.response_bits)
}

#[inline(always)]
fn spread<L: LanesF64>(lanes: L, set: &Parameters, words: &Words, rows: &mut Rows) -> bool {
    let base = lanes.as_u64(lanes.splat_f64(BASE));
    let top = lanes.splat_f64(BASE + f64::from(set.response_range()));
    let mask = lanes.splat_u64((1 << set.response_bits) - 1);
    let mut extremes = [lanes.splat_f64(0.0); 2];
    for (words, rows) in words.iter().zip(rows.chunks_mut(3)) {
        for part in 0..L::PARTS {
            let mut word = lanes.load_u64(&words.0, part);
            // Compares within the group alone, which avoids a long dependency chain of comparisons.
            let [mut least, mut most] = [lanes.splat_f64(0.0); 2];
            for row in &mut *rows {
                let packed = lanes.as_f64(lanes.or(lanes.and(word, mask), base));
                let number = lanes.sub(top, packed);
                (least, most) = (lanes.min(least, number), lanes.max(most, number));
                lanes.store_f64(number, &mut row.0, part);
                word = lanes.shift_right(word, set.response_bits);
            }
            extremes = [lanes.min(extremes[0], least), lanes.max(extremes[1], most)];
        }
    }
    let limit = f64::from(set.response_limit());
    extremes.iter().all(|extreme| {
        let mut row = [0.0; 8];
        lanes.store_f64(*extreme, &mut row, 0);
        row.iter().all(|number| number.abs() <= limit)
    })
}

/// The packed words: three coefficients in each, and one in the last.
type Words = [Row<u64>; GROUPS];

const GROUPS: usize = 86;
