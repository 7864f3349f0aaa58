//! Compression: the block format of LZ4, one block for each chunk.
//!
//! Blocks are written by code of our own because equal policies must give equal bytes on every host:
//! the matches of `lz4_flex` depend on the word size of the machine. Ours are also smaller, because
//! every position is compared with many earlier ones and the cheapest sequence of matches is found
//! backwards. They are read by code of our own because it is smaller in a page. That crate is the
//! oracle of both. Source: the LZ4 block format description, version 1.6.3.

use alloc::vec;
use alloc::vec::Vec;

/// A match: the bytes from a position on are those `distance` before it.
#[derive(Clone, Copy, Default)]
struct Match {
    distance: usize,
    length: usize,
}

/// Returns the block of `bytes`, or `None` if it is not shorter.
pub(crate) fn compress(bytes: &[u8]) -> Option<Vec<u8>> {
    let matches = cheapest(&longest(bytes));
    let mut block = Vec::with_capacity(bytes.len());
    let (mut at, mut start) = (0, 0);
    while let Some(found) = matches.get(at) {
        if found.length == 0 {
            at += 1;
            continue;
        }
        write(&mut block, bytes.get(start..at).unwrap_or(&[]), Some(*found));
        at += found.length;
        start = at;
    }
    write(&mut block, bytes.get(start..).unwrap_or(&[]), None);
    (block.len() < bytes.len()).then_some(block)
}

/// Decompresses a block into `plain`; `None` if the block is malformed or has another length.
pub(crate) fn decompress(block: &[u8], plain: &mut [u8]) -> Option<()> {
    let (mut block, mut at) = (block, 0_usize);
    loop {
        let (token, rest) = block.split_first()?;
        block = rest;
        let literals = read_length(&mut block, token >> 4)?;
        let (copied, rest) = block.split_at_checked(literals)?;
        plain.get_mut(at..)?.get_mut(..literals)?.copy_from_slice(copied);
        (block, at) = (rest, at + literals);
        if block.is_empty() {
            return (at == plain.len()).then_some(());
        }
        let (distance, rest) = block.split_first_chunk()?;
        block = rest;
        let distance = usize::from(u16::from_le_bytes(*distance));
        let length = read_length(&mut block, token & 15)?.checked_add(SHORTEST)?;
        let from = at.checked_sub(distance).filter(|_| distance > 0)?;
        let end = at.checked_add(length)?;
        if distance >= length {
            plain.get(at..end)?;
            plain.copy_within(from..from + length, at);
        } else {
            // The match overlaps what it makes.
            for to in at..end {
                *plain.get_mut(to)? = *plain.get(to - distance)?;
            }
        }
        at = end;
    }
}

/// Reads the rest of a length whose four bits are given.
fn read_length(block: &mut &[u8], bits: u8) -> Option<usize> {
    let mut length = usize::from(bits);
    let mut last = if bits == 15 { 255 } else { 0 };
    while last == 255 {
        let (byte, rest) = block.split_first()?;
        (*block, last) = (rest, *byte);
        length = length.checked_add(usize::from(last))?;
    }
    Some(length)
}

/// Returns the longest match at each position; a length of 0 is none. The end of a block has none.
fn longest(bytes: &[u8]) -> Vec<Match> {
    let mut found = vec![Match::default(); bytes.len()];
    let last_start = bytes.len().saturating_sub(END);
    let last_end = bytes.len().saturating_sub(LITERALS);
    // The latest position of each hash, and for each position the one before with its hash, plus one.
    let (mut latest, mut before) = (vec![0; 1 << HASH_BITS], vec![0; last_start]);
    let mut covered = 0;
    for at in 0..last_start {
        let Some(bucket) = hash(bytes, at).and_then(|hash| latest.get_mut(hash)) else { break };
        let earlier = core::mem::replace(bucket, at + 1);
        if let Some(before) = before.get_mut(at) {
            *before = earlier;
        }
        if at < covered {
            continue;
        }
        let best = best_of(bytes, (at, last_end), earlier, &before);
        if best.length >= LONG {
            covered = at + best.length;
        }
        if let Some(found) = found.get_mut(at) {
            *found = best;
        }
    }
    found
}

/// Returns the longest match of a position among the latest earlier ones with its hash.
fn best_of(bytes: &[u8], (at, end): (usize, usize), first: usize, before: &[usize]) -> Match {
    let mut best = Match::default();
    let here = bytes.get(at..end).unwrap_or(&[]);
    let mut next = first;
    for _ in 0..ATTEMPTS {
        let Some(earlier) = next.checked_sub(1).filter(|earlier| at - earlier <= FARTHEST) else {
            break;
        };
        let there = bytes.get(earlier..).unwrap_or(&[]);
        let length = here.iter().zip(there).take_while(|(a, b)| a == b).count();
        if length > best.length {
            best = Match { distance: at - earlier, length };
        }
        next = before.get(earlier).copied().unwrap_or(0);
    }
    if best.length < SHORTEST { Match::default() } else { best }
}

