//! The allocator of the module: free lists of blocks whose sizes are powers of two.
//!
//! The general allocator of the standard library is 7 KB of code that every page would load. Here a
//! freed block waits in the list of its size and is handed out again before new memory is taken, so
//! what the module holds never exceeds what its calls needed at once, size by size: it does not grow
//! with the number of calls. Blocks are neither split nor merged.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::{memory_grow, memory_size};
use core::cell::UnsafeCell;
use core::ptr::{self, null_mut};

/// The memory of the module.
pub(crate) struct Heap(UnsafeCell<State>);

struct State {
    /// Per power of two the first free block; each free block starts with the address of the next.
    free: [*mut u8; CLASSES],
    /// The address where memory that was never handed out begins, and the end of it.
    next: usize,
    end: usize,
    /// Blocks that were ever handed out; it may wrap.
    count: u32,
}

// SAFETY: the module is built without the `atomics` feature, so it has one thread.
unsafe impl Sync for Heap {}

impl Heap {
    pub(crate) const fn new() -> Self {
        Self(UnsafeCell::new(State { free: [null_mut(); CLASSES], next: 0, end: 0, count: 0 }))
    }

    pub(crate) fn count(&self) -> u32 {
        // SAFETY: there is one thread, and nobody else looks at the state meanwhile.
        unsafe { (*self.0.get()).count }
    }
}

// SAFETY: a block is as large as its class says and is in one list or with one owner. Blocks are
// aligned to the smaller of their size and a page, and no layout here asks for more: a larger
// alignment is refused.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: there is one thread, and nothing below calls back into the allocator.
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
            // SAFETY: the block was just handed back, and the smallest class holds an address.
            unsafe { block.cast::<*mut u8>().write(*first) };
            *first = block;
        }
    }

    /// Takes a block of `size`, a power of two, from the memory never handed out.
    #[expect(clippy::as_conversions, reason = "an address is a number here")]
    fn fresh(&mut self, size: usize) -> *mut u8 {
        let align = size.min(PAGE);
        // What lies before the next aligned address is kept too, in pieces aligned to their size.
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

    /// Asks for at least `size` more bytes. `next` is on the border of a page here, or is the end of
    /// a page of which too little is left; memory only ever grows in whole pages.
    fn grow(&mut self, size: usize) -> bool {
        let pages = size.div_ceil(PAGE);
        let before = memory_grow::<0>(pages);
        if before == usize::MAX {
            return false;
        }
        if before * PAGE != self.end {
            // The first time, or another owner of the memory grew it in between.
            self.next = before * PAGE;
        }
        self.end = memory_size::<0>() * PAGE;
        true
    }
}

/// The power of two that holds `layout`.
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
