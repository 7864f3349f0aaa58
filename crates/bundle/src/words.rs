//! The words of a table as bytes: seven bits a byte, the lowest first, and a high bit where more
//! follow (LEB128 without sign, as in WebAssembly). Most words are small.
//!
//! Records that follow each other are alike: offsets grow and names repeat. So a word of them is
//! written as its difference from the same word of the record before, its sign in the lowest bit
//! (ZigZag, as in Protocol Buffers).

use alloc::vec::Vec;

use wardgate_engine::cel::pool::PROGRAM_WORDS;
use wardgate_engine::table::Section;
use wardgate_engine::table::layout::{Header, INDEX_WORDS, POLICY_WORDS};

use crate::format::size;

/// Returns the bytes of `words`.
pub(crate) fn write(words: &[u32]) -> Vec<u8> {
    let mut words = words.to_vec();
    each_record(&mut words, relative);
    let mut bytes = Vec::with_capacity(words.len().saturating_mul(2));
    for word in words {
        let mut rest = word;
        while rest >= MORE {
            bytes.push(low(rest) | 0x80);
            rest >>= 7;
        }
        bytes.push(low(rest));
    }
    bytes
}

/// Returns the words of `bytes`, or `None` if a word is not in its shortest form, exceeds 32 bits or
/// has no end.
pub(crate) fn read(bytes: &[u8]) -> Option<Vec<u32>> {
    let ends = bytes.iter().filter(|byte| **byte < 0x80).count();
    let mut words = Vec::with_capacity(ends);
    let mut rest = bytes.iter().copied();
    while let Some(first) = rest.next() {
        let mut word = u32::from(first & 0x7f);
        let (mut byte, mut shift) = (first, 7);
        while byte >= 0x80 {
            byte = rest.next()?;
            let bits = u32::from(byte & 0x7f);
            // The fifth byte holds the last four bits.
            if byte == 0 || shift > 28 || shift == 28 && bits > 0xf {
                return None;
            }
            word |= bits << shift;
            shift += 7;
        }
        words.push(word);
    }
    each_record(&mut words, absolute);
    Some(words)
}

/// Calls `change` with the words of each section of like records, and the words of a record. Words
/// that are no table stay as they are.
fn each_record(words: &mut [u32], change: fn(&mut [u32], usize)) {
    let Some(header) = Header::read(words) else { return };
    for (section, length) in RECORDS {
        let (start, count) = header.bounds(section);
        let mut records = start..start.saturating_add(count);
        if section == Section::FastPaths && count > 0 {
            // The section starts with the number of fast paths and the offset of each.
            let offsets = words.get(start).copied().map_or(0, size).min(count - 1);
            records = start + 1..start + 1 + offsets;
        }
        change(words.get_mut(records).unwrap_or_default(), length);
    }
}

/// Replaces each word but those of the first record by its difference from the record before.
fn relative(words: &mut [u32], length: usize) {
    for at in (length..words.len()).rev() {
        if let Some([before, .., word]) = words.get_mut(at - length..=at) {
            let difference = word.wrapping_sub(*before);
            *word = difference << 1 ^ (difference >> 31).wrapping_neg();
        }
    }
}

/// The inverse of [`relative`].
fn absolute(words: &mut [u32], length: usize) {
    for at in length..words.len() {
        if let Some([before, .., word]) = words.get_mut(at - length..=at) {
            let difference = *word >> 1 ^ (*word & 1).wrapping_neg();
            *word = before.wrapping_add(difference);
        }
    }
}

/// The sections of like records, and the words of a record.
const RECORDS: [(Section, usize); 6] = [
    (Section::Strings, 1),
    (Section::Programs, PROGRAM_WORDS),
    (Section::Index, INDEX_WORDS),
    (Section::Policies, POLICY_WORDS),
    (Section::FastPaths, 1),
    (Section::Explanations, 1),
];

/// Returns the lowest seven bits.
fn low(word: u32) -> u8 {
    word.to_le_bytes()[0] & 0x7f
}

/// The smallest word of two bytes.
const MORE: u32 = 0x80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive() {
        let mut words: Vec<u32> = (0..32).flat_map(|bit| [1 << bit, (1 << bit) - 1]).collect();
        words.push(u32::MAX);
        assert_eq!(read(&write(&words)), Some(words));
    }

    #[test]
    fn differences_are_undone() {
        for length in [1, 2, 5] {
            let words = [3, 9, 9, u32::MAX, 0, 1 << 31, 7, 7, 8];
            let mut changed = words;
            relative(&mut changed, length);
            assert_ne!(changed, words);
            absolute(&mut changed, length);
            assert_eq!(changed, words);
        }
    }

    #[test]
    fn each_word_has_one_form() {
        for wrong in [
            &[0x80][..],
            &[0x80, 0],
            &[0xff, 0x80, 0],
            &[0xff, 0xff, 0xff, 0xff, 0x10],
            &[0xff, 0xff, 0xff, 0xff, 0x8f, 0],
            &[0xff, 0xff, 0xff, 0xff, 0x8f, 1],
        ] {
            assert_eq!(read(wrong), None, "{wrong:x?}");
        }
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xf]), Some([u32::MAX].to_vec()));
    }
}
