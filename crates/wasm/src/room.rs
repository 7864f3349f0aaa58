//! The room: a buffer that JavaScript fills with bytes before a call, such as messages to hash or
//! signatures to verify.
//!
//! The calls take and return numbers alone, and the room is reused, so that repeated calls allocate
//! no memory. Answers in bytes replace the input.

use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ptr::null_mut;

use wardgate_crypto::blake3::{self, DIGEST_BYTES};

use crate::shared::shared;

shared!(static ROOM: UnsafeCell<Vec<u8>> = UnsafeCell::new(Vec::new()));

/// Returns the address of room for `length` bytes, or 0 if memory is exhausted. Addresses from
/// earlier calls are void.
#[unsafe(no_mangle)]
extern "C" fn room(length: usize) -> *mut u8 {
    with(|room| {
        let wanted = length.max(RETAINED);
        // A long input must not occupy its room for ever. Before the first call there is no room,
        // and so no address.
        if room.len() != wanted {
            *room = Vec::new();
            if room.try_reserve_exact(wanted).is_err() {
                return null_mut();
            }
            room.resize(wanted, 0);
        }
        room.as_mut_ptr()
    })
}

/// Hashes the first `length` bytes of the room; the digest replaces the first 32. Returns 0 if the
/// room is shorter.
#[unsafe(no_mangle)]
extern "C" fn hash(length: usize) -> u32 {
    u32::from(with(|room| hash_one(room, length)).is_some())
}

/// Hashes `count` messages. The room begins with slots for their digests, 32 bytes each; then come
/// their lengths, u32 each; and the messages, one after the other. Returns 0 if the room has
/// another layout.
#[unsafe(export_name = "hashMany")]
extern "C" fn hash_many(count: usize) -> u32 {
    u32::from(with(|room| hash_all(room, count)).is_some())
}

fn hash_one(room: &mut [u8], length: usize) -> Option<()> {
    let digest = blake3::hash(room.get(..length)?);
    *room.first_chunk_mut()? = digest;
    Some(())
}

fn hash_all(room: &mut [u8], count: usize) -> Option<()> {
    let (digests, rest) = room.split_at_mut_checked(count.checked_mul(DIGEST_BYTES)?)?;
    let (lengths, mut rest) = rest.split_at_checked(count.checked_mul(4)?)?;
    let mut messages = Vec::with_capacity(count);
    for length in lengths.as_chunks().0 {
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (message, left) = rest.split_at_checked(length)?;
        messages.push(message);
        rest = left;
    }
    blake3::hash_many(&messages, digests.as_chunks_mut().0).ok()
}

/// Calls `work` with the room; `work` must not call JavaScript.
pub(crate) fn with<R>(work: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    ROOM.with(|room| {
        // SAFETY: there is one thread, the borrow ends with `work`, and no `work` within this crate
        // calls this function; JavaScript writes the room between calls only.
        work(unsafe { &mut *room.get() })
    })
}

/// The length of the room that stays allocated for the next call, in bytes.
const RETAINED: usize = 64 << 10;
