//! Messages of more than a chunk: chunks and parents fill the lanes, level by level.
//!
//! The tree of BLAKE3 puts the largest complete subtree on the left. So neighbours may be paired on
//! every level, and a value left over moves up unchanged; and groups of 64 chunks are subtrees.

#![expect(
    clippy::indexing_slicing,
    reason = "subtrees lie within the array that they were counted for"
)]

use super::batch::{self, Inputs, Node};
use super::compress::{CHUNK_END, CHUNK_START, PARENT, Root};
use super::start::Start;
use super::{CHUNK_BYTES, Digest};

/// The chaining values of one group of chunks.
pub(super) type Values = [Digest; GROUP_CHUNKS];

/// The number of chunks whose chaining values are computed at once: a power of two.
pub(super) const GROUP_CHUNKS: usize = 64;

/// The range of values of one subtree.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Subtree {
    pub(super) at: usize,
    pub(super) count: usize,
    /// The root flag for a parent at the top of the tree, otherwise 0.
    pub(super) root: u32,
}

/// Hashes a message of more than a chunk, except for the last compression.
pub(super) fn root(start: &Start, message: &[u8]) -> Root {
    let mut stack = Stack { values: [[0; 32]; DEPTH], depth: 0 };
    let groups = message.chunks(GROUP_CHUNKS * CHUNK_BYTES);
    let last = groups.len().saturating_sub(1);
    let mut values = [[0; 32]; GROUP_CHUNKS];
    for (number, group) in groups.enumerate() {
        let count = chunks(start, group, number * GROUP_CHUNKS, &mut values);
        let mut whole = [Subtree { at: 0, count, root: 0 }];
        if last == 0 {
            reduce(start, &mut values, &mut whole, 2);
            return parent(start, &[values[0], values[1]]);
        }
        reduce(start, &mut values, &mut whole, 1);
        stack.merge(start, number);
        stack.push(values[0]);
    }
    stack.root(start)
}

/// Hashes the chunks of `bytes`, beginning with chunk `first` of the message.
fn chunks(start: &Start, bytes: &[u8], first: usize, values: &mut Values) -> usize {
    let mut nodes = [Node::EMPTY; GROUP_CHUNKS];
    let mut count = 0;
    for (node, (number, chunk)) in nodes.iter_mut().zip((0..).zip(bytes.chunks(CHUNK_BYTES))) {
        *node = chunk_node(chunk, first + number);
        count += 1;
    }
    batch::run(start, Inputs::Nodes(&nodes[..count]), values);
    count
}

/// Returns the node of a chunk that is only part of its message.
pub(super) fn chunk_node(bytes: &[u8], number: usize) -> Node<'_> {
    let counter = u64::try_from(number).unwrap_or(u64::MAX);
    Node { bytes, counter, flags: [CHUNK_START, 0, CHUNK_END] }
}

/// Pairs the values of every subtree until each has at most `left` of them.
pub(super) fn reduce(start: &Start, values: &mut Values, trees: &mut [Subtree], left: usize) {
    while trees.iter().any(|tree| tree.count > left) {
        level(start, values, trees, left);
    }
}

/// Pairs the values of the subtrees that have more than `left` of them, all in one batch.
fn level(start: &Start, values: &mut Values, trees: &mut [Subtree], left: usize) {
    let below = *values;
    let mut nodes = [Node::EMPTY; GROUP_CHUNKS / 2];
    let mut count = 0;
    for tree in trees.iter().filter(|tree| tree.count > left) {
        let root = if tree.count == 2 { tree.root } else { 0 };
        for pair in below[tree.at..tree.at + tree.count].chunks_exact(2) {
            nodes[count] =
                Node { bytes: pair.as_flattened(), counter: 0, flags: [0, PARENT, root] };
            count += 1;
        }
    }
    let mut above = [[0; 32]; GROUP_CHUNKS / 2];
    batch::run(start, Inputs::Nodes(&nodes[..count]), &mut above);
    let mut above = above.iter();
    for tree in trees.iter_mut().filter(|tree| tree.count > left) {
        let pairs = tree.count / 2;
        for (value, parent) in values[tree.at..tree.at + pairs].iter_mut().zip(&mut above) {
            *value = *parent;
        }
        if tree.count % 2 == 1 {
            values[tree.at + pairs] = below[tree.at + tree.count - 1];
        }
        tree.count -= pairs;
    }
}

/// The subtrees on the left of the current group, the largest first.
struct Stack {
    values: [Digest; DEPTH],
    depth: usize,
}

impl Stack {
    fn push(&mut self, value: Digest) {
        self.values[self.depth] = value;
        self.depth += 1;
    }

    fn pop(&mut self) -> Digest {
        self.depth -= 1;
        self.values[self.depth]
    }

    /// Joins subtrees of one size, after `number` groups: as many remain as that number has bits.
    ///
    /// The caller does it only before further input, since the last join is the root.
    fn merge(&mut self, start: &Start, number: usize) {
        while self.depth > 0 && self.depth > bits(number) {
            let right = self.pop();
            let left = self.pop();
            self.push(parent(start, &[left, right]).value(0));
        }
    }

    fn root(mut self, start: &Start) -> Root {
        let mut right = self.pop();
        loop {
            let left = self.pop();
            let joined = parent(start, &[left, right]);
            if self.depth == 0 {
                return joined;
            }
            right = joined.value(0);
        }
    }
}

fn bits(number: usize) -> usize {
    usize::try_from(number.count_ones()).unwrap_or(usize::MAX)
}

/// Returns the parent of two values, which may be the root.
fn parent(start: &Start, children: &[Digest; 2]) -> Root {
    let mut block = [0; 64];
    block.as_chunks_mut().0.copy_from_slice(children);
    Root { chain: start.key, block, length: 64, flags: start.flags | PARENT }
}

/// The depth of the stack: enough for the longest slice, which has less than 2^64 bytes.
const DEPTH: usize = 54;
