//! A look ahead of the walk: the nodes that a query reaches in rules without star forms.
//!
//! The hash of the row of symbols from the root to a node locates the node in the table of edges.
//! So all rows of a query are hashed first, then looked up, then their nodes read: memory far away
//! is fetched in parallel, and not one access after the other as in a walk. The results are hints
//! that the walk checks; they change no answer.

use super::nodes::ROOT_HASH;
use super::symbol::{Hint, Kind};
use super::trie::Trie;
use crate::expression::{Expression, Node, index};

/// Hints by the elements of a query.
pub(super) struct Ahead {
    hints: [Hint; FAR],
}

/// A row that may be in the table.
#[derive(Clone, Copy)]
struct Row {
    /// The index of the last element of the row.
    at: usize,
    hash: u32,
    /// The first entry of the search in the table.
    entry: u64,
}

/// The rows of a query.
struct Rows {
    rows: [Row; MOST],
    count: usize,
    /// The hash of the symbols so far, and their number.
    hash: u32,
    depth: usize,
}

impl Ahead {
    /// Makes an empty look ahead.
    pub(super) const fn new() -> Self {
        Self { hints: [Hint::NONE; FAR] }
    }

    /// Returns the node that an element may lead to.
    pub(super) fn hint(&self, at: usize) -> Hint {
        self.hints.get(at).copied().unwrap_or(Hint::NONE)
    }

    /// Looks up the rows of a query.
    pub(super) fn look(&mut self, trie: &Trie, query: &Expression) {
        let mut rows = Rows::new();
        rows.hash(trie, query);
        let rows = rows.rows.get_mut(..rows.count).unwrap_or_default();
        for row in rows.iter_mut() {
            row.entry = trie.edges.first(row.hash);
        }
        for row in rows {
            if let Some(hint) = self.hints.get_mut(row.at) {
                *hint = trie.hint(row.entry, row.hash);
            }
        }
    }
}

impl Rows {
    const fn new() -> Self {
        let rows = [Row { at: 0, hash: 0, entry: 0 }; MOST];
        Self { rows, count: 0, hash: ROOT_HASH, depth: 0 }
    }

    /// Hashes the rows up to the first star form.
    fn hash(&mut self, trie: &Trie, query: &Expression) {
        let mut ends = [0; FAR];
        let mut open = 0_usize;
        let mut kind = Kind::Atom;
        for (at, node) in query.nodes.iter().enumerate().take(FAR) {
            while let Some(last) = open.checked_sub(1)
                && ends.get(last).is_some_and(|end| *end <= at)
            {
                open = last;
                self.push(trie, at, Kind::Close, b"");
            }
            match node {
                Node::Atom(span) => {
                    self.push(trie, at, kind, query.bytes(*span));
                    kind = Kind::Atom;
                }
                Node::List { end } => {
                    ends.get_mut(open).into_iter().for_each(|position| *position = index(*end));
                    open = open.saturating_add(1);
                    kind = Kind::Tag;
                }
                _ => return,
            }
        }
    }

    /// Hashes a row that is longer by one symbol, and adds it if the table has such rows.
    fn push(&mut self, trie: &Trie, at: usize, kind: Kind, text: &[u8]) {
        self.hash = trie.row(self.hash, kind, text);
        if trie.is_crowded(self.depth)
            && kind != Kind::Close
            && let Some(position) = self.rows.get_mut(self.count)
        {
            *position = Row { at, hash: self.hash, entry: 0 };
            self.count = self.count.saturating_add(1);
        }
        self.depth = self.depth.saturating_add(1);
    }
}

/// The number of elements of a query that are looked ahead.
const FAR: usize = 32;

/// The number of rows that are looked up.
const MOST: usize = 12;
