//! The compression function of BLAKE3, for one block in every lane.
//!
//! Written once over the lanes of a tier: with one lane it is the plain function, with sixteen it
//! compresses a block of sixteen messages. Names and numbers are those of the BLAKE3 paper.

#![expect(
    clippy::indexing_slicing,
    reason = "every index is a constant below the length of an array"
)]

use wardgate_simd::Portable;
use wardgate_simd::lanes::{Block, Lanes32, MOST_WORDS};

/// What says how a block is compressed, beside its words: one value for each lane.
#[derive(Clone, Copy)]
pub(super) struct Tail<W> {
    pub(super) counter_low: W,
    pub(super) counter_high: W,
    pub(super) length: W,
    pub(super) flags: W,
}

/// Mixes `block` into `chain`; the halves of the result make up the next chaining value.
#[inline(always)]
pub(super) fn compress<T: Lanes32>(
    tier: T,
    chain: &[T::U32; 8],
    block: &[T::U32; 16],
    tail: Tail<T::U32>,
) -> [T::U32; 16] {
    let [a, b, c, d, e, f, g, h] = *chain;
    let [i, j, k, l] = [0, 1, 2, 3].map(
        #[inline(always)]
        |at: usize| tier.splat_u32(IV[at]),
    );
    let Tail { counter_low, counter_high, length, flags } = tail;
    let mut v = [a, b, c, d, e, f, g, h, i, j, k, l, counter_low, counter_high, length, flags];
    round::<T, 0>(tier, &mut v, block);
    round::<T, 1>(tier, &mut v, block);
    round::<T, 2>(tier, &mut v, block);
    round::<T, 3>(tier, &mut v, block);
    round::<T, 4>(tier, &mut v, block);
    round::<T, 5>(tier, &mut v, block);
    round::<T, 6>(tier, &mut v, block);
    v
}

/// Returns the chaining value that a compression ends with.
#[inline(always)]
pub(super) fn chained<T: Lanes32>(tier: T, v: &[T::U32; 16]) -> [T::U32; 8] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *v;
    [
        tier.xor_u32(a, i),
        tier.xor_u32(b, j),
        tier.xor_u32(c, k),
        tier.xor_u32(d, l),
        tier.xor_u32(e, m),
        tier.xor_u32(f, n),
        tier.xor_u32(g, o),
        tier.xor_u32(h, p),
    ]
}

#[inline(always)]
fn round<T: Lanes32, const ROUND: usize>(tier: T, v: &mut [T::U32; 16], m: &[T::U32; 16]) {
    let s = const { &ORDERS[ROUND] };
    let [a, b, c, d, e, f, g, h, i, j, k, l, x, y, z, w] = *v;
    let [[a, b, c, d], [e, f, g, h], [i, j, k, l], [x, y, z, w]] = quarters(
        tier,
        [[a, b, c, d], [e, f, g, h], [i, j, k, l], [x, y, z, w]],
        [m[s[0]], m[s[2]], m[s[4]], m[s[6]]],
        [m[s[1]], m[s[3]], m[s[5]], m[s[7]]],
    );
    let [[a, b, c, d], [f, g, h, e], [k, l, i, j], [w, x, y, z]] = quarters(
        tier,
        [[a, b, c, d], [f, g, h, e], [k, l, i, j], [w, x, y, z]],
        [m[s[8]], m[s[10]], m[s[12]], m[s[14]]],
        [m[s[9]], m[s[11]], m[s[13]], m[s[15]]],
    );
    *v = [a, b, c, d, e, f, g, h, i, j, k, l, x, y, z, w];
}

/// Four quarter rounds in step: no operation waits for the one before it.
#[inline(always)]
fn quarters<T: Lanes32>(
    tier: T,
    [a, b, c, d]: [[T::U32; 4]; 4],
    x: [T::U32; 4],
    y: [T::U32; 4],
) -> [[T::U32; 4]; 4] {
    let a = add(tier, add(tier, a, b), x);
    let d = turn::<T, 16>(tier, d, a);
    let c = add(tier, c, d);
    let b = turn::<T, 12>(tier, b, c);
    let a = add(tier, add(tier, a, b), y);
    let d = turn::<T, 8>(tier, d, a);
    let c = add(tier, c, d);
    let b = turn::<T, 7>(tier, b, c);
    [a, b, c, d]
}

#[inline(always)]
fn add<T: Lanes32>(tier: T, [a, b, c, d]: [T::U32; 4], with: [T::U32; 4]) -> [T::U32; 4] {
    let [e, f, g, h] = with;
    [tier.add_u32(a, e), tier.add_u32(b, f), tier.add_u32(c, g), tier.add_u32(d, h)]
}

