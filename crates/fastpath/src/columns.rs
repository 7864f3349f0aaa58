//! Deciding about many rows at once, for one principal and one action.
//!
//! The slots that differ from row to row stand in columns, the others in a frame. Entries are tried in
//! their order as for one request, but each for all rows: a set of rows takes the place of a truth.
//! The answers are those of [`FastPath::decide_all`], row by row, Unsure included. A fast path that runs
//! programs, or that goes by class, is not columnar: its rows have to be asked one by one.

mod lanes;
mod run;
mod set;
mod straight;

use wardgate_simd::Backend;

use self::lanes::Lanes;
use self::run::{Run, Task};
use self::set::{BLOCKS, Set, Truths};
use crate::frame::Frame;
use crate::layout::{self, ALLOW, BY_CLASS, DENY, MAX_CLASSES, NEGATE, PROGRAMS};
use crate::record::{Entry, FastPath};

/// Rows of one batch.
pub const BATCH_ROWS: usize = 1024;

/// Slots of one batch that may differ from row to row.
pub const BATCH_COLUMNS: usize = 16;

/// The columns of a batch and its answers. In the runtime module it lies where JavaScript writes it.
///
/// The vector operations read whole blocks of 64 rows; what stands behind the last row does not matter.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Columns {
    /// A column of words for each varying slot, in the order of the slots.
    pub words: [[u32; BATCH_ROWS]; BATCH_COLUMNS],
    /// The numbers of those cells whose word is [`NUMBER`](crate::word::NUMBER).
    pub numbers: [[f64; BATCH_ROWS]; BATCH_COLUMNS],
    /// The rows that are allowed: a bit for each, the first row in the lowest bit.
    pub allowed: [u64; BLOCKS],
    /// The rows about which the general path must be asked. None of them is in `allowed`.
    pub unsure: [u64; BLOCKS],
}

/// What one call decides about.
#[derive(Debug)]
pub struct Batch<'a> {
    /// The slots that are the same in all rows.
    pub frame: &'a Frame,
    /// The slots that are not: bit `i` for slot `i`.
    pub varying: u32,
    /// The number of rows.
    pub rows: usize,
    /// The other slots, and where the answers go.
    pub columns: &'a mut Columns,
}

/// How far a batch came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchAnswer {
    /// Every row is decided.
    Decided,
    /// Some rows are Unsure.
    SomeUnsure,
    /// Nothing is decided, and nothing written: the rows have to be asked one by one.
    NotColumnar,
}

impl FastPath<'_> {
    /// Decides about the rows of a batch with the fastest back end that needs no question.
    ///
    /// `roles` unites the masks of the principal's roles, as for [`FastPath::decide`].
    // Inlined into a caller that is built for size, it would be built for size too.
    #[inline(never)]
    pub fn decide_columns(&self, roles: u32, batch: Batch<'_>) -> BatchAnswer {
        self.decide_columns_with(wardgate_simd::best(), roles, batch)
    }

    /// Decides about the rows of a batch with this back end.
    pub fn decide_columns_with<B: Backend>(
        &self,
        backend: B,
        roles: u32,
        batch: Batch<'_>,
    ) -> BatchAnswer {
        if self.flags() & (PROGRAMS | BY_CLASS) != 0 || !batch.fits() {
            return BatchAnswer::NotColumnar;
        }
        let Columns { words, numbers, allowed, unsure } = batch.columns;
        let (frame, varying, rows) = (batch.frame, batch.varying, batch.rows);
        let lanes = Lanes { backend, frame, varying, words, numbers, rows };
        if straight::decide(self, &lanes, roles, allowed).is_some() {
            unsure.iter_mut().for_each(|word| *word = 0);
            return BatchAnswer::Decided;
        }
        // Most principals have few roles, and clearing the places of many takes longer than deciding.
        let answers = match roles.count_ones() {
            0 | 1 => self.decide_rows(lanes, roles, &mut [Class::NONE; 1]),
            2..=4 => self.decide_rows(lanes, roles, &mut [Class::NONE; 4]),
            _ => self.decide_rows(lanes, roles, &mut [Class::NONE; MAX_CLASSES]),
        };
        let Some((yes, doubt)) = answers else { return BatchAnswer::NotColumnar };
        (*allowed, *unsure) = (yes.0, doubt.0);
        if doubt.is_empty() { BatchAnswer::Decided } else { BatchAnswer::SomeUnsure }
    }

    /// Returns the rows that are allowed and those that are Unsure.
    fn decide_rows<B: Backend>(
        &self,
        lanes: Lanes<'_, B>,
        roles: u32,
        classes: &mut [Class],
    ) -> Option<(Set, Set)> {
        let mut tally = Tally::new(classes, roles, lanes.rows);
        let mut evaluator = Evaluator { fast_path: *self, lanes, run: None };
        for entry in self.entries() {
            if entry[0] & !NEGATE & 0xff == layout::SCOPE_END {
                tally.end_scope(entry[1] != 0);
                continue;
            }
            let asked = tally.live(entry[2]);
            if !asked.is_empty() {
                let truths = evaluator.truths(entry, asked, &mut tally.unsure)?;
                tally.note(entry, &truths);
            }
        }
        Some(tally.answers())
    }
}

