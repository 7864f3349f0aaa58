//! Footprints: the slots that a program may read, and the use of the time.
//!
//! A program without a footprint never runs on a frame: it depends on derived roles, reads more of
//! the request than fast paths carry, or reads too much of it.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;

use crate::cel::pool::{DEPENDS_ON_ROLES, Pool, Root};
use crate::cel::validate::instructions;
use crate::cel::{Function, Op};
use crate::limits::{MAX_FAST_PATH_SEGMENTS, MAX_VARIABLE_DEPTH};
use crate::table::at;
use wardgate_fastpath::layout::MAX_SLOTS;

/// The reads of a program.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    /// The offsets of the slots, sorted.
    pub slots: Vec<u32>,
    /// True if the program reads `now()`.
    pub reads_time: bool,
}

/// The footprints of the programs of a table, each computed once.
pub struct Footprints<'a> {
    pool: Pool<'a>,
    known: RefCell<Vec<Option<Known>>>,
}

type Known = Option<Rc<Footprint>>;

impl<'a> Footprints<'a> {
    /// Returns an empty set of footprints for the programs of `pool`.
    pub fn new(pool: Pool<'a>) -> Self {
        Self { pool, known: RefCell::default() }
    }

    /// Returns the footprint of a program and of the variables that it reads.
    pub fn of(&self, program: u32) -> Known {
        self.within(program, MAX_VARIABLE_DEPTH)
    }

    fn within(&self, program: u32, depth: u32) -> Known {
        if let Some(Some(known)) = self.known.borrow().get(at(program)) {
            return known.clone();
        }
        // A table may name any number, and a number without a program must have no entry.
        self.pool.program(program)?;
        let found = self.compute(program, depth).map(Rc::new);
        let mut known = self.known.borrow_mut();
        if known.len() <= at(program) {
            known.resize(at(program) + 1, None);
        }
        if let Some(position) = known.get_mut(at(program)) {
            *position = Some(found.clone());
        }
        found
    }

    fn compute(&self, program: u32, depth: u32) -> Option<Footprint> {
        let program = self.pool.program(program)?;
        let mut footprint = Footprint::default();
        if program.flags & DEPENDS_ON_ROLES != 0 {
            return None;
        }
        for found in instructions(program.code) {
            let found = found.ok()?;
            let id = found.words.first().copied().unwrap_or(u32::MAX);
            match found.op {
                Op::Slot | Op::HasSlot => footprint.add(id, &self.pool)?,
                Op::Variable | Op::HasVariable => {
                    let (program, _) = self.pool.variable(id)?;
                    let inner = self.within(program, depth.checked_sub(1)?)?;
                    footprint.reads_time |= inner.reads_time;
                    inner.slots.iter().try_for_each(|slot| footprint.add(*slot, &self.pool))?;
                }
                Op::Call => footprint.reads_time |= reads_time(id),
                _ => {}
            }
        }
        Some(footprint)
    }
}

impl Footprint {
    fn add(&mut self, slot: u32, pool: &Pool<'_>) -> Option<()> {
        if let Err(position) = self.slots.binary_search(&slot) {
            self.slots.insert(position, slot);
        }
        (self.slots.len() <= MAX_SLOTS && is_readable(slot, pool)).then_some(())
    }
}

/// Returns true if fast paths may read a slot: the frame holds ids, the kind, the roles, and values
/// below the attributes and the tokens of the auxiliary data, but no value below a string and never
/// all attributes as one value.
pub fn is_readable(slot: u32, pool: &Pool<'_>) -> bool {
    let Some([root, length, ..]) = pool.slots.get(at(slot)..) else { return false };
    match Root::from_code(*root) {
        Some(Root::PrincipalId | Root::PrincipalRoles | Root::ResourceKind | Root::ResourceId) => {
            *length == 0
        }
        Some(Root::PrincipalAttr | Root::ResourceAttr | Root::AuxDataJwt | Root::AuxDataJwts) => {
            (1..=MAX_FAST_PATH_SEGMENTS).contains(&at(*length))
        }
        _ => false,
    }
}

/// Returns true if a slot is all attributes of the principal or of the resource.
#[must_use]
pub fn is_all_attributes(slot: u32, pool: &Pool<'_>) -> bool {
    let Some([root, 0, ..]) = pool.slots.get(at(slot)..) else { return false };
    matches!(Root::from_code(*root), Some(Root::PrincipalAttr | Root::ResourceAttr))
}

fn reads_time(function: u32) -> bool {
    matches!(Function::from_id(function), Some(Function::Now | Function::TimeSince))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_without_a_program_has_no_entry() {
        let footprints = Footprints::new(Pool::default());
        assert!(footprints.of(u32::MAX).is_none());
        assert!(footprints.known.borrow().is_empty());
    }
}
