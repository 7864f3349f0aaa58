//! The open bundles of the plain calls, by the numbers that a host uses for them.
//!
//! A number names one bundle until it is closed. A host that invents a number gets an error, or a
//! bundle that it could have used anyway.

use std::cell::RefCell;

use wardgate_bundle::{Conditions, Terms};

use crate::failure::{Failure, Kind};
use crate::limits::MAX_HANDLES;
use crate::opened::Opened;

/// A bundle and the terms under which it and its successors are opened.
struct Entry {
    opened: Opened,
    terms: Terms,
}

/// The conditions that depend on the time of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Option<u64>,
    pub(crate) min_revision: u64,
}

/// Opens a bundle and returns its number: the lowest free one.
pub(crate) fn open(bundle: &[u8], terms: &[u8], moment: Moment) -> Result<i32, Failure> {
    let terms = Terms::read(terms)?;
    let opened = Opened::open(bundle, terms.trust(), &moment.conditions(&terms))?;
    HANDLES.with_borrow_mut(|entries| {
        let free = entries.iter().position(Option::is_none).unwrap_or(entries.len());
        let handle = i32::try_from(free).ok().filter(|_| free < MAX_HANDLES).ok_or_else(|| {
            Failure::new(Kind::Limit, format!("at most {MAX_HANDLES} bundles may be open"))
        })?;
        let entry = Some(Entry { opened, terms });
        match entries.get_mut(free) {
            Some(position) => *position = entry,
            None => entries.push(entry),
        }
        Ok(handle)
    })
}

/// Replaces a bundle by another one, under the same terms.
pub(crate) fn reload(handle: u32, bundle: &[u8], moment: Moment) -> Result<(), Failure> {
    HANDLES.with_borrow_mut(|entries| {
        let entry =
            index(handle).and_then(|at| entries.get_mut(at)?.as_mut()).ok_or_else(closed)?;
        let Entry { opened, terms } = entry;
        opened.reload(bundle, terms.trust(), &moment.conditions(terms))
    })
}

/// Closes a bundle.
pub(crate) fn close(handle: u32) -> Result<(), Failure> {
    HANDLES.with_borrow_mut(|entries| {
        let position = index(handle).and_then(|at| entries.get_mut(at)).ok_or_else(closed)?;
        position.take().map(drop).ok_or_else(closed)
    })
}

/// Calls `look` with a bundle.
#[inline]
pub(crate) fn with<R>(handle: u32, look: impl FnOnce(&Opened) -> R) -> Result<R, Failure> {
    HANDLES.with_borrow(|entries| {
        let entry = index(handle).and_then(|at| entries.get(at)?.as_ref());
        entry.map(|entry| look(&entry.opened)).ok_or_else(closed)
    })
}

impl Moment {
    fn conditions(self, terms: &Terms) -> Conditions<'_> {
        let Self { now, min_revision } = self;
        Conditions { now, min_revision, ..terms.conditions() }
    }
}

fn index(handle: u32) -> Option<usize> {
    usize::try_from(handle).ok()
}

#[cold]
fn closed() -> Failure {
    Failure::new(Kind::Handle, "no bundle is open under this handle")
}

thread_local! {
    static HANDLES: RefCell<Vec<Option<Entry>>> = const { RefCell::new(Vec::new()) };
}
