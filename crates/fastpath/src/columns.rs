//! Decisions for many rows at once, for one principal and one action.
//!
//! The slots that differ from row to row are in columns, the others in a frame. Entries are tried
//! in the same order as for one request, but each for all rows: a set of rows replaces a truth. The
//! answers are those of [`FastPath::decide_all`], row by row, Unsure included. A fast path that
//! runs programs or goes by class is not columnar: its rows are decided one by one.

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

/// The number of rows in one batch.
pub const BATCH_ROWS: usize = 1024;

/// The largest number of slots of one batch that may differ from row to row.
pub const BATCH_COLUMNS: usize = 16;

/// The columns of a batch and its answers. In the runtime module JavaScript writes them in place.
///
/// The vector operations read whole blocks of 64 rows; the cells behind the last row do not matter.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Columns {
    /// A column of words for each varying slot, in the order of the slots.
    pub words: [[u32; BATCH_ROWS]; BATCH_COLUMNS],
    /// The numbers of the cells whose word is [`NUMBER`](crate::word::NUMBER).
    pub numbers: [[f64; BATCH_ROWS]; BATCH_COLUMNS],
    /// The rows that are allowed: a bit for each, the first row in the lowest bit.
    pub allowed: [u64; BLOCKS],
    /// The rows to decide by the general path. None of them is in `allowed`.
    pub unsure: [u64; BLOCKS],
}

/// The input of one call: slots, rows and the columns that take the answers.
#[derive(Debug)]
pub struct Batch<'a> {
    /// The slots that are the same in all rows.
    pub frame: &'a Frame,
    /// The slots that differ from row to row: bit `i` for slot `i`.
    pub varying: u32,
    /// The number of rows.
    pub rows: usize,
    /// The varying slots, and the answers.
    pub columns: &'a mut Columns,
}

/// The result of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchAnswer {
    /// Every row is decided.
    Decided,
    /// Some rows are Unsure, the others are decided.
    SomeUnsure,
    /// No row is decided and no answer written: decide the rows one by one.
    NotColumnar,
}

impl FastPath<'_> {
    /// Decides the rows of a batch with the fastest back end that needs no detection at run time.
    ///
    /// `roles` unites the masks of the principal's roles, as for [`FastPath::decide`].
    // Without `inline(never)` it would be compiled for size inside a caller that is built for size.
    #[inline(never)]
    pub fn decide_columns(&self, roles: u32, batch: Batch<'_>) -> BatchAnswer {
        self.decide_columns_with(wardgate_simd::best(), roles, batch)
    }

    /// Decides the rows of a batch with the back end `B`.
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
        // Most principals have few roles, and clearing the entries of many classes takes longer
        // than deciding.
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
            let rows = tally.live(entry[2]);
            if !rows.is_empty() {
                let truths = evaluator.truths(entry, rows, &mut tally.unsure)?;
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
    /// Returns columns in which every cell is missing. They are large: keep them off the stack.
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

/// The evaluator of entries in all rows of one batch.
struct Evaluator<'a, B> {
    fast_path: FastPath<'a>,
    lanes: Lanes<'a, B>,
    /// Made by the first entry that needs code.
    run: Option<Run>,
}

impl<B: Backend> Evaluator<'_, B> {
    /// Returns the truths of an entry, valid in `rows`.
    ///
    /// A condition with a memo number is evaluated again: remembering it for all rows costs as
    /// much.
    fn truths(
        &mut self,
        [head, operand, _]: &Entry,
        rows: Set,
        unsure: &mut Set,
    ) -> Option<Truths> {
        let [op, a, b, _] = head.to_le_bytes().map(u32::from);
        let truths = match op & !NEGATE {
            layout::EQUAL_CONST => self.lanes.equal_const(a, *operand),
            layout::EQUAL_SLOT => {
                let mut unknown = Set::NONE;
                let truths = self.lanes.equal_slots(a, b, &mut unknown);
                unsure.add(unknown & rows);
                truths
            }
            layout::CODE => {
                let (code, lists) = self.fast_path.code_and_lists();
                let task = Task { code, lists, lanes: &self.lanes, start: *operand, rows };
                self.run.get_or_insert_with(Run::new).code(&task, unsure)?
            }
            _ => return None,
        };
        Some(if op & NEGATE == 0 { truths } else { truths.inverted() })
    }
}

/// The progress of each class of roles, in each row.
struct Tally<'a> {
    /// The classes of the principal.
    classes: &'a mut [Class],
    /// Rows allowed in an earlier scope.
    done: Set,
    failed: Set,
    unsure: Set,
}

/// One class of roles: the rows that it still decides, and those that it allows.
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
            // The lowest role that is left, or 0: a class of 0 meets no entry.
            *class = Class { bit: left & left.wrapping_neg(), live, allowed: Set::NONE };
            left &= left.wrapping_sub(1);
        }
        Self { classes, done: Set::NONE, failed: Set::NONE, unsure: Set::NONE }
    }

    /// Returns the rows that a class with one of these roles still decides.
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
