//! A cache of answers, for hosts whose questions come back.
//!
//! An entry holds the last answer whose key hashed to it, with every value that its fast path can
//! read of a request: another request shares the answer only if all of these are the same, byte for
//! byte. No thread waits: an entry that another thread has locked is skipped. A cache belongs to
//! one set of policies and ends with it, so that no answer outlives a reload.

mod key;

use std::cell::RefCell;
use std::fmt;
use std::sync::Mutex;

pub(crate) use key::Key;

use crate::names::folded;

/// Answers of fast paths that run programs.
pub(crate) struct Cache {
    /// The entries; their number is a power of two.
    entries: Box<[Mutex<Entry>]>,
}

/// An answer and its key.
struct Entry {
    key: [u8; MAX_KEY_BYTES],
    /// The number of bytes of the key; 0 in an empty entry.
    length: usize,
    is_allowed: bool,
}

impl Cache {
    /// Returns a cache with at least `entries` entries, up to a bound; `None` if `entries` is 0.
    pub(crate) fn new(entries: usize) -> Option<Self> {
        let entries = if entries == 0 { return None } else { entries.min(MAX_ENTRIES) };
        let entry = |_| Mutex::new(Entry { key: [0; MAX_KEY_BYTES], length: 0, is_allowed: false });
        Some(Self { entries: (0..entries.next_power_of_two()).map(entry).collect() })
    }

    /// Returns the answer to `key`, which `decide` computes if the cache has none. An unsure answer
    /// is not stored.
    pub(crate) fn answer(&self, key: &[u8], decide: impl FnOnce() -> Option<bool>) -> Option<bool> {
        let entry = self.entries.get(hash(key) & self.entries.len().wrapping_sub(1));
        let values = || entry.and_then(|entry| entry.try_lock().ok());
        if let Some(known) = values().and_then(|entry| entry.known(key)) {
            return Some(known);
        }
        let is_allowed = decide()?;
        if let Some(mut entry) = values() {
            entry.keep(key, is_allowed);
        }
        Some(is_allowed)
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Keys hold data of requests, so the debug output shows none.
        out.debug_struct("Cache").field("places", &self.entries.len()).finish_non_exhaustive()
    }
}

impl Entry {
    fn known(&self, key: &[u8]) -> Option<bool> {
        let is_same = self.length != 0 && self.key.get(..self.length) == Some(key);
        is_same.then_some(self.is_allowed)
    }

    fn keep(&mut self, key: &[u8], is_allowed: bool) {
        let Some(bytes) = self.key.get_mut(..key.len()) else { return };
        bytes.copy_from_slice(key);
        (self.length, self.is_allowed) = (key.len(), is_allowed);
    }
}

/// Lends the key of the thread to `work`; `None` if `work` runs inside such a call.
pub(crate) fn with_key<T>(work: impl FnOnce(Option<&mut Key>) -> T) -> T {
    KEY.with(|key| match key.try_borrow_mut() {
        Ok(mut key) => work(Some(&mut key)),
        Err(_) => work(None),
    })
}

/// Returns the hash of a key. A sender that chooses keys with equal hashes slows its own requests
/// only, and gets no wrong answer.
fn hash(key: &[u8]) -> usize {
    let (chunks, rest) = key.as_chunks::<8>();
    let last = rest.iter().fold(0, |last, byte| last << 8 | u64::from(*byte));
    let words = chunks.iter().map(|chunk| u64::from_le_bytes(*chunk)).chain([last]);
    let hash = words.fold(SEED, |hash, word| folded(hash ^ word, FACTOR));
    usize::try_from((hash ^ hash >> 32) & u64::from(u32::MAX)).unwrap_or(0)
}

/// The largest key, in bytes; the answers to longer ones are not stored.
const MAX_KEY_BYTES: usize = 512;
/// The largest number of entries, about 34 MB.
const MAX_ENTRIES: usize = 1 << 16;
/// Digits of e.
const SEED: u64 = 0x2B7E_1516_28AE_D2A6;
const FACTOR: u64 = 0xABF7_1588_09CF_4F3C;

thread_local! {
    static KEY: RefCell<Key> = const { RefCell::new(Key::new()) };
}

#[cfg(test)]
mod tests;
