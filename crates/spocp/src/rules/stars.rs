//! The star forms that rules continue with at one node, other than sets and `(*)`.
//!
//! For prefixes and suffixes it is enough to store their lengths: a text has one prefix of each
//! length, whose hash is a by-product of hashing the text. So a text is read once, whatever the
//! number of prefixes.

use alloc::vec::Vec;

use super::nodes::NONE;
use super::ranges::Ranges;
use super::symbol::Kind;
use crate::expression::index;
use crate::range::{Probe, Range, Type};
use crate::read;

/// The star forms of all nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Stars {
    entries: Vec<Entry>,
    free: Vec<u32>,
    ranges: Ranges,
}

#[derive(Clone, Debug)]
struct Entry {
    prefixes: Lengths,
    suffixes: Lengths,
    /// The roots of the trees, by type.
    ranges: [u32; Type::ALL.len()],
}

/// Lengths in order, each with the number of affixes that have it.
#[derive(Clone, Debug, Default)]
struct Lengths(Vec<(u32, u32)>);

impl Stars {
    pub(super) fn add(&mut self) -> u32 {
        let entry = Entry::default();
        let reused = self.free.pop();
        let new = reused.unwrap_or(u32::try_from(self.entries.len()).unwrap_or(NONE));
        match self.entries.get_mut(index(new)) {
            Some(position) => *position = entry,
            None => self.entries.push(entry),
        }
        new
    }

    /// Frees an entry after its last star form was removed.
    pub(super) fn remove(&mut self, at: u32) {
        self.entries.get_mut(index(at)).into_iter().for_each(|entry| *entry = Entry::default());
        self.free.push(at);
    }

    pub(super) fn add_affix(&mut self, at: u32, kind: Kind, len: u32) {
        self.entries.get_mut(index(at)).into_iter().for_each(|entry| entry.affixes(kind).add(len));
    }

    pub(super) fn remove_affix(&mut self, at: u32, kind: Kind, len: u32) {
        let entry = self.entries.get_mut(index(at));
        entry.into_iter().for_each(|entry| entry.affixes(kind).remove(len));
    }

    pub(super) fn add_range(&mut self, at: u32, range: Range, target: u32) {
        let Self { entries, ranges, .. } = self;
        let root = entries.get_mut(index(at)).and_then(|entry| entry.root(range.kind()));
        root.into_iter().for_each(|root| *root = ranges.insert(*root, range.clone(), target));
    }

    /// Removes a range, given in canonical form.
    pub(super) fn remove_range(&mut self, at: u32, text: &[u8]) {
        let expression = read::normal(text).unwrap_or_default();
        let Some(range) = expression.ranges.first() else { return };
        let Self { entries, ranges, .. } = self;
        let root = entries.get_mut(index(at)).and_then(|entry| entry.root(range.kind()));
        root.into_iter().for_each(|root| *root = ranges.remove(*root, range));
    }

    /// Returns the lengths of the prefixes, or of the suffixes.
    pub(super) fn lengths(&self, at: u32, kind: Kind) -> impl Iterator<Item = usize> {
        let entry = self.entries.get(index(at));
        let lengths = entry.map(|entry| match kind {
            Kind::Suffix => &entry.suffixes.0[..],
            _ => &entry.prefixes.0[..],
        });
        lengths.unwrap_or_default().iter().map(|(len, _)| index(*len))
    }

    /// Visits the nodes where rules continue whose range contains an atom.
    pub(super) fn holding(&self, at: u32, atom: &[u8], visit: &mut dyn FnMut(u32)) {
        let Some(entry) = self.entries.get(index(at)) else { return };
        for (kind, root) in Type::ALL.into_iter().zip(entry.ranges) {
            if let Some(probe) = (root != NONE).then(|| Probe::of_atom(kind, atom)).flatten() {
                self.ranges.covering(root, &probe, visit);
            }
        }
    }

    /// Visits the nodes where rules continue whose range covers another.
    pub(super) fn covering(&self, at: u32, range: &Range, visit: &mut dyn FnMut(u32)) {
        let entry = self.entries.get(index(at));
        let root = entry.and_then(|entry| entry.ranges.get(range.kind().position()));
        root.into_iter().for_each(|root| {
            self.ranges.covering(*root, &Probe::Range(range), visit);
        });
    }
}

impl Default for Entry {
    fn default() -> Self {
        let (prefixes, suffixes) = Default::default();
        Self { prefixes, suffixes, ranges: [NONE; Type::ALL.len()] }
    }
}

impl Entry {
    fn affixes(&mut self, kind: Kind) -> &mut Lengths {
        if kind == Kind::Suffix { &mut self.suffixes } else { &mut self.prefixes }
    }

    fn root(&mut self, kind: Type) -> Option<&mut u32> {
        self.ranges.get_mut(kind.position())
    }
}

impl Lengths {
    fn add(&mut self, len: u32) {
        match self.0.binary_search_by_key(&len, |entry| entry.0) {
            Ok(at) => {
                let entry = self.0.get_mut(at);
                entry.into_iter().for_each(|entry| entry.1 = entry.1.saturating_add(1));
            }
            Err(at) => self.0.insert(at, (len, 1)),
        }
    }

    fn remove(&mut self, len: u32) {
        let Ok(at) = self.0.binary_search_by_key(&len, |entry| entry.0) else { return };
        match self.0.get_mut(at) {
            Some(entry) if entry.1 > 1 => entry.1 = entry.1.saturating_sub(1),
            _ => drop(self.0.remove(at)),
        }
    }
}