impl Batch<'_> {
    fn fits(&self) -> bool {
        self.rows <= BATCH_ROWS && crate::at(self.varying.count_ones()) <= BATCH_COLUMNS
    }
}

impl Columns {
    /// Columns in which every cell is missing. They are large: keep them off the stack.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            words: [[0; BATCH_ROWS]; BATCH_COLUMNS],
            numbers: [[0.0; BATCH_ROWS]; BATCH_COLUMNS],
            allowed: [0; BLOCKS],
            unsure: [0; BLOCKS],
        }
    }
}

impl Default for Columns {
    fn default() -> Self {
        Self::new()
    }
}

/// What an entry comes to in all rows.
struct Evaluator<'a, B> {
    fast_path: FastPath<'a>,
    lanes: Lanes<'a, B>,
    /// Made by the first entry that needs code.
    run: Option<Run>,
}

impl<B: Backend> Evaluator<'_, B> {
    /// Returns the truths of an entry, good in the rows that are asked about.
    ///
    /// What has a memo number is evaluated anew: to remember it for all rows costs as much.
    fn truths(
        &mut self,
        [head, operand, _]: &Entry,
        asked: Set,
        unsure: &mut Set,
    ) -> Option<Truths> {
        let [op, a, b, _] = head.to_le_bytes().map(u32::from);
        let truths = match op & !NEGATE {
            layout::EQUAL_CONST => self.lanes.equal_const(a, *operand),
            layout::EQUAL_SLOT => {
                let mut unknown = Set::NONE;
                let truths = self.lanes.equal_slots(a, b, &mut unknown);
                unsure.add(unknown & asked);
                truths
            }
            layout::CODE => {
                let (fast_path, lanes) = (self.fast_path, &self.lanes);
                let task = Task { fast_path, lanes, start: *operand, rows: asked };
                self.run.get_or_insert_with(Run::new).code(&task, unsure)?
            }
            _ => return None,
        };
        Some(if op & NEGATE == 0 { truths } else { truths.inverted() })
    }
}

/// What the entries came to so far, in each row.
struct Tally<'a> {
    /// The classes of the principal.
    classes: &'a mut [Class],
    /// Allowed in an earlier scope.
    done: Set,
    failed: Set,
    unsure: Set,
}

/// One class of roles: the rows that it still decides about, and those that it allows.
#[derive(Clone, Copy)]
struct Class {
    bit: u32,
    live: Set,
    allowed: Set,
}

impl<'a> Tally<'a> {
    fn new(classes: &'a mut [Class], roles: u32, rows: usize) -> Self {
        let live = Set::first(rows);
        let mut left = roles;
        for class in classes.iter_mut() {
            // The lowest role that is left, or none: such a class meets no entry.
            *class = Class { bit: left & left.wrapping_neg(), live, allowed: Set::NONE };
            left &= left.wrapping_sub(1);
        }
        Self { classes, done: Set::NONE, failed: Set::NONE, unsure: Set::NONE }
    }

    /// Returns the rows about which a class with one of these roles still decides.
    fn live(&self, roles: u32) -> Set {
        let meets = |class: &&Class| class.bit & roles != 0;
        self.classes.iter().filter(meets).fold(Set::NONE, |live, class| live | class.live)
    }

    fn note(&mut self, [head, _, roles]: &Entry, truths: &Truths) {
        let all = |chosen| if chosen { u64::MAX } else { 0 };
        let (ending, allowing) = (all(head >> 24 == DENY), all(head >> 24 == ALLOW));
        for class in self.classes.iter_mut().filter(|class| class.bit & roles != 0) {
            // One pass, because each set is longer than the registers are.
            let state = class.live.0.iter_mut().zip(&mut class.allowed.0).zip(&mut self.failed.0);
            for (((live, allowed), failed), (low, high)) in state.zip(truths.words()) {
                let (yes, error) = (low & !high, high & !low);
                *failed |= error & *live;
                *live &= !(error | yes & ending);
                *allowed |= yes & allowing;
            }
        }
    }

    fn end_scope(&mut self, needs_consent: bool) {
        for class in self.classes.iter_mut() {
            if !needs_consent {
                self.done.add(class.allowed & class.live);
                class.live.remove(class.allowed);
            }
            class.allowed = Set::NONE;
        }
    }

    /// Returns the rows that are allowed and those that are Unsure.
    fn answers(&self) -> (Set, Set) {
        let here = |rows, class: &Class| rows | class.allowed & class.live;
        let allowed = self.classes.iter().fold(self.done, here);
        let unsure = self.unsure | allowed & self.failed;
        (allowed & !unsure, unsure)
    }
}

impl Class {
    const NONE: Self = Self { bit: 0, live: Set::NONE, allowed: Set::NONE };
}

#[cfg(test)]
mod tests;
