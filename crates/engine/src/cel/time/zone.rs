//! Time zones: fixed offsets, and the rules of a zone as a constant of the policy table.
//!
//! The words of a zone constant, after its name and length:
//!
//! | words | meaning |
//! |---|---|
//! | 1 | `n`, the number of recorded changes |
//! | 1 | seconds east of UTC before the first change |
//! | 3 `n` | changes in order of time: moment, offset from then on |
//! | 1 | number of yearly changes that follow the last recorded one: 0 (none) or 2 |
//! | 5 each | month, week, weekday, second of that day, offset from then on |
//!
//! A moment is in seconds since the epoch (low word, high word). Week 5 is the last of a month and
//! weekday 0 is Sunday. The second of the day is signed and in the local time before the change.
//! Offsets are signed seconds. The yearly changes are the tail rule of the IANA data, so every year
//! up to 9999 is right without a table of it.

use super::civil::{Civil, day_of, days_in_month, weekday_of};
use crate::number::parse_int;

const CHANGE_WORDS: usize = 3;
const RULE_WORDS: usize = 5;
const SECONDS_PER_DAY: i64 = 86_400;

/// The offset from UTC, fixed or by rules.
#[derive(Clone, Copy, Debug)]
pub enum Zone<'a> {
    /// Seconds east of UTC.
    Fixed(i32),
    /// The words of a zone constant.
    Place(&'a [u32]),
}

/// The reason why a text is not a fixed offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneError {
    /// It has no colon: it is a time zone's name.
    Name,
    /// Hours or minutes are not numbers, or lead further away than 68 years.
    Range,
}

impl Zone<'_> {
    /// Reads `UTC` or an offset such as `-08:00` or `02:00`. As in cel-go, hours and minutes are
    /// any numbers, and `-` in front makes the minutes count westwards.
    ///
    /// # Errors
    ///
    /// The text is neither.
    pub fn parse(text: &str) -> Result<Self, ZoneError> {
        if matches!(text, "" | "UTC" | "Local") {
            return Ok(Self::Fixed(0));
        }
        let (hours, minutes) = text.split_once(':').ok_or(ZoneError::Name)?;
        let negative = text.starts_with('-');
        let seconds = parse_int(hours).zip(parse_int(minutes)).and_then(|(hours, minutes)| {
            let hours = hours.checked_mul(60)?;
            let east =
                if negative { hours.checked_sub(minutes) } else { hours.checked_add(minutes) };
            i32::try_from(east?.checked_mul(60)?).ok()
        });
        seconds.map(Self::Fixed).ok_or(ZoneError::Range)
    }

    /// Returns the offset at a moment, in seconds east of UTC.
    #[must_use]
    pub fn offset_at(&self, seconds: i64) -> i32 {
        match self {
            Self::Fixed(offset) => *offset,
            Self::Place(words) => place_offset(words, seconds).unwrap_or(0),
        }
    }

    /// Returns true if the words have the layout of this module.
    #[must_use]
    pub fn is_valid(words: &[u32]) -> bool {
        let Some(sections) = Sections::of(words) else { return false };
        let rules = sections.rules.chunks(RULE_WORDS);
        let mut previous = i64::MIN;
        sections.changes.chunks(CHANGE_WORDS).all(|change| {
            let time = change_time(change).unwrap_or(i64::MIN);
            let sorted = time > previous;
            previous = time;
            sorted
        }) && rules.map(Rule::of).all(|rule| rule.is_some())
    }
}

struct Sections<'a> {
    first: i32,
    changes: &'a [u32],
    rules: &'a [u32],
}

impl<'a> Sections<'a> {
    fn of(words: &'a [u32]) -> Option<Self> {
        let (count, rest) = words.split_first()?;
        let (first, rest) = rest.split_first()?;
        let count = usize::try_from(*count).ok()?.checked_mul(CHANGE_WORDS)?;
        let (changes, rest) = rest.split_at_checked(count)?;
        let (rule_count, rules) = rest.split_first()?;
        let expected = match rule_count {
            0 => 0,
            2 => 2 * RULE_WORDS,
            _ => return None,
        };
        (rules.len() == expected).then_some(Self { first: first.cast_signed(), changes, rules })
    }
}

/// A change that happens every year.
struct Rule {
    month: i64,
    week: i64,
    weekday: i64,
    second: i64,
    offset: i32,
}

impl Rule {
    fn of(words: &[u32]) -> Option<Self> {
        let [month, week, weekday, second, offset] = words else { return None };
        let valid = (1..=12).contains(month) && (1..=5).contains(week) && *weekday < 7;
        valid.then(|| Self {
            month: i64::from(*month),
            week: i64::from(*week),
            weekday: i64::from(*weekday),
            second: i64::from(second.cast_signed()),
            offset: offset.cast_signed(),
        })
    }

    /// Returns the moment of the change in `year`, if the offset until then was `before`.
    fn moment(&self, year: i64, before: i32) -> i64 {
        let first = day_of(year, self.month, 1);
        let to_weekday = (self.weekday - weekday_of(first)).rem_euclid(7);
        let mut day = to_weekday + (self.week - 1) * 7;
        if day >= days_in_month(year, self.month) {
            day -= 7;
        }
        (first + day)
            .saturating_mul(SECONDS_PER_DAY)
            .saturating_add(self.second)
            .saturating_sub(i64::from(before))
    }
}

fn place_offset(words: &[u32], seconds: i64) -> Option<i32> {
    let sections = Sections::of(words)?;
    let count = sections.changes.len() / CHANGE_WORDS;
    let change = |at: usize| sections.changes.get(at * CHANGE_WORDS..(at + 1) * CHANGE_WORDS);
    let passed = partition(count, |at| change(at).and_then(change_time) <= Some(seconds));
    if passed == count
        && let Some(offset) = yearly_offset(sections.rules, seconds)
    {
        return Some(offset);
    }
    match passed.checked_sub(1) {
        None => Some(sections.first),
        Some(last) => change(last)?.get(2).map(|offset| offset.cast_signed()),
    }
}

/// Returns the number of the `count` items with a property, which come first.
fn partition(count: usize, has: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if has(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

fn change_time(words: &[u32]) -> Option<i64> {
    let [low, high, _] = words else { return None };
    Some((u64::from(*low) | u64::from(*high) << 32).cast_signed())
}

/// Returns the offset after the last yearly change up to `seconds`; the neighbouring years matter
/// because the first moment of a year differs between zones.
fn yearly_offset(rules: &[u32], seconds: i64) -> Option<i32> {
    let (first, second) = rules.split_at_checked(RULE_WORDS)?;
    let (first, second) = (Rule::of(first)?, Rule::of(second)?);
    let year = Civil::from_seconds(seconds).year;
    (year - 1..=year + 1)
        .flat_map(|year| {
            [
                (first.moment(year, second.offset), first.offset),
                (second.moment(year, first.offset), second.offset),
            ]
        })
        .filter(|(moment, _)| *moment <= seconds)
        .max_by_key(|(moment, _)| *moment)
        .map(|(_, offset)| offset)
}
