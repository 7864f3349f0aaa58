//! The search for the rules that allow a query: one walk along the query, with all positions in the
//! tree.
//!
//! The positions advance together, element by element, and each is a node of the tree, so that no
//! node is entered twice for one element: the work is at most the elements of the query times the
//! nodes that the elements before them reach, however many wildcards the rules have. Lists are
//! entered by recursion, as deep as the query is. A set of the query leads to the nodes that all of
//! its elements lead to. While there is only one position, `straight` needs none of that.

use alloc::vec::Vec;

use super::ahead::Ahead;
use super::nodes::{Flag, NONE, Node as TrieNode, ROOT};
use super::stack::Stack;
use super::straight::{Way, straight};
use super::symbol::{Kind, Text};
use super::trie::{Flow, Trie};
use crate::expression::{Expression, Node, Span, index};
use crate::range::Range;

/// Passes the numbers of the rules that allow the query to `found`, until it breaks.
pub(super) fn walk(trie: &Trie, query: &Expression, found: impl FnMut(u32) -> Flow) {
    let mut ahead = Ahead::new();
    if trie.is_large() && !ahead.look(trie, query) {
        return;
    }
    // A break needs no further work.
    let _ = match straight(trie, query, &ahead) {
        Way::To(end) => ended(trie, end, found),
        Way::Nowhere => Flow::Continue(()),
        Way::Forks => forked(trie, query, ahead, found),
    };
}

fn ended(trie: &Trie, end: u32, mut found: impl FnMut(u32) -> Flow) -> Flow {
    match trie.node(end).is_some_and(|node| node.has(Flag::End)) {
        true => found(trie.nodes.back(end).rule),
        false => Flow::Continue(()),
    }
}

/// Walks with several positions, out of line, so that the straight search does not pay for it.
#[inline(never)]
fn forked(trie: &Trie, query: &Expression, ahead: Ahead, found: impl FnMut(u32) -> Flow) -> Flow {
    let (here, done) = (Stack::new(), Stack::new());
    let mut walk = Walk { trie, query, ahead, here, done, sets: 0, found };
    walk.here.push(ROOT);
    walk.step(0, 0)
}

struct Walk<'w, F> {
    trie: &'w Trie,
    query: &'w Expression,
    ahead: Ahead,
    /// The positions before an element, then those after it; above them, those within a set.
    here: Stack,
    /// The positions after the open lists, in rules where they are closed already.
    done: Stack,
    /// The number of open sets of the query. Within them, a rule that ends is no match yet: it
    /// would have to allow the other elements, too, and no list allows two.
    sets: usize,
    found: F,
}

