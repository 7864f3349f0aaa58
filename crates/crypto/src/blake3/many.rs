//! Many messages of any lengths: the short ones fill the lanes, then the chunks of the longer ones
//! do.
//!
//! A message that fills the lanes by itself is hashed alone.

#![expect(clippy::indexing_slicing, reason = "groups are emptied before they are full")]

use super::batch::{self, Inputs, Node};
use super::compress::ROOT;
use super::start::Start;
use super::tree::{self, GROUP_CHUNKS, Subtree, Values};
use super::{CHUNK_BYTES, Digest};

/// Writes the digest of each message into its slot, on all cores if that is worth waking them.
pub(super) fn hash(messages: &[&[u8]], digests: &mut [Digest]) {
    #[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
    if threads::hash(messages, digests) {
        return;
    }
    on_this_thread(messages, digests);
}

#[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
mod threads {
    use super::super::{Digest, THREADS_BYTES};
    use super::on_this_thread;

    /// Splits the messages into halves recursively; returns false if all are too short together.
    pub(super) fn hash(messages: &[&[u8]], digests: &mut [Digest]) -> bool {
        let bytes: usize = messages.iter().map(|message| message.len()).sum();
        if bytes < THREADS_BYTES || messages.len() < 2 {
            return false;
        }
        let pieces = rayon_core::current_num_threads();
        split(messages, digests, messages.len().div_ceil(pieces).max(1));
        true
    }

    fn split(messages: &[&[u8]], digests: &mut [Digest], most: usize) {
        if messages.len() <= most {
            return on_this_thread(messages, digests);
        }
        let middle = messages.len() / 2;
        let (messages, others) = messages.split_at(middle);
        let (digests, other_digests) = digests.split_at_mut(middle);
        rayon_core::join(|| split(messages, digests, most), || split(others, other_digests, most));
    }
}

fn on_this_thread(messages: &[&[u8]], digests: &mut [Digest]) {
    let short = batch::run(&Start::PLAIN, Inputs::Messages(messages), digests);
    let rest = messages.get(short..).unwrap_or_default();
    if rest.iter().all(|message| message.len() <= CHUNK_BYTES) {
        return;
    }
    let mut group = Group::EMPTY;
    for (position, message) in messages.iter().enumerate().skip(short) {
        match message.len() {
            0..=CHUNK_BYTES => {}
            SHARED_BYTES.. => digests[position] = super::hash(message),
            _ => group.add(position, message, digests),
        }
    }
    group.finish(digests);
}

/// Chunks of several messages.
///
/// Full chunks are hashed before the others: steps in which all lanes proceed alike take a third
/// less time, and one short chunk between full ones would end them.
struct Group<'a> {
    full: Chunks<'a>,
    short: Chunks<'a>,
    /// The number of chunks.
    chunks: usize,
    trees: [Subtree; GROUP_CHUNKS / 2],
    /// The slot of the digest of each tree.
    positions: [usize; GROUP_CHUNKS / 2],
    /// The number of messages.
    count: usize,
}

/// Chunks, and the position of each in its group.
struct Chunks<'a> {
    nodes: [Node<'a>; GROUP_CHUNKS],
    positions: [usize; GROUP_CHUNKS],
    count: usize,
}

impl<'a> Group<'a> {
    const EMPTY: Self = Self {
        full: Chunks::EMPTY,
        short: Chunks::EMPTY,
        chunks: 0,
        trees: [Subtree { at: 0, count: 0, root: ROOT }; GROUP_CHUNKS / 2],
        positions: [0; GROUP_CHUNKS / 2],
        count: 0,
    };

    fn add(&mut self, position: usize, message: &'a [u8], digests: &mut [Digest]) {
        let chunks = message.chunks(CHUNK_BYTES);
        let count = chunks.len();
        if self.chunks + count > GROUP_CHUNKS {
            self.finish(digests);
        }
        self.trees[self.count] = Subtree { at: self.chunks, count, root: ROOT };
        self.positions[self.count] = position;
        self.count += 1;
        for (number, chunk) in chunks.enumerate() {
            let alike = if chunk.len() == CHUNK_BYTES { &mut self.full } else { &mut self.short };
            alike.add(tree::chunk_node(chunk, number), self.chunks);
            self.chunks += 1;
        }
    }

    /// Hashes the gathered chunks and empties the group.
    fn finish(&mut self, digests: &mut [Digest]) {
        let mut values: Values = [[0; 32]; GROUP_CHUNKS];
        self.full.finish(&mut values);
        self.short.finish(&mut values);
        let trees = &mut self.trees[..self.count];
        tree::reduce(&Start::PLAIN, &mut values, trees, 1);
        for (tree, position) in trees.iter().zip(&self.positions) {
            digests[*position] = values[tree.at];
        }
        (self.chunks, self.count) = (0, 0);
    }
}

impl<'a> Chunks<'a> {
    const EMPTY: Self =
        Self { nodes: [Node::EMPTY; GROUP_CHUNKS], positions: [0; GROUP_CHUNKS], count: 0 };

    fn add(&mut self, node: Node<'a>, position: usize) {
        self.nodes[self.count] = node;
        self.positions[self.count] = position;
        self.count += 1;
    }

    /// Writes the value of each chunk into its slot and empties the list.
    fn finish(&mut self, values: &mut Values) {
        let mut own: Values = [[0; 32]; GROUP_CHUNKS];
        batch::run(&Start::PLAIN, Inputs::Nodes(&self.nodes[..self.count]), &mut own);
        for (value, position) in own.iter().zip(&self.positions[..self.count]) {
            values[*position] = *value;
        }
        self.count = 0;
    }
}

/// The length from which the chunks of one message fill sixteen lanes.
const SHARED_BYTES: usize = 16 * CHUNK_BYTES;
