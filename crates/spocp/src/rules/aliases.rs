//! Aliases: the nodes where sets continue, at the ends of their elements.
//!
//! Each alias is in two lists: that of the end, and that of the set. Both are linked within one
//! array, so that adding and removing an alias touches only its neighbours.

use alloc::vec::Vec;

use super::nodes::NONE;
use crate::expression::index;

/// All aliases of a set of rules.
#[derive(Clone, Debug, Default)]
pub(super) struct Aliases {
    entries: Vec<Alias>,
    free: Vec<u32>,
}

/// One element of one set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alias {
    at: u32,
    /// The node where the element ends.
    pub(super) end: u32,
    /// The node where the set continues.
    set: u32,
    previous: u32,
    next: u32,
    /// The next alias of the same set.
    pub(super) sibling: u32,
}

impl Aliases {
    /// Adds an alias before the first of its end and the first of its set.
    pub(super) fn add(&mut self, end: u32, set: u32, next: u32, sibling: u32) -> u32 {
        let reused = self.free.pop();
        let at = reused.unwrap_or(u32::try_from(self.entries.len()).unwrap_or(NONE));
        let alias = Alias { at, end, set, previous: NONE, next, sibling };
        match self.entries.get_mut(index(at)) {
            Some(position) => *position = alias,
            None => self.entries.push(alias),
        }
        self.change(next, |alias| alias.previous = at);
        at
    }

    pub(super) fn first(&self, at: u32) -> Option<Alias> {
        self.entries.get(index(at)).copied()
    }

    /// Removes an alias from the list of its end; returns the new first alias of the list if the
    /// removed one was first.
    pub(super) fn remove(&mut self, alias: Alias) -> Option<u32> {
        // The neighbours may have changed since the alias was read.
        let Alias { previous, next, .. } = self.first(alias.at).unwrap_or(alias);
        self.change(next, |alias| alias.previous = previous);
        self.change(previous, |alias| alias.next = next);
        self.free.push(alias.at);
        (previous == NONE).then_some(next)
    }

    /// Visits the nodes where the sets continue, from the first alias of an end.
    pub(super) fn targets(&self, first: u32, visit: &mut impl FnMut(u32)) {
        let mut at = first;
        while let Some(alias) = self.entries.get(index(at)) {
            visit(alias.set);
            at = alias.next;
        }
    }

    fn change(&mut self, at: u32, change: impl FnOnce(&mut Alias)) {
        if let Some(it) = self.entries.get_mut(index(at)) {
            change(it);
        }
    }
}
