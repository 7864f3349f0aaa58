//! Batches: many rows decided by one call, from columns that JavaScript writes.
//!
//! The block is allocated on first use, since most callers never need it, and is never freed.

use alloc::alloc::alloc_zeroed;
use core::alloc::Layout;
use core::cell::Cell;
use core::mem::offset_of;
use core::ptr::null_mut;

use wardgate_engine::table::PolicyTable;
use wardgate_fastpath::{Batch, BatchAnswer, Columns, FastPaths};

use crate::shared::shared;
use crate::{frame, handles};

// JavaScript uses these offsets in the block.
const _: () = assert!(
    offset_of!(Columns, numbers) == 65_536
        && offset_of!(Columns, allowed) == 196_608
        && offset_of!(Columns, unsure) == 196_736
);

shared!(static COLUMNS: Cell<*mut Columns> = Cell::new(null_mut()));

/// Returns the address of the block of columns, or 0 if memory is exhausted.
#[unsafe(no_mangle)]
extern "C" fn columns() -> *mut Columns {
    COLUMNS.with(|block| {
        if block.get().is_null() {
            // SAFETY: the size of the layout is not zero.
            block.set(unsafe { alloc_zeroed(Layout::new::<Columns>()) }.cast());
        }
        block.get()
    })
}

/// Decides the first `rows` rows by a fast path, for roles with these masks. The slots in `varying`
/// are in the columns, the others in the frame. Returns 0 when all rows are decided, 1 when some
/// are Unsure, and 2 when each row needs a call of its own.
#[unsafe(export_name = "decideColumns")]
extern "C" fn decide_columns(
    handle: u32,
    fast_path: u32,
    roles: u32,
    rows: u32,
    varying: u32,
) -> u32 {
    match decided(handle, (fast_path, roles), rows, varying) {
        Some(BatchAnswer::Decided) => 0,
        Some(BatchAnswer::SomeUnsure) => 1,
        Some(BatchAnswer::NotColumnar) | None => 2,
    }
}

fn decided(
    handle: u32,
    (fast_path, roles): (u32, u32),
    rows: u32,
    varying: u32,
) -> Option<BatchAnswer> {
    let rows = usize::try_from(rows).ok()?;
    // SAFETY: `columns` allocated it and never frees it, and all zeros are columns. No other
    // reference exists meanwhile: there is one thread, and no function called below calls
    // JavaScript.
    let columns = unsafe { COLUMNS.with(Cell::get).as_mut() }?;
    let decide = |_: &PolicyTable, fast_paths: FastPaths<'_>| {
        let fast_path = fast_paths.get(fast_path)?;
        // SAFETY: fast paths do not call JavaScript.
        unsafe {
            frame::with(|block| {
                let batch = Batch { frame: &block.frame, varying, rows, columns };
                Some(fast_path.decide_columns(roles, batch))
            })
        }
    };
    // SAFETY: as above; and `decide` opens and closes no table.
    unsafe { handles::look(handle, decide) }?
}
