//! Programs as words, which can be stored in a policy table and run without a copy.
//!
//! The words are: the numbers of instructions, groups (the whole match is one) and class words; the
//! instructions; the classes; and for each capturing group the length of its name in bytes and the
//! name, four bytes to a word. An instruction is one word, the operation in the top byte.
//!
//! [`Program::view`] accepts any words: a number out of bounds reads as an instruction that never
//! matches, and a search visits an instruction at most once for each position in the text, so no
//! words can make it panic or run on. [`Program::validate`] refuses such words.

use alloc::string::String;
use alloc::vec::Vec;

use super::code::Draft;
use super::parse::Parsed;
use super::search::Look;
use crate::limits::MAX_REGEX_INSTRUCTIONS;

/// A read-only view of a compiled pattern.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    code: &'a [u32],
    classes: &'a [u32],
    names: &'a [u32],
    groups: u32,
}

/// The words are not a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidProgram;

/// One instruction, with the numbers of its successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Match,
    /// Reads one code point.
    Read(Set<'a>),
    Assert(u32),
    Save(usize),
    Jump(usize),
    Split {
        first: usize,
        second: usize,
    },
}

/// The characters that an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set<'a> {
    One(u32),
    Ranges(&'a [u32]),
    Any,
    NotNewline,
}

impl<'a> Program<'a> {
    /// Returns the program in `words`. Words that were never validated may match no text.
    #[must_use]
    pub fn view(words: &'a [u32]) -> Self {
        Self::sections(words).unwrap_or(Self { code: &[], classes: &[], names: &[], groups: 1 })
    }

    /// Returns the program in `words` after proving that every number in it is in range.
    ///
    /// # Errors
    /// A number is out of range.
    pub fn validate(words: &'a [u32]) -> Result<Self, InvalidProgram> {
        let program = Self::sections(words).ok_or(InvalidProgram)?;
        let names = program.names().count();
        let sound = program.groups >= 1
            && index(program.groups) == names.saturating_add(1)
            && program.names_end() == Some(program.names.len())
            && (0..program.code.len()).all(|at| program.is_sound(at));
        if sound { Ok(program) } else { Err(InvalidProgram) }
    }

    fn sections(words: &'a [u32]) -> Option<Self> {
        let (&[code, groups, classes], rest) = words.split_first_chunk::<HEADER>()?;
        let code = rest.split_at_checked(index(code))?;
        let classes = code.1.split_at_checked(index(classes))?;
        let short = (1..=MAX_REGEX_INSTRUCTIONS).contains(&code.0.len());
        // Each group has at least one word of name, so a false number cannot claim much memory.
        let groups = groups.min(word(classes.1.len()).saturating_add(1));
        short.then_some(Self { code: code.0, classes: classes.0, names: classes.1, groups })
    }

    fn is_sound(&self, at: usize) -> bool {
        let inside = |to: usize| to < self.code.len();
        match self.step(at) {
            None => false,
            Some(Step::Match) => true,
            Some(Step::Jump(to)) => inside(to),
            Some(Step::Split { first, second }) => inside(first) && inside(second),
            Some(Step::Assert(looks)) => looks & !Look::ALL == 0 && inside(at.saturating_add(1)),
            Some(Step::Save(slot)) => {
                slot.checked_div(2).is_some_and(|group| (1..self.groups()).contains(&group))
                    && inside(at.saturating_add(1))
            }
            Some(Step::Read(_)) => inside(at.saturating_add(1)),
        }
    }

    /// Returns the number of instructions.
    #[must_use]
    pub fn instructions(&self) -> usize {
        self.code.len()
    }

    /// Returns the number of groups of a match; group 0 is the whole match.
    #[must_use]
    pub fn groups(&self) -> usize {
        index(self.groups)
    }

    /// Returns the names of the groups from 1 on; a group without one has an empty name.
    pub fn names(&self) -> impl Iterator<Item = String> + use<'a> {
        let mut rest = self.names;
        let mut left = self.groups.saturating_sub(1);
        core::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let (len, name, after) = split_name(rest)?;
            rest = after;
            let bytes = name.iter().flat_map(|word| word.to_le_bytes()).take(len);
            Some(bytes.map(char::from).collect())
        })
    }

    /// Returns the number of the first group with the name `name`.
    #[must_use]
    pub fn group_named(&self, name: &str) -> Option<usize> {
        if name.is_empty() {
            return None;
        }
        self.names().position(|known| known == name).and_then(|at| at.checked_add(1))
    }

    fn names_end(&self) -> Option<usize> {
        let mut rest = self.names;
        for _ in 1..self.groups {
            rest = split_name(rest)?.2;
        }
        self.names.len().checked_sub(rest.len())
    }

    /// Returns instruction `at`.
    pub(super) fn step(&self, at: usize) -> Option<Step<'a>> {
        let word = *self.code.get(at)?;
        let argument = word & ARGUMENT;
        let next = at.saturating_add(1);
        Some(match word >> OPERATION {
            op::MATCH => Step::Match,
            op::CHAR => Step::Read(Set::One(argument)),
            op::CLASS => Step::Read(Set::Ranges(self.class(argument)?)),
            op::ANY => Step::Read(Set::Any),
            op::NOT_NEWLINE => Step::Read(Set::NotNewline),
            op::ASSERT => Step::Assert(argument),
            op::SAVE => Step::Save(index(argument)),
            op::JUMP => Step::Jump(index(argument)),
            op::NEXT_FIRST => Step::Split { first: next, second: index(argument) },
            op::TARGET_FIRST => Step::Split { first: index(argument), second: next },
            _ => return None,
        })
    }

    fn class(&self, at: u32) -> Option<&'a [u32]> {
        let (count, rest) = self.classes.get(index(at)..)?.split_first()?;
        rest.get(..index(*count).checked_mul(2)?)
    }
}

