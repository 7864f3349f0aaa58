//! The meaning of every operation on words: one lane, in safe code.

use super::{Block, Lanes32, MAX_WORDS, Quad};
use crate::Portable;
use crate::methods::methods;

impl Lanes32 for Portable {
    type U32 = u32;

    const WORDS: usize = 1;

    methods! {
        #[inline(always)] u32;
        splat_u32(value) => value;
        load_u32(words: &[u32; MAX_WORDS]) => words[0];
        add_u32(a, b) => a.wrapping_add(b);
        xor_u32(a, b) => a ^ b;
        and_u32(a, b) => a & b;
        rotate_right_u32<COUNT>(a) => a.rotate_right(COUNT.cast_unsigned());
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
