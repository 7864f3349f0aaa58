//! Hashing, and a table that finds numbers by their content.
//!
//! Open addressing in one flat array: an entry is a number and 32 bits of its hash, and the caller
//! compares the content of the number. The same seed, changes and order give the same array.

use alloc::vec;
use alloc::vec::Vec;

/// A table of numbers below `u32::MAX` by the hash of their content.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// A power of two of entries, or none: the hash above, the number and one below; zero is an
    /// empty slot.
    entries: Vec<u64>,
    len: usize,
}

impl Table {
    /// Returns the number with that hash for which `is` returns true.
    pub(super) fn find(&self, hash: u32, is: impl FnMut(u32) -> bool) -> Option<u32> {
        self.find_from(self.first(hash), hash, is)
    }

    /// Returns the same as `find`, given the first entry of the search.
    pub(super) fn find_from(
        &self,
        first: u64,
        hash: u32,
        mut is: impl FnMut(u32) -> bool,
    ) -> Option<u32> {
        let mut at = self.home(hash);
        let mut entry = first;
        for _ in 0..self.entries.len() {
            let (found, number) = parts(entry);
            if entry == EMPTY || found == hash && is(number) {
                break;
            }
            at = self.after(at);
            entry = self.entries.get(at).copied().unwrap_or(EMPTY);
        }
        (entry != EMPTY).then_some(parts(entry).1)
    }

    /// Returns the first entry of the search for a hash.
    pub(super) fn first(&self, hash: u32) -> u64 {
        self.entries.get(self.home(hash)).copied().unwrap_or(EMPTY)
    }

    /// Adds a number that is not in the table.
    pub(super) fn insert(&mut self, hash: u32, number: u32) {
        if self.len.saturating_mul(3) >= self.entries.len().saturating_mul(2) {
            self.grow();
        }
        self.position(entry(hash, number));
        self.len = self.len.saturating_add(1);
    }

    /// Removes a number, and moves up the entries that it displaced.
    pub(super) fn remove(&mut self, hash: u32, number: u32) {
        let mut hole = self.home(hash);
        let gone = entry(hash, number);
        while let Some(entry) = self.entries.get(hole).copied().filter(|entry| *entry != EMPTY) {
            if entry == gone {
                self.len = self.len.saturating_sub(1);
                return self.close(hole);
            }
            hole = self.after(hole);
        }
    }

    fn close(&mut self, mut hole: usize) {
        let mut at = self.after(hole);
        while let Some(entry) = self.entries.get(at).copied().filter(|entry| *entry != EMPTY) {
            let home = self.home(parts(entry).0);
            // An entry may move to the hole if the hole lies on its way from home to here.
            if self.distance(home, at) >= self.distance(hole, at) {
                self.set(hole, entry);
                hole = at;
            }
            at = self.after(at);
        }
        self.set(hole, EMPTY);
    }

    fn grow(&mut self) {
        let capacity = self.entries.len().saturating_mul(2).max(SMALLEST);
        let old = core::mem::replace(&mut self.entries, vec![EMPTY; capacity]);
        old.into_iter().filter(|entry| *entry != EMPTY).for_each(|entry| self.position(entry));
    }

    fn position(&mut self, entry: u64) {
        let mut at = self.home(parts(entry).0);
        while self.entries.get(at).is_some_and(|entry| *entry != EMPTY) {
            at = self.after(at);
        }
        self.set(at, entry);
    }

    fn set(&mut self, at: usize, entry: u64) {
        if let Some(position) = self.entries.get_mut(at) {
            *position = entry;
        }
    }

    /// Returns the home slot of a hash: its uppermost bits, as many as the table needs.
    fn home(&self, hash: u32) -> usize {
        let bits = self.entries.len().trailing_zeros();
        let position = u64::from(hash).wrapping_shl(bits) >> 32;
        usize::try_from(position).unwrap_or_default() & self.mask()
    }

    fn after(&self, at: usize) -> usize {
        at.wrapping_add(1) & self.mask()
    }

    fn distance(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & self.mask()
    }

    fn mask(&self) -> usize {
        self.entries.len().wrapping_sub(1)
    }
}

/// A hash of text in steps of eight bytes, so that the prefixes of a text are hashed along the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hasher {
    seed: u64,
}

