//! The compression function of BLAKE3, for one block in every lane.
//!
//! Written once over the lanes of a tier: with one lane it is the plain function, with sixteen it
//! compresses a block of sixteen messages. Names and numbers are those of the BLAKE3 paper.

#![expect(
    clippy::indexing_slicing,
    reason = "every index is a constant below the length of an array"
)]

use wardgate_simd::Portable;
use wardgate_simd::lanes::{Block, Lanes32, MAX_WORDS};

use crate::little_endian::bytes;

/// The parameters of a compression beside the words of the block: one value for each lane.
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
    let [v] = compress_sets(tier, &[*chain], &[*block], &[tail]);
    v
}

/// Compresses several sets of lanes step by step in turn, so that one works while another waits.
#[inline(always)]
pub(super) fn compress_sets<T: Lanes32, const SETS: usize>(
    tier: T,
    chains: &[[T::U32; 8]; SETS],
    blocks: &[[T::U32; 16]; SETS],
    tails: &[Tail<T::U32>; SETS],
) -> [[T::U32; 16]; SETS] {
    let mut v = [[[tier.splat_u32(0); 4]; 4]; SETS];
    for at in 0..SETS {
        v[at] = initial(tier, &chains[at], tails[at]);
    }
    round::<T, SETS, 0>(tier, &mut v, blocks);
    round::<T, SETS, 1>(tier, &mut v, blocks);
    round::<T, SETS, 2>(tier, &mut v, blocks);
    round::<T, SETS, 3>(tier, &mut v, blocks);
    round::<T, SETS, 4>(tier, &mut v, blocks);
    round::<T, SETS, 5>(tier, &mut v, blocks);
    round::<T, SETS, 6>(tier, &mut v, blocks);
    let mut words = [[tier.splat_u32(0); 16]; SETS];
    for (words, v) in words.iter_mut().zip(v) {
        let [[a, b, c, d], [e, f, g, h], [i, j, k, l], [x, y, z, w]] = v;
        *words = [a, b, c, d, e, f, g, h, i, j, k, l, x, y, z, w];
    }
    words
}

/// The state of a compression: four rows of four words.
type State<T> = [[<T as Lanes32>::U32; 4]; 4];

