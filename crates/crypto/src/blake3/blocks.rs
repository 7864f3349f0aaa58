//! Short messages under keys of their own: one in each lane, with the first 64 bytes of its extended digest or a later block.

#![expect(clippy::indexing_slicing, reason = "lanes count to the length of arrays of them")]

use wardgate_simd::lanes::{Block, Kernel, Lanes32, MAX_WORDS, Tier, dispatch};

use super::compress::{
    CHUNK_END, CHUNK_START, KEYED_HASH, ROOT, Tail, chained, compress, halves, pad,
};
use super::start::Start;
use super::{CHUNK_BYTES, KeyedBlock, OutputBlock, chunk, long};

/// Fills each block of output.
pub(super) fn fill(inputs: &[KeyedBlock<'_>], outputs: &mut [OutputBlock]) {
    // One after another is as fast for so few.
    let has_few = inputs.len() <= 2;
    if !has_few {
        dispatch(Blocks { inputs, outputs: &mut *outputs });
    }
    for (input, output) in inputs.iter().zip(outputs) {
        if has_few || input.message.len() > EMPTY.len() {
            alone(input, output);
        }
    }
}

fn alone(input: &KeyedBlock<'_>, output: &mut OutputBlock) {
    let start = Start::keyed(input.key);
    if input.message.len() <= CHUNK_BYTES {
        return chunk::root(&start, input.message).fill_block(input.number, output);
    }
    let mut all = alloc::vec![0; (usize::try_from(input.number).unwrap_or(0) + 1) * output.len()];
    long::fill(&start, input.message, &mut all);
    if let Some(last) = all.last_chunk() {
        *output = *last;
    }
}

struct Blocks<'a, 'o> {
    inputs: &'a [KeyedBlock<'a>],
    outputs: &'o mut [OutputBlock],
}

impl Kernel for Blocks<'_, '_> {
    type Output = ();

    fn run<T: Tier>(self, tier: T) {
        let groups = self.inputs.chunks(T::WORDS).zip(self.outputs.chunks_mut(T::WORDS));
        for (inputs, outputs) in groups {
            group(tier, inputs, outputs);
        }
    }
}

#[inline(never)]
fn group<T: Lanes32>(tier: T, inputs: &[KeyedBlock<'_>], outputs: &mut [OutputBlock]) {
    let (mut messages, mut keys) = ([EMPTY; MAX_WORDS], [EMPTY; MAX_WORDS]);
    let (mut counters, mut lengths) = ([[0; MAX_WORDS]; 2], [0; MAX_WORDS]);
    // A message of more than a block is hashed alone afterwards.
    for (at, input) in inputs.iter().enumerate() {
        lengths[at] = pad(&mut messages[at], input.message);
        pad(&mut keys[at], input.key);
        [counters[0][at], counters[1][at]] = halves(input.number);
    }
    let mut rows = [[[0; 16]; 4]; MAX_WORDS];
    tier.enter(
        #[inline(always)]
        |tier| {
            let [a, b, c, d, e, f, g, h, ..] = tier.columns(&keys.each_ref());
            let key = [a, b, c, d, e, f, g, h];
            let tail = Tail {
                counter_low: tier.load_u32(&counters[0]),
                counter_high: tier.load_u32(&counters[1]),
                length: tier.load_u32(&lengths),
                flags: tier.splat_u32(KEYED_HASH | CHUNK_START | CHUNK_END | ROOT),
            };
            let v = compress(tier, &key, &tier.columns(&messages.each_ref()), tail);
            let [i, j, k, l, m, n, o, p] = chained(tier, &v);
            let mut upper = key;
            for (upper, word) in upper.iter_mut().zip(&v[8..]) {
                *upper = tier.xor_u32(*upper, *word);
            }
            let [q, r, s, t, u, w, x, y] = upper;
            let columns = [[i, j, k, l], [m, n, o, p], [q, r, s, t], [u, w, x, y]];
            tier.rows(&columns, &mut rows);
        },
    );
    for (output, row) in outputs.iter_mut().zip(&rows) {
        output.as_chunks_mut().0.copy_from_slice(row);
    }
}

const EMPTY: Block = [0; 64];
