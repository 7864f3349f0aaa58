//! The normal form of a set.

use alloc::vec::Vec;

use super::rewrite;
use crate::expression::{Element, Elements};
use crate::range::{Range, Type, Value};
use crate::write;

/// The elements of a set by their kinds.
#[derive(Default)]
struct Parts<'e> {
    atoms: Vec<&'e [u8]>,
    ranges: Vec<Range>,
    prefixes: Vec<&'e [u8]>,
    /// The suffixes, reversed, so that equal ends are adjacent after sorting.
    suffixes: Vec<Vec<u8>>,
    lists: Vec<Vec<u8>>,
    has_any: bool,
}

/// Writes the set, or its element if only one remains.
pub(super) fn write(elements: Elements<'_>, out: &mut Vec<u8>) {
    let parts = Parts::of(elements);
    if parts.has_any {
        return rewrite(Element::Any, out);
    }
    let mut texts = parts.texts();
    texts.sort_unstable();
    let is_set = texts.len() > 1;
    if is_set {
        out.extend_from_slice(b"(1:*3:set");
    }
    for text in texts {
        out.extend_from_slice(&text);
    }
    if is_set {
        out.push(b')');
    }
}

impl<'e> Parts<'e> {
    fn of(elements: Elements<'e>) -> Self {
        let mut parts = Self::default();
        for element in elements {
            match element {
                Element::Atom(atom) => parts.atoms.push(atom),
                Element::Range(range) => parts.ranges.push(range.clone()),
                Element::Prefix(prefix) => parts.prefixes.push(prefix),
                Element::Suffix(suffix) => parts.suffixes.push(reversed(suffix)),
                Element::Any => parts.has_any = true,
                Element::List(_) | Element::Set(_) => {
                    let mut text = Vec::new();
                    rewrite(element, &mut text);
                    parts.lists.push(text);
                }
            }
        }
        parts.join();
        parts
    }

    /// Joins adjacent elements, and removes those that another element covers.
    fn join(&mut self) {
        self.prefixes.sort_unstable();
        self.prefixes.dedup_by(|later, earlier| later.starts_with(earlier));
        self.suffixes.sort_unstable();
        self.suffixes.dedup_by(|later, earlier| later.starts_with(earlier));
        self.atoms.sort_unstable();
        self.atoms.dedup();
        self.ranges = Type::ALL.into_iter().flat_map(|kind| self.ranges_of(kind)).collect();
        let atoms = core::mem::take(&mut self.atoms);
        self.atoms = atoms.into_iter().filter(|atom| !self.covers(atom)).collect();
    }

    /// Returns the ranges of one type, disjoint and in order.
    fn ranges_of(&self, kind: Type) -> Vec<Range> {
        let given = self.ranges.iter().filter(|range| range.kind() == kind).cloned();
        let mut ranges: Vec<Range> = given.collect();
        if kind.has_one_spelling() && (kind != Type::Alpha || !ranges.is_empty()) {
            let values = self.atoms.iter().filter_map(|atom| Value::of_atom(kind, atom));
            ranges.extend(values.map(|value| Range::of(kind, value)));
        }
        ranges.sort_by(|a, b| a.begin().cmp(&b.begin()));
        let mut joined: Vec<Range> = Vec::new();
        for range in ranges {
            if !joined.last_mut().is_some_and(|last| last.join(&range)) {
                joined.push(range);
            }
        }
        joined.retain(|range| range.single().is_none());
        joined
    }

    fn covers(&self, atom: &[u8]) -> bool {
        let backwards = reversed(atom);
        begins(&self.prefixes, atom)
            || begins(&self.suffixes, &backwards)
            || Type::ALL.into_iter().any(|kind| self.is_in_range(kind, atom))
    }

    /// Checks the range of the type that begins last before the value.
    fn is_in_range(&self, kind: Type, atom: &[u8]) -> bool {
        let from = self.ranges.partition_point(|range| range.kind() < kind);
        let to = self.ranges.partition_point(|range| range.kind() <= kind);
        let ranges = self.ranges.get(from..to).unwrap_or_default();
        let Some(value) = (!ranges.is_empty()).then(|| Value::of_atom(kind, atom)).flatten() else {
            return false;
        };
        let next = ranges.partition_point(|range| range.begin() <= (Some(&value), false));
        let range = next.checked_sub(1).and_then(|last| ranges.get(last));
        range.is_some_and(|range| range.has(&value))
    }

    fn texts(self) -> Vec<Vec<u8>> {
        let mut texts = self.lists;
        let mut write = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut text = Vec::new();
            write(&mut text);
            texts.push(text);
        };
        self.atoms.iter().for_each(|atom| write(&|out| write::atom(atom, out)));
        self.ranges.iter().for_each(|range| write(&|out| range.write(out)));
        self.prefixes.iter().for_each(|prefix| write(&|out| write::affix(b"prefix", prefix, out)));
        for suffix in self.suffixes {
            write(&|out| write::affix(b"suffix", &reversed(&suffix), out));
        }
        texts
    }
}

/// Returns true if a text begins with one of these affixes, which are sorted, and of which no one
/// begins with another.
fn begins<T: AsRef<[u8]>>(affixes: &[T], text: &[u8]) -> bool {
    let next = affixes.partition_point(|affix| affix.as_ref() <= text);
    let affix = next.checked_sub(1).and_then(|last| affixes.get(last));
    affix.is_some_and(|affix| text.starts_with(affix.as_ref()))
}

fn reversed(text: &[u8]) -> Vec<u8> {
    text.iter().rev().copied().collect()
}
