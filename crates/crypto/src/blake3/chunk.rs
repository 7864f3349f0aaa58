//! One chunk or less, one block after the other: the shortest path for the most frequent messages.

use wardgate_simd::Portable;

use super::Digest;
use super::compress::{CHUNK_END, CHUNK_START, Root, Tail, chained, compress_one, halves, pad};
use super::start::Start;

/// Hashes a message of one chunk at most, except for the last compression.
pub(super) fn root(start: &Start, message: &[u8]) -> Root {
    all_but_last(start, message, 0, [CHUNK_START, 0, CHUNK_END])
}

/// Returns the chaining value of one chunk or parent. The flags are those of its first block, of
/// every block, and of the last.
pub(super) fn value(start: &Start, bytes: &[u8], counter: u64, flags: [u32; 3]) -> Digest {
    all_but_last(start, bytes, counter, flags).value(counter)
}

fn all_but_last(start: &Start, bytes: &[u8], counter: u64, [first, every, last]: [u32; 3]) -> Root {
    let [counter_low, counter_high] = halves(counter);
    let mut chain = start.key;
    let mut flags = start.flags | first | every;
    let mut rest = bytes;
    while let Some((block, more)) = rest.split_first_chunk::<64>()
        && !more.is_empty()
    {
        let tail = Tail { counter_low, counter_high, length: 64, flags };
        chain = chained(Portable, &compress_one(&chain, block, tail));
        flags = start.flags | every;
        rest = more;
    }
    let mut block = [0; 64];
    let length = pad(&mut block, rest);
    Root { chain, block, length, flags: flags | last }
}
