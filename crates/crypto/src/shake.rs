//! SHAKE128 and SHAKE256 (FIPS 202, section 6.2), several messages side by side.
//!
//! Messages of different lengths share a permutation: the output of a short one is read when it
//! ends, and later values of its lane are ignored.

use wardgate_simd::Portable;
use wardgate_simd::lanes::{Lanes64, Row};

use crate::keccak::{self, State};

/// A message in pieces, hashed as one text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Message<'a>(pub(crate) [&'a [u8]; 4]);

impl Message<'_> {
    fn len(&self) -> usize {
        self.0.iter().fold(0, |sum, piece| sum.saturating_add(piece.len()))
    }

    /// Returns block `index` of the padded message: a part of a piece, or built in `space`, which
    /// is zero.
    fn block<'a, const RATE: usize>(
        &'a self,
        index: usize,
        space: &'a mut [u8; RATE],
    ) -> &'a [u8; RATE] {
        let mut skip = index.saturating_mul(RATE);
        let mut free = &mut space[..];
        for piece in &self.0 {
            let rest = piece.get(skip..).unwrap_or_default();
            skip = skip.saturating_sub(piece.len());
            if free.len() == RATE
                && let Some(whole) = rest.first_chunk()
            {
                return whole;
            }
            let (here, left) = free.split_at_mut(rest.len().min(free.len()));
            here.copy_from_slice(rest.get(..here.len()).unwrap_or_default());
            free = left;
        }
        if let ([first, ..], 0) = (free, skip) {
            *first = DOMAIN;
            if let Some(last) = space.last_mut() {
                *last ^= LAST;
            }
        }
        space
    }

    /// Writes block `index` into lane `lane` of rows that are zero.
    fn spread<const RATE: usize>(&self, index: usize, lane: usize, rows: &mut Words) {
        let mut space = [0; RATE];
        let block = self.block(index, &mut space);
        for (row, word) in rows.iter_mut().zip(block.as_chunks().0) {
            if let Some(position) = row.0.get_mut(lane) {
                *position = u64::from_le_bytes(*word);
            }
        }
    }
}

/// The words of a state in memory: row `n` holds word `n` of every lane.
pub(crate) type Words = [Row<u64>; 25];

const EMPTY: Words = [Row([0; 8]); 25];

/// The length of a block of SHAKE128 in bytes.
pub(crate) const RATE_128: usize = 168;

/// The length of a block of SHAKE256 in bytes.
pub(crate) const RATE_256: usize = 136;

/// Writes the first block that SHAKE256 gives for each message, a message to a lane.
///
/// There are at most as many messages as lanes, and as many outputs as messages.
pub(crate) fn first_blocks<L: Lanes64>(
    lanes: L,
    messages: &[Message<'_>],
    outputs: &mut [[u8; RATE_256]],
) {
    let blocks = |message: &Message<'_>| message.len() / RATE_256;
    let last = messages.iter().map(blocks).max().unwrap_or_default();
    let mut state = keccak::empty(lanes);
    for index in 0..=last {
        let mut words = EMPTY;
        for (lane, message) in messages.iter().enumerate() {
            message.spread::<RATE_256>(index, lane, &mut words);
        }
        step(lanes, &mut state, &mut words);
        for (lane, (message, output)) in messages.iter().zip(&mut *outputs).enumerate() {
            if blocks(message) == index {
                read_lane(&words, lane, output);
            }
        }
    }
}

/// Begins with the short text `prefix` and the suffix of each lane.
pub(crate) fn begin<L: Lanes64, const RATE: usize>(
    lanes: L,
    prefix: &[u8],
    suffix: impl Fn(usize) -> [u8; 2],
) -> State<L::U64> {
    let mut words = EMPTY;
    for lane in 0..L::LANES {
        Message([prefix, &suffix(lane), &[], &[]]).spread::<RATE>(0, lane, &mut words);
    }
    let mut state = keccak::empty(lanes);
    lanes.enter(|lanes| add(lanes, &mut state, &words));
    state
}

/// Adds a block to each state, permutes, and writes out the words of the new states.
fn step<L: Lanes64>(lanes: L, state: &mut State<L::U64>, words: &mut Words) {
    lanes.enter(|lanes| {
        add(lanes, state, words);
        keccak::permute(lanes, state);
        for (word, row) in state.iter().zip(words) {
            lanes.store_u64(*word, &mut row.0, 0);
        }
    });
}

#[inline(always)]
fn add<L: Lanes64>(lanes: L, state: &mut State<L::U64>, words: &Words) {
    for (word, row) in state.iter_mut().zip(words) {
        *word = lanes.xor(*word, lanes.load_u64(&row.0, 0));
    }
}

/// Writes the first words of `lane`, as many as fit.
fn read_lane(words: &Words, lane: usize, output: &mut [u8]) {
    for (bytes, row) in output.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = row.0.get(lane).copied().unwrap_or_default().to_le_bytes();
    }
}

/// One output, block after block, for the rare cases that need more blocks than were squeezed
/// first.
pub(crate) struct Blocks<const RATE: usize> {
    state: State<u64>,
    words: Words,
}

impl<const RATE: usize> Blocks<RATE> {
    /// Hashes `message`, which ends in its first block.
    pub(crate) fn of_short(message: &Message<'_>) -> Self {
        let mut words = EMPTY;
        message.spread::<RATE>(0, 0, &mut words);
        Self { state: keccak::empty(Portable), words }
    }

    /// Returns the next block.
    pub(crate) fn next_block(&mut self) -> [u8; RATE] {
        step(Portable, &mut self.state, &mut self.words);
        let mut block = [0; RATE];
        read_lane(&self.words, 0, &mut block);
        // Later blocks add no input.
        self.words = EMPTY;
        block
    }
}

/// The byte after a message: the suffix of SHAKE and the first bit of the padding.
const DOMAIN: u8 = 0x1f;

/// The last bit of the padding.
const LAST: u8 = 0x80;

#[cfg(test)]
mod tests;
