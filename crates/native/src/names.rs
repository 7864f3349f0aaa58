//! Known texts, and the quickest way to tell which of them a given text is.
//!
//! A text is taken for a known one only if all of it is equal. What is known comes from the policies
//! alone, so that no request can make the look-up slow.

/// Known texts, each with a value.
#[derive(Clone, Debug)]
pub(crate) struct Names<T> {
    entries: Box<[Entry<T>]>,
    /// Hash table of positions plus one, a power of two of them; empty while a scan is quicker.
    buckets: Box<[u32]>,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    known: Known,
    value: T,
}

/// A text that others are compared with.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    print: Print,
    text: Box<str>,
}

/// The length of a text and some of its bytes: all of them if they are at most 16.
#[derive(Clone, Copy, Debug)]
struct Print {
    length: usize,
    head: u64,
    tail: u64,
}

impl<T: Copy> Names<T> {
    /// Returns the value of `text`, if it is known.
    #[inline]
    pub(crate) fn get(&self, text: &str) -> Option<T> {
        if self.entries.is_empty() {
            return None;
        }
        let print = Print::of(text.as_bytes());
        match (self.buckets.is_empty(), print.length <= WHOLE) {
            (false, _) => self.probe(print, text),
            (true, false) => {
                let is_meant = |entry: &&Entry<T>| entry.known.has(print, text);
                self.entries.iter().find(is_meant).map(|entry| entry.value)
            }
            (true, true) => self.compare_all(print),
        }
    }

    /// Compares with every entry, for which one it is cannot be foreseen: a wrong guess of the
    /// processor costs more than all the comparisons.
    #[inline]
    fn compare_all(&self, print: Print) -> Option<T> {
        let place = |place: usize, (entry, number): (&Entry<T>, usize)| {
            place.max(number * usize::from(entry.known.print.is(print)))
        };
        let place = self.entries.iter().zip(1..).fold(0, place);
        self.entries.get(place.checked_sub(1)?).map(|entry| entry.value)
    }

    /// Returns whether nothing is known.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline]
    fn probe(&self, print: Print, text: &str) -> Option<T> {
        let mask = self.buckets.len().checked_sub(1)?;
        let mut at = print.hash(text.as_bytes()) & mask;
        for _ in 0..self.buckets.len() {
            let position = self.buckets.get(at)?.checked_sub(1)?;
            let entry = self.entries.get(usize::try_from(position).ok()?)?;
            if entry.known.has(print, text) {
                return Some(entry.value);
            }
            at = at.wrapping_add(1) & mask;
        }
        None
    }

    fn insert(&mut self, position: usize) -> Option<()> {
        let entry = self.entries.get(position)?;
        let mask = self.buckets.len().checked_sub(1)?;
        let mut at = entry.known.print.hash(entry.known.text.as_bytes()) & mask;
        while *self.buckets.get(at)? != 0 {
            at = at.wrapping_add(1) & mask;
        }
        *self.buckets.get_mut(at)? = u32::try_from(position).ok()?.checked_add(1)?;
        Some(())
    }
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self { entries: Box::default(), buckets: Box::default() }
    }
}

impl<T: Copy, S: Into<Box<str>>> FromIterator<(S, T)> for Names<T> {
    /// Takes texts that differ from each other.
    fn from_iter<I: IntoIterator<Item = (S, T)>>(names: I) -> Self {
        let entry = |(text, value): (S, T)| Entry { known: Known::from(text.into()), value };
        let entries: Box<[_]> = names.into_iter().map(entry).collect();
        let is_few = entries.len() <= FEW;
        // At most half full, so that a probe always ends at an empty place.
        let buckets = if is_few { 0 } else { (2 * entries.len()).next_power_of_two() };
        let mut names = Self { entries, buckets: vec![0; buckets].into() };
        for position in 0..if is_few { 0 } else { names.entries.len() } {
            // The buckets are as many as is needed.
            let _ = names.insert(position);
        }
        names
    }
}

