//! Searching and joining text, in as little code as the bounds of [`crate::limits`] allow.
//!
//! The standard library's searchers and joins cost the runtime module several kilobytes. Each
//! function here takes time in proportion to the text, for any text.

use alloc::string::String;
use alloc::vec::Vec;
use core::iter;

/// Returns true if the texts are the same.
///
/// `==` asks `memcmp` about empty texts too, and an address where nothing is, as an empty text may have it, takes the masked loads of
/// AVX-512 231 ns instead of one (glibc 2.36 on an Intel Xeon, 2026-11-27). Most scopes and versions are empty.
#[must_use]
pub fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && (one.is_empty() || one == other)
}

/// Returns true if `wanted` is in `text`.
///
/// The standard library's `contains` searches a character as if it were a text.
#[must_use]
pub fn has(text: &str, wanted: char) -> bool {
    text.chars().any(|c| c == wanted)
}

/// Returns the offset of the first `part` in `text`, or `None`.
#[must_use]
pub fn find(text: &str, part: &str) -> Option<usize> {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    match part {
        [] => Some(0),
        [first, ..] if part.len() <= SHORT => {
            let mut windows = text.windows(part.len());
            windows.position(|window| window.first() == Some(first) && window == part)
        }
        _ => Search::new(text, part).next(),
    }
}

/// Returns the offset of the last `part` in `text`, or `None`.
#[must_use]
pub fn rfind(text: &str, part: &str) -> Option<usize> {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    match part {
        [] => Some(text.len()),
        [first, ..] if part.len() <= SHORT => {
            let mut windows = text.windows(part.len());
            windows.rposition(|window| window.first() == Some(first) && window == part)
        }
        _ => Search::new(text, part).last(),
    }
}

/// Returns the texts before and behind the last `separator`, an ASCII character, or `None`.
#[must_use]
pub fn cut_last(text: &str, separator: u8) -> Option<(&str, &str)> {
    let at = text.bytes().rposition(|byte| byte == separator)?;
    Some((text.get(..at)?, text.get(at.checked_add(1)?..)?))
}

/// Returns bytes as text, with U+FFFD for each longest part that begins no character.
#[must_use]
pub fn lossy(mut bytes: &[u8]) -> String {
    let mut text = String::new();
    loop {
        let error = match core::str::from_utf8(bytes) {
            Ok(valid) => {
                text.push_str(valid);
                return text;
            }
            Err(error) => error,
        };
        let (valid, rest) = bytes.split_at_checked(error.valid_up_to()).unwrap_or_default();
        text.push_str(core::str::from_utf8(valid).unwrap_or_default());
        text.push(char::REPLACEMENT_CHARACTER);
        bytes = error.error_len().and_then(|length| rest.get(length..)).unwrap_or_default();
    }
}

/// Returns the offsets of `part` in `text`, none inside another. An empty part is before each
/// character and at the end.
pub fn positions<'t>(text: &'t str, part: &'t str) -> impl Iterator<Item = usize> + 't {
    let mut next = Some(0_usize);
    iter::from_fn(move || {
        let start = next?;
        let rest = text.get(start..)?;
        let found = find(rest, part)?;
        let length = match part {
            "" => rest.chars().next().map(char::len_utf8),
            _ => Some(found.saturating_add(part.len())),
        };
        next = length.map(|length| start.saturating_add(length));
        Some(start.saturating_add(found))
    })
}

/// Returns the parts with `separator` between them.
///
/// The iterator is not a type parameter, so that all callers share the code.
#[must_use]
pub fn joined(parts: &mut dyn Iterator<Item = &str>, separator: &str) -> String {
    let mut out = String::from(parts.next().unwrap_or_default());
    for part in parts {
        out.push_str(separator);
        out.push_str(part);
    }
    out
}

/// Appends `number` in a base from 2 to 16, with zeros before it up to so many digits.
///
/// One function suffices for every base and size; each form of the standard library is code of its
/// own.
pub fn push_digits(out: &mut String, mut number: u64, base: u64, least: usize) {
    let base = base.clamp(2, 16);
    let mut digits = ['0'; MAX_DIGITS];
    let mut count = 0_usize;
    // The last digit comes first.
    for position in digits.iter_mut().rev() {
        if number == 0 && count >= least.max(1) {
            break;
        }
        let digit = u32::try_from(number % base).unwrap_or_default();
        *position = char::from_digit(digit, 16).unwrap_or('0');
        (number, count) = (number / base, count.saturating_add(1));
    }
    out.extend(digits.iter().skip(MAX_DIGITS.saturating_sub(count)));
}

/// The digits of the longest number, in base 2.
const MAX_DIGITS: usize = 64;

