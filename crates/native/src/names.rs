//! Known texts, and the fastest way to find a given text among them.
//!
//! A text matches a known one only if all of it is equal. The known texts come from the policies
//! alone, so that no request can make the lookup slow.

/// Known texts, each with a value: the names in the policies.
#[derive(Clone, Debug)]
pub struct Names<T> {
    /// The hash table; its length is a power of two, or 0 without texts.
    buckets: Box<[Bucket<T>]>,
    /// The seed of the hash, chosen so that few texts share a bucket.
    seed: u64,
    /// True if no two texts share a bucket, so that one comparison suffices.
    is_perfect: bool,
    /// The length of the longest known text, in bytes.
    longest: usize,
}

#[derive(Clone, Debug)]
struct Bucket<T> {
    known: Known,
    /// `None` in a free bucket.
    value: Option<T>,
}

/// A known text, to compare others with.
#[derive(Clone, Debug)]
pub struct Known {
    print: Print,
    text: Box<str>,
}

/// The length of a text and some of its bytes: all of them if they are at most 16.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Print {
    length: usize,
    head: u64,
    tail: u64,
}

impl<T: Copy> Names<T> {
    /// Returns the value of `text`, or `None` if it is not known.
    #[inline]
    pub fn get(&self, text: &str) -> Option<T> {
        let mask = self.buckets.len().checked_sub(1)?;
        if text.len() > WHOLE {
            return self.probe(text);
        }
        let print = Print::of(text.as_bytes());
        let bucket = self.buckets.get(print.hash(self.seed) & mask)?;
        let found = if bucket.known.print.is(print) { bucket.value } else { None };
        // The search is over if texts share no buckets, or this one is free.
        let is_over = self.is_perfect || found.is_some() || bucket.value.is_none();
        if is_over { found } else { self.probe(text) }
    }

    /// Returns true if there are no texts.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// Searches one bucket after the other, from the first again. A separate call, so that the
    /// usual lookup saves no registers for it.
    #[inline(never)]
    fn probe(&self, text: &str) -> Option<T> {
        // All bytes of a text are hashed, so a text that is too long is rejected first.
        if text.len() > self.longest {
            return None;
        }
        let mask = self.buckets.len().checked_sub(1)?;
        let print = Print::of(text.as_bytes());
        let mut at = print.hash_of(text, self.seed) & mask;
        // Some bucket is free, so this ends before the bound.
        for _ in 0..self.buckets.len() {
            let bucket = self.buckets.get(at)?;
            if bucket.value.is_none() || bucket.known.has(print, text) {
                return bucket.value;
            }
            at = at.wrapping_add(1) & mask;
        }
        None
    }

    /// Returns a table of `size` buckets with these entries.
    fn layout(entries: &[(Box<str>, T)], size: usize, seed: u64) -> Self {
        let free = || Bucket { known: Known::none(), value: None };
        let mut buckets: Box<[Bucket<T>]> = (0..size).map(|_| free()).collect();
        let mut is_perfect = true;
        let longest = entries.iter().map(|(text, _)| text.len()).max().unwrap_or(0);
        for (text, value) in entries {
            let known = Known::from(text.clone());
            let mut at = known.print.hash_of(text, seed);
            for _ in 0..size {
                let Some(bucket) = buckets.get_mut(at & size.wrapping_sub(1)) else { break };
                if bucket.value.is_none() {
                    *bucket = Bucket { known, value: Some(*value) };
                    break;
                }
                is_perfect = false;
                at = at.wrapping_add(1);
            }
        }
        Self { buckets, seed, is_perfect, longest }
    }
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self { buckets: Box::default(), seed: 0, is_perfect: true, longest: 0 }
    }
}

impl<T: Copy, S: Into<Box<str>>> FromIterator<(S, T)> for Names<T> {
    /// Collects texts, which must differ from each other.
    fn from_iter<I: IntoIterator<Item = (S, T)>>(names: I) -> Self {
        let entries: Box<[_]> =
            names.into_iter().map(|(text, value)| (text.into(), value)).collect();
        if entries.is_empty() {
            return Self::default();
        }
        // At most half full, so that a probe always ends at a free bucket.
        let (room, seeds) = if entries.len() <= FEW { (4, TRIES) } else { (2, 1) };
        let size = (room * entries.len()).next_power_of_two();
        let layouts =
            (1..=seeds).map(|seed| Self::layout(&entries, size, SEEDS[0].wrapping_mul(seed)));
        let mut layouts = layouts.skip_while(|names| !names.is_perfect);
        layouts.next().unwrap_or_else(|| Self::layout(&entries, size, SEEDS[0]))
    }
}

