//! SHAKE128 and SHAKE256 (FIPS 202, section 6.2), several messages side by side.
//!
//! Messages of different lengths share a permutation: one that ended early is read out when it ended, and
//! what its lane computes from then on is not looked at.

use wardgate_simd::Portable;
use wardgate_simd::lanes::{Lanes64, Row};

use crate::keccak::{self, State};

/// What is hashed: the pieces one after the other, as if they were one text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Message<'a>(pub(crate) [&'a [u8]; 4]);

impl Message<'_> {
    fn len(&self) -> usize {
        self.0.iter().fold(0, |sum, piece| sum.saturating_add(piece.len()))
    }

    /// Writes block `index` of the padded message; after the last block, only zeros.
    #[inline]
    pub(crate) fn block<const RATE: usize>(&self, index: usize) -> [u8; RATE] {
        let mut block = [0; RATE];
        let mut skip = index.saturating_mul(RATE);
        let mut free = &mut block[..];
        for piece in self.0 {
            let rest = piece.get(skip..).unwrap_or_default();
            skip = skip.saturating_sub(piece.len());
            let (here, left) = free.split_at_mut(rest.len().min(free.len()));
            here.copy_from_slice(rest.get(..here.len()).unwrap_or_default());
            free = left;
        }
        if let ([first, ..], 0) = (free, skip) {
            *first = DOMAIN;
            if let Some(last) = block.last_mut() {
                *last ^= LAST;
            }
        }
        block
    }
}

/// A block of SHAKE128.
pub(crate) const RATE_128: usize = 168;

/// A block of SHAKE256.
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
        absorb::<L, RATE_256>(lanes, &mut state, |lane| Some(messages.get(lane)?.block(index)));
        keccak::permute(lanes, &mut state);
        for (lane, (message, output)) in messages.iter().zip(&mut *outputs).enumerate() {
            if blocks(message) == index {
                read_lane(lanes, &state, lane, output);
            }
        }
    }
}

/// Adds one block to each state; a lane without one stays as it is.
#[inline]
pub(crate) fn absorb<L: Lanes64, const RATE: usize>(
    lanes: L,
    state: &mut State<L::U64>,
    block: impl Fn(usize) -> Option<[u8; RATE]>,
) {
    let mut rows = [Row([0; 8]); 25];
    for lane in 0..L::LANES {
        let Some(block) = block(lane) else { continue };
        for (row, word) in rows.iter_mut().zip(block.as_chunks().0) {
            if let Some(place) = row.0.get_mut(lane) {
                *place = u64::from_le_bytes(*word);
            }
        }
    }
    for (word, row) in state.iter_mut().zip(&rows).take(RATE / 8) {
        *word = lanes.xor(*word, lanes.load_u64(&row.0, 0));
    }
}

/// Writes the first words of the state in `lane`, as many as fit.
#[inline]
fn read_lane<L: Lanes64>(lanes: L, state: &State<L::U64>, lane: usize, output: &mut [u8]) {
    for (bytes, word) in output.as_chunks_mut().0.iter_mut().zip(state) {
        let mut row = [0; 8];
        lanes.store_u64(*word, &mut row, 0);
        *bytes = row.get(lane).copied().unwrap_or_default().to_le_bytes();
    }
}

/// One output, block after block, for the rare cases that need more than was expected.
pub(crate) struct Blocks<const RATE: usize> {
    state: State<u64>,
}

impl<const RATE: usize> Blocks<RATE> {
    /// Hashes `message`, which ends in its first block.
    pub(crate) fn of_short(message: &Message<'_>) -> Self {
        let mut state = keccak::empty(Portable);
        absorb::<_, RATE>(Portable, &mut state, |_| Some(message.block(0)));
        Self { state }
    }

    /// Returns the next block.
    pub(crate) fn next_block(&mut self) -> [u8; RATE] {
        keccak::permute(Portable, &mut self.state);
        let mut block = [0; RATE];
        read_lane(Portable, &self.state, 0, &mut block);
        block
    }
}

/// What follows a message: the suffix of SHAKE and the first bit of the padding.
const DOMAIN: u8 = 0x1f;

/// The last bit of the padding.
const LAST: u8 = 0x80;

#[cfg(test)]
mod tests;
