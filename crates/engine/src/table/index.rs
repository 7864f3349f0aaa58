//! Lookups by name: text to string id, and keys of string ids to offsets.
//!
//! Both are open-addressing hash tables that the compiler fills at most half; a probe ends at an
//! empty entry or after one round.

use super::layout::{INDEX_WORDS, Key, TextHash, hash_key, hash_text};
use super::{Name, PolicyTable, Section, at, word};

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
        let buckets = self.section(Section::StringIndex);
        let mask = buckets.len().checked_sub(1)?;
        let start = at(hash);
        for probe in 0..buckets.len() {
            let id = word(buckets, start.wrapping_add(probe) & mask).checked_sub(1)?;
            if self.string(id) == text {
                return Some(id);
            }
        }
        None
    }

    /// Returns `text` with its id.
    pub(crate) fn name<'n>(&self, text: &'n str) -> Name<'n> {
        Name { text, id: self.string_id(text) }
    }

    /// Returns the value under a key of string ids; unused parts are 0.
    pub fn find(&self, key: Key, parts: [u32; 3]) -> Option<u32> {
        let key = [key.code(), parts[0], parts[1], parts[2]];
        let entries = self.section(Section::Index);
        let buckets = entries.len() / INDEX_WORDS;
        let mask = buckets.checked_sub(1)?;
        let start = at(hash_key(key));
        for probe in 0..buckets {
            let entry = (start.wrapping_add(probe) & mask) * INDEX_WORDS;
            let value = word(entries, entry + 4).checked_sub(1)?;
            if entries.get(entry..entry + 4) == Some(&key) {
                return Some(value);
            }
        }
        None
    }
}
