//! Sets of texts that conditions search: the ids of groups, owned documents, ancestors.
//!
//! A set is a list without duplicates to policies. It is hashed once, where the host makes it, so that
//! `x in list` compares one text instead of all.

use crate::field::{AsField, Field, Items};
use crate::limits::MAX_SEARCHED;
use crate::names::{Known, Print, Wanted};

/// Texts in the order in which they came first, each once.
///
/// As an attribute it is a list. Searching it takes the same time for any number of elements, unless the
/// elements were chosen to collide: then it takes as long as walking a list.
///
/// ```
/// use wardgate_native::TextSet;
///
/// let teams: TextSet = ["red", "blue", "red"].into_iter().collect();
/// assert_eq!(teams.len(), 2);
/// assert!(teams.contains("blue"));
/// assert!(teams.iter().eq(["red", "blue"]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct TextSet {
    texts: Vec<Known>,
    /// Open addressing, at most half full; the length is a power of two, or 0 without texts. An entry is
    /// the hash of a text, and in the lower half its index plus one; 0 is free.
    entries: Vec<u64>,
}

impl TextSet {
    /// Returns true if the set has the text.
    #[inline]
    #[must_use]
    pub fn contains(&self, text: &str) -> bool {
        // A few comparisons take less time than hashing a long text.
        if self.texts.len() <= FEW {
            let wanted = Wanted::new(text);
            return self.texts.iter().any(|known| wanted.is(known.text()));
        }
        self.find(text, Print::of(text.as_bytes())).is_ok()
    }

    /// Returns the number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns true if there are no texts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns the texts in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(Known::text)
    }

    /// Returns nothing if the text is known, and otherwise its hash and the free entry for it, if there is
    /// one.
    #[inline]
    fn find(&self, text: &str, print: Print) -> Result<(), (u64, Option<usize>)> {
        let hash = print.hash_of(text, SEED);
        let tag = u64::from(u32::try_from(hash).unwrap_or(0)) << 32;
        let Some(mask) = self.entries.len().checked_sub(1) else { return Err((tag, None)) };
        let mut at = hash & mask;
        // Half of the entries are free, so this ends before the bound.
        for _ in 0..self.entries.len() {
            let entry = self.entries.get(at).copied().unwrap_or(0);
            if entry == 0 {
                return Err((tag, Some(at)));
            }
            let index = usize::try_from(entry & INDEX).unwrap_or(0).wrapping_sub(1);
            let is_alike = (entry ^ tag) <= INDEX;
            if is_alike && self.texts.get(index).is_some_and(|known| known.has(print, text)) {
                return Ok(());
            }
            at = at.wrapping_add(1) & mask;
        }
        Err((tag, None))
    }

    /// Adds a text, unless it is known.
    fn insert(&mut self, text: Box<str>) {
        let print = Print::of(text.as_bytes());
        let Err((tag, free)) = self.find(&text, print) else { return };
        self.texts.push(Known::from(text));
        let index = u64::try_from(self.texts.len()).unwrap_or(u64::MAX);
        let has_room = self.texts.len() * 2 <= self.entries.len();
        match free.filter(|_| has_room).and_then(|free| self.entries.get_mut(free)) {
            Some(entry) => *entry = tag | index,
            None => self.grow(),
        }
    }

    /// Makes room for as many texts again.
    fn grow(&mut self) {
        let mut larger = Self {
            texts: Vec::with_capacity(self.texts.len()),
            entries: vec![0; (self.texts.len() * 4).next_power_of_two()],
        };
        for known in self.texts.drain(..) {
            larger.insert(known.into());
        }
        *self = larger;
    }
}

impl<T: Into<Box<str>>> FromIterator<T> for TextSet {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut set = Self::default();
        texts.into_iter().for_each(|text| set.insert(text.into()));
        set
    }
}

impl Items for TextSet {
    fn each(&self, visit: &mut dyn FnMut(Field<'_>)) {
        self.iter().for_each(|text| visit(Field::Text(text)));
    }

    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    fn search(&self, text: &str) -> Option<bool> {
        (self.len() <= MAX_SEARCHED).then(|| self.contains(text))
    }

    fn is_hashed(&self) -> bool {
        true
    }
}

impl AsField for TextSet {
    #[inline]
    fn field(&self) -> Field<'_> {
        Field::List(self)
    }
}

/// The seed of the hashes, a digit of pi.
const SEED: u64 = 0x0829_9F31_D008_2EFA;
/// The number of texts up to which all are compared.
const FEW: usize = 4;
/// The lower half of an entry.
const INDEX: u64 = 0xFFFF_FFFF;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::TextSet;

    #[test]
    fn a_set_has_its_texts_and_no_others() {
        let mut random = fastrand::Rng::with_seed(7);
        for count in [0, 1, 2, 3, 16, 17, 100, 1000] {
            let mut text = || {
                let number = random.usize(..=count);
                format!("{}{number}", "x".repeat(number % 30))
            };
            let texts: Vec<String> = (0..count).map(|_| text()).collect();
            let others: Vec<String> = (0..count).map(|_| text()).collect();
            let plain: BTreeSet<&str> = texts.iter().map(String::as_str).collect();
            let set: TextSet = texts.iter().map(String::as_str).collect();
            assert_eq!(set.len(), plain.len());
            assert_eq!(set.is_empty(), count == 0);
            assert_eq!(set.iter().collect::<BTreeSet<_>>(), plain);
            for text in texts.iter().chain(&others).map(String::as_str).chain(["", "y"]) {
                assert_eq!(set.contains(text), plain.contains(text), "{text}");
            }
        }
    }

    #[test]
    fn the_order_is_that_of_the_first_of_equals() {
        let set: TextSet = ["b", "a", "b", "c", "a"].into_iter().collect();
        assert!(set.iter().eq(["b", "a", "c"]));
    }
}
