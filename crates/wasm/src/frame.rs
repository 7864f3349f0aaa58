//! The frame: JavaScript writes requests into the memory of the module, and calls decide on them.
//!
//! These calls take and return numbers alone, so they are exported without glue. An answer is 0 for
//! Deny, 1 for Allow and 2 for Unsure; invalid input is Unsure, and the caller then takes the
//! general path. No function here calls JavaScript, so the block cannot change while a call reads
//! it.

use core::cell::UnsafeCell;
use core::mem::offset_of;

use alloc::string::String;

use wardgate_engine::fastpath::{Contents, Subject};
use wardgate_engine::table::PolicyTable;
use wardgate_engine::wire;
use wardgate_fastpath::layout::{FIRST_CLASS_WORD, FRAME_WORDS, MAX_REQUEST_CLASSES};
use wardgate_fastpath::{Answer, FastPaths, Frame, Verdict};

use crate::arena::Arena;
use crate::shared::shared;
use crate::{clock, handles};

/// The block that JavaScript writes before a call.
#[repr(C, align(64))]
pub(crate) struct Block {
    pub(crate) frame: Frame,
    /// For each slot the offset in the arena at which its text or value begins; 0 if it has none.
    spans: [u32; FRAME_WORDS],
    arena: [u8; ARENA_BYTES],
}

// JavaScript uses these offsets in the block.
const _: () = assert!(
    offset_of!(Frame, numbers) == 256
        && offset_of!(Block, spans) == 768
        && offset_of!(Block, arena) == 1024
);

/// The bytes for the texts and values of one request; a longer request takes the general path.
const ARENA_BYTES: usize = 65_536;

shared!(
    static BLOCK: UnsafeCell<Block> = UnsafeCell::new(Block {
        frame: Frame::new(),
        spans: [0; FRAME_WORDS],
        arena: [0; ARENA_BYTES],
    })
);

/// Returns the address of the block.
#[unsafe(no_mangle)]
extern "C" fn frame() -> *mut Block {
    BLOCK.with(UnsafeCell::get)
}

/// Decides by a fast path that runs no programs, for roles with these masks.
#[unsafe(no_mangle)]
extern "C" fn decide(handle: u32, fast_path: u32, roles: u32) -> u32 {
    ask(handle, |_, fast_paths, block| Some(fast_paths.decide(fast_path, roles, &block.frame)))
}

/// Decides by a fast path that runs programs. `used` is the number of filled bytes of the arena,
/// and `now` the time in milliseconds since 1970.
#[unsafe(export_name = "decideValues")]
extern "C" fn decide_values(handle: u32, fast_path: u32, roles: u32, used: u32, now: f64) -> u32 {
    ask(handle, |table, _, block| {
        let arena = block.arena(used)?;
        let now = clock::timestamp(now).ok()?;
        Some(table.decide_with(fast_path, roles, (&block.frame, &arena), now))
    })
}

/// Decides by a fast path by class. The classes of the principal's roles, `count` of them, are in
/// the words behind those of the slots.
#[unsafe(export_name = "decideClasses")]
extern "C" fn decide_classes(handle: u32, fast_path: u32, count: u32, used: u32, now: f64) -> u32 {
    ask(handle, |table, _, block| {
        let arena = block.arena(used)?;
        let now = clock::timestamp(now).ok()?;
        let classes = block.masks(count)?;
        Some(table.decide_classes_with(fast_path, classes, (&block.frame, &arena), now))
    })
}

/// Decides by a fast path, for `count` roles whose masks are in the words behind those of the slots,
/// in the order of the roles: where one role is allowed and another fails.
#[unsafe(export_name = "decideInOrder")]
extern "C" fn decide_in_order(handle: u32, fast_path: u32, count: u32, used: u32, now: f64) -> u32 {
    ask(handle, |table, _, block| {
        let arena = block.arena(used)?;
        let now = clock::timestamp(now).ok()?;
        let contents: (&Frame, &dyn Contents) = (&block.frame, &arena);
        Some(table.decide_in_order(fast_path, block.masks(count)?, contents, now))
    })
}

