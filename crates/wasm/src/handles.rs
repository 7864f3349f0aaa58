//! The opened tables, under the numbers by which JavaScript knows them.
//!
//! A number names one table until it is closed. Nothing of a table crosses the border: a caller that
//! invents a number finds nothing, or a table that it could have asked for anyway.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;

use wardgate_engine::table::PolicyTable;

use crate::failure::Failure;

type Tables = RefCell<Vec<Option<Rc<PolicyTable>>>>;

#[cfg(target_arch = "wasm32")]
fn with<R>(work: impl FnOnce(&Tables) -> R) -> R {
    struct OneThread(Tables);
    // SAFETY: the module is built without the `atomics` feature, so it has one thread.
    unsafe impl Sync for OneThread {}
    static TABLES: OneThread = OneThread(RefCell::new(Vec::new()));
    work(&TABLES.0)
}

#[cfg(not(target_arch = "wasm32"))]
fn with<R>(work: impl FnOnce(&Tables) -> R) -> R {
    std::thread_local!(static TABLES: Tables = const { RefCell::new(Vec::new()) });
    TABLES.with(work)
}

/// Keeps a table and returns its number: the lowest that is free.
pub(crate) fn add(table: PolicyTable) -> Result<u32, Failure> {
    with(|tables| {
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
    with(|tables| {
        let mut tables = tables.borrow_mut();
        let slot = index(handle).and_then(|at| tables.get_mut(at)).filter(|slot| slot.is_some());
        *slot.ok_or_else(closed)? = Some(Rc::new(table));
        Ok(())
    })
}

/// Returns the table that `handle` names.
pub(crate) fn table(handle: u32) -> Result<Rc<PolicyTable>, Failure> {
    with(|tables| {
        let tables = tables.borrow();
        index(handle).and_then(|at| tables.get(at)).cloned().flatten().ok_or_else(closed)
    })
}

/// Forgets the table that `handle` names.
pub(crate) fn remove(handle: u32) {
    with(|tables| {
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
