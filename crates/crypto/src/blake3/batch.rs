//! Many short inputs at once: one in each lane, and the next as soon as one has ended.
//!
//! Every step compresses one block in all lanes. Inputs may have any lengths up to a chunk, since
//! no lane waits for another; the results of an idle lane are ignored.

#![expect(
    clippy::indexing_slicing,
    reason = "lanes count to sixteen, and inputs to the number of digests"
)]

use wardgate_simd::lanes::{Block, Kernel, Lanes32, MAX_WORDS, Quad, Tier, dispatch};

use super::compress::{CHUNK_END, CHUNK_START, ROOT, Tail, chained, compress, halves, pad};
use super::start::Start;
use super::{CHUNK_BYTES, Digest, chunk, short};

/// The inputs to compress, with one digest or chaining value for each.
#[derive(Clone, Copy)]
pub(super) enum Inputs<'a> {
    /// Whole messages. Those of more than a chunk are skipped.
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

impl Node<'_> {
    pub(super) const EMPTY: Self = Self { bytes: &[], counter: 0, flags: [0; 3] };
}

impl<'a> Inputs<'a> {
    fn count(&self) -> usize {
        match self {
            Self::Messages(messages) => messages.len(),
            Self::Nodes(nodes) => nodes.len(),
        }
    }

    /// Returns the length of the next `count` inputs if all have the same.
    #[inline(always)]
    fn even(&self, from: usize, count: usize) -> Option<usize> {
        if count > self.count() - from {
            return None;
        }
        let length = self.node(from)?.bytes.len();
        let same = |at| self.node(at).is_some_and(|node| node.bytes.len() == length);
        (from..from + count).all(same).then_some(length)
    }

    /// Returns the flags of the next `count` inputs. All messages have the same flags, and vectors
    /// written at once can be read at once.
    #[inline(always)]
    fn flags(&self, from: usize, count: usize) -> [[u32; MAX_WORDS]; 3] {
        let mut flags = MESSAGE.map(|flags| [flags; MAX_WORDS]);
        if let Self::Nodes(nodes) = self {
            for (at, node) in nodes[from..from + count].iter().enumerate() {
                [flags[0][at], flags[1][at], flags[2][at]] = node.flags;
            }
        }
        flags
    }

    #[inline(always)]
    fn counters(&self, from: usize, count: usize) -> [[u32; MAX_WORDS]; 2] {
        let mut counters = [[0; MAX_WORDS]; 2];
        if let Self::Nodes(nodes) = self {
            for (at, node) in nodes[from..from + count].iter().enumerate() {
                [counters[0][at], counters[1][at]] = halves(node.counter);
            }
        }
        counters
    }

    #[inline(always)]
    fn node(&self, at: usize) -> Option<Node<'a>> {
        match self {
            Self::Messages(messages) => {
                let node = Node { bytes: messages[at], counter: 0, flags: MESSAGE };
                (node.bytes.len() <= CHUNK_BYTES).then_some(node)
            }
            Self::Nodes(nodes) => Some(nodes[at]),
        }
    }
}

/// Compresses every input and writes the result into its slot. Returns the number of inputs, from
/// the first on, that are finished because they were messages of a block at most.
///
/// A step in all lanes takes as long as two blocks one after the other, on every tier that was
/// measured. Those two share their code with single messages: lanes of one word would be a second
/// copy of it, which WebAssembly compiles on first use.
pub(super) fn run(start: &Start, inputs: Inputs<'_>, digests: &mut [Digest]) -> usize {
    if inputs.count() > 2 {
        return dispatch(Batch { start, inputs, digests });
    }
    for (at, digest) in digests.iter_mut().enumerate().take(inputs.count()) {
        if let Some(Node { bytes, counter, flags }) = inputs.node(at) {
            *digest = chunk::value(start, bytes, counter, flags);
        }
    }
    0
}

pub(super) struct Batch<'a, 'd> {
    pub(super) start: &'a Start,
    pub(super) inputs: Inputs<'a>,
    pub(super) digests: &'d mut [Digest],
}

impl Kernel for Batch<'_, '_> {
    type Output = usize;

