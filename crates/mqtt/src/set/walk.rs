//! The walk of a name through the tree of the filters with wildcards.

use super::{END, Filters, Leaf, PLUS, REST, WORD, hash};
use crate::blocks::word_end;

/// A search for the filters that match a name.
pub(super) struct Walk<'s, V> {
    pub(super) set: &'s Filters<V>,
    pub(super) name: &'s [u8],
}

/// A node on a way into the tree.
#[derive(Clone, Copy)]
struct Step<'w> {
    at: u64,
    edges: u32,
    /// The last word on the way here for which a `+` stands.
    plus: Option<&'w Plus<'w>>,
}

/// A word of the name for which a `+` stands.
struct Plus<'w> {
    start: usize,
    end: usize,
    before: Option<&'w Plus<'w>>,
}

impl<V> Walk<'_, V> {
    /// Calls `found` with the values of all filters with wildcards that match the name, given the
    /// edges of the root.
    #[inline]
    pub(super) fn all(&self, edges: u32, found: &mut impl FnMut(&V)) {
        self.below(Step { at: hash::ROOT, edges, plus: None }, 0, found);
    }

    /// Searches below a node, with the words of the name from `start` on still to come.
    ///
    /// Calls itself for `+` and goes on itself with the word: as deep as the name has levels.
    #[inline]
    fn below(&self, step: Step<'_>, start: usize, found: &mut impl FnMut(&V)) {
        let (mut step, mut start) = (step, start);
        let hasher = &self.set.hasher;
        loop {
            if step.edges & REST != 0 {
                // `#` stands for the words from here on.
                self.leaf_of_rest(step, start, b"#", found);
            }
            let goes_on = step.edges >= WORD;
            if !goes_on && step.edges & PLUS == 0 {
                return;
            }
            if !goes_on {
                return self.plus(step, start, word_end(self.name, start), found);
            }
            let (at, end) = hasher.child_in(step.at, self.name, start);
            if step.edges & PLUS != 0 {
                self.plus(step, start, end, found);
            }
            let Some(node) = self.set.nodes.find(at, |_| true) else { return };
            step = Step { at, edges: node.edges, ..step };
            if end >= self.name.len() {
                return self.end(step, found);
            }
            start = end.saturating_add(1);
        }
    }

    /// Goes on with `+` for a word.
    fn plus(&self, step: Step<'_>, start: usize, end: usize, found: &mut impl FnMut(&V)) {
        let at = self.set.hasher.plus(step.at);
        let Some(node) = self.set.nodes.find(at, |_| true) else { return };
        let plus = Plus { start, end, before: step.plus };
        let step = Step { at, edges: node.edges, plus: Some(&plus) };
        match end < self.name.len() {
            true => self.below(step, end.saturating_add(1), found),
            false => self.end(step, found),
        }
    }

    /// Ends at a node: with the filters that end there, and those whose `#` stands for nothing.
    #[inline]
    fn end(&self, step: Step<'_>, found: &mut impl FnMut(&V)) {
        // Filters without wildcard have been found by their texts.
        if step.edges & END != 0 && step.plus.is_some() {
            self.leaf(self.set.hasher.end(step.at), found, |filter| {
                self.spells(filter, self.name.len(), step.plus)
            });
        }
        if step.edges & REST != 0 {
            self.leaf_of_rest(step, self.name.len(), b"/#", found);
        }
    }

    /// Finds the filter that is the name up to `end` and then `rest`.
    #[inline]
    fn leaf_of_rest(&self, step: Step<'_>, end: usize, rest: &[u8], found: &mut impl FnMut(&V)) {
        self.leaf(self.set.hasher.rest(step.at), found, |filter| {
            let before = filter.strip_suffix(rest);
            before.is_some_and(|before| self.spells(before, end, step.plus))
        });
    }

    /// Finds the one filter with that key for which `is` returns true.
    #[inline]
    fn leaf(&self, key: u64, found: &mut impl FnMut(&V), is: impl Fn(&[u8]) -> bool) {
        let is_leaf = |leaf: &Leaf| is(self.set.texts.get(leaf.text));
        if let Some(leaf) = self.set.leaves.find(key, is_leaf) {
            self.set.each(leaf.first, found);
        }
    }

    /// Returns true if a filter, or its beginning, is the name up to `end` with `+` in the place of
    /// some words.
    ///
    /// Such a filter matches, and no other way leads to it. The words are whole ones, and the first
    /// of a name that begins with `$` is none of them: the walk does not begin with a wildcard then.
    #[inline]
    fn spells(&self, filter: &[u8], end: usize, plus: Option<&Plus<'_>>) -> bool {
        let (mut filter, mut end, mut plus) = (filter, end, plus);
        while let Some(Plus { start, end: word, before }) = plus {
            let literal = self.name.get(*word..end).unwrap_or_default();
            let rest = filter.strip_suffix(literal).and_then(|rest| rest.strip_suffix(b"+"));
            let Some(rest) = rest else { return false };
            (filter, end, plus) = (rest, *start, *before);
        }
        self.name.get(..end) == Some(filter)
    }
}
