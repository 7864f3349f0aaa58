//! The opened tables, under the numbers by which JavaScript knows them.
//!
//! A number names one table until it is closed. Nothing of a table crosses the border: a caller that
//! invents a number finds nothing, or a table that it could have asked for anyway.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;

use wardgate_engine::table::PolicyTable;

use crate::failure::Failure;
use crate::shared::shared;

type Tables = RefCell<Vec<Option<Rc<PolicyTable>>>>;

shared!(static TABLES: Tables = RefCell::new(Vec::new()));

/// Keeps a table and returns its number: the lowest that is free.
pub(crate) fn add(table: PolicyTable) -> Result<u32, Failure> {
    TABLES.with(|tables| {
        let mut tables = tables.borrow_mut();
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
    TABLES.with(|tables| {
        let mut tables = tables.borrow_mut();
        let slot = index(handle).and_then(|at| tables.get_mut(at)).filter(|slot| slot.is_some());
        *slot.ok_or_else(closed)? = Some(Rc::new(table));
        Ok(())
    })
}

/// Returns the table that `handle` names.
pub(crate) fn table(handle: u32) -> Result<Rc<PolicyTable>, Failure> {
    TABLES.with(|tables| {
        let tables = tables.borrow();
        index(handle).and_then(|at| tables.get(at)).cloned().flatten().ok_or_else(closed)
    })
}

/// Looks at the table that `handle` names, without keeping it alive: `look` must not call JavaScript,
/// which could close the table meanwhile. Returns nothing if there is no such table.
#[inline]
pub(crate) fn look<R>(handle: u32, look: impl FnOnce(&PolicyTable) -> R) -> Option<R> {
    TABLES.with(|tables| {
        let tables = tables.try_borrow().ok()?;
        tables.get(index(handle)?)?.as_deref().map(look)
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
