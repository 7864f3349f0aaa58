//! ExpandA (FIPS 204, Algorithms 30 and 32): one column of the matrix from its seed.
//!
//! The polynomials of a column are hashed side by side and read side by side, as if no candidate
//! were rejected. One candidate in a thousand is: then that polynomial, one in four, is read again
//! by itself.

use wardgate_simd::lanes::{LanesF64, Row};

use super::field::{BASE, Rows};
use super::level::SEED_BYTES;
use crate::keccak;
use crate::shake::{self, Blocks, Message, RATE_128};

/// Writes entry (row, column) into lane `row`, for every row; returns `None` if the seed gives no
/// such polynomial.
pub(super) fn column<L: LanesF64>(
    lanes: L,
    seed: &[u8; SEED_BYTES],
    (column, height): (usize, usize),
    rows: &mut Rows,
) -> Option<()> {
    let mut words = [Row([0; 8]); WORDS];
    let parts = height.div_ceil(L::LANES);
    for part in 0..parts {
        let names = |lane: usize| name(column, part * L::LANES + lane);
        let mut state = shake::begin::<L, RATE_128>(lanes, seed, names);
        lanes.enter(|lanes| squeeze(lanes, &mut state, part, &mut words));
    }
    let too_great = lanes.enter(|lanes| read(lanes, parts, &words, rows));
    let rejected = too_great.iter().take(height).enumerate().filter(|(_, word)| *word >> 63 == 1);
    for (row, _) in rejected {
        let mut positions = Places::new(row, rows);
        if !positions.read_known(&words, row) {
            positions.read_on(&Message([seed, &name(column, row), &[], &[]]))?;
        }
    }
    Some(())
}

/// Returns the two bytes that follow the seed: column, then row.
fn name(column: usize, row: usize) -> [u8; 2] {
    [column, row].map(|index| u8::try_from(index).unwrap_or_default())
}

/// The output of SHAKE128 for each lane, as many words as nearly always suffice.
type Words = [Row<u64>; WORDS];

#[inline(always)]
fn squeeze<L: LanesF64>(
    lanes: L,
    state: &mut keccak::State<L::U64>,
    part: usize,
    words: &mut Words,
) {
    for block in words.chunks_exact_mut(RATE_128 / 8) {
        keccak::permute(lanes, state);
        for (row, word) in block.iter_mut().zip(&*state) {
            lanes.store_u64(*word, &mut row.0, part);
        }
    }
}

/// Reads 256 candidates in every lane; the highest bit of a returned word is set if one was too
/// great.
#[inline(always)]
fn read<L: LanesF64>(lanes: L, parts: usize, words: &Words, rows: &mut Rows) -> [u64; 8] {
    let mut rejected = [0; 8];
    for part in 0..parts {
        let mut too_great = lanes.splat_u64(0);
        for (words, group) in words.as_chunks::<3>().0.iter().zip(rows.as_chunks_mut::<8>().0) {
            let [a, b, c] = words;
            let load = |row: &Row<u64>| lanes.load_u64(&row.0, part);
            let numbers = candidates(lanes, [load(a), load(b), load(c)]);
            for (row, candidate) in group.iter_mut().zip(numbers) {
                let checked = lanes.add_u64(candidate, lanes.splat_u64(OVERFLOW));
                too_great = lanes.or(too_great, checked);
                lanes.store_f64(number(lanes, candidate), &mut row.0, part);
            }
        }
        lanes.store_u64(too_great, &mut rejected, part);
    }
    rejected
}

/// Returns the eight candidates in 24 bytes: the low 23 bits of every three.
#[inline(always)]
fn candidates<L: LanesF64>(lanes: L, [a, b, c]: [L::U64; 3]) -> [L::U64; 8] {
    let mask = lanes.splat_u64(MASK);
    let masked = |word| lanes.and(word, mask);
    let right = |word, count| lanes.and(lanes.shift_right(word, count), mask);
    let across = |low, count, high| {
        masked(lanes.or(lanes.shift_right(low, count), lanes.shift_left(high, 64 - count)))
    };
    [
        masked(a),
        right(a, 24),
        across(a, 48, b),
        right(b, 8),
        right(b, 32),
        across(b, 56, c),
        right(c, 16),
        right(c, 40),
    ]
}

/// Converts an integer below 2^52: a double of 2^52 has the integer added to it in its low bits.
#[inline(always)]
fn number<L: LanesF64>(lanes: L, integer: L::U64) -> L::F64 {
    let base = lanes.splat_f64(BASE);
    lanes.sub(lanes.as_f64(lanes.or(integer, lanes.as_u64(base))), base)
}

/// FIPS 204, Algorithm 30, for one polynomial: the coefficients that remain to be written.
struct Places<'a> {
    lane: usize,
    rows: core::slice::IterMut<'a, Row<f64>>,
}

impl<'a> Places<'a> {
    fn new(lane: usize, rows: &'a mut Rows) -> Self {
        Self { lane, rows: rows.iter_mut() }
    }

    /// Reads the squeezed words; returns true if they suffice.
    fn read_known(&mut self, words: &Words, lane: usize) -> bool {
        let mut bytes = [0; 8 * WORDS];
        for (position, row) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *position = row.0.get(lane).copied().unwrap_or_default().to_le_bytes();
        }
        self.read(&bytes)
    }

    /// Reads the output of SHAKE128 after the squeezed words.
    fn read_on(&mut self, message: &Message<'_>) -> Option<()> {
        let mut blocks = Blocks::<RATE_128>::of_short(message);
        for _ in 0..BLOCKS {
            blocks.next_block();
        }
        (0..BLOCKS).any(|_| self.read(&blocks.next_block())).then_some(())
    }

    /// Takes the candidates that are below q; returns true once every coefficient is written.
    fn read(&mut self, bytes: &[u8]) -> bool {
        for [low, middle, high] in bytes.as_chunks::<3>().0 {
            let candidate = u32::from_le_bytes([*low, *middle, high & 0x7f, 0]);
            if candidate < PRIME {
                let Some(row) = self.rows.next() else { return true };
                if let Some(number) = row.0.get_mut(self.lane) {
                    *number = f64::from(candidate);
                }
            }
        }
        self.rows.len() == 0
    }
}

/// The number of blocks squeezed first. Five blocks have 280 candidates, and 256 are needed.
/// Sampling ends after twice as many: FIPS 204, Appendix C, allows an end after 298 candidates, and
/// finding a seed that needs them is infeasible.
const BLOCKS: usize = 5;

/// The number of words of these blocks.
const WORDS: usize = BLOCKS * RATE_128 / 8;

const PRIME: u32 = 8_380_417;

/// The mask of the 23 bits of a candidate.
const MASK: u64 = 0x7f_ffff;

/// Added to q or more, this carries into the highest bit.
const OVERFLOW: u64 = (1 << 63) - 8_380_417;