impl<F: FnMut(u32) -> Flow> Walk<'_, F> {
    /// Moves the positions from `base` on past the element of the query.
    fn step(&mut self, base: usize, at: usize) -> Flow {
        let query = self.query;
        match query.nodes.get(at) {
            Some(Node::List { end }) => return self.list(base, at, index(*end)),
            Some(Node::Atom(span)) => {
                let atom = query.bytes(*span);
                self.atom(base, atom, &Text::hinted(atom, self.ahead.hint(at)));
            }
            Some(Node::Set { end }) => self.set(base, at, index(*end))?,
            Some(Node::Prefix(span)) => self.affix(base, Kind::Prefix, *span),
            Some(Node::Suffix(span)) => self.affix(base, Kind::Suffix, *span),
            Some(Node::Any) => self.each(base, |_, _, _| {}),
            Some(Node::Range { range, .. }) => {
                let range = query.ranges.get(index(*range));
                range.into_iter().for_each(|range| self.range(base, range));
            }
            // The empty expression, which no rule allows.
            None => self.here.truncate(base),
        }
        self.arrive(base)
    }

    fn list(&mut self, base: usize, at: usize, end: usize) -> Flow {
        let mark = self.done.len();
        self.keep_any(base);
        let mut element = at.saturating_add(1);
        if let Some(Node::Atom(span)) = self.query.nodes.get(element) {
            self.open(base, &Text::hinted(self.query.bytes(*span), self.ahead.hint(element)));
        }
        self.arrive(base)?;
        element = element.saturating_add(1);
        while element < end && self.here.len() > base {
            self.close(base);
            self.step(base, element)?;
            element = self.query.after(element);
        }
        self.close(base);
        self.here.truncate(base);
        self.here.extend(self.done.above(mark));
        self.done.truncate(mark);
        self.arrive(base)
    }

    /// Moves to the nodes where a list with that tag opens.
    fn open(&mut self, base: usize, tag: &Text<'_>) {
        for position in self.here.above_mut(base) {
            *position = self.trie.child(*position, Kind::Tag, tag).unwrap_or(NONE);
        }
        self.here.retain(base, |position| position != NONE);
    }

    /// Collects the nodes after `(*)` in place of a list.
    fn keep_any(&mut self, base: usize) {
        for position in self.here.above(base) {
            let any = self.trie.node(*position).filter(|node| node.has(Flag::Any));
            let child = any.and_then(|_| self.trie.any(*position));
            child.into_iter().for_each(|child| self.done.push(child));
        }
    }

    /// Collects the nodes after the closing of the list in rules: further elements of the query do
    /// not matter.
    fn close(&mut self, base: usize) {
        for position in self.here.above(base) {
            let closed = self.trie.node(*position).filter(|node| node.has(Flag::Close));
            if let Some(child) = closed.and_then(|_| self.trie.closed(*position)) {
                self.done.push(child);
                self.trie.targets(child, |set| self.done.push(set));
            }
        }
    }

    fn atom(&mut self, base: usize, atom: &[u8], text: &Text<'_>) {
        let mut backwards = Vec::new();
        if self.is_simple(base) {
            return self.one_atom(base, text);
        }
        self.each(base, |trie, at, visit| {
            let child = trie.child(at, Kind::Atom, text);
            child.into_iter().for_each(&mut *visit);
            let Some(stars) = trie.nodes.stars(at) else { return };
            trie.affixes(at, Kind::Prefix, atom, visit);
            if backwards.is_empty() && trie.stars.lengths(stars, Kind::Suffix).next().is_some() {
                backwards.extend(atom.iter().rev());
            }
            trie.affixes(at, Kind::Suffix, &backwards, visit);
            trie.stars.holding(stars, atom, visit);
        });
    }

    /// Returns true if there is one position, and no star form continues from it: most positions of
    /// most rules.
    fn is_simple(&self, base: usize) -> bool {
        let [position] = self.here.above(base) else { return false };
        self.trie.node(*position).is_some_and(TrieNode::is_plain)
    }

    fn one_atom(&mut self, base: usize, atom: &Text<'_>) {
        let [position] = self.here.above_mut(base) else { return };
        match self.trie.child(*position, Kind::Atom, atom) {
            Some(child) => {
                *position = child;
                self.trie.targets(child, |set| self.here.push(set));
            }
            None => self.here.truncate(base),
        }
    }

    fn affix(&mut self, base: usize, kind: Kind, span: Span) {
        let mut text = self.query.bytes(span).to_vec();
        if kind == Kind::Suffix {
            text.reverse();
        }
        self.each(base, |trie, at, visit| trie.affixes(at, kind, &text, visit));
    }

    fn range(&mut self, base: usize, range: &Range) {
        self.each(base, |trie, at, visit| {
            let stars = trie.nodes.stars(at);
            stars.into_iter().for_each(|stars| trie.stars.covering(stars, range, visit));
        });
    }

    /// Moves each position on to all nodes that `on` visits, and to the node after `(*)`.
    fn each(&mut self, base: usize, mut on: impl FnMut(&Trie, u32, &mut dyn FnMut(u32))) {
        let mark = self.done.len();
        let mut has_sets = false;
        let (trie, done) = (self.trie, &mut self.done);
        for at in self.here.above(base) {
            let Some(position) = trie.node(*at) else { continue };
            if position.has(Flag::Any) {
                trie.any(*at).into_iter().for_each(|child| done.push(child));
            }
            on(trie, *at, &mut |child| {
                done.push(child);
                trie.targets(child, |set| {
                    has_sets = true;
                    done.push(set);
                });
            });
        }
        self.here.truncate(base);
        self.here.extend(self.done.above(mark));
        self.done.truncate(mark);
        if has_sets {
            // Several elements of a set may match the same atom.
            self.here.sort(base);
        }
    }

    /// Moves the positions on to the nodes that every element of the set leads to.
    fn set(&mut self, base: usize, at: usize, end: usize) -> Flow {
        self.sets = self.sets.saturating_add(1);
        let common = self.here.len();
        let count = common.saturating_sub(base);
        let mut element = at.saturating_add(1);
        while element < end {
            let top = self.here.len();
            self.here.repeat(base, count);
            self.step(top, element)?;
            self.here.sort(top);
            if element > at.saturating_add(1) {
                self.here.intersect(common, top);
            }
            if self.here.len() == common {
                break;
            }
            element = self.query.after(element);
        }
        self.here.drain(base, count);
        self.sets = self.sets.saturating_sub(1);
        Flow::Continue(())
    }

    /// Reports the rules that end at the positions from `base` on: a rule allows all that it does
    /// not mention.
    fn arrive(&mut self, base: usize) -> Flow {
        if self.sets > 0 {
            return Flow::Continue(());
        }
        for position in self.here.above(base) {
            if self.trie.node(*position).is_some_and(|node| node.has(Flag::End)) {
                (self.found)(self.trie.nodes.back(*position).rule)?;
            }
        }
        Flow::Continue(())
    }
}
