//! Content-defined chunking: the bytes themselves choose the cuts, so an insertion moves only the
//! cuts near it.
//!
//! A gear hash runs over the bytes; where its upper bits are zero, a chunk ends. The hash protects
//! against no attacker: readers accept any cuts, and the digests protect the content.

/// Cuts `bytes` into chunks. What fits into one is not cut: one chunk is compressed better than
/// several, and a delta saves little there.
pub(crate) fn cut(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    core::iter::from_fn(move || {
        let end = if bytes.len() <= LONGEST { rest.len() } else { end(rest) };
        let (chunk, left) = rest.split_at_checked(end).filter(|_| !rest.is_empty())?;
        rest = left;
        Some(chunk)
    })
}

/// Returns the offset at which the first chunk of `bytes` ends.
fn end(bytes: &[u8]) -> usize {
    let most = bytes.len().min(LONGEST);
    let mut hash = 0_u64;
    for (at, byte) in bytes.iter().enumerate().take(most).skip(SHORTEST - WINDOW) {
        hash = (hash << 1).wrapping_add(gear(*byte));
        if at >= SHORTEST && hash & MASK == 0 {
            return at;
        }
    }
    most
}

/// Spreads a byte over 64 bits: the finaliser of SplitMix64.
fn gear(byte: u8) -> u64 {
    let seed = (u64::from(byte) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let seed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let seed = (seed ^ seed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    seed ^ seed >> 31
}

/// The smallest and the largest length of a chunk in bytes. The last chunk of a part may be
/// shorter.
const SHORTEST: usize = 2 << 10;
const LONGEST: usize = 64 << 10;

/// The number of bytes that the hash depends on.
const WINDOW: usize = 64;

/// Twelve bits: a cut every 4 KiB beyond the shortest chunk. They are the upper bits, because the
/// lower ones depend on few bytes.
const MASK: u64 = 0xfff << 52;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn noise(length: usize) -> Vec<u8> {
        (0..length)
            .map(|at| gear(u8::try_from(at * 7 % 251).unwrap()).to_le_bytes()[at % 8])
            .collect()
    }

    #[test]
    fn chunks_are_the_bytes() {
        for length in [0, 1, SHORTEST, LONGEST + 1, 200_000] {
            let bytes = noise(length);
            let chunks: Vec<&[u8]> = cut(&bytes).collect();
            assert_eq!(chunks.concat(), bytes);
            assert!(chunks.iter().all(|chunk| !chunk.is_empty() && chunk.len() <= LONGEST));
        }
    }

    #[test]
    fn an_insertion_moves_few_cuts() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            state.to_be_bytes()[0]
        };
        let before: Vec<u8> = (0..400_000).map(|_| random()).collect();
        let mut after = before.clone();
        after.splice(150_000..150_000, *b"inserted");
        let old: Vec<&[u8]> = cut(&before).collect();
        let fresh = cut(&after).filter(|chunk| !old.contains(chunk)).count();
        assert!(fresh <= 3, "{fresh} of {}", old.len());
    }
}