impl Hasher {
    pub(super) const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Hashes a text.
    pub(super) fn text(self, text: &[u8]) -> u32 {
        let (chunks, tail) = text.as_chunks::<8>();
        let state = chunks.iter().fold(self.seed, |state, chunk| step(state, *chunk));
        finish(state, tail, text.len())
    }

    /// Hashes a row of symbols from the hash of the row without its last symbol.
    pub(super) fn longer(self, row: u32, symbol: u32) -> u32 {
        high(fold(self.seed ^ (u64::from(row) << 32 | u64::from(symbol)), FIRST))
    }

    /// Hashes the prefixes of a text that have these lengths, which rise.
    pub(super) fn prefixes(
        self,
        text: &[u8],
        lengths: impl Iterator<Item = usize>,
    ) -> impl Iterator<Item = (u32, &[u8])> {
        let mut state = self.seed;
        let mut done = 0_usize;
        lengths.map_while(move |length| {
            let prefix = text.get(..length)?;
            let (chunks, tail) = prefix.get(done..)?.as_chunks::<8>();
            state = chunks.iter().fold(state, |state, chunk| step(state, *chunk));
            done = length.saturating_sub(tail.len());
            Some((finish(state, tail, length), prefix))
        })
    }
}

fn step(state: u64, chunk: [u8; 8]) -> u64 {
    fold(state ^ u64::from_le_bytes(chunk), FIRST)
}

fn finish(state: u64, text: &[u8], length: usize) -> u32 {
    high(fold(state ^ tail(text), SECOND ^ u64::try_from(length).unwrap_or_default()))
}

/// Returns the first and the last four bytes: of texts of one length, at most `TAIL`, each has
/// another number.
#[inline(always)]
pub(super) fn tail(text: &[u8]) -> u64 {
    match (text.first_chunk::<4>(), text.last_chunk::<4>(), text) {
        (Some(first), Some(last), _) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
        }
        (_, _, [a, b, c]) => u64::from(*a) | u64::from(*b) << 8 | u64::from(*c) << 16,
        (_, _, [a, b]) => u64::from(*a) | u64::from(*b) << 8,
        (_, _, [a]) => u64::from(*a),
        _ => 0,
    }
}

fn fold(left: u64, right: u64) -> u64 {
    let (low, high) = left.carrying_mul(right, 0);
    low ^ high
}

fn high(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or_default()
}

fn entry(hash: u32, number: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(number).wrapping_add(1)
}

fn parts(entry: u64) -> (u32, u32) {
    let number = u32::try_from(entry & u64::from(u32::MAX)).unwrap_or_default();
    (high(entry), number.wrapping_sub(1))
}

/// The length of the longest text that `tail` determines, in bytes.
pub(super) const TAIL: usize = 8;

const EMPTY: u64 = 0;
const SMALLEST: usize = 16;

/// Odd numbers without a pattern: the fractions of the square roots of 2 and 3.
const FIRST: u64 = 0x6A09_E667_F3BC_C909;
const SECOND: u64 = 0xBB67_AE85_84CA_A73B;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inserted_number_is_found_until_it_is_removed() {
        // Hashes that collide on purpose: three homes for a thousand numbers.
        let hash = |number: u32| (number % 3).wrapping_mul(0x4000_0000) | (number % 7);
        let mut table = Table::default();
        (0..1000).for_each(|number| table.insert(hash(number), number));
        for gone in (0..1000).filter(|number| number % 4 == 1) {
            table.remove(hash(gone), gone);
        }
        for number in 0..1000 {
            let found = table.find(hash(number), |found| found == number);
            assert_eq!(found.is_some(), number % 4 != 1, "{number}");
        }
        assert_eq!(Table::default().find(7, |_| true), None);
    }

    #[test]
    fn prefixes_have_the_hashes_of_texts() {
        let hasher = Hasher::new(5);
        let text = b"the quick brown fox jumps over";
        let lengths = [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 29, 30, 31];
        let found: Vec<_> = hasher.prefixes(text, lengths.into_iter()).collect();
        assert_eq!(found.len(), 12);
        assert!(found.iter().all(|(hash, prefix)| *hash == hasher.text(prefix)));
    }
}
