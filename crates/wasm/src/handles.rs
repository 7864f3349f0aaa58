//! The opened tables, under the numbers by which JavaScript knows them.
//!
//! A number names one table until it is closed. Nothing of a table crosses the border: a caller that
//! invents a number finds nothing, or a table that it could have asked for anyway.

use std::cell::RefCell;
use std::rc::Rc;

use wardgate_engine::table::PolicyTable;

use crate::failure::Failure;

thread_local! {
    static TABLES: RefCell<Vec<Option<Rc<PolicyTable>>>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a table and returns its number: the lowest that is free.
pub(crate) fn add(table: PolicyTable) -> Result<u32, Failure> {
    TABLES.with_borrow_mut(|tables| {
        let free = tables.iter().position(Option::is_none).unwrap_or(tables.len());
        let handle =
            u32::try_from(free).map_err(|_| Failure::Range("too many open bundles".into()))?;
        match tables.get_mut(free) {
            Some(slot) => *slot = Some(Rc::new(table)),
            None => tables.push(Some(Rc::new(table))),
        }
        Ok(handle)
    })
}

/// Puts `table` in the place of the one that `handle` names.
pub(crate) fn replace(handle: u32, table: PolicyTable) -> Result<(), Failure> {
    TABLES.with_borrow_mut(|tables| {
        let slot = index(handle).and_then(|at| tables.get_mut(at)).filter(|slot| slot.is_some());
        *slot.ok_or_else(closed)? = Some(Rc::new(table));
        Ok(())
    })
}

/// Returns the table that `handle` names.
pub(crate) fn table(handle: u32) -> Result<Rc<PolicyTable>, Failure> {
    TABLES.with_borrow(|tables| {
        index(handle).and_then(|at| tables.get(at)).cloned().flatten().ok_or_else(closed)
    })
}

/// Forgets the table that `handle` names.
pub(crate) fn remove(handle: u32) {
    TABLES.with_borrow_mut(|tables| {
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
