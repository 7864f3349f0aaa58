//! Sets of packet identifiers.

use alloc::vec::Vec;
use core::num::NonZeroU16;

/// A set of packet identifiers: a bit for each up to the largest that ever was in it, so 8 KiB at
/// most.
#[derive(Debug)]
pub(super) struct Ids {
    words: Vec<u64>,
    count: usize,
}

impl Ids {
    pub(super) const fn new() -> Self {
        Self { words: Vec::new(), count: 0 }
    }

    pub(super) fn insert(&mut self, id: NonZeroU16) {
        let (word, bit) = place(id);
        if self.words.len() <= word {
            self.words.resize(word.saturating_add(1), 0);
        }
        if let Some(word) = self.words.get_mut(word).filter(|word| **word & bit == 0) {
            *word |= bit;
            self.count = self.count.saturating_add(1);
        }
    }

    /// Removes an identifier; returns true if it was there.
    pub(super) fn remove(&mut self, id: NonZeroU16) -> bool {
        let (word, bit) = place(id);
        let Some(word) = self.words.get_mut(word).filter(|word| **word & bit != 0) else {
            return false;
        };
        *word &= !bit;
        self.count = self.count.saturating_sub(1);
        true
    }

    pub(super) fn contains(&self, id: NonZeroU16) -> bool {
        let (word, bit) = place(id);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    pub(super) const fn len(&self) -> usize {
        self.count
    }

    pub(super) const fn bytes(&self) -> usize {
        self.words.capacity().saturating_mul(8)
    }
}

fn place(id: NonZeroU16) -> (usize, u64) {
    (usize::from(id.get() >> 6), 1 << (id.get() & 63))
}

#[cfg(test)]
mod tests {
    use super::{Ids, NonZeroU16};
    use alloc::collections::BTreeSet;

    #[test]
    fn a_set_has_what_was_put_in() {
        let (mut ids, mut oracle) = (Ids::new(), BTreeSet::new());
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..10_000 {
            let id = NonZeroU16::new(random.u16(1..)).unwrap() | 0x8000 >> random.u16(0..16);
            assert_eq!(ids.contains(id), oracle.contains(&id));
            if random.bool() {
                ids.insert(id);
                oracle.insert(id);
            } else {
                assert_eq!(ids.remove(id), oracle.remove(&id));
            }
            assert_eq!(ids.len(), oracle.len());
        }
        assert!(ids.bytes() <= 2 * 8192);
    }
}
