//! Many short inputs at once: one in each lane, and the next as soon as one has ended.
//!
//! Every step compresses one block in all lanes. Inputs may have any lengths up to a chunk, since no lane
//! waits for another; a lane that has nothing to do computes what nobody reads.

#![expect(
    clippy::indexing_slicing,
    reason = "lanes count to sixteen, and inputs to the number of digests"
)]

use wardgate_simd::lanes::{Block, Kernel, Lanes32, MOST_WORDS, Quad, Tier, dispatch};

use super::compress::{CHUNK_END, CHUNK_START, ROOT, Tail, chained, compress, halves, pad};
use super::start::Start;
use super::{CHUNK_BYTES, Digest};

/// What is to be compressed, one digest or chaining value for each.
#[derive(Clone, Copy)]
pub(super) enum Inputs<'a> {
    /// Whole messages. One of more than a chunk is left out.
    Messages(&'a [&'a [u8]]),
    /// Chunks and parents.
    Nodes(&'a [Node<'a>]),
}

/// One chunk, or one parent.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) counter: u64,
    /// Flags of the first block, of every block, and of the last.
    pub(super) flags: [u32; 3],
}

impl<'a> Inputs<'a> {
    fn count(&self) -> usize {
        match self {
            Self::Messages(messages) => messages.len(),
            Self::Nodes(nodes) => nodes.len(),
        }
    }

    #[inline(always)]
    fn node(&self, at: usize) -> Option<Node<'a>> {
        match self {
            Self::Messages(messages) => {
                let flags = [CHUNK_START, 0, CHUNK_END | ROOT];
                let node = Node { bytes: messages[at], counter: 0, flags };
                (node.bytes.len() <= CHUNK_BYTES).then_some(node)
            }
            Self::Nodes(nodes) => Some(nodes[at]),
        }
    }
}

/// Compresses every input on the best tier of this machine and puts the result in its place.
pub(super) fn run(start: &Start, inputs: Inputs<'_>, digests: &mut [Digest]) {
    dispatch(Batch { start, inputs, digests });
}

pub(super) struct Batch<'a, 'd> {
    pub(super) start: &'a Start,
    pub(super) inputs: Inputs<'a>,
    pub(super) digests: &'d mut [Digest],
}

impl Kernel for Batch<'_, '_> {
    type Output = ();

    fn run<T: Tier>(self, tier: T) {
        tier.enter(
            #[inline(always)]
            |tier| stream(tier, self),
        );
    }
}

/// What stands in one lane.
#[derive(Clone, Copy)]
struct Lane<'a> {
    /// Which input, or `NONE`.
    input: usize,
    rest: &'a [u8],
    flags: [u32; 3],
}

/// What one step has to know of every lane.
struct Step<'a> {
    blocks: [&'a Block; MOST_WORDS],
    lengths: [u32; MOST_WORDS],
    flags: [u32; MOST_WORDS],
    /// All bits are set where an input begins.
    begun: [u32; MOST_WORDS],
    /// The lanes whose inputs end, a bit for each.
    ended: u32,
}

/// The inputs that stand in the lanes, and those that still wait.
struct Lanes<'a> {
    inputs: Inputs<'a>,
    next: usize,
    lanes: [Lane<'a>; MOST_WORDS],
    counters: [[u32; MOST_WORDS]; 2],
}

#[inline(always)]
fn stream<T: Lanes32>(tier: T, batch: Batch<'_, '_>) {
    let Batch { start, inputs, digests } = batch;
    let mut lanes = Lanes {
        inputs,
        next: 0,
        lanes: [Lane { input: NONE, rest: &[], flags: [0; 3] }; MOST_WORDS],
        counters: [[0; MOST_WORDS]; 2],
    };
    let mut pads = [[0; 64]; MOST_WORDS];
    let key = splat(tier, &start.key);
    let mode = tier.splat_u32(start.flags);
    let mut chain = key;
    while let Some(step) = lanes.step::<T>(&mut pads) {
        let begun = tier.load_u32(&step.begun);
        for (chain, key) in chain.iter_mut().zip(key) {
            *chain = tier.select_u32(begun, key, *chain);
        }
        let tail = Tail {
            counter_low: tier.load_u32(&lanes.counters[0]),
            counter_high: tier.load_u32(&lanes.counters[1]),
            length: tier.load_u32(&step.lengths),
            flags: tier.xor_u32(mode, tier.load_u32(&step.flags)),
        };
        chain = chained(tier, &compress(tier, &chain, &tier.columns(&step.blocks), tail));
        if step.ended != 0 {
            let ended = step.ended;
            lanes.put::<T>(ended, &rows(tier, &chain), digests);
        }
    }
}

