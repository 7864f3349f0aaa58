//! The meaning of every operation on words: one lane, in safe code.

use super::{Block, Lanes32, MAX_WORDS, Quad};
use crate::Portable;

impl Lanes32 for Portable {
    type U32 = u32;

    const WORDS: usize = 1;

    #[inline(always)]
    fn splat_u32(self, value: u32) -> u32 {
        value
    }

    #[inline(always)]
    fn load_u32(self, words: &[u32; MAX_WORDS]) -> u32 {
        let [first, ..] = words;
        *first
    }

    #[inline(always)]
    fn add_u32(self, a: u32, b: u32) -> u32 {
        a.wrapping_add(b)
    }

    #[inline(always)]
    fn xor_u32(self, a: u32, b: u32) -> u32 {
        a ^ b
    }

    #[inline(always)]
    fn and_u32(self, a: u32, b: u32) -> u32 {
        a & b
    }

    #[inline(always)]
    fn rotate_right_u32<const COUNT: i32>(self, a: u32) -> u32 {
        a.rotate_right(COUNT.cast_unsigned())
    }

    #[inline(always)]
    fn columns(self, blocks: &[&Block; MAX_WORDS]) -> [u32; 16] {
        let [first, ..] = blocks;
        let mut words = [0; 16];
        for (word, bytes) in words.iter_mut().zip(first.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        words
    }

    #[inline(always)]
    fn rows<const QUADS: usize>(
        self,
        columns: &[[u32; 4]; QUADS],
        rows: &mut [[Quad; QUADS]; MAX_WORDS],
    ) {
        let [first, ..] = rows;
        let bytes = first.as_flattened_mut().as_chunks_mut().0;
        for (bytes, word) in bytes.iter_mut().zip(columns.as_flattened()) {
            *bytes = word.to_le_bytes();
        }
    }
}
