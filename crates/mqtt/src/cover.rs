//! What filters cover: containment of one filter in a union of others, and overlap of two.
//!
//! Exact for the set of all valid names of any length and any number of levels. The proof:
//!
//! 1. Names are told apart by their number of levels. A filter without `#` has names of one number
//!    of levels only; one with `#` after m levels has names of m and more levels, and `a/#` has the
//!    name `a` too. So a union covers a filter if it does so for each number of levels by itself.
//! 2. For a fixed number of levels, a filter is a row of words and `+`. Replace each `+` by a word
//!    that no pattern names, that is not empty and does not begin with `$`: the result is a name of
//!    the filter. A pattern that matches it has a wildcard wherever the filter has one, and so
//!    matches all names of the row. A union that has no such pattern misses that name: it is the
//!    witness. So for each number of levels a union covers a row only if one pattern does.
//! 3. Patterns without `#` cover one number of levels at most. One with `#` after p levels covers
//!    all numbers from p on or none, because only the first p levels are compared. So the union
//!    covers `#` if the numbers below the least such p are covered one by one; if no pattern with
//!    `#` covers, then a number of levels beyond all patterns is missing.
//!
//! Two rows of the standard bend this. Filters that begin with a wildcard have no name that begins
//! with `$` [MQTT-4.7.2-1]: in 2 the fresh word stands for the names without `$`, which are all
//! that the row has, and a pattern that begins with a wildcard does not cover a first word that
//! begins with `$`. And the empty text is no name [MQTT-4.7.3-1]: `/#` has no name of one level, so
//! `/+/#` covers it.
//!
//! One walk over the levels of each pattern decides, without allocation. The names of a
//! witness are made afterwards, and only for an answer that is partial.

mod intersection;

use alloc::string::String;

pub use intersection::intersection;

use crate::blocks::word_end;
use crate::limits::Limits;
use crate::topic::{Filter, Level};

/// The part of the names of a filter that other filters match.
///
/// # Examples
/// ```
/// use wardgate_mqtt::{Cover, Filter, cover};
///
/// let filters = |texts: &[&'static str]| -> Vec<_> {
///     texts.iter().filter_map(|text| Filter::new(text).ok()).collect()
/// };
/// let asked = Filter::new("a/#")?;
/// assert_eq!(cover(asked, &filters(&["a", "a/+", "a/+/+/#"])), Cover::All);
/// assert_eq!(cover(asked, &filters(&["b/#", "a"])), Cover::Part { witness: "a/x".into() });
/// assert_eq!(cover(asked, &filters(&["b/#", "+"])), Cover::Part { witness: "a/x".into() });
/// assert_eq!(cover(asked, &filters(&["b/#"])), Cover::None);
/// # Ok::<(), wardgate_mqtt::TopicError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cover {
    /// Every name of the filter is matched.
    All,
    /// No name of the filter is matched.
    None,
    /// Some names are matched, others are not.
    Part {
        /// A name of the filter that nothing matches. It may exceed the limits that the filters
        /// were checked with.
        witness: String,
    },
}

/// Decides which part of the names of `asked` the filters `by` match. Groups of shared
/// subscriptions do not matter.
#[must_use]
pub fn cover(asked: Filter<'_>, by: &[Filter<'_>]) -> Cover {
    let mut covered = Covered::default();
    let row = Shape::of(asked);
    for pattern in by {
        match row.covered_by(asked, *pattern) {
            Lengths::None => {}
            lengths => covered.add(lengths),
        }
        if covered.is_all(row) {
            return Cover::All;
        }
    }
    match by.iter().any(|pattern| overlap(asked, *pattern)) {
        true => Cover::Part { witness: witness(asked, covered.first_missing(row), by) },
        false => Cover::None,
    }
}

