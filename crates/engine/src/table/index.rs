//! Lookups by name: text to string id, and keys of string ids to values.
//!
//! Both are open-addressing hash tables of numbers plus one, 0 for none, made when the table is
//! opened and at most half full; a probe ends at an empty bucket or after one round.

use alloc::vec;
use alloc::vec::Vec;

use super::layout::{INDEX_WORDS, Key, TextHash, hash_key, hash_text};
use super::{Name, PolicyTable, Section, at, word};
use crate::text::is_same;

/// Finds strings and entries of the index by their hashes.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    strings: Vec<u32>,
    entries: Vec<u32>,
}

impl PolicyTable {
    /// Returns the id of `text`, or `None` if no policy mentions it.
    #[must_use]
    pub fn string_id(&self, text: &str) -> Option<u32> {
        self.string_id_by_hash(text, hash_text(text.bytes()))
    }

    /// Returns the longest of `scope` and its ancestors that `exists` accepts, reading `scope`
    /// once.
    pub(crate) fn longest_scope(&self, scope: &str, exists: impl Fn(&u32) -> bool) -> Option<u32> {
        let mut hash = TextHash::default();
        let mut longest = self.string_id("").filter(&exists);
        for (end, byte) in scope.bytes().chain(core::iter::once(b'.')).enumerate() {
            if byte == b'.' && end > 0 {
                let ancestor = scope.get(..end).unwrap_or("");
                let found = self.string_id_by_hash(ancestor, hash.finish());
                longest = found.filter(&exists).or(longest);
            }
            hash.read(byte);
        }
        longest
    }

    fn string_id_by_hash(&self, text: &str, hash: u32) -> Option<u32> {
        probe(&self.lookup.strings, hash, |id| is_same(self.string(id), text))
    }

    /// Returns `text` with its id.
    pub(crate) fn name<'n>(&self, text: &'n str) -> Name<'n> {
        Name { text, id: self.string_id(text) }
    }

    /// Returns the value under a key of string ids; unused parts are 0.
    pub fn find(&self, key: Key, parts: [u32; 3]) -> Option<u32> {
        let key = [key.code(), parts[0], parts[1], parts[2]];
        let entries = self.entries();
        let entry = |number| entries.get(at(number));
        let is_key = |number| entry(number).is_some_and(|entry| entry.starts_with(&key));
        entry(probe(&self.lookup.entries, hash_key(key), is_key)?).map(|entry| entry[4])
    }

    /// Returns the entries of the index: a key and three parts that are string ids, sorted, and a
    /// value.
    #[must_use]
    pub fn entries(&self) -> &[[u32; INDEX_WORDS]] {
        self.section(Section::Index).as_chunks().0
    }

    /// Makes strings and entries findable.
    pub(crate) fn look_up(&mut self) {
        let mut strings = buckets(self.section(Section::Strings).len().saturating_sub(1));
        let mut ends = self.section(Section::Strings).iter().map(|end| at(*end));
        let mut start = ends.next().unwrap_or(0);
        for (number, end) in (1..).zip(ends) {
            let text = self.parts.text.as_bytes().get(start..end).unwrap_or(&[]);
            insert(&mut strings, hash_text(text.iter().copied()), number);
            start = end;
        }
        let mut entries = buckets(self.entries().len());
        for (number, [key, a, b, c, _]) in (1..).zip(self.entries()) {
            insert(&mut entries, hash_key([*key, *a, *b, *c]), number);
        }
        self.lookup = Lookup { strings, entries };
    }
}

/// Returns empty buckets for so many numbers.
fn buckets(count: usize) -> Vec<u32> {
    vec![0; count.saturating_mul(2).next_power_of_two().max(2)]
}

/// Puts a number, which is not 0, into the first free bucket.
fn insert(buckets: &mut [u32], hash: u32, number: u32) {
    let mask = buckets.len().saturating_sub(1);
    let free = (0..buckets.len())
        .map(|probe| at(hash).wrapping_add(probe) & mask)
        .find(|bucket| word(buckets, *bucket) == 0);
    if let Some(bucket) = free.and_then(|free| buckets.get_mut(free)) {
        *bucket = number;
    }
}

/// Returns the first number from the bucket of `hash` on that `is_it` accepts.
fn probe(buckets: &[u32], hash: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
    let mask = buckets.len().checked_sub(1)?;
    for probe in 0..buckets.len() {
        let number = word(buckets, at(hash).wrapping_add(probe) & mask).checked_sub(1)?;
        if is_it(number) {
            return Some(number);
        }
    }
    None
}
