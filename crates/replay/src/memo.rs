//! Answers to questions that were asked before, found by all their bytes.

use std::hash::{DefaultHasher, Hasher};

use crate::limits::{MAX_MEMO_BYTES, MEMO_ENTRIES};

/// A bounded table of answers. A later question takes the place of an earlier one.
pub(crate) struct Memo<T> {
    entries: Vec<Option<(Box<[u8]>, T)>>,
    key: Vec<u8>,
}

impl<T: Clone> Memo<T> {
    pub(crate) fn new() -> Self {
        Self { entries: (0..MEMO_ENTRIES).map(|_| None).collect(), key: Vec::new() }
    }

    /// Returns the answer to the question with these parts, which `answer` makes if it is not known. It is
    /// remembered if the second value is true.
    pub(crate) fn answer(&mut self, parts: &[&str], answer: impl FnOnce() -> (T, bool)) -> T {
        self.key.clear();
        for part in parts {
            self.key.extend_from_slice(&part.len().to_le_bytes());
            self.key.extend_from_slice(part.as_bytes());
        }
        if self.key.len() > MAX_MEMO_BYTES {
            return answer().0;
        }
        let mut hasher = DefaultHasher::new();
        hasher.write(&self.key);
        let at = usize::try_from(hasher.finish() % MODULUS).unwrap_or(0);
        if let Some(Some((key, known))) = self.entries.get(at)
            && **key == *self.key
        {
            return known.clone();
        }
        let (made, is_lasting) = answer();
        if is_lasting && let Some(entry) = self.entries.get_mut(at) {
            *entry = Some((self.key.as_slice().into(), made.clone()));
        }
        made
    }
}

#[expect(clippy::as_conversions, reason = "a constant")]
const MODULUS: u64 = MEMO_ENTRIES as u64;