/// Returns true if a name exists that both filters match.
///
/// # Examples
/// ```
/// use wardgate_mqtt::{Filter, overlap};
///
/// assert!(overlap(Filter::new("a/+")?, Filter::new("+/b")?));
/// assert!(!overlap(Filter::new("$SYS/#")?, Filter::new("#")?));
/// # Ok::<(), wardgate_mqtt::TopicError>(())
/// ```
#[must_use]
pub fn overlap(a: Filter<'_>, b: Filter<'_>) -> bool {
    let internal = |filter: Filter<'_>| filter.text().starts_with('$');
    if internal(a) && b.begins_with_wildcard() || internal(b) && a.begins_with_wildcard() {
        return false;
    }
    let (mut left, mut right) = (a.text().as_bytes(), b.text().as_bytes());
    // Both are at the beginning of a level wherever one of them has a wildcard.
    loop {
        match (left.split_first(), right.split_first()) {
            (Some((b'#', _)), _) | (_, Some((b'#', _))) | (None, None) => return true,
            (Some((b'+', _)), _) | (_, Some((b'+', _))) => {
                (left, right) = (after_word(left), after_word(right));
            }
            (Some((a, after)), Some((b, rest))) if a == b => (left, right) = (after, rest),
            // Of `/#`, the name without the slash would be the empty text, which is no name.
            (Some((b'/', b"#")), None) => return a.text() != "/#",
            (None, Some((b'/', b"#"))) => return b.text() != "/#",
            _ => return false,
        }
    }
}

/// The numbers of levels that the names of a filter have.
#[derive(Clone, Copy)]
struct Shape {
    least: u32,
    has_rest: bool,
}

/// The numbers of levels for which a pattern covers a filter.
#[derive(Debug, PartialEq, Eq)]
enum Lengths {
    None,
    One(u32),
    From(u32),
}

impl Shape {
    fn of(filter: Filter<'_>) -> Self {
        let text = filter.text();
        let slashes = text.bytes().filter(|byte| *byte == b'/').count();
        let slashes = u32::try_from(slashes).unwrap_or(u32::MAX);
        let has_rest = text.ends_with('#');
        // `#` alone has names of one level and more, and so has `/#` of two and more.
        let least = match has_rest {
            true if text == "/#" => 2,
            true => slashes.max(1),
            false => slashes.saturating_add(1),
        };
        Self { least, has_rest }
    }

    /// Returns the numbers of levels for which `pattern` covers the filter `asked` of this shape.
    ///
    /// Both are walked byte by byte. Wherever one of them has a wildcard, the other is at the
    /// beginning of a level too; a wildcard that the pattern lacks is a byte that differs.
    #[inline]
    fn covered_by(self, asked: Filter<'_>, pattern: Filter<'_>) -> Lengths {
        if asked.text().starts_with('$') && pattern.begins_with_wildcard() {
            return Lengths::None;
        }
        let (mut asked, mut pattern) = (asked.text().as_bytes(), pattern.text().as_bytes());
        // The levels that both have left behind.
        let mut levels = 0_u32;
        loop {
            match (asked.split_first(), pattern.split_first()) {
                (_, Some((b'#', _))) => return self.all_from(levels),
                (Some((b'#', _)), _) => return self.rest_covered_by(levels, pattern),
                (_, Some((b'+', after))) => (asked, pattern) = (after_word(asked), after),
                (Some((a, after)), Some((b, rest))) if a == b => {
                    levels = levels.saturating_add(u32::from(*a == b'/'));
                    (asked, pattern) = (after, rest);
                }
                (None, Some((b'/', b"#"))) => return self.all_from(levels.saturating_add(1)),
                (None | Some((b'/', b"#")), None) => return self.exactly(levels.saturating_add(1)),
                _ => return Lengths::None,
            }
        }
    }

