//! The response z (FIPS 204, Algorithm 19), read for all its polynomials at once, and the bound on it.

use wardgate_simd::lanes::{LanesF64, Row};

use super::field::Rows;
use super::level::Parameters;

/// Writes polynomial `j` of z into lane `j` of every row, and zero into the lanes without one.
///
/// Tells whether every coefficient is within the bound; only then the rows are good for anything.
/// `bytes` begins with z and has at least eight more bytes.
pub(super) fn unpack<L: LanesF64>(
    lanes: L,
    set: &Parameters,
    bytes: &[u8],
    rows: &mut Rows,
) -> bool {
    let words = gather(set, bytes);
    lanes.enter(|lanes| spread(lanes, set, &words, rows))
}

/// For every three coefficients the word that their bits begin in, lane by lane.
fn gather(set: &Parameters, bytes: &[u8]) -> Words {
    let mut words = [Row([0; 8]); GROUPS];
    for lane in 0..8 {
        let begin = lane * set.response_bytes();
        let own = if lane < set.columns { bytes.get(begin..) } else { None };
        for (group, row) in words.iter_mut().enumerate() {
            let (byte, shift) = position(set, group);
            if let Some(word) = row.0.get_mut(lane) {
                let read = own.and_then(|own| own.get(byte..)?.first_chunk());
                *word = read.map_or(zeros(set) << shift, |bytes| u64::from_le_bytes(*bytes));
            }
        }
    }
    words
}

/// Where the bits of a group begin: the byte, and the bit in it, which is 0 to 6.
#[inline(always)]
fn position(set: &Parameters, group: usize) -> (usize, u32) {
    let three = set.response_bytes() / 32 * 3;
    let bit = group * three;
    (bit / 8, u32::try_from(bit % 8).unwrap_or_default())
}

/// Three coefficients that are zero: packed is what gamma1 exceeds a coefficient by.
fn zeros(set: &Parameters) -> u64 {
    let gamma1 = u64::from(set.response_range());
    gamma1 | gamma1 << set.response_bits | gamma1 << (2 * set.response_bits)
}

#[inline(always)]
fn spread<L: LanesF64>(lanes: L, set: &Parameters, words: &Words, rows: &mut Rows) -> bool {
    let base = lanes.as_u64(lanes.splat_f64(BASE));
    let top = lanes.splat_f64(BASE + f64::from(set.response_range()));
    let limit = lanes.splat_f64(f64::from(set.response_limit()));
    let mask = lanes.splat_u64((1 << set.response_bits) - 1);
    // Its sign is set when one was: of what lies beyond the limit, one of the differences is negative.
    let mut beyond = lanes.splat_u64(0);
    for (group, (words, rows)) in words.iter().zip(rows.chunks_mut(3)).enumerate() {
        let (_, shift) = position(set, group);
        for part in 0..L::PARTS {
            let mut word = lanes.shift_right(lanes.load_u64(&words.0, part), shift);
            for row in &mut *rows {
                let value = lanes.as_f64(lanes.or(lanes.and(word, mask), base));
                let number = lanes.sub(top, value);
                let (over, under) = (lanes.sub(limit, number), lanes.add(limit, number));
                beyond = lanes.or(beyond, lanes.or(lanes.as_u64(over), lanes.as_u64(under)));
                lanes.store_f64(number, &mut row.0, part);
                word = lanes.shift_right(word, set.response_bits);
            }
        }
    }
    let mut signs = [0; 8];
    lanes.store_u64(beyond, &mut signs, 0);
    signs.iter().all(|word| word >> 63 == 0)
}

/// Three coefficients in each, and one in the last.
type Words = [Row<u64>; GROUPS];

const GROUPS: usize = 86;

/// 2^52: a double of it has the integer above it in its low bits.
const BASE: f64 = 4_503_599_627_370_496.0;