impl Known {
    /// Returns whether `text` is the same.
    #[inline]
    pub(crate) fn is(&self, text: &str) -> bool {
        self.print.length == text.len() && self.has(Print::of(text.as_bytes()), text)
    }

    #[inline]
    fn has(&self, print: Print, text: &str) -> bool {
        self.print.is(print) && (print.length <= WHOLE || *self.text == *text)
    }
}

impl From<Box<str>> for Known {
    fn from(text: Box<str>) -> Self {
        Self { print: Print::of(text.as_bytes()), text }
    }
}

impl Print {
    #[inline]
    fn of(text: &[u8]) -> Self {
        let length = text.len();
        let (head, tail) = match length {
            0..4 => {
                let byte = |at: usize| u64::from(text.get(at).copied().unwrap_or(0));
                (byte(0) | byte(1) << 8 | byte(2) << 16, 0)
            }
            4..=WHOLE => {
                // Four and four bytes from each end; below eight bytes the same ones twice. So the
                // lengths that names mostly have need no branch between them.
                let (step, last) = (length / 8 * 4, length - 4);
                let pair = |a: usize, b: usize| four_bytes(text, a) << 32 | four_bytes(text, b);
                (pair(0, step), pair(last, last - step))
            }
            _ => (four_bytes(text, 0), four_bytes(text, length - 4)),
        };
        Self { length, head, tail }
    }

    /// Returns whether both are equal, without a branch.
    #[inline]
    const fn is(self, other: Self) -> bool {
        (self.length == other.length) & (self.head == other.head) & (self.tail == other.tail)
    }

    #[inline]
    fn hash(self, text: &[u8]) -> usize {
        let mut hash = folded(self.head ^ SEEDS[0], self.tail ^ SEEDS[1]);
        if self.length > WHOLE {
            for chunk in text.as_chunks::<8>().0 {
                hash = folded(hash ^ u64::from_le_bytes(*chunk), SEEDS[2]);
            }
        }
        usize::try_from((hash ^ hash >> 32) & u64::from(u32::MAX)).unwrap_or(0)
    }
}

/// Returns four bytes of a text.
#[inline]
fn four_bytes(text: &[u8], at: usize) -> u64 {
    let bytes = text.get(at..).and_then(<[u8]>::first_chunk);
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes).into())
}

/// Multiplies into 128 bits and folds them: each bit of the factors reaches each bit of the result.
#[inline]
pub(crate) fn folded(a: u64, b: u64) -> u64 {
    let (low, high) = a.carrying_mul(b, 0);
    low ^ high
}

/// Up to how many texts are compared one by one.
const FEW: usize = 8;
/// The longest text of which a print leaves nothing out.
const WHOLE: usize = 16;
/// Digits of pi.
const SEEDS: [u64; 3] = [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344, 0xA409_3822_299F_31D0];

#[cfg(test)]
mod tests {
    use super::{FEW, Names};

    #[test]
    fn each_known_text_is_found_and_no_other() {
        for count in [0, 1, FEW, FEW + 1, 300] {
            let known = |at: usize| format!("{}{at}", "x".repeat(at % 20));
            let names: Names<usize> = (0..count).map(|at| (known(at), at)).collect();
            for at in 0..count {
                assert_eq!(names.get(&known(at)), Some(at), "{count}");
            }
            for unknown in ["", "y", "x", "xxx", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxx"] {
                assert_eq!(names.get(unknown), None, "{unknown}");
            }
            assert_eq!(names.is_empty(), count == 0);
        }
    }

    #[test]
    fn texts_that_differ_in_one_place_only_differ() {
        for length in 1..40 {
            let text = "a".repeat(length);
            let names: Names<()> = [(text.as_str(), ())].into_iter().collect();
            assert_eq!(names.get(&text), Some(()));
            for at in 0..length {
                let mut other = text.clone();
                other.replace_range(at..=at, "b");
                assert_eq!(names.get(&other), None, "{other}");
            }
            assert_eq!(names.get(&"a".repeat(length + 1)), None);
            assert_eq!(names.get(&"a".repeat(length - 1)), None);
        }
    }
}
