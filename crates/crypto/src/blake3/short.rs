//! Messages of one block at most: a message in each lane, and one compression for all of them.
//!
//! No state passes from step to step: every message is first and last block at once, and its digest
//! is written straight into its slot.

#![expect(clippy::indexing_slicing, reason = "sets count to the length of arrays of them")]

use wardgate_simd::lanes::{Block, Lanes32, MAX_WORDS, Quad};

use super::Digest;
use super::compress::{CHUNK_END, CHUNK_START, ROOT, Tail, chained, compress_sets, pad};
use super::start::Start;

/// Hashes messages from the first on, a group in all lanes at a time, until a group has one of more
/// than a block, and returns the number of messages hashed.
#[inline(always)]
pub(super) fn hash<T: Lanes32>(
    tier: T,
    start: &Start,
    messages: &[&[u8]],
    digests: &mut [Digest],
) -> usize {
    // The first group would end at its first message. In WebAssembly its code is not even compiled.
    if messages.first().is_none_or(|message| message.len() > EMPTY.len()) {
        return 0;
    }
    // Sixteen lanes have twice the registers of eight: enough for a second set, which works while
    // the first waits.
    let done = if T::WORDS == 16 { groups::<T, 2>(tier, start, messages, digests) } else { 0 };
    done + groups::<T, 1>(tier, start, &messages[done..], &mut digests[done..])
}

/// Hashes groups of `SETS` times as many messages as there are lanes. Only with one set may the
/// last group be incomplete.
#[inline(never)]
fn groups<T: Lanes32, const SETS: usize>(
    tier: T,
    start: &Start,
    messages: &[&[u8]],
    digests: &mut [Digest],
) -> usize {
    let count = SETS * T::WORDS;
    let most = if SETS == 1 { messages.len() } else { messages.len() / count * count };
    let mut done = 0;
    tier.enter(
        #[inline(always)]
        |tier| {
            while done < most {
                let group = &messages[done..most.min(done + count)];
                if !hash_group::<T, SETS>(tier, start, group, &mut digests[done..]) {
                    break;
                }
                done += group.len();
            }
        },
    );
    done
}

/// Hashes one group, unless a message has more than a block.
#[inline(always)]
fn hash_group<T: Lanes32, const SETS: usize>(
    tier: T,
    start: &Start,
    messages: &[&[u8]],
    digests: &mut [Digest],
) -> bool {
    let mut blocks = [[&EMPTY; MAX_WORDS]; SETS];
    let mut lengths = [[BLOCK_BYTES; MAX_WORDS]; SETS];
    let mut pads;
    if !whole(messages, blocks.as_flattened_mut()) {
        pads = [[EMPTY; MAX_WORDS]; SETS];
        if !padded(messages, pads.as_flattened_mut(), lengths.as_flattened_mut()) {
            return false;
        }
        for (block, pad) in blocks.as_flattened_mut().iter_mut().zip(pads.as_flattened()) {
            *block = pad;
        }
    }
    let zero = tier.splat_u32(0);
    let flags = tier.splat_u32(start.flags | CHUNK_START | CHUNK_END | ROOT);
    let mut key = [zero; 8];
    for (lanes, word) in key.iter_mut().zip(start.key) {
        *lanes = tier.splat_u32(word);
    }
    let mut columns = [[zero; 16]; SETS];
    let mut tails = [Tail { counter_low: zero, counter_high: zero, length: zero, flags }; SETS];
    for set in 0..SETS {
        columns[set] = tier.columns(&blocks[set]);
        tails[set].length = tier.load_u32(&lengths[set]);
    }
    let states = compress_sets(tier, &[key; SETS], &columns, &tails);
    for (set, state) in states.iter().enumerate() {
        let from = set * T::WORDS;
        let to = messages.len().min(from + T::WORDS);
        write(tier, &chained(tier, state), &mut digests[from..], to - from);
    }
    true
}

/// Borrows the messages as blocks; returns false if one is not exactly a block.
#[inline(always)]
fn whole<'m>(messages: &[&'m [u8]], blocks: &mut [&'m Block]) -> bool {
    for (block, message) in blocks.iter_mut().zip(messages) {
        let Some(whole) = message.as_array() else { return false };
        *block = whole;
    }
    true
}

/// Pads the messages with zeros to blocks; returns false if one is longer than a block.
#[inline(never)]
fn padded(messages: &[&[u8]], pads: &mut [Block], lengths: &mut [u32]) -> bool {
    for ((block, length), message) in pads.iter_mut().zip(lengths).zip(messages) {
        if message.len() > block.len() {
            return false;
        }
        *length = pad(block, message);
    }
    true
}

/// Writes the first `count` digests, one for each lane.
#[inline(always)]
fn write<T: Lanes32>(tier: T, chain: &[T::U32; 8], digests: &mut [Digest], count: usize) {
    let [a, b, c, d, e, f, g, h] = *chain;
    let columns = [[a, b, c, d], [e, f, g, h]];
    let (quads, _): (&mut [Quad], _) = digests.as_flattened_mut().as_chunks_mut();
    match quads.as_chunks_mut().0.first_chunk_mut() {
        Some(rows) if count == T::WORDS => tier.rows(&columns, rows),
        _ => {
            let mut rows = [[[0; 16]; 2]; MAX_WORDS];
            tier.rows(&columns, &mut rows);
            for (digest, row) in digests.iter_mut().zip(&rows).take(count) {
                digest.as_chunks_mut().0.copy_from_slice(row);
            }
        }
    }
}

const EMPTY: Block = [0; 64];

/// The length of a whole block in bytes, in the type of the compression function.
const BLOCK_BYTES: u32 = 64;