/// Returns the match to take at each position where the cheapest block has one; a shorter one than
/// the longest may leave more to the next.
fn cheapest(longest: &[Match]) -> Vec<Match> {
    let mut costs = vec![0_usize; longest.len() + 1];
    let mut taken = vec![Match::default(); longest.len()];
    for (at, found) in longest.iter().enumerate().rev() {
        let cost = |next: usize| costs.get(next).copied().unwrap_or(0);
        let mut best = (cost(at + 1) + 1, 0);
        let shortest = if found.length >= LONG { found.length } else { SHORTEST };
        for length in shortest..=found.length {
            let bytes = 3 + (length + 255).saturating_sub(SHORTEST + 15) / 255;
            best = best.min((cost(at + length) + bytes, length));
        }
        if let (Some(cost), Some(taken)) = (costs.get_mut(at), taken.get_mut(at)) {
            *cost = best.0;
            *taken = Match { length: best.1, ..*found };
        }
    }
    taken
}

/// Writes a sequence: literals, and the match behind them. The last sequence has none.
fn write(block: &mut Vec<u8>, literals: &[u8], found: Option<Match>) {
    let length = found.map_or(0, |found| found.length.saturating_sub(SHORTEST));
    let nibble = |length: usize| u8::try_from(length.min(15)).unwrap_or(15);
    block.push(nibble(literals.len()) << 4 | nibble(length));
    write_length(block, literals.len());
    block.extend_from_slice(literals);
    if let Some(found) = found {
        block.extend_from_slice(&u16::try_from(found.distance).unwrap_or(0).to_le_bytes());
        write_length(block, length);
    }
}

/// Writes the part of a length that its four bits cannot hold.
fn write_length(block: &mut Vec<u8>, length: usize) {
    let Some(mut rest) = length.checked_sub(15) else { return };
    while rest >= 255 {
        block.push(255);
        rest -= 255;
    }
    block.push(u8::try_from(rest).unwrap_or(0));
}

/// Hashes four bytes.
fn hash(bytes: &[u8], at: usize) -> Option<usize> {
    let word = u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
    usize::try_from(word.wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)).ok()
}

/// The shortest match that the format knows.
const SHORTEST: usize = 4;

/// The last match starts so many bytes before the end, and the last bytes are literals.
const END: usize = 12;
const LITERALS: usize = 5;

/// The farthest match that the format knows.
const FARTHEST: usize = 0xffff;

/// The number of earlier positions that one is compared with, and the length of a match that is
/// taken as it is.
const ATTEMPTS: usize = 128;
const LONG: usize = 64;

const HASH_BITS: u32 = 14;

#[cfg(test)]
mod tests {
    use super::*;
    use lz4_flex::block::decompress_into;

    /// Returns the length of the block of `bytes`, which both implementations read, as ours reads
    /// theirs.
    fn round_trip(bytes: &[u8]) -> usize {
        let mut plain = vec![0; bytes.len()];
        decompress(&lz4_flex::block::compress(bytes), &mut plain).unwrap();
        assert_eq!(plain, bytes);
        let Some(block) = compress(bytes) else { return bytes.len() };
        plain.fill(0);
        assert_eq!(decompress_into(&block, &mut plain).ok(), Some(bytes.len()));
        assert_eq!(plain, bytes);
        plain.fill(0);
        decompress(&block, &mut plain).unwrap();
        assert_eq!(plain, bytes);
        block.len()
    }

    #[test]
    fn changed_blocks_are_refused_or_read_alike() {
        let mut random = fastrand::Rng::with_seed(5);
        let bytes = b"resource.document.vdefault#viewer resource.album.vdefault#owner ".repeat(9);
        let block = compress(&bytes).unwrap();
        for _ in 0..20_000 {
            let mut changed = block.clone();
            for _ in 0..random.usize(1..4) {
                *random.choice(&mut changed).unwrap() = random.u8(..);
            }
            changed.truncate(random.usize(changed.len() / 2..=changed.len() + 2));
            let (mut ours, mut theirs) = (vec![0; bytes.len()], vec![0; bytes.len()]);
            let read = decompress(&changed, &mut ours).is_some();
            let expected = decompress_into(&changed, &mut theirs).ok() == Some(bytes.len());
            // Ours may refuse more than theirs, but accepts nothing else.
            if read {
                assert!(expected, "{changed:x?}");
                assert_eq!(ours, theirs);
            }
        }
        assert_eq!(decompress(&[], &mut []), None);
        assert_eq!(decompress(&[0], &mut []), Some(()));
        assert_eq!(decompress(&[0x10, 7], &mut []), None);
        assert_eq!(decompress(&[0x10, 7, 0, 0, 0], &mut [0; 9]), None);
    }

    #[test]
    fn both_implementations_read_all_blocks() {
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..400 {
            let alphabet = random.u8(1..=64);
            let length = random.usize(..6000);
            let mut bytes: Vec<u8> = (0..length).map(|_| random.u8(..alphabet)).collect();
            for _ in 0..random.usize(..8) {
                let (from, to) = (random.usize(..=length), random.usize(..=length));
                let copied = bytes.get(from..(from + 300).min(length)).unwrap().to_vec();
                bytes.splice(to..to, copied);
            }
            round_trip(&bytes);
        }
    }

    #[test]
    fn repetition_is_short() {
        let bytes = b"resource.document.vdefault#rule-001 ".repeat(1000);
        assert!(round_trip(&bytes) < 300);
        assert!(round_trip(&[0; 40_000]) < 200);
        assert_eq!(round_trip(b""), 0);
        assert_eq!(round_trip(b"short"), 5);
    }
}
