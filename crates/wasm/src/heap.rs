//! The allocator of the module: free lists of blocks whose sizes are powers of two.
//!
//! The general allocator of the standard library is 7 KB of code that every page would load. Here a
//! freed block waits in the list of its size and is reused before new memory is taken, so the
//! memory of the module never exceeds the most that its calls needed at once, size by size: it does
//! not grow with the number of calls. Blocks are neither split nor merged.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::{memory_grow, memory_size};
use core::cell::UnsafeCell;
use core::ptr::{self, null_mut};

/// The memory of the module.
pub(crate) struct Heap(UnsafeCell<State>);

struct State {
    /// The first free block of each power of two; each free block starts with the address of the
    /// next.
    free: [*mut u8; CLASSES],
    /// The address where unused memory begins, and its end.
    next: usize,
    end: usize,
    /// The number of allocations so far; it may wrap.
    count: u32,
}

// SAFETY: the module is built without the `atomics` feature, so it has one thread.
unsafe impl Sync for Heap {}

impl Heap {
    pub(crate) const fn new() -> Self {
        Self(UnsafeCell::new(State { free: [null_mut(); CLASSES], next: 0, end: 0, count: 0 }))
    }

    pub(crate) fn count(&self) -> u32 {
        // SAFETY: there is one thread, and no other reference to the state exists meanwhile.
        unsafe { (*self.0.get()).count }
    }
}

// SAFETY: a block is as large as its class and is in one list or with one owner. Blocks are aligned
// to the smaller of their size and a page, and every layout here needs at most that: a larger
// alignment is refused.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: there is one thread, and no function called below calls back into the allocator.
        let state = unsafe { &mut *self.0.get() };
        match class(layout) {
            Some(class) => state.take(class),
            None => null_mut(),
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`.
        let state = unsafe { &mut *self.0.get() };
        if let Some(class) = class(layout) {
            state.give(class, block);
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller vouches that `size`, rounded up to the alignment, does not overflow.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if class(wanted) == class(layout) {
            return block;
        }
        // SAFETY: the caller vouches for a size above zero.
        let moved = unsafe { self.alloc(wanted) };
        if !moved.is_null() {
            // SAFETY: both blocks are that large, and one is not the other.
            unsafe { ptr::copy_nonoverlapping(block, moved, layout.size().min(size)) };
            // SAFETY: the caller vouches that `block` was allocated with `layout`.
            unsafe { self.dealloc(block, layout) };
        }
        moved
    }
}

impl State {
    fn take(&mut self, class: usize) -> *mut u8 {
        self.count = self.count.wrapping_add(1);
        let Some(first) = self.free.get_mut(class) else { return null_mut() };
        let block = *first;
        if block.is_null() {
            return self.fresh(1 << class);
        }
        // SAFETY: a block in a list is owned by the list and starts with an address.
        *first = unsafe { block.cast::<*mut u8>().read() };
        block
    }

    fn give(&mut self, class: usize, block: *mut u8) {
        if let Some(first) = self.free.get_mut(class) {
            // SAFETY: the block was just freed, and the smallest class has room for an address.
            unsafe { block.cast::<*mut u8>().write(*first) };
            *first = block;
        }
    }

    /// Takes a block of `size`, a power of two, from the unused memory.
    #[expect(clippy::as_conversions, reason = "an address is a number here")]
    fn fresh(&mut self, size: usize) -> *mut u8 {
        let align = size.min(PAGE);
        // The memory before the next aligned address becomes free blocks, in pieces aligned to
        // their size.
        while self.next & (align - 1) != 0 {
            let piece = self.next.trailing_zeros();
            self.give(piece as usize, self.next as *mut u8);
            self.next += 1 << piece;
        }
        if self.end - self.next < size && !self.grow(size) {
            return null_mut();
        }
        let block = self.next;
        self.next += size;
        block as *mut u8
    }

    /// Requests at least `size` more bytes; returns true on success. `next` is on the border of a
    /// page here, or is the end of a page that is nearly full; memory grows in whole pages only.
    fn grow(&mut self, size: usize) -> bool {
        let pages = size.div_ceil(PAGE);
        let before = memory_grow::<0>(pages);
        if before == usize::MAX {
            return false;
        }
        if before * PAGE != self.end {
            // This is the first time, or another owner of the memory grew it in between.
            self.next = before * PAGE;
        }
        self.end = memory_size::<0>() * PAGE;
        true
    }
}

/// Returns the power of two that fits `layout`.
#[expect(clippy::as_conversions, reason = "a count of bits fits any integer")]
fn class(layout: Layout) -> Option<usize> {
    if layout.align() > PAGE {
        return None;
    }
    let size = layout.size().max(layout.align()).max(SMALLEST);
    Some(size.checked_next_power_of_two()?.trailing_zeros() as usize)
}

const SMALLEST: usize = 8;
const PAGE: usize = 65_536;
const CLASSES: usize = 32;
