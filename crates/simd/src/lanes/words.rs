//! Lanes of 32 bits: the words of BLAKE3 and of ChaCha20, one message or one block in each lane.
//!
//! Messages are in memory one after the other, and vectors need the same word of all of them:
//! `columns` and `rows` convert between the two. Arrays have a slot for each lane of the widest
//! tier; a narrower tier uses the first ones.

use super::Token;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
#[cfg(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128")))]
mod quads;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(test)]
mod tests;

/// The number of lanes of the widest tier. A WebAssembly module has no wider vectors than its own,
/// and clearing larger arrays would take as much time as its work.
pub const MAX_WORDS: usize = if cfg!(target_arch = "wasm32") { 4 } else { 16 };

/// One block of a message: sixteen words, the lowest byte of each first.
pub type Block = [u8; 64];

/// Four words in memory, the lowest byte of each first.
pub type Quad = [u8; 16];

/// Vectors of unsigned 32-bit words. Sums wrap; lanes never mix.
pub trait Lanes32: Token {
    /// The vector type.
    type U32: Copy;

    /// The number of lanes of a vector: 1, 4, 8 or 16.
    const WORDS: usize;

    /// Broadcasts `value` to every lane.
    fn splat_u32(self, value: u32) -> Self::U32;

    /// Reads the first `WORDS` words.
    fn load_u32(self, words: &[u32; MAX_WORDS]) -> Self::U32;

    /// Returns `a + b`.
    fn add_u32(self, a: Self::U32, b: Self::U32) -> Self::U32;

    /// Returns `a ^ b`.
    fn xor_u32(self, a: Self::U32, b: Self::U32) -> Self::U32;

    /// Returns `a & b`.
    fn and_u32(self, a: Self::U32, b: Self::U32) -> Self::U32;

    /// Rotates every lane to the right by `COUNT`, which is from 1 to 31.
    fn rotate_right_u32<const COUNT: i32>(self, a: Self::U32) -> Self::U32;

    /// Returns `values` unchanged; the compiler does not reorder this call and the next one.
    ///
    /// Where two chains of steps take turns, the compiler would otherwise save registers by doing
    /// one after the other.
    #[inline(always)]
    fn in_turn(self, values: [Self::U32; 4]) -> [Self::U32; 4] {
        values
    }

    /// Reads one block into each lane: word `i` of every block is in vector `i`.
    fn columns(self, blocks: &[&Block; MAX_WORDS]) -> [Self::U32; 16];

    /// Writes one row for each lane: four times `QUADS` words, each from its own vector.
    fn rows<const QUADS: usize>(
        self,
        columns: &[[Self::U32; 4]; QUADS],
        rows: &mut [[Quad; QUADS]; MAX_WORDS],
    );

    /// XORs the output of `rows` into one row for each lane.
    #[inline(always)]
    fn join_rows(self, columns: &[[Self::U32; 4]; 4], rows: &mut [[Quad; 4]; MAX_WORDS]) {
        let mut written = [[[0; 16]; 4]; MAX_WORDS];
        self.rows(columns, &mut written);
        let written = written.as_flattened().as_flattened();
        for (byte, with) in rows.as_flattened_mut().as_flattened_mut().iter_mut().zip(written) {
            *byte ^= with;
        }
    }

    /// Selects the lanes of `a` where all bits of `mask` are set, and those of `b` where none is.
    #[inline(always)]
    fn select_u32(self, mask: Self::U32, a: Self::U32, b: Self::U32) -> Self::U32 {
        self.xor_u32(b, self.and_u32(mask, self.xor_u32(a, b)))
    }
}