impl Known {
    /// Returns true if `text` is equal.
    #[inline]
    pub fn is(&self, text: &str) -> bool {
        self.print.length == text.len() && self.has(Print::of(text.as_bytes()), text)
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the content of a free bucket, which equals no text.
    fn none() -> Self {
        Self { print: Print { length: usize::MAX, head: 0, tail: 0 }, text: Box::default() }
    }

    #[inline]
    pub(crate) fn has(&self, print: Print, text: &str) -> bool {
        self.print.is(print) && (print.length <= WHOLE || *self.text == *text)
    }
}

impl From<Box<str>> for Known {
    fn from(text: Box<str>) -> Self {
        Self { print: Print::of(text.as_bytes()), text }
    }
}

impl From<Known> for Box<str> {
    fn from(known: Known) -> Self {
        known.text
    }
}

/// A text that others are compared with, one after the other.
pub(crate) struct Wanted<'t> {
    text: &'t str,
    tail: Option<[u8; 8]>,
}

impl<'t> Wanted<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, tail: text.as_bytes().last_chunk().copied() }
    }

    /// Returns true if `other` is equal. Ids of one type begin alike, so the ends are compared first.
    #[inline(always)]
    pub(crate) fn is(&self, other: &str) -> bool {
        other.len() == self.text.len()
            && other.as_bytes().last_chunk().copied() == self.tail
            && other == self.text
    }
}

impl Print {
    #[inline(always)]
    pub(crate) fn of(text: &[u8]) -> Self {
        let length = text.len();
        let (head, tail) = match (text.first_chunk(), text.last_chunk()) {
            (Some(head), Some(tail)) => (u64::from_le_bytes(*head), u64::from_le_bytes(*tail)),
            _ => match (text.first_chunk(), text.last_chunk()) {
                (Some(head), Some(tail)) => {
                    (u32::from_le_bytes(*head).into(), u32::from_le_bytes(*tail).into())
                }
                _ => {
                    let byte = |at: usize| u64::from(text.get(at).copied().unwrap_or(0));
                    (byte(0) | byte(1) << 8 | byte(2) << 16, 0)
                }
            },
        };
        Self { length, head, tail }
    }

    /// Returns true if both are equal.
    #[inline]
    const fn is(self, other: Self) -> bool {
        let differ = (self.head ^ other.head) | (self.tail ^ other.tail);
        (self.length == other.length) & (differ == 0)
    }

    /// Returns the hash of a text whose bytes are all in the print.
    #[inline]
    fn hash(self, seed: u64) -> usize {
        spread(folded(self.head ^ seed, self.tail ^ SEEDS[1]))
    }

    /// Returns the hash of any text.
    pub(crate) fn hash_of(self, text: &str, seed: u64) -> usize {
        if self.length <= WHOLE {
            return self.hash(seed);
        }
        let (chunks, _) = text.as_bytes().as_chunks::<8>();
        let start = folded(self.head ^ seed, self.tail ^ SEEDS[1]);
        let hash = |hash, chunk: &[u8; 8]| folded(hash ^ u64::from_le_bytes(*chunk), SEEDS[2]);
        spread(chunks.iter().fold(start, hash))
    }
}

/// Returns true if two texts are equal. Most are short, and then there is no call.
#[inline(always)]
pub(crate) fn is_same(left: &str, right: &str) -> bool {
    if left.len() != right.len() {
        return false;
    }
    if left.len() > WHOLE {
        return left == right;
    }
    Print::of(left.as_bytes()).is(Print::of(right.as_bytes()))
}

#[inline]
fn spread(hash: u64) -> usize {
    usize::try_from((hash ^ hash >> 32) & u64::from(u32::MAX)).unwrap_or(0)
}

/// Multiplies into 128 bits and folds them: each bit of the factors reaches each bit of the result.
#[inline]
pub(crate) fn folded(a: u64, b: u64) -> u64 {
    let (low, high) = a.carrying_mul(b, 0);
    low ^ high
}

/// The number of texts up to which a perfect layout is sought.
const FEW: usize = 16;
/// The number of layouts to try.
const TRIES: u64 = 64;
/// The length up to which a print holds all bytes of a text.
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
    fn texts_that_differ_in_one_byte_differ() {
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
