//! The range of a match, and of its groups.
//!
//! Threads are in order of preference, so that of all the matches that begin first the one found is
//! the one that Perl would find. Each thread owns a copy of its slots.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::program::{Program, Step};
use super::search::{Cursor, Start};
use super::steps::{OutOfSteps, pay};

/// A match: the bytes of the whole and of its groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captures {
    slots: Vec<Option<usize>>,
}

impl Captures {
    /// Returns the bytes of the whole match.
    #[must_use]
    pub fn whole(&self) -> Range<usize> {
        self.group(0).unwrap_or_default()
    }

    /// Returns the bytes of group `number`, if it took part in the match.
    #[must_use]
    pub fn group(&self, number: usize) -> Option<Range<usize>> {
        let at = number.checked_mul(2)?;
        let start = (*self.slots.get(at)?)?;
        let end = (*self.slots.get(at.checked_add(1)?)?)?;
        Some(start..end)
    }

    /// Returns the number of groups, the whole match included.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.slots.len() / 2
    }
}

/// All matches in a text, none overlapping another.
#[derive(Clone, Debug)]
pub struct Matches<'p, 't> {
    program: Program<'p>,
    text: &'t str,
    /// The offset at which to continue, until the text is exhausted.
    from: Option<usize>,
    last_end: Option<usize>,
}

impl<'p> Program<'p> {
    /// Returns the first match in `text`, with its groups.
    ///
    /// # Errors
    /// The steps are spent before the result is known.
    pub fn captures(&self, text: &str, steps: &mut u32) -> Result<Option<Captures>, OutOfSteps> {
        self.captures_at(text, 0, steps)
    }

    /// Returns the first match that begins at byte `from` or later; `^` and `\b` see the text
    /// before it.
    ///
    /// # Errors
    /// The steps are spent before the result is known.
    pub fn captures_at(
        &self,
        text: &str,
        from: usize,
        steps: &mut u32,
    ) -> Result<Option<Captures>, OutOfSteps> {
        let len = self.instructions();
        let slots = self.groups().saturating_mul(2);
        pay(steps, (len / 16).saturating_add(slots))?;
        let machine = Machine {
            program: *self,
            seen: vec![0; len.div_ceil(64)],
            tasks: Vec::new(),
            slots: vec![None; slots],
            next: Threads::default(),
            found: None,
        };
        machine.search(Cursor::new(text, from), steps)
    }

    /// Returns all the matches in `text`.
    #[must_use]
    pub fn matches<'t>(&self, text: &'t str) -> Matches<'p, 't> {
        Matches { program: *self, text, from: Some(0), last_end: None }
    }
}

impl Matches<'_, '_> {
    /// Returns the next match. An empty one right behind another match is skipped.
    ///
    /// # Errors
    /// The steps are spent before the result is known.
    pub fn next(&mut self, steps: &mut u32) -> Result<Option<Captures>, OutOfSteps> {
        while let Some(from) = self.from {
            let Some(found) = self.program.captures_at(self.text, from, steps)? else {
                break;
            };
            let Range { start, end } = found.whole();
            self.from = if end > from { Some(end) } else { self.after(from) };
            let repeated = end == from && self.last_end == Some(start);
            self.last_end = Some(end);
            if !repeated {
                return Ok(Some(found));
            }
        }
        self.from = None;
        Ok(None)
    }

    fn after(&self, from: usize) -> Option<usize> {
        let next = self.text.get(from..)?.chars().next()?;
        from.checked_add(next.len_utf8())
    }
}

struct Machine<'p> {
    program: Program<'p>,
    /// A bit for each instruction that was visited at this position.
    seen: Vec<u64>,
    tasks: Vec<Task>,
    /// The slots of the thread that is being followed.
    slots: Vec<Option<usize>>,
    next: Threads,
    found: Option<Vec<Option<usize>>>,
}

/// Threads that wait at one position, the preferred first.
#[derive(Default)]
struct Threads {
    at: Vec<usize>,
    slots: Vec<Option<usize>>,
}

enum Task {
    Visit(usize),
    Restore { slot: usize, old: Option<usize> },
}

