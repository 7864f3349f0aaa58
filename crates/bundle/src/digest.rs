//! The BLAKE3 hash, as far as bundles need it: 32 bytes, no key.
//!
//! The names are those of the BLAKE3 paper, section 2. The reference crate is ten kilobytes of a page's
//! runtime module, most of it for speed that a bundle opened once does not repay; it is the oracle of
//! the tests instead.
#![expect(clippy::indexing_slicing, reason = "all indices are below the lengths of the arrays")]

use alloc::vec::Vec;

/// A hash under construction.
pub(crate) struct Hasher {
    chunk: Node,
    /// How many blocks of the chunk are compressed.
    blocks: u32,
    /// The roots of the finished subtrees, the largest first.
    subtrees: Vec<[u32; 8]>,
    bytes: [u8; BLOCK_BYTES],
}

impl Hasher {
    pub(crate) fn new() -> Self {
        Self { chunk: Node::chunk(0), blocks: 0, subtrees: Vec::new(), bytes: [0; BLOCK_BYTES] }
    }

    pub(crate) fn update(&mut self, input: &[u8]) -> &mut Self {
        let mut rest = input;
        while !rest.is_empty() {
            // The last block of all is treated differently, so a full one waits for what follows it.
            if self.chunk.length == FULL_BLOCK {
                self.finish_block();
            }
            let filled = usize::try_from(self.chunk.length).unwrap_or(BLOCK_BYTES);
            let (taken, after) = rest.split_at(rest.len().min(BLOCK_BYTES - filled));
            self.bytes[filled..filled + taken.len()].copy_from_slice(taken);
            self.chunk.length += u32::try_from(taken.len()).unwrap_or(0);
            rest = after;
        }
        self
    }

    pub(crate) fn finalize(mut self) -> [u8; 32] {
        self.load_block();
        let mut node = self.chunk;
        node.flags |= CHUNK_END;
        while let Some(left) = self.subtrees.pop() {
            node = Node::parent(left, node.compressed());
        }
        node.flags |= ROOT;
        let mut digest = [0; 32];
        let (places, _) = digest.as_chunks_mut::<4>();
        for (place, word) in places.iter_mut().zip(node.compressed()) {
            *place = word.to_le_bytes();
        }
        digest
    }

    fn finish_block(&mut self) {
        self.load_block();
        self.blocks += 1;
        if self.blocks == CHUNK_BLOCKS {
            self.chunk.flags |= CHUNK_END;
            self.finish_chunk();
        } else {
            self.chunk.chaining = self.chunk.compressed();
            self.chunk.flags = 0;
        }
        self.chunk.length = 0;
        self.bytes = [0; BLOCK_BYTES];
    }

    fn load_block(&mut self) {
        let (words, _) = self.bytes.as_chunks::<4>();
        for (place, word) in self.chunk.block.iter_mut().zip(words) {
            *place = u32::from_le_bytes(*word);
        }
    }

    /// Joins the finished chunk with the subtrees that are as large as what it completes.
    fn finish_chunk(&mut self) {
        let chunks = self.chunk.counter + 1;
        let mut root = self.chunk.compressed();
        for _ in 0..chunks.trailing_zeros() {
            if let Some(left) = self.subtrees.pop() {
                root = Node::parent(left, root).compressed();
            }
        }
        self.subtrees.push(root);
        self.chunk = Node::chunk(chunks);
        self.blocks = 0;
    }
}

/// What one compression takes in.
#[derive(Clone, Copy)]
struct Node {
    chaining: [u32; 8],
    block: [u32; 16],
    counter: u64,
    length: u32,
    flags: u32,
}

impl Node {
    const fn chunk(counter: u64) -> Self {
        Self { chaining: IV, block: [0; 16], counter, length: 0, flags: CHUNK_START }
    }

