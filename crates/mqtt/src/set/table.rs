//! A table from hashes to small values: open addressing in one flat array.
//!
//! A slot is found by the product of the hash and the number of slots, so that the array grows by
//! a quarter and not twofold. Removing moves later slots up: there are no marks of removed ones.

use alloc::vec;
use alloc::vec::Vec;

/// A value of a table.
pub(super) trait Value: Copy + Default {
    /// How many of eight slots are in use at most: fewer make searches shorter.
    const USED: usize;
}

/// A table of values by keys that are not zero; several values may have the same key.
#[derive(Clone, Debug, Default)]
pub(super) struct Table<T> {
    /// Keys and values; key zero is an empty slot.
    slots: Vec<(u64, T)>,
    len: usize,
}

impl<T: Value> Table<T> {
    /// Returns the bytes of the array.
    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity().saturating_mul(size_of::<(u64, T)>())
    }

    /// Returns the first value with that key for which `is` returns true.
    #[inline(always)]
    pub(super) fn find(&self, key: u64, is: impl FnMut(&T) -> bool) -> Option<&T> {
        self.slots.get(self.position(key, is)?).map(|(_, value)| value)
    }

    #[inline]
    pub(super) fn find_mut(&mut self, key: u64, is: impl FnMut(&T) -> bool) -> Option<&mut T> {
        let at = self.position(key, is)?;
        self.slots.get_mut(at).map(|(_, value)| value)
    }

    /// Returns all values.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().filter(|(key, _)| *key != EMPTY).map(|(_, value)| value)
    }

    /// Makes room for that many values.
    pub(super) fn reserve(&mut self, more: usize) {
        let wanted = self.len.saturating_add(more);
        if wanted.saturating_mul(8) > self.slots.len().saturating_mul(T::USED) {
            let slots = self.slots.len();
            let least = wanted.saturating_mul(9) / T::USED;
            self.resize((slots / 4).saturating_add(slots).max(least).max(8));
        }
    }

    /// Adds a value.
    pub(super) fn insert(&mut self, key: u64, value: T) {
        self.reserve(1);
        self.put(key, value);
        self.len = self.len.saturating_add(1);
    }

    /// Removes the first value with that key for which `is` returns true.
    pub(super) fn remove(&mut self, key: u64, is: impl FnMut(&T) -> bool) -> bool {
        let Some(mut hole) = self.position(key, is) else { return false };
        let mut at = hole;
        for _ in 0..self.slots.len() {
            at = self.after(at);
            let Some(slot) = self.slots.get(at).copied() else { break };
            if slot.0 == EMPTY {
                break;
            }
            if self.distance(self.home(slot.0), at) >= self.distance(hole, at) {
                self.set(hole, slot);
                hole = at;
            }
        }
        self.set(hole, (EMPTY, T::default()));
        self.len = self.len.saturating_sub(1);
        if self.slots.len() > SMALL && self.len.saturating_mul(4) < self.slots.len() {
            self.resize(self.len.saturating_mul(2));
        }
        true
    }

    /// Returns the first slot of the search for a key.
    #[inline]
    pub(super) fn first(&self, key: u64) -> (u64, T) {
        self.slots.get(self.home(key)).copied().unwrap_or((EMPTY, T::default()))
    }

    /// Returns the same as `find`, given the first slot of the search.
    #[inline]
    pub(super) fn find_from(
        &self,
        first: (u64, T),
        key: u64,
        mut is: impl FnMut(&T) -> bool,
    ) -> Option<T> {
        match first.0 {
            EMPTY => None,
            found if found == key && is(&first.1) => Some(first.1),
            _ => self.find(key, is).copied(),
        }
    }

    #[inline(always)]
    fn position(&self, key: u64, mut is: impl FnMut(&T) -> bool) -> Option<usize> {
        let mut at = self.home(key);
        // Some slots are empty, so the search ends.
        loop {
            let (found, value) = self.slots.get(at)?;
            if *found == key && is(value) {
                return Some(at);
            }
            if *found == EMPTY {
                return None;
            }
            at = self.after(at);
        }
    }

    /// Puts a value into the first empty slot of its search.
    fn put(&mut self, key: u64, value: T) {
        let mut at = self.home(key);
        for _ in 0..self.slots.len() {
            if self.slots.get(at).is_none_or(|slot| slot.0 == EMPTY) {
                return self.set(at, (key, value));
            }
            at = self.after(at);
        }
    }

    fn set(&mut self, at: usize, slot: (u64, T)) {
        if let Some(place) = self.slots.get_mut(at) {
            *place = slot;
        }
    }

    fn resize(&mut self, slots: usize) {
        let old = core::mem::replace(&mut self.slots, vec![(EMPTY, T::default()); slots]);
        for (key, value) in old {
            if key != EMPTY {
                self.put(key, value);
            }
        }
    }

    /// Returns the place of the first slot of the search for a key.
    #[inline]
    #[expect(clippy::as_conversions, reason = "the product of a share of 2^64 is below the length")]
    fn home(&self, key: u64) -> usize {
        ((u128::from(key) * (self.slots.len() as u128)) >> 64) as usize
    }

    #[inline(always)]
    fn after(&self, at: usize) -> usize {
        let next = at.wrapping_add(1);
        if next < self.slots.len() { next } else { 0 }
    }

    /// Returns how many slots behind `from` a search reaches `to`.
    fn distance(&self, from: usize, to: usize) -> usize {
        let slots = self.slots.len();
        if to >= from { to - from } else { slots - from + to }
    }
}

const EMPTY: u64 = 0;

/// The number of slots that are not worth shrinking.
const SMALL: usize = 64;

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    impl Value for u32 {
        const USED: usize = 7;
    }

    #[test]
    fn a_table_is_a_multimap() {
        // Few homes and equal keys, so that searches run into and around each other.
        let mut random = fastrand::Rng::with_seed(3);
        let mut table = Table::<u32>::default();
        let mut plain: Vec<(u64, u32)> = Vec::new();
        for number in 0..20_000_u32 {
            let key = (random.u64(0..40) << 58) | random.u64(1..3);
            if random.u32(0..100) < 52 || plain.is_empty() {
                table.insert(key, number);
                plain.push((key, number));
            } else {
                let at = random.usize(..plain.len());
                let (key, value) = plain.swap_remove(at);
                assert!(table.remove(key, |found| *found == value));
                assert!(!table.remove(key, |found| *found == value));
            }
            if number % 64 == 0 {
                let mut found = Vec::new();
                table.find(key, |value| {
                    found.push(*value);
                    false
                });
                found.sort_unstable();
                let same = |one: &&(u64, u32)| one.0 == key;
                let mut expected: Vec<u32> =
                    plain.iter().filter(same).map(|(_, value)| *value).collect();
                expected.sort_unstable();
                assert_eq!(found, expected);
            }
        }
        assert_eq!(table.iter_mut().count(), plain.len());
        for (key, value) in plain {
            assert_eq!(table.find(key, |found| *found == value), Some(&value));
            assert!(table.remove(key, |found| *found == value));
        }
        assert_eq!(table.iter_mut().count(), 0);
    }

    #[test]
    fn an_empty_table_finds_nothing() {
        let mut table = Table::<u32>::default();
        assert_eq!(table.find(1, |_| true), None);
        assert!(!table.remove(5, |_| true));
    }
}
