//! Answers that were given before, for hosts whose questions come back.
//!
//! A place holds the last answer that fell to it, with everything that its fast path can read of a request:
//! another request shares the answer only if all of that is the same, byte for byte. Nobody waits: a
//! place that another thread holds is passed over. A cache belongs to one set of policies and ends with
//! it, so that no answer outlives a reload.

mod key;

use std::cell::RefCell;
use std::fmt;
use std::sync::Mutex;

pub(crate) use key::Key;

use crate::names::folded;

/// Answers of fast paths that run programs.
pub(crate) struct Cache {
    /// A power of two of them.
    entries: Box<[Mutex<Entry>]>,
}

/// An answer and what it was given to.
struct Entry {
    key: [u8; MAX_KEY_BYTES],
    /// How much of the key there is; nothing is known while that is nothing.
    length: usize,
    is_allowed: bool,
}

impl Cache {
    /// A cache with at least `entries` places, up to a bound; nothing if none are wanted.
    pub(crate) fn new(entries: usize) -> Option<Self> {
        let entries = if entries == 0 { return None } else { entries.min(MAX_ENTRIES) };
        let entry = |_| Mutex::new(Entry { key: [0; MAX_KEY_BYTES], length: 0, is_allowed: false });
        Some(Self { entries: (0..entries.next_power_of_two()).map(entry).collect() })
    }

    /// Returns the answer to `key`, which `decide` finds if nobody has yet. A doubt is not kept.
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
        // What was asked is nobody else's business.
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

/// Lends a key to `work`: that of the thread. Nothing if `work` is itself inside such a call.
pub(crate) fn with_key<T>(work: impl FnOnce(Option<&mut Key>) -> T) -> T {
    KEY.with(|key| match key.try_borrow_mut() {
        Ok(mut key) => work(Some(&mut key)),
        Err(_) => work(None),
    })
}

/// Whoever chooses keys so that they meet in one place makes himself wait, and nobody wrong.
fn hash(key: &[u8]) -> usize {
    let (chunks, rest) = key.as_chunks::<8>();
    let last = rest.iter().fold(0, |last, byte| last << 8 | u64::from(*byte));
    let words = chunks.iter().map(|chunk| u64::from_le_bytes(*chunk)).chain([last]);
    let hash = words.fold(SEED, |hash, word| folded(hash ^ word, FACTOR));
    usize::try_from((hash ^ hash >> 32) & u64::from(u32::MAX)).unwrap_or(0)
}

/// Requests of which a fast path reads more are not remembered.
const MAX_KEY_BYTES: usize = 512;
/// About 34 MB of them.
const MAX_ENTRIES: usize = 1 << 16;
/// Digits of e.
const SEED: u64 = 0x2B7E_1516_28AE_D2A6;
const FACTOR: u64 = 0xABF7_1588_09CF_4F3C;

thread_local! {
    static KEY: RefCell<Key> = const { RefCell::new(Key::new()) };
}

#[cfg(test)]
mod tests;
