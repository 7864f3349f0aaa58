//! Memory of the module that a host requested, to write bytes into before a call.
//!
//! The module records its allocations, and reads no other memory: an address that a host invented
//! is an error.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::RefCell;
use std::ptr::NonNull;

use crate::failure::{Failure, Kind};
use crate::limits::MAX_BLOCKS;

/// A block of memory that belongs to the host until it is freed.
struct Block {
    // INVARIANT: made by `alloc_zeroed` with this layout, and not freed.
    start: NonNull<u8>,
    layout: Layout,
}

/// Returns the address of zeroed memory for `bytes`, at least one; `None` if memory is exhausted or
/// the host has [`MAX_BLOCKS`] blocks.
pub(crate) fn allocate(bytes: usize) -> Option<usize> {
    let layout = Layout::from_size_align(bytes.max(1), ALIGN).ok()?;
    BLOCKS.with_borrow_mut(|blocks| {
        if blocks.len() >= MAX_BLOCKS {
            return None;
        }
        // SAFETY: the layout has a size above zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        blocks.push(Block { start, layout });
        Some(start.expose_provenance().get())
    })
}

/// Frees the memory at `address`.
pub(crate) fn free(address: usize) -> Result<(), Failure> {
    BLOCKS.with_borrow_mut(|blocks| {
        let is_meant = |block: &Block| block.start.addr().get() == address;
        let at = blocks.iter().position(is_meant).ok_or_else(|| outside(address, 0))?;
        drop(blocks.swap_remove(at));
        Ok(())
    })
}

/// Calls `look` with the `length` bytes at `address`.
pub(crate) fn with<R>(
    (address, length): (usize, usize),
    look: impl FnOnce(&[u8]) -> R,
) -> Result<R, Failure> {
    if length == 0 {
        return Ok(look(&[]));
    }
    BLOCKS.with_borrow(|blocks| {
        let found = blocks.iter().find_map(|block| block.part(address, length));
        found.map(look).ok_or_else(|| outside(address, length))
    })
}

impl Block {
    /// Returns bytes of this block.
    fn part(&self, address: usize, length: usize) -> Option<&[u8]> {
        let skipped = address.checked_sub(self.start.addr().get())?;
        let end = skipped.checked_add(length)?;
        if end > self.layout.size() {
            return None;
        }
        // SAFETY: the block is that large, all of it was written (with zeros), and it lives as long
        // as `self`. The host writes there between calls only: there is one thread.
        let bytes = unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) };
        bytes.get(skipped..end)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout, and only this function frees it.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

#[cold]
fn outside(address: usize, length: usize) -> Failure {
    let message =
        format!("{length} bytes at address {address} are in no block that was handed out");
    Failure::new(Kind::Address, message)
}

/// The largest alignment that a number of the host needs.
const ALIGN: usize = 8;

thread_local! {
    static BLOCKS: RefCell<Vec<Block>> = const { RefCell::new(Vec::new()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_allocated_blocks_are_read() {
        let address = allocate(4).unwrap();
        assert_eq!(with((address, 4), <[u8]>::to_vec).unwrap(), [0; 4]);
        assert_eq!(with((address + 1, 3), <[u8]>::len).unwrap(), 3);
        for invalid in
            [(address + 1, 4), (address - 1, 2), (0, 1), (usize::MAX, 1), (address, usize::MAX)]
        {
            assert_eq!(with(invalid, <[u8]>::len).unwrap_err().kind, Kind::Address, "{invalid:?}");
        }
        assert_eq!(with((0, 0), <[u8]>::len).unwrap(), 0);
        assert!(free(address + 1).is_err());
        free(address).unwrap();
        assert!(free(address).is_err() && with((address, 4), <[u8]>::len).is_err());
    }

    #[test]
    fn blocks_are_counted() {
        let all: Vec<usize> = (0..MAX_BLOCKS).map(|_| allocate(0).unwrap()).collect();
        assert_eq!(allocate(1), None);
        all.into_iter().for_each(|address| free(address).unwrap());
        let address = allocate(1).unwrap();
        free(address).unwrap();
        assert_eq!(allocate(usize::MAX), None);
    }
}
