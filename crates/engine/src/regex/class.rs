//! Sets of code points.
//!
//! A set is made of inclusive ranges of code points as numbers, because a pattern may name
//! surrogates (`\x{D800}`), which no text contains.

use alloc::vec::Vec;

use crate::order;

/// The first and the last code point of a range.
pub type Range = (u32, u32);

/// The largest code point.
pub(super) const LAST: u32 = 0x10_FFFF;

/// A source of Unicode's character classes.
pub trait ClassSource {
    /// Returns the ranges of `\p{name}`, in any order.
    ///
    /// # Errors
    /// The name is unknown, or its table is missing.
    fn class(&self, name: &str) -> Result<Vec<Range>, Missing>;

    /// Appends to `folds` all code points that differ from one in `range` by case alone (simple
    /// folding); code points of `range` itself may be repeated.
    ///
    /// # Errors
    /// [`Missing::Table`] if this source has no table for it.
    fn folds(&self, range: Range, folds: &mut Vec<Range>) -> Result<(), Missing>;
}

/// The reason why a source has no class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The class does not exist.
    Name,
    /// The class may exist, but this source has no tables.
    Table,
}

/// The source without tables: it folds ASCII, and refuses unknown classes rather than guess.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ascii;

impl ClassSource for Ascii {
    fn class(&self, _name: &str) -> Result<Vec<Range>, Missing> {
        Err(Missing::Table)
    }

    fn folds(&self, range: Range, folds: &mut Vec<Range>) -> Result<(), Missing> {
        let (first, last) = range;
        let everything = first <= FIRST_FOLD && last >= LAST_FOLD;
        if last > 0x7F && first <= LAST_FOLD && !everything {
            return Err(Missing::Table);
        }
        shift(range, UPPER, |letter| letter.saturating_add(0x20), folds);
        shift(range, LOWER, |letter| letter.saturating_sub(0x20), folds);
        let holds = |letters: [char; 2]| {
            letters.iter().any(|&letter| (first..=last).contains(&u32::from(letter)))
        };
        // The Kelvin sign and the long s are the only ones outside ASCII that fold into it.
        folds.extend(holds(['k', 'K']).then_some((0x212A, 0x212A)));
        folds.extend(holds(['s', 'S']).then_some((0x17F, 0x17F)));
        Ok(())
    }
}

/// Adds the part of `range` that is in `letters`, moved by `to`.
fn shift(range: Range, letters: Range, to: impl Fn(u32) -> u32, folds: &mut Vec<Range>) {
    let (first, last) = (range.0.max(letters.0), range.1.min(letters.1));
    if first <= last {
        folds.push((to(first), to(last)));
    }
}

/// A set under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    ranges: Vec<Range>,
}

impl Class {
    pub(super) fn add(&mut self, range: Range) {
        self.ranges.push(range);
    }

    pub(super) fn extend(&mut self, ranges: &[Range]) {
        self.ranges.extend_from_slice(ranges);
    }

    /// Adds all code points that differ from a member by case alone.
    pub(super) fn fold(&mut self, source: &dyn ClassSource) -> Result<(), Missing> {
        let mut folds = Vec::new();
        for &range in &self.ranges {
            source.folds(range, &mut folds)?;
        }
        self.ranges.append(&mut folds);
        Ok(())
    }

    /// Returns the set of all other code points.
    pub(super) fn negated(self) -> Self {
        let mut ranges = Vec::new();
        let mut next = 0;
        for (first, last) in self.into_ranges() {
            ranges.extend(first.checked_sub(1).filter(|&end| next <= end).map(|end| (next, end)));
            next = last.saturating_add(1);
        }
        ranges.extend((next <= LAST).then_some((next, LAST)));
        Self { ranges }
    }

    /// Returns the ranges in ascending order, none touching the next.
    pub(super) fn into_ranges(mut self) -> Vec<Range> {
        order::sort_by(&mut self.ranges, Ord::cmp);
        let mut merged: Vec<Range> = Vec::new();
        for (first, last) in self.ranges {
            match merged.last_mut() {
                Some(open) if first <= open.1.saturating_add(1) => open.1 = open.1.max(last),
                _ => merged.push((first, last)),
            }
        }
        merged
    }
}

/// Returns the ranges of `\d`, `\s` or `\w`, in lower case.
pub(super) fn perl(letter: char) -> Option<&'static [Range]> {
    match letter {
        'd' => posix("digit"),
        's' => Some(&[(0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)]),
        'w' => posix("word"),
        _ => None,
    }
}

/// Returns the ranges of `[:name:]`.
pub(super) fn posix(name: &str) -> Option<&'static [Range]> {
    Some(match name {
        "alnum" => &[DIGIT, UPPER, LOWER],
        "alpha" => &[UPPER, LOWER],
        "ascii" => &[(0, 0x7F)],
        "blank" => &[(0x09, 0x09), (0x20, 0x20)],
        "cntrl" => &[(0, 0x1F), (0x7F, 0x7F)],
        "digit" => &[DIGIT],
        "graph" => &[(0x21, 0x7E)],
        "lower" => &[LOWER],
        "print" => &[(0x20, 0x7E)],
        "punct" => &[(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
        "space" => &[(0x09, 0x0D), (0x20, 0x20)],
        "upper" => &[UPPER],
        "word" => &[DIGIT, UPPER, (0x5F, 0x5F), LOWER],
        "xdigit" => &[DIGIT, (0x41, 0x46), (0x61, 0x66)],
        _ => return None,
    })
}

const DIGIT: Range = (0x30, 0x39);
const UPPER: Range = (0x41, 0x5A);
const LOWER: Range = (0x61, 0x7A);

/// No code point before this one has a case, and none after [`LAST_FOLD`].
const FIRST_FOLD: u32 = 0x41;
const LAST_FOLD: u32 = 0x1_E943;