    /// Returns the same where the filter has come to `#`: the pattern goes on with `+` alone.
    fn rest_covered_by(self, levels: u32, pattern: &[u8]) -> Lengths {
        let (mut levels, mut pattern) = (levels, pattern);
        loop {
            match pattern {
                b"#" => return self.all_from(levels),
                b"+" => return self.exactly(levels.saturating_add(1)),
                [b'+', b'/', after @ ..] => {
                    (levels, pattern) = (levels.saturating_add(1), after);
                }
                _ => return Lengths::None,
            }
        }
    }

    fn all_from(self, levels: u32) -> Lengths {
        Lengths::From(levels.max(self.least))
    }

    const fn exactly(self, levels: u32) -> Lengths {
        if levels >= self.least { Lengths::One(levels) } else { Lengths::None }
    }
}

/// Returns what follows the word at the front.
#[inline]
fn after_word(text: &[u8]) -> &[u8] {
    text.get(word_end(text, 0)..).unwrap_or_default()
}

/// The numbers of levels that some pattern covers, all of them at most [`Limits::TOPIC_LEVELS`].
struct Covered {
    /// A bit for each number that a pattern without `#` covers; the lowest bit is for one level.
    single: [u64; 2],
    /// The least number from which on a pattern with `#` covers all.
    from: u32,
}

impl Default for Covered {
    fn default() -> Self {
        Self { single: [0; 2], from: u32::MAX }
    }
}

impl Covered {
    fn add(&mut self, lengths: Lengths) {
        match lengths {
            Lengths::None => {}
            Lengths::One(number) => {
                let (word, bit) = place(number);
                if let Some(word) = self.single.get_mut(word) {
                    *word |= bit;
                }
            }
            Lengths::From(number) => self.from = self.from.min(number),
        }
    }

    fn is_all(&self, row: Shape) -> bool {
        match row.has_rest {
            true => self.first_missing(row) >= self.from,
            false => row.least >= self.from || self.has_single(row.least),
        }
    }

    /// Returns the least number of levels of the row that is not covered one by one.
    fn first_missing(&self, row: Shape) -> u32 {
        let mut number = row.least;
        while self.has_single(number) {
            number = number.saturating_add(1);
        }
        number
    }

    fn has_single(&self, number: u32) -> bool {
        let (word, bit) = place(number);
        self.single.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// Returns the word and the bit of a number of levels.
fn place(number: u32) -> (usize, u64) {
    let below = number.saturating_sub(1);
    (usize::try_from(below / 64).unwrap_or(usize::MAX), 1 << (below % 64))
}

/// Makes a name of `asked` with that number of levels, with a word that no pattern names in the
/// place of each wildcard.
fn witness(asked: Filter<'_>, levels: u32, by: &[Filter<'_>]) -> String {
    let fresh = fresh_word(by);
    let mut name = String::new();
    let mut given = asked.levels();
    let mut below_rest = false;
    for number in 0..levels.min(u32::from(Limits::TOPIC_LEVELS).saturating_add(1)) {
        if number > 0 {
            name.push('/');
        }
        let level = if below_rest { None } else { given.next() };
        below_rest |= level == Some(Level::Rest);
        match level {
            Some(Level::Word(word)) => name.push_str(word),
            _ => name.push_str(&fresh),
        }
    }
    name
}

/// Returns the shortest of `x`, `xx` and so on that is no word of the patterns; a longer one if they
/// have all that are shorter than 64.
fn fresh_word(by: &[Filter<'_>]) -> String {
    let (mut used, mut longest) = (1_u64, 0);
    for level in by.iter().flat_map(|pattern| pattern.levels()) {
        if let Level::Word(word) = level
            && word.bytes().all(|byte| byte == b'x')
        {
            longest = word.len().max(longest);
            used |= u32::try_from(word.len()).map_or(0, |length| 1_u64.unbounded_shl(length));
        }
    }
    let shortest = usize::try_from(used.trailing_ones()).unwrap_or(0);
    "x".repeat(if used == u64::MAX { longest.saturating_add(1) } else { shortest })
}

#[cfg(test)]
mod tests;
