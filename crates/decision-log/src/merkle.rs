//! The log of frames: a Merkle tree of SHA-256 digests, as RFC 6962, section 2.1 has it.
//!
//! Others verify it with programs of their own: all digests, proofs and orders are those of the
//! standard.
//!
//! # Examples
//! ```
//! use wardgate_decision_log::merkle::{self, Frontier};
//!
//! let mut log = Frontier::default();
//! log.append(merkle::leaf(b"first"), |_, _| {});
//! log.append(merkle::leaf(b"second"), |_, _| {});
//! let path = [merkle::leaf(b"second")];
//! assert_eq!(merkle::climb(b"first", 0, log.size(), &path), Some(log.root()));
//! ```

use alloc::vec::Vec;

use sha2::{Digest as _, Sha256};

pub use crate::shape::Digest;
use crate::shape::{self, split};

/// Returns the digest of a leaf.
#[must_use]
pub fn leaf(entry: &[u8]) -> Digest {
    Sha256::new().chain_update([0]).chain_update(entry).finalize().into()
}

/// Returns the digest of a node.
#[must_use]
pub fn node(left: &Digest, right: &Digest) -> Digest {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

/// Returns the root of the tree without leaves.
#[must_use]
pub fn empty() -> Digest {
    Sha256::digest(b"").into()
}

/// Returns the root that an inclusion proof leads to, or `None` if it is none of an entry with that
/// index in a log of that size.
#[must_use]
pub fn climb(entry: &[u8], index: u64, size: u64, path: &[Digest]) -> Option<Digest> {
    shape::climb((leaf(entry), index), size, path, node)
}

/// A tree at a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The number of leaves.
    pub size: u64,
    /// The root.
    pub root: Digest,
}

/// Returns true if a proof shows that `new` has all leaves of `old`, in their order, before others
/// (RFC 9162, section 2.1.4.2). An empty tree is the beginning of every other, without a proof.
#[must_use]
pub fn is_consistent(old: Head, new: Head, proof: &[Digest]) -> bool {
    match old.size {
        0 => proof.is_empty() && old.root == empty(),
        size if size == new.size => proof.is_empty() && old.root == new.root,
        size if size > new.size => false,
        size if size.is_power_of_two() => roots(old, new, old.root, proof),
        _ => proof.split_first().is_some_and(|(first, rest)| roots(old, new, *first, rest)),
    }
}

/// Returns true if the way up from a digest that both trees have leads to both roots.
fn roots(old: Head, new: Head, first: Digest, rest: &[Digest]) -> bool {
    let (mut at, mut last) = (old.size.saturating_sub(1), new.size.saturating_sub(1));
    while at & 1 == 1 {
        (at, last) = (at >> 1, last >> 1);
    }
    let (mut old_root, mut new_root) = (first, first);
    for beside in rest {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            old_root = node(beside, &old_root);
            new_root = node(beside, &new_root);
            while at & 1 == 0 && at != 0 {
                (at, last) = (at >> 1, last >> 1);
            }
        } else {
            new_root = node(&new_root, beside);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    last == 0 && old_root == old.root && new_root == new.root
}

/// The digests of complete subtrees, by which proofs are made.
pub trait Subtrees {
    /// Returns the digest of the subtree over the leaves from `index << level` on, of which there are
    /// `1 << level`, or `None` if it is not known.
    fn subtree(&self, level: u32, index: u64) -> Option<Digest>;
}

/// Returns the inclusion proof of a leaf in the log of that size, or `None` if there is no such leaf
/// or a digest is not known.
pub fn inclusion(index: u64, size: u64, trees: &impl Subtrees) -> Option<Vec<Digest>> {
    if index >= size {
        return None;
    }
    let (mut start, mut end, mut path) = (0_u64, size, Vec::new());
    while end.saturating_sub(start) > 1 {
        let middle = start.saturating_add(split(end.saturating_sub(start)));
        let beside = if index < middle { (middle, end) } else { (start, middle) };
        path.push(root_between(beside, trees)?);
        (start, end) = if index < middle { (start, middle) } else { (middle, end) };
    }
    path.reverse();
    Some(path)
}

/// Returns the proof that the log of size `old` is the beginning of that of size `new`, or `None` if
/// `old` is greater or a digest is not known.
pub fn consistency(old: u64, new: u64, trees: &impl Subtrees) -> Option<Vec<Digest>> {
    if old > new {
        return None;
    }
    let (mut start, mut end, mut path) = (0_u64, new, Vec::new());
    // True as long as the old tree is the beginning of this subtree and of all left of it.
    let mut is_whole = true;
    while old != end && old != 0 {
        let middle = start.saturating_add(split(end.saturating_sub(start)));
        if old <= middle {
            path.push(root_between((middle, end), trees)?);
            end = middle;
        } else {
            path.push(root_between((start, middle), trees)?);
            (start, is_whole) = (middle, false);
        }
    }
    if !is_whole {
        path.push(root_between((start, end), trees)?);
    }
    path.reverse();
    Some(path)
}

/// Returns the root of the log of that size, or `None` if a digest is not known.
pub fn root(size: u64, trees: &impl Subtrees) -> Option<Digest> {
    if size == 0 { Some(empty()) } else { root_between((0, size), trees) }
}

/// Returns the root over the leaves from `start` to `end`. Each part that a proof asks for begins at a
/// multiple of a power of two that is not below its length, so its left parts are complete subtrees.
fn root_between((start, end): (u64, u64), trees: &impl Subtrees) -> Option<Digest> {
    let (mut start, mut complete) = (start, Vec::new());
    loop {
        let count = end.saturating_sub(start);
        let part = if count.is_power_of_two() { count } else { split(count) };
        let level = part.checked_ilog2()?;
        complete.push(trees.subtree(level, start >> level)?);
        start = start.saturating_add(part);
        if start == end {
            return complete.into_iter().rev().reduce(|right, left| node(&left, &right));
        }
    }
}

/// The right edge of a growing log: the roots of its complete subtrees, of which each is smaller than
/// the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    // INVARIANT: one digest for each bit that is set in `size`, the highest first.
    edge: Vec<Digest>,
}

impl Frontier {
    /// Reads the right edge of the log of that size, or returns `None` if a digest is not known.
    #[must_use]
    pub fn read(size: u64, trees: &impl Subtrees) -> Option<Self> {
        let bits = (0..u64::BITS).rev().filter(|level| size >> level & 1 == 1);
        // The subtrees before it have the bits above this one.
        let digest = |level: u32| trees.subtree(level, (size >> level).checked_sub(1)?);
        Some(Self { size, edge: bits.map(digest).collect::<Option<_>>()? })
    }

    /// Returns the number of leaves.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Adds a leaf, and tells each subtree that is complete with it: its level and digest, from the leaf up.
    pub fn append(&mut self, leaf: Digest, mut completed: impl FnMut(u32, Digest)) {
        let mut digest = leaf;
        completed(0, digest);
        for level in 0..self.size.trailing_ones() {
            let Some(left) = self.edge.pop() else { break };
            digest = node(&left, &digest);
            completed(level.saturating_add(1), digest);
        }
        self.edge.push(digest);
        self.size = self.size.saturating_add(1);
    }

    /// Returns the root.
    #[must_use]
    pub fn root(&self) -> Digest {
        let edge = self.edge.iter().rev().copied();
        edge.reduce(|right, left| node(&left, &right)).unwrap_or_else(empty)
    }

    /// Returns the size and the root.
    #[must_use]
    pub fn head(&self) -> Head {
        Head { size: self.size, root: self.root() }
    }
}

#[cfg(test)]
mod tests;