    fn parent(left: [u32; 8], right: [u32; 8]) -> Self {
        let mut block = [0; 16];
        for (place, word) in block.iter_mut().zip(left.into_iter().chain(right)) {
            *place = word;
        }
        Self { chaining: IV, block, counter: 0, length: FULL_BLOCK, flags: PARENT }
    }

    /// The compression function, cut to 32 bytes.
    fn compressed(&self) -> [u32; 8] {
        let [low, high] = [self.counter & u64::from(u32::MAX), self.counter >> 32]
            .map(|half| u32::try_from(half).unwrap_or(0));
        let [h0, h1, h2, h3, h4, h5, h6, h7] = self.chaining;
        let [i0, i1, i2, i3, ..] = IV;
        let ends = [low, high, self.length, self.flags];
        let mut rows = [[h0, h1, h2, h3], [h4, h5, h6, h7], [i0, i1, i2, i3], ends];
        let mut message = self.block;
        for _ in 0..ROUNDS {
            round(&mut rows, &message);
            message = PERMUTATION.map(|from| message[from]);
        }
        let [a, b, c, d] = rows;
        core::array::from_fn(|at| if at < 4 { a[at] ^ c[at] } else { b[at - 4] ^ d[at - 4] })
    }
}

fn round(rows: &mut [[u32; 4]; 4], m: &[u32; 16]) {
    mix(rows, [m[0], m[2], m[4], m[6]], [m[1], m[3], m[5], m[7]]);
    // The diagonals are the columns of rotated rows.
    rotate(rows, [0, 1, 2, 3]);
    mix(rows, [m[8], m[10], m[12], m[14]], [m[9], m[11], m[13], m[15]]);
    rotate(rows, [0, 3, 2, 1]);
}

/// Rotates each row to the left by as many words as `by` has in its place.
fn rotate(rows: &mut [[u32; 4]; 4], by: [usize; 4]) {
    for (row, by) in rows.iter_mut().zip(by) {
        *row = core::array::from_fn(|at| row[(at + by) % 4]);
    }
}

/// The quarter-round, on four columns at once.
fn mix(rows: &mut [[u32; 4]; 4], x: [u32; 4], y: [u32; 4]) {
    let [a, b, c, d] = rows;
    for at in 0..4 {
        a[at] = a[at].wrapping_add(b[at]).wrapping_add(x[at]);
        d[at] = (d[at] ^ a[at]).rotate_right(16);
        c[at] = c[at].wrapping_add(d[at]);
        b[at] = (b[at] ^ c[at]).rotate_right(12);
        a[at] = a[at].wrapping_add(b[at]).wrapping_add(y[at]);
        d[at] = (d[at] ^ a[at]).rotate_right(8);
        c[at] = c[at].wrapping_add(d[at]);
        b[at] = (b[at] ^ c[at]).rotate_right(7);
    }
}

const BLOCK_BYTES: usize = 64;
const FULL_BLOCK: u32 = 64;
const CHUNK_BLOCKS: u32 = 16;
const ROUNDS: u32 = 7;

const CHUNK_START: u32 = 1;
const CHUNK_END: u32 = 2;
const PARENT: u32 = 4;
const ROOT: u32 = 8;

const PERMUTATION: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];

/// The initial values of SHA-256.
const IV: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::Hasher;

    fn check(input: &[u8], cut: usize) {
        let (head, tail) = input.split_at(cut);
        let mut hasher = Hasher::new();
        hasher.update(head).update(tail);
        assert_eq!(hasher.finalize(), *blake3::hash(input).as_bytes(), "{} {cut}", input.len());
    }

    #[test]
    fn hashes_as_the_reference_does() {
        let input: Vec<u8> = (0..=250_u8).cycle().take(40_000).collect();
        for length in
            (0..200).chain(900..1100).chain([2047, 2048, 2049, 3072, 4097, 16_384, 40_000])
        {
            check(&input[..length], length / 3);
        }
        for chunks in 1..40 {
            check(&input[..chunks * 1024], 64.min(chunks));
            check(&input[..chunks * 1024 - 1], 65);
        }
    }
}
