//! A look ahead of the walk: the nodes that a query reaches in rules without star forms.
//!
//! The hash of the row of symbols from the root to a node locates the node in the table of edges.
//! So all rows of a query are hashed first, then looked up, then their nodes read: memory far away
//! is fetched in parallel, and not one access after the other as in a walk. The results are hints
//! that the walk checks; they change no answer.

use super::literals::{Literal, Literals};
use super::nodes::ROOT_HASH;
use super::symbol::{Hint, Kind};
use super::trie::Trie;
use crate::expression::Expression;

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

/// The result of hashing a query.
struct Hashed {
    /// The number of rows that may be in the table.
    rows: usize,
    symbols: u32,
    /// The hash of the row of all symbols.
    last: u32,
    /// True if a star form follows, or more symbols than are hashed.
    is_cut: bool,
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

    /// Returns the node that a symbol may lead to.
    pub(super) fn hint_of(&self, literal: &Literal<'_>) -> Hint {
        // A closing has the index of another symbol.
        if literal.kind == Kind::Close { Hint::NONE } else { self.hint(literal.at) }
    }

    /// Looks up the rows of a query; returns false if no rule can allow it.
    pub(super) fn look(&mut self, trie: &Trie, query: &Expression) -> bool {
        let mut rows = [Row { at: 0, hash: 0, entry: 0 }; MOST];
        let hashed = hash(trie, query, &mut rows);
        if !hashed.is_cut && !trie.may_allow(hashed.symbols, hashed.last) {
            return false;
        }
        let rows = rows.get_mut(..hashed.rows).unwrap_or_default();
        for row in rows.iter_mut() {
            row.entry = trie.edges.first(row.hash);
        }
        for row in rows {
            if let Some(hint) = self.hints.get_mut(row.at) {
                *hint = trie.hint(row.entry, row.hash);
            }
        }
        true
    }
}

/// Hashes the rows up to the first star form, and writes those that may be in the table.
fn hash(trie: &Trie, query: &Expression, rows: &mut [Row; MOST]) -> Hashed {
    let mut crowded = trie.crowded();
    let mut hashed = Hashed { rows: 0, symbols: 0, last: ROOT_HASH, is_cut: false };
    let mut literals = Literals::of(query);
    for literal in literals.by_ref().take(LONG) {
        hashed.last = trie.row(hashed.last, literal.kind, literal.text);
        if crowded & 1 == 1
            && literal.kind != Kind::Close
            && let Some(row) = rows.get_mut(hashed.rows)
        {
            *row = Row { at: literal.at, hash: hashed.last, entry: 0 };
            hashed.rows = hashed.rows.saturating_add(1);
        }
        crowded >>= 1;
        hashed.symbols = hashed.symbols.saturating_add(1);
    }
    hashed.is_cut = literals.is_cut() || literals.next().is_some();
    hashed
}

/// The number of elements of a query that are looked ahead.
const FAR: usize = 32;

/// The number of symbols that are hashed.
const LONG: usize = 63;

/// The number of rows that are looked up.
const MOST: usize = 12;
