//! The texts of a set of rules, each stored once.
//!
//! All of them are in one array. Unused text is freed; when half of the array is unused, the rest
//! is compacted.

use alloc::vec::Vec;

use super::table::{Hasher, TAIL, Table, tail};
use crate::expression::index;

/// Texts by number.
#[derive(Clone, Debug)]
pub(super) struct Atoms {
    text: Vec<u8>,
    atoms: Vec<Atom>,
    /// The unused numbers.
    free: Vec<u32>,
    table: Table,
    hasher: Hasher,
    /// The number of unused bytes.
    dead: usize,
}

#[derive(Clone, Copy, Debug)]
struct Atom {
    at: u32,
    len: u32,
    uses: u32,
    /// All of a text of at most eight bytes.
    tail: u64,
}

impl Atoms {
    pub(super) fn new(hasher: Hasher) -> Self {
        let (text, atoms, free, table) = Default::default();
        Self { text, atoms, free, table, hasher, dead: 0 }
    }

    /// Returns the text of a number.
    pub(super) fn text(&self, number: u32) -> &[u8] {
        let Some(atom) = self.atoms.get(index(number)) else { return &[] };
        let at = index(atom.at);
        self.text.get(at..at.saturating_add(index(atom.len))).unwrap_or_default()
    }

    /// Returns true if the text of a number is this one.
    pub(super) fn is(&self, number: u32, text: &[u8]) -> bool {
        let Some(atom) = self.atoms.get(index(number)) else { return text.is_empty() };
        index(atom.len) == text.len()
            && atom.tail == tail(text)
            && (text.len() <= TAIL || self.text(number) == text)
    }

    /// Returns the length of all text in bytes.
    pub(super) const fn len(&self) -> usize {
        self.text.len()
    }

    /// Adds a use of a text with this hash, and returns its number. The caller has checked that it
    /// fits.
    pub(super) fn take(&mut self, hash: u32, text: &[u8]) -> u32 {
        let known = self.table.find(hash, |number| self.text(number) == text);
        let number = known.unwrap_or_else(|| self.add(hash, text));
        if let Some(atom) = self.atoms.get_mut(index(number)) {
            atom.uses = atom.uses.saturating_add(1);
        }
        number
    }

    fn add(&mut self, hash: u32, text: &[u8]) -> u32 {
        let at = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.text.extend_from_slice(text);
        let atom = Atom { at, len, uses: 0, tail: tail(text) };
        let reused = self.free.pop();
        let number = reused.unwrap_or(u32::try_from(self.atoms.len()).unwrap_or(u32::MAX));
        match self.atoms.get_mut(index(number)) {
            Some(position) => *position = atom,
            None => self.atoms.push(atom),
        }
        self.table.insert(hash, number);
        number
    }

    /// Removes a use of a text.
    pub(super) fn release(&mut self, number: u32) {
        let Some(atom) = self.atoms.get_mut(index(number)) else { return };
        atom.uses = atom.uses.saturating_sub(1);
        if atom.uses > 0 {
            return;
        }
        let hash = self.hasher.text(self.text(number));
        self.table.remove(hash, number);
        self.dead = self.dead.saturating_add(self.text(number).len());
        self.free.push(number);
        if self.dead > LITTLE && self.dead > self.text.len() / 2 {
            self.compact();
        }
    }

    fn compact(&mut self) {
        let old = core::mem::take(&mut self.text);
        self.text.reserve(old.len().saturating_sub(self.dead));
        for atom in self.atoms.iter_mut().filter(|atom| atom.uses > 0) {
            let at = index(atom.at);
            let text = old.get(at..at.saturating_add(index(atom.len))).unwrap_or_default();
            atom.at = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
            self.text.extend_from_slice(text);
        }
        self.dead = 0;
    }
}

/// The number of unused bytes below which compacting does not pay.
const LITTLE: usize = 4096;