impl Machine<'_> {
    fn search(
        mut self,
        mut cursor: Cursor<'_>,
        steps: &mut u32,
    ) -> Result<Option<Captures>, OutOfSteps> {
        let start = self.program.start();
        loop {
            let idle = self.next.at.is_empty();
            if idle && (self.found.is_some() || !cursor.reach(start, steps)?) {
                break;
            }
            pay(steps, self.seen.len() / 16)?;
            self.seen.fill(0);
            self.advance(&cursor, start != Start::Anchored || cursor.at == 0, steps)?;
            if !cursor.advance() {
                break;
            }
        }
        Ok(self.found.map(|slots| Captures { slots }))
    }

    /// Follows all threads that wait at `cursor`, then, unless a match is known, a new one.
    fn advance(
        &mut self,
        cursor: &Cursor<'_>,
        begin: bool,
        steps: &mut u32,
    ) -> Result<(), OutOfSteps> {
        let threads = core::mem::take(&mut self.next);
        let width = self.slots.len();
        for (at, slots) in threads.at.iter().zip(threads.slots.chunks_exact(width.max(1))) {
            self.slots.copy_from_slice(slots);
            if self.follow(*at, cursor, steps)? {
                return Ok(());
            }
        }
        if begin && self.found.is_none() {
            self.slots.fill(None);
            self.save(0, cursor.at);
            self.follow(0, cursor, steps)?;
        }
        Ok(())
    }

    /// Follows one thread to all instructions that it can reach at `cursor`; returns true if it
    /// matched, which ends all threads of lower preference.
    fn follow(
        &mut self,
        at: usize,
        cursor: &Cursor<'_>,
        steps: &mut u32,
    ) -> Result<bool, OutOfSteps> {
        self.tasks.clear();
        self.tasks.push(Task::Visit(at));
        while let Some(task) = self.tasks.pop() {
            pay(steps, 1)?;
            match task {
                Task::Restore { slot, old } => self.restore(slot, old),
                Task::Visit(at) if self.is_new(at) => {
                    if self.visit(at, cursor, steps)? {
                        return Ok(true);
                    }
                }
                Task::Visit(_) => {}
            }
        }
        Ok(false)
    }

    fn visit(
        &mut self,
        at: usize,
        cursor: &Cursor<'_>,
        steps: &mut u32,
    ) -> Result<bool, OutOfSteps> {
        let next = at.saturating_add(1);
        match self.program.step(at) {
            Some(Step::Match) => {
                self.save(1, cursor.at);
                self.found = Some(self.slots.clone());
                return Ok(true);
            }
            Some(Step::Jump(to)) => self.tasks.push(Task::Visit(to)),
            Some(Step::Save(slot)) => {
                let old = self.slots.get(slot).copied().flatten();
                self.tasks.extend([Task::Restore { slot, old }, Task::Visit(next)]);
                self.save(slot, cursor.at);
            }
            Some(Step::Assert(wanted)) if wanted & !cursor.looks() == 0 => {
                self.tasks.push(Task::Visit(next));
            }
            Some(Step::Split { first, second }) => {
                self.tasks.extend([Task::Visit(second), Task::Visit(first)]);
            }
            Some(Step::Read(set)) if cursor.next.is_some_and(|found| set.has(found)) => {
                // This bounds the memory of a pattern with many groups: there are as many positions
                // as there are groups, and each of them has all groups.
                let groups = self.slots.len();
                pay(steps, groups / 4 + groups.saturating_mul(groups) / 256)?;
                self.next.at.push(next);
                self.next.slots.extend_from_slice(&self.slots);
            }
            _ => {}
        }
        Ok(false)
    }

    fn is_new(&mut self, at: usize) -> bool {
        let Some(word) = self.seen.get_mut(at / 64) else {
            return false;
        };
        let bit = 1 << (at % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    fn save(&mut self, slot: usize, at: usize) {
        self.restore(slot, Some(at));
    }

    fn restore(&mut self, slot: usize, value: Option<usize>) {
        if let Some(entry) = self.slots.get_mut(slot) {
            *entry = value;
        }
    }
}