impl<'a> Lanes<'a> {
    /// Prepares one block of every lane, or returns `None` when no input is left.
    #[inline(always)]
    fn step<'s, T: Lanes32>(&mut self, pads: &'s mut [Block; MOST_WORDS]) -> Option<Step<'s>>
    where
        'a: 's,
    {
        let mut step = Step {
            blocks: [&EMPTY; MOST_WORDS],
            lengths: [0; MOST_WORDS],
            flags: [0; MOST_WORDS],
            begun: [0; MOST_WORDS],
            ended: 0,
        };
        let mut busy = false;
        for (at, pad) in pads.iter_mut().enumerate().take(T::WORDS) {
            if self.lanes[at].input == NONE {
                if !self.begin(at) {
                    continue;
                }
                step.begun[at] = u32::MAX;
                step.flags[at] = self.lanes[at].flags[0];
            }
            busy = true;
            step.add(at, &mut self.lanes[at], pad);
        }
        busy.then_some(step)
    }

    /// Puts the next input into a lane, if there is one.
    #[inline(always)]
    fn begin(&mut self, at: usize) -> bool {
        while self.next < self.inputs.count() {
            let input = self.next;
            self.next += 1;
            if let Some(Node { bytes, counter, flags }) = self.inputs.node(input) {
                self.lanes[at] = Lane { input, rest: bytes, flags };
                let [low, high] = halves(counter);
                self.counters[0][at] = low;
                self.counters[1][at] = high;
                return true;
            }
        }
        false
    }

    /// Puts what the lanes ended with in its place and empties them.
    #[inline(always)]
    fn put<T: Lanes32>(
        &mut self,
        ended: u32,
        rows: &[[Quad; 2]; MOST_WORDS],
        digests: &mut [Digest],
    ) {
        for (at, (lane, row)) in self.lanes.iter_mut().zip(rows).enumerate().take(T::WORDS) {
            if ended >> at & 1 != 0 {
                digests[lane.input].as_chunks_mut().0.copy_from_slice(row);
                lane.input = NONE;
            }
        }
    }
}

impl<'s> Step<'s> {
    /// Takes the next block of a lane.
    #[inline(always)]
    fn add<'a: 's>(&mut self, at: usize, lane: &mut Lane<'a>, pad: &'s mut Block) {
        self.flags[at] |= lane.flags[1];
        match lane.rest.split_first_chunk() {
            Some((block, rest)) if !rest.is_empty() => {
                self.blocks[at] = block;
                self.lengths[at] = BLOCK_BYTES;
                lane.rest = rest;
            }
            _ => {
                self.flags[at] |= lane.flags[2];
                self.ended |= 1 << at;
                (self.blocks[at], self.lengths[at]) = last_block(lane.rest, pad);
            }
        }
    }
}

/// Returns the last block of an input, filled up with zeros, and its length without them.
#[inline(always)]
fn last_block<'s>(rest: &'s [u8], pad: &'s mut Block) -> (&'s Block, u32) {
    match rest.as_array() {
        Some(whole) => (whole, BLOCK_BYTES),
        None => padded(rest, pad),
    }
}

#[inline(never)]
fn padded<'s>(rest: &[u8], block: &'s mut Block) -> (&'s Block, u32) {
    *block = EMPTY;
    let length = pad(block, rest);
    (block, length)
}

#[inline(always)]
fn splat<T: Lanes32>(tier: T, words: &[u32; 8]) -> [T::U32; 8] {
    let [a, b, c, d, e, f, g, h] = *words;
    [
        tier.splat_u32(a),
        tier.splat_u32(b),
        tier.splat_u32(c),
        tier.splat_u32(d),
        tier.splat_u32(e),
        tier.splat_u32(f),
        tier.splat_u32(g),
        tier.splat_u32(h),
    ]
}

/// Returns the chaining value of each lane.
#[inline(always)]
fn rows<T: Lanes32>(tier: T, chain: &[T::U32; 8]) -> [[Quad; 2]; MOST_WORDS] {
    let [a, b, c, d, e, f, g, h] = *chain;
    let mut rows = [[[0; 16]; 2]; MOST_WORDS];
    tier.rows(&[[a, b, c, d], [e, f, g, h]], &mut rows);
    rows
}

const EMPTY: Block = [0; 64];

/// The length of a whole block, as the compression function wants it.
const BLOCK_BYTES: u32 = 64;

/// In the place of the number of an input: none.
const NONE: usize = usize::MAX;
