//! Attributes: the JSON-shaped data that a request carries.
//!
//! Numbers are doubles, as in the Cerbos API (`google.protobuf.Value`). Map keys are sorted and
//! unique, so a lookup is a binary search and iteration order is the same on every host.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::order;

/// One attribute value.
#[derive(Clone, Debug, PartialEq)]
pub enum Attr {
    /// JSON `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Any JSON number.
    Number(f64),
    /// A string.
    String(Box<str>),
    /// An array.
    List(Vec<Attr>),
    /// An object.
    Map(AttrMap),
}

/// An object whose entries are sorted by key, each key once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttrMap {
    // INVARIANT: sorted by key bytes, no key twice.
    entries: Vec<(Box<str>, Attr)>,
}

impl AttrMap {
    /// Returns the empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Returns the value under `key`, or `None`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Attr> {
        self.entries.get(self.position(key)?).map(|(_, value)| value)
    }

    /// Returns the value under `key` for replacement, or `None`.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Attr> {
        let position = self.position(key)?;
        self.entries.get_mut(position).map(|(_, value)| value)
    }

    /// Returns the index of the entry with `key`, or `None`.
    #[must_use]
    pub fn position(&self, key: &str) -> Option<usize> {
        self.entries.binary_search_by(|(name, _)| name.as_ref().cmp(key)).ok()
    }

    /// Returns the entries in key order.
    #[must_use]
    pub fn entries(&self) -> &[(Box<str>, Attr)] {
        &self.entries
    }
}

impl IntoIterator for AttrMap {
    type Item = (Box<str>, Attr);
    type IntoIter = alloc::vec::IntoIter<(Box<str>, Attr)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl FromIterator<(Box<str>, Attr)> for AttrMap {
    /// Sorts the entries. Of two entries with the same key the later one remains, as in JSON.
    fn from_iter<I: IntoIterator<Item = (Box<str>, Attr)>>(entries: I) -> Self {
        let mut entries: Vec<_> = entries.into_iter().collect();
        if entries.len() <= FEW {
            insertion_sort(&mut entries);
        } else {
            order::sort_by(&mut entries, |(a, _), (b, _)| a.cmp(b));
        }
        // Of two with the same key the first is removed, and the later one moves to its place.
        entries.dedup_by(|later, earlier| {
            let is_same = later.0 == earlier.0;
            if is_same {
                core::mem::swap(later, earlier);
            }
            is_same
        });
        Self { entries }
    }
}

/// Sorts a few entries in place, and leaves entries with the same key in their order.
fn insertion_sort(entries: &mut [(Box<str>, Attr)]) {
    for end in 1..entries.len() {
        let mut position = end;
        while let Some([before, entry]) = entries.get(position.wrapping_sub(1)..=position)
            && before.0 > entry.0
        {
            entries.swap(position - 1, position);
            position -= 1;
        }
    }
}

/// The number of entries up to which they are sorted in place: that allocates nothing.
const FEW: usize = 16;
