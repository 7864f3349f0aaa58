//! Hashes of texts and of paths, under a seed.
//!
//! Multiplies 64 by 64 bits and folds the product, as wyhash does; both factors depend on keys that
//! are made of the seed, so that no input cancels a factor without knowing them.

use crate::blocks::{bits, block, first_slash, word_end};

/// The keys of a set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hasher {
    first: u64,
    second: u64,
    plus: u64,
    rest: u64,
    end: u64,
    /// The bits of a hash that count.
    #[cfg(test)]
    mask: u64,
}

impl Hasher {
    pub(super) const fn new(seed: u64) -> Self {
        let first = fold(seed ^ PRIMES[0], PRIMES[1]);
        let second = fold(first ^ seed, PRIMES[2]) | 1;
        Self {
            first,
            second,
            plus: fold(first ^ PRIMES[3], second),
            rest: fold(first ^ PRIMES[4], second),
            end: fold(first ^ PRIMES[5], second),
            #[cfg(test)]
            mask: u64::MAX,
        }
    }

    /// Makes a hasher with hashes of that many bits, which are equal for many inputs.
    #[cfg(test)]
    pub(super) fn weak(bits: u32) -> Self {
        Self { mask: u64::MAX.unbounded_shl(64 - bits), ..Self::new(1) }
    }

    /// Returns the hash of a text.
    #[inline]
    pub(super) fn text(&self, text: &[u8]) -> u64 {
        let mut hash = self.first;
        let mut rest = text;
        while rest.len() > 16
            && let Some((block, after)) = rest.split_first_chunk::<16>()
        {
            let [low, high] = halves(*block);
            hash = fold(low ^ hash, high ^ self.second);
            rest = after;
        }
        let (low, high) = match text.last_chunk::<16>() {
            Some(block) => {
                let [low, high] = halves(*block);
                (low, high)
            }
            None => short(text),
        };
        let length = u64::try_from(text.len()).unwrap_or(0);
        self.mix(fold(low ^ hash, high ^ self.second), self.first ^ length)
    }

    /// Returns the hash of the path that goes on from `at` with this word.
    #[inline]
    pub(super) fn child(&self, at: u64, word: &[u8]) -> u64 {
        match word.len() < 8 {
            true => self.short_child(at, block(word, 0), word.len()),
            false => self.mix(at ^ self.text(word), self.second ^ at),
        }
    }

    /// Returns the hash of the path that goes on from `at` with the word of a name that begins at
    /// `start`, and the end of that word.
    #[inline(always)]
    pub(super) fn child_in(&self, at: u64, name: &[u8], start: usize) -> (u64, usize) {
        let bytes = block(name, start);
        let length = first_slash(bytes).min(name.len().saturating_sub(start));
        if length < 8 {
            let word = bytes & !u64::MAX.unbounded_shl(bits(length));
            return (self.short_child(at, word, length), start.saturating_add(length));
        }
        let end = word_end(name, start);
        (self.child(at, name.get(start..end).unwrap_or_default()), end)
    }

    /// Mixes a word of up to seven bytes, zeros above them and its length on top, into a path.
    #[inline(always)]
    fn short_child(&self, at: u64, word: u64, length: usize) -> u64 {
        let length = u64::try_from(length).unwrap_or(0);
        self.mix(at ^ (word | length << 56), self.second ^ at.rotate_left(32))
    }

    /// Returns the hash of the path that goes on from `at` with `+`.
    #[inline]
    pub(super) fn plus(&self, at: u64) -> u64 {
        self.mix(at ^ self.plus, self.second)
    }

    /// Returns the hash of the filter that goes on from `at` with `#`. Nothing goes on from it, so it
    /// needs no mixing.
    #[inline]
    pub(super) fn rest(&self, at: u64) -> u64 {
        self.hash(at ^ self.rest)
    }

    /// Returns the hash of the filter that ends at `at`, likewise.
    #[inline]
    pub(super) fn end(&self, at: u64) -> u64 {
        self.hash(at ^ self.end)
    }

    #[inline(always)]
    fn mix(&self, a: u64, b: u64) -> u64 {
        self.hash(fold(a, b))
    }

    /// Makes a hash of a number, which is not zero.
    #[inline(always)]
    fn hash(&self, number: u64) -> u64 {
        #[cfg(test)]
        let number = number & self.mask;
        number.max(1)
    }
}

/// Returns fewer than 16 bytes as two numbers; together with the length, no two texts are equal.
#[inline]
fn short(text: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        return (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        return (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)));
    }
    let byte = |at: usize| u64::from(text.get(at).copied().unwrap_or(0));
    (byte(0) | byte(1) << 8 | byte(2) << 16, 0)
}

#[inline]
fn halves(block: [u8; 16]) -> [u64; 2] {
    let both = u128::from_le_bytes(block);
    [low(both), low(both >> 64)]
}

#[inline]
const fn fold(a: u64, b: u64) -> u64 {
    let product = wide(a).wrapping_mul(wide(b));
    low(product) ^ low(product >> 64)
}

#[expect(clippy::as_conversions, reason = "no constant function widens otherwise")]
#[inline]
const fn wide(number: u64) -> u128 {
    number as u128
}

#[expect(clippy::as_conversions, reason = "the lower half is meant")]
#[inline]
const fn low(number: u128) -> u64 {
    number as u64
}

/// The path of no levels, which no other path has.
pub(super) const ROOT: u64 = 0;

/// Odd numbers without structure: the fractions of the square roots of 2, 3, 5, 7, 11 and 13.
const PRIMES: [u64; 6] = [
    0x6a09_e667_f3bc_c909,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
];

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_hashed_word_by_word() {
        let hasher = Hasher::new(5);
        let (long, longer) = ("a".repeat(8), "b".repeat(40));
        let words = ["", "a", "ab", "abcdefg", &long, "abcdefghi", &longer];
        for first in words {
            for second in words {
                for third in words {
                    let name = [first, second, third].join("/");
                    let mut start = 0;
                    for word in name.split('/') {
                        let (hash, end) = hasher.child_in(7, name.as_bytes(), start);
                        assert_eq!(&name[start..end], word);
                        assert_eq!(hash, hasher.child(7, word.as_bytes()), "{name} {word}");
                        assert_eq!(word_end(name.as_bytes(), start), end);
                        start = end + 1;
                    }
                }
            }
        }
    }

    #[test]
    fn words_have_different_hashes() {
        let hasher = Hasher::new(5);
        let mut seen = BTreeSet::new();
        for length in 0..20 {
            for byte in [0, 1, b'a', b'0', 0xff] {
                let word = alloc::vec![byte; length];
                assert!(seen.insert(hasher.child(3, &word)) || length == 0, "{length} {byte}");
            }
        }
    }

    #[test]
    fn texts_of_all_lengths_have_different_hashes() {
        let hasher = Hasher::new(7);
        let mut seen = BTreeSet::new();
        for length in 0..100 {
            let zeros = alloc::vec![0; length];
            assert!(seen.insert(hasher.text(&zeros)), "{length}");
            for at in 0..length {
                let mut one = zeros.clone();
                one[at] = 1;
                assert!(seen.insert(hasher.text(&one)), "{length} {at}");
            }
        }
    }

    #[test]
    fn seeds_change_hashes() {
        let text = |seed| Hasher::new(seed).text(b"a/b");
        assert!(text(0) != text(1) && text(0) != 0);
    }
}
