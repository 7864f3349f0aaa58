//! The key stream, one block in every lane, and its application to texts.

use wardgate_simd::Portable;
use wardgate_simd::lanes::{Kernel, Lanes32, MAX_WORDS, Quad, Tier, dispatch};

use super::{initial, mixed};
use crate::little_endian::words;

/// A key and a nonce, which determine the key stream.
#[derive(Clone)]
pub(in super::super) struct ChaCha20 {
    key: [u32; 8],
    nonce: [u32; 3],
}

impl ChaCha20 {
    pub(in super::super) fn new(key: &[u8; 32], nonce: &[u8; 12]) -> Self {
        Self { key: words(key), nonce: words(nonce) }
    }

    /// Computes the beginning of the key stream, one block in each lane.
    pub(in super::super) fn beginning(&self) -> Beginning {
        dispatch(Begin(self))
    }
}

/// The beginning of a key stream: a block for the key of the tag, then the blocks that encrypt the
/// start of the text.
pub(in super::super) struct Beginning {
    stream: Rows,
    /// The number of blocks.
    blocks: usize,
}

impl Beginning {
    /// Returns the key of the tag.
    pub(in super::super) fn key(&self) -> [u8; 32] {
        let [[low, high, ..], ..] = self.stream;
        let mut key = [0; 32];
        key.as_chunks_mut().0.copy_from_slice(&[low, high]);
        key
    }

    /// XORs `text` with the key stream after the first block, which encrypts and decrypts.
    pub(in super::super) fn apply(&self, cipher: &ChaCha20, text: &mut [u8]) {
        let (_, stream) = self.stream.split_at(1);
        let covered = text.len().min((self.blocks - 1) * BLOCK_BYTES);
        let (head, rest) = text.split_at_mut(covered);
        for (text, stream) in head.iter_mut().zip(stream.as_flattened().as_flattened()) {
            *text ^= stream;
        }
        if !rest.is_empty() {
            dispatch(Apply { cipher, counter: count(self.blocks), text: rest });
        }
    }
}

/// One block for each lane.
type Rows = [[Quad; 4]; MAX_WORDS];

struct Begin<'a>(&'a ChaCha20);

impl Kernel for Begin<'_> {
    type Output = Beginning;

    fn run<T: Tier>(self, tier: T) -> Beginning {
        let mut stream = [[[0; 16]; 4]; MAX_WORDS];
        join(tier, self.0, 0, &mut stream);
        Beginning { stream, blocks: T::WORDS }
    }
}

/// XORs a text with the key stream from block `counter` on.
pub(in super::super) struct Apply<'a> {
    pub(in super::super) cipher: &'a ChaCha20,
    pub(in super::super) counter: u32,
    pub(in super::super) text: &'a mut [u8],
}

impl Kernel for Apply<'_> {
    type Output = ();

    fn run<T: Tier>(self, tier: T) {
        let Self { cipher, mut counter, text } = self;
        for text in text.chunks_mut(T::WORDS * BLOCK_BYTES) {
            let short = text.len() <= BLOCK_BYTES;
            if let Some(rows) = text.as_chunks_mut().0.as_chunks_mut().0.first_chunk_mut() {
                join(tier, cipher, counter, rows);
            } else if short {
                join_some(Portable, cipher, counter, text);
            } else {
                join_some(tier, cipher, counter, text);
            }
            // A text is shorter than 2^32 blocks: the callers check its length.
            counter = counter.wrapping_add(count(T::WORDS));
        }
    }
}

/// XORs a text that is shorter than the rows with as much of the key stream.
fn join_some<T: Lanes32>(tier: T, cipher: &ChaCha20, counter: u32, text: &mut [u8]) {
    let mut rows = [[[0; 16]; 4]; MAX_WORDS];
    join(tier, cipher, counter, &mut rows);
    for (text, stream) in text.iter_mut().zip(rows.as_flattened().as_flattened()) {
        *text ^= stream;
    }
}

/// XORs as many blocks as there are lanes with the key stream.
///
/// Out of line, so that these vectors have all registers.
#[inline(never)]
fn join<T: Lanes32>(tier: T, cipher: &ChaCha20, counter: u32, rows: &mut Rows) {
    tier.enter(
        #[inline(always)]
        |tier| {
            let ChaCha20 { key, nonce: [x, y, z] } = cipher;
            let counter = tier.add_u32(tier.splat_u32(counter), tier.load_u32(&LANE));
            let mut state = initial(tier, key, [0, *x, *y, *z]);
            let [.., word, _, _, _] = &mut state;
            *word = counter;
            let mut last = mixed(tier, state);
            for (last, first) in last.iter_mut().zip(state) {
                *last = tier.add_u32(*last, first);
            }
            let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = last;
            tier.join_rows(&[[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, o, p]], rows);
        },
    );
}

fn count(blocks: usize) -> u32 {
    u32::try_from(blocks).unwrap_or(u32::MAX)
}

/// The length of a block of key stream in bytes.
const BLOCK_BYTES: usize = 64;

/// The offset of the block that each lane computes within its group.
#[expect(clippy::indexing_slicing, reason = "the index counts to the length")]
const LANE: [u32; MAX_WORDS] = {
    let mut lanes = [0; MAX_WORDS];
    let mut at = 1;
    while at < MAX_WORDS {
        lanes[at] = lanes[at - 1] + 1;
        at += 1;
    }
    lanes
};
