//! The opened tables, under the numbers by which JavaScript knows them.
//!
//! A number names one table until it is closed. Nothing of a table crosses the border: a caller that
//! invents a number finds nothing, or a table that it could have asked for anyway.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;

use wardgate_engine::table::{PolicyTable, Section};
use wardgate_plan::Plans;

use crate::failure::Failure;
use crate::shared::shared;

type Tables = RefCell<Vec<Option<Opened>>>;

/// One table.
struct Opened {
    table: Rc<PolicyTable>,
    /// The plans of `table`, so that the fast path need not look for them.
    // INVARIANT: they lie in `table`, which never changes.
    plans: *const [u32],
}

impl Opened {
    fn new(table: PolicyTable) -> Self {
        let table = Rc::new(table);
        Self { plans: table.section(Section::Plans), table }
    }
}

shared!(static TABLES: Tables = RefCell::new(Vec::new()));

/// Keeps a table and returns its number: the lowest that is free.
pub(crate) fn add(table: PolicyTable) -> Result<u32, Failure> {
    TABLES.with(|tables| {
        let mut tables = tables.borrow_mut();
        let free = tables.iter().position(Option::is_none).unwrap_or(tables.len());
        let handle =
            u32::try_from(free).map_err(|_| Failure::Range("too many open bundles".into()))?;
        match tables.get_mut(free) {
            Some(slot) => *slot = Some(Opened::new(table)),
            None => tables.push(Some(Opened::new(table))),
        }
        Ok(handle)
    })
}

/// Puts `table` in the place of the one that `handle` names.
pub(crate) fn replace(handle: u32, table: PolicyTable) -> Result<(), Failure> {
    TABLES.with(|tables| {
        let mut tables = tables.borrow_mut();
        let slot = index(handle).and_then(|at| tables.get_mut(at)).filter(|slot| slot.is_some());
        *slot.ok_or_else(closed)? = Some(Opened::new(table));
        Ok(())
    })
}

/// Returns the table that `handle` names.
pub(crate) fn table(handle: u32) -> Result<Rc<PolicyTable>, Failure> {
    TABLES.with(|tables| {
        let tables = tables.borrow();
        let opened = index(handle).and_then(|at| tables.get(at)?.as_ref());
        opened.map(|opened| Rc::clone(&opened.table)).ok_or_else(closed)
    })
}

/// Looks at the table that `handle` names and at its plans, without taking part in owning it. Returns
/// nothing if there is no such table.
///
/// # Safety
///
/// `look` must not call JavaScript, nor this module: either could close the table meanwhile.
#[inline]
pub(crate) unsafe fn look<R>(
    handle: u32,
    look: impl FnOnce(&PolicyTable, Plans<'_>) -> R,
) -> Option<R> {
    TABLES.with(|tables| {
        // SAFETY: there is one thread, and by the contract nothing changes the tables meanwhile.
        let tables = unsafe { tables.try_borrow_unguarded() }.ok()?;
        let opened = tables.get(index(handle)?)?.as_ref()?;
        // SAFETY: they lie in the table, which lives as long as `opened`.
        let plans = unsafe { &*opened.plans };
        Some(look(&opened.table, Plans::new(plans)))
    })
}

/// Forgets the table that `handle` names.
pub(crate) fn remove(handle: u32) {
    TABLES.with(|tables| {
        let mut tables = tables.borrow_mut();
        if let Some(slot) = index(handle).and_then(|at| tables.get_mut(at)) {
            *slot = None;
        }
    });
}

fn index(handle: u32) -> Option<usize> {
    usize::try_from(handle).ok()
}

fn closed() -> Failure {
    Failure::Refused { code: "disposed", message: "this PDP is disposed".into() }
}
