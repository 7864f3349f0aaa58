//! The search for a match without its position.
//!
//! The order of preference does not matter here, so the machine is a set of instructions that moves
//! through the text. For a program of up to [`SMALL`] instructions it is on the stack, and the
//! search allocates nothing.

use alloc::vec;
use core::str::Chars;

use super::program::{Program, Set, Step};
use super::steps::{OutOfSteps, pay};

/// A position between two characters of a text.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'t> {
    pub(super) at: usize,
    before: Option<char>,
    pub(super) next: Option<char>,
    /// The text behind `next`.
    rest: Chars<'t>,
}

/// The positions at which a match can begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// Only at the beginning of the text.
    Anchored,
    /// Only before this character.
    Before(char),
    /// Anywhere.
    Anywhere,
}

/// Conditions on a position, as bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look;

/// The state of one search: two lists of instructions that wait to read the next character, the
/// list of those still to be followed, and a bit for each that was ever on it at this position.
struct Lists<'l> {
    waiting: &'l mut [u16],
    passed: &'l mut [u16],
    open: &'l mut [u16],
    seen: &'l mut [u64],
    open_len: usize,
}

impl Program<'_> {
    /// Returns true if `text` contains a match, paying from `steps`.
    ///
    /// # Errors
    /// The steps are spent before the result is known.
    pub fn is_match(&self, text: &str, steps: &mut u32) -> Result<bool, OutOfSteps> {
        let len = self.instructions();
        if len <= SMALL {
            let (mut a, mut b, mut c) = ([0; SMALL], [0; SMALL], [0; SMALL]);
            let mut seen = [0; SMALL / 64];
            let mut lists = Lists::new(&mut a, &mut b, &mut c, &mut seen);
            return lists.search(*self, text, steps);
        }
        pay(steps, len / 16)?;
        let (mut a, mut b, mut c) = (vec![0; len], vec![0; len], vec![0; len]);
        let mut seen = vec![0; len.div_ceil(64)];
        Lists::new(&mut a, &mut b, &mut c, &mut seen).search(*self, text, steps)
    }

    /// Returns the positions at which a match can begin.
    pub(super) fn start(&self) -> Start {
        let mut at = 0;
        while let Some(Step::Save(_)) = self.step(at) {
            at += 1;
        }
        match self.step(at) {
            Some(Step::Assert(looks)) if looks & Look::TEXT_START != 0 => Start::Anchored,
            Some(Step::Read(Set::One(point))) => {
                char::from_u32(point).map_or(Start::Anywhere, Start::Before)
            }
            _ => Start::Anywhere,
        }
    }
}

impl<'l> Lists<'l> {
    fn new(
        waiting: &'l mut [u16],
        passed: &'l mut [u16],
        open: &'l mut [u16],
        seen: &'l mut [u64],
    ) -> Self {
        Self { waiting, passed, open, seen, open_len: 0 }
    }

    fn search(
        &mut self,
        program: Program<'_>,
        text: &str,
        steps: &mut u32,
    ) -> Result<bool, OutOfSteps> {
        let start = program.start();
        let mut cursor = Cursor::new(text, 0);
        let mut count = 0;
        loop {
            if count == 0 && !cursor.reach(start, steps)? {
                return Ok(false);
            }
            self.seen.fill(0);
            if start != Start::Anchored || cursor.at == 0 {
                self.follow(0);
            }
            for nth in 0..count {
                self.follow(self.passed.get(nth).copied().map_or(usize::MAX, usize::from));
            }
            let Some(passed) = self.advance(program, &cursor, steps)? else {
                return Ok(true);
            };
            count = passed;
            core::mem::swap(&mut self.waiting, &mut self.passed);
            if !cursor.advance() {
                return Ok(false);
            }
        }
    }

    /// Follows all open instructions at `cursor`; returns the number of those that pass its next
    /// character, or `None` if there is a match.
    fn advance(
        &mut self,
        program: Program<'_>,
        cursor: &Cursor<'_>,
        steps: &mut u32,
    ) -> Result<Option<usize>, OutOfSteps> {
        let mut count: usize = 0;
        let mut cost = self.seen.len() / 16;
        while let Some(at) = self.pop() {
            cost = cost.saturating_add(1);
            match program.step(at) {
                Some(Step::Match) => return pay(steps, cost).map(|()| None),
                Some(Step::Jump(to)) => self.follow(to),
                Some(Step::Save(_)) => self.follow(at.saturating_add(1)),
                Some(Step::Assert(wanted)) if wanted & !cursor.looks() == 0 => {
                    self.follow(at.saturating_add(1));
                }
                Some(Step::Split { first, second }) => {
                    self.follow(first);
                    self.follow(second);
                }
                Some(Step::Read(set)) if cursor.next.is_some_and(|next| set.has(next)) => {
                    store(self.waiting, count, at.saturating_add(1));
                    count = count.saturating_add(1);
                }
                _ => {}
            }
        }
        pay(steps, cost)?;
        Ok(Some(count))
    }

