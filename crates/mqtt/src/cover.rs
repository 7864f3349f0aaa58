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
        covered.add(row.covered_by(asked, *pattern));
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
    let (mut lefts, mut rights) = (a.levels(), b.levels());
    // All words of the name so far are empty: the empty text is no name.
    for number in 0_usize.. {
        match (lefts.next(), rights.next()) {
            (None, None) => return true,
            (Some(Level::Rest), Some(_)) | (Some(_), Some(Level::Rest)) => return true,
            (Some(Level::Rest), None) => return number != 1 || !a.text().starts_with('/'),
            (None, Some(Level::Rest)) => return number != 1 || !b.text().starts_with('/'),
            (Some(Level::Word(left)), Some(Level::Word(right))) if left != right => return false,
            (Some(_), Some(_)) => {}
            _ => return false,
        }
    }
    false
}

/// The numbers of levels that the names of a filter have.
#[derive(Clone, Copy)]
struct Shape {
    least: u32,
    has_rest: bool,
}

/// The numbers of levels for which a pattern covers a filter.
enum Lengths {
    None,
    One(u32),
    From(u32),
}

impl Shape {
    fn of(filter: Filter<'_>) -> Self {
        let (mut words, mut has_rest) = (0_u32, false);
        for level in filter.levels() {
            has_rest = level == Level::Rest;
            words = words.saturating_add(u32::from(!has_rest));
        }
        // `#` alone has names of one level and more, and so has `/#` of two and more.
        let least = if has_rest && filter.text() == "/#" { 2 } else { words.max(1) };
        Self { least, has_rest }
    }

    /// Returns the numbers of levels for which `pattern` covers the filter `asked` of this shape.
    fn covered_by(self, asked: Filter<'_>, pattern: Filter<'_>) -> Lengths {
        if asked.text().starts_with('$') && pattern.begins_with_wildcard() {
            return Lengths::None;
        }
        let (mut asked, mut pattern) = (asked.levels(), pattern.levels());
        let mut rest = None;
        for levels in 0_u32.. {
            // Once the filter is at `#`, it stays there.
            let level = rest.or_else(|| asked.next());
            rest = level.filter(|level| *level == Level::Rest);
            match (pattern.next(), level) {
                (Some(Level::Rest), _) => return Lengths::From(levels.max(self.least)),
                (Some(Level::Any), Some(_)) => {}
                (Some(Level::Word(word)), Some(Level::Word(other))) if word == other => {}
                (None, None | Some(Level::Rest)) if levels >= self.least => {
                    return Lengths::One(levels);
                }
                _ => return Lengths::None,
            }
        }
        Lengths::None
    }
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
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn filter(text: &str) -> Filter<'_> {
        Filter::within(text, &Limits::WIDEST).unwrap()
    }

    fn answer(asked: &str, by: &[&str]) -> Cover {
        cover(filter(asked), &by.iter().map(|text| filter(text)).collect::<Vec<_>>())
    }

    fn part(witness: &str) -> Cover {
        Cover::Part { witness: witness.into() }
    }

    #[test]
    fn single_filters_cover() {
        let check = |asked: &str, by: &str, expected: Cover| {
            assert_eq!(answer(asked, &[by]), expected, "{asked} {by}");
        };
        for same in ["a", "+", "#", "a/+/#", "$SYS/+", "/", "/#", "//"] {
            check(same, same, Cover::All);
        }
        check("a/b", "a/+", Cover::All);
        check("a", "a/#", Cover::All);
        check("a/+", "a/#", Cover::All);
        check("a/+/c", "+/+/#", Cover::All);
        check("#", "+/#", Cover::All);
        check("+/#", "#", Cover::All);
        check("/#", "/+/#", Cover::All);
        check("/#", "+/+/#", Cover::All);
        check("a/#", "a/+/#", part("a"));
        check("a/+", "a/b", part("a/x"));
        check("a/+", "a/x", part("a/xx"));
        check("a/#", "a", part("a/x"));
        check("#", "a/#", part("x"));
        check("#", "+", part("x/x"));
        check("+", "/+", Cover::None);
        check("a/#", "b/#", Cover::None);
        check("a", "A", Cover::None);
        check("+", "/#", Cover::None);
        check("/#", "+", Cover::None);
    }

    #[test]
    fn internal_topics_are_apart() {
        let check = |asked: &str, by: &str, expected: Cover| {
            assert_eq!(answer(asked, &[by]), expected, "{asked} {by}");
        };
        check("$SYS/#", "#", Cover::None);
        check("$SYS", "+", Cover::None);
        check("$SYS/a", "+/a", Cover::None);
        check("#", "$SYS/#", Cover::None);
        check("+/a", "$SYS/a", Cover::None);
        check("$SYS/+", "$SYS/#", Cover::All);
        check("a/$SYS", "a/+", Cover::All);
        check("$queue/x", "#", Cover::None);
        check("$share/g/$share/h/x", "#", Cover::None);
        check("$share/g/x", "x", Cover::All);
        check("$share/g/#", "$share/h/a/#", part("x"));
    }

    #[test]
    fn unions_cover_by_length() {
        let check = |asked: &str, by: &[&str], expected: Cover| {
            assert_eq!(answer(asked, by), expected, "{asked} {by:?}");
        };
        check("a/#", &["a", "a/+/#"], Cover::All);
        check("a/#", &["a/+/+/#", "a/+", "a"], Cover::All);
        check("a/#", &["a", "a/+/+/#"], part("a/x"));
        check("a/#", &["a", "a/+", "a/+/+"], part("a/x/x/x"));
        check("#", &["+", "+/+", "+/+/#"], Cover::All);
        check("a/+", &["a/b", "a/c", "a/x", "a/xx"], part("a/xxx"));
        check("a/+/b", &["a/c/b", "+/d/b", "a/#"], Cover::All);
        check("a/#", &[], Cover::None);
        check("a", &[], Cover::None);
    }

    #[test]
    fn the_deepest_filters_are_covered() {
        let deep = ["+"; 127].join("/");
        let rest = [&deep, "#"].join("/");
        let longest = [&deep, "+"].join("/");
        assert_eq!(answer(&rest, &[&rest]), Cover::All);
        assert_eq!(answer(&rest, &["#"]), Cover::All);
        let beyond = answer(&rest, &[&deep, &longest]);
        assert_eq!(beyond, part(&["x"; 129].join("/")));
        assert_eq!(answer("#", &[&rest]), part("x"));
    }

    #[test]
    fn a_fresh_word_is_found_among_many() {
        let texts: Vec<_> =
            (1..100).map(|length| alloc::format!("a/{}", "x".repeat(length))).collect();
        let by: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(answer("a/+", &by), part(&alloc::format!("a/{}", "x".repeat(100))));
        let by: Vec<&str> = by.into_iter().filter(|text| text.len() != 9).collect();
        assert_eq!(answer("a/+", &by), part("a/xxxxxxx"));
    }
}
