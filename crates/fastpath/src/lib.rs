//! Fast paths and frames: the decisions that are evaluated as far as possible when policies are
//! compiled.
//!
//! For one kind, version, scope and action a fast path lists the slots (paths into the request)
//! that any rule reads, the roles that any rule names, and the entries that decide. A host writes
//! the slots into a frame and calls the fast path. The answer is Allow, Deny or Unsure. Unsure
//! means that the general path decides: a doubt never becomes an answer.
//!
//! The crate is separate from the engine because the runtime module builds it for speed and the
//! rest for size. It works on words only: it has no policies, no requests and no programs.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod code;
mod columns;
mod decide;
mod frame;
pub mod layout;
mod record;
#[cfg(test)]
mod sample;
pub mod schema;
mod texts;
mod verdict;
mod verify;

pub use code::{NoPrograms, Programs, Truth};
pub use columns::{BATCH_COLUMNS, BATCH_ROWS, Batch, BatchAnswer, Columns};
pub use decide::{Answer, Selection};
pub use frame::{Frame, Slots, word};
pub use record::{Entry, FastPath, FastPathList, FastPaths, SlotRecord, SlotTest, Term};
pub use texts::Texts;
pub use verdict::{ALL_SCOPES, Searched, Verdict};
pub use verify::{Known, verify, verify_list};

/// Widens an index. On every supported target `usize` has at least 32 bits.
fn at(index: u32) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

/// Returns all ones if `condition` holds, else zero.
fn mask(condition: bool) -> u32 {
    0_u32.wrapping_sub(u32::from(condition))
}