    fn run<T: Tier>(self, tier: T) -> usize {
        stream(tier, self)
    }
}

/// The state of one lane.
#[derive(Clone, Copy)]
struct Lane<'a> {
    /// The index of the input, or `NONE`.
    input: usize,
    rest: &'a [u8],
    flags: [u32; 3],
}

/// The inputs of one step, for every lane.
struct Step<'a> {
    blocks: [&'a Block; MAX_WORDS],
    counters: [[u32; MAX_WORDS]; 2],
    lengths: [u32; MAX_WORDS],
    flags: [u32; MAX_WORDS],
    /// All bits of a lane are set if an input begins in it.
    begun: [u32; MAX_WORDS],
    /// A bit for each lane whose input ends.
    ended: u32,
}

/// The inputs in the lanes, and those that wait.
struct Lanes<'a> {
    inputs: Inputs<'a>,
    next: usize,
    lanes: [Lane<'a>; MAX_WORDS],
    counters: [[u32; MAX_WORDS]; 2],
}

fn stream<T: Lanes32>(tier: T, batch: Batch<'_, '_>) -> usize {
    let Batch { start, inputs, digests } = batch;
    let short = match inputs {
        Inputs::Messages(messages) => short::hash(tier, start, messages, digests),
        Inputs::Nodes(_) => 0,
    };
    if short == inputs.count() {
        return short;
    }
    let mut lanes = Lanes {
        inputs,
        next: even(tier, start, (&inputs, short), digests),
        lanes: [Lane { input: NONE, rest: &[], flags: [0; 3] }; MAX_WORDS],
        counters: [[0; MAX_WORDS]; 2],
    };
    let mut pads = [EMPTY; MAX_WORDS];
    let mut chain = [tier.splat_u32(0); 8];
    while let Some(step) = lanes.step(T::WORDS, &mut pads) {
        advance(tier, start, &mut chain, &step);
        if step.ended != 0 {
            let ended = step.ended;
            lanes.put(ended, &rows(tier, &chain), digests);
        }
    }
    short
}

/// Compresses one block in every lane.
///
/// Out of line, so that the vectors occupy the registers and all else memory: in WebAssembly, where
/// no engine keeps vectors in registers across branches, it is twice as fast.
#[inline(never)]
fn advance<T: Lanes32>(tier: T, start: &Start, chain: &mut [T::U32; 8], step: &Step<'_>) {
    tier.enter(
        #[inline(always)]
        |tier| {
            let begun = tier.load_u32(&step.begun);
            for (chain, key) in chain.iter_mut().zip(&start.key) {
                *chain = tier.select_u32(begun, tier.splat_u32(*key), *chain);
            }
            let tail = Tail {
                counter_low: tier.load_u32(&step.counters[0]),
                counter_high: tier.load_u32(&step.counters[1]),
                length: tier.load_u32(&step.lengths),
                flags: tier.xor_u32(tier.splat_u32(start.flags), tier.load_u32(&step.flags)),
            };
            *chain = chained(tier, &compress(tier, chain, &tier.columns(&step.blocks), tail));
        },
    );
}

/// Returns the chaining value of each lane.
#[inline(never)]
fn rows<T: Lanes32>(tier: T, chain: &[T::U32; 8]) -> [[Quad; 2]; MAX_WORDS] {
    let [a, b, c, d, e, f, g, h] = *chain;
    let mut rows = [[[0; 16]; 2]; MAX_WORDS];
    tier.enter(
        #[inline(always)]
        |tier| tier.rows(&[[a, b, c, d], [e, f, g, h]], &mut rows),
    );
    rows
}