/// Decides by a fast path with verdicts, for `count` roles whose masks are in the words behind those
/// of the slots. Returns [`UNKNOWN`] if the general path must decide; otherwise the verdict (0 is
/// nothing, 1 allow, 2 deny) in bits 28 and 29, bit 30 if a rule emits an output, the number of scopes in bits 16 to
/// 21, and the entry.
#[unsafe(no_mangle)]
extern "C" fn verdict(handle: u32, fast_path: u32, count: u32, used: u32, now: f64) -> u32 {
    let judge = |table: &PolicyTable, block: &Block| {
        let arena = block.arena(used)?;
        let now = clock::timestamp(now).ok()?;
        let roles = block.masks(count)?;
        let found = table.verdict_with(fast_path, roles, (&block.frame, &arena), now)?;
        let (kind, entry) = match found.verdict {
            Verdict::Nothing => (0, 0),
            Verdict::Allow(entry) => (1, entry),
            Verdict::Deny(entry) => (2, entry),
        };
        Some(u32::from(found.emits) << 30 | kind << 28 | found.scopes << 16 | entry)
    };
    ask_for(handle, |table, _, block| judge(table, block)).unwrap_or(UNKNOWN)
}

/// Returns the outputs beside the verdict on the same block, as JSON; `None` if the general path must make
/// them.
pub(crate) fn outputs(
    handle: u32,
    subject: Subject<'_>,
    (fast_path, count): (u32, u32),
    (used, now): (u32, f64),
) -> Option<String> {
    let emit = |table: &PolicyTable, block: &Block| {
        let arena = block.arena(used)?;
        let now = clock::timestamp(now).ok()?;
        let asked = (fast_path, block.masks(count)?);
        let outputs = table.outputs_with(subject, asked, (&block.frame, &arena), now)?;
        Some(wire::outputs_json(&outputs))
    };
    ask_for(handle, |table, _, block| emit(table, block))
}

/// Returns the derived roles that a fast path grants in the first scopes, a bit for each; [`UNKNOWN`] if
/// the general path must tell. `roles` unites the masks of the principal's roles.
#[unsafe(no_mangle)]
extern "C" fn grants(
    handle: u32,
    fast_path: u32,
    roles: u32,
    scopes: u32,
    used: u32,
    now: f64,
) -> u32 {
    let grant = |table: &PolicyTable, block: &Block| {
        let arena = block.arena(used)?;
        let now = clock::timestamp(now).ok()?;
        table.grants_with(fast_path, (roles, scopes), (&block.frame, &arena), now)
    };
    ask_for(handle, |table, _, block| grant(table, block)).unwrap_or(UNKNOWN)
}

/// No answer of `verdict` and `grants`.
const UNKNOWN: u32 = u32::MAX;

impl Block {
    /// Returns the masks or classes of `count` roles.
    fn masks(&self, count: u32) -> Option<&[u32]> {
        let masks = self.frame.words.get(FIRST_CLASS_WORD..)?.get(..MAX_REQUEST_CLASSES)?;
        masks.get(..usize::try_from(count).ok()?)
    }

    #[inline]
    fn arena(&self, used: u32) -> Option<Arena<'_>> {
        let filled = self.arena.get(..usize::try_from(used).ok()?)?;
        Some(Arena::new(&self.spans, filled))
    }
}

/// Calls `work` with the block.
///
/// # Safety
///
/// `work` must not call JavaScript, which would write the block.
#[inline]
pub(crate) unsafe fn with<R>(work: impl FnOnce(&Block) -> R) -> R {
    BLOCK.with(|block| {
        // SAFETY: only JavaScript writes the block, and between calls only: there is one thread.
        work(unsafe { &*block.get() })
    })
}

/// Decides on the block with the table of `handle`. `decide` is engine code: it calls neither
/// JavaScript nor `handles`.
#[inline]
fn ask(
    handle: u32,
    decide: impl FnOnce(&PolicyTable, FastPaths<'_>, &Block) -> Option<Answer>,
) -> u32 {
    match ask_for(handle, decide) {
        Some(Answer::Deny) => 0,
        Some(Answer::Allow) => 1,
        Some(Answer::Unsure) | None => 2,
    }
}

/// Calls `decide` as [`ask`] does, for any answer.
#[inline]
fn ask_for<T>(
    handle: u32,
    decide: impl FnOnce(&PolicyTable, FastPaths<'_>, &Block) -> Option<T>,
) -> Option<T> {
    // SAFETY: `decide` does not call JavaScript.
    let look = |table: &PolicyTable, fast_paths: FastPaths<'_>| unsafe {
        with(|block| decide(table, fast_paths, block))
    };
    // SAFETY: as above; and `look` opens and closes no table.
    unsafe { handles::look(handle, look) }.flatten()
}