#[inline(always)]
fn initial<T: Lanes32>(tier: T, chain: &[T::U32; 8], tail: Tail<T::U32>) -> State<T> {
    let [a, b, c, d, e, f, g, h] = *chain;
    let iv = [
        tier.splat_u32(IV[0]),
        tier.splat_u32(IV[1]),
        tier.splat_u32(IV[2]),
        tier.splat_u32(IV[3]),
    ];
    let Tail { counter_low, counter_high, length, flags } = tail;
    [[a, b, c, d], [e, f, g, h], iv, [counter_low, counter_high, length, flags]]
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
fn round<T: Lanes32, const SETS: usize, const ROUND: usize>(
    tier: T,
    v: &mut [State<T>; SETS],
    blocks: &[[T::U32; 16]; SETS],
) {
    let order = const { &ORDERS[ROUND] };
    quarters(tier, v, blocks, order, 0);
    for [_, b, c, d] in v.iter_mut() {
        (*b, *c, *d) =
            ([b[1], b[2], b[3], b[0]], [c[2], c[3], c[0], c[1]], [d[3], d[0], d[1], d[2]]);
    }
    quarters(tier, v, blocks, order, 8);
    for [_, b, c, d] in v.iter_mut() {
        (*b, *c, *d) =
            ([b[3], b[0], b[1], b[2]], [c[2], c[3], c[0], c[1]], [d[1], d[2], d[3], d[0]]);
    }
}

/// Applies four quarter rounds of each set in step: no operation waits for the one before it.
///
/// A word of the block is added to `a` first, because `b` is the last result of the step before.
/// Left to itself, the compiler would do one set after the other, which took half as long again.
#[inline(always)]
fn quarters<T: Lanes32, const SETS: usize>(
    tier: T,
    v: &mut [State<T>; SETS],
    blocks: &[[T::U32; 16]; SETS],
    order: &[usize; 16],
    at: usize,
) {
    for ([a, b, _, d], m) in v.iter_mut().zip(blocks) {
        let x = [m[order[at]], m[order[at + 2]], m[order[at + 4]], m[order[at + 6]]];
        *a = add(tier, add(tier, *a, x), *b);
        *d = in_turn::<T, SETS>(tier, turn::<T, 16>(tier, *d, *a));
    }
    for [_, b, c, d] in v.iter_mut() {
        *c = add(tier, *c, *d);
        *b = in_turn::<T, SETS>(tier, turn::<T, 12>(tier, *b, *c));
    }
    for ([a, b, _, d], m) in v.iter_mut().zip(blocks) {
        let y = [m[order[at + 1]], m[order[at + 3]], m[order[at + 5]], m[order[at + 7]]];
        *a = add(tier, add(tier, *a, y), *b);
        *d = in_turn::<T, SETS>(tier, turn::<T, 8>(tier, *d, *a));
    }
    for [_, b, c, d] in v.iter_mut() {
        *c = add(tier, *c, *d);
        *b = in_turn::<T, SETS>(tier, turn::<T, 7>(tier, *b, *c));
    }
}

#[inline(always)]
fn in_turn<T: Lanes32, const SETS: usize>(tier: T, values: [T::U32; 4]) -> [T::U32; 4] {
    if SETS == 1 { values } else { tier.in_turn(values) }
}

#[inline(always)]
fn add<T: Lanes32>(tier: T, [a, b, c, d]: [T::U32; 4], with: [T::U32; 4]) -> [T::U32; 4] {
    let [e, f, g, h] = with;
    [tier.add_u32(a, e), tier.add_u32(b, f), tier.add_u32(c, g), tier.add_u32(d, h)]
}

/// XORs four words with four others and rotates them to the right.
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

/// The last compression of a message, which is repeated for each 64 bytes of output.
pub(super) struct Root {
    pub(super) chain: [u32; 8],
    pub(super) block: Block,
    pub(super) length: u32,
    pub(super) flags: u32,
}

impl Root {
    /// Returns the chaining value, for a node that is not the root.
    pub(super) fn value(&self, counter: u64) -> [u8; 32] {
        bytes(&chained(Portable, &self.compressed(counter, 0)))
    }

    /// Returns the digest of 32 bytes.
    pub(super) fn digest(&self) -> [u8; 32] {
        bytes(&chained(Portable, &self.compressed(0, ROOT)))
    }

    /// Fills `out` with the extended digest.
    pub(super) fn fill(&self, out: &mut [u8]) {
        for (counter, out) in (0..).zip(out.chunks_mut(64)) {
            let mut block = [0; 64];
            self.fill_block(counter, &mut block);
            out.copy_from_slice(&block[..out.len()]);
        }
    }

    /// Fills one block of the extended digest.
    pub(super) fn fill_block(&self, counter: u64, out: &mut [u8; 64]) {
        let v = self.compressed(counter, ROOT);
        let mut upper = [0; 8];
        for ((upper, word), chain) in upper.iter_mut().zip(&v[8..]).zip(&self.chain) {
            *upper = word ^ chain;
        }
        let both = [bytes(&chained(Portable, &v)), bytes(&upper)];
        out.copy_from_slice(both.as_flattened());
    }

    fn compressed(&self, counter: u64, root: u32) -> [u32; 16] {
        let [counter_low, counter_high] = halves(counter);
        let (length, flags) = (self.length, self.flags | root);
        let tail = Tail { counter_low, counter_high, length, flags };
        compress_one(&self.chain, &self.block, tail)
    }
}

/// Compresses one block, out of line: all code that hashes one block at a time shares it.
#[inline(never)]
pub(super) fn compress_one(chain: &[u32; 8], block: &Block, tail: Tail<u32>) -> [u32; 16] {
    let words = Portable.columns(&[block; MAX_WORDS]);
    compress(Portable, chain, &words, tail)
}

/// Copies the end of a message, at most a block, into an empty block and returns its length.
pub(super) fn pad(block: &mut Block, rest: &[u8]) -> u32 {
    let Some(head) = block.get_mut(..rest.len()) else { return 0 };
    head.copy_from_slice(rest);
    u32::try_from(rest.len()).unwrap_or(0)
}

/// Returns the lower half of a counter and the upper one.
pub(super) fn halves(counter: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = counter.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
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

/// The order in which each round takes the words of the block: the permutation of the paper,
/// repeated.
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
