//! The walk of a name through the tree of the filters with wildcards.

use super::{END, Filters, PLUS, REST, WORD, hash};
use crate::blocks::word_end;
use crate::topic::Way;

/// A search for the filters that match a name.
pub(super) struct Walk<'s, V> {
    pub(super) set: &'s Filters<V>,
    pub(super) name: &'s [u8],
}

/// A node on a way into the tree.
#[derive(Clone, Copy)]
struct Step {
    at: u64,
    edges: u32,
    /// The number of levels of the name that lead here.
    level: u32,
    /// Those of them for which a `+` stands.
    pluses: u128,
}

impl<V> Walk<'_, V> {
    /// Calls `found` with the values of all filters with wildcards that match the name, given the
    /// edges of the root.
    #[inline]
    pub(super) fn all(&self, edges: u32, found: &mut impl FnMut(&V)) {
        self.below(Step { at: hash::ROOT, edges, level: 0, pluses: 0 }, 0, found);
    }

    /// Searches below a node, with the words of the name from `start` on still to come.
    ///
    /// Calls itself for `+` and goes on itself with the word: as deep as the name has levels.
    #[inline]
    fn below(&self, step: Step, start: usize, found: &mut impl FnMut(&V)) {
        let (mut step, mut start) = (step, start);
        let hasher = &self.set.hasher;
        loop {
            if step.edges & REST != 0 {
                self.leaf_of_rest(step, found);
            }
            let goes_on = step.edges >= WORD;
            if !goes_on && step.edges & PLUS == 0 {
                return;
            }
            if !goes_on {
                return self.plus(step, word_end(self.name, start), found);
            }
            let (at, end) = hasher.child_in(step.at, self.name, start);
            if step.edges & PLUS != 0 {
                self.plus(step, end, found);
            }
            let Some(node) = self.set.nodes.find(at, |_| true) else { return };
            step = Step { at, edges: node.edges, level: step.level.wrapping_add(1), ..step };
            if end >= self.name.len() {
                return self.end(step, found);
            }
            start = end.saturating_add(1);
        }
    }

    /// Goes on with `+` for the word that ends at `end`.
    fn plus(&self, step: Step, end: usize, found: &mut impl FnMut(&V)) {
        let at = self.set.hasher.plus(step.at);
        let Some(node) = self.set.nodes.find(at, |_| true) else { return };
        let pluses = step.pluses | 1_u128.unbounded_shl(step.level);
        let step = Step { at, edges: node.edges, level: step.level.wrapping_add(1), pluses };
        match end < self.name.len() {
            true => self.below(step, end.saturating_add(1), found),
            false => self.end(step, found),
        }
    }

    /// Ends at a node: with the filters that end there, and those whose `#` stands for nothing.
    #[inline]
    fn end(&self, step: Step, found: &mut impl FnMut(&V)) {
        // Filters without wildcard have been found by their texts.
        if step.edges & END != 0 && step.pluses != 0 {
            let way = Way { pluses: step.pluses, rest: 0 };
            self.leaf(self.set.hasher.end(step.at), way, found);
        }
        if step.edges & REST != 0 {
            self.leaf_of_rest(step, found);
        }
    }

    #[inline]
    fn leaf_of_rest(&self, step: Step, found: &mut impl FnMut(&V)) {
        let way = Way { pluses: step.pluses, rest: step.level.wrapping_add(1) };
        self.leaf(self.set.hasher.rest(step.at), way, found);
    }

    #[inline]
    fn leaf(&self, key: u64, way: Way, found: &mut impl FnMut(&V)) {
        self.set.leaves.each(key, |leaf| {
            if Way::of(self.set.texts.get(leaf.text), self.name) == Some(way) {
                self.set.each(leaf.first, found);
            }
        });
    }
}