/// Joins four words with four others and rotates them to the right.
#[inline(always)]
fn turn<T: Lanes32, const COUNT: i32>(
    tier: T,
    [a, b, c, d]: [T::U32; 4],
    with: [T::U32; 4],
) -> [T::U32; 4] {
    let [e, f, g, h] = with;
    [
        tier.rotate_right_u32::<COUNT>(tier.xor_u32(a, e)),
        tier.rotate_right_u32::<COUNT>(tier.xor_u32(b, f)),
        tier.rotate_right_u32::<COUNT>(tier.xor_u32(c, g)),
        tier.rotate_right_u32::<COUNT>(tier.xor_u32(d, h)),
    ]
}

/// The last compression of a message, which is done once for each 64 bytes that are wanted of it.
pub(super) struct Root {
    pub(super) chain: [u32; 8],
    pub(super) block: Block,
    pub(super) length: u32,
    pub(super) flags: u32,
}

impl Root {
    /// The chaining value, if it turns out not to be the root.
    pub(super) fn value(&self) -> [u8; 32] {
        let (length, flags) = (self.length, self.flags);
        let tail = Tail { counter_low: 0, counter_high: 0, length, flags };
        bytes(&chained(Portable, &compress_one(&self.chain, &self.block, tail)))
    }

    /// The 32 bytes that everybody means by the digest.
    pub(super) fn digest(&self) -> [u8; 32] {
        let v = self.compressed(0);
        bytes(&chained(Portable, &v))
    }

    /// The extended digest, as much of it as there is room.
    pub(super) fn fill(&self, out: &mut [u8]) {
        for (counter, out) in (0..).zip(out.chunks_mut(64)) {
            let v = self.compressed(counter);
            let mut upper = [0; 8];
            for ((upper, word), chain) in upper.iter_mut().zip(&v[8..]).zip(&self.chain) {
                *upper = word ^ chain;
            }
            let both = [bytes(&chained(Portable, &v)), bytes(&upper)];
            out.copy_from_slice(&both.as_flattened()[..out.len()]);
        }
    }

    fn compressed(&self, counter: u64) -> [u32; 16] {
        let [counter_low, counter_high] = halves(counter);
        let (length, flags) = (self.length, self.flags | ROOT);
        let tail = Tail { counter_low, counter_high, length, flags };
        compress_one(&self.chain, &self.block, tail)
    }
}

/// The plain compression function, out of line: everything that hashes one block at a time shares it.
#[inline(never)]
pub(super) fn compress_one(chain: &[u32; 8], block: &Block, tail: Tail<u32>) -> [u32; 16] {
    let words = Portable.columns(&[block; MOST_WORDS]);
    compress(Portable, chain, &words, tail)
}

/// Puts the end of a message, which is no longer than a block, into an empty one and returns its length.
pub(super) fn pad(block: &mut Block, rest: &[u8]) -> u32 {
    let Some(head) = block.get_mut(..rest.len()) else { return 0 };
    head.copy_from_slice(rest);
    u32::try_from(rest.len()).unwrap_or(0)
}

/// The lower half of a counter and the upper one.
pub(super) fn halves(counter: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = counter.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
}

/// Writes words as BLAKE3 does, the lowest byte first.
pub(super) fn bytes(words: &[u32; 8]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    bytes
}

/// Reads words as BLAKE3 does.
pub(super) fn words(bytes: &[u8; 32]) -> [u32; 8] {
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// The initial words, those of SHA-256.
pub(super) const IV: [u32; 8] = [
    0x6A09_E667,
    0xBB67_AE85,
    0x3C6E_F372,
    0xA54F_F53A,
    0x510E_527F,
    0x9B05_688C,
    0x1F83_D9AB,
    0x5BE0_CD19,
];

pub(super) const CHUNK_START: u32 = 1;
pub(super) const CHUNK_END: u32 = 1 << 1;
pub(super) const PARENT: u32 = 1 << 2;
pub(super) const ROOT: u32 = 1 << 3;
pub(super) const KEYED_HASH: u32 = 1 << 4;
pub(super) const DERIVE_KEY_CONTEXT: u32 = 1 << 5;
pub(super) const DERIVE_KEY_MATERIAL: u32 = 1 << 6;

/// In which order each round takes the words of the block: the permutation of the paper, again and again.
const ORDERS: [[usize; 16]; 7] = {
    let mut orders = [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]; 7];
    let permutation = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
    let mut round = 1;
    while round < 7 {
        let mut at = 0;
        while at < 16 {
            orders[round][at] = orders[round - 1][permutation[at]];
            at += 1;
        }
        round += 1;
    }
    orders
};
