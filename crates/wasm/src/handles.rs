//! The opened tables, by the numbers that JavaScript uses for them.
//!
//! A number names one table until it is closed. No part of a table crosses the border: a caller
//! that invents a number gets an error, or a table that it could have used anyway.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;

use wardgate_bundle as bundle;
use wardgate_bundle::{Header, KeyId, Terms};
use wardgate_engine::table::{PolicyTable, Section};
use wardgate_fastpath::FastPaths;

use crate::failure::{Failure, Result};
use crate::shared::shared;

type Tables = RefCell<Vec<Option<Opened>>>;

/// One opened table.
struct Opened {
    table: Rc<PolicyTable>,
    /// The fast paths of `table`, stored so that the fast path need not search for them.
    // INVARIANT: they are in `table`, which never changes.
    fast_paths: *const [u32],
    header: Header,
    signers: Vec<KeyId>,
    /// The offset of the rules of SPOCP in the bytes that were opened.
    rules: usize,
    terms: Rc<Terms>,
}

impl Opened {
    fn new(opened: bundle::Opened, terms: Rc<Terms>) -> Self {
        let bundle::Opened { table, header, signers, rules } = opened;
        let table = Rc::new(table);
        Self { fast_paths: table.section(Section::FastPaths), table, header, signers, rules, terms }
    }
}

shared!(static TABLES: Tables = RefCell::new(Vec::new()));

/// Returns the terms that `spec` encodes. Those of an open table are shared, so that keys are
/// prepared once.
pub(crate) fn terms(spec: &[u8]) -> Result<Rc<Terms>> {
    let shared = TABLES.with(|tables| {
        let tables = tables.borrow();
        let mut terms = tables.iter().flatten().map(|opened| &opened.terms);
        terms.find(|terms| terms.are(spec)).map(Rc::clone)
    });
    shared.map_or_else(|| Ok(Rc::new(Terms::read(spec)?)), Ok)
}

/// Stores a table and returns its number: the lowest free one.
pub(crate) fn add(opened: bundle::Opened, terms: Rc<Terms>) -> Result<u32> {
    TABLES.with(|tables| {
        let mut tables = tables.borrow_mut();
        let free = tables.iter().position(Option::is_none).unwrap_or(tables.len());
        let handle =
            u32::try_from(free).map_err(|_| Failure::Range("too many open bundles".into()))?;
        let opened = Some(Opened::new(opened, terms));
        match tables.get_mut(free) {
            Some(slot) => *slot = opened,
            None => tables.push(opened),
        }
        Ok(handle)
    })
}

/// Replaces the table of `handle`, under the same terms.
pub(crate) fn replace(handle: u32, opened: bundle::Opened) -> Result<()> {
    TABLES.with(|tables| {
        let mut tables = tables.borrow_mut();
        let slot = index(handle).and_then(|at| tables.get_mut(at)?.as_mut()).ok_or_else(closed)?;
        *slot = Opened::new(opened, Rc::clone(&slot.terms));
        Ok(())
    })
}

/// Returns the table of `handle`.
pub(crate) fn table(handle: u32) -> Result<Rc<PolicyTable>> {
    with(handle, |opened| Rc::clone(&opened.table))
}

/// Returns the terms under which the table of `handle` was opened.
pub(crate) fn terms_of(handle: u32) -> Result<Rc<Terms>> {
    with(handle, |opened| Rc::clone(&opened.terms))
}

/// Calls `read` with the header of the table of `handle` and the keys that signed it.
pub(crate) fn header<R>(handle: u32, read: impl FnOnce(&Header, &[KeyId]) -> R) -> Result<R> {
    with(handle, |opened| read(&opened.header, &opened.signers))
}

/// Returns the offset of the rules of SPOCP in the bytes from which `handle` was opened.
pub(crate) fn rules(handle: u32) -> Option<usize> {
    with(handle, |opened| opened.rules).ok()
}

fn with<R>(handle: u32, read: impl FnOnce(&Opened) -> R) -> Result<R> {
    TABLES.with(|tables| {
        let tables = tables.borrow();
        let opened = index(handle).and_then(|at| tables.get(at)?.as_ref());
        opened.map(read).ok_or_else(closed)
    })
}

/// Calls `look` with the table of `handle` and its fast paths, without sharing ownership. Returns
/// `None` if the handle is closed.
///
/// # Safety
///
/// `look` must not call JavaScript, nor this module: either could close the table meanwhile.
#[inline]
pub(crate) unsafe fn look<R>(
    handle: u32,
    look: impl FnOnce(&PolicyTable, FastPaths<'_>) -> R,
) -> Option<R> {
    TABLES.with(|tables| {
        // SAFETY: there is one thread, and by the contract the tables do not change meanwhile.
        let tables = unsafe { tables.try_borrow_unguarded() }.ok()?;
        let opened = tables.get(index(handle)?)?.as_ref()?;
        // SAFETY: they are in the table, which lives as long as `opened`.
        let fast_paths = unsafe { &*opened.fast_paths };
        Some(look(&opened.table, FastPaths::new(fast_paths)))
    })
}

/// Removes the table of `handle`.
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