/// The search of Knuth, Morris and Pratt, which reads each byte of the text once. Its matches may
/// overlap.
struct Search<'t> {
    text: iter::Enumerate<core::slice::Iter<'t, u8>>,
    part: &'t [u8],
    /// For each length, the longest shorter beginning of the part that is also the end of that much
    /// of it.
    borders: Vec<usize>,
    matched: usize,
}

impl<'t> Search<'t> {
    fn new(text: &'t [u8], part: &'t [u8]) -> Self {
        let mut search = Self {
            text: text.iter().enumerate(),
            part,
            borders: Vec::with_capacity(part.len()),
            matched: 0,
        };
        search.borders.push(0);
        for byte in part.iter().skip(1) {
            search.matched = search.after(*byte);
            search.borders.push(search.matched);
        }
        search.matched = 0;
        search
    }

    /// Returns the length of the part that is matched once `byte` is read.
    fn after(&self, byte: u8) -> usize {
        let mut matched = self.matched;
        while self.part.get(matched) != Some(&byte) {
            let Some(border) = matched.checked_sub(1).and_then(|at| self.borders.get(at)) else {
                return 0;
            };
            matched = *border;
        }
        matched.saturating_add(1)
    }
}

impl Iterator for Search<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while let Some((at, byte)) = self.text.next() {
            self.matched = self.after(*byte);
            if self.matched == self.part.len() {
                return at.checked_add(1)?.checked_sub(self.matched);
            }
        }
        None
    }
}

/// The length in bytes up to which a part is compared at each position, without an allocation.
const SHORT: usize = 32;

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use alloc::{format, string::String};

    use super::{cut_last, find, joined, lossy, positions, push_digits, rfind};

    fn check(text: &str, part: &str) {
        assert_eq!(find(text, part), text.find(part), "`{text}` `{part}`");
        assert_eq!(rfind(text, part), text.rfind(part), "`{text}` `{part}`");
        let all: Vec<usize> = text.match_indices(part).map(|(at, _)| at).collect();
        assert_eq!(positions(text, part).collect::<Vec<_>>(), all, "`{text}` `{part}`");
    }

    /// Returns all texts of so many pieces.
    fn texts(pieces: [&str; 3], count: usize) -> Vec<String> {
        (0..count).fold(Vec::from([String::new()]), |texts, _| {
            texts.iter().flat_map(|text| pieces.map(|piece| format!("{text}{piece}"))).collect()
        })
    }

    #[test]
    fn searches_agree_with_the_standard_library() {
        for text in texts(["", "a", "é"], 6) {
            for part in texts(["", "a", "é"], 3) {
                check(&text, &part);
            }
        }
    }

    #[test]
    fn cuts_and_replaces_as_the_standard_library_does() {
        for text in texts(["/", "a", "é"], 5) {
            assert_eq!(cut_last(&text, b'/'), text.rsplit_once('/'), "`{text}`");
        }
        let parts: [&[u8]; 8] =
            [b"", b"a", b"\xc3", b"\xa9", b"\xf0\x9f", b"\xe2\x82", b"\xff", b"\xed\xa0\x80"];
        for first in parts {
            for second in parts {
                for third in parts {
                    let bytes = [first, second, third].concat();
                    assert_eq!(lossy(&bytes), String::from_utf8_lossy(&bytes), "{bytes:?}");
                }
            }
        }
    }

    #[test]
    fn finds_long_parts() {
        let (word, other) = ("ab".repeat(20), "ab".repeat(19) + "ba");
        for text in texts([&word, &other, "a"], 5) {
            for part in texts([&word, &other, "a"], 2) {
                check(&text, &part);
            }
        }
    }

    #[test]
    fn writes_digits_as_the_standard_library_does() {
        let check = |number: u64, base, least, expected: &str| {
            let mut out = String::new();
            push_digits(&mut out, number, base, least);
            assert_eq!(out, expected);
        };
        for number in [0, 1, 7, 8, 9, 10, 15, 16, 255, 256, 65_535, u64::MAX - 1, u64::MAX] {
            check(number, 2, 1, &format!("{number:b}"));
            check(number, 8, 1, &format!("{number:o}"));
            check(number, 10, 2, &format!("{number:02}"));
            check(number, 16, 4, &format!("{number:04x}"));
        }
    }

    #[test]
    fn joins_parts_that_may_be_empty() {
        let check = |parts: &[&str], expected| {
            assert_eq!(joined(&mut parts.iter().copied(), ", "), expected);
        };
        check(&[], "");
        check(&["a"], "a");
        check(&["", "", "b"], ", , b");
    }
}