    /// Adds instruction `at` to the open list, unless it was there before.
    fn follow(&mut self, at: usize) {
        let Some(word) = self.seen.get_mut(at / 64) else {
            return;
        };
        let bit = 1 << (at % 64);
        if *word & bit == 0 {
            *word |= bit;
            store(self.open, self.open_len, at);
            self.open_len = self.open_len.saturating_add(1);
        }
    }

    fn pop(&mut self) -> Option<usize> {
        self.open_len = self.open_len.checked_sub(1)?;
        self.open.get(self.open_len).copied().map(usize::from)
    }
}

/// Stores an instruction. The lists have an entry for every instruction, and each is stored at most
/// once.
fn store(list: &mut [u16], nth: usize, at: usize) {
    if let (Some(entry), Ok(at)) = (list.get_mut(nth), u16::try_from(at)) {
        *entry = at;
    }
}

impl<'t> Cursor<'t> {
    /// Returns the position before byte `at`, or the end of the text if `at` is not a position.
    pub(super) fn new(text: &'t str, at: usize) -> Self {
        let (before, rest) = text.split_at_checked(at).unwrap_or((text, ""));
        let mut rest = rest.chars();
        let next = rest.next();
        Self { at: before.len(), before: before.chars().next_back(), next, rest }
    }

    /// Moves over one character; returns true if there was one.
    pub(super) fn advance(&mut self) -> bool {
        let Some(next) = self.next else {
            return false;
        };
        self.before = Some(next);
        self.next = self.rest.next();
        self.at = self.at.saturating_add(next.len_utf8());
        true
    }

    /// Moves to the next position at which a match can begin, this one included; returns true if
    /// there is one.
    pub(super) fn reach(&mut self, start: Start, steps: &mut u32) -> Result<bool, OutOfSteps> {
        match start {
            Start::Anywhere => Ok(true),
            Start::Anchored => Ok(self.at == 0),
            Start::Before(wanted) if self.next == Some(wanted) => Ok(true),
            Start::Before(wanted) => self.skip_to(wanted, steps),
        }
    }

    fn skip_to(&mut self, wanted: char, steps: &mut u32) -> Result<bool, OutOfSteps> {
        let text = self.rest.as_str();
        let at = text.find(wanted).unwrap_or(text.len());
        let (skipped, rest) = text.split_at_checked(at).unwrap_or((text, ""));
        pay(steps, skipped.len() / 16)?;
        let passed = self.next.map_or(0, char::len_utf8).saturating_add(skipped.len());
        self.before = skipped.chars().next_back().or(self.next);
        self.at = self.at.saturating_add(passed);
        self.rest = rest.chars();
        self.next = self.rest.next();
        Ok(self.next.is_some())
    }

    /// Returns the conditions that hold here.
    pub(super) fn looks(&self) -> u32 {
        let side = |end: Option<char>, text: u32, line: u32| match end {
            None => text | line,
            Some('\n') => line,
            Some(_) => 0,
        };
        let edge = is_word(self.before) != is_word(self.next);
        side(self.before, Look::TEXT_START, Look::LINE_START)
            | side(self.next, Look::TEXT_END, Look::LINE_END)
            | if edge { Look::WORD_EDGE } else { Look::NOT_WORD_EDGE }
    }
}

fn is_word(side: Option<char>) -> bool {
    side.is_some_and(|found| found.is_ascii_alphanumeric() || found == '_')
}

impl Look {
    pub(super) const TEXT_START: u32 = 1;
    pub(super) const TEXT_END: u32 = 2;
    pub(super) const LINE_START: u32 = 4;
    pub(super) const LINE_END: u32 = 8;
    pub(super) const WORD_EDGE: u32 = 16;
    pub(super) const NOT_WORD_EDGE: u32 = 32;
    pub(super) const ALL: u32 = 63;
}

/// Instructions of the largest program that is run without allocation.
const SMALL: usize = 256;