/// Hashes inputs from one on as long as those of a step have one length, and returns where that
/// ends: such steps need no bookkeeping of their lanes, which is a third of the time of short
/// messages.
fn even<T: Lanes32>(
    tier: T,
    start: &Start,
    (inputs, mut done): (&Inputs<'_>, usize),
    digests: &mut [Digest],
) -> usize {
    let mut chain = [tier.splat_u32(0); 8];
    for digests in digests[done..].chunks_exact_mut(T::WORDS) {
        let Some(length) = inputs.even(done, T::WORDS) else { break };
        even_group(tier, start, &mut chain, (inputs, done, length));
        for (digest, row) in digests.iter_mut().zip(&rows(tier, &chain)) {
            digest.as_chunks_mut().0.copy_from_slice(row);
        }
        done += T::WORDS;
    }
    done
}

/// Hashes one input of the same length in each lane.
#[inline(always)]
fn even_group<'a, T: Lanes32>(
    tier: T,
    start: &Start,
    chain: &mut [T::U32; 8],
    (inputs, from, length): (&Inputs<'a>, usize, usize),
) {
    let node = |at| inputs.node(from + at).unwrap_or(Node::EMPTY);
    let mut step = Step::NOTHING;
    step.begun = [u32::MAX; MAX_WORDS];
    step.lengths = [BLOCK_BYTES; MAX_WORDS];
    step.counters = inputs.counters(from, T::WORDS);
    let [first, every, last] = inputs.flags(from, T::WORDS);
    step.flags = either(&first, &every);
    let mut done = 0;
    while length - done > 64 {
        for at in 0..T::WORDS {
            step.blocks[at] = node(at).bytes[done..].first_chunk().unwrap_or(&EMPTY);
        }
        advance(tier, start, chain, &step);
        (step.begun, step.flags) = ([0; MAX_WORDS], every);
        done += 64;
    }
    let mut pads;
    if length - done == 64 {
        for at in 0..T::WORDS {
            step.blocks[at] = node(at).bytes[done..].first_chunk().unwrap_or(&EMPTY);
        }
    } else {
        pads = [EMPTY; MAX_WORDS];
        for (at, pad) in pads.iter_mut().enumerate().take(T::WORDS) {
            (step.blocks[at], _) = padded(&node(at).bytes[done..], pad);
        }
        step.lengths = [u32::try_from(length - done).unwrap_or(0); MAX_WORDS];
    }
    step.flags = either(&step.flags, &last);
    advance(tier, start, chain, &step);
}

fn either(left: &[u32; MAX_WORDS], right: &[u32; MAX_WORDS]) -> [u32; MAX_WORDS] {
    let mut both = *left;
    for (both, right) in both.iter_mut().zip(right) {
        *both |= right;
    }
    both
}

impl<'a> Lanes<'a> {
    /// Prepares one block of the first `count` lanes, or returns `None` when all inputs are done.
    fn step<'s>(&mut self, count: usize, pads: &'s mut [Block; MAX_WORDS]) -> Option<Step<'s>>
    where
        'a: 's,
    {
        let mut step = Step::NOTHING;
        let mut busy = false;
        for (at, pad) in pads.iter_mut().enumerate().take(count) {
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
        step.counters = self.counters;
        busy.then_some(step)
    }

    /// Loads the next input into a lane; returns true if there was one.
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

    /// Writes the results of the ended lanes into their slots and empties the lanes.
    #[inline(never)]
    fn put(&mut self, ended: u32, rows: &[[Quad; 2]; MAX_WORDS], digests: &mut [Digest]) {
        for (at, (lane, row)) in self.lanes.iter_mut().zip(rows).enumerate() {
            if (ended >> at) & 1 != 0 {
                digests[lane.input].as_chunks_mut().0.copy_from_slice(row);
                lane.input = NONE;
            }
        }
    }
}

impl<'s> Step<'s> {
    const NOTHING: Self = Self {
        blocks: [&EMPTY; MAX_WORDS],
        counters: [[0; MAX_WORDS]; 2],
        lengths: [0; MAX_WORDS],
        flags: [0; MAX_WORDS],
        begun: [0; MAX_WORDS],
        ended: 0,
    };

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

/// Returns the last block of an input, padded with zeros, and its length without them.
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

const EMPTY: Block = [0; 64];

/// The flags of a message of one chunk.
const MESSAGE: [u32; 3] = [CHUNK_START, 0, CHUNK_END | ROOT];

/// The length of a whole block in bytes, in the type of the compression function.
const BLOCK_BYTES: u32 = 64;

/// The input index of an empty lane.
const NONE: usize = usize::MAX;
