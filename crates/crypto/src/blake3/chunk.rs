//! One chunk or less, one block after the other: the shortest path for the most frequent messages.

use wardgate_simd::Portable;

use super::compress::{CHUNK_END, CHUNK_START, Root, Tail, chained, compress_one, pad};
use super::start::Start;

/// Hashes a message of one chunk at most, except for the last compression.
pub(super) fn root(start: &Start, message: &[u8]) -> Root {
    let mut chain = start.key;
    let mut flags = start.flags | CHUNK_START;
    let mut rest = message;
    while let Some((block, more)) = rest.split_first_chunk::<64>()
        && !more.is_empty()
    {
        let tail = Tail { counter_low: 0, counter_high: 0, length: 64, flags };
        chain = chained(Portable, &compress_one(&chain, block, tail));
        flags = start.flags;
        rest = more;
    }
    let mut block = [0; 64];
    let length = pad(&mut block, rest);
    Root { chain, block, length, flags: flags | CHUNK_END }
}