impl Set<'_> {
    pub(super) fn has(self, found: char) -> bool {
        let point = u32::from(found);
        match self {
            Self::One(wanted) => point == wanted,
            Self::Any => true,
            Self::NotNewline => found != '\n',
            Self::Ranges(words) => in_ranges(words, point),
        }
    }
}

/// Searches short lists one by one, because most classes of most patterns are short; long ones are
/// bisected.
fn in_ranges(words: &[u32], point: u32) -> bool {
    let (ranges, _) = words.as_chunks::<2>();
    let holds = |[first, last]: &[u32; 2]| (*first..=*last).contains(&point);
    if ranges.len() <= 4 {
        return ranges.iter().any(holds);
    }
    let at = ranges.partition_point(|[_, last]| *last < point);
    ranges.get(at).is_some_and(holds)
}

/// Splits the first name off: its length in bytes, its words, and the words after it.
fn split_name(words: &[u32]) -> Option<(usize, &[u32], &[u32])> {
    let (len, rest) = words.split_first()?;
    let (name, after) = rest.split_at_checked(index(*len).div_ceil(4))?;
    Some((index(*len), name, after))
}

/// Writes a parsed pattern as words.
pub(super) fn encode(parsed: &Parsed) -> Vec<u32> {
    let groups = parsed.names.len().saturating_add(1);
    let mut words = Vec::from([parsed.code.len(), groups, parsed.classes.len()].map(word));
    words.extend(parsed.code.iter().enumerate().map(|(at, draft)| instruction(at, *draft)));
    words.extend_from_slice(&parsed.classes);
    for name in &parsed.names {
        words.push(word(name.len()));
        words.extend(name.as_bytes().chunks(4).map(|bytes| {
            bytes.iter().rev().fold(0, |packed, byte| (packed << 8) | u32::from(*byte))
        }));
    }
    words
}

fn instruction(at: usize, draft: Draft) -> u32 {
    let (operation, argument) = match draft {
        Draft::Match => (op::MATCH, 0),
        Draft::Char(point) => (op::CHAR, point),
        Draft::Class(offset) => (op::CLASS, offset),
        Draft::Any => (op::ANY, 0),
        Draft::NotNewline => (op::NOT_NEWLINE, 0),
        Draft::Assert(looks) => (op::ASSERT, looks),
        Draft::Save(slot) => (op::SAVE, slot),
        Draft::Jump(by) => (op::JUMP, target(at, by)),
        Draft::Split { by, next_first: true } => (op::NEXT_FIRST, target(at, by)),
        Draft::Split { by, next_first: false } => (op::TARGET_FIRST, target(at, by)),
    };
    (operation << OPERATION) | (argument & ARGUMENT)
}

/// Returns the target of a jump. The parser bounds the code, so that every target fits.
fn target(at: usize, by: i64) -> u32 {
    let at = i64::try_from(at).unwrap_or(i64::MAX);
    u32::try_from(at.saturating_add(by)).unwrap_or(u32::MAX)
}

fn word(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn index(word: u32) -> usize {
    usize::try_from(word).unwrap_or(usize::MAX)
}

const HEADER: usize = 3;
const OPERATION: u32 = 24;
const ARGUMENT: u32 = (1 << OPERATION) - 1;

/// Operations; the numbers are part of the bundle format.
mod op {
    pub(super) const MATCH: u32 = 0;
    pub(super) const CHAR: u32 = 1;
    pub(super) const CLASS: u32 = 2;
    pub(super) const ANY: u32 = 3;
    pub(super) const NOT_NEWLINE: u32 = 4;
    pub(super) const ASSERT: u32 = 5;
    pub(super) const SAVE: u32 = 6;
    pub(super) const JUMP: u32 = 7;
    pub(super) const NEXT_FIRST: u32 = 8;
    pub(super) const TARGET_FIRST: u32 = 9;
}
