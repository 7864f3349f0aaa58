//! ExpandA (FIPS 204, Algorithms 30 and 32): one column of the matrix from its seed.
//!
//! The polynomials of a column are hashed side by side and read side by side, as if no candidate were ever
//! rejected. One in a thousand is: then that polynomial, one in four, is read again by itself.

use wardgate_simd::lanes::LanesF64;

use super::field::Rows;
use super::level::SEED_BYTES;
use crate::keccak;
use crate::shake::{self, Blocks, Message, RATE_128};

/// Writes entry (row, column) into lane `row`, for every row; `None` if the seed gives no such polynomial.
pub(super) fn column<L: LanesF64>(
    lanes: L,
    seed: &[u8; SEED_BYTES],
    (column, height): (usize, usize),
    rows: &mut Rows,
) -> Option<()> {
    for part in (0..L::PARTS).take_while(|part| part * L::LANES < height) {
        let names = |lane: usize| name(column, part * L::LANES + lane);
        let rejected = lanes.enter(|lanes| sample(lanes, seed, names, part, rows));
        for lane in 0..L::LANES {
            let row = part * L::LANES + lane;
            if rejected.get(lane).is_some_and(|word| word >> 63 == 1) && row < height {
                sample_again(seed, name(column, row), row, rows)?;
            }
        }
    }
    Some(())
}

/// The two bytes that follow the seed: column, then row.
fn name(column: usize, row: usize) -> [u8; 2] {
    [column, row].map(|index| u8::try_from(index).unwrap_or_default())
}

/// Reads 256 candidates in every lane; the highest bit of a returned word tells that one was too great.
#[inline(always)]
fn sample<L: LanesF64>(
    lanes: L,
    seed: &[u8; SEED_BYTES],
    names: impl Fn(usize) -> [u8; 2],
    part: usize,
    rows: &mut Rows,
) -> [u64; 8] {
    let mut state = keccak::empty(lanes);
    shake::absorb::<L, RATE_128>(lanes, &mut state, |lane| {
        Some(Message([seed, &names(lane), &[], &[]]).block(0))
    });
    let mut too_great = lanes.splat_u64(0);
    let mut groups = rows.as_chunks_mut::<8>().0.iter_mut();
    for _ in 0..BLOCKS {
        keccak::permute(lanes, &mut state);
        for words in state.as_chunks::<3>().0.iter().take(RATE_128 / 24) {
            let Some(group) = groups.next() else { break };
            for (row, candidate) in group.iter_mut().zip(candidates(lanes, words)) {
                too_great =
                    lanes.or(too_great, lanes.add_u64(candidate, lanes.splat_u64(OVERFLOW)));
                lanes.store_f64(number(lanes, candidate), &mut row.0, part);
            }
        }
    }
    let mut rejected = [0; 8];
    lanes.store_u64(too_great, &mut rejected, 0);
    rejected
}

/// The eight candidates in 24 bytes: the low 23 bits of every three.
#[inline(always)]
fn candidates<L: LanesF64>(lanes: L, [a, b, c]: &[L::U64; 3]) -> [L::U64; 8] {
    let right = |word: &L::U64, count| lanes.shift_right(*word, count);
    let across = |low: &L::U64, count, high: &L::U64| {
        lanes.or(lanes.shift_right(*low, count), lanes.shift_left(*high, 64 - count))
    };
    let mask = lanes.splat_u64(MASK);
    [
        *a,
        right(a, 24),
        across(a, 48, b),
        right(b, 8),
        right(b, 32),
        across(b, 56, c),
        right(c, 16),
        right(c, 40),
    ]
    .map(
        #[inline(always)]
        |word| lanes.and(word, mask),
    )
}

/// A double of 2^52 has the integer above it in its low bits.
#[inline(always)]
fn number<L: LanesF64>(lanes: L, integer: L::U64) -> L::F64 {
    let base = lanes.splat_f64(BASE);
    lanes.sub(lanes.as_f64(lanes.or(integer, lanes.as_u64(base))), base)
}

/// FIPS 204, Algorithm 30, for one polynomial.
fn sample_again(
    seed: &[u8; SEED_BYTES],
    name: [u8; 2],
    lane: usize,
    rows: &mut Rows,
) -> Option<()> {
    let mut blocks = Blocks::<RATE_128>::of_short(&Message([seed, &name, &[], &[]]));
    let mut places = rows.iter_mut().filter_map(|row| row.0.get_mut(lane));
    let mut place = places.next();
    for _ in 0..MOST_BLOCKS {
        for [low, middle, high] in blocks.next_block().as_chunks::<3>().0 {
            let candidate = u32::from_le_bytes([*low, *middle, high & 0x7f, 0]);
            let Some(number) = &mut place else { return Some(()) };
            if candidate < PRIME {
                **number = f64::from(candidate);
                place = places.next();
            }
        }
    }
    place.is_none().then_some(())
}

/// Five blocks have 280 candidates, of which 256 are needed.
const BLOCKS: usize = 5;

/// Twice as many: FIPS 204, Appendix C, allows an end after 298 candidates, which no seed will be found for.
const MOST_BLOCKS: usize = 2 * BLOCKS;

const PRIME: u32 = 8_380_417;

/// The 23 bits of a candidate.
const MASK: u64 = 0x7f_ffff;

/// Added to q or more, it reaches the highest bit.
const OVERFLOW: u64 = (1 << 63) - 8_380_417;

/// 2^52
const BASE: f64 = 4_503_599_627_370_496.0;
